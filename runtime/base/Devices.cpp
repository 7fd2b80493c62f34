// SPDX-License-Identifier: Apache-2.0
// The table of back ends.
#include "runtime/base/Device.h"
#include "runtime/cpu/CpuDevice.h"

using namespace hpcc::runtime;

Result<std::unique_ptr<Device>>
hpcc::runtime::createDevice(std::string_view name, int threads) {
  if (name == "cpu")
    return cpu::createDevice(threads);
  return environmentError("device \"" + std::string(name) +
                          "\" is not known; known devices: cpu");
}
