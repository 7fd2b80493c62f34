// SPDX-License-Identifier: Apache-2.0
// Pooling.

#ifndef HPCC_DIALECTS_NN_POOL
#define HPCC_DIALECTS_NN_POOL

include "dialects/nn/IR/NNBase.td"

def NN_MaxPoolOp : NN_Op<"max_pool", [Pure, ImageTrait, Library, Cost, Differentiable, ReplicatedOnly, Layer]> {
  let summary = "Max pooling (ONNX MaxPool-12)";
  let description = [{
    `indices` names the winner of each window for the gradient: its row-major
    place in the window, the first one on ties (i8 up to 256 places, else
    i32). Ceil mode is expressed by larger end pads.
  }];
  let arguments = (ins NN_FloatTensor:$x, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads);
  let results = (outs NN_FloatTensor:$y, NN_Tensor:$indices);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isFullyConnected() { return false; }
    bool isSpatial() {
      return ::llvm::cast<::mlir::RankedTensorType>(getX().getType()).getRank() > 2;
    }
  }];
}
def NN_MaxPoolBackwardOp : NN_Op<"max_pool_backward",
    [Pure, ImageTrait, Library, Cost, ReplicatedOnly, NotDifferentiable]> {
  let summary = "Gives each gradient to the winner of its window";
  let arguments = (ins NN_FloatTensor:$dy, NN_Tensor:$indices, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $indices attr-dict `:` functional-type(operands, results)";
}
def NN_AvgPoolOp : NN_Op<"avg_pool", [Pure, ImageTrait, Library, Cost, Differentiable, ReplicatedOnly, Layer]> {
  let summary = "Average pooling (ONNX AveragePool-11); global pooling has the map as kernel";
  let arguments = (ins NN_FloatTensor:$x, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, BoolAttr:$count_include_pad);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isFullyConnected() { return false; }
    bool isSpatial() {
      return ::llvm::cast<::mlir::RankedTensorType>(getX().getType()).getRank() > 2;
    }
  }];
}
def NN_AvgPoolBackwardOp : NN_Op<"avg_pool_backward",
    [Pure, ImageTrait, Library, Cost, ReplicatedOnly, NotDifferentiable]> {
  let summary = "Spreads each gradient over its window";
  let arguments = (ins NN_FloatTensor:$dy, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, BoolAttr:$count_include_pad);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy attr-dict `:` functional-type(operands, results)";
}

#endif // HPCC_DIALECTS_NN_POOL
