// SPDX-License-Identifier: Apache-2.0
// The windows of a pooling op: attributes, and the pads that the library must
// be told so that it agrees about the output size.
#ifndef HPCC_RUNTIME_CPU_POOLWINDOW_H
#define HPCC_RUNTIME_CPU_POOLWINDOW_H

#include "runtime/cpu/CpuKernel.h"

namespace hpcc::runtime::cpu {

struct PoolWindow {
  Shape kernel;
  Shape strides;
  Shape dilations; ///< Zero-based, as the library counts.
  Shape padBegin;
  Shape padEnd;
  bool dilated() const;
  /// What the window covers, from its first to its last element.
  int64_t extent(size_t dim) const {
    return (kernel[dim] - 1) * (dilations[dim] + 1) + 1;
  }
};

/// Reads kernel, strides, dilations, pads.
Result<PoolWindow> readPoolWindow(Attributes &attributes);

/// End pads that make floor((in + begin + end - extent) / stride) + 1 the given
/// output size: with ceil-mode shapes those of the file do not. Error when a
/// window would hold no element at all.
Result<Shape> endPads(const PoolWindow &window, const Shape &input,
                      const Shape &output);

} // namespace hpcc::runtime::cpu

#endif // HPCC_RUNTIME_CPU_POOLWINDOW_H
