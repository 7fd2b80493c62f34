// SPDX-License-Identifier: Apache-2.0
// Conv.
#include "frontend/onnx/ops/Handlers.h"
#include "frontend/onnx/ops/Window.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

LogicalResult conv(NodeImport &node) {
  Value x = imageInput(node);
  Value w = x ? node.input(1) : nullptr;
  if (!w)
    return failure();
  ArrayRef<int64_t> xs = shapeOf(x), ws = shapeOf(w);
  if (ws.size() != xs.size() || hasBatch(w))
    return node.error("its weight has shape " + shapeText(ws) +
                      ", expected rank " + Twine(xs.size()) + " as its input " +
                      shapeText(xs));
  int64_t group = node.getInt("group", 1);
  if (node.failed())
    return failure();
  if (group < 1 || ws[0] % group != 0 || xs[1] % group != 0 ||
      xs[1] / group != ws[1])
    return node.error("weight " + shapeText(ws) + " with group " +
                      Twine(group) + " does not fit input " + shapeText(xs));
  SmallVector<int64_t> kernel(ws.drop_front(2));
  for (int64_t extent : kernel)
    if (extent < 1 || extent > 1 << 24)
      return node.error("its weight has shape " + shapeText(ws));
  if (node.hasAttribute("kernel_shape") &&
      node.getInts("kernel_shape") != kernel)
    return node.error("attribute kernel_shape is " +
                      shapeText(node.getInts("kernel_shape")) +
                      " but the weight's is " + shapeText(kernel));
  FailureOr<Window> window = readWindow(node, xs.drop_front(2), kernel,
                                        /*needsData=*/false);
  if (failed(window))
    return failure();
  Value b;
  if (node.hasInput(2)) {
    b = node.input(2);
    if (!b)
      return failure();
    if (shapeOf(b) != ArrayRef<int64_t>{ws[0]})
      return node.error("its bias has shape " + shapeText(shapeOf(b)) +
                        ", expected [" + Twine(ws[0]) + "]");
  }
  SmallVector<int64_t> shape = {xs[0], ws[0]};
  append_range(shape, window->extents);
  FailureOr<RankedTensorType> type = node.tensorType(shape);
  if (failed(type))
    return failure();
  return node.emit<nn::ConvOp>(*type, x, w, b, window->strides,
                               window->dilations, window->pads, group);
}

} // namespace hpcc::ops
