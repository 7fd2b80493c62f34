// SPDX-License-Identifier: Apache-2.0
// A worker's scratch memory: one aligned block that only grows, and only while
// a kernel is being prepared.
#ifndef HPCC_RUNTIME_BASE_SCRATCHBUFFER_H
#define HPCC_RUNTIME_BASE_SCRATCHBUFFER_H

#include "runtime/base/Status.h"
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace hpcc::runtime {

class ScratchBuffer {
public:
  static constexpr size_t kAlignment = 64;

  /// True when the block moved: its old content and addresses are gone.
  Result<bool> reserve(size_t bytes) {
    if (bytes <= capacity)
      return false;
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    block.reset();
    capacity = 0;
    block.reset(std::aligned_alloc(kAlignment, bytes));
    if (!block)
      return environmentError("out of memory: cannot allocate " +
                              std::to_string(bytes) +
                              " bytes of scratch; use a smaller batch");
    capacity = bytes;
    return true;
  }
  char *data() const { return static_cast<char *>(block.get()); }
  size_t size() const { return capacity; }

private:
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<void, Free> block;
  size_t capacity = 0;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_BASE_SCRATCHBUFFER_H
