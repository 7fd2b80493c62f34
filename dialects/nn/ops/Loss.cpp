// SPDX-License-Identifier: Apache-2.0
// Losses with their gradients, and classification metrics.
#include "dialects/nn/IR/NN.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

LogicalResult ClassificationCountsOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult LogisticLossOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult MseLossOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult SoftmaxLossOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

LogicalResult ClassificationCountsOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult CountBetterOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult HitsOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult LogisticLossOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult MseLossOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult RowMaxOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult SoftmaxFinishOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult SoftmaxLossOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult SoftmaxTermsOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult TargetValueOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t ClassificationCountsOp::getFlops(int64_t) { return 0; }
int64_t CountBetterOp::getFlops(int64_t) { return 0; }
int64_t HitsOp::getFlops(int64_t) { return 0; }
int64_t LogisticLossOp::getFlops(int64_t) { return 0; }
int64_t MseLossOp::getFlops(int64_t) { return 0; }
int64_t RowMaxOp::getFlops(int64_t) { return 0; }
int64_t SoftmaxFinishOp::getFlops(int64_t) { return 0; }
int64_t SoftmaxLossOp::getFlops(int64_t) { return 0; }
int64_t SoftmaxTermsOp::getFlops(int64_t) { return 0; }
int64_t TargetValueOp::getFlops(int64_t) { return 0; }
