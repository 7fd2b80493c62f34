// SPDX-License-Identifier: Apache-2.0
// The functions of the hand-written program, with the calling convention of
// compiled ones.

#include "test/runtime/train/FakeProgram.h"

#include "runtime/data/ArrayDataset.h"
#include "runtime/include/hpcc/sharding.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace hpcc::runtime;

namespace hpcc::test {

FakeWorkers::FakeWorkers(int64_t workers) : contexts(workers), errors(workers) {
  for (int64_t rank = 0; rank < workers; ++rank) {
    contexts[rank].group = this;
    contexts[rank].rank = rank;
  }
}

FakeWorkers::~FakeWorkers() { EXPECT_EQ(allocated, 0); }

int64_t FakeWorkers::size() const {
  return static_cast<int64_t>(contexts.size());
}

Status FakeWorkers::attach(int64_t) { return {}; }

void *FakeWorkers::context(int64_t rank) { return &contexts[rank]; }

Status FakeWorkers::status(int64_t rank) {
  std::lock_guard lock(mutex);
  return errors[rank];
}

void FakeWorkers::setError(int64_t rank, const Status &status) {
  std::lock_guard lock(mutex);
  errors[rank] = status;
  stopped = true;
}

void FakeWorkers::abort(const Status &) {
  ++aborts;
  stopped = true;
}

int64_t FakeWorkers::receivedBytes(int64_t rank) {
  return contexts[rank].received;
}

Result<void *> FakeWorkers::allocate(int64_t, size_t bytes, Purpose) {
  ++allocated;
  void *memory = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  std::memset(memory, 0, (bytes + 64) / 64 * 64);
  return memory;
}

void FakeWorkers::release(int64_t, void *memory) {
  --allocated;
  std::free(memory);
}

Status FakeWorkers::copyToWorker(int64_t, void *to, const void *from,
                                 size_t bytes) {
  if (bytes)
    std::memcpy(to, from, bytes);
  return {};
}

Status FakeWorkers::copyToHost(int64_t, void *to, const void *from,
                               size_t bytes) {
  if (bytes)
    std::memcpy(to, from, bytes);
  return {};
}

bool FakeWorkers::meet() {
  int64_t meeting = meetings;
  if (++arrived == size()) {
    arrived = 0;
    ++meetings;
    return !stopped;
  }
  while (meetings == meeting && !stopped)
    std::this_thread::yield();
  return !stopped;
}

namespace {

/// The packed value of a memref argument.
struct MemRef {
  float *data;
  const int64_t *sizes;
  const int64_t *strides;
};

MemRef memref(void *argument, int64_t rank) {
  auto *words = *static_cast<int64_t **>(argument);
  EXPECT_EQ(words[2], 0);
  return {reinterpret_cast<float *>(words[1]), words + 3, words + 3 + rank};
}

template <typename T> T scalar(void *argument) {
  return *static_cast<T *>(argument);
}

FakeWorkers::Context &contextOf(void *argument) {
  return **static_cast<FakeWorkers::Context **>(argument);
}

/// Residual 2 (y - t) / (n F) of output o for a row of another worker.
float residual(const FakeWorkers::Context &owner, const float *w, float b,
               int64_t row, int64_t o, int64_t n) {
  float y = b;
  for (int64_t i = 0; i < kInputs; ++i)
    y += owner.x[row * kInputs + i] * w[i];
  return 2 * (y - owner.t[row * kOutputs + o]) /
         static_cast<float>(n * kOutputs);
}

/// Shared by the functions: publishes this worker's rows and weights.
bool publish(FakeWorkers::Context &self, void **args, int x, int t, int w,
             int b) {
  MemRef rows = memref(args[x], 2);
  self.x = rows.data;
  self.rows = rows.sizes[0];
  self.t = memref(args[t], 2).data;
  self.w = memref(args[w], 2).data;
  self.b = memref(args[b], 1).data;
  EXPECT_EQ(rows.sizes[1], kInputs);
  EXPECT_EQ(rows.strides[0], kInputs);
  EXPECT_EQ(rows.strides[1], 1);
  return self.group->meet();
}

/// Row o of w, from the worker that holds it.
const float *rowOf(const FakeWorkers &group, int64_t o) {
  for (const FakeWorkers::Context &owner : group.contexts) {
    sharding::Range shard = sharding::shard(kOutputs, group.size(), owner.rank);
    if (o >= shard.offset && o < shard.end())
      return owner.w + (o - shard.offset) * kInputs;
  }
  return nullptr;
}

/// Mean squared error over all rows, and the hits of "largest output".
float lossOf(const FakeWorkers &group, const float *b, int64_t n) {
  double sum = 0;
  for (const FakeWorkers::Context &owner : group.contexts)
    for (int64_t row = 0; row < owner.rows; ++row)
      for (int64_t o = 0; o < kOutputs; ++o) {
        double r =
            residual(owner, rowOf(group, o), b[o], row, o, 1) * kOutputs / 2.0;
        sum += r * r;
      }
  return static_cast<float>(sum / static_cast<double>(n * kOutputs));
}

/// context, examples, rank, step, lr, x, t, position, w, bucket, mw, mb,
/// arena, loss
void trainStep(void **args) {
  FakeWorkers::Context &self = contextOf(args[0]);
  FakeWorkers &group = *self.group;
  int64_t n = scalar<int64_t>(args[1]), rank = scalar<int64_t>(args[2]);
  int64_t step = scalar<int64_t>(args[3]);
  float rate = scalar<float>(args[4]);
  EXPECT_EQ(rank, self.rank);
  if (group.hook)
    group.hook(rank, step);
  if (!publish(self, args, 5, 6, 8, 9))
    return;
  MemRef position = memref(args[7], 1);
  EXPECT_EQ(position.sizes[0], self.rows);
  if (group.record) {
    auto *p = reinterpret_cast<int32_t *>(position.data);
    std::lock_guard lock(group.mutex);
    group.seen.push_back({rank, n, step, rate, {p, p + self.rows}});
  }
  MemRef w = memref(args[8], 2), bucket = memref(args[9], 1);
  MemRef mw = memref(args[10], 2), mb = memref(args[11], 1);
  static_cast<char *>(static_cast<void *>(memref(args[12], 1).data))[15] = 1;
  sharding::Range shard = sharding::shard(kOutputs, group.size(), rank);
  EXPECT_EQ(w.sizes[0], shard.size);
  EXPECT_EQ(mw.sizes[0], shard.size);

  float gw[kOutputs][kInputs] = {}, gb[kOutputs] = {};
  for (int64_t o = 0; o < kOutputs; ++o)
    for (const FakeWorkers::Context &owner : group.contexts)
      for (int64_t row = 0; row < owner.rows; ++row) {
        float r = residual(owner, rowOf(group, o), bucket.data[o], row, o, n);
        gb[o] += r;
        for (int64_t i = 0; i < kInputs; ++i)
          gw[o][i] += r * owner.x[row * kInputs + i];
      }
  float loss = lossOf(group, bucket.data, n);
  memref(args[13], 0).data[0] = loss;
  if (!group.meet())
    return;

  for (int64_t o = shard.offset; o < shard.end(); ++o)
    for (int64_t i = 0; i < kInputs; ++i) {
      int64_t at = (o - shard.offset) * kInputs + i;
      mw.data[at] = kMomentum * mw.data[at] + gw[o][i];
      w.data[at] -= rate * mw.data[at];
    }
  // The bucket holds b at offset 2; its momentum is mine for a slice only, and
  // every worker's copy of b gets the slice's new values.
  int64_t slice = mb.sizes[0];
  for (int64_t j = 0; j < slice; ++j) {
    int64_t o = rank * slice + j - 2;
    if (o < 0 || o >= kOutputs)
      continue;
    mb.data[j] = kMomentum * mb.data[j] + gb[o];
    float value = bucket.data[o] - rate * mb.data[j];
    for (FakeWorkers::Context &other : group.contexts)
      const_cast<float *>(other.b)[o] = value;
  }
  self.received += 8 * (group.size() - 1);
  group.meet();
  if (rank == group.perturbedRank)
    bucket.data[3] += 1e-6f;
}

} // namespace

// The bucket's descriptor starts at its padding; the functions above index b
// directly, so they are wrapped to skip the two floats in front of it.
namespace {

void withShiftedBucket(void **args, int bucket, ProgramEntry body) {
  auto *words = *static_cast<int64_t **>(args[bucket]);
  int64_t shifted[5];
  std::memcpy(shifted, words, sizeof(shifted));
  shifted[1] += 2 * static_cast<int64_t>(sizeof(float));
  void *pointer = shifted;
  void *saved = args[bucket];
  args[bucket] = &pointer;
  body(args);
  args[bucket] = saved;
}

void trainEntry(void **args) { withShiftedBucket(args, 9, trainStep); }

/// context, examples, rank, x, t, w, bucket, loss, counts
void evalStep(void **args) {
  FakeWorkers::Context &self = contextOf(args[0]);
  int64_t n = scalar<int64_t>(args[1]);
  if (!publish(self, args, 3, 4, 5, 6))
    return;
  memref(args[7], 0).data[0] = lossOf(*self.group, self.b, n);
  // Not a real top-k: hits that a test can predict.
  MemRef counts = memref(args[8], 1);
  EXPECT_EQ(counts.sizes[0], 2);
  counts.data[0] = static_cast<float>(n) - 1;
  counts.data[1] = static_cast<float>(n);
  self.group->meet();
}

void evalEntry(void **args) { withShiftedBucket(args, 6, evalStep); }

/// context, examples, rank, step, x, t, position, w, bucket, loss, gw, gb
void gradients(void **args) {
  FakeWorkers::Context &self = contextOf(args[0]);
  FakeWorkers &group = *self.group;
  int64_t n = scalar<int64_t>(args[1]);
  if (!publish(self, args, 4, 5, 7, 8))
    return;
  memref(args[9], 0).data[0] = lossOf(group, self.b, n);
  MemRef gw = memref(args[10], 2), gb = memref(args[11], 1);
  sharding::Range shard = sharding::shard(kOutputs, group.size(), self.rank);
  EXPECT_EQ(gw.sizes[0], shard.size);
  EXPECT_EQ(gb.sizes[0], kOutputs);
  for (int64_t o = 0; o < kOutputs; ++o) {
    gb.data[o] = 0;
    bool mine = o >= shard.offset && o < shard.end();
    float *row = gw.data + (o - shard.offset) * kInputs;
    if (mine)
      std::fill_n(row, kInputs, 0.0f);
    for (const FakeWorkers::Context &owner : group.contexts)
      for (int64_t k = 0; k < owner.rows; ++k) {
        float r = residual(owner, rowOf(group, o), self.b[o], k, o, n);
        gb.data[o] += r;
        for (int64_t i = 0; mine && i < kInputs; ++i)
          row[i] += r * owner.x[k * kInputs + i];
      }
  }
  group.meet();
}

void gradientsEntry(void **args) { withShiftedBucket(args, 8, gradients); }

/// context, examples, x, w, bucket, y [local rows], first [step rows],
/// constant [2]
void forward(void **args) {
  FakeWorkers::Context &self = contextOf(args[0]);
  FakeWorkers &group = *self.group;
  MemRef x = memref(args[2], 2), y = memref(args[5], 2);
  self.x = x.data;
  self.rows = x.sizes[0];
  self.w = memref(args[3], 2).data;
  self.b = memref(args[4], 1).data;
  if (!group.meet())
    return;
  EXPECT_EQ(y.sizes[0], self.rows);
  for (int64_t row = 0; row < self.rows; ++row)
    for (int64_t o = 0; o < kOutputs; ++o) {
      float sum = self.b[o];
      for (int64_t i = 0; i < kInputs; ++i)
        sum += self.x[row * kInputs + i] * rowOf(group, o)[i];
      y.data[row * kOutputs + o] = sum;
    }
  MemRef first = memref(args[6], 1), constant = memref(args[7], 1);
  EXPECT_EQ(first.sizes[0], scalar<int64_t>(args[1]));
  int64_t at = 0;
  for (const FakeWorkers::Context &owner : group.contexts)
    for (int64_t row = 0; row < owner.rows; ++row)
      first.data[at++] = owner.x[row * kInputs];
  constant.data[0] = 7;
  constant.data[1] = 8;
  group.meet();
}

void forwardEntry(void **args) { withShiftedBucket(args, 4, forward); }

ProgramArgument argument(ArgumentKind kind, std::string name = "",
                         std::vector<int64_t> dims = {},
                         std::string storage = "") {
  ProgramArgument result;
  result.kind = kind;
  result.name = std::move(name);
  result.dims = std::move(dims);
  result.storage = std::move(storage);
  return result;
}

} // namespace

Program makeProgram(int64_t workers, int64_t batch) {
  using Kind = ArgumentKind;
  Program program;
  program.model = "fake.onnx";
  program.workers = workers;
  program.batch = batch;
  program.seed = 11;
  program.parameters = {
      {"w", "w.file", {kOutputs, kInputs}, ParameterRole::Weight, true, true},
      {"b", "b.file", {kOutputs}, ParameterRole::Bias, true, false}};
  int64_t padded = sharding::ceilDiv(kOutputs + 2, workers) * workers;
  std::vector<StorageSegment> w = {{"w", 0, {kOutputs, kInputs}}};
  std::vector<StorageSegment> b = {{"b", 2, {kOutputs}}};
  program.storages = {
      {"w", StorageSlot::Value, StorageSplit::Dim0, kOutputs * kInputs, w},
      {"bucket", StorageSlot::Value, StorageSplit::Replicated, padded, b},
      {"mw", StorageSlot::Momentum, StorageSplit::Dim0, kOutputs * kInputs, w},
      {"mb", StorageSlot::Momentum, StorageSplit::Flat, padded, b},
      {"gw", StorageSlot::Gradient, StorageSplit::Dim0, kOutputs * kInputs, w}};

  ProgramArgument context = argument(Kind::Context);
  ProgramArgument examples = argument(Kind::Examples);
  ProgramArgument rank = argument(Kind::Rank), step = argument(Kind::Step);
  ProgramArgument x = argument(Kind::Input, "x", {kLocalRows, kInputs});
  ProgramArgument t = argument(Kind::Target, "t", {kLocalRows, kOutputs});
  ProgramArgument position = argument(Kind::Position, "", {kLocalRows});
  position.type = DataType::i32;
  ProgramArgument wValue =
      argument(Kind::Value, "w", {kStorageRows, kInputs}, "w");
  ProgramArgument bucket = argument(Kind::Value, "bucket", {padded}, "bucket");
  ProgramArgument arena = argument(Kind::Arena, "", {kStorageRows});
  arena.type = DataType::i8;
  arena.bytes = 16;
  ProgramArgument loss = argument(Kind::Result, "loss");

  program.trainStep = {
      trainEntry,
      {context, examples, rank, step, argument(Kind::Rate), x, t, position,
       wValue, bucket,
       argument(Kind::State, "mw", {kStorageRows, kInputs}, "mw"),
       argument(Kind::State, "mb", {kStorageRows}, "mb"), arena, loss}};
  program.evalStep = {evalEntry,
                      {context, examples, rank, x, t, wValue, bucket, loss,
                       argument(Kind::Result, "counts", {2})}};
  program.gradients = {
      gradientsEntry,
      {context, examples, rank, step, x, t, position, wValue, bucket, loss,
       argument(Kind::Result, "gw", {kStorageRows, kInputs}, "gw"),
       argument(Kind::Result, "b", {kOutputs})}};
  program.forward = {forwardEntry,
                     {context, examples, x, wValue, bucket,
                      argument(Kind::Result, "y", {kLocalRows, kOutputs}),
                      argument(Kind::Result, "first", {kStepRows}),
                      argument(Kind::Result, "constant", {2})}};
  return program;
}

LogicalState makeInitialState(const Program &program) {
  LogicalState state = makeZeroState(program);
  for (size_t i = 0; i < state.values[0].size(); ++i)
    state.values[0][i] = 0.1f * static_cast<float>(i) - 0.7f;
  for (size_t i = 0; i < state.values[1].size(); ++i)
    state.values[1][i] = 0.05f * static_cast<float>(i);
  return state;
}

std::unique_ptr<Dataset> makeDataset(int64_t count) {
  std::vector<float> x, t;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < kInputs; ++j)
      x.push_back(static_cast<float>(std::sin(1.0 + 3.0 * i + j)));
    for (int64_t j = 0; j < kOutputs; ++j)
      t.push_back(static_cast<float>(std::cos(2.0 * i - 0.5 * j)));
  }
  Result<std::unique_ptr<Dataset>> dataset = ArrayDataset::create(
      "fake data", Array::fromFloats("images", {count, kInputs}, x),
      Array::fromFloats("labels", {count, kOutputs}, t));
  EXPECT_TRUE(dataset.ok());
  return std::move(*dataset);
}

Reference::Reference(const LogicalState &state) {
  for (int64_t o = 0; o < kOutputs; ++o) {
    b[o] = state.values[1][o];
    mb[o] = state.momentum[1][o];
    for (int64_t i = 0; i < kInputs; ++i) {
      w[o][i] = state.values[0][o * kInputs + i];
      mw[o][i] = state.momentum[0][o * kInputs + i];
    }
  }
}

double Reference::loss(const Dataset &dataset,
                       const std::vector<int64_t> &examples) const {
  double sum = 0;
  for (int64_t example : examples) {
    std::vector<float> x(kInputs);
    dataset.read(example, x);
    for (int64_t o = 0; o < kOutputs; ++o) {
      double y = b[o];
      for (int64_t i = 0; i < kInputs; ++i)
        y += w[o][i] * x[i];
      double r = y - dataset.vectorLabel(example)[o];
      sum += r * r;
    }
  }
  return sum / static_cast<double>(examples.size() * kOutputs);
}

double Reference::step(const Dataset &dataset,
                       const std::vector<int64_t> &examples, double rate) {
  double before = loss(dataset, examples);
  double scale = 2.0 / static_cast<double>(examples.size() * kOutputs);
  std::memset(gw, 0, sizeof(gw));
  std::memset(gb, 0, sizeof(gb));
  for (int64_t example : examples) {
    std::vector<float> x(kInputs);
    dataset.read(example, x);
    for (int64_t o = 0; o < kOutputs; ++o) {
      double y = b[o];
      for (int64_t i = 0; i < kInputs; ++i)
        y += w[o][i] * x[i];
      double r = scale * (y - dataset.vectorLabel(example)[o]);
      gb[o] += r;
      for (int64_t i = 0; i < kInputs; ++i)
        gw[o][i] += r * x[i];
    }
  }
  for (int64_t o = 0; o < kOutputs; ++o) {
    mb[o] = kMomentum * mb[o] + gb[o];
    b[o] -= rate * mb[o];
    for (int64_t i = 0; i < kInputs; ++i) {
      mw[o][i] = kMomentum * mw[o][i] + gw[o][i];
      w[o][i] -= rate * mw[o][i];
    }
  }
  return before;
}

void expectNear(const LogicalState &state, const Reference &reference,
                double tolerance) {
  for (int64_t o = 0; o < kOutputs; ++o) {
    EXPECT_NEAR(state.values[1][o], reference.b[o], tolerance) << "b " << o;
    EXPECT_NEAR(state.momentum[1][o], reference.mb[o], tolerance) << "mb " << o;
    for (int64_t i = 0; i < kInputs; ++i) {
      EXPECT_NEAR(state.values[0][o * kInputs + i], reference.w[o][i],
                  tolerance)
          << "w " << o << " " << i;
      EXPECT_NEAR(state.momentum[0][o * kInputs + i], reference.mw[o][i],
                  tolerance)
          << "mw " << o << " " << i;
    }
  }
}

} // namespace hpcc::test
