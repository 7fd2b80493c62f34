// SPDX-License-Identifier: Apache-2.0
// The state of one import, shared by the handlers through NodeImport.
#pragma once

#include "frontend/onnx/Graph.h"
#include "frontend/onnx/Import.h"
#include "frontend/onnx/NodeImport.h"
#include "frontend/onnx/OperatorTable.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace hpcc {

class Importer {
public:
  Importer(mlir::MLIRContext &context, const ModelFile &file,
           const ImportOptions &options);
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> run();

  // For NodeImport.
  const ModelFile::Contents &contents() const { return file.contents(); }
  mlir::Location nodeLocation(const onnx::NodeProto &node, int ordinal);
  void report(mlir::Location loc, const llvm::Twine &message);
  /// The f32 value of a constant: a parameter's load, or arith.constant.
  mlir::FailureOr<mlir::Value> materialize(const FileTensor &tensor,
                                           NodeImport &node);
  std::optional<SymbolicTensor> symbolic(const Slot &slot);
  bool isUsed(llvm::StringRef value) const { return used.contains(value); }

  mlir::OpBuilder builder;
  llvm::StringMap<Slot> slots;
  /// The batch of the exported file: its fixed size, or 0 where symbolic.
  int64_t exportedBatch = 0;
  std::string exportedBatchName;

private:
  struct Problem {
    mlir::Location loc;
    std::string message;
  };

  llvm::LogicalResult emitProblems();
  void checkSupport(int ordinal, int64_t opset);
  void importNode(int ordinal, int64_t opset);
  void importInputs(mlir::func::FuncOp function);
  llvm::LogicalResult finishFunction(mlir::func::FuncOp function);
  void findRoles(int64_t opset);
  void replaceClasses();
  mlir::Value parameter(const FileTensor &tensor, llvm::StringRef role);
  std::string symbolName(llvm::StringRef name);

  const ModelFile &file;
  const ImportOptions &options;
  Graph graph;
  mlir::ModuleOp module;
  mlir::Location fileLocation;
  std::vector<Problem> problems;
  llvm::StringSet<> used;
  llvm::StringMap<std::string> roles;
  llvm::StringMap<mlir::Value> loads;
  llvm::StringSet<> symbols;
  /// --classes: new shapes of constants, by name.
  llvm::StringMap<std::vector<int64_t>> newShapes;
};

} // namespace hpcc
