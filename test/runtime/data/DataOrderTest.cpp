// SPDX-License-Identifier: Apache-2.0
// Philox against the vectors of Random123, and the shuffle against a second
// implementation of its definition.

#include "runtime/data/DataOrder.h"
#include "runtime/data/Philox.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

using namespace hpcc::runtime;

// kat_vectors of Random123 1.14: philox4x32, 10 rounds.
TEST(Philox, knownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox(0, 0, 0, 0, 0),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~uint64_t{0}, ~0u, ~0u, ~0u, ~0u),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x243f6a88, 0x85a308d3, 0x13198a2e,
                   0x03707344),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

namespace {

std::vector<int64_t> orderOf(size_t count, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(count);
  fillDataOrder(order, seed, epoch, true);
  return order;
}

} // namespace

TEST(DataOrder, isAPermutationThatDependsOnSeedAndEpochOnly) {
  std::vector<int64_t> order = orderOf(1000, 3, 5), sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(sorted[i], i);
  EXPECT_EQ(order, orderOf(1000, 3, 5));
  EXPECT_NE(order, orderOf(1000, 3, 6));
  EXPECT_NE(order, orderOf(1000, 4, 5));
  EXPECT_NE(order, orderOf(1000, 3 + (uint64_t{1} << 32), 5));
}

// The definition in DataOrder.h, drawn with floating point instead of 128-bit
// integers: exact for these words, whose product with i + 1 <= 8 fits 67 bits
// of long double's 64-bit mantissa up to a half unit in the last place.
TEST(DataOrder, followsItsDefinition) {
  constexpr size_t kCount = 8;
  std::vector<int64_t> expected(kCount);
  std::iota(expected.begin(), expected.end(), int64_t{0});
  for (size_t i = kCount - 1; i > 0; --i) {
    auto q = philox(7, static_cast<uint32_t>(i / 2), 0, 2, 0xF0000001);
    double high = i % 2 ? q[3] : q[1];
    double low = i % 2 ? q[2] : q[0];
    double fraction = (high + low / 4294967296.0) / 4294967296.0;
    std::swap(
        expected[i],
        expected[static_cast<size_t>(fraction * static_cast<double>(i + 1))]);
  }
  EXPECT_EQ(orderOf(kCount, 7, 2), expected);
}

TEST(DataOrder, withoutShuffleIsTheIdentity) {
  std::vector<int64_t> order(5);
  fillDataOrder(order, 1, 1, false);
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

// Every place is equally likely: 6 orders of 3 in 6000 epochs, 1000 expected,
// standard deviation 29.
TEST(DataOrder, isUniform) {
  std::vector<int> counts(6);
  for (int64_t epoch = 0; epoch < 6000; ++epoch) {
    std::vector<int64_t> order = orderOf(3, 0, epoch);
    ++counts[order[0] * 2 + (order[1] > order[2])];
  }
  for (int count : counts)
    EXPECT_NEAR(count, 1000, 150);
}

TEST(DataOrder, smallSets) {
  EXPECT_EQ(orderOf(0, 1, 1), std::vector<int64_t>{});
  EXPECT_EQ(orderOf(1, 1, 1), std::vector<int64_t>{0});
}
