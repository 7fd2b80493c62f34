// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax. Up to opset 12 they work on the input flattened to
// two dimensions at `axis`.
#include "frontend/onnx/ops/Handlers.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

template <typename Op> static LogicalResult softmaxLike(NodeImport &node) {
  bool flattens = node.opset() < 13;
  Value x = node.input(0);
  if (!x)
    return failure();
  SmallVector<int64_t> shape(shapeOf(x));
  int64_t rank = shape.size();
  FailureOr<int64_t> axis =
      normalizeAxis(node, node.getInt("axis", flattens ? 1 : -1), rank);
  if (failed(axis) || node.failed())
    return failure();
  if (*axis == 0)
    return node.error("axis 0 is the batch: it would mix examples");
  if (flattens && *axis < rank - 1) {
    int64_t last = 1;
    for (int64_t dim : ArrayRef(shape).drop_front(*axis))
      last *= dim;
    SmallVector<int64_t> flat(ArrayRef(shape).take_front(*axis));
    flat.push_back(last);
    x = node.reshape(x, flat);
  }
  Value y = node.create<Op>(x.getType(), x, *axis);
  node.setOutput(node.reshape(y, shape));
  return success();
}

LogicalResult softmax(NodeImport &node) {
  return softmaxLike<nn::SoftmaxOp>(node);
}
LogicalResult logSoftmax(NodeImport &node) {
  return softmaxLike<nn::LogSoftmaxOp>(node);
}

} // namespace hpcc::ops
