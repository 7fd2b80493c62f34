// SPDX-License-Identifier: Apache-2.0
// Reshape, Flatten, Squeeze and Unsqueeze. The batch stays dimension 0, also
// where the exporter wrote its own batch into a constant: a result that would
// mix the examples of a batch is an error, never a guess.
#include "frontend/onnx/Importer.h"
#include "frontend/onnx/ops/Axes.h"
#include "frontend/onnx/ops/Handlers.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

static int64_t product(ArrayRef<int64_t> dims) {
  int64_t result = 1;
  for (int64_t dim : dims)
    result *= dim;
  return result;
}

namespace {
/// A Reshape's target, resolved against the shape of its input.
class Target {
public:
  Target(NodeImport &node, ArrayRef<int64_t> from, const SymbolicTensor &tensor)
      : node(node), from(from), text(describe(tensor)),
        batched(!from.empty() && ShapedType::isDynamic(from[0])) {}

  FailureOr<SmallVector<int64_t>> resolve(const SymbolicTensor &tensor,
                                          bool allowZero) {
    if (failed(read(tensor, allowZero)))
      return failure();
    if (batched && !hasBatchDim && failed(findBatch()))
      return failure();
    // The elements (of one example) that remain for the free dimension.
    int64_t elements = product(from.drop_front(batched));
    Expected<int64_t> fixed = countElements(fixedDims());
    if (!fixed)
      return node.error("target " + text + ": " + toString(fixed.takeError()));
    if (free >= 0) {
      if (*fixed == 0 || elements % *fixed != 0)
        return mismatch(elements, *fixed);
      dims[free] = elements / *fixed;
    } else if (*fixed != elements) {
      return mismatch(elements, *fixed);
    }
    return dims;
  }

private:
  static std::string describe(const SymbolicTensor &tensor) {
    std::string text;
    raw_string_ostream os(text);
    os << '[';
    interleaveComma(tensor.elements, os, [&](SymbolicInt dim) {
      if (!dim.known)
        os << '?';
      else if (dim.isConstant())
        os << dim.base;
      else if (dim.isBatch())
        os << 'N';
      else
        os << dim.scale << "*N + " << dim.base;
    });
    os << ']';
    return text;
  }

  LogicalResult mismatch(int64_t elements, int64_t fixed) {
    return node.error("target " + text + " does not fit input " +
                      shapeText(from) + ": " + Twine(elements) + " elements" +
                      (batched ? " per example" : "") + " against " +
                      Twine(fixed));
  }

  /// Copies zeros, finds -1 (or one unknown size) and an explicit batch.
  LogicalResult read(const SymbolicTensor &tensor, bool allowZero) {
    bool anyZero = false;
    for (auto [i, dim] : enumerate(tensor.elements)) {
      bool isFree = !dim.known || (dim.isConstant() && dim.base == -1);
      anyZero |= dim.isConstant() && dim.base == 0;
      if (isFree) {
        if (free >= 0)
          return node.error("target " + text + " has two free dimensions");
        free = i;
        dims.push_back(1);
      } else if (!dim.isConstant()) {
        if (!dim.isBatch() || i != 0 || !batched)
          return node.error("target " + text +
                            " moves the batch out of dimension 0");
        hasBatchDim = true;
        dims.push_back(ShapedType::kDynamic);
      } else if (dim.base == 0 && !allowZero) {
        if (i >= from.size())
          return node.error("target " + text + " copies dimension " + Twine(i) +
                            " of an input " + shapeText(from));
        hasBatchDim |= batched && i == 0;
        dims.push_back(from[i]);
      } else if (dim.base < 0) {
        return node.error("target " + text + " has the size " +
                          Twine(dim.base));
      } else {
        dims.push_back(dim.base);
      }
    }
    if (allowZero && anyZero && free >= 0)
      return node.error("target " + text +
                        " has both 0 and -1, which allowzero forbids");
    return success();
  }

  SmallVector<int64_t> fixedDims() const {
    SmallVector<int64_t> fixed;
    for (auto [i, dim] : enumerate(dims))
      if (int64_t(i) != free && !ShapedType::isDynamic(dim))
        fixed.push_back(dim);
    return fixed;
  }

  LogicalResult mixes() {
    return node.error("target " + text + " applied to input " +
                      shapeText(from) +
                      " would mix the examples of a batch; write 0 or -1 for "
                      "its dimension 0 and fixed sizes behind it");
  }

  /// The target has no symbol for the batch: decides whether its dimension 0
  /// is the batch of the export.
  LogicalResult findBatch() {
    if (dims.empty())
      return mixes();
    int64_t elements = product(from.drop_front());
    if (free == 0) {
      // [-1, ...]: the rows, if the rest holds exactly one example.
      Expected<int64_t> rest = countElements(fixedDims());
      if (!rest) {
        consumeError(rest.takeError());
        return mixes();
      }
      if (*rest != elements)
        return mixes();
      free = -1;
      dims[0] = ShapedType::kDynamic;
      return success();
    }
    int64_t written = dims[0], exported = node.importer.exportedBatch;
    if (exported != 0 && written != exported)
      return mixes();
    dims[0] = ShapedType::kDynamic;
    Expected<int64_t> rest = countElements(fixedDims());
    if (!rest || *rest == 0
            ? elements != 0
            : (free >= 0 ? elements % *rest != 0 : elements != *rest)) {
      if (!rest)
        consumeError(rest.takeError());
      if (exported == 0)
        return node.error(
            "target " + text + " fixes dimension 0 to " + Twine(written) +
            ", but the batch of the graph's input is symbolic" +
            (node.importer.exportedBatchName.empty()
                 ? Twine()
                 : Twine(" (\"") + node.importer.exportedBatchName + "\")") +
            " and the other sizes do not hold one example of " +
            shapeText(from));
      return mixes();
    }
    node.remark("dimension 0 of target " + text + " is taken as the batch");
    return success();
  }

  NodeImport &node;
  ArrayRef<int64_t> from;
  std::string text;
  bool batched;
  SmallVector<int64_t> dims;
  int64_t free = -1;
  bool hasBatchDim = false;
};
} // namespace

LogicalResult reshape(NodeImport &node) {
  Value x = node.input(0);
  if (!x)
    return failure();
  std::optional<SymbolicTensor> target = node.symbolic(1);
  if (!target)
    return node.error("its target \"" + node.inputName(1) +
                      "\" is neither constant nor shape arithmetic");
  if (target->dims.size() != 1)
    return node.error("its target has rank " + Twine(target->dims.size()) +
                      ", expected 1");
  SmallVector<int64_t> from(shapeOf(x));
  bool allowZero = node.getInt("allowzero", 0) != 0;
  FailureOr<SmallVector<int64_t>> shape =
      Target(node, from, *target).resolve(*target, allowZero);
  if (failed(shape) || node.failed())
    return failure();
  node.setOutput(node.reshape(x, *shape));
  return success();
}

LogicalResult flatten(NodeImport &node) {
  Value x = node.input(0);
  if (!x)
    return failure();
  ArrayRef<int64_t> from = shapeOf(x);
  int64_t rank = from.size(), axis = node.getInt("axis", 1);
  if (axis < -rank || axis > rank)
    return node.error("axis " + Twine(axis) + " is outside a tensor of rank " +
                      Twine(rank));
  axis = axis < 0 ? axis + rank : axis;
  if (!hasBatch(x)) {
    int64_t shape[] = {product(from.take_front(axis)),
                       product(from.drop_front(axis))};
    node.setOutput(node.reshape(x, shape));
    return success();
  }
  if (axis == 0 && node.importer.exportedBatch == 1)
    axis = 1;
  if (axis == 0 || product(from.slice(1, axis - 1)) != 1)
    return node.error("axis " + Twine(axis) + " applied to input " +
                      shapeText(from) +
                      " would mix the examples of a batch, expected 1");
  int64_t shape[] = {ShapedType::kDynamic, product(from.drop_front(axis))};
  node.setOutput(node.reshape(x, shape));
  return success();
}

LogicalResult squeeze(NodeImport &node) {
  Value x = node.input(0);
  FailureOr<std::optional<SmallVector<int64_t>>> axes = readAxes(node);
  if (!x || failed(axes))
    return failure();
  ArrayRef<int64_t> from = shapeOf(x);
  SmallVector<bool> drop(from.size(), false);
  if (*axes) {
    for (int64_t axis : **axes) {
      FailureOr<int64_t> index = normalizeAxis(node, axis, from.size());
      if (failed(index))
        return failure();
      if (ShapedType::isDynamic(from[*index]))
        return node.error("it would remove the batch, dimension 0");
      if (from[*index] != 1)
        return node.error("dimension " + Twine(*index) + " of " +
                          shapeText(from) + " is not 1");
      drop[*index] = true;
    }
  } else {
    for (auto [i, dim] : enumerate(from))
      drop[i] = dim == 1;
    if (hasBatch(x))
      node.remark("Squeeze without axes keeps the batch, dimension 0");
  }
  SmallVector<int64_t> shape;
  for (auto [i, dim] : enumerate(from))
    if (!drop[i])
      shape.push_back(dim);
  node.setOutput(node.reshape(x, shape));
  return success();
}

LogicalResult unsqueeze(NodeImport &node) {
  Value x = node.input(0);
  FailureOr<std::optional<SmallVector<int64_t>>> axes = readAxes(node);
  if (!x || failed(axes))
    return failure();
  if (!*axes)
    return node.error("it has no axes");
  FailureOr<SmallVector<int64_t>> shape = insertOnes(node, shapeOf(x), **axes);
  if (failed(shape))
    return failure();
  if (hasBatch(x) && !ShapedType::isDynamic((*shape)[0]))
    return node.error("it would move the batch out of dimension 0");
  node.setOutput(node.reshape(x, *shape));
  return success();
}

} // namespace hpcc::ops
