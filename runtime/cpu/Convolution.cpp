// SPDX-License-Identifier: Apache-2.0
// Convolutions of rank 3 to 5:
//   conv_forward          ins x w (b)  outs y
//   conv_backward_data    ins dy w     outs dx
//   conv_backward_weights ins x dy     outs dw (db)
// attributes: strides, dilations, pads = [begins..., ends...], group,
// algorithm = "direct" (default) or "auto", layouts. w is [O, C/group, k...].
// Plain operands may be reordered inside the kernel: the library's blocked
// convolutions are worth it. Outputs are overwritten.
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Sequence.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;
using dnnl::memory;

namespace {

struct ConvAttributes {
  Shape strides;
  Shape dilations; ///< Zero-based, as the library counts.
  Shape padBegin;
  Shape padEnd;
  int64_t group = 1;
  dnnl::algorithm algorithm = dnnl::algorithm::convolution_direct;
  bool accumulate = false;
};

Result<ConvAttributes> readAttributes(Attributes &attributes, size_t spatial) {
  ConvAttributes conv;
  conv.strides = attributes.integers("strides", Shape(spatial, 1));
  conv.dilations = attributes.integers("dilations", Shape(spatial, 1));
  Shape pads = attributes.integers("pads", Shape(2 * spatial, 0));
  conv.group = attributes.integer("group", 1);
  conv.accumulate = attributes.flag("accumulate", false);
  std::string algorithm = attributes.string("algorithm", "direct");
  if (!attributes.status().ok())
    return attributes.status();
  if (algorithm == "auto")
    conv.algorithm = dnnl::algorithm::convolution_auto;
  if (conv.strides.size() != spatial || conv.dilations.size() != spatial ||
      pads.size() != 2 * spatial || conv.group < 1)
    return Status::error(StatusCode::internal,
                         attributes.where() +
                             ": strides, dilations, pads or group do not fit " +
                             std::to_string(spatial) + " spatial dimensions");
  for (int64_t &dilation : conv.dilations)
    --dilation;
  conv.padBegin.assign(pads.begin(), pads.begin() + spatial);
  conv.padEnd.assign(pads.begin() + spatial, pads.end());
  return conv;
}

/// The three descriptors and the shapes they have.
struct ConvDescs {
  memory::desc x, w, y;
  memory::desc bias; ///< Empty without bias.
};

class ConvKernel : public CpuKernel {
public:
  ConvKernel(CpuEngine &engine, KernelSpec spec, ConvAttributes conv)
      : CpuKernel(engine, std::move(spec)), conv(std::move(conv)) {}

protected:
  Result<ConvDescs> describe(const std::vector<Shape> &shapes, size_t x,
                             size_t w, size_t y, size_t bias) const;
  /// A blocked operand stays as it is; a plain one is the library's choice.
  static memory::desc choice(const memory::desc &desc) {
    return isPlain(desc) ? anyDesc(desc) : desc;
  }
  dnnl::convolution_forward::primitive_desc forward(const ConvDescs &descs,
                                                    dnnl::prop_kind kind) const;
  void noteImplementation(const dnnl::primitive_desc_base &description,
                          const std::vector<Shape> &shapes) const;

  const ConvAttributes conv;
};

Result<ConvDescs> ConvKernel::describe(const std::vector<Shape> &shapes,
                                       size_t x, size_t w, size_t y,
                                       size_t bias) const {
  Result<memory::desc> xDesc = describeOperand(shapes, x);
  Result<memory::desc> yDesc = describeOperand(shapes, y);
  if (!xDesc.ok())
    return xDesc.status();
  if (!yDesc.ok())
    return yDesc.status();
  Shape weights = shapes[w];
  Result<memory::desc> wDesc = describeOperand(shapes, w);
  if (!wDesc.ok())
    return wDesc.status();
  if (conv.group > 1 && wDesc->dims().size() == xDesc->dims().size()) {
    if (weights[0] % conv.group != 0)
      return shapeError(shapes, "group " + std::to_string(conv.group) +
                                    " does not divide the output channels");
    weights[0] /= conv.group;
    weights.insert(weights.begin(), conv.group);
    wDesc = plainDesc(weights);
  }
  ConvDescs descs{*xDesc, *wDesc, *yDesc, memory::desc()};
  if (bias < shapes.size())
    descs.bias = plainDesc(shapes[bias]);
  return descs;
}

dnnl::convolution_forward::primitive_desc
ConvKernel::forward(const ConvDescs &descs, dnnl::prop_kind kind) const {
  auto make = [&](dnnl::algorithm algorithm) {
    dnnl::convolution_forward::desc desc(
        kind, algorithm, choice(descs.x), choice(descs.w), descs.bias,
        choice(descs.y), conv.strides, conv.dilations, conv.padBegin,
        conv.padEnd);
    return dnnl::convolution_forward::primitive_desc(
        desc, Sequence::attributes(), engine.library());
  };
  return make(conv.algorithm);
}

void ConvKernel::noteImplementation(
    const dnnl::primitive_desc_base &description,
    const std::vector<Shape> &shapes) const {
  std::string name = description.impl_info_str();
  // These can be a thousand times slower than the others, silently.
  if (name.find("ref") != std::string::npos ||
      name.find("gemm") != std::string::npos)
    engine.remark(where + ": slow library kernel " + name + " for " +
                  cpu::toString(shapes[0]));
}

class ConvForward final : public ConvKernel {
public:
  using ConvKernel::ConvKernel;
  VariantResult prepare(const std::vector<Shape> &shapes) override {
    bool hasBias = shapes.size() == 4;
    size_t output = shapes.size() - 1;
    Result<ConvDescs> descs =
        describe(shapes, 0, 1, output, hasBias ? 2 : shapes.size());
    if (!descs.ok())
      return descs.status();
    if (anyEmpty(shapes))
      return zeroOutputs(shapes, output);
    auto description = forward(*descs, dnnl::prop_kind::forward_training);
    noteImplementation(description, shapes);
    auto sequence = std::make_unique<Sequence>(engine, where);
    int x = sequence->converted(sequence->operand(0, descs->x),
                                description.src_desc());
    int w = sequence->converted(sequence->operand(1, descs->w),
                                description.weights_desc());
    int yOperand = sequence->operand(output, descs->y);
    int y = sequence->destination(yOperand, description.dst_desc());
    dnnl::convolution_forward primitive(description);
    if (hasBias)
      sequence->add(primitive, description,
                    {{DNNL_ARG_SRC, x},
                     {DNNL_ARG_WEIGHTS, w},
                     {DNNL_ARG_BIAS, sequence->operand(2, descs->bias)},
                     {DNNL_ARG_DST, y}});
    else
      sequence->add(
          primitive, description,
          {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}});
    sequence->store(y, yOperand);
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }
};

class ConvBackwardData final : public ConvKernel {
public:
  using ConvKernel::ConvKernel;
  VariantResult prepare(const std::vector<Shape> &shapes) override {
    Result<ConvDescs> descs = describe(shapes, 2, 1, 0, shapes.size());
    if (!descs.ok())
      return descs.status();
    if (anyEmpty(shapes))
      return zeroOutputs(shapes, 2);
    auto hint = forward(*descs, dnnl::prop_kind::forward_training);
    dnnl::convolution_backward_data::desc desc(
        conv.algorithm, choice(descs->x), choice(descs->w), choice(descs->y),
        conv.strides, conv.dilations, conv.padBegin, conv.padEnd);
    dnnl::convolution_backward_data::primitive_desc description(
        desc, Sequence::attributes(), engine.library(), hint);
    noteImplementation(description, shapes);
    auto sequence = std::make_unique<Sequence>(engine, where);
    int dy = sequence->converted(sequence->operand(0, descs->y),
                                 description.diff_dst_desc());
    int w = sequence->converted(sequence->operand(1, descs->w),
                                description.weights_desc());
    int dxOperand = sequence->operand(2, descs->x);
    int dx = sequence->destination(dxOperand, description.diff_src_desc());
    sequence->add(dnnl::convolution_backward_data(description), description,
                  {{DNNL_ARG_DIFF_DST, dy},
                   {DNNL_ARG_WEIGHTS, w},
                   {DNNL_ARG_DIFF_SRC, dx}});
    sequence->store(dx, dxOperand);
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }
};

class ConvBackwardWeights final : public ConvKernel {
public:
  using ConvKernel::ConvKernel;
  VariantResult prepare(const std::vector<Shape> &shapes) override {
    bool hasBias = shapes.size() == 4;
    Result<ConvDescs> descs =
        describe(shapes, 0, 2, 1, hasBias ? 3 : shapes.size());
    if (!descs.ok())
      return descs.status();
    if (anyEmpty(shapes))
      return conv.accumulate ? makeVariant([](void *const *) {})
                             : zeroOutputs(shapes, 2);
    auto hint = forward(*descs, dnnl::prop_kind::forward_training);
    dnnl::convolution_backward_weights::desc desc(
        conv.algorithm, choice(descs->x), choice(descs->w), descs->bias,
        choice(descs->y), conv.strides, conv.dilations, conv.padBegin,
        conv.padEnd);
    dnnl::convolution_backward_weights::primitive_desc description(
        desc, Sequence::attributes(), engine.library(), hint);
    noteImplementation(description, shapes);
    auto sequence = std::make_unique<Sequence>(engine, where);
    int x = sequence->converted(sequence->operand(0, descs->x),
                                description.src_desc());
    int dy = sequence->converted(sequence->operand(1, descs->y),
                                 description.diff_dst_desc());
    int dwOperand = sequence->operand(2, descs->w);
    int dw =
        conv.accumulate
            ? sequence->scratch(description.diff_weights_desc())
            : sequence->destination(dwOperand, description.diff_weights_desc());
    dnnl::convolution_backward_weights primitive(description);
    if (hasBias) {
      int dbOperand = sequence->operand(3, descs->bias);
      int db = conv.accumulate ? sequence->scratch(descs->bias) : dbOperand;
      sequence->add(primitive, description,
                    {{DNNL_ARG_SRC, x},
                     {DNNL_ARG_DIFF_DST, dy},
                     {DNNL_ARG_DIFF_WEIGHTS, dw},
                     {DNNL_ARG_DIFF_BIAS, db}});
      sequence->store(db, dbOperand, conv.accumulate);
    } else {
      sequence->add(primitive, description,
                    {{DNNL_ARG_SRC, x},
                     {DNNL_ARG_DIFF_DST, dy},
                     {DNNL_ARG_DIFF_WEIGHTS, dw}});
    }
    sequence->store(dw, dwOperand, conv.accumulate);
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }
};

template <typename ConvClass>
KernelResult create(CpuEngine &engine, KernelSpec spec, size_t mostOperands) {
  if (Status status = checkOperandCount(spec, 3, mostOperands); !status.ok())
    return status;
  // Blocked operands have a higher rank; the layout strings say how many
  // letters are spatial.
  std::vector<std::string> layouts = spec.attributes.strings("layouts");
  size_t rank = spec.ranks[0];
  if (!layouts.empty() && !layouts[0].empty())
    rank = std::min(layouts[0].find_first_of("0123456789"), layouts[0].size());
  if (rank < 3 || rank > 5)
    return Status::error(StatusCode::internal,
                         spec.attributes.where() +
                             ": expected images of rank 3 to 5, got rank " +
                             std::to_string(rank));
  Result<ConvAttributes> conv = readAttributes(spec.attributes, rank - 2);
  if (!conv.ok())
    return conv.status();
  return std::unique_ptr<Kernel>(
      std::make_unique<ConvClass>(engine, std::move(spec), std::move(*conv)));
}

} // namespace

KernelResult cpu::createConvForward(CpuEngine &engine, KernelSpec spec) {
  return create<ConvForward>(engine, std::move(spec), 4);
}
KernelResult cpu::createConvBackwardData(CpuEngine &engine, KernelSpec spec) {
  return create<ConvBackwardData>(engine, std::move(spec), 3);
}
KernelResult cpu::createConvBackwardWeights(CpuEngine &engine,
                                            KernelSpec spec) {
  return create<ConvBackwardWeights>(engine, std::move(spec), 4);
}
