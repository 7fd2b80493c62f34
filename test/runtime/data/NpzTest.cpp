// SPDX-License-Identifier: Apache-2.0
// .npz files against NumPy in both directions, and damaged ones.

#include "runtime/data/Npz.h"
#include "test/runtime/data/NumPy.h"

#include <random>

using namespace hpcc::runtime;
using namespace hpcc::test;

TEST(Npz, readsWhatNumPyWrites) {
  SKIP_WITHOUT_NUMPY();
  TemporaryDirectory directory;
  ASSERT_TRUE(runNumPy(directory, R"(
arrays = dict(f=np.arange(6, dtype=np.float32).reshape(2, 3) / 4,
              i=np.array([-1, 2**40], dtype=np.int64),
              u=np.arange(256, dtype=np.uint8),
              s=np.float64(2.5), h=np.array([0.1], np.float16))
np.savez('stored.npz', **arrays)
np.savez_compressed('deflated.npz', **arrays)
)"));
  for (const char *name : {"stored.npz", "deflated.npz"}) {
    Result<NpzReader> reader = NpzReader::open(directory.path(name));
    ASSERT_TRUE(reader.ok()) << reader.status().message();
    EXPECT_EQ(reader->names(),
              (std::vector<std::string>{"f", "i", "u", "s", "h"}));
    Result<Array> f = reader->read("f");
    ASSERT_TRUE(f.ok()) << f.status().message();
    EXPECT_EQ(f->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(f->toFloats(),
              (std::vector<float>{0, 0.25f, 0.5f, 0.75f, 1, 1.25f}));
    Result<Array> i = reader->read("i");
    ASSERT_TRUE(i.ok());
    EXPECT_EQ(i->integerAt(0), -1);
    EXPECT_EQ(i->integerAt(1), int64_t{1} << 40);
    Result<Array> u = reader->read("u");
    ASSERT_TRUE(u.ok());
    EXPECT_EQ(u->integerAt(255), 255);
    Result<Array> s = reader->read("s");
    ASSERT_TRUE(s.ok());
    EXPECT_EQ(s->valueAt(0), 2.5);
    Result<Array> h = reader->read("h");
    ASSERT_TRUE(h.ok());
    EXPECT_EQ(h->valueAt(0), 0.0999755859375);
    Status missing = reader->read("nothing").status();
    EXPECT_NE(missing.message().find("'nothing' (it has: f, i, u, s, h)"),
              std::string::npos)
        << missing.message();
  }
}

TEST(Npz, numPyReadsWhatIsWritten) {
  SKIP_WITHOUT_NUMPY();
  TemporaryDirectory directory;
  std::vector<float> values = {1, -2.5f, 3e-30f, 4, 5, 6};
  Array integers{"odd /:name \xc3\xa9", ArrayType::I32, {2}, {}};
  integers.bytes.resize(8, std::byte{1});
  std::vector<Array> arrays = {
      Array::fromFloats("a", {3, 2}, values),
      Array::fromFloats("empty", {0, 4}, {}),
      Array::fromFloats("scalar", {}, {values.data(), 1}), integers};
  Status status = writeNpz(directory.path("out.npz"), arrays);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(writeNpz(directory.path("none.npz"), {}).ok());
  EXPECT_TRUE(runNumPy(directory, R"(
z = np.load('out.npz')
assert list(z) == ['a', 'empty', 'scalar', 'odd /:name é'], list(z)
assert z['a'].dtype == np.float32 and z['a'].flags.c_contiguous
assert (z['a'] == np.array([[1, -2.5], [3e-30, 4], [5, 6]], np.float32)).all()
assert z['empty'].shape == (0, 4)
assert z['scalar'].shape == () and z['scalar'] == 1
assert (z['odd /:name é'] == 0x01010101).all()
assert list(np.load('none.npz')) == []
import zipfile
assert zipfile.ZipFile('out.npz').testzip() is None
)"));
  Result<std::vector<Array>> back = readNpz(directory.path("out.npz"));
  ASSERT_TRUE(back.ok()) << back.status().message();
  ASSERT_EQ(back->size(), 4u);
  EXPECT_EQ((*back)[0].toFloats(), values);
  EXPECT_EQ((*back)[3].name, integers.name);
}

TEST(Npz, writingLeavesTheOldFileOnFailure) {
  TemporaryDirectory directory;
  std::string path = directory.write("out.npz", "old");
  std::vector<float> values = {1};
  std::vector<Array> twice = {Array::fromFloats("a", {1}, values),
                              Array::fromFloats("a", {1}, values)};
  EXPECT_FALSE(writeNpz(path, twice).ok());
  EXPECT_EQ(readAll(path), "old");
  EXPECT_EQ(writeNpz(directory.path("no/out.npz"), {}).code(),
            StatusCode::environment);
}

TEST(Npz, moreArraysThanAPlainZipCounts) {
  SKIP_WITHOUT_NUMPY();
  TemporaryDirectory directory;
  std::vector<Array> arrays;
  for (int i = 0; i < 65536; ++i)
    arrays.push_back(Array::fromFloats(std::to_string(i), {0}, {}));
  ASSERT_TRUE(writeNpz(directory.path("many.npz"), arrays).ok());
  EXPECT_TRUE(runNumPy(directory, "z = np.load('many.npz')\n"
                                  "assert len(z.files) == 65536\n"
                                  "assert z['65535'].shape == (0,)"));
  Result<NpzReader> reader = NpzReader::open(directory.path("many.npz"));
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_EQ(reader->names().size(), 65536u);
}

TEST(Npz, fullDiskIsAnEnvironmentError) {
  std::vector<float> values(1000);
  std::vector<Array> arrays = {Array::fromFloats("a", {1000}, values)};
  Status status = writeNpz("/dev/full", arrays);
  EXPECT_EQ(status.code(), StatusCode::environment);
  EXPECT_NE(status.message().find("/dev/full"), std::string::npos);
}

namespace {

std::string sampleFile(const TemporaryDirectory &directory) {
  std::vector<float> values(50, 1.5f);
  std::vector<Array> arrays = {Array::fromFloats("a", {50}, values),
                               Array::fromFloats("b", {5, 10}, values)};
  std::string path = directory.path("sample.npz");
  EXPECT_TRUE(writeNpz(path, arrays).ok());
  return readAll(path);
}

} // namespace

TEST(Npz, everyTruncationIsAnError) {
  TemporaryDirectory directory;
  std::string whole = sampleFile(directory);
  for (size_t length = 0; length < whole.size(); length += 7) {
    std::string path = directory.write("cut.npz", whole.substr(0, length));
    EXPECT_FALSE(readNpz(path).ok()) << length;
  }
}

TEST(Npz, changedBytesNeverCrash) {
  TemporaryDirectory directory;
  std::string whole = sampleFile(directory);
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    std::string path = directory.write("bad.npz", bytes);
    if (Result<std::vector<Array>> arrays = readNpz(path)) {
      for (const Array &array : *arrays)
        EXPECT_EQ(array.elements() * byteWidth(array.type),
                  static_cast<int64_t>(array.bytes.size()));
    }
  }
}

TEST(Npz, damagedDataIsNoticed) {
  TemporaryDirectory directory;
  std::string bytes = sampleFile(directory);
  // Inside the first array's elements: local header 30 + 5 + 20, header 128.
  bytes[200] ^= 1;
  Status status = readNpz(directory.write("bad.npz", bytes)).status();
  EXPECT_NE(status.message().find("checksum of 'a.npy'"), std::string::npos)
      << status.message();
}

TEST(Npz, damagedDeflateDataIsNoticed) {
  SKIP_WITHOUT_NUMPY();
  TemporaryDirectory directory;
  ASSERT_TRUE(runNumPy(directory,
                       "np.savez_compressed('d.npz', a=np.arange(1000) % 7)"));
  std::string whole = readAll(directory.path("d.npz"));
  int noticed = 0;
  for (size_t i = 60; i < 200; ++i) {
    std::string bytes = whole;
    bytes[i] ^= 0x55;
    noticed += !readNpz(directory.write("bad.npz", bytes)).ok();
  }
  EXPECT_EQ(noticed, 140);
}

TEST(Npz, refusesADeclaredSizeThatDeflateCannotReach) {
  SKIP_WITHOUT_NUMPY();
  TemporaryDirectory directory;
  // The central directory claims 3.9 GB for a few bytes: refused by
  // arithmetic, before memory is taken.
  ASSERT_TRUE(runNumPy(directory, R"(
np.savez_compressed('d.npz', a=np.zeros(3))
b = bytearray(open('d.npz', 'rb').read())
at = b.rfind(b'PK\x01\x02')
b[at + 24:at + 28] = (0xF0000000).to_bytes(4, 'little')
open('d.npz', 'wb').write(b)
)"));
  Status status = readNpz(directory.path("d.npz")).status();
  EXPECT_NE(status.message().find("do not agree"), std::string::npos)
      << status.message();
}

TEST(Npz, otherFilesAreRefused) {
  TemporaryDirectory directory;
  EXPECT_EQ(readNpz(directory.path("missing.npz")).status().code(),
            StatusCode::invalidArgument);
  EXPECT_FALSE(readNpz(directory.path()).ok());
  EXPECT_FALSE(readNpz(directory.write("text.npz", "hello")).ok());
  EXPECT_FALSE(readNpz(directory.write("empty.npz", "")).ok());
}
