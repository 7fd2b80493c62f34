// SPDX-License-Identifier: Apache-2.0
// Formatting into fixed buffers. Failed writes are ignored: a closed terminal
// is no reason to stop a training.

#include "runtime/train/Progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace hpcc::runtime {

bool isTerminal(int descriptor) { return ::isatty(descriptor) == 1; }

namespace {

double secondsOf(Progress::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

int columnsOf(int descriptor) {
  winsize size = {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return 80;
  return size.ws_col;
}

void formatDuration(char *buffer, size_t size, double seconds) {
  if (!std::isfinite(seconds) || seconds > 1e9) {
    std::snprintf(buffer, size, "?");
    return;
  }
  long long whole = std::llround(seconds);
  if (whole < 60)
    std::snprintf(buffer, size, "%llds", whole);
  else if (whole < 3600)
    std::snprintf(buffer, size, "%lldm%02llds", whole / 60, whole % 60);
  else
    std::snprintf(buffer, size, "%lldh%02lldm", whole / 3600, whole / 60 % 60);
}

} // namespace

Progress::Progress(const ProgressOptions &options, int64_t done, int64_t total,
                   int64_t epochs)
    : options(options), total(total), epochs(epochs), done(done),
      last(Clock::now()), lastDraw(last) {}

Progress::~Progress() {
  if (lineOpen)
    put("\n", 1);
}

void Progress::put(const char *text, size_t size) {
  if (options.quiet)
    return;
  while (size > 0) {
    ssize_t count = ::write(options.descriptor, text, size);
    if (count <= 0)
      return;
    text += count;
    size -= static_cast<size_t>(count);
  }
}

int Progress::format(char *buffer, size_t size, bool bar) const {
  char epochText[48];
  if (epochs > 0)
    std::snprintf(epochText, sizeof(epochText), "epoch %lld/%lld",
                  static_cast<long long>(epoch + 1),
                  static_cast<long long>(epochs));
  else
    std::snprintf(epochText, sizeof(epochText), "epoch %lld",
                  static_cast<long long>(epoch + 1));
  char barText[32] = "";
  if (bar) {
    constexpr int kCells = 20;
    int full = static_cast<int>(done * kCells / std::max<int64_t>(total, 1));
    full = std::clamp(full, 0, kCells);
    std::snprintf(barText, sizeof(barText), " [%.*s%*s]", full,
                  "====================", kCells - full, "");
  }
  double rate =
      secondsHere > 0 ? static_cast<double>(examplesHere) / secondsHere : 0;
  char left[32];
  formatDuration(left, sizeof(left),
                 doneHere > 0 ? secondsHere / static_cast<double>(doneHere) *
                                    static_cast<double>(total - done)
                              : INFINITY);
  return std::snprintf(
      buffer, size, "%s%s step %lld/%lld  loss %.4f%s  %.*f images/s  %s left",
      epochText, barText, static_cast<long long>(done),
      static_cast<long long>(total),
      lossExamples > 0 ? lossSum / static_cast<double>(lossExamples) : 0.0,
      evaluation, rate < 10 ? 2 : 0, rate, left);
}

void Progress::draw() {
  unshown = false;
  lastDraw = Clock::now();
  char text[512];
  int length = format(text, sizeof(text), options.terminal);
  length = std::clamp<int>(length, 0, sizeof(text) - 1);
  char line[640];
  int count;
  if (options.terminal) {
    // Never as wide as the terminal: a wrapped line cannot be redrawn.
    length = std::min(length, columnsOf(options.descriptor) - 1);
    count = std::snprintf(line, sizeof(line), "\r%.*s\x1b[K", length, text);
    lineOpen = true;
  } else {
    count = std::snprintf(line, sizeof(line), "%.*s\n", length, text);
  }
  put(line, static_cast<size_t>(count));
}

void Progress::step(int64_t newEpoch, int64_t examples, double loss) {
  Clock::time_point now = Clock::now();
  secondsHere += secondsOf(now - last);
  last = now;
  if (newEpoch != epoch) {
    // The loss shown is the mean over the epoch so far.
    lossSum = 0;
    lossExamples = 0;
    epoch = newEpoch;
  }
  ++done;
  ++doneHere;
  examplesHere += examples;
  lossSum += loss * static_cast<double>(examples);
  lossExamples += examples;
  unshown = true;
  if (now - lastDraw >= (options.terminal ? options.redraw : options.interval))
    draw();
}

void Progress::evaluated(double loss, double top1, double top5, bool hasTop) {
  if (hasTop)
    std::snprintf(evaluation, sizeof(evaluation),
                  "  val loss %.4f top-1 %.2f%% top-5 %.2f%%", loss, top1 * 100,
                  top5 * 100);
  else
    std::snprintf(evaluation, sizeof(evaluation), "  val loss %.4f", loss);
  unshown = true;
}

void Progress::endEpoch() {
  if (unshown)
    draw();
  // Each epoch leaves its line.
  if (lineOpen)
    put("\n", 1);
  lineOpen = false;
}

void Progress::message(const std::string &text) {
  std::string line = lineOpen ? "\r\x1b[K" + text + "\n" : text + "\n";
  put(line.data(), line.size());
  if (lineOpen)
    draw();
}

void Progress::resumeClock() { last = Clock::now(); }

} // namespace hpcc::runtime
