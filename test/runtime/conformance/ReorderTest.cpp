// SPDX-License-Identifier: Apache-2.0
// Layouts: blocked and permuted buffers element by element.
#include "test/runtime/conformance/KernelHarness.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;

namespace {
class Reorder : public KernelTest {};
HPCC_INSTANTIATE_KERNEL_TESTS(Reorder);
} // namespace

TEST_P(Reorder, BlockedChannels) {
  for (int64_t block : {4, 8, 16}) {
    Shape plain{2, 32, 3, 5}, blocked{2, 32 / block, 3, 5, block};
    Tensor x = randomTensor(plain, 1), y(blocked), back(plain);
    std::string name = "\"nChw" + std::to_string(block) + "c\"";
    runner.run("reorder", "\"from\":\"nchw\",\"to\":" + name, {x, y});
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t c = 0; c < 32; ++c)
        for (int64_t s = 0; s < 15; ++s)
          ASSERT_EQ(y.data[((n * 32 / block + c / block) * 15 + s) * block +
                           c % block],
                    x.data[(n * 32 + c) * 15 + s]);
    runner.run("reorder", "\"from\":" + name + ",\"to\":\"nchw\"", {y, back});
    EXPECT_EQ(back.data, x.data);
  }
}

TEST_P(Reorder, ChannelsLast) {
  Tensor x = randomTensor({2, 3, 4, 5}, 1), y({2, 4, 5, 3});
  runner.run("reorder", R"("from":"nchw","to":"nhwc")", {x, y});
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t s = 0; s < 20; ++s)
        ASSERT_EQ(y.data[(n * 20 + s) * 3 + c], x.data[(n * 3 + c) * 20 + s]);
}

TEST_P(Reorder, WeightsInTwoBlocks) {
  Tensor x = randomTensor({32, 16, 1, 2}, 1), y({2, 1, 1, 2, 16, 16});
  runner.run("reorder", R"("from":"oihw","to":"OIhw16i16o")", {x, y});
  for (int64_t o = 0; o < 32; ++o)
    for (int64_t i = 0; i < 16; ++i)
      for (int64_t w = 0; w < 2; ++w)
        ASSERT_EQ(y.data[((o / 16 * 2 + w) * 16 + i) * 16 + o % 16],
                  x.data[(o * 16 + i) * 2 + w]);
}

TEST_P(Reorder, EmptyBatch) {
  Tensor x({0, 16, 2, 2}), y({0, 1, 2, 2, 16});
  runner.run("reorder", R"("from":"nchw","to":"nChw16c")", {x, y});
}

TEST_P(Reorder, LayoutsThatMakeNoSenseAreErrors) {
  struct Case {
    const char *json;
    Shape from, to;
  };
  const Case cases[] = {
      {R"("from":"nchw","to":"nChw16c")", {1, 24, 2, 2}, {1, 1, 2, 2, 16}},
      {R"("from":"nchw","to":"nChw16c")", {1, 16, 2, 2}, {1, 2, 2, 2, 8}},
      {R"("from":"nchw","to":"nCh")", {1, 16, 2, 2}, {1, 16, 2}},
      {R"("from":"nchw","to":"zebra")", {1, 16, 2, 2}, {1, 16, 2, 2}},
      {R"("from":"nchw","to":"nchw16c")", {1, 16, 2, 2}, {1, 1, 2, 2, 16}},
      {R"("from":"nchw","to":"nhwc")", {1, 16, 2, 2}, {1, 2, 2}},
  };
  for (const Case &test : cases) {
    KernelRunner fresh(GetParam());
    Tensor x(test.from), y(test.to);
    EXPECT_FALSE(fresh.tryRun("reorder", test.json, {x, y}).ok()) << test.json;
  }
}
