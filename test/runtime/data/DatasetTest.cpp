// SPDX-License-Identifier: Apache-2.0
// SPECs, ranges, normalisation, label checks, synthetic data.

#include "runtime/data/ArrayDataset.h"
#include "runtime/data/Npz.h"
#include "test/runtime/data/NumPy.h"

#include <cmath>

using namespace hpcc::runtime;
using namespace hpcc::test;

namespace {

Array bytes(std::string name, std::vector<int64_t> shape,
            std::vector<uint8_t> values) {
  auto span = std::as_bytes(std::span(values));
  return {std::move(name),
          ArrayType::U8,
          std::move(shape),
          {span.begin(), span.end()}};
}

/// Three examples of 2 channels of 1x2: 0..3, 100..103, 200..203.
std::unique_ptr<Dataset> sample() {
  Result<std::unique_ptr<Dataset>> dataset = ArrayDataset::create(
      "sample",
      bytes("images", {3, 2, 1, 2},
            {0, 1, 2, 3, 100, 101, 102, 103, 200, 201, 202, 203}),
      bytes("labels", {3}, {0, 7, 2}));
  EXPECT_TRUE(dataset.ok()) << dataset.status().message();
  return std::move(*dataset);
}

std::vector<float> readExample(const Dataset &dataset, int64_t index) {
  std::vector<float> values(dataset.exampleElements());
  dataset.read(index, values);
  return values;
}

std::string errorOf(const std::string &spec) {
  Result<std::unique_ptr<Dataset>> dataset = openDataset(spec, {});
  return dataset.ok() ? "" : dataset.status().message();
}

std::string writeSample(const TemporaryDirectory &directory) {
  std::string path = directory.path("s.npz");
  std::vector<Array> arrays = {bytes("images", {5, 1}, {0, 10, 20, 30, 40}),
                               bytes("labels", {5}, {0, 1, 2, 3, 4})};
  EXPECT_TRUE(writeNpz(path, arrays).ok());
  return path;
}

} // namespace

TEST(Dataset, bytesBecomeFractions) {
  EXPECT_EQ(readExample(*sample(), 1),
            (std::vector<float>{100 / 255.0f, 101 / 255.0f, 102 / 255.0f,
                                103 / 255.0f}));
}

TEST(Dataset, normalisesPerChannelAfterTheDivision) {
  auto dataset = sample();
  ASSERT_TRUE(dataset->setNormalization({{0.5f, 0.25f}, {0.5f, 2.0f}}).ok());
  std::vector<float> values = readExample(*dataset, 2);
  EXPECT_NEAR(values[0], (200 / 255.0 - 0.5) / 0.5, 1e-6);
  EXPECT_NEAR(values[1], (201 / 255.0 - 0.5) / 0.5, 1e-6);
  EXPECT_NEAR(values[2], (202 / 255.0 - 0.25) / 2, 1e-6);
  EXPECT_NEAR(values[3], (203 / 255.0 - 0.25) / 2, 1e-6);
  ASSERT_TRUE(dataset->setNormalization({{0.1f}, {}}).ok());
  EXPECT_NEAR(readExample(*dataset, 0)[3], 3 / 255.0 - 0.1, 1e-6);
}

TEST(Dataset, refusesBadNormalisation) {
  auto dataset = sample();
  Status status = dataset->setNormalization({{1, 2, 3}, {}});
  EXPECT_EQ(status.code(), StatusCode::invalidArgument);
  EXPECT_NE(status.message().find("--mean has 3 numbers, but 'sample' has 2"),
            std::string::npos)
      << status.message();
  EXPECT_FALSE(dataset->setNormalization({{}, {0.0f}}).ok());
  EXPECT_FALSE(dataset->setNormalization({{}, {1.0f, NAN}}).ok());
}

// B85: the message names the example and the value; ranges keep the numbering
// of the file.
TEST(Dataset, B85_labelOutOfRangeNamesTheExample) {
  auto dataset = sample();
  EXPECT_TRUE(dataset->setClasses(8).ok());
  Status status = dataset->setClasses(7);
  EXPECT_EQ(status.code(), StatusCode::invalidArgument);
  EXPECT_NE(status.message().find("example 1 has label 7"), std::string::npos)
      << status.message();
  ASSERT_TRUE(dataset->restrict(1, 3).ok());
  EXPECT_NE(dataset->setClasses(7).message().find("example 1 has label 7"),
            std::string::npos);
  ASSERT_TRUE(dataset->restrict(1, 2).ok());
  EXPECT_TRUE(dataset->setClasses(7).ok());
}

TEST(Dataset, B85_negativeLabel) {
  Array labels{"labels", ArrayType::I32, {1}, {}};
  labels.bytes.resize(4, std::byte{0xff});
  auto dataset =
      ArrayDataset::create("d", bytes("images", {1, 1}, {1}), labels);
  ASSERT_TRUE(dataset.ok());
  EXPECT_NE((*dataset)->setClasses(8).message().find("label -1"),
            std::string::npos);
}

TEST(Dataset, refusesArraysThatDoNotAgree) {
  auto error = [](Array images, Array labels) {
    auto dataset = ArrayDataset::create("d", std::move(images), labels);
    return dataset.ok() ? std::string() : dataset.status().message();
  };
  EXPECT_NE(error(bytes("images", {2, 1}, {1, 2}), bytes("labels", {1}, {0}))
                .find("one label for each of the 2"),
            std::string::npos);
  EXPECT_NE(error(bytes("images", {0, 3}, {}), bytes("labels", {0}, {}))
                .find("no examples"),
            std::string::npos);
  EXPECT_NE(error(bytes("images", {1, 0}, {}), bytes("labels", {1}, {0})), "");
  EXPECT_NE(error(bytes("images", {}, {1}), bytes("labels", {1}, {0})), "");
  EXPECT_NE(error(bytes("images", {1, 1}, {1}), bytes("labels", {}, {0})), "");
  EXPECT_NE(error(bytes("images", {1, 1}, {1}), bytes("labels", {1, 2}, {0, 1}))
                .find("vectors must be float"),
            std::string::npos);
  Array ints{"images", ArrayType::I32, {1, 1}, {}};
  ints.bytes.resize(4);
  EXPECT_NE(error(ints, bytes("labels", {1}, {0})).find("uint8 or float"),
            std::string::npos);
}

TEST(Dataset, ranges) {
  TemporaryDirectory directory;
  std::string path = writeSample(directory);
  auto labels = [&](const std::string &range) {
    std::vector<int32_t> found;
    auto dataset = openDataset(path + range, {});
    EXPECT_TRUE(dataset.ok()) << dataset.status().message();
    for (int64_t i = 0; dataset.ok() && i < (*dataset)->size(); ++i) {
      found.push_back((*dataset)->classLabel(i));
      EXPECT_EQ(readExample(**dataset, i)[0],
                static_cast<float>(10 * found.back()) / 255.0f);
    }
    return found;
  };
  EXPECT_EQ(labels(""), (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(labels("[1:3]"), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(labels("[:2]"), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(labels("[3:]"), (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(labels("[:]"), (std::vector<int32_t>{0, 1, 2, 3, 4}));
  for (const char *bad : {"[2:2]", "[3:2]", "[0:6]", "[5:]", "[-1:2]"})
    EXPECT_NE(errorOf(path + bad).find("5 examples"), std::string::npos) << bad;
  for (const char *bad :
       {"[2]", "[a:b]", "[1:2:3]", "[]", "[1:2x]", "[99999999999999999999:]"})
    EXPECT_NE(errorOf(path + bad).find("not of the form [i:j]"),
              std::string::npos)
        << bad;
}

TEST(Dataset, unknownSpecsSayWhatWouldWork) {
  for (const char *spec : {"", "nowhere.npz", "nowhere/", "/nowhere/at/all"}) {
    std::string error = errorOf(spec);
    EXPECT_NE(error, "") << spec;
  }
  EXPECT_NE(errorOf("nowhere").find("synthetic:CxHxW"), std::string::npos);
  TemporaryDirectory directory;
  EXPECT_NE(errorOf(directory.write("x.npz", "junk")).find("x.npz"),
            std::string::npos);
}

TEST(Dataset, floatLabelsFromNumPy) {
  SKIP_WITHOUT_NUMPY();
  TemporaryDirectory directory;
  ASSERT_TRUE(runNumPy(directory, R"(
np.savez('v.npz', images=np.arange(8.).reshape(2, 4), labels=[[.5, 1], [2, 3]])
np.savez('i.npz', images=np.zeros((2, 4), np.float32), labels=np.array([[3], [1]]))
np.savez('n.npz', images=np.zeros((2, 4), np.float32))
)"));
  auto vectors = openDataset(directory.path("v.npz"), {});
  ASSERT_TRUE(vectors.ok()) << vectors.status().message();
  EXPECT_FALSE((*vectors)->hasClassLabels());
  EXPECT_EQ((*vectors)->labelWidth(), 2);
  EXPECT_EQ((*vectors)->vectorLabel(1)[1], 3.0f);
  EXPECT_EQ(readExample(**vectors, 1), (std::vector<float>{4, 5, 6, 7}));
  auto column = openDataset(directory.path("i.npz"), {});
  ASSERT_TRUE(column.ok()) << column.status().message();
  EXPECT_EQ((*column)->classLabel(0), 3);
  EXPECT_NE(errorOf(directory.path("n.npz")).find("no array 'labels'"),
            std::string::npos);
}

TEST(Synthetic, isAFunctionOfTheSeed) {
  DatasetOptions options;
  options.seed = 5;
  auto open = [&](const std::string &spec) {
    auto dataset = openDataset(spec, options);
    EXPECT_TRUE(dataset.ok()) << dataset.status().message();
    EXPECT_TRUE((*dataset)->setClasses(10).ok());
    return std::move(*dataset);
  };
  auto a = open("synthetic:3x8x8"), b = open("synthetic:3x8x8:1024");
  EXPECT_EQ(a->size(), 1024);
  EXPECT_EQ(a->exampleShape(), (std::vector<int64_t>{3, 8, 8}));
  EXPECT_EQ(readExample(*a, 17), readExample(*b, 17));
  EXPECT_NE(readExample(*a, 17), readExample(*a, 18));
  options.seed = 6;
  auto c = open("synthetic:3x8x8");
  EXPECT_NE(readExample(*a, 17), readExample(*c, 17));
  std::vector<int> counts(10);
  double sum = 0;
  for (int64_t i = 0; i < a->size(); ++i) {
    EXPECT_EQ(a->classLabel(i), b->classLabel(i));
    ++counts[a->classLabel(i)];
    for (float value : readExample(*a, i)) {
      ASSERT_TRUE(value >= -1 && value < 1);
      sum += value;
    }
  }
  // 102.4 expected per class, standard deviation 9.6.
  for (int count : counts)
    EXPECT_NEAR(count, 102, 50);
  EXPECT_NEAR(sum / (1024 * 192), 0, 0.05);
}

TEST(Synthetic, examplesMayBeLargerThanTheTable) {
  auto dataset = openDataset("synthetic:3000000:2", {});
  ASSERT_TRUE(dataset.ok());
  std::vector<float> values = readExample(**dataset, 1);
  EXPECT_EQ(values[0], values[1 << 20]);
  EXPECT_EQ(values[2999999], values[2999999 - (1 << 20)]);
}

TEST(Synthetic, refusesMalformedSpecs) {
  for (const char *spec :
       {"synthetic:", "synthetic:x", "synthetic:3x", "synthetic:3xx4",
        "synthetic:0x3", "synthetic:-1", "synthetic:3x4:", "synthetic:3x4:0",
        "synthetic:3x4:a", "synthetic:3x4:5:6", "synthetic:3X4",
        "synthetic:99999999999x99999999999", "synthetic:2:99999999999"})
    EXPECT_NE(errorOf(spec), "") << spec;
}
