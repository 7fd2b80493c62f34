// SPDX-License-Identifier: Apache-2.0
// Collectives against results computed from the formulas of all workers' data:
// every op, both channels, uneven parts, empty parts, both dimensions, bytes.
#include "runtime/base/EventLog.h"
#include "runtime/comm/TestHooks.h"
#include "test/runtime/conformance/CommunicatorGroup.h"
#include <atomic>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;

namespace {

using Param = std::tuple<std::string, int64_t, Channel>;

class Collective : public testing::TestWithParam<Param> {
protected:
  int64_t workers() const { return std::get<1>(GetParam()); }
  CollectiveOptions options(CollectiveOp op) const {
    CollectiveOptions result;
    result.op = op;
    result.channel = std::get<2>(GetParam());
    result.node = "fc6";
    return result;
  }
  std::unique_ptr<CommunicatorGroup> group(GroupOptions groupOptions = {}) {
    return createGroup(std::get<0>(GetParam()), workers(), groupOptions);
  }
};

/// Worker r's share, uneven; `empty` workers hold nothing.
int64_t partSize(int64_t rank) { return rank % 4 == 2 ? 0 : 2 * rank + 1; }

/// A value that names its worker and place, exactly representable.
float value(int64_t rank, int64_t row, int64_t column) {
  return float(rank * 10000 + row * 100 + column);
}

int64_t totalOfParts(int64_t workers) {
  int64_t total = 0;
  for (int64_t rank = 0; rank < workers; ++rank)
    total += partSize(rank);
  return total;
}

int64_t bytesOf(const Communicator &communicator, CollectiveOp op) {
  return communicator.counters().bytes[size_t(op)];
}

INSTANTIATE_TEST_SUITE_P(
    , Collective,
    testing::Combine(testing::ValuesIn(communicatorKinds()),
                     testing::Values<int64_t>(1, 2, 3, 4, 7),
                     testing::ValuesIn(kAllChannels)),
    [](const auto &info) {
      return std::get<0>(info.param) + "_" +
             std::to_string(std::get<1>(info.param)) + "_" +
             std::string(toString(std::get<2>(info.param)));
    });

} // namespace

TEST_P(Collective, AllGatherDim0UnevenParts) {
  auto workersOf = group();
  workersOf->run([&](Communicator &communicator) {
    int64_t rank = communicator.rank();
    Buffer<float> src({partSize(rank), 3});
    for (int64_t i = 0; i < src.dims[0]; ++i)
      for (int64_t j = 0; j < 3; ++j)
        src.data[i * 3 + j] = value(rank, i, j);
    Buffer<float> dst({totalOfParts(workers()), 3}, -1);
    auto all = options(CollectiveOp::allGather);
    ASSERT_TRUE(runCollective(communicator, all, src.view(), dst.view()).ok());
    size_t next = 0;
    for (int64_t from = 0; from < workers(); ++from)
      for (int64_t i = 0; i < partSize(from); ++i)
        for (int64_t j = 0; j < 3; ++j)
          EXPECT_EQ(dst.data[next++], value(from, i, j));
    EXPECT_EQ(bytesOf(communicator, CollectiveOp::allGather),
              (dst.count() - src.count()) * 4);
  });
}

TEST_P(Collective, AllGatherDim1UnevenParts) {
  auto workersOf = group();
  workersOf->run([&](Communicator &communicator) {
    int64_t rank = communicator.rank(), columns = totalOfParts(workers());
    Buffer<float> src({3, partSize(rank), 2});
    for (size_t i = 0; i < src.data.size(); ++i)
      src.data[i] = value(rank, 0, i);
    Buffer<float> dst({3, columns, 2}, -1);
    auto all = options(CollectiveOp::allGather);
    all.dim = 1;
    ASSERT_TRUE(runCollective(communicator, all, src.view(), dst.view()).ok());
    for (int64_t row = 0; row < 3; ++row) {
      int64_t column = 0;
      for (int64_t from = 0; from < workers(); ++from)
        for (int64_t j = 0; j < 2 * partSize(from); ++j)
          EXPECT_EQ(dst.data[row * columns * 2 + column++],
                    value(from, 0, row * 2 * partSize(from) + j));
    }
    EXPECT_EQ(bytesOf(communicator, CollectiveOp::allGather),
              (dst.count() - src.count()) * 4);
  });
}

TEST_P(Collective, ReduceScatterBothDimensions) {
  for (int dim : {0, 1}) {
    auto workersOf = group();
    workersOf->run([&](Communicator &communicator) {
      int64_t rank = communicator.rank(), total = totalOfParts(workers());
      Buffer<float> src(dim == 0 ? std::vector<int64_t>{total, 3}
                                 : std::vector<int64_t>{3, total});
      for (size_t i = 0; i < src.data.size(); ++i)
        src.data[i] = value(rank, 0, i);
      Buffer<float> dst(dim == 0 ? std::vector<int64_t>{partSize(rank), 3}
                                 : std::vector<int64_t>{3, partSize(rank)},
                        -1);
      auto scatter = options(CollectiveOp::reduceScatter);
      scatter.dim = dim;
      ASSERT_TRUE(
          runCollective(communicator, scatter, src.view(), dst.view()).ok());
      int64_t offset = 0;
      for (int64_t lower = 0; lower < rank; ++lower)
        offset += partSize(lower);
      for (int64_t i = 0; i < dst.dims[0]; ++i)
        for (int64_t j = 0; j < dst.dims[1]; ++j) {
          int64_t place =
              dim == 0 ? (offset + i) * 3 + j : i * total + offset + j;
          float sum = 0;
          for (int64_t from = 0; from < workers(); ++from)
            sum += value(from, 0, place);
          EXPECT_EQ(dst.data[i * dst.dims[1] + j], sum);
        }
      EXPECT_EQ(bytesOf(communicator, CollectiveOp::reduceScatter),
                (workers() - 1) * dst.count() * 4);
    });
  }
}

TEST_P(Collective, ReduceScatterIntoItsOwnSource) {
  auto workersOf = group();
  workersOf->run([&](Communicator &communicator) {
    int64_t rank = communicator.rank(), part = 5000;
    Buffer<float> src({workers() * part});
    for (size_t i = 0; i < src.data.size(); ++i)
      src.data[i] = value(rank, 0, i % 97);
    int64_t dims[] = {part};
    BufferView dst(src.data.data() + rank * part, dims, 1);
    ASSERT_TRUE(runCollective(communicator,
                              options(CollectiveOp::reduceScatter), src.view(),
                              dst)
                    .ok());
    for (int64_t i = 0; i < part; ++i) {
      float sum = 0;
      for (int64_t from = 0; from < workers(); ++from)
        sum += value(from, 0, (rank * part + i) % 97);
      ASSERT_EQ(src.data[rank * part + i], sum);
    }
  });
}

TEST_P(Collective, BroadcastFromEveryRoot) {
  for (int64_t root = 0; root < workers(); ++root) {
    auto workersOf = group();
    workersOf->run([&](Communicator &communicator) {
      bool isRoot = communicator.rank() == root;
      // Only the root has rows to send.
      Buffer<float> src({isRoot ? 5 : 0, 2});
      for (size_t i = 0; i < src.data.size(); ++i)
        src.data[i] = value(root, 0, i);
      Buffer<float> dst({5, 2}, -1);
      ASSERT_TRUE(runCollective(communicator, options(CollectiveOp::broadcast),
                                src.view(), dst.view(), root)
                      .ok());
      for (size_t i = 0; i < dst.data.size(); ++i)
        EXPECT_EQ(dst.data[i], value(root, 0, i));
      EXPECT_EQ(bytesOf(communicator, CollectiveOp::broadcast),
                isRoot ? 0 : 40);
    });
  }
}

TEST_P(Collective, ReduceLeavesOtherDestinationsAlone) {
  for (int64_t root = 0; root < workers(); ++root) {
    auto workersOf = group();
    workersOf->run([&](Communicator &communicator) {
      bool isRoot = communicator.rank() == root;
      Buffer<float> src({4, 2});
      for (size_t i = 0; i < src.data.size(); ++i)
        src.data[i] = value(communicator.rank(), 0, i);
      Buffer<float> dst(isRoot ? src.dims : std::vector<int64_t>{1, 2}, -7);
      ASSERT_TRUE(runCollective(communicator, options(CollectiveOp::reduce),
                                src.view(), dst.view(), root)
                      .ok());
      for (size_t i = 0; i < dst.data.size(); ++i) {
        float sum = 0;
        for (int64_t from = 0; from < workers(); ++from)
          sum += value(from, 0, i);
        EXPECT_EQ(dst.data[i], isRoot ? sum : -7);
      }
      EXPECT_EQ(bytesOf(communicator, CollectiveOp::reduce),
                isRoot ? (workers() - 1) * 32 : 0);
    });
  }
}

TEST_P(Collective, AllReduceOfEverySizeAndInPlace) {
  for (int64_t count : {0, 1, 2, 5, 4099}) {
    for (bool inPlace : {false, true}) {
      auto workersOf = group();
      std::atomic<int64_t> allBytes = 0;
      workersOf->run([&](Communicator &communicator) {
        int64_t rank = communicator.rank();
        Buffer<float> src({count});
        for (int64_t i = 0; i < count; ++i)
          src.data[i] = value(rank, 0, i % 90);
        Buffer<float> dst({count}, -1);
        BufferView target = inPlace ? src.view() : dst.view();
        ASSERT_TRUE(runCollective(communicator,
                                  options(CollectiveOp::allReduce), src.view(),
                                  target)
                        .ok());
        const float *result = static_cast<float *>(target.data);
        for (int64_t i = 0; i < count; ++i) {
          float sum = 0;
          for (int64_t from = 0; from < workers(); ++from)
            sum += value(from, 0, i % 90);
          ASSERT_EQ(result[i], sum);
        }
        // Balanced reduce-scatter and all-gather of shards.
        int64_t own = count / workers() + (rank < count % workers() ? 1 : 0);
        int64_t expected = (workers() - 1) * own + (count - own);
        EXPECT_EQ(bytesOf(communicator, CollectiveOp::allReduce), expected * 4);
        allBytes += bytesOf(communicator, CollectiveOp::allReduce);
      });
      EXPECT_EQ(allBytes, 2 * (workers() - 1) * count * 4);
    }
  }
}

TEST_P(Collective, AllGatherInPlace) {
  for (bool ownSource : {false, true}) {
    auto workersOf = group();
    workersOf->run([&](Communicator &communicator) {
      int64_t rank = communicator.rank(), part = 6;
      Buffer<float> whole({workers() * part}, -1);
      Buffer<float> own({part});
      for (int64_t i = 0; i < part; ++i)
        own.data[i] = value(rank, 0, i);
      int64_t dims[] = {part};
      BufferView slice(whole.data.data() + rank * part, dims, 1);
      if (!ownSource)
        std::copy(own.data.begin(), own.data.end(),
                  whole.data.begin() + rank * part);
      ASSERT_TRUE(runCollective(communicator,
                                options(CollectiveOp::allGatherInPlace),
                                ownSource ? own.view() : slice, whole.view())
                      .ok());
      for (int64_t from = 0; from < workers(); ++from)
        for (int64_t i = 0; i < part; ++i)
          EXPECT_EQ(whole.data[from * part + i], value(from, 0, i));
      EXPECT_EQ(bytesOf(communicator, CollectiveOp::allGatherInPlace),
                (workers() - 1) * part * 4);
    });
  }
}

template <typename T>
static void reduceTyped(CommunicatorGroup &workersOf, CollectiveOptions options,
                        DataType type) {
  options.type = type;
  for (Reduction reduction : kAllReductions) {
    options.reduction = reduction;
    workersOf.run([&](Communicator &communicator) {
      Buffer<T> src({3});
      for (int64_t i = 0; i < 3; ++i)
        src.data[i] = T((communicator.rank() * 5 + i * 3) % 11 - 4);
      Buffer<T> dst({3});
      ASSERT_TRUE(
          runCollective(communicator, options, src.view(), dst.view()).ok());
      for (int64_t i = 0; i < 3; ++i) {
        int64_t sum = 0, largest = -100;
        for (int64_t from = 0; from < communicator.size(); ++from) {
          int64_t element = (from * 5 + i * 3) % 11 - 4;
          sum += element;
          largest = std::max(largest, element);
        }
        EXPECT_EQ(int64_t(dst.data[i]),
                  reduction == Reduction::sum ? sum : largest)
            << toString(type);
      }
    });
  }
}

TEST_P(Collective, EveryTypeAndReduction) {
  auto workersOf = group();
  auto all = options(CollectiveOp::allReduce);
  // A type that is not in this list would leave the switch of the reductions.
  for (DataType type : kAllDataTypes)
    switch (type) {
    case DataType::f32:
      reduceTyped<float>(*workersOf, all, type);
      break;
    case DataType::i32:
      reduceTyped<int32_t>(*workersOf, all, type);
      break;
    case DataType::i64:
      reduceTyped<int64_t>(*workersOf, all, type);
      break;
    case DataType::i8:
      reduceTyped<int8_t>(*workersOf, all, type);
      break;
    }
}

TEST_P(Collective, MaxKeepsNaNWhateverWorkerHasIt) {
  for (int64_t bad = 0; bad < workers(); ++bad) {
    auto workersOf = group();
    workersOf->run([&](Communicator &communicator) {
      Buffer<float> src({2}, float(communicator.rank()));
      if (communicator.rank() == bad)
        src.data[1] = std::nanf("");
      Buffer<float> dst({2});
      auto all = options(CollectiveOp::allReduce);
      all.reduction = Reduction::max;
      ASSERT_TRUE(
          runCollective(communicator, all, src.view(), dst.view()).ok());
      EXPECT_EQ(dst.data[0], float(workers() - 1));
      EXPECT_TRUE(std::isnan(dst.data[1]));
    });
  }
}

// B130: for a fixed number of workers the bits repeat, and are those of the
// sum in rank order; float addition is not associative, so this can fail.
TEST_P(Collective, SumsInRankOrderToTheBitB130) {
  const int64_t count = 1003;
  auto element = [](int64_t rank, int64_t i) {
    return float(std::sin(double(rank * 7919 + i)) * std::pow(10.0, i % 7));
  };
  std::vector<float> first;
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto workersOf = group();
    std::vector<std::vector<float>> results(workers());
    workersOf->run([&](Communicator &communicator) {
      Buffer<float> src({count}), dst({count});
      for (int64_t i = 0; i < count; ++i)
        src.data[i] = element(communicator.rank(), i);
      ASSERT_TRUE(runCollective(communicator, options(CollectiveOp::allReduce),
                                src.view(), dst.view())
                      .ok());
      results[communicator.rank()] = dst.data;
    });
    for (int64_t i = 0; i < count; ++i) {
      float sum = element(0, i);
      for (int64_t rank = 1; rank < workers(); ++rank)
        sum += element(rank, i);
      ASSERT_EQ(std::memcmp(&results[0][i], &sum, 4), 0);
    }
    for (const auto &result : results)
      EXPECT_EQ(std::memcmp(result.data(), results[0].data(), count * 4), 0);
  }
}

// B104: 101 samples in batches of 8 on 3 workers: 13 steps on each worker, the
// last with 1, 2 and 2 samples; the weighted mean is that of all samples.
TEST_P(Collective, UnequalShareOfTheLastBatchIsWeightedB104) {
  const int64_t samples = 101, batch = 8;
  auto workersOf = group();
  workersOf->run([&](Communicator &communicator) {
    int64_t rank = communicator.rank();
    float total = 0;
    int64_t steps = 0;
    for (int64_t begin = 0; begin < samples; begin += batch, ++steps) {
      int64_t n = std::min(batch, samples - begin);
      int64_t low = rank * n / workers(), high = (rank + 1) * n / workers();
      Buffer<float> loss({1}), sum({1});
      for (int64_t i = low; i < high; ++i)
        loss.data[0] += float(begin + i);
      ASSERT_TRUE(runCollective(communicator, options(CollectiveOp::allReduce),
                                loss.view(), sum.view())
                      .ok());
      total += sum.data[0];
    }
    EXPECT_EQ(steps, 13);
    EXPECT_EQ(total, 101.0f * 100 / 2);
  });
}

// B117: 5 units on the workers come together as 5, empty shards included.
TEST_P(Collective, UnevenShardsRejoinB117) {
  for (int64_t units : {1, 5}) {
    auto workersOf = group();
    workersOf->run([&](Communicator &communicator) {
      auto sizeOf = [&](int64_t rank) {
        return units / workers() + (rank < units % workers() ? 1 : 0);
      };
      int64_t rank = communicator.rank(), offset = 0;
      for (int64_t lower = 0; lower < rank; ++lower)
        offset += sizeOf(lower);
      Buffer<float> src({2, sizeOf(rank)});
      for (int64_t row = 0; row < 2; ++row)
        for (int64_t i = 0; i < src.dims[1]; ++i)
          src.data[row * src.dims[1] + i] = float(row * 100 + offset + i);
      Buffer<float> dst({2, units}, -1);
      auto all = options(CollectiveOp::allGather);
      all.dim = 1;
      ASSERT_TRUE(
          runCollective(communicator, all, src.view(), dst.view()).ok());
      for (int64_t row = 0; row < 2; ++row)
        for (int64_t i = 0; i < units; ++i)
          EXPECT_EQ(dst.data[row * units + i], float(row * 100 + i));
    });
  }
}

TEST_P(Collective, ChannelsDoNotDelayEachOther) {
  // Background transfers are held: collectives of the inline channel go on.
  TransferGate gate(Channel::background);
  GroupOptions groupOptions;
  groupOptions.hook = &gate;
  auto workersOf = group(groupOptions);
  std::atomic<int64_t> passed = 0;
  workersOf->run([&](Communicator &communicator) {
    auto background = options(CollectiveOp::allReduce);
    background.channel = Channel::background;
    auto inlined = background;
    inlined.channel = Channel::inlined;
    Buffer<float> a({3}, 1), b({3}), c({3}, 2), d({3});
    Request request = communicator.start(background, a.view(), b.view(), 0);
    EXPECT_TRUE(request.pending);
    EXPECT_EQ(request.sequence, 0);
    EXPECT_TRUE(runCollective(communicator, inlined, c.view(), d.view()).ok());
    EXPECT_EQ(d.data[0], 2 * workers());
    EXPECT_EQ(b.data[0], 0);
    if (++passed == workers())
      gate.releaseAll();
    EXPECT_TRUE(communicator.wait(request.sequence).ok());
    EXPECT_EQ(b.data[0], workers());
  });
}

// "Start really starts": collective i+1 is in flight while pass i computes.
TEST_P(Collective, EventsShowTheNextCollectiveInFlight) {
  EventLog log;
  TransferGate gate(Channel::background);
  GroupOptions groupOptions;
  groupOptions.hook = &gate;
  auto workersOf = group(groupOptions);
  const int64_t passes = 4;
  std::atomic<int64_t> computing[passes + 1] = {};
  workersOf->run([&](Communicator &communicator) {
    communicator.setEventLog(&log);
    auto gather = options(CollectiveOp::allGather);
    gather.channel = Channel::background;
    Buffer<float> src({1}, 1),
        slots[2] = {Buffer<float>({workers()}), Buffer<float>({workers()})};
    Request next = communicator.start(gather, src.view(), slots[0].view(), 0);
    for (int64_t pass = 0; pass < passes; ++pass) {
      // Transfer `pass` is let go only after everybody computes pass - 1.
      gate.releaseUntil(pass + 1);
      ASSERT_TRUE(communicator.wait(next.sequence).ok());
      next = communicator.start(gather, src.view(),
                                slots[(pass + 1) % 2].view(), 0);
      Event compute;
      compute.kind = EventKind::kernelBegin;
      compute.rank = communicator.rank();
      compute.sequence = pass;
      log.add(compute);
      if (++computing[pass] < workers())
        while (computing[pass] < workers())
          std::this_thread::yield();
    }
    gate.releaseAll();
    ASSERT_TRUE(communicator.wait(next.sequence).ok());
    communicator.setEventLog(nullptr);
  });
  auto events = log.events();
  auto indexOf = [&](EventKind kind, int64_t rank, int64_t sequence) {
    for (size_t i = 0; i < events.size(); ++i)
      if (events[i].kind == kind && events[i].rank == rank &&
          events[i].sequence == sequence)
        return i;
    ADD_FAILURE() << "no such event";
    return size_t(0);
  };
  for (int64_t rank = 0; rank < workers(); ++rank)
    for (int64_t pass = 0; pass < passes; ++pass) {
      size_t compute = indexOf(EventKind::kernelBegin, rank, pass);
      EXPECT_LT(indexOf(EventKind::commStart, rank, pass + 1), compute);
      EXPECT_LT(compute, indexOf(EventKind::commBegin, rank, pass + 1));
      EXPECT_LT(indexOf(EventKind::commEnd, rank, pass), compute);
      EXPECT_LT(indexOf(EventKind::commWaited, rank, pass), compute);
    }
}

TEST_P(Collective, ManyRequestsInOrder) {
  auto workersOf = group();
  workersOf->run([&](Communicator &communicator) {
    const int64_t count = 300;
    auto all = options(CollectiveOp::allReduce);
    all.channel = Channel::background;
    std::vector<Buffer<float>> buffers;
    for (int64_t i = 0; i < count; ++i)
      buffers.emplace_back(std::vector<int64_t>{2}, float(i));
    std::vector<int64_t> requests;
    for (auto &buffer : buffers)
      requests.push_back(
          communicator.start(all, buffer.view(), buffer.view(), 0).sequence);
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(requests[i], i);
      EXPECT_TRUE(communicator.wait(requests[i]).ok());
      EXPECT_EQ(buffers[i].data[1], float(i * workers()));
    }
    EXPECT_EQ(communicator.counters().collectives[size_t(all.op)], count);
  });
}

TEST(LocalCollective, SixtyFourWorkers) {
  auto workersOf = createGroup("local", 64);
  workersOf->run([&](Communicator &communicator) {
    CollectiveOptions gather;
    gather.op = CollectiveOp::allGather;
    CollectiveOptions reduce;
    reduce.op = CollectiveOp::allReduce;
    reduce.channel = Channel::background;
    for (int repeat = 0; repeat < 20; ++repeat) {
      Buffer<float> mine({1}, float(communicator.rank())), all({64});
      Buffer<float> sum({130}, 1);
      Request request = communicator.start(reduce, sum.view(), sum.view(), 0);
      ASSERT_TRUE(
          runCollective(communicator, gather, mine.view(), all.view()).ok());
      ASSERT_TRUE(communicator.wait(request.sequence).ok());
      for (int i = 0; i < 64; ++i)
        ASSERT_EQ(all.data[i], float(i));
      for (float element : sum.data)
        ASSERT_EQ(element, 64);
    }
  });
}

TEST(Names, EveryEnumValueHasOneThatParsesBack) {
  for (CollectiveOp op : kAllCollectiveOps)
    EXPECT_EQ(parseCollectiveOp(toString(op)), op);
  for (Reduction reduction : kAllReductions)
    EXPECT_EQ(parseReduction(toString(reduction)), reduction);
  for (Channel channel : kAllChannels)
    EXPECT_EQ(parseChannel(toString(channel)), channel);
  for (DataType type : kAllDataTypes) {
    EXPECT_EQ(parseDataType(toString(type)), type);
    EXPECT_GT(sizeOf(type), 0);
  }
  EXPECT_EQ(toString(CollectiveOp::allGatherInPlace), "all_gather_in_place");
  EXPECT_FALSE(parseCollectiveOp("unknown").has_value());
  EXPECT_FALSE(parseChannel("").has_value());
}
