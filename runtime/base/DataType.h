// SPDX-License-Identifier: Apache-2.0
// Element types of buffers that cross the C ABI.
#ifndef HPCC_RUNTIME_BASE_DATATYPE_H
#define HPCC_RUNTIME_BASE_DATATYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace hpcc::runtime {

enum class DataType { f32, i32, i64, i8 };
inline constexpr DataType kAllDataTypes[] = {DataType::f32, DataType::i32,
                                             DataType::i64, DataType::i8};

constexpr int64_t sizeOf(DataType type) {
  switch (type) {
  case DataType::f32:
  case DataType::i32:
    return 4;
  case DataType::i64:
    return 8;
  case DataType::i8:
    return 1;
  }
  return 0;
}

constexpr std::string_view toString(DataType type) {
  switch (type) {
  case DataType::f32:
    return "f32";
  case DataType::i32:
    return "i32";
  case DataType::i64:
    return "i64";
  case DataType::i8:
    return "i8";
  }
  return "unknown";
}

constexpr std::optional<DataType> parseDataType(std::string_view name) {
  for (DataType type : kAllDataTypes)
    if (toString(type) == name)
      return type;
  return std::nullopt;
}

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_BASE_DATATYPE_H
