// SPDX-License-Identifier: Apache-2.0
// Change of layout:
//   reorder  ins x  outs y
// attributes: from, to: layout strings; each operand has the physical shape of
// its own layout.
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Sequence.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;
using dnnl::memory;

namespace {

class Reorder final : public CpuKernel {
public:
  Reorder(CpuEngine &engine, KernelSpec spec, std::string from, std::string to)
      : CpuKernel(engine, std::move(spec)), from(std::move(from)),
        to(std::move(to)) {}

  VariantResult prepare(const std::vector<Shape> &shapes) override {
    Result<memory::desc> source = describeLayout(shapes[0], from);
    Result<memory::desc> target = describeLayout(shapes[1], to);
    for (const Result<memory::desc> *desc : {&source, &target})
      if (!desc->ok())
        return shapeError(shapes, desc->status().message());
    if (source->dims() != target->dims())
      return shapeError(shapes, "\"" + from + "\" and \"" + to +
                                    "\" mean different tensors");
    if (anyEmpty(shapes))
      return makeVariant([](void *const *) {});
    auto sequence = std::make_unique<Sequence>(engine, where);
    sequence->store(sequence->operand(0, *source),
                    sequence->operand(1, *target));
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }

private:
  const std::string from;
  const std::string to;
};

} // namespace

KernelResult cpu::createReorder(CpuEngine &engine, KernelSpec spec) {
  if (Status status = checkOperandCount(spec, 2, 2); !status.ok())
    return status;
  std::string from = spec.attributes.string("from", "");
  std::string to = spec.attributes.string("to", "");
  if (!spec.attributes.status().ok())
    return spec.attributes.status();
  return std::unique_ptr<Kernel>(std::make_unique<Reorder>(
      engine, std::move(spec), std::move(from), std::move(to)));
}
