// SPDX-License-Identifier: Apache-2.0
// Small integer tensors of shape arithmetic. An element is scale * N + base,
// with N the batch, or unknown.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace hpcc {

struct SymbolicInt {
  int64_t scale = 0;
  int64_t base = 0;
  bool known = true;

  static SymbolicInt unknown() { return {0, 0, false}; }
  static SymbolicInt batch() { return {1, 0, true}; }
  bool isConstant() const { return known && scale == 0; }
  bool isBatch() const { return known && scale == 1 && base == 0; }
  bool operator==(const SymbolicInt &) const = default;
};

SymbolicInt operator+(SymbolicInt a, SymbolicInt b);
SymbolicInt operator-(SymbolicInt a, SymbolicInt b);
SymbolicInt operator*(SymbolicInt a, SymbolicInt b);
/// Exact quotients, and with `truncate` those of constants rounded toward 0.
SymbolicInt divide(SymbolicInt a, SymbolicInt b, bool truncate);

struct SymbolicTensor {
  llvm::SmallVector<int64_t> dims; // empty: a scalar
  std::vector<SymbolicInt> elements;
  /// Holds integral values of a floating-point type (Cast to float and back).
  bool isFloat = false;

  static SymbolicTensor vector(std::vector<SymbolicInt> elements);
  /// All elements, where every one is constant.
  std::optional<std::vector<int64_t>> constants() const;
};

/// Shape arithmetic beyond this many elements is not evaluated.
constexpr int64_t maxSymbolicElements = 4096;

} // namespace hpcc
