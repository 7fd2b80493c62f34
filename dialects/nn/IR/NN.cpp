// SPDX-License-Identifier: Apache-2.0
// Registration of the nn dialect.
#include "dialects/nn/IR/NN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace hpcc::nn;

#include "dialects/nn/IR/NNDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/nn/IR/NN.cpp.inc"

namespace {
struct NNInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void NNDialect::initialize() {
  addInterfaces<NNInliner>();
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/IR/NN.cpp.inc"
      >();
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
