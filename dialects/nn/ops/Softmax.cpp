// SPDX-License-Identifier: Apache-2.0
// Softmax as an operator of the network.
#include "dialects/nn/IR/NN.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult LogSoftmaxOp::buildVJP(OpBuilder &, ArrayRef<Value>,
                                     ArrayRef<bool>, MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult SoftmaxOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                                  MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

bool LogSoftmaxBackwardOp::isLibraryOp() { return true; }
bool LogSoftmaxOp::isLibraryOp() { return true; }
bool SoftmaxBackwardOp::isLibraryOp() { return true; }
bool SoftmaxOp::isLibraryOp() { return true; }
LogicalResult LogSoftmaxBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult LogSoftmaxOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult SoftmaxBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult SoftmaxOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t LogSoftmaxBackwardOp::getFlops(int64_t) { return 0; }
int64_t LogSoftmaxOp::getFlops(int64_t) { return 0; }
int64_t SoftmaxBackwardOp::getFlops(int64_t) { return 0; }
int64_t SoftmaxOp::getFlops(int64_t) { return 0; }
