// SPDX-License-Identifier: Apache-2.0
// Zip structures after APPNOTE 6.3: end of central directory, its zip64 form,
// central directory entries and local headers.

#include "runtime/data/Zip.h"

#include "runtime/data/Crc32.h"

#include <algorithm>
#include <climits>
#include <string_view>
#include <zlib.h>

namespace hpcc::runtime {

namespace {

constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kCentralSignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr size_t kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr size_t kCentralSize = 46, kLocalSize = 30;
constexpr uint16_t kZip64Extra = 1;
constexpr uint16_t kStored = 0, kDeflated = 8;

/// Little-endian fields of a byte range whose length the caller has checked.
uint64_t field(std::span<const std::byte> bytes, size_t offset, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i)
    value |= std::to_integer<uint64_t>(bytes[offset + i]) << (8 * i);
  return value;
}

void append(std::string &text, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i)
    text += static_cast<char>(value >> (8 * i) & 0xFF);
}

Status corrupt(const File &file, const std::string &what) {
  return invalidArgument("'" + file.path() +
                         "' is not a valid zip file: " + what);
}

/// Replaces the 32-bit fields that say "see zip64" by the extra field's.
bool applyZip64(ZipReader::Entry &entry, std::span<const std::byte> extra) {
  bool needSize = entry.uncompressed == UINT32_MAX;
  bool needCompressed = entry.compressed == UINT32_MAX;
  bool needOffset = entry.headerOffset == UINT32_MAX;
  if (!needSize && !needCompressed && !needOffset)
    return true;
  while (extra.size() >= 4) {
    uint64_t id = field(extra, 0, 2), length = field(extra, 2, 2);
    if (length > extra.size() - 4)
      return false;
    if (id != kZip64Extra) {
      extra = extra.subspan(4 + length);
      continue;
    }
    std::span<const std::byte> values = extra.subspan(4, length);
    for (auto [needed, target] : {std::pair(needSize, &entry.uncompressed),
                                  std::pair(needCompressed, &entry.compressed),
                                  std::pair(needOffset, &entry.headerOffset)}) {
      if (!needed)
        continue;
      if (values.size() < 8)
        return false;
      *target = field(values, 0, 8);
      values = values.subspan(8);
    }
    return true;
  }
  return false;
}

bool inflateAll(std::span<const std::byte> from, std::span<std::byte> into) {
  z_stream stream = {};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  // zlib counts in 32 bits, so both sides are fed in pieces.
  int code = Z_OK;
  while (code == Z_OK) {
    if (stream.avail_in == 0 && !from.empty()) {
      size_t piece = std::min<size_t>(from.size(), UINT_MAX);
      stream.next_in =
          reinterpret_cast<Bytef *>(const_cast<std::byte *>(from.data()));
      stream.avail_in = static_cast<uInt>(piece);
      from = from.subspan(piece);
    }
    if (stream.avail_out == 0 && !into.empty()) {
      size_t piece = std::min<size_t>(into.size(), UINT_MAX);
      stream.next_out = reinterpret_cast<Bytef *>(into.data());
      stream.avail_out = static_cast<uInt>(piece);
      into = into.subspan(piece);
    }
    code = ::inflate(&stream, Z_NO_FLUSH);
  }
  bool complete = code == Z_STREAM_END && stream.avail_out == 0 && into.empty();
  ::inflateEnd(&stream);
  return complete;
}

} // namespace

Result<ZipReader> ZipReader::open(const std::string &path) {
  Result<File> file = File::openForReading(path);
  if (!file)
    return file.status();
  ZipReader reader;
  reader.file = std::move(*file);
  if (Status status = reader.readDirectory(); !status)
    return status;
  return reader;
}

Status ZipReader::readDirectory() {
  Result<uint64_t> fileSize = file.size();
  if (!fileSize)
    return fileSize.status();
  size = *fileSize;

  // The end record is last, followed only by a comment of at most 64 KB.
  std::vector<std::byte> tail(
      std::min<uint64_t>(size, kEndSize + UINT16_MAX + kLocator64Size));
  if (Status status = file.readAt(size - tail.size(), tail); !status)
    return status;
  size_t end = tail.size() < kEndSize ? SIZE_MAX : tail.size() - kEndSize;
  while (end != SIZE_MAX && field(tail, end, 4) != kEndSignature)
    end = end == 0 ? SIZE_MAX : end - 1;
  if (end == SIZE_MAX)
    return corrupt(file, "no end record (is it an .npz, is it complete?)");
  uint64_t count = field(tail, end + 10, 2);
  uint64_t length = field(tail, end + 12, 4);
  uint64_t start = field(tail, end + 16, 4);
  if (end >= kLocator64Size &&
      field(tail, end - kLocator64Size, 4) == kLocator64Signature) {
    uint64_t at = field(tail, end - kLocator64Size + 8, 8);
    std::byte record[kEnd64Size];
    if (at > size || size - at < kEnd64Size)
      return corrupt(file, "the zip64 end record lies outside");
    if (Status status = file.readAt(at, record); !status)
      return status;
    if (field(record, 0, 4) != kEnd64Signature)
      return corrupt(file, "no zip64 end record where it should be");
    count = field(record, 32, 8);
    length = field(record, 40, 8);
    start = field(record, 48, 8);
  }
  if (start > size || length > size - start)
    return corrupt(file, "the central directory lies outside");
  if (count > length / kCentralSize)
    return corrupt(file, "the central directory is too short");

  std::vector<std::byte> bytes(length);
  if (Status status = file.readAt(start, bytes); !status)
    return status;
  std::span<const std::byte> rest(bytes);
  for (uint64_t i = 0; i < count; ++i) {
    if (rest.size() < kCentralSize || field(rest, 0, 4) != kCentralSignature)
      return corrupt(file, "entry " + std::to_string(i) +
                               " of the central "
                               "directory is damaged");
    Entry entry;
    uint64_t flags = field(rest, 8, 2);
    entry.method = static_cast<uint16_t>(field(rest, 10, 2));
    entry.crc = static_cast<uint32_t>(field(rest, 16, 4));
    entry.compressed = field(rest, 20, 4);
    entry.uncompressed = field(rest, 24, 4);
    entry.headerOffset = field(rest, 42, 4);
    size_t nameLength = field(rest, 28, 2), extraLength = field(rest, 30, 2);
    size_t total = kCentralSize + nameLength + extraLength + field(rest, 32, 2);
    if (rest.size() < total)
      return corrupt(file, "entry " + std::to_string(i) +
                               " of the central "
                               "directory is cut off");
    entry.name.assign(
        reinterpret_cast<const char *>(rest.data()) + kCentralSize, nameLength);
    if (flags & 1)
      return corrupt(file, "'" + entry.name + "' is encrypted");
    if (!applyZip64(entry,
                    rest.subspan(kCentralSize + nameLength, extraLength)))
      return corrupt(file,
                     "the zip64 sizes of '" + entry.name + "' are damaged");
    rest = rest.subspan(total);
    directory.push_back(std::move(entry));
  }
  return {};
}

Result<std::vector<std::byte>> ZipReader::read(const Entry &entry) const {
  std::byte header[kLocalSize];
  if (entry.headerOffset > size || size - entry.headerOffset < kLocalSize)
    return corrupt(file, "'" + entry.name + "' lies outside");
  if (Status status = file.readAt(entry.headerOffset, header); !status)
    return status;
  if (field(header, 0, 4) != kLocalSignature)
    return corrupt(file,
                   "no header of '" + entry.name + "' where it should be");
  uint64_t start = entry.headerOffset + kLocalSize + field(header, 26, 2) +
                   field(header, 28, 2);
  if (start > size || entry.compressed > size - start)
    return corrupt(file, "'" + entry.name + "' is cut off");
  if (entry.method != kStored && entry.method != kDeflated)
    return corrupt(file, "'" + entry.name + "' uses compression method " +
                             std::to_string(entry.method) +
                             " (numpy.savez and savez_compressed are read)");
  // Deflate cannot shrink more than 1032 to 1: a size beyond that is a lie,
  // found before memory is taken for it.
  bool plausible = entry.method == kStored
                       ? entry.uncompressed == entry.compressed
                       : entry.uncompressed / 1032 <= entry.compressed;
  if (!plausible)
    return corrupt(file, "the sizes of '" + entry.name + "' do not agree");

  std::vector<std::byte> bytes(entry.uncompressed);
  if (entry.method == kStored) {
    if (Status status = file.readAt(start, bytes); !status)
      return status;
  } else {
    std::vector<std::byte> packed(entry.compressed);
    if (Status status = file.readAt(start, packed); !status)
      return status;
    if (!inflateAll(packed, bytes))
      return corrupt(file,
                     "the compressed data of '" + entry.name + "' is damaged");
  }
  if (crc32Of(0, bytes) != entry.crc)
    return corrupt(file, "the checksum of '" + entry.name + "' is wrong");
  return bytes;
}

Result<ZipWriter> ZipWriter::create(const std::string &path) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.status();
  return ZipWriter(std::move(*file));
}

Status ZipWriter::add(const std::string &name,
                      std::span<const std::span<const std::byte>> parts) {
  Written entry{name, 0, 0, position};
  for (std::span<const std::byte> part : parts) {
    entry.crc = crc32Of(entry.crc, part);
    entry.size += part.size();
  }
  // As numpy does, every local header has room for zip64 sizes.
  std::string header;
  append(header, kLocalSignature, 4);
  append(header, 45, 2);    // Version needed: zip64.
  append(header, 0x800, 2); // Flags: the name is UTF-8.
  append(header, kStored, 2);
  append(header, 0, 2);    // Time and date: none, so that equal
  append(header, 0x21, 2); // content gives equal files (1980-01-01).
  append(header, entry.crc, 4);
  append(header, UINT32_MAX, 4);
  append(header, UINT32_MAX, 4);
  append(header, name.size(), 2);
  append(header, 20, 2);
  header += name;
  append(header, kZip64Extra, 2);
  append(header, 16, 2);
  append(header, entry.size, 8);
  append(header, entry.size, 8);
  if (Status status = file.write(header); !status)
    return status;
  for (std::span<const std::byte> part : parts)
    if (Status status = file.write(part); !status)
      return status;
  position += header.size() + entry.size;
  written.push_back(std::move(entry));
  return {};
}

Status ZipWriter::finish() {
  std::string text;
  for (const Written &entry : written) {
    append(text, kCentralSignature, 4);
    append(text, 45, 2);
    append(text, 45, 2);
    append(text, 0x800, 2);
    append(text, kStored, 2);
    append(text, 0, 2);
    append(text, 0x21, 2);
    append(text, entry.crc, 4);
    append(text, UINT32_MAX, 4);
    append(text, UINT32_MAX, 4);
    append(text, entry.name.size(), 2);
    append(text, 28, 2);
    append(text, 0, 2); // Comment.
    append(text, 0, 2); // Disk.
    append(text, 0, 2); // Internal attributes.
    append(text, 0, 4); // External attributes.
    append(text, UINT32_MAX, 4);
    text += entry.name;
    append(text, kZip64Extra, 2);
    append(text, 24, 2);
    append(text, entry.size, 8);
    append(text, entry.size, 8);
    append(text, entry.offset, 8);
  }
  uint64_t length = text.size();
  // Only where needed: NumPy knows an empty file by its plain end record.
  bool zip64 = written.size() >= UINT16_MAX || length >= UINT32_MAX ||
               position >= UINT32_MAX;
  if (zip64) {
    append(text, kEnd64Signature, 4);
    append(text, kEnd64Size - 12, 8);
    append(text, 45, 2);
    append(text, 45, 2);
    append(text, 0, 4);
    append(text, 0, 4);
    append(text, written.size(), 8);
    append(text, written.size(), 8);
    append(text, length, 8);
    append(text, position, 8);
    append(text, kLocator64Signature, 4);
    append(text, 0, 4);
    append(text, position + length, 8);
    append(text, 1, 4);
  }
  uint64_t count = zip64 ? UINT16_MAX : written.size();
  append(text, kEndSignature, 4);
  append(text, 0, 2);
  append(text, 0, 2);
  append(text, count, 2);
  append(text, count, 2);
  append(text, zip64 ? UINT32_MAX : length, 4);
  append(text, zip64 ? UINT32_MAX : position, 4);
  append(text, 0, 2);
  if (Status status = file.write(text); !status)
    return status;
  return file.commit();
}

} // namespace hpcc::runtime
