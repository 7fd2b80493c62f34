// SPDX-License-Identifier: Apache-2.0
// Storages, calls and threads of the K workers.

#include "runtime/train/Engine.h"

#include "runtime/train/Call.h"
#include "runtime/train/Storage.h"
#include "runtime/train/WorkerPool.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace hpcc::runtime {

namespace {

/// Everything one worker owns.
struct Worker {
  std::vector<void *> storages; ///< By index in Program::storages.
  void *arena = nullptr;
  std::unique_ptr<Call> trainStep, evalStep, gradients, forward;
  Status failure;
};

int64_t findResult(const ProgramFunction &function, const std::string &name) {
  for (size_t i = 0; i < function.arguments.size(); ++i)
    if (function.arguments[i].kind == ArgumentKind::Result &&
        function.arguments[i].name == name)
      return static_cast<int64_t>(i);
  return -1;
}

Status missing(const std::string &what) {
  return Status::error(StatusCode::internal,
                       "the compiled program has no " + what);
}

} // namespace

struct Engine::Impl {
  Impl(const Program &program, Workers &workers, const EngineOptions &options)
      : program(program), workers(workers), options(options),
        team(program.workers) {}
  ~Impl();

  /// Runs job(worker, rank) on every worker's thread and joins their errors.
  /// The job is a plain function with a pointer, so that a step does not
  /// allocate.
  using Job = Status (*)(Impl &impl, Worker &worker, int64_t rank);
  Status onAll(Job job);
  Status joinErrors();

  Status setUp(Worker &worker, int64_t rank);
  Status runCall(std::unique_ptr<Call> Worker::*call,
                 const StepArguments &arguments);
  Status runBatch(std::unique_ptr<Call> Worker::*call,
                  const ProgramFunction &function, const Batch &batch,
                  int64_t step, float rate);
  Status readFloats(Call &call, int64_t index, std::span<float> into) {
    return call.readResult(static_cast<size_t>(index),
                           std::as_writable_bytes(into));
  }
  Status scatter(const ProgramStorage &storage, size_t index,
                 const LogicalState &state);
  Result<std::vector<float>>
  collect(const ProgramStorage &storage,
          const std::function<Status(int64_t rank, std::span<float>)> &read);

  const Program &program;
  Workers &workers;
  const EngineOptions options;
  std::vector<Worker> team;
  std::unique_ptr<WorkerPool> pool;
  bool hung = false;

  Job job = nullptr;
  StepArguments arguments;
  std::unique_ptr<Call> Worker::*call = nullptr;
  std::vector<const void *> inputs, targets;
};

Engine::Impl::~Impl() {
  pool.reset();
  for (int64_t rank = 0; rank < program.workers; ++rank) {
    Worker &worker = team[rank];
    worker.trainStep.reset();
    worker.evalStep.reset();
    worker.gradients.reset();
    worker.forward.reset();
    for (void *memory : worker.storages)
      if (memory)
        workers.release(rank, memory);
    if (worker.arena)
      workers.release(rank, worker.arena);
  }
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}

Engine::~Engine() {
  // The stuck thread may still write to this memory, so it stays, reachable
  // for leak checkers.
  static auto *abandoned = new std::vector<Impl *>;
  if (impl->hung)
    abandoned->push_back(impl.release());
}

const Program &Engine::program() const { return impl->program; }

bool Engine::isHung() const { return impl->hung; }

int64_t Engine::receivedBytes() const {
  int64_t total = 0;
  for (int64_t rank = 0; rank < impl->program.workers; ++rank)
    total += impl->workers.receivedBytes(rank);
  return total;
}

Status Engine::Impl::onAll(Job next) {
  job = next;
  pool->start(
      [](void *argument, int64_t rank) {
        Impl &impl = *static_cast<Impl *>(argument);
        Worker &worker = impl.team[rank];
        worker.failure = impl.job(impl, worker, rank);
        // The others may be waiting for this worker in a collective.
        if (!worker.failure)
          impl.workers.abort(worker.failure);
      },
      this);
  if (pool->wait(options.stepTimeout))
    return joinErrors();

  std::string names;
  for (int64_t rank : pool->late())
    names += (names.empty() ? "" : ", ") + std::to_string(rank);
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%g",
                static_cast<double>(options.stepTimeout.count()) / 1000);
  std::string where = call ? "step " + std::to_string(arguments.step)
                           : std::string("setting up");
  Status status = Status::error(StatusCode::timeout,
                                where + ": worker " + names + " of " +
                                    std::to_string(program.workers) +
                                    " did not finish within " + seconds + " s");
  workers.abort(status);
  hung = !pool->wait(options.stopTimeout);
  return status;
}

Status Engine::Impl::joinErrors() {
  const Status *aborted = nullptr;
  for (int64_t rank = 0; rank < program.workers; ++rank) {
    Worker &worker = team[rank];
    if (worker.failure.ok())
      worker.failure = workers.status(rank);
    if (worker.failure.ok())
      continue;
    // "aborted" only repeats the message of the worker that failed first.
    if (worker.failure.code() != StatusCode::aborted)
      return worker.failure;
    aborted = &worker.failure;
  }
  return aborted ? *aborted : Status::success();
}

Status Engine::Impl::setUp(Worker &worker, int64_t rank) {
  if (Status status = workers.attach(rank); !status)
    return status;
  for (const ProgramStorage &storage : program.storages) {
    worker.storages.push_back(nullptr);
    if (storage.slot == StorageSlot::Gradient)
      continue; // Only the layout of results.
    size_t bytes = static_cast<size_t>(
        storageRange(storage, program.workers, rank).size * sizeof(float));
    Result<void *> memory = workers.allocate(rank, bytes,
                                             storage.slot == StorageSlot::Value
                                                 ? Workers::Purpose::Parameters
                                                 : Workers::Purpose::State);
    if (!memory)
      return memory.status();
    worker.storages.back() = *memory;
  }
  int64_t arena = 0;
  for (const ProgramFunction *function : {&program.trainStep, &program.evalStep,
                                          &program.gradients, &program.forward})
    for (const ProgramArgument &argument : function->arguments)
      if (argument.kind == ArgumentKind::Arena)
        arena = std::max(arena, argument.bytes);
  if (arena > 0) {
    Result<void *> memory = workers.allocate(rank, static_cast<size_t>(arena),
                                             Workers::Purpose::Arena);
    if (!memory)
      return memory.status();
    worker.arena = *memory;
  }

  auto resolve = [&](const std::string &name) -> void * {
    if (name.empty())
      return worker.arena;
    for (size_t i = 0; i < program.storages.size(); ++i)
      if (program.storages[i].name == name)
        return worker.storages[i];
    return nullptr;
  };
  for (auto [function, call] :
       {std::pair(&program.init, (std::unique_ptr<Call> *)nullptr),
        std::pair(&program.trainStep, &worker.trainStep),
        std::pair(&program.evalStep, &worker.evalStep),
        std::pair(&program.gradients, &worker.gradients),
        std::pair(&program.forward, &worker.forward)}) {
    if (!*function)
      continue;
    auto made = std::make_unique<Call>(program, *function, workers, rank);
    if (Status status = made->prepare(resolve); !status)
      return status;
    if (call) {
      *call = std::move(made);
      continue;
    }
    if (Status status = made->run({}); !status)
      return status;
    if (Status status = workers.status(rank); !status)
      return status;
  }
  return {};
}

Result<std::unique_ptr<Engine>> Engine::create(const Program &program,
                                               Workers &workers,
                                               const EngineOptions &options) {
  if (workers.size() != program.workers)
    return Status::error(
        StatusCode::internal,
        "the program is for " + std::to_string(program.workers) +
            " workers, but there are " + std::to_string(workers.size()));
  if (Status status = checkProgram(program); !status)
    return status;
  auto impl = std::make_unique<Impl>(program, workers, options);
  Result<std::unique_ptr<WorkerPool>> pool =
      WorkerPool::create(program.workers);
  if (!pool)
    return pool.status();
  impl->pool = std::move(*pool);
  std::unique_ptr<Engine> engine(new Engine(std::move(impl)));
  Status status =
      engine->impl->onAll([](Impl &impl, Worker &worker, int64_t rank) {
        return impl.setUp(worker, rank);
      });
  if (!status)
    return status;
  return engine;
}

Status Engine::Impl::scatter(const ProgramStorage &storage, size_t index,
                             const LogicalState &state) {
  std::vector<float> flat =
      packStorage(program, storage, slotOf(state, storage.slot));
  for (int64_t rank = 0; rank < program.workers; ++rank) {
    StorageRange range = storageRange(storage, program.workers, rank);
    if (Status status = workers.copyToWorker(
            rank, team[rank].storages[index], flat.data() + range.offset,
            static_cast<size_t>(range.size) * sizeof(float));
        !status)
      return status;
  }
  return {};
}

Status Engine::load(const LogicalState &state) {
  LogicalState expected = makeZeroState(impl->program);
  for (StorageSlot slot : {StorageSlot::Value, StorageSlot::Momentum}) {
    const auto &wanted = slotOf(expected, slot), &given = slotOf(state, slot);
    for (size_t i = 0; i < wanted.size(); ++i)
      if (given.size() != wanted.size() || given[i].size() != wanted[i].size())
        return Status::error(StatusCode::internal,
                             "the state to load does not match parameter '" +
                                 impl->program.parameters[i].name + "'");
  }
  for (size_t i = 0; i < impl->program.storages.size(); ++i) {
    const ProgramStorage &storage = impl->program.storages[i];
    if (storage.slot == StorageSlot::Gradient)
      continue;
    if (Status status = impl->scatter(storage, i, state); !status)
      return status;
  }
  return {};
}

Result<std::vector<float>> Engine::Impl::collect(
    const ProgramStorage &storage,
    const std::function<Status(int64_t rank, std::span<float>)> &read) {
  std::vector<float> flat(storage.padded);
  bool replicated = storage.split == StorageSplit::Replicated;
  for (int64_t rank = 0; rank < (replicated ? 1 : program.workers); ++rank) {
    StorageRange range = storageRange(storage, program.workers, rank);
    if (Status status =
            read(rank, std::span(flat).subspan(range.offset, range.size));
        !status)
      return status;
  }
  return flat;
}

Result<LogicalState> Engine::gather() {
  LogicalState state = makeZeroState(impl->program);
  for (size_t i = 0; i < impl->program.storages.size(); ++i) {
    const ProgramStorage &storage = impl->program.storages[i];
    if (storage.slot == StorageSlot::Gradient)
      continue;
    Result<std::vector<float>> flat =
        impl->collect(storage, [&](int64_t rank, std::span<float> into) {
          return impl->workers.copyToHost(rank, into.data(),
                                          impl->team[rank].storages[i],
                                          into.size_bytes());
        });
    if (!flat)
      return flat.status();
    unpackStorage(impl->program, storage, *flat, slotOf(state, storage.slot));
  }
  return state;
}

Status Engine::checkReplicas() const {
  const Program &program = impl->program;
  for (size_t i = 0; i < program.storages.size(); ++i) {
    const ProgramStorage &storage = program.storages[i];
    if (storage.split != StorageSplit::Replicated ||
        storage.slot == StorageSlot::Gradient)
      continue;
    std::vector<float> first(storage.padded), other(storage.padded);
    for (int64_t rank = 0; rank < program.workers; ++rank) {
      std::vector<float> &into = rank == 0 ? first : other;
      if (Status status = impl->workers.copyToHost(rank, into.data(),
                                                   impl->team[rank].storages[i],
                                                   into.size() * sizeof(float));
          !status)
        return status;
      if (rank == 0)
        continue;
      for (const StorageSegment &segment : storage.segments) {
        int64_t size = elementsOf(
            program.parameters[findParameter(program, segment.parameter)]);
        if (std::memcmp(first.data() + segment.offset,
                        other.data() + segment.offset,
                        static_cast<size_t>(size) * sizeof(float)) == 0)
          continue;
        return Status::error(
            StatusCode::internal,
            "'" + segment.parameter +
                "' should be equal on all workers, but worker " +
                std::to_string(rank) +
                " differs from worker 0; the last checkpoint "
                "is not affected");
      }
    }
  }
  return {};
}

Result<BatchOptions> Engine::batchOptions(Dataset &dataset) const {
  const Program &program = impl->program;
  const ProgramFunction &function = program.trainStep  ? program.trainStep
                                    : program.evalStep ? program.evalStep
                                                       : program.gradients;
  BatchOptions options;
  options.batch = program.batch;
  options.classTargets = false;
  const ProgramArgument *input = nullptr;
  for (const ProgramArgument &argument : function.arguments) {
    if (argument.kind == ArgumentKind::Input) {
      if (input)
        return invalidArgument("the model has several inputs ('" + input->name +
                               "', '" + argument.name +
                               "', ...), but a data set feeds only one");
      input = &argument;
      if (argument.type != DataType::f32 || argument.dims.empty())
        return invalidArgument("input '" + argument.name +
                               "' of the model is not a float tensor with a "
                               "batch dimension, which a data set feeds");
      if (Status status = checkExampleShape(
              dataset, argument.name, std::span(argument.dims).subspan(1));
          !status)
        return status;
    }
    if (argument.kind != ArgumentKind::Target)
      continue;
    int64_t classes = argument.classes;
    if (argument.type == DataType::i32) {
      options.classTargets = true;
    } else {
      int64_t width = 1;
      for (size_t i = 1; i < argument.dims.size(); ++i)
        width *= argument.dims[i];
      if (options.vectorWidth != 0 && options.vectorWidth != width)
        return invalidArgument("the model's outputs have " +
                               std::to_string(options.vectorWidth) + " and " +
                               std::to_string(width) +
                               " values; one data set cannot serve both");
      options.vectorWidth = width;
      classes = classes ? classes : width;
    }
    if (Status status = dataset.setClasses(classes); !status)
      return status;
  }
  if (!input)
    return invalidArgument("the model has no input that '" + dataset.name() +
                           "' could feed");
  return options;
}

Status Engine::Impl::runCall(std::unique_ptr<Call> Worker::*which,
                             const StepArguments &with) {
  call = which;
  arguments = with;
  return onAll([](Impl &impl, Worker &worker, int64_t rank) {
    impl.workers.beginStep(rank, impl.arguments.step);
    return (worker.*impl.call)->run(impl.arguments);
  });
}

Status Engine::Impl::runBatch(std::unique_ptr<Call> Worker::*which,
                              const ProgramFunction &function,
                              const Batch &batch, int64_t step, float rate) {
  inputs.clear();
  targets.clear();
  for (const ProgramArgument &argument : function.arguments) {
    if (argument.kind == ArgumentKind::Input)
      inputs.push_back(batch.examples);
    if (argument.kind == ArgumentKind::Target)
      targets.push_back(argument.type == DataType::i32
                            ? static_cast<const void *>(batch.classes)
                            : batch.vectors);
  }
  return runCall(which, {batch.count, step, rate, inputs, targets});
}

Result<float> Engine::trainStep(const Batch &batch, int64_t step, float rate) {
  const ProgramFunction &function = impl->program.trainStep;
  int64_t index = findResult(function, "loss");
  if (!function || index < 0)
    return missing("train_step");
  if (Status status =
          impl->runBatch(&Worker::trainStep, function, batch, step, rate);
      !status)
    return status;
  float loss = 0;
  if (Status status = impl->readFloats(*impl->team[0].trainStep, index,
                                       std::span(&loss, 1));
      !status)
    return status;
  return loss;
}

Result<EvalCounts> Engine::evalStep(const Batch &batch) {
  const ProgramFunction &function = impl->program.evalStep;
  int64_t loss = findResult(function, "loss");
  int64_t counts = findResult(function, "counts");
  if (!function || loss < 0)
    return missing("eval_step");
  if (Status status = impl->runBatch(&Worker::evalStep, function, batch, 0, 0);
      !status)
    return status;
  Call &call = *impl->team[0].evalStep;
  float lossValue = 0, hits[2] = {0, 0};
  if (Status status = impl->readFloats(call, loss, std::span(&lossValue, 1));
      !status)
    return status;
  if (counts >= 0)
    if (Status status = impl->readFloats(call, counts, hits); !status)
      return status;
  return EvalCounts{lossValue, hits[0], hits[1]};
}

Result<GradientResult> Engine::gradients(const Batch &batch, int64_t step) {
  const Program &program = impl->program;
  const ProgramFunction &function = program.gradients;
  int64_t loss = findResult(function, "loss");
  if (!function || loss < 0)
    return missing("gradients");
  if (Status status =
          impl->runBatch(&Worker::gradients, function, batch, step, 0);
      !status)
    return status;
  GradientResult result;
  float lossValue = 0;
  if (Status status = impl->readFloats(*impl->team[0].gradients, loss,
                                       std::span(&lossValue, 1));
      !status)
    return status;
  result.loss = lossValue;

  std::vector<std::vector<float>> tensors(program.parameters.size());
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const ProgramArgument &argument = function.arguments[i];
    if (argument.kind != ArgumentKind::Result || argument.name == "loss")
      continue;
    if (!argument.storage.empty()) {
      auto storage = std::find_if(
          program.storages.begin(), program.storages.end(),
          [&](const auto &entry) { return entry.name == argument.storage; });
      Result<std::vector<float>> flat =
          impl->collect(*storage, [&](int64_t rank, std::span<float> into) {
            return impl->readFloats(*impl->team[rank].gradients,
                                    static_cast<int64_t>(i), into);
          });
      if (!flat)
        return flat.status();
      unpackStorage(program, *storage, *flat, tensors);
      continue;
    }
    int64_t parameter = findParameter(program, argument.name);
    Call &call = *impl->team[0].gradients;
    if (parameter < 0 || call.resultElements(i, batch.count) !=
                             elementsOf(program.parameters[parameter]))
      return missing("parameter that gradient '" + argument.name + "' fits");
    tensors[parameter].resize(elementsOf(program.parameters[parameter]));
    if (Status status =
            impl->readFloats(call, static_cast<int64_t>(i), tensors[parameter]);
        !status)
      return status;
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ProgramParameter &parameter = program.parameters[i];
    if (!tensors[i].empty())
      result.gradients.push_back(
          Array::fromFloats(parameter.initializer, fileShape(parameter),
                            toFileLayout(parameter, tensors[i])));
  }
  return result;
}

namespace {

ArrayType arrayTypeOf(DataType type) {
  switch (type) {
  case DataType::f32:
    return ArrayType::F32;
  case DataType::i8:
    return ArrayType::I8;
  case DataType::i32:
    return ArrayType::I32;
  case DataType::i64:
    return ArrayType::I64;
  }
  return ArrayType::F32;
}

/// The array that feeds an input, in the input's type.
Result<Array> prepareInput(const ProgramArgument &argument,
                           std::span<const Array> given) {
  auto found =
      std::find_if(given.begin(), given.end(), [&](const Array &array) {
        return array.name == argument.name;
      });
  if (found == given.end())
    return invalidArgument("no array '" + argument.name +
                           "' for the model's input of that name");
  bool fits = found->shape.size() == argument.dims.size();
  for (size_t i = 0; fits && i < argument.dims.size(); ++i)
    fits = argument.dims[i] < 0 || argument.dims[i] == found->shape[i];
  if (!fits) {
    std::string wanted;
    for (int64_t extent : argument.dims)
      wanted += (wanted.empty() ? "" : "x") +
                (extent < 0 ? std::string("N") : std::to_string(extent));
    return invalidArgument("array '" + argument.name + "' is " +
                           shapeToString(found->shape) +
                           ", but the model's input is " + wanted);
  }
  ArrayType type = arrayTypeOf(argument.type);
  if (found->type == type)
    return *found;
  if (type == ArrayType::F32)
    return Array::fromFloats(found->name, found->shape, found->toFloats());
  if (isFloat(found->type))
    return invalidArgument("array '" + argument.name + "' is " +
                           toString(found->type) +
                           ", but the model's input is " + toString(type));
  Array converted{found->name, type, found->shape, {}};
  size_t width = static_cast<size_t>(byteWidth(type));
  converted.bytes.resize(static_cast<size_t>(found->elements()) * width);
  for (int64_t i = 0; i < found->elements(); ++i) {
    int64_t value = found->integerAt(i);
    // Little-endian: the low bytes come first.
    std::memcpy(converted.bytes.data() + i * width, &value, width);
  }
  return converted;
}

} // namespace

Result<std::vector<Array>> Engine::infer(std::span<const Array> given) {
  const Program &program = impl->program;
  const ProgramFunction &function = program.forward;
  if (!function)
    return missing("forward");
  std::vector<Array> inputs;
  std::vector<const ProgramArgument *> inputArguments;
  int64_t rows = -1;
  for (const ProgramArgument &argument : function.arguments) {
    if (argument.kind != ArgumentKind::Input)
      continue;
    Result<Array> array = prepareInput(argument, given);
    if (!array)
      return array.status();
    if (!argument.dims.empty() && argument.dims[0] < 0) {
      if (rows >= 0 && rows != array->shape[0])
        return invalidArgument("array '" + argument.name + "' has " +
                               std::to_string(array->shape[0]) +
                               " rows, the inputs before it " +
                               std::to_string(rows));
      rows = array->shape[0];
    }
    inputs.push_back(std::move(*array));
    inputArguments.push_back(&argument);
  }
  if (rows < 0)
    rows = 1; // Nothing depends on a batch: one run tells all.

  std::vector<Array> outputs;
  std::vector<size_t> outputIndex;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const ProgramArgument &argument = function.arguments[i];
    if (argument.kind != ArgumentKind::Result)
      continue;
    Array array{argument.name, arrayTypeOf(argument.type), argument.dims, {}};
    for (int64_t &extent : array.shape)
      extent = extent < 0 ? rows : extent;
    outputs.push_back(std::move(array));
    outputIndex.push_back(i);
  }

  for (int64_t first = 0; first < rows; first += program.batch) {
    int64_t n = std::min(program.batch, rows - first);
    std::vector<const void *> pointers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Array &array = inputs[i];
      bool perRow = !inputArguments[i]->dims.empty() &&
                    inputArguments[i]->dims[0] < 0 && rows > 0;
      size_t rowBytes = perRow ? array.bytes.size() / rows : 0;
      pointers.push_back(array.bytes.data() + first * rowBytes);
    }
    if (Status status = impl->runCall(
            &Worker::forward, {n, first / program.batch, 0, pointers, {}});
        !status)
      return status;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ProgramArgument &argument = function.arguments[outputIndex[i]];
      bool perRow = !argument.dims.empty() && argument.dims[0] < 0;
      bool local = perRow && argument.dims[0] == kLocalRows;
      if (!perRow)
        outputs[i].bytes.clear();
      for (int64_t rank = 0; rank < (local ? program.workers : 1); ++rank) {
        Call &call = *impl->team[rank].forward;
        size_t bytes = static_cast<size_t>(
            call.resultElements(outputIndex[i], n) * sizeOf(argument.type));
        size_t old = outputs[i].bytes.size();
        outputs[i].bytes.resize(old + bytes);
        if (Status status = call.readResult(
                outputIndex[i],
                std::span(outputs[i].bytes).subspan(old, bytes));
            !status)
          return status;
      }
    }
  }
  return outputs;
}

} // namespace hpcc::runtime
