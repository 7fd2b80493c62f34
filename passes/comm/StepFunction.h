// SPDX-License-Identifier: Apache-2.0
// A step function's arguments by meaning (`nn.arg`), and small builders that
// the passes of the comm room share.
#pragma once

#include "passes/Options.h"
#include "passes/Passes.h"

namespace hpcc {

class StepFunction {
public:
  StepFunction(mlir::func::FuncOp function, const Options &options)
      : function(function), options(options) {}

  mlir::func::FuncOp get() const { return function; }
  /// The `nn.arg` entry `key` of an argument, or null.
  mlir::Attribute argEntry(unsigned index, llvm::StringRef key) const;
  llvm::StringRef argKind(unsigned index) const;
  /// The symbol of the parameter that a storage belongs to.
  llvm::StringRef parameter(unsigned index) const;
  bool isStorage(unsigned index) const {
    return argKind(index) == "value" || argKind(index) == "state";
  }
  void setArgEntries(unsigned index,
                     llvm::ArrayRef<mlir::NamedAttribute> entries);
  /// The argument of a kind that occurs once; null (with an error) if absent.
  mlir::Value argument(llvm::StringRef kind) const;

  /// At the start of the function, made once: this worker's number of
  /// examples, and its range of `extent` head units.
  mlir::Value localExamples() { return examplesOf(false); }
  /// All examples of the step, as a value with a known maximum.
  mlir::Value allExamples() { return examplesOf(true); }
  mlir::Value shardOffset(int64_t extent) { return shardOf(extent).first; }
  mlir::Value shardSize(int64_t extent) { return shardOf(extent).second; }

  /// Makes the function's type agree with its arguments and results.
  void updateType();

  /// One segment of a storage argument.
  static mlir::DictionaryAttr segment(mlir::Builder &builder,
                                      llvm::StringRef parameter, int64_t offset,
                                      llvm::ArrayRef<int64_t> shape);

private:
  std::pair<mlir::Value, mlir::Value> shardOf(int64_t extent);
  mlir::Value examplesOf(bool allWorkers);

  mlir::func::FuncOp function;
  const Options &options;
  mlir::Value local, all;
  llvm::DenseMap<int64_t, std::pair<mlir::Value, mlir::Value>> shards;
};

/// A destination of `type`; `dynamic` are its dynamic extents.
mlir::Value emptyTensor(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::RankedTensorType type,
                        mlir::ValueRange dynamic = {});
/// The same filled with zeros.
mlir::Value zeroTensor(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::RankedTensorType type,
                       mlir::ValueRange dynamic = {});
/// Extents of `value`, constants where static.
llvm::SmallVector<mlir::OpFoldResult>
extentsOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);
/// [offset, offset + size) of dimension `dim`, and the way back.
mlir::Value sliceDim(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value, int64_t dim, mlir::OpFoldResult offset,
                     mlir::OpFoldResult size);
mlir::Value insertDim(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value part, mlir::Value into, int64_t dim,
                      mlir::OpFoldResult offset);
/// into + value, written in place: what loops carry must keep its buffer.
mlir::Value accumulate(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value into, mlir::Value value);
/// a / b as f32.
mlir::Value ratio(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a,
                  mlir::Value b);

} // namespace hpcc
