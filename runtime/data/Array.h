// SPDX-License-Identifier: Apache-2.0
// A named, dense, row-major array in host memory: what .npy files hold.
#ifndef HPCC_RUNTIME_DATA_ARRAY_H
#define HPCC_RUNTIME_DATA_ARRAY_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hpcc::runtime {

/// Element types of .npy files that hpcc reads, all little-endian.
enum class ArrayType {
  Bool,
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  U64,
  I64,
  F16,
  F32,
  F64,
};

int64_t byteWidth(ArrayType type);
/// NumPy's name: "uint8", "float32", ...
const char *toString(ArrayType type);
bool isInteger(ArrayType type);
bool isFloat(ArrayType type);

struct Array {
  std::string name;
  ArrayType type = ArrayType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  /// Product of the shape, which the readers have checked against `bytes`.
  int64_t elements() const;
  /// Element `index` of an integer or boolean array. An unsigned value above
  /// the range of int64_t comes out as the largest one.
  int64_t integerAt(int64_t index) const;
  /// Element `index` of an array of any type.
  double valueAt(int64_t index) const;
  /// The elements as float32, whatever the type.
  std::vector<float> toFloats() const;

  static Array fromFloats(std::string name, std::vector<int64_t> shape,
                          std::span<const float> values);
};

/// "3x4", or "scalar".
std::string shapeToString(std::span<const int64_t> shape);

/// Product of non-negative extents, or an error if one is negative or the
/// product (times `width` bytes) does not fit.
Result<int64_t> checkedElements(std::span<const int64_t> shape, int64_t width);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_DATA_ARRAY_H
