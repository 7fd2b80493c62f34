// SPDX-License-Identifier: Apache-2.0
// Softmax as an operator of the network (losses have their own ops).

#ifndef HPCC_DIALECTS_NN_SOFTMAX
#define HPCC_DIALECTS_NN_SOFTMAX

include "dialects/nn/IR/NNBase.td"

class NN_SoftmaxLike<string mnemonic>
    : NN_Op<mnemonic, [Pure, SameOperandsAndResultType, Library, Cost, Differentiable,
                       ReplicatedOnly]> {
  let arguments = (ins NN_FloatTensor:$x, I64Attr:$axis);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
  let hasVerifier = 1;
}
class NN_SoftmaxLikeBackward<string mnemonic>
    : NN_Op<mnemonic, [Pure, SameOperandsAndResultType, Library, Cost, NotDifferentiable,
                       ReplicatedOnly]> {
  let arguments = (ins NN_FloatTensor:$dy, NN_FloatTensor:$y, I64Attr:$axis);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $y attr-dict `:` type($dx)";
  let hasVerifier = 1;
}
def NN_SoftmaxOp : NN_SoftmaxLike<"softmax"> {
  let summary = "exp(x) / sum exp(x) along one axis (ONNX Softmax-13)";
}
def NN_SoftmaxBackwardOp : NN_SoftmaxLikeBackward<"softmax_backward"> {
  let summary = "y * (dy - sum(dy * y))";
}
def NN_LogSoftmaxOp : NN_SoftmaxLike<"log_softmax"> {
  let summary = "x - log sum exp(x) along one axis (ONNX LogSoftmax-13)";
}
def NN_LogSoftmaxBackwardOp : NN_SoftmaxLikeBackward<"log_softmax_backward"> {
  let summary = "dy - exp(y) * sum(dy)";
}

#endif // HPCC_DIALECTS_NN_SOFTMAX
