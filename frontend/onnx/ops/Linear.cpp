// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul.
#include "frontend/onnx/ops/Handlers.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

/// w as [out, in].
static Value transposed(NodeImport &node, Value w) {
  SmallVector<int64_t> shape = {shapeOf(w)[1], shapeOf(w)[0]};
  return node.create<nn::TransposeOp>(
      RankedTensorType::get(shape, node.builder().getF32Type()), w,
      ArrayRef<int64_t>{1, 0});
}

/// x [N, ..., I] times w [O, I], transposed.
static Value emitLinear(NodeImport &node, Value x, Value w, Value bias) {
  ArrayRef<int64_t> xs = shapeOf(x), ws = shapeOf(w);
  if (xs.back() != ws[1]) {
    (void)node.error("K of A is " + Twine(xs.back()) + " but K of B is " +
                     Twine(ws[1]));
    return nullptr;
  }
  SmallVector<int64_t> shape(xs);
  shape.back() = ws[0];
  FailureOr<RankedTensorType> type = node.tensorType(shape);
  if (failed(type))
    return nullptr;
  return node.create<nn::LinearOp>(*type, x, w, bias);
}

LogicalResult checkGemm(NodeImport &node) {
  if (node.getInt("transA", 0) != 0)
    return node.error("attribute transA = 1 is not supported: it would mix "
                      "the examples of a batch");
  return success();
}

/// alpha or beta times a value.
static Value scaled(NodeImport &node, Value value, double factor) {
  if (factor == 1.0)
    return value;
  return node.create<nn::MulOp>(value.getType(), value,
                                node.floatConstant(factor));
}

LogicalResult gemm(NodeImport &node) {
  double alpha = node.getFloat("alpha", 1.0);
  double beta = node.getFloat("beta", 1.0);
  bool transB = node.getInt("transB", 0) != 0;
  Value x = node.input(0);
  Value w = x ? node.input(1) : nullptr;
  if (!w || node.failed())
    return failure();
  if (shapeOf(x).size() != 2 || !hasBatch(x))
    return node.error("A has shape " + shapeText(shapeOf(x)) +
                      ", expected [N, features]");
  if (shapeOf(w).size() != 2 || hasBatch(w))
    return node.error("B has shape " + shapeText(shapeOf(w)) +
                      ", expected a stored matrix");
  if (!transB)
    w = transposed(node, w);
  int64_t out = shapeOf(w)[0];
  Value c;
  if (node.hasInput(2) && beta != 0.0) {
    c = node.input(2);
    if (!c)
      return failure();
    ArrayRef<int64_t> cs = shapeOf(c);
    bool fits =
        cs.size() <= 2 && (cs.empty() || cs.back() == 1 || cs.back() == out);
    if (!fits)
      return node.error("C has shape " + shapeText(cs) +
                        ", which does not broadcast to [N, " + Twine(out) +
                        "]");
    if (cs.size() == 2 && cs[0] != 1 && !hasBatch(c))
      return node.error("C has shape " + shapeText(cs) +
                        ": a stored value per example of the batch");
  }
  bool isBias = c && !hasBatch(c) && alpha == 1.0 && beta == 1.0 &&
                !shapeOf(c).empty() && shapeOf(c).back() == out;
  Value y = emitLinear(node, x, w, isBias ? node.reshape(c, {out}) : Value());
  if (!y)
    return failure();
  y = scaled(node, y, alpha);
  if (c && !isBias)
    y = node.create<nn::AddOp>(y.getType(), y, scaled(node, c, beta));
  node.setOutput(y);
  return success();
}

LogicalResult matMul(NodeImport &node) {
  if (node.isComputed(0) && node.isComputed(1) && hasBatch(node.input(1)))
    return node.error("the product of two computed tensors is not supported");
  Value x = node.input(0);
  Value w = x ? node.input(1) : nullptr;
  if (!w)
    return failure();
  if (!hasBatch(x) || shapeOf(x).size() < 2)
    return node.error("its left operand has shape " + shapeText(shapeOf(x)) +
                      ", expected [N, ..., features]");
  if (shapeOf(w).size() != 2)
    return node.error("its right operand has shape " + shapeText(shapeOf(w)) +
                      ", expected a stored matrix");
  Value y = emitLinear(node, x, transposed(node, w), Value());
  if (!y)
    return failure();
  node.setOutput(y);
  return success();
}

} // namespace hpcc::ops
