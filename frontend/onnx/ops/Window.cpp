// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/ops/Window.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir;

namespace hpcc {

// Larger values are mistakes, and so arithmetic on them cannot overflow.
static constexpr int64_t largest = 1 << 24;

static constexpr unsigned spatialRank = 2;

Value imageInput(NodeImport &node) {
  Value x = node.input(0);
  if (!x)
    return nullptr;
  if (shapeOf(x).size() != 2 + spatialRank || !hasBatch(x)) {
    (void)node.error("its input has shape " + shapeText(shapeOf(x)) +
                     ", expected [N, channels, height, width]");
    return nullptr;
  }
  for (int64_t extent : shapeOf(x).drop_front(2)) {
    if (extent <= largest)
      continue;
    (void)node.error("its input has shape " + shapeText(shapeOf(x)) +
                     ", too large");
    return nullptr;
  }
  return x;
}

FailureOr<SmallVector<int64_t>> readKernel(NodeImport &node) {
  if (!node.hasAttribute("kernel_shape"))
    return node.error("attribute kernel_shape is missing");
  return node.getInts("kernel_shape", spatialRank, 1, 1, largest);
}

namespace {
/// One spatial dimension.
struct Extent {
  int64_t in, kernel, stride, dilation, begin, end;

  int64_t reach() const { return (kernel - 1) * dilation + 1; }

  /// SAME: as many windows as strides fit; the odd pad goes to the end, or
  /// with `lower` to the start.
  void padSame(bool lower) {
    int64_t out = divideCeil(in, stride);
    int64_t total = std::max<int64_t>((out - 1) * stride + reach() - in, 0);
    begin = lower ? total - total / 2 : total / 2;
    end = total - begin;
  }

  int64_t windows(bool ceil) const {
    int64_t room = in + begin + end - reach();
    if (room < 0)
      return 0;
    if (!ceil)
      return room / stride + 1;
    int64_t out = divideCeil(room, stride) + 1;
    // A window that would start behind the data and its begin pad is dropped.
    if ((out - 1) * stride >= in + begin)
      --out;
    return out;
  }

  bool touchesData(int64_t start) const {
    int64_t first = start < 0 ? divideCeil(-start, dilation) : 0;
    return first < kernel && start + first * dilation < in;
  }

  /// Whether every window holds at least one element of the data.
  bool allTouchData(int64_t out) const {
    for (int64_t i = 0; i < out && i * stride < begin; ++i)
      if (!touchesData(i * stride - begin))
        return false;
    return touchesData((out - 1) * stride - begin);
  }
};
} // namespace

FailureOr<Window> readWindow(NodeImport &node, ArrayRef<int64_t> spatial,
                             ArrayRef<int64_t> kernel, bool needsData) {
  Window window;
  window.kernel.assign(kernel.begin(), kernel.end());
  size_t rank = kernel.size();
  auto strides = node.getInts("strides", rank, 1, 1, largest);
  auto dilations = node.getInts("dilations", rank, 1, 1, largest);
  auto pads = node.getInts("pads", 2 * rank, 0, 0, largest);
  std::string autoPad = node.getString("auto_pad", "NOTSET");
  bool ceil = node.getInt("ceil_mode", 0) != 0;
  if (failed(strides) || failed(dilations) || failed(pads) || node.failed())
    return failure();
  bool isSame = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (autoPad == "VALID")
    pads->assign(2 * rank, 0);
  else if (!isSame && autoPad != "NOTSET" && !autoPad.empty())
    return node.error("attribute auto_pad is \"" + autoPad +
                      "\", expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  window.strides = *strides;
  window.dilations = *dilations;
  window.pads = *pads;
  for (size_t i = 0; i < rank; ++i) {
    Extent extent{spatial[i],      kernel[i],  (*strides)[i],
                  (*dilations)[i], (*pads)[i], (*pads)[rank + i]};
    if (extent.in == 0)
      return node.error("its input has extent 0");
    if (isSame)
      extent.padSame(autoPad == "SAME_LOWER");
    int64_t out = extent.windows(ceil && !isSame);
    if (out < 1)
      return node.error("the window of " + Twine(extent.reach()) +
                        " does not fit the input of " + Twine(extent.in) +
                        " padded by " + Twine(extent.begin) + " and " +
                        Twine(extent.end) + " in spatial dimension " +
                        Twine(i));
    if (needsData && !extent.allTouchData(out))
      return node.error(
          "a window holds only padding in spatial dimension " + Twine(i) +
          " (input " + Twine(extent.in) + ", window " + Twine(extent.reach()) +
          ", pads " + Twine(extent.begin) + " and " + Twine(extent.end) + ")");
    window.extents.push_back(out);
    (*pads)[i] = extent.begin;
    (*pads)[rank + i] = extent.end;
    window.pads[i] = extent.begin;
    window.pads[rank + i] =
        std::max(extent.end, (out - 1) * extent.stride + extent.reach() -
                                 extent.in - extent.begin);
  }
  window.explicitPads = *pads;
  return window;
}

} // namespace hpcc
