// SPDX-License-Identifier: Apache-2.0
// Convolution.
#include "dialects/nn/IR/NN.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

LogicalResult ConvOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult ConvOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                               MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

bool ConvBackwardDataOp::isLibraryOp() { return true; }
bool ConvBackwardWeightsOp::isLibraryOp() { return true; }
bool ConvOp::isLibraryOp() { return true; }
LogicalResult ConvBackwardDataOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult ConvBackwardWeightsOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult ConvOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t ConvBackwardDataOp::getFlops(int64_t) { return 0; }
int64_t ConvBackwardWeightsOp::getFlops(int64_t) { return 0; }
int64_t ConvOp::getFlops(int64_t) { return 0; }
