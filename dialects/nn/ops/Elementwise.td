// SPDX-License-Identifier: Apache-2.0
// Elementwise operators and their gradients.

#ifndef HPCC_DIALECTS_NN_ELEMENTWISE
#define HPCC_DIALECTS_NN_ELEMENTWISE

include "dialects/nn/IR/NNBase.td"

class NN_Unary<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, [Pure, PointwiseTrait, SameOperandsAndResultType, Generated, Cost,
                       Partitionable] # traits> {
  let arguments = (ins NN_FloatTensor:$x);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}
// `value` is the operand the derivative is computed from: the forward result
// for relu, sigmoid and tanh, the forward operand for the others.
class NN_UnaryBackward<string mnemonic>
    : NN_Op<mnemonic, [Pure, PointwiseTrait, SameOperandsAndResultType, Generated, Cost,
                       Partitionable, NotDifferentiable]> {
  let arguments = (ins NN_FloatTensor:$dy, NN_FloatTensor:$value);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $value attr-dict `:` type($dx)";
}

def NN_ReluOp : NN_Unary<"relu", [Differentiable]> {
  let summary = "max(x, 0) (ONNX Relu-14); the gradient at 0 is 0";
}
def NN_ReluBackwardOp : NN_UnaryBackward<"relu_backward"> {
  let summary = "dy where the forward result is positive, else 0";
}
def NN_LeakyReluOp : NN_Unary<"leaky_relu", [Differentiable]> {
  let summary = "x where x >= 0, else alpha * x (ONNX LeakyRelu-16)";
  let arguments = (ins NN_FloatTensor:$x, F64Attr:$alpha);
}
def NN_LeakyReluBackwardOp : NN_UnaryBackward<"leaky_relu_backward"> {
  let summary = "dy where x > 0, else alpha * dy";
  let arguments = (ins NN_FloatTensor:$dy, NN_FloatTensor:$value, F64Attr:$alpha);
}
def NN_SigmoidOp : NN_Unary<"sigmoid", [Differentiable]> {
  let summary = "1 / (1 + exp(-x)) (ONNX Sigmoid-13)";
}
def NN_SigmoidBackwardOp : NN_UnaryBackward<"sigmoid_backward"> {
  let summary = "dy * y * (1 - y), y the forward result";
}
def NN_TanhOp : NN_Unary<"tanh", [Differentiable]> {
  let summary = "tanh(x) (ONNX Tanh-13)";
}
def NN_TanhBackwardOp : NN_UnaryBackward<"tanh_backward"> {
  let summary = "dy * (1 - y*y), y the forward result";
}
def NN_ClipOp : NN_Unary<"clip", [Differentiable]> {
  let summary = "min(max(x, min), max) (ONNX Clip-13); a missing bound does not bound";
  let arguments = (ins NN_FloatTensor:$x, OptionalAttr<F64Attr>:$min,
                       OptionalAttr<F64Attr>:$max);
}
def NN_ClipBackwardOp : NN_UnaryBackward<"clip_backward"> {
  let summary = "dy where min <= x <= max (as PyTorch), else 0";
  let arguments = (ins NN_FloatTensor:$dy, NN_FloatTensor:$value,
                       OptionalAttr<F64Attr>:$min, OptionalAttr<F64Attr>:$max);
}

def NN_ScaleOp : NN_Op<"scale", [Pure, PointwiseTrait, Generated, Cost, Partitionable, NotDifferentiable,
                                 AllTypesMatch<["x", "y"]>]> {
  let summary = "x times a run-time number";
  let arguments = (ins NN_FloatTensor:$x, F32:$factor);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x `by` $factor attr-dict `:` type($y)";
}

// Multidirectional (NumPy) broadcasting. A dimension that is dynamic in an
// operand is the batch and is never broadcast.
class NN_Binary<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, [Pure, PointwiseTrait, Generated, Cost, Partitionable, Differentiable] # traits> {
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}
def NN_AddOp : NN_Binary<"add", [Commutative]> { let summary = "lhs + rhs (ONNX Add-14)"; }
def NN_SubOp : NN_Binary<"sub"> { let summary = "lhs - rhs (ONNX Sub-14)"; }
def NN_MulOp : NN_Binary<"mul", [Commutative]> { let summary = "lhs * rhs (ONNX Mul-14)"; }
def NN_DivOp : NN_Binary<"div"> { let summary = "lhs / rhs (ONNX Div-14)"; }

def NN_SumToOp : NN_Op<"sum_to", [Pure, Generated, Cost, Partitionable, NotDifferentiable]> {
  let summary = "Sums a value over the dimensions that broadcasting added";
  let description = [{
    The gradient of an operand that was broadcast: the result has the
    operand's type; leading dimensions that it lacks and dimensions that are 1
    in it are summed.
  }];
  let arguments = (ins NN_FloatTensor:$x);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasVerifier = 1;
}

#endif // HPCC_DIALECTS_NN_ELEMENTWISE
