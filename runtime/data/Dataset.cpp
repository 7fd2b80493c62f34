// SPDX-License-Identifier: Apache-2.0
// What all datasets share: normalisation, ranges, label checks and the choice
// of the reader from a SPEC.

#include "runtime/data/Dataset.h"

#include "runtime/data/Array.h"

#include <charconv>
#include <filesystem>
#include <optional>

namespace hpcc::runtime {

Dataset::~Dataset() = default;

int64_t Dataset::exampleElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

void Dataset::read(int64_t index, std::span<float> into) const {
  readRaw(first + index, into);
  if (scale.empty())
    return;
  size_t plane = into.size() / scale.size();
  for (size_t channel = 0; channel < scale.size(); ++channel) {
    float factor = scale[channel], offset = shift[channel];
    for (float &value : into.subspan(channel * plane, plane))
      value = value * factor + offset;
  }
}

Status Dataset::setClasses(int64_t classes) {
  if (!hasClassLabels())
    return {};
  for (int64_t i = 0; i < size(); ++i) {
    int32_t label = classLabel(i);
    if (label < 0 || label >= classes)
      return invalidArgument(
          "'" + spec + "': example " + std::to_string(first + i) +
          " has label " + std::to_string(label) + ", but the model has " +
          std::to_string(classes) + " classes (labels 0 to " +
          std::to_string(classes - 1) + "); --classes gives it another number");
  }
  return {};
}

Status Dataset::setNormalization(const Normalization &normalization) {
  scale.clear();
  shift.clear();
  if (normalization.mean.empty() && normalization.deviation.empty())
    return {};
  size_t channels = shape.empty() ? 1 : static_cast<size_t>(shape[0]);
  auto expand = [&](const char *flag, const std::vector<float> &given,
                    float fallback) -> Result<std::vector<float>> {
    if (given.empty())
      return std::vector<float>(channels, fallback);
    if (given.size() == 1)
      return std::vector<float>(channels, given[0]);
    if (given.size() != channels)
      return invalidArgument(
          std::string(flag) + " has " + std::to_string(given.size()) +
          " numbers, but '" + spec + "' has " + std::to_string(channels) +
          " channels; give one or " + std::to_string(channels));
    return given;
  };
  Result<std::vector<float>> mean = expand("--mean", normalization.mean, 0);
  if (!mean)
    return mean.status();
  Result<std::vector<float>> deviation =
      expand("--std", normalization.deviation, 1);
  if (!deviation)
    return deviation.status();
  for (size_t i = 0; i < channels; ++i) {
    if (!((*deviation)[i] > 0))
      return invalidArgument("--std must be greater than 0, got " +
                             std::to_string((*deviation)[i]));
    scale.push_back(1.0f / (*deviation)[i]);
    shift.push_back(-(*mean)[i] / (*deviation)[i]);
  }
  return {};
}

Status Dataset::restrict(int64_t begin, int64_t end) {
  if (begin < 0 || begin >= end || end > size())
    return invalidArgument("range [" + std::to_string(begin) + ":" +
                           std::to_string(end) + "] of '" + spec +
                           "' must be within its " + std::to_string(size()) +
                           " examples and hold at least one");
  last = first + end;
  first += begin;
  return {};
}

namespace {

/// `base[i:j]`: i and j are missing where they were left out.
struct SpecRange {
  std::string base;
  bool present = false;
  std::optional<int64_t> begin, end;
};

bool parseBound(std::string_view text, std::optional<int64_t> &bound) {
  if (text.empty())
    return true;
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return false;
  bound = value;
  return true;
}

Result<SpecRange> splitRange(const std::string &spec) {
  SpecRange range{spec, false, {}, {}};
  if (!spec.ends_with(']'))
    return range;
  size_t open = spec.rfind('[');
  if (open == std::string::npos)
    return range;
  std::string_view inside =
      std::string_view(spec).substr(open + 1, spec.size() - open - 2);
  size_t colon = inside.find(':');
  if (colon == std::string_view::npos ||
      !parseBound(inside.substr(0, colon), range.begin) ||
      !parseBound(inside.substr(colon + 1), range.end))
    return invalidArgument("range '" + spec.substr(open) + "' of '" + spec +
                           "' is not of the form [i:j]");
  range.base = spec.substr(0, open);
  range.present = true;
  return range;
}

Result<std::unique_ptr<Dataset>> openBase(const std::string &base,
                                          uint64_t seed) {
  constexpr std::string_view kSynthetic = "synthetic:";
  if (base.starts_with(kSynthetic))
    return openSyntheticDataset(base.substr(kSynthetic.size()), seed);
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path path(base);
  if (fs::is_directory(path, error))
    return openIdxDataset(base, "");
  if (base.ends_with(".npz") || fs::is_regular_file(path, error))
    return openNpzDataset(base);
  fs::path parent = path.has_parent_path() ? path.parent_path() : ".";
  if (path.has_filename() && fs::is_directory(parent, error))
    return openIdxDataset(parent.string(), path.filename().string());
  return invalidArgument("no data at '" + base +
                         "': expected an .npz file, a directory with IDX "
                         "files, or synthetic:CxHxW[:N]");
}

} // namespace

Result<std::unique_ptr<Dataset>> openDataset(const std::string &spec,
                                             const DatasetOptions &options) {
  Result<SpecRange> range = splitRange(spec);
  if (!range)
    return range.status();
  Result<std::unique_ptr<Dataset>> dataset =
      openBase(range->base, options.seed);
  if (!dataset)
    return dataset;
  if (range->present)
    if (Status status = (*dataset)->restrict(
            range->begin.value_or(0), range->end.value_or((*dataset)->size()));
        !status)
      return status;
  if (Status status = (*dataset)->setNormalization(options.normalization);
      !status)
    return status;
  return dataset;
}

} // namespace hpcc::runtime
