// SPDX-License-Identifier: Apache-2.0
// What is written to a terminal and to a pipe, and the step log.

#include "runtime/train/Progress.h"
#include "runtime/train/StepLog.h"
#include "test/runtime/TemporaryDirectory.h"

#include <cmath>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <unistd.h>

using namespace hpcc::runtime;
using namespace hpcc::test;
using namespace std::chrono_literals;

namespace {

std::string capture(ProgressOptions options,
                    const std::function<void(Progress &)> &body) {
  TemporaryDirectory directory;
  options.descriptor =
      ::open(directory.path("out").c_str(), O_WRONLY | O_CREAT, 0600);
  {
    Progress progress(options, 0, 40, 2);
    body(progress);
  }
  ::close(options.descriptor);
  return readAll(directory.path("out"));
}

size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

} // namespace

TEST(Progress, plainLinesOncePerEpoch) {
  std::string text = capture({}, [](Progress &progress) {
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      for (int i = 0; i < 20; ++i)
        progress.step(epoch, 8, i < 10 ? 1.0 : 2.0);
      progress.evaluated(0.5, 0.875, 1, true);
      progress.endEpoch();
    }
  });
  EXPECT_EQ(count(text, "\n"), 2u) << text;
  EXPECT_EQ(count(text, "\r"), 0u);
  // The loss is the mean over the epoch.
  EXPECT_NE(text.find("epoch 1/2 step 20/40  loss 1.5000  val loss 0.5000 "
                      "top-1 87.50% top-5 100.00%"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("epoch 2/2 step 40/40"), std::string::npos);
  EXPECT_NE(text.find(" 0s left"), std::string::npos);
}

TEST(Progress, plainLinesNowAndThenInALongEpoch) {
  ProgressOptions options;
  options.interval = 0ms;
  std::string text = capture(options, [](Progress &progress) {
    for (int i = 0; i < 3; ++i)
      progress.step(0, 8, 1);
    progress.endEpoch(); // Everything has been shown.
  });
  EXPECT_EQ(count(text, "\n"), 3u) << text;
}

TEST(Progress, aTerminalLineIsRedrawnAtMostTenTimesASecond) {
  ProgressOptions options;
  options.terminal = true;
  auto begin = std::chrono::steady_clock::now();
  std::string text = capture(options, [](Progress &progress) {
    for (int i = 0; i < 40; ++i) {
      progress.step(0, 8, 1);
      std::this_thread::sleep_for(10ms);
    }
    progress.message("a remark");
  });
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  size_t draws = count(text, "\r");
  EXPECT_GE(draws, 2u) << text;
  // The message erases and redraws once.
  EXPECT_LE(static_cast<double>(draws), seconds * 10 + 3);
  EXPECT_NE(text.find("a remark\n"), std::string::npos);
  EXPECT_EQ(text.back(), '\n');
  // No line is as wide as the terminal's 80 columns.
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line, '\r');)
    EXPECT_LT(line.size(), 80u + 5) << line;
}

TEST(Progress, aClosedReaderDoesNotMatter) {
  ProgressOptions options;
  options.interval = 0ms;
  options.descriptor = ::open("/dev/full", O_WRONLY);
  Progress progress(options, 0, 4, 1);
  progress.step(0, 8, NAN);
  progress.message("text");
  ::close(options.descriptor);
}

TEST(StepLog, linesAreJson) {
  TemporaryDirectory directory;
  std::string path = directory.path("log.jsonl");
  {
    Result<StepLog> log = StepLog::open(path, false);
    ASSERT_TRUE(log.ok());
    ASSERT_TRUE(
        log->write(StepRecord{3, 1, 0.125, 1e-3, 1234.5, 1 << 20}).ok());
    ASSERT_TRUE(
        log->write(StepRecord{int64_t{1} << 40, 2, NAN, 0.1, INFINITY, 0})
            .ok());
    // On disk while the log is open.
    EXPECT_EQ(count(readAll(path), "\n"), 2u);
    ASSERT_TRUE(log->write(EvalRecord{4, 1, 0.5, 0.75, 2.25}).ok());
  }
  std::stringstream stream(readAll(path));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], (nlohmann::json{{"step", 3},
                                      {"epoch", 1},
                                      {"loss", 0.125},
                                      {"lr", 1e-3},
                                      {"images_per_s", 1234.5},
                                      {"comm_bytes", 1 << 20}}));
  EXPECT_TRUE(lines[1]["loss"].is_null());
  EXPECT_TRUE(lines[1]["images_per_s"].is_null());
  EXPECT_EQ(lines[1]["step"], int64_t{1} << 40);
  EXPECT_EQ(lines[2], (nlohmann::json{{"event", "eval"},
                                      {"step", 4},
                                      {"epoch", 1},
                                      {"top1", 0.5},
                                      {"top5", 0.75},
                                      {"loss", 2.25}}));
}

TEST(StepLog, appendsWhenAsked) {
  TemporaryDirectory directory;
  std::string path = directory.write("log.jsonl", "old\n");
  {
    Result<StepLog> log = StepLog::open(path, true);
    ASSERT_TRUE(log.ok() && log->write(EvalRecord{}).ok());
  }
  EXPECT_TRUE(readAll(path).starts_with("old\n{"));
  ASSERT_TRUE(StepLog::open(path, false).ok());
  EXPECT_EQ(readAll(path), "");
}

TEST(StepLog, fullDiskAndMissingFolderAreEnvironmentErrors) {
  Result<StepLog> log = StepLog::open("/dev/full", false);
  ASSERT_TRUE(log.ok());
  Status status = log->write(StepRecord{});
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_NE(status.message().find("/dev/full"), std::string::npos);
  EXPECT_EQ(StepLog::open("/no/such/folder/log", false).status().exitCode(), 2);
}
