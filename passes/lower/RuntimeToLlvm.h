// SPDX-License-Identifier: Apache-2.0
// Makes `convert-to-llvm` know the rt dialect.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace hpcc {

void registerRuntimeToLlvm(mlir::DialectRegistry &registry);

} // namespace hpcc
