// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 (Salmon et al., SC'11): random words as a pure function of a
// key and a counter. Data order, initial values and synthetic data draw from
// it, so they depend on the seed alone and not on who asks first.
#ifndef HPCC_RUNTIME_DATA_PHILOX_H
#define HPCC_RUNTIME_DATA_PHILOX_H

#include <array>
#include <cstdint>

namespace hpcc::runtime {

/// What the fourth counter word says about the use of a draw; disjoint from
/// the node ordinals that dropout puts there.
enum class PhiloxDomain : uint32_t {
  DataOrder = 0xF0000001,
  InitialValues = 0xF0000002,
  SyntheticData = 0xF0000003,
};

inline std::array<uint32_t, 4> philox(uint64_t key, uint32_t c0, uint32_t c1,
                                      uint32_t c2, uint32_t c3) {
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53} * c0;
    uint64_t p1 = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_DATA_PHILOX_H
