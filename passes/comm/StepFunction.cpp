// SPDX-License-Identifier: Apache-2.0
#include "passes/comm/StepFunction.h"

using namespace mlir;
using namespace hpcc;

static constexpr llvm::StringLiteral kArg = "nn.arg";

Attribute StepFunction::argEntry(unsigned index, StringRef key) const {
  auto dict =
      func::FuncOp(function).getArgAttrOfType<DictionaryAttr>(index, kArg);
  return dict ? dict.get(key) : Attribute();
}

StringRef StepFunction::argKind(unsigned index) const {
  auto kind = dyn_cast_or_null<StringAttr>(argEntry(index, "kind"));
  return kind ? kind.getValue() : StringRef();
}

StringRef StepFunction::parameter(unsigned index) const {
  Attribute entry = argEntry(index, "parameter");
  if (auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(entry))
    return symbol.getValue();
  auto name = dyn_cast_or_null<StringAttr>(entry);
  return name ? name.getValue() : StringRef();
}

void StepFunction::setArgEntries(unsigned index,
                                 ArrayRef<NamedAttribute> entries) {
  NamedAttrList list;
  if (auto dict = function.getArgAttrOfType<DictionaryAttr>(index, kArg))
    list.append(dict.getValue());
  for (NamedAttribute entry : entries)
    list.set(entry.getName(), entry.getValue());
  function.setArgAttr(index, kArg, list.getDictionary(function.getContext()));
}

Value StepFunction::argument(StringRef kind) const {
  for (BlockArgument argument :
       func::FuncOp(function).getBody().front().getArguments())
    if (argKind(argument.getArgNumber()) == kind)
      return argument;
  func::FuncOp(function).emitError()
      << "has no argument of kind \"" << kind << "\" (nn.arg)";
  return {};
}

Value StepFunction::examplesOf(bool allWorkers) {
  Value &value = allWorkers ? all : local;
  if (value)
    return value;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  Value rank = argument("rank");
  if (allWorkers)
    rank = arith::ConstantIndexOp::create(builder, function.getLoc(), 0);
  value = nn::ExamplesOp::create(
              builder, function.getLoc(), argument("examples"), rank,
              allWorkers ? 1 : options.workers, options.batch)
              .getCount();
  return value;
}

void StepFunction::updateType() {
  Block &block = function.getBody().front();
  function.setFunctionType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
}

std::pair<Value, Value> StepFunction::shardOf(int64_t extent) {
  auto &entry = shards[extent];
  if (!entry.first) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    auto op = nn::ShardOp::create(builder, function.getLoc(), argument("rank"),
                                  extent, options.workers);
    entry = {op.getOffset(), op.getSize()};
  }
  return entry;
}

DictionaryAttr StepFunction::segment(Builder &builder, StringRef parameter,
                                     int64_t offset, ArrayRef<int64_t> shape) {
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("parameter", builder.getStringAttr(parameter)),
       builder.getNamedAttr("offset", builder.getI64IntegerAttr(offset)),
       builder.getNamedAttr("shape", builder.getI64ArrayAttr(shape))});
}

Value hpcc::emptyTensor(OpBuilder &builder, Location loc, RankedTensorType type,
                        ValueRange dynamic) {
  return tensor::EmptyOp::create(builder, loc, type, dynamic);
}

Value hpcc::zeroTensor(OpBuilder &builder, Location loc, RankedTensorType type,
                       ValueRange dynamic) {
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  return linalg::FillOp::create(builder, loc, zero,
                                emptyTensor(builder, loc, type, dynamic))
      .getResult(0);
}

SmallVector<OpFoldResult> hpcc::extentsOf(OpBuilder &builder, Location loc,
                                          Value value) {
  return tensor::getMixedSizes(builder, loc, value);
}

Value hpcc::sliceDim(OpBuilder &builder, Location loc, Value value, int64_t dim,
                     OpFoldResult offset, OpFoldResult size) {
  SmallVector<OpFoldResult> sizes = extentsOf(builder, loc, value);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  offsets[dim] = offset;
  sizes[dim] = size;
  return tensor::ExtractSliceOp::create(builder, loc, value, offsets, sizes,
                                        strides);
}

Value hpcc::insertDim(OpBuilder &builder, Location loc, Value part, Value into,
                      int64_t dim, OpFoldResult offset) {
  SmallVector<OpFoldResult> sizes = extentsOf(builder, loc, part);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  offsets[dim] = offset;
  return tensor::InsertSliceOp::create(builder, loc, part, into, offsets, sizes,
                                       strides);
}

Value hpcc::accumulate(OpBuilder &builder, Location loc, Value into,
                       Value value) {
  auto type = cast<RankedTensorType>(into.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, type, value, into,
             ArrayRef<AffineMap>{identity, identity}, parallel,
             [](OpBuilder &inner, Location at, ValueRange args) {
               Value sum = arith::AddFOp::create(inner, at, args[1], args[0]);
               linalg::YieldOp::create(inner, at, sum);
             })
      .getResult(0);
}

Value hpcc::ratio(OpBuilder &builder, Location loc, Value a, Value b) {
  auto toFloat = [&](Value index) -> Value {
    Value integer =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
    return arith::SIToFPOp::create(builder, loc, builder.getF32Type(), integer);
  };
  return arith::DivFOp::create(builder, loc, toFloat(a), toFloat(b));
}
