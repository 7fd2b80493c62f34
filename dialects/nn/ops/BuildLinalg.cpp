// SPDX-License-Identifier: Apache-2.0
// How the lowerings of the nn ops make linalg ops and library calls.
#include "dialects/nn/ops/BuildLinalg.h"

using namespace mlir;
using namespace hpcc::nn;

using Iterator = mlir::utils::IteratorType;

Value Lowering::extent(Value value, int64_t dim) {
  return b.createOrFold<tensor::DimOp>(value, dim);
}

OpFoldResult Lowering::mixedExtent(Value value, int64_t dim) {
  RankedTensorType type = tensorType(value);
  if (!type.isDynamicDim(dim))
    return b.getIndexAttr(type.getDimSize(dim));
  return extent(value, dim);
}

Value Lowering::empty(RankedTensorType type, ArrayRef<Extent> extents) {
  assert(static_cast<int64_t>(extents.size()) == type.getNumDynamicDims() &&
         "one extent per dynamic dimension");
  SmallVector<Value> sizes;
  for (Extent source : extents)
    sizes.push_back(extent(source.value, source.dim));
  return tensor::EmptyOp::create(b, type, sizes);
}

Value Lowering::emptyLike(Value like, Type type) {
  auto result = cast<RankedTensorType>(type ? type : like.getType());
  SmallVector<Extent> extents;
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    if (result.isDynamicDim(dim))
      extents.push_back({like, dim});
  return empty(result, extents);
}

Value Lowering::constant(Type type, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

Value Lowering::constantIndex(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value Lowering::fill(Value destination, double value) {
  Value scalar = constant(tensorType(destination).getElementType(), value);
  return linalg::FillOp::create(b, scalar, destination).getResult(0);
}

Value Lowering::toFloat(Value index, Type type) {
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), index);
  return arith::SIToFPOp::create(b, type, integer);
}

Value Lowering::weightPerExample(double weight, Value n) {
  return arith::DivFOp::create(b, constant(b.getF32Type(), weight),
                               toFloat(n, b.getF32Type()));
}

SmallVector<Value> Lowering::generic(ValueRange inputs, ValueRange destinations,
                                     ArrayRef<AffineMap> maps,
                                     ArrayRef<Iterator> iterators, Body body) {
  SmallVector<Type> types(destinations.getTypes());
  auto generic = linalg::GenericOp::create(
      b, types, inputs, destinations, maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        ImplicitLocOpBuilder inner(loc, builder);
        linalg::YieldOp::create(inner, body(inner, args));
      });
  for (NamedAttribute attr : op->getDiscardableAttrs())
    generic->setDiscardableAttr(attr.getName(), attr.getValue());
  return SmallVector<Value>(generic.getResults());
}

AffineMap hpcc::nn::broadcastMap(RankedTensorType from, RankedTensorType to) {
  MLIRContext *context = from.getContext();
  SmallVector<AffineExpr> exprs;
  int64_t lacking = to.getRank() - from.getRank();
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    bool broadcast =
        from.getDimSize(dim) == 1 && to.getDimSize(dim + lacking) != 1;
    exprs.push_back(broadcast ? getAffineConstantExpr(0, context)
                              : getAffineDimExpr(dim + lacking, context));
  }
  return AffineMap::get(to.getRank(), 0, exprs, context);
}

Value Lowering::elementwise(ValueRange inputs, Value destination, Body body) {
  RankedTensorType type = tensorType(destination);
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(broadcastMap(tensorType(input), type));
  maps.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<Iterator> iterators(type.getRank(), Iterator::parallel);
  return generic(inputs, destination, maps, iterators, body).front();
}

Value Lowering::copy(Value input, Value destination) {
  return linalg::CopyOp::create(b, input, destination).getResult(0);
}

Value Lowering::copyInto(Value input, Value destination,
                         ArrayRef<OpFoldResult> offsets) {
  // The slice is taken and put back so that the copy writes in place.
  RankedTensorType type = tensorType(input);
  SmallVector<OpFoldResult> sizes, strides(type.getRank(), b.getIndexAttr(1));
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(mixedExtent(input, dim));
  Value slice = tensor::ExtractSliceOp::create(b, type, destination, offsets,
                                               sizes, strides);
  return tensor::InsertSliceOp::create(b, copy(input, slice), destination,
                                       offsets, sizes, strides);
}

Value Lowering::sumRows(ValueRange inputs, Body term) {
  RankedTensorType type = tensorType(inputs.front());
  Type element = type.getElementType();
  int64_t rank = type.getRank();
  auto accumulate = [&](ImplicitLocOpBuilder &inner, ValueRange args) {
    Value sum =
        arith::AddFOp::create(inner, args.back(), term(inner, args).front());
    return SmallVector<Value>{sum};
  };
  // One accumulator per row keeps the rounding error at that of a row.
  auto rowType = RankedTensorType::get({type.getDimSize(0)}, element);
  Value rows = fill(emptyLike(inputs.front(), rowType), 0.0);
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(AffineMap::getMultiDimIdentityMap(rank, context())
                       .getMajorSubMap(tensorType(input).getRank()));
  maps.push_back(
      AffineMap::getMultiDimIdentityMap(rank, context()).getMajorSubMap(1));
  SmallVector<Iterator> iterators(rank, Iterator::reduction);
  iterators[0] = Iterator::parallel;
  rows = generic(inputs, rows, maps, iterators, accumulate).front();

  Value total = fill(empty(RankedTensorType::get({}, element), {}), 0.0);
  AffineMap row = b.getMultiDimIdentityMap(1);
  AffineMap scalar = AffineMap::get(1, 0, context());
  return generic(rows, total, {row, scalar}, {Iterator::reduction},
                 [](ImplicitLocOpBuilder &inner, ValueRange args) {
                   return SmallVector<Value>{
                       arith::AddFOp::create(inner, args[1], args[0])};
                 })
      .front();
}

ValueRange Lowering::primitive(StringRef kind, ValueRange inputs,
                               ValueRange outputs,
                               ArrayRef<StringRef> dropped) {
  SmallVector<NamedAttribute> params;
  DictionaryAttr discardable = op->getDiscardableAttrDictionary();
  for (NamedAttribute attr : op->getAttrs()) {
    StringRef name = attr.getName().getValue();
    if (!discardable.contains(name) && !llvm::is_contained(dropped, name) &&
        name != "operandSegmentSizes")
      params.push_back(attr);
  }
  if (Attribute layouts = discardable.get("nn.layouts"))
    params.push_back(b.getNamedAttr("layouts", layouts));
  auto primitive =
      PrimitiveOp::create(b, SmallVector<Type>(outputs.getTypes()), kind,
                          inputs, outputs, b.getDictionaryAttr(params));
  primitive->setDiscardableAttrs(discardable);
  return primitive.getResults();
}

void Lowering::replaceByPrimitive(StringRef kind, ValueRange inputs,
                                  ValueRange outputs,
                                  ArrayRef<StringRef> dropped) {
  replace(primitive(kind, inputs, outputs, dropped));
}
