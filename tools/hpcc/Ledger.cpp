// SPDX-License-Identifier: Apache-2.0
// The account of a step's collectives.
#include "tools/hpcc/Ledger.h"

#include "passes/NodeName.h"
#include "runtime/include/hpcc/sharding.h"

#include <numeric>

using namespace mlir;
using namespace hpcc;

int64_t Ledger::bytes() const {
  return std::accumulate(
      entries.begin(), entries.end(), int64_t(0),
      [](int64_t sum, const LedgerEntry &entry) { return sum + entry.bytes; });
}

int64_t hpcc::receivedBytes(comm::Kind kind, int64_t workers, int64_t rank,
                            int64_t root, int64_t sourceBytes,
                            int64_t destinationBytes, int64_t width) {
  // Equal parts of a flat buffer, the first ones longer by an element.
  int64_t own =
      sharding::shard(destinationBytes / width, workers, rank).size * width;
  switch (kind) {
  case comm::Kind::AllGather:
    return destinationBytes - sourceBytes;
  case comm::Kind::ReduceScatter:
    return (workers - 1) * destinationBytes;
  case comm::Kind::Broadcast:
    return rank == root ? 0 : destinationBytes;
  case comm::Kind::Reduce:
    return rank == root ? (workers - 1) * sourceBytes : 0;
  case comm::Kind::AllReduce:
    return (workers - 1) * own + destinationBytes - own;
  case comm::Kind::AllGatherInPlace:
    return destinationBytes - own;
  }
  llvm_unreachable("unknown collective");
}

FailureOr<Ledger> hpcc::computeLedger(func::FuncOp function, int64_t examples,
                                      int64_t rank, int64_t workers) {
  Ledger ledger;
  SymbolicEvaluator evaluator(function, {examples, rank, workers});
  auto bytesOf = [&](Value value) -> FailureOr<int64_t> {
    FailureOr<SmallVector<int64_t>> shape = evaluator.shapeOf(value);
    if (failed(shape))
      return failure();
    Type element = cast<ShapedType>(value.getType()).getElementType();
    return ShapedType::getNumElements(*shape) *
           llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  };
  auto visit = [&](comm::CollectiveOpInterface op,
                   int64_t iteration) -> LogicalResult {
    LedgerEntry entry{op.getKind(),
                      op.getChannel(),
                      getNodeName(op->getLoc()).str(),
                      iteration,
                      -1,
                      0,
                      op.getOperation()};
    if (Value root = op.getRoot()) {
      FailureOr<int64_t> value = evaluator.evaluate(root);
      if (failed(value))
        return failure();
      entry.root = *value;
    }
    Value destination = op.getDestination();
    FailureOr<int64_t> to = bytesOf(destination);
    // A source that counts for nothing need not have a known shape.
    FailureOr<int64_t> from(int64_t(0));
    if (entry.kind == comm::Kind::AllGather || entry.kind == comm::Kind::Reduce)
      from = bytesOf(op.getSource());
    if (failed(to) || failed(from))
      return failure();
    Type element = cast<ShapedType>(destination.getType()).getElementType();
    entry.bytes =
        receivedBytes(entry.kind, workers, rank, entry.root, *from, *to,
                      llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
    ledger.entries.push_back(std::move(entry));
    return success();
  };
  if (failed(evaluator.run(visit)))
    return failure();
  return ledger;
}
