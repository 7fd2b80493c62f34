// SPDX-License-Identifier: Apache-2.0
// The ONNX node an op comes from, for messages and name patterns.
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

namespace hpcc {

/// The name of the node in the file; that of the differentiated node for
/// gradient ops ("grad" locations); empty where the location has no name.
inline llvm::StringRef getNodeName(mlir::Location loc) {
  while (auto name = mlir::dyn_cast<mlir::NameLoc>(loc)) {
    auto child = mlir::dyn_cast<mlir::NameLoc>(name.getChildLoc());
    if (name.getName() != "grad" || !child)
      return name.getName();
    loc = child;
  }
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(loc))
    for (mlir::Location part : fused.getLocations())
      if (llvm::StringRef name = getNodeName(part); !name.empty())
        return name;
  return {};
}
inline llvm::StringRef getNodeName(mlir::Operation *op) {
  return getNodeName(op->getLoc());
}

} // namespace hpcc
