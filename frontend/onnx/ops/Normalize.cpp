// SPDX-License-Identifier: Apache-2.0
// BatchNormalization and LRN.
#include "frontend/onnx/ops/Handlers.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

LogicalResult checkBatchNorm(NodeImport &node) {
  if (node.getInt("spatial", 1) != 1)
    return node.error("attribute spatial = 0 is another operator (statistics "
                      "per activation), which is not supported");
  return success();
}

LogicalResult batchNorm(NodeImport &node) {
  double epsilon = node.getFloat("epsilon", 1e-5);
  double momentum = node.getFloat("momentum", 0.9);
  if (node.getInt("training_mode", 0) != 0)
    node.remark("attribute training_mode is ignored: hpcc decides when to use "
                "the batch's statistics");
  if (momentum == 1.0)
    node.warning("momentum is 1, so training never moves the running "
                 "statistics");
  Value x = node.input(0);
  if (!x || node.failed())
    return failure();
  if (shapeOf(x).size() < 2 || !hasBatch(x))
    return node.error("its input has shape " + shapeText(shapeOf(x)) +
                      ", expected [N, channels, ...]");
  Value parameters[4];
  for (unsigned i = 0; i < 4; ++i) {
    parameters[i] = node.input(i + 1);
    if (!parameters[i])
      return failure();
    if (shapeOf(parameters[i]) != ArrayRef<int64_t>{shapeOf(x)[1]})
      return node.error("input \"" + node.inputName(i + 1) + "\" has shape " +
                        shapeText(shapeOf(parameters[i])) + ", expected [" +
                        Twine(shapeOf(x)[1]) + "]");
  }
  return node.emit<nn::BatchNormOp>(x.getType(), x, parameters[0],
                                    parameters[1], parameters[2], parameters[3],
                                    APFloat(epsilon), APFloat(momentum));
}

LogicalResult lrn(NodeImport &node) {
  int64_t size = node.getInt("size", 0);
  double alpha = node.getFloat("alpha", 1e-4);
  double beta = node.getFloat("beta", 0.75);
  double bias = node.getFloat("bias", 1.0);
  Value x = node.input(0);
  if (!x || node.failed())
    return failure();
  if (size < 1 || size > 1 << 24)
    return node.error("attribute size is " + Twine(size) +
                      ", expected at least 1");
  if (shapeOf(x).size() < 3 || !hasBatch(x))
    return node.error("its input has shape " + shapeText(shapeOf(x)) +
                      ", expected [N, channels, ...]");
  return node.emit<nn::LrnOp>(x.getType(), x, size, APFloat(alpha),
                              APFloat(beta), APFloat(bias));
}

} // namespace hpcc::ops
