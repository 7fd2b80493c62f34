// SPDX-License-Identifier: Apache-2.0
// Retargets the destination of elementwise ops to an operand that dies there.
// On tensors this only states a wish: bufferization keeps values apart where
// it finds that they must be.
#include "passes/Passes.h"

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCFUSEREUSEOPERANDS
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
/// Computed into memory of its own: a library op, or a linalg op whose
/// destination is fresh.
bool isFresh(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto lowering = dyn_cast_or_null<LoweringOpInterface>(op))
    return lowering.isLibraryOp();
  if (auto generic = dyn_cast_or_null<linalg::LinalgOp>(op)) {
    Value init = generic.getDpsInits()[cast<OpResult>(value).getResultNumber()];
    return init.getDefiningOp<tensor::EmptyOp>() || isFresh(init);
  }
  return false;
}

/// Whether the use is the only one of its value's elements.
bool isOnlyUse(OpOperand &use) {
  return llvm::all_of(use.get().getUses(), [&](OpOperand &other) {
    return &other == &use || isa<tensor::DimOp>(other.getOwner());
  });
}

/// A value that a loop carries from pass to pass and that this result
/// replaces. Written elsewhere, it would have to be copied back every time.
bool isReplacedInLoop(Value carried, Value result) {
  auto argument = dyn_cast<BlockArgument>(carried);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  if (!loop || argument == loop.getInductionVar())
    return false;
  OpOperand *yielded = loop.getTiedLoopYieldedValue(argument);
  return yielded && yielded->get() == result;
}

/// The input whose place the op may write.
OpOperand *findDyingInput(linalg::GenericOp op, OpOperand &init) {
  AffineMap map = op.getMatchingIndexingMap(&init);
  if (!map.isIdentity() || op.getNumReductionLoops() != 0 ||
      !init.get().getDefiningOp<tensor::EmptyOp>() ||
      op.payloadUsesValueFromOperand(&init))
    return nullptr;
  Value result = op.getTiedOpResult(&init);
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get().getType() == init.get().getType() &&
        op.getMatchingIndexingMap(input) == map && isOnlyUse(*input) &&
        isReplacedInLoop(input->get(), result))
      return input;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get().getType() == init.get().getType() &&
        op.getMatchingIndexingMap(input) == map && isOnlyUse(*input) &&
        input->get().getParentBlock() == op->getBlock() &&
        isFresh(input->get()))
      return input;
  return nullptr;
}

struct ReuseOperands : hpcc::impl::HpccFuseReuseOperandsBase<ReuseOperands> {
  void runOnOperation() override {
    getOperation().walk([](linalg::GenericOp op) {
      if (op.getNumDpsInits() != 1)
        return;
      OpOperand &init = op.getDpsInitsMutable()[0];
      if (OpOperand *input = findDyingInput(op, init))
        init.set(input->get());
    });
  }
};
} // namespace
