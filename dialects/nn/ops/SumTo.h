// SPDX-License-Identifier: Apache-2.0
// The gradient of broadcasting.
#pragma once

#include "dialects/nn/IR/NN.h"

namespace hpcc::nn {

/// `value` summed to `type`; itself where it has that type.
inline mlir::Value sumTo(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::Type type) {
  if (value.getType() == type)
    return value;
  return SumToOp::create(builder, loc, type, value);
}

} // namespace hpcc::nn
