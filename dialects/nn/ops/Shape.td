// SPDX-License-Identifier: Apache-2.0
// Operators that move elements without arithmetic.

#ifndef HPCC_DIALECTS_NN_SHAPE
#define HPCC_DIALECTS_NN_SHAPE

include "dialects/nn/IR/NNBase.td"

def NN_ReshapeOp : NN_Op<"reshape", [Pure, Generated, NoCost, Differentiable, Partitionable]> {
  let summary = "Another shape for the same elements in the same order";
  let description = [{
    The batch, where there is one, stays dimension 0: an example's elements
    are rearranged among themselves only. Holds ONNX Reshape, Flatten,
    Squeeze and Unsqueeze.
  }];
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def NN_TransposeOp : NN_Op<"transpose", [Pure, Generated, NoCost, Differentiable, ReplicatedOnly]> {
  let summary = "Permutes dimensions (ONNX Transpose-13): y dim i is x dim perm[i]";
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$perm);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def NN_ReorderOp : NN_Op<"reorder", [Pure, Library, NoCost, ReplicatedOnly, NotDifferentiable]> {
  let summary = "The same images in another physical layout";
  let description = [{
    `from` and `to` are layouts such as "nchw" and "nChw16c" (a capital letter
    is a dimension split into blocks, which follow at the end); operand and
    result have the physical shape of theirs.
  }];
  let arguments = (ins NN_FloatTensor:$x, StrAttr:$from, StrAttr:$to);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasFolder = 1;
}
def NN_ConcatOp : NN_Op<"concat", [Pure, Generated, NoCost, Differentiable, ReplicatedOnly]> {
  let summary = "Concatenates along an axis other than the batch (ONNX Concat-13)";
  let arguments = (ins Variadic<NN_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def NN_SliceOp : NN_Op<"slice", [Pure, Generated, NoCost, Differentiable, ReplicatedOnly]> {
  let summary = "A static box of every example (ONNX Slice-13, step 1)";
  let description = [{
    One offset per dimension; extents are the result's. The batch is whole:
    its offset is 0. The gradient is nn.pad with zeros.
  }];
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$offsets);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasVerifier = 1;
}
def NN_PadOp : NN_Op<"pad", [Pure, Generated, NoCost, Differentiable, ReplicatedOnly]> {
  let summary = "Constant padding (ONNX Pad-13, mode constant); negative pads crop";
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$pads, F64Attr:$value);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasVerifier = 1;
}

#endif // HPCC_DIALECTS_NN_SHAPE
