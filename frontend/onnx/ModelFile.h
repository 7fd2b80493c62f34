// SPDX-License-Identifier: Apache-2.0
// A parsed .onnx file and the constant tensors in it, by name. Reads nothing
// of an external data file before a value is asked for, and checks every
// length before it reads.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hpcc {

class ModelFile {
public:
  /// Fails with one message for a file that is missing, too large, truncated or
  /// no ONNX model.
  static llvm::Expected<std::shared_ptr<const ModelFile>>
  open(llvm::StringRef path);
  ~ModelFile();

  llvm::StringRef path() const;

  /// Whether a constant of this name exists: an initializer, or what a Constant
  /// or ConstantOfShape node makes.
  bool hasTensor(llvm::StringRef name) const;
  /// Shape of that constant in the file.
  llvm::Expected<std::vector<int64_t>> shape(llvm::StringRef name) const;
  /// Its elements in the file's order; float16, bfloat16 and double become
  /// float. A parameter that is `transposed` is the transpose of this: see
  /// `transpose` below.
  llvm::Expected<std::vector<float>> readFloats(llvm::StringRef name) const;

  /// The protobuf, for frontend/onnx and frontend/export only.
  struct Contents;
  const Contents &contents() const { return *data; }

private:
  explicit ModelFile(std::unique_ptr<Contents> data);
  std::unique_ptr<Contents> data;
};

/// Transpose of a rows x columns matrix.
std::vector<float> transpose(const std::vector<float> &values, int64_t rows,
                             int64_t columns);

} // namespace hpcc
