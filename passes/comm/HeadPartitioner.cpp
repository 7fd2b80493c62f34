// SPDX-License-Identifier: Apache-2.0
#include "passes/comm/HeadPartitioner.h"

using namespace mlir;
using namespace hpcc;

static int64_t featureExtent(Type type) {
  return cast<RankedTensorType>(type).getDimSize(
      FeaturePartitioner::featureDim(type));
}

RankedTensorType HeadPartitioner::shardType(Type type) {
  auto ranked = cast<RankedTensorType>(type);
  if (!isDistributed() || ranked.getRank() == 0)
    return ranked;
  SmallVector<int64_t> shape(ranked.getShape());
  shape[featureDim(type)] = ShapedType::kDynamic;
  return RankedTensorType::get(shape, ranked.getElementType());
}

Value HeadPartitioner::shardOffset(int64_t extent) {
  if (isDistributed())
    return step.shardOffset(extent);
  return arith::ConstantIndexOp::create(ops, step.get().getLoc(), 0);
}

Value HeadPartitioner::shardSize(int64_t extent) {
  if (isDistributed())
    return step.shardSize(extent);
  return arith::ConstantIndexOp::create(ops, step.get().getLoc(), extent);
}

/// A destination of a whole (static features) or sharded type of the head.
Value HeadPartitioner::empty(RankedTensorType type, Value like) {
  SmallVector<Value> dynamic;
  int64_t feature = featureDim(like.getType());
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent))
      continue;
    bool isShard = int64_t(dim) == feature;
    dynamic.push_back(isShard ? shardSize(featureExtent(like.getType()))
                              : rows);
  }
  return emptyTensor(ops, like.getLoc(), type, dynamic);
}

Value HeadPartitioner::full(Value global) {
  Forms &form = forms[global];
  if (form.full)
    return form.full;
  if (!isDistributed())
    return form.full = form.shard     ? form.shard
                       : form.partial ? form.partial
                                      : global;
  Location loc = global.getLoc();
  if (form.shard) {
    auto type = cast<RankedTensorType>(global.getType());
    Value destination = empty(type, global);
    form.full =
        comm::AllGatherOp::create(
            ops, loc, type, form.shard, destination, Value(), featureDim(type),
            comm::Reduction::Sum, comm::Channel::Inline, "workers")
            .getResult();
    return form.full;
  }
  if (form.partial) {
    form.full = allReduce(form.partial, ReductionKind::Sum);
    return form.full;
  }
  return form.full = global; // captured: the same on every worker
}

Value HeadPartitioner::shard(Value global) {
  if (Value shard = forms[global].shard)
    return shard;
  if (!isDistributed())
    return full(global);
  auto type = dyn_cast<RankedTensorType>(global.getType());
  if (!type || type.getRank() == 0)
    return full(global);
  Location loc = global.getLoc();
  if (Value partial = forms[global].partial; partial && !forms[global].full) {
    RankedTensorType local = shardType(type);
    Value result = comm::ReduceScatterOp::create(
                       ops, loc, local, partial, empty(local, global), Value(),
                       featureDim(type), comm::Reduction::Sum,
                       comm::Channel::Inline, "workers")
                       .getResult();
    return forms[global].shard = result;
  }
  int64_t extent = featureExtent(type);
  Value whole = full(global);
  Value part = sliceDim(ops, loc, whole, featureDim(type), shardOffset(extent),
                        shardSize(extent));
  return forms[global].shard = part;
}

Value HeadPartitioner::partial(Value global) {
  if (Value partial = forms[global].partial)
    return partial;
  if (!isDistributed())
    return full(global);
  // This worker's features in a field of zeros.
  auto type = cast<RankedTensorType>(global.getType());
  Location loc = global.getLoc();
  Value mine = shard(global);
  Value zero = arith::ConstantOp::create(
      ops, loc, ops.getZeroAttr(type.getElementType()));
  Value zeros =
      linalg::FillOp::create(ops, loc, zero, empty(type, global)).getResult(0);
  return forms[global].partial =
             insertDim(ops, loc, mine, zeros, featureDim(type),
                       shardOffset(featureExtent(type)));
}

std::pair<Value, bool> HeadPartitioner::cheapest(Value global) {
  Forms &form = forms[global];
  if (isDistributed() && form.partial && !form.full)
    return {form.partial, true};
  return {full(global), false};
}

Value HeadPartitioner::allReduce(Value local, ReductionKind kind) {
  if (!isDistributed())
    return local;
  Location loc = local.getLoc();
  auto type = cast<RankedTensorType>(local.getType());
  SmallVector<Value> dynamic;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      dynamic.push_back(ops.createOrFold<tensor::DimOp>(loc, local, dim));
  return comm::AllReduceOp::create(
             ops, loc, type, local, emptyTensor(ops, loc, type, dynamic),
             Value(), 0,
             kind == ReductionKind::Max ? comm::Reduction::Max
                                        : comm::Reduction::Sum,
             comm::Channel::Inline, "workers")
      .getResult();
}
