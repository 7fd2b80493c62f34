// SPDX-License-Identifier: Apache-2.0
// What an op of the head asks while it is rewritten for one worker. Values
// named `global` belong to the single-program IR; what the methods return is
// this worker's form of them. Conversions between the forms are collectives;
// each is made once and shared by later users.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace hpcc {

enum class ReductionKind { Sum, Max };

class FeaturePartitioner {
public:
  virtual ~FeaturePartitioner() = default;

  /// Where the per-worker ops go.
  virtual mlir::OpBuilder &builder() = 0;
  /// The worker's copy of the whole value: gathers a sharded value along its
  /// feature dimension, all-reduces a partial one. A value that is not a
  /// tensor has no other form.
  virtual mlir::Value full(mlir::Value global) = 0;
  /// The worker's range of the value's features: slices a full value,
  /// reduce-scatters a partial one.
  virtual mlir::Value shard(mlir::Value global) = 0;
  /// Whether the value exists as shards now, or as partial sums: `shard` then
  /// costs no more than `full`.
  virtual bool isSharded(mlir::Value global) = 0;

  virtual void setFull(mlir::Value global, mlir::Value local) = 0;
  virtual void setShard(mlir::Value global, mlir::Value local) = 0;
  /// The value is the sum over workers of `local`.
  virtual void setPartial(mlir::Value global, mlir::Value local) = 0;

  /// The dimension that is split: 1 for values with a row per example (their
  /// dimension 0 is dynamic), 0 for parameters and their gradients.
  static int64_t featureDim(mlir::Type type) {
    auto ranked = mlir::cast<mlir::RankedTensorType>(type);
    return ranked.getRank() > 1 && ranked.isDynamicDim(0) ? 1 : 0;
  }
  /// `type` with this worker's extent of the feature dimension.
  virtual mlir::RankedTensorType shardType(mlir::Type type) = 0;
  /// First feature of this worker, and how many, of `extent` in all.
  virtual mlir::Value shardOffset(int64_t extent) = 0;
  virtual mlir::Value shardSize(int64_t extent) = 0;
  /// All-reduce of a local value whose shape is the same on all workers.
  virtual mlir::Value allReduce(mlir::Value local, ReductionKind kind) = 0;
  /// More than one worker: with one, all forms of a value are the same.
  virtual bool isDistributed() const = 0;
};

} // namespace hpcc
