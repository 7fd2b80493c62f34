// SPDX-License-Identifier: Apache-2.0
// Reverse mode over DifferentiableOpInterface. Works on SSA values in block
// order: a function of a step is one block, so the reverse order of its ops is
// an order of the adjoints. Only values between a trained parameter and a loss
// get a gradient, so the data gradient of a first layer is never built.
#include "passes/NodeName.h"
#include "passes/training/StepArguments.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::training;

namespace hpcc {
#define GEN_PASS_DEF_HPCCTRAININGDIFFERENTIATE
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
constexpr llvm::StringLiteral kNode = "nn.node";

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

struct TrainedArgument {
  BlockArgument argument;
  StringRef parameter;
};

SmallVector<TrainedArgument> trainedArguments(func::FuncOp function,
                                              const Options &options) {
  SmallVector<TrainedArgument> trained;
  auto module = function->getParentOfType<ModuleOp>();
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (argEntry(function, index, "kind") != "value")
      continue;
    StringRef name = argEntry(function, index, "parameter");
    auto parameter = module.lookupSymbol<nn::ParameterOp>(name);
    if (parameter && isTrained(parameter, options))
      trained.push_back({argument, name});
  }
  return trained;
}

/// Ops between trained parameters and losses, in block order.
class GradientPath {
public:
  GradientPath(Block &block, ArrayRef<TrainedArgument> trained) {
    for (const TrainedArgument &value : trained)
      active.insert(value.argument);
    for (Operation &op : block) {
      if (op.hasTrait<LossTrait>())
        reaching.insert(op.getOperand(0));
      else if (!op.hasTrait<UpdateTrait>() &&
               llvm::any_of(op.getOperands(),
                            [&](Value operand) { return isActive(operand); }))
        active.insert(op.result_begin(), op.result_end());
    }
    for (Operation &op : llvm::reverse(block)) {
      if (op.hasTrait<LossTrait>() || op.hasTrait<UpdateTrait>() ||
          llvm::none_of(op.getResults(), [&](Value result) {
            return reaching.contains(result);
          }))
        continue;
      reaching.insert(op.operand_begin(), op.operand_end());
      if (llvm::any_of(op.getResults(),
                       [&](Value result) { return isActive(result); }))
        ops.push_back(&op);
    }
  }
  bool isActive(Value value) const { return active.contains(value); }
  /// In reverse order.
  ArrayRef<Operation *> reverseOps() const { return ops; }

private:
  DenseSet<Value> active;   // depends on a trained parameter
  DenseSet<Value> reaching; // a loss depends on it
  SmallVector<Operation *> ops;
};

/// One error for all ops that block the path, a note for each.
LogicalResult checkRules(func::FuncOp function, const GradientPath &path) {
  SmallVector<Operation *> lacking;
  for (Operation *op : llvm::reverse(path.reverseOps()))
    if (!isa<DifferentiableOpInterface>(op))
      lacking.push_back(op);
  if (lacking.empty())
    return success();
  InFlightDiagnostic diag =
      lacking.front()->emitError()
      << "no gradient is defined for " << lacking.size()
      << (lacking.size() == 1 ? " node" : " nodes")
      << " between the loss and a trained parameter; freeze the parameters "
         "before with --freeze, or replace the operator";
  for (Operation *op : lacking)
    diag.attachNote(op->getLoc())
        << "`" << getNodeName(op) << "`: " << op->getName();
  return failure();
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// Marks ops that a rule makes as gradient ops of `source`.
struct GradientListener : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (!source)
      return;
    op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), "grad"),
                            source->getLoc()));
    if (Attribute node = source->getAttr(kNode))
      op->setAttr(kNode, node);
  }
  Operation *source = nullptr;
};

class Differentiator {
public:
  Differentiator(func::FuncOp function, const Options &options)
      : function(function), block(function.getBody().front()),
        trained(trainedArguments(function, options)), path(block, trained),
        builder(function.getContext()) {
    builder.setListener(&listener);
  }

  LogicalResult run() {
    if (failed(checkRules(function, path)))
      return failure();
    // Updates of statistics stay behind all gradients.
    Operation *end = block.getTerminator();
    for (Operation &op : block)
      if (op.hasTrait<UpdateTrait>()) {
        end = &op;
        break;
      }
    builder.setInsertionPoint(end);
    for (Operation &op : block)
      if (op.hasTrait<LossTrait>() && path.isActive(op.getOperand(0)))
        add(op.getOperand(0), op.getResult(1));
    bool ok = true;
    for (Operation *op : path.reverseOps())
      ok &= succeeded(differentiate(cast<DifferentiableOpInterface>(op)));
    if (!ok)
      return failure();
    returnGradients();
    return success();
  }

private:
  LogicalResult differentiate(DifferentiableOpInterface op) {
    SmallVector<Value> resultGrads;
    for (Value result : op->getResults())
      resultGrads.push_back(gradients.lookup(result));
    if (llvm::none_of(resultGrads, [](Value v) { return bool(v); }))
      return success();
    SmallVector<bool> needed;
    for (Value operand : op->getOperands())
      needed.push_back(path.isActive(operand));
    SmallVector<Value> operandGrads(op->getNumOperands());
    listener.source = op;
    LogicalResult built =
        op.buildVJP(builder, resultGrads, needed, operandGrads);
    if (succeeded(built))
      for (auto [operand, need, gradient] :
           llvm::zip_equal(op->getOperands(), needed, operandGrads)) {
        if (!need)
          continue;
        if (!gradient || gradient.getType() != operand.getType()) {
          built = op->emitOpError()
                  << "rule gives no gradient of type " << operand.getType();
          break;
        }
        add(operand, gradient);
      }
    listener.source = nullptr;
    return built;
  }

  void add(Value value, Value gradient) {
    Value &sum = gradients[value];
    if (!sum) {
      sum = gradient;
      return;
    }
    // The sum belongs to the node whose value it is the gradient of.
    Operation *before = listener.source;
    if (Operation *producer = value.getDefiningOp())
      listener.source = producer;
    sum = nn::AddOp::create(builder, value.getLoc(), value.getType(), sum,
                            gradient);
    listener.source = before;
  }

  void returnGradients() {
    SmallVector<StepResult> results = getResults(function);
    for (const TrainedArgument &value : trained) {
      Value gradient = gradients.lookup(value.argument);
      if (!gradient) {
        if (function.getName() == "train_step")
          function.emitRemark() << "the loss does not depend on `"
                                << value.parameter << "`: it keeps its value";
        continue;
      }
      results.push_back(
          {gradient,
           describe(builder, "gradient", value.parameter,
                    builder.getNamedAttr(
                        "parameter", builder.getStringAttr(value.parameter)))});
    }
    setResults(function, results);
  }

  func::FuncOp function;
  Block &block;
  SmallVector<TrainedArgument> trained;
  GradientPath path;
  GradientListener listener;
  OpBuilder builder;
  DenseMap<Value, Value> gradients;
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct Differentiate
    : hpcc::impl::HpccTrainingDifferentiateBase<Differentiate> {
  void runOnOperation() override {
    FailureOr<Options> options = Options::get(getOperation());
    if (failed(options))
      return signalPassFailure();
    for (func::FuncOp function : trainingFunctions(getOperation()))
      if (failed(Differentiator(function, *options).run()))
        return signalPassFailure();
  }
};
} // namespace
