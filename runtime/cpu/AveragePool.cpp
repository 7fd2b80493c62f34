// SPDX-License-Identifier: Apache-2.0
// Average pooling:
//   avg_pool_forward  ins x   outs y
//   avg_pool_backward ins dy  outs dx
// attributes: kernel, strides, dilations, pads, count_include_pad, layouts.
// Without count_include_pad the divisor is the number of real elements, also in
// windows that hang over the end; with it, the size of the window.
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/PoolWindow.h"
#include "runtime/cpu/Sequence.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;
using dnnl::memory;

namespace {

class AvgPoolKernel : public CpuKernel {
public:
  AvgPoolKernel(CpuEngine &engine, KernelSpec spec, PoolWindow window,
                bool includePad, bool backward)
      : CpuKernel(engine, std::move(spec)), window(std::move(window)),
        algorithm(includePad ? dnnl::algorithm::pooling_avg_include_padding
                             : dnnl::algorithm::pooling_avg_exclude_padding),
        backward(backward) {}

  VariantResult prepare(const std::vector<Shape> &shapes) override {
    Result<memory::desc> x = describeOperand(shapes, backward ? 1 : 0);
    Result<memory::desc> y = describeOperand(shapes, backward ? 0 : 1);
    if (!x.ok())
      return x.status();
    if (!y.ok())
      return y.status();
    if (anyEmpty(shapes))
      return zeroOutputs(shapes, 1);
    if (x->dims().size() != window.kernel.size() + 2)
      return shapeError(shapes, "the kernel does not fit the image's rank");
    Result<Shape> padEnd = endPads(window, x->dims(), y->dims());
    if (!padEnd.ok())
      return shapeError(shapes, padEnd.status().message());
    return window.dilated() ? buildDilated(*x, *y, *padEnd)
                            : build(*x, *y, *padEnd);
  }

private:
  VariantResult build(const memory::desc &x, const memory::desc &y,
                      const Shape &padEnd) {
    dnnl::pooling_forward::desc desc(dnnl::prop_kind::forward_training,
                                     algorithm, x, y, window.strides,
                                     window.kernel, window.padBegin, padEnd);
    dnnl::pooling_forward::primitive_desc description(
        desc, Sequence::attributes(), engine.library());
    if (!backward)
      return single(dnnl::pooling_forward(description), description,
                    DNNL_ARG_SRC, x, DNNL_ARG_DST, y);
    dnnl::pooling_backward::desc backDesc(algorithm, x, y, window.strides,
                                          window.kernel, window.padBegin,
                                          padEnd);
    dnnl::pooling_backward::primitive_desc back(
        backDesc, Sequence::attributes(), engine.library(), description);
    return single(dnnl::pooling_backward(back), back, DNNL_ARG_DIFF_DST, y,
                  DNNL_ARG_DIFF_SRC, x);
  }

  VariantResult buildDilated(const memory::desc &x, const memory::desc &y,
                             const Shape &padEnd) {
    dnnl::pooling_v2_forward::desc desc(
        dnnl::prop_kind::forward_training, algorithm, x, y, window.strides,
        window.kernel, window.dilations, window.padBegin, padEnd);
    dnnl::pooling_v2_forward::primitive_desc description(
        desc, Sequence::attributes(), engine.library());
    if (!backward)
      return single(dnnl::pooling_v2_forward(description), description,
                    DNNL_ARG_SRC, x, DNNL_ARG_DST, y);
    dnnl::pooling_v2_backward::desc backDesc(algorithm, x, y, window.strides,
                                             window.kernel, window.dilations,
                                             window.padBegin, padEnd);
    dnnl::pooling_v2_backward::primitive_desc back(
        backDesc, Sequence::attributes(), engine.library(), description);
    return single(dnnl::pooling_v2_backward(back), back, DNNL_ARG_DIFF_DST, y,
                  DNNL_ARG_DIFF_SRC, x);
  }

  VariantResult single(const dnnl::primitive &primitive,
                       const dnnl::primitive_desc_base &description,
                       int inputArgument, const memory::desc &input,
                       int outputArgument, const memory::desc &output) {
    auto sequence = std::make_unique<Sequence>(engine, where);
    sequence->add(primitive, description,
                  {{inputArgument, sequence->operand(0, input)},
                   {outputArgument, sequence->operand(1, output)}});
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }

  const PoolWindow window;
  const dnnl::algorithm algorithm;
  const bool backward;
};

KernelResult create(CpuEngine &engine, KernelSpec spec, bool backward) {
  if (Status status = checkOperandCount(spec, 2, 2); !status.ok())
    return status;
  Result<PoolWindow> window = readPoolWindow(spec.attributes);
  if (!window.ok())
    return window.status();
  bool includePad = spec.attributes.flag("count_include_pad", false);
  if (!spec.attributes.status().ok())
    return spec.attributes.status();
  return std::unique_ptr<Kernel>(std::make_unique<AvgPoolKernel>(
      engine, std::move(spec), std::move(*window), includePad, backward));
}

} // namespace

KernelResult cpu::createAvgPoolForward(CpuEngine &engine, KernelSpec spec) {
  return create(engine, std::move(spec), /*backward=*/false);
}
KernelResult cpu::createAvgPoolBackward(CpuEngine &engine, KernelSpec spec) {
  return create(engine, std::move(spec), /*backward=*/true);
}
