// SPDX-License-Identifier: Apache-2.0
// Losses with their gradients, and classification metrics.

#ifndef HPCC_DIALECTS_NN_LOSS
#define HPCC_DIALECTS_NN_LOSS

include "dialects/nn/IR/NNBase.td"

// Predictions [N, C]; loss is weight * sum / n (mse: / (n*C)), with n the
// examples of the step over all workers, so partial losses add up.
class NN_Loss<string mnemonic> : NN_Op<mnemonic, [Pure, Generated, Cost, NotDifferentiable, LossTrait,
                                                  Partitionable]> {
  let arguments = (ins NN_FloatTensor:$x, NN_Tensor:$target, Index:$n,
      Optional<Index>:$offset, F64Attr:$weight, DefaultValuedAttr<I64Attr, "0">:$classes);
  let results = (outs NN_Scalar:$loss, NN_FloatTensor:$dx);
  let assemblyFormat = [{
    $x `target` `(` $target `:` type($target) `)` `examples` `(` $n `)`
    (`offset` `(` $offset^ `)`)? attr-dict `:` type($x) `->` type($loss) `,` type($dx)
  }];
  let hasVerifier = 1;
}
def NN_SoftmaxLossOp : NN_Loss<"softmax_loss"> {
  let summary = "Cross entropy of softmax(x) with i32 class indices [N]";
}
def NN_LogisticLossOp : NN_Loss<"logistic_loss"> {
  let summary = "Cross entropy of independent logistic units";
  let description = [{
    Target: i32 class indices [N] (one-hot), or f32 [N, C]. Where x holds a
    shard, `offset` is the index of its first of `classes` units (f32 targets
    are then sharded alike).
  }];
}
def NN_MseLossOp : NN_Loss<"mse_loss"> {
  let summary = "Mean squared error over all elements (as PyTorch); target f32 like x";
  let description = "`classes` is the whole extent C where x holds a shard (0: x is whole).";
}

// The pieces of softmax_loss, so that a shard of the classes can be reduced
// between them. An empty shard gives -inf, 0 and 0.
def NN_RowMaxOp : NN_Op<"row_max", [Pure, Generated, Cost, ReplicatedOnly, NotDifferentiable]> {
  let summary = "Maximum of each row: [N, C] -> [N]; NaN wins";
  let arguments = (ins NN_FloatTensor:$x);
  let results = (outs NN_FloatTensor:$max);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}
def NN_SoftmaxTermsOp : NN_Op<"softmax_terms",
    [Pure, Generated, Cost, ReplicatedOnly, NotDifferentiable]> {
  let summary = "Per row: sum of exp(x - max), and x at the target minus max";
  let description = "Result [2, N]; the second is 0 where the shard lacks the target.";
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$max, NN_Tensor:$target,
                       Optional<Index>:$offset);
  let results = (outs NN_FloatTensor:$terms);
  let assemblyFormat = [{
    $x `,` $max `,` $target (`offset` `(` $offset^ `)`)? attr-dict
    `:` type($x) `,` type($max) `,` type($target) `->` type($terms)
  }];
}
def NN_SoftmaxFinishOp : NN_Op<"softmax_finish",
    [Pure, Generated, Cost, ReplicatedOnly, NotDifferentiable]> {
  let summary = "Loss and gradient from the reduced terms";
  let description = [{
    loss = weight/n * sum(log terms[0] - terms[1]);
    dx = weight/n * (exp(x - max) / terms[0] - [class is the target]).
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$max, NN_FloatTensor:$terms,
      NN_Tensor:$target, Index:$n, Optional<Index>:$offset, F64Attr:$weight);
  let results = (outs NN_Scalar:$loss, NN_FloatTensor:$dx);
  let assemblyFormat = [{
    $x `,` $max `,` $terms `,` $target `examples` `(` $n `)` (`offset` `(` $offset^ `)`)?
    attr-dict `:` type($x) `,` type($max) `,` type($terms) `,` type($target)
    `->` type($loss) `,` type($dx)
  }];
}

def NN_ClassificationCountsOp : NN_Op<"classification_counts",
    [Pure, Generated, Cost, Partitionable, NotDifferentiable]> {
  let summary = "[top-1, top-5] hits among the rows; ties go to the lower class, NaN loses";
  let arguments = (ins NN_FloatTensor:$x, NN_Tensor:$target);
  let results = (outs NN_FloatTensor:$counts);
  let assemblyFormat = "$x `,` $target attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
// Its pieces: the target's value, how many classes beat it, the hits.
def NN_TargetValueOp : NN_Op<"target_value",
    [Pure, Generated, Cost, ReplicatedOnly, NotDifferentiable]> {
  let summary = "x at the target class, 0 where the shard lacks it: [N, C] -> [N]";
  let arguments = (ins NN_FloatTensor:$x, NN_Tensor:$target, Optional<Index>:$offset);
  let results = (outs NN_FloatTensor:$value);
  let assemblyFormat = [{
    $x `,` $target (`offset` `(` $offset^ `)`)? attr-dict
    `:` type($x) `,` type($target) `->` type($value)
  }];
}
def NN_CountBetterOp : NN_Op<"count_better",
    [Pure, Generated, Cost, ReplicatedOnly, NotDifferentiable]> {
  let summary = "How many classes of the shard rank before the target: [N] as f32";
  let description = [{
    A class j ranks before the target t unless x_j < x_t, or x_j = x_t and
    j > t, or j = t; so a NaN anywhere ranks before, and a NaN target is beaten
    by all.
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_Tensor:$target, NN_FloatTensor:$value,
                       Optional<Index>:$offset);
  let results = (outs NN_FloatTensor:$better);
  let assemblyFormat = [{
    $x `,` $target `,` $value (`offset` `(` $offset^ `)`)? attr-dict
    `:` type($x) `,` type($target) `,` type($value) `->` type($better)
  }];
}
def NN_HitsOp : NN_Op<"hits", [Pure, Generated, Cost, ReplicatedOnly, NotDifferentiable]> {
  let summary = "[rows with better < 1, rows with better < 5]";
  let arguments = (ins NN_FloatTensor:$better);
  let results = (outs NN_FloatTensor:$counts);
  let assemblyFormat = "$better attr-dict `:` functional-type(operands, results)";
}

#endif // HPCC_DIALECTS_NN_LOSS
