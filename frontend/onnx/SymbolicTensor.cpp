// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/SymbolicTensor.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace hpcc {

SymbolicInt operator+(SymbolicInt a, SymbolicInt b) {
  SymbolicInt sum;
  if (!a.known || !b.known || AddOverflow(a.scale, b.scale, sum.scale) ||
      AddOverflow(a.base, b.base, sum.base))
    return SymbolicInt::unknown();
  return sum;
}

SymbolicInt operator-(SymbolicInt a, SymbolicInt b) {
  return a + b * SymbolicInt{0, -1};
}

SymbolicInt operator*(SymbolicInt a, SymbolicInt b) {
  if (!b.isConstant())
    std::swap(a, b);
  SymbolicInt product;
  if (!a.known || !b.isConstant() ||
      MulOverflow(a.scale, b.base, product.scale) ||
      MulOverflow(a.base, b.base, product.base))
    return SymbolicInt::unknown();
  return product;
}

SymbolicInt divide(SymbolicInt a, SymbolicInt b, bool truncate) {
  if (!a.known || !b.known)
    return SymbolicInt::unknown();
  // (s*N + b) / (s*N + b), and multiples of it: N is at least 1.
  if (!b.isConstant()) {
    if (b.base == 0 && a.base == 0 && b.scale != -1 && a.scale % b.scale == 0)
      return {0, a.scale / b.scale};
    return a == b ? SymbolicInt{0, 1} : SymbolicInt::unknown();
  }
  if (b.base == 0 || b.base == -1)
    return b.base == 0 ? SymbolicInt::unknown() : a * b;
  bool exact = a.scale % b.base == 0 && a.base % b.base == 0;
  if (exact || (truncate && a.isConstant()))
    return {a.scale / b.base, a.base / b.base};
  return SymbolicInt::unknown();
}

SymbolicTensor SymbolicTensor::vector(std::vector<SymbolicInt> elements) {
  SymbolicTensor tensor;
  tensor.dims = {int64_t(elements.size())};
  tensor.elements = std::move(elements);
  return tensor;
}

std::optional<std::vector<int64_t>> SymbolicTensor::constants() const {
  std::vector<int64_t> values;
  for (const SymbolicInt &element : elements) {
    if (!element.isConstant())
      return std::nullopt;
    values.push_back(element.base);
  }
  return values;
}

} // namespace hpcc
