// SPDX-License-Identifier: Apache-2.0
// The ONNX node an op comes from, by its location.
#pragma once

#include "mlir/IR/Location.h"
#include <string>

namespace hpcc {

/// The node's name; that of the forward op for a gradient; "" where the
/// location names none.
std::string nodeName(mlir::Location location);

} // namespace hpcc
