// SPDX-License-Identifier: Apache-2.0
// `nn.program` of a module of the `llvm` phase -> what the trainer needs to
// know of the program.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/Status.h"
#include "runtime/train/Program.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hpcc {

/// `lookup` gives the address of a function's entry, or null for one that the
/// run does not call. Messages are about broken promises of the compiler:
/// nothing here is the user's fault.
runtime::Result<runtime::Program>
bindProgram(mlir::ModuleOp module,
            llvm::function_ref<runtime::ProgramEntry(llvm::StringRef)> lookup);

/// Whether a parameter gets fresh values instead of the file's.
bool isReinitialised(mlir::ModuleOp module, llvm::StringRef parameter);

} // namespace hpcc
