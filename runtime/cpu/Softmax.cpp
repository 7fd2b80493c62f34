// SPDX-License-Identifier: Apache-2.0
// Softmax and log-softmax along one axis of any rank:
//   softmax_forward, log_softmax_forward    ins x     outs y
//   softmax_backward, log_softmax_backward  ins dy y  outs dx
// attributes: axis (negative counts from the end).
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Sequence.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;
using dnnl::memory;

namespace {

template <typename Forward, typename Backward>
class SoftmaxKernel final : public CpuKernel {
public:
  SoftmaxKernel(CpuEngine &engine, KernelSpec spec, int64_t axis, bool backward)
      : CpuKernel(engine, std::move(spec)), axis(axis), backward(backward) {}

  VariantResult prepare(const std::vector<Shape> &shapes) override {
    for (const Shape &shape : shapes)
      if (shape != shapes[0])
        return shapeError(shapes, "expected equal shapes");
    int64_t rank = shapes[0].size();
    int64_t dim = axis < 0 ? axis + rank : axis;
    if (dim < 0 || dim >= rank)
      return shapeError(shapes,
                        "axis " + std::to_string(axis) + " is not a dimension");
    if (anyEmpty(shapes))
      return makeVariant([](void *const *) {});
    // Any rank as [outer, axis, inner].
    Shape merged{1, shapes[0][dim], 1};
    for (int64_t i = 0; i < rank; ++i)
      if (i != dim)
        merged[i < dim ? 0 : 2] *= shapes[0][i];
    if (merged[2] == 1)
      merged.pop_back();
    memory::desc desc = plainDesc(merged);
    typename Forward::primitive_desc description(
        {dnnl::prop_kind::forward_training, desc, 1}, Sequence::attributes(),
        engine.library());
    auto sequence = std::make_unique<Sequence>(engine, where);
    if (backward) {
      typename Backward::primitive_desc back({desc, desc, 1},
                                             Sequence::attributes(),
                                             engine.library(), description);
      sequence->add(Backward(back), back,
                    {{DNNL_ARG_DIFF_DST, sequence->operand(0, desc)},
                     {DNNL_ARG_DST, sequence->operand(1, desc)},
                     {DNNL_ARG_DIFF_SRC, sequence->operand(2, desc)}});
    } else {
      sequence->add(Forward(description), description,
                    {{DNNL_ARG_SRC, sequence->operand(0, desc)},
                     {DNNL_ARG_DST, sequence->operand(1, desc)}});
    }
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }

private:
  const int64_t axis;
  const bool backward;
};

template <typename Forward, typename Backward>
KernelResult create(CpuEngine &engine, KernelSpec spec, bool backward) {
  size_t operands = backward ? 3 : 2;
  if (Status status = checkOperandCount(spec, operands, operands); !status.ok())
    return status;
  int64_t axis = spec.attributes.integer("axis");
  if (!spec.attributes.status().ok())
    return spec.attributes.status();
  return std::unique_ptr<Kernel>(
      std::make_unique<SoftmaxKernel<Forward, Backward>>(
          engine, std::move(spec), axis, backward));
}

} // namespace

KernelResult cpu::createSoftmaxForward(CpuEngine &engine, KernelSpec spec) {
  return create<dnnl::softmax_forward, dnnl::softmax_backward>(
      engine, std::move(spec), /*backward=*/false);
}
KernelResult cpu::createSoftmaxBackward(CpuEngine &engine, KernelSpec spec) {
  return create<dnnl::softmax_forward, dnnl::softmax_backward>(
      engine, std::move(spec), /*backward=*/true);
}
KernelResult cpu::createLogSoftmaxForward(CpuEngine &engine, KernelSpec spec) {
  return create<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>(
      engine, std::move(spec), /*backward=*/false);
}
KernelResult cpu::createLogSoftmaxBackward(CpuEngine &engine, KernelSpec spec) {
  return create<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>(
      engine, std::move(spec), /*backward=*/true);
}
