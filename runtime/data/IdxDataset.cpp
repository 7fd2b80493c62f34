// SPDX-License-Identifier: Apache-2.0
// Datasets in IDX files, the format of MNIST: a magic number that holds type
// and rank, big-endian extents, then the elements. Plain or gzip.

#include "runtime/data/ArrayDataset.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <zlib.h>

namespace hpcc::runtime {

namespace {

namespace fs = std::filesystem;

/// gzread reads plain files too.
class GzFile {
public:
  explicit GzFile(const std::string &path)
      : path(path), file(::gzopen(path.c_str(), "rb")) {}
  ~GzFile() {
    if (file)
      ::gzclose_r(file);
  }
  GzFile(const GzFile &) = delete;
  GzFile &operator=(const GzFile &) = delete;

  bool isOpen() const { return file != nullptr; }

  /// Fewer bytes than `count` only at the end.
  Result<std::vector<std::byte>> read(uint64_t count) {
    // Grown piece by piece: the extents in the header may lie.
    std::vector<std::byte> bytes;
    while (bytes.size() < count) {
      size_t old = bytes.size();
      size_t piece = std::min<uint64_t>(count - old, 1 << 22);
      bytes.resize(old + piece);
      int got =
          ::gzread(file, bytes.data() + old, static_cast<unsigned>(piece));
      int code = Z_OK;
      const char *message = ::gzerror(file, &code);
      if (got < 0 || (code != Z_OK && code != Z_BUF_ERROR))
        return invalidArgument("'" + path + "' cannot be read: " + message);
      if (code == Z_BUF_ERROR)
        return invalidArgument("'" + path +
                               "' is cut off inside its compressed data");
      bytes.resize(old + static_cast<size_t>(got));
      if (static_cast<size_t>(got) < piece)
        break;
    }
    return bytes;
  }

private:
  std::string path;
  gzFile file;
};

uint32_t bigEndian(const std::byte *bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i)
    value = value << 8 | std::to_integer<uint32_t>(bytes[i]);
  return value;
}

Result<Array> readIdx(const std::string &path, const char *name) {
  auto wrong = [&](const std::string &what) {
    return invalidArgument("'" + path + "' is not a valid IDX file: " + what);
  };
  GzFile file(path);
  if (!file.isOpen())
    return environmentError("cannot open '" + path + "'");
  Result<std::vector<std::byte>> magic = file.read(4);
  if (!magic)
    return magic.status();
  if (magic->size() < 4 || bigEndian(magic->data()) >> 16 != 0)
    return wrong("it does not start with an IDX magic number");
  int type = std::to_integer<int>((*magic)[2]);
  size_t rank = std::to_integer<size_t>((*magic)[3]);
  if (type != 8)
    return wrong("element type code " + std::to_string(type) +
                 "; only unsigned bytes (8) are read");
  if (rank == 0 || rank > 8)
    return wrong("it claims " + std::to_string(rank) + " dimensions");
  Result<std::vector<std::byte>> extents = file.read(4 * rank);
  if (!extents)
    return extents.status();
  if (extents->size() < 4 * rank)
    return wrong("the header is cut off");

  Array array;
  array.name = name;
  array.type = ArrayType::U8;
  for (size_t i = 0; i < rank; ++i)
    array.shape.push_back(bigEndian(extents->data() + 4 * i));
  Result<int64_t> elements = checkedElements(array.shape, 1);
  if (!elements)
    return wrong(elements.status().message());
  // One more than expected, to notice data that should not be there.
  Result<std::vector<std::byte>> data =
      file.read(static_cast<uint64_t>(*elements) + 1);
  if (!data)
    return data.status();
  if (static_cast<int64_t>(data->size()) != *elements)
    return wrong("its extents " + shapeToString(array.shape) + " need " +
                 std::to_string(*elements) + " bytes, but " +
                 (static_cast<int64_t>(data->size()) > *elements
                      ? "more"
                      : std::to_string(data->size())) +
                 " follow");
  array.bytes = std::move(*data);
  return array;
}

struct IdxPair {
  std::string images, labels;
};

/// MNIST names: train-images-idx3-ubyte, also .gz, also images.idx3-ubyte.
/// The part before "images" or "labels" is what pairs them.
std::map<std::string, IdxPair> findPairs(const std::string &directory) {
  std::map<std::string, IdxPair> pairs;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    for (bool isImages : {true, false}) {
      size_t at = name.find(isImages ? "images" : "labels");
      if (at == std::string::npos || name.find("idx", at) == std::string::npos)
        continue;
      IdxPair &pair = pairs[name.substr(0, at)];
      std::string &slot = isImages ? pair.images : pair.labels;
      // Plain wins over .gz of the same data, whatever the order of the scan.
      if (slot.empty() || !name.ends_with(".gz"))
        slot = it->path().string();
    }
  }
  return pairs;
}

} // namespace

Result<std::unique_ptr<Dataset>> openIdxDataset(const std::string &directory,
                                                const std::string &prefix) {
  std::string where =
      prefix.empty() ? directory : (fs::path(directory) / prefix).string();
  std::string found;
  std::vector<std::pair<std::string, IdxPair>> matches;
  for (auto &[name, pair] : findPairs(directory)) {
    if (pair.images.empty() || pair.labels.empty())
      continue;
    found +=
        (found.empty() ? "" : ", ") + (fs::path(directory) / name).string();
    if (name.starts_with(prefix))
      matches.emplace_back(name, pair);
  }
  if (matches.empty())
    return invalidArgument(
        "no data at '" + where +
        "': expected an .npz file, synthetic:CxHxW[:N], or IDX files named "
        "like train-images-idx3-ubyte and train-labels-idx1-ubyte (also .gz)" +
        (found.empty() ? "" : "; found " + found));
  if (matches.size() > 1)
    return invalidArgument("'" + where +
                           "' holds several pairs of IDX files; "
                           "name one: " +
                           found);
  Result<Array> images = readIdx(matches[0].second.images, "images");
  if (!images)
    return images.status();
  Result<Array> labels = readIdx(matches[0].second.labels, "labels");
  if (!labels)
    return labels.status();
  // Grey images have no channel in IDX; networks want one.
  if (images->shape.size() == 3)
    images->shape.insert(images->shape.begin() + 1, 1);
  return ArrayDataset::create(where, std::move(*images), *labels);
}

} // namespace hpcc::runtime
