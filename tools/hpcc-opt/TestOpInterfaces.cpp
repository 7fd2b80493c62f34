// SPDX-License-Identifier: Apache-2.0
// A test pass: walks every registered nn op and fails, naming the op, where it
// neither has an interface nor opts out of it. With `markdown` it prints the
// table of docs/generated/SupportedOps.md.
#include "tools/hpcc-opt/TestPasses.h"

#include "dialects/nn/IR/NN.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace hpcc;

namespace {
/// One thing an op must say something about.
struct Concern {
  const char *title;
  const char *optOutName;
  bool (*has)(RegisteredOperationName);
  bool (*optsOut)(RegisteredOperationName);
};

template <typename Interface, template <typename> class OptOut>
Concern concern(const char *title, const char *optOutName) {
  return {
      title, optOutName,
      [](RegisteredOperationName op) { return op.hasInterface<Interface>(); },
      [](RegisteredOperationName op) { return op.hasTrait<OptOut>(); }};
}

struct TestOpInterfaces
    : PassWrapper<TestOpInterfaces, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestOpInterfaces)
  TestOpInterfaces() = default;
  TestOpInterfaces(const TestOpInterfaces &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "hpcc-test-op-interfaces"; }
  StringRef getDescription() const final {
    return "Check that every nn op has each interface or opts out of it";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<nn::NNDialect>();
  }

  void runOnOperation() final {
    const Concern concerns[] = {
        concern<DifferentiableOpInterface, NotDifferentiable>(
            "gradient", "NotDifferentiable"),
        concern<PartitionableOpInterface, ReplicatedOnly>("on shards",
                                                          "ReplicatedOnly"),
        concern<LoweringOpInterface, NoLowering>("lowering", "NoLowering"),
        concern<CostOpInterface, NoCost>("cost", "NoCost")};
    SmallVector<RegisteredOperationName> ops;
    for (RegisteredOperationName op : getContext().getRegisteredOperations())
      if (op.getDialectNamespace() == "nn")
        ops.push_back(op);
    if (ops.empty()) {
      getOperation().emitError() << "the nn dialect has no registered op";
      return signalPassFailure();
    }
    llvm::sort(ops, [](auto a, auto b) {
      return a.getStringRef() < b.getStringRef();
    });
    bool ok = true;
    for (RegisteredOperationName op : ops)
      for (const Concern &it : concerns)
        if (it.has(op) == it.optsOut(op)) {
          getOperation().emitError()
              << "`" << op.getStringRef() << "` "
              << (it.has(op) ? "has both the interface and the trait "
                             : "has neither the interface nor the trait ")
              << it.optOutName << " (" << it.title << ")";
          ok = false;
        }
    if (markdown)
      print(ops, concerns);
    if (!ok)
      signalPassFailure();
  }

  static void print(ArrayRef<RegisteredOperationName> ops,
                    ArrayRef<Concern> concerns) {
    llvm::outs() << "# Operators of the nn dialect\n\n"
                 << "Made by `hpcc-opt --hpcc-test-op-interfaces=markdown`.\n\n"
                 << "| op |";
    for (const Concern &it : concerns)
      llvm::outs() << " " << it.title << " |";
    llvm::outs() << "\n| --- |";
    for (size_t i = 0; i < concerns.size(); ++i)
      llvm::outs() << " --- |";
    llvm::outs() << "\n";
    for (RegisteredOperationName op : ops) {
      llvm::outs() << "| `" << op.getStringRef() << "` |";
      for (const Concern &it : concerns)
        llvm::outs() << (it.has(op) ? " yes |" : " - |");
      llvm::outs() << "\n";
    }
  }

  Option<bool> markdown{*this, "markdown",
                        llvm::cl::desc("Print the table of all ops")};
};
} // namespace

void hpcc::registerTestPasses() { PassRegistration<TestOpInterfaces>(); }
