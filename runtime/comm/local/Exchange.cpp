// SPDX-License-Identifier: Apache-2.0
// The data movement of each collective. Every worker pulls what it needs;
// sums run in rank order, so that all workers get the same bits.
#include "runtime/comm/local/Exchange.h"
#include "hpcc/sharding.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::local;

/// A buffer as rows that are `extent * inner` elements long; parts of `dim`
/// are column ranges.
struct Rows {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
  int64_t pitch() const { return extent * inner; }
};

static Rows rowsOf(const BufferView &buffer, int dim) {
  Rows rows;
  for (int i = 0; i < dim; ++i)
    rows.outer *= buffer.dims[i];
  rows.extent = buffer.dims[dim];
  for (int i = dim + 1; i < buffer.rank; ++i)
    rows.inner *= buffer.dims[i];
  return rows;
}

static Block blockAt(const BufferView &buffer, DataType type, int64_t offset,
                     int64_t pitch) {
  // An empty buffer may have no address to add to.
  if (offset == 0)
    return {buffer.data, pitch};
  return {static_cast<char *>(buffer.data) + offset * sizeOf(type), pitch};
}

void Exchange::shorten(int64_t &width, int64_t &rows) const {
  if (fault == TransferHook::Fault::drop)
    rows = 0;
  else if (fault == TransferHook::Fault::truncate)
    (rows > 1 ? rows : width) /= 2;
}

void Exchange::receive(const Contribution &from, bool isOwn, Block dst,
                       Block src, int64_t width, int64_t rows) {
  if (!isOwn) {
    shorten(width, rows);
    received += width * rows * sizeOf(from.options->type);
  }
  if (width * rows != 0 && dst.data != src.data)
    memory.copy(from.options->type, dst, src, width, rows);
}

void Exchange::reduce(const CollectiveOptions &options, Block dst,
                      int64_t width, int64_t rows) {
  shorten(width, rows);
  if (width * rows == 0)
    return;
  received += (blocks.size() - 1) * width * rows * sizeOf(options.type);
  switch (options.reduction) {
  case Reduction::sum:
    return memory.sum(options.type, dst, blocks, width, rows);
  case Reduction::max:
    return memory.max(options.type, dst, blocks, width, rows);
  }
}

void Exchange::allGather(std::span<const Contribution> parts) {
  const Contribution &own = parts[rank];
  const CollectiveOptions &options = *own.options;
  Rows dst = rowsOf(own.dst, options.dim);
  int64_t offset = 0;
  for (size_t from = 0; from < parts.size(); ++from) {
    Rows src = rowsOf(parts[from].src, options.dim);
    receive(parts[from], int64_t(from) == rank,
            blockAt(own.dst, options.type, offset, dst.pitch()),
            {parts[from].src.data, src.pitch()}, src.pitch(), src.outer);
    offset += src.pitch();
  }
}

void Exchange::reduceScatter(std::span<const Contribution> parts) {
  const Contribution &own = parts[rank];
  const CollectiveOptions &options = *own.options;
  Rows src = rowsOf(own.src, options.dim);
  Rows dst = rowsOf(own.dst, options.dim);
  int64_t offset = 0;
  for (int64_t lower = 0; lower < rank; ++lower)
    offset += rowsOf(parts[lower].dst, options.dim).pitch();
  for (size_t from = 0; from < parts.size(); ++from)
    blocks[from] = blockAt(parts[from].src, options.type, offset, src.pitch());
  reduce(options, {own.dst.data, dst.pitch()}, dst.pitch(), dst.outer);
}

void Exchange::broadcast(std::span<const Contribution> parts) {
  const Contribution &own = parts[rank];
  const Contribution &root = parts[own.root];
  int64_t count = root.src.elements();
  receive(root, own.root == rank, {own.dst.data, count}, {root.src.data, count},
          count, 1);
}

void Exchange::reduceToRoot(std::span<const Contribution> parts) {
  const Contribution &own = parts[rank];
  if (own.root != rank)
    return;
  int64_t count = own.src.elements();
  for (size_t from = 0; from < parts.size(); ++from)
    blocks[from] = {parts[from].src.data, count};
  reduce(*own.options, {own.dst.data, count}, count, 1);
}

void Exchange::gatherShards(std::span<const Contribution> parts) {
  const Contribution &own = parts[rank];
  int64_t count = own.dst.elements();
  int64_t workers = parts.size();
  for (int64_t from = 0; from < workers; ++from) {
    if (from == rank)
      continue;
    sharding::Range range = sharding::shard(count, workers, from);
    DataType type = own.options->type;
    receive(parts[from], false, blockAt(own.dst, type, range.offset, count),
            blockAt(parts[from].dst, type, range.offset, count), range.size, 1);
  }
}

void Exchange::allReduce(std::span<const Contribution> parts, int stage) {
  // Balanced: each worker sums one shard, then all gather the shards. In place
  // is safe, because in the first stage only the owner of a shard writes it
  // and in its own buffer only the owner reads it.
  if (stage == 1)
    return gatherShards(parts);
  const Contribution &own = parts[rank];
  int64_t count = own.dst.elements();
  sharding::Range range = sharding::shard(count, parts.size(), rank);
  DataType type = own.options->type;
  for (size_t from = 0; from < parts.size(); ++from)
    blocks[from] = blockAt(parts[from].src, type, range.offset, count);
  reduce(*own.options, blockAt(own.dst, type, range.offset, count), range.size,
         1);
}

int64_t Exchange::run(std::span<const Contribution> parts, int stage,
                      TransferHook::Fault injected) {
  fault = injected;
  received = 0;
  switch (parts[rank].options->op) {
  case CollectiveOp::allGather:
    allGather(parts);
    break;
  case CollectiveOp::reduceScatter:
    reduceScatter(parts);
    break;
  case CollectiveOp::broadcast:
    broadcast(parts);
    break;
  case CollectiveOp::reduce:
    reduceToRoot(parts);
    break;
  case CollectiveOp::allReduce:
    allReduce(parts, stage);
    break;
  case CollectiveOp::allGatherInPlace:
    gatherShards(parts);
    break;
  }
  return received;
}
