// SPDX-License-Identifier: Apache-2.0
// A steady-state step allocates nothing: after the first run with given sizes,
// kernels, parallel loops and collectives call no allocator. What the library
// allocates inside its own calls is not ours to count; it is told apart by the
// caller's address.
#include "test/runtime/conformance/KernelHarness.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <link.h>
#include <new>
#include <thread>

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;

namespace {
std::atomic<bool> counting = false;
std::atomic<int64_t> ours = 0, library = 0;
uintptr_t libraryBegin = 0, libraryEnd = 0;

int findLibrary(dl_phdr_info *info, size_t, void *) {
  if (!std::strstr(info->dlpi_name, "libdnnl"))
    return 0;
  libraryBegin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD)
      continue;
    uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    libraryBegin = std::min(libraryBegin, begin);
    libraryEnd = std::max(libraryEnd, begin + info->dlpi_phdr[i].p_memsz);
  }
  return 1;
}

void *countedNew(size_t bytes, void *caller) {
  if (counting) {
    uintptr_t address = reinterpret_cast<uintptr_t>(caller);
    bool inLibrary = address >= libraryBegin && address < libraryEnd;
    ++(inLibrary ? library : ours);
  }
  if (void *memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc();
}
} // namespace

void *operator new(size_t bytes) {
  return countedNew(bytes, __builtin_return_address(0));
}
void *operator new[](size_t bytes) {
  return countedNew(bytes, __builtin_return_address(0));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

namespace {
/// Allocations of the project's own code while body runs.
template <typename Body> int64_t allocationsOf(Body body) {
  ours = library = 0;
  counting = true;
  body();
  counting = false;
  return ours;
}

struct KernelCall {
  const char *kind;
  const char *json;
  std::vector<Shape> shapes;
};

const KernelCall kCalls[] = {
    {"conv_forward",
     R"("pads":[1,1,1,1])",
     {{2, 3, 8, 8}, {16, 3, 3, 3}, {16}, {2, 16, 8, 8}}},
    {"conv_backward_data",
     R"("pads":[1,1,1,1])",
     {{2, 16, 8, 8}, {16, 3, 3, 3}, {2, 3, 8, 8}}},
    {"conv_backward_weights",
     R"("pads":[1,1,1,1],"accumulate":true)",
     {{2, 3, 8, 8}, {2, 16, 8, 8}, {16, 3, 3, 3}, {16}}},
    {"linear_forward", "", {{32, 64}, {48, 64}, {48}, {32, 48}}},
    {"linear_backward_data", "", {{32, 48}, {48, 64}, {32, 64}}},
    {"linear_backward_weights", "", {{32, 64}, {32, 48}, {48, 64}, {48}}},
    {"max_pool_forward",
     R"("kernel":[2,2],"strides":[2,2])",
     {{2, 16, 8, 8}, {2, 16, 4, 4}, {2, 16, 4, 4}}},
    {"max_pool_backward",
     R"("kernel":[2,2],"strides":[2,2])",
     {{2, 16, 4, 4}, {2, 16, 4, 4}, {2, 16, 8, 8}}},
    {"avg_pool_forward",
     R"("kernel":[2,2],"strides":[2,2])",
     {{2, 16, 8, 8}, {2, 16, 4, 4}}},
    {"avg_pool_backward",
     R"("kernel":[2,2],"strides":[2,2])",
     {{2, 16, 4, 4}, {2, 16, 8, 8}}},
    {"batch_norm_forward",
     "",
     {{2, 5, 4, 4}, {5}, {5}, {2, 5, 4, 4}, {5}, {5}}},
    {"batch_norm_inference",
     "",
     {{2, 5, 4, 4}, {5}, {5}, {5}, {5}, {2, 5, 4, 4}}},
    {"batch_norm_backward",
     "",
     {{2, 5, 4, 4}, {2, 5, 4, 4}, {5}, {5}, {5}, {2, 5, 4, 4}, {5}, {5}}},
    {"lrn_forward", R"("size":5)", {{2, 8, 4, 4}, {2, 8, 4, 4}}},
    {"lrn_backward",
     R"("size":5)",
     {{2, 8, 4, 4}, {2, 8, 4, 4}, {2, 8, 4, 4}, {2, 8, 4, 4}}},
    {"softmax_forward", R"("axis":1)", {{4, 10}, {4, 10}}},
    {"softmax_backward", R"("axis":1)", {{4, 10}, {4, 10}, {4, 10}}},
    {"log_softmax_forward", R"("axis":1)", {{4, 10}, {4, 10}}},
    {"log_softmax_backward", R"("axis":1)", {{4, 10}, {4, 10}, {4, 10}}},
    {"reorder",
     R"("from":"nchw","to":"nChw16c")",
     {{2, 16, 4, 4}, {2, 1, 4, 4, 16}}},
};
} // namespace

TEST(Allocation, TheCounterCounts) {
  int *volatile memory = nullptr;
  EXPECT_EQ(allocationsOf([&] { memory = new int(1); }), 1);
  delete memory;
}

TEST(Allocation, ARepeatedKernelAllocatesNothing) {
  dl_iterate_phdr(findLibrary, nullptr);
  ASSERT_GT(libraryEnd, libraryBegin);
  for (const std::string &device : deviceKinds()) {
    auto worker = std::make_unique<LocalGroup>(1);
    auto context = Context::create(0, 1, 2, worker->communicator(0), device);
    ASSERT_TRUE(context.ok());
    int64_t id = 0;
    struct Prepared {
      std::vector<std::vector<float>> buffers;
      std::vector<void *> operands;
      std::vector<int64_t> dims;
    };
    std::vector<Prepared> all;
    for (const KernelCall &call : kCalls) {
      Prepared prepared;
      std::string ranks;
      for (const Shape &shape : call.shapes) {
        ranks += (ranks.empty() ? "" : ",") + std::to_string(shape.size());
        prepared.buffers.emplace_back(elementsOf(shape), 0.0f);
        prepared.dims.insert(prepared.dims.end(), shape.begin(), shape.end());
      }
      for (auto &buffer : prepared.buffers)
        prepared.operands.push_back(buffer.data());
      std::string json = "{\"node\":\"n\",\"ranks\":[" + ranks + "]" +
                         (*call.json ? "," : "") + call.json + "}";
      hpcc_rt_define((*context)->handle(), id++, call.kind, json.c_str());
      all.push_back(std::move(prepared));
    }
    auto runAll = [&] {
      for (size_t i = 0; i < all.size(); ++i)
        hpcc_rt_execute((*context)->handle(), i, all[i].operands.data(),
                        all[i].dims.data());
    };
    EXPECT_GT(allocationsOf(runAll), 0);
    ASSERT_TRUE((*context)->error().ok()) << (*context)->error().message();
    DeviceCounters before = (*context)->counters().device;
    EXPECT_EQ(allocationsOf([&] {
                for (int repeat = 0; repeat < 5; ++repeat)
                  runAll();
              }),
              0);
    DeviceCounters after = (*context)->counters().device;
    EXPECT_EQ(after.preparations, before.preparations);
    EXPECT_EQ(after.scratchGrowths, before.scratchGrowths);
    EXPECT_EQ(before.preparations, int64_t(std::size(kCalls)));
    // With smaller sizes scratch memory is kept, not given back.
    EXPECT_GT(after.scratchBytes, 0);
  }
}

TEST(Allocation, ParallelLoopsAllocateNothing) {
  LocalGroup group(1);
  auto context = Context::create(0, 1, 2, group.communicator(0));
  std::vector<float> data(1000);
  auto loop = [&] {
    hpcc_rt_parallel_for((*context)->handle(),
                         [](void *captured, int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i)
                             static_cast<float *>(captured)[i] += 1;
                         },
                         data.data(), 0, data.size());
  };
  loop();
  EXPECT_EQ(allocationsOf([&] {
              for (int i = 0; i < 10; ++i)
                loop();
            }),
            0);
  EXPECT_EQ(data[999], 11);
}

TEST(Allocation, CollectivesAllocateNothing) {
  const int64_t workers = 3;
  LocalGroup group(workers);
  std::vector<std::unique_ptr<Context>> contexts;
  for (int64_t rank = 0; rank < workers; ++rank)
    contexts.push_back(std::move(
        *Context::create(rank, workers, 1, group.communicator(rank))));
  std::atomic<int64_t> ready = 0;
  std::atomic<bool> go = false, finished = false;
  std::atomic<int64_t> done = 0;
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < workers; ++rank)
    threads.emplace_back([&, rank] {
      hpcc_context *handle = contexts[rank]->handle();
      for (int channel = 0; channel < 2; ++channel)
        hpcc_rt_define(handle, channel, "comm",
                       (std::string(R"({"op":"all_reduce","ranks":[1,1],)") +
                        R"("node":"a node name longer than a small string",)" +
                        R"("channel":")" + (channel ? "background" : "inline") +
                        "\"}")
                           .c_str());
      std::vector<float> data(100, 1), out(100);
      int64_t dims[] = {100};
      auto step = [&] {
        int64_t request = hpcc_rt_comm_start(handle, 1, data.data(), dims,
                                             out.data(), dims, 0, true);
        hpcc_rt_comm_wait(handle,
                          hpcc_rt_comm_start(handle, 0, data.data(), dims,
                                             data.data(), dims, 0, true));
        hpcc_rt_comm_wait(handle, request);
      };
      step();
      ++ready;
      while (!go)
        std::this_thread::yield();
      for (int repeat = 0; repeat < 10; ++repeat)
        step();
      ++done;
      while (!finished)
        std::this_thread::yield();
    });
  while (ready < workers)
    std::this_thread::yield();
  EXPECT_EQ(allocationsOf([&] {
              go = true;
              while (done < workers)
                std::this_thread::yield();
            }),
            0);
  finished = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(group.error().ok()) << group.error().message();
}
