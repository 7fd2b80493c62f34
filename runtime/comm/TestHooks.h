// SPDX-License-Identifier: Apache-2.0
// Ready-made transfer hooks: one that holds every transfer of a channel until
// it is released, one that breaks a chosen collective.
#ifndef HPCC_RUNTIME_COMM_TESTHOOKS_H
#define HPCC_RUNTIME_COMM_TESTHOOKS_H

#include "runtime/comm/Communicator.h"
#include <condition_variable>
#include <mutex>

namespace hpcc::runtime {

/// Transfers of `channel` wait for permits; each lets one collective through
/// on every worker.
class TransferGate : public TransferHook {
public:
  explicit TransferGate(Channel channel) : channel(channel) {}
  /// Lets all collectives with a sequence number below `sequence` through.
  void releaseUntil(int64_t sequence);
  void releaseAll();
  void hold(const TransferInfo &info,
            const std::function<bool()> &stopped) override;

private:
  const Channel channel;
  std::mutex mutex;
  std::condition_variable released;
  int64_t limit = 0;
};

/// Breaks the collective with this number on this channel, for one worker or
/// for all (rank -1).
class FaultInjector : public TransferHook {
public:
  FaultInjector(Fault kind, Channel channel, int64_t sequence,
                int64_t rank = -1)
      : kind(kind), channel(channel), sequence(sequence), rank(rank) {}
  Fault fault(const TransferInfo &info) override;

private:
  const Fault kind;
  const Channel channel;
  const int64_t sequence;
  const int64_t rank;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_COMM_TESTHOOKS_H
