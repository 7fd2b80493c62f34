// SPDX-License-Identifier: Apache-2.0
// Softmax as an operator of the network.
#include "dialects/nn/ops/BuildLinalg.h"
#include "dialects/nn/ops/ShapeRules.h"

using namespace mlir;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

static LogicalResult verifyAxis(Operation *op, int64_t axis) {
  RankedTensorType type = tensorType(op->getResult(0));
  if (axis < 0 || axis >= type.getRank())
    return op->emitOpError() << "`axis` must be one of the " << type.getRank()
                             << " dimensions, got " << axis;
  if (axis == 0 && type.isDynamicDim(0))
    return op->emitOpError() << "`axis` must not be the batch";
  return success();
}

LogicalResult SoftmaxOp::verify() { return verifyAxis(*this, getAxis()); }
LogicalResult SoftmaxBackwardOp::verify() {
  return verifyAxis(*this, getAxis());
}
LogicalResult LogSoftmaxOp::verify() { return verifyAxis(*this, getAxis()); }
LogicalResult LogSoftmaxBackwardOp::verify() {
  return verifyAxis(*this, getAxis());
}

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::buildVJP(OpBuilder &builder,
                                  ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                  MutableArrayRef<Value> operandGrads) {
  operandGrads[0] = SoftmaxBackwardOp::create(
      builder, getLoc(), getType(), resultGrads[0], getY(), getAxisAttr());
  return success();
}

LogicalResult LogSoftmaxOp::buildVJP(OpBuilder &builder,
                                     ArrayRef<Value> resultGrads,
                                     ArrayRef<bool>,
                                     MutableArrayRef<Value> operandGrads) {
  operandGrads[0] = LogSoftmaxBackwardOp::create(
      builder, getLoc(), getType(), resultGrads[0], getY(), getAxisAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

bool SoftmaxOp::isLibraryOp() { return true; }
bool SoftmaxBackwardOp::isLibraryOp() { return true; }
bool LogSoftmaxOp::isLibraryOp() { return true; }
bool LogSoftmaxBackwardOp::isLibraryOp() { return true; }

static LogicalResult lowerSoftmax(RewriterBase &rewriter, Operation *op,
                                  StringRef kind) {
  Lowering lowering(rewriter, op);
  lowering.replaceByPrimitive(kind, op->getOperands(),
                              lowering.emptyLike(op->getOperand(0)));
  return success();
}

LogicalResult SoftmaxOp::lower(RewriterBase &rewriter) {
  return lowerSoftmax(rewriter, *this, "softmax_forward");
}
LogicalResult SoftmaxBackwardOp::lower(RewriterBase &rewriter) {
  return lowerSoftmax(rewriter, *this, "softmax_backward");
}
LogicalResult LogSoftmaxOp::lower(RewriterBase &rewriter) {
  return lowerSoftmax(rewriter, *this, "log_softmax_forward");
}
LogicalResult LogSoftmaxBackwardOp::lower(RewriterBase &rewriter) {
  return lowerSoftmax(rewriter, *this, "log_softmax_backward");
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

// Per element: maximum, subtraction, exp, sum and division or their like.
int64_t SoftmaxOp::getFlops(int64_t batch) {
  return 5 * elementCount(getType(), batch);
}
int64_t SoftmaxBackwardOp::getFlops(int64_t batch) {
  return 4 * elementCount(getType(), batch);
}
int64_t LogSoftmaxOp::getFlops(int64_t batch) {
  return 5 * elementCount(getType(), batch);
}
int64_t LogSoftmaxBackwardOp::getFlops(int64_t batch) {
  return 4 * elementCount(getType(), batch);
}
