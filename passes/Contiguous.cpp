// SPDX-License-Identifier: Apache-2.0
#include "passes/Contiguous.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace hpcc;

bool hpcc::isContiguous(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getLayout().isIdentity())
    return true;
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    return isContiguous(cast.getSource());
  if (auto expand = buffer.getDefiningOp<memref::ExpandShapeOp>())
    return isContiguous(expand.getSrc());
  if (auto collapse = buffer.getDefiningOp<memref::CollapseShapeOp>())
    return isContiguous(collapse.getSrc());
  auto subview = buffer.getDefiningOp<memref::SubViewOp>();
  if (!subview || !isContiguous(subview.getSource()) ||
      !llvm::all_of(subview.getMixedStrides(), [](OpFoldResult stride) {
        return isConstantIntValue(stride, 1);
      }))
    return false;
  // Dimensions of extent 1, then a range of one, then whole ones.
  auto sizes = subview.getMixedSizes();
  auto shape = subview.getSourceType().getShape();
  auto isWhole = [&](size_t dim) {
    if (!ShapedType::isDynamic(shape[dim]))
      return isConstantIntValue(sizes[dim], shape[dim]);
    // The extent of the source, asked for or given at its allocation.
    auto size = dyn_cast<Value>(sizes[dim]);
    auto ask = size ? size.getDefiningOp<memref::DimOp>() : memref::DimOp();
    if (ask)
      return ask.getSource() == subview.getSource() &&
             ask.getConstantIndex() == int64_t(dim);
    Operation *source = subview.getSource().getDefiningOp();
    if (auto view = dyn_cast_or_null<memref::ViewOp>(source))
      return size &&
             view.getSizes()[view.getType().getDynamicDimIndex(dim)] == size;
    auto alloc = dyn_cast_or_null<memref::AllocOp>(source);
    return alloc && size &&
           alloc.getDynamicSizes()[alloc.getType().getDynamicDimIndex(dim)] ==
               size;
  };
  size_t dim = sizes.size();
  while (dim > 0 && isWhole(dim - 1))
    --dim;
  for (size_t outer = 0; outer + 1 < dim; ++outer)
    if (!isConstantIntValue(sizes[outer], 1))
      return false;
  return true;
}
