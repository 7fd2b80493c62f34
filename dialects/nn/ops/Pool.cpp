// SPDX-License-Identifier: Apache-2.0
// Pooling.
#include "dialects/nn/IR/NN.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

LogicalResult AvgPoolOp::verify() { return success(); }
LogicalResult MaxPoolOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult AvgPoolOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                                  MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult MaxPoolOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                                  MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

bool AvgPoolBackwardOp::isLibraryOp() { return true; }
bool AvgPoolOp::isLibraryOp() { return true; }
bool MaxPoolBackwardOp::isLibraryOp() { return true; }
bool MaxPoolOp::isLibraryOp() { return true; }
LogicalResult AvgPoolBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult AvgPoolOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult MaxPoolBackwardOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult MaxPoolOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t AvgPoolBackwardOp::getFlops(int64_t) { return 0; }
int64_t AvgPoolOp::getFlops(int64_t) { return 0; }
int64_t MaxPoolBackwardOp::getFlops(int64_t) { return 0; }
int64_t MaxPoolOp::getFlops(int64_t) { return 0; }
