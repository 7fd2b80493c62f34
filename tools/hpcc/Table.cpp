// SPDX-License-Identifier: Apache-2.0
// Text tables.
#include "tools/hpcc/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace hpcc;

void Table::print(llvm::raw_ostream &os, size_t limit) const {
  auto cell = [&](const std::string &text) {
    return text.size() <= limit ? text : text.substr(0, limit - 3) + "...";
  };
  std::vector<size_t> widths(alignment.size(), 0);
  for (const auto &row : rows)
    for (auto [column, text] : llvm::enumerate(row))
      widths[column] = std::max(widths[column], cell(text).size());
  for (const auto &row : rows) {
    std::string line;
    for (auto [column, text] : llvm::enumerate(row)) {
      std::string shown = cell(text);
      std::string padding(widths[column] - shown.size(), ' ');
      line += column ? "  " : "";
      line += alignment[column] == 'r' ? padding + shown : shown + padding;
    }
    os << llvm::StringRef(line).rtrim() << "\n";
  }
}

std::string hpcc::grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (int64_t place = int64_t(digits.size()) - 3; place > 0; place -= 3)
    digits.insert(place, ",");
  return digits;
}

/// Three significant digits with a decimal unit.
static std::string scaled(double value, llvm::ArrayRef<const char *> units) {
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  int digits = unit == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", digits, value);
  return *units[unit] ? text + " " + units[unit] : text;
}

std::string hpcc::bytesText(double bytes) {
  return scaled(bytes, {"B", "kB", "MB", "GB", "TB"});
}

std::string hpcc::bytesText(llvm::ArrayRef<int64_t> perWorker) {
  if (perWorker.empty())
    return "0 B";
  int64_t least = *llvm::min_element(perWorker);
  int64_t most = *llvm::max_element(perWorker);
  std::string low = bytesText(double(least)), high = bytesText(double(most));
  if (low == high)
    return high;
  return low + " to " + high;
}

std::string hpcc::countText(double value) {
  return scaled(value, {"", "k", "M", "G", "T", "P"});
}
