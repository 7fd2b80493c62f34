// SPDX-License-Identifier: Apache-2.0
// The meaning of function arguments and results: the dictionaries `nn.arg` and
// `nn.result`. From `bufferized` on functions return nothing; results are
// arguments of kind "result" or alias a value or state.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace hpcc {

inline constexpr llvm::StringLiteral kArgument = "nn.arg";
inline constexpr llvm::StringLiteral kResult = "nn.result";

/// `nn.arg` of an argument; null where it has none.
inline mlir::DictionaryAttr argumentOf(mlir::FunctionOpInterface function,
                                       unsigned index) {
  return function.getArgAttrOfType<mlir::DictionaryAttr>(index, kArgument);
}

inline llvm::StringRef stringIn(mlir::DictionaryAttr dict,
                                llvm::StringRef key) {
  auto attr = dict ? dict.getAs<mlir::StringAttr>(key) : mlir::StringAttr();
  return attr ? attr.getValue() : llvm::StringRef();
}

inline llvm::StringRef argumentKind(mlir::FunctionOpInterface function,
                                    unsigned index) {
  return stringIn(argumentOf(function, index), "kind");
}

/// The first argument of that kind; null where there is none.
inline mlir::Value argumentOfKind(mlir::FunctionOpInterface function,
                                  llvm::StringRef kind) {
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    if (argumentKind(function, i) == kind)
      return function.getArgument(i);
  return {};
}

/// The block argument that a value is a view of, where it is one of the
/// function's; null otherwise.
mlir::BlockArgument rootArgument(mlir::Value value);

/// The allocation, argument or other value that a chain of views starts from.
mlir::Value rootOfViews(mlir::Value value);

} // namespace hpcc
