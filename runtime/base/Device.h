// SPDX-License-Identifier: Apache-2.0
// What a back end gives a worker: kernels by kind, and parallel loops.
#ifndef HPCC_RUNTIME_BASE_DEVICE_H
#define HPCC_RUNTIME_BASE_DEVICE_H

#include "runtime/base/Attributes.h"
#include "runtime/base/Status.h"
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hpcc::runtime {

/// A kernel of the descriptor table. It keeps what it prepared for each set of
/// run-time sizes; running it again with sizes it has seen allocates nothing.
class Kernel {
public:
  virtual ~Kernel() = default;
  /// operands: inputs, then outputs. dims: their shapes, concatenated.
  virtual Status execute(void *const *operands, const int64_t *dims) = 0;
};

/// An entry of the descriptor table before its kernel exists.
struct KernelSpec {
  std::string kind;
  Attributes attributes;
  /// Ranks of the operands, in order.
  std::vector<int> ranks;
};

struct DeviceCounters {
  /// Times that a kernel was prepared for sizes it had not seen.
  int64_t preparations = 0;
  /// Times that the scratch memory grew, and its size.
  int64_t scratchGrowths = 0;
  int64_t scratchBytes = 0;
};

class Device {
public:
  virtual ~Device() = default;
  virtual Result<std::unique_ptr<Kernel>> createKernel(KernelSpec spec) = 0;
  virtual void parallelFor(void (*body)(void *, int64_t, int64_t),
                           void *captured, int64_t begin, int64_t end) = 0;
  virtual DeviceCounters counters() const = 0;
  /// Decisions that a user may question, such as a slow library kernel.
  virtual std::vector<std::string> remarks() const = 0;
};

/// The one table of back ends: "cpu".
Result<std::unique_ptr<Device>> createDevice(std::string_view name,
                                             int threads);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_BASE_DEVICE_H
