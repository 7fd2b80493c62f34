// SPDX-License-Identifier: Apache-2.0
// Layout strings to memory descriptors, for any order and any blocking.
#include "runtime/cpu/Layout.h"
#include <algorithm>
#include <cctype>

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;
using dnnl::memory;

memory::desc cpu::plainDesc(const Shape &dims, memory::data_type type) {
  memory::dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= std::max<int64_t>(dims[i], 1))
    strides[i] = stride;
  return memory::desc(dims, type, strides);
}

memory::desc cpu::anyDesc(const memory::desc &like) {
  return memory::desc(like.dims(), like.data_type(), memory::format_tag::any);
}

bool cpu::isPlain(const memory::desc &desc) {
  return desc == plainDesc(desc.dims(), desc.data_type());
}

namespace {
struct Block {
  char letter;
  int64_t size;
};
struct ParsedLayout {
  std::string outer; ///< Lower case, in physical order.
  std::vector<Block> blocks;
};
} // namespace

static constexpr std::string_view kLogicalOrder = "goincdhw";

static bool parse(std::string_view text, ParsedLayout &layout) {
  std::string capitals;
  size_t i = 0;
  for (; i < text.size() && std::isalpha(text[i]); ++i) {
    char lower = std::tolower(text[i]);
    if (kLogicalOrder.find(lower) == std::string_view::npos ||
        layout.outer.find(lower) != std::string::npos)
      return false;
    if (std::isupper(text[i]))
      capitals += lower;
    layout.outer += lower;
  }
  while (i < text.size()) {
    int64_t size = 0;
    for (; i < text.size() && std::isdigit(text[i]); ++i)
      size = size * 10 + (text[i] - '0');
    if (i == text.size() || size < 2 || size > 4096 ||
        capitals.find(text[i]) == std::string::npos)
      return false;
    layout.blocks.push_back({text[i++], size});
  }
  // A capital without a block has no meaning.
  return std::all_of(capitals.begin(), capitals.end(), [&](char letter) {
    return std::any_of(
        layout.blocks.begin(), layout.blocks.end(),
        [&](const Block &block) { return block.letter == letter; });
  });
}

static Status mismatch(std::string_view layout, const Shape &physical,
                       const std::string &why) {
  std::string shape;
  for (int64_t extent : physical)
    shape += (shape.empty() ? "" : ",") + std::to_string(extent);
  return Status::error(StatusCode::internal, "layout \"" + std::string(layout) +
                                                 "\" of a buffer [" + shape +
                                                 "]: " + why);
}

Result<memory::desc> cpu::describeLayout(const Shape &physical,
                                         std::string_view text,
                                         memory::data_type type) {
  if (text.empty())
    return plainDesc(physical, type);
  ParsedLayout layout;
  if (!parse(text, layout))
    return mismatch(text, physical, "not understood");
  size_t rank = layout.outer.size();
  if (physical.size() != rank + layout.blocks.size())
    return mismatch(text, physical,
                    "expected rank " +
                        std::to_string(rank + layout.blocks.size()));
  std::string logical = layout.outer;
  std::sort(logical.begin(), logical.end(), [](char a, char b) {
    return kLogicalOrder.find(a) < kLogicalOrder.find(b);
  });

  memory::dims dims(rank), strides(rank);
  int64_t stride = 1;
  for (size_t i = 0; i < layout.blocks.size(); ++i) {
    if (physical[rank + i] != layout.blocks[i].size)
      return mismatch(text, physical,
                      "expected blocks of " +
                          std::to_string(layout.blocks[i].size));
    stride *= layout.blocks[i].size;
  }
  for (size_t i = rank; i-- > 0;) {
    size_t index = logical.find(layout.outer[i]);
    strides[index] = stride;
    dims[index] = physical[i];
    stride *= std::max<int64_t>(physical[i], 1);
  }
  for (const Block &block : layout.blocks)
    dims[logical.find(block.letter)] *= block.size;
  // The library's descriptor is a plain struct in this version; there is no
  // constructor for blocked layouts without a tag of their own.
  memory::desc desc = plainDesc(dims, type);
  dnnl_blocking_desc_t &blocking = desc.data.format_desc.blocking;
  std::copy(strides.begin(), strides.end(), blocking.strides);
  blocking.inner_nblks = layout.blocks.size();
  for (size_t i = 0; i < layout.blocks.size(); ++i) {
    blocking.inner_blks[i] = layout.blocks[i].size;
    blocking.inner_idxs[i] = logical.find(layout.blocks[i].letter);
  }
  return desc;
}
