// SPDX-License-Identifier: Apache-2.0
// Layout strings of the interface ("nchw", "nChw16c", "OIhw16i16o") and the
// library's memory descriptors. A capital letter is a dimension that is split
// into blocks; the blocks follow at the end, outermost first.
#ifndef HPCC_RUNTIME_CPU_LAYOUT_H
#define HPCC_RUNTIME_CPU_LAYOUT_H

#include "runtime/base/Status.h"
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hpcc::runtime::cpu {

using Shape = std::vector<int64_t>;

/// Row-major f32 with these sizes.
dnnl::memory::desc
plainDesc(const Shape &dims,
          dnnl::memory::data_type type = dnnl::memory::data_type::f32);
/// The library may choose the layout.
dnnl::memory::desc anyDesc(const dnnl::memory::desc &like);
bool isPlain(const dnnl::memory::desc &desc);

/// The descriptor of a buffer with this *physical* shape and layout. Its
/// logical dimensions are in the order g o i n c d h w. An empty layout means
/// row-major in the order given.
Result<dnnl::memory::desc>
describeLayout(const Shape &physical, std::string_view layout,
               dnnl::memory::data_type type = dnnl::memory::data_type::f32);

} // namespace hpcc::runtime::cpu

#endif // HPCC_RUNTIME_CPU_LAYOUT_H
