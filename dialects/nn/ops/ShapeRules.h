// SPDX-License-Identifier: Apache-2.0
// What verifiers and costs ask about shapes. Extents known only at run time
// (the batch; features of a shard) are compatible with every extent.
#pragma once

#include "dialects/nn/IR/NN.h"

namespace hpcc::nn {

/// Whether the op's images are in the physical layouts of `nn.layouts`; the
/// rules of logical shapes then do not apply.
inline bool isPhysical(mlir::Operation *op) {
  return op->hasAttr("nn.layouts");
}

inline bool extentsMatch(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) ||
         mlir::ShapedType::isDynamic(b);
}
/// Whether the extents of `type` are compatible with `expected`.
bool shapeMatches(mlir::Type type, llvm::ArrayRef<int64_t> expected);
/// A shape as MLIR prints it: "?x3x224x224".
std::string shapeText(llvm::ArrayRef<int64_t> shape);
/// "<what> must have shape 10x84, got 10x85" unless it has.
llvm::LogicalResult checkShape(mlir::Operation *op, llvm::StringRef what,
                               mlir::Type type,
                               llvm::ArrayRef<int64_t> expected);
llvm::LogicalResult checkRank(mlir::Operation *op, llvm::StringRef what,
                              mlir::Type type, int64_t expected);
/// Dynamic dimension 0 of `type`: the batch.
bool hasBatch(mlir::Type type);
/// Elements, every dynamic dimension taken as `batch`.
int64_t elementCount(mlir::Type type, int64_t batch);

/// A sliding window over the spatial dimensions (conv and pooling).
struct Window {
  llvm::ArrayRef<int64_t> kernel, strides, dilations, pads;
};
/// Checks the lengths and signs of a window's attributes.
llvm::LogicalResult checkWindow(mlir::Operation *op, Window window,
                                int64_t spatialRank);
/// Where the window fits: floor((in + pads - extent) / stride) + 1.
llvm::SmallVector<int64_t> windowOutput(llvm::ArrayRef<int64_t> input,
                                        Window window);

} // namespace hpcc::nn
