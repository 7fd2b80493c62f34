// SPDX-License-Identifier: Apache-2.0
// Programs of phase `fused` against a serial reference, to the bit between ways
// of compiling them, and with planted faults that must be noticed.
#include "test/pipelines/execution/Workers.h"

#include "hpcc/sharding.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "runtime/comm/TestHooks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

using namespace mlir;
using namespace hpcc;
using namespace hpcc::test;
namespace sharding = hpcc::sharding;

namespace {
constexpr int64_t kFeatures = 9, kUnits = 31;

/// The training of Inputs/scheme-*.mlir, written down serially from the
/// definition of the passes.
struct Reference {
  sharding::PassPlan plan;
  std::vector<double> w, m, dx;
  double loss = 0;

  explicit Reference(sharding::PassPlan plan) : plan(plan) {
    for (int64_t i = 0; i < kUnits * kFeatures; ++i)
      w.push_back(initialValue("w", i));
    m.assign(kUnits * kFeatures, 0);
  }

  void step(int64_t n, double rate) {
    dx.assign(n * kFeatures, 0);
    loss = 0;
    for (int64_t pass = 0; pass < sharding::passCount(plan); ++pass) {
      std::vector<double> gradient(kUnits * kFeatures, 0);
      std::vector<int64_t> rows = rowsOf(n, pass);
      for (int64_t row : rows)
        example(row, gradient);
      if (rows.empty())
        continue;
      for (size_t i = 0; i < w.size(); ++i) {
        m[i] = double(0.9f) * m[i] + gradient[i];
        w[i] -= m[i] * rate;
      }
    }
  }

private:
  std::vector<int64_t> rowsOf(int64_t n, int64_t pass) const {
    std::vector<int64_t> rows;
    for (int64_t rank = 0; rank < plan.workers; ++rank) {
      sharding::Chunk chunk = sharding::chunk(plan, n, rank, pass);
      int64_t first = plan.scheme == sharding::Scheme::a
                          ? 0
                          : sharding::examples(n, plan.workers, rank).offset;
      for (int64_t i = 0; i < chunk.count; ++i)
        rows.push_back(first + chunk.offset + i);
      if (plan.scheme == sharding::Scheme::a)
        break;
    }
    return rows;
  }

  void example(int64_t row, std::vector<double> &gradient) {
    for (int64_t unit = 0; unit < kUnits; ++unit) {
      double y = 0;
      for (int64_t i = 0; i < kFeatures; ++i)
        y += initialValue("x", row * kFeatures + i) * w[unit * kFeatures + i];
      double dy = (y - 1) * double(0.01f);
      loss += dy * dy;
      for (int64_t i = 0; i < kFeatures; ++i) {
        dx[row * kFeatures + i] += dy * w[unit * kFeatures + i];
        gradient[unit * kFeatures + i] +=
            initialValue("x", row * kFeatures + i) * dy;
      }
    }
  }
};

/// How far the workers' shards are from the reference, at most.
double distance(const RunResult &result, const Reference &reference,
                int64_t lastExamples) {
  double worst = 0;
  auto compare = [&](const std::vector<float> &got,
                     const std::vector<double> &expected, int64_t first) {
    for (size_t i = 0; i < got.size(); ++i) {
      double error = std::abs(got[i] - expected[first + i]);
      worst = std::max(worst, std::isnan(error) ? 1e9 : error);
    }
  };
  int64_t workers = result.workers.size();
  for (int64_t rank = 0; rank < workers; ++rank) {
    WorkerState state = result.workers[rank];
    int64_t unit = sharding::shard(kUnits, workers, rank).offset;
    int64_t row = sharding::examples(lastExamples, workers, rank).offset;
    compare(state["w"], reference.w, unit * kFeatures);
    compare(state["m"], reference.m, unit * kFeatures);
    compare(state["dx"], reference.dx, row * kFeatures);
    compare(state["loss"], {reference.loss}, 0);
  }
  return worst;
}

bool sameBits(const RunResult &a, const RunResult &b) {
  if (a.workers.size() != b.workers.size())
    return false;
  for (size_t rank = 0; rank < a.workers.size(); ++rank)
    for (const auto &[name, values] : a.workers[rank]) {
      const std::vector<float> &other = b.workers[rank].at(name);
      if (values.size() != other.size() ||
          (!values.empty() && std::memcmp(values.data(), other.data(),
                                          values.size() * sizeof(float))))
        return false;
    }
  return true;
}

// Full, short, odd, so short that workers and passes are empty.
const std::vector<int64_t> kSteps = {30, 30, 29, 7, 2, 30, 13};

struct Case {
  const char *input;
  sharding::PassPlan plan;
};
std::ostream &operator<<(std::ostream &os, const Case &c) {
  return os << c.input;
}

class SchemeTest : public testing::TestWithParam<Case> {
protected:
  RunOptions options() const {
    RunOptions options;
    options.workers = GetParam().plan.workers;
    options.examples = kSteps;
    return options;
  }
  RunResult runVariant(const Variant &variant) const {
    auto program = Compiled::create(readInput(GetParam().input), variant);
    return program ? run(*program, options()) : RunResult{{}, true, "no code"};
  }
  Reference reference() const {
    Reference reference(GetParam().plan);
    for (int64_t n : kSteps)
      reference.step(n, 0.01f);
    return reference;
  }
};
} // namespace

TEST_P(SchemeTest, TrainsLikeTheReference) {
  RunResult result = runVariant({});
  ASSERT_EQ(result.error, "");
  EXPECT_TRUE(result.canariesIntact);
  EXPECT_LT(distance(result, reference(), kSteps.back()), 1e-5);
}

TEST_P(SchemeTest, ArenaAndAllocationsGiveTheSameBits) {
  RunResult arena = runVariant({});
  RunResult allocations = runVariant({.arena = false});
  ASSERT_EQ(arena.error + allocations.error, "");
  EXPECT_TRUE(sameBits(arena, allocations));
}

TEST_P(SchemeTest, PipelinedAndSynchronousGiveTheSameBits) {
  RunResult pipelined = runVariant({});
  RunResult synchronous = runVariant({.schedule = false});
  ASSERT_EQ(pipelined.error + synchronous.error, "");
  EXPECT_TRUE(sameBits(pipelined, synchronous));
}

TEST_P(SchemeTest, ThreadsDoNotChangeGeneratedSums) {
  // Library kernels may sum differently; generated ones must not. Here only
  // the loss is a generated sum, and it follows the weights' rounding.
  RunResult one = runVariant({});
  auto program = Compiled::create(readInput(GetParam().input));
  ASSERT_TRUE(program);
  RunOptions two = options();
  two.threads = 2;
  RunResult result = run(*program, two);
  ASSERT_EQ(result.error, "");
  EXPECT_LT(distance(result, reference(), kSteps.back()), 1e-5);
}

const Case kCases[] = {
    {"scheme-c.mlir", {sharding::Scheme::c, 4, 30, 0}},
    {"scheme-b.mlir", {sharding::Scheme::b, 4, 30, 0}},
    {"one-worker.mlir", {sharding::Scheme::c, 1, 30, 7}},
};
INSTANTIATE_TEST_SUITE_P(Inputs, SchemeTest, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case> &info) {
                           std::string name = info.param.input;
                           name = name.substr(0, name.find('.'));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

//===----------------------------------------------------------------------===//
// Planted faults
//===----------------------------------------------------------------------===//

namespace {
/// All slots of a doubled buffer become the first.
void useOneSlot(ModuleOp module) {
  int64_t changed = 0;
  module.walk([&](memref::ViewOp view) {
    auto slot = view.getByteShift().getDefiningOp<affine::AffineApplyOp>();
    if (!slot)
      return;
    OpBuilder b(view);
    view.getByteShiftMutable().assign(
        arith::ConstantIndexOp::create(b, view.getLoc(), 0).getResult());
    ++changed;
  });
  EXPECT_GT(changed, 0) << "nothing to damage";
}

/// All buffers begin at the start of the arena.
void placeAllAtZero(ModuleOp module) {
  int64_t changed = 0;
  module.walk([&](memref::ViewOp view) {
    if (!isa<BlockArgument>(view.getSource()))
      return;
    OpBuilder b(view);
    view.getByteShiftMutable().assign(
        arith::ConstantIndexOp::create(b, view.getLoc(), 0).getResult());
    ++changed;
  });
  EXPECT_GT(changed, 0) << "nothing to damage";
}

/// The last buffer begins at the end of the arena.
void placeOneBehind(ModuleOp module) {
  memref::ViewOp last;
  module.walk([&](memref::ViewOp view) {
    if (isa<BlockArgument>(view.getSource()))
      last = view;
  });
  ASSERT_TRUE(last);
  OpBuilder b(last);
  int64_t bytes = cast<MemRefType>(last.getSource().getType()).getDimSize(0);
  last.getByteShiftMutable().assign(
      arith::ConstantIndexOp::create(b, last.getLoc(), bytes).getResult());
}

/// Delays every background transfer, so that a pass computes while the next
/// one's data arrives.
class Delay : public runtime::TransferHook {
public:
  void hold(const runtime::TransferInfo &info,
            const std::function<bool()> &) override {
    if (info.options->channel == runtime::Channel::background)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
};

RunOptions fourWorkers() {
  RunOptions options;
  options.workers = 4;
  options.examples = kSteps;
  return options;
}
} // namespace

TEST(PlantedFault, OneSlotInsteadOfTwoIsNoticed) {
  std::string text = readInput("scheme-c.mlir");
  auto good = Compiled::create(text);
  auto bad = Compiled::create(text, {.afterSchedule = useOneSlot});
  ASSERT_TRUE(good && bad);
  // The order of computing and arriving decides; try until it shows.
  bool noticed = false;
  for (int attempt = 0; attempt < 20 && !noticed; ++attempt) {
    Delay delay;
    RunOptions options = fourWorkers();
    options.hook = &delay;
    RunResult expected = run(*good, options);
    ASSERT_EQ(expected.error, "");
    noticed = !sameBits(expected, run(*bad, options));
  }
  EXPECT_TRUE(noticed);
}

TEST(PlantedFault, BuffersThatShareBytesAreNoticed) {
  std::string text = readInput("scheme-c.mlir");
  auto bad = Compiled::create(text, {.afterArena = placeAllAtZero});
  ASSERT_TRUE(bad);
  Reference reference({sharding::Scheme::c, 4, 30, 0});
  for (int64_t n : kSteps)
    reference.step(n, 0.01f);
  EXPECT_GT(distance(run(*bad, fourWorkers()), reference, kSteps.back()), 1e-3);
}

TEST(PlantedFault, ABufferBehindTheArenaHitsTheCanary) {
  auto bad = Compiled::create(readInput("scheme-c.mlir"),
                              {.afterArena = placeOneBehind});
  ASSERT_TRUE(bad);
  EXPECT_FALSE(run(*bad, fourWorkers()).canariesIntact);
}

//===----------------------------------------------------------------------===//
// Overlap
//===----------------------------------------------------------------------===//

namespace {
/// Of every worker and pass: has the collective that brings pass i+1 started
/// before the forward kernel of pass i began?
bool startsAhead(const std::vector<runtime::Event> &events, int64_t workers,
                 const std::string &collective) {
  using runtime::EventKind;
  for (int64_t rank = 0; rank < workers; ++rank) {
    int64_t started = 0, computed = 0;
    for (const runtime::Event &event : events) {
      if (event.rank != rank)
        continue;
      if (event.kind == EventKind::commStart && event.what == collective)
        ++started;
      if (event.kind == EventKind::kernelBegin &&
          event.what.rfind("linear_forward", 0) == 0) {
        ++computed;
        bool isLast = computed % workers == 0;
        if (started < computed + (isLast ? 0 : 1))
          return false;
      }
    }
    if (computed == 0)
      return false;
  }
  return true;
}

std::vector<runtime::Event> eventsOf(const Variant &variant,
                                     const char *input) {
  auto program = Compiled::create(readInput(input), variant);
  if (!program)
    return {};
  runtime::EventLog log;
  RunOptions options = fourWorkers();
  options.events = &log;
  EXPECT_EQ(run(*program, options).error, "");
  return log.events();
}
} // namespace

TEST(Overlap, SchemeCStartsEachPassBeforeTheOneBeforeComputes) {
  EXPECT_TRUE(startsAhead(eventsOf({}, "scheme-c.mlir"), 4, "all_gather fc"));
  EXPECT_FALSE(startsAhead(eventsOf({.schedule = false}, "scheme-c.mlir"), 4,
                           "all_gather fc"));
}

TEST(Overlap, SchemeBStartsEachPassBeforeTheOneBeforeComputes) {
  EXPECT_TRUE(startsAhead(eventsOf({}, "scheme-b.mlir"), 4, "broadcast fc"));
  EXPECT_FALSE(startsAhead(eventsOf({.schedule = false}, "scheme-b.mlir"), 4,
                           "broadcast fc"));
}

TEST(Overlap, APassComputesWhileTheNextOneIsHeldBack) {
  // Only the first gather may move data. All workers must compute pass 0
  // before the gather of pass 1 is let through.
  auto program = Compiled::create(readInput("scheme-c.mlir"));
  ASSERT_TRUE(program);
  runtime::TransferGate gate(runtime::Channel::background);
  gate.releaseUntil(1);
  runtime::EventLog log;
  RunOptions options = fourWorkers();
  options.hook = &gate;
  options.events = &log;
  bool computed = false;
  std::thread releaser([&] {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!computed && std::chrono::steady_clock::now() < deadline) {
      int64_t kernels = 0;
      for (const runtime::Event &event : log.events())
        kernels += event.kind == runtime::EventKind::kernelEnd &&
                   event.what.rfind("linear_backward_weights", 0) == 0;
      computed = kernels == 4;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    gate.releaseAll();
  });
  RunResult result = run(*program, options);
  releaser.join();
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(computed);
}
