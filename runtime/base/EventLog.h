// SPDX-License-Identifier: Apache-2.0
// An ordered record of what workers did. Workers that share a log share its
// order, so that a test can say "before" without reading a clock.
#ifndef HPCC_RUNTIME_BASE_EVENTLOG_H
#define HPCC_RUNTIME_BASE_EVENTLOG_H

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace hpcc::runtime {

enum class EventKind {
  /// A worker started a collective of the background channel, or is about to
  /// run one of the inline channel.
  commStart,
  /// Every worker has joined: data begins to move to this worker.
  commBegin,
  commEnd,
  /// A worker begins to wait for a request, and has waited for it.
  commWait,
  commWaited,
  kernelBegin,
  kernelEnd,
};

struct Event {
  EventKind kind = EventKind::commStart;
  int64_t rank = 0;
  int64_t step = -1;
  /// Collectives: number on their channel. Kernels: -1.
  int64_t sequence = -1;
  /// Collectives: on the background channel.
  bool background = false;
  /// commEnd: bytes this worker received.
  int64_t bytes = 0;
  /// "all_gather fc6", "conv_forward conv1".
  std::string what;
  int64_t nanoseconds = 0;
};

class EventLog {
public:
  void add(Event event);
  std::vector<Event> events() const;
  void clear();

private:
  mutable std::mutex mutex;
  std::vector<Event> recorded;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_BASE_EVENTLOG_H
