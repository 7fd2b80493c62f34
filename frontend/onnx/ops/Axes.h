// SPDX-License-Identifier: Apache-2.0
// Axes, starts and ends, which older opsets hold in attributes and newer ones
// in inputs.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace hpcc {

/// Of Squeeze and Unsqueeze; nullopt where absent.
llvm::FailureOr<std::optional<llvm::SmallVector<int64_t>>>
readAxes(NodeImport &node);

/// Shape of Unsqueeze: `axes` count in the result.
llvm::FailureOr<llvm::SmallVector<int64_t>>
insertOnes(NodeImport &node, llvm::ArrayRef<int64_t> shape,
           llvm::ArrayRef<int64_t> axes);

/// Slice, per sliced axis: normalised axis, start clamped to the extent, the
/// step, and how many elements.
struct SliceRange {
  int64_t axis, start, step, count;
};
/// `extents` of the sliced tensor; a dynamic one may only be kept whole.
llvm::FailureOr<llvm::SmallVector<SliceRange>>
readSlice(NodeImport &node, llvm::ArrayRef<int64_t> extents);

} // namespace hpcc
