// SPDX-License-Identifier: Apache-2.0
// Elementwise operators and their gradients.
#include "dialects/nn/ops/BuildLinalg.h"
#include "dialects/nn/ops/PartitionRules.h"
#include "dialects/nn/ops/ShapeRules.h"
#include "dialects/nn/ops/SumTo.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

/// The broadcast shape, or what is wrong.
static FailureOr<SmallVector<int64_t>> broadcastShapes(Operation *op) {
  ArrayRef<int64_t> lhs = tensorType(op->getOperand(0)).getShape();
  ArrayRef<int64_t> rhs = tensorType(op->getOperand(1)).getShape();
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SmallVector<int64_t> shape(lhs);
  for (auto [i, extent] : llvm::enumerate(rhs)) {
    int64_t &result = shape[lhs.size() - rhs.size() + i];
    if (result == 1 || (ShapedType::isDynamic(result) && extent != 1)) {
      result = extent;
    } else if (extent != 1 && !extentsMatch(result, extent)) {
      op->emitOpError() << "operands of shapes "
                        << shapeText(tensorType(op->getOperand(0)).getShape())
                        << " and "
                        << shapeText(tensorType(op->getOperand(1)).getShape())
                        << " do not broadcast: " << result << " against "
                        << extent;
      return failure();
    }
  }
  return shape;
}

static LogicalResult verifyBinary(Operation *op) {
  Type element = tensorType(op->getResult(0)).getElementType();
  for (Value operand : op->getOperands())
    if (tensorType(operand).getElementType() != element)
      return op->emitOpError() << "expects operands of " << element << ", got "
                               << tensorType(operand).getElementType();
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(op);
  if (failed(shape))
    return failure();
  return checkShape(op, "result", op->getResult(0).getType(), *shape);
}

LogicalResult AddOp::verify() { return verifyBinary(*this); }
LogicalResult SubOp::verify() { return verifyBinary(*this); }
LogicalResult MulOp::verify() { return verifyBinary(*this); }
LogicalResult DivOp::verify() { return verifyBinary(*this); }

//===----------------------------------------------------------------------===//
// Differentiate
//===----------------------------------------------------------------------===//

LogicalResult ReluOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool>,
                               MutableArrayRef<Value> operandGrads) {
  operandGrads[0] =
      ReluBackwardOp::create(builder, getLoc(), resultGrads[0], getY());
  return success();
}

LogicalResult LeakyReluOp::buildVJP(OpBuilder &builder,
                                    ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                    MutableArrayRef<Value> operandGrads) {
  operandGrads[0] =
      LeakyReluBackwardOp::create(builder, getLoc(), getX().getType(),
                                  resultGrads[0], getX(), getAlphaAttr());
  return success();
}

LogicalResult SigmoidOp::buildVJP(OpBuilder &builder,
                                  ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                  MutableArrayRef<Value> operandGrads) {
  operandGrads[0] =
      SigmoidBackwardOp::create(builder, getLoc(), resultGrads[0], getY());
  return success();
}

LogicalResult TanhOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool>,
                               MutableArrayRef<Value> operandGrads) {
  operandGrads[0] =
      TanhBackwardOp::create(builder, getLoc(), resultGrads[0], getY());
  return success();
}

LogicalResult ClipOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool>,
                               MutableArrayRef<Value> operandGrads) {
  operandGrads[0] = ClipBackwardOp::create(builder, getLoc(), getX().getType(),
                                           resultGrads[0], getX(), getMinAttr(),
                                           getMaxAttr());
  return success();
}

static Value negate(OpBuilder &builder, Location loc, Value value) {
  auto scalar = RankedTensorType::get({}, tensorType(value).getElementType());
  Value minusOne = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          scalar, builder.getFloatAttr(scalar.getElementType(), -1.0)));
  return MulOp::create(builder, loc, value.getType(), value, minusOne);
}

LogicalResult AddOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandGrads) {
  for (auto [i, operand] : llvm::enumerate(getOperands()))
    if (needed[i])
      operandGrads[i] =
          sumTo(builder, getLoc(), resultGrads[0], operand.getType());
  return success();
}

LogicalResult SubOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandGrads) {
  if (needed[0])
    operandGrads[0] =
        sumTo(builder, getLoc(), resultGrads[0], getLhs().getType());
  if (needed[1])
    operandGrads[1] =
        negate(builder, getLoc(),
               sumTo(builder, getLoc(), resultGrads[0], getRhs().getType()));
  return success();
}

LogicalResult MulOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandGrads) {
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    if (!needed[i])
      continue;
    Value product = MulOp::create(builder, getLoc(), getType(), resultGrads[0],
                                  getOperand(1 - i));
    operandGrads[i] = sumTo(builder, getLoc(), product, operand.getType());
  }
  return success();
}

// With q = a / b: dq/da = 1 / b, dq/db = -q / b.
LogicalResult DivOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandGrads) {
  Value quotient =
      DivOp::create(builder, getLoc(), getType(), resultGrads[0], getRhs());
  if (needed[0])
    operandGrads[0] = sumTo(builder, getLoc(), quotient, getLhs().getType());
  if (needed[1]) {
    Value product =
        MulOp::create(builder, getLoc(), getType(), quotient, getResult());
    operandGrads[1] =
        negate(builder, getLoc(),
               sumTo(builder, getLoc(), product, getRhs().getType()));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

#define HPCC_ELEMENTWISE(Op)                                                   \
  LogicalResult Op::partition(FeaturePartitioner &p) {                         \
    return partitionElementwise(*this, p);                                     \
  }
HPCC_ELEMENTWISE(ReluOp)
HPCC_ELEMENTWISE(ReluBackwardOp)
HPCC_ELEMENTWISE(LeakyReluOp)
HPCC_ELEMENTWISE(LeakyReluBackwardOp)
HPCC_ELEMENTWISE(SigmoidOp)
HPCC_ELEMENTWISE(SigmoidBackwardOp)
HPCC_ELEMENTWISE(TanhOp)
HPCC_ELEMENTWISE(TanhBackwardOp)
HPCC_ELEMENTWISE(ClipOp)
HPCC_ELEMENTWISE(ClipBackwardOp)
HPCC_ELEMENTWISE(ScaleOp)
HPCC_ELEMENTWISE(AddOp)
HPCC_ELEMENTWISE(SubOp)
HPCC_ELEMENTWISE(MulOp)
HPCC_ELEMENTWISE(DivOp)
#undef HPCC_ELEMENTWISE

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

/// Replaces an op by one linalg.generic over its result's shape.
template <typename ScalarBody>
static LogicalResult lowerElementwise(RewriterBase &rewriter, Operation *op,
                                      ScalarBody body) {
  Lowering lowering(rewriter, op);
  RankedTensorType result = tensorType(op->getResult(0));
  SmallVector<Extent> extents;
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    if (!result.isDynamicDim(dim))
      continue;
    // A dynamic extent is never broadcast, so some operand has it.
    for (Value operand : op->getOperands()) {
      int64_t own = dim - (result.getRank() - tensorType(operand).getRank());
      if (own >= 0 && tensorType(operand).isDynamicDim(own)) {
        extents.push_back({operand, own});
        break;
      }
    }
  }
  if (static_cast<int64_t>(extents.size()) !=
      static_cast<int64_t>(result.getNumDynamicDims()))
    return op->emitOpError()
           << "has a dynamic result extent that no operand has";
  Value destination = lowering.empty(result, extents);
  lowering.replace(
      lowering.elementwise(op->getOperands(), destination,
                           [&](ImplicitLocOpBuilder &b, ValueRange args) {
                             return SmallVector<Value>{body(b, args)};
                           }));
  return success();
}

static Value floatConstant(ImplicitLocOpBuilder &b, Type type, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}
static Value compare(ImplicitLocOpBuilder &b, arith::CmpFPredicate predicate,
                     Value lhs, Value rhs) {
  return arith::CmpFOp::create(b, predicate, lhs, rhs);
}
static Value select(ImplicitLocOpBuilder &b, Value condition, Value yes,
                    Value no) {
  return arith::SelectOp::create(b, condition, yes, no);
}

LogicalResult ReluOp::lower(RewriterBase &rewriter) {
  return lowerElementwise(
      rewriter, *this, [](ImplicitLocOpBuilder &b, ValueRange a) -> Value {
        Value zero = floatConstant(b, a[0].getType(), 0.0);
        // Unordered, so that NaN stays NaN.
        return select(b, compare(b, arith::CmpFPredicate::UGT, a[0], zero),
                      a[0], zero);
      });
}

LogicalResult ReluBackwardOp::lower(RewriterBase &rewriter) {
  return lowerElementwise(
      rewriter, *this, [](ImplicitLocOpBuilder &b, ValueRange a) -> Value {
        Value zero = floatConstant(b, a[0].getType(), 0.0);
        return select(b, compare(b, arith::CmpFPredicate::OGT, a[1], zero),
                      a[0], zero);
      });
}

LogicalResult LeakyReluOp::lower(RewriterBase &rewriter) {
  return lowerElementwise(
      rewriter, *this, [&](ImplicitLocOpBuilder &b, ValueRange a) -> Value {
        Type type = a[0].getType();
        Value scaled = arith::MulFOp::create(
            b, floatConstant(b, type, getAlpha().convertToDouble()), a[0]);
        return select(b,
                      compare(b, arith::CmpFPredicate::OGE, a[0],
                              floatConstant(b, type, 0.0)),
                      a[0], scaled);
      });
}

LogicalResult LeakyReluBackwardOp::lower(RewriterBase &rewriter) {
  return lowerElementwise(
      rewriter, *this, [&](ImplicitLocOpBuilder &b, ValueRange a) -> Value {
        Type type = a[0].getType();
        Value scaled = arith::MulFOp::create(
            b, floatConstant(b, type, getAlpha().convertToDouble()), a[0]);
        return select(b,
                      compare(b, arith::CmpFPredicate::OGT, a[1],
                              floatConstant(b, type, 0.0)),
                      a[0], scaled);
      });
}

LogicalResult SigmoidOp::lower(RewriterBase &rewriter) {
  return lowerElementwise(
      rewriter, *this, [](ImplicitLocOpBuilder &b, ValueRange a) -> Value {
        // exp may become inf for very negative x; the quotient is then 0.
        Value one = floatConstant(b, a[0].getType(), 1.0);
        Value exp = math::ExpOp::create(b, arith::NegFOp::create(b, a[0]));
        return arith::DivFOp::create(b, one,
                                     arith::AddFOp::create(b, one, exp));
      });
}

LogicalResult SigmoidBackwardOp::lower(RewriterBase &rewriter) {
  return lowerElementwise(
      rewriter, *this, [](ImplicitLocOpBuilder &b, ValueRange a) -> Value {
        Value one = floatConstant(b, a[0].getType(), 1.0);
        Value slope =
            arith::MulFOp::create(b, a[1], arith::SubFOp::create(b, one, a[1]));
        return arith::MulFOp::create(b, a[0], slope);
      });
}

LogicalResult TanhOp::lower(RewriterBase &rewriter) {
  return lowerElementwise(rewriter, *this,
                          [](ImplicitLocOpBuilder &b, ValueRange a) -> Value {
                            return math::TanhOp::create(b, a[0]);
                          });
}

LogicalResult TanhBackwardOp::lower(RewriterBase &rewriter) {
  return lowerElementwise(rewriter, *this,
                          [](ImplicitLocOpBuilder &b, ValueRange a) -> Value {
                            Value one = floatConstant(b, a[0].getType(), 1.0);
                            Value square = arith::MulFOp::create(b, a[1], a[1]);
                            return arith::MulFOp::create(
                                b, a[0], arith::SubFOp::create(b, one, square));
                          });
}

LogicalResult ClipOp::lower(RewriterBase &rewriter) {
  return lowerElementwise(
      rewriter, *this, [&](ImplicitLocOpBuilder &b, ValueRange a) -> Value {
        // Ordered comparisons keep NaN; min > max gives max, as ONNX says.
        Value x = a[0];
        if (std::optional<APFloat> min = getMin()) {
          Value bound = floatConstant(b, x.getType(), min->convertToDouble());
          x = select(b, compare(b, arith::CmpFPredicate::OLT, x, bound), bound,
                     x);
        }
        if (std::optional<APFloat> max = getMax()) {
          Value bound = floatConstant(b, x.getType(), max->convertToDouble());
          x = select(b, compare(b, arith::CmpFPredicate::OGT, x, bound), bound,
                     x);
        }
        return x;
      });
}

LogicalResult ClipBackwardOp::lower(RewriterBase &rewriter) {
  return lowerElementwise(
      rewriter, *this, [&](ImplicitLocOpBuilder &b, ValueRange a) -> Value {
        Value dx = a[0];
        Value zero = floatConstant(b, dx.getType(), 0.0);
        if (std::optional<APFloat> min = getMin()) {
          Value bound = floatConstant(b, dx.getType(), min->convertToDouble());
          dx = select(b, compare(b, arith::CmpFPredicate::OGE, a[1], bound), dx,
                      zero);
        }
        if (std::optional<APFloat> max = getMax()) {
          Value bound = floatConstant(b, dx.getType(), max->convertToDouble());
          dx = select(b, compare(b, arith::CmpFPredicate::OLE, a[1], bound), dx,
                      zero);
        }
        return dx;
      });
}

LogicalResult ScaleOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  lowering.replace(
      lowering.elementwise(getX(), lowering.emptyLike(getX()),
                           [&](ImplicitLocOpBuilder &b, ValueRange args) {
                             return SmallVector<Value>{arith::MulFOp::create(
                                 b, args[0], getFactor())};
                           }));
  return success();
}

#define HPCC_BINARY(Op, Scalar)                                                \
  LogicalResult Op::lower(RewriterBase &rewriter) {                            \
    return lowerElementwise(                                                   \
        rewriter, *this, [](ImplicitLocOpBuilder &b, ValueRange a) -> Value {  \
          return Scalar::create(b, a[0], a[1]);                                \
        });                                                                    \
  }
HPCC_BINARY(AddOp, arith::AddFOp)
HPCC_BINARY(SubOp, arith::SubFOp)
HPCC_BINARY(MulOp, arith::MulFOp)
HPCC_BINARY(DivOp, arith::DivFOp)
#undef HPCC_BINARY

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

#define HPCC_COST(Op, PerElement)                                              \
  int64_t Op::getFlops(int64_t batch) {                                        \
    return (PerElement) *                                                      \
           elementCount(getOperation()->getResult(0).getType(), batch);        \
  }
HPCC_COST(ReluOp, 1)
HPCC_COST(ReluBackwardOp, 1)
HPCC_COST(LeakyReluOp, 2)
HPCC_COST(LeakyReluBackwardOp, 2)
HPCC_COST(SigmoidOp, 4)
HPCC_COST(SigmoidBackwardOp, 3)
HPCC_COST(TanhOp, 1)
HPCC_COST(TanhBackwardOp, 3)
HPCC_COST(ClipOp, 2)
HPCC_COST(ClipBackwardOp, 2)
HPCC_COST(ScaleOp, 1)
HPCC_COST(AddOp, 1)
HPCC_COST(SubOp, 1)
HPCC_COST(MulOp, 1)
HPCC_COST(DivOp, 1)
#undef HPCC_COST
