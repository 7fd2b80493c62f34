// SPDX-License-Identifier: Apache-2.0
// What passes may ask about a back end. Implemented beside each back end and
// injected by the tool; passes never see oneDNN or CUDA.
#pragma once

#include <cstdint>

namespace hpcc {

class TargetInfo {
public:
  virtual ~TargetInfo() = default;

  /// Alignment of every buffer in the arena, in bytes.
  virtual int64_t bufferAlignment() const { return 64; }
  /// Channels in a block of images (layout nChw<b>c); 0 keeps them row-major.
  virtual int64_t imageBlock() const { return 0; }
  /// Elements below which a generated kernel is not worth splitting between
  /// threads.
  virtual int64_t parallelGrain() const { return 4096; }
};

} // namespace hpcc
