// SPDX-License-Identifier: Apache-2.0
// Batch normalisation and local response normalisation.
#include "dialects/nn/ops/BuildLinalg.h"
#include "dialects/nn/ops/PartitionRules.h"
#include "dialects/nn/ops/ShapeRules.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

static LogicalResult
verifyChannels(Operation *op, RankedTensorType x,
               ArrayRef<std::pair<StringRef, Value>> perChannel) {
  if (x.getRank() < 2)
    return op->emitOpError() << "x must have channels, got " << x;
  for (auto [name, value] : perChannel)
    if (failed(checkShape(op, name, value.getType(), x.getDimSize(1))))
      return failure();
  return checkShape(op, "y", op->getResult(0).getType(), x.getShape());
}

LogicalResult BatchNormOp::verify() {
  if (isPhysical(*this))
    return success();
  return verifyChannels(*this, tensorType(getX()),
                        {{"scale", getScale()},
                         {"bias", getBias()},
                         {"mean", getMean()},
                         {"var", getVar()}});
}

LogicalResult BatchNormTrainOp::verify() {
  if (isPhysical(*this))
    return success();
  return verifyChannels(*this, tensorType(getX()),
                        {{"scale", getScale()},
                         {"bias", getBias()},
                         {"mean", getMean()},
                         {"var", getVar()}});
}

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult BatchNormTrainOp::buildVJP(OpBuilder &builder,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool>,
                                         MutableArrayRef<Value> operandGrads) {
  if (resultGrads[1] || resultGrads[2])
    return emitOpError() << "has no gradient through its statistics";
  auto backward = BatchNormBackwardOp::create(
      builder, getLoc(), getX().getType(), getScale().getType(),
      getBias().getType(), getX(), resultGrads[0], getScale(), getMean(),
      getVar(), getEpsilonAttr());
  llvm::copy(backward.getResults(), operandGrads.begin());
  return success();
}

LogicalResult LrnOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool>,
                              MutableArrayRef<Value> operandGrads) {
  operandGrads[0] = LrnBackwardOp::create(
      builder, getLoc(), getX().getType(), getX(), getY(), resultGrads[0],
      getSizeAttr(), getAlphaAttr(), getBetaAttr(), getBiasAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

/// Channels are the features, so everything is cut alike.
static LogicalResult partitionChannels(Operation *op, FeaturePartitioner &p,
                                       Value decisive) {
  if (!p.isSharded(decisive))
    return partitionReplicated(op, p);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(p.shard(operand));
  cloneLocal(op, p, operands,
             SmallVector<Form>(op->getNumResults(), Form::Shard));
  return success();
}

LogicalResult BatchNormOp::partition(FeaturePartitioner &p) {
  return partitionChannels(*this, p, getX());
}
LogicalResult BatchNormTrainOp::partition(FeaturePartitioner &p) {
  return partitionChannels(*this, p, getX());
}
LogicalResult BatchNormBackwardOp::partition(FeaturePartitioner &p) {
  return partitionChannels(*this, p, getX());
}
LogicalResult RunningUpdateOp::partition(FeaturePartitioner &p) {
  return partitionChannels(*this, p, getBatch());
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

bool BatchNormOp::isLibraryOp() { return true; }
bool BatchNormTrainOp::isLibraryOp() { return true; }
bool BatchNormBackwardOp::isLibraryOp() { return true; }
bool LrnOp::isLibraryOp() { return true; }
bool LrnBackwardOp::isLibraryOp() { return true; }

LogicalResult BatchNormOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  lowering.replaceByPrimitive("batch_norm_inference", getOperands(),
                              lowering.emptyLike(getX()), {"momentum"});
  return success();
}

LogicalResult BatchNormTrainOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  lowering.replaceByPrimitive("batch_norm_forward", getOperands(),
                              {lowering.emptyLike(getX()),
                               lowering.emptyLike(getScale()),
                               lowering.emptyLike(getScale())});
  return success();
}

LogicalResult BatchNormBackwardOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  lowering.replaceByPrimitive("batch_norm_backward", getOperands(),
                              {lowering.emptyLike(getX()),
                               lowering.emptyLike(getScale()),
                               lowering.emptyLike(getScale())});
  return success();
}

LogicalResult LrnOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  lowering.replaceByPrimitive("lrn_forward", getX(),
                              lowering.emptyLike(getX()));
  return success();
}

LogicalResult LrnBackwardOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  lowering.replaceByPrimitive("lrn_backward", getOperands(),
                              lowering.emptyLike(getX()));
  return success();
}

/// m / (m - 1) with m the elements of x per channel; 1 where m <= 1.
static Value besselFactor(Lowering &lowering, Value x, Type type) {
  ImplicitLocOpBuilder &b = lowering.builder();
  Value count = lowering.constantIndex(1);
  for (int64_t dim = 0; dim < tensorType(x).getRank(); ++dim)
    if (dim != 1)
      count = b.createOrFold<arith::MulIOp>(count, lowering.extent(x, dim));
  Value one = lowering.constantIndex(1);
  Value enough =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count, one);
  Value m = lowering.toFloat(count, type);
  Value less = lowering.toFloat(arith::SubIOp::create(b, count, one), type);
  return arith::SelectOp::create(b, enough, arith::DivFOp::create(b, m, less),
                                 lowering.constant(type, 1.0));
}

// Writes the old statistic's place: it has no other use.
LogicalResult RunningUpdateOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  Type type = getType().getElementType();
  double momentum = getMomentum().convertToDouble();
  Value factor = getX() ? besselFactor(lowering, getX(), type) : Value();
  lowering.replace(lowering.elementwise(
      getBatch(), getOld(), [&](ImplicitLocOpBuilder &b, ValueRange args) {
        Value batch = args[0];
        if (factor)
          batch = arith::MulFOp::create(b, batch, factor);
        auto weighted = [&](double weight, Value value) -> Value {
          Value scalar =
              arith::ConstantOp::create(b, b.getFloatAttr(type, weight));
          return arith::MulFOp::create(b, scalar, value);
        };
        return SmallVector<Value>{arith::AddFOp::create(
            b, weighted(momentum, args[1]), weighted(1.0 - momentum, batch))};
      }));
  return success();
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t BatchNormOp::getFlops(int64_t batch) {
  return 2 * elementCount(getX().getType(), batch);
}
int64_t BatchNormTrainOp::getFlops(int64_t batch) {
  return 5 * elementCount(getX().getType(), batch);
}
int64_t BatchNormBackwardOp::getFlops(int64_t batch) {
  return 8 * elementCount(getX().getType(), batch);
}
int64_t RunningUpdateOp::getFlops(int64_t batch) {
  return 3 * elementCount(getType(), batch);
}
// Per element a square, a window's sum, a power and a product.
int64_t LrnOp::getFlops(int64_t batch) {
  return (getSize() + 4) * elementCount(getX().getType(), batch);
}
int64_t LrnBackwardOp::getFlops(int64_t batch) {
  return (2 * getSize() + 8) * elementCount(getX().getType(), batch);
}
