// SPDX-License-Identifier: Apache-2.0
// The engine on a hand-written sharded program: values against a plain
// reference for several K, moving state, errors, and workers that hang.

#include "runtime/train/Engine.h"
#include "runtime/comm/local/LocalGroup.h"
#include "runtime/include/hpcc/sharding.h"
#include "runtime/train/ContextWorkers.h"
#include "test/runtime/train/FakeProgram.h"

#include <condition_variable>
#include <gtest/gtest.h>
#include <thread>

using namespace hpcc::runtime;
using namespace hpcc::test;
using namespace std::chrono_literals;

namespace {

std::unique_ptr<Engine> makeEngine(const Program &program, Workers &workers,
                                   EngineOptions options = {}) {
  Result<std::unique_ptr<Engine>> engine =
      Engine::create(program, workers, options);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return std::move(*engine);
}

std::unique_ptr<BatchLoader> makeLoader(const Engine &engine, Dataset &dataset,
                                        int64_t epochs) {
  Result<BatchOptions> options = engine.batchOptions(dataset);
  EXPECT_TRUE(options.ok()) << options.status().message();
  options->endEpoch = epochs;
  Result<std::unique_ptr<BatchLoader>> loader =
      BatchLoader::create(dataset, *options);
  EXPECT_TRUE(loader.ok()) << loader.status().message();
  return std::move(*loader);
}

const Batch *nextBatch(BatchLoader &loader) {
  Result<const Batch *> batch = loader.next(10s);
  EXPECT_TRUE(batch.ok());
  return *batch;
}

std::vector<int64_t> examplesOf(const Batch &batch) {
  std::vector<int64_t> examples(batch.count);
  for (int64_t i = 0; i < batch.count; ++i)
    examples[i] = batch.first + i;
  return examples;
}

} // namespace

TEST(Engine, trainsLikeOneWorker) {
  for (bool shares : {true, false})
    for (int64_t workers : {1, 2, 3, 4, 7}) {
      SCOPED_TRACE(workers);
      Program program = makeProgram(workers, 8);
      FakeWorkers group(workers);
      group.sharesMemory = shares;
      auto engine = makeEngine(program, group);
      LogicalState initial = makeInitialState(program);
      ASSERT_TRUE(engine->load(initial).ok());
      Reference reference(initial);
      auto dataset = makeDataset(13); // The last batch has 5.
      auto loader = makeLoader(*engine, *dataset, 3);
      for (int64_t step = 0; const Batch *batch = nextBatch(*loader); ++step) {
        float rate = 0.1f / static_cast<float>(step + 1);
        Result<float> loss = engine->trainStep(*batch, step, rate);
        ASSERT_TRUE(loss.ok()) << loss.status().message();
        EXPECT_NEAR(*loss, reference.step(*dataset, examplesOf(*batch), rate),
                    1e-5);
      }
      Result<LogicalState> state = engine->gather();
      ASSERT_TRUE(state.ok());
      expectNear(*state, reference, 1e-5);
    }
}

TEST(Engine, passesScalarsAndPositions) {
  Program program = makeProgram(3, 8);
  FakeWorkers group(3);
  group.record = true;
  auto engine = makeEngine(program, group);
  ASSERT_TRUE(engine->load(makeInitialState(program)).ok());
  auto dataset = makeDataset(10);
  auto loader = makeLoader(*engine, *dataset, 1);
  ASSERT_TRUE(engine->trainStep(*nextBatch(*loader), 40, 0.25f).ok());
  ASSERT_TRUE(engine->trainStep(*nextBatch(*loader), 41, 0.5f).ok());
  ASSERT_EQ(group.seen.size(), 6u);
  for (const SeenCall &call : group.seen) {
    bool first = call.step == 40;
    EXPECT_EQ(call.examples, first ? 8 : 2);
    EXPECT_EQ(call.rate, first ? 0.25f : 0.5f);
    // 8 over 3: [0,2) [2,5) [5,8); 2 over 3: [0,0) [0,1) [1,2).
    std::vector<std::vector<int32_t>> expected =
        first ? std::vector<std::vector<int32_t>>{{0, 1}, {2, 3, 4}, {5, 6, 7}}
              : std::vector<std::vector<int32_t>>{{}, {0}, {1}};
    EXPECT_EQ(call.positions, expected[call.rank]);
  }
  EXPECT_EQ(engine->receivedBytes(), 2 * 3 * 8 * 2);
}

TEST(Engine, B121_B123_stateMovesBetweenDifferentK) {
  auto dataset = makeDataset(8);
  LogicalState state = makeInitialState(makeProgram(1, 8));
  for (size_t i = 0; i < state.momentum[0].size(); ++i)
    state.momentum[0][i] = static_cast<float>(i) / 3;
  for (size_t i = 0; i < state.momentum[1].size(); ++i)
    state.momentum[1][i] = -static_cast<float>(i) / 7;
  for (int64_t workers : {1, 2, 3, 4, 8}) {
    Program program = makeProgram(workers, 8);
    FakeWorkers group(workers);
    auto engine = makeEngine(program, group);
    ASSERT_TRUE(engine->load(state).ok());
    Result<LogicalState> back = engine->gather();
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->values, state.values);
    EXPECT_EQ(back->momentum, state.momentum);
  }
}

// B112: one weight that drifts on one worker is found.
TEST(Engine, B112_replicasThatDriftAreFound) {
  Program program = makeProgram(3, 8);
  FakeWorkers group(3);
  auto engine = makeEngine(program, group);
  ASSERT_TRUE(engine->load(makeInitialState(program)).ok());
  auto dataset = makeDataset(16);
  auto loader = makeLoader(*engine, *dataset, 1);
  ASSERT_TRUE(engine->trainStep(*nextBatch(*loader), 0, 0.1f).ok());
  EXPECT_TRUE(engine->checkReplicas().ok());
  group.perturbedRank = 1;
  ASSERT_TRUE(engine->trainStep(*nextBatch(*loader), 1, 0.1f).ok());
  Status status = engine->checkReplicas();
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_NE(status.message().find("'b' should be equal"), std::string::npos);
  EXPECT_NE(status.message().find("worker 1"), std::string::npos);
}

TEST(Engine, refusesStateOfAnotherShape) {
  Program program = makeProgram(2, 8);
  FakeWorkers group(2);
  auto engine = makeEngine(program, group);
  LogicalState state = makeInitialState(program);
  state.momentum[1].clear();
  Status status = engine->load(state);
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_NE(status.message().find("'b'"), std::string::npos);
}

TEST(Engine, evaluatesAndCounts) {
  Program program = makeProgram(3, 8);
  FakeWorkers group(3);
  auto engine = makeEngine(program, group);
  LogicalState initial = makeInitialState(program);
  ASSERT_TRUE(engine->load(initial).ok());
  auto dataset = makeDataset(5);
  auto loader = makeLoader(*engine, *dataset, 1);
  Result<EvalCounts> counts = engine->evalStep(*nextBatch(*loader));
  ASSERT_TRUE(counts.ok());
  EXPECT_NEAR(counts->loss, Reference(initial).loss(*dataset, {0, 1, 2, 3, 4}),
              1e-6);
  EXPECT_EQ(counts->top1, 4);
  EXPECT_EQ(counts->top5, 5);
}

TEST(Engine, gradientsInTheLayoutOfTheFile) {
  for (int64_t workers : {1, 2, 7}) {
    Program program = makeProgram(workers, 8);
    FakeWorkers group(workers);
    auto engine = makeEngine(program, group);
    LogicalState initial = makeInitialState(program);
    ASSERT_TRUE(engine->load(initial).ok());
    Reference reference(initial);
    auto dataset = makeDataset(8);
    auto loader = makeLoader(*engine, *dataset, 1);
    Result<GradientResult> result = engine->gradients(*nextBatch(*loader), 0);
    ASSERT_TRUE(result.ok()) << result.status().message();
    double loss = reference.step(*dataset, {0, 1, 2, 3, 4, 5, 6, 7}, 0);
    EXPECT_NEAR(result->loss, loss, 1e-6);
    ASSERT_EQ(result->gradients.size(), 2u);
    EXPECT_EQ(result->gradients[0].name, "w.file");
    EXPECT_EQ(result->gradients[0].shape,
              (std::vector<int64_t>{kInputs, kOutputs}));
    for (int64_t o = 0; o < kOutputs; ++o) {
      EXPECT_NEAR(result->gradients[1].valueAt(o), reference.gb[o], 1e-6);
      for (int64_t i = 0; i < kInputs; ++i)
        EXPECT_NEAR(result->gradients[0].valueAt(i * kOutputs + o),
                    reference.gw[o][i], 1e-6);
    }
    // No update.
    Result<LogicalState> state = engine->gather();
    ASSERT_TRUE(state.ok());
    EXPECT_EQ(state->values, initial.values);
  }
}

TEST(Engine, infersAllRowsBatchByBatch) {
  for (bool shares : {true, false})
    for (int64_t rows : {0, 1, 4, 11}) {
      Program program = makeProgram(3, 4);
      FakeWorkers group(3);
      group.sharesMemory = shares;
      auto engine = makeEngine(program, group);
      LogicalState initial = makeInitialState(program);
      ASSERT_TRUE(engine->load(initial).ok());
      std::vector<float> x(rows * kInputs);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i) / 8;
      std::vector<Array> inputs = {
          Array::fromFloats("unused", {1}, std::vector<float>{1}),
          Array::fromFloats("x", {rows, kInputs}, x)};
      Result<std::vector<Array>> outputs = engine->infer(inputs);
      ASSERT_TRUE(outputs.ok()) << outputs.status().message();
      ASSERT_EQ(outputs->size(), 3u);
      EXPECT_EQ((*outputs)[0].name, "y");
      EXPECT_EQ((*outputs)[0].shape, (std::vector<int64_t>{rows, kOutputs}));
      EXPECT_EQ((*outputs)[1].shape, std::vector<int64_t>{rows});
      std::vector<float> y = (*outputs)[0].toFloats(),
                         first = (*outputs)[1].toFloats();
      for (int64_t row = 0; row < rows; ++row) {
        EXPECT_EQ(first[row], x[row * kInputs]);
        for (int64_t o = 0; o < kOutputs; ++o) {
          double sum = initial.values[1][o];
          for (int64_t i = 0; i < kInputs; ++i)
            sum += double{x[row * kInputs + i]} *
                   initial.values[0][o * kInputs + i];
          EXPECT_NEAR(y[row * kOutputs + o], sum, 1e-5);
        }
      }
      if (rows > 0) {
        EXPECT_EQ((*outputs)[2].toFloats(), (std::vector<float>{7, 8}));
      }
    }
}

TEST(Engine, inferRefusesInputsThatDoNotFit) {
  Program program = makeProgram(1, 4);
  FakeWorkers group(1);
  auto engine = makeEngine(program, group);
  auto error = [&](std::vector<Array> inputs) {
    Result<std::vector<Array>> outputs = engine->infer(inputs);
    return outputs.ok() ? "" : outputs.status().message();
  };
  std::vector<float> values(8);
  EXPECT_NE(error({}).find("no array 'x'"), std::string::npos);
  EXPECT_NE(error({Array::fromFloats("x", {2, 4}, values)})
                .find("is 2x4, but the model's input is Nx3"),
            std::string::npos);
  EXPECT_NE(error({Array::fromFloats("x", {8}, values)}), "");
}

TEST(Engine, refusesDataThatDoesNotFit) {
  Program program = makeProgram(1, 4);
  FakeWorkers group(1);
  auto engine = makeEngine(program, group);
  auto images = openDataset("synthetic:3x4", {});
  ASSERT_TRUE(images.ok());
  Status status = engine->batchOptions(**images).status();
  EXPECT_NE(status.message().find("3x4"), std::string::npos);
  EXPECT_NE(status.message().find("input 'x' of the model wants 3"),
            std::string::npos)
      << status.message();
  // Class labels become one-hot vectors of the output's width.
  auto rows = openDataset("synthetic:3", {});
  ASSERT_TRUE(rows.ok());
  Result<BatchOptions> options = engine->batchOptions(**rows);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->vectorWidth, kOutputs);
  EXPECT_FALSE(options->classTargets);
}

TEST(Engine, anErrorOfOneWorkerIsTheErrorOfAll) {
  Program program = makeProgram(3, 8);
  FakeWorkers group(3);
  group.hook = [&](int64_t rank, int64_t step) {
    if (step == 2 && rank == 1)
      group.setError(1, environmentError("conv1 failed"));
    if (step == 2 && rank == 0)
      group.setError(0, Status::error(StatusCode::aborted, "conv1 failed"));
  };
  auto engine = makeEngine(program, group);
  ASSERT_TRUE(engine->load(makeInitialState(program)).ok());
  auto dataset = makeDataset(32);
  auto loader = makeLoader(*engine, *dataset, 1);
  ASSERT_TRUE(engine->trainStep(*nextBatch(*loader), 1, 0.1f).ok());
  Status status = engine->trainStep(*nextBatch(*loader), 2, 0.1f).status();
  EXPECT_EQ(status.code(), StatusCode::environment);
  EXPECT_EQ(status.message(), "conv1 failed");
  EXPECT_FALSE(engine->isHung());
}

// B102: a worker that never arrives is named, and nobody waits for ever.
TEST(Engine, B102_aStalledWorkerIsNamed) {
  Program program = makeProgram(3, 8);
  FakeWorkers group(3);
  std::atomic<bool> released = false;
  group.hook = [&](int64_t rank, int64_t step) {
    while (rank == 2 && step == 5 && !released && group.aborts == 0)
      std::this_thread::sleep_for(1ms);
  };
  EngineOptions options;
  options.stepTimeout = 2s; // Set-up must fit, on a busy machine too.
  auto engine = makeEngine(program, group, options);
  ASSERT_TRUE(engine->load(makeInitialState(program)).ok());
  auto dataset = makeDataset(8);
  auto loader = makeLoader(*engine, *dataset, 1);
  Status status = engine->trainStep(*nextBatch(*loader), 5, 0.1f).status();
  EXPECT_EQ(status.code(), StatusCode::timeout);
  EXPECT_NE(status.message().find("step 5: worker"), std::string::npos);
  EXPECT_NE(status.message().find("2 of 3 did not finish within 2 s"),
            std::string::npos)
      << status.message();
  // It left when the group was aborted.
  EXPECT_FALSE(engine->isHung());
}

TEST(Engine, aWorkerThatNeverReturnsIsGivenUp) {
  // Static: the stuck thread uses them after the test, until it is let go.
  static Program program = makeProgram(2, 8);
  static FakeWorkers group(2);
  static std::atomic<bool> released = false, left = false;
  group.hook = [](int64_t rank, int64_t) {
    while (rank == 1 && !released)
      std::this_thread::sleep_for(1ms);
    if (rank == 1)
      left = true;
  };
  EngineOptions options;
  options.stepTimeout = 2s;
  options.stopTimeout = 50ms;
  auto engine = makeEngine(program, group, options);
  static auto dataset = makeDataset(8);
  static auto loader = makeLoader(*engine, *dataset, 1);
  Status status = engine->trainStep(*nextBatch(*loader), 0, 0.1f).status();
  EXPECT_EQ(status.code(), StatusCode::timeout);
  EXPECT_TRUE(engine->isHung());
  engine.reset(); // Returns although the thread is stuck.
  released = true;
  for (int i = 0; i < 20000 && !left; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(left);
  std::this_thread::sleep_for(50ms);
  group.allocated = 0; // The engine's memory stays with the stuck thread.
}

TEST(Engine, refusesAnInconsistentProgram) {
  auto error = [](const std::function<void(Program &)> &change) {
    Program program = makeProgram(2, 8);
    change(program);
    FakeWorkers group(2);
    Result<std::unique_ptr<Engine>> engine = Engine::create(program, group);
    EXPECT_FALSE(engine.ok());
    return engine.ok() ? "" : engine.status().message();
  };
  EXPECT_NE(error([](Program &p) {
              p.storages[3].padded += 1;
            }).find("'mb' of 9 elements is not a multiple of 2"),
            std::string::npos);
  EXPECT_NE(error([](Program &p) {
              p.storages[1].segments[0].offset = 6;
            }).find("'b' does not fit"),
            std::string::npos);
  EXPECT_NE(error([](Program &p) {
              p.storages[1].segments[0].parameter = "q";
            }).find("'q', which is no parameter"),
            std::string::npos);
  EXPECT_NE(error([](Program &p) {
              p.parameters.push_back({"c", "c", {1}});
            }).find("no storage holds 'c'"),
            std::string::npos);
  EXPECT_NE(error([](Program &p) {
              p.storages.push_back(p.storages[0]);
              p.storages.back().name = "again";
            }).find("'w' is stored twice"),
            std::string::npos);
  EXPECT_NE(error([](Program &p) {
              p.trainStep.arguments[9].dims = {7};
            }).find("'bucket' has 7 elements"),
            std::string::npos);
  EXPECT_NE(error([](Program &p) {
              p.trainStep.arguments[9].storage = "?";
            }).find("'?' does not exist"),
            std::string::npos);
  EXPECT_NE(error([](Program &p) { p.workers = 3; }), "");
}

namespace {

void initEntry(void **args) {
  auto *context = *static_cast<hpcc_context **>(args[0]);
  hpcc_rt_define(context, 0, "comm",
                 R"({"node":"sum","op":"all_reduce","reduction":"sum",)"
                 R"("channel":"inline","type":"f32","ranks":[1,1]})");
}

/// Adds up one float per worker: the value of each is its rank + 1.
void sumEntry(void **args) {
  auto *context = *static_cast<hpcc_context **>(args[0]);
  int64_t rank = *static_cast<int64_t *>(args[1]);
  auto *x = *static_cast<int64_t **>(args[2]);
  auto *loss =
      reinterpret_cast<float *>(*(*static_cast<int64_t **>(args[3]) + 1));
  EXPECT_GE(x[3], 0);
  float mine = static_cast<float>(rank + 1);
  int64_t one = 1;
  hpcc_rt_comm_start(context, 0, &mine, &one, loss, &one, -1, true);
}

} // namespace

// The same engine on real contexts and the local communicator.
TEST(Engine, runsOnContexts) {
  constexpr int64_t kWorkers = 3;
  Program program = makeProgram(kWorkers, 8);
  auto argument = [](ArgumentKind kind) {
    ProgramArgument result;
    result.kind = kind;
    return result;
  };
  ProgramArgument input = argument(ArgumentKind::Input);
  input.dims = {kLocalRows, kInputs};
  ProgramArgument loss = argument(ArgumentKind::Result);
  loss.name = "loss";
  program.init = {initEntry, {argument(ArgumentKind::Context)}};
  program.trainStep = {sumEntry,
                       {argument(ArgumentKind::Context),
                        argument(ArgumentKind::Rank), input, loss}};
  program.evalStep = program.gradients = program.forward = {};
  LocalGroup group(kWorkers);
  ContextWorkers workers(kWorkers, [&](int64_t rank) -> Communicator & {
    return group.communicator(rank);
  });
  auto engine = makeEngine(program, workers);
  ASSERT_TRUE(engine->load(makeInitialState(program)).ok());
  auto dataset = makeDataset(8);
  auto loader = makeLoader(*engine, *dataset, 1);
  Result<float> sum = engine->trainStep(*nextBatch(*loader), 0, 0.1f);
  ASSERT_TRUE(sum.ok()) << sum.status().message();
  EXPECT_EQ(*sum, 6.0f);
  // One float all-reduced: 2 (K - 1) / K of it on average.
  EXPECT_EQ(engine->receivedBytes(), 2 * (kWorkers - 1) * 4);

  // The head is really sharded: 5 rows of 3 floats over 3 workers.
  for (int64_t rank = 0; rank < kWorkers; ++rank) {
    int64_t rows = hpcc::sharding::shard(kOutputs, kWorkers, rank).size;
    EXPECT_EQ(workers.allocatedBytes(rank, Workers::Purpose::Parameters),
              4 * (rows * kInputs + 9));
    EXPECT_EQ(workers.allocatedBytes(rank, Workers::Purpose::State),
              4 * (rows * kInputs + 3));
  }
}
