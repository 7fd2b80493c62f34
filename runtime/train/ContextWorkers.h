// SPDX-License-Identifier: Apache-2.0
// The workers of one process: a Context for each, made on its own thread, and
// host memory counted by purpose. Which back end and which communicator is the
// caller's choice.
#ifndef HPCC_RUNTIME_TRAIN_CONTEXTWORKERS_H
#define HPCC_RUNTIME_TRAIN_CONTEXTWORKERS_H

#include "runtime/base/Context.h"
#include "runtime/train/Workers.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hpcc::runtime {

struct ContextWorkersOptions {
  int threads = 1; ///< Of each worker's team.
  std::string device = "cpu";
};

class ContextWorkers : public Workers {
public:
  /// communicator(rank) is that worker's end of the group; the group must
  /// outlive this.
  ContextWorkers(int64_t workers,
                 std::function<Communicator &(int64_t rank)> communicator,
                 ContextWorkersOptions options = {});
  ~ContextWorkers() override;

  int64_t size() const override;
  Status attach(int64_t rank) override;
  void *context(int64_t rank) override;
  Status status(int64_t rank) override;
  void abort(const Status &status) override;
  void beginStep(int64_t rank, int64_t step) override;
  int64_t receivedBytes(int64_t rank) override;
  Result<void *> allocate(int64_t rank, size_t bytes, Purpose purpose) override;
  void release(int64_t rank, void *memory) override;
  Status copyToWorker(int64_t rank, void *to, const void *from,
                      size_t bytes) override;
  Status copyToHost(int64_t rank, void *to, const void *from,
                    size_t bytes) override;

  /// Bytes that the worker holds for a purpose, as they were asked for.
  int64_t allocatedBytes(int64_t rank, Purpose purpose) const;
  /// Null before the worker's thread has attached.
  Context *contextOf(int64_t rank) { return team[rank].context.get(); }

private:
  struct Block {
    size_t bytes;
    Purpose purpose;
  };
  struct Worker {
    std::unique_ptr<Context> context;
    std::map<void *, Block> blocks;
  };

  const std::function<Communicator &(int64_t rank)> communicator;
  const ContextWorkersOptions options;
  std::vector<Worker> team;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_CONTEXTWORKERS_H
