// SPDX-License-Identifier: Apache-2.0
// Pooling windows and their pads.
#include "runtime/cpu/PoolWindow.h"
#include <algorithm>

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;

bool PoolWindow::dilated() const {
  return std::any_of(dilations.begin(), dilations.end(),
                     [](int64_t dilation) { return dilation != 0; });
}

Result<PoolWindow> cpu::readPoolWindow(Attributes &attributes) {
  PoolWindow window;
  window.kernel = attributes.integers("kernel");
  size_t spatial = window.kernel.size();
  window.strides = attributes.integers("strides", Shape(spatial, 1));
  window.dilations = attributes.integers("dilations", Shape(spatial, 1));
  Shape pads = attributes.integers("pads", Shape(2 * spatial, 0));
  if (!attributes.status().ok())
    return attributes.status();
  if (spatial < 1 || spatial > 3 || window.strides.size() != spatial ||
      window.dilations.size() != spatial || pads.size() != 2 * spatial)
    return Status::error(StatusCode::internal,
                         attributes.where() +
                             ": strides, dilations or pads do not fit a "
                             "kernel of " +
                             std::to_string(spatial) + " dimensions");
  for (int64_t &dilation : window.dilations)
    --dilation;
  window.padBegin.assign(pads.begin(), pads.begin() + spatial);
  window.padEnd.assign(pads.begin() + spatial, pads.end());
  return window;
}

Result<Shape> cpu::endPads(const PoolWindow &window, const Shape &input,
                           const Shape &output) {
  size_t spatial = window.kernel.size();
  Shape pads = window.padEnd;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t in = input[input.size() - spatial + i];
    int64_t out = output[output.size() - spatial + i];
    int64_t extent = window.extent(i), stride = window.strides[i];
    int64_t covered = in + window.padBegin[i] + pads[i] - extent;
    if (covered < 0 || covered / stride + 1 != out)
      pads[i] = (out - 1) * stride + extent - in - window.padBegin[i];
    int64_t lastStart = (out - 1) * stride - window.padBegin[i];
    if (window.padBegin[i] >= extent || lastStart >= in)
      return Status::error(
          StatusCode::internal,
          "a window along spatial dimension " + std::to_string(i) +
              " lies in the padding: input " + std::to_string(in) +
              ", output " + std::to_string(out) + ", kernel " +
              std::to_string(window.kernel[i]) + ", stride " +
              std::to_string(stride) + ", begin pad " +
              std::to_string(window.padBegin[i]));
  }
  return pads;
}
