// SPDX-License-Identifier: Apache-2.0
// Joins the zip container and the .npy format.

#include "runtime/data/Npz.h"

#include "runtime/data/Npy.h"

#include <set>
#include <string_view>

namespace hpcc::runtime {

namespace {

constexpr std::string_view kSuffix = ".npy";

std::string arrayName(const std::string &entry) {
  return entry.substr(0, entry.size() - kSuffix.size());
}

} // namespace

Result<NpzReader> NpzReader::open(const std::string &path) {
  Result<ZipReader> zip = ZipReader::open(path);
  if (!zip)
    return zip.status();
  return NpzReader(path, std::move(*zip));
}

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> names;
  for (const ZipReader::Entry &entry : zip.entries())
    if (entry.name.ends_with(kSuffix))
      names.push_back(arrayName(entry.name));
  return names;
}

bool NpzReader::has(const std::string &name) const {
  for (const ZipReader::Entry &entry : zip.entries())
    if (entry.name.ends_with(kSuffix) && arrayName(entry.name) == name)
      return true;
  return false;
}

Result<Array> NpzReader::read(const std::string &name) const {
  for (const ZipReader::Entry &entry : zip.entries()) {
    if (!entry.name.ends_with(kSuffix) || arrayName(entry.name) != name)
      continue;
    Result<std::vector<std::byte>> bytes = zip.read(entry);
    if (!bytes)
      return bytes.status();
    Result<Array> array = parseNpy(name, std::move(*bytes));
    if (!array)
      return invalidArgument("'" + path + "': array '" + name +
                             "': " + array.status().message());
    return array;
  }
  std::string present;
  for (const std::string &other : names())
    present += (present.empty() ? "" : ", ") + other;
  return invalidArgument("'" + path + "' has no array '" + name +
                         "' (it has: " + (present.empty() ? "none" : present) +
                         ")");
}

Result<std::vector<Array>> readNpz(const std::string &path) {
  Result<NpzReader> reader = NpzReader::open(path);
  if (!reader)
    return reader.status();
  std::vector<Array> arrays;
  for (const std::string &name : reader->names()) {
    Result<Array> array = reader->read(name);
    if (!array)
      return array.status();
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

Status writeNpz(const std::string &path, std::span<const Array> arrays) {
  std::set<std::string_view> seen;
  for (const Array &array : arrays) {
    if (!seen.insert(array.name).second)
      return Status::error(StatusCode::internal, "two arrays named '" +
                                                     array.name + "' for '" +
                                                     path + "'");
    if (array.name.size() + kSuffix.size() > UINT16_MAX)
      return invalidArgument("'" + path + "': an array name of " +
                             std::to_string(array.name.size()) +
                             " bytes does not fit into a zip file");
  }
  Result<ZipWriter> zip = ZipWriter::create(path);
  if (!zip)
    return zip.status();
  for (const Array &array : arrays) {
    std::string header = makeNpyHeader(array.type, array.shape);
    std::span<const std::byte> parts[] = {
        std::as_bytes(std::span<const char>(header)), array.bytes};
    if (Status status = zip->add(array.name + std::string(kSuffix), parts);
        !status)
      return status;
  }
  return zip->finish();
}

} // namespace hpcc::runtime
