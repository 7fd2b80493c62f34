// SPDX-License-Identifier: Apache-2.0
// The walk over a file's graph. Problems are collected, in two rounds: first
// what operators, versions and attributes alone say, then what shapes say;
// a node that fails leaves its results unset, and nodes behind it are not
// reported.
#include "frontend/onnx/Importer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;
using namespace mlir;

namespace hpcc {

static Location named(MLIRContext *context, StringRef name, Location inner) {
  return NameLoc::get(StringAttr::get(context, name), inner);
}

static Location fileLoc(MLIRContext *context, StringRef path) {
  return named(context, path, UnknownLoc::get(context));
}

Importer::Importer(MLIRContext &context, const ModelFile &file,
                   const ImportOptions &options)
    : builder(&context), file(file), options(options),
      fileLocation(fileLoc(&context, file.path())) {}

Location Importer::nodeLocation(const onnx::NodeProto &node, int ordinal) {
  std::string name = node.name();
  if (name.empty())
    name = node.op_type() + "#" + std::to_string(ordinal);
  return named(builder.getContext(), name, fileLocation);
}

void Importer::report(Location loc, const Twine &message) {
  problems.push_back({loc, message.str()});
}

LogicalResult Importer::emitProblems() {
  if (problems.empty())
    return success();
  InFlightDiagnostic diagnostic =
      emitError(fileLocation)
      << "cannot import \"" << file.path() << "\": " << problems.size()
      << (problems.size() == 1 ? " problem" : " problems");
  for (const Problem &problem : problems) {
    auto name = dyn_cast<NameLoc>(problem.loc);
    Diagnostic &note = diagnostic.attachNote(problem.loc);
    if (name && problem.loc != fileLocation)
      note << "\"" << name.getName().getValue() << "\": ";
    note << problem.message;
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Constants and parameters
//===----------------------------------------------------------------------===//

std::optional<SymbolicTensor> Importer::symbolic(const Slot &slot) {
  if (slot.symbolic)
    return slot.symbolic;
  if (!slot.constant || !slot.constant->isInteger() ||
      slot.constant->elements > maxSymbolicElements)
    return std::nullopt;
  Expected<std::vector<int64_t>> values =
      readIntegers(contents(), *slot.constant);
  if (!values) {
    consumeError(values.takeError());
    return std::nullopt;
  }
  SymbolicTensor tensor;
  tensor.dims.assign(slot.constant->dims.begin(), slot.constant->dims.end());
  for (int64_t value : *values)
    tensor.elements.push_back({0, value});
  return tensor;
}

FailureOr<Value> Importer::materialize(const FileTensor &tensor,
                                       NodeImport &node) {
  auto loaded = loads.find(tensor.name);
  if (loaded != loads.end())
    return loaded->second;
  if (!tensor.isFloat())
    return node.error("input \"" + tensor.name + "\" has element type " +
                      typeName(tensor.type) +
                      ", expected a floating-point one");
  const std::string slotRole = roles.lookup(tensor.name);
  StringRef role = slotRole;
  bool isTrained = !role.empty();
  // In a sum or product, an initializer of rank 1 or more is a layer's bias or
  // scale; a lone number is part of a formula, as in `x + 1`.
  if (role.consume_back("?")) {
    isTrained =
        tensor.kind != FileTensor::Kind::Constant && !tensor.dims.empty();
    if (!isTrained && tensor.kind == FileTensor::Kind::Initializer)
      node.remark("the scalar \"" + tensor.name + "\" is not trained");
  }
  Value value;
  if (isTrained) {
    value = parameter(tensor, role);
  } else {
    Expected<std::vector<float>> values = readFloats(contents(), tensor);
    if (!values)
      return node.error(toString(values.takeError()));
    auto type = RankedTensorType::get(tensor.dims, builder.getF32Type());
    value = arith::ConstantOp::create(
        builder, named(builder.getContext(), tensor.name, fileLocation),
        DenseElementsAttr::get(type, ArrayRef<float>(*values)));
  }
  loads[tensor.name] = value;
  return value;
}

std::string Importer::symbolName(StringRef name) {
  static constexpr StringLiteral functions[] = {
      "forward", "train_step", "eval_step", "gradients", "init"};
  std::string symbol = name.str();
  while (is_contained(functions, symbol) || symbols.contains(symbol) ||
         (symbol != name && contents().find(symbol)))
    symbol += ".parameter";
  symbols.insert(symbol);
  return symbol;
}

static StringRef freshValue(StringRef role) {
  if (role == "weight")
    return "he";
  return role == "norm_scale" || role == "running_var" ? "ones" : "zeros";
}

/// "all", or a glob that `importer` has checked.
static bool matches(StringRef pattern, StringRef name) {
  if (pattern == "all")
    return true;
  Expected<GlobPattern> glob = GlobPattern::create(pattern);
  if (glob)
    return glob->match(name);
  consumeError(glob.takeError());
  return pattern == name;
}

Value Importer::parameter(const FileTensor &tensor, StringRef role) {
  std::vector<int64_t> shape = tensor.dims;
  bool isFresh = any_of(options.reinit, [&](StringRef pattern) {
    return matches(pattern, tensor.name);
  });
  auto replaced = newShapes.find(tensor.name);
  if (replaced != newShapes.end()) {
    shape = replaced->second;
    isFresh = true;
  }
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  Location loc = named(builder.getContext(), tensor.name, fileLocation);
  std::string symbol = symbolName(tensor.name);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(builder.getBlock()->getParentOp());
    nn::ParameterOp::create(
        builder, loc, builder.getStringAttr(symbol), TypeAttr::get(type),
        builder.getStringAttr(tensor.name), builder.getStringAttr(role),
        role.starts_with("running_") ? UnitAttr() : builder.getUnitAttr(),
        /*transposed=*/UnitAttr(),
        isFresh ? builder.getStringAttr(freshValue(role)) : StringAttr());
  }
  return nn::LoadOp::create(
      builder, loc, type, FlatSymbolRefAttr::get(builder.getContext(), symbol));
}

/// Which constants are parameters, and their roles: from the inputs that they
/// reach, backward through reshapes and transposes.
void Importer::findRoles(int64_t opset) {
  for (int index : reverse(graph.order)) {
    const onnx::NodeProto &node = contents().model.graph().node(index);
    const OperatorRow *row = findOperator(node.op_type(), opset);
    if (!row || node.output_size() == 0)
      continue;
    SmallVector<StringRef> slotRoles;
    SplitString(row->roles, slotRoles);
    for (int i = 0; i < node.input_size(); ++i) {
      if (slotRoles.empty())
        break;
      // The last word holds for all further inputs.
      StringRef role = slotRoles[std::min<size_t>(i, slotRoles.size() - 1)];
      std::string resolved =
          role == "=" ? roles.lookup(node.output(0)) : role.str();
      if (resolved.empty() || resolved == ".")
        continue;
      std::string &entry = roles[node.input(i)];
      if (entry.empty() || StringRef(entry).ends_with("?"))
        entry = resolved;
    }
  }
}

//===----------------------------------------------------------------------===//
// --classes
//===----------------------------------------------------------------------===//

static bool keepsClasses(StringRef op) {
  return is_contained({"Add", "Sub", "Mul", "Div", "Sum", "Identity", "Cast",
                       "Softmax", "LogSoftmax", "Sigmoid", "Tanh", "Relu",
                       "LeakyRelu", "Clip", "Dropout", "Flatten", "Reshape",
                       "Squeeze", "Unsqueeze"},
                      op);
}

/// Gives the last fully-connected layer before the first output new outputs.
void Importer::replaceClasses() {
  const onnx::GraphProto &proto = contents().model.graph();
  auto refuse = [&](Location loc, const Twine &why) {
    report(loc, "--classes " + Twine(options.classes) + ": " + why);
  };
  StringMap<int> uses;
  StringMap<int> producers;
  for (int index : graph.order) {
    for (const std::string &input : proto.node(index).input())
      ++uses[input];
    for (const std::string &output : proto.node(index).output())
      producers[output] = index;
  }
  // Backward from the output to the layer, through what keeps its classes.
  std::string value = proto.output(0).name();
  std::vector<std::string> offsets; // constants added behind the layer
  int layer = -1;
  while (layer < 0) {
    auto producer = producers.find(value);
    if (producer == producers.end())
      return refuse(fileLocation, "there is no fully-connected layer before "
                                  "output \"" +
                                      proto.output(0).name() + "\"");
    const onnx::NodeProto &node = proto.node(producer->second);
    StringRef op = node.op_type();
    if (op == "Gemm" || op == "MatMul") {
      layer = producer->second;
      break;
    }
    if (!keepsClasses(op) || node.input_size() == 0)
      return refuse(nodeLocation(node, producer->second),
                    op +
                        " lies between the last fully-connected layer and "
                        "output \"" +
                        proto.output(0).name() + "\"");
    bool swapped = node.input_size() == 2 && contents().find(node.input(0));
    if (op == "Add" && node.input_size() == 2)
      offsets.push_back(node.input(swapped ? 0 : 1));
    value = node.input(swapped ? 1 : 0);
  }
  const onnx::NodeProto &node = proto.node(layer);
  Location loc = nodeLocation(node, layer);
  const FileTensor *weight =
      node.input_size() > 1 ? contents().find(node.input(1)) : nullptr;
  if (!weight || weight->dims.size() != 2)
    return refuse(loc, "its weight is not a stored matrix");
  bool transB = false;
  for (const onnx::AttributeProto &attribute : node.attribute())
    transB |= attribute.name() == "transB" && attribute.i() != 0;
  int64_t axis = transB ? 0 : 1;
  int64_t before = weight->dims[axis];
  if (node.input_size() > 2)
    offsets.push_back(node.input(2));
  offsets.push_back(weight->name);
  for (StringRef name : offsets) {
    const FileTensor *tensor = contents().find(name);
    if (!tensor)
      continue;
    bool isScalar = tensor->elements == 1 && before != 1;
    if (tensor != weight && (isScalar || tensor->dims.empty()))
      continue;
    if (uses.lookup(name) > 1)
      return refuse(loc, "\"" + name + "\" is used by other nodes too");
    std::vector<int64_t> shape = tensor->dims;
    if (tensor == weight)
      shape[axis] = options.classes;
    else if (!shape.empty() && shape.back() == before &&
             tensor->elements == before)
      shape.back() = options.classes;
    else
      return refuse(loc, "\"" + name + "\" is not a bias of " + Twine(before) +
                             " classes");
    newShapes[name] = std::move(shape);
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// What the operator, its version and its attributes say by themselves.
void Importer::checkSupport(int ordinal, int64_t opset) {
  const onnx::ModelProto &model = contents().model;
  const onnx::NodeProto &node = model.graph().node(ordinal);
  Location loc = nodeLocation(node, ordinal);
  if (!isDefaultDomain(node.domain())) {
    std::string version = "not imported by the file";
    for (const onnx::OperatorSetIdProto &entry : model.opset_import())
      if (entry.domain() == node.domain())
        version = "version " + std::to_string(entry.version());
    bool isFunction = any_of(model.functions(), [&](const auto &function) {
      return function.name() == node.op_type() &&
             function.domain() == node.domain();
    });
    return report(loc, node.op_type() + " of domain \"" + node.domain() +
                           "\" (" + version + ") is not supported" +
                           (isFunction ? ": functions of the model are not "
                                         "inlined"
                                       : ""));
  }
  const OperatorRow *row = findOperator(node.op_type(), opset);
  if (!row)
    return report(loc, node.op_type() + " (opset " + Twine(opset) +
                           ") is not supported");
  NodeImport import(*this, node, ordinal, opset);
  SmallVector<StringRef> known;
  SplitString(row->attributes, known);
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (!is_contained(known, attribute.name()))
      (void)import.error("attribute " + attribute.name() + " is not supported");
    else if (!attribute.ref_attr_name().empty())
      (void)import.error("attribute " + attribute.name() +
                         " refers to an attribute of a function");
  }
  if (node.output_size() == 0 || node.output(0).empty())
    (void)import.error("output 0 is missing");
  for (int i = 1; i < node.output_size(); ++i)
    if (import.outputUsed(i))
      (void)import.error("output " + Twine(i) + " \"" + node.output(i) +
                         "\" is used, which is not supported");
  if (row->check)
    (void)row->check(import);
}

/// Whether all inputs are small integer tensors.
static bool isShapeArithmetic(NodeImport &node) {
  bool any = false;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.hasInput(i))
      continue;
    if (!node.symbolic(i))
      return false;
    any = true;
  }
  return any;
}

void Importer::importNode(int ordinal, int64_t opset) {
  const onnx::NodeProto &proto = contents().model.graph().node(ordinal);
  NodeImport node(*this, proto, ordinal, opset);
  for (unsigned i = 0; i < node.numInputs(); ++i)
    if (node.hasInput(i) && node.slot(i).isPoisoned())
      return;
  const OperatorRow *row = findOperator(proto.op_type(), opset);
  bool evaluated = row->evaluate && isShapeArithmetic(node);
  size_t before = problems.size();
  LogicalResult result = evaluated ? row->evaluate(node) : row->import(node);
  if (failed(result) || node.failed()) {
    // A handler that fails says why.
    if (problems.size() == before)
      (void)node.error("cannot be imported");
    slots[proto.output(0)] = Slot();
  }
}

//===----------------------------------------------------------------------===//
// Graph inputs and outputs
//===----------------------------------------------------------------------===//

void Importer::importInputs(func::FuncOp function) {
  MLIRContext *context = builder.getContext();
  for (const onnx::ValueInfoProto &input : contents().model.graph().input()) {
    if (contents().find(input.name()))
      continue; // an initializer, listed as files before IR 4 must
    Location loc = named(context, input.name(), fileLocation);
    auto refuse = [&](const Twine &why) {
      report(loc, "input \"" + input.name() + "\" " + why);
    };
    if (!input.type().has_tensor_type() ||
        !input.type().tensor_type().has_shape()) {
      refuse("has no tensor shape");
      continue;
    }
    const onnx::TypeProto_Tensor &type = input.type().tensor_type();
    FileTensor element;
    element.type = type.elem_type();
    if (!element.isFloat()) {
      refuse("has element type " + typeName(type.elem_type()) +
             ", expected a floating-point one");
      continue;
    }
    if (type.shape().dim_size() == 0) {
      refuse("is a scalar, expected dimension 0 to be the batch");
      continue;
    }
    SmallVector<int64_t> shape = {ShapedType::kDynamic};
    bool isStatic = true;
    for (int i = 1; i < type.shape().dim_size(); ++i) {
      const auto &dim = type.shape().dim(i);
      if (!dim.has_dim_value() || dim.dim_value() < 0) {
        std::string size = dim.has_dim_value() ? std::to_string(dim.dim_value())
                                               : "\"" + dim.dim_param() + "\"";
        refuse("has size " + size + " in dimension " + Twine(i) +
               "; only dimension 0, the batch, may be free");
        isStatic = false;
        break;
      }
      shape.push_back(dim.dim_value());
    }
    if (!isStatic)
      continue;
    Expected<int64_t> count = countElements(ArrayRef(shape).drop_front());
    if (!count) {
      refuse("is not possible: " + toString(count.takeError()));
      continue;
    }
    const auto &batch = type.shape().dim(0);
    if (batch.has_dim_value() && batch.dim_value() > 0) {
      if (exportedBatch != 0 && exportedBatch != batch.dim_value()) {
        refuse("has " + Twine(batch.dim_value()) +
               " in dimension 0, the batch, but another input has " +
               Twine(exportedBatch));
        continue;
      }
      exportedBatch = batch.dim_value();
    } else if (exportedBatchName.empty()) {
      exportedBatchName = batch.dim_param();
    }
    Value argument = function.getBody().front().addArgument(
        RankedTensorType::get(shape, builder.getF32Type()), loc);
    slots[input.name()].value = argument;
    if (!isUsed(input.name()))
      emitRemark(loc) << "input \"" << input.name() << "\" is not used";
  }
  if (function.getBody().front().getNumArguments() == 0 && problems.empty())
    report(fileLocation, "the graph has no input");
}

LogicalResult Importer::finishFunction(func::FuncOp function) {
  const onnx::GraphProto &proto = contents().model.graph();
  MLIRContext *context = builder.getContext();
  SmallVector<Value> results;
  llvm::StringSet<> seen;
  for (const onnx::ValueInfoProto &output : proto.output()) {
    Location loc = named(context, output.name(), fileLocation);
    Slot &slot = slots[output.name()];
    if (!seen.insert(output.name()).second)
      report(loc, "two outputs are named \"" + output.name() + "\"");
    else if (slot.value && hasBatch(slot.value))
      results.push_back(slot.value);
    else if (!slot.isPoisoned())
      report(loc, "output \"" + output.name() +
                      "\" does not depend on the "
                      "batch in dimension 0");
  }
  if (failed(emitProblems()))
    return failure();
  func::ReturnOp::create(builder, function.getLoc(), results);
  Block &body = function.getBody().front();
  function.setFunctionType(
      builder.getFunctionType(body.getArgumentTypes(), TypeRange(results)));
  unsigned index = 0;
  for (const onnx::ValueInfoProto &input : proto.input()) {
    if (contents().find(input.name()))
      continue;
    NamedAttribute entries[] = {
        builder.getNamedAttr("kind", builder.getStringAttr("input")),
        builder.getNamedAttr("name", builder.getStringAttr(input.name()))};
    function.setArgAttr(index++, "nn.arg", builder.getDictionaryAttr(entries));
  }
  for (auto [i, output] : llvm::enumerate(proto.output()))
    function.setResultAttr(i, "nn.name", builder.getStringAttr(output.name()));
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> Importer::run() {
  const onnx::GraphProto &proto = contents().model.graph();
  std::vector<GraphProblem> graphProblems;
  graph = analyzeGraph(contents(), graphProblems);
  for (const GraphProblem &problem : graphProblems)
    report(problem.node < 0
               ? fileLocation
               : nodeLocation(proto.node(problem.node), problem.node),
           problem.message);
  if (proto.sparse_initializer_size() > 0)
    report(fileLocation, "sparse initializers are not supported");
  if (failed(emitProblems()))
    return failure();

  for (int index : graph.order)
    for (const std::string &input : proto.node(index).input())
      used.insert(input);
  for (const onnx::ValueInfoProto &output : proto.output())
    used.insert(output.name());
  for (int index : graph.order)
    checkSupport(index, graph.opset);
  for (StringRef pattern : options.reinit)
    if (Expected<GlobPattern> glob = GlobPattern::create(pattern); !glob)
      report(fileLocation, "--reinit: \"" + pattern + "\" is no pattern: " +
                               toString(glob.takeError()));
  if (options.classes > 0)
    replaceClasses();
  // No NameLoc: it would name every value that is no node's after the file.
  Location whole =
      FileLineColLoc::get(builder.getStringAttr(file.path()), 0, 0);
  OwningOpRef<ModuleOp> owner = ModuleOp::create(whole);
  module = *owner;
  module->setAttr("nn.model", builder.getStringAttr(file.path()));
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, whole, "forward",
                                       builder.getFunctionType({}, {}));
  Block *body = function.addEntryBlock();
  importInputs(function);
  if (failed(emitProblems()))
    return failure();
  if (!graph.dead.empty())
    emitRemark(fileLocation)
        << graph.dead.size() << " nodes that no output needs are left out";

  findRoles(graph.opset);
  for (const auto &[name, tensor] : contents().tensors)
    if (tensor.kind == FileTensor::Kind::Initializer)
      slots[name].constant = &tensor;
  builder.setInsertionPointToEnd(body);
  for (int index : graph.order)
    importNode(index, graph.opset);
  if (failed(finishFunction(function)))
    return failure();
  for (StringRef pattern : options.reinit) {
    bool any = false;
    for (nn::ParameterOp parameter : module.getOps<nn::ParameterOp>())
      any |= matches(pattern, parameter.getInitializer());
    if (!any)
      return emitError(fileLocation)
             << "--reinit: no parameter matches \"" << pattern << "\"";
  }
  if (failed(verify(module)))
    return failure();
  return owner;
}

FailureOr<ImportedModel> importOnnx(MLIRContext &context, StringRef path,
                                    const ImportOptions &options) {
  context.loadDialect<nn::NNDialect, func::FuncDialect, arith::ArithDialect>();
  Expected<std::shared_ptr<const ModelFile>> file = ModelFile::open(path);
  if (!file)
    return emitError(fileLoc(&context, path)) << toString(file.takeError());
  FailureOr<OwningOpRef<ModuleOp>> module =
      Importer(context, **file, options).run();
  if (failed(module))
    return failure();
  return ImportedModel{std::move(*module), std::move(*file)};
}

} // namespace hpcc
