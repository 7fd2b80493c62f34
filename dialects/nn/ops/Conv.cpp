// SPDX-License-Identifier: Apache-2.0
// Convolution.
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

LogicalResult ConvOp::verify() {
  if (isPhysical(*this))
    return success();
  RankedTensorType x = tensorType(getX()), w = tensorType(getW());
  if (x.getRank() < 3)
    return emitOpError() << "x must have spatial dimensions, got " << x;
  int64_t spatialRank = x.getRank() - 2, group = getGroup();
  if (failed(checkRank(*this, "w", w, x.getRank())))
    return failure();
  ArrayRef<int64_t> kernel = w.getShape().drop_front(2);
  Window window{kernel, getStrides(), getDilations(), getPads()};
  if (failed(checkWindow(*this, window, spatialRank)))
    return failure();
  if (group < 1 || (!w.isDynamicDim(0) && w.getDimSize(0) % group != 0))
    return emitOpError() << "`group` must divide the " << w.getDimSize(0)
                         << " output channels, got " << group;
  if (!extentsMatch(x.getDimSize(1), w.getDimSize(1) * group))
    return emitOpError() << "w expects " << w.getDimSize(1) * group
                         << " input channels (" << w.getDimSize(1) << " in "
                         << group << " groups), but x has " << x.getDimSize(1);
  if (getB() &&
      failed(checkShape(*this, "b", getB().getType(), w.getDimSize(0))))
    return failure();
  SmallVector<int64_t> expected = {x.getDimSize(0), w.getDimSize(0)};
  llvm::append_range(expected,
                     windowOutput(x.getShape().drop_front(2), window));
  return checkShape(*this, "y", getType(), expected);
}

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult ConvOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool> needed,
                               MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0];
  if (needed[0])
    operandGrads[0] = ConvBackwardDataOp::create(
        builder, getLoc(), getX().getType(), dy, getW(), getStridesAttr(),
        getDilationsAttr(), getPadsAttr(), getGroupAttr());
  bool bias = getB() && needed[2];
  if (needed[1]) {
    auto weights = ConvBackwardWeightsOp::create(
        builder, getLoc(), getW().getType(), bias ? getB().getType() : Type(),
        getX(), dy, getStridesAttr(), getDilationsAttr(), getPadsAttr(),
        getGroupAttr());
    operandGrads[1] = weights.getDw();
    if (bias)
      operandGrads[2] = weights.getDb();
  } else if (bias) {
    RankedTensorType type = tensorType(getB());
    SmallVector<int64_t> shape(tensorType(dy).getRank() - 1, 1);
    shape[0] = type.getDimSize(0);
    Value sum = sumTo(builder, getLoc(), dy,
                      RankedTensorType::get(shape, type.getElementType()));
    operandGrads[2] = ReshapeOp::create(builder, getLoc(), type, sum);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

// A convolution over its whole map is a linear layer: its output channels are
// the units. In groups, channels of y need only some of x.

LogicalResult ConvOp::partition(FeaturePartitioner &p) {
  if (!isFullyConnected())
    return partitionReplicated(*this, p);
  SmallVector<Value> operands = {p.full(getX()), p.shard(getW())};
  if (getB())
    operands.push_back(p.shard(getB()));
  cloneLocal(*this, p, operands, Form::Shard);
  return success();
}

LogicalResult ConvBackwardDataOp::partition(FeaturePartitioner &p) {
  if (getGroup() != 1)
    return partitionReplicated(*this, p);
  cloneLocal(*this, p, {p.shard(getDy()), p.shard(getW())}, Form::Partial);
  return success();
}

LogicalResult ConvBackwardWeightsOp::partition(FeaturePartitioner &p) {
  if (getGroup() != 1)
    return partitionReplicated(*this, p);
  cloneLocal(*this, p, {p.full(getX()), p.shard(getDy())},
             SmallVector<Form>(getNumResults(), Form::Shard));
  return success();
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

bool ConvOp::isLibraryOp() { return true; }
bool ConvBackwardDataOp::isLibraryOp() { return true; }
bool ConvBackwardWeightsOp::isLibraryOp() { return true; }

/// Images of `channels` channels (a shard's are known at run time only).
static Value emptyImages(Lowering &lowering, Type type, Value batch,
                         Extent channels) {
  auto images = cast<RankedTensorType>(type);
  SmallVector<Extent> extents;
  if (images.isDynamicDim(0))
    extents.push_back({batch, 0});
  if (images.isDynamicDim(1))
    extents.push_back(channels);
  return lowering.empty(images, extents);
}

LogicalResult ConvOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  lowering.replaceByPrimitive(
      "conv_forward", getOperands(),
      emptyImages(lowering, getType(), getX(), {getW(), 0}));
  return success();
}

LogicalResult ConvBackwardDataOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  lowering.replaceByPrimitive(
      "conv_backward_data", getOperands(),
      emptyImages(lowering, getType(), getDy(), {getW(), 1}));
  return success();
}

LogicalResult ConvBackwardWeightsOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  SmallVector<Value> outputs;
  for (Type type : getResultTypes()) {
    auto weights = cast<RankedTensorType>(type);
    outputs.push_back(lowering.empty(
        weights, weights.isDynamicDim(0) ? SmallVector<Extent>{{getDy(), 1}}
                                         : SmallVector<Extent>{}));
  }
  lowering.replaceByPrimitive("conv_backward_weights", getOperands(), outputs);
  return success();
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// Each output element is a dot product with one output channel's weights.
static int64_t convFlops(Type y, Type w, int64_t batch) {
  return 2 * elementCount(y, batch) *
         (elementCount(w, 1) / cast<RankedTensorType>(w).getDimSize(0));
}

int64_t ConvOp::getFlops(int64_t batch) {
  return convFlops(getType(), getW().getType(), batch) +
         (getB() ? elementCount(getType(), batch) : 0);
}

int64_t ConvBackwardDataOp::getFlops(int64_t batch) {
  return convFlops(getDy().getType(), getW().getType(), batch);
}

int64_t ConvBackwardWeightsOp::getFlops(int64_t batch) {
  return convFlops(getDy().getType(), getDw().getType(), batch) +
         (getDb() ? elementCount(getDy().getType(), batch) : 0);
}
