// SPDX-License-Identifier: Apache-2.0
// A program written by hand, so that the trainer is tested without a compiler:
// y = x w^T + b with mean squared error and SGD with momentum, sharded as a
// compiled program would be: w and its momentum by rows, b in a padded bucket
// whose momentum is split flat. Workers see each other's memory directly.
#ifndef HPCC_TEST_RUNTIME_TRAIN_FAKEPROGRAM_H
#define HPCC_TEST_RUNTIME_TRAIN_FAKEPROGRAM_H

#include "runtime/data/Dataset.h"
#include "runtime/train/Engine.h"
#include "runtime/train/Program.h"
#include "runtime/train/Workers.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace hpcc::test {

inline constexpr int64_t kInputs = 3;
inline constexpr int64_t kOutputs = 5;
inline constexpr float kMomentum = 0.5f;

/// What every call of the program saw.
struct SeenCall {
  int64_t rank, examples, step;
  float rate;
  std::vector<int32_t> positions;
};

/// Plain memory, no device; `hook` breaks a worker.
class FakeWorkers : public runtime::Workers {
public:
  explicit FakeWorkers(int64_t workers);
  ~FakeWorkers() override;

  int64_t size() const override;
  runtime::Status attach(int64_t rank) override;
  void *context(int64_t rank) override;
  runtime::Status status(int64_t rank) override;
  void abort(const runtime::Status &status) override;
  int64_t receivedBytes(int64_t rank) override;
  runtime::Result<void *> allocate(int64_t rank, size_t bytes,
                                   Purpose purpose) override;
  void release(int64_t rank, void *memory) override;
  runtime::Status copyToWorker(int64_t rank, void *to, const void *from,
                               size_t bytes) override;
  runtime::Status copyToHost(int64_t rank, void *to, const void *from,
                             size_t bytes) override;
  bool sharesHostMemory() const override { return sharesMemory; }

  /// True when all workers of the group have arrived, false when one failed.
  bool meet();

  struct Context {
    FakeWorkers *group = nullptr;
    int64_t rank = 0;
    // What the others read.
    const float *x = nullptr, *t = nullptr, *w = nullptr, *b = nullptr;
    int64_t rows = 0;
    int64_t received = 0;
  };
  std::vector<Context> contexts;

  bool sharesMemory = true;
  bool record = false;
  /// This worker's copy of b gets a wrong value at the end of each step.
  int64_t perturbedRank = -1;
  /// Called at the start of every train step; may set `error` or wait.
  std::function<void(int64_t rank, int64_t step)> hook;
  void setError(int64_t rank, const runtime::Status &status);

  std::vector<SeenCall> seen;
  std::atomic<int> aborts = 0;
  std::atomic<int64_t> allocated = 0; ///< Blocks not yet released.
  std::mutex mutex;

private:
  std::vector<runtime::Status> errors;
  std::atomic<int64_t> arrived = 0;
  std::atomic<int64_t> meetings = 0;
  std::atomic<bool> stopped = false;
};

/// w: [5, 3], stored transposed in the file; b: [5].
runtime::Program makeProgram(int64_t workers, int64_t batch);

runtime::LogicalState makeInitialState(const runtime::Program &program);

/// Examples [3] with float targets [5].
std::unique_ptr<runtime::Dataset> makeDataset(int64_t count);

/// The same training on one worker in double precision, written apart from
/// the program above.
struct Reference {
  explicit Reference(const runtime::LogicalState &state);
  /// One step on the given examples; returns the loss.
  double step(const runtime::Dataset &dataset,
              const std::vector<int64_t> &examples, double rate);
  double loss(const runtime::Dataset &dataset,
              const std::vector<int64_t> &examples) const;
  double w[kOutputs][kInputs], b[kOutputs];
  double mw[kOutputs][kInputs] = {}, mb[kOutputs] = {};
  double gw[kOutputs][kInputs] = {}, gb[kOutputs] = {};
};

void expectNear(const runtime::LogicalState &state, const Reference &reference,
                double tolerance);

} // namespace hpcc::test

#endif // HPCC_TEST_RUNTIME_TRAIN_FAKEPROGRAM_H
