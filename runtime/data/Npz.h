// SPDX-License-Identifier: Apache-2.0
// .npz files: named arrays, as numpy.savez writes and numpy.load reads them.
#ifndef HPCC_RUNTIME_DATA_NPZ_H
#define HPCC_RUNTIME_DATA_NPZ_H

#include "runtime/data/Array.h"
#include "runtime/data/Zip.h"

#include <string>
#include <vector>

namespace hpcc::runtime {

/// An open .npz; arrays are read when asked for.
class NpzReader {
public:
  static Result<NpzReader> open(const std::string &path);

  /// Names of the arrays (without ".npy"), in the file's order.
  std::vector<std::string> names() const;
  bool has(const std::string &name) const;
  /// Errors name the file and the array.
  Result<Array> read(const std::string &name) const;

private:
  NpzReader(std::string path, ZipReader zip)
      : path(std::move(path)), zip(std::move(zip)) {}

  std::string path;
  ZipReader zip;
};

/// Every array of the file.
Result<std::vector<Array>> readNpz(const std::string &path);

/// Writes all arrays; the file appears only when it is complete. No arrays
/// give a valid empty file.
Status writeNpz(const std::string &path, std::span<const Array> arrays);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_DATA_NPZ_H
