// SPDX-License-Identifier: Apache-2.0
// Operators that move elements without arithmetic.
#include "dialects/nn/ops/BuildLinalg.h"
#include "dialects/nn/ops/PartitionRules.h"
#include "dialects/nn/ops/ShapeRules.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

static LogicalResult checkElementTypes(Operation *op) {
  Type element = tensorType(op->getResult(0)).getElementType();
  for (Value operand : op->getOperands())
    if (tensorType(operand).getElementType() != element)
      return op->emitOpError() << "expects operands of " << element << ", got "
                               << tensorType(operand).getElementType();
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType x = tensorType(getX()), y = getType();
  if (failed(checkElementTypes(*this)))
    return failure();
  if (hasBatch(x) != hasBatch(y))
    return emitOpError() << "must keep the batch as dimension 0: " << x
                         << " to " << y;
  // Features of a shard are dynamic too; they must stay where they are.
  for (int64_t dim = 1; dim < std::max(x.getRank(), y.getRank()); ++dim) {
    bool before = dim < x.getRank() && x.isDynamicDim(dim);
    bool after = dim < y.getRank() && y.isDynamicDim(dim);
    if (before != after)
      return emitOpError() << "must keep dynamic dimension " << dim << ": " << x
                           << " to " << y;
  }
  if (elementCount(x, 1) != elementCount(y, 1))
    return emitOpError() << "must keep the number of elements"
                         << (hasBatch(x) ? " per example, " : ", ")
                         << elementCount(x, 1) << ", got "
                         << elementCount(y, 1);
  return success();
}

LogicalResult TransposeOp::verify() {
  RankedTensorType x = tensorType(getX());
  if (failed(checkElementTypes(*this)))
    return failure();
  SmallVector<int64_t> sorted(getPerm());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, x.getRank())))
    return emitOpError() << "`perm` must be a permutation of the "
                         << x.getRank() << " dimensions, got [" << getPerm()
                         << "]";
  if (hasBatch(x) && getPerm().front() != 0)
    return emitOpError() << "must keep the batch as dimension 0, got ["
                         << getPerm() << "]";
  SmallVector<int64_t> expected;
  for (int64_t dim : getPerm())
    expected.push_back(x.getDimSize(dim));
  return checkShape(*this, "y", getType(), expected);
}

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "expects at least one input";
  RankedTensorType y = getType();
  auto axis = static_cast<int64_t>(getAxis());
  if (failed(checkElementTypes(*this)))
    return failure();
  if (axis < 0 || axis >= y.getRank() || (axis == 0 && hasBatch(y)))
    return emitOpError() << "`axis` must be one of the " << y.getRank()
                         << " dimensions and not the batch, got " << axis;
  SmallVector<int64_t> expected(y.getShape());
  expected[axis] = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    RankedTensorType type = tensorType(input);
    SmallVector<int64_t> like(y.getShape());
    if (type.getRank() == y.getRank())
      like[axis] = type.getDimSize(axis);
    if (failed(checkShape(*this, ("input " + Twine(i)).str(), type, like)))
      return failure();
    if (type.isDynamicDim(axis) || ShapedType::isDynamic(expected[axis]))
      expected[axis] = ShapedType::kDynamic;
    else
      expected[axis] += type.getDimSize(axis);
  }
  return checkShape(*this, "y", y, expected);
}

LogicalResult SliceOp::verify() {
  RankedTensorType x = tensorType(getX()), y = getType();
  if (failed(checkElementTypes(*this)) ||
      failed(checkRank(*this, "y", y, x.getRank())))
    return failure();
  if (static_cast<int64_t>(getOffsets().size()) != x.getRank())
    return emitOpError() << "`offsets` must have " << x.getRank()
                         << " entries, got " << getOffsets().size();
  for (int64_t dim = 0; dim < x.getRank(); ++dim) {
    int64_t offset = getOffsets()[dim];
    if (x.isDynamicDim(dim)) {
      if (offset != 0 || !y.isDynamicDim(dim))
        return emitOpError() << "must take all of dynamic dimension " << dim;
    } else if (offset < 0 || y.isDynamicDim(dim) ||
               offset + y.getDimSize(dim) > x.getDimSize(dim)) {
      return emitOpError() << "dimension " << dim << " has extent "
                           << x.getDimSize(dim) << ", got offset " << offset
                           << " and extent " << y.getDimSize(dim);
    }
  }
  return success();
}

LogicalResult PadOp::verify() {
  RankedTensorType x = tensorType(getX());
  int64_t rank = x.getRank();
  if (failed(checkElementTypes(*this)))
    return failure();
  if (static_cast<int64_t>(getPads().size()) != 2 * rank)
    return emitOpError() << "`pads` must have " << 2 * rank << " entries, got "
                         << getPads().size();
  SmallVector<int64_t> expected(x.getShape());
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t begin = getPads()[dim], end = getPads()[dim + rank];
    if (x.isDynamicDim(dim)) {
      if (begin != 0 || end != 0)
        return emitOpError() << "must not pad dynamic dimension " << dim;
      continue;
    }
    expected[dim] += begin + end;
    if (x.getDimSize(dim) + std::min<int64_t>(begin, 0) +
            std::min<int64_t>(end, 0) <
        0)
      return emitOpError() << "crops more than the extent " << x.getDimSize(dim)
                           << " of dimension " << dim;
  }
  return checkShape(*this, "y", getType(), expected);
}

//===----------------------------------------------------------------------===//
// Fold
//===----------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().set(inner.getX());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::equal(getPerm(), llvm::seq<int64_t>(0, getPerm().size())) &&
      getX().getType() == getType())
    return getX();
  return {};
}

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::buildVJP(OpBuilder &builder,
                                  ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                  MutableArrayRef<Value> operandGrads) {
  operandGrads[0] =
      ReshapeOp::create(builder, getLoc(), getX().getType(), resultGrads[0]);
  return success();
}

LogicalResult TransposeOp::buildVJP(OpBuilder &builder,
                                    ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                    MutableArrayRef<Value> operandGrads) {
  SmallVector<int64_t> inverse(getPerm().size());
  for (auto [i, dim] : llvm::enumerate(getPerm()))
    inverse[dim] = i;
  operandGrads[0] = TransposeOp::create(builder, getLoc(), getX().getType(),
                                        resultGrads[0], inverse);
  return success();
}

LogicalResult ConcatOp::buildVJP(OpBuilder &builder,
                                 ArrayRef<Value> resultGrads,
                                 ArrayRef<bool> needed,
                                 MutableArrayRef<Value> operandGrads) {
  SmallVector<int64_t> offsets(getType().getRank(), 0);
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (needed[i])
      operandGrads[i] = SliceOp::create(builder, getLoc(), input.getType(),
                                        resultGrads[0], offsets);
    offsets[getAxis()] += tensorType(input).getDimSize(getAxis());
  }
  return success();
}

LogicalResult SliceOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                ArrayRef<bool>,
                                MutableArrayRef<Value> operandGrads) {
  RankedTensorType x = tensorType(getX()), y = getType();
  SmallVector<int64_t> pads(getOffsets());
  for (int64_t dim = 0; dim < x.getRank(); ++dim)
    pads.push_back(x.isDynamicDim(dim) ? 0
                                       : x.getDimSize(dim) - getOffsets()[dim] -
                                             y.getDimSize(dim));
  operandGrads[0] = PadOp::create(builder, getLoc(), x, resultGrads[0],
                                  builder.getDenseI64ArrayAttr(pads),
                                  builder.getF64FloatAttr(0.0));
  return success();
}

// What was cropped gets zeros, what was added is cropped.
LogicalResult PadOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool>,
                              MutableArrayRef<Value> operandGrads) {
  SmallVector<int64_t> pads;
  for (int64_t pad : getPads())
    pads.push_back(-pad);
  operandGrads[0] = PadOp::create(
      builder, getLoc(), getX().getType(), resultGrads[0],
      builder.getDenseI64ArrayAttr(pads), builder.getF64FloatAttr(0.0));
  return success();
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

// A shard of x is a shard of y where the feature dimension stays as it is.
LogicalResult ReshapeOp::partition(FeaturePartitioner &p) {
  RankedTensorType x = tensorType(getX()), y = getType();
  int64_t feature = FeaturePartitioner::featureDim(x);
  bool keeps = x.getRank() > feature && y.getRank() > feature &&
               feature == FeaturePartitioner::featureDim(y) &&
               x.getShape().take_front(feature + 1) ==
                   y.getShape().take_front(feature + 1);
  if (!keeps || !p.isSharded(getX()))
    return partitionReplicated(*this, p);
  cloneLocal(*this, p, p.shard(getX()), Form::Shard);
  return success();
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

/// Reassociation of `rank` dimensions into the first `kept` ones each alone
/// and one group of all others.
static SmallVector<ReassociationIndices> keepLeading(int64_t kept,
                                                     int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < std::min(kept, rank); ++dim)
    groups.push_back({dim});
  ReassociationIndices rest;
  for (int64_t dim = kept; dim < rank; ++dim)
    rest.push_back(dim);
  if (!rest.empty())
    groups.push_back(rest);
  return groups;
}

// Through [kept dimensions, all others in one]: kept are the dynamic ones,
// batch and features of a shard.
LogicalResult ReshapeOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  ImplicitLocOpBuilder &b = lowering.builder();
  RankedTensorType x = tensorType(getX()), y = getType();
  int64_t kept = 0;
  while (kept < std::min(x.getRank(), y.getRank()) && x.isDynamicDim(kept))
    ++kept;
  Value value = getX();
  if (x.getRank() > kept + 1 || (x.getRank() > kept && y.getRank() <= kept)) {
    // With nothing left in y the others, all 1, join the last kept dimension.
    SmallVector<ReassociationIndices> groups = keepLeading(kept, x.getRank());
    if (y.getRank() <= kept && kept > 0) {
      ReassociationIndices rest = groups.pop_back_val();
      llvm::append_range(groups.back(), rest);
    } else if (y.getRank() == 0) {
      groups.clear();
    }
    value = tensor::CollapseShapeOp::create(b, value, groups);
  }
  RankedTensorType between = tensorType(value);
  if (between != y) {
    SmallVector<ReassociationIndices> groups = keepLeading(kept, y.getRank());
    if (between.getRank() == 0)
      groups.clear();
    else if (static_cast<int64_t>(groups.size()) > between.getRank()) {
      ReassociationIndices rest = groups.pop_back_val();
      llvm::append_range(groups.back(), rest);
    }
    SmallVector<OpFoldResult> sizes;
    for (int64_t dim = 0; dim < y.getRank(); ++dim)
      sizes.push_back(y.isDynamicDim(dim)
                          ? lowering.mixedExtent(getX(), dim)
                          : OpFoldResult(b.getIndexAttr(y.getDimSize(dim))));
    value = tensor::ExpandShapeOp::create(b, y, value, groups, sizes);
  }
  lowering.replace(value);
  return success();
}

LogicalResult TransposeOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  ImplicitLocOpBuilder &b = lowering.builder();
  int64_t rank = getType().getRank();
  SmallVector<Extent> extents;
  SmallVector<AffineExpr> source(rank);
  for (auto [i, dim] : llvm::enumerate(getPerm())) {
    source[dim] = b.getAffineDimExpr(i);
    if (getType().isDynamicDim(i))
      extents.push_back({getX(), dim});
  }
  lowering.replace(lowering.generic(
      getX(), lowering.empty(getType(), extents),
      {AffineMap::get(rank, 0, source, b.getContext()),
       b.getMultiDimIdentityMap(rank)},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](ImplicitLocOpBuilder &, ValueRange args) {
        return SmallVector<Value>{args[0]};
      }));
  return success();
}

LogicalResult ConcatOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  ImplicitLocOpBuilder &b = lowering.builder();
  RankedTensorType y = getType();
  auto axis = static_cast<int64_t>(getAxis());
  if (y.isDynamicDim(axis))
    return emitOpError() << "has no lowering along a dynamic dimension";
  Value result = lowering.emptyLike(getInputs().front(), y);
  SmallVector<OpFoldResult> offsets(y.getRank(), b.getIndexAttr(0));
  int64_t offset = 0;
  for (Value input : getInputs()) {
    offsets[axis] = b.getIndexAttr(offset);
    result = lowering.copyInto(input, result, offsets);
    offset += tensorType(input).getDimSize(axis);
  }
  lowering.replace(result);
  return success();
}

/// The box of `value` at `offsets` with the shape of `type`, as a view.
static Value box(Lowering &lowering, Value value, ArrayRef<int64_t> offsets,
                 RankedTensorType type) {
  ImplicitLocOpBuilder &b = lowering.builder();
  SmallVector<OpFoldResult> mixedOffsets, sizes;
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    mixedOffsets.push_back(b.getIndexAttr(offsets[dim]));
    sizes.push_back(type.isDynamicDim(dim)
                        ? lowering.mixedExtent(value, dim)
                        : OpFoldResult(b.getIndexAttr(type.getDimSize(dim))));
  }
  return tensor::ExtractSliceOp::create(b, type, value, mixedOffsets, sizes,
                                        strides);
}

// Copied, because library calls take contiguous values.
LogicalResult SliceOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  Value slice = box(lowering, getX(), getOffsets(), getType());
  lowering.replace(lowering.copy(slice, lowering.emptyLike(getX(), getType())));
  return success();
}

LogicalResult PadOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  ImplicitLocOpBuilder &b = lowering.builder();
  RankedTensorType x = tensorType(getX());
  if (!isa<FloatType>(x.getElementType()))
    return emitOpError() << "has a lowering for floats only, got " << x;
  int64_t rank = x.getRank();
  SmallVector<int64_t> from, shape(x.getShape());
  SmallVector<OpFoldResult> to;
  bool grows = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t begin = getPads()[dim], end = getPads()[dim + rank];
    from.push_back(std::max<int64_t>(-begin, 0));
    to.push_back(b.getIndexAttr(std::max<int64_t>(begin, 0)));
    if (!x.isDynamicDim(dim))
      shape[dim] += std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0);
    grows |= begin > 0 || end > 0;
  }
  auto keptType = RankedTensorType::get(shape, x.getElementType());
  Value kept = keptType == x ? getX() : box(lowering, getX(), from, keptType);
  Value y = lowering.emptyLike(getX(), getType());
  if (grows)
    y = lowering.copyInto(kept, lowering.fill(y, getValue().convertToDouble()),
                          to);
  else
    y = lowering.copy(kept, y);
  lowering.replace(y);
  return success();
}

//===----------------------------------------------------------------------===//
// Reorder
//===----------------------------------------------------------------------===//

OpFoldResult ReorderOp::fold(FoldAdaptor) {
  auto back = getX().getDefiningOp<ReorderOp>();
  if (back && back.getFrom() == getTo() && back.getTo() == getFrom())
    return back.getX();
  return {};
}

bool ReorderOp::isLibraryOp() { return true; }

LogicalResult ReorderOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  lowering.replaceByPrimitive(
      "reorder", getX(),
      lowering.empty(tensorType(getY()), SmallVector<Extent>{{getX(), 0}}));
  return success();
}
