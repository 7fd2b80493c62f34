// SPDX-License-Identifier: Apache-2.0
// Dropout.
#include "dialects/nn/ops/BuildLinalg.h"
#include "dialects/nn/ops/PartitionRules.h"
#include "dialects/nn/ops/ShapeRules.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

LogicalResult DropoutTrainOp::verify() {
  double ratio = getRatio().convertToDouble();
  if (!(ratio >= 0.0 && ratio < 1.0))
    return emitOpError() << "`ratio` must be at least 0 and less than 1, got "
                         << ratio;
  RankedTensorType x = tensorType(getX());
  if (x.getRank() < 1)
    return emitOpError() << "x must have a row per example, got " << x;
  if (!tensorType(getPositions()).getElementType().isInteger(32))
    return emitOpError() << "positions must be i32, got "
                         << getPositions().getType();
  if (getOffset() && getFeatures() <= 0)
    return emitOpError() << "a shard must say of how many `features` it is";
  return checkShape(*this, "positions", getPositions().getType(),
                    x.getDimSize(0));
}

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult DropoutTrainOp::buildVJP(OpBuilder &builder,
                                       ArrayRef<Value> resultGrads,
                                       ArrayRef<bool>,
                                       MutableArrayRef<Value> operandGrads) {
  operandGrads[0] = DropoutTrainOp::create(
      builder, getLoc(), getX().getType(), resultGrads[0], getPositions(),
      getStep(), getOffset(), getRatioAttr(), getNodeAttr(), getSeedAttr(),
      getFeaturesAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

LogicalResult DropoutOp::partition(FeaturePartitioner &p) {
  return partitionElementwise(*this, p);
}

LogicalResult DropoutTrainOp::partition(FeaturePartitioner &p) {
  if (!hasFeatures(getType()) || !p.isDistributed() || !p.isSharded(getX()))
    return partitionReplicated(*this, p);
  int64_t features = tensorType(getX()).getDimSize(1);
  RankedTensorType type = p.shardType(getType());
  Value local = DropoutTrainOp::create(
      p.builder(), getLoc(), type, p.shard(getX()), p.full(getPositions()),
      p.full(getStep()), p.shardOffset(features), getRatioAttr(), getNodeAttr(),
      getSeedAttr(), p.builder().getI64IntegerAttr(features));
  local.getDefiningOp()->setDiscardableAttrs(
      (*this)->getDiscardableAttrDictionary());
  p.setShard(getY(), local);
  return success();
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

LogicalResult DropoutOp::lower(RewriterBase &rewriter) {
  rewriter.replaceOp(*this, getX());
  return success();
}

/// The first word of Philox4x32-10 for a counter and a key, on i32 scalars.
static Value philox(ImplicitLocOpBuilder &b, std::array<Value, 4> counter,
                    uint64_t key) {
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(
        b, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  auto mix = [&](Value high, Value word, uint32_t roundKey) -> Value {
    Value mixed = arith::XOrIOp::create(b, high, word);
    return arith::XOrIOp::create(b, mixed, constant(roundKey));
  };
  uint32_t key0 = static_cast<uint32_t>(key);
  uint32_t key1 = static_cast<uint32_t>(key >> 32);
  auto [c0, c1, c2, c3] = counter;
  for (int round = 0; round < 10; ++round) {
    auto product0 = arith::MulUIExtendedOp::create(b, constant(0xD2511F53), c0);
    auto product1 = arith::MulUIExtendedOp::create(b, constant(0xCD9E8D57), c2);
    c0 = mix(product1.getHigh(), c1, key0);
    c2 = mix(product0.getHigh(), c3, key1);
    c1 = product1.getLow();
    c3 = product0.getLow();
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c0;
}

LogicalResult DropoutTrainOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  ImplicitLocOpBuilder &b = lowering.builder();
  RankedTensorType type = getType();
  int64_t rank = type.getRank();
  auto ratio = static_cast<float>(getRatio().convertToDouble());
  if (ratio == 0.0f) {
    lowering.replace(getX());
    return success();
  }
  // ratio < 1 holds as a double but may not after rounding to float.
  double threshold = std::min(std::floor(static_cast<double>(ratio) * 0x1p32),
                              static_cast<double>(UINT32_MAX));
  float scale = 1.0f / (1.0f - ratio);

  Value step = arith::TruncIOp::create(b, b.getI32Type(), getStep());
  // Strides of the example's elements; those of features come last, because a
  // shard's extent is not the whole one.
  SmallVector<Value> extents;
  for (int64_t dim = 1; dim < rank; ++dim)
    extents.push_back(lowering.extent(getX(), dim));
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  Value y =
      lowering
          .generic(
              {getX(), getPositions()}, lowering.emptyLike(getX()),
              {identity, identity.getMajorSubMap(1), identity},
              SmallVector<utils::IteratorType>(rank,
                                               utils::IteratorType::parallel),
              [&](ImplicitLocOpBuilder &inner, ValueRange args) {
                Value element = arith::ConstantIndexOp::create(inner, 0);
                for (int64_t dim = 1; dim < rank; ++dim) {
                  Value index = linalg::IndexOp::create(inner, dim);
                  if (dim == 1 && getOffset())
                    index = arith::AddIOp::create(inner, index, getOffset());
                  if (dim > 1)
                    element =
                        arith::MulIOp::create(inner, element, extents[dim - 1]);
                  element = arith::AddIOp::create(inner, element, index);
                }
                auto i32 = [&](Value index) -> Value {
                  return arith::IndexCastOp::create(inner, inner.getI32Type(),
                                                    index);
                };
                Value node = arith::ConstantOp::create(
                    inner,
                    inner.getI32IntegerAttr(static_cast<int32_t>(getNode())));
                Value word = philox(inner, {i32(element), args[1], step, node},
                                    static_cast<uint64_t>(getSeed()));
                Value bound = arith::ConstantOp::create(
                    inner, inner.getI32IntegerAttr(static_cast<int32_t>(
                               static_cast<uint32_t>(threshold))));
                Value keep = arith::CmpIOp::create(
                    inner, arith::CmpIPredicate::uge, word, bound);
                Type scalar = type.getElementType();
                Value factor = arith::ConstantOp::create(
                    inner, inner.getFloatAttr(scalar, scale));
                Value zero = arith::ConstantOp::create(
                    inner, inner.getFloatAttr(scalar, 0.0));
                Value scaled = arith::MulFOp::create(inner, args[0], factor);
                return SmallVector<Value>{
                    arith::SelectOp::create(inner, keep, scaled, zero)};
              })
          .front();
  lowering.replace(y);
  return success();
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t DropoutOp::getFlops(int64_t) { return 0; }

int64_t DropoutTrainOp::getFlops(int64_t batch) {
  return elementCount(getType(), batch);
}
