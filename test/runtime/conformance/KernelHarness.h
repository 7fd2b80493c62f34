// SPDX-License-Identifier: Apache-2.0
// Runs one kernel of a back end through the C ABI on tensors of the test, and
// compares kernels with references in double and with central differences.
#ifndef HPCC_TEST_RUNTIME_CONFORMANCE_KERNELHARNESS_H
#define HPCC_TEST_RUNTIME_CONFORMANCE_KERNELHARNESS_H

#include "runtime/base/Context.h"
#include "runtime/comm/local/LocalGroup.h"
#include <functional>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <vector>

namespace hpcc::runtime::test {

using Shape = std::vector<int64_t>;
int64_t elementsOf(const Shape &shape);

/// Row-major values with a shape.
template <typename T> struct BasicTensor {
  BasicTensor() = default;
  explicit BasicTensor(Shape dims, T value = T())
      : shape(std::move(dims)), data(elementsOf(shape), value) {}
  BasicTensor(Shape dims, std::vector<T> values)
      : shape(std::move(dims)), data(std::move(values)) {}
  Shape shape;
  std::vector<T> data;
};
using Tensor = BasicTensor<float>;
using Exact = BasicTensor<double>; ///< What references compute.

/// Values in [-1, 1) that depend on the seed only.
Tensor randomTensor(Shape shape, uint32_t seed);
Exact toExact(const Tensor &tensor);

/// An operand of a kernel call: any buffer with a shape.
struct Operand {
  template <typename T>
  Operand(BasicTensor<T> &tensor)
      : data(tensor.data.data()), shape(&tensor.shape) {}
  void *data;
  const Shape *shape;
};

/// A context of one worker on the back end under test.
class KernelRunner {
public:
  explicit KernelRunner(const std::string &device, int threads = 2);
  /// Runs `kind`; json lists attributes without the braces. Fails the test on
  /// an error of the runtime.
  void run(const std::string &kind, const std::string &json,
           std::initializer_list<Operand> operands);
  /// The same, but returns the error.
  Status tryRun(const std::string &kind, const std::string &json,
                std::initializer_list<Operand> operands);
  Context &context() { return *worker; }

private:
  LocalGroup group{1};
  std::unique_ptr<Context> worker;
  std::vector<std::string> defined;
};

std::vector<std::string> deviceKinds();

/// Fixture: one runner on the device under test.
class KernelTest : public testing::TestWithParam<std::string> {
protected:
  KernelTest() : runner(GetParam()) {}
  KernelRunner runner;
};

#define HPCC_INSTANTIATE_KERNEL_TESTS(suite)                                   \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      , suite, testing::ValuesIn(hpcc::runtime::test::deviceKinds()),          \
      [](const auto &info) { return info.param; })

/// |got - expected| <= tolerance * (1 + largest |expected|), for every element.
void expectClose(const Tensor &got, const Exact &expected, double tolerance,
                 const std::string &what = "");
void expectClose(const Tensor &got, const Tensor &expected, double tolerance,
                 const std::string &what = "");

/// Checks `gradient` of sum(forward(x) * weights) with respect to x against
/// central differences with this step, at elements spread over x.
void expectIsGradient(const Tensor &gradient, const Tensor &x,
                      const Tensor &weights,
                      const std::function<Tensor(const Tensor &)> &forward,
                      double step, double tolerance,
                      const std::string &what = "");

/// "[1,2]".
std::string list(const Shape &values);

} // namespace hpcc::runtime::test

#endif // HPCC_TEST_RUNTIME_CONFORMANCE_KERNELHARNESS_H
