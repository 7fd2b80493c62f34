// SPDX-License-Identifier: Apache-2.0
// Reads `nn.program`. Storages are shared between functions: the same name
// means the same buffer.
#include "tools/hpcc/Binding.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/Options.h"
#include "llvm/ADT/StringSwitch.h"

#include <optional>

using namespace mlir;
using namespace hpcc;
using namespace hpcc::runtime;

static Status broken(const Twine &what) {
  return Status::error(StatusCode::internal, ("nn.program: " + what).str());
}

static StringRef text(DictionaryAttr dict, StringRef key) {
  auto attr = dict.getAs<StringAttr>(key);
  return attr ? attr.getValue() : StringRef();
}

/// Array of integers in either spelling.
static std::vector<int64_t> integers(Attribute attr) {
  if (auto dense = dyn_cast_if_present<DenseI64ArrayAttr>(attr))
    return dense.asArrayRef().vec();
  std::vector<int64_t> values;
  if (auto array = dyn_cast_if_present<ArrayAttr>(attr))
    for (Attribute element : array)
      values.push_back(cast<IntegerAttr>(element).getInt());
  return values;
}

static std::optional<ArgumentKind> argumentKind(StringRef kind) {
  return llvm::StringSwitch<std::optional<ArgumentKind>>(kind)
      .Case("context", ArgumentKind::Context)
      .Case("rank", ArgumentKind::Rank)
      .Case("examples", ArgumentKind::Examples)
      .Case("step", ArgumentKind::Step)
      .Case("lr", ArgumentKind::Rate)
      .Case("input", ArgumentKind::Input)
      .Case("target", ArgumentKind::Target)
      .Case("position", ArgumentKind::Position)
      .Case("value", ArgumentKind::Value)
      .Case("state", ArgumentKind::State)
      .Case("arena", ArgumentKind::Arena)
      .Case("result", ArgumentKind::Result)
      .Default(std::nullopt);
}

static ParameterRole parameterRole(StringRef role) {
  return llvm::StringSwitch<ParameterRole>(role)
      .Case("weight", ParameterRole::Weight)
      .Case("bias", ParameterRole::Bias)
      .Case("norm_scale", ParameterRole::NormScale)
      .Case("norm_bias", ParameterRole::NormBias)
      .Case("running_mean", ParameterRole::RunningMean)
      .Case("running_var", ParameterRole::RunningVar)
      .Default(ParameterRole::Other);
}

static std::optional<DataType> elementType(Type type) {
  if (!type)
    return std::nullopt;
  if (type.isF32())
    return DataType::f32;
  if (type.isIndex() || type.isInteger(64))
    return DataType::i64;
  if (type.isInteger(32))
    return DataType::i32;
  if (type.isInteger(8))
    return DataType::i8;
  return std::nullopt;
}

namespace {
class Binder {
public:
  explicit Binder(Program &program) : program(program) {}

  Status parameters(ArrayAttr list);
  Status function(StringRef name, ArrayAttr arguments, ProgramFunction &into);

private:
  Status argument(DictionaryAttr dict, ProgramArgument &into);
  Status storage(DictionaryAttr dict, bool isState, std::string &name);

  Program &program;
};
} // namespace

Status Binder::parameters(ArrayAttr list) {
  for (Attribute element : list) {
    auto dict = cast<DictionaryAttr>(element);
    ProgramParameter parameter;
    parameter.name = text(dict, "name").str();
    parameter.initializer = text(dict, "initializer").str();
    auto type = dict.getAs<TypeAttr>("type");
    auto tensor =
        type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
    if (!tensor)
      return broken("parameter `" + parameter.name + "` has no tensor type");
    parameter.shape = tensor.getShape().vec();
    parameter.role = parameterRole(text(dict, "role"));
    parameter.trainable = dict.contains("trainable");
    parameter.transposed = dict.contains("transposed");
    program.parameters.push_back(std::move(parameter));
  }
  return {};
}

Status Binder::storage(DictionaryAttr dict, bool isState, std::string &name) {
  ProgramStorage storage;
  storage.name = text(dict, "name").str();
  StringRef slot = text(dict, "slot");
  storage.slot = isState || slot == "momentum" ? StorageSlot::Momentum
                                               : StorageSlot::Value;
  storage.split = llvm::StringSwitch<StorageSplit>(text(dict, "split"))
                      .Case("flat", StorageSplit::Flat)
                      .Case("dim0", StorageSplit::Dim0)
                      .Default(StorageSplit::Replicated);
  auto segments = dict.getAs<ArrayAttr>("segments");
  if (!segments)
    return broken("storage `" + storage.name + "` has no segments");
  int64_t end = 0;
  for (Attribute element : segments) {
    auto segment = cast<DictionaryAttr>(element);
    StorageSegment part;
    part.parameter = text(segment, "parameter").str();
    part.offset = segment.getAs<IntegerAttr>("offset").getInt();
    part.shape = integers(segment.get("shape"));
    end = part.offset + ShapedType::getNumElements(part.shape);
    storage.segments.push_back(std::move(part));
  }
  auto padded = dict.getAs<IntegerAttr>("padded");
  storage.padded = padded ? padded.getInt() : end;
  name = storage.name;
  for (const ProgramStorage &known : program.storages)
    if (known.name == storage.name) {
      if (known.padded != storage.padded || known.split != storage.split ||
          known.slot != storage.slot)
        return broken("two functions disagree about the layout of `" + name +
                      "`");
      return {};
    }
  program.storages.push_back(std::move(storage));
  return {};
}

Status Binder::argument(DictionaryAttr dict, ProgramArgument &into) {
  StringRef kind = text(dict, "kind");
  std::optional<ArgumentKind> parsed = argumentKind(kind);
  if (!parsed)
    return broken("unknown kind of argument `" + kind + "`");
  into.kind = *parsed;
  into.name = text(dict, "name").str();
  if (into.kind == ArgumentKind::Context)
    return {};
  auto element = dict.getAs<TypeAttr>("element");
  std::optional<DataType> type =
      elementType(element ? element.getValue() : Type());
  if (!type)
    return broken("argument `" + into.name +
                  "` has no element type that the trainer knows");
  into.type = *type;
  into.dims = integers(dict.get("dims"));
  if (auto classes = dict.getAs<IntegerAttr>("classes"))
    into.classes = classes.getInt();
  switch (into.kind) {
  case ArgumentKind::Value:
  case ArgumentKind::State:
    return storage(dict, into.kind == ArgumentKind::State, into.storage);
  case ArgumentKind::Arena:
    into.bytes = into.dims.empty() ? 0 : into.dims[0];
    return {};
  case ArgumentKind::Result: {
    StringRef of = text(dict, "of");
    if (of == "loss" || of == "counts")
      into.name = of.str();
    return {};
  }
  default:
    return {};
  }
}

Status Binder::function(StringRef name, ArrayAttr arguments,
                        ProgramFunction &into) {
  for (Attribute element : arguments) {
    ProgramArgument bound;
    Status status = argument(cast<DictionaryAttr>(element), bound);
    if (!status.ok())
      return Status::error(status.code(),
                           "@" + name.str() + ": " + status.message());
    into.arguments.push_back(std::move(bound));
  }
  return {};
}

Result<Program>
hpcc::bindProgram(ModuleOp module,
                  llvm::function_ref<ProgramEntry(StringRef)> lookup) {
  FailureOr<Options> options = Options::get(module);
  auto dict = module->getAttrOfType<DictionaryAttr>("nn.program");
  if (failed(options) || !dict)
    return broken("the module has no description of its functions");
  Program program;
  if (auto model = module->getAttrOfType<StringAttr>("nn.model"))
    program.model = model.getValue().str();
  program.workers = options->workers;
  program.batch = options->batch;
  program.fcBatch = options->fcBatch;
  program.passes = options->passes();
  program.scheme = options->schemeName().str();
  if (!options->fcUpdate.empty())
    program.fcUpdate = options->fcUpdate;
  else if (options->scheme == SchemeChoice::A)
    program.fcUpdate = "accumulate";
  program.momentumForm = options->momentumForm;
  program.seed = options->seed;

  Binder binder(program);
  if (auto parameters = dict.getAs<ArrayAttr>("parameters"))
    if (Status status = binder.parameters(parameters); !status.ok())
      return status;
  auto functions = dict.getAs<DictionaryAttr>("functions");
  if (!functions)
    return broken("no functions");
  for (NamedAttribute entry : functions) {
    StringRef name = entry.getName();
    ProgramFunction *into = llvm::StringSwitch<ProgramFunction *>(name)
                                .Case("init", &program.init)
                                .Case("train_step", &program.trainStep)
                                .Case("eval_step", &program.evalStep)
                                .Case("gradients", &program.gradients)
                                .Case("forward", &program.forward)
                                .Default(nullptr);
    if (!into)
      continue;
    into->entry = lookup(name);
    if (!into->entry)
      continue;
    if (Status status =
            binder.function(name, cast<ArrayAttr>(entry.getValue()), *into);
        !status.ok())
      return status;
  }
  return program;
}

bool hpcc::isReinitialised(ModuleOp module, StringRef parameter) {
  auto dict = module->getAttrOfType<DictionaryAttr>("nn.program");
  auto parameters = dict ? dict.getAs<ArrayAttr>("parameters") : ArrayAttr();
  if (!parameters)
    return false;
  return llvm::any_of(parameters, [&](Attribute element) {
    auto entry = cast<DictionaryAttr>(element);
    return text(entry, "name") == parameter && entry.contains("reinit");
  });
}
