// SPDX-License-Identifier: Apache-2.0
// The nn dialect and the base classes of its ops.

#ifndef HPCC_DIALECTS_NN_BASE
#define HPCC_DIALECTS_NN_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ValueBoundsOpInterface.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "dialects/interfaces/Interfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::hpcc::nn";
  let summary = "Networks and their training steps on tensors";
  let description = [{
    Operators of a network, their derivatives, losses and optimizer updates.
    Activations are `[N, features...]` with the batch `N` as dynamic dimension
    0; images are NCHW. What the dialect is not: it says nothing of devices or
    communication (see `comm`), and has no buffers of its own.

    Discardable attributes: `nn.node` (ordinal of the ONNX node an op comes
    from, also on its gradient ops), `nn.arg` and `nn.result` (meaning of
    function arguments and results), `nn.options` and `nn.model` (module).
  }];
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::math::MathDialect"];
}

class NN_Op<string mnemonic, list<Trait> traits = []>
    : Op<NN_Dialect, mnemonic, traits>;

def Differentiable : DeclareOpInterfaceMethods<DifferentiableOpInterface>;
def Partitionable : DeclareOpInterfaceMethods<PartitionableOpInterface>;
// Lowered to linalg and tensor ops.
def Generated : DeclareOpInterfaceMethods<LoweringOpInterface>;
// Lowered to nn.primitive.
def Library : DeclareOpInterfaceMethods<LoweringOpInterface, ["isLibraryOp"]>;
// Ops define its methods in place.
defvar Layer = LayerOpInterface;
def Cost : DeclareOpInterfaceMethods<CostOpInterface>;

def NN_Tensor : RankedTensorOf<[AnyFloat, AnyInteger]>;
def NN_FloatTensor : RankedTensorOf<[AnyFloat]>;
def NN_Scalar : 0DTensorOf<[F32]>;

#endif // HPCC_DIALECTS_NN_BASE
