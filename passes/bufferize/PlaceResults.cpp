// SPDX-License-Identifier: Apache-2.0
// Results that are inserted into a larger tensor are computed where they will
// lie, so that bufferization needs no copy.
#include "mlir/IR/Dominance.h"
#include "passes/Passes.h"

namespace hpcc {
#define GEN_PASS_DEF_BUFFERIZEPLACERESULTS
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

/// The fresh destination that `value` is computed into; null where it is
/// computed otherwise or has other uses.
static OpOperand *freshDestination(Value value) {
  auto op = value.getDefiningOp<DestinationStyleOpInterface>();
  if (!op || !value.hasOneUse())
    return nullptr;
  OpOperand *init = op.getTiedOpOperand(cast<OpResult>(value));
  return init->get().getDefiningOp<tensor::EmptyOp>() ? init : nullptr;
}

static void place(tensor::InsertSliceOp insert,
                  const DominanceInfo &dominance) {
  auto collapse = insert.getSource().getDefiningOp<tensor::CollapseShapeOp>();
  if (collapse && !collapse->hasOneUse())
    return;
  OpOperand *init =
      freshDestination(collapse ? collapse.getSrc() : insert.getSource());
  if (!init || !dominance.properlyDominates(insert.getDest(), init->getOwner()))
    return;
  // Offsets that are computed later than the result cannot be asked for.
  for (Value operand : insert->getOperands().drop_front(2))
    if (!dominance.properlyDominates(operand, init->getOwner()))
      return;
  auto type = cast<RankedTensorType>(init->get().getType());
  if (collapse && !type.hasStaticShape())
    return;
  OpBuilder b(init->getOwner());
  Value part = tensor::ExtractSliceOp::create(
      b, insert.getLoc(), insert.getSourceType(), insert.getDest(),
      insert.getMixedOffsets(), insert.getMixedSizes(),
      insert.getMixedStrides());
  if (collapse)
    part = tensor::ExpandShapeOp::create(b, insert.getLoc(), type, part,
                                         collapse.getReassociationIndices());
  init->set(part);
}

namespace {
struct PlaceResults : hpcc::impl::BufferizePlaceResultsBase<PlaceResults> {
  void runOnOperation() override {
    auto &dominance = getAnalysis<DominanceInfo>();
    getOperation()->walk(
        [&](tensor::InsertSliceOp insert) { place(insert, dominance); });
  }
};
} // namespace
