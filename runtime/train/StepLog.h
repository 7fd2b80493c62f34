// SPDX-License-Identifier: Apache-2.0
// `--log FILE.jsonl`: one JSON object per line, on disk when the call returns.
#ifndef HPCC_RUNTIME_TRAIN_STEPLOG_H
#define HPCC_RUNTIME_TRAIN_STEPLOG_H

#include "runtime/base/File.h"

#include <cstdint>

namespace hpcc::runtime {

struct StepRecord {
  int64_t step = 0;  ///< Finished steps, this one included: from 1.
  int64_t epoch = 0; ///< From 1.
  double loss = 0;
  double rate = 0;
  double imagesPerSecond =
      0;                 ///< Of this step alone, waiting for data included.
  int64_t commBytes = 0; ///< Received by all workers in this step.
};

struct EvalRecord {
  int64_t step = 0;
  int64_t epoch = 0;
  double top1 = 0; ///< Fractions.
  double top5 = 0;
  double loss = 0;
};

class StepLog {
public:
  /// Continues an existing file when `append`.
  static Result<StepLog> open(const std::string &path, bool append);

  /// {"step":..,"epoch":..,"loss":..,"lr":..,"images_per_s":..,"comm_bytes":..}
  /// Numbers that JSON lacks (a diverged loss) are null. Does not allocate.
  Status write(const StepRecord &record);
  /// {"event":"eval","step":..,"epoch":..,"top1":..,"top5":..,"loss":..}
  Status write(const EvalRecord &record);

private:
  explicit StepLog(File file) : file(std::move(file)) {}
  File file;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_STEPLOG_H
