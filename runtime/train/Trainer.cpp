// SPDX-License-Identifier: Apache-2.0
// The loop over steps and what happens between them.

#include "runtime/train/Trainer.h"

#include <algorithm>
#include <cmath>

namespace hpcc::runtime {

namespace {

/// One training in progress.
class Training {
public:
  Training(Engine &engine, Dataset &dataset, Dataset *validation,
           const TrainOptions &options)
      : engine(engine), program(engine.program()), dataset(dataset),
        validation(validation), options(options), schedule(options.schedule) {}

  Status begin(const LogicalState &initial);
  Status run();

  TrainSummary summary;

private:
  using Clock = std::chrono::steady_clock;

  Status resume();
  Status openOutputs();
  Status oneStep(const Batch &batch, Clock::time_point from);
  Status validate();
  Status save();
  bool isFinished() const {
    return options.steps > 0 ? state.step >= options.steps
                             : state.epoch >= options.epochs;
  }
  void say(const std::string &text) {
    if (progress)
      progress->message(text);
    else
      pending.push_back(text);
  }

  Engine &engine;
  const Program &program;
  Dataset &dataset;
  Dataset *validation;
  const TrainOptions &options;
  Schedule schedule;
  TrainingState state;
  StepRecord record;
  bool resumed = false;
  bool isBest = false;
  bool warnedOfLoss = false;
  int64_t savedStep = -1;
  std::optional<CheckpointWriter> writer;
  std::optional<StepLog> log;
  std::unique_ptr<BatchLoader> loader;
  std::optional<Progress> progress;
  std::vector<std::string> pending;
};

Status Training::resume() {
  Result<LoadedCheckpoint> loaded = loadCheckpoint(options.resume, program);
  if (!loaded)
    return loaded.status();
  if (!loaded->warning.empty())
    say("warning: " + loaded->warning);
  const TrainingState &saved = loaded->checkpoint.state;
  std::vector<std::string> remarks;
  if (Status status = checkResume(saved, state, remarks); !status)
    return status;
  for (const std::string &remark : remarks)
    say(remark);
  if (Status status = engine.load(loaded->checkpoint.tensors); !status)
    return status;
  state.step = saved.step;
  state.epoch = saved.epoch;
  state.example = saved.example;
  state.best = saved.best;
  summary.steps = saved.step;
  summary.best = saved.best;
  if (state.example >= dataset.size())
    return invalidArgument("'" + loaded->path + "' stopped at example " +
                           std::to_string(state.example) + " of an epoch of " +
                           std::to_string(dataset.size()));
  summary.checkpoint = loaded->path;
  resumed = true;
  savedStep = state.step;
  say("continuing from '" + loaded->path + "' after step " +
      std::to_string(state.step));
  return {};
}

Status Training::openOutputs() {
  if (!options.checkpoint.empty()) {
    std::vector<std::string> warnings;
    Result<CheckpointWriter> opened = CheckpointWriter::open(
        options.checkpoint, resumed ? std::optional(state.step) : std::nullopt,
        warnings);
    if (!opened)
      return opened.status();
    writer = std::move(*opened);
    for (const std::string &warning : warnings)
      say(warning);
  }
  if (!options.log.empty()) {
    Result<StepLog> opened = StepLog::open(options.log, resumed);
    if (!opened)
      return opened.status();
    log = std::move(*opened);
  }
  return {};
}

Status Training::begin(const LogicalState &initial) {
  assert((options.epochs > 0) != (options.steps > 0) &&
         "either epochs or steps");
  if (dataset.size() == 0)
    return invalidArgument("'" + dataset.name() + "' has no examples");
  if (program.batch < program.workers)
    return invalidArgument("--batch " + std::to_string(program.batch) +
                           " is less than the " +
                           std::to_string(program.workers) +
                           " workers; every worker needs an example");
  Result<BatchOptions> batches = engine.batchOptions(dataset);
  if (!batches)
    return batches.status();
  // Find out now, not after the first epoch, that it does not fit.
  if (validation)
    if (Result<BatchOptions> fits = engine.batchOptions(*validation); !fits)
      return fits.status();

  state.seed = program.seed;
  state.shuffle = options.shuffle;
  state.datasetSize = dataset.size();
  state.rate = options.rate;
  state.schedule = options.schedule.text();
  state.optimizer = program.optimizer;
  state.momentumForm = program.momentumForm;
  state.workers = program.workers;
  state.scheme = program.scheme;
  state.batch = program.batch;
  state.fcBatch = program.fcBatch;
  state.fcUpdate = program.fcUpdate;
  state.modelHash = options.modelHash;
  if (Status status = options.resume.empty() ? engine.load(initial) : resume();
      !status)
    return status;
  if (Status status = openOutputs(); !status)
    return status;

  // A resumed epoch may have been cut by another batch size.
  auto ceilDiv = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  int64_t perEpoch = ceilDiv(dataset.size(), program.batch);
  int64_t total =
      options.steps > 0
          ? options.steps
          : state.step +
                std::max<int64_t>(options.epochs - state.epoch, 0) * perEpoch -
                perEpoch +
                ceilDiv(dataset.size() - state.example, program.batch);
  if (isFinished())
    total = state.step;
  schedule.setLengths(total, perEpoch);
  progress.emplace(options.progress, state.step, total, options.epochs);
  for (const std::string &text : pending)
    progress->message(text);
  if (isFinished()) {
    say("the training is complete: " + std::to_string(state.step) +
        " steps are done");
    return {};
  }
  batches->shuffle = options.shuffle;
  batches->seed = program.seed;
  batches->firstEpoch = state.epoch;
  batches->firstExample = state.example;
  batches->endEpoch = options.epochs > 0 ? options.epochs : -1;
  Result<std::unique_ptr<BatchLoader>> created =
      BatchLoader::create(dataset, *batches);
  if (!created)
    return created.status();
  loader = std::move(*created);
  return {};
}

Status Training::oneStep(const Batch &batch, Clock::time_point from) {
  record.rate = options.rate * schedule.factor(state.step);
  int64_t bytes = engine.receivedBytes();
  if (options.observer)
    options.observer->beforeStep();
  Result<float> loss =
      engine.trainStep(batch, state.step, static_cast<float>(record.rate));
  if (!loss)
    return loss.status();
  if (options.observer)
    if (Status status = options.observer->afterStep(state.step, batch.count);
        !status)
      return status;
  double seconds = std::chrono::duration<double>(Clock::now() - from).count();
  record.step = ++state.step;
  record.epoch = state.epoch + 1;
  record.loss = *loss;
  record.imagesPerSecond =
      seconds > 0 ? static_cast<double>(batch.count) / seconds : 0;
  record.commBytes = engine.receivedBytes() - bytes;
  summary.loss = *loss;
  summary.steps = state.step;
  if (!std::isfinite(*loss) && !warnedOfLoss) {
    warnedOfLoss = true;
    say("warning: the loss of step " + std::to_string(state.step) +
        " is not finite; a lower --lr may help");
  }
  progress->step(state.epoch, batch.count, *loss);
  state.example = batch.first + batch.count;
  if (batch.endsEpoch) {
    ++state.epoch;
    state.example = 0;
  }
  return {};
}

Status Training::validate() {
  if (!validation)
    return {};
  Result<EvalResult> result =
      evaluate(engine, *validation, options.dataTimeout);
  if (!result)
    return result.status();
  summary.validation = *result;
  double quality = result->hasTop ? result->top1 : -result->loss;
  isBest = !state.best || quality > *state.best;
  if (isBest)
    state.best = quality;
  summary.best = state.best;
  progress->evaluated(result->loss, result->top1, result->top5, result->hasTop);
  if (!log)
    return {};
  // The epoch that has just ended, or the one in progress.
  int64_t epoch = state.example == 0 ? state.epoch : state.epoch + 1;
  return log->write(
      EvalRecord{state.step, epoch, result->top1, result->top5, result->loss});
}

Status Training::save() {
  if (Status status = engine.checkReplicas(); !status)
    return status;
  if (!writer || savedStep == state.step)
    return {};
  Result<LogicalState> tensors = engine.gather();
  if (!tensors)
    return tensors.status();
  Result<std::string> folder =
      writer->save(program, {state, std::move(*tensors)}, isBest);
  if (!folder)
    return folder.status();
  isBest = false;
  savedStep = state.step;
  summary.checkpoint = *folder;
  return {};
}

Status Training::run() {
  while (!isFinished()) {
    Clock::time_point from = Clock::now();
    Result<const Batch *> batch = loader->next(options.dataTimeout);
    if (!batch)
      return batch.status();
    assert(*batch && "the loader ends with the last epoch");
    bool endsEpoch = (*batch)->endsEpoch;
    if (Status status = oneStep(**batch, from); !status)
      return status;
    if (log) {
      if (Status status = log->write(record); !status) {
        // A full disk under the log must not cost the training.
        if (Status saved = save(); !saved)
          say("warning: " + saved.message());
        return status;
      }
    }
    bool interrupted = options.interrupted && options.interrupted();
    if (interrupted && !isFinished()) {
      summary.interrupted = true;
      return save();
    }
    bool ends = endsEpoch || isFinished();
    if (ends) {
      if (Status status = validate(); !status)
        return status;
      progress->endEpoch();
    }
    bool due =
        options.saveEvery > 0 ? state.step % options.saveEvery == 0 : endsEpoch;
    if (due || isBest || isFinished())
      if (Status status = save(); !status)
        return status;
    if (ends || due)
      progress->resumeClock();
  }
  return {};
}

} // namespace

Result<TrainSummary> train(Engine &engine, Dataset &dataset,
                           Dataset *validation, const LogicalState &initial,
                           const TrainOptions &options) {
  Training training(engine, dataset, validation, options);
  if (Status status = training.begin(initial); !status)
    return status;
  Status status = training.run();
  if (!status)
    return status;
  return training.summary;
}

Result<EvalResult> evaluate(Engine &engine, Dataset &dataset,
                            std::chrono::milliseconds dataTimeout) {
  Result<BatchOptions> batches = engine.batchOptions(dataset);
  if (!batches)
    return batches.status();
  batches->endEpoch = 1;
  Result<std::unique_ptr<BatchLoader>> loader =
      BatchLoader::create(dataset, *batches);
  if (!loader)
    return loader.status();
  EvalResult result;
  for (const ProgramArgument &argument : engine.program().evalStep.arguments)
    result.hasTop |=
        argument.kind == ArgumentKind::Result && argument.name == "counts";
  while (true) {
    Result<const Batch *> batch = (*loader)->next(dataTimeout);
    if (!batch)
      return batch.status();
    if (!*batch)
      break;
    Result<EvalCounts> counts = engine.evalStep(**batch);
    if (!counts)
      return counts.status();
    result.loss += counts->loss * static_cast<double>((*batch)->count);
    result.top1 += counts->top1;
    result.top5 += counts->top5;
  }
  double size = static_cast<double>(dataset.size());
  result.loss /= size;
  result.top1 /= size;
  result.top5 /= size;
  return result;
}

} // namespace hpcc::runtime
