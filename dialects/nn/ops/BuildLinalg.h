// SPDX-License-Identifier: Apache-2.0
// How the lowerings of the nn ops make linalg ops and library calls: every
// result is written into a destination whose dynamic extents are those of an
// operand, so that later passes can bound them.
#pragma once

#include "dialects/nn/IR/NN.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hpcc::nn {

/// Dimension `dim` of `value`: where a dynamic extent comes from.
struct Extent {
  mlir::Value value;
  int64_t dim;
};

/// The body of a linalg.generic: from the scalars of inputs and destinations
/// to those of the results.
using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ImplicitLocOpBuilder &, mlir::ValueRange)>;

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Builds what one op is lowered to, at the op, with its location and its
/// discardable attributes.
class Lowering {
public:
  Lowering(mlir::RewriterBase &rewriter, mlir::Operation *op)
      : op(op), rewriter(rewriter), b(op->getLoc(), rewriter) {}

  mlir::ImplicitLocOpBuilder &builder() { return b; }
  mlir::MLIRContext *context() { return op->getContext(); }

  mlir::Value extent(mlir::Value value, int64_t dim);
  mlir::OpFoldResult mixedExtent(mlir::Value value, int64_t dim);
  /// An uninitialised tensor; `extents` has one entry per dynamic dimension.
  mlir::Value empty(mlir::RankedTensorType type,
                    llvm::ArrayRef<Extent> extents);
  /// One whose dynamic dimension i has the extent of `like`'s dimension i.
  mlir::Value emptyLike(mlir::Value like, mlir::Type type = {});
  mlir::Value fill(mlir::Value destination, double value);
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value constantIndex(int64_t value);
  /// An index as a float.
  mlir::Value toFloat(mlir::Value index, mlir::Type type);
  /// weight / n for losses.
  mlir::Value weightPerExample(double weight, mlir::Value n);

  /// One linalg.generic; `maps` are those of inputs, then destinations.
  llvm::SmallVector<mlir::Value>
  generic(mlir::ValueRange inputs, mlir::ValueRange destinations,
          llvm::ArrayRef<mlir::AffineMap> maps,
          llvm::ArrayRef<mlir::utils::IteratorType> iterators, Body body);
  /// A parallel one over the shape of `destination`, to which the inputs
  /// broadcast.
  mlir::Value elementwise(mlir::ValueRange inputs, mlir::Value destination,
                          Body body);
  /// A copy that stays one: the same as linalg.generic would be folded away.
  mlir::Value copy(mlir::Value input, mlir::Value destination);
  /// Copies `input` into the box of `destination` at `offsets`.
  mlir::Value copyInto(mlir::Value input, mlir::Value destination,
                       llvm::ArrayRef<mlir::OpFoldResult> offsets);
  /// Sums of all elements of a tensor without dynamic dimensions but the
  /// first: row by row, then over the rows.
  mlir::Value sumRows(mlir::ValueRange inputs, Body term);

  /// Replaces the op by a library call. Its own attributes except `dropped`
  /// become the call's parameters.
  void replaceByPrimitive(llvm::StringRef kind, mlir::ValueRange inputs,
                          mlir::ValueRange outputs,
                          llvm::ArrayRef<llvm::StringRef> dropped = {});
  mlir::ValueRange primitive(llvm::StringRef kind, mlir::ValueRange inputs,
                             mlir::ValueRange outputs,
                             llvm::ArrayRef<llvm::StringRef> dropped = {});
  void replace(mlir::ValueRange values) { rewriter.replaceOp(op, values); }

private:
  mlir::Operation *op;
  mlir::RewriterBase &rewriter;
  mlir::ImplicitLocOpBuilder b;
};

/// Where an element of a value of shape `to` reads a value of shape `from`
/// that is broadcast to it.
mlir::AffineMap broadcastMap(mlir::RankedTensorType from,
                             mlir::RankedTensorType to);

} // namespace hpcc::nn
