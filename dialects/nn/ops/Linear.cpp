// SPDX-License-Identifier: Apache-2.0
// Fully-connected layers.
#include "dialects/nn/IR/NN.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                                 MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

LogicalResult LinearBackwardDataOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult LinearBackwardWeightsOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult LinearOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

bool LinearBackwardDataOp::isLibraryOp() { return true; }
bool LinearBackwardWeightsOp::isLibraryOp() { return true; }
bool LinearOp::isLibraryOp() { return true; }
LogicalResult LinearBackwardDataOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult LinearBackwardWeightsOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult LinearOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t LinearBackwardDataOp::getFlops(int64_t) { return 0; }
int64_t LinearBackwardWeightsOp::getFlops(int64_t) { return 0; }
int64_t LinearOp::getFlops(int64_t) { return 0; }
