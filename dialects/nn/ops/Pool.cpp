// SPDX-License-Identifier: Apache-2.0
// Pooling.
#include "dialects/nn/ops/BuildLinalg.h"
#include "dialects/nn/ops/ShapeRules.h"

using namespace mlir;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

static LogicalResult verifyPool(Operation *op, Window window) {
  RankedTensorType x = tensorType(op->getOperand(0));
  if (x.getRank() < 3)
    return op->emitOpError() << "x must have spatial dimensions, got " << x;
  if (failed(checkWindow(op, window, x.getRank() - 2)))
    return failure();
  // A window that lies in the padding altogether would have no value.
  for (size_t i = 0, rank = window.kernel.size(); i < rank; ++i) {
    int64_t covered = (window.kernel[i] - 1) * window.dilations[i] + 1;
    if (window.pads[i] >= covered)
      return op->emitOpError() << "`pads` begin of dimension " << i
                               << " must be less than the window's " << covered
                               << ", got " << window.pads[i];
  }
  SmallVector<int64_t> expected = {x.getDimSize(0), x.getDimSize(1)};
  llvm::append_range(expected,
                     windowOutput(x.getShape().drop_front(2), window));
  return checkShape(op, "y", op->getResult(0).getType(), expected);
}

LogicalResult MaxPoolOp::verify() {
  if (isPhysical(*this))
    return success();
  if (failed(verifyPool(
          *this, {getKernel(), getStrides(), getDilations(), getPads()})))
    return failure();
  int64_t places = 1;
  for (int64_t extent : getKernel())
    places *= extent;
  unsigned width = places <= 256 ? 8 : 32;
  if (!tensorType(getIndices()).getElementType().isInteger(width))
    return emitOpError() << "indices of a window of " << places
                         << " places must be i" << width << ", got "
                         << tensorType(getIndices()).getElementType();
  return checkShape(*this, "indices", getIndices().getType(),
                    tensorType(getY()).getShape());
}

LogicalResult AvgPoolOp::verify() {
  if (isPhysical(*this))
    return success();
  SmallVector<int64_t> dilations(getKernel().size(), 1);
  return verifyPool(*this, {getKernel(), getStrides(), dilations, getPads()});
}

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult MaxPoolOp::buildVJP(OpBuilder &builder,
                                  ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                  MutableArrayRef<Value> operandGrads) {
  operandGrads[0] = MaxPoolBackwardOp::create(
      builder, getLoc(), getX().getType(), resultGrads[0], getIndices(),
      getKernelAttr(), getStridesAttr(), getDilationsAttr(), getPadsAttr());
  return success();
}

LogicalResult AvgPoolOp::buildVJP(OpBuilder &builder,
                                  ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                  MutableArrayRef<Value> operandGrads) {
  operandGrads[0] = AvgPoolBackwardOp::create(
      builder, getLoc(), getX().getType(), resultGrads[0], getKernelAttr(),
      getStridesAttr(), getPadsAttr(), getCountIncludePadAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

bool MaxPoolOp::isLibraryOp() { return true; }
bool MaxPoolBackwardOp::isLibraryOp() { return true; }
bool AvgPoolOp::isLibraryOp() { return true; }
bool AvgPoolBackwardOp::isLibraryOp() { return true; }

static LogicalResult lowerPool(RewriterBase &rewriter, Operation *op,
                               StringRef kind) {
  Lowering lowering(rewriter, op);
  SmallVector<Value> outputs;
  for (Type type : op->getResultTypes())
    outputs.push_back(lowering.emptyLike(op->getOperand(0), type));
  lowering.replaceByPrimitive(kind, op->getOperands(), outputs);
  return success();
}

LogicalResult MaxPoolOp::lower(RewriterBase &rewriter) {
  return lowerPool(rewriter, *this, "max_pool_forward");
}
LogicalResult MaxPoolBackwardOp::lower(RewriterBase &rewriter) {
  return lowerPool(rewriter, *this, "max_pool_backward");
}
LogicalResult AvgPoolOp::lower(RewriterBase &rewriter) {
  return lowerPool(rewriter, *this, "avg_pool_forward");
}
LogicalResult AvgPoolBackwardOp::lower(RewriterBase &rewriter) {
  return lowerPool(rewriter, *this, "avg_pool_backward");
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

static int64_t windowFlops(Type windows, ArrayRef<int64_t> kernel,
                           int64_t batch) {
  int64_t flops = elementCount(windows, batch);
  for (int64_t extent : kernel)
    flops *= extent;
  return flops;
}

int64_t MaxPoolOp::getFlops(int64_t batch) {
  return windowFlops(getY().getType(), getKernel(), batch);
}
int64_t MaxPoolBackwardOp::getFlops(int64_t batch) {
  return elementCount(getDy().getType(), batch);
}
int64_t AvgPoolOp::getFlops(int64_t batch) {
  return windowFlops(getY().getType(), getKernel(), batch);
}
int64_t AvgPoolBackwardOp::getFlops(int64_t batch) {
  return windowFlops(getDy().getType(), getKernel(), batch);
}
