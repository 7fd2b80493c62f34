// SPDX-License-Identifier: Apache-2.0
// Which buffers the runtime can be handed as a pointer and a shape.
#pragma once

#include "mlir/IR/Value.h"

namespace hpcc {

/// Whether the elements of a buffer provably lie densely in row-major order.
bool isContiguous(mlir::Value buffer);

} // namespace hpcc
