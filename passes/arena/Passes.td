// SPDX-License-Identifier: Apache-2.0
// Passes of the arena room.

def ArenaPlanMemory : Pass<"hpcc-arena-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "Replace allocations by views of one arena";
  let description = [{
    Every `memref.alloc` becomes a view, of the size it has this time, at a
    fixed offset of an arena that is appended as an argument (`nn.arg` kind
    "arena", with `bytes`). Offsets are found by first fit, largest first, for
    the maximum sizes; two buffers share bytes only when they are never needed
    at the same time. A buffer is needed from the first to the last op of its
    block that uses it or a view of it, also inside; `comm.wait` holds the
    buffers of a collective in flight. `live`, beside `bytes`, is the largest
    sum of buffers needed at once: no plan can use less.

    An allocation whose size has no known maximum is an error.

    ```mlir
    func.func @f(%n: index) {
      %a = memref.alloc() : memref<8xf32>
      linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
      ...
    ```
    becomes
    ```mlir
    func.func @f(%n: index, %arena: memref<64xi8> {nn.arg = {bytes = 64 : i64, kind = "arena", live = 64 : i64, name = "arena"}}) {
      %a = memref.view %arena[%c0][] : memref<64xi8> to memref<8xf32>
      linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
      ...
    ```
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "64", "of buffers, in bytes">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}
