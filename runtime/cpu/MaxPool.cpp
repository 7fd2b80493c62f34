// SPDX-License-Identifier: Apache-2.0
// Max pooling:
//   max_pool_forward  ins x       outs y idx
//   max_pool_backward ins dy idx  outs dx
// attributes: kernel, strides, dilations, pads, layouts. idx has y's shape and
// layout; it is the winner's place in the window, in scan order, as i8 (read as
// unsigned) or i32 by maxPoolIndexType(). On a tie the first place wins.
#include "runtime/cpu/CpuDevice.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/PoolWindow.h"
#include "runtime/cpu/Sequence.h"
#include <cstring>

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;
using dnnl::memory;

namespace {

memory::data_type indexType(const PoolWindow &window) {
  return maxPoolIndexType(window.kernel) == DataType::i8
             ? memory::data_type::u8
             : memory::data_type::s32;
}

/// The two library primitives differ by dilation only; the one without is the
/// fast one.
template <typename Forward>
typename Forward::primitive_desc
forwardDescription(CpuEngine &engine, const PoolWindow &window,
                   const Shape &padEnd, const memory::desc &x,
                   const memory::desc &y) {
  auto kind = dnnl::prop_kind::forward_training;
  auto algorithm = dnnl::algorithm::pooling_max;
  if constexpr (std::is_same_v<Forward, dnnl::pooling_v2_forward>)
    return {{kind, algorithm, x, y, window.strides, window.kernel,
             window.dilations, window.padBegin, padEnd},
            Sequence::attributes(),
            engine.library()};
  else
    return {{kind, algorithm, x, y, window.strides, window.kernel,
             window.padBegin, padEnd},
            Sequence::attributes(),
            engine.library()};
}

template <typename Backward, typename Hint>
typename Backward::primitive_desc
backwardDescription(CpuEngine &engine, const PoolWindow &window,
                    const Shape &padEnd, const memory::desc &dx,
                    const memory::desc &dy, const Hint &hint) {
  auto algorithm = dnnl::algorithm::pooling_max;
  if constexpr (std::is_same_v<Backward, dnnl::pooling_v2_backward>)
    return {{algorithm, dx, dy, window.strides, window.kernel, window.dilations,
             window.padBegin, padEnd},
            Sequence::attributes(),
            engine.library(),
            hint};
  else
    return {{algorithm, dx, dy, window.strides, window.kernel, window.padBegin,
             padEnd},
            Sequence::attributes(),
            engine.library(),
            hint};
}

class MaxPoolKernel : public CpuKernel {
public:
  MaxPoolKernel(CpuEngine &engine, KernelSpec spec, PoolWindow window,
                bool backward)
      : CpuKernel(engine, std::move(spec)), window(std::move(window)),
        backward(backward) {}

  VariantResult prepare(const std::vector<Shape> &shapes) override {
    size_t xOperand = backward ? 2 : 0, yOperand = backward ? 0 : 1;
    size_t indexOperand = backward ? 1 : 2;
    Result<memory::desc> x = describeOperand(shapes, xOperand);
    Result<memory::desc> y = describeOperand(shapes, yOperand);
    Result<memory::desc> index =
        describeOperand(shapes, indexOperand, indexType(window));
    for (const Result<memory::desc> *desc : {&x, &y, &index})
      if (!desc->ok())
        return desc->status();
    if (anyEmpty(shapes))
      return backward ? zeroOutputs(shapes, 2) : makeVariant([](auto) {});
    if (x->dims().size() != window.kernel.size() + 2)
      return shapeError(shapes, "the kernel does not fit the image's rank");
    Result<Shape> padEnd = endPads(window, x->dims(), y->dims());
    if (!padEnd.ok())
      return shapeError(shapes, padEnd.status().message());
    return window.dilated()
               ? build<dnnl::pooling_v2_forward, dnnl::pooling_v2_backward>(
                     shapes, *x, *y, *index, *padEnd)
               : build<dnnl::pooling_forward, dnnl::pooling_backward>(
                     shapes, *x, *y, *index, *padEnd);
  }

private:
  template <typename Forward, typename Backward>
  VariantResult build(const std::vector<Shape> &shapes, const memory::desc &x,
                      const memory::desc &y, const memory::desc &index,
                      const Shape &padEnd) {
    auto description =
        forwardDescription<Forward>(engine, window, padEnd, x, y);
    if (!(description.workspace_desc() == index))
      return shapeError(shapes,
                        "the library's index buffer has another layout");
    auto sequence = std::make_unique<Sequence>(engine, where);
    if (backward) {
      auto back = backwardDescription<Backward>(engine, window, padEnd, x, y,
                                                description);
      sequence->add(Backward(back), back,
                    {{DNNL_ARG_DIFF_DST, sequence->operand(0, y)},
                     {DNNL_ARG_WORKSPACE, sequence->operand(1, index)},
                     {DNNL_ARG_DIFF_SRC, sequence->operand(2, x)}});
    } else {
      sequence->add(Forward(description), description,
                    {{DNNL_ARG_SRC, sequence->operand(0, x)},
                     {DNNL_ARG_DST, sequence->operand(1, y)},
                     {DNNL_ARG_WORKSPACE, sequence->operand(2, index)}});
    }
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }

  const PoolWindow window;
  const bool backward;
};

KernelResult create(CpuEngine &engine, KernelSpec spec, bool backward) {
  if (Status status = checkOperandCount(spec, 3, 3); !status.ok())
    return status;
  Result<PoolWindow> window = readPoolWindow(spec.attributes);
  if (!window.ok())
    return window.status();
  return std::unique_ptr<Kernel>(std::make_unique<MaxPoolKernel>(
      engine, std::move(spec), std::move(*window), backward));
}

} // namespace

KernelResult cpu::createMaxPoolForward(CpuEngine &engine, KernelSpec spec) {
  return create(engine, std::move(spec), /*backward=*/false);
}
KernelResult cpu::createMaxPoolBackward(CpuEngine &engine, KernelSpec spec) {
  return create(engine, std::move(spec), /*backward=*/true);
}
