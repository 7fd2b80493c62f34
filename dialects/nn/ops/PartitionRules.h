// SPDX-License-Identifier: Apache-2.0
// Per-worker forms that several nn ops share.
#pragma once

#include "dialects/nn/IR/NN.h"

namespace hpcc::nn {

/// How a result exists on the workers.
enum class Form { Full, Shard, Partial };

/// Copies the op with the given local operands and states its results.
mlir::Operation *cloneLocal(mlir::Operation *op, FeaturePartitioner &p,
                            mlir::ValueRange operands,
                            llvm::ArrayRef<Form> results);

/// Runs the op on the full form of everything.
llvm::LogicalResult partitionReplicated(mlir::Operation *op,
                                        FeaturePartitioner &p);

/// The rule of ops that work element by element, with broadcasting: on shards
/// where an operand is sharded and all others can be, else on full values.
llvm::LogicalResult partitionElementwise(mlir::Operation *op,
                                         FeaturePartitioner &p);

/// Whether a value has a row per example and features to shard.
bool hasFeatures(mlir::Type type);

/// How an operand goes with a result whose features are sharded: cut alike
/// (true), or not at all because it is the same for all features (false);
/// nothing where it is cut along a dimension that is not its feature one.
std::optional<bool> cutsWith(mlir::Type operand, mlir::Type result);

} // namespace hpcc::nn
