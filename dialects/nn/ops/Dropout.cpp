// SPDX-License-Identifier: Apache-2.0
// Dropout.
#include "dialects/nn/IR/NN.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult DropoutTrainOp::buildVJP(OpBuilder &, ArrayRef<Value>,
                                       ArrayRef<bool>, MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

LogicalResult DropoutOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult DropoutTrainOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

LogicalResult DropoutOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult DropoutTrainOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t DropoutOp::getFlops(int64_t) { return 0; }
int64_t DropoutTrainOp::getFlops(int64_t) { return 0; }
