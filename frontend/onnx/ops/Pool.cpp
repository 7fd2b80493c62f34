// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool and the global pools.
#include "frontend/onnx/ops/Handlers.h"
#include "frontend/onnx/ops/Window.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

static FailureOr<RankedTensorType> resultType(NodeImport &node, Value x,
                                              ArrayRef<int64_t> extents) {
  SmallVector<int64_t> shape(shapeOf(x).take_front(2));
  append_range(shape, extents);
  return node.tensorType(shape);
}

static LogicalResult emitMaxPool(NodeImport &node, Value x,
                                 const Window &window) {
  FailureOr<RankedTensorType> type = resultType(node, x, window.extents);
  if (failed(type))
    return failure();
  int64_t places = 1;
  for (int64_t extent : window.kernel)
    places *= extent;
  Type index =
      places <= 256 ? node.builder().getI8Type() : node.builder().getI32Type();
  return node.emit<nn::MaxPoolOp>(*type, type->clone(index), x, window.kernel,
                                  window.strides, window.dilations,
                                  window.pads);
}

LogicalResult maxPool(NodeImport &node) {
  Value x = imageInput(node);
  FailureOr<SmallVector<int64_t>> kernel = readKernel(node);
  if (!x || failed(kernel))
    return failure();
  FailureOr<Window> window =
      readWindow(node, shapeOf(x).drop_front(2), *kernel, /*needsData=*/true);
  if (failed(window))
    return failure();
  return emitMaxPool(node, x, *window);
}

LogicalResult averagePool(NodeImport &node) {
  Value x = imageInput(node);
  FailureOr<SmallVector<int64_t>> kernel = readKernel(node);
  if (!x || failed(kernel))
    return failure();
  FailureOr<Window> window =
      readWindow(node, shapeOf(x).drop_front(2), *kernel, /*needsData=*/true);
  if (failed(window))
    return failure();
  if (any_of(window->dilations, [](int64_t d) { return d != 1; }))
    return node.error("attribute dilations is not supported here");
  bool countPads = node.getInt("count_include_pad", 0) != 0;
  if (node.failed())
    return failure();
  SmallVector<int64_t> pads = window->pads;
  if (countPads && window->isExtended()) {
    // Explicit pads count in the divisor, what ceil_mode adds does not: the
    // former become zeros of the input.
    ArrayRef<int64_t> given = window->explicitPads;
    SmallVector<int64_t> shape(shapeOf(x)), zeros(2 * shape.size(), 0);
    for (size_t i = 0; i < 2; ++i) {
      shape[2 + i] += given[i] + given[2 + i];
      zeros[2 + i] = given[i];
      zeros[6 + i] = given[2 + i];
      pads[2 + i] -= given[2 + i];
      pads[i] = 0;
    }
    FailureOr<RankedTensorType> type = node.tensorType(shape);
    if (failed(type))
      return failure();
    x = node.create<nn::PadOp>(*type, x, zeros, APFloat(0.0));
    countPads = false;
  }
  FailureOr<RankedTensorType> type = resultType(node, x, window->extents);
  if (failed(type))
    return failure();
  return node.emit<nn::AvgPoolOp>(*type, x, window->kernel, window->strides,
                                  pads, countPads);
}

static FailureOr<Window> wholeMap(NodeImport &node, Value x) {
  if (!x)
    return failure();
  return readWindow(node, shapeOf(x).drop_front(2), shapeOf(x).drop_front(2),
                    /*needsData=*/true);
}

LogicalResult globalAveragePool(NodeImport &node) {
  Value x = imageInput(node);
  FailureOr<Window> window = wholeMap(node, x);
  if (failed(window))
    return failure();
  FailureOr<RankedTensorType> type = resultType(node, x, window->extents);
  if (failed(type))
    return failure();
  return node.emit<nn::AvgPoolOp>(*type, x, window->kernel, window->strides,
                                  window->pads, false);
}

LogicalResult globalMaxPool(NodeImport &node) {
  Value x = imageInput(node);
  FailureOr<Window> window = wholeMap(node, x);
  if (failed(window))
    return failure();
  return emitMaxPool(node, x, *window);
}

} // namespace hpcc::ops
