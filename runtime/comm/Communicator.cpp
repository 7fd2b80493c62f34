// SPDX-License-Identifier: Apache-2.0
// Names of collectives, reductions and channels; shapes in messages.
#include "runtime/comm/Communicator.h"
#include <numeric>

using namespace hpcc::runtime;

std::string_view hpcc::runtime::toString(CollectiveOp op) {
  switch (op) {
  case CollectiveOp::allGather:
    return "all_gather";
  case CollectiveOp::reduceScatter:
    return "reduce_scatter";
  case CollectiveOp::broadcast:
    return "broadcast";
  case CollectiveOp::reduce:
    return "reduce";
  case CollectiveOp::allReduce:
    return "all_reduce";
  case CollectiveOp::allGatherInPlace:
    return "all_gather_in_place";
  }
  return "unknown";
}

std::string_view hpcc::runtime::toString(Reduction reduction) {
  switch (reduction) {
  case Reduction::sum:
    return "sum";
  case Reduction::max:
    return "max";
  }
  return "unknown";
}

std::string_view hpcc::runtime::toString(Channel channel) {
  switch (channel) {
  case Channel::inlined:
    return "inline";
  case Channel::background:
    return "background";
  }
  return "unknown";
}

template <typename Enum, size_t size>
static std::optional<Enum> findByName(const Enum (&values)[size],
                                      std::string_view name) {
  for (Enum value : values)
    if (toString(value) == name)
      return value;
  return std::nullopt;
}

std::optional<CollectiveOp>
hpcc::runtime::parseCollectiveOp(std::string_view name) {
  return findByName(kAllCollectiveOps, name);
}
std::optional<Reduction> hpcc::runtime::parseReduction(std::string_view name) {
  return findByName(kAllReductions, name);
}
std::optional<Channel> hpcc::runtime::parseChannel(std::string_view name) {
  return findByName(kAllChannels, name);
}

int64_t BufferView::elements() const {
  return std::accumulate(dims.begin(), dims.begin() + rank, int64_t(1),
                         std::multiplies<>());
}

std::string BufferView::shapeString() const {
  std::string text = "[";
  for (int i = 0; i < rank; ++i)
    text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

int64_t CommunicationCounters::totalBytes() const {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t(0));
}
