// SPDX-License-Identifier: Apache-2.0
// Groups of workers for the conformance suite.
#include "test/runtime/conformance/CommunicatorGroup.h"
#include "runtime/comm/local/LocalGroup.h"
#include <thread>

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;

void CommunicatorGroup::run(const std::function<void(Communicator &)> &body) {
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size(); ++rank)
    threads.emplace_back([&, rank] { body(communicator(rank)); });
  for (std::thread &thread : threads)
    thread.join();
}

namespace {
class ThreadGroup final : public CommunicatorGroup {
public:
  ThreadGroup(int64_t workers, GroupOptions options)
      : group(workers, {options.timeout, options.hook, nullptr}) {}
  int64_t size() const override { return group.size(); }
  Communicator &communicator(int64_t rank) override {
    return group.communicator(rank);
  }

private:
  LocalGroup group;
};
} // namespace

std::unique_ptr<CommunicatorGroup> test::createGroup(const std::string &kind,
                                                     int64_t workers,
                                                     GroupOptions options) {
  if (kind == "local")
    return std::make_unique<ThreadGroup>(workers, options);
  return nullptr;
}

std::vector<std::string> test::communicatorKinds() { return {"local"}; }

Status test::runCollective(Communicator &communicator,
                           const CollectiveOptions &options,
                           const BufferView &src, const BufferView &dst,
                           int64_t root) {
  Request request = communicator.start(options, src, dst, root);
  if (!request.pending)
    return request.status;
  return communicator.wait(request.sequence);
}
