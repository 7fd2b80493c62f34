// SPDX-License-Identifier: Apache-2.0
// .npy headers: what NumPy writes, variants that are legal, and hostile bytes.

#include "runtime/data/Npy.h"

#include <gtest/gtest.h>

using namespace hpcc::runtime;

namespace {

std::vector<std::byte> bytesOf(const std::string &text) {
  auto span = std::as_bytes(std::span<const char>(text));
  return {span.begin(), span.end()};
}

std::string file(int version, const std::string &dict,
                 const std::string &data = "") {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    text += static_cast<char>(dict.size() >> (8 * i) & 0xFF);
  return text + dict + data;
}

std::string errorOf(const std::string &bytes) {
  Result<Array> array = parseNpy("a", bytesOf(bytes));
  return array.ok() ? "" : array.status().message();
}

std::string dict(const std::string &descr, const std::string &shape,
                 const std::string &order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }";
}

} // namespace

TEST(Npy, readsAllVersions) {
  // 1.5f is 3fc00000.
  std::string data("\0\0\xc0\x3f\0\0\0\0", 8);
  for (int version : {1, 2, 3}) {
    Result<Array> array =
        parseNpy("a", bytesOf(file(version, dict("<f4", "(2,)"), data)));
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->shape, std::vector<int64_t>{2});
    EXPECT_EQ(array->toFloats(), (std::vector<float>{1.5f, 0.0f}));
  }
}

TEST(Npy, readsHeaderVariants) {
  std::string data("\x01\0\0\0\x02\0\0\0", 8);
  for (std::string text :
       {"{\"descr\":\"<i4\",\"fortran_order\":False,\"shape\":(1,2)}",
        "{'shape': (1, 2,), 'fortran_order': False, 'descr': '<i4'}   \n",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (1L, 2L), }"}) {
    Result<Array> array = parseNpy("a", bytesOf(file(1, text, data)));
    ASSERT_TRUE(array.ok()) << text << ": " << array.status().message();
    EXPECT_EQ(array->shape, (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(array->integerAt(1), 2);
  }
}

TEST(Npy, readsScalarsAndEmptyArrays) {
  Result<Array> scalar =
      parseNpy("a", bytesOf(file(1, dict("|u1", "()"), "\x07")));
  ASSERT_TRUE(scalar.ok());
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_EQ(scalar->integerAt(0), 7);
  Result<Array> empty = parseNpy("a", bytesOf(file(1, dict("<f8", "(0, 3)"))));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->elements(), 0);
}

TEST(Npy, convertsEveryType) {
  struct {
    const char *descr;
    std::string data;
    double value;
  } cases[] = {{"|b1", "\x01", 1},
               {"|u1", "\xff", 255},
               {"|i1", "\xff", -1},
               {"<u2", "\xff\xff", 65535},
               {"<i2", "\xfe\xff", -2},
               {"<u4", "\xff\xff\xff\xff", 4294967295.0},
               {"<i4", "\xfd\xff\xff\xff", -3},
               {"<u8", std::string("\0\0\0\0\0\0\0\x80", 8), 0x1p63},
               {"<i8", std::string("\xfc\xff\xff\xff\xff\xff\xff\xff", 8), -4},
               // float16: 1, -2, the smallest subnormal, 65504.
               {"<f2", std::string("\0\x3c", 2), 1},
               {"<f2", std::string("\0\xc0", 2), -2},
               {"<f2", std::string("\x01\0", 2), 0x1p-24},
               {"<f2", "\xff\x7b", 65504},
               {"<f4", std::string("\0\0\x20\xc0", 4), -2.5},
               {"<f8", std::string("\0\0\0\0\0\0\xe0\x3f", 8), 0.5}};
  for (const auto &test : cases) {
    Result<Array> array =
        parseNpy("a", bytesOf(file(1, dict(test.descr, "(1,)"), test.data)));
    ASSERT_TRUE(array.ok()) << test.descr << array.status().message();
    EXPECT_EQ(array->valueAt(0), test.value) << test.descr;
    EXPECT_EQ(array->toFloats()[0], static_cast<float>(test.value));
  }
}

TEST(Npy, refusesOtherOrdersAndTypes) {
  EXPECT_NE(errorOf(file(1, dict(">f4", "(1,)"), "abcd")).find("big-endian"),
            std::string::npos);
  EXPECT_NE(
      errorOf(file(1, dict("<f4", "(1, 1)", "True"), "abcd")).find("Fortran"),
      std::string::npos);
  EXPECT_EQ(errorOf(file(1, dict("<f4", "(1,)", "True"), "abcd")), "");
  for (const char *type : {"<c8", "|O", "<U3", "|V4", "<f9", "", "<M8[s]"})
    EXPECT_NE(
        errorOf(file(1, dict(type, "(1,)"), "abcd")).find("not supported"),
        std::string::npos)
        << type;
  EXPECT_NE(errorOf(file(1, "{'descr': [('a', '<f4')], 'fortran_order': False, "
                            "'shape': (1,)}"))
                .find("structured"),
            std::string::npos);
}

TEST(Npy, refusesMalformedHeaders) {
  for (std::string text :
       {"", "{", "}", "{}", "{'descr': '<f4'}", "{'descr': '<f4",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} junk",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(99999999999999999999,)}"})
    EXPECT_NE(errorOf(file(1, text, "abcd")), "") << text;
}

TEST(Npy, refusesSizesThatDoNotAgree) {
  EXPECT_NE(errorOf(file(1, dict("<f4", "(-1,)"), "abcd")).find("negative"),
            std::string::npos);
  EXPECT_NE(errorOf(file(1, dict("<f4", "(4294967296, 4294967296)"), "abcd"))
                .find("overflows"),
            std::string::npos);
  EXPECT_NE(errorOf(file(1, dict("<f4", "(4611686018427387904,)"), "abcd"))
                .find("overflows"),
            std::string::npos);
  EXPECT_NE(errorOf(file(1, dict("<f4", "(2,)"), "abcd"))
                .find("needs 8 bytes, but 4 are stored"),
            std::string::npos);
  EXPECT_NE(errorOf(file(1, dict("<f4", "(1,)"), "abcdefgh")), "");
}

TEST(Npy, survivesEveryTruncation) {
  std::string whole = file(2, dict("<f4", "(2,)"), "abcdefgh");
  ASSERT_EQ(errorOf(whole), "");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(errorOf(whole.substr(0, length)), "") << length;
}

TEST(Npy, headerIsAlignedAndReadsBack) {
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{},
                                            {0},
                                            {5},
                                            {3, 224, 224},
                                            std::vector<int64_t>(64, 1)}) {
    std::string text = makeNpyHeader(ArrayType::F64, shape);
    EXPECT_EQ(text.size() % 64, 0u);
    Result<NpyHeader> header = parseNpyHeader(bytesOf(text));
    ASSERT_TRUE(header.ok()) << header.status().message();
    EXPECT_EQ(header->shape, shape);
    EXPECT_EQ(header->type, ArrayType::F64);
    EXPECT_EQ(header->dataOffset, static_cast<int64_t>(text.size()));
  }
}
