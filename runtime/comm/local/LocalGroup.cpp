// SPDX-License-Identifier: Apache-2.0
// Communicators of a local group: the caller's thread runs the inline channel,
// a thread per worker runs the background channel in order.
#include "runtime/comm/local/LocalGroup.h"
#include "runtime/base/EventLog.h"
#include "runtime/comm/local/MeetingPoint.h"
#include <atomic>
#include <deque>
#include <thread>

using namespace hpcc::runtime;
using namespace hpcc::runtime::local;

namespace {

/// Requests in order of sequence numbers, in storage that is kept.
class RequestQueue {
public:
  bool empty() const { return count == 0; }
  Contribution &front() { return slots[head]; }
  void push(const Contribution &request) {
    if (count == slots.size())
      grow();
    slots[(head + count++) % slots.size()] = request;
  }
  void pop() {
    head = (head + 1) % slots.size();
    --count;
  }

private:
  void grow() {
    std::vector<Contribution> larger(slots.size() * 2);
    for (size_t i = 0; i < count; ++i)
      larger[i] = slots[(head + i) % slots.size()];
    slots = std::move(larger);
    head = 0;
  }
  std::vector<Contribution> slots = std::vector<Contribution>(64);
  size_t head = 0;
  size_t count = 0;
};

class LocalCommunicator final : public Communicator {
public:
  LocalCommunicator(MeetingPoint &meetingPoint, const MemoryOps &memory,
                    TransferHook *hook, int64_t rank, int64_t workers)
      : meetingPoint(meetingPoint), memory(memory), hook(hook),
        workerRank(rank), workers(workers),
        exchanges{Exchange(memory, rank, workers),
                  Exchange(memory, rank, workers)},
        thread([this] { runBackground(); }) {}
  ~LocalCommunicator() override;

  int64_t rank() const override { return workerRank; }
  int64_t size() const override { return workers; }
  Request start(const CollectiveOptions &options, const BufferView &src,
                const BufferView &dst, int64_t root) override;
  Status wait(int64_t sequence) override;
  void abort(const Status &status) override;
  Status error() const override { return meetingPoint.error(); }
  void beginStep(int64_t number) override { step = number; }
  CommunicationCounters counters() const override;
  void setEventLog(EventLog *log) override { events = log; }

private:
  void run(const Contribution &part);
  void ownPartInPlace(const Contribution &part) const;
  void runBackground();
  void waitUntilIdle();
  void record(EventKind kind, const Contribution &part, int64_t bytes = 0);

  MeetingPoint &meetingPoint;
  const MemoryOps &memory;
  TransferHook *const hook;
  const int64_t workerRank;
  const int64_t workers;
  int64_t step = -1;
  std::array<int64_t, std::size(kAllChannels)> issued = {};
  std::array<Exchange, std::size(kAllChannels)> exchanges;
  std::atomic<EventLog *> events = nullptr;
  std::array<std::atomic<int64_t>, kCollectiveOps> bytes = {};
  std::array<std::atomic<int64_t>, kCollectiveOps> collectives = {};

  std::mutex mutex;
  std::condition_variable changed;
  RequestQueue queue;
  int64_t completed = 0;
  bool busy = false;
  bool closing = false;
  std::thread thread; // Last: it uses all of the above.
};

LocalCommunicator::~LocalCommunicator() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    closing = true;
  }
  changed.notify_all();
  thread.join();
}

void LocalCommunicator::record(EventKind kind, const Contribution &part,
                               int64_t received) {
  EventLog *log = events;
  if (!log)
    return;
  Event event;
  event.kind = kind;
  event.rank = workerRank;
  event.step = part.step;
  event.sequence = part.sequence;
  event.background = part.options->channel == Channel::background;
  event.bytes = received;
  event.what =
      std::string(toString(part.options->op)) + " " + part.options->node;
  log->add(std::move(event));
}

/// The compiler may hand the own part of an in-place all-gather as a buffer of
/// its own.
void LocalCommunicator::ownPartInPlace(const Contribution &part) const {
  int64_t count = part.dst.elements() / workers;
  if (part.options->op != CollectiveOp::allGatherInPlace || !part.src.data ||
      count == 0 || part.src.elements() != count)
    return;
  DataType type = part.options->type;
  char *own =
      static_cast<char *>(part.dst.data) + workerRank * count * sizeOf(type);
  if (own != part.src.data)
    memory.copy(type, {own, count}, {part.src.data, count}, count, 1);
}

void LocalCommunicator::run(const Contribution &part) {
  const CollectiveOptions &options = *part.options;
  ownPartInPlace(part);
  if (!meetingPoint.contribute(workerRank, part))
    return;
  TransferHook::Fault fault = TransferHook::Fault::none;
  if (hook) {
    TransferInfo info{workerRank, part.step, part.sequence, &options};
    fault = hook->fault(info);
    hook->hold(info, [this] { return meetingPoint.stopped(); });
  }
  record(EventKind::commBegin, part);
  int64_t received = 0;
  int stages = Exchange::stages(options.op);
  for (int stage = 0; stage < stages; ++stage) {
    if (!meetingPoint.stopped())
      received += exchanges[size_t(options.channel)].run(
          meetingPoint.parts(options.channel), stage, fault);
    bool last = stage + 1 == stages;
    if (last) {
      // Counted before the others are let go, so that a sum over workers taken
      // after a collective is complete.
      bytes[size_t(options.op)] += received;
      ++collectives[size_t(options.op)];
      record(EventKind::commEnd, part, received);
    }
    if (!meetingPoint.finish(workerRank, part, /*more=*/!last))
      return;
  }
}

Request LocalCommunicator::start(const CollectiveOptions &options,
                                 const BufferView &src, const BufferView &dst,
                                 int64_t root) {
  Request request;
  if (meetingPoint.stopped()) {
    request.status = meetingPoint.error();
    return request;
  }
  Contribution part{&options, src,  dst,
                    root,     step, issued[size_t(options.channel)]++};
  request.sequence = part.sequence;
  record(EventKind::commStart, part);
  if (options.channel == Channel::inlined) {
    run(part);
    request.status = meetingPoint.error();
    return request;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    queue.push(part);
  }
  changed.notify_all();
  request.pending = true;
  return request;
}

void LocalCommunicator::runBackground() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return closing || !queue.empty(); });
    if (queue.empty())
      return;
    Contribution part = queue.front();
    queue.pop();
    busy = true;
    lock.unlock();
    run(part);
    lock.lock();
    busy = false;
    completed = part.sequence + 1;
    changed.notify_all();
  }
}

Status LocalCommunicator::wait(int64_t sequence) {
  EventLog *log = events;
  Event event;
  if (log) {
    event.rank = workerRank;
    event.step = step;
    event.sequence = sequence;
    event.background = true;
    event.kind = EventKind::commWait;
    log->add(event);
  }
  {
    // No timeout of its own: each collective before it ends in bounded time.
    std::unique_lock<std::mutex> lock(mutex);
    if (sequence >= issued[size_t(Channel::background)])
      return Status::error(StatusCode::internal,
                           "wait for request " + std::to_string(sequence) +
                               ", which was never started");
    changed.wait(lock, [&] { return completed > sequence; });
  }
  if (log) {
    event.kind = EventKind::commWaited;
    log->add(event);
  }
  return meetingPoint.error();
}

void LocalCommunicator::waitUntilIdle() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [this] { return queue.empty() && !busy; });
}

void LocalCommunicator::abort(const Status &status) {
  meetingPoint.stop(status);
  // The caller is about to give up its buffers.
  waitUntilIdle();
}

CommunicationCounters LocalCommunicator::counters() const {
  CommunicationCounters snapshot;
  for (size_t op = 0; op < kCollectiveOps; ++op) {
    snapshot.bytes[op] = bytes[op];
    snapshot.collectives[op] = collectives[op];
  }
  return snapshot;
}

} // namespace

struct LocalGroup::Implementation {
  Implementation(int64_t workers, const LocalGroupOptions &options)
      : meetingPoint(workers) {
    meetingPoint.setTimeout(options.timeout);
    const MemoryOps &memory =
        options.memory ? *options.memory : hostMemoryOps();
    for (int64_t rank = 0; rank < workers; ++rank)
      communicators.push_back(std::make_unique<LocalCommunicator>(
          meetingPoint, memory, options.hook, rank, workers));
  }
  MeetingPoint meetingPoint;
  std::vector<std::unique_ptr<LocalCommunicator>> communicators;
};

LocalGroup::LocalGroup(int64_t workers, LocalGroupOptions options)
    : implementation(std::make_unique<Implementation>(workers, options)) {}

LocalGroup::~LocalGroup() {
  abort(Status::error(StatusCode::aborted, "the group of workers has ended"));
}

int64_t LocalGroup::size() const {
  return implementation->communicators.size();
}

Communicator &LocalGroup::communicator(int64_t rank) {
  return *implementation->communicators[rank];
}

void LocalGroup::setTimeout(std::chrono::milliseconds timeout) {
  implementation->meetingPoint.setTimeout(timeout);
}

void LocalGroup::abort(const Status &status) {
  implementation->meetingPoint.stop(status);
}

Status LocalGroup::error() const {
  return implementation->meetingPoint.error();
}
