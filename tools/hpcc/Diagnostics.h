// SPDX-License-Identifier: Apache-2.0
// Messages of the compiler as a person reads them, on stderr.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace hpcc {

/// Prints the context's diagnostics while it lives:
///   hpcc: error: fc6: text
///   remark: fc6: text
class DiagnosticPrinter {
public:
  explicit DiagnosticPrinter(mlir::MLIRContext &context);

  /// Remarks of a second compilation of the same model say nothing new.
  void setQuiet(bool quiet) { showsRemarks = !quiet; }
  bool hadErrors() const { return errors; }

private:
  void print(const mlir::Diagnostic &diagnostic, llvm::StringRef indent);

  bool showsRemarks = true;
  bool errors = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace hpcc
