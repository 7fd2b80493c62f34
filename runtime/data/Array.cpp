// SPDX-License-Identifier: Apache-2.0
// Element access of arrays of every type.

#include "runtime/data/Array.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace hpcc::runtime {

int64_t byteWidth(ArrayType type) {
  switch (type) {
  case ArrayType::Bool:
  case ArrayType::U8:
  case ArrayType::I8:
    return 1;
  case ArrayType::U16:
  case ArrayType::I16:
  case ArrayType::F16:
    return 2;
  case ArrayType::U32:
  case ArrayType::I32:
  case ArrayType::F32:
    return 4;
  case ArrayType::U64:
  case ArrayType::I64:
  case ArrayType::F64:
    return 8;
  }
  return 0;
}

const char *toString(ArrayType type) {
  switch (type) {
  case ArrayType::Bool:
    return "bool";
  case ArrayType::U8:
    return "uint8";
  case ArrayType::I8:
    return "int8";
  case ArrayType::U16:
    return "uint16";
  case ArrayType::I16:
    return "int16";
  case ArrayType::U32:
    return "uint32";
  case ArrayType::I32:
    return "int32";
  case ArrayType::U64:
    return "uint64";
  case ArrayType::I64:
    return "int64";
  case ArrayType::F16:
    return "float16";
  case ArrayType::F32:
    return "float32";
  case ArrayType::F64:
    return "float64";
  }
  return "?";
}

bool isFloat(ArrayType type) {
  return type == ArrayType::F16 || type == ArrayType::F32 ||
         type == ArrayType::F64;
}

bool isInteger(ArrayType type) { return !isFloat(type); }

namespace {

template <typename T> T load(const Array &array, int64_t index) {
  T value;
  std::memcpy(&value, array.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

double halfToDouble(uint16_t bits) {
  int exponent = (bits >> 10) & 0x1F;
  int mantissa = bits & 0x3FF;
  double value;
  if (exponent == 0x1F)
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(mantissa, -24);
  else
    value = std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

} // namespace

int64_t Array::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t Array::integerAt(int64_t index) const {
  switch (type) {
  case ArrayType::Bool:
  case ArrayType::U8:
    return load<uint8_t>(*this, index);
  case ArrayType::I8:
    return load<int8_t>(*this, index);
  case ArrayType::U16:
    return load<uint16_t>(*this, index);
  case ArrayType::I16:
    return load<int16_t>(*this, index);
  case ArrayType::U32:
    return load<uint32_t>(*this, index);
  case ArrayType::I32:
    return load<int32_t>(*this, index);
  case ArrayType::U64: {
    uint64_t value = load<uint64_t>(*this, index);
    uint64_t limit = std::numeric_limits<int64_t>::max();
    return static_cast<int64_t>(value < limit ? value : limit);
  }
  case ArrayType::I64:
    return load<int64_t>(*this, index);
  case ArrayType::F16:
  case ArrayType::F32:
  case ArrayType::F64:
    break;
  }
  assert(false && "integerAt on a floating-point array");
  return 0;
}

double Array::valueAt(int64_t index) const {
  switch (type) {
  case ArrayType::F16:
    return halfToDouble(load<uint16_t>(*this, index));
  case ArrayType::F32:
    return load<float>(*this, index);
  case ArrayType::F64:
    return load<double>(*this, index);
  case ArrayType::U64:
    return static_cast<double>(load<uint64_t>(*this, index));
  default:
    return static_cast<double>(integerAt(index));
  }
}

std::vector<float> Array::toFloats() const {
  std::vector<float> values(elements());
  if (type == ArrayType::F32) {
    if (!values.empty())
      std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
  }
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(valueAt(static_cast<int64_t>(i)));
  return values;
}

Array Array::fromFloats(std::string name, std::vector<int64_t> shape,
                        std::span<const float> values) {
  Array array;
  array.name = std::move(name);
  array.type = ArrayType::F32;
  array.shape = std::move(shape);
  auto bytes = std::as_bytes(values);
  array.bytes.assign(bytes.begin(), bytes.end());
  assert(array.elements() == static_cast<int64_t>(values.size()) &&
         "shape and values must agree");
  return array;
}

std::string shapeToString(std::span<const int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "x" : "") + std::to_string(shape[i]);
  return text;
}

Result<int64_t> checkedElements(std::span<const int64_t> shape, int64_t width) {
  int64_t count = 1;
  bool zero = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return Status::error(StatusCode::invalidArgument,
                           "negative extent in shape " + shapeToString(shape));
    zero |= extent == 0;
  }
  if (zero)
    return int64_t{0};
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      return Status::error(StatusCode::invalidArgument,
                           "shape " + shapeToString(shape) + " overflows");
  int64_t bytes;
  if (__builtin_mul_overflow(count, width, &bytes))
    return Status::error(StatusCode::invalidArgument,
                         "shape " + shapeToString(shape) + " overflows");
  return count;
}

} // namespace hpcc::runtime
