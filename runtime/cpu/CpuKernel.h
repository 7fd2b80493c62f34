// SPDX-License-Identifier: Apache-2.0
// Base of the CPU kernels: splits the run-time sizes into shapes, prepares one
// variant for each set of sizes, and runs it without allocating.
#ifndef HPCC_RUNTIME_CPU_CPUKERNEL_H
#define HPCC_RUNTIME_CPU_CPUKERNEL_H

#include "runtime/cpu/CpuEngine.h"
#include "runtime/cpu/Layout.h"
#include <memory>
#include <string>
#include <vector>

namespace hpcc::runtime::cpu {

/// A kernel for one set of sizes.
class Variant {
public:
  virtual ~Variant() = default;
  virtual Status run(void *const *operands) = 0;
};

/// A variant that is a callable f(operands), in place of a class per loop nest.
template <typename Function> class FunctionVariant final : public Variant {
public:
  explicit FunctionVariant(Function function) : function(std::move(function)) {}
  Status run(void *const *operands) override {
    function(operands);
    return Status::success();
  }

private:
  Function function;
};

using VariantResult = Result<std::unique_ptr<Variant>>;

template <typename Function> VariantResult makeVariant(Function function) {
  return std::unique_ptr<Variant>(
      std::make_unique<FunctionVariant<Function>>(std::move(function)));
}

class CpuKernel : public Kernel {
public:
  CpuKernel(CpuEngine &engine, KernelSpec spec);
  Status execute(void *const *operands, const int64_t *dims) final;

protected:
  /// Called once for each set of sizes; may throw what the library throws.
  virtual VariantResult prepare(const std::vector<Shape> &shapes) = 0;

  /// The descriptor of an operand in the layout that the attributes give it.
  Result<dnnl::memory::desc> describeOperand(
      const std::vector<Shape> &shapes, size_t operand,
      dnnl::memory::data_type type = dnnl::memory::data_type::f32) const;
  /// Fills the operands from `firstOutput` on with zeros.
  VariantResult zeroOutputs(const std::vector<Shape> &shapes,
                            size_t firstOutput);
  /// Error that names the node and the kind.
  Status error(std::string message) const;
  Status shapeError(const std::vector<Shape> &shapes, std::string why) const;

  CpuEngine &engine;
  const std::string where;

private:
  struct Prepared {
    std::vector<int64_t> dims;
    std::unique_ptr<Variant> variant;
  };
  VariantResult prepareGuarded(const int64_t *dims);

  std::vector<int> ranks;
  std::vector<std::string> layouts;
  size_t sizes = 0;
  std::vector<Prepared> prepared;
};

int64_t elementsOf(const Shape &shape);
std::string toString(const Shape &shape);
bool anyEmpty(const std::vector<Shape> &shapes);

} // namespace hpcc::runtime::cpu

#endif // HPCC_RUNTIME_CPU_CPUKERNEL_H
