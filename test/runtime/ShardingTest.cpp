// SPDX-License-Identifier: Apache-2.0
// Sharding against sets built row by row: every unit, example and row of a
// pass belongs to exactly one owner, sizes follow the published formulas.
#include "hpcc/sharding.h"
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

using namespace hpcc::sharding;

namespace {
constexpr int64_t kMaxWorkers = 9;

std::string describe(const PassPlan &plan, int64_t n) {
  return "scheme " + std::to_string(int(plan.scheme)) + " K " +
         std::to_string(plan.workers) + " B " + std::to_string(plan.batch) +
         " f " + std::to_string(plan.fcBatch) + " n " + std::to_string(n);
}

/// Rows of a pass as pairs (worker, example of the worker); scheme a addresses
/// the gathered rows, which belong to no worker: -1.
using Row = std::pair<int64_t, int64_t>;

std::vector<Row> rowsOfPass(const PassPlan &plan, int64_t n, int64_t pass) {
  std::vector<Row> rows;
  if (plan.scheme == Scheme::a) {
    Chunk part = chunk(plan, n, 0, pass);
    for (int64_t i = 0; i < part.count; ++i)
      rows.push_back({-1, part.offset + i});
    return rows;
  }
  for (int64_t rank = 0; rank < plan.workers; ++rank) {
    Chunk part = chunk(plan, n, rank, pass);
    for (int64_t i = 0; i < part.count; ++i)
      rows.push_back({rank, part.offset + i});
  }
  return rows;
}

std::vector<Row> allRows(const PassPlan &plan, int64_t n) {
  std::vector<Row> rows;
  if (plan.scheme == Scheme::a) {
    for (int64_t i = 0; i < n; ++i)
      rows.push_back({-1, i});
    return rows;
  }
  for (int64_t rank = 0; rank < plan.workers; ++rank) {
    int64_t begin = rank * n / plan.workers;
    int64_t end = (rank + 1) * n / plan.workers;
    for (int64_t i = 0; i < end - begin; ++i)
      rows.push_back({rank, i});
  }
  return rows;
}

template <typename Check> void forAllPlans(Check check) {
  for (Scheme scheme : {Scheme::a, Scheme::b, Scheme::c})
    for (int64_t workers = 1; workers <= kMaxWorkers; ++workers)
      for (int64_t batch :
           {workers, workers + 1, 2 * workers - 1, int64_t(13), int64_t(27)})
        for (int64_t f = 0; f <= batch + 1; ++f)
          if (batch >= workers)
            check(PassPlan{scheme, workers, batch, f});
}
} // namespace

TEST(Shard, PublishedExamplesB117) {
  EXPECT_EQ(shard(1000, 3, 0), (Range{0, 334}));
  EXPECT_EQ(shard(1000, 3, 1), (Range{334, 333}));
  EXPECT_EQ(shard(1000, 3, 2), (Range{667, 333}));
  EXPECT_EQ(shard(5, 2, 0), (Range{0, 3}));
  EXPECT_EQ(shard(5, 2, 1), (Range{3, 2}));
  // Fewer units than workers: some hold none.
  EXPECT_EQ(shard(1, 2, 1), (Range{1, 0}));
}

TEST(Shard, EveryUnitHasOneOwnerAndSizesDescend) {
  for (int64_t workers = 1; workers <= kMaxWorkers; ++workers)
    for (int64_t extent = 0; extent <= 40; ++extent) {
      int64_t next = 0;
      for (int64_t rank = 0; rank < workers; ++rank) {
        Range range = shard(extent, workers, rank);
        EXPECT_EQ(range.offset, next);
        bool larger = rank < extent % workers;
        EXPECT_EQ(range.size, extent / workers + (larger ? 1 : 0));
        next += range.size;
      }
      EXPECT_EQ(next, extent);
    }
}

TEST(Examples, FloorFormulaB104) {
  // 101 samples in batches of 8 on 3 workers: the last batch has 5.
  EXPECT_EQ(examples(5, 3, 0), (Range{0, 1}));
  EXPECT_EQ(examples(5, 3, 1), (Range{1, 2}));
  EXPECT_EQ(examples(5, 3, 2), (Range{3, 2}));
  // One example on three workers: two have none.
  EXPECT_EQ(examples(1, 3, 0).size, 0);
  EXPECT_EQ(examples(1, 3, 1).size, 0);
  EXPECT_EQ(examples(1, 3, 2), (Range{0, 1}));
  for (int64_t workers = 1; workers <= kMaxWorkers; ++workers)
    for (int64_t n = 0; n <= 60; ++n) {
      int64_t next = 0;
      for (int64_t rank = 0; rank < workers; ++rank) {
        EXPECT_EQ(examples(n, workers, rank).offset, next);
        next = examples(n, workers, rank).end();
      }
      EXPECT_EQ(next, n);
    }
}

TEST(PassCount, PublishedFormulas) {
  EXPECT_EQ(passCount({Scheme::a, 8, 1024, 0}), 1);
  EXPECT_EQ(passCount({Scheme::a, 8, 1024, 128}), 8);
  EXPECT_EQ(passCount({Scheme::a, 3, 10, 4}), 3);
  EXPECT_EQ(passCount({Scheme::b, 8, 1024, 0}), 8);
  // b_r = 3, 3, 4: two passes of at most 2 rows each.
  EXPECT_EQ(passCount({Scheme::b, 3, 10, 2}), 6);
  EXPECT_EQ(passCount({Scheme::b, 3, 10, 3}), 4);
  EXPECT_EQ(passCount({Scheme::c, 8, 1024, 0}), 8);
  EXPECT_EQ(passCount({Scheme::c, 8, 1024, 128}), 8);
  // A small f is raised: no more passes than the largest b_r.
  EXPECT_EQ(passCount({Scheme::c, 8, 1024, 1}), 128);
  EXPECT_EQ(passCount({Scheme::c, 3, 10, 1}), 4);
  // K = 1 still makes the passes that f asks for.
  for (Scheme scheme : {Scheme::a, Scheme::b, Scheme::c}) {
    EXPECT_EQ(passCount({scheme, 1, 10, 4}), 3);
    EXPECT_EQ(passCount({scheme, 1, 10, 0}), 1);
  }
}

TEST(Chunk, EveryRowIsInExactlyOnePassForEveryShortBatch) {
  forAllPlans([](const PassPlan &plan) {
    for (int64_t n = 0; n <= plan.batch; ++n) {
      std::vector<Row> seen;
      for (int64_t pass = 0; pass < passCount(plan); ++pass)
        for (Row row : rowsOfPass(plan, n, pass))
          seen.push_back(row);
      std::sort(seen.begin(), seen.end());
      ASSERT_EQ(seen, allRows(plan, n)) << describe(plan, n);
    }
  });
}

TEST(Chunk, TotalIsTheRowsOfAllWorkersAndTheRootAgrees) {
  forAllPlans([](const PassPlan &plan) {
    for (int64_t n = 0; n <= plan.batch; ++n)
      for (int64_t pass = 0; pass < passCount(plan); ++pass) {
        int64_t rows = rowsOfPass(plan, n, pass).size();
        Chunk first = chunk(plan, n, 0, pass);
        for (int64_t rank = 0; rank < plan.workers; ++rank) {
          Chunk part = chunk(plan, n, rank, pass);
          ASSERT_EQ(part.total, rows) << describe(plan, n);
          ASSERT_EQ(part.root, first.root);
          if (plan.scheme == Scheme::a) {
            ASSERT_EQ(part, first);
          }
          if (plan.scheme == Scheme::b && rank != part.root) {
            ASSERT_EQ(part.count, 0);
          }
        }
        ASSERT_EQ(first.root >= 0, plan.scheme == Scheme::b);
      }
  });
}

TEST(Chunk, FullBatchFollowsTheFormulas) {
  forAllPlans([](const PassPlan &plan) {
    int64_t pass = 0;
    int64_t n = plan.batch, f = plan.fcBatch;
    if (plan.scheme == Scheme::b) {
      for (int64_t root = 0; root < plan.workers; ++root) {
        int64_t rows = (root + 1) * n / plan.workers - root * n / plan.workers;
        int64_t step = f == 0 ? rows : f;
        for (int64_t begin = 0; begin < rows; begin += step, ++pass) {
          int64_t count = std::min(step, rows - begin);
          ASSERT_EQ(chunk(plan, n, root, pass),
                    (Chunk{begin, count, count, root}))
              << describe(plan, n);
        }
      }
      ASSERT_EQ(pass, passCount(plan));
      return;
    }
    if (plan.scheme == Scheme::a) {
      for (int64_t begin = 0; begin < n; begin += f == 0 ? n : f, ++pass) {
        int64_t count = f == 0 ? n : std::min(f, n - begin);
        ASSERT_EQ(chunk(plan, n, 0, pass), (Chunk{begin, count, count, -1}));
      }
      ASSERT_EQ(pass, passCount(plan));
      return;
    }
    int64_t passes = passCount(plan);
    for (; pass < passes; ++pass)
      for (int64_t rank = 0; rank < plan.workers; ++rank) {
        int64_t rows = (rank + 1) * n / plan.workers - rank * n / plan.workers;
        Chunk part = chunk(plan, n, rank, pass);
        ASSERT_EQ(part.offset, pass * rows / passes);
        ASSERT_EQ(part.count, (pass + 1) * rows / passes - part.offset);
      }
  });
}

TEST(Chunk, RowsAreInOrder) {
  forAllPlans([](const PassPlan &plan) {
    for (int64_t n : {plan.batch, plan.batch - 1, plan.batch / 2})
      for (int64_t rank = 0; rank < plan.workers; ++rank) {
        int64_t next = 0;
        for (int64_t pass = 0; pass < passCount(plan); ++pass) {
          Chunk part = chunk(plan, n, rank, pass);
          if (part.count == 0)
            continue;
          ASSERT_EQ(part.offset, next) << describe(plan, n);
          next += part.count;
        }
      }
  });
}

TEST(Chunk, OutsideThePassesItIsEmpty) {
  forAllPlans([](const PassPlan &plan) {
    for (int64_t pass : {int64_t(-1), passCount(plan), passCount(plan) + 5}) {
      Chunk part = chunk(plan, plan.batch, 0, pass);
      ASSERT_EQ(part.count, 0);
      ASSERT_EQ(part.total, 0);
      ASSERT_EQ(part.offset, 0);
    }
  });
}

// The number of passes is that of the full batch, yet floor(r*n/K) gives
// worker 2 two of 7 examples and only one of 8: no row may be lost.
TEST(Chunk, ShortBatchWithMoreExamplesOnOneWorkerLosesNoRow) {
  PassPlan plan{Scheme::b, 5, 8, 1};
  ASSERT_EQ(examples(8, 5, 2).size, 1);
  ASSERT_EQ(examples(7, 5, 2).size, 2);
  EXPECT_EQ(passCount(plan), 8);
  EXPECT_EQ(chunk(plan, 7, 2, 3), (Chunk{0, 2, 2, 2}));
  EXPECT_EQ(chunkBounds(plan).total, 2);
}

TEST(ChunkBounds, CoverEveryChunkAndAreAtMostTheNextSize) {
  forAllPlans([](const PassPlan &plan) {
    int64_t count = 0, total = 0;
    for (int64_t n = 0; n <= plan.batch; ++n)
      for (int64_t pass = 0; pass < passCount(plan); ++pass)
        for (int64_t rank = 0; rank < plan.workers; ++rank) {
          Chunk part = chunk(plan, n, rank, pass);
          count = std::max(count, part.count);
          total = std::max(total, part.total);
        }
    ChunkBounds bounds = chunkBounds(plan);
    ASSERT_LE(count, bounds.count) << describe(plan, 0);
    ASSERT_LE(total, bounds.total) << describe(plan, 0);
    ASSERT_LE(bounds.count, count + 1) << describe(plan, 0);
    ASSERT_LE(bounds.total, total + plan.workers) << describe(plan, 0);
  });
}
