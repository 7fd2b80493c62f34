// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/ops/Axes.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir;

namespace hpcc {

FailureOr<std::optional<SmallVector<int64_t>>> readAxes(NodeImport &node) {
  using Axes = std::optional<SmallVector<int64_t>>;
  if (node.hasAttribute("axes")) {
    SmallVector<int64_t> axes = node.getInts("axes");
    if (node.failed())
      return failure();
    return Axes(std::move(axes));
  }
  if (!node.hasInput(1))
    return Axes();
  FailureOr<SmallVector<int64_t>> axes = node.integers(1);
  if (failed(axes))
    return failure();
  return Axes(std::move(*axes));
}

FailureOr<SmallVector<int64_t>>
insertOnes(NodeImport &node, ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  size_t rank = shape.size() + axes.size();
  SmallVector<int64_t> result(rank, -1);
  for (int64_t axis : axes) {
    FailureOr<int64_t> index = normalizeAxis(node, axis, rank);
    if (failed(index))
      return failure();
    if (result[*index] == 1)
      return node.error("axis " + Twine(axis) + " is given twice");
    result[*index] = 1;
  }
  for (int64_t &dim : result) {
    if (dim == 1)
      continue;
    dim = shape.front();
    shape = shape.drop_front();
  }
  return result;
}

FailureOr<SmallVector<SliceRange>> readSlice(NodeImport &node,
                                             ArrayRef<int64_t> extents) {
  SmallVector<int64_t> lists[4]; // starts, ends, axes, steps
  static constexpr StringLiteral names[] = {"starts", "ends", "axes"};
  for (unsigned i = 0; i < 4; ++i) {
    if (node.opset() < 10) {
      if (i < 3)
        lists[i] = node.getInts(names[i]);
    } else if (node.hasInput(i + 1)) {
      FailureOr<SmallVector<int64_t>> values = node.integers(i + 1);
      if (failed(values))
        return failure();
      lists[i] = *values;
    }
  }
  auto &[starts, ends, axes, steps] = lists;
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(i);
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (node.failed())
    return failure();
  if (starts.size() != ends.size() || starts.size() != axes.size() ||
      starts.size() != steps.size())
    return node.error("its starts, ends, axes and steps differ in number");

  SmallVector<SliceRange> ranges;
  for (size_t i = 0; i < starts.size(); ++i) {
    FailureOr<int64_t> axis = normalizeAxis(node, axes[i], extents.size());
    if (failed(axis))
      return failure();
    int64_t extent = extents[*axis], step = steps[i];
    if (step == 0)
      return node.error("step 0");
    if (ShapedType::isDynamic(extent)) {
      if (starts[i] != 0 || ends[i] < INT32_MAX || step != 1)
        return node.error("it would take a part of the batch, dimension 0");
      continue;
    }
    auto clamp = [&](int64_t position, int64_t low, int64_t high) {
      if (position < 0)
        position = position < -extent ? low : position + extent;
      return std::clamp(position, low, high);
    };
    bool forward = step > 0;
    int64_t low = forward ? 0 : -1, high = forward ? extent : extent - 1;
    int64_t start =
        clamp(starts[i], forward ? 0 : std::min<int64_t>(0, high), high);
    int64_t end = clamp(ends[i], low, high);
    int64_t distance = forward ? end - start : start - end;
    int64_t stride = step == INT64_MIN ? INT64_MAX : std::abs(step);
    ranges.push_back(
        {*axis, start, step, distance <= 0 ? 0 : (distance - 1) / stride + 1});
  }
  return ranges;
}

} // namespace hpcc
