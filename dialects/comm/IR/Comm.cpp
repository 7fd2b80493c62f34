// SPDX-License-Identifier: Apache-2.0
// Registration of the comm dialect and what its collectives share.
#include "dialects/comm/IR/Comm.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hpcc::comm;

#include "dialects/comm/IR/CommDialect.cpp.inc"

#include "dialects/comm/IR/CommEnums.cpp.inc"

#include "dialects/comm/IR/CommInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/comm/IR/CommTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/comm/IR/Comm.cpp.inc"

namespace {
struct CommInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void CommDialect::initialize() {
  addInterfaces<CommInliner>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/comm/IR/CommTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/comm/IR/Comm.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

LogicalResult hpcc::comm::verifyCollective(CollectiveOpInterface op) {
  Kind kind = op.getKind();
  auto destination = cast<ShapedType>(op.getDestination().getType());
  if ((kind == Kind::Broadcast || kind == Kind::Reduce) != bool(op.getRoot()))
    return op->emitOpError()
           << (op.getRoot() ? "has no root" : "needs a root worker");
  if ((kind == Kind::AllGatherInPlace) == bool(op.getSource()))
    return op->emitOpError()
           << (op.getSource() ? "takes no source" : "needs a source");
  if (op.getDim() < 0 ||
      op.getDim() >= std::max<int64_t>(destination.getRank(), 1))
    return op->emitOpError() << "lays parts out along dim " << op.getDim()
                             << " of a value of rank " << destination.getRank();
  if (Value source = op.getSource()) {
    auto type = cast<ShapedType>(source.getType());
    if (type.getElementType() != destination.getElementType() ||
        type.getRank() != destination.getRank())
      return op->emitOpError()
             << "source " << type << " and destination " << destination
             << " differ in element type or rank";
  }
  for (Value result : op->getResults())
    if (result.getType() != op.getDestination().getType() &&
        isa<RankedTensorType>(result.getType()))
      return op->emitOpError() << "result type differs from the destination's";
  return success();
}

bool hpcc::comm::readsOperand(CollectiveOpInterface op, OpOperand &operand) {
  if (operand.get() == op.getSource() && operand.getOperandNumber() == 0)
    return true;
  // Workers that are not the root keep what the destination held.
  return operand.get() == op.getDestination() &&
         (op.getKind() == Kind::Reduce ||
          op.getKind() == Kind::AllGatherInPlace);
}

LogicalResult hpcc::comm::bufferizeCollective(
    CollectiveOpInterface op, RewriterBase &rewriter,
    const bufferization::BufferizationOptions &options,
    bufferization::BufferizationState &state) {
  SmallVector<Value> operands;
  Value destination;
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      operands.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer =
        bufferization::getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    operands.push_back(*buffer);
    if (operand == op.getDestination())
      destination = *buffer;
  }
  OperationState copy(op.getLoc(), op->getName(), operands, TypeRange{},
                      op->getDiscardableAttrDictionary().getValue());
  copy.propertiesAttr = op->getPropertiesAsAttribute();
  rewriter.create(copy);
  bufferization::replaceOpWithBufferizedValues(rewriter, op.getOperation(),
                                               destination);
  return success();
}

void hpcc::comm::collectiveEffects(
    CollectiveOpInterface op,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (readsOperand(op, operand))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (operand.get() == op.getDestination() &&
        !(operand.getOperandNumber() == 0 && op.getSource()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
  effects.emplace_back(MemoryEffects::Write::get(), ChannelResource::get());
}

void StartOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  collectiveEffects(*this, effects);
}

void WaitOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &source : getSourceMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &source);
  effects.emplace_back(MemoryEffects::Write::get(), &getDestinationMutable());
  effects.emplace_back(MemoryEffects::Write::get(), ChannelResource::get());
}
