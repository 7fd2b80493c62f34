// SPDX-License-Identifier: Apache-2.0
// Elementwise fusion by upstream's patterns. What is ours is when to fuse: a
// producer that several ops need is computed again only if that is cheap, and
// in-place updates stay as they are.
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

/// Recomputing costs at most a read of one value and simple arithmetic.
bool isCheap(linalg::LinalgOp op) {
  int64_t loops = op.getNumLoops(), large = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    large += op.getMatchingIndexingMap(input).getNumResults() == loops;
  if (large > 1)
    return false;
  auto &body = op->getRegion(0).front();
  return llvm::range_size(body) <= 4 &&
         llvm::none_of(body, [](Operation &inner) {
           return isa<math::MathDialect>(inner.getDialect()) ||
                  isa<arith::DivFOp>(inner);
         });
}

bool shouldFuse(OpOperand *consumed) {
  auto producer = consumed->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(consumed->getOwner());
  if (!producer || !consumer || updatesInPlace(producer) ||
      updatesInPlace(consumer))
    return false;
  return producer->hasOneUse() || isCheap(producer);
}

struct FuseElementwise
    : hpcc::impl::HpccFuseElementwiseBase<FuseElementwise> {
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
