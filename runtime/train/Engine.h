// SPDX-License-Identifier: Apache-2.0
// Runs a compiled program on K workers: owns each worker's storages, starts
// the functions on all of them together, and moves logical state in and out.
// One step at a time; what a training is made of is Trainer's concern.
#ifndef HPCC_RUNTIME_TRAIN_ENGINE_H
#define HPCC_RUNTIME_TRAIN_ENGINE_H

#include "runtime/data/Array.h"
#include "runtime/data/BatchLoader.h"
#include "runtime/train/Parameters.h"
#include "runtime/train/Workers.h"

#include <chrono>
#include <memory>

namespace hpcc::runtime {

struct EngineOptions {
  /// A step that takes longer is an error that names the late workers.
  std::chrono::milliseconds stepTimeout = std::chrono::minutes(30);
  /// After it, the time to stop before the engine gives the threads up.
  std::chrono::milliseconds stopTimeout = std::chrono::seconds(20);
};

struct EvalCounts {
  double loss = 0; ///< Mean over the examples.
  double top1 = 0; ///< Hits, not fractions.
  double top5 = 0;
};

struct GradientResult {
  double loss = 0;
  /// By trainable parameter, in the layout of the file, named by initializer.
  std::vector<Array> gradients;
};

class Engine {
public:
  /// The program and the workers must outlive the engine.
  static Result<std::unique_ptr<Engine>>
  create(const Program &program, Workers &workers,
         const EngineOptions &options = {});
  ~Engine();

  const Program &program() const;

  /// Sets all parameters and all optimizer state.
  Status load(const LogicalState &state);
  Result<LogicalState> gather();
  /// Whether what every worker holds whole is the same everywhere, to the bit:
  /// replicas that drift apart would train to nonsense without a sign.
  Status checkReplicas() const;

  /// What a batch must hold for train_step, eval_step and gradients; fails
  /// where the data set does not fit the model.
  Result<BatchOptions> batchOptions(Dataset &dataset) const;

  /// The loss of the step. `step` counts from 0. Does not allocate.
  Result<float> trainStep(const Batch &batch, int64_t step, float rate);
  Result<EvalCounts> evalStep(const Batch &batch);
  Result<GradientResult> gradients(const Batch &batch, int64_t step);
  /// Runs `forward` on all rows of the named inputs, a batch at a time.
  Result<std::vector<Array>> infer(std::span<const Array> inputs);

  /// Bytes that all workers have received from each other so far.
  int64_t receivedBytes() const;
  /// A worker never returned: its thread still uses the engine's memory. The
  /// process should report the error and end without destroying anything.
  bool isHung() const;

private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_ENGINE_H
