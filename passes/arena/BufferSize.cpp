// SPDX-License-Identifier: Apache-2.0
// The most bytes that an allocation can need.
#include "passes/arena/BufferSize.h"

#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

FailureOr<int64_t> hpcc::maximumOf(Value index) {
  return ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, {index}, /*stopCondition=*/nullptr,
      /*closedUB=*/true);
}

FailureOr<int64_t> hpcc::maximumBytes(memref::AllocOp alloc,
                                      int64_t alignment) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat())
    return alloc.emitError()
           << "cannot place a buffer of type " << type << " in the arena";
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  unsigned dynamic = 0;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    int64_t most = extent;
    if (ShapedType::isDynamic(extent)) {
      FailureOr<int64_t> bound = maximumOf(alloc.getDynamicSizes()[dynamic++]);
      if (failed(bound))
        return alloc.emitError()
               << "no maximum is known for dimension " << dim << " of " << type
               << "; its extent must follow from nn.examples, nn.chunk or "
                  "nn.shard";
      most = std::max<int64_t>(*bound, 0);
    }
    if (llvm::MulOverflow(bytes, most, bytes))
      return alloc.emitError() << "the size of " << type << " overflows";
  }
  return llvm::alignTo(bytes, alignment);
}
