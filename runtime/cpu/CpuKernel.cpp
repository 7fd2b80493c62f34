// SPDX-License-Identifier: Apache-2.0
// Variants by run-time sizes; library errors become statuses here.
#include "runtime/cpu/CpuKernel.h"
#include <algorithm>
#include <cstring>
#include <numeric>

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;

int64_t cpu::elementsOf(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

std::string cpu::toString(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

bool cpu::anyEmpty(const std::vector<Shape> &shapes) {
  return std::any_of(shapes.begin(), shapes.end(),
                     [](const Shape &shape) { return elementsOf(shape) == 0; });
}

CpuKernel::CpuKernel(CpuEngine &engine, KernelSpec spec)
    : engine(engine), where(spec.attributes.where()),
      ranks(std::move(spec.ranks)), layouts(spec.attributes.strings("layouts")),
      sizes(std::accumulate(ranks.begin(), ranks.end(), size_t(0))) {
  layouts.resize(ranks.size());
}

Status CpuKernel::error(std::string message) const {
  return Status::error(StatusCode::internal, where + ": " + message);
}

Status CpuKernel::shapeError(const std::vector<Shape> &shapes,
                             std::string why) const {
  std::string list;
  for (const Shape &shape : shapes)
    list += (list.empty() ? "" : " ") + cpu::toString(shape);
  return error(why + "; operands: " + list);
}

Result<dnnl::memory::desc>
CpuKernel::describeOperand(const std::vector<Shape> &shapes, size_t operand,
                           dnnl::memory::data_type type) const {
  Result<dnnl::memory::desc> desc =
      describeLayout(shapes[operand], layouts[operand], type);
  if (!desc.ok())
    return error("operand " + std::to_string(operand) + ": " +
                 desc.status().message());
  return desc;
}

VariantResult CpuKernel::zeroOutputs(const std::vector<Shape> &shapes,
                                     size_t firstOutput) {
  std::vector<std::pair<size_t, size_t>> fills;
  for (size_t i = firstOutput; i < shapes.size(); ++i)
    if (int64_t count = elementsOf(shapes[i]))
      fills.push_back({i, count * sizeof(float)});
  return makeVariant([fills](void *const *operands) {
    for (auto [operand, bytes] : fills)
      std::memset(operands[operand], 0, bytes);
  });
}

VariantResult CpuKernel::prepareGuarded(const int64_t *dims) {
  std::vector<Shape> shapes;
  for (int rank : ranks) {
    shapes.emplace_back(dims, dims + rank);
    dims += rank;
  }
  for (const Shape &shape : shapes)
    if (std::any_of(shape.begin(), shape.end(),
                    [](int64_t extent) { return extent < 0; }))
      return shapeError(shapes, "negative extent");
  try {
    return prepare(shapes);
  } catch (const dnnl::error &failure) {
    return shapeError(shapes, std::string("oneDNN ") + failure.what() + " (" +
                                  std::string(toString(failure.status)) + ")");
  } catch (const std::bad_alloc &) {
    return environmentError(where + ": out of memory while preparing a kernel; "
                                    "use a smaller batch");
  }
}

Status CpuKernel::execute(void *const *operands, const int64_t *dims) {
  // The library's loops use the calling thread's team size, both while a
  // primitive is made and when it runs.
  setTeamSize(engine.threads());
  size_t bytes = sizes * sizeof(int64_t);
  for (const Prepared &candidate : prepared)
    if (bytes == 0 || std::memcmp(candidate.dims.data(), dims, bytes) == 0)
      return candidate.variant->run(operands);
  engine.countPreparation();
  VariantResult variant = prepareGuarded(dims);
  if (!variant.ok())
    return variant.status();
  prepared.push_back({{dims, dims + sizes}, std::move(*variant)});
  return prepared.back().variant->run(operands);
}
