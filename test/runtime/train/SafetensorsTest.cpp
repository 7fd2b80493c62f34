// SPDX-License-Identifier: Apache-2.0
// The safetensors format: the bytes that its definition gives, and files that
// lie.

#include "runtime/train/Safetensors.h"
#include "test/runtime/TemporaryDirectory.h"

#include <random>

using namespace hpcc::runtime;
using namespace hpcc::test;

namespace {

std::string file(const std::string &header, const std::string &data) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return text + header + data;
}

std::string errorOf(const TemporaryDirectory &directory,
                    const std::string &bytes) {
  Result<std::vector<Tensor>> tensors =
      readSafetensors(directory.write("t.safetensors", bytes));
  return tensors.ok() ? "" : tensors.status().message();
}

std::string describe(const std::string &shape, const std::string &offsets,
                     const std::string &type = "F32") {
  return "{\"dtype\":\"" + type + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

} // namespace

TEST(Safetensors, readsTheFormat) {
  TemporaryDirectory directory;
  // 1.0f = 3f800000, -2.0f = c0000000; b lies before a.
  std::string bytes = file(
      "{\"__metadata__\":{\"k\":\"v\"},\"a\":" + describe("[1,1]", "[4,8]") +
          ",\"b\":" + describe("[]", "[0,4]") + "}  ",
      std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
  Result<std::vector<Tensor>> tensors =
      readSafetensors(directory.write("t", bytes));
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].name, "b");
  EXPECT_TRUE((*tensors)[0].shape.empty());
  EXPECT_EQ((*tensors)[0].values, std::vector<float>{1});
  EXPECT_EQ((*tensors)[1].shape, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ((*tensors)[1].values, std::vector<float>{-2});
}

TEST(Safetensors, readsBackWhatItWrites) {
  TemporaryDirectory directory;
  std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {7};
  std::vector<TensorView> views = {
      {"a/b \"q\" \xc3\xa9", {2, 3}, a}, {"empty", {0, 4}, {}}, {"b", {}, b}};
  std::string path = directory.path("t");
  Result<FileChecksum> checksum = writeSafetensors(path, views);
  ASSERT_TRUE(checksum.ok());
  std::string bytes = readAll(path);
  EXPECT_EQ(checksum->bytes, bytes.size());
  // The data starts at a multiple of 8.
  EXPECT_EQ((bytes.size() - 28) % 8, 0u);
  Result<std::vector<Tensor>> tensors = readSafetensors(path, *checksum);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  ASSERT_EQ(tensors->size(), 3u);
  for (const Tensor &tensor : *tensors)
    for (const TensorView &view : views)
      if (view.name == tensor.name) {
        EXPECT_EQ(tensor.shape, view.shape);
        EXPECT_TRUE(std::equal(tensor.values.begin(), tensor.values.end(),
                               view.values.begin(), view.values.end()));
      }
}

TEST(Safetensors, refusesFilesThatLie) {
  TemporaryDirectory directory;
  std::string data(8, '\0');
  auto error = [&](const std::string &header, const std::string &content) {
    return errorOf(directory, file(header, content));
  };
  EXPECT_EQ(error("{\"a\":" + describe("[2]", "[0,8]") + "}", data), "");
  const std::string headers[] = {
      "",
      "[]",
      "1",
      "{",
      "{\"a\":1}",
      "{\"a\":{}}",
      ("{\"a\":" + describe("[2]", "[0,8]", "F16") + "}"),
      ("{\"a\":" + describe("[3]", "[0,8]") + "}"),
      ("{\"a\":" + describe("[-2]", "[0,8]") + "}"),
      ("{\"a\":" + describe("[2.0]", "[0,8]") + "}"),
      ("{\"a\":" + describe("2", "[0,8]") + "}"),
      ("{\"a\":" + describe("[2]", "[8,0]") + "}"),
      ("{\"a\":" + describe("[2]", "[0,8,9]") + "}"),
      ("{\"a\":" + describe("[2]", "[4,12]") + "}"),
      ("{\"a\":" + describe("[1]", "[0,4]") + "}"),
      ("{\"a\":" + describe("[2]", "[0,8]") +
       ",\"b\":" + describe("[2]", "[0,8]") + "}"),
      ("{\"a\":" + describe("[4611686018427387906]", "[0,8]") + "}"),
      ("{\"a\":" + describe("[9223372036854775808]", "[0,8]") + "}"),
      ("{\"a\":" + describe("[2]", "[0,8]") + "} x")};
  for (const std::string &header : headers)
    EXPECT_NE(error(header, data), "") << header;
  EXPECT_NE(error("{\"a\":" + describe("[2]", "[0,8]") + "}", data + "x"), "");
  EXPECT_NE(error(std::string(100000, '['), data), "");
  EXPECT_NE(errorOf(directory, std::string(8, '\xff') + "{}"), "");
}

TEST(Safetensors, everyTruncationAndRandomBytes) {
  TemporaryDirectory directory;
  std::string whole =
      file("{\"a\":" + describe("[2]", "[0,8]") + "}", std::string(8, 'x'));
  ASSERT_EQ(errorOf(directory, whole), "");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(errorOf(directory, whole.substr(0, length)), "") << length;
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 2; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    errorOf(directory, bytes); // Must not crash.
  }
}

TEST(Safetensors, checksumsAndFullDisks) {
  TemporaryDirectory directory;
  std::vector<float> values = {1, 2};
  std::vector<TensorView> views = {{"a", {2}, values}};
  std::string path = directory.path("t");
  Result<FileChecksum> checksum = writeSafetensors(path, views);
  ASSERT_TRUE(checksum.ok());
  std::string bytes = readAll(path);
  bytes.back() ^= 1;
  directory.write("t", bytes);
  EXPECT_TRUE(readSafetensors(path).ok());
  Status status = readSafetensors(path, *checksum).status();
  EXPECT_NE(status.message().find("checksum"), std::string::npos);
  EXPECT_EQ(writeSafetensors("/dev/full", views).status().exitCode(), 2);
}
