// SPDX-License-Identifier: Apache-2.0
// The rt dialect: calls of the runtime's C ABI.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/rt/IR/RtDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/rt/IR/Rt.h.inc"
