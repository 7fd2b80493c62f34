// SPDX-License-Identifier: Apache-2.0
// Threads that sleep between jobs; a generation number tells old from new.

#include "runtime/train/WorkerPool.h"

#include <condition_variable>
#include <mutex>
#include <system_error>

namespace hpcc::runtime {

struct WorkerPool::Shared {
  std::mutex mutex;
  std::condition_variable started, ended;
  Job job = nullptr;
  void *argument = nullptr;
  uint64_t generation = 0;
  int64_t running = 0;
  bool stopping = false;
  std::vector<uint64_t> finished; ///< Last generation that each worker ended.

  void loop(int64_t rank) {
    uint64_t seen = 0;
    std::unique_lock lock(mutex);
    while (true) {
      // Bounded by the destructor, which sets `stopping`.
      started.wait(lock, [&] { return stopping || generation != seen; });
      if (stopping)
        return;
      seen = generation;
      Job current = job;
      void *with = argument;
      lock.unlock();
      current(with, rank);
      lock.lock();
      finished[rank] = seen;
      if (--running == 0)
        ended.notify_all();
    }
  }
};

Result<std::unique_ptr<WorkerPool>> WorkerPool::create(int64_t workers) {
  std::unique_ptr<WorkerPool> pool(new WorkerPool);
  pool->shared = std::make_shared<Shared>();
  pool->shared->finished.resize(workers);
  try {
    for (int64_t rank = 0; rank < workers; ++rank)
      pool->threads.emplace_back(
          [shared = pool->shared, rank] { shared->loop(rank); });
  } catch (const std::system_error &error) {
    return environmentError("cannot start the thread of worker " +
                            std::to_string(pool->threads.size()) + " of " +
                            std::to_string(workers) + ": " + error.what());
  }
  return pool;
}

WorkerPool::~WorkerPool() {
  std::vector<int64_t> stuck = late();
  {
    std::lock_guard lock(shared->mutex);
    shared->stopping = true;
  }
  shared->started.notify_all();
  for (size_t rank = 0; rank < threads.size(); ++rank) {
    bool isStuck = false;
    for (int64_t other : stuck)
      isStuck |= other == static_cast<int64_t>(rank);
    if (isStuck)
      threads[rank].detach();
    else
      threads[rank].join();
  }
}

void WorkerPool::start(Job job, void *argument) {
  {
    std::lock_guard lock(shared->mutex);
    assert(shared->running == 0 && "the previous job has not ended");
    shared->job = job;
    shared->argument = argument;
    ++shared->generation;
    shared->running = static_cast<int64_t>(threads.size());
  }
  shared->started.notify_all();
}

bool WorkerPool::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(shared->mutex);
  return shared->ended.wait_for(lock, timeout,
                                [&] { return shared->running == 0; });
}

std::vector<int64_t> WorkerPool::late() const {
  std::lock_guard lock(shared->mutex);
  std::vector<int64_t> ranks;
  for (size_t rank = 0; rank < shared->finished.size(); ++rank)
    if (shared->finished[rank] != shared->generation)
      ranks.push_back(static_cast<int64_t>(rank));
  return ranks;
}

} // namespace hpcc::runtime
