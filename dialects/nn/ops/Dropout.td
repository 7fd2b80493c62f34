// SPDX-License-Identifier: Apache-2.0
// Dropout.

#ifndef HPCC_DIALECTS_NN_DROPOUT
#define HPCC_DIALECTS_NN_DROPOUT

include "dialects/nn/IR/NNBase.td"

def NN_DropoutOp : NN_Op<"dropout", [Pure, SameOperandsAndResultType, Generated, Cost,
    Partitionable, NotDifferentiable]> {
  let summary = "Dropout as imported (ONNX Dropout-13): identity in inference";
  let description = "Training replaces it by `nn.dropout_train`; lowering it is the identity.";
  let arguments = (ins NN_FloatTensor:$x, F64Attr:$ratio);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}
def NN_DropoutTrainOp : NN_Op<"dropout_train", [Pure, Generated, Cost, Differentiable,
    Partitionable, AllTypesMatch<["x", "y"]>]> {
  let summary = "Keeps or zeroes elements by a counter-based random number";
  let description = [{
    Philox4x32-10 (Salmon et al. 2011) with counter (element index within the
    example, position of the example in the step's global batch, step, `node`)
    and key `seed`; an element stays where the first word is at least
    floor(ratio * 2^32), and is then multiplied by 1 / (1 - ratio). The mask
    depends on nothing else, so every worker that holds the element draws the
    same. `positions` [N] i32. `offset` is the global index of feature 0 where
    x holds a shard of `features` features (features = 0: x is whole).
    The gradient is the same op on dy.
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_Tensor:$positions, I64:$step,
      Optional<Index>:$offset, F64Attr:$ratio, I64Attr:$node, I64Attr:$seed,
      DefaultValuedAttr<I64Attr, "0">:$features);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = [{
    $x `positions` `(` $positions `:` type($positions) `)` `step` `(` $step `)`
    (`offset` `(` $offset^ `)`)? attr-dict `:` type($y)
  }];
  let hasVerifier = 1;
}

#endif // HPCC_DIALECTS_NN_DROPOUT
