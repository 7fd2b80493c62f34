// SPDX-License-Identifier: Apache-2.0
// Export works on a copy of the file's own protobuf, so that whatever hpcc
// does not know of (metadata, unused outputs, documentation) stays as it was.
#include "frontend/export/Export.h"

#include "frontend/onnx/Contents.h"
#include "frontend/onnx/Graph.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <unistd.h>

using namespace llvm;
using onnx::TensorProto;

namespace hpcc {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

template <typename T, typename Convert>
static std::string encode(ArrayRef<float> values, Convert convert) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    T value = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

static std::string encode(ArrayRef<float> values, int32_t type) {
  switch (type) {
  case TensorProto::DOUBLE:
    return encode<double>(values, [](float v) { return double(v); });
  case TensorProto::FLOAT16:
    return encode<uint16_t>(values, floatToHalf);
  case TensorProto::BFLOAT16:
    return encode<uint16_t>(values, floatToBfloat);
  default:
    return encode<float>(values, [](float v) { return v; });
  }
}

static void setBytes(TensorProto &tensor, std::string bytes) {
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(std::move(bytes));
}

namespace {
class Exporter {
public:
  Exporter(const ModelFile::Contents &contents, ArrayRef<TrainedTensor> tensors)
      : contents(contents), tensors(tensors), model(contents.model),
        graph(*model.mutable_graph()) {}

  Error prepare();
  Error write(StringRef path, const ExportOptions &options);

private:
  Error loadExternal(TensorProto &tensor);
  Error place(const TrainedTensor &trained);
  void removeNodes();
  void removeTrainingState();
  void resizeOutputs();

  const ModelFile::Contents &contents;
  ArrayRef<TrainedTensor> tensors;
  onnx::ModelProto model;
  onnx::GraphProto &graph;
  StringMap<int> initializers;
  /// Constant and ConstantOfShape nodes that became initializers.
  StringSet<> replacedNodes;
  /// Last dimension before and after, of each tensor of another size.
  struct Resize {
    std::string name;
    std::vector<int64_t> from, to;
  };
  std::vector<Resize> resizes;
};
} // namespace

/// The input's external file may be missing where the output goes, and its
/// location string is not ours to repeat.
Error Exporter::loadExternal(TensorProto &tensor) {
  if (tensor.data_location() != TensorProto::EXTERNAL)
    return Error::success();
  Expected<std::string> bytes = readBytes(contents, tensor);
  if (!bytes)
    return bytes.takeError();
  setBytes(tensor, std::move(*bytes));
  return Error::success();
}

Error Exporter::place(const TrainedTensor &trained) {
  const FileTensor *tensor = contents.find(trained.initializer);
  if (!tensor)
    return userError("the model has no initializer or constant named \"" +
                     trained.initializer + "\"");
  if (!tensor->isFloat())
    return userError("\"" + trained.initializer + "\" has element type " +
                     typeName(tensor->type));
  auto found = initializers.find(trained.initializer);
  TensorProto *proto;
  if (found != initializers.end()) {
    proto = graph.mutable_initializer(found->second);
  } else {
    initializers[trained.initializer] = graph.initializer_size();
    replacedNodes.insert(trained.initializer);
    proto = graph.add_initializer();
    proto->set_name(trained.initializer);
    proto->set_data_type(tensor->type);
    proto->mutable_dims()->Assign(tensor->dims.begin(), tensor->dims.end());
    if (model.ir_version() < 4) { // initializers must be inputs as well
      onnx::ValueInfoProto *input = graph.add_input();
      input->set_name(trained.initializer);
      onnx::TypeProto_Tensor *type =
          input->mutable_type()->mutable_tensor_type();
      type->set_elem_type(tensor->type);
      for (int64_t dim : tensor->dims)
        type->mutable_shape()->add_dim()->set_dim_value(dim);
    }
  }
  Expected<int64_t> count = countElements(trained.shape);
  if (!count)
    return count.takeError();
  if (int64_t(trained.values.size()) != *count)
    return userError("\"" + trained.initializer + "\" has " +
                     Twine(trained.values.size()) + " values, expected " +
                     Twine(*count));
  if (*count != tensor->elements) {
    resizes.push_back({trained.initializer, tensor->dims, trained.shape});
    proto->mutable_dims()->Assign(trained.shape.begin(), trained.shape.end());
    for (onnx::ValueInfoProto &input : *graph.mutable_input()) {
      if (input.name() != trained.initializer)
        continue;
      auto *shape =
          input.mutable_type()->mutable_tensor_type()->mutable_shape();
      shape->clear_dim();
      for (int64_t dim : trained.shape)
        shape->add_dim()->set_dim_value(dim);
    }
  }
  setBytes(*proto, encode(trained.values, tensor->type));
  return Error::success();
}

/// Removes the nodes whose results are initializers now, and the shape
/// constants that only they used.
void Exporter::removeNodes() {
  if (replacedNodes.empty())
    return;
  StringSet<> shapes, used;
  auto isReplaced = [&](const onnx::NodeProto &node) {
    return node.output_size() == 1 && replacedNodes.contains(node.output(0)) &&
           (node.op_type() == "Constant" ||
            node.op_type() == "ConstantOfShape");
  };
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &input : node.input())
      (isReplaced(node) ? shapes : used).insert(input);
  for (const onnx::ValueInfoProto &output : graph.output())
    used.insert(output.name());
  auto isOrphan = [&](const std::string &name) {
    return shapes.contains(name) && !used.contains(name);
  };
  auto erase = [](auto *list, auto condition) {
    list->erase(std::remove_if(list->begin(), list->end(), condition),
                list->end());
  };
  erase(graph.mutable_node(), [&](const onnx::NodeProto &node) {
    return isReplaced(node) ||
           (node.op_type() == "Constant" && node.output_size() == 1 &&
            isOrphan(node.output(0)));
  });
  auto named = [&](const auto &entry) { return isOrphan(entry.name()); };
  erase(graph.mutable_initializer(), named);
  erase(graph.mutable_input(), named);
}

/// A file may have been exported in training mode; what goes out is for
/// inference.
void Exporter::removeTrainingState() {
  model.clear_training_info();
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    if (!isDefaultDomain(node.domain()))
      continue;
    if (node.op_type() == "Dropout" && node.input_size() > 2)
      node.mutable_input()->RemoveLast();
    if (node.op_type() != "BatchNormalization")
      continue;
    auto *attributes = node.mutable_attribute();
    attributes->erase(std::remove_if(attributes->begin(), attributes->end(),
                                     [](const onnx::AttributeProto &attribute) {
                                       return attribute.name() ==
                                              "training_mode";
                                     }),
                      attributes->end());
    while (node.output_size() > 1)
      node.mutable_output()->RemoveLast();
  }
}

/// After `--classes`: recorded shapes behind the layer are of the old size.
void Exporter::resizeOutputs() {
  if (resizes.empty())
    return;
  graph.clear_value_info();
  StringSet<> changed;
  for (const Resize &resize : resizes)
    changed.insert(resize.name);
  int64_t from = 0, to = 0;
  for (const Resize &resize : resizes)
    for (size_t i = 0; i < resize.from.size() && i < resize.to.size(); ++i)
      if (resize.from[i] != resize.to[i])
        std::tie(from, to) = std::pair(resize.from[i], resize.to[i]);
  std::vector<GraphProblem> problems;
  for (int index : analyzeGraph(contents, problems).order) {
    const onnx::NodeProto &node = contents.model.graph().node(index);
    bool any = llvm::any_of(node.input(), [&](const std::string &input) {
      return changed.contains(input);
    });
    for (const std::string &output : node.output())
      if (any)
        changed.insert(output);
  }
  for (onnx::ValueInfoProto &output : *graph.mutable_output()) {
    if (!changed.contains(output.name()))
      continue;
    auto *shape = output.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = shape->dim_size() - 1; i > 0; --i) {
      if (shape->dim(i).dim_value() != from)
        continue;
      shape->mutable_dim(i)->set_dim_value(to);
      break;
    }
  }
}

Error Exporter::prepare() {
  for (TensorProto &tensor : *graph.mutable_initializer()) {
    initializers[tensor.name()] = initializers.size();
    bool isReplaced = any_of(tensors, [&](const TrainedTensor &trained) {
      return trained.initializer == tensor.name();
    });
    if (!isReplaced)
      if (Error error = loadExternal(tensor))
        return error;
  }
  for (onnx::NodeProto &node : *graph.mutable_node())
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_t())
        if (Error error = loadExternal(*attribute.mutable_t()))
          return error;
  for (const TrainedTensor &trained : tensors)
    if (Error error = place(trained))
      return error;
  resizeOutputs();
  removeNodes();
  removeTrainingState();
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
/// Written under a temporary name beside the target; removed unless committed.
class PendingFile {
public:
  static Expected<PendingFile> create(StringRef target) {
    PendingFile file(target);
    sys::fs::file_status status;
    bool exists = !sys::fs::status(target, status);
    // A device or pipe is written to; a rename would put a file in its place.
    if (exists && !sys::fs::is_directory(status) &&
        !sys::fs::is_regular_file(status)) {
      if (std::error_code error =
              sys::fs::openFileForWrite(target, file.descriptor))
        return userError("cannot write \"" + target + "\": " + error.message());
      file.stream = std::make_unique<raw_fd_ostream>(file.descriptor, true);
      return file;
    }
    if (std::error_code error = sys::fs::createUniqueFile(
            target + ".%%%%%%.tmp", file.descriptor, file.temporary))
      return userError("cannot write \"" + target + "\": " + error.message());
    file.stream = std::make_unique<raw_fd_ostream>(file.descriptor, true);
    return file;
  }
  PendingFile(PendingFile &&) = default;
  ~PendingFile() {
    if (!stream)
      return;        // moved from, or committed
    stream->flush(); // what fails later than this is fatal in LLVM
    stream->clear_error();
    stream.reset();
    if (!temporary.empty())
      (void)sys::fs::remove(temporary);
  }

  raw_fd_ostream &os() { return *stream; }

  Error commit() {
    stream->flush();
    std::error_code error = stream->error();
    // Devices and pipes cannot be synced and need not be.
    if (!error && ::fsync(descriptor) != 0 && errno != EINVAL)
      error = std::error_code(errno, std::generic_category());
    stream->clear_error();
    stream.reset();
    if (!error && !temporary.empty())
      error = sys::fs::rename(temporary, target);
    if (!error)
      return Error::success();
    if (!temporary.empty())
      (void)sys::fs::remove(temporary);
    return userError("cannot write \"" + target + "\": " + error.message());
  }

private:
  explicit PendingFile(StringRef target) : target(target.str()) {}

  std::string target;
  SmallString<128> temporary;
  int descriptor = -1;
  std::unique_ptr<raw_fd_ostream> stream;
};
} // namespace

static void addEntry(TensorProto &tensor, StringRef key, const Twine &value) {
  onnx::StringStringEntryProto *entry = tensor.add_external_data();
  entry->set_key(key.str());
  entry->set_value(value.str());
}

Error Exporter::write(StringRef path, const ExportOptions &options) {
  if (sys::fs::is_directory(path))
    return userError("cannot write \"" + path + "\": it is a folder");
  Expected<PendingFile> file = PendingFile::create(path);
  if (!file)
    return file.takeError();
  uint64_t bytes = 0;
  for (const TensorProto &tensor : graph.initializer())
    bytes += tensor.ByteSizeLong();

  // Data first: a model that is there must find its data.
  std::optional<PendingFile> data;
  if (bytes > options.externalThreshold) {
    std::string dataPath = (path + ".data").str();
    Expected<PendingFile> created = PendingFile::create(dataPath);
    if (!created)
      return created.takeError();
    data.emplace(std::move(*created));
    std::string location = sys::path::filename(dataPath).str();
    uint64_t offset = 0;
    for (TensorProto &tensor : *graph.mutable_initializer()) {
      constexpr size_t smallest = 1024; // less stays in the model
      if (tensor.raw_data().size() < smallest)
        continue;
      uint64_t aligned = alignTo(offset, 64);
      data->os().write_zeros(aligned - offset) << tensor.raw_data();
      uint64_t length = tensor.raw_data().size();
      tensor.clear_raw_data();
      tensor.set_data_location(TensorProto::EXTERNAL);
      addEntry(tensor, "location", location);
      addEntry(tensor, "offset", Twine(aligned));
      addEntry(tensor, "length", Twine(length));
      offset = aligned + length;
    }
  }
  std::string text;
  if (model.ByteSizeLong() > uint64_t(INT32_MAX) ||
      !model.SerializePartialToString(&text))
    return userError("cannot write \"" + path +
                     "\": the model without its weights exceeds 2 GB");
  file->os() << text;
  if (data)
    if (Error error = data->commit())
      return error;
  return file->commit();
}

Error exportOnnx(const ModelFile &file, ArrayRef<TrainedTensor> tensors,
                 StringRef path, const ExportOptions &options) {
  Exporter exporter(file.contents(), tensors);
  if (Error error = exporter.prepare())
    return userError("cannot export to \"" + path +
                     "\": " + toString(std::move(error)));
  return exporter.write(path, options);
}

} // namespace hpcc
