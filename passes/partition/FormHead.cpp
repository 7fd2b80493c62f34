// SPDX-License-Identifier: Apache-2.0
// Moves the ops placed `model` into one nn.head region per function.
#include "passes/Passes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCPARTITIONFORMHEAD
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
constexpr llvm::StringLiteral kPlacement = "nn.placement";

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

bool hasRows(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && type.isDynamicDim(0);
}

/// What crosses the border of a set of ops of one block.
struct Border {
  llvm::SetVector<Value> rows;                // in: a row per example
  SmallVector<std::pair<Value, Value>> carry; // argument, its new value
  SmallVector<Value> sums, grads;             // out

  explicit Border(const llvm::SetVector<Operation *> &head) {
    llvm::SetVector<Value> updated;
    for (Operation *op : head) {
      for (Value operand : op->getOperands())
        if (!head.contains(operand.getDefiningOp()) && hasRows(operand))
          rows.insert(operand);
      if (op->hasTrait<UpdateTrait>()) {
        // Result i replaces operand i; frozen at the update's own order.
        for (auto [result, operand] :
             llvm::zip(op->getResults(), op->getOperands())) {
          carry.push_back({operand, result});
          updated.insert(result);
        }
        continue;
      }
      for (Value result : op->getResults()) {
        bool used = llvm::any_of(result.getUsers(), [&](Operation *user) {
          return !head.contains(user);
        });
        if (used)
          (hasRows(result) ? grads : sums).push_back(result);
      }
    }
  }
};

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

void formHead(func::FuncOp function) {
  Block &block = function.getBody().front();
  llvm::SetVector<Operation *> head;
  for (Operation &op : block.without_terminator()) {
    auto placement = op.getAttrOfType<StringAttr>(kPlacement);
    if (placement && placement.getValue() == "model")
      head.insert(&op);
  }
  if (head.empty())
    return;

  Border border(head);
  SmallVector<Value> carry, newCarry;
  for (auto [value, updated] : border.carry) {
    carry.push_back(value);
    newCarry.push_back(updated);
  }
  SmallVector<Type> resultTypes;
  for (Value value : llvm::concat<Value>(border.sums, border.grads, newCarry))
    resultTypes.push_back(value.getType());

  // At the end of the block first; the sort puts it in front of its users.
  OpBuilder builder(block.getTerminator());
  auto op = nn::HeadOp::create(builder, function.getLoc(), resultTypes,
                               border.rows.getArrayRef(), carry);
  op->setAttr(kPlacement, builder.getStringAttr("model"));
  Block *body = builder.createBlock(&op.getBody());
  for (Value operand : op->getOperands())
    body->addArgument(operand.getType(), operand.getLoc());
  for (auto [index, value] : llvm::enumerate(
           llvm::concat<Value>(border.sums, border.grads, newCarry))) {
    Value result = op->getResult(index);
    value.replaceUsesWithIf(
        result, [&](OpOperand &use) { return !head.contains(use.getOwner()); });
  }
  builder.setInsertionPointToEnd(body);
  nn::YieldOp::create(builder, function.getLoc(), border.sums, border.grads,
                      newCarry);
  for (Operation *inner : head)
    inner->moveBefore(body->getTerminator());
  for (auto [operand, argument] :
       llvm::zip(op->getOperands(), body->getArguments()))
    operand.replaceUsesWithIf(argument, [&](OpOperand &use) {
      return op->isProperAncestor(use.getOwner());
    });
  sortTopologically(&block);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct FormHead : hpcc::impl::HpccPartitionFormHeadBase<FormHead> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        formHead(function);
  }
};
} // namespace
