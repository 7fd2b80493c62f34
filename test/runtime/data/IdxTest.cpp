// SPDX-License-Identifier: Apache-2.0
// IDX directories: names, gzip, ambiguous and damaged ones.

#include "runtime/data/Dataset.h"
#include "test/runtime/TemporaryDirectory.h"

#include <cstdlib>
#include <zlib.h>

using namespace hpcc::runtime;
using namespace hpcc::test;

namespace {

/// Two 2x3 images, 0..11, and labels 4 and 9.
const std::string kImages("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03"
                          "\0\1\2\3\4\5\6\7\x08\x09\x0a\x0b",
                          28);
const std::string kLabels("\0\0\x08\x01\0\0\0\x02\x04\x09", 10);

void writeGz(const std::string &path, const std::string &bytes) {
  gzFile file = ::gzopen(path.c_str(), "wb");
  ::gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  ::gzclose(file);
}

Result<std::unique_ptr<Dataset>> open(const std::string &spec) {
  return openDataset(spec, {});
}

std::string errorOf(const std::string &spec) {
  Result<std::unique_ptr<Dataset>> dataset = open(spec);
  return dataset.ok() ? "" : dataset.status().message();
}

void expectSample(const std::string &spec) {
  Result<std::unique_ptr<Dataset>> dataset = open(spec);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_EQ((*dataset)->size(), 2);
  EXPECT_EQ((*dataset)->exampleShape(), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ((*dataset)->classLabel(0), 4);
  EXPECT_EQ((*dataset)->classLabel(1), 9);
  std::vector<float> values(6);
  (*dataset)->read(1, values);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(values[i], static_cast<float>(6 + i) / 255.0f);
}

} // namespace

TEST(Idx, readsPlainAndGzip) {
  for (bool gzip : {false, true})
    for (const char *prefix : {"train-", "t10k-", ""}) {
      TemporaryDirectory directory;
      for (bool images : {true, false}) {
        std::string name = std::string(prefix) +
                           (images ? "images-idx3-ubyte" : "labels.idx1-ubyte");
        const std::string &bytes = images ? kImages : kLabels;
        if (gzip)
          writeGz(directory.path(name + ".gz"), bytes);
        else
          directory.write(name, bytes);
      }
      expectSample(directory.path());
      expectSample(directory.path(prefix));
    }
}

TEST(Idx, severalPairsNeedAName) {
  TemporaryDirectory directory;
  for (const char *prefix : {"train-", "t10k-"}) {
    directory.write(prefix + std::string("images-idx3-ubyte"), kImages);
    directory.write(prefix + std::string("labels-idx1-ubyte"), kLabels);
  }
  std::string error = errorOf(directory.path());
  EXPECT_NE(error.find(directory.path("train-")), std::string::npos) << error;
  EXPECT_NE(error.find(directory.path("t10k-")), std::string::npos) << error;
  expectSample(directory.path("train"));
  expectSample(directory.path("t10k"));
  error = errorOf(directory.path("valid"));
  EXPECT_NE(error.find("no data at"), std::string::npos) << error;
}

TEST(Idx, plainAndGzipOfTheSameDataAreOnePair) {
  TemporaryDirectory directory;
  directory.write("t10k-images-idx3-ubyte", kImages);
  directory.write("t10k-labels-idx1-ubyte", kLabels);
  writeGz(directory.path("t10k-images-idx3-ubyte.gz"), kImages);
  writeGz(directory.path("t10k-labels-idx1-ubyte.gz"), kLabels);
  expectSample(directory.path());
}

TEST(Idx, missingFiles) {
  TemporaryDirectory directory;
  EXPECT_NE(errorOf(directory.path()).find("no data at"), std::string::npos);
  directory.write("train-images-idx3-ubyte", kImages);
  EXPECT_NE(errorOf(directory.path()).find("no data at"), std::string::npos);
}

TEST(Idx, everyTruncationIsAnError) {
  for (bool gzip : {false, true})
    for (bool images : {true, false}) {
      TemporaryDirectory directory;
      std::string imageName = "images-idx3-ubyte",
                  labelName = "labels-idx1-ubyte";
      writeGz(directory.path("whole.gz"), images ? kImages : kLabels);
      std::string whole = gzip     ? readAll(directory.path("whole.gz"))
                          : images ? kImages
                                   : kLabels;
      directory.write(images ? labelName : imageName,
                      images ? kLabels : kImages);
      std::string name = (images ? imageName : labelName) + (gzip ? ".gz" : "");
      for (size_t length = 0; length < whole.size(); ++length) {
        directory.write(name, whole.substr(0, length));
        std::string error = errorOf(directory.path());
        EXPECT_NE(error.find(directory.path(name)), std::string::npos)
            << length << " of " << whole.size() << ": " << error;
      }
    }
}

TEST(Idx, extentsThatLieAreErrors) {
  TemporaryDirectory directory;
  directory.write("labels-idx1-ubyte", kLabels);
  auto withImages = [&](const std::string &bytes) {
    directory.write("images-idx3-ubyte", bytes);
    return errorOf(directory.path());
  };
  std::string huge = kImages;
  huge.replace(4, 12, std::string(12, '\x7f'));
  EXPECT_NE(withImages(huge), "");
  EXPECT_NE(withImages(kImages + "x").find("more follow"), std::string::npos);
  std::string floats = kImages;
  floats[2] = 0x0d;
  EXPECT_NE(withImages(floats).find("only unsigned bytes"), std::string::npos);
  std::string three = kImages.substr(0, 28) + "\1\2\3\4\5\6";
  three[7] = 3;
  std::string error = withImages(three);
  EXPECT_NE(error.find("one label for each of the 3"), std::string::npos)
      << error;
}

// The real digits, where they are at hand.
TEST(Idx, readsMnist) {
  const char *shared = std::getenv("HPCC_SHARED");
  std::string path =
      std::string(shared ? shared : HPCC_SOURCE_DIR "/../shared") +
      "/data/mnist-t10k";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "no MNIST at " << path;
  Result<std::unique_ptr<Dataset>> dataset = open(path + "[9000:10000]");
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_EQ((*dataset)->size(), 1000);
  EXPECT_EQ((*dataset)->exampleShape(), (std::vector<int64_t>{1, 28, 28}));
  EXPECT_TRUE((*dataset)->setClasses(10).ok());
  EXPECT_FALSE((*dataset)->setClasses(9).ok());
}
