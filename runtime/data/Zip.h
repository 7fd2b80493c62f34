// SPDX-License-Identifier: Apache-2.0
// The part of the zip format that .npz files use: stored and deflated entries,
// zip64, no encryption, no several disks. Every length is checked against the
// file before memory is taken.
#ifndef HPCC_RUNTIME_DATA_ZIP_H
#define HPCC_RUNTIME_DATA_ZIP_H

#include "runtime/base/File.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hpcc::runtime {

class ZipReader {
public:
  struct Entry {
    std::string name;
    uint16_t method = 0;
    uint32_t crc = 0;
    uint64_t compressed = 0;
    uint64_t uncompressed = 0;
    uint64_t headerOffset = 0;
  };

  static Result<ZipReader> open(const std::string &path);
  const std::vector<Entry> &entries() const { return directory; }
  /// The entry's bytes, decompressed and checked against its CRC.
  Result<std::vector<std::byte>> read(const Entry &entry) const;

private:
  ZipReader() = default;
  Status readDirectory();

  File file;
  uint64_t size = 0;
  std::vector<Entry> directory;
};

/// Writes stored (uncompressed) entries. The file appears under its name only
/// when `finish` has succeeded; until then it is a temporary beside it.
class ZipWriter {
public:
  static Result<ZipWriter> create(const std::string &path);

  /// Adds an entry made of the parts, one after the other.
  Status add(const std::string &name,
             std::span<const std::span<const std::byte>> parts);
  /// Writes the directory, syncs, and moves the file into place.
  Status finish();

private:
  struct Written {
    std::string name;
    uint32_t crc;
    uint64_t size;
    uint64_t offset;
  };
  explicit ZipWriter(AtomicFile file) : file(std::move(file)) {}

  AtomicFile file;
  uint64_t position = 0;
  std::vector<Written> written;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_DATA_ZIP_H
