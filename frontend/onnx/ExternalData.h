// SPDX-License-Identifier: Apache-2.0
// Tensor data outside the .onnx file: where it lies, checked.
#pragma once

#include "frontend/onnx/Contents.h"

namespace hpcc {

struct ExternalRange {
  std::string path;
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// Refuses locations outside `directory`, unknown keys and ranges beyond the
/// end of the file. `bytes` is what the tensor's shape and type need.
llvm::Expected<ExternalRange>
resolveExternalData(llvm::StringRef directory, const onnx::TensorProto &tensor,
                    uint64_t bytes);
llvm::Expected<std::string> readExternalData(const ExternalRange &range);

/// Fails where two tensors share a part, but not the whole, of their ranges.
llvm::Error checkOverlaps(
    std::vector<std::pair<ExternalRange, std::string>> rangesWithNames);

} // namespace hpcc
