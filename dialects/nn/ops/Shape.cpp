// SPDX-License-Identifier: Apache-2.0
// Operators that move elements without arithmetic.
#include "dialects/nn/IR/NN.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::verify() { return success(); }
LogicalResult PadOp::verify() { return success(); }
LogicalResult ReshapeOp::verify() { return success(); }
LogicalResult SliceOp::verify() { return success(); }
LogicalResult TransposeOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// Fold
//===----------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor) { return {}; }
OpFoldResult TransposeOp::fold(FoldAdaptor) { return {}; }

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                                 MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult PadOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                              MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult ReshapeOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                                  MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult SliceOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>,
                                MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}
LogicalResult TransposeOp::buildVJP(OpBuilder &, ArrayRef<Value>,
                                    ArrayRef<bool>, MutableArrayRef<Value>) {
  return emitOpError("has no VJP yet");
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::partition(FeaturePartitioner &) {
  return emitOpError("has no per-worker form yet");
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult PadOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult ReshapeOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult SliceOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
LogicalResult TransposeOp::lower(RewriterBase &) {
  return emitOpError("has no lowering yet");
}
