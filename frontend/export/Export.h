// SPDX-License-Identifier: Apache-2.0
// Writes trained values back: the file's own nodes, names, opset and weight
// types, without training state. The target appears complete or not at all.
#pragma once

#include "frontend/onnx/ModelFile.h"
#include "llvm/ADT/ArrayRef.h"

namespace hpcc {

struct TrainedTensor {
  /// `initializer` of the nn.parameter.
  std::string initializer;
  /// Shape in the file's layout (a transposed parameter's shape reversed). It
  /// counts only where the number of elements differs from the file's, as
  /// after `--classes`.
  std::vector<int64_t> shape;
  /// In the file's layout.
  llvm::ArrayRef<float> values;
};

struct ExportOptions {
  /// Tensor data beyond this many bytes goes to `<path>.data` beside the file.
  uint64_t externalThreshold = 2'000'000'000;
};

/// The message of the error names the path and what to do.
llvm::Error exportOnnx(const ModelFile &file,
                       llvm::ArrayRef<TrainedTensor> tensors,
                       llvm::StringRef path, const ExportOptions &options = {});

} // namespace hpcc
