// SPDX-License-Identifier: Apache-2.0
// How many bytes a worker receives in one step, by collective: the compiled
// program read as an account. The plan prints it, `--verify-comm` holds the
// running program to it.
#pragma once

#include "tools/hpcc/SymbolicEvaluator.h"

#include <map>
#include <vector>

namespace hpcc {

/// One collective of one step, as one worker sees it.
struct LedgerEntry {
  comm::Kind kind;
  comm::Channel channel;
  /// Name of the node it serves.
  std::string node;
  /// Of the pass loop; -1 outside.
  int64_t pass;
  /// Worker, for a broadcast or reduce; else -1.
  int64_t root;
  /// Logical bytes that this worker receives.
  int64_t bytes;
  /// The op it comes from: the same for all passes.
  mlir::Operation *op;
};

struct Ledger {
  std::vector<LedgerEntry> entries;
  int64_t bytes() const;
};

/// What worker `rank` of `workers` receives in a step of `examples` examples,
/// from a function of the `comm` phase.
mlir::FailureOr<Ledger> computeLedger(mlir::func::FuncOp function,
                                      int64_t examples, int64_t rank,
                                      int64_t workers);

/// The formula: logical bytes that a worker receives.
///   all_gather          total - own
///   reduce_scatter      (K-1) * own
///   broadcast           n, except at the root
///   reduce              (K-1) * n at the root
///   all_reduce          balanced reduce_scatter + all_gather of n
///   all_gather_in_place n - own
int64_t receivedBytes(comm::Kind kind, int64_t workers, int64_t rank,
                      int64_t root, int64_t sourceBytes,
                      int64_t destinationBytes, int64_t width);

} // namespace hpcc
