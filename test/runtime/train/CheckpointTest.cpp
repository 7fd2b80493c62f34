// SPDX-License-Identifier: Apache-2.0
// Checkpoints: what is kept, damage of every kind, and being killed while
// saving.

#include "runtime/train/Checkpoint.h"
#include "runtime/train/TrainingState.h"
#include "test/runtime/TemporaryDirectory.h"
#include "test/runtime/train/FakeProgram.h"

#include <csignal>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace hpcc::runtime;
using namespace hpcc::test;
namespace fs = std::filesystem;

namespace {

/// All values tell the step, so that a mixture would be noticed.
Checkpoint makeCheckpoint(const Program &program, int64_t step) {
  Checkpoint checkpoint{{}, makeZeroState(program)};
  checkpoint.state.step = step;
  checkpoint.state.epoch = step / 10;
  checkpoint.state.example = step % 10;
  checkpoint.state.seed = ~uint64_t{0} - 5;
  checkpoint.state.rate = 0.1;
  checkpoint.state.schedule = "step:3:0.1";
  checkpoint.state.optimizer = "sgd";
  checkpoint.state.momentumForm = "caffe";
  checkpoint.state.best = 0.25;
  float value = static_cast<float>(step);
  for (auto *slot : {&checkpoint.tensors.values, &checkpoint.tensors.momentum})
    for (std::vector<float> &tensor : *slot)
      for (float &entry : tensor)
        entry = value++;
  return checkpoint;
}

CheckpointWriter openWriter(const std::string &path,
                            std::optional<int64_t> resumed = {}) {
  std::vector<std::string> warnings;
  Result<CheckpointWriter> writer =
      CheckpointWriter::open(path, resumed, warnings);
  EXPECT_TRUE(writer.ok()) << writer.status().message();
  return std::move(*writer);
}

void save(CheckpointWriter &writer, const Program &program, int64_t step,
          bool isBest = false) {
  Result<std::string> folder =
      writer.save(program, makeCheckpoint(program, step), isBest);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
}

std::vector<std::string> namesIn(const std::string &path) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(path))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string loadError(const std::string &path, const Program &program) {
  Result<LoadedCheckpoint> loaded = loadCheckpoint(path, program);
  return loaded.ok() ? "" : loaded.status().message();
}

const char *const kFiles[] = {"parameters.safetensors", "optimizer.safetensors",
                              "state.json"};

} // namespace

TEST(Checkpoint, roundTrip) {
  TemporaryDirectory directory;
  Program program = makeProgram(3, 8);
  CheckpointWriter writer = openWriter(directory.path("c"));
  save(writer, program, 12);
  for (const std::string &path :
       {directory.path("c"), directory.path("c/step-000000012")}) {
    Result<LoadedCheckpoint> loaded =
        loadCheckpoint(path, makeProgram(1, 8)); // Another K.
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    Checkpoint expected = makeCheckpoint(program, 12);
    EXPECT_EQ(loaded->checkpoint.tensors.values, expected.tensors.values);
    EXPECT_EQ(loaded->checkpoint.tensors.momentum, expected.tensors.momentum);
    const TrainingState &state = loaded->checkpoint.state;
    EXPECT_EQ(state.step, 12);
    EXPECT_EQ(state.epoch, 1);
    EXPECT_EQ(state.example, 2);
    EXPECT_EQ(state.seed, ~uint64_t{0} - 5);
    EXPECT_EQ(state.rate, 0.1);
    EXPECT_EQ(state.schedule, "step:3:0.1");
    EXPECT_EQ(state.momentumForm, "caffe");
    EXPECT_EQ(state.best, 0.25);
    EXPECT_EQ(loaded->warning, "");
    EXPECT_EQ(loaded->path, directory.path("c/step-000000012"));
  }
}

TEST(Checkpoint, keepsTheLastTwoAndTheBest) {
  TemporaryDirectory directory;
  Program program = makeProgram(1, 8);
  CheckpointWriter writer = openWriter(directory.path());
  for (int64_t step : {1, 2, 3, 4, 5})
    save(writer, program, step, step == 2);
  EXPECT_EQ(namesIn(directory.path()),
            (std::vector<std::string>{"best", "step-000000002",
                                      "step-000000004", "step-000000005"}));
  Result<LoadedCheckpoint> best =
      loadCheckpoint(directory.path("best"), program);
  ASSERT_TRUE(best.ok()) << best.status().message();
  EXPECT_EQ(best->checkpoint.state.step, 2);
  save(writer, program, 6, true);
  EXPECT_EQ(
      namesIn(directory.path()),
      (std::vector<std::string>{"best", "step-000000005", "step-000000006"}));
  // Beyond nine digits the order is still by number.
  save(writer, program, 12345678901);
  Result<LoadedCheckpoint> newest = loadCheckpoint(directory.path(), program);
  ASSERT_TRUE(newest.ok());
  EXPECT_EQ(newest->checkpoint.state.step, 12345678901);
}

TEST(Checkpoint, savingAStepAgainReplacesIt) {
  TemporaryDirectory directory;
  Program program = makeProgram(1, 8);
  CheckpointWriter writer = openWriter(directory.path());
  save(writer, program, 1);
  directory.write("step-000000001/state.json", "torn");
  save(writer, program, 1);
  EXPECT_EQ(namesIn(directory.path()),
            std::vector<std::string>{"step-000000001"});
  EXPECT_EQ(loadError(directory.path(), program), "");
}

// B124: whatever is torn, the checkpoint before it is used, and said so; alone
// it is an error and never a fresh start.
TEST(Checkpoint, B124_truncatedAtEveryTenth) {
  Program program = makeProgram(1, 8);
  for (const char *file : kFiles) {
    TemporaryDirectory directory;
    CheckpointWriter writer = openWriter(directory.path());
    save(writer, program, 1);
    save(writer, program, 2);
    std::string name = std::string("step-000000002/") + file;
    std::string whole = readAll(directory.path(name));
    for (size_t tenth = 0; tenth < 10; ++tenth) {
      directory.write(name, whole.substr(0, whole.size() * tenth / 10));
      Result<LoadedCheckpoint> loaded =
          loadCheckpoint(directory.path(), program);
      ASSERT_TRUE(loaded.ok()) << loaded.status().message();
      EXPECT_EQ(loaded->checkpoint.state.step, 1);
      EXPECT_NE(loaded->warning.find("a newer checkpoint is damaged"),
                std::string::npos);
      EXPECT_NE(loaded->warning.find(file), std::string::npos)
          << loaded->warning;
      EXPECT_NE(loadError(directory.path("step-000000002"), program).find(file),
                std::string::npos);
    }
    fs::remove_all(directory.path("step-000000001"));
    EXPECT_NE(loadError(directory.path(), program).find("no usable checkpoint"),
              std::string::npos);
    fs::remove(directory.path(name));
    EXPECT_NE(loadError(directory.path(), program).find("does not exist"),
              std::string::npos);
  }
}

TEST(Checkpoint, everyChangedByteIsNoticed) {
  Program program = makeProgram(1, 8);
  TemporaryDirectory directory;
  CheckpointWriter writer = openWriter(directory.path());
  save(writer, program, 1);
  for (const char *file : kFiles) {
    std::string name = std::string("step-000000001/") + file;
    std::string whole = readAll(directory.path(name));
    for (size_t i = 0; i < whole.size(); i += 5) {
      std::string bytes = whole;
      bytes[i] ^= 0x10;
      directory.write(name, bytes);
      if (loadError(directory.path(), program).empty()) {
        // In JSON, white space may change without changing the meaning.
        EXPECT_STREQ(file, "state.json");
        EXPECT_TRUE(std::isspace(whole[i])) << i;
      }
    }
    directory.write(name, whole);
  }
  EXPECT_EQ(loadError(directory.path(), program), "");
}

// B124: SIGKILL at any moment leaves a loadable checkpoint.
TEST(Checkpoint, B124_killedWhileSaving) {
  Program program = makeProgram(1, 8);
  // Large enough that most of the time is spent inside a save.
  program.parameters[0].shape = {kOutputs * 4000, kInputs};
  for (ProgramStorage &storage : program.storages)
    if (storage.segments[0].parameter == "w") {
      storage.segments[0].shape[0] *= 4000;
      storage.padded *= 4000;
    }
  TemporaryDirectory directory;
  auto begin = std::chrono::steady_clock::now();
  {
    CheckpointWriter writer = openWriter(directory.path());
    save(writer, program, 1);
  }
  // The kills fall between the start and the third save or so.
  auto oneSave = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  useconds_t longest = static_cast<useconds_t>(3 * oneSave.count() + 3000);
  std::mt19937 random(7);
  int64_t last = 1;
  for (int round = 0; round < 50; ++round) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::vector<std::string> warnings;
      Result<CheckpointWriter> writer =
          CheckpointWriter::open(directory.path(), last, warnings);
      if (!writer)
        ::_exit(9);
      for (int64_t step = last + 1;; ++step)
        if (!writer->save(program, makeCheckpoint(program, step),
                          step % 3 == 0))
          ::_exit(9);
    }
    ::usleep(random() % longest);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child could not save";
    Result<LoadedCheckpoint> loaded = loadCheckpoint(directory.path(), program);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->warning, "");
    int64_t step = loaded->checkpoint.state.step;
    EXPECT_GE(step, last);
    last = step;
    Checkpoint expected = makeCheckpoint(program, step);
    EXPECT_EQ(loaded->checkpoint.tensors.values, expected.tensors.values);
    EXPECT_EQ(loaded->checkpoint.tensors.momentum, expected.tensors.momentum);
  }
  EXPECT_GT(last, 1) << "no save was ever completed";
  // The next writer removes what the killed ones left.
  openWriter(directory.path(), last);
  for (const std::string &name : namesIn(directory.path()))
    EXPECT_FALSE(name.starts_with(".tmp-")) << name;
}

// B123: missing or extra state is an error that names it.
TEST(Checkpoint, B123_missingExtraAndOtherShapes) {
  TemporaryDirectory directory;
  Program program = makeProgram(1, 8);
  CheckpointWriter writer = openWriter(directory.path());
  save(writer, program, 1);

  Program other = program;
  other.storages.pop_back();
  other.storages.pop_back(); // No momentum of b.
  EXPECT_NE(loadError(directory.path(), other)
                .find("has 'b:momentum', which the model does not have"),
            std::string::npos);
  CheckpointWriter partial = openWriter(directory.path("partial"));
  save(partial, other, 1);
  EXPECT_NE(loadError(directory.path("partial"), program)
                .find("has no 'b:momentum', which the model needs"),
            std::string::npos);

  other = program;
  other.parameters[1].shape = {kOutputs + 1};
  EXPECT_NE(
      loadError(directory.path(), other).find("'b' is 5, the model's is 6"),
      std::string::npos);
  other = program;
  other.parameters[0].name = "renamed";
  std::string error = loadError(directory.path(), other);
  EXPECT_NE(error.find("'renamed'"), std::string::npos) << error;
}

TEST(Checkpoint, aFreshTrainingDoesNotTouchOldCheckpoints) {
  TemporaryDirectory directory;
  Program program = makeProgram(1, 8);
  {
    CheckpointWriter writer = openWriter(directory.path());
    save(writer, program, 7);
  }
  std::vector<std::string> warnings;
  Result<CheckpointWriter> writer =
      CheckpointWriter::open(directory.path(), std::nullopt, warnings);
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.status().exitCode(), 1);
  EXPECT_NE(writer.status().message().find("checkpoint of step 7"),
            std::string::npos);
}

TEST(Checkpoint, laterOnesAreMovedAside) {
  TemporaryDirectory directory;
  Program program = makeProgram(1, 8);
  {
    CheckpointWriter writer = openWriter(directory.path());
    save(writer, program, 7);
    save(writer, program, 9);
  }
  std::vector<std::string> warnings;
  ASSERT_TRUE(CheckpointWriter::open(directory.path(), 7, warnings).ok());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("aside-step-000000009"), std::string::npos);
  EXPECT_EQ(
      namesIn(directory.path()),
      (std::vector<std::string>{"aside-step-000000009", "step-000000007"}));
}

TEST(Checkpoint, placesThatCannotBeWritten) {
  TemporaryDirectory directory;
  std::vector<std::string> warnings;
  std::string file = directory.write("file", "");
  Status status =
      CheckpointWriter::open(file + "/c", std::nullopt, warnings).status();
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_NE(status.message().find(file), std::string::npos);
  EXPECT_NE(loadError(directory.path("none"), makeProgram(1, 8)), "");
  EXPECT_NE(
      loadError(directory.path(), makeProgram(1, 8)).find("no checkpoint"),
      std::string::npos);
}

// A full disk: a file system of 256 KB, where the machine lets us mount one.
TEST(Checkpoint, fullDiskKeepsTheOldOne) {
  TemporaryDirectory directory;
  std::string small = directory.path("small");
  fs::create_directory(small);
  std::string mount =
      "mount -t tmpfs -o size=256k tmpfs '" + small + "' 2>/dev/null";
  if (::geteuid() != 0 || std::system(mount.c_str()) != 0)
    GTEST_SKIP() << "cannot mount a small file system";
  {
    Program program = makeProgram(1, 8);
    CheckpointWriter writer = openWriter(small);
    save(writer, program, 1);
    std::ofstream(small + "/filler") << std::string(300000, 'x');
    Result<std::string> folder =
        writer.save(program, makeCheckpoint(program, 2), true);
    ASSERT_FALSE(folder.ok());
    EXPECT_EQ(folder.status().exitCode(), 2);
    EXPECT_NE(folder.status().message().find("checkpoint of step 2"),
              std::string::npos)
        << folder.status().message();
    Result<LoadedCheckpoint> loaded = loadCheckpoint(small, program);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->checkpoint.state.step, 1);
    EXPECT_EQ(loaded->warning, "");
  }
  EXPECT_EQ(std::system(("umount '" + small + "'").c_str()), 0);
}

TEST(TrainingState, resumeChecks) {
  TrainingState saved;
  saved.seed = 3;
  saved.optimizer = "sgd";
  saved.momentumForm = "pytorch";
  saved.scheme = "c";
  saved.fcUpdate = "every";
  saved.modelHash = "abc";
  auto check = [&](const std::function<void(TrainingState &)> &change,
                   std::vector<std::string> *remarks = nullptr) {
    TrainingState now = saved;
    change(now);
    std::vector<std::string> local;
    Status status = checkResume(saved, now, remarks ? *remarks : local);
    return status.ok() ? "" : status.message();
  };
  EXPECT_EQ(check([](TrainingState &) {}), "");
  EXPECT_NE(check([](TrainingState &s) { s.seed = 4; }).find("pass --seed 3"),
            std::string::npos);
  // B74: the form of momentum is part of the state's meaning.
  EXPECT_NE(check([](TrainingState &s) {
              s.momentumForm = "caffe";
            }).find("pass --momentum-form pytorch"),
            std::string::npos);
  EXPECT_NE(check([](TrainingState &s) { s.optimizer = "adam"; }), "");
  EXPECT_NE(check([](TrainingState &s) { s.datasetSize = 5; }), "");
  EXPECT_NE(check([](TrainingState &s) { s.shuffle = false; }), "");
  EXPECT_NE(check([](TrainingState &s) { s.modelHash = "abd"; }), "");
  EXPECT_EQ(check([](TrainingState &s) { s.modelHash = ""; }), "");
  std::vector<std::string> remarks;
  EXPECT_EQ(check(
                [](TrainingState &s) {
                  s.workers = 4;
                  s.rate = 0.5;
                },
                &remarks),
            "");
  ASSERT_EQ(remarks.size(), 3u);
  EXPECT_NE(remarks[2].find("the trajectory"), std::string::npos);
}

TEST(TrainingState, refusesOtherContent) {
  auto error = [](const std::string &text) {
    Result<StateFile> state = parseState(text);
    return state.ok() ? "" : state.status().message();
  };
  EXPECT_EQ(error(formatState({})), "");
  EXPECT_NE(error("{}"), "");
  EXPECT_NE(error("[1]"), "");
  EXPECT_NE(error(std::string(100000, '[')), "");
  std::string deep = "{\"crc32\":1,\"a\":";
  for (int i = 0; i < 50000; ++i)
    deep += "[";
  for (int i = 0; i < 50000; ++i)
    deep += "]";
  EXPECT_NE(error(deep + "}"), "");
}
