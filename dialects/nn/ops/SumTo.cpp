// SPDX-License-Identifier: Apache-2.0
// The gradient of broadcasting.
#include "dialects/nn/ops/SumTo.h"
#include "dialects/nn/ops/BuildLinalg.h"
#include "dialects/nn/ops/PartitionRules.h"
#include "dialects/nn/ops/ShapeRules.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

/// The dimension of y that dimension `dim` of x is kept as, if it is.
static std::optional<int64_t> keptAs(RankedTensorType x, RankedTensorType y,
                                     int64_t dim) {
  int64_t own = dim - (x.getRank() - y.getRank());
  if (own < 0 || y.getDimSize(own) == 1)
    return std::nullopt;
  return own;
}

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

LogicalResult SumToOp::verify() {
  RankedTensorType x = tensorType(getX()), y = getType();
  if (x.getElementType() != y.getElementType())
    return emitOpError() << "expects a result of " << x.getElementType()
                         << ", got " << y.getElementType();
  if (y.getRank() > x.getRank())
    return emitOpError() << "result must not have a higher rank than "
                         << x.getRank() << ", got " << y.getRank();
  for (int64_t dim = 0; dim < x.getRank(); ++dim)
    if (std::optional<int64_t> own = keptAs(x, y, dim))
      if (!extentsMatch(x.getDimSize(dim), y.getDimSize(*own)))
        return emitOpError()
               << "result " << y << " does not broadcast to " << x;
  return success();
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

LogicalResult SumToOp::partition(FeaturePartitioner &p) {
  RankedTensorType x = tensorType(getX()), y = getType();
  if (!hasFeatures(x) || !p.isSharded(getX()))
    return partitionReplicated(*this, p);
  std::optional<int64_t> kept = keptAs(x, y, FeaturePartitioner::featureDim(x));
  if (!kept && x.getDimSize(1) != 1) {
    cloneLocal(*this, p, p.shard(getX()), Form::Partial);
    return success();
  }
  if (!kept || *kept != FeaturePartitioner::featureDim(y))
    return partitionReplicated(*this, p);
  cloneLocal(*this, p, p.shard(getX()), Form::Shard);
  return success();
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

LogicalResult SumToOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  ImplicitLocOpBuilder &b = lowering.builder();
  RankedTensorType x = tensorType(getX()), y = getType();
  if (x == y) {
    lowering.replace(getX());
    return success();
  }
  // The sum has the kept dimensions only; those of extent 1 come after it.
  SmallVector<AffineExpr> kept;
  SmallVector<int64_t> shape;
  SmallVector<Extent> extents;
  SmallVector<utils::IteratorType> iterators(x.getRank(),
                                             utils::IteratorType::reduction);
  for (int64_t dim = 0; dim < x.getRank(); ++dim) {
    std::optional<int64_t> own = keptAs(x, y, dim);
    if (!own)
      continue;
    kept.push_back(b.getAffineDimExpr(dim));
    shape.push_back(y.getDimSize(*own));
    iterators[dim] = utils::IteratorType::parallel;
    if (y.isDynamicDim(*own))
      extents.push_back({getX(), dim});
  }
  auto sumType = RankedTensorType::get(shape, y.getElementType());
  Value zeros = lowering.fill(lowering.empty(sumType, extents), 0.0);
  Value sum =
      lowering
          .generic(getX(), zeros,
                   {b.getMultiDimIdentityMap(x.getRank()),
                    AffineMap::get(x.getRank(), 0, kept, b.getContext())},
                   iterators,
                   [](ImplicitLocOpBuilder &inner, ValueRange args) {
                     return SmallVector<Value>{
                         arith::AddFOp::create(inner, args[1], args[0])};
                   })
          .front();
  if (sumType != y) {
    // A kept dimension takes the dimensions of extent 1 before it along, the
    // last one also those after it.
    SmallVector<ReassociationIndices> groups;
    SmallVector<OpFoldResult> sizes;
    ReassociationIndices group;
    size_t nextKept = 0;
    for (int64_t dim = 0; dim < y.getRank(); ++dim) {
      group.push_back(dim);
      if (y.getDimSize(dim) == 1) {
        sizes.push_back(b.getIndexAttr(1));
        continue;
      }
      sizes.push_back(lowering.mixedExtent(sum, nextKept++));
      groups.push_back(std::move(group));
      group.clear();
    }
    if (!groups.empty())
      llvm::append_range(groups.back(), group);
    sum = tensor::ExpandShapeOp::create(b, y, sum, groups, sizes);
  }
  lowering.replace(sum);
  return success();
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t SumToOp::getFlops(int64_t batch) {
  return elementCount(getX().getType(), batch);
}
