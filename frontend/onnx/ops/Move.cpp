// SPDX-License-Identifier: Apache-2.0
// Transpose, Concat, Pad and Slice of float tensors.
#include "frontend/onnx/ops/Axes.h"
#include "frontend/onnx/ops/Handlers.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

LogicalResult transpose(NodeImport &node) {
  Value x = node.input(0);
  if (!x)
    return failure();
  ArrayRef<int64_t> from = shapeOf(x);
  SmallVector<int64_t> perm = node.getInts("perm");
  if (node.failed())
    return failure();
  if (!node.hasAttribute("perm"))
    for (size_t i = from.size(); i > 0; --i)
      perm.push_back(i - 1);
  SmallVector<int64_t> sorted(perm), shape;
  llvm::sort(sorted);
  if (perm.size() != from.size() ||
      !equal(sorted, seq<int64_t>(0, perm.size())))
    return node.error("attribute perm " + shapeText(perm) +
                      " does not permute the dimensions of " + shapeText(from));
  if (hasBatch(x) && perm[0] != 0)
    return node.error("attribute perm " + shapeText(perm) +
                      " moves the batch out of dimension 0");
  for (int64_t axis : perm)
    shape.push_back(from[axis]);
  if (is_sorted(perm)) {
    node.setOutput(x);
    return success();
  }
  FailureOr<RankedTensorType> type = node.tensorType(shape);
  if (failed(type))
    return failure();
  return node.emit<nn::TransposeOp>(*type, x, perm);
}

LogicalResult concat(NodeImport &node) {
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    inputs.push_back(node.input(i));
    if (!inputs.back())
      return failure();
  }
  if (inputs.empty() || !node.hasAttribute("axis"))
    return node.error("it has no inputs or no axis");
  SmallVector<int64_t> shape(shapeOf(inputs[0]));
  FailureOr<int64_t> axis =
      normalizeAxis(node, node.getInt("axis", 0), shape.size());
  if (failed(axis) || node.failed())
    return failure();
  if (ShapedType::isDynamic(shape[*axis]))
    return node.error("it would join along the batch, dimension 0");
  for (Value input : ArrayRef(inputs).drop_front()) {
    SmallVector<int64_t> other(shapeOf(input));
    bool fits =
        other.size() == shape.size() && !ShapedType::isDynamic(other[*axis]);
    for (size_t i = 0; fits && i < shape.size(); ++i)
      fits = int64_t(i) == *axis || shape[i] == other[i];
    if (!fits)
      return node.error("inputs " + shapeText(shapeOf(inputs[0])) + " and " +
                        shapeText(other) + " do not fit along axis " +
                        Twine(*axis));
    shape[*axis] += other[*axis];
  }
  FailureOr<RankedTensorType> type = node.tensorType(shape);
  if (failed(type))
    return failure();
  return node.emit<nn::ConcatOp>(*type, inputs, *axis);
}

LogicalResult checkPad(NodeImport &node) {
  std::string mode = node.getString("mode", "constant");
  if (mode != "constant")
    return node.error("attribute mode = \"" + mode + "\" is not supported");
  return success();
}

static LogicalResult emitPad(NodeImport &node, ArrayRef<int64_t> pads,
                             double value) {
  Value x = node.input(0);
  if (!x)
    return failure();
  SmallVector<int64_t> shape(shapeOf(x));
  size_t rank = shape.size();
  if (pads.size() != 2 * rank)
    return node.error("it has " + Twine(pads.size()) + " pads, expected " +
                      Twine(2 * rank));
  for (size_t i = 0; i < rank; ++i) {
    int64_t begin = pads[i], end = pads[rank + i];
    if (ShapedType::isDynamic(shape[i])) {
      if (begin != 0 || end != 0)
        return node.error("it would pad the batch, dimension 0");
      continue;
    }
    constexpr int64_t limit = int64_t(1) << 40;
    if (std::min(begin, end) < -limit || std::max(begin, end) > limit)
      return node.error("its pads are beyond reason");
    shape[i] += begin + end;
  }
  FailureOr<RankedTensorType> type = node.tensorType(shape);
  if (failed(type))
    return failure();
  return node.emit<nn::PadOp>(*type, x, pads, APFloat(value));
}

LogicalResult pad2(NodeImport &node) {
  SmallVector<int64_t> pads = node.getInts("pads");
  double value = node.getFloat("value", 0.0);
  if (node.failed())
    return failure();
  return emitPad(node, pads, value);
}

LogicalResult pad11(NodeImport &node) {
  FailureOr<SmallVector<int64_t>> pads = node.integers(1);
  FailureOr<double> value = node.hasInput(2) ? node.scalar(2) : 0.0;
  if (failed(pads) || failed(value))
    return failure();
  if (!node.hasInput(3))
    return emitPad(node, *pads, *value);
  Value x = node.input(0);
  FailureOr<SmallVector<int64_t>> axes = node.integers(3);
  if (!x || failed(axes))
    return failure();
  size_t rank = shapeOf(x).size();
  if (pads->size() != 2 * axes->size())
    return node.error("it has " + Twine(pads->size()) + " pads for " +
                      Twine(axes->size()) + " axes");
  SmallVector<int64_t> all(2 * rank, 0);
  for (auto [i, axis] : enumerate(*axes)) {
    FailureOr<int64_t> index = normalizeAxis(node, axis, rank);
    if (failed(index))
      return failure();
    all[*index] = (*pads)[i];
    all[rank + *index] = (*pads)[axes->size() + i];
  }
  return emitPad(node, all, *value);
}

LogicalResult slice(NodeImport &node) {
  Value x = node.input(0);
  if (!x)
    return failure();
  SmallVector<int64_t> shape(shapeOf(x)), offsets(shape.size(), 0);
  FailureOr<SmallVector<SliceRange>> ranges = readSlice(node, shape);
  if (failed(ranges))
    return failure();
  for (const SliceRange &range : *ranges) {
    if (range.step != 1)
      return node.error("step " + Twine(range.step) + " is not supported");
    offsets[range.axis] = range.start;
    shape[range.axis] = range.count;
  }
  FailureOr<RankedTensorType> type = node.tensorType(shape);
  if (failed(type))
    return failure();
  return node.emit<nn::SliceOp>(*type, x, offsets);
}

} // namespace hpcc::ops
