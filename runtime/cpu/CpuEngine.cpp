// SPDX-License-Identifier: Apache-2.0
// The shared part of a worker's CPU kernels.
#include "runtime/cpu/CpuEngine.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;

CpuEngine::CpuEngine(int threads)
    : engine(dnnl::engine::kind::cpu, 0), libraryStream(engine),
      teamSize(threads) {}

Status CpuEngine::reserveScratch(size_t bytes) {
  Result<bool> grown = scratchBuffer.reserve(bytes);
  if (!grown.ok())
    return grown.status();
  if (*grown)
    ++statistics.scratchGrowths;
  statistics.scratchBytes = scratchBuffer.size();
  return Status::success();
}

std::string_view cpu::toString(dnnl_status_t status) {
  switch (status) {
  case dnnl_success:
    return "success";
  case dnnl_out_of_memory:
    return "out_of_memory";
  case dnnl_invalid_arguments:
    return "invalid_arguments";
  case dnnl_unimplemented:
    return "unimplemented";
  case dnnl_iterator_ends:
    return "iterator_ends";
  case dnnl_runtime_error:
    return "runtime_error";
  case dnnl_not_required:
    return "not_required";
  }
  return "unknown";
}
