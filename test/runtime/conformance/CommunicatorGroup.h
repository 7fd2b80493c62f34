// SPDX-License-Identifier: Apache-2.0
// The communicators that the conformance suite runs on, and a way to run one
// function on every worker.
#ifndef HPCC_TEST_RUNTIME_CONFORMANCE_COMMUNICATORGROUP_H
#define HPCC_TEST_RUNTIME_CONFORMANCE_COMMUNICATORGROUP_H

#include "runtime/comm/Communicator.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hpcc::runtime::test {

/// A group of workers, whatever they are.
class CommunicatorGroup {
public:
  virtual ~CommunicatorGroup() = default;
  virtual int64_t size() const = 0;
  virtual Communicator &communicator(int64_t rank) = 0;

  /// Runs body(communicator) on every worker at the same time.
  void run(const std::function<void(Communicator &)> &body);
};

struct GroupOptions {
  std::chrono::milliseconds timeout = std::chrono::seconds(20);
  TransferHook *hook = nullptr;
};

/// "local".
std::unique_ptr<CommunicatorGroup> createGroup(const std::string &kind,
                                               int64_t workers,
                                               GroupOptions options = {});
std::vector<std::string> communicatorKinds();

/// Starts a collective and waits for it, on either channel.
Status runCollective(Communicator &communicator,
                     const CollectiveOptions &options, const BufferView &src,
                     const BufferView &dst, int64_t root = 0);

/// A contiguous buffer with a shape.
template <typename T> struct Buffer {
  Buffer() = default;
  explicit Buffer(std::vector<int64_t> sizes, T value = T())
      : dims(std::move(sizes)), data(count(), value) {}
  int64_t count() const {
    int64_t product = 1;
    for (int64_t extent : dims)
      product *= extent;
    return product;
  }
  BufferView view() { return {data.data(), dims.data(), int(dims.size())}; }
  std::vector<int64_t> dims;
  std::vector<T> data;
};

} // namespace hpcc::runtime::test

#endif // HPCC_TEST_RUNTIME_CONFORMANCE_COMMUNICATORGROUP_H
