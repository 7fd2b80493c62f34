// SPDX-License-Identifier: Apache-2.0
// Elementwise operators and their gradients.
#include "dialects/nn/IR/NN.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

LogicalResult AddOp::verify() { return success(); }
LogicalResult DivOp::verify() { return success(); }
LogicalResult MulOp::verify() { return success(); }
LogicalResult SubOp::verify() { return success(); }
LogicalResult SumToOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult AddOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                              MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult ClipOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                               MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult DivOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                              MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult LeakyReluOp::buildVJP(OpBuilder &, ArrayRef<Value>,
                                    ArrayRef<bool>, MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult MulOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                              MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult ReluOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                               MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult SigmoidOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                                  MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult SubOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                              MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult TanhOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                               MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

LogicalResult AddOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult ClipBackwardOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult ClipOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult DivOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult LeakyReluBackwardOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult LeakyReluOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult MulOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult ReluBackwardOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult ReluOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult SigmoidBackwardOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult SigmoidOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult SubOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult SumToOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult TanhBackwardOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}
LogicalResult TanhOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

LogicalResult AddOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult ClipBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult ClipOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult DivOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult LeakyReluBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult LeakyReluOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult MulOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult ReluBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult ReluOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult SigmoidBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult SigmoidOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult SubOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult SumToOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult TanhBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult TanhOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t AddOp::getFlops(int64_t) { return 0; }
int64_t ClipBackwardOp::getFlops(int64_t) { return 0; }
int64_t ClipOp::getFlops(int64_t) { return 0; }
int64_t DivOp::getFlops(int64_t) { return 0; }
int64_t LeakyReluBackwardOp::getFlops(int64_t) { return 0; }
int64_t LeakyReluOp::getFlops(int64_t) { return 0; }
int64_t MulOp::getFlops(int64_t) { return 0; }
int64_t ReluBackwardOp::getFlops(int64_t) { return 0; }
int64_t ReluOp::getFlops(int64_t) { return 0; }
int64_t SigmoidBackwardOp::getFlops(int64_t) { return 0; }
int64_t SigmoidOp::getFlops(int64_t) { return 0; }
int64_t SubOp::getFlops(int64_t) { return 0; }
int64_t SumToOp::getFlops(int64_t) { return 0; }
int64_t TanhBackwardOp::getFlops(int64_t) { return 0; }
int64_t TanhOp::getFlops(int64_t) { return 0; }
