// SPDX-License-Identifier: Apache-2.0
// Fully-connected kernels against loops in double.
#include "test/runtime/conformance/KernelHarness.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;

namespace {
class Linear : public KernelTest {};
HPCC_INSTANTIATE_KERNEL_TESTS(Linear);

struct Sizes {
  int64_t n, i, o;
};
// Both sides of the choice between plain and reordered weights.
const Sizes kSizes[] = {{1, 1, 1},   {3, 5, 7},    {2, 16, 33},  {15, 40, 9},
                        {16, 7, 3},  {33, 64, 48}, {64, 31, 1},  {1, 100, 10},
                        {255, 7, 3}, {256, 7, 3},  {300, 40, 33}};

struct Problem {
  explicit Problem(Sizes sizes)
      : sizes(sizes), x(randomTensor({sizes.n, sizes.i}, 1)),
        w(randomTensor({sizes.o, sizes.i}, 2)), b(randomTensor({sizes.o}, 3)),
        dy(randomTensor({sizes.n, sizes.o}, 4)) {}
  Exact forward(bool bias) const {
    Exact y({sizes.n, sizes.o});
    forEach([&](int64_t n, int64_t i, int64_t o) {
      y.data[n * sizes.o + o] +=
          double(x.data[n * sizes.i + i]) * w.data[o * sizes.i + i];
    });
    if (bias)
      for (size_t k = 0; k < y.data.size(); ++k)
        y.data[k] += b.data[k % sizes.o];
    return y;
  }
  Exact backwardData() const {
    Exact dx({sizes.n, sizes.i});
    forEach([&](int64_t n, int64_t i, int64_t o) {
      dx.data[n * sizes.i + i] +=
          double(dy.data[n * sizes.o + o]) * w.data[o * sizes.i + i];
    });
    return dx;
  }
  Exact backwardWeights() const {
    Exact dw({sizes.o, sizes.i});
    forEach([&](int64_t n, int64_t i, int64_t o) {
      dw.data[o * sizes.i + i] +=
          double(dy.data[n * sizes.o + o]) * x.data[n * sizes.i + i];
    });
    return dw;
  }
  Exact backwardBias() const {
    Exact db({sizes.o});
    for (size_t k = 0; k < dy.data.size(); ++k)
      db.data[k % sizes.o] += dy.data[k];
    return db;
  }
  template <typename Visit> void forEach(Visit visit) const {
    for (int64_t n = 0; n < sizes.n; ++n)
      for (int64_t o = 0; o < sizes.o; ++o)
        for (int64_t i = 0; i < sizes.i; ++i)
          visit(n, i, o);
  }

  Sizes sizes;
  Tensor x, w, b, dy;
};

constexpr double kTolerance = 2e-6;
} // namespace

TEST_P(Linear, ForwardAndGradients) {
  for (Sizes sizes : kSizes) {
    Problem p(sizes);
    Tensor y({sizes.n, sizes.o}, 99), z({sizes.n, sizes.o}, 99);
    runner.run("linear_forward", "", {p.x, p.w, y});
    expectClose(y, p.forward(false), kTolerance);
    runner.run("linear_forward", "", {p.x, p.w, p.b, z});
    expectClose(z, p.forward(true), kTolerance);
    Tensor dx({sizes.n, sizes.i}, 99), dw({sizes.o, sizes.i}, 99);
    Tensor db({sizes.o}, 99), alone({sizes.o, sizes.i}, 99);
    runner.run("linear_backward_data", "", {p.dy, p.w, dx});
    expectClose(dx, p.backwardData(), kTolerance);
    runner.run("linear_backward_weights", "", {p.x, p.dy, dw, db});
    expectClose(dw, p.backwardWeights(), kTolerance);
    expectClose(db, p.backwardBias(), kTolerance);
    runner.run("linear_backward_weights", "", {p.x, p.dy, alone});
    expectClose(alone, p.backwardWeights(), kTolerance);
  }
}

TEST_P(Linear, AccumulatesOnRequestOnly) {
  for (Sizes sizes : kSizes) {
    Problem p(sizes);
    Tensor dw({sizes.o, sizes.i}, 5), db({sizes.o}, -3);
    runner.run("linear_backward_weights", "\"accumulate\":true",
               {p.x, p.dy, dw, db});
    Exact weights = p.backwardWeights(), bias = p.backwardBias();
    for (double &value : weights.data)
      value += 5;
    for (double &value : bias.data)
      value -= 3;
    expectClose(dw, weights, kTolerance);
    expectClose(db, bias, kTolerance);
  }
}

TEST_P(Linear, NoExamples) {
  Tensor x({0, 4}), w({3, 4}, 1), b({3}, 1), y({0, 3}), dw({3, 4}, 9);
  Tensor db({3}, 9), kept({3, 4}, 9);
  runner.run("linear_forward", "", {x, w, b, y});
  runner.run("linear_backward_data", "", {y, w, x});
  runner.run("linear_backward_weights", "", {x, y, dw, db});
  EXPECT_EQ(dw.data, std::vector<float>(12, 0));
  EXPECT_EQ(db.data, std::vector<float>(3, 0));
  runner.run("linear_backward_weights", "\"accumulate\":true", {x, y, kept});
  EXPECT_EQ(kept.data, std::vector<float>(12, 9));
}

// A worker whose shard has no units (K > units): it contributes zero to dx.
TEST_P(Linear, NoUnitsB117) {
  Tensor x({2, 4}, 1), w({0, 4}), b({0}), y({2, 0}), dx({2, 4}, 9);
  runner.run("linear_forward", "", {x, w, b, y});
  runner.run("linear_backward_data", "", {y, w, dx});
  EXPECT_EQ(dx.data, std::vector<float>(8, 0));
  runner.run("linear_backward_weights", "", {x, y, w, b});
}

TEST_P(Linear, NoInputsGivesTheBias) {
  Tensor x({2, 0}), w({3, 0}), b({3}, {1, 2, 3}), y({2, 3}, 9), z({2, 3}, 9);
  runner.run("linear_forward", "", {x, w, b, y});
  EXPECT_EQ(y.data, (std::vector<float>{1, 2, 3, 1, 2, 3}));
  runner.run("linear_forward", "", {x, w, z});
  EXPECT_EQ(z.data, std::vector<float>(6, 0));
}

TEST_P(Linear, ShapesThatDoNotFitAreAnError) {
  Tensor x({2, 4}), w({3, 5}), y({2, 3});
  Status status = runner.tryRun("linear_forward", "", {x, w, y});
  EXPECT_NE(status.message().find("[3,5]"), std::string::npos);
}
