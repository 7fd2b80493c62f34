// SPDX-License-Identifier: Apache-2.0
// What each worker of a local group contributes to a collective, and how one
// worker's result is made from all contributions.
#ifndef HPCC_RUNTIME_COMM_LOCAL_EXCHANGE_H
#define HPCC_RUNTIME_COMM_LOCAL_EXCHANGE_H

#include "runtime/base/MemoryOps.h"
#include "runtime/comm/Communicator.h"
#include <span>
#include <vector>

namespace hpcc::runtime::local {

/// One worker's part in the collective that a channel is about to run.
struct Contribution {
  const CollectiveOptions *options = nullptr;
  BufferView src;
  BufferView dst;
  int64_t root = -1;
  int64_t step = -1;
  int64_t sequence = -1;
};

/// Checks that all workers mean the same collective and that their shapes fit.
/// The message names the first worker that differs, and both values.
Status validate(std::span<const Contribution> parts);

/// "step 2, collective 7 (all_reduce of 'fc6', inline channel)".
std::string describe(const Contribution &part);

/// Makes worker `rank`'s result and counts the bytes it receives from others.
/// The caller keeps the group together: every worker has contributed before,
/// none leaves until all are done; an all-reduce has a second stage between
/// which all must have done the first.
class Exchange {
public:
  Exchange(const MemoryOps &memory, int64_t rank, int64_t workers)
      : memory(memory), rank(rank), blocks(workers) {}

  static int stages(CollectiveOp op) {
    return op == CollectiveOp::allReduce ? 2 : 1;
  }
  /// Returns the bytes received.
  int64_t run(std::span<const Contribution> parts, int stage,
              TransferHook::Fault fault);

private:
  void allGather(std::span<const Contribution> parts);
  void reduceScatter(std::span<const Contribution> parts);
  void broadcast(std::span<const Contribution> parts);
  void reduceToRoot(std::span<const Contribution> parts);
  void allReduce(std::span<const Contribution> parts, int stage);
  void gatherShards(std::span<const Contribution> parts);
  void receive(const Contribution &from, bool isOwn, Block dst, Block src,
               int64_t width, int64_t rows);
  void reduce(const CollectiveOptions &options, Block dst, int64_t width,
              int64_t rows);
  void shorten(int64_t &width, int64_t &rows) const;

  const MemoryOps &memory;
  const int64_t rank;
  /// Sources of a reduction, in rank order.
  std::vector<Block> blocks;
  TransferHook::Fault fault = TransferHook::Fault::none;
  int64_t received = 0;
};

} // namespace hpcc::runtime::local

#endif // HPCC_RUNTIME_COMM_LOCAL_EXCHANGE_H
