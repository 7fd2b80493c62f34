// SPDX-License-Identifier: Apache-2.0
// Seeded examples without any file, for benchmarks and tests. Values are
// uniform in [-1, 1): example e is a window of one table of 2^20 values that
// starts at a place drawn for e, so that generation runs at the speed of a
// copy and never limits a benchmark. Labels are drawn uniformly.

#include "runtime/data/Array.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Philox.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace hpcc::runtime {

namespace {

constexpr uint32_t kDomain = static_cast<uint32_t>(PhiloxDomain::SyntheticData);
constexpr size_t kTableSize = size_t{1} << 20;

class SyntheticDataset : public Dataset {
public:
  SyntheticDataset(const std::string &spec, int64_t count,
                   std::vector<int64_t> shape, uint64_t seed)
      : Dataset(spec, count, std::move(shape)), seed(seed), table(kTableSize) {
    for (size_t i = 0; i < kTableSize; i += 4) {
      auto words = philox(seed, static_cast<uint32_t>(i / 4), 0, 0, kDomain);
      for (size_t j = 0; j < 4; ++j)
        table[i + j] = static_cast<float>(words[j] >> 8) * 0x1p-23f - 1.0f;
    }
    classLabels.assign(count, 0);
  }

  Status setClasses(int64_t classes) override {
    for (size_t i = 0; i < classLabels.size(); ++i) {
      uint64_t word = draw(i, 1);
      classLabels[i] =
          static_cast<int32_t>(word * static_cast<uint64_t>(classes) >> 32);
    }
    return {};
  }

protected:
  void readRaw(int64_t index, std::span<float> into) const override {
    size_t start = draw(static_cast<size_t>(index), 0) % kTableSize;
    while (!into.empty()) {
      size_t piece = std::min(into.size(), kTableSize - start);
      std::memcpy(into.data(), table.data() + start, piece * sizeof(float));
      into = into.subspan(piece);
      start = 0;
    }
  }

private:
  uint32_t draw(size_t example, size_t word) const {
    return philox(seed, static_cast<uint32_t>(example),
                  static_cast<uint32_t>(uint64_t{example} >> 32), 1,
                  kDomain)[word];
  }

  uint64_t seed;
  std::vector<float> table;
};

bool parsePositive(std::string_view text, int64_t &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0;
}

} // namespace

Result<std::unique_ptr<Dataset>> openSyntheticDataset(const std::string &dims,
                                                      uint64_t seed) {
  std::string spec = "synthetic:" + dims;
  auto wrong = [&] {
    return invalidArgument("'" + spec +
                           "' is not of the form synthetic:CxHxW[:N], such as "
                           "synthetic:3x224x224:1024");
  };
  std::string_view rest = dims;
  int64_t count = 1024;
  if (size_t colon = rest.find(':'); colon != std::string_view::npos) {
    if (!parsePositive(rest.substr(colon + 1), count))
      return wrong();
    rest = rest.substr(0, colon);
  }
  std::vector<int64_t> shape;
  while (true) {
    size_t separator = rest.find('x');
    int64_t extent = 0;
    if (!parsePositive(rest.substr(0, separator), extent))
      return wrong();
    shape.push_back(extent);
    if (separator == std::string_view::npos)
      break;
    rest = rest.substr(separator + 1);
  }
  Result<int64_t> elements = checkedElements(shape, sizeof(float));
  if (!elements || count > INT32_MAX)
    return invalidArgument("'" + spec + "' is too large");
  return std::unique_ptr<Dataset>(
      new SyntheticDataset(spec, count, std::move(shape), seed));
}

} // namespace hpcc::runtime
