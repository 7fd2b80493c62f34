// SPDX-License-Identifier: Apache-2.0
// How the functions of a training step say what their arguments and results
// mean.
#include "passes/training/StepArguments.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace hpcc;

DictionaryAttr training::describe(Builder &builder, StringRef kind,
                                  StringRef name,
                                  ArrayRef<NamedAttribute> more) {
  SmallVector<NamedAttribute> entries(more);
  entries.push_back(builder.getNamedAttr("kind", builder.getStringAttr(kind)));
  entries.push_back(builder.getNamedAttr("name", builder.getStringAttr(name)));
  return builder.getDictionaryAttr(entries);
}

DictionaryAttr training::describeStorage(Builder &builder, StringRef kind,
                                         StringRef parameter, StringRef slot) {
  std::string name = parameter.str();
  if (slot != "value")
    name += "." + slot.str();
  return describe(
      builder, kind, name,
      {builder.getNamedAttr("parameter", builder.getStringAttr(parameter)),
       builder.getNamedAttr("slot", builder.getStringAttr(slot))});
}

BlockArgument training::addArgument(func::FuncOp function, Type type,
                                    DictionaryAttr description) {
  Builder builder(function.getContext());
  unsigned index = function.getNumArguments();
  Location loc = function.getLoc();
  DictionaryAttr attributes;
  if (description) {
    attributes =
        builder.getDictionaryAttr(builder.getNamedAttr(kArg, description));
    if (auto name = description.getAs<StringAttr>("name"))
      loc = NameLoc::get(name, loc);
  }
  (void)function.insertArgument(index, type, attributes, loc);
  return function.getArgument(index);
}

SmallVector<training::StepResult> training::getResults(func::FuncOp function) {
  SmallVector<StepResult> results;
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
    results.push_back(
        {value, function.getResultAttrOfType<DictionaryAttr>(i, kResult)});
  return results;
}

void training::setResults(func::FuncOp function, ArrayRef<StepResult> results) {
  Builder builder(function.getContext());
  SmallVector<Value> values;
  SmallVector<Type> types;
  SmallVector<Attribute> attrs;
  for (const StepResult &result : results) {
    values.push_back(result.value);
    types.push_back(result.value.getType());
    attrs.push_back(result.description
                        ? builder.getDictionaryAttr(
                              builder.getNamedAttr(kResult, result.description))
                        : builder.getDictionaryAttr({}));
  }
  function.getBody().front().getTerminator()->setOperands(values);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), types));
  function.setResAttrsAttr(builder.getArrayAttr(attrs));
}

SmallVector<func::FuncOp> training::trainingFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (StringRef name : {"train_step", "gradients"})
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      functions.push_back(function);
  return functions;
}

static bool matches(const std::string &pattern, nn::ParameterOp parameter) {
  StringRef name = parameter.getInitializer();
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
  if (!glob) {
    llvm::consumeError(glob.takeError());
    return pattern == name;
  }
  return glob->match(name);
}

bool training::isFrozen(nn::ParameterOp parameter, const Options &options) {
  return llvm::any_of(options.freeze, [&](const std::string &pattern) {
    return matches(pattern, parameter);
  });
}

void training::warnOfUnusedPatterns(ModuleOp module, const Options &options) {
  for (const std::string &pattern : options.freeze)
    if (llvm::none_of(module.getOps<nn::ParameterOp>(),
                      [&](nn::ParameterOp parameter) {
                        return matches(pattern, parameter);
                      }))
      module.emitWarning() << "--freeze '" << pattern
                           << "' matches no parameter";
}

bool training::isTrained(nn::ParameterOp parameter, const Options &options) {
  return parameter.getTrainable() && !isFrozen(parameter, options);
}
