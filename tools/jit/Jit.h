// SPDX-License-Identifier: Apache-2.0
// A module of the `llvm` phase as callable machine code.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/Status.h"
#include "runtime/train/Program.h"

#include <memory>

namespace mlir {
class ExecutionEngine;
}

namespace hpcc {

class Jit {
public:
  /// Compiles for this machine and binds the entry points of the C ABI.
  static runtime::Result<std::unique_ptr<Jit>> create(mlir::ModuleOp module);
  ~Jit();

  /// The packed entry of `_mlir_ciface_<name>`; null where there is none. Valid
  /// as long as this object.
  runtime::ProgramEntry lookup(llvm::StringRef name) const;

private:
  explicit Jit(std::unique_ptr<mlir::ExecutionEngine> engine);
  std::unique_ptr<mlir::ExecutionEngine> engine;
};

} // namespace hpcc
