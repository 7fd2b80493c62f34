// SPDX-License-Identifier: Apache-2.0
// Where the threads of a local group meet: a barrier per channel that ends on
// a timeout or an error of any worker, and that lets nobody leave while others
// still read its buffers.
#ifndef HPCC_RUNTIME_COMM_LOCAL_MEETINGPOINT_H
#define HPCC_RUNTIME_COMM_LOCAL_MEETINGPOINT_H

#include "runtime/comm/local/Exchange.h"
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>

namespace hpcc::runtime::local {

class MeetingPoint {
public:
  explicit MeetingPoint(int64_t workers);

  /// All workers contribute; returns true when all have and the collective is
  /// valid. Then this worker is transferring until the matching call of
  /// finish(). False: the group has stopped, and nobody uses this worker's
  /// buffers any more.
  bool contribute(int64_t rank, const Contribution &part);
  /// Ends this worker's stage of the transfer and waits for the others; with
  /// `more` it is transferring again afterwards.
  bool finish(int64_t rank, const Contribution &part, bool more);

  /// Valid between contribute() and the last finish().
  std::span<const Contribution> parts(Channel channel) const {
    return channels[size_t(channel)].parts;
  }

  /// The first error wins.
  void stop(const Status &status);
  bool stopped() const { return hasStopped.load(std::memory_order_acquire); }
  Status error() const;
  void setTimeout(std::chrono::milliseconds value) { timeout = value; }

private:
  struct ChannelState {
    std::vector<Contribution> parts;
    std::vector<char> arrived;
    int64_t arrivals = 0;
    int64_t generation = 0;
    /// Workers that may be reading the others' buffers.
    int64_t transferring = 0;
    std::condition_variable changed;
  };
  using Lock = std::unique_lock<std::mutex>;

  bool meet(Lock &lock, ChannelState &channel, int64_t rank,
            const Contribution &part, bool contributing, bool transferNext);
  void stopLocked(Status status);
  std::string missingWorkers(const ChannelState &channel) const;

  const int64_t workers;
  std::atomic<std::chrono::milliseconds> timeout;
  mutable std::mutex mutex;
  std::array<ChannelState, std::size(kAllChannels)> channels;
  Status firstError;
  std::atomic<bool> hasStopped = false;
};

} // namespace hpcc::runtime::local

#endif // HPCC_RUNTIME_COMM_LOCAL_MEETINGPOINT_H
