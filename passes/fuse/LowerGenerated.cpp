// SPDX-License-Identifier: Apache-2.0
// The driver of LoweringOpInterface for generated ops. A walk and not the
// greedy rewriter: every lowering applies exactly once, and one that fails has
// said why.
#include "passes/Passes.h"

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCFUSELOWERGENERATED
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
SmallVector<LoweringOpInterface> generatedOps(ModuleOp module) {
  SmallVector<LoweringOpInterface> ops;
  module.walk([&](LoweringOpInterface op) {
    if (!op.isLibraryOp())
      ops.push_back(op);
  });
  return ops;
}

struct LowerGenerated : hpcc::impl::HpccFuseLowerGeneratedBase<LowerGenerated> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // A lowering may make generated ops: a loss is lowered to its pieces.
    for (auto ops = generatedOps(getOperation()); !ops.empty();
         ops = generatedOps(getOperation()))
      for (LoweringOpInterface op : ops) {
        rewriter.setInsertionPoint(op);
        if (failed(op.lower(rewriter)))
          return signalPassFailure();
      }
  }
};
} // namespace
