// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/NodeImport.h"

#include "frontend/onnx/Importer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir;
using onnx::AttributeProto;

namespace hpcc {

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  raw_string_ostream os(text);
  os << '[';
  interleaveComma(shape, os, [&](int64_t dim) {
    if (ShapedType::isDynamic(dim))
      os << 'N';
    else
      os << dim;
  });
  os << ']';
  return text;
}

FailureOr<int64_t> normalizeAxis(NodeImport &node, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return node.error("axis " + Twine(axis) + " is outside a tensor of rank " +
                      Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

NodeImport::NodeImport(Importer &importer, const onnx::NodeProto &node,
                       int ordinal, int64_t opset)
    : importer(importer), node(node), ordinal(ordinal), version(opset),
      location(importer.nodeLocation(node, ordinal)) {}

OpBuilder &NodeImport::builder() { return importer.builder; }

LogicalResult NodeImport::error(const Twine &message) {
  hasFailed = true;
  importer.report(location, node.op_type() + " (opset " + Twine(version) +
                                "): " + message);
  return failure();
}

void NodeImport::remark(const Twine &message) {
  emitRemark(location) << message;
}
void NodeImport::warning(const Twine &message) {
  emitWarning(location) << message;
}

void NodeImport::mark(Operation *op) {
  op->setAttr("nn.node", builder().getI64IntegerAttr(ordinal));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *NodeImport::find(StringRef name) const {
  for (const AttributeProto &attribute : node.attribute())
    if (name == attribute.name())
      return &attribute;
  return nullptr;
}

/// Old files leave the type undefined; then the field that is filled decides.
static bool isOfType(const AttributeProto &attribute,
                     AttributeProto::AttributeType type) {
  if (attribute.type() != AttributeProto::UNDEFINED)
    return attribute.type() == type;
  switch (type) {
  case AttributeProto::INT:
    return attribute.has_i();
  case AttributeProto::FLOAT:
    return attribute.has_f();
  case AttributeProto::STRING:
    return attribute.has_s();
  case AttributeProto::INTS:
    return !attribute.has_i() && !attribute.has_f() && !attribute.has_s() &&
           !attribute.has_t() && attribute.floats_size() == 0;
  default:
    return false;
  }
}

const AttributeProto *
NodeImport::findTyped(StringRef name, AttributeProto::AttributeType type) {
  const AttributeProto *attribute = find(name);
  if (!attribute || isOfType(*attribute, type))
    return attribute;
  (void)error("attribute " + name + " is not of type " +
              StringRef(AttributeProto::AttributeType_Name(type)).lower());
  return nullptr;
}

bool NodeImport::hasAttribute(StringRef name) const {
  return find(name) != nullptr;
}

int64_t NodeImport::getInt(StringRef name, int64_t absent) {
  const AttributeProto *attribute = findTyped(name, AttributeProto::INT);
  return attribute ? attribute->i() : absent;
}

double NodeImport::getFloat(StringRef name, double absent) {
  const AttributeProto *attribute = findTyped(name, AttributeProto::FLOAT);
  return attribute ? double(attribute->f()) : double(float(absent));
}

std::string NodeImport::getString(StringRef name, StringRef absent) {
  const AttributeProto *attribute = findTyped(name, AttributeProto::STRING);
  return attribute ? attribute->s() : absent.str();
}

SmallVector<int64_t> NodeImport::getInts(StringRef name) {
  const AttributeProto *attribute = findTyped(name, AttributeProto::INTS);
  if (!attribute)
    return {};
  return SmallVector<int64_t>(attribute->ints().begin(),
                              attribute->ints().end());
}

FailureOr<SmallVector<int64_t>> NodeImport::getInts(StringRef name,
                                                    size_t count,
                                                    int64_t absent, int64_t low,
                                                    int64_t high) {
  if (!hasAttribute(name))
    return SmallVector<int64_t>(count, absent);
  SmallVector<int64_t> values = getInts(name);
  if (hasFailed)
    return failure();
  if (values.size() != count)
    return error("attribute " + name + " has " + Twine(values.size()) +
                 " elements, expected " + Twine(count));
  for (int64_t value : values)
    if (value < low || value > high)
      return error("attribute " + name + " holds " + Twine(value) +
                   ", expected " + Twine(low) + " to " + Twine(high));
  return values;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

bool NodeImport::hasInput(unsigned index) const {
  return index < numInputs() && !node.input(index).empty();
}

StringRef NodeImport::inputName(unsigned index) const {
  return hasInput(index) ? StringRef(node.input(index)) : StringRef();
}

Slot &NodeImport::slot(unsigned index) {
  return importer.slots[inputName(index)];
}

bool NodeImport::isComputed(unsigned index) {
  return hasInput(index) && slot(index).value;
}

Value NodeImport::input(unsigned index) {
  if (!hasInput(index)) {
    (void)error("input " + Twine(index) + " is missing");
    return nullptr;
  }
  Slot &found = slot(index);
  if (found.value)
    return found.value;
  if (found.constant) {
    FailureOr<Value> value = importer.materialize(*found.constant, *this);
    return succeeded(value) ? *value : nullptr;
  }
  std::optional<std::vector<int64_t>> constants;
  if (found.symbolic)
    constants = found.symbolic->constants();
  if (!constants) {
    (void)error("input \"" + inputName(index) +
                "\" is shape arithmetic on the batch, expected a float tensor");
    return nullptr;
  }
  auto type =
      RankedTensorType::get(found.symbolic->dims, builder().getF32Type());
  std::vector<float> values(constants->begin(), constants->end());
  return create<arith::ConstantOp>(
      DenseElementsAttr::get(type, ArrayRef<float>(values)));
}

std::optional<SymbolicTensor> NodeImport::symbolic(unsigned index) {
  if (!hasInput(index))
    return std::nullopt;
  return importer.symbolic(slot(index));
}

FailureOr<SmallVector<int64_t>> NodeImport::integers(unsigned index) {
  std::optional<SymbolicTensor> tensor = symbolic(index);
  std::optional<std::vector<int64_t>> values;
  if (tensor)
    values = tensor->constants();
  if (!values)
    return error("input " + Twine(index) + " \"" + inputName(index) +
                 "\" is not a small constant of integers");
  return SmallVector<int64_t>(values->begin(), values->end());
}

FailureOr<double> NodeImport::scalar(unsigned index) {
  const FileTensor *constant = slot(index).constant;
  if (!constant || !constant->isFloat() || constant->elements != 1)
    return error("input " + Twine(index) + " \"" + inputName(index) +
                 "\" is not a constant scalar");
  Expected<std::vector<float>> values =
      readFloats(importer.contents(), *constant);
  if (!values)
    return error(toString(values.takeError()));
  return double(values->front());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool NodeImport::outputUsed(unsigned index) const {
  return int(index) < node.output_size() && !node.output(index).empty() &&
         importer.isUsed(node.output(index));
}

void NodeImport::setOutput(Value value) {
  if (node.output_size() > 0)
    importer.slots[node.output(0)].value = value;
}

void NodeImport::setOutput(SymbolicTensor tensor) {
  if (node.output_size() > 0)
    importer.slots[node.output(0)].symbolic = std::move(tensor);
}

void NodeImport::forwardInput() {
  if (node.output_size() == 0)
    return;
  Slot copy = slot(0);
  importer.slots[node.output(0)] = std::move(copy);
}

FailureOr<RankedTensorType> NodeImport::tensorType(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> perExample;
  for (int64_t dim : shape)
    if (!ShapedType::isDynamic(dim))
      perExample.push_back(dim);
  Expected<int64_t> count = countElements(perExample);
  if (!count)
    return error("its result " + shapeText(shape) +
                 " is not possible: " + toString(count.takeError()));
  return RankedTensorType::get(shape, builder().getF32Type());
}

Value NodeImport::reshape(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return create<nn::ReshapeOp>(
      RankedTensorType::get(shape, builder().getF32Type()), value);
}

Value NodeImport::floatConstant(double value) {
  auto type = RankedTensorType::get({}, builder().getF32Type());
  return create<arith::ConstantOp>(DenseElementsAttr::get(type, float(value)));
}

} // namespace hpcc
