// SPDX-License-Identifier: Apache-2.0
// Dense copies of strided operands of library ops.
#include "passes/Contiguous.h"
#include "passes/Passes.h"

namespace hpcc {
#define GEN_PASS_DEF_BUFFERIZEPACKBUFFERS
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

/// A dense buffer of the operand's shape at `b`.
static Value denseLike(OpBuilder &b, Location loc, Value strided) {
  auto type = cast<MemRefType>(strided.getType());
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      extents.push_back(b.createOrFold<memref::DimOp>(loc, strided, dim));
  return memref::AllocOp::create(
      b, loc, MemRefType::get(type.getShape(), type.getElementType()), extents);
}

static void pack(nn::PrimitiveOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  for (OpOperand &operand : op->getOpOperands()) {
    Value strided = operand.get();
    if (isContiguous(strided))
      continue;
    b.setInsertionPoint(op);
    Value dense = denseLike(b, loc, strided);
    bool output = op.isDpsInit(&operand);
    if (!output || op.accumulates())
      linalg::CopyOp::create(b, loc, strided, dense);
    operand.set(dense);
    if (!output)
      continue;
    b.setInsertionPointAfter(op);
    linalg::CopyOp::create(b, loc, dense, strided);
  }
}

namespace {
struct PackBuffers : hpcc::impl::BufferizePackBuffersBase<PackBuffers> {
  void runOnOperation() override {
    getOperation()->walk([](nn::PrimitiveOp op) { pack(op); });
  }
};
} // namespace
