// SPDX-License-Identifier: Apache-2.0
// `--verify-comm`: after every step the bytes that each worker counted must be
// those of the ledger.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/train/Trainer.h"

#include <map>

namespace hpcc {

class CommunicationVerifier : public runtime::StepObserver {
public:
  /// Keeps a copy of the module, which is of the `comm` phase.
  explicit CommunicationVerifier(mlir::ModuleOp module);

  void watch(runtime::Workers &counted) { workers = &counted; }
  void beforeStep() override;
  runtime::Status afterStep(int64_t step, int64_t examples) override;

private:
  runtime::Result<std::vector<int64_t>> expected(int64_t examples);

  mlir::OwningOpRef<mlir::ModuleOp> program;
  runtime::Workers *workers = nullptr;
  std::vector<int64_t> before;
  /// By number of examples; there are two in a training.
  std::map<int64_t, std::vector<int64_t>> known;
};

} // namespace hpcc
