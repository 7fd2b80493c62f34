// SPDX-License-Identifier: Apache-2.0
// The barrier of a local group. One mutex serves both channels: it is held for
// a few instructions only, and an error must wake both.
#include "runtime/comm/local/MeetingPoint.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::local;

MeetingPoint::MeetingPoint(int64_t workers) : workers(workers) {
  for (ChannelState &channel : channels) {
    channel.parts.resize(workers);
    channel.arrived.resize(workers);
  }
}

std::string MeetingPoint::missingWorkers(const ChannelState &channel) const {
  constexpr int kNamed = 8;
  std::string list;
  int64_t missing = 0;
  for (int64_t rank = 0; rank < workers; ++rank) {
    if (channel.arrived[rank])
      continue;
    if (++missing <= kNamed)
      list += (list.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (missing > kNamed)
    list += " and " + std::to_string(missing - kNamed) + " more";
  return (missing == 1 ? "worker " : "workers ") + list;
}

void MeetingPoint::stopLocked(Status status) {
  if (!firstError.ok())
    return;
  firstError = std::move(status);
  hasStopped.store(true, std::memory_order_release);
  for (ChannelState &channel : channels)
    channel.changed.notify_all();
}

void MeetingPoint::stop(const Status &status) {
  Lock lock(mutex);
  stopLocked(status);
}

Status MeetingPoint::error() const {
  if (!stopped())
    return Status::success();
  std::lock_guard<std::mutex> lock(mutex);
  return firstError;
}

bool MeetingPoint::meet(Lock &lock, ChannelState &channel, int64_t rank,
                        const Contribution &part, bool contributing,
                        bool transferNext) {
  if (!stopped()) {
    channel.arrived[rank] = true;
    if (++channel.arrivals == workers) {
      // The last one to arrive opens the barrier.
      if (contributing)
        if (Status status = validate(channel.parts); !status.ok())
          stopLocked(std::move(status));
      channel.arrivals = 0;
      std::fill(channel.arrived.begin(), channel.arrived.end(), false);
      ++channel.generation;
      channel.changed.notify_all();
    } else {
      int64_t generation = channel.generation;
      std::chrono::milliseconds limit = timeout;
      bool opened = channel.changed.wait_for(lock, limit, [&] {
        return channel.generation != generation || stopped();
      });
      if (!opened)
        stopLocked(Status::error(
            StatusCode::timeout,
            describe(part) + ": " + missingWorkers(channel) +
                (contributing ? " did not arrive" : " did not finish") +
                " within " + std::to_string(limit.count()) +
                " ms; the training step was stopped"));
    }
  }
  if (stopped()) {
    // Others that passed the barrier before the stop still read our buffers.
    channel.changed.wait(lock, [&] { return channel.transferring == 0; });
    return false;
  }
  if (transferNext)
    ++channel.transferring;
  return true;
}

bool MeetingPoint::contribute(int64_t rank, const Contribution &part) {
  Lock lock(mutex);
  ChannelState &channel = channels[size_t(part.options->channel)];
  channel.parts[rank] = part;
  return meet(lock, channel, rank, part, /*contributing=*/true,
              /*transferNext=*/true);
}

bool MeetingPoint::finish(int64_t rank, const Contribution &part, bool more) {
  Lock lock(mutex);
  ChannelState &channel = channels[size_t(part.options->channel)];
  if (--channel.transferring == 0 && stopped())
    channel.changed.notify_all();
  return meet(lock, channel, rank, part, /*contributing=*/false, more);
}
