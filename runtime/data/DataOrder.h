// SPDX-License-Identifier: Apache-2.0
// The order of the examples in an epoch, a function of (seed, epoch) alone.
#ifndef HPCC_RUNTIME_DATA_DATAORDER_H
#define HPCC_RUNTIME_DATA_DATAORDER_H

#include <cstdint>
#include <span>

namespace hpcc::runtime {

/// Fills `order` with a permutation of 0 .. N-1 by the Fisher-Yates shuffle:
/// start from the identity; for i = N-1 down to 1 exchange entries i and
/// j = floor(w(i) * (i + 1) / 2^64), where w(i) is the 64-bit word i of the
/// stream: with q = Philox4x32-10(key = seed, counter = (low and high half of
/// floor(i / 2), epoch, 0xF0000001)), w = q[0] + 2^32 q[1] for even i and
/// q[2] + 2^32 q[3] for odd i. Without `shuffle` it is the identity.
void fillDataOrder(std::span<int64_t> order, uint64_t seed, int64_t epoch,
                   bool shuffle);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_DATA_DATAORDER_H
