// SPDX-License-Identifier: Apache-2.0
// Gradients of @train_step -> updates of the parameters, with optimizer state
// as explicit arguments.
#include "passes/training/StepArguments.h"

using namespace mlir;
using namespace hpcc;
using namespace hpcc::training;

namespace hpcc {
#define GEN_PASS_DEF_HPCCTRAININGUPDATEPARAMETERS
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

LogicalResult checkOptions(ModuleOp module, const Options &options) {
  for (const std::string &role : options.noDecay)
    if (role != "bias" && role != "norm")
      return module.emitError() << "--no-decay must be of `bias` and `norm`, "
                                   "got `"
                                << role << "`";
  if (!(options.momentum >= 0.0 && options.momentum < 1.0))
    return module.emitError()
           << "--momentum must be at least 0 and less than 1, got "
           << options.momentum;
  if (!(options.weightDecay >= 0.0))
    return module.emitError() << "--weight-decay must not be negative, got "
                              << options.weightDecay;
  if (options.nesterov && options.momentum == 0.0)
    return module.emitError()
           << "--nesterov needs --momentum greater than 0, got 0";
  return success();
}

double decayOf(nn::ParameterOp parameter, const Options &options) {
  StringRef role = parameter.getRole();
  StringRef group = role == "bias"                                ? "bias"
                    : role == "norm_scale" || role == "norm_bias" ? "norm"
                                                                  : "";
  bool excluded = llvm::is_contained(options.noDecay, group);
  return excluded ? 0.0 : options.weightDecay;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// Arguments of `kind` by the parameter they belong to.
BlockArgument findArgument(func::FuncOp function, StringRef kind,
                           StringRef parameter = {}) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (argEntry(function, index, "kind") == kind &&
        (parameter.empty() ||
         argEntry(function, index, "parameter") == parameter))
      return argument;
  }
  return {};
}

/// What a storage argument becomes at the end of the step.
StepResult updated(Builder &builder, func::FuncOp function,
                   BlockArgument argument, Value value) {
  unsigned index = argument.getArgNumber();
  return {value, describe(builder, argEntry(function, index, "kind"),
                          argEntry(function, index, "name"),
                          builder.getNamedAttr(
                              "arg", builder.getI64IntegerAttr(index)))};
}

class Updater {
public:
  Updater(func::FuncOp function, const Options &options)
      : function(function), options(options),
        builder(function.getBody().front().getTerminator()) {}

  LogicalResult run() {
    rate = findArgument(function, "lr");
    if (!rate)
      return function.emitError() << "has no argument of kind \"lr\" (nn.arg)";
    SmallVector<StepResult> kept, values, states;
    SmallVector<std::pair<StringRef, Value>> gradients;
    for (auto [i, result] : llvm::enumerate(getResults(function))) {
      StringRef kind = resultEntry(function, i, "kind");
      if (kind == "gradient")
        gradients.push_back(
            {resultEntry(function, i, "parameter"), result.value});
      else
        (kind == "value" ? values : kept).push_back(result);
    }
    for (auto [parameter, gradient] : gradients)
      update(parameter, gradient, values, states);
    auto argumentOf = [](const StepResult &result) {
      return result.description.getAs<IntegerAttr>("arg").getInt();
    };
    llvm::sort(values, [&](const StepResult &a, const StepResult &b) {
      return argumentOf(a) < argumentOf(b);
    });
    llvm::append_range(kept, values);
    llvm::append_range(kept, states);
    setResults(function, kept);
    return success();
  }

private:
  void update(StringRef name, Value gradient, SmallVector<StepResult> &values,
              SmallVector<StepResult> &states) {
    auto parameter =
        function->getParentOfType<ModuleOp>().lookupSymbol<nn::ParameterOp>(
            name);
    BlockArgument value = findArgument(function, "value", name);
    BlockArgument momentum;
    if (options.momentum != 0.0)
      momentum =
          addArgument(function, value.getType(),
                      describeStorage(builder, "state", name, "momentum"));
    Operation *consumer = firstUser(value);
    auto sgd = nn::SgdOp::create(
        builder, consumer->getLoc(), value.getType(),
        momentum ? value.getType() : Type(), value, momentum, gradient, rate,
        Value(), builder.getF64FloatAttr(options.momentum),
        builder.getF64FloatAttr(decayOf(parameter, options)),
        builder.getF64FloatAttr(1.0),
        builder.getStringAttr(options.momentumForm),
        options.nesterov ? builder.getUnitAttr() : UnitAttr());
    if (Attribute node = consumer->getAttr("nn.node"))
      sgd->setAttr("nn.node", node);
    sgd->setAttr("nn.parameter", FlatSymbolRefAttr::get(parameter));
    values.push_back(updated(builder, function, value, sgd.getNewW()));
    if (momentum)
      states.push_back(updated(builder, function, momentum, sgd.getNewM()));
  }

  /// The node that the parameter belongs to.
  static Operation *firstUser(BlockArgument value) {
    Operation *first = nullptr;
    for (Operation *user : value.getUsers())
      if (!first || user->isBeforeInBlock(first))
        first = user;
    return first;
  }

  func::FuncOp function;
  const Options &options;
  OpBuilder builder;
  BlockArgument rate;
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct UpdateParameters
    : hpcc::impl::HpccTrainingUpdateParametersBase<UpdateParameters> {
  void runOnOperation() override {
    FailureOr<Options> options = Options::get(getOperation());
    if (failed(options) || failed(checkOptions(getOperation(), *options)))
      return signalPassFailure();
    auto function = getOperation().lookupSymbol<func::FuncOp>("train_step");
    if (function && failed(Updater(function, *options).run()))
      signalPassFailure();
  }
};
} // namespace
