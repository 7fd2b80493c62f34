// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules against arithmetic done by hand.

#include "runtime/train/Schedule.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace hpcc::runtime;

namespace {

std::vector<double> factors(const std::string &text, int64_t total,
                            int64_t perEpoch, std::vector<int64_t> steps) {
  Result<Schedule> schedule = Schedule::parse(text);
  EXPECT_TRUE(schedule.ok()) << schedule.status().message();
  schedule->setLengths(total, perEpoch);
  std::vector<double> values;
  for (int64_t step : steps)
    values.push_back(schedule->factor(step));
  return values;
}

void expectFactors(const std::string &text, int64_t total, int64_t perEpoch,
                   std::vector<int64_t> steps, std::vector<double> expected) {
  SCOPED_TRACE(text);
  std::vector<double> found = factors(text, total, perEpoch, steps);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-12) << "step " << steps[i];
}

} // namespace

TEST(Schedule, constant) {
  expectFactors("constant", 10, 5, {0, 9}, {1, 1});
  Schedule schedule;
  schedule.setLengths(10, 5);
  EXPECT_EQ(schedule.factor(3), 1);
  EXPECT_EQ(schedule.text(), "constant");
}

TEST(Schedule, step) {
  expectFactors("step:3:0.1", 10, 5, {0, 2, 3, 5, 6, 9},
                {1, 1, 0.1, 0.1, 0.01, 0.001});
  expectFactors("step:2e:0.5", 100, 7, {0, 13, 14, 27, 28},
                {1, 1, 0.5, 0.5, 0.25});
  expectFactors("step:0.5e:0.5", 100, 10, {4, 5, 10}, {1, 0.5, 0.25});
  expectFactors("step:1:2", 10, 5, {0, 1, 3}, {1, 2, 8});
}

// The paper's: 250^(-1/3) = 0.158740 at a quarter, a half, three quarters.
TEST(Schedule, drops) {
  double drop = std::pow(250.0, -1.0 / 3);
  expectFactors(
      "drops:0.25,0.5,0.75:0.158740105196820", 400, 10,
      {0, 99, 100, 199, 200, 299, 300, 399},
      {1, 1, drop, drop, drop * drop, drop * drop, 1 / 250.0, 1 / 250.0});
  // 0.1 * 30 is 3.0000000000000004 in doubles, 0.7 * 10 is 7.000000000000001.
  expectFactors("drops:0.1:0.5", 30, 10, {2, 3}, {1, 0.5});
  expectFactors("drops:0.7:0.5", 10, 10, {6, 7}, {1, 0.5});
  // Not a whole step: from the next one on.
  expectFactors("drops:0.25:0.5", 10, 10, {2, 3}, {1, 0.5});
}

TEST(Schedule, cosine) {
  expectFactors("cosine", 8, 4, {0, 2, 4, 6, 8},
                {1, 0.5 + std::sqrt(0.125), 0.5, 0.5 - std::sqrt(0.125), 0});
  expectFactors("cosine:0.2", 8, 4, {0, 4, 8}, {1, 0.6, 0.2});
}

TEST(Schedule, warmup) {
  expectFactors("warmup:4+constant", 10, 5, {0, 1, 2, 3, 4, 9},
                {0.25, 0.5, 0.75, 1, 1, 1});
  expectFactors("warmup:4", 10, 5, {0, 4}, {0.25, 1});
  expectFactors("warmup:1e+step:5:0.1", 20, 5, {0, 4, 5, 10},
                // At step 5 the rate has dropped once already.
                {0.1 / 5, 0.1, 0.1, 0.01});
  // The cosine takes the steps that the warm-up leaves.
  expectFactors("warmup:2+cosine", 10, 5, {0, 1, 2, 6, 10},
                {0.5, 1, 1, 0.5, 0});
  // Longer than the training.
  expectFactors("warmup:20+cosine", 10, 5, {0, 9}, {0.05, 0.5});
}

TEST(Schedule, refusesMalformedOnes) {
  for (const char *text : {"",
                           "linear",
                           "step",
                           "step:3",
                           "step:0:0.1",
                           "step:-1:0.1",
                           "step:1.5:0.1",
                           "step:3:0",
                           "step:3:x",
                           "step:3:0.1:2",
                           "step:e:0.1",
                           "step:1e13:0.1",
                           "drops::0.1",
                           "drops:0.5",
                           "drops:0:0.1",
                           "drops:1:0.1",
                           "drops:0.5,:0.1",
                           "drops:0.5:nan",
                           "cosine:2",
                           "cosine:-0.1",
                           "cosine:0:0",
                           "constant:1",
                           "warmup:",
                           "warmup:0",
                           "warmup:5+",
                           "warmup:5+linear",
                           "warmup:5-cosine",
                           "warmup:5+warmup:5+cosine",
                           "cosine+warmup:5",
                           " cosine"}) {
    Result<Schedule> schedule = Schedule::parse(text);
    EXPECT_FALSE(schedule.ok()) << text;
    if (schedule.ok())
      continue;
    EXPECT_EQ(schedule.status().code(), StatusCode::invalidArgument);
    EXPECT_NE(schedule.status().message().find("--lr-schedule '" +
                                               std::string(text) + "'"),
              std::string::npos);
  }
}
