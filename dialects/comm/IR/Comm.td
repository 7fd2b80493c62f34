// SPDX-License-Identifier: Apache-2.0
// The comm dialect: collectives between workers.

#ifndef HPCC_DIALECTS_COMM
#define HPCC_DIALECTS_COMM

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"

def Comm_Dialect : Dialect {
  let name = "comm";
  let cppNamespace = "::hpcc::comm";
  let summary = "Collectives between the workers of a group";
  let description = [{
    Every worker of a group runs the same program and meets the others in the
    same collectives in the same order, channel by channel. Operands are
    tensors before bufferization and memrefs after it; the destination is
    passed in. `group` names an axis of the device mesh; there is one today,
    "workers". What the dialect is not: it neither splits nor places anything;
    shapes are already those of one worker.

    Channels are ordered: `inline` collectives are between ops that need them
    at once, `background` ones may run while the worker computes.
  }];
  let useDefaultTypePrinterParser = 1;
}

def Comm_Request : TypeDef<Comm_Dialect, "Request"> {
  let mnemonic = "request";
  let summary = "A collective in flight";
}

def Comm_Kind : I32EnumAttr<"Kind", "collective", [
    I32EnumAttrCase<"AllGather", 0, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 1, "reduce_scatter">,
    I32EnumAttrCase<"Broadcast", 2, "broadcast">,
    I32EnumAttrCase<"Reduce", 3, "reduce">,
    I32EnumAttrCase<"AllReduce", 4, "all_reduce">,
    I32EnumAttrCase<"AllGatherInPlace", 5, "all_gather_in_place">]> {
  let cppNamespace = "::hpcc::comm";
}
def Comm_Channel : I32EnumAttr<"Channel", "ordered channel of a worker", [
    I32EnumAttrCase<"Inline", 0, "inline">,
    I32EnumAttrCase<"Background", 1, "background">]> {
  let cppNamespace = "::hpcc::comm";
}
def Comm_Reduction : I32EnumAttr<"Reduction", "how contributions are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::hpcc::comm";
}

class Comm_Op<string mnemonic, list<Trait> traits = []>
    : Op<Comm_Dialect, mnemonic, traits>;

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::hpcc::comm";
  let description = "What synchronous collectives and `comm.start` have in common.";
  let methods = [
    InterfaceMethod<"Null where the destination is also the source.",
                    "::mlir::Value", "getSource">,
    InterfaceMethod<"", "::mlir::Value", "getDestination">,
    InterfaceMethod<"Null for collectives without a root.", "::mlir::Value", "getRoot">,
    InterfaceMethod<"", "::hpcc::comm::Kind", "getKind">,
    InterfaceMethod<"", "::hpcc::comm::Channel", "getChannel">,
    InterfaceMethod<"", "::hpcc::comm::Reduction", "getReduction">,
    InterfaceMethod<"The dimension along which parts are laid out.", "int64_t", "getDim">];
}

// A synchronous collective.
//   ins(source) outs(destination) root(worker) dim(d) reduction(r) channel(c)
class Comm_Collective<string mnemonic, string kind>
    : Comm_Op<mnemonic, [AttrSizedOperandSegments, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<BufferizableOpInterface,
          ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
           "getAliasingValues", "bufferize"]>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<CollectiveOpInterface, ["getKind"]>]> {
  let arguments = (ins Optional<AnyShaped>:$source, AnyShaped:$destination,
      Optional<Index>:$root, DefaultValuedAttr<I64Attr, "0">:$dim,
      DefaultValuedAttr<Comm_Reduction, "::hpcc::comm::Reduction::Sum">:$reduction,
      Comm_Channel:$channel, DefaultValuedAttr<StrAttr, "\"workers\"">:$group);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    (`ins` `(` $source^ `:` type($source) `)`)? `outs` `(` $destination `:` type($destination) `)`
    (`root` `(` $root^ `)`)? `channel` `(` $channel `)` attr-dict (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestinationMutable(); }
  }];
  code collectiveDefinition = "::hpcc::comm::Kind $cppClass::getKind() { return "
      # "::hpcc::comm::Kind::" # kind # "; }" # [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::hpcc::comm::verifyCollective(*this);
    }
    bool $cppClass::bufferizesToMemoryRead(::mlir::OpOperand &operand,
        const ::mlir::bufferization::AnalysisState &) {
      return ::hpcc::comm::readsOperand(*this, operand);
    }
    bool $cppClass::bufferizesToMemoryWrite(::mlir::OpOperand &operand,
        const ::mlir::bufferization::AnalysisState &) {
      return isDpsInit(&operand);
    }
    ::mlir::bufferization::AliasingValueList $cppClass::getAliasingValues(
        ::mlir::OpOperand &operand, const ::mlir::bufferization::AnalysisState &) {
      if (!isDpsInit(&operand))
        return {};
      return {{getTiedOpResult(&operand), ::mlir::bufferization::BufferRelation::Equivalent}};
    }
    ::llvm::LogicalResult $cppClass::bufferize(::mlir::RewriterBase &rewriter,
        const ::mlir::bufferization::BufferizationOptions &options,
        ::mlir::bufferization::BufferizationState &state) {
      return ::hpcc::comm::bufferizeCollective(*this, rewriter, options, state);
    }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      ::hpcc::comm::collectiveEffects(*this, effects);
    }
  }];
  let extraClassDefinition = collectiveDefinition;
}

def Comm_AllGatherOp : Comm_Collective<"all_gather", "AllGather"> {
  let summary = "Every worker gets all sources, in worker order along `dim`";
}
def Comm_ReduceScatterOp : Comm_Collective<"reduce_scatter", "ReduceScatter"> {
  let summary = "The sources are combined; each worker gets its range along `dim`";
  let description = [{
    The ranges are those of the destinations' extents, in worker order.
  }];
}
def Comm_BroadcastOp : Comm_Collective<"broadcast", "Broadcast"> {
  let summary = "Every worker gets the root's source";
}
def Comm_ReduceOp : Comm_Collective<"reduce", "Reduce"> {
  let summary = "The root gets the combined sources; others keep their destination";
}
def Comm_AllReduceOp : Comm_Collective<"all_reduce", "AllReduce"> {
  let summary = "Every worker gets the combined sources";
}
def Comm_AllGatherInPlaceOp : Comm_Collective<"all_gather_in_place", "AllGatherInPlace"> {
  let summary = "All-gather whose sources lie in the destination already";
  let description = "The destination is flat; worker r's part is the r-th of K equal ones.";
}

def Comm_StartOp : Comm_Op<"start", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<CollectiveOpInterface>]> {
  let summary = "Begins a collective";
  let description = "With a false `if` operand nothing begins and the request is complete.";
  let arguments = (ins Comm_Kind:$kind, Optional<AnyMemRef>:$source, AnyMemRef:$destination,
      Optional<Index>:$root, Optional<I1>:$predicate,
      DefaultValuedAttr<I64Attr, "0">:$dim,
      DefaultValuedAttr<Comm_Reduction, "::hpcc::comm::Reduction::Sum">:$reduction,
      Comm_Channel:$channel, DefaultValuedAttr<StrAttr, "\"workers\"">:$group);
  let results = (outs Comm_Request:$request);
  let assemblyFormat = [{
    $kind (`ins` `(` $source^ `:` type($source) `)`)? `outs` `(` $destination `:` type($destination) `)`
    (`root` `(` $root^ `)`)? `channel` `(` $channel `)` (`if` $predicate^)? attr-dict
    `:` type($request)
  }];
}
def Comm_WaitOp : Comm_Op<"wait", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Ends a collective";
  let description = [{
    The buffers are those of the start, or their roots where the request
    crosses an iteration: they keep them alive and carry the effects.
  }];
  let arguments = (ins Comm_Request:$request, Optional<AnyMemRef>:$source,
                       AnyMemRef:$destination);
  let assemblyFormat = [{
    $request (`ins` `(` $source^ `:` type($source) `)`)?
    `outs` `(` $destination `:` type($destination) `)` attr-dict
  }];
}
def Comm_NullOp : Comm_Op<"null", [Pure]> {
  let summary = "A request that is already complete";
  let results = (outs Comm_Request:$request);
  let assemblyFormat = "attr-dict `:` type($request)";
}

#endif // HPCC_DIALECTS_COMM
