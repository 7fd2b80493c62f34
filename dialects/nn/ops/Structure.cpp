// SPDX-License-Identifier: Apache-2.0
// Parameters, the head region, batch arithmetic, library calls.
#include "dialects/nn/IR/NN.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "runtime/include/hpcc/sharding.h"

using namespace mlir;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

static bool isRole(StringRef role) {
  return llvm::is_contained({"weight", "bias", "norm_scale", "norm_bias",
                             "running_mean", "running_var", "other"},
                            role);
}

LogicalResult ParameterOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape())
    return emitOpError() << "expects a static tensor type, got " << getType();
  if (!isRole(getRole()))
    return emitOpError() << "unknown role \"" << getRole() << "\"";
  if (getTransposed() && type.getRank() != 2)
    return emitOpError() << "transposed parameters have rank 2, got "
                         << type.getRank();
  return success();
}

LogicalResult LoadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter = symbols.lookupNearestSymbolFrom<ParameterOp>(
      getOperation(), getParameterAttr());
  if (!parameter)
    return emitOpError() << "no parameter " << getParameterAttr();
  if (parameter.getType() != getType()) {
    InFlightDiagnostic diag = emitOpError() << "loads " << getType()
                                            << " from a parameter of "
                                            << "type " << parameter.getType();
    diag.attachNote(parameter.getLoc()) << "parameter declared here";
    return diag;
  }
  return success();
}

LogicalResult HeadOp::verify() {
  Block &body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield)
    return emitOpError() << "body must end in nn.yield";
  SmallVector<Type> expected(getRows().getTypes());
  llvm::append_range(expected, getCarry().getTypes());
  if (!llvm::equal(body.getArgumentTypes(), expected))
    return emitOpError()
           << "body arguments must have the types of rows, then carry";
  if (yield.getCarry().getTypes() != getCarry().getTypes())
    return emitOpError() << "body must yield a new value for each carry";
  if (!llvm::equal(yield->getOperandTypes(), getResultTypes()))
    return emitOpError() << "results must have the types of the yielded values";
  for (Type type : yield.getSums().getTypes())
    if (!cast<RankedTensorType>(type).hasStaticShape())
      return emitOpError() << "a sum has a static shape, got " << type;
  return success();
}

static FailureOr<hpcc::sharding::Scheme> parseScheme(StringRef scheme) {
  if (scheme == "a")
    return hpcc::sharding::Scheme::a;
  if (scheme == "b")
    return hpcc::sharding::Scheme::b;
  if (scheme == "c")
    return hpcc::sharding::Scheme::c;
  return failure();
}

LogicalResult ChunkOp::verify() {
  if (failed(parseScheme(getScheme())))
    return emitOpError() << "scheme must be a, b or c, got \"" << getScheme()
                         << "\"";
  if (getWorkers() < 1 || getBatch() < 1 || getFcBatch() < 0)
    return emitOpError() << "workers and batch must be positive, fc_batch must "
                            "not be negative";
  return success();
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

void ExamplesOp::populateBoundsForIndexValue(Value value,
                                             ValueBoundsConstraintSet &cstr) {
  int64_t perWorker =
      hpcc::sharding::ceilDiv(getBatch(), std::max<int64_t>(getWorkers(), 1));
  cstr.bound(value) >= 0;
  cstr.bound(value) <= (value == getCount() ? perWorker : int64_t(getBatch()));
}

void ShardOp::populateBoundsForIndexValue(Value value,
                                          ValueBoundsConstraintSet &cstr) {
  cstr.bound(value) >= 0;
  cstr.bound(value) <=
      (value == getSize() ? hpcc::sharding::ceilDiv(
                                getExtent(), std::max<int64_t>(getWorkers(), 1))
                          : int64_t(getExtent()));
}

void ChunkOp::populateBoundsForIndexValue(Value value,
                                          ValueBoundsConstraintSet &cstr) {
  FailureOr<sharding::Scheme> scheme = parseScheme(getScheme());
  if (failed(scheme))
    return;
  int64_t workers = getWorkers(), batch = getBatch(), fcBatch = getFcBatch();
  sharding::ChunkBounds bounds =
      sharding::chunkBounds({*scheme, workers, batch, fcBatch});
  if (value == getRoot()) {
    cstr.bound(value) >= -1;
    cstr.bound(value) <= workers - 1;
    return;
  }
  cstr.bound(value) >= 0;
  if (value == getCount())
    cstr.bound(value) <= bounds.count;
  else if (value == getTotal())
    cstr.bound(value) <= bounds.total;
  else
    cstr.bound(value) <= batch;
}

//===----------------------------------------------------------------------===//
// Bufferize
//===----------------------------------------------------------------------===//

bool PrimitiveOp::bufferizesToMemoryRead(OpOperand &operand,
                                         const bufferization::AnalysisState &) {
  return !isDpsInit(&operand) ||
         (accumulates() && operand.get() == getOutputs()[0]);
}

bool PrimitiveOp::bufferizesToMemoryWrite(
    OpOperand &operand, const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList
PrimitiveOp::getAliasingValues(OpOperand &operand,
                               const bufferization::AnalysisState &) {
  if (!isDpsInit(&operand))
    return {};
  return {
      {getTiedOpResult(&operand), bufferization::BufferRelation::Equivalent}};
}

LogicalResult
PrimitiveOp::bufferize(RewriterBase &rewriter,
                       const bufferization::BufferizationOptions &options,
                       bufferization::BufferizationState &state) {
  auto buffersOf = [&](ValueRange values) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> buffers;
    for (Value value : values) {
      if (!isa<TensorType>(value.getType())) {
        buffers.push_back(value);
        continue;
      }
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    return buffers;
  };
  FailureOr<SmallVector<Value>> inputs = buffersOf(getInputs());
  FailureOr<SmallVector<Value>> outputs = buffersOf(getOutputs());
  if (failed(inputs) || failed(outputs))
    return failure();
  auto buffered =
      PrimitiveOp::create(rewriter, getLoc(), TypeRange{}, getKind(), *inputs,
                          *outputs, getParams());
  buffered->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  bufferization::replaceOpWithBufferizedValues(rewriter, getOperation(),
                                               *outputs);
  return success();
}

void PrimitiveOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    bool output = isDpsInit(&operand);
    if (!output || (accumulates() && operand.get() == getOutputs()[0]))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (output)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}
