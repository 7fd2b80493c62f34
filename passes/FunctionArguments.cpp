// SPDX-License-Identifier: Apache-2.0
// Where buffers come from.
#include "passes/FunctionArguments.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

Value hpcc::rootOfViews(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

BlockArgument hpcc::rootArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(rootOfViews(value));
  if (!argument ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return {};
  return argument;
}
