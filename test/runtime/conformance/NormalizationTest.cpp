// SPDX-License-Identifier: Apache-2.0
// Batch normalisation and local response normalisation against their
// definitions in double and against central differences.
#include "test/runtime/conformance/KernelHarness.h"
#include <cmath>

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;

namespace {

class BatchNorm : public KernelTest {
protected:
  /// Planes of [n, C, positions].
  static int64_t positionsOf(const Shape &shape) {
    return elementsOf(shape) / (shape[0] * shape[1]);
  }
  struct Statistics {
    Exact mean, var;
  };
  static Statistics statisticsOf(const Tensor &x) {
    int64_t channels = x.shape[1], positions = positionsOf(x.shape);
    int64_t count = x.shape[0] * positions;
    Statistics result{Exact({channels}), Exact({channels})};
    auto forEach = [&](auto visit) {
      for (size_t i = 0; i < x.data.size(); ++i)
        visit(i / positions % channels, x.data[i]);
    };
    forEach([&](int64_t c, double v) { result.mean.data[c] += v / count; });
    forEach([&](int64_t c, double v) {
      double d = v - result.mean.data[c];
      result.var.data[c] += d * d / count;
    });
    return result;
  }
  static Exact normalized(const Tensor &x, const Statistics &statistics,
                          const Tensor &scale, const Tensor &bias,
                          double epsilon) {
    Exact y(x.shape);
    int64_t channels = x.shape[1], positions = positionsOf(x.shape);
    for (size_t i = 0; i < x.data.size(); ++i) {
      int64_t c = i / positions % channels;
      y.data[i] = (x.data[i] - statistics.mean.data[c]) /
                      std::sqrt(statistics.var.data[c] + epsilon) *
                      scale.data[c] +
                  bias.data[c];
    }
    return y;
  }
};
HPCC_INSTANTIATE_KERNEL_TESTS(BatchNorm);

const Shape kImages[] = {{4, 3, 5, 5},    {2, 1, 1, 1}, {3, 16, 4, 3},
                         {1, 7, 3, 2},    {5, 6},       {3, 4, 7},
                         {2, 2, 3, 2, 3}, {2, 32, 3, 3}};
const char *kEpsilon = "\"epsilon\":0.001";

class Lrn : public KernelTest {
protected:
  /// The definition: window floor((size-1)/2) below, ceil((size-1)/2) above.
  static Exact expected(const Tensor &x, int64_t size, double alpha,
                        double beta, double bias) {
    int64_t channels = x.shape[1];
    int64_t positions = elementsOf(x.shape) / (x.shape[0] * channels);
    Exact y(x.shape);
    for (int64_t n = 0; n < x.shape[0]; ++n)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t s = 0; s < positions; ++s) {
          double sum = 0;
          int64_t low = c - (size - 1) / 2, high = c + size / 2;
          for (int64_t k = std::max<int64_t>(low, 0);
               k <= std::min(high, channels - 1); ++k) {
            double v = x.data[(n * channels + k) * positions + s];
            sum += v * v;
          }
          int64_t at = (n * channels + c) * positions + s;
          y.data[at] = x.data[at] / std::pow(bias + alpha / size * sum, beta);
        }
    return y;
  }
};
HPCC_INSTANTIATE_KERNEL_TESTS(Lrn);

} // namespace

TEST_P(BatchNorm, ForwardAndInference) {
  for (const Shape &shape : kImages) {
    Tensor x = randomTensor(shape, 1), y(shape, 99);
    int64_t channels = shape[1];
    Tensor scale = randomTensor({channels}, 2),
           bias = randomTensor({channels}, 3);
    Tensor mean({channels}, 99), var({channels}, 99);
    // An offset shows cancellation in the variance.
    for (float &value : x.data)
      value += 3;
    runner.run("batch_norm_forward", kEpsilon, {x, scale, bias, y, mean, var});
    Statistics statistics = statisticsOf(x);
    expectClose(mean, statistics.mean, 1e-6, list(shape));
    expectClose(var, statistics.var, 1e-6, list(shape));
    expectClose(y, normalized(x, statistics, scale, bias, 1e-3), 1e-5,
                list(shape));
    Tensor runningMean = randomTensor({channels}, 4);
    Tensor runningVar({channels}, 0.7f), z(shape, 99);
    runner.run("batch_norm_inference", kEpsilon,
               {x, scale, bias, runningMean, runningVar, z});
    expectClose(z,
                normalized(x, {toExact(runningMean), toExact(runningVar)},
                           scale, bias, 1e-3),
                1e-5, list(shape));
  }
}

TEST_P(BatchNorm, GradientsAgreeWithCentralDifferences) {
  for (const Shape &shape : kImages) {
    int64_t channels = shape[1];
    Tensor x = randomTensor(shape, 1), dy = randomTensor(shape, 5);
    Tensor scale = randomTensor({channels}, 2),
           bias = randomTensor({channels}, 3);
    Tensor y(shape), mean({channels}), var({channels});
    runner.run("batch_norm_forward", kEpsilon, {x, scale, bias, y, mean, var});
    Tensor dx(shape, 99), dscale({channels}, 99), dbias({channels}, 99);
    runner.run("batch_norm_backward", kEpsilon,
               {x, dy, scale, mean, var, dx, dscale, dbias});
    auto forward = [&](Tensor x, Tensor scale, Tensor bias) {
      Tensor out(shape), m({channels}), v({channels});
      runner.run("batch_norm_forward", kEpsilon, {x, scale, bias, out, m, v});
      return out;
    };
    expectIsGradient(
        dx, x, dy, [&](const Tensor &at) { return forward(at, scale, bias); },
        1e-2, 4e-3, "dx " + list(shape));
    expectIsGradient(
        dscale, scale, dy,
        [&](const Tensor &at) { return forward(x, at, bias); }, 0.5, 1e-4,
        "dscale " + list(shape));
    expectIsGradient(
        dbias, bias, dy,
        [&](const Tensor &at) { return forward(x, scale, at); }, 0.5, 1e-4,
        "dbias " + list(shape));
  }
}

TEST_P(BatchNorm, BlockedLayoutEqualsPlain) {
  Shape shape{3, 32, 5, 4}, blocked{3, 2, 5, 4, 16};
  Tensor x = randomTensor(shape, 1), dy = randomTensor(shape, 2);
  Tensor scale = randomTensor({32}, 3), bias = randomTensor({32}, 4);
  auto toBlocked = [&](Tensor plain) {
    Tensor result(blocked);
    runner.run("reorder", R"("from":"nchw","to":"nChw16c")", {plain, result});
    return result;
  };
  Tensor y(shape), mean({32}), var({32}), dx(shape), dscale({32}), dbias({32});
  runner.run("batch_norm_forward", kEpsilon, {x, scale, bias, y, mean, var});
  runner.run("batch_norm_backward", kEpsilon,
             {x, dy, scale, mean, var, dx, dscale, dbias});
  Tensor xb = toBlocked(x), dyb = toBlocked(dy), yb(blocked), dxb(blocked);
  Tensor m({32}), v({32}), ds({32}), db({32});
  std::string head = std::string(kEpsilon) + ",\"layouts\":[\"nChw16c\",";
  runner.run("batch_norm_forward", head + R"("","","nChw16c","",""])",
             {xb, scale, bias, yb, m, v});
  runner.run("batch_norm_backward",
             head + R"("nChw16c","","","","nChw16c","",""])",
             {xb, dyb, scale, m, v, dxb, ds, db});
  expectClose(yb, toBlocked(y), 1e-6);
  expectClose(dxb, toBlocked(dx), 2e-6);
  expectClose(ds, dscale, 2e-6);
  expectClose(db, dbias, 2e-6);
}

TEST_P(BatchNorm, NoExamples) {
  Tensor x({0, 3, 2, 2}), y({0, 3, 2, 2}), scale({3}, 1), bias({3}, 1);
  Tensor mean({3}, 9), var({3}, 9), dscale({3}, 9), dbias({3}, 9);
  runner.run("batch_norm_forward", kEpsilon, {x, scale, bias, y, mean, var});
  EXPECT_EQ(mean.data, std::vector<float>(3, 0));
  EXPECT_EQ(var.data, std::vector<float>(3, 0));
  runner.run("batch_norm_inference", kEpsilon, {x, scale, bias, mean, var, y});
  runner.run("batch_norm_backward", kEpsilon,
             {x, y, scale, mean, var, x, dscale, dbias});
  EXPECT_EQ(dscale.data, std::vector<float>(3, 0));
  EXPECT_EQ(dbias.data, std::vector<float>(3, 0));
}

TEST_P(Lrn, ForwardAndGradient) {
  struct Case {
    int64_t size;
    double alpha, beta, bias;
  };
  const Case cases[] = {{5, 1e-4, 0.75, 1}, {5, 2, 0.75, 2},  {2, 1, 1, 1},
                        {3, 1, 0.5, 2},     {4, 1, 0.6, 1.5}, {1, 1, 0.75, 1},
                        {9, 3, 0.75, 1}};
  const Shape shapes[] = {{2, 7, 3, 5},  {1, 1, 1, 1}, {2, 16, 5, 4},
                          {1, 3, 1, 17}, {2, 5},       {1, 4, 6}};
  for (const Case &lrn : cases)
    for (const Shape &shape : shapes) {
      std::string json = "\"size\":" + std::to_string(lrn.size) +
                         ",\"alpha\":" + std::to_string(lrn.alpha) +
                         ",\"beta\":" + std::to_string(lrn.beta) +
                         ",\"bias\":" + std::to_string(lrn.bias);
      Tensor x = randomTensor(shape, 1), dy = randomTensor(shape, 2);
      Tensor y(shape, 99), dx(shape, 99);
      runner.run("lrn_forward", json, {x, y});
      expectClose(y, expected(x, lrn.size, lrn.alpha, lrn.beta, lrn.bias), 1e-6,
                  json + list(shape));
      runner.run("lrn_backward", json, {x, y, dy, dx});
      expectIsGradient(
          dx, x, dy,
          [&](const Tensor &at) {
            Tensor moved = at, out(shape);
            runner.run("lrn_forward", json, {moved, out});
            return out;
          },
          1e-2, 1e-3, json + list(shape));
    }
}

TEST_P(Lrn, BlockedLayoutEqualsPlain) {
  Shape shape{2, 32, 3, 7}, blocked{2, 2, 3, 7, 16};
  auto toBlocked = [&](Tensor plain) {
    Tensor result(blocked);
    runner.run("reorder", R"("from":"nchw","to":"nChw16c")", {plain, result});
    return result;
  };
  std::string json = R"("size":5,"alpha":1.0,"beta":0.75,"bias":1.0)";
  std::string layouts =
      json + R"(,"layouts":["nChw16c","nChw16c","nChw16c","nChw16c"])";
  Tensor x = randomTensor(shape, 1), dy = randomTensor(shape, 2);
  Tensor y(shape), dx(shape), yb(blocked), dxb(blocked);
  Tensor xb = toBlocked(x), dyb = toBlocked(dy);
  runner.run("lrn_forward", json, {x, y});
  runner.run("lrn_backward", json, {x, y, dy, dx});
  runner.run("lrn_forward", layouts, {xb, yb});
  runner.run("lrn_backward", layouts, {xb, yb, dyb, dxb});
  EXPECT_EQ(yb.data, toBlocked(y).data);
  EXPECT_EQ(dxb.data, toBlocked(dx).data);
}

// B61: alpha is divided by size; even sizes have the longer side above.
TEST_P(Lrn, EvenSizeB61) {
  Tensor x({1, 3, 1, 1}, 1), y({1, 3, 1, 1});
  // Channels 0 and 1 see two ones, the last sees one: 1 / (1 + 1/2 * sum).
  runner.run("lrn_forward", R"("size":2,"alpha":1.0,"beta":1.0,"bias":1.0)",
             {x, y});
  expectClose(y, Exact({1, 3, 1, 1}, {0.5, 0.5, 1 / 1.5}), 1e-7);
}

TEST_P(Lrn, NoExamples) {
  Tensor x({0, 3, 2, 2});
  runner.run("lrn_forward", "\"size\":5", {x, x});
  runner.run("lrn_backward", "\"size\":5", {x, x, x, x});
}
