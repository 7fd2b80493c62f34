// SPDX-License-Identifier: Apache-2.0
// A training: epochs of steps with a schedule, validation, progress, a log,
// checkpoints and interruption. The engine runs the steps.
#ifndef HPCC_RUNTIME_TRAIN_TRAINER_H
#define HPCC_RUNTIME_TRAIN_TRAINER_H

#include "runtime/train/Checkpoint.h"
#include "runtime/train/Engine.h"
#include "runtime/train/Progress.h"
#include "runtime/train/Schedule.h"
#include "runtime/train/StepLog.h"

namespace hpcc::runtime {

/// Watches every training step from outside.
class StepObserver {
public:
  virtual ~StepObserver() = default;
  virtual void beforeStep() = 0;
  /// `step` counts from 0. An error ends the training.
  virtual Status afterStep(int64_t step, int64_t examples) = 0;
};

struct TrainOptions {
  /// One of the two is given; both count from the beginning of the training,
  /// also when it is resumed.
  int64_t epochs = 0;
  int64_t steps = 0;
  double rate = 0.01;
  Schedule schedule;
  bool shuffle = true;
  /// Directory for checkpoints; empty: none are saved.
  std::string checkpoint;
  /// Steps between checkpoints; 0: one at the end of each epoch.
  int64_t saveEvery = 0;
  /// A directory or one checkpoint's folder to continue from.
  std::string resume;
  std::string modelHash;
  std::string log;
  ProgressOptions progress;
  std::chrono::milliseconds dataTimeout = std::chrono::minutes(10);
  /// Asked after each step: whether to save and stop. See Interrupt.h.
  bool (*interrupted)() = nullptr;
  /// May be null; not owned.
  StepObserver *observer = nullptr;
};

struct EvalResult {
  double loss = 0;
  double top1 = 0; ///< Fractions.
  double top5 = 0;
  bool hasTop = false; ///< The program counts hits.
};

struct TrainSummary {
  int64_t steps = 0; ///< Finished since the beginning of the training.
  double loss = 0;   ///< Of the last step.
  std::optional<EvalResult> validation;
  std::optional<double> best; ///< See TrainingState::best.
  /// Stopped by a signal. With a checkpoint directory the state is saved (exit
  /// code 3); without, it is in the engine only.
  bool interrupted = false;
  /// Of the last checkpoint.
  std::string checkpoint;
};

/// Trains from `initial`, or from the checkpoint that `options.resume` names.
/// `validation` may be null. Afterwards the engine holds the trained state.
/// An error leaves the checkpoints on disk as they were.
Result<TrainSummary> train(Engine &engine, Dataset &dataset,
                           Dataset *validation, const LogicalState &initial,
                           const TrainOptions &options);

/// Runs eval_step over the whole data set; means are over its examples.
Result<EvalResult>
evaluate(Engine &engine, Dataset &dataset,
         std::chrono::milliseconds dataTimeout = std::chrono::minutes(10));

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_TRAINER_H
