// SPDX-License-Identifier: Apache-2.0
// Elementwise operators.
#include "frontend/onnx/ops/Handlers.h"

using namespace llvm;
using namespace mlir;

namespace hpcc::ops {

/// NumPy broadcasting in which the batch stays dimension 0 and is never
/// broadcast from a stored size.
static FailureOr<RankedTensorType> broadcast(NodeImport &node, Value lhs,
                                             Value rhs) {
  ArrayRef<int64_t> a = shapeOf(lhs), b = shapeOf(rhs);
  size_t rank = std::max(a.size(), b.size());
  SmallVector<int64_t> shape(rank);
  bool fits = true;
  for (size_t i = 0; i < rank; ++i) {
    int64_t da = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    int64_t db = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    bool isBatch = ShapedType::isDynamic(da) || ShapedType::isDynamic(db);
    fits &= da == db || da == 1 || db == 1;
    fits &= !isBatch || i == 0;
    shape[i] = da == 1 ? db : da;
  }
  if (!fits)
    return node.error("shapes " + shapeText(a) + " and " + shapeText(b) +
                      " cannot be combined example by example");
  return node.tensorType(shape);
}

template <typename Op> static LogicalResult binary(NodeImport &node) {
  Value lhs = node.input(0);
  Value rhs = lhs ? node.input(1) : nullptr;
  if (!rhs)
    return failure();
  FailureOr<RankedTensorType> type = broadcast(node, lhs, rhs);
  if (failed(type))
    return failure();
  return node.emit<Op>(*type, lhs, rhs);
}

LogicalResult add(NodeImport &node) { return binary<nn::AddOp>(node); }
LogicalResult sub(NodeImport &node) { return binary<nn::SubOp>(node); }
LogicalResult mul(NodeImport &node) { return binary<nn::MulOp>(node); }
LogicalResult div(NodeImport &node) { return binary<nn::DivOp>(node); }

LogicalResult sum(NodeImport &node) {
  Value total = node.input(0);
  for (unsigned i = 1; total && i < node.numInputs(); ++i) {
    Value next = node.input(i);
    if (!next)
      return failure();
    FailureOr<RankedTensorType> type = broadcast(node, total, next);
    if (failed(type))
      return failure();
    total = node.create<nn::AddOp>(*type, total, next);
  }
  if (!total)
    return failure();
  node.setOutput(total);
  return success();
}

template <typename Op, typename... Args>
static LogicalResult unary(NodeImport &node, Args &&...args) {
  Value x = node.input(0);
  if (!x || node.failed())
    return failure();
  return node.emit<Op>(x.getType(), x, std::forward<Args>(args)...);
}

LogicalResult relu(NodeImport &node) { return unary<nn::ReluOp>(node); }
LogicalResult sigmoid(NodeImport &node) { return unary<nn::SigmoidOp>(node); }
LogicalResult tanh(NodeImport &node) { return unary<nn::TanhOp>(node); }

LogicalResult leakyRelu(NodeImport &node) {
  return unary<nn::LeakyReluOp>(node, APFloat(node.getFloat("alpha", 0.01)));
}

static LogicalResult emitClip(NodeImport &node, std::optional<double> low,
                              std::optional<double> high) {
  auto attribute = [&](std::optional<double> bound) {
    return bound ? node.builder().getF64FloatAttr(*bound) : FloatAttr();
  };
  return unary<nn::ClipOp>(node, attribute(low), attribute(high));
}

LogicalResult clip6(NodeImport &node) {
  // An absent bound, and the spec's default of the largest float, do not bound.
  constexpr double unbounded = std::numeric_limits<float>::max();
  double low = node.getFloat("min", -unbounded);
  double high = node.getFloat("max", unbounded);
  return emitClip(node, low > -unbounded ? std::optional(low) : std::nullopt,
                  high < unbounded ? std::optional(high) : std::nullopt);
}

LogicalResult clip11(NodeImport &node) {
  std::optional<double> bounds[2];
  for (unsigned i : {0, 1}) {
    if (!node.hasInput(i + 1))
      continue;
    FailureOr<double> bound = node.scalar(i + 1);
    if (failed(bound))
      return failure();
    bounds[i] = *bound;
  }
  return emitClip(node, bounds[0], bounds[1]);
}

LogicalResult cast(NodeImport &node) {
  FileTensor target;
  target.type = node.getInt("to", 0);
  if (node.failed())
    return failure();
  if (!target.isFloat())
    return node.error("casting a float tensor to " + typeName(target.type) +
                      " is not supported");
  Value x = node.input(0);
  if (!x)
    return failure();
  if (target.type != onnx::TensorProto::FLOAT)
    node.remark("Cast to " + typeName(target.type) +
                " is left out: hpcc computes in float");
  node.setOutput(x);
  return success();
}

} // namespace hpcc::ops
