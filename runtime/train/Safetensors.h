// SPDX-License-Identifier: Apache-2.0
// The safetensors format for float32 tensors: the length of a JSON header, the
// header, the raw data. Reading trusts nothing in the file.
#ifndef HPCC_RUNTIME_TRAIN_SAFETENSORS_H
#define HPCC_RUNTIME_TRAIN_SAFETENSORS_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hpcc::runtime {

struct TensorView {
  std::string name;
  std::vector<int64_t> shape;
  std::span<const float> values;
};

struct Tensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;
};

/// Identifies the bytes of a file; stored beside it.
struct FileChecksum {
  uint64_t bytes = 0;
  uint32_t crc32 = 0;
  friend bool operator==(const FileChecksum &, const FileChecksum &) = default;
};

/// Writes and syncs the file (under its own name: a checkpoint is atomic as a
/// directory).
Result<FileChecksum> writeSafetensors(const std::string &path,
                                      std::span<const TensorView> tensors);

/// Reads a file whose checksum is `expected`.
Result<std::vector<Tensor>> readSafetensors(const std::string &path,
                                            const FileChecksum &expected);
/// Reads a file as it is.
Result<std::vector<Tensor>> readSafetensors(const std::string &path);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_SAFETENSORS_H
