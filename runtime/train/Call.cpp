// SPDX-License-Identifier: Apache-2.0
// Descriptors are row-major, so their strides do not depend on the number of
// rows: a step changes one size, and a pointer where host rows are read.

#include "runtime/train/Call.h"

#include "runtime/include/hpcc/sharding.h"
#include "runtime/train/Storage.h"

#include <algorithm>
#include <numeric>

namespace hpcc::runtime {

namespace {

bool isScalar(ArgumentKind kind) {
  return kind == ArgumentKind::Rank || kind == ArgumentKind::Examples ||
         kind == ArgumentKind::Step || kind == ArgumentKind::Rate;
}

const ProgramStorage &storageOf(const Program &program,
                                const std::string &name) {
  return *std::find_if(
      program.storages.begin(), program.storages.end(),
      [&](const ProgramStorage &storage) { return storage.name == name; });
}

} // namespace

void Call::Bound::setBase(void *memory) {
  descriptor[0] = reinterpret_cast<int64_t>(memory);
  descriptor[1] = descriptor[0];
}

Call::~Call() {
  for (Bound &entry : bound)
    if (entry.owned)
      workers.release(rank, entry.owned);
}

std::vector<int64_t> Call::extents(const ProgramArgument &argument,
                                   int64_t localRows, int64_t n) const {
  std::vector<int64_t> result = argument.dims;
  for (int64_t &extent : result) {
    if (extent == kLocalRows)
      extent = localRows;
    else if (extent == kStepRows)
      extent = n;
    else if (extent == kStorageRows && argument.kind == ArgumentKind::Arena)
      extent = argument.bytes / sizeOf(argument.type);
    else if (extent == kStorageRows)
      extent = storageRows(storageOf(program, argument.storage),
                           program.workers, rank);
  }
  return result;
}

int64_t Call::maximumElements(const ProgramArgument &argument) const {
  int64_t count = 1;
  for (int64_t extent :
       extents(argument, sharding::ceilDiv(program.batch, program.workers),
               program.batch))
    count *= extent;
  return count;
}

int64_t Call::resultElements(size_t index, int64_t n) const {
  int64_t count = 1;
  for (int64_t extent :
       extents(function.arguments[index],
               sharding::examples(n, program.workers, rank).size, n))
    count *= extent;
  return count;
}

Status Call::take(Bound &entry, size_t bytes, Workers::Purpose purpose) {
  Result<void *> memory = workers.allocate(rank, bytes, purpose);
  if (!memory)
    return memory.status();
  entry.owned = *memory;
  entry.base = entry.owned;
  entry.setBase(entry.owned);
  return {};
}

Status Call::prepare(const Resolver &resolve) {
  bound.resize(function.arguments.size());
  positions.resize(program.batch);
  std::iota(positions.begin(), positions.end(), 0);
  for (size_t i = 0; i < bound.size(); ++i) {
    const ProgramArgument &argument = function.arguments[i];
    Bound &entry = bound[i];
    if (argument.kind == ArgumentKind::Context) {
      entry.pointer = workers.context(rank);
      packed.push_back(&entry.pointer);
      continue;
    }
    if (isScalar(argument.kind)) {
      packed.push_back(argument.kind == ArgumentKind::Rate
                           ? static_cast<void *>(&entry.rate)
                           : &entry.scalar);
      continue;
    }
    std::vector<int64_t> sizes = extents(argument, 0, program.batch);
    size_t dims = sizes.size();
    entry.descriptor.assign(3 + 2 * dims, 0);
    std::copy(sizes.begin(), sizes.end(), entry.descriptor.begin() + 3);
    int64_t stride = 1;
    for (size_t d = dims; d-- > 0;) {
      entry.descriptor[3 + dims + d] = stride;
      stride *= d > 0 ? sizes[d] : 1;
    }
    entry.rowBytes = stride * sizeOf(argument.type);
    entry.pointer = entry.descriptor.data();
    packed.push_back(&entry.pointer);

    int64_t bytes = maximumElements(argument) * sizeOf(argument.type);
    switch (argument.kind) {
    case ArgumentKind::Value:
    case ArgumentKind::State:
      entry.setBase(resolve(argument.storage));
      break;
    case ArgumentKind::Arena:
      entry.setBase(resolve(""));
      break;
    case ArgumentKind::Result:
      if (Status status = take(entry, bytes, Workers::Purpose::Data); !status)
        return status;
      break;
    case ArgumentKind::Input:
    case ArgumentKind::Target:
    case ArgumentKind::Position:
      // A device that cannot read the host's batch gets a copy of its rows.
      if (!workers.sharesHostMemory())
        if (Status status = take(entry, bytes, Workers::Purpose::Data); !status)
          return status;
      break;
    default:
      break;
    }
  }
  return {};
}

Status Call::bindRows(Bound &entry, const ProgramArgument &argument,
                      const void *rows, const StepArguments &step) {
  const std::byte *from = static_cast<const std::byte *>(rows);
  int64_t count = 1;
  if (!argument.dims.empty()) {
    count = entry.descriptor[3];
    if (argument.dims[0] == kLocalRows) {
      sharding::Range local =
          sharding::examples(step.examples, program.workers, rank);
      from += local.offset * entry.rowBytes;
      count = local.size;
    } else if (argument.dims[0] == kStepRows) {
      count = step.examples;
    }
    entry.descriptor[3] = count;
  }
  if (!entry.owned) {
    // Generated code does not write to inputs.
    entry.setBase(const_cast<std::byte *>(from));
    return {};
  }
  return workers.copyToWorker(rank, entry.owned, from,
                              static_cast<size_t>(count * entry.rowBytes));
}

Status Call::run(const StepArguments &step) {
  size_t input = 0, target = 0;
  for (size_t i = 0; i < bound.size(); ++i) {
    const ProgramArgument &argument = function.arguments[i];
    Bound &entry = bound[i];
    const void *rows = nullptr;
    switch (argument.kind) {
    case ArgumentKind::Rank:
      entry.scalar = rank;
      continue;
    case ArgumentKind::Examples:
      entry.scalar = step.examples;
      continue;
    case ArgumentKind::Step:
      entry.scalar = step.step;
      continue;
    case ArgumentKind::Rate:
      entry.rate = step.rate;
      continue;
    case ArgumentKind::Input:
      rows = step.inputs[input++];
      break;
    case ArgumentKind::Target:
      rows = step.targets[target++];
      break;
    case ArgumentKind::Position:
      rows = positions.data();
      break;
    case ArgumentKind::Result:
      if (argument.dims.empty())
        continue;
      if (argument.dims[0] == kLocalRows)
        entry.descriptor[3] =
            sharding::examples(step.examples, program.workers, rank).size;
      else if (argument.dims[0] == kStepRows)
        entry.descriptor[3] = step.examples;
      continue;
    default:
      continue;
    }
    if (Status status = bindRows(entry, argument, rows, step); !status)
      return status;
  }
  function.entry(packed.data());
  return {};
}

Status Call::readResult(size_t index, std::span<std::byte> into) const {
  return workers.copyToHost(rank, into.data(), bound[index].owned, into.size());
}

} // namespace hpcc::runtime
