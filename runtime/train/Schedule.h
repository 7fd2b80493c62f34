// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules: a factor for the base rate, once per step.
#ifndef HPCC_RUNTIME_TRAIN_SCHEDULE_H
#define HPCC_RUNTIME_TRAIN_SCHEDULE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hpcc::runtime {

/// The grammar of `--lr-schedule`:
///
///   SCHEDULE := [ "warmup:" LENGTH "+" ] MAIN
///   MAIN     := "constant"
///             | "step:" LENGTH ":" GAMMA       rate * GAMMA every LENGTH
///             | "drops:" P {"," P} ":" GAMMA   rate * GAMMA when each fraction
///                                              P of the training has passed
///             | "cosine" [ ":" FLOOR ]         from 1 to FLOOR [0] times the
///                                              rate along half a cosine
///   LENGTH   := NUMBER "e"                     epochs, may be fractional
///             | INTEGER                        steps
///
/// With t steps done of T, and W steps of warm-up (0 without):
///   constant  1
///   step      GAMMA ^ floor(t / L)
///   drops     GAMMA ^ (number of P with t >= P * T)
///   cosine    FLOOR + (1 - FLOOR) * (1 + cos(pi * (t - W) / (T - W))) / 2
/// A warm-up gives step t < W the factor (t + 1) / W times MAIN's at t = W.
class Schedule {
public:
  /// Constant.
  Schedule() = default;
  static Result<Schedule> parse(const std::string &text);

  /// Fixes T and the length of an epoch; call it before `factor`.
  void setLengths(int64_t totalSteps, int64_t stepsPerEpoch);
  /// The factor for the step that follows `done` finished steps.
  double factor(int64_t done) const;
  /// What was parsed.
  const std::string &text() const { return source; }

private:
  struct Length {
    double value = 0;
    bool epochs = false;
    int64_t steps(int64_t stepsPerEpoch) const;
  };
  enum class Kind { Constant, Step, Drops, Cosine };
  static bool parseLength(const std::string &text, Length &length);
  double mainFactor(int64_t done) const;

  std::string source = "constant";
  Kind kind = Kind::Constant;
  Length warmup;
  Length every;
  std::vector<double> drops;
  double gamma = 1;
  double floor = 0;
  int64_t total = 1;
  int64_t warmupSteps = 0;
  int64_t everySteps = 1;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_SCHEDULE_H
