// SPDX-License-Identifier: Apache-2.0
// Checks the pair of arrays once; reading an example then cannot fail.

#include "runtime/data/ArrayDataset.h"

#include <cstring>
#include <limits>

namespace hpcc::runtime {

namespace {

std::vector<int64_t> exampleShapeOf(const Array &images) {
  return {images.shape.begin() + 1, images.shape.end()};
}

} // namespace

ArrayDataset::ArrayDataset(const std::string &where, Array array)
    : Dataset(where, array.shape[0], exampleShapeOf(array)),
      images(std::move(array)) {}

Result<std::unique_ptr<Dataset>> ArrayDataset::create(const std::string &where,
                                                      Array images,
                                                      const Array &labels) {
  auto wrong = [&](const Array &array, const std::string &what) {
    return invalidArgument("'" + where + "': array '" + array.name + "' of " +
                           toString(array.type) + " " +
                           shapeToString(array.shape) + ": " + what);
  };
  if (images.type != ArrayType::U8 && !isFloat(images.type))
    return wrong(images, "examples must be uint8 or float");
  if (images.shape.empty())
    return wrong(images, "the first extent must count the examples");
  int64_t count = images.shape[0];
  if (labels.shape.empty() || labels.shape[0] != count)
    return wrong(labels, "expected one label for each of the " +
                             std::to_string(count) + " examples of '" +
                             images.name + "'");
  if (count == 0)
    return wrong(images, "there are no examples");
  if (images.elements() == 0)
    return wrong(images, "the examples are empty");

  if (isFloat(images.type) && images.type != ArrayType::F32)
    images = Array::fromFloats(images.name, images.shape, images.toFloats());
  std::unique_ptr<ArrayDataset> dataset(
      new ArrayDataset(where, std::move(images)));
  if (isInteger(labels.type)) {
    // [N, 1] is a column of class indices.
    if (labels.elements() != count)
      return wrong(labels, "class labels must be [N]; vectors must be float");
    dataset->classLabels.resize(count);
    for (int64_t i = 0; i < count; ++i) {
      int64_t label = labels.integerAt(i);
      if (label < std::numeric_limits<int32_t>::min() ||
          label > std::numeric_limits<int32_t>::max())
        return wrong(labels, "label " + std::to_string(label) + " of example " +
                                 std::to_string(i) + " is out of range");
      dataset->classLabels[i] = static_cast<int32_t>(label);
    }
    return std::unique_ptr<Dataset>(std::move(dataset));
  }
  if (labels.elements() == 0)
    return wrong(labels, "the label vectors are empty");
  dataset->floatLabels = labels.toFloats();
  dataset->width = labels.elements() / count;
  return std::unique_ptr<Dataset>(std::move(dataset));
}

void ArrayDataset::readRaw(int64_t index, std::span<float> into) const {
  if (images.type == ArrayType::F32) {
    std::memcpy(into.data(),
                images.bytes.data() + index * into.size() * sizeof(float),
                into.size() * sizeof(float));
    return;
  }
  const std::byte *from = images.bytes.data() + index * into.size();
  for (size_t i = 0; i < into.size(); ++i)
    into[i] = static_cast<float>(std::to_integer<int>(from[i])) / 255.0f;
}

} // namespace hpcc::runtime
