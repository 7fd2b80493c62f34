// SPDX-License-Identifier: Apache-2.0
// Shape, and what exporters compute from it: evaluated at import, with the
// batch as a symbol.
#include "frontend/onnx/ops/Axes.h"
#include "frontend/onnx/ops/Handlers.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

LogicalResult shape(NodeImport &node) {
  ArrayRef<int64_t> dims;
  if (const FileTensor *constant =
          node.hasInput(0) ? node.slot(0).constant : nullptr) {
    dims = constant->dims;
  } else {
    Value x = node.input(0);
    if (!x)
      return failure();
    dims = shapeOf(x);
  }
  int64_t rank = dims.size();
  auto clamp = [&](int64_t position) {
    if (position < 0)
      position = position < -rank ? 0 : position + rank;
    return std::min(position, rank);
  };
  int64_t start = clamp(node.getInt("start", 0));
  int64_t end = clamp(node.getInt("end", rank));
  std::vector<SymbolicInt> elements;
  for (int64_t i = start; i < end; ++i)
    elements.push_back(ShapedType::isDynamic(dims[i])
                           ? SymbolicInt::batch()
                           : SymbolicInt{0, dims[i]});
  node.setOutput(SymbolicTensor::vector(std::move(elements)));
  return success();
}

LogicalResult gather(NodeImport &node) {
  return node.error("gathering from a float tensor is not supported");
}

/// Product of the dims before and behind `axis`.
static std::pair<int64_t, int64_t> split(ArrayRef<int64_t> dims, int64_t axis) {
  int64_t outer = 1, inner = 1;
  for (auto [i, dim] : enumerate(dims))
    (int64_t(i) < axis ? outer : inner) *= int64_t(i) == axis ? 1 : dim;
  return {outer, inner};
}

LogicalResult evaluateGather(NodeImport &node) {
  std::optional<SymbolicTensor> data = node.symbolic(0);
  std::optional<SymbolicTensor> places = node.symbolic(1);
  if (!data || !places)
    return node.error("it needs two inputs");
  std::optional<std::vector<int64_t>> indices = places->constants();
  FailureOr<int64_t> axis =
      normalizeAxis(node, node.getInt("axis", 0), data->dims.size());
  if (failed(axis) || node.failed())
    return failure();
  if (!indices)
    return node.error("its indices depend on the batch");
  int64_t extent = data->dims[*axis];
  auto [outer, inner] = split(data->dims, *axis);
  if (outer * inner * int64_t(indices->size()) > maxSymbolicElements)
    return node.error("its result is too large for shape arithmetic");
  SymbolicTensor result;
  result.isFloat = data->isFloat;
  append_range(result.dims, ArrayRef(data->dims).take_front(*axis));
  append_range(result.dims, places->dims);
  append_range(result.dims, ArrayRef(data->dims).drop_front(*axis + 1));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t index : *indices) {
      if (index < -extent || index >= extent)
        return node.error("index " + Twine(index) + " is outside " +
                          Twine(extent) + " elements");
      int64_t place = index < 0 ? index + extent : index;
      for (int64_t i = 0; i < inner; ++i)
        result.elements.push_back(
            data->elements[(o * extent + place) * inner + i]);
    }
  }
  node.setOutput(std::move(result));
  return success();
}

LogicalResult evaluateSlice(NodeImport &node) {
  std::optional<SymbolicTensor> data = node.symbolic(0);
  if (!data)
    return node.error("input 0 is missing");
  FailureOr<SmallVector<SliceRange>> ranges = readSlice(node, data->dims);
  if (failed(ranges))
    return failure();
  for (const SliceRange &range : *ranges) {
    auto [outer, inner] = split(data->dims, range.axis);
    int64_t extent = data->dims[range.axis];
    std::vector<SymbolicInt> elements;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0, place = range.start; k < range.count;
           ++k, place += range.step)
        for (int64_t i = 0; i < inner; ++i)
          elements.push_back(data->elements[(o * extent + place) * inner + i]);
    data->elements = std::move(elements);
    data->dims[range.axis] = range.count;
  }
  node.setOutput(std::move(*data));
  return success();
}

LogicalResult evaluateCast(NodeImport &node) {
  std::optional<SymbolicTensor> data = node.symbolic(0);
  FileTensor target;
  target.type = node.getInt("to", 0);
  if (!data || node.failed())
    return failure();
  if (elementBytes(target.type) == 0 || target.type == onnx::TensorProto::BOOL)
    return node.error("casting shape arithmetic to " + typeName(target.type) +
                      " is not supported");
  data->isFloat = target.isFloat();
  node.setOutput(std::move(*data));
  return success();
}

LogicalResult evaluateIdentity(NodeImport &node) {
  node.forwardInput();
  return success();
}

LogicalResult evaluateConcat(NodeImport &node) {
  SmallVector<SymbolicTensor> inputs;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    std::optional<SymbolicTensor> input = node.symbolic(i);
    if (!input)
      return node.error("input " + Twine(i) + " is missing");
    inputs.push_back(std::move(*input));
  }
  SymbolicTensor result = inputs[0];
  FailureOr<int64_t> axis =
      normalizeAxis(node, node.getInt("axis", 0), result.dims.size());
  if (failed(axis) || node.failed())
    return failure();
  result.elements.clear();
  result.dims[*axis] = 0;
  auto [outer, inner] = split(result.dims, *axis);
  for (const SymbolicTensor &input : inputs) {
    SmallVector<int64_t> dims(input.dims);
    if (dims.size() == result.dims.size())
      dims[*axis] = result.dims[*axis];
    if (dims != result.dims)
      return node.error("its inputs differ in shape");
    result.dims[*axis] += input.dims[*axis];
  }
  for (int64_t o = 0; o < outer; ++o)
    for (const SymbolicTensor &input : inputs) {
      int64_t run = input.dims[*axis] * inner;
      append_range(result.elements,
                   ArrayRef(input.elements).slice(o * run, run));
    }
  if (int64_t(result.elements.size()) > maxSymbolicElements)
    return node.error("its result is too large for shape arithmetic");
  node.setOutput(std::move(result));
  return success();
}

LogicalResult evaluateSqueeze(NodeImport &node) {
  std::optional<SymbolicTensor> data = node.symbolic(0);
  FailureOr<std::optional<SmallVector<int64_t>>> axes = readAxes(node);
  if (!data || failed(axes))
    return failure();
  SmallVector<bool> drop(data->dims.size(), false);
  for (size_t i = 0; i < drop.size() && !*axes; ++i)
    drop[i] = data->dims[i] == 1;
  if (*axes) {
    for (int64_t axis : **axes) {
      FailureOr<int64_t> index = normalizeAxis(node, axis, drop.size());
      if (failed(index))
        return failure();
      if (data->dims[*index] != 1)
        return node.error("dimension " + Twine(*index) + " of " +
                          shapeText(data->dims) + " is not 1");
      drop[*index] = true;
    }
  }
  SmallVector<int64_t> dims;
  for (auto [i, dim] : enumerate(data->dims))
    if (!drop[i])
      dims.push_back(dim);
  data->dims = dims;
  node.setOutput(std::move(*data));
  return success();
}

LogicalResult evaluateUnsqueeze(NodeImport &node) {
  std::optional<SymbolicTensor> data = node.symbolic(0);
  FailureOr<std::optional<SmallVector<int64_t>>> axes = readAxes(node);
  if (!data || failed(axes))
    return failure();
  if (!*axes)
    return node.error("it has no axes");
  FailureOr<SmallVector<int64_t>> dims = insertOnes(node, data->dims, **axes);
  if (failed(dims))
    return failure();
  data->dims = *dims;
  node.setOutput(std::move(*data));
  return success();
}

LogicalResult evaluateReshape(NodeImport &node) {
  std::optional<SymbolicTensor> data = node.symbolic(0);
  FailureOr<SmallVector<int64_t>> dims = node.integers(1);
  if (!data || failed(dims))
    return failure();
  int64_t fixed = 1, elements = data->elements.size();
  int64_t *free = nullptr;
  for (auto [i, dim] : enumerate(*dims)) {
    if (dim == 0 && i < data->dims.size() && node.getInt("allowzero", 0) == 0)
      dim = data->dims[i];
    if (dim == -1 && !free)
      free = &dim;
    else if (dim < 0 || dim > maxSymbolicElements ||
             (fixed *= dim) > maxSymbolicElements)
      return node.error("target " + shapeText(*dims) + " does not fit");
  }
  if (free && fixed > 0)
    fixed *= *free = elements / fixed;
  if (fixed != elements)
    return node.error("target " + shapeText(*dims) + " does not fit " +
                      Twine(elements) + " elements");
  data->dims = *dims;
  node.setOutput(std::move(*data));
  return success();
}

/// Elementwise. A single element broadcasts; other shapes must be equal.
static LogicalResult
combine(NodeImport &node,
        llvm::function_ref<SymbolicInt(SymbolicInt, SymbolicInt, bool isFloat)>
            operation) {
  std::optional<SymbolicTensor> a = node.symbolic(0), b = node.symbolic(1);
  if (!a || !b)
    return node.error("it needs two inputs");
  bool aSingle = a->elements.size() == 1, bSingle = b->elements.size() == 1;
  if (!aSingle && !bSingle && a->dims != b->dims)
    return node.error("shapes " + shapeText(a->dims) + " and " +
                      shapeText(b->dims) + " cannot be combined");
  // Of two single elements the higher rank counts.
  bool likeA = bSingle && (!aSingle || a->dims.size() >= b->dims.size());
  SymbolicTensor result;
  result.dims = likeA || !aSingle ? a->dims : b->dims;
  result.isFloat = a->isFloat || b->isFloat;
  size_t count = aSingle ? b->elements.size() : a->elements.size();
  for (size_t i = 0; i < count; ++i)
    result.elements.push_back(operation(a->elements[aSingle ? 0 : i],
                                        b->elements[bSingle ? 0 : i],
                                        result.isFloat));
  node.setOutput(std::move(result));
  return success();
}

LogicalResult evaluateAdd(NodeImport &node) {
  return combine(node,
                 [](SymbolicInt a, SymbolicInt b, bool) { return a + b; });
}
LogicalResult evaluateSub(NodeImport &node) {
  return combine(node,
                 [](SymbolicInt a, SymbolicInt b, bool) { return a - b; });
}
LogicalResult evaluateMul(NodeImport &node) {
  return combine(node,
                 [](SymbolicInt a, SymbolicInt b, bool) { return a * b; });
}
LogicalResult evaluateDiv(NodeImport &node) {
  return combine(node, [](SymbolicInt a, SymbolicInt b, bool isFloat) {
    return divide(a, b, /*truncate=*/!isFloat);
  });
}

} // namespace hpcc::ops
