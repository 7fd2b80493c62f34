// SPDX-License-Identifier: Apache-2.0
// Who owns which units, examples and rows of a head pass. The compiler, the
// runtime and the trainer all call these functions, so that their answers
// cannot drift apart. Header only; every function is pure and constexpr.
#ifndef HPCC_SHARDING_H
#define HPCC_SHARDING_H

#include <algorithm>
#include <cstdint>

namespace hpcc::sharding {

/// The half-open interval [offset, offset + size).
struct Range {
  int64_t offset = 0;
  int64_t size = 0;
  constexpr int64_t end() const { return offset + size; }
  friend constexpr bool operator==(Range, Range) = default;
};

constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The consecutive units of `extent` that worker `rank` holds. The first
/// `extent mod workers` workers hold one more than the others.
constexpr Range shard(int64_t extent, int64_t workers, int64_t rank) {
  int64_t quotient = extent / workers;
  int64_t remainder = extent % workers;
  return {rank * quotient + std::min(rank, remainder),
          quotient + (rank < remainder ? 1 : 0)};
}

/// The positions of a batch of `n` examples that worker `rank` holds:
/// [floor(rank*n/workers), floor((rank+1)*n/workers)).
constexpr Range examples(int64_t n, int64_t workers, int64_t rank) {
  int64_t begin = rank * n / workers;
  return {begin, (rank + 1) * n / workers - begin};
}

/// The values are those of `hpcc_rt_chunk`.
enum class Scheme : int64_t { a = 0, b = 1, c = 2 };

/// What fixes the passes of the head. `batch` is the full global batch B, also
/// in steps that have fewer examples; `fcBatch` is f, 0 when not given.
struct PassPlan {
  Scheme scheme = Scheme::c;
  int64_t workers = 1;
  int64_t batch = 1;
  int64_t fcBatch = 0;
};

/// The rows of one pass on one worker.
/// a:    offset, count and total address the n gathered rows and do not depend
///       on the rank.
/// b, c: offset and count address this worker's own examples; total is the
///       number of rows of the pass over all workers.
/// root: b: the worker whose rows they are; a, c: -1.
struct Chunk {
  int64_t offset = 0;
  int64_t count = 0;
  int64_t total = 0;
  int64_t root = -1;
  friend constexpr bool operator==(Chunk, Chunk) = default;
};

namespace detail {
/// Scheme b: passes of one worker.
constexpr int64_t passesOfWorker(const PassPlan &plan, int64_t worker) {
  if (plan.fcBatch == 0)
    return 1;
  return ceilDiv(examples(plan.batch, plan.workers, worker).size, plan.fcBatch);
}
} // namespace detail

/// The number of passes of every step, short ones included.
constexpr int64_t passCount(const PassPlan &plan) {
  int64_t f = plan.fcBatch;
  switch (plan.scheme) {
  case Scheme::a:
    return f == 0 ? 1 : ceilDiv(plan.batch, f);
  case Scheme::b: {
    int64_t passes = 0;
    for (int64_t worker = 0; worker < plan.workers; ++worker)
      passes += detail::passesOfWorker(plan, worker);
    return passes;
  }
  case Scheme::c:
    // The largest b_r is ceil(B/K): no pass would have more workers with rows.
    return f == 0 ? plan.workers
                  : std::min(ceilDiv(plan.batch, f),
                             ceilDiv(plan.batch, plan.workers));
  }
  return 0;
}

/// The rows of pass `pass` in a step of `n` <= B examples, seen by `rank`. A
/// pass index outside [0, P) gives an empty chunk: pipelined loops compute the
/// address of the pass after the last one.
constexpr Chunk chunk(const PassPlan &plan, int64_t n, int64_t rank,
                      int64_t pass) {
  int64_t passes = passCount(plan);
  if (pass < 0 || pass >= passes)
    return plan.scheme == Scheme::b ? Chunk{0, 0, 0, plan.workers - 1}
                                    : Chunk{0, 0, 0, -1};
  int64_t f = plan.fcBatch;
  switch (plan.scheme) {
  case Scheme::a: {
    if (f == 0)
      return {0, n, n, -1};
    int64_t begin = std::min(pass * f, n);
    int64_t count = std::min(begin + f, n) - begin;
    return {begin, count, count, -1};
  }
  case Scheme::b: {
    int64_t root = 0;
    int64_t index = pass;
    while (index >= detail::passesOfWorker(plan, root))
      index -= detail::passesOfWorker(plan, root++);
    int64_t rows = examples(n, plan.workers, root).size;
    int64_t begin = 0;
    int64_t end = rows;
    if (f != 0) {
      begin = std::min(index * f, rows);
      // A short batch can give a worker one example *more* than the full one
      // (8 on 5 workers: 1,2,1,2,2; 7: 1,1,2,1,2). Its last pass takes it.
      bool last = index + 1 == detail::passesOfWorker(plan, root);
      end = last ? rows : std::min(begin + f, rows);
    }
    if (rank != root)
      return {0, 0, end - begin, root};
    return {begin, end - begin, end - begin, root};
  }
  case Scheme::c: {
    auto boundary = [&](int64_t worker, int64_t i) {
      return i * examples(n, plan.workers, worker).size / passes;
    };
    int64_t total = 0;
    for (int64_t worker = 0; worker < plan.workers; ++worker)
      total += boundary(worker, pass + 1) - boundary(worker, pass);
    int64_t begin = boundary(rank, pass);
    return {begin, boundary(rank, pass + 1) - begin, total, -1};
  }
  }
  return {};
}

/// Upper bounds of `count` and `total` over every n <= B, rank and pass: what
/// buffers are sized with.
struct ChunkBounds {
  int64_t count = 0;
  int64_t total = 0;
};
constexpr ChunkBounds chunkBounds(const PassPlan &plan) {
  int64_t f = plan.fcBatch;
  int64_t perWorker = ceilDiv(plan.batch, plan.workers);
  switch (plan.scheme) {
  case Scheme::a: {
    int64_t rows = f == 0 ? plan.batch : std::min(f, plan.batch);
    return {rows, rows};
  }
  case Scheme::b: {
    int64_t rows = f == 0 ? perWorker : std::min(f, perWorker);
    // The one example more of a short batch, see chunk().
    if (f != 0 && f < perWorker && plan.batch % plan.workers != 0 &&
        (perWorker - 1) % f == 0)
      ++rows;
    return {rows, rows};
  }
  case Scheme::c: {
    int64_t rows = ceilDiv(perWorker, passCount(plan));
    return {rows, std::min(plan.batch, rows * plan.workers)};
  }
  }
  return {};
}

} // namespace hpcc::sharding

#endif // HPCC_SHARDING_H
