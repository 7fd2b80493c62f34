// SPDX-License-Identifier: Apache-2.0
// The CPU back end, and what a compiler must know about it. No library header:
// what it is made of stays inside runtime/cpu.
#ifndef HPCC_RUNTIME_CPU_CPUDEVICE_H
#define HPCC_RUNTIME_CPU_CPUDEVICE_H

#include "runtime/base/DataType.h"
#include "runtime/base/Device.h"
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hpcc::runtime::cpu {

Result<std::unique_ptr<Device>> createDevice(int threads);

/// The layout in which kernels are fastest for an image tensor: "nChw16c"
/// (shape [n,C/16,H,W,16]) when 16 divides the channels, else "nchw".
std::string preferredImageLayout(int64_t channels);

/// Element type of max_pool_forward's index output: i8 (read as unsigned) while
/// the places of a window fit, else i32.
DataType maxPoolIndexType(std::span<const int64_t> kernel);

/// Every kind that createKernel() knows, sorted.
std::vector<std::string_view> kernelKinds();

} // namespace hpcc::runtime::cpu

#endif // HPCC_RUNTIME_CPU_CPUDEVICE_H
