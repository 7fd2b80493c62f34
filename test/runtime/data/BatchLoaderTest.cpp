// SPDX-License-Identifier: Apache-2.0
// Batches in order, resumed inside an epoch, and targets of both kinds.

#include "runtime/data/BatchLoader.h"
#include "runtime/data/ArrayDataset.h"
#include "runtime/data/DataOrder.h"

#include <gtest/gtest.h>
#include <thread>

using namespace hpcc::runtime;
using namespace std::chrono_literals;

namespace {

/// Example i is [i, i + 0.5], its label i % 3.
std::unique_ptr<Dataset> counting(int64_t count) {
  std::vector<float> values;
  Array labels{"labels", ArrayType::U8, {count}, {}};
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i));
    values.push_back(static_cast<float>(i) + 0.5f);
    labels.bytes.push_back(static_cast<std::byte>(i % 3));
  }
  auto dataset = ArrayDataset::create(
      "counting", Array::fromFloats("images", {count, 2}, values), labels);
  EXPECT_TRUE(dataset.ok());
  EXPECT_TRUE((*dataset)->setClasses(3).ok());
  return std::move(*dataset);
}

struct Seen {
  int64_t epoch, first, count;
  bool ends;
  std::vector<int64_t> examples;
};

std::vector<Seen> drain(BatchLoader &loader, size_t limit = 1000) {
  std::vector<Seen> seen;
  while (seen.size() < limit) {
    Result<const Batch *> next = loader.next(10s);
    EXPECT_TRUE(next.ok());
    if (!next.ok() || !*next)
      break;
    const Batch &batch = **next;
    Seen one{batch.epoch, batch.first, batch.count, batch.endsEpoch, {}};
    for (int64_t i = 0; i < batch.count; ++i) {
      int64_t example = static_cast<int64_t>(batch.examples[2 * i]);
      one.examples.push_back(example);
      EXPECT_EQ(batch.examples[2 * i + 1], static_cast<float>(example) + 0.5f);
      if (batch.classes) {
        EXPECT_EQ(batch.classes[i], example % 3);
      }
      if (batch.vectors) {
        for (int64_t c = 0; c < 3; ++c)
          EXPECT_EQ(batch.vectors[3 * i + c], example % 3 == c ? 1.0f : 0.0f);
      }
    }
    seen.push_back(std::move(one));
  }
  return seen;
}

std::unique_ptr<BatchLoader> makeLoader(const Dataset &dataset,
                                        const BatchOptions &options) {
  auto loader = BatchLoader::create(dataset, options);
  EXPECT_TRUE(loader.ok()) << loader.status().message();
  return std::move(*loader);
}

} // namespace

TEST(BatchLoader, shortLastBatchAndEpochs) {
  auto dataset = counting(10);
  BatchOptions options;
  options.batch = 4;
  options.endEpoch = 2;
  options.vectorWidth = 3;
  auto seen = drain(*makeLoader(*dataset, options));
  ASSERT_EQ(seen.size(), 6u);
  int64_t expected = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].epoch, static_cast<int64_t>(i / 3));
    EXPECT_EQ(seen[i].first, static_cast<int64_t>(i % 3 * 4));
    EXPECT_EQ(seen[i].count, i % 3 == 2 ? 2 : 4);
    EXPECT_EQ(seen[i].ends, i % 3 == 2);
    for (int64_t example : seen[i].examples)
      EXPECT_EQ(example, expected++ % 10);
  }
}

TEST(BatchLoader, shufflesByEpochAndResumesInTheMiddle) {
  auto dataset = counting(11);
  BatchOptions options;
  options.batch = 3;
  options.shuffle = true;
  options.seed = 9;
  options.endEpoch = 3;
  auto all = drain(*makeLoader(*dataset, options));
  ASSERT_EQ(all.size(), 12u);
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> order(11), found;
    fillDataOrder(order, 9, epoch, true);
    for (const Seen &one : all)
      if (one.epoch == epoch)
        found.insert(found.end(), one.examples.begin(), one.examples.end());
    EXPECT_EQ(found, order);
  }
  options.firstEpoch = 1;
  options.firstExample = 6;
  auto rest = drain(*makeLoader(*dataset, options));
  ASSERT_EQ(rest.size(), 6u);
  for (size_t i = 0; i < rest.size(); ++i) {
    EXPECT_EQ(rest[i].first, all[6 + i].first);
    EXPECT_EQ(rest[i].examples, all[6 + i].examples);
  }
}

TEST(BatchLoader, endlessOnesStopWhenDestroyed) {
  auto dataset = counting(5);
  BatchOptions options;
  options.batch = 8; // More than there are.
  auto loader = makeLoader(*dataset, options);
  auto seen = drain(*loader, 4);
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[3].epoch, 3);
  EXPECT_EQ(seen[3].count, 5);
  loader.reset();
  makeLoader(*dataset, options); // Destroyed while it fills.
}

TEST(BatchLoader, aBatchStaysValidUntilTheNext) {
  auto dataset = counting(9);
  BatchOptions options;
  options.batch = 3;
  options.endEpoch = 1;
  auto loader = makeLoader(*dataset, options);
  for (int64_t i = 0; i < 3; ++i) {
    Result<const Batch *> batch = loader->next(10s);
    ASSERT_TRUE(batch.ok());
    std::this_thread::sleep_for(20ms); // Time for the producer to run ahead.
    EXPECT_EQ((*batch)->examples[0], static_cast<float>(3 * i));
  }
  for (int i = 0; i < 2; ++i) {
    Result<const Batch *> end = loader->next(10s);
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(*end, nullptr);
  }
}

namespace {

/// Reading blocks until it is let go.
class SlowDataset : public Dataset {
public:
  SlowDataset() : Dataset("slow", 1, {1}) { classLabels = {0}; }
  mutable std::mutex gate;

protected:
  void readRaw(int64_t, std::span<float> into) const override {
    std::lock_guard lock(gate);
    into[0] = 1;
  }
};

} // namespace

TEST(BatchLoader, waitingIsBounded) {
  SlowDataset dataset;
  std::unique_lock lock(dataset.gate);
  auto loader = makeLoader(dataset, {});
  Result<const Batch *> batch = loader->next(50ms);
  EXPECT_EQ(batch.status().code(), StatusCode::timeout);
  EXPECT_NE(batch.status().message().find("'slow'"), std::string::npos);
  lock.unlock();
  batch = loader->next(10s);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ((*batch)->examples[0], 1.0f);
}

TEST(BatchLoader, refusesTargetsThatDoNotFit) {
  std::vector<float> values = {1, 2, 3, 4};
  auto dataset =
      ArrayDataset::create("v", Array::fromFloats("images", {2, 2}, values),
                           Array::fromFloats("labels", {2, 2}, values));
  ASSERT_TRUE(dataset.ok());
  BatchOptions options;
  Status status = BatchLoader::create(**dataset, options).status();
  EXPECT_NE(status.message().find("one class index"), std::string::npos);
  options.classTargets = false;
  options.vectorWidth = 3;
  status = BatchLoader::create(**dataset, options).status();
  EXPECT_NE(status.message().find("labels of 2 values"), std::string::npos);
  options.vectorWidth = 2;
  options.batch = 2;
  auto loader = makeLoader(**dataset, options);
  Result<const Batch *> batch = loader->next(10s);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ((*batch)->vectors[3], 4.0f);
  EXPECT_EQ((*batch)->classes, nullptr);
}

TEST(ExampleShape, namesBothShapes) {
  auto dataset = openDataset("synthetic:1x28x28", {});
  ASSERT_TRUE(dataset.ok());
  auto check = [&](std::vector<int64_t> extents) {
    return checkExampleShape(**dataset, "x", extents);
  };
  EXPECT_TRUE(check({1, 28, 28}).ok());
  EXPECT_TRUE(check({28, 28}).ok());
  EXPECT_TRUE(check({784}).ok());
  for (std::vector<int64_t> bad :
       {std::vector<int64_t>{3, 28, 28}, {1, 28, 27}, {783}, {14, 56}, {}}) {
    Status status = check(bad);
    EXPECT_EQ(status.code(), StatusCode::invalidArgument);
    EXPECT_NE(status.message().find("1x28x28"), std::string::npos);
  }
  EXPECT_NE(check({3, 32, 32}).message().find("3x32x32"), std::string::npos);
}
