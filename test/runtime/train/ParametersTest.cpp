// SPDX-License-Identifier: Apache-2.0
// Initial values and the layout of the file.

#include "runtime/train/Parameters.h"

#include "runtime/data/Philox.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace hpcc::runtime;

namespace {

ProgramParameter parameter(std::string name, std::vector<int64_t> shape,
                           ParameterRole role = ParameterRole::Weight) {
  return {name, name, std::move(shape), role, true, false};
}

double deviationOf(const std::vector<float> &values) {
  double sum = 0, squares = 0;
  for (float value : values) {
    sum += value;
    squares += double{value} * value;
  }
  double mean = sum / static_cast<double>(values.size());
  return std::sqrt(squares / static_cast<double>(values.size()) - mean * mean);
}

} // namespace

TEST(Parameters, transposesBetweenFileAndProgram) {
  ProgramParameter fc = parameter("fc", {2, 3});
  std::vector<float> program = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(toFileLayout(fc, program), program);
  EXPECT_EQ(fileShape(fc), (std::vector<int64_t>{2, 3}));
  fc.transposed = true;
  std::vector<float> file = {1, 4, 2, 5, 3, 6};
  EXPECT_EQ(toFileLayout(fc, program), file);
  EXPECT_EQ(fromFileLayout(fc, file), program);
  EXPECT_EQ(fileShape(fc), (std::vector<int64_t>{3, 2}));
}

TEST(Parameters, heNormal) {
  // fan_in 16 * 5 * 5: deviation sqrt(2 / 400) = 0.0707. 51,200 draws: the
  // sample deviation is within 0.3 % (one standard deviation).
  std::vector<float> values =
      initialValues(parameter("conv", {128, 16, 5, 5}), 1);
  EXPECT_NEAR(deviationOf(values), std::sqrt(2.0 / 400), 0.0007);
  double sum = 0, outside = 0;
  for (float value : values) {
    sum += value;
    outside += std::abs(value) > 2 * std::sqrt(2.0 / 400);
  }
  EXPECT_NEAR(sum / 51200, 0, 0.0013);
  // Normal: 4.55 % beyond two deviations.
  EXPECT_NEAR(outside / 51200, 0.0455, 0.004);
}

TEST(Parameters, glorotNormal) {
  // fan_in 400, fan_out 128 * 25.
  std::vector<float> values = initialValues(parameter("conv", {128, 16, 5, 5}),
                                            1, InitialScheme::Glorot);
  EXPECT_NEAR(deviationOf(values), std::sqrt(2.0 / 3600), 0.0003);
}

TEST(Parameters, othersByRole) {
  using Role = ParameterRole;
  auto ofRole = [](Role role) {
    return initialValues(parameter("p", {3}, role), 1);
  };
  std::vector<float> zeros(3, 0.0f), ones(3, 1.0f);
  EXPECT_EQ(ofRole(Role::Bias), zeros);
  EXPECT_EQ(ofRole(Role::NormScale), ones);
  EXPECT_EQ(ofRole(Role::NormBias), zeros);
  EXPECT_EQ(ofRole(Role::RunningMean), zeros);
  EXPECT_EQ(ofRole(Role::RunningVar), ones);
  EXPECT_EQ(ofRole(Role::Other), zeros);
}

TEST(Parameters, dependOnSeedAndNameOnly) {
  auto values = initialValues(parameter("a", {7, 3}), 1);
  EXPECT_EQ(values, initialValues(parameter("a", {7, 3}), 1));
  EXPECT_NE(values, initialValues(parameter("b", {7, 3}), 1));
  EXPECT_NE(values, initialValues(parameter("a", {7, 3}), 2));
  EXPECT_EQ(initialValues(parameter("a", {0, 3}), 1).size(), 0u);
}

// The definition in Parameters.h, with the CRC-32 of "a" = e8b7be43.
TEST(Parameters, followTheirDefinition) {
  std::vector<float> values = initialValues(parameter("a", {7, 3}), 9);
  for (size_t i = 0; i < values.size(); ++i) {
    auto q = philox(9, static_cast<uint32_t>(i / 2), 0, 0xe8b7be43, 0xF0000002);
    long double u1 = (q[0] + 1.0L) / 4294967296.0L, u2 = q[1] / 4294967296.0L;
    long double angle = 2 * 3.14159265358979323846264338327950288L * u2;
    long double z = std::sqrt(-2 * std::log(u1)) *
                    (i % 2 ? std::sin(angle) : std::cos(angle));
    EXPECT_NEAR(values[i], std::sqrt(2.0L / 3) * z, 1e-6);
  }
}
