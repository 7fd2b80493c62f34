// SPDX-License-Identifier: Apache-2.0
// Losses with their gradients, and classification metrics. Whole and sharded
// forms go through the same pieces, so their arithmetic is the same.
#include "dialects/nn/ops/BuildLinalg.h"
#include "dialects/nn/ops/PartitionRules.h"
#include "dialects/nn/ops/ShapeRules.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

using Iterator = mlir::utils::IteratorType;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

static LogicalResult checkClassIndices(Operation *op, Value x, Value target) {
  if (failed(checkRank(op, "x", x.getType(), 2)))
    return failure();
  RankedTensorType type = tensorType(target);
  if (!type.getElementType().isInteger(32))
    return op->emitOpError() << "expects class indices as i32, got " << type;
  return checkShape(op, "target", type, tensorType(x).getDimSize(0));
}

template <typename LossOp> static LogicalResult verifyLoss(LossOp op) {
  if (op.getDx().getType() != op.getX().getType())
    return op.emitOpError()
           << "gradient must have the type of x, " << op.getX().getType()
           << ", got " << op.getDx().getType();
  if (!tensorType(op.getX()).getElementType().isF32())
    return op.emitOpError()
           << "expects predictions of f32, got " << op.getX().getType();
  if (op.getOffset() && op.getClasses() <= 0)
    return op.emitOpError() << "a shard must say of how many `classes` it is";
  return success();
}

LogicalResult SoftmaxLossOp::verify() {
  if (getOffset())
    return emitOpError() << "is of whole rows; a shard of the classes goes "
                            "through nn.softmax_terms";
  return failed(verifyLoss(*this))
             ? failure()
             : checkClassIndices(*this, getX(), getTarget());
}

LogicalResult LogisticLossOp::verify() {
  if (failed(verifyLoss(*this)))
    return failure();
  if (isa<IntegerType>(tensorType(getTarget()).getElementType()))
    return checkClassIndices(*this, getX(), getTarget());
  if (failed(checkRank(*this, "x", getX().getType(), 2)))
    return failure();
  return checkShape(*this, "target", getTarget().getType(),
                    tensorType(getX()).getShape());
}

LogicalResult MseLossOp::verify() {
  if (failed(verifyLoss(*this)))
    return failure();
  if (tensorType(getX()).getRank() == 0)
    return emitOpError() << "x must have a row per example, got a scalar";
  if (!tensorType(getTarget()).getElementType().isF32())
    return emitOpError() << "target must be f32, got " << getTarget().getType();
  return checkShape(*this, "target", getTarget().getType(),
                    tensorType(getX()).getShape());
}

LogicalResult ClassificationCountsOp::verify() {
  if (failed(checkClassIndices(*this, getX(), getTarget())))
    return failure();
  return checkShape(*this, "counts", getType(), 2);
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

static RankedTensorType rowType(Value x) {
  RankedTensorType type = tensorType(x);
  return RankedTensorType::get(type.getDimSize(0), type.getElementType());
}

/// Gives an op made for one worker the attributes of its global form.
template <typename OpTy> static OpTy tagged(OpTy op, Operation *like) {
  op->setDiscardableAttrs(like->getDiscardableAttrDictionary());
  return op;
}

static RankedTensorType termsType(Value x) {
  RankedTensorType type = tensorType(x);
  return RankedTensorType::get({2, type.getDimSize(0)}, type.getElementType());
}

LogicalResult SoftmaxLossOp::partition(FeaturePartitioner &p) {
  if (!p.isDistributed() || !p.isSharded(getX()))
    return partitionReplicated(*this, p);
  OpBuilder &b = p.builder();
  Value x = p.shard(getX()), target = p.full(getTarget());
  Value offset = p.shardOffset(tensorType(getX()).getDimSize(1));
  Value max = tagged(RowMaxOp::create(b, getLoc(), rowType(x), x), *this);
  max = p.allReduce(max, ReductionKind::Max);
  Value terms = tagged(
      SoftmaxTermsOp::create(b, getLoc(), termsType(x), x, max, target, offset),
      *this);
  terms = p.allReduce(terms, ReductionKind::Sum);
  auto finish =
      tagged(SoftmaxFinishOp::create(b, getLoc(), getLoss().getType(),
                                     x.getType(), x, max, terms, target,
                                     p.full(getN()), offset, getWeightAttr()),
             *this);
  p.setFull(getLoss(), finish.getLoss());
  p.setShard(getDx(), finish.getDx());
  return success();
}

/// Units are independent: the loss of a shard is its part of the sum.
template <typename LossOp>
static LogicalResult partitionUnits(LossOp op, FeaturePartitioner &p) {
  if (!p.isDistributed() || !hasFeatures(op.getX().getType()) ||
      !p.isSharded(op.getX()))
    return partitionReplicated(op, p);
  OpBuilder &b = p.builder();
  int64_t classes = tensorType(op.getX()).getDimSize(1);
  bool cut = isa<FloatType>(tensorType(op.getTarget()).getElementType());
  Value x = p.shard(op.getX());
  Value target = cut ? p.shard(op.getTarget()) : p.full(op.getTarget());
  auto local = tagged(LossOp::create(b, op.getLoc(), op.getLoss().getType(),
                                     x.getType(), x, target, p.full(op.getN()),
                                     p.shardOffset(classes), op.getWeightAttr(),
                                     b.getI64IntegerAttr(classes)),
                      op);
  p.setPartial(op.getLoss(), local.getLoss());
  p.setShard(op.getDx(), local.getDx());
  return success();
}

LogicalResult LogisticLossOp::partition(FeaturePartitioner &p) {
  return partitionUnits(*this, p);
}
LogicalResult MseLossOp::partition(FeaturePartitioner &p) {
  return partitionUnits(*this, p);
}

LogicalResult ClassificationCountsOp::partition(FeaturePartitioner &p) {
  if (!p.isDistributed() || !p.isSharded(getX()))
    return partitionReplicated(*this, p);
  OpBuilder &b = p.builder();
  Value x = p.shard(getX()), target = p.full(getTarget());
  Value offset = p.shardOffset(tensorType(getX()).getDimSize(1));
  Value value = tagged(
      TargetValueOp::create(b, getLoc(), rowType(x), x, target, offset), *this);
  value = p.allReduce(value, ReductionKind::Sum);
  Value better = tagged(
      CountBetterOp::create(b, getLoc(), rowType(x), x, target, value, offset),
      *this);
  better = p.allReduce(better, ReductionKind::Sum);
  p.setFull(getCounts(),
            tagged(HitsOp::create(b, getLoc(), getType(), better), *this));
  return success();
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

namespace {
/// Scalar arithmetic of the bodies below.
struct Scalar {
  ImplicitLocOpBuilder &b;
  Value constant(double value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value exp(Value x) { return math::ExpOp::create(b, x); }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  Value less(Value x, Value y) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
  }
  /// Global index of the class at loop dimension `dim`, as i32.
  Value classIndex(int64_t dim, Value offset) {
    Value index = linalg::IndexOp::create(b, dim);
    if (offset)
      index = arith::AddIOp::create(b, index, offset);
    return arith::IndexCastOp::create(b, b.getI32Type(), index);
  }
  Value equal(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  }
  /// 1 for the target's class, else 0.
  Value oneHot(int64_t dim, Value offset, Value target) {
    return select(equal(classIndex(dim, offset), target), constant(1.0),
                  constant(0.0));
  }
};

/// Maps of a loop over rows and classes.
struct RowMaps {
  explicit RowMaps(MLIRContext *context)
      : element(AffineMap::getMultiDimIdentityMap(2, context)),
        row(element.getMajorSubMap(1)) {}
  AffineMap element, row;
};
} // namespace

// The whole form is its pieces, lowered in turn.
LogicalResult SoftmaxLossOp::lower(RewriterBase &rewriter) {
  Value max = tagged(
      RowMaxOp::create(rewriter, getLoc(), rowType(getX()), getX()), *this);
  Value terms =
      tagged(SoftmaxTermsOp::create(rewriter, getLoc(), termsType(getX()),
                                    getX(), max, getTarget(), Value()),
             *this);
  auto finish = tagged(
      SoftmaxFinishOp::create(rewriter, getLoc(), getLoss().getType(),
                              getX().getType(), getX(), max, terms, getTarget(),
                              getN(), Value(), getWeightAttr()),
      *this);
  rewriter.replaceOp(*this, finish);
  return success();
}

LogicalResult ClassificationCountsOp::lower(RewriterBase &rewriter) {
  RankedTensorType type = rowType(getX());
  Value value = tagged(TargetValueOp::create(rewriter, getLoc(), type, getX(),
                                             getTarget(), Value()),
                       *this);
  Value better = tagged(CountBetterOp::create(rewriter, getLoc(), type, getX(),
                                              getTarget(), value, Value()),
                        *this);
  rewriter.replaceOp(
      *this,
      tagged(HitsOp::create(rewriter, getLoc(), getType(), better), *this));
  return success();
}

LogicalResult RowMaxOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  RowMaps maps(getContext());
  Value lowest = lowering.fill(lowering.emptyLike(getX(), getType()),
                               -std::numeric_limits<double>::infinity());
  lowering.replace(
      lowering.generic(getX(), lowest, {maps.element, maps.row},
                       {Iterator::parallel, Iterator::reduction},
                       [](ImplicitLocOpBuilder &b, ValueRange args) {
                         return SmallVector<Value>{
                             arith::MaximumFOp::create(b, args[1], args[0])};
                       }));
  return success();
}

LogicalResult SoftmaxTermsOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  // Dimensions: which term, row, class.
  AffineMap all = AffineMap::getMultiDimIdentityMap(3, getContext());
  AffineMap element = all.getSubMap({1, 2}), row = all.getSubMap({1});
  SmallVector<Extent> extents;
  if (getType().isDynamicDim(1))
    extents.push_back({getX(), 0});
  Value zeros = lowering.fill(lowering.empty(getType(), extents), 0.0);
  lowering.replace(lowering.generic(
      {getX(), getMax(), getTarget()}, zeros,
      {element, row, row, all.getSubMap({0, 1})},
      {Iterator::parallel, Iterator::parallel, Iterator::reduction},
      [&](ImplicitLocOpBuilder &b, ValueRange args) {
        Scalar s{b};
        Value difference = s.sub(args[0], args[1]);
        Value first = arith::CmpIOp::create(
            b, arith::CmpIPredicate::eq, linalg::IndexOp::create(b, 0),
            arith::ConstantIndexOp::create(b, 0));
        Value isTarget = s.equal(s.classIndex(2, getOffset()), args[2]);
        Value logit = s.select(isTarget, difference, s.constant(0.0));
        Value term = s.select(first, s.exp(difference), logit);
        return SmallVector<Value>{s.add(args[3], term)};
      }));
  return success();
}

LogicalResult SoftmaxFinishOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  ImplicitLocOpBuilder &b = lowering.builder();
  RowMaps maps(getContext());
  Value scale =
      lowering.weightPerExample(getWeight().convertToDouble(), getN());
  auto term = [&](int64_t which) -> Value {
    // terms[which] as a vector over the rows.
    RankedTensorType type = rowType(getX());
    SmallVector<OpFoldResult> offsets = {b.getIndexAttr(which),
                                         b.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1),
                                       lowering.mixedExtent(getX(), 0)};
    SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(b, type, getTerms(), offsets, sizes,
                                          strides);
  };
  Value sums = term(0), logits = term(1);
  Value loss = lowering.sumRows(
      {sums, logits}, [&](ImplicitLocOpBuilder &b, ValueRange args) {
        Scalar s{b};
        Value row = s.sub(math::LogOp::create(b, args[0]), args[1]);
        return SmallVector<Value>{s.mul(scale, row)};
      });
  Value dx =
      lowering
          .generic({getX(), getMax(), sums, getTarget()},
                   lowering.emptyLike(getX()),
                   {maps.element, maps.row, maps.row, maps.row, maps.element},
                   {Iterator::parallel, Iterator::parallel},
                   [&](ImplicitLocOpBuilder &b, ValueRange args) {
                     Scalar s{b};
                     Value probability =
                         s.div(s.exp(s.sub(args[0], args[1])), args[2]);
                     Value difference =
                         s.sub(probability, s.oneHot(1, getOffset(), args[3]));
                     return SmallVector<Value>{s.mul(scale, difference)};
                   })
          .front();
  lowering.replace({loss, dx});
  return success();
}

// log(1 + exp(x)) - t*x = max(x, 0) - t*x + log1p(exp(-|x|)): no overflow.
LogicalResult LogisticLossOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  RowMaps maps(getContext());
  bool indices = isa<IntegerType>(tensorType(getTarget()).getElementType());
  Value scale =
      lowering.weightPerExample(getWeight().convertToDouble(), getN());
  auto targetOf = [&](Scalar s, Value target) {
    return indices ? s.oneHot(1, getOffset(), target) : target;
  };
  Value loss = lowering.sumRows(
      {getX(), getTarget()}, [&](ImplicitLocOpBuilder &b, ValueRange args) {
        Scalar s{b};
        Value x = args[0];
        Value zero = s.constant(0.0);
        Value tail = math::Log1pOp::create(
            b, s.exp(arith::NegFOp::create(b, math::AbsFOp::create(b, x))));
        Value unit = s.add(s.sub(arith::MaximumFOp::create(b, x, zero),
                                 s.mul(targetOf(s, args[1]), x)),
                           tail);
        return SmallVector<Value>{s.mul(scale, unit)};
      });
  Value dx =
      lowering
          .generic(
              {getX(), getTarget()}, lowering.emptyLike(getX()),
              {maps.element, indices ? maps.row : maps.element, maps.element},
              {Iterator::parallel, Iterator::parallel},
              [&](ImplicitLocOpBuilder &b, ValueRange args) {
                Scalar s{b};
                Value one = s.constant(1.0);
                Value exp = s.exp(arith::NegFOp::create(b, args[0]));
                Value probability = s.div(one, s.add(one, exp));
                return SmallVector<Value>{
                    s.mul(scale, s.sub(probability, targetOf(s, args[1])))};
              })
          .front();
  lowering.replace({loss, dx});
  return success();
}

LogicalResult MseLossOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  RankedTensorType type = tensorType(getX());
  int64_t features = 1;
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    features *= dim == 1 && getClasses() > 0
                    ? static_cast<int64_t>(getClasses())
                    : type.getDimSize(dim);
  Value scale = lowering.weightPerExample(
      getWeight().convertToDouble() / static_cast<double>(features), getN());
  Value loss = lowering.sumRows(
      {getX(), getTarget()}, [&](ImplicitLocOpBuilder &b, ValueRange args) {
        Scalar s{b};
        Value difference = s.sub(args[0], args[1]);
        return SmallVector<Value>{s.mul(scale, s.mul(difference, difference))};
      });
  Value dx = lowering.elementwise(
      {getX(), getTarget()}, lowering.emptyLike(getX()),
      [&](ImplicitLocOpBuilder &b, ValueRange args) {
        Scalar s{b};
        Value twice = s.mul(s.constant(2.0), s.sub(args[0], args[1]));
        return SmallVector<Value>{s.mul(scale, twice)};
      });
  lowering.replace({loss, dx});
  return success();
}

LogicalResult TargetValueOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  RowMaps maps(getContext());
  Value zeros = lowering.fill(lowering.emptyLike(getX(), getType()), 0.0);
  lowering.replace(lowering.generic(
      {getX(), getTarget()}, zeros, {maps.element, maps.row, maps.row},
      {Iterator::parallel, Iterator::reduction},
      [&](ImplicitLocOpBuilder &b, ValueRange args) {
        Scalar s{b};
        Value here = s.equal(s.classIndex(1, getOffset()), args[1]);
        return SmallVector<Value>{s.select(here, args[0], args[2])};
      }));
  return success();
}

LogicalResult CountBetterOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  RowMaps maps(getContext());
  Value zeros = lowering.fill(lowering.emptyLike(getX(), getType()), 0.0);
  lowering.replace(lowering.generic(
      {getX(), getTarget(), getValue()}, zeros,
      {maps.element, maps.row, maps.row, maps.row},
      {Iterator::parallel, Iterator::reduction},
      [&](ImplicitLocOpBuilder &b, ValueRange args) {
        Scalar s{b};
        Value index = s.classIndex(1, getOffset());
        Value notBefore =
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge, index, args[1]);
        Value tie = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, args[0],
                                          args[2]);
        Value loses =
            arith::OrIOp::create(b, s.less(args[0], args[2]),
                                 arith::AndIOp::create(b, tie, notBefore));
        // The target itself never counts, even as NaN.
        loses = arith::OrIOp::create(b, loses, s.equal(index, args[1]));
        Value one = s.select(loses, s.constant(0.0), s.constant(1.0));
        return SmallVector<Value>{s.add(args[3], one)};
      }));
  return success();
}

LogicalResult HitsOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  AffineMap all = AffineMap::getMultiDimIdentityMap(2, getContext());
  Value zeros = lowering.fill(lowering.empty(getType(), {}), 0.0);
  lowering.replace(lowering.generic(
      getBetter(), zeros, {all.getSubMap({1}), all.getSubMap({0})},
      {Iterator::parallel, Iterator::reduction},
      [](ImplicitLocOpBuilder &b, ValueRange args) {
        Scalar s{b};
        Value first = arith::CmpIOp::create(
            b, arith::CmpIPredicate::eq, linalg::IndexOp::create(b, 0),
            arith::ConstantIndexOp::create(b, 0));
        Value limit = s.select(first, s.constant(1.0), s.constant(5.0));
        Value hit =
            s.select(s.less(args[0], limit), s.constant(1.0), s.constant(0.0));
        return SmallVector<Value>{s.add(args[1], hit)};
      }));
  return success();
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t SoftmaxLossOp::getFlops(int64_t batch) {
  return 8 * elementCount(getX().getType(), batch);
}
int64_t LogisticLossOp::getFlops(int64_t batch) {
  return 12 * elementCount(getX().getType(), batch);
}
int64_t MseLossOp::getFlops(int64_t batch) {
  return 6 * elementCount(getX().getType(), batch);
}
int64_t RowMaxOp::getFlops(int64_t batch) {
  return elementCount(getX().getType(), batch);
}
int64_t SoftmaxTermsOp::getFlops(int64_t batch) {
  return 3 * elementCount(getX().getType(), batch);
}
int64_t SoftmaxFinishOp::getFlops(int64_t batch) {
  return 4 * elementCount(getX().getType(), batch);
}
int64_t ClassificationCountsOp::getFlops(int64_t batch) {
  return 2 * elementCount(getX().getType(), batch);
}
int64_t TargetValueOp::getFlops(int64_t batch) {
  return elementCount(getX().getType(), batch);
}
int64_t CountBetterOp::getFlops(int64_t batch) {
  return elementCount(getX().getType(), batch);
}
int64_t HitsOp::getFlops(int64_t batch) {
  return 2 * elementCount(getBetter().getType(), batch);
}
