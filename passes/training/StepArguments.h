// SPDX-License-Identifier: Apache-2.0
// How the functions of a training step say what their arguments and results
// mean (`nn.arg`, `nn.result`).
#pragma once

#include "passes/Options.h"
#include "passes/Passes.h"

namespace hpcc::training {

inline constexpr llvm::StringLiteral kArg = "nn.arg";
inline constexpr llvm::StringLiteral kResult = "nn.result";

/// An entry of one of these dictionaries, or an empty string.
inline llvm::StringRef entry(mlir::DictionaryAttr dict, llvm::StringRef key) {
  auto value = dict ? dict.getAs<mlir::StringAttr>(key) : mlir::StringAttr();
  return value ? value.getValue() : llvm::StringRef();
}
inline llvm::StringRef argEntry(mlir::func::FuncOp function, unsigned index,
                                llvm::StringRef key) {
  return entry(function.getArgAttrOfType<mlir::DictionaryAttr>(index, kArg),
               key);
}
inline llvm::StringRef resultEntry(mlir::func::FuncOp function, unsigned index,
                                   llvm::StringRef key) {
  return entry(
      function.getResultAttrOfType<mlir::DictionaryAttr>(index, kResult), key);
}

/// {kind = "...", name = "..."} and further entries.
mlir::DictionaryAttr describe(mlir::Builder &builder, llvm::StringRef kind,
                              llvm::StringRef name,
                              llvm::ArrayRef<mlir::NamedAttribute> more = {});

/// An argument that holds a parameter's value or an optimizer's slot of it.
mlir::DictionaryAttr describeStorage(mlir::Builder &builder,
                                     llvm::StringRef kind,
                                     llvm::StringRef parameter,
                                     llvm::StringRef slot);

/// Appends an argument with its description.
mlir::BlockArgument addArgument(mlir::func::FuncOp function, mlir::Type type,
                                mlir::DictionaryAttr description);

/// What a function returns, with descriptions; replaces its return.
struct StepResult {
  mlir::Value value;
  mlir::DictionaryAttr description;
};
llvm::SmallVector<StepResult> getResults(mlir::func::FuncOp function);
void setResults(mlir::func::FuncOp function,
                llvm::ArrayRef<StepResult> results);

/// The functions that are differentiated: those of @train_step and @gradients
/// that exist.
llvm::SmallVector<mlir::func::FuncOp> trainingFunctions(mlir::ModuleOp module);

/// Warns of `--freeze` patterns that match no parameter.
void warnOfUnusedPatterns(mlir::ModuleOp module, const Options &options);

/// Whether `freeze` names the parameter's initializer.
bool isFrozen(nn::ParameterOp parameter, const Options &options);
/// Whether training changes a parameter: trainable and not frozen.
bool isTrained(nn::ParameterOp parameter, const Options &options);

} // namespace hpcc::training
