// SPDX-License-Identifier: Apache-2.0
// The table of phases.
#include "passes/pipelines/Phases.h"

#include "llvm/ADT/STLExtras.h"

using namespace hpcc;

static constexpr PhaseInfo kPhases[] = {
    {Phase::Import, "import", "the ONNX graph as nn ops, one to one"},
    {Phase::Normalized, "normalized",
     "shape arithmetic folded, batch symbolic, operators in normal form"},
    {Phase::Training, "training",
     "loss, backward and optimizer: train_step, eval_step, gradients, forward"},
    {Phase::Partitioned, "partitioned",
     "every op placed in the trunk or the head; the head is one region op"},
    {Phase::Comm, "comm",
     "the program of one worker: passes as a loop, collectives explicit"},
    {Phase::Layout, "layout", "physical layouts chosen, reorders placed"},
    {Phase::Fused, "fused", "generated kernels as fused linalg ops"},
    {Phase::Bufferized, "bufferized", "buffers instead of tensors"},
    {Phase::Scheduled, "scheduled",
     "collectives started early and waited for late, buffers doubled"},
    {Phase::Arena, "arena", "one static arena instead of allocations"},
    {Phase::Rt, "rt", "calls of the runtime and outlined kernels"},
    {Phase::Llvm, "llvm", "native host code as LLVM IR"},
};

llvm::ArrayRef<PhaseInfo> hpcc::phases() { return kPhases; }

llvm::StringRef hpcc::phaseName(Phase phase) {
  return kPhases[static_cast<size_t>(phase)].name;
}

std::optional<Phase> hpcc::parsePhase(llvm::StringRef name) {
  const auto *found = llvm::find_if(
      kPhases, [&](const PhaseInfo &info) { return info.name == name; });
  if (found == std::end(kPhases))
    return std::nullopt;
  return found->phase;
}
