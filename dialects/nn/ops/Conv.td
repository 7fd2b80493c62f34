// SPDX-License-Identifier: Apache-2.0
// Convolution.

#ifndef HPCC_DIALECTS_NN_CONV
#define HPCC_DIALECTS_NN_CONV

include "dialects/nn/IR/NNBase.td"

defvar ConvAttributes = (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
    DenseI64ArrayAttr:$pads, I64Attr:$group);

def NN_ConvOp : NN_Op<"conv", [Pure, ImageTrait, Library, Cost, Differentiable, Partitionable, Layer]> {
  let summary = "Convolution (ONNX Conv-11)";
  let description = [{
    x [N, C, spatial...], w [O, C/group, kernel...], b [O]. `pads` lists all
    begins, then all ends.
  }];
  let arguments = !con((ins NN_FloatTensor:$x, NN_FloatTensor:$w,
                            Optional<NN_FloatTensor>:$b), ConvAttributes);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x `,` $w (`,` $b^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isFullyConnected() {
      auto x = ::llvm::cast<::mlir::RankedTensorType>(getX().getType());
      auto w = ::llvm::cast<::mlir::RankedTensorType>(getW().getType());
      return getGroup() == 1 && x.getShape().drop_front(2) == w.getShape().drop_front(2) &&
             ::llvm::all_of(getPads(), [](int64_t pad) { return pad == 0; });
    }
    bool isSpatial() { return !isFullyConnected(); }
  }];
}
def NN_ConvBackwardDataOp : NN_Op<"conv_backward_data",
    [Pure, ImageTrait, Library, Cost, Partitionable, NotDifferentiable]> {
  let summary = "Gradient of a convolution's input";
  let arguments = !con((ins NN_FloatTensor:$dy, NN_FloatTensor:$w), ConvAttributes);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $w attr-dict `:` functional-type(operands, results)";
}
def NN_ConvBackwardWeightsOp : NN_Op<"conv_backward_weights",
    [Pure, ImageTrait, Library, Cost, Partitionable, NotDifferentiable]> {
  let summary = "Gradients of a convolution's weights and bias";
  let arguments = !con((ins NN_FloatTensor:$x, NN_FloatTensor:$dy), ConvAttributes);
  let results = (outs NN_FloatTensor:$dw, Optional<NN_FloatTensor>:$db);
  let assemblyFormat = "$x `,` $dy attr-dict `:` functional-type(operands, results)";
}

#endif // HPCC_DIALECTS_NN_CONV
