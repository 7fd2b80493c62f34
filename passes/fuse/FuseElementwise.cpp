// SPDX-License-Identifier: Apache-2.0
// Elementwise fusion by upstream's patterns. What is ours is when to fuse: a
// producer that several ops need is computed again only where it reads nothing
// large, and in-place updates stay as they are.
#include "passes/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCFUSEELEMENTWISE
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
/// Reads what it overwrites, without reducing: an update in place.
bool updatesInPlace(linalg::LinalgOp op) {
  return op.getNumReductionLoops() == 0 &&
         llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return op.payloadUsesValueFromOperand(&init);
         });
}

/// Computes its values from nothing of the result's size, so that computing
/// them again neither costs a read nor keeps a large value alive (a forward
/// activation computed again in the backward pass would keep its input).
bool readsNothingLarge(linalg::LinalgOp op) {
  int64_t loops = op.getNumLoops();
  return llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return static_cast<int64_t>(
               op.getMatchingIndexingMap(input).getNumResults()) == loops;
  });
}

bool shouldFuse(OpOperand *consumed) {
  auto producer = consumed->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(consumed->getOwner());
  if (!producer || !consumer || updatesInPlace(producer) ||
      updatesInPlace(consumer))
    return false;
  return producer->hasOneUse() || readsNothingLarge(producer);
}

struct FuseElementwise : hpcc::impl::HpccFuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::DimOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
