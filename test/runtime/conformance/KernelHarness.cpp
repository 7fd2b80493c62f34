// SPDX-License-Identifier: Apache-2.0
// Kernel calls and comparisons of the conformance suite.
#include "test/runtime/conformance/KernelHarness.h"
#include <algorithm>
#include <cmath>
#include <random>

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;

int64_t test::elementsOf(const Shape &shape) {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

Tensor test::randomTensor(Shape shape, uint32_t seed) {
  // Not std::uniform_real_distribution: its values differ between libraries.
  std::mt19937 generator(seed);
  Tensor tensor(std::move(shape));
  for (float &value : tensor.data)
    value = float(int32_t(generator())) * 0x1p-31f;
  return tensor;
}

Exact test::toExact(const Tensor &tensor) {
  return Exact(tensor.shape,
               std::vector<double>(tensor.data.begin(), tensor.data.end()));
}

KernelRunner::KernelRunner(const std::string &device, int threads) {
  auto created = Context::create(0, 1, threads, group.communicator(0), device);
  EXPECT_TRUE(created.ok()) << created.status().message();
  worker = std::move(*created);
}

Status KernelRunner::tryRun(const std::string &kind, const std::string &json,
                            std::initializer_list<Operand> operands) {
  std::string ranks;
  std::vector<void *> pointers;
  std::vector<int64_t> dims;
  for (const Operand &operand : operands) {
    ranks += (ranks.empty() ? "" : ",") + std::to_string(operand.shape->size());
    pointers.push_back(operand.data);
    dims.insert(dims.end(), operand.shape->begin(), operand.shape->end());
  }
  std::string text = "{\"node\":\"node0\",\"ranks\":[" + ranks + "]" +
                     (json.empty() ? "" : ",") + json + "}";
  std::string key = kind + text;
  auto found = std::find(defined.begin(), defined.end(), key);
  int64_t id = found - defined.begin();
  if (found == defined.end()) {
    defined.push_back(key);
    hpcc_rt_define(worker->handle(), id, kind.c_str(), text.c_str());
  }
  hpcc_rt_execute(worker->handle(), id, pointers.data(), dims.data());
  return worker->error();
}

void KernelRunner::run(const std::string &kind, const std::string &json,
                       std::initializer_list<Operand> operands) {
  Status status = tryRun(kind, json, operands);
  ASSERT_TRUE(status.ok()) << status.message();
}

std::vector<std::string> test::deviceKinds() { return {"cpu"}; }

void test::expectClose(const Tensor &got, const Exact &expected,
                       double tolerance, const std::string &what) {
  ASSERT_EQ(got.shape, expected.shape) << what;
  ASSERT_EQ(got.data.size(), expected.data.size()) << what;
  double scale = 1;
  for (double value : expected.data)
    scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < got.data.size(); ++i)
    ASSERT_LE(std::abs(got.data[i] - expected.data[i]), tolerance * scale)
        << what << " at " << i << ": got " << got.data[i] << ", expected "
        << expected.data[i];
}

void test::expectClose(const Tensor &got, const Tensor &expected,
                       double tolerance, const std::string &what) {
  expectClose(got, toExact(expected), tolerance, what);
}

void test::expectIsGradient(
    const Tensor &gradient, const Tensor &x, const Tensor &weights,
    const std::function<Tensor(const Tensor &)> &forward, double step,
    double tolerance, const std::string &what) {
  auto objective = [&](const Tensor &at) {
    Tensor y = forward(at);
    double sum = 0;
    for (size_t i = 0; i < y.data.size(); ++i)
      sum += double(y.data[i]) * weights.data[i];
    return sum;
  };
  // At most about a hundred elements, spread over the tensor.
  size_t stride = x.data.size() / 97 + 1;
  double scale = 1;
  for (float value : gradient.data)
    scale = std::max(scale, double(std::abs(value)));
  ASSERT_EQ(gradient.shape, x.shape) << what;
  Tensor moved = x;
  for (size_t i = 0; i < x.data.size(); i += stride) {
    float above = x.data[i] + step, below = x.data[i] - step;
    moved.data[i] = above;
    double high = objective(moved);
    moved.data[i] = below;
    double low = objective(moved);
    moved.data[i] = x.data[i];
    double expected = (high - low) / (double(above) - below);
    ASSERT_LE(std::abs(gradient.data[i] - expected), tolerance * scale)
        << what << " at " << i << ": got " << gradient.data[i]
        << ", differences give " << expected;
  }
}

std::string test::list(const Shape &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? "," : "") + std::to_string(values[i]);
  return text + "]";
}
