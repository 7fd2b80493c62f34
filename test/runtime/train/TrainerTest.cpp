// SPDX-License-Identifier: Apache-2.0
// Whole trainings: order and number of steps, resuming, validation, the log,
// signals.

#include "runtime/train/Trainer.h"
#include "runtime/train/Interrupt.h"
#include "test/runtime/TemporaryDirectory.h"
#include "test/runtime/train/FakeProgram.h"

#include "runtime/data/DataOrder.h"

#include <csignal>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

using namespace hpcc::runtime;
using namespace hpcc::test;

namespace {

/// One process' worth of training.
struct Session {
  explicit Session(int64_t workers, int64_t batch = 4, int64_t examples = 10)
      : program(makeProgram(workers, batch)), group(workers),
        dataset(makeDataset(examples)) {
    Result<std::unique_ptr<Engine>> created = Engine::create(program, group);
    EXPECT_TRUE(created.ok()) << created.status().message();
    engine = std::move(*created);
    options.rate = 0.1;
    options.progress.quiet = true;
  }
  Result<TrainSummary> train() {
    return hpcc::runtime::train(*engine, *dataset, validation.get(),
                                makeInitialState(program), options);
  }
  TrainSummary trainOk() {
    Result<TrainSummary> summary = train();
    EXPECT_TRUE(summary.ok()) << summary.status().message();
    return summary.ok() ? *summary : TrainSummary{};
  }
  std::string error() {
    Result<TrainSummary> summary = train();
    return summary.ok() ? "" : summary.status().message();
  }
  LogicalState state() {
    Result<LogicalState> gathered = engine->gather();
    EXPECT_TRUE(gathered.ok());
    return *gathered;
  }
  void setSchedule(const std::string &text) {
    Result<Schedule> schedule = Schedule::parse(text);
    ASSERT_TRUE(schedule.ok());
    options.schedule = *schedule;
  }

  Program program;
  FakeWorkers group;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Dataset> dataset, validation;
  TrainOptions options;
};

std::vector<nlohmann::json> readLog(const std::string &path) {
  std::vector<nlohmann::json> lines;
  std::stringstream stream(readAll(path));
  for (std::string line; std::getline(stream, line);)
    lines.push_back(nlohmann::json::parse(line));
  return lines;
}

void expectSame(const LogicalState &a, const LogicalState &b) {
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.momentum, b.momentum);
}

void expectClose(const LogicalState &a, const LogicalState &b) {
  for (size_t i = 0; i < a.values.size(); ++i)
    for (size_t j = 0; j < a.values[i].size(); ++j) {
      EXPECT_NEAR(a.values[i][j], b.values[i][j], 1e-6);
      EXPECT_NEAR(a.momentum[i][j], b.momentum[i][j], 1e-6);
    }
}

} // namespace

TEST(Trainer, followsOrderScheduleAndShortBatches) {
  for (bool shuffle : {true, false}) {
    Session run(3);
    run.options.epochs = 3;
    run.options.shuffle = shuffle;
    run.setSchedule("step:2:0.5");
    TrainSummary summary = run.trainOk();
    EXPECT_EQ(summary.steps, 9);
    Reference reference(makeInitialState(run.program));
    double loss = 0;
    int64_t step = 0;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<int64_t> order(10);
      fillDataOrder(order, run.program.seed, epoch, shuffle);
      for (size_t first = 0; first < 10; first += 4) {
        std::vector<int64_t> examples(order.begin() + first,
                                      order.begin() +
                                          std::min<size_t>(first + 4, 10));
        loss = reference.step(*run.dataset, examples,
                              0.1 * std::pow(0.5, step++ / 2));
      }
    }
    EXPECT_NEAR(summary.loss, loss, 1e-5);
    expectNear(run.state(), reference, 1e-5);
  }
}

TEST(Trainer, countsStepsAcrossEpochs) {
  Session run(1);
  run.group.record = true;
  run.options.steps = 7;
  EXPECT_EQ(run.trainOk().steps, 7);
  ASSERT_EQ(run.group.seen.size(), 7u);
  for (int64_t i = 0; i < 7; ++i) {
    EXPECT_EQ(run.group.seen[i].step, i);
    EXPECT_EQ(run.group.seen[i].examples, i % 3 == 2 ? 2 : 4);
  }
}

TEST(Trainer, B104_fewerExamplesThanWorkersInTheLastBatch) {
  // 9 examples, batch 8 on 8 workers: the last batch has one.
  Session run(8, 8, 9);
  run.options.epochs = 2;
  EXPECT_EQ(run.trainOk().steps, 4);
}

TEST(Trainer, refusesABatchSmallerThanTheWorkers) {
  Session run(4, 3);
  run.options.epochs = 1;
  EXPECT_NE(run.error().find("--batch 3 is less than the 4 workers"),
            std::string::npos);
}

// B99: k steps, stop, k steps are 2k steps to the bit, also in the middle of an
// epoch and across a drop of the rate.
TEST(Trainer, B99_resumingIsBitIdentical) {
  for (int64_t workers : {1, 3})
    for (int64_t stop : {1, 2, 3, 5, 7}) {
      SCOPED_TRACE(stop);
      TemporaryDirectory directory;
      auto configure = [&](Session &run) {
        run.options.steps = 9;
        run.setSchedule("warmup:2+step:3:0.3");
      };
      Session whole(workers);
      configure(whole);
      whole.trainOk();

      Session first(workers);
      configure(first);
      first.options.checkpoint = directory.path("c");
      first.options.saveEvery = stop;
      // As Ctrl-C would.
      static int64_t left;
      left = stop;
      first.options.interrupted = [] { return --left == 0; };
      TrainSummary summary = first.trainOk();
      EXPECT_TRUE(summary.interrupted);
      EXPECT_EQ(summary.steps, stop);

      Session second(workers);
      configure(second);
      second.options.resume = directory.path("c");
      second.options.checkpoint = directory.path("c");
      summary = second.trainOk();
      EXPECT_EQ(summary.steps, 9);
      EXPECT_FALSE(summary.interrupted);
      expectSame(second.state(), whole.state());
    }
}

TEST(Trainer, B121_resumesOnAnotherK) {
  Session whole(1);
  whole.options.epochs = 3;
  whole.trainOk();
  for (int64_t workers : {1, 3, 4}) {
    TemporaryDirectory directory;
    Session first(2);
    first.options.epochs = 3;
    first.options.checkpoint = directory.path("c");
    static int left;
    left = 4;
    first.options.interrupted = [] { return --left == 0; };
    EXPECT_TRUE(first.trainOk().interrupted);
    Session second(workers);
    second.options.epochs = 3;
    second.options.resume = directory.path("c");
    EXPECT_EQ(second.trainOk().steps, 9);
    expectClose(second.state(), whole.state());
  }
}

TEST(Trainer, aFinishedTrainingStaysFinished) {
  TemporaryDirectory directory;
  Session first(1);
  first.options.epochs = 2;
  first.options.checkpoint = directory.path("c");
  first.trainOk();
  Session second(1);
  second.options.epochs = 2;
  second.options.resume = directory.path("c");
  EXPECT_EQ(second.trainOk().steps, 6);
  expectSame(second.state(), first.state());
  // More epochs continue it.
  Session third(1);
  third.options.epochs = 3;
  third.options.resume = directory.path("c");
  EXPECT_EQ(third.trainOk().steps, 9);
}

TEST(Trainer, resumeRefusesWhatCannotChange) {
  TemporaryDirectory directory;
  Session first(1);
  first.options.epochs = 1;
  first.options.checkpoint = directory.path("c");
  first.trainOk();
  Session second(1);
  second.program.seed = 99;
  second.options.epochs = 2;
  second.options.resume = directory.path("c");
  EXPECT_NE(second.error().find("pass --seed 11"), std::string::npos);
  Session third(1);
  third.options.epochs = 2;
  third.options.resume = directory.path("missing");
  EXPECT_NE(third.error().find("no checkpoint"), std::string::npos);
}

TEST(Trainer, validatesEachEpochAndKeepsTheBest) {
  TemporaryDirectory directory;
  Session run(2);
  run.validation = makeDataset(7); // Batches of 4 and 3.
  run.options.epochs = 4;
  run.options.checkpoint = directory.path("c");
  run.options.log = directory.path("log");
  TrainSummary summary = run.trainOk();
  ASSERT_TRUE(summary.validation.has_value());
  // The fake eval_step reports n - 1 and n hits.
  EXPECT_DOUBLE_EQ(summary.validation->top1, 5.0 / 7);
  EXPECT_DOUBLE_EQ(summary.validation->top5, 1);
  Reference reference(run.state());
  EXPECT_NEAR(summary.validation->loss,
              reference.loss(*run.validation, {0, 1, 2, 3, 4, 5, 6}), 1e-6);
  // Equal results do not displace the first best.
  EXPECT_EQ(std::filesystem::read_symlink(directory.path("c/best")),
            "step-000000003");
  EXPECT_DOUBLE_EQ(*summary.best, 5.0 / 7);

  std::vector<nlohmann::json> lines = readLog(directory.path("log"));
  ASSERT_EQ(lines.size(), 16u);
  int64_t step = 0, evaluations = 0;
  for (const nlohmann::json &line : lines) {
    if (line.contains("event")) {
      EXPECT_EQ(line["event"], "eval");
      EXPECT_EQ(line["step"], step);
      EXPECT_EQ(line["epoch"], ++evaluations);
      EXPECT_NEAR(line["top1"].get<double>(), 5.0 / 7, 1e-8);
      continue;
    }
    EXPECT_EQ(line["step"], ++step);
    EXPECT_EQ(line["epoch"], (step - 1) / 3 + 1);
    EXPECT_EQ(line["comm_bytes"], 2 * 8);
    EXPECT_DOUBLE_EQ(line["lr"].get<double>(), 0.1);
    EXPECT_GT(line["images_per_s"].get<double>(), 0);
  }
}

TEST(Trainer, aFullDiskUnderTheLogSavesFirst) {
  TemporaryDirectory directory;
  Session run(1);
  run.options.epochs = 2;
  run.options.log = "/dev/full";
  run.options.checkpoint = directory.path("c");
  Result<TrainSummary> summary = run.train();
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.status().exitCode(), 2);
  EXPECT_NE(summary.status().message().find("/dev/full"), std::string::npos);
  Result<LoadedCheckpoint> saved =
      loadCheckpoint(directory.path("c"), run.program);
  ASSERT_TRUE(saved.ok()) << saved.status().message();
  EXPECT_EQ(saved->checkpoint.state.step, 1);
}

TEST(Trainer, aFailedStepSavesNothing) {
  TemporaryDirectory directory;
  Session run(2);
  run.group.hook = [&](int64_t rank, int64_t step) {
    if (step == 1 && rank == 1)
      run.group.setError(1, environmentError("fc6: out of memory"));
  };
  run.options.epochs = 2;
  run.options.log = directory.path("log");
  run.options.checkpoint = directory.path("c");
  run.options.saveEvery = 1;
  Result<TrainSummary> summary = run.train();
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.status().message(), "fc6: out of memory");
  Result<LoadedCheckpoint> saved =
      loadCheckpoint(directory.path("c"), run.program);
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->checkpoint.state.step, 1);
  EXPECT_EQ(readLog(directory.path("log")).size(), 1u);
}

TEST(Trainer, signalsStopAfterTheStep) {
  for (int signal : {SIGINT, SIGTERM}) {
    TemporaryDirectory directory;
    InterruptGuard guard;
    EXPECT_FALSE(wasInterrupted());
    Session run(2);
    run.group.hook = [&](int64_t rank, int64_t step) {
      if (rank == 0 && step == 3)
        std::raise(signal);
    };
    run.options.epochs = 5;
    run.options.checkpoint = directory.path("c");
    run.options.interrupted = wasInterrupted;
    TrainSummary summary = run.trainOk();
    EXPECT_TRUE(summary.interrupted);
    EXPECT_EQ(summary.steps, 4);
    EXPECT_EQ(summary.checkpoint, directory.path("c/step-000000004"));
    Result<LoadedCheckpoint> saved =
        loadCheckpoint(directory.path("c"), run.program);
    ASSERT_TRUE(saved.ok());
    EXPECT_EQ(saved->checkpoint.state.epoch, 1);
    EXPECT_EQ(saved->checkpoint.state.example, 4);
  }
}

TEST(Interrupt, theSecondSignalEndsTheProcess) {
  // Other tests have had threads.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        InterruptGuard guard;
        std::raise(SIGINT);
        if (!wasInterrupted())
          ::_exit(1);
        std::raise(SIGTERM);
        ::_exit(2);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(Trainer, progressShowsTheTraining) {
  TemporaryDirectory directory;
  int out = ::open(directory.path("out").c_str(), O_WRONLY | O_CREAT, 0600);
  Session run(1);
  run.options.progress.quiet = false;
  run.options.progress.descriptor = out;
  run.options.epochs = 2;
  run.trainOk();
  ::close(out);
  std::string text = readAll(directory.path("out"));
  EXPECT_NE(text.find("epoch 1/2 step 3/6"), std::string::npos) << text;
  EXPECT_NE(text.find("epoch 2/2 step 6/6"), std::string::npos) << text;
}

TEST(Trainer, warnsOnceOfALossThatIsNotFinite) {
  TemporaryDirectory directory;
  int out = ::open(directory.path("out").c_str(), O_WRONLY | O_CREAT, 0600);
  Session run(1);
  run.options.progress.quiet = false;
  run.options.progress.descriptor = out;
  run.options.rate = 1e30;
  run.options.epochs = 2;
  run.trainOk();
  ::close(out);
  std::string text = readAll(directory.path("out"));
  size_t at = text.find("is not finite");
  EXPECT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.find("is not finite", at + 1), std::string::npos) << text;
}

TEST(Trainer, B112_driftEndsTheTraining) {
  Session run(2);
  run.group.perturbedRank = 1;
  run.options.epochs = 2;
  EXPECT_NE(run.error().find("'b' should be equal"), std::string::npos);
}

TEST(Trainer, evaluatesWithoutTraining) {
  Session run(3);
  LogicalState initial = makeInitialState(run.program);
  ASSERT_TRUE(run.engine->load(initial).ok());
  Result<EvalResult> result = evaluate(*run.engine, *run.dataset);
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(
      result->loss,
      Reference(initial).loss(*run.dataset, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
      1e-6);
  EXPECT_TRUE(result->hasTop);
}
