// SPDX-License-Identifier: Apache-2.0
// One thread per worker that runs one job at a time, all together. Waiting is
// bounded: a worker that never returns is reported, not waited for.
#ifndef HPCC_RUNTIME_TRAIN_WORKERPOOL_H
#define HPCC_RUNTIME_TRAIN_WORKERPOOL_H

#include "runtime/base/Status.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace hpcc::runtime {

class WorkerPool {
public:
  using Job = void (*)(void *argument, int64_t rank);

  static Result<std::unique_ptr<WorkerPool>> create(int64_t workers);
  /// Joins the threads, except those of a job that never returned.
  ~WorkerPool();

  /// Starts job(argument, rank) on every thread; does not allocate. The
  /// previous job must have ended.
  void start(Job job, void *argument);
  /// True when every worker has ended the job.
  bool wait(std::chrono::milliseconds timeout);
  /// Workers that have not ended the current job.
  std::vector<int64_t> late() const;

private:
  struct Shared;
  WorkerPool() = default;

  // Shared with the threads, because a stuck one outlives the pool.
  std::shared_ptr<Shared> shared;
  std::vector<std::thread> threads;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_WORKERPOOL_H
