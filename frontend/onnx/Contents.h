// SPDX-License-Identifier: Apache-2.0
// What a ModelFile holds. Includes protobuf: frontend/onnx and
// frontend/export only.
#pragma once

#include "frontend/onnx/ModelFile.h"
#include "onnx/onnx_pb.h"
#include <map>

namespace hpcc {

/// A tensor whose elements are in the file.
struct FileTensor {
  enum class Kind { Initializer, Constant, Fill };

  std::string name;
  Kind kind = Kind::Initializer;
  int32_t type = 0; // onnx::TensorProto_DataType
  std::vector<int64_t> dims;
  int64_t elements = 0;
  /// The stored tensor; of a Fill the one element, or null for 0.0f.
  const onnx::TensorProto *proto = nullptr;
  /// A Constant node's value_float(s) or value_int(s).
  const onnx::AttributeProto *attribute = nullptr;
  /// The Constant or ConstantOfShape node, else -1.
  int node = -1;

  bool isFloat() const;
  bool isInteger() const;
};

struct ModelFile::Contents {
  std::string path;
  std::string directory;
  onnx::ModelProto model;
  std::map<std::string, FileTensor> tensors;

  const FileTensor *find(llvm::StringRef name) const;
};

/// Elements as float, of any floating-point type.
llvm::Expected<std::vector<float>>
readFloats(const ModelFile::Contents &contents, const FileTensor &tensor);
/// Elements as integers, of any integer type or bool; the caller has looked
/// at `elements`.
llvm::Expected<std::vector<int64_t>>
readIntegers(const ModelFile::Contents &contents, const FileTensor &tensor);
/// The stored bytes of an initializer or Constant, in memory or external,
/// little-endian and in the file's type.
llvm::Expected<std::string> readBytes(const ModelFile::Contents &contents,
                                      const onnx::TensorProto &tensor);

/// Bytes of one element as stored in raw data; 0 for types without one.
int64_t elementBytes(int32_t type);
std::string typeName(int32_t type);
/// Product of non-negative dims; fails on a negative one or beyond 2^40.
llvm::Expected<int64_t> countElements(llvm::ArrayRef<int64_t> dims);

llvm::Error userError(const llvm::Twine &message);

/// float16 and bfloat16, rounding to nearest even.
float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
uint16_t floatToBfloat(float value);

} // namespace hpcc
