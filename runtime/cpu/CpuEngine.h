// SPDX-License-Identifier: Apache-2.0
// What the kernels of one worker share: the library's engine and stream, the
// team size, scratch memory, remarks.
#ifndef HPCC_RUNTIME_CPU_CPUENGINE_H
#define HPCC_RUNTIME_CPU_CPUENGINE_H

#include "runtime/base/Device.h"
#include "runtime/base/ScratchBuffer.h"
#include "runtime/cpu/ParallelFor.h"
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

namespace hpcc::runtime::cpu {

class CpuEngine {
public:
  explicit CpuEngine(int threads);

  const dnnl::engine &library() const { return engine; }
  dnnl::stream &stream() { return libraryStream; }
  int threads() const { return teamSize; }

  /// Scratch memory of at least this size from now on. Only while preparing.
  Status reserveScratch(size_t bytes);
  char *scratch() const { return scratchBuffer.data(); }

  void countPreparation() { ++statistics.preparations; }
  DeviceCounters counters() const { return statistics; }
  void remark(std::string text) { notes.push_back(std::move(text)); }
  const std::vector<std::string> &remarks() const { return notes; }

  /// body(begin, end) on the worker's threads.
  template <typename Body> void forRange(int64_t n, Body &&body) const {
    parallelFor(teamSize, n, std::forward<Body>(body));
  }

private:
  dnnl::engine engine;
  dnnl::stream libraryStream;
  int teamSize;
  ScratchBuffer scratchBuffer;
  DeviceCounters statistics;
  std::vector<std::string> notes;
};

/// "invalid_arguments" and so on.
std::string_view toString(dnnl_status_t status);

} // namespace hpcc::runtime::cpu

#endif // HPCC_RUNTIME_CPU_CPUENGINE_H
