// SPDX-License-Identifier: Apache-2.0
// The worker's context: descriptor table, dispatch, sticky error.
#include "runtime/base/Context.h"

using namespace hpcc::runtime;

/// Ids are dense, counted by the compiler; a wild one must not allocate.
static constexpr int64_t kMaxDescriptors = 1 << 20;

static Status internalError(std::string message) {
  return Status::error(StatusCode::internal, std::move(message));
}

Result<std::unique_ptr<Context>> Context::create(int64_t rank, int64_t workers,
                                                 int threads,
                                                 Communicator &communicator,
                                                 std::string_view device) {
  if (rank < 0 || rank >= workers || communicator.rank() != rank ||
      communicator.size() != workers)
    return internalError("worker " + std::to_string(rank) + " of " +
                         std::to_string(workers) +
                         " does not fit its communicator, worker " +
                         std::to_string(communicator.rank()) + " of " +
                         std::to_string(communicator.size()));
  if (threads < 1)
    return invalidArgument("--threads: expected at least 1, got " +
                           std::to_string(threads));
  Result<std::unique_ptr<Device>> backEnd = createDevice(device, threads);
  if (!backEnd.ok())
    return backEnd.status();
  return std::unique_ptr<Context>(
      new Context(rank, workers, threads, communicator, std::move(*backEnd)));
}

Context::Context(int64_t rank, int64_t workers, int threads,
                 Communicator &group, std::unique_ptr<Device> device)
    : workerRank(rank), workerCount(workers), teamSize(threads), group(group),
      backEnd(std::move(device)) {}

Context::~Context() = default;

Status Context::error() const {
  {
    std::lock_guard<std::mutex> lock(errorMutex);
    if (!firstError.ok())
      return firstError;
  }
  // A peer may have failed while this worker was not communicating.
  return group.error();
}

void Context::fail(const Status &status) {
  if (status.ok())
    return;
  {
    std::lock_guard<std::mutex> lock(errorMutex);
    if (!firstError.ok())
      return;
    group.abort(status);
    // When a peer failed first, the whole group says what that peer says.
    firstError = group.error();
  }
  hasError.store(true, std::memory_order_release);
}

void Context::beginStep(int64_t step) {
  currentStep = step;
  group.beginStep(step);
}

ContextCounters Context::counters() const {
  return {executes, group.counters(), backEnd->counters()};
}

void Context::setEventLog(EventLog *log) {
  events = log;
  group.setEventLog(log);
}

void Context::record(EventKind kind, const Descriptor &descriptor) {
  Event event;
  event.kind = kind;
  event.rank = workerRank;
  event.step = currentStep;
  event.what = descriptor.what;
  events->add(std::move(event));
}

/// "ranks": one small non-negative number per operand.
static Status readRanks(Attributes &attributes, std::vector<int> &ranks) {
  for (int64_t rank : attributes.integers("ranks")) {
    if (rank < 0 || rank > BufferView::kMaxRank)
      return internalError(attributes.where() + ": rank " +
                           std::to_string(rank) + " is not in [0, " +
                           std::to_string(BufferView::kMaxRank) + "]");
    ranks.push_back(rank);
  }
  return attributes.status();
}

static Result<CollectiveOptions> readCollective(Attributes &attributes) {
  std::string op = attributes.string("op", "");
  std::string reduction = attributes.string("reduction", "sum");
  std::string type = attributes.string("type", "f32");
  std::string channel = attributes.string("channel", "inline");
  CollectiveOptions options;
  options.dim = attributes.integer("dim", 0);
  options.node = attributes.string("node", "");
  if (!attributes.status().ok())
    return attributes.status();
  auto unknown = [&](const char *name, const std::string &got) {
    return internalError(attributes.where() + ": unknown " + name + " \"" +
                         got + "\"");
  };
  if (auto value = parseCollectiveOp(op))
    options.op = *value;
  else
    return unknown("op", op);
  if (auto value = parseReduction(reduction))
    options.reduction = *value;
  else
    return unknown("reduction", reduction);
  if (auto value = parseDataType(type))
    options.type = *value;
  else
    return unknown("type", type);
  if (auto value = parseChannel(channel))
    options.channel = *value;
  else
    return unknown("channel", channel);
  return options;
}

Result<std::unique_ptr<Context::Descriptor>>
Context::createDescriptor(const std::string &kind, const std::string &json) {
  auto descriptor = std::make_unique<Descriptor>();
  descriptor->kind = kind;
  descriptor->json = json;
  Result<Attributes> attributes = Attributes::parse(json, kind);
  if (!attributes.ok())
    return attributes.status();
  if (Status status = readRanks(*attributes, descriptor->ranks); !status.ok())
    return status;
  descriptor->what = kind + " " + attributes->string("node", "");
  if (kind == "comm") {
    Result<CollectiveOptions> options = readCollective(*attributes);
    if (!options.ok())
      return options.status();
    if (descriptor->ranks.size() != 2)
      return internalError(attributes->where() +
                           ": a collective has two operands, got " +
                           std::to_string(descriptor->ranks.size()));
    descriptor->collective =
        std::make_unique<CollectiveOptions>(std::move(*options));
    return descriptor;
  }
  Result<std::unique_ptr<Kernel>> kernel =
      backEnd->createKernel({kind, std::move(*attributes), descriptor->ranks});
  if (!kernel.ok())
    return kernel.status();
  descriptor->kernel = std::move(*kernel);
  return descriptor;
}

void Context::define(int64_t id, const char *kind, const char *json) {
  if (failed())
    return;
  if (id < 0 || id >= kMaxDescriptors)
    return fail(internalError("descriptor id " + std::to_string(id) +
                              " is not in [0, " +
                              std::to_string(kMaxDescriptors) + ")"));
  if (size_t(id) >= table.size())
    table.resize(id + 1);
  if (table[id]) {
    if (table[id]->kind != kind || table[id]->json != json)
      fail(internalError("descriptor " + std::to_string(id) +
                         " is defined twice: as " + table[id]->kind + " " +
                         table[id]->json + " and as " + kind + " " + json));
    return;
  }
  Result<std::unique_ptr<Descriptor>> descriptor = createDescriptor(kind, json);
  if (!descriptor.ok())
    return fail(descriptor.status());
  table[id] = std::move(*descriptor);
}

Context::Descriptor *Context::find(int64_t id, const char *caller) {
  if (id >= 0 && size_t(id) < table.size() && table[id])
    return table[id].get();
  fail(internalError(std::string(caller) + ": descriptor " +
                     std::to_string(id) +
                     " is not defined; @init must run before this function"));
  return nullptr;
}

void Context::execute(int64_t id, void *const *operands, const int64_t *dims) {
  if (failed())
    return;
  Descriptor *descriptor = find(id, "hpcc_rt_execute");
  if (!descriptor)
    return;
  if (!descriptor->kernel)
    return fail(internalError(descriptor->what + " is no kernel"));
  if (events)
    record(EventKind::kernelBegin, *descriptor);
  Status status = descriptor->kernel->execute(operands, dims);
  ++executes;
  if (events)
    record(EventKind::kernelEnd, *descriptor);
  if (!status.ok())
    fail(status);
}

int64_t Context::startCollective(int64_t id, void *src, const int64_t *srcDims,
                                 void *dst, const int64_t *dstDims,
                                 int64_t root) {
  if (failed())
    return -1;
  Descriptor *descriptor = find(id, "hpcc_rt_comm_start");
  if (!descriptor)
    return -1;
  if (!descriptor->collective) {
    fail(internalError(descriptor->what + " is no collective"));
    return -1;
  }
  Request request =
      group.start(*descriptor->collective, {src, srcDims, descriptor->ranks[0]},
                  {dst, dstDims, descriptor->ranks[1]}, root);
  if (!request.status.ok())
    fail(request.status);
  return request.pending ? request.sequence : -1;
}

void Context::wait(int64_t request) {
  if (request < 0)
    return;
  // Also after an error: until then peers may still read this worker's
  // buffers.
  Status status = group.wait(request);
  if (!status.ok())
    fail(status);
}

void Context::parallelFor(hpcc_range_fn body, void *captured, int64_t begin,
                          int64_t end) {
  if (!failed())
    backEnd->parallelFor(body, captured, begin, end);
}
