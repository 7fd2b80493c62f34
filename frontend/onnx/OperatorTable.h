// SPDX-License-Identifier: Apache-2.0
// The one table of importable operators.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace hpcc {

using Handler = llvm::LogicalResult (*)(NodeImport &);

struct OperatorRow {
  const char *name;
  /// First opset for which the row holds.
  int since;
  Handler import;
  /// Attributes that the handler knows, separated by spaces.
  const char *attributes;
  /// One word per input, "." for none: the role of a parameter there; with a
  /// "?" only initializers of rank 1 or more are parameters; "=" passes the
  /// role of output 0 on to the input.
  const char *roles = "";
  /// Evaluates the node where all its inputs are small integers.
  Handler evaluate = nullptr;
  /// Looks at attributes alone, before anything is imported.
  Handler check = nullptr;
};

constexpr int firstOpset = 7;
constexpr int lastOpset = 21;

llvm::ArrayRef<OperatorRow> operatorTable();
/// The row for an operator of the default domain, or null.
const OperatorRow *findOperator(llvm::StringRef name, int64_t opset);

} // namespace hpcc
