// SPDX-License-Identifier: Apache-2.0
// Every number and path here comes from the model, so each is checked before
// it is used (CVE-2022-25882 and its kin).
#include "frontend/onnx/ExternalData.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace hpcc {

static Error locationError(const onnx::TensorProto &tensor, StringRef location,
                           const Twine &reason) {
  return userError("tensor \"" + tensor.name() + "\": external data \"" +
                   location + "\" " + reason);
}

/// The file that `location` names, below `directory`.
static Expected<std::string> resolvePath(StringRef directory,
                                         const onnx::TensorProto &tensor,
                                         StringRef location) {
  if (location.empty() || location.contains('\0'))
    return locationError(tensor, location, "has no file name");
  if (sys::path::is_absolute(location, sys::path::Style::posix) ||
      sys::path::is_absolute(location, sys::path::Style::windows))
    return locationError(tensor, location,
                         "is an absolute path; it must lie in the folder of "
                         "the model");
  SmallString<128> clean(location);
  sys::path::remove_dots(clean, /*remove_dot_dot=*/true);
  if (clean.empty() || *sys::path::begin(clean) == "..")
    return locationError(tensor, location, "leaves the folder of the model");
  SmallString<128> full(directory), real, realDirectory;
  sys::path::append(full, clean);
  if (std::error_code error = sys::fs::real_path(full, real))
    return locationError(tensor, location,
                         "cannot be opened: " + error.message());
  if (sys::fs::real_path(directory.empty() ? "." : directory, realDirectory))
    return locationError(tensor, location, "cannot be opened");
  if (!realDirectory.ends_with("/"))
    realDirectory += '/';
  if (!StringRef(real).starts_with(realDirectory))
    return locationError(tensor, location,
                         "is a link that leaves the folder of the model");
  if (!sys::fs::is_regular_file(real))
    return locationError(tensor, location, "is not a regular file");
  return std::string(real);
}

Expected<ExternalRange> resolveExternalData(StringRef directory,
                                            const onnx::TensorProto &tensor,
                                            uint64_t bytes) {
  std::string location;
  bool hasLength = false;
  ExternalRange range;
  range.length = bytes;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    if (key == "location") {
      location = value.str();
    } else if (key == "offset" || key == "length") {
      uint64_t number;
      if (value.getAsInteger(10, number))
        return userError("tensor \"" + tensor.name() + "\": external data " +
                         key + " \"" + value + "\" is not a number");
      (key == "offset" ? range.offset : range.length) = number;
      hasLength |= key == "length";
    } else if (key != "checksum") {
      return userError("tensor \"" + tensor.name() +
                       "\": external data has the unknown key \"" + key +
                       "\"; location, offset, length and checksum exist");
    }
  }
  if (hasLength && range.length != bytes)
    return userError("tensor \"" + tensor.name() +
                     "\": external data has length " + Twine(range.length) +
                     " but its shape needs " + Twine(bytes) + " bytes");
  Expected<std::string> path = resolvePath(directory, tensor, location);
  if (!path)
    return path.takeError();
  range.path = *path;
  uint64_t size = 0;
  if (std::error_code error = sys::fs::file_size(range.path, size))
    return locationError(tensor, location, "has no size: " + error.message());
  if (range.offset > size || size - range.offset < range.length)
    return locationError(tensor, location,
                         "is too short: it has " + Twine(size) +
                             " bytes but the tensor lies at offset " +
                             Twine(range.offset) + " with " +
                             Twine(range.length) + " bytes");
  return range;
}

Expected<std::string> readExternalData(const ExternalRange &range) {
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(range.path);
  if (!file)
    return file.takeError();
  std::string bytes(range.length, '\0');
  uint64_t done = 0;
  while (done < range.length) {
    Expected<size_t> count = sys::fs::readNativeFileSlice(
        *file, MutableArrayRef<char>(bytes.data() + done, range.length - done),
        range.offset + done);
    if (!count || *count == 0) {
      sys::fs::closeFile(*file);
      if (!count)
        return count.takeError();
      return userError("\"" + range.path +
                       "\" became shorter while it was "
                       "read");
    }
    done += *count;
  }
  sys::fs::closeFile(*file);
  return bytes;
}

Error checkOverlaps(std::vector<std::pair<ExternalRange, std::string>> ranges) {
  llvm::sort(ranges, [](const auto &a, const auto &b) {
    return std::tie(a.first.path, a.first.offset, a.first.length) <
           std::tie(b.first.path, b.first.offset, b.first.length);
  });
  for (size_t i = 1; i < ranges.size(); ++i) {
    const ExternalRange &before = ranges[i - 1].first;
    const ExternalRange &range = ranges[i].first;
    bool same = range.offset == before.offset && range.length == before.length;
    if (before.path == range.path && !same &&
        range.offset < before.offset + before.length && range.length > 0)
      return userError(
          "tensors \"" + ranges[i - 1].second + "\" and \"" + ranges[i].second +
          "\" overlap in external data file \"" + range.path + "\"");
  }
  return Error::success();
}

} // namespace hpcc
