// SPDX-License-Identifier: Apache-2.0
// The per-worker forms of the head's values (FeaturePartitioner), with the
// collectives that turn one form into another, each made once.
#pragma once

#include "passes/comm/StepFunction.h"

namespace hpcc {

class HeadPartitioner final : public FeaturePartitioner {
public:
  /// `rows` is the number of rows of the pass (of dimension 0 of values with a
  /// row per example).
  HeadPartitioner(mlir::OpBuilder &ops, StepFunction &step,
                  const Options &options, mlir::Value rows)
      : ops(ops), step(step), options(options), rows(rows) {}

  mlir::OpBuilder &builder() override { return ops; }
  mlir::Value full(mlir::Value global) override;
  mlir::Value shard(mlir::Value global) override;
  bool isSharded(mlir::Value global) override {
    // Scattering partial sums costs half of all-reducing them, and gathering
    // the result later only the other half.
    return forms[global].shard ||
           (forms[global].partial && !forms[global].full);
  }
  void setFull(mlir::Value global, mlir::Value local) override {
    forms[global].full = local;
  }
  void setShard(mlir::Value global, mlir::Value local) override {
    forms[global].shard = local;
  }
  void setPartial(mlir::Value global, mlir::Value local) override {
    forms[global].partial = local;
  }
  mlir::RankedTensorType shardType(mlir::Type type) override;
  mlir::Value shardOffset(int64_t extent) override;
  mlir::Value shardSize(int64_t extent) override;
  mlir::Value allReduce(mlir::Value local, ReductionKind kind) override;
  bool isDistributed() const override { return options.workers > 1; }

  /// A form whose sum over the workers is the value.
  mlir::Value partial(mlir::Value global);
  /// The value without a collective: this worker's term of a sum (true), or
  /// the whole (false).
  std::pair<mlir::Value, bool> cheapest(mlir::Value global);

private:
  struct Forms {
    mlir::Value full, shard, partial;
  };
  mlir::Value empty(mlir::RankedTensorType type, mlir::Value like);

  mlir::OpBuilder &ops;
  StepFunction &step;
  const Options &options;
  mlir::Value rows;
  llvm::DenseMap<mlir::Value, Forms> forms;
};

} // namespace hpcc
