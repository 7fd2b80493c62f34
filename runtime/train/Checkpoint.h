// SPDX-License-Identifier: Apache-2.0
// Checkpoints. A directory DIR holds one folder per checkpoint, step-<N>, with
//   parameters.safetensors   by parameter name, unsharded
//   optimizer.safetensors    by parameter name and slot, unsharded
//   state.json               everything else, and checksums of all three
// and a link `best` to the one with the best validation result. A folder is
// written under another name, synced and renamed, so one named step-<N> is
// complete; the newest two and the best are kept.
#ifndef HPCC_RUNTIME_TRAIN_CHECKPOINT_H
#define HPCC_RUNTIME_TRAIN_CHECKPOINT_H

#include "runtime/train/Parameters.h"

#include <optional>

namespace hpcc::runtime {

/// state.json.
struct TrainingState {
  int64_t step = 0;    ///< Finished steps.
  int64_t epoch = 0;   ///< Of the next step, from 0.
  int64_t example = 0; ///< Position in that epoch of the next step's first.
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t datasetSize = 0;
  double rate = 0; ///< Base rate.
  std::string schedule;
  std::string optimizer;
  std::string momentumForm;
  int64_t workers = 1;
  std::string scheme;
  int64_t batch = 1;
  int64_t fcBatch = 0;
  std::string fcUpdate;
  /// Of the graph, from the driver; empty: unknown.
  std::string modelHash;
  /// Best validation so far: top-1 as a fraction, or minus the loss where
  /// there are no classes. Larger is better.
  std::optional<double> best;
};

struct Checkpoint {
  TrainingState state;
  LogicalState tensors;
};

struct LoadedCheckpoint {
  Checkpoint checkpoint;
  std::string path;
  /// Not empty: newer ones were damaged and this is an older one.
  std::string warning;
};

/// Loads from DIR (the newest undamaged checkpoint) or from one checkpoint's
/// folder. Anything missing, extra, torn or of another shape is an error;
/// there is no partial result.
Result<LoadedCheckpoint> loadCheckpoint(const std::string &path,
                                        const Program &program);

class CheckpointWriter {
public:
  /// Creates DIR if needed and proves that it can be written. A training that
  /// begins anew (`resumedStep` empty) refuses a directory with checkpoints;
  /// one that continues at a step moves later ones aside, which `warnings`
  /// reports.
  static Result<CheckpointWriter> open(const std::string &directory,
                                       std::optional<int64_t> resumedStep,
                                       std::vector<std::string> &warnings);

  /// Returns the folder. `isBest` also points `best` at it.
  Result<std::string> save(const Program &program, const Checkpoint &checkpoint,
                           bool isBest);
  const std::string &directory() const { return path; }

private:
  explicit CheckpointWriter(std::string path) : path(std::move(path)) {}
  Status pointBest(const std::string &name);
  void removeOld();

  std::string path;
};

/// What differs between a checkpoint and the run that continues it: an error
/// for what cannot change (seed, optimizer, momentum form, model), remarks for
/// what changes the trajectory.
Status checkResume(const TrainingState &saved, const TrainingState &now,
                   std::vector<std::string> &remarks);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_CHECKPOINT_H
