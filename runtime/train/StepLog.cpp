// SPDX-License-Identifier: Apache-2.0
// Lines are put together in a fixed buffer and written with one call, so that
// a reader never sees half a line and a full disk is noticed at once.

#include "runtime/train/StepLog.h"

#include <cmath>
#include <cstdio>

namespace hpcc::runtime {

namespace {

/// Appends fields to a fixed buffer that is larger than any line.
class Line {
public:
  void add(const char *key, int64_t value) {
    append("%s\"%s\":%lld", separator(), key, static_cast<long long>(value));
  }
  void add(const char *key, double value) {
    if (std::isfinite(value))
      append("%s\"%s\":%.9g", separator(), key, value);
    else
      append("%s\"%s\":null", separator(), key);
  }
  void add(const char *key, const char *value) {
    append("%s\"%s\":\"%s\"", separator(), key, value);
  }
  std::string_view finish() {
    append("}\n");
    return {buffer, used};
  }

private:
  const char *separator() const { return used == 0 ? "{" : ","; }
  template <typename... Arguments>
  void append(const char *format, Arguments... arguments) {
    int count = std::snprintf(buffer + used, sizeof(buffer) - used, format,
                              arguments...);
    used += static_cast<size_t>(count);
    assert(used < sizeof(buffer) && "the buffer holds any line");
  }
  void append(const char *text) { append("%s", text); }

  char buffer[512];
  size_t used = 0;
};

} // namespace

Result<StepLog> StepLog::open(const std::string &path, bool append) {
  Result<File> file =
      append ? File::openForAppending(path) : File::create(path);
  if (!file)
    return file.status();
  return StepLog(std::move(*file));
}

Status StepLog::write(const StepRecord &record) {
  Line line;
  line.add("step", record.step);
  line.add("epoch", record.epoch);
  line.add("loss", record.loss);
  line.add("lr", record.rate);
  line.add("images_per_s", record.imagesPerSecond);
  line.add("comm_bytes", record.commBytes);
  return file.write(line.finish());
}

Status StepLog::write(const EvalRecord &record) {
  Line line;
  line.add("event", "eval");
  line.add("step", record.step);
  line.add("epoch", record.epoch);
  line.add("top1", record.top1);
  line.add("top5", record.top5);
  line.add("loss", record.loss);
  return file.write(line.finish());
}

} // namespace hpcc::runtime
