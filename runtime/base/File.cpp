// SPDX-License-Identifier: Apache-2.0
// POSIX calls behind File and AtomicFile, each checked once.

#include "runtime/base/File.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hpcc::runtime {

namespace {

Status systemError(const char *action, const std::string &path, int error) {
  return environmentError("cannot " + std::string(action) + " '" + path +
                          "': " + std::strerror(error));
}

std::string directoryOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// O_CLOEXEC and EINTR in one place.
int openRetrying(const std::string &path, int flags, mode_t mode = 0666) {
  int descriptor;
  do
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

} // namespace

File::File(File &&other) noexcept
    : name(std::move(other.name)),
      descriptor(std::exchange(other.descriptor, -1)) {}

File &File::operator=(File &&other) noexcept {
  std::swap(name, other.name);
  std::swap(descriptor, other.descriptor);
  return *this;
}

File::~File() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Result<File> File::openForReading(const std::string &path) {
  File file;
  file.name = path;
  file.descriptor = openRetrying(path, O_RDONLY);
  if (file.descriptor < 0) {
    int error = errno;
    if (error == ENOENT || error == ENOTDIR)
      return invalidArgument("'" + path + "' does not exist");
    return systemError("open", path, error);
  }
  struct stat info;
  if (::fstat(file.descriptor, &info) != 0)
    return systemError("stat", path, errno);
  if (!S_ISREG(info.st_mode))
    return invalidArgument("'" + path + "' is not a regular file");
  return file;
}

Result<File> File::create(const std::string &path) {
  File file;
  file.name = path;
  file.descriptor = openRetrying(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.descriptor < 0)
    return systemError("create", path, errno);
  return file;
}

Result<File> File::openForAppending(const std::string &path) {
  File file;
  file.name = path;
  file.descriptor = openRetrying(path, O_WRONLY | O_CREAT | O_APPEND);
  if (file.descriptor < 0)
    return systemError("open", path, errno);
  return file;
}

Result<uint64_t> File::size() const {
  struct stat info;
  if (::fstat(descriptor, &info) != 0)
    return systemError("stat", name, errno);
  return static_cast<uint64_t>(info.st_size);
}

Status File::readAt(uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    ssize_t count = ::pread(descriptor, into.data(), into.size(),
                            static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError("read", name, errno);
    if (count == 0)
      return invalidArgument("'" + name + "' ends before byte " +
                             std::to_string(offset + into.size()));
    offset += static_cast<uint64_t>(count);
    into = into.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status File::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError("write", name, errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status File::write(std::string_view text) {
  return write(std::as_bytes(std::span(text.data(), text.size())));
}

Status File::sync() {
  // Pipes and terminals cannot be synced and need not be.
  if (::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
    return systemError("sync", name, errno);
  return {};
}

Status File::close() {
  if (::close(std::exchange(descriptor, -1)) != 0)
    return systemError("close", name, errno);
  return {};
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : target(std::move(other.target)),
      temporary(std::exchange(other.temporary, {})),
      file(std::move(other.file)) {}

AtomicFile::~AtomicFile() {
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

Result<AtomicFile> AtomicFile::create(const std::string &path) {
  AtomicFile result;
  result.target = path;
  // Follow a link, so that the rename replaces the file and not the link.
  if (char *resolved = ::realpath(path.c_str(), nullptr)) {
    result.target = resolved;
    std::free(resolved);
  }
  struct stat info;
  bool exists = ::stat(result.target.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return invalidArgument("cannot write '" + path + "': it is a directory");
  std::string opened = result.target;
  if (!exists || S_ISREG(info.st_mode)) {
    opened += ".tmp-" + std::to_string(::getpid());
    result.temporary = opened;
  }
  Result<File> file = File::create(opened);
  if (!file) {
    result.temporary.clear();
    return file.status();
  }
  result.file = std::move(*file);
  return result;
}

Status AtomicFile::commit() {
  if (Status status = file.sync(); !status)
    return status;
  if (Status status = file.close(); !status)
    return status;
  if (temporary.empty())
    return {};
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    return systemError("replace", target, errno);
  temporary.clear();
  return syncDirectory(directoryOf(target));
}

Status syncDirectory(const std::string &path) {
  int descriptor = openRetrying(path, O_RDONLY | O_DIRECTORY);
  if (descriptor < 0)
    return systemError("open", path, errno);
  int failed = ::fsync(descriptor) != 0 ? errno : 0;
  ::close(descriptor);
  if (failed && failed != EINVAL && failed != EROFS)
    return systemError("sync", path, failed);
  return {};
}

Result<std::vector<std::byte>> readFile(const std::string &path,
                                        uint64_t limit) {
  Result<File> file = File::openForReading(path);
  if (!file)
    return file.status();
  Result<uint64_t> size = file->size();
  if (!size)
    return size.status();
  if (*size > limit)
    return invalidArgument("'" + path + "' has " + std::to_string(*size) +
                           " bytes, more than the " + std::to_string(limit) +
                           " expected at most");
  std::vector<std::byte> bytes(*size);
  if (Status status = file->readAt(0, bytes); !status)
    return status;
  return bytes;
}

} // namespace hpcc::runtime
