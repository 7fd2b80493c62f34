// SPDX-License-Identifier: Apache-2.0
// What a worker sees of its group: ordered collectives on two channels, their
// errors, and the bytes it received. A collective takes an options object and
// returns a request with a sequence number. Every worker must issue the same
// collectives in the same order on each channel.
#ifndef HPCC_RUNTIME_COMM_COMMUNICATOR_H
#define HPCC_RUNTIME_COMM_COMMUNICATOR_H

#include "runtime/base/DataType.h"
#include "runtime/base/Status.h"
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hpcc::runtime {

class EventLog;

enum class CollectiveOp {
  allGather,
  reduceScatter,
  broadcast,
  reduce,
  allReduce,
  allGatherInPlace,
};
inline constexpr CollectiveOp kAllCollectiveOps[] = {
    CollectiveOp::allGather, CollectiveOp::reduceScatter,
    CollectiveOp::broadcast, CollectiveOp::reduce,
    CollectiveOp::allReduce, CollectiveOp::allGatherInPlace};
inline constexpr size_t kCollectiveOps = std::size(kAllCollectiveOps);

enum class Reduction { sum, max };
inline constexpr Reduction kAllReductions[] = {Reduction::sum, Reduction::max};

/// Collectives of one channel run in order; the two channels are independent,
/// so that a prefetch never delays the gathers inside a pass. The caller runs
/// those of the inline channel itself.
enum class Channel { inlined, background };
inline constexpr Channel kAllChannels[] = {Channel::inlined,
                                           Channel::background};

// The names in the JSON of a descriptor.
std::string_view toString(CollectiveOp op);
std::string_view toString(Reduction reduction);
std::string_view toString(Channel channel);
std::optional<CollectiveOp> parseCollectiveOp(std::string_view name);
std::optional<Reduction> parseReduction(std::string_view name);
std::optional<Channel> parseChannel(std::string_view name);

/// What is the same in every run of one collective. Must outlive its requests.
struct CollectiveOptions {
  CollectiveOp op = CollectiveOp::allReduce;
  Reduction reduction = Reduction::sum;
  DataType type = DataType::f32;
  Channel channel = Channel::inlined;
  /// all_gather, reduce_scatter: the dimension along which parts lie.
  int dim = 0;
  /// Name of the ONNX node, for messages.
  std::string node;
};

/// A contiguous row-major buffer. The shape is copied, the data is not.
struct BufferView {
  static constexpr int kMaxRank = 8;
  BufferView() = default;
  BufferView(void *data, const int64_t *sizes, int rank)
      : data(data), rank(rank) {
    std::copy(sizes, sizes + rank, dims.begin());
  }
  int64_t elements() const;
  std::string shapeString() const;

  void *data = nullptr;
  int rank = 0;
  std::array<int64_t, kMaxRank> dims = {};
};

/// What a started collective is. `pending` is false when there is nothing to
/// wait for: it ran inline, or it failed.
struct Request {
  bool pending = false;
  int64_t sequence = -1;
  Status status;
};

/// Logical bytes received and collectives completed, per op.
struct CommunicationCounters {
  std::array<int64_t, kCollectiveOps> bytes = {};
  std::array<int64_t, kCollectiveOps> collectives = {};
  int64_t totalBytes() const;
};

/// One worker's part in one collective, as hooks see it.
struct TransferInfo {
  int64_t rank = 0;
  int64_t step = -1;
  int64_t sequence = 0;
  const CollectiveOptions *options = nullptr;
};

/// For tests: breaks or holds transfers. Called on the thread that transfers.
class TransferHook {
public:
  enum class Fault { none, drop, truncate };
  virtual ~TransferHook() = default;
  /// What goes wrong with the bytes that this worker should receive.
  virtual Fault fault(const TransferInfo &info) { return Fault::none; }
  /// Returns when the transfer may begin; at once when `stopped()`.
  virtual void hold(const TransferInfo &info,
                    const std::function<bool()> &stopped) {}
};

/// One worker's end of a group. Only its worker's thread may call it, except
/// error() and abort().
class Communicator {
public:
  virtual ~Communicator() = default;

  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;

  /// broadcast and reduce use `root`. Where an op does not read `src` (another
  /// worker's broadcast) or write `dst` (another worker's reduce), it may be
  /// empty. all_reduce and reduce_scatter may work in place.
  virtual Request start(const CollectiveOptions &options, const BufferView &src,
                        const BufferView &dst, int64_t root) = 0;
  /// Returns when the request of the background channel has completed or
  /// failed; in both cases its buffers are no longer in use.
  virtual Status wait(int64_t sequence) = 0;
  /// Stops every worker of the group with this error; the first one wins.
  virtual void abort(const Status &status) = 0;
  /// The error that stopped the group.
  virtual Status error() const = 0;

  /// Names the step in messages.
  virtual void beginStep(int64_t step) = 0;
  virtual CommunicationCounters counters() const = 0;
  /// Records start, wait, begin and end of this worker's collectives; null
  /// stops that. Call it while no collective is in flight.
  virtual void setEventLog(EventLog *log) = 0;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_COMM_COMMUNICATOR_H
