// SPDX-License-Identifier: Apache-2.0
// Local response normalisation across channels:
//   lrn_forward  ins x       outs y
//   lrn_backward ins x y dy  outs dx
// attributes: size, alpha, beta, bias, layouts. As ONNX: alpha is divided by
// size, the window is floor((size-1)/2) below and ceil((size-1)/2) above.
// Written here because the library has odd sizes only and its backward pass
// wants a buffer that the interface does not have.
#include "runtime/cpu/Kernels.h"
#include <algorithm>
#include <cmath>

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;
using dnnl::memory;

namespace {

struct LrnAttributes {
  int64_t size = 5;
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1;
  int64_t below() const { return (size - 1) / 2; }
  int64_t above() const { return size - 1 - below(); }
};

/// Where channel c of position s of example n lies.
struct ImageIndex {
  int64_t channels;
  int64_t positions;
  int64_t block; ///< 1: plain.
  int64_t at(int64_t n, int64_t c, int64_t s) const {
    return (n * channels + c / block * block) * positions + s * block +
           c % block;
  }
};

/// Positions that are worked on together, so that loops over them vectorise.
constexpr int64_t kTile = 16;

/// power = scale^-beta; the usual exponents without a call per element.
void negativePower(const float *scale, float beta, float *power) {
  if (beta == 0.75f) {
    for (int64_t t = 0; t < kTile; ++t) {
      float root = std::sqrt(scale[t]);
      power[t] = 1.0f / (root * std::sqrt(root));
    }
  } else if (beta == 0.5f) {
    for (int64_t t = 0; t < kTile; ++t)
      power[t] = 1.0f / std::sqrt(scale[t]);
  } else if (beta == 1.0f) {
    for (int64_t t = 0; t < kTile; ++t)
      power[t] = 1.0f / scale[t];
  } else {
    for (int64_t t = 0; t < kTile; ++t)
      power[t] = std::pow(scale[t], -beta);
  }
}

class LrnKernel : public CpuKernel {
public:
  LrnKernel(CpuEngine &engine, KernelSpec spec, LrnAttributes lrn,
            bool backward)
      : CpuKernel(engine, std::move(spec)), lrn(lrn), backward(backward) {}

  VariantResult prepare(const std::vector<Shape> &shapes) override {
    for (const Shape &shape : shapes)
      if (shape != shapes[0])
        return shapeError(shapes, "expected equal shapes");
    Result<memory::desc> desc = describeOperand(shapes, 0);
    if (!desc.ok())
      return desc.status();
    if (anyEmpty(shapes))
      return makeVariant([](void *const *) {});
    Shape dims = desc->dims();
    ImageIndex index{dims[1], 1, 1};
    for (size_t i = 2; i < dims.size(); ++i)
      index.positions *= dims[i];
    if (!isPlain(*desc)) {
      const dnnl_blocking_desc_t &blocking = desc->data.format_desc.blocking;
      if (blocking.inner_nblks != 1 || blocking.inner_idxs[0] != 1)
        return shapeError(shapes, "expected plain or channel-blocked images");
      index.block = blocking.inner_blks[0];
    }
    int64_t tiles = (index.positions + kTile - 1) / kTile;
    int64_t items = dims[0] * tiles;
    // Per thread: two arrays over the channels and the window's overhang.
    int64_t paddedChannels = index.channels + lrn.size;
    int64_t perThread = 3 * paddedChannels * kTile;
    int threads = engine.threads();
    if (Status status =
            engine.reserveScratch(threads * perThread * sizeof(float));
        !status.ok())
      return status;
    return makeVariant([=, this](void *const *operands) {
      engine.forRange(threads, [&](int64_t first, int64_t last) {
        for (int64_t thread = first; thread < last; ++thread) {
          float *memory =
              reinterpret_cast<float *>(engine.scratch()) + thread * perThread;
          for (int64_t item = items * thread / threads;
               item < items * (thread + 1) / threads; ++item) {
            int64_t position = item % tiles * kTile;
            int64_t count = std::min(kTile, index.positions - position);
            runTile(operands, index, item / tiles, position, count, memory,
                    memory + paddedChannels * kTile,
                    memory + 2 * paddedChannels * kTile);
          }
        }
      });
    });
  }

private:
  /// window[c][t] = sum of values[c - before .. c + after][t]; values has
  /// `before` zero rows in front and `after` behind.
  static void windowSum(const float *values, int64_t channel, int64_t size,
                        float *sum) {
    std::fill(sum, sum + kTile, 0.0f);
    for (int64_t k = 0; k < size; ++k)
      for (int64_t t = 0; t < kTile; ++t)
        sum[t] += values[(channel + k) * kTile + t];
  }

  void runTile(void *const *operands, const ImageIndex &index, int64_t n,
               int64_t position, int64_t count, float *squares, float *scales,
               float *ratios) const;

  const LrnAttributes lrn;
  const bool backward;
};

void LrnKernel::runTile(void *const *operands, const ImageIndex &index,
                        int64_t n, int64_t position, int64_t count,
                        float *squares, float *scales, float *ratios) const {
  const float *x = static_cast<const float *>(operands[0]);
  int64_t channels = index.channels;
  int64_t padded = channels + lrn.size - 1;
  float factor = lrn.alpha / lrn.size;
  auto at = [&](int64_t c, int64_t t) { return index.at(n, c, position + t); };

  std::fill(squares, squares + padded * kTile, 0.0f);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < count; ++t) {
      float value = x[at(c, t)];
      squares[(c + lrn.below()) * kTile + t] = value * value;
    }
  for (int64_t c = 0; c < channels; ++c) {
    float sum[kTile];
    windowSum(squares, c, lrn.size, sum);
    for (int64_t t = 0; t < kTile; ++t)
      scales[c * kTile + t] = lrn.bias + factor * sum[t];
  }

  if (!backward) {
    float *y = static_cast<float *>(operands[1]);
    for (int64_t c = 0; c < channels; ++c) {
      float power[kTile];
      negativePower(scales + c * kTile, lrn.beta, power);
      for (int64_t t = 0; t < count; ++t)
        y[at(c, t)] = x[at(c, t)] * power[t];
    }
    return;
  }

  // dx_i = dy_i s_i^-beta - 2 alpha beta / size x_i sum_j dy_j y_j / s_j over
  // the channels j whose window holds i: i - above .. i + below.
  const float *y = static_cast<const float *>(operands[1]);
  const float *dy = static_cast<const float *>(operands[2]);
  float *dx = static_cast<float *>(operands[3]);
  std::fill(ratios, ratios + padded * kTile, 0.0f);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < count; ++t)
      ratios[(c + lrn.above()) * kTile + t] =
          dy[at(c, t)] * y[at(c, t)] / scales[c * kTile + t];
  for (int64_t c = 0; c < channels; ++c) {
    float sum[kTile], power[kTile];
    windowSum(ratios, c, lrn.size, sum);
    negativePower(scales + c * kTile, lrn.beta, power);
    for (int64_t t = 0; t < count; ++t)
      dx[at(c, t)] = dy[at(c, t)] * power[t] -
                     2 * factor * lrn.beta * x[at(c, t)] * sum[t];
  }
}

KernelResult create(CpuEngine &engine, KernelSpec spec, bool backward) {
  size_t operands = backward ? 4 : 2;
  if (Status status = checkOperandCount(spec, operands, operands); !status.ok())
    return status;
  LrnAttributes lrn;
  lrn.size = spec.attributes.integer("size");
  lrn.alpha = spec.attributes.real("alpha", lrn.alpha);
  lrn.beta = spec.attributes.real("beta", lrn.beta);
  lrn.bias = spec.attributes.real("bias", lrn.bias);
  if (!spec.attributes.status().ok())
    return spec.attributes.status();
  if (lrn.size < 1)
    return Status::error(StatusCode::internal,
                         spec.attributes.where() +
                             ": size must be at least 1, got " +
                             std::to_string(lrn.size));
  return std::unique_ptr<Kernel>(
      std::make_unique<LrnKernel>(engine, std::move(spec), lrn, backward));
}

} // namespace

KernelResult cpu::createLrnForward(CpuEngine &engine, KernelSpec spec) {
  return create(engine, std::move(spec), /*backward=*/false);
}
KernelResult cpu::createLrnBackward(CpuEngine &engine, KernelSpec spec) {
  return create(engine, std::move(spec), /*backward=*/true);
}
