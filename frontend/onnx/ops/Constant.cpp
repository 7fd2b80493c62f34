// SPDX-License-Identifier: Apache-2.0
// Constant, ConstantOfShape and Identity.
#include "frontend/onnx/Importer.h"
#include "frontend/onnx/ops/Handlers.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

LogicalResult checkConstant(NodeImport &node) {
  if (node.proto().attribute_size() != 1)
    return node.error("it has " + Twine(node.proto().attribute_size()) +
                      " attributes, expected one");
  return success();
}

LogicalResult constant(NodeImport &node) {
  const FileTensor *tensor =
      node.importer.contents().find(node.proto().output(0));
  if (!tensor)
    return node.error("it has no value");
  node.importer.slots[node.proto().output(0)].constant = tensor;
  return success();
}

LogicalResult constantOfShape(NodeImport &node) {
  if (const FileTensor *tensor =
          node.importer.contents().find(node.proto().output(0))) {
    node.importer.slots[node.proto().output(0)].constant = tensor;
    return success();
  }
  FailureOr<SmallVector<int64_t>> dims = node.integers(0);
  if (failed(dims))
    return failure();
  return node.error("its shape " + shapeText(*dims) +
                    " is computed; only stored shapes are supported");
}

LogicalResult identity(NodeImport &node) {
  if (!node.hasInput(0))
    return node.error("input 0 is missing");
  node.forwardInput();
  return success();
}

} // namespace hpcc::ops
