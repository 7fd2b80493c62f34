// SPDX-License-Identifier: Apache-2.0
// Passes of the fuse room: what is not a library call becomes generated code.

def HpccFuseLowerGenerated : Pass<"hpcc-fuse-lower-generated", "::mlir::ModuleOp"> {
  let summary = "Lower generated nn ops to linalg and tensor ops";
  let description = [{
    Every op whose LoweringOpInterface is not that of a library op is replaced
    by linalg.generic and tensor ops in destination-passing style; optimizer
    updates write their operands in place. Ops that a lowering makes are
    lowered in turn. Postcondition: the nn ops left are library calls and
    structure (head, chunk, shard, examples).

    Does not lower library ops; see `hpcc-bufferize-lower-library`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def HpccFuseElementwise : Pass<"hpcc-fuse-elementwise", "::mlir::ModuleOp"> {
  let summary = "Fuse elementwise producers into their consumers";
  let description = [{
    A producer is fused where it has one use, or reads nothing of its result's
    size, so that computing it again keeps nothing large alive.

    An op that updates its destination (reads what it overwrites, as optimizer
    updates do) is not fused with: its place must not be needed elsewhere.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::affine::AffineDialect"];
}

def HpccFuseReuseOperands : Pass<"hpcc-fuse-reuse-operands", "::mlir::ModuleOp"> {
  let summary = "Let elementwise ops write the place of an operand that dies";
  let description = [{
    An elementwise op into a fresh `tensor.empty` takes as destination an input
    that it reads at the same index, whose only use it is, and that was itself
    computed into fresh memory. The arena planner cannot do that, because both
    are alive during the op. (relu in the place of the convolution's result.)
    A sum that a loop carries comes first: it is added to in place.

    Precondition: all generated ops are lowered. Does not touch function
    arguments or updates in place.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}
