// SPDX-License-Identifier: Apache-2.0
// Batch normalisation and local response normalisation.
#include "dialects/nn/IR/NN.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult BatchNormTrainOp::buildVJP(OpBuilder &, ArrayRef<Value>,
                                         ArrayRef<bool>,
                                         MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult LrnOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                              MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

LogicalResult BatchNormBackwardOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult BatchNormOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult BatchNormTrainOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult RunningUpdateOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

bool BatchNormBackwardOp::isLibraryOp() { return true; }
bool BatchNormOp::isLibraryOp() { return true; }
bool BatchNormTrainOp::isLibraryOp() { return true; }
bool LrnBackwardOp::isLibraryOp() { return true; }
bool LrnOp::isLibraryOp() { return true; }
LogicalResult BatchNormBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult BatchNormOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult BatchNormTrainOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult LrnBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult LrnOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult RunningUpdateOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t BatchNormBackwardOp::getFlops(int64_t) { return 0; }
int64_t BatchNormOp::getFlops(int64_t) { return 0; }
int64_t BatchNormTrainOp::getFlops(int64_t) { return 0; }
int64_t LrnBackwardOp::getFlops(int64_t) { return 0; }
int64_t LrnOp::getFlops(int64_t) { return 0; }
int64_t RunningUpdateOp::getFlops(int64_t) { return 0; }
