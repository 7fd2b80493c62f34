// SPDX-License-Identifier: Apache-2.0
// The memory operations that collectives are made of. A back end may implement
// them for its own memory; the host's are plain loops.
#ifndef HPCC_RUNTIME_BASE_MEMORYOPS_H
#define HPCC_RUNTIME_BASE_MEMORYOPS_H

#include "runtime/base/DataType.h"
#include <cstddef>
#include <cstdint>
#include <span>

namespace hpcc::runtime {

/// `rows` rows of `width` elements, `pitch` elements apart.
struct Block {
  void *data = nullptr;
  int64_t pitch = 0;
};

class MemoryOps {
public:
  virtual ~MemoryOps() = default;
  virtual void copy(DataType type, Block dst, Block src, int64_t width,
                    int64_t rows) const = 0;
  /// dst = sources[0] op sources[1] op ..., in this order, element by element.
  /// dst may be one of the sources. `max` keeps NaN.
  virtual void sum(DataType type, Block dst, std::span<const Block> sources,
                   int64_t width, int64_t rows) const = 0;
  virtual void max(DataType type, Block dst, std::span<const Block> sources,
                   int64_t width, int64_t rows) const = 0;
};

const MemoryOps &hostMemoryOps();

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_BASE_MEMORYOPS_H
