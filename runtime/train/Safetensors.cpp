// SPDX-License-Identifier: Apache-2.0
// safetensors: u64 little-endian header length, JSON, data without gaps.

#include "runtime/train/Safetensors.h"

#include "runtime/base/File.h"
#include "runtime/data/Array.h"
#include "runtime/data/Crc32.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace hpcc::runtime {

namespace {

using Json = nlohmann::json;

struct Entry {
  std::string name;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

bool parseEntry(const std::string &name, const Json &json, Entry &entry) {
  entry.name = name;
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") ||
      !json.contains("shape") || !json.contains("data_offsets"))
    return false;
  const Json &shape = json["shape"], &offsets = json["data_offsets"];
  if (json["dtype"] != "F32" || !shape.is_array() || !offsets.is_array() ||
      offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    return false;
  for (const Json &extent : shape) {
    if (!extent.is_number_unsigned() ||
        extent.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
      return false;
    entry.shape.push_back(extent.get<int64_t>());
  }
  entry.begin = offsets[0].get<uint64_t>();
  entry.end = offsets[1].get<uint64_t>();
  Result<int64_t> elements = checkedElements(entry.shape, sizeof(float));
  return elements.ok() && entry.begin <= entry.end &&
         entry.end - entry.begin ==
             static_cast<uint64_t>(*elements) * sizeof(float);
}

Result<std::vector<Tensor>> parse(const std::string &path,
                                  std::span<const std::byte> bytes) {
  auto wrong = [&](const std::string &what) {
    return invalidArgument("'" + path +
                           "' is not a valid safetensors file: " + what);
  };
  if (bytes.size() < 8)
    return wrong("it has only " + std::to_string(bytes.size()) + " bytes");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  if (length > bytes.size() - 8)
    return wrong("its header should have " + std::to_string(length) +
                 " bytes, but only " + std::to_string(bytes.size() - 8) +
                 " follow");
  const char *text = reinterpret_cast<const char *>(bytes.data()) + 8;
  Json header = Json::parse(text, text + length, nullptr,
                            /*allow_exceptions=*/false);
  if (!header.is_object())
    return wrong("its header is no JSON object");
  std::span<const std::byte> data = bytes.subspan(8 + length);

  std::vector<Entry> entries;
  for (const auto &[name, json] : header.items()) {
    if (name == "__metadata__")
      continue;
    Entry entry;
    if (!parseEntry(name, json, entry))
      return wrong("the description of '" + name +
                   "' is malformed or not float32");
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t position = 0;
  std::vector<Tensor> tensors;
  for (Entry &entry : entries) {
    if (entry.begin != position || entry.end > data.size())
      return wrong("the data of '" + entry.name +
                   "' overlaps, leaves a gap, "
                   "or lies outside");
    position = entry.end;
    Tensor tensor{std::move(entry.name), std::move(entry.shape), {}};
    tensor.values.resize((entry.end - entry.begin) / sizeof(float));
    if (!tensor.values.empty())
      std::memcpy(tensor.values.data(), data.data() + entry.begin,
                  entry.end - entry.begin);
    tensors.push_back(std::move(tensor));
  }
  if (position != data.size())
    return wrong("it has " + std::to_string(data.size() - position) +
                 " bytes behind the last tensor");
  return tensors;
}

} // namespace

Result<FileChecksum> writeSafetensors(const std::string &path,
                                      std::span<const TensorView> tensors) {
  Json header = Json::object();
  uint64_t position = 0;
  for (const TensorView &tensor : tensors) {
    uint64_t end = position + tensor.values.size_bytes();
    if (header.contains(tensor.name))
      return Status::error(StatusCode::internal,
                           "two tensors named '" + tensor.name + "'");
    header[tensor.name] = {{"dtype", "F32"},
                           {"shape", tensor.shape},
                           {"data_offsets", {position, end}}};
    position = end;
  }
  std::string text = header.dump(-1, ' ', /*ensure_ascii=*/false,
                                 Json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t length = text.size();

  Result<File> file = File::create(path);
  if (!file)
    return file.status();
  FileChecksum checksum;
  auto put = [&](std::span<const std::byte> bytes) {
    checksum.bytes += bytes.size();
    checksum.crc32 = crc32Of(checksum.crc32, bytes);
    return file->write(bytes);
  };
  if (Status status = put(std::as_bytes(std::span(&length, 1))); !status)
    return status;
  if (Status status = put(std::as_bytes(std::span<const char>(text))); !status)
    return status;
  for (const TensorView &tensor : tensors)
    if (Status status = put(std::as_bytes(tensor.values)); !status)
      return status;
  if (Status status = file->sync(); !status)
    return status;
  if (Status status = file->close(); !status)
    return status;
  return checksum;
}

Result<std::vector<Tensor>> readSafetensors(const std::string &path,
                                            const FileChecksum &expected) {
  Result<std::vector<std::byte>> bytes = readFile(path);
  if (!bytes)
    return bytes.status();
  FileChecksum found{bytes->size(), crc32Of(0, *bytes)};
  if (found.bytes != expected.bytes)
    return invalidArgument("'" + path + "' has " + std::to_string(found.bytes) +
                           " bytes, but " + std::to_string(expected.bytes) +
                           " were written");
  if (found != expected)
    return invalidArgument("the checksum of '" + path + "' is wrong");
  return parse(path, *bytes);
}

Result<std::vector<Tensor>> readSafetensors(const std::string &path) {
  Result<std::vector<std::byte>> bytes = readFile(path);
  if (!bytes)
    return bytes.status();
  return parse(path, *bytes);
}

} // namespace hpcc::runtime
