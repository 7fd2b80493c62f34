// SPDX-License-Identifier: Apache-2.0
// Per-worker forms that several nn ops share.
#include "dialects/nn/ops/PartitionRules.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

Operation *hpcc::nn::cloneLocal(Operation *op, FeaturePartitioner &p,
                                ValueRange operands, ArrayRef<Form> results) {
  assert(results.size() == op->getNumResults() && "one form per result");
  Operation *local = p.builder().clone(*op);
  local->setOperands(operands);
  for (auto [global, value, form] :
       llvm::zip_equal(op->getResults(), local->getResults(), results)) {
    switch (form) {
    case Form::Full:
      p.setFull(global, value);
      break;
    case Form::Shard:
      value.setType(p.shardType(global.getType()));
      p.setShard(global, value);
      break;
    case Form::Partial:
      p.setPartial(global, value);
      break;
    }
  }
  return local;
}

LogicalResult hpcc::nn::partitionReplicated(Operation *op,
                                            FeaturePartitioner &p) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(p.full(operand));
  cloneLocal(op, p, operands,
             SmallVector<Form>(op->getNumResults(), Form::Full));
  return success();
}

bool hpcc::nn::hasFeatures(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  return ranked && ranked.getRank() >= 2 && ranked.isDynamicDim(0);
}

std::optional<bool> hpcc::nn::cutsWith(Type operand, Type result) {
  auto from = dyn_cast<RankedTensorType>(operand);
  auto to = cast<RankedTensorType>(result);
  if (!from)
    return false;
  int64_t feature = FeaturePartitioner::featureDim(to);
  int64_t dim = feature - (to.getRank() - from.getRank());
  if (dim < 0 || from.getRank() == 0)
    return false; // the operand lacks the feature dimension
  if (from.getDimSize(dim) == 1 && to.getDimSize(feature) != 1)
    return false; // broadcast along it
  if (dim != FeaturePartitioner::featureDim(from))
    return std::nullopt;
  return true;
}

LogicalResult hpcc::nn::partitionElementwise(Operation *op,
                                             FeaturePartitioner &p) {
  assert(op->getNumResults() == 1 && "an elementwise op has one result");
  Type result = op->getResult(0).getType();
  // Without an operand in shards, cutting would only cost a gather later.
  bool sharded = false, possible = cast<RankedTensorType>(result).getRank() > 0;
  for (Value operand : op->getOperands()) {
    std::optional<bool> cuts = cutsWith(operand.getType(), result);
    possible &= cuts.has_value();
    sharded |= cuts.value_or(false) && p.isSharded(operand);
  }
  if (!sharded || !possible)
    return partitionReplicated(op, p);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(*cutsWith(operand.getType(), result) ? p.shard(operand)
                                                            : p.full(operand));
  cloneLocal(op, p, operands, Form::Shard);
  return success();
}
