// SPDX-License-Identifier: Apache-2.0
// Parallel loops on GNU OpenMP, the runtime that oneDNN brings. Its entry
// points are called by name, so that no compiler adds a second OpenMP runtime.
#ifndef HPCC_RUNTIME_CPU_PARALLELFOR_H
#define HPCC_RUNTIME_CPU_PARALLELFOR_H

#include <cstdint>
#include <type_traits>

namespace hpcc::runtime::cpu {

using RangeFunction = void (*)(void *captured, int64_t begin, int64_t end);

/// Calls body(captured, b, e) for disjoint ranges that cover [begin, end), one
/// per thread; not at all for an empty range. Allocates nothing.
void parallelFor(int threads, RangeFunction body, void *captured, int64_t begin,
                 int64_t end);

/// The same for a callable body(begin, end).
template <typename Body> void parallelFor(int threads, int64_t n, Body &&body) {
  using Plain = std::remove_reference_t<Body>;
  parallelFor(
      threads,
      [](void *captured, int64_t begin, int64_t end) {
        (*static_cast<Plain *>(captured))(begin, end);
      },
      const_cast<void *>(static_cast<const void *>(&body)), 0, n);
}

/// The team size of oneDNN's parallel loops on the calling thread.
void setTeamSize(int threads);

} // namespace hpcc::runtime::cpu

#endif // HPCC_RUNTIME_CPU_PARALLELFOR_H
