// SPDX-License-Identifier: Apache-2.0
// Passes of the lower room.

def LowerOutlineKernels : Pass<"hpcc-lower-outline-kernels"> {
  let summary = "Turn linalg ops into kernel functions";
  let description = [{
    Every linalg op on buffers becomes a private function of its buffers and
    scalars and of a range, and a call of it: `rt.parallel_for` over one of its
    parallel dimensions, or a plain call where there is none or where the op
    has fewer than `grain` elements at most. A reduction is thus summed in the
    same order for every number of threads. Adjacent dimensions that all
    operands run through together are merged first, so that an elementwise op
    is one loop.

    Kernels do not depend on shapes and are shared by all ops with the same
    body; the name says what the body computes, and ends in its hash.
    `rt.restrict` lists pointers to buffers that provably overlap no other.

    ```mlir
    linalg.fill ins(%zero : f32) outs(%buffer : memref<128x64xf32>)
    ```
    becomes
    ```mlir
    rt.parallel_for %context @kernel_fill_2f1c6a03 from %c0 to %c8192 (%flat : memref<?xf32>)
    ```
  }];
  let options = [Option<"grain", "grain", "int64_t", "4096",
      "fewest elements worth splitting between threads">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::hpcc::rt::RtDialect"];
}

def LowerToRuntime : Pass<"hpcc-lower-to-runtime"> {
  let summary = "Turn primitives, collectives and batch arithmetic into rt ops";
  let description = [{
    `nn.primitive` becomes `rt.execute`, `comm` ops `rt.comm_start` and
    `rt.comm_wait`, `nn.chunk`, `nn.shard` and `nn.examples` their namesakes.
    What does not change from step to step (kind, attributes, ranks, node) goes
    into the descriptor table, which the new function `@init` fills with
    `rt.define`; equal descriptors share an entry. Buffers must be row-major
    and contiguous.

    ```mlir
    nn.primitive "linear_forward" ins(%x, %w : memref<?x9xf32>, memref<4x9xf32>) outs(%y : memref<?x4xf32>) {} loc("fc")
    ```
    becomes
    ```mlir
    func.func @init(%context: !llvm.ptr {nn.arg = {kind = "context"}}) attributes {llvm.emit_c_interface} {
      rt.define %context 0 "linear_forward" {node = "fc", ranks = [2, 2, 2], types = ["f32", "f32", "f32"]}
      return
    }
    rt.execute %context 0(%x, %w, %y : memref<?x9xf32>, memref<4x9xf32>, memref<?x4xf32>)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::hpcc::rt::RtDialect"];
}

def LowerRestrictPointers : Pass<"hpcc-lower-restrict-pointers"> {
  let summary = "Mark pointers of kernels as llvm.noalias";
  let description = [{
    The conversion to LLVM drops `llvm.noalias` from memrefs, since it would
    mark both pointers of a descriptor. `rt.restrict` names the pointers that
    kernels really use.

    ```mlir
    llvm.func @kernel(%0: !llvm.ptr, %1: !llvm.ptr) attributes {rt.restrict = array<i64: 1>}
    ```
    becomes
    ```mlir
    llvm.func @kernel(%0: !llvm.ptr, %1: !llvm.ptr {llvm.noalias})
    ```
  }];
}

def LowerDescribeProgram : Pass<"hpcc-lower-describe-program"> {
  let summary = "Record arguments and parameters in nn.program";
  let description = [{
    Functions lose the meaning of their arguments when they become LLVM
    functions. The module attribute `nn.program` keeps it: `functions` has, for
    every entry, its arguments in order, each its `nn.arg` with `element` (type
    of an element, or of the scalar) and `dims` (for buffers; -1: this worker's
    examples, -2: the step's examples, -3: rows of the argument's storage);
    `parameters` has what `nn.parameter` ops said, which are erased.
  }];
}
