// SPDX-License-Identifier: Apache-2.0
// A steady training step takes no memory. A program of its own, because it
// replaces operator new.

#include "runtime/train/Trainer.h"
#include "test/runtime/TemporaryDirectory.h"
#include "test/runtime/train/FakeProgram.h"

#include <atomic>
#include <cstdlib>
#include <new>

using namespace hpcc::runtime;
using namespace hpcc::test;

static std::atomic<int64_t> allocations = 0;

// GCC does not see that these replace the operators as a pair.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  std::abort();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

TEST(Allocation, aSteadyStepAllocatesNothing) {
  TemporaryDirectory directory;
  Program program = makeProgram(3, 8);
  FakeWorkers group(3);
  Result<std::unique_ptr<Engine>> engine = Engine::create(program, group);
  ASSERT_TRUE(engine.ok());
  auto dataset = makeDataset(20); // Short batches are steady too.
  TrainOptions options;
  options.epochs = 4;
  options.saveEvery = 1000; // What happens at saves is no step.
  options.log = directory.path("log");
  options.progress.quiet = true;
  options.progress.interval = std::chrono::milliseconds(0);
  // Counted between the first epoch and the end of the last.
  static std::vector<int64_t> counts;
  counts.clear();
  counts.reserve(100);
  options.interrupted = [] {
    counts.push_back(allocations);
    return false;
  };
  ASSERT_TRUE(
      train(**engine, *dataset, nullptr, makeInitialState(program), options)
          .ok());
  ASSERT_EQ(counts.size(), 12u);
  for (size_t step = 3; step < counts.size(); ++step)
    EXPECT_EQ(counts[step], counts[2]) << "step " << step;
}
