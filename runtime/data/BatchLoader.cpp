// SPDX-License-Identifier: Apache-2.0
// Producer and consumer over two slots.

#include "runtime/data/BatchLoader.h"

#include "runtime/data/Array.h"
#include "runtime/data/DataOrder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace hpcc::runtime {

void BatchLoader::FreeDeleter::operator()(void *pointer) const {
  std::free(pointer);
}

Result<std::unique_ptr<BatchLoader>>
BatchLoader::create(const Dataset &dataset, const BatchOptions &options) {
  assert(options.batch > 0 && dataset.size() > 0 && "nothing to load");
  assert(options.firstExample < dataset.size() && "starts behind the epoch");
  if (options.classTargets && !dataset.hasClassLabels())
    return invalidArgument("'" + dataset.name() + "' has float labels of " +
                           std::to_string(dataset.labelWidth()) +
                           " values, but the loss needs one class index per "
                           "example (integers [N])");
  if (options.vectorWidth > 0 && !dataset.hasClassLabels() &&
      dataset.labelWidth() != options.vectorWidth)
    return invalidArgument("'" + dataset.name() + "' has labels of " +
                           std::to_string(dataset.labelWidth()) +
                           " values, but the model's output has " +
                           std::to_string(options.vectorWidth));
  std::unique_ptr<BatchLoader> loader(new BatchLoader(dataset, options));
  if (Status status = loader->allocate(); !status)
    return status;
  try {
    loader->thread = std::thread([raw = loader.get()] { raw->produce(); });
  } catch (const std::system_error &error) {
    return environmentError(std::string("cannot start the data thread: ") +
                            error.what());
  }
  return loader;
}

BatchLoader::~BatchLoader() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

Status BatchLoader::allocate() {
  // A short data set never fills a longer batch.
  int64_t rows = std::min(options.batch, dataset.size());
  auto take = [&](int64_t rowElements, int64_t width) -> void * {
    size_t bytes = static_cast<size_t>(rows * rowElements * width);
    buffers.emplace_back(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    return buffers.back().get();
  };
  for (Slot &slot : slots) {
    bool failed = false;
    slot.batch.examples =
        static_cast<float *>(take(dataset.exampleElements(), sizeof(float)));
    failed |= !slot.batch.examples;
    if (options.classTargets) {
      slot.batch.classes = static_cast<int32_t *>(take(1, sizeof(int32_t)));
      failed |= !slot.batch.classes;
    }
    if (options.vectorWidth > 0) {
      slot.batch.vectors =
          static_cast<float *>(take(options.vectorWidth, sizeof(float)));
      failed |= !slot.batch.vectors;
    }
    if (failed)
      return environmentError("no memory for a batch of " +
                              std::to_string(rows) + " examples of '" +
                              dataset.name() + "'");
  }
  order.resize(dataset.size());
  return {};
}

bool BatchLoader::isStopping() {
  std::lock_guard lock(mutex);
  return stopping;
}

bool BatchLoader::fill(Batch &batch) {
  size_t elements = static_cast<size_t>(dataset.exampleElements());
  size_t width = static_cast<size_t>(options.vectorWidth);
  for (int64_t i = 0; i < batch.count; ++i) {
    if (isStopping())
      return false;
    int64_t index = order[batch.first + i];
    dataset.read(index, {batch.examples + i * elements, elements});
    if (batch.classes)
      batch.classes[i] = dataset.classLabel(index);
    if (!batch.vectors)
      continue;
    float *row = batch.vectors + i * width;
    if (!dataset.hasClassLabels()) {
      std::memcpy(row, dataset.vectorLabel(index).data(),
                  width * sizeof(float));
      continue;
    }
    std::fill_n(row, width, 0.0f);
    int64_t label = dataset.classLabel(index);
    assert(label >= 0 && label < options.vectorWidth && "labels are checked");
    row[label] = 1.0f;
  }
  return true;
}

void BatchLoader::produce() {
  int slot = 0;
  int64_t first = options.firstExample;
  for (int64_t epoch = options.firstEpoch; epoch != options.endEpoch; ++epoch) {
    fillDataOrder(order, options.seed, epoch, options.shuffle);
    for (; first < dataset.size(); first += options.batch) {
      {
        std::unique_lock lock(mutex);
        // Bounded by the destructor, which sets `stopping`.
        changed.wait(lock, [&] { return stopping || !slots[slot].full; });
        if (stopping)
          return;
      }
      Batch &batch = slots[slot].batch;
      batch.epoch = epoch;
      batch.first = first;
      batch.count = std::min(options.batch, dataset.size() - first);
      batch.endsEpoch = first + batch.count == dataset.size();
      if (!fill(batch))
        return;
      {
        std::lock_guard lock(mutex);
        slots[slot].full = true;
      }
      changed.notify_all();
      slot = 1 - slot;
    }
    first = 0;
  }
  {
    std::lock_guard lock(mutex);
    finished = true;
  }
  changed.notify_all();
}

Result<const Batch *> BatchLoader::next(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex);
  if (current >= 0) {
    slots[current].full = false;
    changed.notify_all();
  }
  int wanted = current < 0 ? 0 : 1 - current;
  if (!changed.wait_for(lock, timeout,
                        [&] { return slots[wanted].full || finished; }))
    return Status::error(StatusCode::timeout,
                         "'" + dataset.name() + "' gave no batch within " +
                             std::to_string(timeout.count()) + " ms");
  if (!slots[wanted].full)
    return static_cast<const Batch *>(nullptr);
  current = wanted;
  return static_cast<const Batch *>(&slots[wanted].batch);
}

Status checkExampleShape(const Dataset &dataset, const std::string &input,
                         std::span<const int64_t> extents) {
  auto withoutOnes = [](std::span<const int64_t> shape) {
    std::vector<int64_t> kept;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(kept),
                 [](int64_t extent) { return extent != 1; });
    return kept;
  };
  if (withoutOnes(extents) == withoutOnes(dataset.exampleShape()))
    return {};
  if (extents.size() == 1 && extents[0] == dataset.exampleElements())
    return {};
  return invalidArgument("examples of '" + dataset.name() + "' are " +
                         shapeToString(dataset.exampleShape()) +
                         ", but input '" + input + "' of the model wants " +
                         shapeToString(extents));
}

} // namespace hpcc::runtime
