// SPDX-License-Identifier: Apache-2.0
// Global batches in order, the next one prepared by a background thread while
// the current one is in use. Two fixed buffers: nothing is allocated after
// creation, and every wait ends.
#ifndef HPCC_RUNTIME_DATA_BATCHLOADER_H
#define HPCC_RUNTIME_DATA_BATCHLOADER_H

#include "runtime/data/Dataset.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace hpcc::runtime {

struct BatchOptions {
  /// Global examples per batch; the last batch of an epoch may be short.
  int64_t batch = 1;
  bool shuffle = false;
  uint64_t seed = 0;
  /// Where to start: resuming continues inside an epoch.
  int64_t firstEpoch = 0;
  int64_t firstExample = 0;
  /// The epoch before which to end; -1: never.
  int64_t endEpoch = -1;
  /// Fill `Batch::classes`.
  bool classTargets = true;
  /// Fill `Batch::vectors`, this wide; class labels become one-hot. 0: no.
  int64_t vectorWidth = 0;
};

struct Batch {
  int64_t epoch = 0;
  /// Position in the epoch of its first example.
  int64_t first = 0;
  int64_t count = 0;
  /// No further batch in this epoch.
  bool endsEpoch = false;
  /// [count, example shape], [count], [count, vectorWidth]. 64-byte aligned.
  float *examples = nullptr;
  int32_t *classes = nullptr;
  float *vectors = nullptr;
};

class BatchLoader {
public:
  /// The dataset must outlive the loader. Fails where its labels cannot serve
  /// as the targets that are asked for.
  static Result<std::unique_ptr<BatchLoader>>
  create(const Dataset &dataset, const BatchOptions &options);
  ~BatchLoader();

  /// The next batch, or null after the last one. It stays valid until the next
  /// call.
  Result<const Batch *> next(std::chrono::milliseconds timeout);

private:
  struct Slot {
    Batch batch;
    bool full = false;
  };
  struct FreeDeleter {
    void operator()(void *pointer) const;
  };
  using Buffer = std::unique_ptr<void, FreeDeleter>;

  BatchLoader(const Dataset &dataset, const BatchOptions &options)
      : dataset(dataset), options(options) {}
  Status allocate();
  void produce();
  /// False when asked to stop.
  bool fill(Batch &batch);
  bool isStopping();

  const Dataset &dataset;
  const BatchOptions options;
  std::vector<int64_t> order;
  std::vector<Buffer> buffers;

  std::mutex mutex;
  std::condition_variable changed;
  Slot slots[2];
  int current = -1; ///< The slot that the caller uses.
  bool finished = false;
  bool stopping = false;
  std::thread thread;
};

/// Whether examples can be fed to a model input of these extents (without the
/// batch): equal up to extents of 1, or the input is flat and the counts agree.
Status checkExampleShape(const Dataset &dataset, const std::string &input,
                         std::span<const int64_t> extents);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_DATA_BATCHLOADER_H
