// SPDX-License-Identifier: Apache-2.0
// Library ops become nn.primitive, each by its own rule.
#include "passes/Passes.h"

namespace hpcc {
#define GEN_PASS_DEF_BUFFERIZELOWERLIBRARY
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

namespace {
struct LowerLibrary : hpcc::impl::BufferizeLowerLibraryBase<LowerLibrary> {
  void runOnOperation() override {
    SmallVector<LoweringOpInterface> ops;
    getOperation()->walk([&](LoweringOpInterface op) {
      if (op.isLibraryOp())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (LoweringOpInterface op : ops) {
      rewriter.setInsertionPoint(op);
      if (failed(op.lower(rewriter)))
        return signalPassFailure();
    }
  }
};
} // namespace
