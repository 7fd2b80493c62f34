// SPDX-License-Identifier: Apache-2.0
// Batch normalisation and local response normalisation.

#ifndef HPCC_DIALECTS_NN_NORMALIZE
#define HPCC_DIALECTS_NN_NORMALIZE

include "dialects/nn/IR/NNBase.td"

def NN_BatchNormOp : NN_Op<"batch_norm",
    [Pure, ImageTrait, Library, Cost, Partitionable, NotDifferentiable, Layer]> {
  let summary = "Batch normalisation with stored statistics (ONNX BatchNormalization-15)";
  let description = [{
    Training replaces it by `nn.batch_norm_train`. `momentum` is ONNX's: the
    part of the old running statistic that is kept.
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$scale, NN_FloatTensor:$bias,
      NN_FloatTensor:$mean, NN_FloatTensor:$var, F64Attr:$epsilon, F64Attr:$momentum);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = [{
    $x `scale` `(` $scale `,` $bias `)` `stats` `(` $mean `,` $var `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isFullyConnected() { return false; }
    bool isSpatial() {
      return ::llvm::cast<::mlir::RankedTensorType>(getX().getType()).getRank() > 2;
    }
  }];
}
def NN_BatchNormTrainOp : NN_Op<"batch_norm_train",
    [Pure, ImageTrait, Library, Cost, Differentiable, Partitionable, Layer]> {
  let summary = "Batch normalisation with the statistics of the rows at hand";
  let description = "`mean` and `var` [C] are the batch's (var is biased); with no rows they are 0.";
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$scale, NN_FloatTensor:$bias,
                       F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$y, NN_FloatTensor:$mean, NN_FloatTensor:$var);
  let assemblyFormat = "$x `,` $scale `,` $bias attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isFullyConnected() { return false; }
    bool isSpatial() {
      return ::llvm::cast<::mlir::RankedTensorType>(getX().getType()).getRank() > 2;
    }
  }];
}
def NN_BatchNormBackwardOp : NN_Op<"batch_norm_backward",
    [Pure, ImageTrait, Library, Cost, Partitionable, NotDifferentiable]> {
  let summary = "Gradients of nn.batch_norm_train";
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$dy, NN_FloatTensor:$scale,
      NN_FloatTensor:$mean, NN_FloatTensor:$var, F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$dx, NN_FloatTensor:$dscale, NN_FloatTensor:$dbias);
  let assemblyFormat = [{
    $x `,` $dy `,` $scale `stats` `(` $mean `,` $var `)` attr-dict
    `:` functional-type(operands, results)
  }];
}
def NN_RunningUpdateOp : NN_Op<"running_update",
    [Pure, Generated, Cost, Partitionable, NotDifferentiable, UpdateTrait,
     AllTypesMatch<["old", "batch", "updated"]>]> {
  let summary = "momentum * old + (1 - momentum) * batch";
  let description = [{
    A running statistic [C]. With the operand `x` the batch's statistic is a
    biased variance over m = elements of x per channel, and is first
    multiplied by m / (m - 1) (m = 1: left as it is), as PyTorch does.
  }];
  let arguments = (ins NN_FloatTensor:$old, NN_FloatTensor:$batch,
                       Optional<NN_FloatTensor>:$x, F64Attr:$momentum);
  let results = (outs NN_FloatTensor:$updated);
  let assemblyFormat = [{
    $old `,` $batch (`unbiased` `(` $x^ `:` type($x) `)`)? attr-dict `:` type($updated)
  }];
}

defvar LrnAttributes = (ins I64Attr:$size, F64Attr:$alpha, F64Attr:$beta, F64Attr:$bias);
def NN_LrnOp : NN_Op<"lrn", [Pure, ImageTrait, Library, Cost, Differentiable, ReplicatedOnly, Layer]> {
  let summary = "Local response normalisation over channels (ONNX LRN-13)";
  let description = "y = x / (bias + alpha/size * sum of x^2 over the window)^beta.";
  let arguments = !con((ins NN_FloatTensor:$x), LrnAttributes);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    bool isFullyConnected() { return false; }
    bool isSpatial() {
      return ::llvm::cast<::mlir::RankedTensorType>(getX().getType()).getRank() > 2;
    }
  }];
}
def NN_LrnBackwardOp : NN_Op<"lrn_backward",
    [Pure, ImageTrait, Library, Cost, ReplicatedOnly, NotDifferentiable]> {
  let summary = "Gradient of nn.lrn";
  let arguments = !con((ins NN_FloatTensor:$x, NN_FloatTensor:$y, NN_FloatTensor:$dy), LrnAttributes);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$x `,` $y `,` $dy attr-dict `:` functional-type(operands, results)";
}

#endif // HPCC_DIALECTS_NN_NORMALIZE
