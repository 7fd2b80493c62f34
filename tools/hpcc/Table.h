// SPDX-License-Identifier: Apache-2.0
// Aligned columns of text, and numbers as people read them.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace hpcc {

class Table {
public:
  /// `alignment`: a character per column, 'l' or 'r'.
  explicit Table(llvm::StringRef alignment) : alignment(alignment) {}
  /// Missing cells at the end are empty.
  void row(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
  /// Columns are two blanks apart; cells longer than `limit` are cut.
  void print(llvm::raw_ostream &os, size_t limit = 48) const;

private:
  std::string alignment;
  std::vector<std::vector<std::string>> rows;
};

/// 1234567 -> "1,234,567".
std::string grouped(int64_t value);
/// "1.23 GB": decimal units, three significant digits.
std::string bytesText(double bytes);
/// Equal values once, else the range: "1.5 MB", "1.2 to 1.5 MB".
std::string bytesText(llvm::ArrayRef<int64_t> perWorker);
/// "4.20 G".
std::string countText(double value);

} // namespace hpcc
