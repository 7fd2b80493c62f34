// SPDX-License-Identifier: Apache-2.0
// Fully-connected layers.

#ifndef HPCC_DIALECTS_NN_LINEAR
#define HPCC_DIALECTS_NN_LINEAR

include "dialects/nn/IR/NNBase.td"

def NN_LinearOp : NN_Op<"linear", [Pure, Library, Cost, Differentiable, Partitionable, Layer]> {
  let summary = "y = x w^T + b";
  let description = [{
    x [N, ..., I], w [O, I], b [O], y [N, ..., O]: ONNX Gemm-13 and MatMul-13
    with a constant right operand, in normal form.
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$w, Optional<NN_FloatTensor>:$b);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x `,` $w (`,` $b^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isFullyConnected() {
      return ::llvm::cast<::mlir::RankedTensorType>(getX().getType()).getRank() == 2;
    }
    bool isSpatial() { return !isFullyConnected(); }
  }];
}
def NN_LinearBackwardDataOp : NN_Op<"linear_backward_data",
    [Pure, Library, Cost, Partitionable, NotDifferentiable]> {
  let summary = "dx = dy w";
  let arguments = (ins NN_FloatTensor:$dy, NN_FloatTensor:$w);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $w attr-dict `:` functional-type(operands, results)";
}
def NN_LinearBackwardWeightsOp : NN_Op<"linear_backward_weights",
    [Pure, Library, Cost, Partitionable, NotDifferentiable]> {
  let summary = "dw = dy^T x, db = sum of dy over rows";
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$dy);
  let results = (outs NN_FloatTensor:$dw, Optional<NN_FloatTensor>:$db);
  let assemblyFormat = "$x `,` $dy attr-dict `:` functional-type(operands, results)";
}

#endif // HPCC_DIALECTS_NN_LINEAR
