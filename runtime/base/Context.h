// SPDX-License-Identifier: Apache-2.0
// A worker as generated code sees it (`hpcc_context` of the C ABI): its place
// in the group, its device, its descriptor table and its sticky error.
#ifndef HPCC_RUNTIME_BASE_CONTEXT_H
#define HPCC_RUNTIME_BASE_CONTEXT_H

#include "hpcc/abi.h"
#include "runtime/base/Device.h"
#include "runtime/base/EventLog.h"
#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

/// The opaque type of the C ABI; every one of them is a Context.
struct hpcc_context {
protected:
  hpcc_context() = default;
  ~hpcc_context() = default;
};

namespace hpcc::runtime {

struct ContextCounters {
  /// Calls of hpcc_rt_execute that ran a kernel.
  int64_t executes = 0;
  CommunicationCounters communication;
  DeviceCounters device;
};

/// Owned by the worker's thread; only fail(), failed() and error() may be
/// called from others.
class Context : public hpcc_context {
public:
  /// `communicator` is this worker's end of its group and must outlive the
  /// context. `threads` is the worker's team size.
  static Result<std::unique_ptr<Context>>
  create(int64_t rank, int64_t workers, int threads, Communicator &communicator,
         std::string_view device = "cpu");
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  static Context &of(hpcc_context *handle) {
    return *static_cast<Context *>(handle);
  }
  hpcc_context *handle() { return this; }

  int64_t rank() const { return workerRank; }
  int64_t workers() const { return workerCount; }
  int threads() const { return teamSize; }
  Device &device() { return *backEnd; }
  Communicator &communicator() { return group; }

  /// The first error of this worker or of its group.
  Status error() const;
  bool failed() const { return hasError.load(std::memory_order_acquire); }
  /// Records an error and stops the group with it. Later ones are ignored.
  void fail(const Status &status);

  /// Names the step in messages and events.
  void beginStep(int64_t step);
  ContextCounters counters() const;
  std::vector<std::string> remarks() const { return backEnd->remarks(); }
  /// Records kernels and collectives; several workers may share a log. Null
  /// stops that. Call it while no collective is in flight.
  void setEventLog(EventLog *log);

  // The C ABI, see hpcc/abi.h.
  void define(int64_t id, const char *kind, const char *json);
  void execute(int64_t id, void *const *operands, const int64_t *dims);
  int64_t startCollective(int64_t id, void *src, const int64_t *srcDims,
                          void *dst, const int64_t *dstDims, int64_t root);
  void wait(int64_t request);
  void parallelFor(hpcc_range_fn body, void *captured, int64_t begin,
                   int64_t end);

private:
  struct Descriptor {
    std::string kind;
    std::string json;
    /// "conv_forward conv1", for events.
    std::string what;
    std::vector<int> ranks;
    // One of the two, by kind.
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<CollectiveOptions> collective;
  };

  Context(int64_t rank, int64_t workers, int threads, Communicator &group,
          std::unique_ptr<Device> device);
  Result<std::unique_ptr<Descriptor>> createDescriptor(const std::string &kind,
                                                       const std::string &json);
  Descriptor *find(int64_t id, const char *caller);
  void record(EventKind kind, const Descriptor &descriptor);

  const int64_t workerRank;
  const int64_t workerCount;
  const int teamSize;
  Communicator &group;
  std::unique_ptr<Device> backEnd;
  std::vector<std::unique_ptr<Descriptor>> table;
  int64_t executes = 0;
  int64_t currentStep = -1;
  EventLog *events = nullptr;

  std::atomic<bool> hasError = false;
  mutable std::mutex errorMutex;
  Status firstError;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_BASE_CONTEXT_H
