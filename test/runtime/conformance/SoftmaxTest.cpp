// SPDX-License-Identifier: Apache-2.0
// Softmax and log-softmax along every axis against their definitions.
#include "test/runtime/conformance/KernelHarness.h"
#include <cmath>

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;

namespace {
class Softmax : public KernelTest {
protected:
  static Exact expected(const Tensor &x, int64_t axis, bool logarithm) {
    int64_t extent = x.shape[axis], inner = 1;
    for (size_t i = axis + 1; i < x.shape.size(); ++i)
      inner *= x.shape[i];
    Exact y(x.shape);
    int64_t lines = elementsOf(x.shape) / extent;
    for (int64_t line = 0; line < lines; ++line) {
      int64_t first = line / inner * extent * inner + line % inner;
      double largest = -INFINITY, sum = 0;
      for (int64_t k = 0; k < extent; ++k)
        largest = std::max(largest, double(x.data[first + k * inner]));
      for (int64_t k = 0; k < extent; ++k)
        sum += std::exp(x.data[first + k * inner] - largest);
      for (int64_t k = 0; k < extent; ++k) {
        double shifted = x.data[first + k * inner] - largest;
        y.data[first + k * inner] =
            logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum;
      }
    }
    return y;
  }
};
HPCC_INSTANTIATE_KERNEL_TESTS(Softmax);

const Shape kShapes[] = {{3, 10},   {1, 1},       {4, 1}, {2, 1000},
                         {2, 3, 4}, {2, 5, 3, 2}, {7},    {33, 17}};
} // namespace

TEST_P(Softmax, ForwardAlongEveryAxis) {
  for (bool logarithm : {false, true})
    for (const Shape &shape : kShapes)
      for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis)
        for (int64_t written : {axis, axis - int64_t(shape.size())}) {
          Tensor x = randomTensor(shape, 1), y(shape, 99);
          for (float &value : x.data)
            value *= 20;
          runner.run(logarithm ? "log_softmax_forward" : "softmax_forward",
                     "\"axis\":" + std::to_string(written), {x, y});
          expectClose(y, expected(x, axis, logarithm), 2e-6, list(shape));
        }
}

TEST_P(Softmax, LargeLogitsStayFinite) {
  Tensor x({1, 3}, {1000, 1000, -1000}), y({1, 3}), z({1, 3});
  runner.run("softmax_forward", "\"axis\":1", {x, y});
  expectClose(y, Exact({1, 3}, {0.5, 0.5, 0}), 1e-6);
  runner.run("log_softmax_forward", "\"axis\":1", {x, z});
  double half = std::log(0.5);
  expectClose(z, Exact({1, 3}, {half, half, half - 2000}), 1e-6);
}

TEST_P(Softmax, GradientsAgreeWithCentralDifferences) {
  for (bool logarithm : {false, true})
    for (const Shape &shape : kShapes) {
      if (elementsOf(shape) > 700)
        continue;
      for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis) {
        std::string name = logarithm ? "log_softmax" : "softmax";
        std::string json = "\"axis\":" + std::to_string(axis);
        Tensor x = randomTensor(shape, 1), dy = randomTensor(shape, 2);
        Tensor y(shape), dx(shape, 99);
        runner.run(name + "_forward", json, {x, y});
        runner.run(name + "_backward", json, {dy, y, dx});
        expectIsGradient(
            dx, x, dy,
            [&](const Tensor &at) {
              Tensor moved = at, out(shape);
              runner.run(name + "_forward", json, {moved, out});
              return out;
            },
            2e-2, 2e-3, name + list(shape));
      }
    }
}

// B23: opset 13 normalises the last axis only: zeros of extent 4 give 1/4.
TEST_P(Softmax, OneAxisOnlyB23) {
  Tensor x({2, 3, 4}), y({2, 3, 4});
  runner.run("softmax_forward", "\"axis\":-1", {x, y});
  EXPECT_EQ(y.data, std::vector<float>(24, 0.25f));
}

TEST_P(Softmax, EmptyExtentsAndAWrongAxis) {
  Tensor x({0, 4}), z({3, 0});
  runner.run("softmax_forward", "\"axis\":1", {x, x});
  runner.run("softmax_backward", "\"axis\":1", {x, x, x});
  runner.run("softmax_forward", "\"axis\":1", {z, z});
  Tensor y({2, 4});
  Status status = runner.tryRun("softmax_forward", "\"axis\":2", {y, y});
  EXPECT_NE(status.message().find("axis 2"), std::string::npos);
}
