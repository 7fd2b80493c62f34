// SPDX-License-Identifier: Apache-2.0
// Optimizer updates.
#include "dialects/nn/ops/BuildLinalg.h"
#include "dialects/nn/ops/PartitionRules.h"
#include "dialects/nn/ops/ShapeRules.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::nn;

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

LogicalResult SgdOp::verify() {
  bool moves = !getMomentum().isZero();
  if (getForm() != "pytorch" && getForm() != "caffe")
    return emitOpError() << "`form` must be \"pytorch\" or \"caffe\", got \""
                         << getForm() << "\"";
  if (moves != static_cast<bool>(getM()) ||
      moves != static_cast<bool>(getNewM()))
    return emitOpError() << "has momentum " << getMomentum().convertToDouble()
                         << ", so it must " << (moves ? "" : "not ")
                         << "take and give a momentum value";
  for (Value other : {Value(getM()), Value(getGradient()), Value(getNewW()),
                      Value(getNewM())})
    if (other && other.getType() != getW().getType())
      return emitOpError() << "expects all values to have the type of w, "
                           << getW().getType() << ", got " << other.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

LogicalResult SgdOp::partition(FeaturePartitioner &p) {
  if (!p.isSharded(getW()))
    return partitionReplicated(*this, p);
  SmallVector<Value> operands = {p.shard(getW())};
  if (getM())
    operands.push_back(p.shard(getM()));
  operands.push_back(p.shard(getGradient()));
  operands.push_back(p.full(getLr()));
  if (getScale())
    operands.push_back(p.full(getScale()));
  cloneLocal(*this, p, operands,
             SmallVector<Form>(getNumResults(), Form::Shard));
  return success();
}

//===----------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------===//

// The destinations are w and m themselves, so the update is in place.
LogicalResult SgdOp::lower(RewriterBase &rewriter) {
  Lowering lowering(rewriter, *this);
  ImplicitLocOpBuilder &b = lowering.builder();
  Type type = tensorType(getW()).getElementType();
  auto times = [](ImplicitLocOpBuilder &b, Value lhs, Value rhs) -> Value {
    return arith::MulFOp::create(b, lhs, rhs);
  };
  double decay = getDecay().convertToDouble();
  double momentum = getMomentum().convertToDouble();
  double lrMult = getLrMult().convertToDouble();
  Value rate = getLr();
  if (lrMult != 1.0)
    rate = times(b, rate, lowering.constant(type, lrMult));

  SmallVector<Value> destinations = {getW()};
  if (getM())
    destinations.push_back(getM());
  int64_t rank = tensorType(getW()).getRank();
  SmallVector<AffineMap> maps(destinations.size() + 1,
                              b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  lowering.replace(lowering.generic(
      getGradient(), destinations, maps, iterators,
      [&](ImplicitLocOpBuilder &b, ValueRange args) {
        auto constant = [&](double value) -> Value {
          return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
        };
        Value g = args[0], w = args[1];
        if (getScale())
          g = times(b, g, getScale());
        if (decay != 0.0)
          g = arith::AddFOp::create(b, g, times(b, constant(decay), w));
        if (!getM()) {
          w = arith::SubFOp::create(b, w, times(b, rate, g));
          return SmallVector<Value>{w};
        }
        Value m = args[2], kept = times(b, constant(momentum), m), change;
        if (getForm() == "caffe") {
          m = arith::AddFOp::create(b, kept, times(b, rate, g));
          change = m;
          if (getNesterov())
            change = arith::SubFOp::create(
                b, times(b, constant(1.0 + momentum), m), kept);
        } else {
          m = arith::AddFOp::create(b, kept, g);
          Value direction = m;
          if (getNesterov())
            direction =
                arith::AddFOp::create(b, g, times(b, constant(momentum), m));
          change = times(b, rate, direction);
        }
        w = arith::SubFOp::create(b, w, change);
        return SmallVector<Value>{w, m};
      }));
  return success();
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t SgdOp::getFlops(int64_t batch) {
  int64_t perElement = 2 + (getScale() ? 1 : 0) + (getM() ? 2 : 0) +
                       (getDecay().isZero() ? 0 : 2) + (getNesterov() ? 2 : 0);
  return perElement * elementCount(getW().getType(), batch);
}
