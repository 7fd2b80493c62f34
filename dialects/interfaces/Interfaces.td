// SPDX-License-Identifier: Apache-2.0
// What hpcc asks of an op. Each interface has exactly one generic driver pass.

#ifndef HPCC_DIALECTS_INTERFACES
#define HPCC_DIALECTS_INTERFACES

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::hpcc";
  let description = [{
    An op with a vector-Jacobian product (VJP), the rule of reverse mode.
    Driver: `hpcc-training-differentiate`.
  }];
  let methods = [InterfaceMethod<[{
      Builds the VJP at the builder's insertion point. `resultGrads` has one
      entry per result, null where no gradient arrives. `needed` says which
      operands want a gradient. `operandGrads` has one entry per operand, all
      null on entry; the rule sets those that are needed. A gradient has the
      type of its operand. Fails, with a diagnostic, where the operator has no
      rule for its attributes.
    }], "::llvm::LogicalResult", "buildVJP",
    (ins "::mlir::OpBuilder &":$builder,
         "::llvm::ArrayRef<::mlir::Value>":$resultGrads,
         "::llvm::ArrayRef<bool>":$needed,
         "::llvm::MutableArrayRef<::mlir::Value>":$operandGrads)>];
}

def PartitionableOpInterface : OpInterface<"PartitionableOpInterface"> {
  let cppNamespace = "::hpcc";
  let description = [{
    How an op of the model-parallel head runs when features are sharded over
    the workers. Driver: `hpcc-comm-expand-head`. An op without this
    interface runs replicated on the gathered features.
  }];
  let methods = [InterfaceMethod<[{
      Builds the per-worker form of the op: asks `partitioner` for the local
      form of its operands (`full`, `shard`) and states that of its results
      (`setFull`, `setShard`, `setPartial`).
    }], "::llvm::LogicalResult", "partition",
    (ins "::hpcc::FeaturePartitioner &":$partitioner)>];
}

def LoweringOpInterface : OpInterface<"LoweringOpInterface"> {
  let cppNamespace = "::hpcc";
  let description = [{
    Lowers an op one step: a generated op to linalg and tensor ops (driver
    `hpcc-fuse-lower-generated`), a library op to `nn.primitive` (driver
    `hpcc-bufferize-lower-library`).
  }];
  let methods = [
    InterfaceMethod<"True for ops that become a library call.",
      "bool", "isLibraryOp", (ins), "", "return false;">,
    InterfaceMethod<[{
      Replaces the op. The rewriter's insertion point is at the op. Results
      are written destination-passing style into `tensor.empty` values.
    }], "::llvm::LogicalResult", "lower", (ins "::mlir::RewriterBase &":$rewriter)>];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::hpcc";
  let description = [{Arithmetic of an op. Driver: the plan.}];
  let methods = [InterfaceMethod<[{
      Floating-point operations (a multiply-add is two) with every dynamic
      dimension taken as `batch`.
    }], "int64_t", "getFlops", (ins "int64_t":$batch)>];
}

def LayerOpInterface : OpInterface<"LayerOpInterface"> {
  let cppNamespace = "::hpcc";
  let description = [{
    What placement asks of an op (architecture.md, section 1). Driver:
    `hpcc-partition-place-layers`. Ops without it are neither kind.
  }];
  let methods = [
    InterfaceMethod<[{
      A fully-connected layer: a linear op with one row per example, or a
      convolution whose kernel covers its whole unpadded input map.
    }], "bool", "isFullyConnected", (ins), "", "return false;">,
    InterfaceMethod<[{
      A spatial op: convolution, pooling, linear per position, normalisation
      over space.
    }], "bool", "isSpatial", (ins), "", "return false;">];
}

def OptimizerOpInterface : OpInterface<"OptimizerOpInterface"> {
  let cppNamespace = "::hpcc";
  let description = [{
    An update of a parameter from its gradient: result i replaces operand i.
    Drivers: the passes of the comm room.
  }];
  let methods = [
    InterfaceMethod<"", "::mlir::OpOperand &", "getGradientMutable">,
    InterfaceMethod<"The factor on the gradient; absent means 1.",
                    "::mlir::MutableOperandRange", "getScaleMutable">,
    InterfaceMethod<"The constant factor on the learning rate.",
                    "::mlir::FloatAttr", "getLrMultAttr">,
    InterfaceMethod<"", "void", "setLrMultAttr", (ins "::mlir::FloatAttr":$factor)>];
}

// A library op whose images (values with a row per example and two spatial
// dimensions) may be blocked; `nn.layouts` then says how.
def ImageTrait : NativeOpTrait<"ImageTrait"> { let cppNamespace = "::hpcc"; }
// Works on elements with equal indices of operands of one shape, so it does not
// see how they are laid out.
def PointwiseTrait : NativeOpTrait<"PointwiseTrait"> { let cppNamespace = "::hpcc"; }
// A loss: operand 0 are predictions, results are the loss and d loss/d operand 0.
def LossTrait : NativeOpTrait<"LossTrait"> { let cppNamespace = "::hpcc"; }
// An update of a parameter or statistic: result i replaces operand i.
def UpdateTrait : NativeOpTrait<"UpdateTrait"> { let cppNamespace = "::hpcc"; }

// Explicit opt-outs, so that a missing interface is always a mistake.
def NotDifferentiable : NativeOpTrait<"NotDifferentiable"> {
  let cppNamespace = "::hpcc";
}
def ReplicatedOnly : NativeOpTrait<"ReplicatedOnly"> {
  let cppNamespace = "::hpcc";
}
def NoLowering : NativeOpTrait<"NoLowering"> {
  let cppNamespace = "::hpcc";
}
def NoCost : NativeOpTrait<"NoCost"> { let cppNamespace = "::hpcc"; }

#endif // HPCC_DIALECTS_INTERFACES
