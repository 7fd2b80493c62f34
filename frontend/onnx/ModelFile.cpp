// SPDX-License-Identifier: Apache-2.0
// Opens a model: parses it, indexes its constant tensors and checks that each
// has as many stored elements as its shape says.
#include "frontend/onnx/Contents.h"
#include "frontend/onnx/ExternalData.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace hpcc {

ModelFile::ModelFile(std::unique_ptr<Contents> data) : data(std::move(data)) {}
ModelFile::~ModelFile() = default;
StringRef ModelFile::path() const { return data->path; }

const FileTensor *ModelFile::Contents::find(StringRef name) const {
  auto it = tensors.find(name.str());
  return it == tensors.end() ? nullptr : &it->second;
}

bool ModelFile::hasTensor(StringRef name) const {
  return data->find(name) != nullptr;
}

static Error noTensor(StringRef path, StringRef name) {
  return userError("\"" + path + "\" has no initializer or constant named \"" +
                   name + "\"; is it the model that was compiled?");
}

Expected<std::vector<int64_t>> ModelFile::shape(StringRef name) const {
  if (const FileTensor *tensor = data->find(name))
    return tensor->dims;
  return noTensor(data->path, name);
}

Expected<std::vector<float>> ModelFile::readFloats(StringRef name) const {
  if (const FileTensor *tensor = data->find(name))
    return hpcc::readFloats(*data, *tensor);
  return noTensor(data->path, name);
}

/// A Constant node's tensor; the importer reports the forms that have none.
static Expected<bool> describeConstant(const onnx::NodeProto &node,
                                       FileTensor &tensor) {
  tensor.kind = FileTensor::Kind::Constant;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    StringRef name = attribute.name();
    if (name == "value" && attribute.has_t()) {
      tensor.proto = &attribute.t();
      tensor.type = attribute.t().data_type();
      tensor.dims.assign(attribute.t().dims().begin(),
                         attribute.t().dims().end());
    } else if (name == "value_float" || name == "value_floats") {
      tensor.attribute = &attribute;
      tensor.type = onnx::TensorProto::FLOAT;
      if (name == "value_floats")
        tensor.dims = {attribute.floats_size()};
    } else if (name == "value_int" || name == "value_ints") {
      tensor.attribute = &attribute;
      tensor.type = onnx::TensorProto::INT64;
      if (name == "value_ints")
        tensor.dims = {attribute.ints_size()};
    } else {
      continue;
    }
    Expected<int64_t> count = countElements(tensor.dims);
    if (!count)
      return count.takeError();
    tensor.elements = *count;
    return true;
  }
  return false;
}

/// A ConstantOfShape node whose shape is a constant.
static Expected<bool> describeFill(const ModelFile::Contents &contents,
                                   const onnx::NodeProto &node,
                                   FileTensor &tensor) {
  const FileTensor *shape =
      node.input_size() == 1 ? contents.find(node.input(0)) : nullptr;
  if (!shape || !shape->isInteger() || shape->elements > 16)
    return false;
  Expected<std::vector<int64_t>> dims = readIntegers(contents, *shape);
  if (!dims)
    return dims.takeError();
  tensor.kind = FileTensor::Kind::Fill;
  tensor.dims = *dims;
  tensor.type = onnx::TensorProto::FLOAT;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() != "value" || !attribute.has_t())
      continue;
    tensor.proto = &attribute.t();
    tensor.type = attribute.t().data_type();
    std::vector<int64_t> valueDims(attribute.t().dims().begin(),
                                   attribute.t().dims().end());
    Expected<int64_t> count = countElements(valueDims);
    if (!count)
      return count.takeError();
    if (*count != 1)
      return userError("attribute value has " + Twine(*count) +
                       " elements, expected 1");
  }
  Expected<int64_t> count = countElements(tensor.dims);
  if (!count)
    return count.takeError();
  // Nothing in the file backs the size of such a tensor: a few bytes can ask
  // for any amount of memory.
  if (*count > int64_t(1) << 31)
    return userError("it makes a tensor of " + Twine(*count) +
                     " elements; the limit is 2^31");
  tensor.elements = *count;
  return true;
}

static std::string nodeLabel(const onnx::NodeProto &node, int index) {
  if (!node.name().empty())
    return "\"" + node.name() + "\"";
  return "\"" + node.op_type() + "#" + std::to_string(index) + "\"";
}

/// As many stored elements as the shape says, wherever they are stored.
static Error
checkStorage(const ModelFile::Contents &contents,
             const onnx::TensorProto &proto, int64_t elements,
             std::vector<std::pair<ExternalRange, std::string>> &ranges) {
  int64_t width = elementBytes(proto.data_type());
  if (width == 0)
    return Error::success(); // refused where it is used
  if (proto.has_segment())
    return userError("tensor \"" + proto.name() +
                     "\" is stored in segments, which hpcc does not read");
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    Expected<ExternalRange> range = resolveExternalData(
        contents.directory, proto, uint64_t(elements) * width);
    if (!range)
      return range.takeError();
    ranges.emplace_back(*range, proto.name());
    return Error::success();
  }
  int64_t stored;
  if (!proto.raw_data().empty()) {
    int64_t bytes = proto.raw_data().size();
    if (bytes != elements * width)
      return userError("tensor \"" + proto.name() + "\": its shape needs " +
                       Twine(elements * width) + " bytes but the file has " +
                       Twine(bytes));
    return Error::success();
  }
  switch (proto.data_type()) {
  case onnx::TensorProto::FLOAT:
    stored = proto.float_data_size();
    break;
  case onnx::TensorProto::DOUBLE:
    stored = proto.double_data_size();
    break;
  case onnx::TensorProto::INT64:
    stored = proto.int64_data_size();
    break;
  case onnx::TensorProto::UINT32:
  case onnx::TensorProto::UINT64:
    stored = proto.uint64_data_size();
    break;
  default:
    stored = proto.int32_data_size();
  }
  if (stored != elements)
    return userError("tensor \"" + proto.name() + "\": its shape needs " +
                     Twine(elements) + " elements but the file has " +
                     Twine(stored));
  return Error::success();
}

static Error indexTensors(ModelFile::Contents &contents) {
  const onnx::GraphProto &graph = contents.model.graph();
  std::vector<std::pair<ExternalRange, std::string>> ranges;
  for (const onnx::TensorProto &proto : graph.initializer()) {
    if (proto.name().empty())
      return userError("an initializer has no name");
    FileTensor tensor;
    tensor.name = proto.name();
    tensor.type = proto.data_type();
    tensor.proto = &proto;
    tensor.dims.assign(proto.dims().begin(), proto.dims().end());
    Expected<int64_t> count = countElements(tensor.dims);
    if (!count)
      return userError("initializer \"" + proto.name() +
                       "\": " + toString(count.takeError()));
    tensor.elements = *count;
    if (Error error = checkStorage(contents, proto, *count, ranges))
      return error;
    if (!contents.tensors.emplace(proto.name(), std::move(tensor)).second)
      return userError("two initializers are named \"" + proto.name() + "\"");
  }
  // Constants first: nodes need not be in topological order.
  for (bool fills : {false, true}) {
    for (int i = 0; i < graph.node_size(); ++i) {
      const onnx::NodeProto &node = graph.node(i);
      if (node.op_type() != (fills ? "ConstantOfShape" : "Constant") ||
          (!node.domain().empty() && node.domain() != "ai.onnx") ||
          node.output_size() != 1 || node.output(0).empty())
        continue;
      FileTensor tensor;
      tensor.name = node.output(0);
      tensor.node = i;
      Expected<bool> found = fills ? describeFill(contents, node, tensor)
                                   : describeConstant(node, tensor);
      if (!found)
        return userError("node " + nodeLabel(node, i) + " (" + node.op_type() +
                         "): " + toString(found.takeError()));
      if (!*found)
        continue;
      if (tensor.proto) {
        int64_t stored = fills ? 1 : tensor.elements;
        if (Error error = checkStorage(contents, *tensor.proto, stored, ranges))
          return userError("node " + nodeLabel(node, i) + ": " +
                           toString(std::move(error)));
      }
      if (!contents.tensors.emplace(node.output(0), std::move(tensor)).second)
        return userError("node " + nodeLabel(node, i) + " redefines \"" +
                         node.output(0) + "\"");
    }
  }
  return checkOverlaps(std::move(ranges));
}

Expected<std::shared_ptr<const ModelFile>> ModelFile::open(StringRef path) {
  auto fail = [&](const Twine &message) {
    return userError("cannot read model \"" + path + "\": " + message);
  };
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return fail(error.message());
  if (status.type() != sys::fs::file_type::regular_file)
    return fail("not a regular file");
  if (status.getSize() > uint64_t(INT32_MAX))
    return fail("it has " + Twine(status.getSize()) +
                " bytes; larger than 2 GB, tensors belong in external data");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(buffer.getError().message());

  auto contents = std::make_unique<Contents>();
  contents->path = path.str();
  contents->directory = sys::path::parent_path(path).str();
  google::protobuf::io::ArrayInputStream stream((*buffer)->getBufferStart(),
                                                (*buffer)->getBufferSize());
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(INT32_MAX);
  if (!contents->model.ParsePartialFromCodedStream(&coded) ||
      !coded.ConsumedEntireMessage())
    return fail("not an ONNX model, or truncated");
  if (!contents->model.has_graph())
    return fail("not an ONNX model: it has no graph");
  if (Error error = indexTensors(*contents))
    return fail(toString(std::move(error)));
  return std::shared_ptr<const ModelFile>(new ModelFile(std::move(contents)));
}

std::vector<float> transpose(const std::vector<float> &values, int64_t rows,
                             int64_t columns) {
  std::vector<float> result(values.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[j * rows + i] = values[i * columns + j];
  return result;
}

} // namespace hpcc
