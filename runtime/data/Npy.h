// SPDX-License-Identifier: Apache-2.0
// The .npy header: parsing (versions 1 to 3, hostile bytes included) and
// writing (version 1, or 2 where the header is long).
#ifndef HPCC_RUNTIME_DATA_NPY_H
#define HPCC_RUNTIME_DATA_NPY_H

#include "runtime/data/Array.h"

#include <string>

namespace hpcc::runtime {

struct NpyHeader {
  ArrayType type = ArrayType::F32;
  std::vector<int64_t> shape;
  /// Where the elements start.
  int64_t dataOffset = 0;
};

/// Parses the header at the start of `bytes`. Only C order and little-endian
/// types are accepted, because everything behind it reads elements in place.
Result<NpyHeader> parseNpyHeader(std::span<const std::byte> bytes);

/// The whole .npy file in memory -> array; its size must match its header.
Result<Array> parseNpy(std::string name, std::vector<std::byte> bytes);

/// The header of a .npy file, padded so that the elements are 64-byte aligned.
std::string makeNpyHeader(ArrayType type, std::span<const int64_t> shape);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_DATA_NPY_H
