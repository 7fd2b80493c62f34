// SPDX-License-Identifier: Apache-2.0
// The rt dialect: thin ops, one to one with the runtime's C ABI.

#ifndef HPCC_DIALECTS_RT
#define HPCC_DIALECTS_RT

include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let cppNamespace = "::hpcc::rt";
  let summary = "Calls of the runtime";
  let description = [{
    Every op is one call of `runtime/include/hpcc/abi.def`. Buffers are still
    memrefs, so that their shapes travel with them; lowering to LLVM passes
    pointers and arrays of extents. The context is the opaque
    `hpcc_context *`. What the dialect is not: it decides nothing; ids,
    buffers and order are final.
  }];
}

class Rt_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rt_Dialect, mnemonic, traits>;

def Rt_Context : TypeAlias<LLVM_DefaultPointer, "the worker's context">;

def Rt_DefineOp : Rt_Op<"define"> {
  let summary = "Enters a primitive or collective into the descriptor table";
  let description = [{
    ```mlir
    rt.define %context 3 "linear_forward" {node = "fc1", ranks = [2, 2, 2]}
    ```
  }];
  let arguments = (ins Rt_Context:$ctx, I64Attr:$id, StrAttr:$kind,
                       DictionaryAttr:$params);
  let assemblyFormat = "$ctx $id $kind $params attr-dict";
}

def Rt_ExecuteOp : Rt_Op<"execute"> {
  let summary = "Runs a primitive of the descriptor table";
  let description = [{
    `operands` are the inputs, then the outputs, row-major and contiguous.
  }];
  let arguments = (ins Rt_Context:$ctx, I64Attr:$id,
                       Variadic<AnyMemRef>:$buffers);
  let assemblyFormat = "$ctx $id `(` $buffers `:` type($buffers) `)` attr-dict";
}

def Rt_CommStartOp : Rt_Op<"comm_start", [AttrSizedOperandSegments]> {
  let summary = "Starts a collective of the descriptor table";
  let arguments = (ins Rt_Context:$ctx, I64Attr:$id,
      Optional<AnyMemRef>:$source, AnyMemRef:$destination,
      Optional<Index>:$root, Optional<I1>:$predicate);
  let results = (outs I64:$request);
  let assemblyFormat = [{
    $ctx $id (`ins` `(` $source^ `:` type($source) `)`)?
    `outs` `(` $destination `:` type($destination) `)` (`root` `(` $root^ `)`)?
    (`if` $predicate^)? attr-dict
  }];
}

def Rt_CommWaitOp : Rt_Op<"comm_wait"> {
  let summary = "Waits for a collective; -1 is one that is complete";
  let arguments = (ins Rt_Context:$ctx, I64:$request);
  let assemblyFormat = "$ctx `,` $request attr-dict";
}

def Rt_ParallelForOp : Rt_Op<"parallel_for",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel over disjoint ranges, on the worker's threads";
  let description = [{
    `kernel` is a function of the captured values and then the begin and the
    end of a range.
  }];
  let arguments = (ins Rt_Context:$ctx, FlatSymbolRefAttr:$kernel,
      Index:$begin, Index:$end, Variadic<AnyType>:$captured);
  let assemblyFormat = [{
    $ctx $kernel `from` $begin `to` $end
    `(` ($captured^ `:` type($captured))? `)` attr-dict
  }];
}

def Rt_ChunkOp : Rt_Op<"chunk", [Pure]> {
  let summary = "The rows that a pass of the head takes; see nn.chunk";
  let arguments = (ins Index:$n, Index:$rank, Index:$pass, I64Attr:$scheme,
      I64Attr:$workers, I64Attr:$batch, I64Attr:$fc_batch);
  let results = (outs Index:$offset, Index:$count, Index:$total, Index:$root);
  let assemblyFormat = "$n `rank` `(` $rank `)` `pass` `(` $pass `)` attr-dict";
}

def Rt_ShardOp : Rt_Op<"shard", [Pure]> {
  let summary = "The units that a worker holds; see nn.shard";
  let arguments = (ins Index:$rank, I64Attr:$extent, I64Attr:$workers);
  let results = (outs Index:$offset, Index:$size);
  let assemblyFormat = "`rank` `(` $rank `)` attr-dict";
}

def Rt_ExamplesOp : Rt_Op<"examples", [Pure]> {
  let summary = "The examples that a worker holds; see nn.examples";
  let arguments = (ins Index:$n, Index:$rank, I64Attr:$workers);
  let results = (outs Index:$offset, Index:$count);
  let assemblyFormat = "$n `rank` `(` $rank `)` attr-dict";
}

#endif // HPCC_DIALECTS_RT
