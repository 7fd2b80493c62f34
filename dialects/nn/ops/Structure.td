// SPDX-License-Identifier: Apache-2.0
// Parameters, the head region, batch arithmetic, library calls.

#ifndef HPCC_DIALECTS_NN_STRUCTURE
#define HPCC_DIALECTS_NN_STRUCTURE

include "dialects/nn/IR/NNBase.td"

def NN_ParameterOp : NN_Op<"parameter", [Symbol, NotDifferentiable,
    ReplicatedOnly, NoLowering, NoCost]> {
  let summary = "A parameter of the network";
  let description = [{
    Declares a parameter whose value lies in the model file named by the
    module's `nn.model`, under the name `initializer`. With `transposed` the
    value is the transpose of that rank-2 initializer. `role` is one of
    `weight`, `bias`, `norm_scale`, `norm_bias`, `running_mean`,
    `running_var`, `other`. `reinit` ("he" or "zeros" or "ones") replaces the
    file's value by a fresh one drawn from the seed.

    ```mlir
    nn.parameter @"fc1.weight" : tensor<10x84xf32>
        {initializer = "fc1.weight", role = "weight", trainable}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type,
      StrAttr:$initializer, StrAttr:$role, UnitAttr:$trainable,
      UnitAttr:$transposed, OptionalAttr<StrAttr>:$reinit);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
}

def NN_LoadOp : NN_Op<"load", [Pure, NotDifferentiable, ReplicatedOnly,
    NoLowering, NoCost, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a parameter";
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs NN_Tensor:$value);
  let assemblyFormat = "$parameter attr-dict `:` type($value)";
}

def NN_HeadOp : NN_Op<"head", [AttrSizedOperandSegments, SingleBlock,
    NotDifferentiable, ReplicatedOnly, NoLowering, NoCost]> {
  let summary = "The model-parallel head, run in passes over the batch";
  let description = [{
    `rows` have a row per example; a pass of the head sees a part of the rows.
    `carry` are parameters and their state, handed from pass to pass. The body
    holds forward, loss, backward and update; values of the surroundings that
    are neither (counts, rates) are captured. It yields `sums` first (scalars
    that are added over the passes, such as the loss), then `grads` (a row per
    example: gradients of rows), then the new carry.

    Krizhevsky 2014 (arXiv 1404.5997), section 4.
  }];
  let arguments = (ins Variadic<NN_Tensor>:$rows, Variadic<NN_Tensor>:$carry);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`rows` `(` $rows^ `:` type($rows) `)`)? (`carry` `(` $carry^ `:` type($carry) `)`)?
    attr-dict-with-keyword $body (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def NN_YieldOp : NN_Op<"yield", [Pure, Terminator,
    AttrSizedOperandSegments, HasParent<"HeadOp">, NotDifferentiable,
    ReplicatedOnly, NoLowering, NoCost]> {
  let summary = "Ends the body of a head";
  let arguments = (ins Variadic<NN_Tensor>:$sums, Variadic<NN_Tensor>:$grads,
                       Variadic<NN_Tensor>:$carry);
  let assemblyFormat = [{
    (`sums` `(` $sums^ `:` type($sums) `)`)? (`grads` `(` $grads^ `:` type($grads) `)`)?
    (`carry` `(` $carry^ `:` type($carry) `)`)? attr-dict
  }];
}

def NN_ExamplesOp : NN_Op<"examples", [Pure, NotDifferentiable, ReplicatedOnly,
    NoLowering, NoCost,
    DeclareOpInterfaceMethods<ValueBoundsOpInterface, ["populateBoundsForIndexValue"]>]> {
  let summary = "The range of a step's examples that a worker holds";
  let description = [{
    Worker r of K holds positions [floor(r*n/K), floor((r+1)*n/K)) of the n
    examples; `batch` is the largest n.
  }];
  let arguments = (ins Index:$n, Index:$rank, I64Attr:$workers, I64Attr:$batch);
  let results = (outs Index:$offset, Index:$count);
  let assemblyFormat = "$n `rank` `(` $rank `)` attr-dict";
}

def NN_ShardOp : NN_Op<"shard", [Pure, NotDifferentiable, ReplicatedOnly,
    NoLowering, NoCost,
    DeclareOpInterfaceMethods<ValueBoundsOpInterface, ["populateBoundsForIndexValue"]>]> {
  let summary = "The range of head units that a worker holds";
  let description = [{
    Of `extent` units the first `extent mod K` workers hold
    floor(extent/K)+1 consecutive ones, the others floor(extent/K).
  }];
  let arguments = (ins Index:$rank, I64Attr:$extent, I64Attr:$workers);
  let results = (outs Index:$offset, Index:$size);
  let assemblyFormat = "`rank` `(` $rank `)` attr-dict";
}

def NN_ChunkOp : NN_Op<"chunk", [Pure, NotDifferentiable, ReplicatedOnly,
    NoLowering, NoCost,
    DeclareOpInterfaceMethods<ValueBoundsOpInterface, ["populateBoundsForIndexValue"]>]> {
  let summary = "The rows that a pass of the head takes";
  let description = [{
    What `hpcc::chunk` (runtime/include/hpcc/sharding.h) says of pass `pass`
    of a step with `n` examples: `offset` and `count` of this worker's own
    rows (of the gathered rows in scheme a), `total` rows of the pass over all
    workers, and `root`, the worker that owns them all (scheme b, else -1). A
    pass index past the end gives an empty chunk.
  }];
  let arguments = (ins Index:$n, Index:$rank, Index:$pass, StrAttr:$scheme,
      I64Attr:$workers, I64Attr:$batch, I64Attr:$fc_batch);
  let results = (outs Index:$offset, Index:$count, Index:$total, Index:$root);
  let assemblyFormat = "$n `rank` `(` $rank `)` `pass` `(` $pass `)` attr-dict";
  let hasVerifier = 1;
}

def NN_PrimitiveOp : NN_Op<"primitive", [DestinationStyleOpInterface,
    AttrSizedOperandSegments, NotDifferentiable, ReplicatedOnly, NoLowering,
    NoCost, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
      ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
       "getAliasingValues", "bufferize"]>]> {
  let summary = "A call of a library primitive, destination-passing style";
  let description = [{
    `kind` and `params` are what the runtime's descriptor table gets (see
    runtime/include/hpcc/abi.def). Every output is overwritten, except with
    `accumulate` in `params`, where the first is added to.

    ```mlir
    %y = nn.primitive "linear_forward" ins(%x, %w : tensor<?x84xf32>, tensor<10x84xf32>)
        outs(%empty : tensor<?x10xf32>) {} -> tensor<?x10xf32>
    ```
  }];
  let arguments = (ins StrAttr:$kind, Variadic<AnyShaped>:$inputs,
                       Variadic<AnyShaped>:$outputs, DictionaryAttr:$params);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kind (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outputs `:` type($outputs) `)`
    $params attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    bool accumulates() { return getParams().contains("accumulate"); }
  }];
}

#endif // HPCC_DIALECTS_NN_STRUCTURE
