// SPDX-License-Identifier: Apache-2.0
// Passes of the schedule room.

def ScheduleOverlapCollectives
    : Pass<"hpcc-schedule-overlap-collectives", "::mlir::func::FuncOp"> {
  let summary = "Start background collectives early, wait for them late";
  let description = [{
    Splits every collective of the background channel into `comm.start` and
    `comm.wait`, by the first rule that applies.

    *prefetch*, in a loop: the operands' addresses depend only on the induction
    variable, and nothing in the loop writes the source. The collective of the
    first iteration starts before the loop, that of iteration i+1 at the top of
    iteration i; the wait stands where the collective stood.

    *defer*, in a loop: nothing else in the loop touches the destination. The
    start stays; iteration i waits for iteration i-1 just before it, and the
    last wait follows the loop.

    Both double the buffer that the loop allocates: slot i mod 2 of one
    allocation outside. A background collective of a loop to which neither rule
    applies gets a remark that says why.

    *sink*, anywhere: the start stays, the wait moves down to the first op of
    its block that touches the destination or writes the source.

    Inline collectives stay as they are. Bounds of allocations must be known
    (see `hpcc-bufferize-resolve-dimensions`).

    ```mlir
    scf.for %i = %c0 to %c4 step %c1 {
      %slice = memref.subview %x[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
      %all = memref.alloc() : memref<2x8xf32>
      comm.all_gather ins(%slice : ...) outs(%all : memref<2x8xf32>) channel(background)
      "use"(%all)
    }
    ```
    becomes
    ```mlir
    %slots = memref.alloc() : memref<128xi8>
    %first = comm.start all_gather ins(...) outs(...) channel(background) : !comm.request
    scf.for %i = %c0 to %c4 step %c1 iter_args(%request = %first) -> (!comm.request) {
      %more = arith.cmpi slt, %next, %c4
      %ahead = comm.start all_gather ins(...) outs(...) channel(background) if %more : !comm.request
      %all = memref.view %slots[...][] : memref<128xi8> to memref<2x8xf32>
      comm.wait %request ins(%slice : ...) outs(%all : memref<2x8xf32>)
      "use"(%all)
      scf.yield %ahead
    }
    ```
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "64", "of slots, in bytes">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}
