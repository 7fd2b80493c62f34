// SPDX-License-Identifier: Apache-2.0
// The shared event log.
#include "runtime/base/EventLog.h"
#include <chrono>

using namespace hpcc::runtime;

void EventLog::add(Event event) {
  std::lock_guard<std::mutex> lock(mutex);
  event.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::steady_clock::now().time_since_epoch())
                          .count();
  recorded.push_back(std::move(event));
}

std::vector<Event> EventLog::events() const {
  std::lock_guard<std::mutex> lock(mutex);
  return recorded;
}

void EventLog::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  recorded.clear();
}
