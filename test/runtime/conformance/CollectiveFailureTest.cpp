// SPDX-License-Identifier: Apache-2.0
// What goes wrong between workers: nobody hangs, everybody gets the same
// message, and it names the worker.
#include "runtime/base/Context.h"
#include "runtime/comm/TestHooks.h"
#include "runtime/comm/local/LocalGroup.h"
#include "test/runtime/conformance/CommunicatorGroup.h"
#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;
using namespace std::chrono_literals;

namespace {

class CollectiveFailure : public testing::TestWithParam<std::string> {
protected:
  /// Runs body on every worker and collects what each reports.
  std::vector<Status>
  statuses(int64_t workers, GroupOptions options,
           const std::function<Status(Communicator &)> &body) {
    auto group = createGroup(GetParam(), workers, options);
    std::vector<Status> result(workers);
    group->run([&](Communicator &communicator) {
      result[communicator.rank()] = body(communicator);
    });
    return result;
  }
  static void expectAll(const std::vector<Status> &statuses,
                        std::initializer_list<const char *> parts) {
    for (const Status &status : statuses) {
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.message(), statuses[0].message());
      for (const char *part : parts)
        EXPECT_NE(status.message().find(part), std::string::npos)
            << status.message() << "\nlacks " << part;
    }
  }
  static CollectiveOptions options(CollectiveOp op,
                                   Channel channel = Channel::inlined) {
    CollectiveOptions result;
    result.op = op;
    result.channel = channel;
    result.node = "fc6";
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(, CollectiveFailure,
                         testing::ValuesIn(communicatorKinds()),
                         [](const auto &info) { return info.param; });

} // namespace

// B105: unequal sizes, which elsewhere hang or give a wrong tail.
TEST_P(CollectiveFailure, UnequalSizesNameTheWorkerB105) {
  for (Channel channel : kAllChannels) {
    auto result = statuses(2, {}, [&](Communicator &communicator) {
      Buffer<float> src({1000 + communicator.rank()}), dst(src.dims);
      return runCollective(communicator,
                           options(CollectiveOp::allReduce, channel),
                           src.view(), dst.view());
    });
    expectAll(result, {"worker 1", "[1001]", "worker 0", "[1000]", "fc6",
                       "all_reduce", "collective 0"});
  }
}

TEST_P(CollectiveFailure, AnotherOpTypeRootOrNodeNamesTheWorkerB105) {
  struct Case {
    const char *expected;
    std::function<void(CollectiveOptions &, int64_t &)> change;
  };
  const Case cases[] = {
      {"broadcast", [](auto &o, auto &) { o.op = CollectiveOp::broadcast; }},
      {"i32", [](auto &o, auto &) { o.type = DataType::i32; }},
      {"max", [](auto &o, auto &) { o.reduction = Reduction::max; }},
      {"fc7", [](auto &o, auto &) { o.node = "fc7"; }},
      {"root 1", [](auto &, auto &root) { root = 1; }},
  };
  for (const Case &test : cases) {
    auto result = statuses(3, {}, [&](Communicator &communicator) {
      auto mine = options(CollectiveOp::reduce);
      int64_t root = 0;
      if (communicator.rank() == 2)
        test.change(mine, root);
      Buffer<float> src({4}), dst({4});
      return runCollective(communicator, mine, src.view(), dst.view(), root);
    });
    expectAll(result, {"worker 2", test.expected});
  }
}

TEST_P(CollectiveFailure, PartsThatDoNotAddUp) {
  auto result = statuses(3, {}, [&](Communicator &communicator) {
    Buffer<float> src({2, 3}), dst({7, 3});
    return runCollective(communicator, options(CollectiveOp::allGather),
                         src.view(), dst.view());
  });
  expectAll(result, {"2+2+2", "7"});
  result = statuses(3, {}, [&](Communicator &communicator) {
    Buffer<float> src({6, communicator.rank() == 1 ? 4 : 3}), dst({2, 3});
    return runCollective(communicator, options(CollectiveOp::reduceScatter),
                         src.view(), dst.view());
  });
  expectAll(result, {"worker 1", "[6,4]"});
  result = statuses(3, {}, [&](Communicator &communicator) {
    Buffer<float> src, dst({7});
    return runCollective(communicator, options(CollectiveOp::allGatherInPlace),
                         src.view(), dst.view());
  });
  expectAll(result, {"[7]", "3 workers"});
}

// B102: the timeout fires at T on every worker and names step, op and worker.
TEST_P(CollectiveFailure, TimeoutNamesStepOpAndMissingWorkerB102) {
  for (Channel channel : kAllChannels) {
    GroupOptions groupOptions;
    groupOptions.timeout = 1500ms;
    auto begin = std::chrono::steady_clock::now();
    auto result = statuses(4, groupOptions, [&](Communicator &communicator) {
      auto all = options(CollectiveOp::allReduce, channel);
      Buffer<float> data({5}, 1);
      Status status;
      for (int64_t step = 0; step < 4 && status.ok(); ++step) {
        communicator.beginStep(step);
        if (communicator.rank() == 1 && step == 2)
          // Sleeps in place of the collective, until the others gave up.
          while (communicator.error().ok())
            std::this_thread::sleep_for(10ms);
        status = runCollective(communicator, all, data.view(), data.view());
      }
      return status;
    });
    expectAll(result, {"step 2", "all_reduce", "fc6", "worker 1 did not arrive",
                       "1500 ms"});
    EXPECT_EQ(result[0].code(), StatusCode::timeout);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  }
}

TEST_P(CollectiveFailure, SeveralMissingWorkersAreListed) {
  GroupOptions groupOptions;
  groupOptions.timeout = 1000ms;
  auto result = statuses(5, groupOptions, [&](Communicator &communicator) {
    if (communicator.rank() == 1 || communicator.rank() == 4)
      while (communicator.error().ok())
        std::this_thread::sleep_for(5ms);
    Buffer<float> data({5});
    return runCollective(communicator, options(CollectiveOp::allReduce),
                         data.view(), data.view());
  });
  expectAll(result, {"workers 1, 4 did not arrive"});
}

TEST_P(CollectiveFailure, AHeldTransferEndsWhenTheGroupStops) {
  TransferGate gate(Channel::background);
  gate.releaseUntil(1);
  GroupOptions groupOptions;
  groupOptions.hook = &gate;
  std::atomic<int> passed = 0;
  auto result = statuses(2, groupOptions, [&](Communicator &communicator) {
    Buffer<float> data({5}, 1);
    auto all = options(CollectiveOp::allReduce, Channel::background);
    EXPECT_TRUE(
        runCollective(communicator, all, data.view(), data.view()).ok());
    ++passed;
    // Nobody releases the second one.
    Request request = communicator.start(all, data.view(), data.view(), 0);
    while (communicator.rank() == 0 && passed < 2)
      std::this_thread::yield();
    if (communicator.rank() == 0)
      communicator.abort(environmentError("given up by the test"));
    return communicator.wait(request.sequence);
  });
  expectAll(result, {"given up by the test"});
}

// The thread variant of B100: one worker dies with an error in step 3; all
// others end in bounded time with its message.
TEST_P(CollectiveFailure, OneWorkersErrorStopsAllB100) {
  for (Channel channel : kAllChannels) {
    auto begin = std::chrono::steady_clock::now();
    auto result = statuses(4, {}, [&](Communicator &communicator) {
      auto all = options(CollectiveOp::allReduce, channel);
      Buffer<float> data({1000}, 1);
      for (int64_t step = 0; step < 10; ++step) {
        communicator.beginStep(step);
        if (communicator.rank() == 2 && step == 3) {
          communicator.abort(environmentError("worker 2: disk full"));
          return communicator.error();
        }
        Status status =
            runCollective(communicator, all, data.view(), data.view());
        if (!status.ok())
          return status;
      }
      return Status::success();
    });
    expectAll(result, {"worker 2: disk full"});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  }
}

TEST_P(CollectiveFailure, AfterAnErrorEveryCallReturnsAtOnce) {
  auto result = statuses(2, {}, [&](Communicator &communicator) {
    if (communicator.rank() == 0)
      communicator.abort(environmentError("first"));
    Buffer<float> data({4});
    Status status;
    while (status.ok())
      status = runCollective(communicator, options(CollectiveOp::allReduce),
                             data.view(), data.view());
    communicator.abort(environmentError("second"));
    for (int i = 0; i < 100; ++i) {
      Request request = communicator.start(
          options(CollectiveOp::allReduce, Channel::background), data.view(),
          data.view(), 0);
      EXPECT_FALSE(request.pending);
    }
    return communicator.error();
  });
  expectAll(result, {"first"});
}

TEST_P(CollectiveFailure, DroppedOrTruncatedCollectivesReceiveFewerBytes) {
  for (auto fault :
       {TransferHook::Fault::drop, TransferHook::Fault::truncate}) {
    for (CollectiveOp op : kAllCollectiveOps) {
      FaultInjector injector(fault, Channel::inlined, /*sequence=*/1);
      GroupOptions groupOptions;
      groupOptions.hook = &injector;
      auto group = createGroup(GetParam(), 2, groupOptions);
      std::array<int64_t, 2> whole = {}, broken = {};
      group->run([&](Communicator &communicator) {
        int64_t rank = communicator.rank();
        Buffer<float> large({8, 2}, 1), small({4, 2}, 1), other({8, 2});
        bool gathers = op == CollectiveOp::allGather;
        BufferView src = gathers ? small.view() : large.view();
        BufferView dst =
            op == CollectiveOp::reduceScatter ? small.view() : other.view();
        if (op == CollectiveOp::allGatherInPlace)
          src = BufferView();
        EXPECT_TRUE(runCollective(communicator, options(op), src, dst).ok());
        whole[rank] = communicator.counters().totalBytes();
        EXPECT_TRUE(runCollective(communicator, options(op), src, dst).ok());
        broken[rank] = communicator.counters().totalBytes() - whole[rank];
      });
      int64_t all = whole[0] + whole[1], left = broken[0] + broken[1];
      EXPECT_GT(all, 0);
      EXPECT_EQ(left, fault == TransferHook::Fault::drop ? 0 : all / 2)
          << toString(op);
    }
  }
}

TEST_P(CollectiveFailure, AGroupCanEndWithRequestsInFlight) {
  auto group = createGroup(GetParam(), 2);
  Buffer<float> data({4});
  auto all = options(CollectiveOp::allReduce, Channel::background);
  group->communicator(0).start(all, data.view(), data.view(), 0);
  auto begin = std::chrono::steady_clock::now();
  group.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST_P(CollectiveFailure, WaitForARequestThatWasNeverStarted) {
  auto group = createGroup(GetParam(), 1);
  Status status = group->communicator(0).wait(5);
  EXPECT_NE(status.message().find("5"), std::string::npos);
}

// A kernel that fails on one worker stops the others at their next collective,
// through the C ABI.
TEST(ContextFailure, AKernelErrorOnOneWorkerStopsAll) {
  const int64_t workers = 3;
  LocalGroup group(workers);
  std::vector<std::string> messages(workers);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < workers; ++rank)
    threads.emplace_back([&, rank] {
      auto created =
          Context::create(rank, workers, 1, group.communicator(rank));
      ASSERT_TRUE(created.ok());
      Context &context = **created;
      hpcc_context *handle = context.handle();
      hpcc_rt_define(handle, 0, "comm",
                     R"({"op":"all_reduce","reduction":"sum","dim":0,)"
                     R"("channel":"background","type":"f32","ranks":[1,1],)"
                     R"("node":"bucket0"})");
      hpcc_rt_define(handle, 1, "softmax_forward",
                     R"({"node":"prob","ranks":[2,2],"axis":1})");
      float data[6] = {1, 2, 3, 4, 5, 6}, out[6];
      int64_t dims[] = {6};
      for (int step = 0; step < 5; ++step) {
        context.beginStep(step);
        int64_t columns = rank == 1 && step == 2 ? 2 : 3;
        int64_t kernelDims[] = {2, 3, 2, columns};
        void *operands[] = {data, out};
        hpcc_rt_execute(handle, 1, operands, kernelDims);
        int64_t request =
            hpcc_rt_comm_start(handle, 0, data, dims, data, dims, 0, true);
        EXPECT_EQ(hpcc_rt_comm_start(handle, 0, data, dims, data, dims, 0,
                                     /*pred=*/false),
                  -1);
        hpcc_rt_comm_wait(handle, request);
        hpcc_rt_comm_wait(handle, -1);
      }
      // Nobody gets past the step that failed.
      EXPECT_LE(context.counters().executes, 3);
      messages[rank] = context.error().message();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &message : messages) {
    EXPECT_EQ(message, messages[0]);
    EXPECT_NE(message.find("prob"), std::string::npos) << message;
  }
}
