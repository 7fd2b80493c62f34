// SPDX-License-Identifier: Apache-2.0
// The worker's context through the C ABI: descriptor table, sticky errors,
// parallel loops, and the promise that a repeated kernel allocates nothing new.
#include "runtime/base/Context.h"
#include "hpcc/sharding.h"
#include "runtime/comm/local/LocalGroup.h"
#include "runtime/cpu/CpuDevice.h"
#include "runtime/cpu/CpuEngine.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace hpcc::runtime;

namespace {
class ContextTest : public testing::Test {
protected:
  ContextTest() {
    auto created = Context::create(0, 1, 2, group.communicator(0));
    EXPECT_TRUE(created.ok()) << created.status().message();
    context = std::move(*created);
  }
  hpcc_context *handle() { return context->handle(); }

  LocalGroup group{1};
  std::unique_ptr<Context> context;
};
} // namespace

TEST_F(ContextTest, RunsAKernelByItsId) {
  hpcc_rt_define(handle(), 7, "linear_forward",
                 R"({"node":"fc1","ranks":[2,2,1,2]})");
  float x[] = {1, 2, 3, 4}, w[] = {1, 0, 0, 1, 1, 1}, b[] = {10, 20, 30};
  float y[6] = {};
  void *operands[] = {x, w, b, y};
  int64_t dims[] = {2, 2, 3, 2, 3, 2, 3};
  hpcc_rt_execute(handle(), 7, operands, dims);
  ASSERT_TRUE(context->error().ok()) << context->error().message();
  EXPECT_EQ(std::vector<float>(y, y + 6),
            (std::vector<float>{11, 22, 33, 13, 24, 37}));
  EXPECT_EQ(context->counters().executes, 1);
}

TEST_F(ContextTest, PreparesOncePerSetOfSizes) {
  hpcc_rt_define(handle(), 0, "linear_forward",
                 R"({"node":"fc1","ranks":[2,2,2]})");
  std::vector<float> x(64, 1), w(64, 1), y(64);
  void *operands[] = {x.data(), w.data(), y.data()};
  for (int repeat = 0; repeat < 3; ++repeat)
    for (int64_t rows : {4, 3}) {
      int64_t dims[] = {rows, 8, 5, 8, rows, 5};
      hpcc_rt_execute(handle(), 0, operands, dims);
    }
  EXPECT_EQ(context->counters().executes, 6);
  EXPECT_EQ(context->counters().device.preparations, 2);
}

TEST_F(ContextTest, AnErrorIsStickyAndNamesNodeAndKind) {
  hpcc_rt_define(handle(), 0, "linear_forward",
                 R"({"node":"fc1","ranks":[2,2,2]})");
  float x[4] = {}, w[4] = {}, y[4] = {7, 7, 7, 7};
  void *operands[] = {x, w, y};
  int64_t wrong[] = {2, 2, 2, 1, 2, 2};
  hpcc_rt_execute(handle(), 0, operands, wrong);
  Status error = context->error();
  ASSERT_FALSE(error.ok());
  EXPECT_NE(error.message().find("fc1"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("linear_forward"), std::string::npos);
  EXPECT_NE(error.message().find("[2,2] [2,1] [2,2]"), std::string::npos);
  // Nothing runs any more.
  int64_t right[] = {2, 2, 2, 2, 2, 2};
  hpcc_rt_execute(handle(), 0, operands, right);
  EXPECT_EQ(y[0], 7);
  bool called = false;
  hpcc_rt_parallel_for(
      handle(),
      [](void *flag, int64_t, int64_t) { *static_cast<bool *>(flag) = true; },
      &called, 0, 4);
  EXPECT_FALSE(called);
  EXPECT_EQ(context->error().message(), error.message());
  EXPECT_EQ(group.error().message(), error.message());
}

TEST_F(ContextTest, UnknownKindIdAndJsonAreErrors) {
  hpcc_rt_define(handle(), 0, "conv_sideways", R"({"node":"c","ranks":[]})");
  EXPECT_NE(context->error().message().find("conv_sideways"),
            std::string::npos);
}

TEST_F(ContextTest, AnUndefinedIdIsAnError) {
  hpcc_rt_execute(handle(), 3, nullptr, nullptr);
  EXPECT_NE(context->error().message().find("descriptor 3"), std::string::npos);
}

TEST_F(ContextTest, BrokenJsonIsAnError) {
  hpcc_rt_define(handle(), 0, "linear_forward", "{\"node\":");
  EXPECT_NE(context->error().message().find("JSON"), std::string::npos);
}

TEST_F(ContextTest, AWrongAttributeIsNamed) {
  hpcc_rt_define(handle(), 0, "lrn_forward",
                 R"({"node":"norm1","ranks":[4,4],"size":"five"})");
  std::string message = context->error().message();
  for (const char *part : {"norm1", "\"size\"", "an integer", "\"five\""})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST_F(ContextTest, DefiningTwiceIsAnErrorUnlessEqual) {
  const char *json = R"({"node":"s","ranks":[2,2],"axis":1})";
  hpcc_rt_define(handle(), 0, "softmax_forward", json);
  hpcc_rt_define(handle(), 0, "softmax_forward", json);
  EXPECT_TRUE(context->error().ok());
  hpcc_rt_define(handle(), 0, "log_softmax_forward", json);
  EXPECT_FALSE(context->error().ok());
}

TEST_F(ContextTest, ParallelForCoversEachIndexOnce) {
  for (int64_t n : {0, 1, 2, 3, 17, 1000}) {
    std::vector<int> hits(n + 2);
    hpcc_rt_parallel_for(
        handle(),
        [](void *captured, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            ++(*static_cast<std::vector<int> *>(captured))[i];
        },
        &hits, 1, n + 1);
    EXPECT_EQ(hits.front(), 0);
    EXPECT_EQ(hits.back(), 0);
    EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), int64_t(0)), n);
    EXPECT_TRUE(n == 0 || *std::max_element(hits.begin(), hits.end()) == 1);
  }
}

TEST_F(ContextTest, ParallelForUsesTheTeam) {
  // Two threads must meet: with one alone this would wait for ever, so the
  // loop gives up after a second.
  struct Meeting {
    std::atomic<int> arrived = 0;
    std::atomic<bool> met = false;
  } meeting;
  hpcc_rt_parallel_for(
      handle(),
      [](void *captured, int64_t, int64_t) {
        Meeting &meeting = *static_cast<Meeting *>(captured);
        ++meeting.arrived;
        auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        while (meeting.arrived < 2 && std::chrono::steady_clock::now() < limit)
          ;
        if (meeting.arrived == 2)
          meeting.met = true;
      },
      &meeting, 0, 2);
  EXPECT_TRUE(meeting.met);
}

TEST(Context, ThreadsAndPlaceAreChecked) {
  LocalGroup group(2);
  auto noThreads = Context::create(0, 2, 0, group.communicator(0));
  EXPECT_NE(noThreads.status().message().find("--threads"), std::string::npos);
  EXPECT_EQ(noThreads.status().exitCode(), 1);
  EXPECT_FALSE(Context::create(1, 2, 1, group.communicator(0)).ok());
  EXPECT_FALSE(Context::create(0, 3, 1, group.communicator(0)).ok());
  auto unknown = Context::create(0, 2, 1, group.communicator(0), "abacus");
  EXPECT_NE(unknown.status().message().find("abacus"), std::string::npos);
}

TEST(Abi, ShardingFunctionsAgreeWithTheHeader) {
  using namespace hpcc::sharding;
  for (int64_t scheme = 0; scheme < 3; ++scheme)
    for (int64_t rank = 0; rank < 3; ++rank)
      for (int64_t pass = -1; pass < 7; ++pass) {
        int64_t out[4];
        hpcc_rt_chunk(scheme, 3, 11, 2, 10, rank, pass, out);
        Chunk expected =
            chunk({static_cast<Scheme>(scheme), 3, 11, 2}, 10, rank, pass);
        EXPECT_EQ((Chunk{out[0], out[1], out[2], out[3]}), expected);
      }
  int64_t out[2];
  hpcc_rt_shard(1000, 3, 1, out);
  EXPECT_EQ((Range{out[0], out[1]}), (Range{334, 333}));
  hpcc_rt_examples(5, 3, 2, out);
  EXPECT_EQ((Range{out[0], out[1]}), (Range{3, 2}));
}

TEST(Abi, EveryEntryIsDefined) {
  // Takes the address of each; a missing one does not link.
  std::vector<void *> entries;
#define HPCC_ABI_ENTRY(result, name, ...)                                      \
  entries.push_back(reinterpret_cast<void *>(&name));
#include "hpcc/abi.def"
  EXPECT_EQ(entries.size(), 8u);
}

TEST(CpuDevice, PreferredLayoutAndIndexType) {
  EXPECT_EQ(cpu::preferredImageLayout(16), "nChw16c");
  EXPECT_EQ(cpu::preferredImageLayout(96), "nChw16c");
  EXPECT_EQ(cpu::preferredImageLayout(3), "nchw");
  EXPECT_EQ(cpu::preferredImageLayout(24), "nchw");
  EXPECT_EQ(cpu::maxPoolIndexType(std::vector<int64_t>{3, 3}), DataType::i8);
  EXPECT_EQ(cpu::maxPoolIndexType(std::vector<int64_t>{15, 17}), DataType::i8);
  EXPECT_EQ(cpu::maxPoolIndexType(std::vector<int64_t>{16, 16}), DataType::i32);
}

TEST(CpuDevice, EveryKindOfTheInterfaceExistsAndChecksItsOperands) {
  const std::string_view expected[] = {
      "avg_pool_backward",       "avg_pool_forward",     "batch_norm_backward",
      "batch_norm_forward",      "batch_norm_inference", "conv_backward_data",
      "conv_backward_weights",   "conv_forward",         "linear_backward_data",
      "linear_backward_weights", "linear_forward",       "log_softmax_backward",
      "log_softmax_forward",     "lrn_backward",         "lrn_forward",
      "max_pool_backward",       "max_pool_forward",     "reorder",
      "softmax_backward",        "softmax_forward"};
  EXPECT_EQ(cpu::kernelKinds(), std::vector<std::string_view>(
                                    std::begin(expected), std::end(expected)));
  for (std::string_view kind : expected) {
    LocalGroup group(1);
    auto context = Context::create(0, 1, 1, group.communicator(0));
    hpcc_rt_define((*context)->handle(), 0, std::string(kind).c_str(),
                   R"({"node":"layer","ranks":[1]})");
    std::string message = (*context)->error().message();
    EXPECT_NE(message.find("layer (" + std::string(kind) + ")"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("operands, got 1"), std::string::npos) << message;
  }
}

TEST(CpuDevice, EveryLibraryStatusHasAName) {
  const std::pair<dnnl_status_t, std::string_view> expected[] = {
      {dnnl_success, "success"},
      {dnnl_out_of_memory, "out_of_memory"},
      {dnnl_invalid_arguments, "invalid_arguments"},
      {dnnl_unimplemented, "unimplemented"},
      {dnnl_iterator_ends, "iterator_ends"},
      {dnnl_runtime_error, "runtime_error"},
      {dnnl_not_required, "not_required"}};
  for (auto [status, name] : expected)
    EXPECT_EQ(cpu::toString(status), name);
}

TEST(CpuDevice, ASlowLibraryKernelIsRemarked) {
  LocalGroup group(1);
  auto context = Context::create(0, 1, 1, group.communicator(0));
  hpcc_context *handle = (*context)->handle();
  // 3 of 5 channels per group and a large dilation: no fast kernel fits.
  hpcc_rt_define(handle, 0, "conv_backward_data",
                 R"({"node":"odd","ranks":[5,5,5],"dilations":[9,1,7],)"
                 R"("group":3})");
  std::vector<float> dy(6 * 4), w(6 * 1 * 27), x(3 * 20 * 5 * 18);
  void *operands[] = {dy.data(), w.data(), x.data()};
  int64_t dims[] = {1, 6, 1, 1, 1, 6, 1, 2, 1, 1, 1, 3, 10, 1, 1};
  hpcc_rt_execute(handle, 0, operands, dims);
  ASSERT_TRUE((*context)->error().ok()) << (*context)->error().message();
  for (const std::string &remark : (*context)->remarks())
    EXPECT_NE(remark.find("odd"), std::string::npos);
  ASSERT_FALSE((*context)->remarks().empty());
}
