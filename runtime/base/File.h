// SPDX-License-Identifier: Apache-2.0
// Files whose every failure is a Status that names the file: reading at an
// offset, complete writes, and replacing a file so that a crash or a full disk
// leaves either the old content or the new.
#ifndef HPCC_RUNTIME_BASE_FILE_H
#define HPCC_RUNTIME_BASE_FILE_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hpcc::runtime {

class File {
public:
  File() = default;
  File(File &&other) noexcept;
  File &operator=(File &&other) noexcept;
  ~File();

  /// A regular file that must exist; user error if it does not.
  static Result<File> openForReading(const std::string &path);
  /// Creates or truncates.
  static Result<File> create(const std::string &path);
  /// Creates if needed; writes go to the end.
  static Result<File> openForAppending(const std::string &path);

  bool isOpen() const { return descriptor >= 0; }
  const std::string &path() const { return name; }
  Result<uint64_t> size() const;
  /// Fills `into` or fails: a short file is an error.
  Status readAt(uint64_t offset, std::span<std::byte> into) const;
  /// Writes everything or fails.
  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text);
  /// Data and metadata to the disk.
  Status sync();
  /// Closing can report a failed write (network file systems).
  Status close();

private:
  std::string name;
  int descriptor = -1;
};

/// Writes beside the target under a temporary name and moves it into place on
/// commit. Without commit the temporary is removed and the target untouched. A
/// target that exists but is no regular file (/dev/stdout) is written directly.
class AtomicFile {
public:
  static Result<AtomicFile> create(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  Status write(std::span<const std::byte> bytes) { return file.write(bytes); }
  Status write(std::string_view text) { return file.write(text); }
  Status commit();

private:
  AtomicFile() = default;

  std::string target;
  std::string temporary; ///< Empty: the target is written directly.
  File file;
};

/// Makes renames and creations inside a directory durable.
Status syncDirectory(const std::string &path);

/// The whole content of a regular file of at most `limit` bytes.
Result<std::vector<std::byte>> readFile(const std::string &path,
                                        uint64_t limit = UINT64_MAX);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_BASE_FILE_H
