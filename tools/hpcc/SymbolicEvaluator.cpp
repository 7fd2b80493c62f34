// SPDX-License-Identifier: Apache-2.0
// Lazy evaluation: a value is computed from its definition when asked for, so
// that only what collectives depend on is looked at. Arithmetic is upstream's
// own folding on constant operands.
#include "tools/hpcc/SymbolicEvaluator.h"

#include "dialects/nn/IR/NN.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "runtime/include/hpcc/sharding.h"

using namespace mlir;
using namespace hpcc;

using Shape = SmallVector<int64_t>;

SymbolicEvaluator::SymbolicEvaluator(func::FuncOp function, Step step)
    : function(function), step(step) {}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

static bool hasCollective(Operation &op) {
  return op
      .walk([](comm::CollectiveOpInterface) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

LogicalResult SymbolicEvaluator::run(const Visitor &visit) {
  visitor = &visit;
  frames.clear();
  frames.emplace_back();
  return runBlock(function.getBody().front(), /*iteration=*/-1);
}

LogicalResult SymbolicEvaluator::runBlock(Block &block, int64_t iteration) {
  for (Operation &op : block) {
    if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op)) {
      if (failed((*visitor)(collective, iteration)))
        return failure();
      continue;
    }
    if (op.getNumRegions() == 0 || !hasCollective(op))
      continue;
    LogicalResult result = failure();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      result = runFor(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      result = runIf(branch, iteration);
    else
      return op.emitError(
          "the ledger cannot follow collectives inside this op");
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult SymbolicEvaluator::runFor(scf::ForOp loop) {
  FailureOr<int64_t> lower = evaluate(loop.getLowerBound());
  FailureOr<int64_t> upper = evaluate(loop.getUpperBound());
  FailureOr<int64_t> by = evaluate(loop.getStep());
  if (failed(lower) || failed(upper) || failed(by))
    return failure();
  // Integers that the loop carries; tensors keep their shapes.
  SmallVector<std::pair<unsigned, int64_t>> carried;
  for (auto [index, init] : llvm::enumerate(loop.getInitArgs()))
    if (init.getType().isIntOrIndex())
      if (FailureOr<int64_t> value = evaluate(init); succeeded(value))
        carried.push_back({unsigned(index), *value});
  for (int64_t i = *lower; i < *upper; i += *by) {
    frames.emplace_back();
    frames.back()[loop.getInductionVar()] = i;
    for (auto [index, value] : carried)
      frames.back()[loop.getRegionIterArg(index)] = value;
    if (failed(runBlock(*loop.getBody(), i)))
      return failure();
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    for (auto &[index, value] : carried) {
      FailureOr<int64_t> next = evaluate(yield.getOperand(index));
      if (failed(next))
        return failure();
      value = *next;
    }
    frames.pop_back();
  }
  for (auto [index, value] : carried)
    frames.back()[loop.getResult(index)] = value;
  return success();
}

LogicalResult SymbolicEvaluator::runIf(scf::IfOp branch, int64_t iteration) {
  FailureOr<int64_t> condition = evaluate(branch.getCondition());
  if (failed(condition))
    return failure();
  Block *block = *condition ? branch.thenBlock() : branch.elseBlock();
  return block ? runBlock(*block, iteration) : success();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// `kind` of the function argument's `nn.arg`, or empty.
static StringRef argumentKind(func::FuncOp function, unsigned index) {
  auto dict = function.getArgAttrOfType<DictionaryAttr>(index, "nn.arg");
  auto kind = dict ? dict.getAs<StringAttr>("kind") : StringAttr();
  return kind ? kind.getValue() : StringRef();
}

FailureOr<int64_t> SymbolicEvaluator::evaluate(Value value) {
  for (auto &frame : llvm::reverse(frames))
    if (auto found = frame.find(value); found != frame.end())
      return found->second;
  FailureOr<int64_t> result = isa<BlockArgument>(value)
                                  ? evaluateArgument(cast<BlockArgument>(value))
                                  : evaluateOp(cast<OpResult>(value));
  if (succeeded(result))
    frames.back()[value] = *result;
  return result;
}

FailureOr<int64_t> SymbolicEvaluator::evaluateArgument(BlockArgument argument) {
  if (argument.getOwner() == &function.getBody().front()) {
    StringRef kind = argumentKind(function, argument.getArgNumber());
    if (kind == "examples")
      return step.examples;
    if (kind == "rank")
      return step.rank;
  }
  return emitError(argument.getLoc())
         << "the ledger does not know the value of this argument";
}

static std::optional<sharding::Scheme> schemeOf(StringRef name) {
  if (name == "a")
    return sharding::Scheme::a;
  if (name == "b")
    return sharding::Scheme::b;
  if (name == "c")
    return sharding::Scheme::c;
  return std::nullopt;
}

FailureOr<int64_t> SymbolicEvaluator::evaluateOp(OpResult result) {
  Operation *op = result.getOwner();
  APInt constant;
  if (matchPattern(result, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    FailureOr<int64_t> index = evaluate(dim.getIndex());
    FailureOr<Shape> shape = shapeOf(dim.getSource());
    if (failed(index) || failed(shape))
      return failure();
    return (*shape)[*index];
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    FailureOr<int64_t> condition = evaluate(branch.getCondition());
    if (failed(condition))
      return failure();
    Operation *yield =
        (*condition ? branch.thenBlock() : branch.elseBlock())->getTerminator();
    return evaluate(yield->getOperand(result.getResultNumber()));
  }
  if (op->getNumRegions() == 0) {
    SmallVector<int64_t> operands;
    SmallVector<Attribute> constants;
    for (Value operand : op->getOperands()) {
      FailureOr<int64_t> value = evaluate(operand);
      if (failed(value))
        return failure();
      operands.push_back(*value);
      constants.push_back(IntegerAttr::get(operand.getType(), *value));
    }
    if (auto examples = dyn_cast<nn::ExamplesOp>(op)) {
      sharding::Range range =
          sharding::examples(operands[0], examples.getWorkers(), operands[1]);
      return result == examples.getOffset() ? range.offset : range.size;
    }
    if (auto shard = dyn_cast<nn::ShardOp>(op)) {
      sharding::Range range =
          sharding::shard(shard.getExtent(), shard.getWorkers(), operands[0]);
      return result == shard.getOffset() ? range.offset : range.size;
    }
    if (auto chunk = dyn_cast<nn::ChunkOp>(op)) {
      sharding::Chunk rows = sharding::chunk(
          {*schemeOf(chunk.getScheme()), int64_t(chunk.getWorkers()),
           int64_t(chunk.getBatch()), int64_t(chunk.getFcBatch())},
          operands[0], operands[1], operands[2]);
      return result == chunk.getOffset()  ? rows.offset
             : result == chunk.getCount() ? rows.count
             : result == chunk.getTotal() ? rows.total
                                          : rows.root;
    }
    SmallVector<OpFoldResult> folded;
    if (succeeded(op->fold(constants, folded)) &&
        folded.size() == op->getNumResults()) {
      OpFoldResult value = folded[result.getResultNumber()];
      if (auto attr = dyn_cast_if_present<Attribute>(value)) {
        if (auto integer = dyn_cast<IntegerAttr>(attr))
          return integer.getValue().getBitWidth() == 1
                     ? int64_t(integer.getValue().getZExtValue())
                     : integer.getValue().getSExtValue();
      } else if (auto same = dyn_cast_if_present<Value>(value)) {
        return evaluate(same);
      }
    }
  }
  return op->emitError("the ledger cannot evaluate this op");
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

FailureOr<Shape> SymbolicEvaluator::shapeOf(Value value) {
  auto type = cast<ShapedType>(value.getType());
  if (type.hasStaticShape())
    return Shape(type.getShape());
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argumentShape(argument);
  return opShape(cast<OpResult>(value));
}

FailureOr<Shape> SymbolicEvaluator::argumentShape(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return shapeOf(loop.getTiedLoopInit(argument)->get());
  auto type = cast<ShapedType>(argument.getType());
  Shape shape(type.getShape());
  if (parent != function)
    return emitError(argument.getLoc())
           << "the ledger does not know the shape of this argument";
  auto dict = function.getArgAttrOfType<DictionaryAttr>(argument.getArgNumber(),
                                                        "nn.arg");
  StringRef kind = argumentKind(function, argument.getArgNumber());
  StringRef split;
  if (auto attr = dict ? dict.getAs<StringAttr>("split") : StringAttr())
    split = attr.getValue();
  if (kind == "input" || kind == "target" || kind == "position") {
    shape[0] = sharding::examples(step.examples, step.workers, step.rank).size;
  } else if (split == "flat") {
    shape[0] = dict.getAs<IntegerAttr>("padded").getInt() / step.workers;
  } else if (split == "dim0") {
    auto segments = dict.getAs<ArrayAttr>("segments");
    auto rows = cast<ArrayAttr>(cast<DictionaryAttr>(segments[0]).get("shape"));
    shape[0] = sharding::shard(cast<IntegerAttr>(rows[0]).getInt(),
                               step.workers, step.rank)
                   .size;
  }
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return emitError(argument.getLoc())
           << "the ledger does not know the shape of argument "
           << argument.getArgNumber() << " of @" << function.getName();
  return shape;
}

FailureOr<Shape> SymbolicEvaluator::evaluateAll(ArrayRef<OpFoldResult> sizes) {
  Shape shape;
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> constant = getConstantIntValue(size)) {
      shape.push_back(*constant);
      continue;
    }
    FailureOr<int64_t> value = evaluate(cast<Value>(size));
    if (failed(value))
      return failure();
    shape.push_back(*value);
  }
  return shape;
}

FailureOr<Shape> SymbolicEvaluator::opShape(OpResult result) {
  Operation *op = result.getOwner();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return evaluateAll(empty.getMixedSizes());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    FailureOr<Shape> sizes = evaluateAll(slice.getMixedSizes());
    if (failed(sizes))
      return failure();
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    Shape kept;
    for (auto [index, size] : llvm::enumerate(*sizes))
      if (!dropped[index])
        kept.push_back(size);
    return kept;
  }
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return shapeOf(slice.getDest());
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return shapeOf(cast.getSource());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return evaluateAll(expand.getMixedOutputShape());
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    FailureOr<Shape> source = shapeOf(collapse.getSrc());
    if (failed(source))
      return failure();
    Shape shape;
    for (ArrayRef<int64_t> group : collapse.getReassociationIndices()) {
      int64_t size = 1;
      for (int64_t dim : group)
        size *= (*source)[dim];
      shape.push_back(size);
    }
    return shape;
  }
  if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
    return shapeOf(style.getTiedOpOperand(result)->get());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return shapeOf(loop.getTiedLoopInit(result)->get());
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    FailureOr<int64_t> condition = evaluate(branch.getCondition());
    if (failed(condition))
      return failure();
    Operation *yield =
        (*condition ? branch.thenBlock() : branch.elseBlock())->getTerminator();
    return shapeOf(yield->getOperand(result.getResultNumber()));
  }
  return shapeFromOperands(result);
}

FailureOr<Shape> SymbolicEvaluator::shapeFromOperands(OpResult result) {
  Operation *op = result.getOwner();
  auto type = cast<ShapedType>(result.getType());
  Shape shape(type.getShape());
  auto take = [&](unsigned dim, Value from, unsigned fromDim) {
    FailureOr<Shape> source = shapeOf(from);
    if (succeeded(source))
      shape[dim] = (*source)[fromDim];
    return success(succeeded(source));
  };
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (!ShapedType::isDynamic(shape[dim]))
      continue;
    LogicalResult found = failure();
    unsigned last = shape.size() - 1;
    if (auto linear = dyn_cast<nn::LinearOp>(op); linear && dim == last && dim)
      found = take(dim, linear.getW(), 0);
    else if (auto linear = dyn_cast<nn::LinearBackwardDataOp>(op);
             linear && dim == last && dim)
      found = take(dim, linear.getW(), 1);
    else if (auto linear = dyn_cast<nn::LinearBackwardWeightsOp>(op))
      found =
          dim == 0
              ? take(dim, linear.getDy(),
                     cast<ShapedType>(linear.getDy().getType()).getRank() - 1)
              : take(dim, linear.getX(),
                     cast<ShapedType>(linear.getX().getType()).getRank() - 1);
    else if (auto terms = dyn_cast<nn::SoftmaxTermsOp>(op))
      found = take(dim, terms.getX(), 0); // [2, N]
    else {
      // Row-wise ops: the batch is dimension 0 of every operand that has one,
      // sharded features are those of an operand of the same form.
      for (Value operand : op->getOperands()) {
        auto source = dyn_cast<ShapedType>(operand.getType());
        if (!source || source.getRank() <= dim || !source.isDynamicDim(dim) ||
            (dim != 0 && source.getRank() != type.getRank()))
          continue;
        found = take(dim, operand, dim);
        break;
      }
    }
    if (failed(found))
      return op->emitError("the ledger cannot tell dimension ")
             << dim << " of this op's result";
  }
  return shape;
}
