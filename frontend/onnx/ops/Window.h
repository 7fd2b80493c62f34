// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions and pools: explicit pads from auto_pad and
// ceil_mode, and the resulting extents.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace hpcc {

struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations;
  /// All begins, then all ends, with what ceil_mode adds.
  llvm::SmallVector<int64_t> pads;
  /// The pads before ceil_mode.
  llvm::SmallVector<int64_t> explicitPads;
  /// Spatial extents of the result.
  llvm::SmallVector<int64_t> extents;

  bool isExtended() const { return pads != explicitPads; }
};

/// Reads strides, dilations, pads, auto_pad and ceil_mode of a node whose
/// input has the given spatial extents. With `needsData`, windows of nothing
/// but padding are an error, as a pool has no value for them.
llvm::FailureOr<Window> readWindow(NodeImport &node,
                                   llvm::ArrayRef<int64_t> spatial,
                                   llvm::ArrayRef<int64_t> kernel,
                                   bool needsData);

/// Attribute kernel_shape, 2-D.
llvm::FailureOr<llvm::SmallVector<int64_t>> readKernel(NodeImport &node);

/// x of a spatial operator: [N, C, H, W].
mlir::Value imageInput(NodeImport &node);

} // namespace hpcc
