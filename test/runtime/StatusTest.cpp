// SPDX-License-Identifier: Apache-2.0
// Status and Result: exit codes of every status code.
#include "runtime/base/Status.h"
#include <gtest/gtest.h>

using namespace hpcc::runtime;

TEST(Status, ExitCodeOfEveryCode) {
  const std::pair<StatusCode, int> expected[] = {
      {StatusCode::invalidArgument, 1}, {StatusCode::environment, 2},
      {StatusCode::timeout, 2},         {StatusCode::aborted, 2},
      {StatusCode::internal, 2},
  };
  EXPECT_EQ(Status::success().exitCode(), 0);
  for (auto [code, exitCode] : expected) {
    EXPECT_EQ(Status::error(code, "x").exitCode(), exitCode);
    EXPECT_STRNE(toString(code), "unknown");
  }
}

TEST(Result, HoldsAValueOrAnError) {
  Result<int> value(3);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, 3);
  EXPECT_TRUE(value.status().ok());
  Result<int> error(Status::error(StatusCode::environment, "disk full"));
  ASSERT_FALSE(error.ok());
  EXPECT_EQ(error.status().message(), "disk full");
}
