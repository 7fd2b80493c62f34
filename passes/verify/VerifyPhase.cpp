// SPDX-License-Identifier: Apache-2.0
// The contracts between phases, as one table: what each phase forbids from then
// on, and which pass removed it.
#include "passes/FunctionArguments.h"
#include "passes/Passes.h"
#include "passes/pipelines/Phases.h"

namespace hpcc {
#define GEN_PASS_DEF_VERIFYPHASE
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

namespace {
/// Ops that a phase may not hold.
struct Rule {
  /// First phase of the rule.
  Phase from;
  bool (*violates)(Operation *op);
  /// Empty where the ops come later rather than being gone.
  StringLiteral removedBy;
  /// Last phase of the rule.
  Phase until = Phase::Llvm;
};

bool isIn(Operation *op, StringRef dialect) {
  return op->getName().getDialectNamespace() == dialect;
}

bool isStructure(Operation *op) {
  return isa<nn::ParameterOp, nn::ExamplesOp, nn::ShardOp, nn::ChunkOp,
             nn::PrimitiveOp>(op);
}

bool isLibrary(Operation *op) {
  auto lowering = dyn_cast<LoweringOpInterface>(op);
  return lowering && lowering.isLibraryOp();
}

bool hasTensor(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  return llvm::any_of(op->getOperandTypes(), isTensor) ||
         llvm::any_of(op->getResultTypes(), isTensor);
}

bool isSynchronousBackground(Operation *op) {
  auto collective = dyn_cast<comm::CollectiveOpInterface>(op);
  return collective && !isa<comm::StartOp>(op) &&
         collective.getChannel() == comm::Channel::Background;
}

// In order of phases, so that the first violation names the earliest pass.
const Rule kRules[] = {
    {Phase::Import, [](Operation *op) { return isIn(op, "comm"); }, "",
     Phase::Partitioned},
    {Phase::Import, [](Operation *op) { return isIn(op, "rt"); }, "",
     Phase::Arena},
    {Phase::Import,
     [](Operation *op) { return isa<memref::AllocOp, memref::CopyOp>(op); }, "",
     Phase::Fused},
    {Phase::Training, [](Operation *op) { return isa<nn::LoadOp>(op); },
     "hpcc-training-differentiate"},
    {Phase::Comm,
     [](Operation *op) { return isa<nn::HeadOp, nn::YieldOp>(op); },
     "hpcc-comm-expand-head"},
    {Phase::Fused,
     [](Operation *op) {
       return isIn(op, "nn") && !isStructure(op) && !isLibrary(op);
     },
     "hpcc-fuse-lower-generated"},
    {Phase::Bufferized,
     [](Operation *op) { return isIn(op, "nn") && isLibrary(op); },
     "hpcc-bufferize-lower-library"},
    {Phase::Bufferized,
     [](Operation *op) {
       return hasTensor(op) || isIn(op, "tensor") || isIn(op, "bufferization");
     },
     "one-shot-bufferize"},
    {Phase::Bufferized, [](Operation *op) { return isa<memref::CopyOp>(op); },
     "hpcc-bufferize-resolve-copies"},
    {Phase::Scheduled, isSynchronousBackground,
     "hpcc-schedule-overlap-collectives"},
    {Phase::Arena,
     [](Operation *op) { return isa<memref::AllocOp, memref::DeallocOp>(op); },
     "hpcc-arena-plan-memory"},
    {Phase::Rt, [](Operation *op) { return isIn(op, "linalg"); },
     "hpcc-lower-outline-kernels"},
    {Phase::Rt,
     [](Operation *op) {
       return isIn(op, "comm") || (isIn(op, "nn") && !isa<nn::ParameterOp>(op));
     },
     "hpcc-lower-to-runtime"},
    {Phase::Llvm,
     [](Operation *op) { return !isIn(op, "llvm") && !isa<ModuleOp>(op); },
     "convert-to-llvm"},
};

struct VerifyPhasePass : hpcc::impl::VerifyPhaseBase<VerifyPhasePass> {
  using VerifyPhaseBase::VerifyPhaseBase;

  void runOnOperation() override {
    std::optional<Phase> parsed = parsePhase(phase);
    if (!parsed) {
      getOperation()->emitError() << "there is no phase \"" << phase << "\"";
      return signalPassFailure();
    }
    WalkResult walk = getOperation()->walk<WalkOrder::PreOrder>(
        [&](Operation *op) { return check(op, *parsed); });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

  static WalkResult check(Operation *op, Phase phase) {
    for (const Rule &rule : kRules)
      if (rule.from <= phase && phase <= rule.until && rule.violates(op)) {
        report(op, phase, rule);
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  }

  static void report(Operation *op, Phase phase, const Rule &rule) {
    InFlightDiagnostic diag = op->emitError()
                              << "in phase `" << phaseName(phase)
                              << "`: " << op->getName();
    if (rule.removedBy.empty())
      diag << " belongs to phase `"
           << phaseName(Phase(static_cast<int>(rule.until) + 1))
           << "` and later";
    else
      diag << " was expected to have been removed by " << rule.removedBy;
  }
};
} // namespace
