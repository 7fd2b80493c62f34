// SPDX-License-Identifier: Apache-2.0
// Named bundles of passes: one per phase, from the phase before it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/TargetInfo.h"
#include "passes/pipelines/Phases.h"
#include <functional>

namespace hpcc {

/// Appends the passes that bring a module (the manager is anchored on
/// builtin.module) from the phase before `phase` to `phase`. Nothing for
/// Import.
void buildPhase(mlir::OpPassManager &manager, Phase phase,
                const TargetInfo &target);

/// Appends the check that the IR holds only what `phase` may hold.
void buildPhaseCheck(mlir::OpPassManager &manager, Phase phase);

struct PhaseHooks {
  /// Called on the pass manager of each phase before it runs: IR printing,
  /// timing, instrumentation.
  std::function<void(mlir::PassManager &, Phase)> configure;
  /// Called with the module at each phase reached, `from` included.
  std::function<mlir::LogicalResult(mlir::ModuleOp, Phase)> reached;
};

/// Brings a module of phase `from` to phase `to`, which is not before it. The
/// module's contract is checked at `from` too, since it may be read from text.
/// Passes that fail have reported errors.
mlir::LogicalResult runPhases(mlir::ModuleOp module, Phase from, Phase to,
                              const TargetInfo &target,
                              const PhaseHooks &hooks = {});

/// Dialects and interface implementations that the passes rely on; add them to
/// the registry of any context that runs phases.
void registerPhaseDialects(mlir::DialectRegistry &registry);

/// Registers `hpcc-phase-<name>` pipelines with hpcc-opt: the bundle of a phase
/// and its check.
void registerPhasePipelines();

} // namespace hpcc
