// SPDX-License-Identifier: Apache-2.0
// Optimizer updates.

#ifndef HPCC_DIALECTS_NN_OPTIMIZER
#define HPCC_DIALECTS_NN_OPTIMIZER

include "dialects/nn/IR/NNBase.td"

def NN_SgdOp : NN_Op<"sgd", [Pure, AttrSizedOperandSegments, Generated, Cost, Partitionable,
                             NotDifferentiable, UpdateTrait,
                             OptimizerOpInterface]> {
  let summary = "Stochastic gradient descent with momentum";
  let description = [{
    g = scale * gradient + decay * w, with rate = lr * lr_mult.
    `pytorch`: m = momentum*m + g; w -= rate*m (nesterov: rate*(g + momentum*m)).
    `caffe`: m' = momentum*m + rate*g; w -= m' (nesterov: (1+momentum)*m' - momentum*m).
    Without `m` (momentum 0): w -= rate*g. `scale` absent means 1.
  }];
  let arguments = (ins NN_FloatTensor:$w, Optional<NN_FloatTensor>:$m,
      NN_FloatTensor:$gradient, F32:$lr, Optional<F32>:$scale, F64Attr:$momentum,
      F64Attr:$decay, F64Attr:$lr_mult, StrAttr:$form, UnitAttr:$nesterov);
  let results = (outs NN_FloatTensor:$new_w, Optional<NN_FloatTensor>:$new_m);
  let assemblyFormat = [{
    $w (`momentum` `(` $m^ `:` type($m) `)`)? `gradient` `(` $gradient `:` type($gradient) `)`
    `lr` `(` $lr `)` (`scale` `(` $scale^ `)`)? attr-dict `:` type($w)
    `->` type($new_w) (`,` type($new_m)^)?
  }];
  let hasVerifier = 1;
}

#endif // HPCC_DIALECTS_NN_OPTIMIZER
