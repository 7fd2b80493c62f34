// SPDX-License-Identifier: Apache-2.0
// Dropout. Whether it is active is hpcc's decision, not the file's.
#include "frontend/onnx/ops/Handlers.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

static LogicalResult emitDropout(NodeImport &node, double ratio) {
  Value x = node.input(0);
  if (!x || node.failed())
    return failure();
  if (!(ratio >= 0.0 && ratio < 1.0))
    return node.error("ratio is " + std::to_string(ratio) +
                      ", expected at least 0 and below 1");
  return node.emit<nn::DropoutOp>(x.getType(), x, APFloat(ratio));
}

LogicalResult dropout7(NodeImport &node) {
  return emitDropout(node, node.getFloat("ratio", 0.5));
}

LogicalResult dropout12(NodeImport &node) {
  FailureOr<double> ratio = node.hasInput(1) ? node.scalar(1) : 0.5;
  if (failed(ratio))
    return failure();
  return emitDropout(node, *ratio);
}

} // namespace hpcc::ops
