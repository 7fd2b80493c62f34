// SPDX-License-Identifier: Apache-2.0
// Batch normalisation over the examples of this call:
//   batch_norm_forward   ins x scale bias           outs y mean var (biased)
//   batch_norm_inference ins x scale bias mean var  outs y
//   batch_norm_backward  ins x dy scale mean var    outs dx dscale dbias
// attributes: epsilon, layouts. Without examples mean, var, dscale and dbias
// are zero.
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Sequence.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;
using dnnl::memory;

namespace {

dnnl::normalization_flags scaleAndShift() {
  return dnnl::normalization_flags::use_scale |
         dnnl::normalization_flags::use_shift;
}

class BatchNormKernel : public CpuKernel {
public:
  BatchNormKernel(CpuEngine &engine, KernelSpec spec, float epsilon)
      : CpuKernel(engine, std::move(spec)), epsilon(epsilon) {}

protected:
  /// The image as the library wants it: with two spatial dimensions at least.
  Result<memory::desc> describeImage(const std::vector<Shape> &shapes,
                                     size_t operand) const {
    Result<memory::desc> desc = describeOperand(shapes, operand);
    if (!desc.ok())
      return desc.status();
    Shape dims = desc->dims();
    if (dims.size() < 2)
      return shapeError(shapes, "expected [n, C, ...]");
    if (!isPlain(*desc) || dims.size() >= 4)
      return desc;
    while (dims.size() < 4)
      dims.insert(dims.begin() + 2, 1);
    return plainDesc(dims);
  }
  Status checkChannels(const std::vector<Shape> &shapes,
                       const memory::desc &image,
                       std::initializer_list<size_t> operands) const {
    Shape expected{image.dims()[1]};
    for (size_t operand : operands)
      if (shapes[operand] != expected)
        return shapeError(shapes, "operand " + std::to_string(operand) +
                                      " must have one element per channel");
    return Status::success();
  }

  const float epsilon;
};

class BatchNormForward final : public BatchNormKernel {
public:
  using BatchNormKernel::BatchNormKernel;
  VariantResult prepare(const std::vector<Shape> &shapes) override {
    Result<memory::desc> image = describeImage(shapes, 0);
    if (!image.ok())
      return image.status();
    if (Status status = checkChannels(shapes, *image, {1, 2, 4, 5});
        !status.ok())
      return status;
    if (anyEmpty(shapes))
      return zeroOutputs(shapes, 3);
    memory::desc channels = plainDesc(shapes[1]);
    dnnl::batch_normalization_forward::desc desc(
        dnnl::prop_kind::forward_training, *image, epsilon, scaleAndShift());
    dnnl::batch_normalization_forward::primitive_desc description(
        desc, Sequence::attributes(), engine.library());
    auto sequence = std::make_unique<Sequence>(engine, where);
    sequence->add(dnnl::batch_normalization_forward(description), description,
                  {{DNNL_ARG_SRC, sequence->operand(0, *image)},
                   {DNNL_ARG_SCALE, sequence->operand(1, channels)},
                   {DNNL_ARG_SHIFT, sequence->operand(2, channels)},
                   {DNNL_ARG_DST, sequence->operand(3, *image)},
                   {DNNL_ARG_MEAN, sequence->operand(4, channels)},
                   {DNNL_ARG_VARIANCE, sequence->operand(5, channels)}});
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }
};

class BatchNormInference final : public BatchNormKernel {
public:
  using BatchNormKernel::BatchNormKernel;
  VariantResult prepare(const std::vector<Shape> &shapes) override {
    Result<memory::desc> image = describeImage(shapes, 0);
    if (!image.ok())
      return image.status();
    if (Status status = checkChannels(shapes, *image, {1, 2, 3, 4});
        !status.ok())
      return status;
    if (anyEmpty(shapes))
      return zeroOutputs(shapes, 5);
    memory::desc channels = plainDesc(shapes[1]);
    dnnl::batch_normalization_forward::desc desc(
        dnnl::prop_kind::forward_inference, *image, epsilon,
        scaleAndShift() | dnnl::normalization_flags::use_global_stats);
    dnnl::batch_normalization_forward::primitive_desc description(
        desc, Sequence::attributes(), engine.library());
    auto sequence = std::make_unique<Sequence>(engine, where);
    sequence->add(dnnl::batch_normalization_forward(description), description,
                  {{DNNL_ARG_SRC, sequence->operand(0, *image)},
                   {DNNL_ARG_SCALE, sequence->operand(1, channels)},
                   {DNNL_ARG_SHIFT, sequence->operand(2, channels)},
                   {DNNL_ARG_MEAN, sequence->operand(3, channels)},
                   {DNNL_ARG_VARIANCE, sequence->operand(4, channels)},
                   {DNNL_ARG_DST, sequence->operand(5, *image)}});
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }
};

class BatchNormBackward final : public BatchNormKernel {
public:
  using BatchNormKernel::BatchNormKernel;
  VariantResult prepare(const std::vector<Shape> &shapes) override {
    Result<memory::desc> image = describeImage(shapes, 0);
    if (!image.ok())
      return image.status();
    if (Status status = checkChannels(shapes, *image, {2, 3, 4, 6, 7});
        !status.ok())
      return status;
    if (anyEmpty(shapes))
      return zeroOutputs(shapes, 5);
    memory::desc channels = plainDesc(shapes[2]);
    dnnl::batch_normalization_forward::desc forwardDesc(
        dnnl::prop_kind::forward_training, *image, epsilon, scaleAndShift());
    dnnl::batch_normalization_forward::primitive_desc hint(
        forwardDesc, Sequence::attributes(), engine.library());
    dnnl::batch_normalization_backward::desc desc(
        dnnl::prop_kind::backward, *image, *image, epsilon, scaleAndShift());
    dnnl::batch_normalization_backward::primitive_desc description(
        desc, Sequence::attributes(), engine.library(), hint);
    auto sequence = std::make_unique<Sequence>(engine, where);
    // The library asks for the shift and does not read it.
    sequence->add(dnnl::batch_normalization_backward(description), description,
                  {{DNNL_ARG_SRC, sequence->operand(0, *image)},
                   {DNNL_ARG_DIFF_DST, sequence->operand(1, *image)},
                   {DNNL_ARG_SCALE, sequence->operand(2, channels)},
                   {DNNL_ARG_SHIFT, sequence->operand(2, channels)},
                   {DNNL_ARG_MEAN, sequence->operand(3, channels)},
                   {DNNL_ARG_VARIANCE, sequence->operand(4, channels)},
                   {DNNL_ARG_DIFF_SRC, sequence->operand(5, *image)},
                   {DNNL_ARG_DIFF_SCALE, sequence->operand(6, channels)},
                   {DNNL_ARG_DIFF_SHIFT, sequence->operand(7, channels)}});
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }
};

template <typename NormClass>
KernelResult create(CpuEngine &engine, KernelSpec spec, size_t operands) {
  if (Status status = checkOperandCount(spec, operands, operands); !status.ok())
    return status;
  double epsilon = spec.attributes.real("epsilon", 1e-5);
  if (!spec.attributes.status().ok())
    return spec.attributes.status();
  return std::unique_ptr<Kernel>(
      std::make_unique<NormClass>(engine, std::move(spec), float(epsilon)));
}

} // namespace

KernelResult cpu::createBatchNormForward(CpuEngine &engine, KernelSpec spec) {
  return create<BatchNormForward>(engine, std::move(spec), 6);
}
KernelResult cpu::createBatchNormInference(CpuEngine &engine, KernelSpec spec) {
  return create<BatchNormInference>(engine, std::move(spec), 6);
}
KernelResult cpu::createBatchNormBackward(CpuEngine &engine, KernelSpec spec) {
  return create<BatchNormBackward>(engine, std::move(spec), 8);
}
