// SPDX-License-Identifier: Apache-2.0
// Elements of stored tensors, from every storage form the format has.
#include "frontend/onnx/Contents.h"
#include "frontend/onnx/ExternalData.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include <bit>
#include <cstring>

using namespace llvm;
using onnx::TensorProto;

static_assert(std::endian::native == std::endian::little,
              "raw tensor data is little-endian");

namespace hpcc {

Error userError(const Twine &message) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           message);
}

int64_t elementBytes(int32_t type) {
  switch (type) {
  case TensorProto::INT8:
  case TensorProto::UINT8:
  case TensorProto::BOOL:
    return 1;
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 2;
  case TensorProto::FLOAT:
  case TensorProto::INT32:
  case TensorProto::UINT32:
    return 4;
  case TensorProto::DOUBLE:
  case TensorProto::INT64:
  case TensorProto::UINT64:
    return 8;
  default:
    return 0;
  }
}

std::string typeName(int32_t type) {
  if (!TensorProto::DataType_IsValid(type))
    return "type number " + std::to_string(type);
  return StringRef(TensorProto::DataType_Name(TensorProto::DataType(type)))
      .lower();
}

bool FileTensor::isFloat() const {
  return type == TensorProto::FLOAT || type == TensorProto::DOUBLE ||
         type == TensorProto::FLOAT16 || type == TensorProto::BFLOAT16;
}

bool FileTensor::isInteger() const {
  return elementBytes(type) != 0 && !isFloat();
}

Expected<int64_t> countElements(ArrayRef<int64_t> dims) {
  // Enough for any network, and far from overflowing with eight bytes each.
  constexpr int64_t limit = int64_t(1) << 40;
  if (dims.size() > 64)
    return userError("it has " + Twine(dims.size()) + " dimensions");
  int64_t count = 1;
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return userError("dimension " + Twine(dim) + " is negative");
    empty |= dim == 0;
  }
  if (empty)
    return 0;
  for (int64_t dim : dims)
    if (MulOverflow(count, dim, count) || count > limit)
      return userError("it has more than 2^40 elements");
  return count;
}

float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 0x3ff;
  if (exponent == 0) {
    float magnitude = float(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

static uint16_t narrow(float value, const fltSemantics &semantics) {
  APFloat number(value);
  bool lost;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

uint16_t floatToHalf(float value) { return narrow(value, APFloat::IEEEhalf()); }
uint16_t floatToBfloat(float value) { return narrow(value, APFloat::BFloat()); }

template <typename T, typename Field>
static void append(std::string &bytes, const Field &field) {
  bytes.resize(field.size() * sizeof(T));
  char *to = bytes.data();
  for (auto element : field) {
    T value = static_cast<T>(element);
    std::memcpy(to, &value, sizeof(T));
    to += sizeof(T);
  }
}

Expected<std::string> readBytes(const ModelFile::Contents &contents,
                                const TensorProto &tensor) {
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  Expected<int64_t> count = countElements(dims);
  if (!count)
    return count.takeError();
  int64_t width = elementBytes(tensor.data_type());
  if (width == 0)
    return userError("tensor \"" + tensor.name() + "\" has element type " +
                     typeName(tensor.data_type()) +
                     ", which hpcc does not read");
  std::string bytes;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    Expected<ExternalRange> range = resolveExternalData(
        contents.directory, tensor, uint64_t(*count) * width);
    if (!range)
      return range.takeError();
    return readExternalData(*range);
  }
  if (!tensor.raw_data().empty()) {
    bytes = tensor.raw_data();
  } else {
    switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      append<float>(bytes, tensor.float_data());
      break;
    case TensorProto::DOUBLE:
      append<double>(bytes, tensor.double_data());
      break;
    case TensorProto::INT64:
      append<int64_t>(bytes, tensor.int64_data());
      break;
    case TensorProto::UINT64:
      append<uint64_t>(bytes, tensor.uint64_data());
      break;
    case TensorProto::UINT32:
      append<uint32_t>(bytes, tensor.uint64_data());
      break;
    case TensorProto::INT32:
      append<int32_t>(bytes, tensor.int32_data());
      break;
    default: // 16-bit types hold their bits here, 8-bit ones their value
      if (width == 2)
        append<uint16_t>(bytes, tensor.int32_data());
      else
        append<uint8_t>(bytes, tensor.int32_data());
    }
  }
  if (int64_t(bytes.size()) != *count * width)
    return userError("tensor \"" + tensor.name() + "\": its shape needs " +
                     Twine(*count * width) + " bytes but the file has " +
                     Twine(bytes.size()));
  return bytes;
}

template <typename T, typename To>
static std::vector<To> convert(const std::string &bytes) {
  std::vector<To> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<To>(value);
  }
  return values;
}

static std::vector<float> toFloats(const std::string &bytes, int32_t type) {
  if (type == TensorProto::FLOAT)
    return convert<float, float>(bytes);
  if (type == TensorProto::DOUBLE)
    return convert<double, float>(bytes);
  std::vector<float> values(bytes.size() / 2);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    values[i] = type == TensorProto::FLOAT16
                    ? halfToFloat(bits)
                    : std::bit_cast<float>(uint32_t(bits) << 16);
  }
  return values;
}

Expected<std::vector<float>> readFloats(const ModelFile::Contents &contents,
                                        const FileTensor &tensor) {
  if (!tensor.isFloat())
    return userError("tensor \"" + tensor.name + "\" has element type " +
                     typeName(tensor.type) + ", expected a floating-point one");
  std::vector<float> values;
  if (tensor.attribute) {
    const auto &floats = tensor.attribute->floats();
    if (tensor.attribute->name() == "value_float")
      values = {tensor.attribute->f()};
    else
      values.assign(floats.begin(), floats.end());
    return values;
  }
  if (tensor.proto) {
    Expected<std::string> bytes = readBytes(contents, *tensor.proto);
    if (!bytes)
      return bytes.takeError();
    values = toFloats(*bytes, tensor.type);
  } else {
    values = {0.0f};
  }
  if (tensor.kind == FileTensor::Kind::Fill)
    values = std::vector<float>(tensor.elements, values.front());
  return values;
}

Expected<std::vector<int64_t>> readIntegers(const ModelFile::Contents &contents,
                                            const FileTensor &tensor) {
  if (!tensor.isInteger())
    return userError("tensor \"" + tensor.name + "\" has element type " +
                     typeName(tensor.type) + ", expected an integer one");
  if (tensor.attribute) {
    const auto &ints = tensor.attribute->ints();
    if (tensor.attribute->name() == "value_int")
      return std::vector<int64_t>{tensor.attribute->i()};
    return std::vector<int64_t>(ints.begin(), ints.end());
  }
  Expected<std::string> bytes = readBytes(contents, *tensor.proto);
  if (!bytes)
    return bytes.takeError();
  std::vector<int64_t> values;
  switch (tensor.type) {
  case TensorProto::INT8:
    values = convert<int8_t, int64_t>(*bytes);
    break;
  case TensorProto::INT16:
    values = convert<int16_t, int64_t>(*bytes);
    break;
  case TensorProto::INT32:
    values = convert<int32_t, int64_t>(*bytes);
    break;
  case TensorProto::UINT16:
    values = convert<uint16_t, int64_t>(*bytes);
    break;
  case TensorProto::UINT32:
    values = convert<uint32_t, int64_t>(*bytes);
    break;
  case TensorProto::BOOL:
  case TensorProto::UINT8:
    values = convert<uint8_t, int64_t>(*bytes);
    break;
  default:
    values = convert<int64_t, int64_t>(*bytes);
  }
  if (tensor.kind == FileTensor::Kind::Fill)
    values = std::vector<int64_t>(tensor.elements, values.front());
  return values;
}

} // namespace hpcc
