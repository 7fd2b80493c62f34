// SPDX-License-Identifier: Apache-2.0
// Fully-connected layers:
//   linear_forward          ins x[n,i] w[o,i] (b[o])  outs y[n,o]
//   linear_backward_data    ins dy w                  outs dx
//   linear_backward_weights ins x dy                  outs dw (db) {accumulate}
// Outputs are overwritten unless accumulate. A worker's shard may have no
// units: its part of dx is zero then.
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Sequence.h"
#include <cstring>

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;
using dnnl::memory;

namespace {

/// Weights come row-major, and the library's gemm on them is within a third of
/// its best kernel. That one wants a layout of its own; bringing the weights
/// into it pays from about this many rows on (1024x4096, one Zen 4 core: 128
/// rows 13 ms plain, 10 ms + 5 ms of reordering).
constexpr int64_t kRowsWorthReordering = 256;

class LinearKernel : public CpuKernel {
public:
  LinearKernel(CpuEngine &engine, KernelSpec spec, bool accumulate)
      : CpuKernel(engine, std::move(spec)), accumulate(accumulate) {}

protected:
  /// y = x * transpose(w): shapes [n,i], [o,i], [n,o].
  Status checkShapes(const std::vector<Shape> &shapes, size_t x, size_t w,
                     size_t y, size_t bias) const {
    bool fits = shapes[x].size() == 2 && shapes[w].size() == 2 &&
                shapes[y].size() == 2 && shapes[x][0] == shapes[y][0] &&
                shapes[x][1] == shapes[w][1] && shapes[w][0] == shapes[y][1] &&
                (bias >= shapes.size() || shapes[bias] == Shape{shapes[w][0]});
    return fits ? Status::success()
                : shapeError(shapes, "expected x[n,i], w[o,i], b[o], y[n,o]");
  }
  static memory::desc weightsChoice(const memory::desc &weights, int64_t rows) {
    return rows >= kRowsWorthReordering ? anyDesc(weights) : weights;
  }
  dnnl::inner_product_forward::primitive_desc
  forward(const memory::desc &x, const memory::desc &w,
          const memory::desc &bias, const memory::desc &y) const {
    dnnl::inner_product_forward::desc desc(dnnl::prop_kind::forward_training, x,
                                           w, bias, y);
    return {desc, Sequence::attributes(), engine.library()};
  }

  const bool accumulate;
};

class LinearForward final : public LinearKernel {
public:
  using LinearKernel::LinearKernel;
  VariantResult prepare(const std::vector<Shape> &shapes) override {
    bool hasBias = shapes.size() == 4;
    size_t output = shapes.size() - 1;
    if (Status status =
            checkShapes(shapes, 0, 1, output, hasBias ? 2 : shapes.size());
        !status.ok())
      return status;
    if (anyEmpty(shapes))
      return withoutInputs(shapes, hasBias, output);
    memory::desc xDesc = plainDesc(shapes[0]), wDesc = plainDesc(shapes[1]);
    memory::desc yDesc = plainDesc(shapes[output]);
    memory::desc bias = hasBias ? plainDesc(shapes[2]) : memory::desc();
    auto description =
        forward(xDesc, weightsChoice(wDesc, shapes[0][0]), bias, yDesc);
    auto sequence = std::make_unique<Sequence>(engine, where);
    int x = sequence->operand(0, xDesc);
    int w = sequence->converted(sequence->operand(1, wDesc),
                                description.weights_desc());
    int y = sequence->operand(output, yDesc);
    dnnl::inner_product_forward primitive(description);
    if (hasBias)
      sequence->add(primitive, description,
                    {{DNNL_ARG_SRC, x},
                     {DNNL_ARG_WEIGHTS, w},
                     {DNNL_ARG_BIAS, sequence->operand(2, bias)},
                     {DNNL_ARG_DST, y}});
    else
      sequence->add(
          primitive, description,
          {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}});
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }

private:
  /// No input features: y is the bias.
  VariantResult withoutInputs(const std::vector<Shape> &shapes, bool hasBias,
                              size_t output) {
    if (!hasBias)
      return zeroOutputs(shapes, output);
    int64_t rows = shapes[output][0], units = shapes[output][1];
    return makeVariant([=](void *const *operands) {
      float *y = static_cast<float *>(operands[output]);
      if (units > 0)
        for (int64_t row = 0; row < rows; ++row)
          std::memcpy(y + row * units, operands[2], units * sizeof(float));
    });
  }
};

class LinearBackwardData final : public LinearKernel {
public:
  using LinearKernel::LinearKernel;
  VariantResult prepare(const std::vector<Shape> &shapes) override {
    if (Status status = checkShapes(shapes, 2, 1, 0, shapes.size());
        !status.ok())
      return status;
    if (anyEmpty(shapes))
      return zeroOutputs(shapes, 2);
    memory::desc dyDesc = plainDesc(shapes[0]), wDesc = plainDesc(shapes[1]);
    memory::desc dxDesc = plainDesc(shapes[2]);
    memory::desc weights = weightsChoice(wDesc, shapes[0][0]);
    auto hint = forward(dxDesc, weights, memory::desc(), dyDesc);
    dnnl::inner_product_backward_data::desc desc(dxDesc, weights, dyDesc);
    dnnl::inner_product_backward_data::primitive_desc description(
        desc, Sequence::attributes(), engine.library(), hint);
    auto sequence = std::make_unique<Sequence>(engine, where);
    int dy = sequence->operand(0, dyDesc);
    int w = sequence->converted(sequence->operand(1, wDesc),
                                description.weights_desc());
    int dx = sequence->operand(2, dxDesc);
    sequence->add(dnnl::inner_product_backward_data(description), description,
                  {{DNNL_ARG_DIFF_DST, dy},
                   {DNNL_ARG_WEIGHTS, w},
                   {DNNL_ARG_DIFF_SRC, dx}});
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }
};

class LinearBackwardWeights final : public LinearKernel {
public:
  using LinearKernel::LinearKernel;
  VariantResult prepare(const std::vector<Shape> &shapes) override {
    bool hasBias = shapes.size() == 4;
    if (Status status =
            checkShapes(shapes, 0, 2, 1, hasBias ? 3 : shapes.size());
        !status.ok())
      return status;
    if (anyEmpty(shapes))
      return accumulate ? makeVariant([](void *const *) {})
                        : zeroOutputs(shapes, 2);
    memory::desc xDesc = plainDesc(shapes[0]), dyDesc = plainDesc(shapes[1]);
    memory::desc dwDesc = plainDesc(shapes[2]);
    memory::desc bias = hasBias ? plainDesc(shapes[3]) : memory::desc();
    memory::desc weights = weightsChoice(dwDesc, shapes[0][0]);
    auto hint = forward(xDesc, weights, bias, dyDesc);
    dnnl::inner_product_backward_weights::desc desc(xDesc, weights, bias,
                                                    dyDesc);
    dnnl::inner_product_backward_weights::primitive_desc description(
        desc, Sequence::attributes(), engine.library(), hint);
    auto sequence = std::make_unique<Sequence>(engine, where);
    int x = sequence->operand(0, xDesc);
    int dy = sequence->operand(1, dyDesc);
    int dwOperand = sequence->operand(2, dwDesc);
    int dw =
        accumulate
            ? sequence->scratch(description.diff_weights_desc())
            : sequence->destination(dwOperand, description.diff_weights_desc());
    dnnl::inner_product_backward_weights primitive(description);
    if (hasBias) {
      int dbOperand = sequence->operand(3, bias);
      int db = accumulate ? sequence->scratch(bias) : dbOperand;
      sequence->add(primitive, description,
                    {{DNNL_ARG_SRC, x},
                     {DNNL_ARG_DIFF_DST, dy},
                     {DNNL_ARG_DIFF_WEIGHTS, dw},
                     {DNNL_ARG_DIFF_BIAS, db}});
      sequence->store(db, dbOperand, accumulate);
    } else {
      sequence->add(primitive, description,
                    {{DNNL_ARG_SRC, x},
                     {DNNL_ARG_DIFF_DST, dy},
                     {DNNL_ARG_DIFF_WEIGHTS, dw}});
    }
    sequence->store(dw, dwOperand, accumulate);
    if (Status status = sequence->finish(); !status.ok())
      return status;
    return std::unique_ptr<Variant>(std::move(sequence));
  }
};

template <typename LinearClass>
KernelResult create(CpuEngine &engine, KernelSpec spec, size_t mostOperands) {
  if (Status status = checkOperandCount(spec, 3, mostOperands); !status.ok())
    return status;
  bool accumulate = spec.attributes.flag("accumulate", false);
  if (!spec.attributes.status().ok())
    return spec.attributes.status();
  return std::unique_ptr<Kernel>(
      std::make_unique<LinearClass>(engine, std::move(spec), accumulate));
}

} // namespace

KernelResult cpu::createLinearForward(CpuEngine &engine, KernelSpec spec) {
  return create<LinearForward>(engine, std::move(spec), 4);
}
KernelResult cpu::createLinearBackwardData(CpuEngine &engine, KernelSpec spec) {
  return create<LinearBackwardData>(engine, std::move(spec), 3);
}
KernelResult cpu::createLinearBackwardWeights(CpuEngine &engine,
                                              KernelSpec spec) {
  return create<LinearBackwardWeights>(engine, std::move(spec), 4);
}
