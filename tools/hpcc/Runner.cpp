// SPDX-License-Identifier: Apache-2.0
// Brings the compiled program, the data and the workers together.
#include "tools/hpcc/Runner.h"

#include "frontend/export/Export.h"
#include "runtime/data/Npz.h"
#include "runtime/train/Interrupt.h"
#include "tools/hpcc/Binding.h"
#include "tools/hpcc/Table.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"

#include <cmath>
#include <thread>
#include <unistd.h>

using namespace hpcc;
using namespace hpcc::runtime;

Runner::~Runner() {
  if (!engine || !engine->isHung())
    return;
  // A worker still runs in the memory that destructors would free.
  llvm::outs().flush();
  llvm::errs().flush();
  ::_exit(2);
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

Status Runner::openData() {
  DatasetOptions options;
  options.normalization = {line.mean, line.deviation};
  options.seed = uint64_t(session.options().seed);
  auto open = [&](const char *flag, const std::string &spec,
                  std::unique_ptr<Dataset> &into) -> Status {
    if (spec.empty())
      return {};
    Result<std::unique_ptr<Dataset>> opened = openDataset(spec, options);
    if (!opened)
      return Status::error(opened.status().code(),
                           flag + (": " + opened.status().message()));
    into = std::move(*opened);
    if (into->size() == 0)
      return invalidArgument(flag + (": '" + spec + "' has no examples"));
    return {};
  };
  if (Status status = open("--data", line.data, data); !status.ok())
    return status;
  if (Status status = open("--val", line.val, validation); !status.ok())
    return status;
  return open("--eval", line.eval, evaluation);
}

llvm::StringSet<> Runner::functions() const {
  llvm::StringSet<> names;
  if (!line.infer.empty())
    names.insert("forward");
  else if (!line.dumpGradients.empty())
    names.insert("gradients");
  else if (line.trains())
    names.insert("train_step");
  else if (line.eval.empty())
    names.insert("forward"); // --export alone
  if (!line.eval.empty() || !line.val.empty())
    names.insert("eval_step");
  // A checkpoint holds optimizer state, which only this function declares.
  if (!line.resume.empty())
    names.insert("train_step");
  return names;
}

/// Of the graph without values, options and paths: what a checkpoint fits.
std::string Runner::modelHash() {
  if (session.phase() != Phase::Import)
    return {};
  mlir::OwningOpRef<mlir::ModuleOp> graph = session.module().clone();
  (*graph)->removeAttr("nn.options");
  (*graph)->removeAttr("nn.model");
  // --reinit may be given once and left out when continuing.
  graph->walk([](mlir::Operation *op) { op->removeAttr("reinit"); });
  std::string text;
  llvm::raw_string_ostream os(text);
  graph->print(os, mlir::OpPrintingFlags().printGenericOpForm());
  llvm::SHA256 sha;
  sha.update(text);
  return llvm::toHex(sha.final(), /*LowerCase=*/true);
}

Status Runner::compile() {
  hash = modelHash();
  bool alone = !line.infer.empty() || !line.dumpGradients.empty() ||
               (!line.trains() && line.eval.empty());
  llvm::StringSet<> needed = functions();
  if (!line.from) {
    Options options = session.options();
    for (const auto &name : needed.keys())
      options.functions.push_back(name.str());
    llvm::sort(options.functions);
    for (Dataset *dataset : {data.get(), evaluation.get()})
      if (dataset && !dataset->hasClassLabels())
        options.labels = "vector";
    if (alone) {
      // What these do does not depend on how training is spread.
      options.workers = 1;
      options.scheme = SchemeChoice::Data;
      options.fcBatch = 0;
      options.fcUpdate.clear();
    }
    session.setOptions(options);
  }
  PlanBuilder plan(line.model);
  auto observe = [&](mlir::ModuleOp module, Phase phase) {
    if (line.verifyComm && phase == Phase::Comm)
      verifier = std::make_unique<CommunicationVerifier>(module);
    return line.trains() ? plan.observe(module, phase) : mlir::success();
  };
  if (Status status = session.lower(Phase::Llvm, needed, observe); !status.ok())
    return status;
  if (line.verifyComm && !verifier)
    return invalidArgument("--verify-comm reads the IR of phase comm, which "
                           "--from has passed");
  if (line.trains()) {
    printSummary(llvm::outs(), plan.get(), {line.lr, false, data->size()});
    llvm::outs().flush();
  }
  Result<std::unique_ptr<Jit>> made = Jit::create(session.module());
  if (!made)
    return made.status();
  jit = std::move(*made);
  auto lookup = [&](llvm::StringRef name) -> ProgramEntry {
    return name == "init" || needed.contains(name) ? jit->lookup(name)
                                                   : nullptr;
  };
  Result<Program> bound = bindProgram(session.module(), lookup);
  if (!bound)
    return bound.status();
  program = std::move(*bound);
  if (alone)
    program.workers = 1;
  return {};
}

Status Runner::startWorkers() {
  int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  int64_t threads = line.threads
                        ? line.threads
                        : std::max<int64_t>(1, cores / program.workers);
  if (line.threads && threads * program.workers > cores)
    llvm::errs() << "remark: " << program.workers << " workers of " << threads
                 << " threads share " << cores
                 << " cores; that is slower than one thread for each core\n";
  group = std::make_unique<LocalGroup>(program.workers);
  workers = std::make_unique<ContextWorkers>(
      program.workers,
      [this](int64_t rank) -> Communicator & {
        return group->communicator(rank);
      },
      ContextWorkersOptions{.threads = int(threads)});
  Result<std::unique_ptr<Engine>> created = Engine::create(program, *workers);
  if (!created)
    return created.status();
  engine = std::move(*created);
  if (verifier)
    verifier->watch(*workers);
  return {};
}

Result<LogicalState> Runner::initialState() {
  LogicalState state = makeZeroState(program);
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    const ProgramParameter &parameter = program.parameters[i];
    if (isReinitialised(session.module(), parameter.name)) {
      state.values[i] = initialValues(parameter, program.seed);
      continue;
    }
    auto values = session.file().readFloats(parameter.initializer);
    if (!values)
      return invalidArgument(llvm::toString(values.takeError()));
    if (int64_t(values->size()) != elementsOf(parameter))
      return invalidArgument("initializer `" + parameter.initializer +
                             "` of '" + session.file().path().str() + "' has " +
                             std::to_string(values->size()) +
                             " values, the program needs " +
                             std::to_string(elementsOf(parameter)));
    state.values[i] = fromFileLayout(parameter, *values);
  }
  return state;
}

Status Runner::loadParameters() {
  if (!line.resume.empty()) {
    Result<LoadedCheckpoint> loaded = loadCheckpoint(line.resume, program);
    if (!loaded)
      return loaded.status();
    if (!loaded->warning.empty())
      llvm::errs() << "warning: " << loaded->warning << "\n";
    return engine->load(loaded->checkpoint.tensors);
  }
  Result<LogicalState> state = initialState();
  return state ? engine->load(*state) : state.status();
}

//===----------------------------------------------------------------------===//
// Training and evaluation
//===----------------------------------------------------------------------===//

static std::string evalText(const EvalResult &result) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("loss %.4f", result.loss);
  if (result.hasTop)
    os << llvm::format(", top-1 %.2f %%, top-5 %.2f %%", 100 * result.top1,
                       100 * result.top5);
  return text;
}

Status Runner::trainModel(int &exitCode) {
  Result<Schedule> schedule = Schedule::parse(line.lrSchedule);
  if (!schedule)
    return schedule.status();
  Result<LogicalState> initial = initialState();
  if (!initial)
    return initial.status();
  TrainOptions options;
  options.epochs = line.steps ? 0 : line.epochs;
  options.steps = line.steps;
  options.rate = line.lr;
  options.schedule = *schedule;
  options.shuffle = line.shuffle;
  options.checkpoint = line.checkpoint;
  options.saveEvery = line.saveEvery;
  options.resume = line.resume;
  options.modelHash = hash;
  options.log = line.log;
  options.progress.terminal = isTerminal(options.progress.descriptor);
  options.interrupted = wasInterrupted;
  options.observer = verifier.get();
  Result<TrainSummary> summary =
      train(*engine, *data, validation.get(), *initial, options);
  if (!summary)
    return summary.status();
  if (summary->interrupted) {
    llvm::errs() << "interrupted after step " << summary->steps;
    if (!line.checkpoint.empty())
      llvm::errs() << "; continue with --resume " << line.checkpoint << "\n";
    else
      llvm::errs() << "; nothing was saved: --checkpoint DIR would\n";
    exitCode = line.checkpoint.empty() ? 130 : 3;
    return {};
  }
  llvm::outs() << llvm::formatv("trained {0} steps, last loss {1:f4}",
                                summary->steps, summary->loss);
  if (summary->validation)
    llvm::outs() << "; validation: " << evalText(*summary->validation);
  if (!summary->checkpoint.empty())
    llvm::outs() << "; checkpoint " << summary->checkpoint;
  llvm::outs() << "\n";
  return {};
}

Status Runner::evaluateModel() {
  Result<EvalResult> result = evaluate(*engine, *evaluation);
  if (!result)
    return result.status();
  llvm::outs() << "evaluation on " << line.eval << ": " << evalText(*result)
               << "\n";
  return {};
}

//===----------------------------------------------------------------------===//
// One-offs and export
//===----------------------------------------------------------------------===//

Status Runner::inferFile() {
  Result<std::vector<Array>> inputs = readNpz(line.infer);
  if (!inputs)
    return inputs.status();
  Result<std::vector<Array>> outputs = engine->infer(*inputs);
  if (!outputs)
    return outputs.status();
  return writeNpz(line.output, *outputs);
}

Status Runner::writeGradients() {
  Result<BatchOptions> options = engine->batchOptions(*data);
  if (!options)
    return options.status();
  options->shuffle = line.shuffle;
  options->seed = program.seed;
  Result<std::unique_ptr<BatchLoader>> loader =
      BatchLoader::create(*data, *options);
  if (!loader)
    return loader.status();
  Result<const Batch *> batch = (*loader)->next(std::chrono::minutes(10));
  if (!batch)
    return batch.status();
  Result<GradientResult> result = engine->gradients(**batch, /*step=*/0);
  if (!result)
    return result.status();
  llvm::outs() << llvm::formatv("loss of the first batch: {0:f6}\n",
                                result->loss);
  return writeNpz(line.dumpGradients, result->gradients);
}

Status Runner::exportModel() {
  Result<LogicalState> state = engine->gather();
  if (!state)
    return state.status();
  std::vector<std::vector<float>> values;
  std::vector<TrainedTensor> tensors;
  for (size_t i = 0; i < program.parameters.size(); ++i)
    values.push_back(toFileLayout(program.parameters[i], state->values[i]));
  for (size_t i = 0; i < program.parameters.size(); ++i)
    tensors.push_back({program.parameters[i].initializer,
                       fileShape(program.parameters[i]), values[i]});
  if (llvm::Error error = exportOnnx(session.file(), tensors, line.exportFile))
    return environmentError("--export: " + llvm::toString(std::move(error)));
  llvm::outs() << "wrote " << line.exportFile << "\n";
  return {};
}

Status Runner::run(int &exitCode) {
  InterruptGuard guard;
  using Step = Status (Runner::*)();
  for (Step step : {&Runner::openData, &Runner::compile, &Runner::startWorkers})
    if (Status status = (this->*step)(); !status.ok())
      return status;
  Status status = line.trains() ? trainModel(exitCode) : loadParameters();
  if (!status.ok() || exitCode != 0)
    return status;
  if (!line.infer.empty())
    status = inferFile();
  else if (!line.dumpGradients.empty())
    status = writeGradients();
  if (status.ok() && evaluation)
    status = evaluateModel();
  if (status.ok() && !line.exportFile.empty())
    status = exportModel();
  return status;
}
