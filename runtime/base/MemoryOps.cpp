// SPDX-License-Identifier: Apache-2.0
// Copies and reductions in host memory. Reductions go through a small block on
// the stack: the destination may be one of the sources.
#include "runtime/base/MemoryOps.h"
#include <algorithm>
#include <cstring>
#include <type_traits>

using namespace hpcc::runtime;

namespace {

struct Sum {
  template <typename T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      // Wraps like the machine; signed overflow is undefined in C++.
      using Unsigned = std::make_unsigned_t<T>;
      return T(Unsigned(a) + Unsigned(b));
    } else {
      return a + b;
    }
  }
};

struct Max {
  template <typename T> T operator()(T a, T b) const {
    // a != a: a NaN wins; a NaN in b wins because the comparison is false.
    return (a > b || a != a) ? a : b;
  }
};

template <typename T, typename Op>
void reduce(Block dst, std::span<const Block> sources, int64_t width,
            int64_t rows) {
  constexpr int64_t kBlock = 1024;
  T partial[kBlock];
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t begin = 0; begin < width; begin += kBlock) {
      int64_t count = std::min(kBlock, width - begin);
      auto at = [&](const Block &block) {
        return static_cast<T *>(block.data) + row * block.pitch + begin;
      };
      std::memcpy(partial, at(sources[0]), count * sizeof(T));
      for (const Block &source : sources.subspan(1)) {
        const T *values = at(source);
        for (int64_t i = 0; i < count; ++i)
          partial[i] = Op()(partial[i], values[i]);
      }
      std::memcpy(at(dst), partial, count * sizeof(T));
    }
  }
}

template <typename Op>
void reduce(DataType type, Block dst, std::span<const Block> sources,
            int64_t width, int64_t rows) {
  switch (type) {
  case DataType::f32:
    return reduce<float, Op>(dst, sources, width, rows);
  case DataType::i32:
    return reduce<int32_t, Op>(dst, sources, width, rows);
  case DataType::i64:
    return reduce<int64_t, Op>(dst, sources, width, rows);
  case DataType::i8:
    return reduce<int8_t, Op>(dst, sources, width, rows);
  }
}

class HostMemoryOps final : public MemoryOps {
public:
  void copy(DataType type, Block dst, Block src, int64_t width,
            int64_t rows) const override {
    if (width == 0)
      return;
    size_t size = sizeOf(type);
    for (int64_t row = 0; row < rows; ++row)
      std::memmove(static_cast<char *>(dst.data) + row * dst.pitch * size,
                   static_cast<const char *>(src.data) + row * src.pitch * size,
                   width * size);
  }
  void sum(DataType type, Block dst, std::span<const Block> sources,
           int64_t width, int64_t rows) const override {
    reduce<Sum>(type, dst, sources, width, rows);
  }
  void max(DataType type, Block dst, std::span<const Block> sources,
           int64_t width, int64_t rows) const override {
    reduce<Max>(type, dst, sources, width, rows);
  }
};

} // namespace

const MemoryOps &hpcc::runtime::hostMemoryOps() {
  static const HostMemoryOps ops;
  return ops;
}
