// SPDX-License-Identifier: Apache-2.0
// Layout arithmetic of storages, and the checks that let the rest of the
// trainer trust a program.

#include "runtime/train/Storage.h"

#include "runtime/include/hpcc/sharding.h"

#include <algorithm>
#include <map>

namespace hpcc::runtime {

namespace {

int64_t product(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t rowElements(const StorageSegment &segment) {
  return product(std::span(segment.shape).subspan(1));
}

} // namespace

int64_t storageRows(const ProgramStorage &storage, int64_t workers,
                    int64_t rank) {
  switch (storage.split) {
  case StorageSplit::Replicated:
    return storage.padded;
  case StorageSplit::Flat:
    return storage.padded / workers;
  case StorageSplit::Dim0:
    return sharding::shard(storage.segments[0].shape[0], workers, rank).size;
  }
  return 0;
}

StorageRange storageRange(const ProgramStorage &storage, int64_t workers,
                          int64_t rank) {
  switch (storage.split) {
  case StorageSplit::Replicated:
    return {0, storage.padded};
  case StorageSplit::Flat: {
    int64_t size = storage.padded / workers;
    return {rank * size, size};
  }
  case StorageSplit::Dim0: {
    const StorageSegment &segment = storage.segments[0];
    sharding::Range rows = sharding::shard(segment.shape[0], workers, rank);
    int64_t row = rowElements(segment);
    return {rows.offset * row, rows.size * row};
  }
  }
  return {};
}

std::vector<std::vector<float>> &slotOf(LogicalState &state, StorageSlot slot) {
  assert(slot != StorageSlot::Gradient && "gradients are no state");
  return slot == StorageSlot::Momentum ? state.momentum : state.values;
}

const std::vector<std::vector<float>> &slotOf(const LogicalState &state,
                                              StorageSlot slot) {
  assert(slot != StorageSlot::Gradient && "gradients are no state");
  return slot == StorageSlot::Momentum ? state.momentum : state.values;
}

std::vector<float> packStorage(const Program &program,
                               const ProgramStorage &storage,
                               const std::vector<std::vector<float>> &tensors) {
  std::vector<float> flat(storage.padded);
  for (const StorageSegment &segment : storage.segments) {
    const std::vector<float> &tensor =
        tensors[findParameter(program, segment.parameter)];
    std::copy(tensor.begin(), tensor.end(), flat.begin() + segment.offset);
  }
  return flat;
}

void unpackStorage(const Program &program, const ProgramStorage &storage,
                   std::span<const float> flat,
                   std::vector<std::vector<float>> &tensors) {
  for (const StorageSegment &segment : storage.segments) {
    std::span<const float> part =
        flat.subspan(segment.offset, product(segment.shape));
    tensors[findParameter(program, segment.parameter)].assign(part.begin(),
                                                              part.end());
  }
}

namespace {

Status broken(const std::string &what) {
  return Status::error(StatusCode::internal,
                       "the compiled program is inconsistent: " + what);
}

Status checkStorage(const Program &program, const ProgramStorage &storage) {
  std::string name = "storage '" + storage.name + "'";
  if (storage.split == StorageSplit::Flat &&
      storage.padded % program.workers != 0)
    return broken(name + " of " + std::to_string(storage.padded) +
                  " elements is not a multiple of " +
                  std::to_string(program.workers) + " workers");
  if (storage.split == StorageSplit::Dim0 &&
      (storage.segments.size() != 1 || storage.segments[0].shape.empty() ||
       storage.segments[0].offset != 0 ||
       product(storage.segments[0].shape) != storage.padded))
    return broken(name + " is split by rows, so it needs exactly one segment "
                         "that fills it");
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const StorageSegment &segment : storage.segments) {
    int64_t index = findParameter(program, segment.parameter);
    if (index < 0)
      return broken(name + " holds '" + segment.parameter +
                    "', which is no parameter");
    int64_t size = product(segment.shape);
    if (size != elementsOf(program.parameters[index]) || segment.offset < 0 ||
        segment.offset + size > storage.padded)
      return broken(name + ": segment of '" + segment.parameter +
                    "' does not fit");
    ranges.emplace_back(segment.offset, segment.offset + size);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return broken(name + " has overlapping segments");
  return {};
}

Status checkFunction(const Program &program, const char *name,
                     const ProgramFunction &function) {
  for (const ProgramArgument &argument : function.arguments) {
    bool needsStorage = argument.kind == ArgumentKind::Value ||
                        argument.kind == ArgumentKind::State;
    if (argument.storage.empty()) {
      if (needsStorage)
        return broken(std::string(name) + ": argument '" + argument.name +
                      "' has no storage");
      continue;
    }
    auto found = std::find_if(program.storages.begin(), program.storages.end(),
                              [&](const ProgramStorage &storage) {
                                return storage.name == argument.storage;
                              });
    if (found == program.storages.end())
      return broken(std::string(name) + ": storage '" + argument.storage +
                    "' does not exist");
    for (int64_t rank = 0; rank < program.workers; ++rank) {
      int64_t elements = 1;
      for (int64_t extent : argument.dims)
        elements *= extent == kStorageRows
                        ? storageRows(*found, program.workers, rank)
                        : extent;
      int64_t held = storageRange(*found, program.workers, rank).size;
      if (elements != held)
        return broken(std::string(name) + ": argument of storage '" +
                      argument.storage + "' has " + std::to_string(elements) +
                      " elements on worker " + std::to_string(rank) +
                      ", which holds " + std::to_string(held));
    }
  }
  return {};
}

} // namespace

Status checkProgram(const Program &program) {
  if (program.workers < 1 || program.batch < 1)
    return broken("no workers or no batch");
  std::map<std::pair<std::string, StorageSlot>, int> seen;
  std::map<std::string, int> names;
  for (const ProgramStorage &storage : program.storages) {
    if (Status status = checkStorage(program, storage); !status)
      return status;
    if (names[storage.name]++)
      return broken("two storages named '" + storage.name + "'");
    if (storage.slot == StorageSlot::Gradient)
      continue;
    for (const StorageSegment &segment : storage.segments)
      if (seen[{segment.parameter, storage.slot}]++)
        return broken("'" + segment.parameter + "' is stored twice");
  }
  for (const ProgramParameter &parameter : program.parameters)
    if (!seen.contains({parameter.name, StorageSlot::Value}))
      return broken("no storage holds '" + parameter.name + "'");
  for (auto [name, function] : {std::pair("train_step", &program.trainStep),
                                std::pair("eval_step", &program.evalStep),
                                std::pair("gradients", &program.gradients),
                                std::pair("forward", &program.forward)})
    if (Status status = checkFunction(program, name, *function); !status)
      return status;
  return {};
}

} // namespace hpcc::runtime
