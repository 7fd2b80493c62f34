// SPDX-License-Identifier: Apache-2.0
// CRC-32 (the zip and gzip polynomial) of bytes in pieces.
#ifndef HPCC_RUNTIME_DATA_CRC32_H
#define HPCC_RUNTIME_DATA_CRC32_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <zlib.h>

namespace hpcc::runtime {

/// Continues `crc`, 0 at the start.
inline uint32_t crc32Of(uint32_t crc, std::span<const std::byte> bytes) {
  // zlib takes a null pointer for "start anew", which an empty span may have.
  if (bytes.empty())
    return crc;
  return static_cast<uint32_t>(::crc32_z(
      crc, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_DATA_CRC32_H
