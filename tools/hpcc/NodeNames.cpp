// SPDX-License-Identifier: Apache-2.0
// Reads node names out of nested locations.
#include "tools/hpcc/NodeNames.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

std::string hpcc::nodeName(Location location) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    // Gradients are NameLoc("grad", primal).
    if (name.getName() == "grad")
      return nodeName(name.getChildLoc());
    return name.getName().str();
  }
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return nodeName(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location inner : fused.getLocations())
      if (std::string name = nodeName(inner); !name.empty())
        return name;
  return {};
}
