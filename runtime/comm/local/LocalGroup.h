// SPDX-License-Identifier: Apache-2.0
// A group whose workers are threads of this process. Deterministic: sums run
// in rank order. Never hangs: whoever waits longer than the timeout stops the
// whole group and names the workers that are missing.
#ifndef HPCC_RUNTIME_COMM_LOCAL_LOCALGROUP_H
#define HPCC_RUNTIME_COMM_LOCAL_LOCALGROUP_H

#include "runtime/base/MemoryOps.h"
#include "runtime/comm/Communicator.h"
#include <chrono>
#include <memory>

namespace hpcc::runtime {

struct LocalGroupOptions {
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
  /// Not owned; must outlive the group.
  TransferHook *hook = nullptr;
  const MemoryOps *memory = nullptr; ///< Null: host memory.
};

class LocalGroup {
public:
  explicit LocalGroup(int64_t workers, LocalGroupOptions options = {});
  /// Stops the group if collectives are still in flight.
  ~LocalGroup();
  LocalGroup(const LocalGroup &) = delete;
  LocalGroup &operator=(const LocalGroup &) = delete;

  int64_t size() const;
  /// Worker `rank`'s end; owned by the group.
  Communicator &communicator(int64_t rank);
  /// How long one worker waits for the others in one collective.
  void setTimeout(std::chrono::milliseconds timeout);
  /// Stops every worker, from any thread.
  void abort(const Status &status);
  Status error() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_COMM_LOCAL_LOCALGROUP_H
