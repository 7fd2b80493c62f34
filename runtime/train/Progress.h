// SPDX-License-Identifier: Apache-2.0
// What a person sees while training runs: one line redrawn in place on a
// terminal, plain lines now and then elsewhere.
#ifndef HPCC_RUNTIME_TRAIN_PROGRESS_H
#define HPCC_RUNTIME_TRAIN_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace hpcc::runtime {

struct ProgressOptions {
  int descriptor = 1;
  /// Redraw in place; `isTerminal(descriptor)` unless a test says otherwise.
  bool terminal = false;
  bool quiet = false;
  /// Between redraws on a terminal, and between plain lines.
  std::chrono::milliseconds redraw = std::chrono::milliseconds(100);
  std::chrono::milliseconds interval = std::chrono::seconds(10);
};

bool isTerminal(int descriptor);

class Progress {
public:
  using Clock = std::chrono::steady_clock;

  /// `done` of `total` steps were finished before (a resumed training).
  Progress(const ProgressOptions &options, int64_t done, int64_t total,
           int64_t epochs);
  /// Ends the line on a terminal.
  ~Progress();

  /// After each step. Does not allocate.
  void step(int64_t epoch, int64_t examples, double loss);
  /// After an evaluation; the rate of the steps does not count its time.
  void evaluated(double loss, double top1, double top5, bool hasTop);
  /// At the end of an epoch: its line is shown in any case.
  void endEpoch();
  /// A full line, above the bar.
  void message(const std::string &text);
  /// Excludes the time since the last step (evaluation, saving).
  void resumeClock();

private:
  void draw();
  int format(char *buffer, size_t size, bool bar) const;
  void put(const char *text, size_t size);

  const ProgressOptions options;
  const int64_t total;
  const int64_t epochs;
  int64_t done;
  int64_t doneHere = 0;
  int64_t epoch = 0;
  int64_t examplesHere = 0;
  double secondsHere = 0;
  double lossSum = 0;
  int64_t lossExamples = 0;
  char evaluation[64] = "";
  bool lineOpen = false;
  bool unshown = false;
  Clock::time_point last;
  Clock::time_point lastDraw;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_PROGRESS_H
