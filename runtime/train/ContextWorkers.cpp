// SPDX-License-Identifier: Apache-2.0
// Each entry of `team` is used by its worker's thread, and by the caller's only
// while no job runs, so nothing here needs a lock.

#include "runtime/train/ContextWorkers.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace hpcc::runtime {

ContextWorkers::ContextWorkers(
    int64_t workers, std::function<Communicator &(int64_t rank)> communicator,
    ContextWorkersOptions options)
    : communicator(std::move(communicator)), options(std::move(options)),
      team(workers) {}

ContextWorkers::~ContextWorkers() {
  for (Worker &worker : team)
    for (auto &[memory, block] : worker.blocks)
      std::free(memory);
}

int64_t ContextWorkers::size() const {
  return static_cast<int64_t>(team.size());
}

Status ContextWorkers::attach(int64_t rank) {
  Result<std::unique_ptr<Context>> context = Context::create(
      rank, size(), options.threads, communicator(rank), options.device);
  if (!context)
    return context.status();
  team[rank].context = std::move(*context);
  return {};
}

void *ContextWorkers::context(int64_t rank) {
  return team[rank].context->handle();
}

Status ContextWorkers::status(int64_t rank) {
  return team[rank].context ? team[rank].context->error() : Status::success();
}

void ContextWorkers::abort(const Status &status) {
  // Any end of the group stops all of it.
  communicator(0).abort(status);
}

void ContextWorkers::beginStep(int64_t rank, int64_t step) {
  team[rank].context->beginStep(step);
}

int64_t ContextWorkers::receivedBytes(int64_t rank) {
  Context *context = team[rank].context.get();
  return context ? context->counters().communication.totalBytes() : 0;
}

Result<void *> ContextWorkers::allocate(int64_t rank, size_t bytes,
                                        Purpose purpose) {
  // A whole number of cache lines, at least one: generated vector code may
  // read a line that it does not need.
  size_t rounded = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
  void *memory = rounded >= bytes ? std::aligned_alloc(64, rounded) : nullptr;
  if (!memory)
    return environmentError("worker " + std::to_string(rank) + " cannot get " +
                            std::to_string(bytes) + " bytes of memory");
  // Touched here, so that the pages are the worker's own.
  std::memset(memory, 0, rounded);
  team[rank].blocks[memory] = {bytes, purpose};
  return memory;
}

void ContextWorkers::release(int64_t rank, void *memory) {
  team[rank].blocks.erase(memory);
  std::free(memory);
}

Status ContextWorkers::copyToWorker(int64_t, void *to, const void *from,
                                    size_t bytes) {
  if (bytes > 0)
    std::memcpy(to, from, bytes);
  return {};
}

Status ContextWorkers::copyToHost(int64_t, void *to, const void *from,
                                  size_t bytes) {
  if (bytes > 0)
    std::memcpy(to, from, bytes);
  return {};
}

int64_t ContextWorkers::allocatedBytes(int64_t rank, Purpose purpose) const {
  int64_t total = 0;
  for (const auto &[memory, block] : team[rank].blocks)
    if (block.purpose == purpose)
      total += static_cast<int64_t>(block.bytes);
  return total;
}

} // namespace hpcc::runtime
