// SPDX-License-Identifier: Apache-2.0
// Allocations become views of one arena. Intervals of the pre-order numbering
// of ops are enough because `comm.wait` keeps the buffers of its collective;
// first fit, largest first, stays within a few percent of the bytes needed at
// once.
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "passes/FunctionArguments.h"
#include "passes/Passes.h"
#include "passes/arena/BufferSize.h"

namespace hpcc {
#define GEN_PASS_DEF_ARENAPLANMEMORY
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

namespace {
/// First and last op number, both included.
struct Interval {
  int64_t from = std::numeric_limits<int64_t>::max();
  int64_t to = -1;

  bool overlaps(const Interval &other) const {
    return from <= other.to && other.from <= to;
  }
};

struct Buffer {
  memref::AllocOp alloc;
  int64_t bytes = 0;
  Interval needed;
  int64_t offset = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// Numbers ops in the order in which they are entered; `to` is the number of
/// the last op inside.
static DenseMap<Operation *, Interval> numberOps(func::FuncOp function) {
  DenseMap<Operation *, Interval> numbers;
  int64_t next = 0;
  function.walk([&](Operation *op, const WalkStage &stage) {
    if (stage.isBeforeAllRegions())
      numbers[op].from = next++;
    if (stage.isAfterAllRegions())
      numbers[op].to = next++;
  });
  return numbers;
}

static FailureOr<Interval>
neededInterval(memref::AllocOp alloc, const BufferViewFlowAnalysis &views,
               const DenseMap<Operation *, Interval> &numbers) {
  Interval needed;
  Block *block = alloc->getBlock();
  for (Value alias : views.resolve(alloc.getMemref()))
    for (Operation *user : alias.getUsers()) {
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      if (!ancestor || ancestor->hasTrait<OpTrait::IsTerminator>())
        return alloc.emitError()
               << "the buffer leaves its block through " << user->getName();
      if (isa<memref::DimOp>(user))
        continue;
      Interval at = numbers.lookup(ancestor);
      needed.from = std::min(needed.from, at.from);
      needed.to = std::max(needed.to, at.to);
    }
  return needed;
}

static FailureOr<SmallVector<Buffer>> collectBuffers(func::FuncOp function,
                                                     int64_t alignment) {
  DenseMap<Operation *, Interval> numbers = numberOps(function);
  BufferViewFlowAnalysis views(function);
  SmallVector<Buffer> buffers;
  WalkResult walk = function.walk([&](memref::AllocOp alloc) {
    FailureOr<int64_t> bytes = maximumBytes(alloc, alignment);
    FailureOr<Interval> needed = neededInterval(alloc, views, numbers);
    if (failed(bytes) || failed(needed))
      return WalkResult::interrupt();
    buffers.push_back({alloc, *bytes, *needed});
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return buffers;
}

/// Gives every buffer its offset; returns the bytes of the arena.
static int64_t placeFirstFit(SmallVector<Buffer> &buffers) {
  llvm::sort(buffers, [](const Buffer &a, const Buffer &b) {
    return std::make_pair(-a.bytes, a.needed.from) <
           std::make_pair(-b.bytes, b.needed.from);
  });
  int64_t total = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    Buffer &buffer = buffers[i];
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (const Buffer &placed : ArrayRef(buffers).take_front(i))
      if (placed.needed.overlaps(buffer.needed))
        taken.push_back({placed.offset, placed.offset + placed.bytes});
    llvm::sort(taken);
    int64_t offset = 0;
    for (auto [begin, end] : taken) {
      if (begin - offset >= buffer.bytes)
        break;
      offset = std::max(offset, end);
    }
    buffer.offset = offset;
    total = std::max(total, offset + buffer.bytes);
  }
  return total;
}

/// The largest sum of bytes needed at once. It is reached where a buffer
/// begins to be needed.
static int64_t mostBytesAtOnce(ArrayRef<Buffer> buffers) {
  int64_t most = 0;
  for (const Buffer &at : buffers) {
    int64_t sum = 0;
    for (const Buffer &other : buffers)
      if (other.needed.from <= at.needed.from &&
          at.needed.from <= other.needed.to)
        sum += other.bytes;
    most = std::max(most, sum);
  }
  return most;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

static FailureOr<Value> addArena(func::FuncOp function, int64_t bytes,
                                 int64_t live) {
  Builder b(function.getContext());
  DictionaryAttr argument = b.getDictionaryAttr({
      b.getNamedAttr("kind", b.getStringAttr("arena")),
      b.getNamedAttr("name", b.getStringAttr("arena")),
      b.getNamedAttr("bytes", b.getI64IntegerAttr(bytes)),
      b.getNamedAttr("live", b.getI64IntegerAttr(live)),
  });
  unsigned index = function.getNumArguments();
  if (failed(function.insertArgument(
          index, MemRefType::get({bytes}, b.getI8Type()),
          b.getDictionaryAttr(b.getNamedAttr(kArgument, argument)),
          function.getLoc())))
    return failure();
  return Value(function.getArgument(index));
}

static void replaceByView(Buffer &buffer, Value arena) {
  OpBuilder b(buffer.alloc);
  Location loc = buffer.alloc.getLoc();
  Value offset = arith::ConstantIndexOp::create(b, loc, buffer.offset);
  auto view = memref::ViewOp::create(b, loc, buffer.alloc.getType(), arena,
                                     offset, buffer.alloc.getDynamicSizes());
  buffer.alloc.replaceAllUsesWith(view.getResult());
  buffer.alloc.erase();
}

namespace {
struct PlanMemory : hpcc::impl::ArenaPlanMemoryBase<PlanMemory> {
  using ArenaPlanMemoryBase::ArenaPlanMemoryBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !argumentOfKind(function, "context"))
      return;
    FailureOr<SmallVector<Buffer>> buffers =
        collectBuffers(function, alignment);
    if (failed(buffers))
      return signalPassFailure();
    int64_t bytes = placeFirstFit(*buffers);
    FailureOr<Value> arena =
        addArena(function, bytes, mostBytesAtOnce(*buffers));
    if (failed(arena))
      return signalPassFailure();
    for (Buffer &buffer : *buffers)
      replaceByView(buffer, *arena);
  }
};
} // namespace
