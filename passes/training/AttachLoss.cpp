// SPDX-License-Identifier: Apache-2.0
// @forward -> @train_step, @eval_step and @gradients with their losses. Each is
// a copy of @forward's ops with parameters as arguments; what only serves
// outputs without a loss is dropped from the copy.
#include "passes/NodeName.h"
#include "passes/training/StepArguments.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::training;

namespace hpcc {
#define GEN_PASS_DEF_HPCCTRAININGATTACHLOSS
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
constexpr llvm::StringLiteral kNode = "nn.node";
constexpr llvm::StringLiteral kName = "nn.name";

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

StringRef outputName(func::FuncOp forward, unsigned index) {
  auto name = forward.getResultAttrOfType<StringAttr>(index, kName);
  return name ? name.getValue() : StringRef();
}

struct LossTerm {
  unsigned output; // result of @forward
  double weight;
};

/// The outputs that have a loss.
FailureOr<SmallVector<LossTerm>> findLossOutputs(func::FuncOp forward,
                                                 const Options &options) {
  if (forward.getNumResults() == 0)
    return forward.emitError() << "has no output to attach a loss to";
  SmallVector<LossTerm> terms;
  if (options.lossOutputs.empty())
    terms.push_back({0, 1.0});
  for (const LossOutput &wanted : options.lossOutputs) {
    auto outputs = llvm::seq<unsigned>(0, forward.getNumResults());
    auto found = llvm::find_if(outputs, [&](unsigned i) {
      return wanted.name.empty() || outputName(forward, i) == wanted.name;
    });
    if (found == outputs.end()) {
      InFlightDiagnostic diag = forward.emitError()
                                << "--loss-output names `" << wanted.name
                                << "`, which is no output of the model; it "
                                   "has ";
      llvm::interleaveComma(outputs, diag, [&](unsigned i) {
        diag << "`" << outputName(forward, i) << "`";
      });
      return failure();
    }
    terms.push_back({*found, wanted.weight});
  }
  return terms;
}

int64_t elementsPerExample(RankedTensorType type) {
  int64_t count = 1;
  for (int64_t extent : type.getShape())
    count *= ShapedType::isDynamic(extent) ? 1 : extent;
  return count;
}

/// The op of type `Op` that gives `value`, through reshapes.
template <typename Op> Op trailing(Value value) {
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getX();
  return value.getDefiningOp<Op>();
}

/// Input of a trailing softmax whose axis holds all that an example has.
Value softmaxInput(Value value) {
  auto wholeExample = [](RankedTensorType type, int64_t axis) {
    return elementsPerExample(type) == type.getDimSize(axis);
  };
  if (auto op = trailing<nn::SoftmaxOp>(value))
    if (wholeExample(op.getType(), op.getAxis()))
      return op.getX();
  if (auto op = trailing<nn::LogSoftmaxOp>(value))
    if (wholeExample(op.getType(), op.getAxis()))
      return op.getX();
  return {};
}

//===----------------------------------------------------------------------===//
// Rewrite: one step function
//===----------------------------------------------------------------------===//

enum class StepKind { Train, Eval, Gradients };

StringRef functionName(StepKind kind) {
  switch (kind) {
  case StepKind::Train:
    return "train_step";
  case StepKind::Eval:
    return "eval_step";
  case StepKind::Gradients:
    return "gradients";
  }
  llvm_unreachable("unknown step");
}

class StepMaker {
public:
  StepMaker(func::FuncOp forward, ArrayRef<nn::ParameterOp> parameters,
            ArrayRef<LossTerm> terms, const Options &options, StepKind kind)
      : forward(forward), parameters(parameters), terms(terms),
        options(options), kind(kind), builder(forward.getContext()) {}

  LogicalResult run() {
    makeFunction();
    SmallVector<Value> outputs = copyBody();
    if (failed(attachLosses(outputs)))
      return failure();
    if (kind != StepKind::Eval && failed(useTrainingForms()))
      return failure();
    builder.setInsertionPointToEnd(&function.getBody().front());
    func::ReturnOp::create(builder, forward.getLoc());
    updateStatistics();
    setResults(function, results);
    eraseUnused();
    return success();
  }

private:
  void makeFunction() {
    builder.setInsertionPointAfter(last(forward));
    function =
        func::FuncOp::create(builder, forward.getLoc(), functionName(kind),
                             builder.getFunctionType({}, {}));
    function.addEntryBlock();
    builder.setInsertionPointToStart(&function.getBody().front());
    for (BlockArgument input : forward.getArguments())
      map.map(input, addArgument(function, input.getType(),
                                 forward.getArgAttrOfType<DictionaryAttr>(
                                     input.getArgNumber(), kArg)));
    targetIndex = function.getNumArguments();
    Type index = builder.getIndexType();
    bool trains = kind != StepKind::Eval;
    if (trains)
      positions = add(
          RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type()),
          "position");
    examples = add(index, "examples");
    add(index, "rank");
    if (trains)
      step = add(builder.getI64Type(), "step");
    if (kind == StepKind::Train)
      add(builder.getF32Type(), "lr");
    for (nn::ParameterOp parameter : parameters)
      values[parameter.getSymName()] = addArgument(
          function, parameter.getType(),
          describeStorage(builder, "value", parameter.getSymName(), "value"));
  }
  static Operation *last(func::FuncOp function) {
    return &function->getBlock()->back();
  }
  BlockArgument add(Type type, StringRef argKind) {
    return addArgument(function, type, describe(builder, argKind, argKind));
  }

  SmallVector<Value> copyBody() {
    for (Operation &op : forward.getBody().front().without_terminator()) {
      if (auto load = dyn_cast<nn::LoadOp>(op))
        map.map(load.getValue(), values.lookup(load.getParameter()));
      else
        builder.clone(op, map);
    }
    SmallVector<Value> outputs;
    for (Value output :
         forward.getBody().front().getTerminator()->getOperands())
      outputs.push_back(map.lookupOrDefault(output));
    return outputs;
  }

  //===--------------------------------------------------------------------===//
  // Losses
  //===--------------------------------------------------------------------===//

  LogicalResult attachLosses(ArrayRef<Value> outputs) {
    Value total, counted;
    for (const LossTerm &term : terms) {
      FailureOr<Value> x = predictions(outputs[term.output], term.output);
      if (failed(x) || failed(makeTarget(*x, term.output)))
        return failure();
      Value loss = makeLoss(*x, term.weight);
      total = total ? nn::AddOp::create(builder, loss.getLoc(), loss.getType(),
                                        total, loss)
                    : loss;
      if (!counted)
        counted = *x;
    }
    results.push_back({total, describe(builder, "loss", "loss")});
    // There are no hits without classes.
    if (kind == StepKind::Eval && hasClassTargets())
      results.push_back(
          {makeCounts(counted), describe(builder, "counts", "counts")});
    return success();
  }
  bool hasClassTargets() const {
    return options.loss == "softmax" ||
           (options.loss == "logistic" && options.labels == "class");
  }

  /// What the loss is taken of: logits [N, C], or the output itself for mse.
  FailureOr<Value> predictions(Value output, unsigned index) {
    auto type = dyn_cast<RankedTensorType>(output.getType());
    StringRef name = outputName(forward, index);
    if (!type || type.getRank() == 0 || !type.isDynamicDim(0) ||
        !type.getElementType().isF32())
      return forward.emitError()
             << "output `" << name << "` has no row of f32 per example, got "
             << output.getType() << "; name another one with --loss-output";
    if (options.loss == "mse")
      return output;
    if (options.loss == "softmax") {
      if (Value logits = softmaxInput(output))
        output = logits;
    } else {
      if (softmaxInput(output))
        return forward.emitError()
               << "output `" << name
               << "` is a softmax, and --loss logistic takes logits of "
                  "independent units; use --loss softmax, or export the "
                  "network without its softmax";
      if (auto sigmoid = trailing<nn::SigmoidOp>(output))
        output = sigmoid.getX();
    }
    type = cast<RankedTensorType>(output.getType());
    int64_t classes = elementsPerExample(type);
    // [N, C] up to dimensions of extent 1.
    if (!llvm::is_contained(type.getShape().drop_front(), classes))
      return forward.emitError()
             << "--loss " << options.loss << " needs an output [N, C], got `"
             << name << "` of type " << type
             << "; name another one with --loss-output";
    auto logits = RankedTensorType::get({type.getDimSize(0), classes},
                                        builder.getF32Type());
    if (logits == type)
      return output;
    Operation *producer = output.getDefiningOp();
    auto reshape =
        nn::ReshapeOp::create(builder, output.getLoc(), logits, output);
    if (producer)
      if (Attribute node = producer->getAttr(kNode))
        reshape->setAttr(kNode, node);
    return reshape.getY();
  }

  LogicalResult makeTarget(Value x, unsigned output) {
    auto type = cast<RankedTensorType>(x.getType());
    bool indices = hasClassTargets();
    Type wanted = indices ? RankedTensorType::get({type.getDimSize(0)},
                                                  builder.getI32Type())
                          : type;
    if (target) {
      if (target.getType() == wanted &&
          (!indices || classes == type.getDimSize(1)))
        return success();
      return forward.emitError()
             << "all loss outputs share one target, but `"
             << outputName(forward, output) << "` needs " << wanted << " of "
             << type << " where another output needs " << target.getType();
    }
    SmallVector<NamedAttribute> more;
    if (indices) {
      classes = type.getDimSize(1);
      more.push_back(
          builder.getNamedAttr("classes", builder.getI64IntegerAttr(classes)));
    }
    DictionaryAttr arg = builder.getDictionaryAttr(builder.getNamedAttr(
        kArg, describe(builder, "target", "target", more)));
    (void)function.insertArgument(
        targetIndex, wanted, arg,
        NameLoc::get(builder.getStringAttr("target"), forward.getLoc()));
    target = function.getArgument(targetIndex);
    return success();
  }

  Value makeLoss(Value x, double weight) {
    Location loc = NameLoc::get(builder.getStringAttr("loss"), x.getLoc());
    Type scalar = RankedTensorType::get({}, builder.getF32Type());
    auto make = [&]<typename Op>() -> Value {
      return Op::create(builder, loc, scalar, x.getType(), x, target, examples,
                        Value(), builder.getF64FloatAttr(weight),
                        builder.getI64IntegerAttr(0))
          .getLoss();
    };
    if (options.loss == "softmax")
      return make.operator()<nn::SoftmaxLossOp>();
    if (options.loss == "logistic")
      return make.operator()<nn::LogisticLossOp>();
    return make.operator()<nn::MseLossOp>();
  }

  Value makeCounts(Value x) {
    Location loc = NameLoc::get(builder.getStringAttr("hits"), x.getLoc());
    auto type = RankedTensorType::get({2}, builder.getF32Type());
    return nn::ClassificationCountsOp::create(builder, loc, type, x, target);
  }

  //===--------------------------------------------------------------------===//
  // Training forms
  //===--------------------------------------------------------------------===//

  LogicalResult useTrainingForms() {
    eraseUnused();
    for (Operation &op :
         llvm::make_early_inc_range(function.getBody().front())) {
      LogicalResult done = success();
      if (auto dropout = dyn_cast<nn::DropoutOp>(op))
        done = trainDropout(dropout);
      else if (auto norm = dyn_cast<nn::BatchNormOp>(op))
        trainBatchNorm(norm);
      if (failed(done))
        return failure();
    }
    return success();
  }

  LogicalResult trainDropout(nn::DropoutOp op) {
    double ratio = op.getRatio().convertToDouble();
    if (!(ratio >= 0.0 && ratio < 1.0))
      return op.emitError() << "`" << getNodeName(op)
                            << "`: the ratio of a Dropout that is trained must "
                               "be at least 0 and less than 1, got "
                            << ratio;
    if (ratio == 0.0) {
      op.replaceAllUsesWith(op.getX());
      op.erase();
      return success();
    }
    auto node = op->getAttrOfType<IntegerAttr>(kNode);
    if (!node)
      return op.emitError() << "has no `nn.node`, which keys its random mask";
    builder.setInsertionPoint(op);
    auto train = nn::DropoutTrainOp::create(
        builder, op.getLoc(), op.getType(), op.getX(), positions, step, Value(),
        op.getRatioAttr(), builder.getI64IntegerAttr(node.getInt()),
        builder.getI64IntegerAttr(options.seed), builder.getI64IntegerAttr(0));
    replace(op, train, train.getY());
    return success();
  }

  void trainBatchNorm(nn::BatchNormOp op) {
    double momentum = op.getMomentum().convertToDouble();
    if (kind == StepKind::Train && momentum == 1.0)
      op.emitWarning() << "`" << getNodeName(op)
                       << "`: momentum 1 in the file means that its running "
                          "statistics never move (PyTorch writes it for a "
                          "network exported in inference mode)";
    builder.setInsertionPoint(op);
    auto train = nn::BatchNormTrainOp::create(
        builder, op.getLoc(), op.getType(), op.getMean().getType(),
        op.getVar().getType(), op.getX(), op.getScale(), op.getBias(),
        op.getEpsilonAttr());
    if (kind == StepKind::Train) {
      bool unbiased = options.bnVariance == "pytorch";
      statistics.push_back({op.getMean(), train.getMean(), Value(),
                            op.getMomentumAttr(), train});
      statistics.push_back({op.getVar(), train.getVar(),
                            unbiased ? op.getX() : Value(),
                            op.getMomentumAttr(), train});
    }
    replace(op, train, train.getY());
  }

  static void replace(Operation *op, Operation *by, Value result) {
    by->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }

  /// Running statistics, updated last; two normalisations may share one.
  void updateStatistics() {
    builder.setInsertionPoint(function.getBody().front().getTerminator());
    llvm::MapVector<Value, Value> current;
    for (const Statistic &statistic : statistics) {
      if (!isa<BlockArgument>(statistic.running)) {
        statistic.norm->emitWarning()
            << "`" << getNodeName(statistic.norm)
            << "`: its running statistics are constants and keep their values";
        continue;
      }
      StringRef name = argEntry(
          function, cast<BlockArgument>(statistic.running).getArgNumber(),
          "parameter");
      auto parameter = llvm::find_if(parameters, [&](nn::ParameterOp op) {
        return op.getSymName() == name;
      });
      if (isFrozen(*parameter, options))
        continue;
      Value &value = current[statistic.running];
      if (!value)
        value = statistic.running;
      auto update = nn::RunningUpdateOp::create(
          builder, statistic.norm->getLoc(), value.getType(), value,
          statistic.batch, statistic.x, statistic.momentum);
      if (Attribute node = statistic.norm->getAttr(kNode))
        update->setAttr(kNode, node);
      value = update.getUpdated();
    }
    for (auto [running, value] : current) {
      unsigned index = cast<BlockArgument>(running).getArgNumber();
      results.push_back(
          {value, describe(builder, "value", argEntry(function, index, "name"),
                           builder.getNamedAttr(
                               "arg", builder.getI64IntegerAttr(index)))});
    }
  }

  /// What no loss needs, before training forms are made of it.
  /// `results` count as uses: the function returns nothing yet.
  void eraseUnused() {
    llvm::SmallDenseSet<Operation *> wanted;
    for (const StepResult &result : results)
      wanted.insert(result.value.getDefiningOp());
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (!op.hasTrait<LossTrait>() && !wanted.contains(&op) &&
          isOpTriviallyDead(&op))
        op.erase();
  }

  struct Statistic {
    Value running, batch, x;
    FloatAttr momentum;
    Operation *norm;
  };

  func::FuncOp forward, function;
  ArrayRef<nn::ParameterOp> parameters;
  ArrayRef<LossTerm> terms;
  const Options &options;
  StepKind kind;
  OpBuilder builder;
  IRMapping map;
  llvm::StringMap<Value> values;
  BlockArgument target, positions, examples, step;
  unsigned targetIndex = 0;
  int64_t classes = 0;
  SmallVector<Statistic> statistics;
  SmallVector<StepResult> results;
};

//===----------------------------------------------------------------------===//
// Rewrite: @forward
//===----------------------------------------------------------------------===//

/// Parameters become arguments, outputs get descriptions.
void passParameters(func::FuncOp forward,
                    ArrayRef<nn::ParameterOp> parameters) {
  Builder builder(forward.getContext());
  llvm::StringMap<Value> values;
  for (nn::ParameterOp parameter : parameters)
    values[parameter.getSymName()] = addArgument(
        forward, parameter.getType(),
        describeStorage(builder, "value", parameter.getSymName(), "value"));
  for (auto load :
       llvm::make_early_inc_range(forward.getBody().getOps<nn::LoadOp>())) {
    load.getValue().replaceAllUsesWith(values.lookup(load.getParameter()));
    load.erase();
  }
  SmallVector<StepResult> results = getResults(forward);
  for (auto [i, result] : llvm::enumerate(results))
    result.description = describe(builder, "output", outputName(forward, i));
  setResults(forward, results);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct AttachLoss : hpcc::impl::HpccTrainingAttachLossBase<AttachLoss> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Options> options = Options::get(module);
    if (failed(options) || failed(attach(module, *options)))
      return signalPassFailure();
    training::warnOfUnusedPatterns(module, *options);
  }

  static LogicalResult attach(ModuleOp module, const Options &options) {
    if (!llvm::is_contained({"softmax", "logistic", "mse"},
                            StringRef(options.loss)))
      return module.emitError() << "--loss must be softmax, logistic or mse, "
                                   "got `"
                                << options.loss << "`";
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward || !forward.getBody().hasOneBlock())
      return module.emitError() << "has no function @forward of one block";
    DenseSet<StringRef> loaded;
    for (auto load : forward.getBody().getOps<nn::LoadOp>())
      loaded.insert(load.getParameter());
    SmallVector<nn::ParameterOp> parameters;
    for (auto parameter : module.getOps<nn::ParameterOp>())
      if (loaded.contains(parameter.getSymName()))
        parameters.push_back(parameter);
    SmallVector<StepKind> kinds;
    for (StepKind kind : {StepKind::Train, StepKind::Eval, StepKind::Gradients})
      if (options.wants(functionName(kind)))
        kinds.push_back(kind);
    // Inference alone needs no output that has a loss.
    if (!kinds.empty()) {
      FailureOr<SmallVector<LossTerm>> terms =
          findLossOutputs(forward, options);
      if (failed(terms))
        return failure();
      for (StepKind kind : kinds)
        if (failed(StepMaker(forward, parameters, *terms, options, kind).run()))
          return failure();
    }
    if (options.wants("forward"))
      passParameters(forward, parameters);
    else
      forward.erase();
    return success();
  }
};
} // namespace
