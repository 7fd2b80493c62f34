// SPDX-License-Identifier: Apache-2.0
// What the trainer asks of the K workers it drives: memory, copies, a context
// for generated code, errors and byte counts. A back end's workers implement
// it; the trainer sees no device.
#ifndef HPCC_RUNTIME_TRAIN_WORKERS_H
#define HPCC_RUNTIME_TRAIN_WORKERS_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>

namespace hpcc::runtime {

class Workers {
public:
  virtual ~Workers() = default;

  virtual int64_t size() const = 0;

  /// Called once on the thread of each worker, before anything else there.
  virtual Status attach(int64_t rank) { return {}; }
  /// The `hpcc_context *` of generated code. Valid after `attach`.
  virtual void *context(int64_t rank) = 0;
  /// The error of the worker's context, sticky.
  virtual Status status(int64_t rank) = 0;
  /// Stops all workers: collectives that wait return, with this error.
  virtual void abort(const Status &status) = 0;
  /// Before each step: names it in messages and traces.
  virtual void beginStep(int64_t rank, int64_t step) {}
  /// Bytes the worker has received from others since it was made.
  virtual int64_t receivedBytes(int64_t rank) { return 0; }

  /// Zeroed memory that generated code may use, 64-byte aligned, not null even
  /// for 0 bytes, counted under `purpose`. Called on the worker's thread.
  enum class Purpose { Parameters, State, Arena, Data };
  virtual Result<void *> allocate(int64_t rank, size_t bytes,
                                  Purpose purpose) = 0;
  virtual void release(int64_t rank, void *memory) = 0;
  /// Between host memory and memory from `allocate`.
  virtual Status copyToWorker(int64_t rank, void *to, const void *from,
                              size_t bytes) = 0;
  virtual Status copyToHost(int64_t rank, void *to, const void *from,
                            size_t bytes) = 0;
  /// Whether generated code can read host memory in place (batches, results).
  virtual bool sharesHostMemory() const { return true; }
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_WORKERS_H
