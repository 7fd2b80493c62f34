// SPDX-License-Identifier: Apache-2.0
// Exporters write a layer's bias as an Add node of its own; hpcc's layers
// have it as an operand, which kernels and the placement of the head rely on.
#include "passes/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCNORMALIZEFOLDBIAS
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// The load behind a value, looking through reshapes.
nn::LoadOp findLoad(Value value) {
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getX();
  return value.getDefiningOp<nn::LoadOp>();
}

/// Whether `bias`, broadcast against a result of the given rank, differs only
/// along dimension `unitDim`, of `units` elements.
bool isPerUnit(RankedTensorType bias, int64_t rank, int64_t unitDim,
               int64_t units) {
  int64_t offset = rank - bias.getRank();
  if (!bias.hasStaticShape() || offset < 0 || unitDim < offset)
    return false;
  for (int64_t dim = 0; dim < bias.getRank(); ++dim)
    if (bias.getDimSize(dim) != (dim + offset == unitDim ? units : 1))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// add(layer(x, w), b) -> layer(x, w, b).
template <typename Layer> struct FoldBias : OpRewritePattern<nn::AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::AddOp add,
                                PatternRewriter &rewriter) const override {
    auto layer = add.getLhs().getDefiningOp<Layer>();
    Value bias = add.getRhs();
    if (!layer) {
      layer = add.getRhs().getDefiningOp<Layer>();
      bias = add.getLhs();
    }
    if (!layer)
      return rewriter.notifyMatchFailure(add, "no layer is added to");
    if (layer.getB())
      return rewriter.notifyMatchFailure(add, "the layer has a bias");
    if (!layer->hasOneUse())
      return rewriter.notifyMatchFailure(add, "the layer has other users");
    if (!findLoad(bias))
      return rewriter.notifyMatchFailure(add, "no parameter is added");
    auto type = cast<RankedTensorType>(layer.getType());
    int64_t unitDim =
        std::is_same_v<Layer, nn::ConvOp> ? 1 : type.getRank() - 1;
    int64_t units = type.getDimSize(unitDim);
    if (!isPerUnit(cast<RankedTensorType>(bias.getType()), type.getRank(),
                   unitDim, units))
      return rewriter.notifyMatchFailure(add, "not one element per unit");

    auto vector = RankedTensorType::get({units}, type.getElementType());
    if (bias.getType() != vector) {
      auto reshape =
          nn::ReshapeOp::create(rewriter, add.getLoc(), vector, bias);
      reshape->setAttrs(add->getDiscardableAttrDictionary());
      bias = reshape;
    }
    // The bias may be loaded behind the layer: the new one is at the add.
    auto fused = cast<Layer>(rewriter.clone(*layer));
    fused.getBMutable().assign(bias);
    fused->setLoc(rewriter.getFusedLoc({layer.getLoc(), add.getLoc()}));
    rewriter.replaceOp(add, fused->getResults());
    rewriter.eraseOp(layer);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct FoldBiasPass : hpcc::impl::HpccNormalizeFoldBiasBase<FoldBiasPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldBias<nn::LinearOp>, FoldBias<nn::ConvOp>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
