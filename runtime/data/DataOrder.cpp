// SPDX-License-Identifier: Apache-2.0
// Fisher-Yates with words addressed by index, not drawn from a state.

#include "runtime/data/DataOrder.h"

#include "runtime/data/Philox.h"

#include <numeric>
#include <utility>

namespace hpcc::runtime {

void fillDataOrder(std::span<int64_t> order, uint64_t seed, int64_t epoch,
                   bool shuffle) {
  std::iota(order.begin(), order.end(), int64_t{0});
  if (!shuffle)
    return;
  for (size_t i = order.size(); i-- > 1;) {
    uint64_t block = i / 2;
    auto q =
        philox(seed, static_cast<uint32_t>(block),
               static_cast<uint32_t>(block >> 32), static_cast<uint32_t>(epoch),
               static_cast<uint32_t>(PhiloxDomain::DataOrder));
    size_t half = i % 2 * 2;
    uint64_t word = q[half] | uint64_t{q[half + 1]} << 32;
    // __int128 is an extension, but one that both compilers have.
    __extension__ using Wide = unsigned __int128;
    std::swap(order[i],
              order[static_cast<uint64_t>(Wide{word} * (i + 1) >> 64)]);
  }
}

} // namespace hpcc::runtime
