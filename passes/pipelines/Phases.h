// SPDX-License-Identifier: Apache-2.0
// The phases of a compilation, in order. One table names and describes them
// for `--emit`, `--from`, `--dump-ir` and `--help`.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace hpcc {

enum class Phase {
  Import,
  Normalized,
  Training,
  Partitioned,
  Comm,
  Layout,
  Fused,
  Bufferized,
  Scheduled,
  Arena,
  Rt,
  Llvm,
};

struct PhaseInfo {
  Phase phase;
  llvm::StringLiteral name;
  llvm::StringLiteral description;
};

/// Every phase, in order.
llvm::ArrayRef<PhaseInfo> phases();
llvm::StringRef phaseName(Phase phase);
/// Nothing where there is no phase of that name.
std::optional<Phase> parsePhase(llvm::StringRef name);

} // namespace hpcc
