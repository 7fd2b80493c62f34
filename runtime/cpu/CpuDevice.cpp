// SPDX-License-Identifier: Apache-2.0
// The CPU back end: the table of kernel kinds, parallel loops.
#include "runtime/cpu/CpuDevice.h"
#include "runtime/cpu/CpuEngine.h"
#include "runtime/cpu/Kernels.h"
#include <algorithm>
#include <functional>

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;

namespace {

struct Entry {
  std::string_view kind;
  KernelFactory create;
};

// Sorted.
constexpr Entry kKernels[] = {
    {"avg_pool_backward", createAvgPoolBackward},
    {"avg_pool_forward", createAvgPoolForward},
    {"batch_norm_backward", createBatchNormBackward},
    {"batch_norm_forward", createBatchNormForward},
    {"batch_norm_inference", createBatchNormInference},
    {"conv_backward_data", createConvBackwardData},
    {"conv_backward_weights", createConvBackwardWeights},
    {"conv_forward", createConvForward},
    {"linear_backward_data", createLinearBackwardData},
    {"linear_backward_weights", createLinearBackwardWeights},
    {"linear_forward", createLinearForward},
    {"log_softmax_backward", createLogSoftmaxBackward},
    {"log_softmax_forward", createLogSoftmaxForward},
    {"lrn_backward", createLrnBackward},
    {"lrn_forward", createLrnForward},
    {"max_pool_backward", createMaxPoolBackward},
    {"max_pool_forward", createMaxPoolForward},
    {"reorder", createReorder},
    {"softmax_backward", createSoftmaxBackward},
    {"softmax_forward", createSoftmaxForward},
};

class CpuDevice final : public Device {
public:
  explicit CpuDevice(int threads) : engine(threads) {}

  Result<std::unique_ptr<Kernel>> createKernel(KernelSpec spec) override {
    auto entry =
        std::lower_bound(std::begin(kKernels), std::end(kKernels), spec.kind,
                         [](const Entry &entry, std::string_view kind) {
                           return entry.kind < kind;
                         });
    if (entry == std::end(kKernels) || entry->kind != spec.kind)
      return Status::error(StatusCode::internal,
                           spec.attributes.where() +
                               ": the cpu device has no kernel kind \"" +
                               spec.kind + "\"");
    return entry->create(engine, std::move(spec));
  }
  void parallelFor(RangeFunction body, void *captured, int64_t begin,
                   int64_t end) override {
    cpu::parallelFor(engine.threads(), body, captured, begin, end);
  }
  DeviceCounters counters() const override { return engine.counters(); }
  std::vector<std::string> remarks() const override { return engine.remarks(); }

private:
  CpuEngine engine;
};

} // namespace

Result<std::unique_ptr<Device>> cpu::createDevice(int threads) {
  try {
    return std::unique_ptr<Device>(std::make_unique<CpuDevice>(threads));
  } catch (const dnnl::error &failure) {
    return environmentError(std::string("oneDNN: no CPU engine: ") +
                            failure.what());
  }
}

std::string cpu::preferredImageLayout(int64_t channels) {
  return channels > 0 && channels % 16 == 0 ? "nChw16c" : "nchw";
}

DataType cpu::maxPoolIndexType(std::span<const int64_t> kernel) {
  int64_t places = 1;
  for (int64_t extent : kernel)
    places *= extent;
  return places <= 255 ? DataType::i8 : DataType::i32;
}

std::vector<std::string_view> cpu::kernelKinds() {
  std::vector<std::string_view> kinds;
  for (const Entry &entry : kKernels)
    kinds.push_back(entry.kind);
  return kinds;
}

Status cpu::checkOperandCount(const KernelSpec &spec, size_t least,
                              size_t most) {
  size_t count = spec.ranks.size();
  if (count >= least && count <= most)
    return Status::success();
  std::string expected = std::to_string(least);
  if (most != least)
    expected += " to " + std::to_string(most);
  return Status::error(StatusCode::internal,
                       spec.attributes.where() + ": expected " + expected +
                           " operands, got " + std::to_string(count));
}
