// SPDX-License-Identifier: Apache-2.0
// Prints diagnostics with the node or the file and line they are about.
#include "tools/hpcc/Diagnostics.h"

#include "mlir/IR/Location.h"
#include "passes/NodeName.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace hpcc;

DiagnosticPrinter::DiagnosticPrinter(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        print(diagnostic, "");
        return success();
      }) {}

static StringRef severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "hpcc: error: ";
  case DiagnosticSeverity::Warning:
    return "warning: ";
  case DiagnosticSeverity::Remark:
    return "remark: ";
  case DiagnosticSeverity::Note:
    return "note: ";
  }
  return "";
}

/// "fc6", "file.mlir:3:4", or nothing.
static std::string where(Location location) {
  if (StringRef name = getNodeName(location); !name.empty())
    return name.str();
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (file && file.getLine() == 0) // An .onnx file has no lines.
    return file.getFilename().str();
  if (file)
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  return {};
}

void DiagnosticPrinter::print(const Diagnostic &diagnostic, StringRef indent) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
    errors = true;
  if (diagnostic.getSeverity() == DiagnosticSeverity::Remark && !showsRemarks)
    return;
  std::string text = diagnostic.str();
  std::string place = where(diagnostic.getLocation());
  llvm::errs() << indent << severityName(diagnostic.getSeverity());
  if (!place.empty() && !StringRef(text).contains(place))
    llvm::errs() << place << ": ";
  llvm::errs() << text << "\n";
  for (const Diagnostic &note : diagnostic.getNotes())
    print(note, "  ");
}
