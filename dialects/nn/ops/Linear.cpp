// SPDX-License-Identifier: Apache-2.0
// Fully-connected layers.
#include "dialects/nn/ops/BuildLinalg.h"
#include "dialects/nn/ops/PartitionRules.h"
#include "dialects/nn/ops/ShapeRules.h"
#include "dialects/nn/ops/SumTo.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::verify() {
  RankedTensorType x = tensorType(getX()), w = tensorType(getW());
  if (x.getRank() < 2)
    return emitOpError() << "x must have rank 2 or more, got " << x;
  if (failed(checkRank(*this, "w", w, 2)))
    return failure();
  if (!extentsMatch(x.getShape().back(), w.getDimSize(1)))
    return emitOpError() << "w has " << w.getDimSize(1)
                         << " inputs, but x has rows of "
                         << x.getShape().back();
  if (getB() &&
      failed(checkShape(*this, "b", getB().getType(), w.getDimSize(0))))
    return failure();
  SmallVector<int64_t> expected(x.getShape());
  expected.back() = w.getDimSize(0);
  return checkShape(*this, "y", getType(), expected);
}

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::buildVJP(OpBuilder &builder,
                                 ArrayRef<Value> resultGrads,
                                 ArrayRef<bool> needed,
                                 MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0];
  if (needed[0])
    operandGrads[0] = LinearBackwardDataOp::create(
        builder, getLoc(), getX().getType(), dy, getW());
  bool bias = getB() && needed[2];
  if (needed[1]) {
    auto weights = LinearBackwardWeightsOp::create(
        builder, getLoc(), getW().getType(), bias ? getB().getType() : Type(),
        getX(), dy);
    operandGrads[1] = weights.getDw();
    if (bias)
      operandGrads[2] = weights.getDb();
  } else if (bias) {
    operandGrads[2] = sumTo(builder, getLoc(), dy, getB().getType());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

/// Units are the features of rank-2 activations only.
static bool shardsUnits(Value activations) {
  return tensorType(activations).getRank() == 2 &&
         hasFeatures(activations.getType());
}

LogicalResult LinearOp::partition(FeaturePartitioner &p) {
  if (!shardsUnits(getX()))
    return partitionReplicated(*this, p);
  SmallVector<Value> operands = {p.full(getX()), p.shard(getW())};
  if (getB())
    operands.push_back(p.shard(getB()));
  cloneLocal(*this, p, operands, Form::Shard);
  return success();
}

LogicalResult LinearBackwardDataOp::partition(FeaturePartitioner &p) {
  if (!shardsUnits(getDy()))
    return partitionReplicated(*this, p);
  cloneLocal(*this, p, {p.shard(getDy()), p.shard(getW())}, Form::Partial);
  return success();
}

LogicalResult LinearBackwardWeightsOp::partition(FeaturePartitioner &p) {
  if (!shardsUnits(getDy()))
    return partitionReplicated(*this, p);
  cloneLocal(*this, p, {p.full(getX()), p.shard(getDy())},
             SmallVector<Form>(getNumResults(), Form::Shard));
  return success();
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

bool LinearOp::isLibraryOp() { return true; }
bool LinearBackwardDataOp::isLibraryOp() { return true; }
bool LinearBackwardWeightsOp::isLibraryOp() { return true; }

/// [N, ..., F] as rows [N * ..., F], which the library takes.
static Value asRows(Lowering &lowering, Value value) {
  RankedTensorType type = tensorType(value);
  if (type.getRank() == 2)
    return value;
  ReassociationIndices leading;
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    leading.push_back(dim);
  return tensor::CollapseShapeOp::create(
      lowering.builder(), value,
      ArrayRef<ReassociationIndices>{leading, {type.getRank() - 1}});
}

/// The reverse of asRows; leading extents are those of `like`.
static Value fromRows(Lowering &lowering, Value rows, RankedTensorType type,
                      Value like) {
  if (type.getRank() == 2)
    return rows;
  ReassociationIndices leading;
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim) {
    leading.push_back(dim);
    sizes.push_back(lowering.mixedExtent(like, dim));
  }
  sizes.push_back(lowering.mixedExtent(rows, 1));
  return tensor::ExpandShapeOp::create(
      lowering.builder(), type, rows,
      ArrayRef<ReassociationIndices>{leading, {type.getRank() - 1}}, sizes);
}

/// A destination for rows of `value` with `features` (of dimension `dim`).
static Value emptyRows(Lowering &lowering, Value rows, Value features,
                       int64_t dim) {
  RankedTensorType like = tensorType(rows);
  auto type = RankedTensorType::get(
      {like.getDimSize(0), tensorType(features).getDimSize(dim)},
      like.getElementType());
  SmallVector<Extent> extents;
  if (type.isDynamicDim(0))
    extents.push_back({rows, 0});
  if (type.isDynamicDim(1))
    extents.push_back({features, dim});
  return lowering.empty(type, extents);
}

LogicalResult LinearOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  Value rows = asRows(lowering, getX());
  SmallVector<Value> inputs = {rows, getW()};
  if (getB())
    inputs.push_back(getB());
  Value y = lowering.primitive("linear_forward", inputs,
                               emptyRows(lowering, rows, getW(), 0))[0];
  lowering.replace(fromRows(lowering, y, getType(), getX()));
  return success();
}

LogicalResult LinearBackwardDataOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  Value rows = asRows(lowering, getDy());
  Value dx = lowering.primitive("linear_backward_data", {rows, getW()},
                                emptyRows(lowering, rows, getW(), 1))[0];
  lowering.replace(fromRows(lowering, dx, getType(), getDy()));
  return success();
}

LogicalResult LinearBackwardWeightsOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  Value x = asRows(lowering, getX()), dy = asRows(lowering, getDy());
  RankedTensorType dw = tensorType(getDw());
  SmallVector<Extent> extents;
  if (dw.isDynamicDim(0))
    extents.push_back({dy, 1});
  if (dw.isDynamicDim(1))
    extents.push_back({x, 1});
  SmallVector<Value> outputs = {lowering.empty(dw, extents)};
  if (getDb()) {
    RankedTensorType db = tensorType(getDb());
    outputs.push_back(lowering.empty(db, db.isDynamicDim(0)
                                             ? SmallVector<Extent>{{dy, 1}}
                                             : SmallVector<Extent>{}));
  }
  lowering.replaceByPrimitive("linear_backward_weights", {x, dy}, outputs);
  return success();
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t LinearOp::getFlops(int64_t batch) {
  int64_t units = elementCount(getType(), batch);
  return 2 * units * tensorType(getX()).getShape().back() +
         (getB() ? units : 0);
}

int64_t LinearBackwardDataOp::getFlops(int64_t batch) {
  return 2 * elementCount(getDy().getType(), batch) *
         tensorType(getW()).getDimSize(1);
}

int64_t LinearBackwardWeightsOp::getFlops(int64_t batch) {
  int64_t units = elementCount(getDy().getType(), batch);
  return 2 * units * tensorType(getX()).getShape().back() +
         (getDb() ? units : 0);
}
