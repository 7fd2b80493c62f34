// SPDX-License-Identifier: Apache-2.0
// Physical layouts of images. Every library op with images is wrapped into
// reorders first, then reorders move through pointwise ops and cancel: simpler
// than solving for the layout of each value, and the result is the same where
// all library ops of a chain want the same block, which the target's single
// block size gives.
#include "passes/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCLAYOUTBLOCKIMAGES
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
constexpr llvm::StringLiteral kLayouts = "nn.layouts";
constexpr llvm::StringLiteral kPlain = "nchw";

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

std::string blockedLayout(int64_t block) {
  return "nChw" + std::to_string(block) + "c";
}

/// An image whose channels can be blocked: the blocked type, else null.
RankedTensorType blockedType(Type type, int64_t block) {
  auto image = dyn_cast<RankedTensorType>(type);
  if (!image || image.getRank() != 4 || !image.isDynamicDim(0) ||
      image.isDynamicDim(1) || image.getDimSize(1) % block != 0)
    return {};
  ArrayRef<int64_t> shape = image.getShape();
  return RankedTensorType::get(
      {shape[0], shape[1] / block, shape[2], shape[3], block},
      image.getElementType());
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

Value reorder(OpBuilder &builder, Location loc, Value value,
              RankedTensorType type, StringRef from, StringRef to) {
  return builder.createOrFold<nn::ReorderOp>(loc, type, value, from, to);
}

/// Puts a library op between reorders.
void blockOp(Operation *op, int64_t block, OpBuilder &builder) {
  std::string blocked = blockedLayout(block);
  SmallVector<Attribute> layouts;
  auto note = [&](bool isBlocked) {
    layouts.push_back(builder.getStringAttr(isBlocked ? blocked : ""));
  };
  builder.setInsertionPoint(op);
  bool any = false;
  for (OpOperand &operand : op->getOpOperands()) {
    RankedTensorType type = blockedType(operand.get().getType(), block);
    note(bool(type));
    if (!type)
      continue;
    any = true;
    operand.set(
        reorder(builder, op->getLoc(), operand.get(), type, kPlain, blocked));
  }
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    RankedTensorType type = blockedType(result.getType(), block);
    note(bool(type));
    if (!type)
      continue;
    any = true;
    auto plain = cast<RankedTensorType>(result.getType());
    result.setType(type);
    // The winners of a pool have no use but its gradient, which has the same
    // layout; they are never reordered.
    if (!plain.getElementType().isF32()) {
      continue;
    }
    auto back = nn::ReorderOp::create(builder, op->getLoc(), plain, result,
                                      blocked, kPlain);
    result.replaceAllUsesExcept(back.getY(), back);
  }
  if (any)
    op->setAttr(kLayouts, builder.getArrayAttr(layouts));
}

/// pointwise(reorder(x)...) -> reorder(pointwise(x...)).
struct SinkReorder : RewritePattern {
  SinkReorder(MLIRContext *context, int64_t block)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context), block(block) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!op->hasTrait<PointwiseTrait>() || op->getNumResults() != 1)
      return failure();
    Type plain = op->getResult(0).getType();
    RankedTensorType type = blockedType(plain, block);
    if (!type)
      return rewriter.notifyMatchFailure(op, "not an image that is blocked");
    bool found = false;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType()))
        continue;
      // A broadcast operand would need its own layout.
      if (operand.getType() != plain)
        return rewriter.notifyMatchFailure(op, "operands of several shapes");
      auto producer = operand.getDefiningOp<nn::ReorderOp>();
      found |= producer && producer.getTo() == kPlain;
    }
    if (!found)
      return rewriter.notifyMatchFailure(op, "no operand is blocked");
    std::string blocked = blockedLayout(block);
    IRMapping map;
    for (Value operand : op->getOperands())
      if (isa<TensorType>(operand.getType()))
        map.map(operand, reorder(rewriter, op->getLoc(), operand, type, kPlain,
                                 blocked));
    Operation *copy = rewriter.clone(*op, map);
    copy->getResult(0).setType(type);
    rewriter.replaceOpWithNewOp<nn::ReorderOp>(op, plain, copy->getResult(0),
                                               blocked, kPlain);
    return success();
  }

  int64_t block;
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct BlockImages : hpcc::impl::HpccLayoutBlockImagesBase<BlockImages> {
  using HpccLayoutBlockImagesBase::HpccLayoutBlockImagesBase;
  void runOnOperation() override {
    if (block <= 1)
      return;
    SmallVector<Operation *> images;
    getOperation()->walk([&](Operation *op) {
      if (op->hasTrait<ImageTrait>())
        images.push_back(op);
    });
    OpBuilder builder(&getContext());
    for (Operation *op : images)
      blockOp(op, block, builder);
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkReorder>(&getContext(), block);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      int64_t left = 0;
      function.walk([&](nn::ReorderOp) { ++left; });
      if (left)
        function.emitRemark()
            << left << " reorders of images remain in @" << function.getName();
    }
  }
};
} // namespace
