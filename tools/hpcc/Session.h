// SPDX-License-Identifier: Apache-2.0
// From a model file or printed IR to IR of any phase: import, options, phases,
// and the IR that the user asked to see.
#pragma once

#include "frontend/onnx/Import.h"
#include "passes/pipelines/Pipelines.h"
#include "runtime/base/Status.h"
#include "tools/hpcc/CommandLine.h"
#include "tools/hpcc/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

#include <memory>

namespace hpcc {

/// What stands for errors that have been printed already.
runtime::Status alreadyReported();

class Session {
public:
  explicit Session(const CommandLine &line);
  ~Session();

  /// Imports the model, or parses the IR of `--from` and opens the model it
  /// names. Afterwards `options()` are those of the module.
  runtime::Status load();

  mlir::ModuleOp module() { return *current; }
  Phase phase() const { return reached; }
  const Options &options() const { return effective; }
  const ModelFile &file() const { return *model; }

  /// Overrides options before lowering; only for freshly imported modules.
  void setOptions(const Options &options);

  /// Lowers up to `to`. After `training`, functions not in `keep` are erased
  /// (empty: all stay). `observe` sees the module at each phase reached.
  using Observer = std::function<llvm::LogicalResult(mlir::ModuleOp, Phase)>;
  runtime::Status lower(Phase to, const llvm::StringSet<> &keep,
                        const Observer &observe = {});

  /// Prints the module as `--emit` does: it can be read back.
  void print(llvm::raw_ostream &os);

private:
  runtime::Status import();
  runtime::Status parse();
  runtime::Status checkGivenOptions();
  void configureDumps(mlir::PassManager &manager, Phase phase);

  const CommandLine &line;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<DiagnosticPrinter> diagnostics;
  std::shared_ptr<const ModelFile> model;
  mlir::OwningOpRef<mlir::ModuleOp> current;
  Phase reached = Phase::Import;
  Options effective;
  TargetInfo target;
};

} // namespace hpcc
