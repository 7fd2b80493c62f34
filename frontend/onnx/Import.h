// SPDX-License-Identifier: Apache-2.0
// ONNX file -> module of the nn dialect (phase `import`): `@forward`, one
// `nn.parameter` per trained or stored tensor, and `nn.model`. Everything that
// is unsupported is one error with a note per node, before anything else.
#pragma once

#include "frontend/onnx/ModelFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace hpcc {

struct ImportOptions {
  /// `--classes`: outputs of a new last fully-connected layer; 0 = as in the
  /// file.
  int64_t classes = 0;
  /// `--reinit`: globs over initializer names, or "all".
  std::vector<std::string> reinit;
};

struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::shared_ptr<const ModelFile> file;
};

/// Errors and remarks are diagnostics of the context. Loads the dialects it
/// needs.
mlir::FailureOr<ImportedModel> importOnnx(mlir::MLIRContext &context,
                                          llvm::StringRef path,
                                          const ImportOptions &options = {});

} // namespace hpcc
