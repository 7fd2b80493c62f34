// SPDX-License-Identifier: Apache-2.0
// Compiling and running for the execution tests.
#include "test/pipelines/execution/Workers.h"

#include "hpcc/sharding.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Parser/Parser.h"
#include "passes/FunctionArguments.h"
#include "passes/pipelines/Pipelines.h"
#include "runtime/base/Context.h"
#include "runtime/comm/local/LocalGroup.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

using namespace mlir;
using namespace hpcc;
using namespace hpcc::test;
namespace sharding = hpcc::sharding;

static constexpr size_t kCanaryBytes = 4096;
static constexpr unsigned char kPoison = 0xff; // a NaN in every float

std::string hpcc::test::readInput(const std::string &name) {
  std::ifstream file(std::string(HPCC_TEST_INPUTS) + "/" + name);
  EXPECT_TRUE(file) << "no input " << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

Compiled::Compiled() {
  DialectRegistry registry;
  registerPhaseDialects(registry);
  context = std::make_unique<MLIRContext>(registry);
}
Compiled::~Compiled() = default;
ModuleOp Compiled::module() const { return *ir; }

std::unique_ptr<Compiled> Compiled::create(const std::string &text,
                                           const Variant &variant) {
  std::unique_ptr<Compiled> result(new Compiled());
  result->ir = parseSourceString<ModuleOp>(text, result->context.get());
  if (!result->ir) {
    ADD_FAILURE() << "the input does not parse";
    return nullptr;
  }
  TargetInfo target;
  for (Phase phase : {Phase::Bufferized, Phase::Scheduled, Phase::Arena,
                      Phase::Rt, Phase::Llvm}) {
    if ((phase == Phase::Scheduled && !variant.schedule) ||
        (phase == Phase::Arena && !variant.arena))
      continue;
    PassManager manager(result->context.get());
    buildPhase(manager, phase, target);
    if (failed(manager.run(*result->ir))) {
      ADD_FAILURE() << "phase " << phaseName(phase).str() << " fails";
      return nullptr;
    }
    if (phase == Phase::Scheduled && variant.afterSchedule)
      variant.afterSchedule(*result->ir);
    if (phase == Phase::Arena && variant.afterArena)
      variant.afterArena(*result->ir);
  }
  auto code = Jit::create(*result->ir);
  if (!code.ok()) {
    ADD_FAILURE() << code.status().message();
    return nullptr;
  }
  result->machineCode = std::move(*code);
  return result;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

float hpcc::test::initialValue(const std::string &name, int64_t index) {
  if (name != "x" && name != "w" && name != "v")
    return 0;
  uint64_t hash = (uint64_t(index) + name[0] * 7919u) * 0x9E3779B97F4A7C15ull;
  hash ^= hash >> 29;
  hash *= 0xBF58476D1CE4E5B9ull;
  hash ^= hash >> 32;
  float value = float(int64_t(hash % 2001) - 1000) * 1e-3f;
  return name == "x" ? value : 0.3f * value;
}

namespace {
/// One argument of @train_step on one worker.
struct Argument {
  DictionaryAttr meaning;
  std::vector<int64_t> dims; // with markers
  std::vector<float> values;
  std::vector<char> bytes; // arena
  std::vector<int64_t> descriptor;
  void *pointer = nullptr; // to the descriptor
  int64_t number = 0;
  float rate = 0;

  std::string kind() const { return stringIn(meaning, "kind").str(); }
  std::string name() const { return stringIn(meaning, "name").str(); }
};

class Worker {
public:
  Worker(const Compiled &program, const RunOptions &options, int64_t rank,
         runtime::Communicator &communicator)
      : program(program), options(options), rank(rank),
        communicator(communicator) {}

  void run();
  WorkerState state() const;

  bool canaryIntact = true;
  std::string error;

private:
  void prepare();
  void bind(Argument &argument, int64_t n);
  void bindBuffer(Argument &argument, void *data, ArrayRef<int64_t> shape);

  const Compiled &program;
  const RunOptions &options;
  const int64_t rank;
  runtime::Communicator &communicator;
  std::unique_ptr<runtime::Context> context;
  void *handle = nullptr;
  std::vector<Argument> arguments;
};
} // namespace

/// Rows of the argument's storage on a worker, and the first one's index.
static sharding::Range storageRows(DictionaryAttr meaning, int64_t workers,
                                   int64_t rank) {
  auto segment = cast<DictionaryAttr>(meaning.getAs<ArrayAttr>("segments")[0]);
  int64_t extent =
      cast<IntegerAttr>(segment.getAs<ArrayAttr>("shape")[0]).getInt();
  return sharding::shard(extent, workers, rank);
}

void Worker::prepare() {
  auto dict = program.module()->getAttrOfType<DictionaryAttr>("nn.program");
  auto functions = dict.getAs<DictionaryAttr>("functions");
  for (Attribute attr : functions.getAs<ArrayAttr>("train_step")) {
    Argument argument;
    argument.meaning = cast<DictionaryAttr>(attr);
    if (auto dims = argument.meaning.getAs<DenseI64ArrayAttr>("dims"))
      argument.dims.assign(dims.asArrayRef().begin(), dims.asArrayRef().end());
    std::string kind = argument.kind();
    if (kind == "arena") {
      argument.bytes.resize(argument.dims[0] + kCanaryBytes + 64);
    } else if (kind == "value" || kind == "state") {
      int64_t rows = argument.dims[0], first = 0, row = 1;
      if (rows < 0) {
        sharding::Range range =
            storageRows(argument.meaning, options.workers, rank);
        rows = range.size;
        first = range.offset;
      }
      for (int64_t extent : ArrayRef(argument.dims).drop_front())
        row *= extent;
      for (int64_t i = 0; i < rows * row; ++i)
        argument.values.push_back(
            initialValue(argument.name(), first * row + i));
    }
    arguments.push_back(std::move(argument));
  }
}

void Worker::bindBuffer(Argument &argument, void *data,
                        ArrayRef<int64_t> shape) {
  argument.descriptor = {int64_t(data), int64_t(data), 0};
  argument.descriptor.insert(argument.descriptor.end(), shape.begin(),
                             shape.end());
  int64_t stride = 1;
  for (int64_t extent : shape.drop_front(shape.empty() ? 0 : 1))
    stride *= extent;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    argument.descriptor.push_back(stride);
    if (dim + 1 < shape.size())
      stride /= std::max<int64_t>(shape[dim + 1], 1);
  }
  argument.pointer = argument.descriptor.data();
}

void Worker::bind(Argument &argument, int64_t n) {
  std::string kind = argument.kind();
  if (kind == "examples")
    argument.number = n;
  else if (kind == "rank")
    argument.number = rank;
  else if (kind == "lr")
    argument.rate = options.rate;
  if (argument.dims.empty() && kind != "result")
    return;
  std::vector<int64_t> shape = argument.dims;
  sharding::Range rows = sharding::examples(n, options.workers, rank);
  if (!shape.empty() && shape[0] == -1)
    shape[0] = rows.size;
  else if (!shape.empty() && shape[0] == -3)
    shape[0] = storageRows(argument.meaning, options.workers, rank).size;
  int64_t elements = 1, row = 1;
  for (int64_t extent : shape)
    elements *= extent;
  for (int64_t extent : ArrayRef(shape).drop_front(shape.empty() ? 0 : 1))
    row *= extent;
  if (kind == "input") {
    argument.values.resize(elements);
    for (int64_t i = 0; i < elements; ++i)
      argument.values[i] = initialValue(argument.name(), rows.offset * row + i);
  } else if (kind == "result") {
    argument.values.assign(elements, std::numeric_limits<float>::quiet_NaN());
  } else if (kind == "arena") {
    std::fill(argument.bytes.begin(), argument.bytes.end(), char(kPoison));
    int64_t address = int64_t(argument.bytes.data());
    bindBuffer(argument, reinterpret_cast<void *>((address + 63) & ~63), shape);
    return;
  }
  bindBuffer(argument, argument.values.data(), shape);
}

void Worker::run() {
  auto created = runtime::Context::create(rank, options.workers,
                                          options.threads, communicator);
  if (!created.ok()) {
    error = created.status().message();
    return;
  }
  context = std::move(*created);
  context->setEventLog(options.events);
  handle = context->handle();
  void *init[] = {&handle};
  program.code().lookup("init")(init);
  prepare();
  for (size_t step = 0; step < options.examples.size(); ++step) {
    context->beginStep(step);
    std::vector<void *> pointers;
    for (Argument &argument : arguments) {
      bind(argument, options.examples[step]);
      std::string kind = argument.kind();
      if (kind == "context")
        pointers.push_back(&handle);
      else if (kind == "lr")
        pointers.push_back(&argument.rate);
      else if (!argument.pointer)
        pointers.push_back(&argument.number);
      else
        pointers.push_back(&argument.pointer);
    }
    program.code().lookup("train_step")(pointers.data());
    for (const Argument &argument : arguments) {
      if (argument.kind() != "arena")
        continue;
      const char *end = reinterpret_cast<const char *>(argument.descriptor[0]) +
                        argument.dims[0];
      for (size_t i = 0; i < kCanaryBytes; ++i)
        canaryIntact &= end[i] == char(kPoison);
    }
    if (!context->error().ok()) {
      error = context->error().message();
      return;
    }
  }
}

WorkerState Worker::state() const {
  WorkerState state;
  for (const Argument &argument : arguments)
    if (!argument.values.empty() && argument.kind() != "input")
      state[argument.name()] = argument.values;
  return state;
}

RunResult hpcc::test::run(const Compiled &program, const RunOptions &options) {
  runtime::LocalGroupOptions groupOptions;
  groupOptions.hook = options.hook;
  groupOptions.timeout = std::chrono::seconds(30);
  runtime::LocalGroup group(options.workers, groupOptions);
  std::vector<std::unique_ptr<Worker>> workers;
  for (int64_t rank = 0; rank < options.workers; ++rank)
    workers.push_back(std::make_unique<Worker>(program, options, rank,
                                               group.communicator(rank)));
  std::vector<std::thread> threads;
  for (auto &worker : workers)
    threads.emplace_back([&] { worker->run(); });
  for (std::thread &thread : threads)
    thread.join();
  RunResult result;
  for (auto &worker : workers) {
    result.workers.push_back(worker->state());
    result.canariesIntact &= worker->canaryIntact;
    if (result.error.empty())
      result.error = worker->error;
  }
  return result;
}
