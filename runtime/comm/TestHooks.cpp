// SPDX-License-Identifier: Apache-2.0
// Transfer hooks for tests.
#include "runtime/comm/TestHooks.h"
#include <limits>

using namespace hpcc::runtime;

void TransferGate::releaseUntil(int64_t sequence) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    limit = std::max(limit, sequence);
  }
  released.notify_all();
}

void TransferGate::releaseAll() {
  releaseUntil(std::numeric_limits<int64_t>::max());
}

void TransferGate::hold(const TransferInfo &info,
                        const std::function<bool()> &stopped) {
  if (info.options->channel != channel)
    return;
  std::unique_lock<std::mutex> lock(mutex);
  // The group cannot wake this wait when it stops, hence the polling.
  while (info.sequence >= limit && !stopped())
    released.wait_for(lock, std::chrono::milliseconds(5));
}

TransferHook::Fault FaultInjector::fault(const TransferInfo &info) {
  bool chosen = info.options->channel == channel && info.sequence == sequence &&
                (rank < 0 || info.rank == rank);
  return chosen ? kind : Fault::none;
}
