// SPDX-License-Identifier: Apache-2.0
// Background collectives become start and wait. The loop is rotated by hand:
// scf::pipelineForLoop with memref::multiBuffer carries every value that
// crosses a stage, loses bounds and changes memref types.
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/FunctionArguments.h"
#include "passes/NodeName.h"
#include "passes/Passes.h"
#include "passes/arena/BufferSize.h"

namespace hpcc {
#define GEN_PASS_DEF_SCHEDULEOVERLAPCOLLECTIVES
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;
using comm::CollectiveOpInterface;
using AliasSet = BufferViewFlowAnalysis::ValueSetT;

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

namespace {
enum class Access { Write, Any };
} // namespace

/// Whether `op` itself accesses one of `aliases`. Linalg ops have recursive
/// effects *and* effects of their own, so the interface is asked first.
static bool accesses(Operation *op, const AliasSet &aliases, Access access) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || isPure(op))
      return false;
    return llvm::any_of(op->getOperands(),
                        [&](Value v) { return aliases.contains(v); });
  }
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [&](MemoryEffects::EffectInstance &effect) {
    if (!effect.getValue() || !aliases.contains(effect.getValue()) ||
        isa<MemoryEffects::Allocate>(effect.getEffect()))
      return false;
    return access == Access::Any ||
           !isa<MemoryEffects::Read>(effect.getEffect());
  });
}

/// The first op at or inside `op`, `except` left out, that accesses `aliases`.
static Operation *findAccess(Operation *op, const AliasSet &aliases,
                             Access access, Operation *except = nullptr) {
  Operation *found = nullptr;
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (inner == except || !accesses(inner, aliases, access))
      return WalkResult::advance();
    found = inner;
    return WalkResult::interrupt();
  });
  return found;
}

/// As above, over a range of ops of one block.
static Operation *findAccess(Block::iterator begin, Block::iterator end,
                             const AliasSet &aliases, Access access) {
  for (Operation &op : llvm::make_range(begin, end))
    if (Operation *found = findAccess(&op, aliases, access))
      return found;
  return nullptr;
}

static bool readsDestination(CollectiveOpInterface op) {
  return op.getKind() == comm::Kind::Reduce ||
         op.getKind() == comm::Kind::AllGatherInPlace;
}

/// The allocation of the loop's body that `buffer` is a view of; null where
/// there is none.
static memref::AllocOp allocationIn(scf::ForOp loop, Value buffer) {
  if (!buffer)
    return {};
  auto alloc = rootOfViews(buffer).getDefiningOp<memref::AllocOp>();
  return alloc && alloc->getBlock() == loop.getBody() ? alloc
                                                      : memref::AllocOp();
}

/// The ops of the loop's body that compute the collective's operands. Fails
/// where they depend on more than the induction variable.
static FailureOr<SetVector<Operation *>>
addressSlice(scf::ForOp loop, CollectiveOpInterface op) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == loop.getBody();
  };
  for (Value operand : op->getOperands()) {
    if (llvm::is_contained(loop.getRegionIterArgs(), operand))
      return failure();
    Operation *definition = operand.getDefiningOp();
    if (definition && definition->getBlock() == loop.getBody() &&
        failed(getBackwardSlice(definition, &slice, options)))
      return failure();
  }
  for (Operation *step : slice) {
    // The destination is doubled, which makes it an address too.
    if (step == allocationIn(loop, op.getDestination()))
      continue;
    if (!isPure(step) || step->getNumRegions() != 0)
      return failure();
    for (Value operand : step->getOperands())
      if (llvm::is_contained(loop.getRegionIterArgs(), operand))
        return failure();
  }
  return slice;
}

namespace {
/// A collective of a loop and what its two rules ask of the surroundings.
struct Candidate {
  scf::ForOp loop;
  CollectiveOpInterface op;
  AliasSet source, destination;

  Candidate(scf::ForOp loop, CollectiveOpInterface op,
            const BufferViewFlowAnalysis &views)
      : loop(loop), op(op),
        destination(views.resolve(rootOfViews(op.getDestination()))) {
    if (op.getSource())
      source = views.resolve(rootOfViews(op.getSource()));
  }

  /// Why the collective cannot start an iteration early; empty if it can.
  std::string whyNotPrefetched() {
    if (!op.getSource() || readsDestination(op))
      return "it reads its destination";
    if (!allocationIn(loop, op.getDestination()))
      return "its destination is not a buffer of the loop";
    if (Operation *writer =
            findAccess(loop, source, Access::Write, op.getOperation()))
      return "the loop writes its source in " + describe(writer);
    if (Operation *user = findAccess(loop.getBody()->begin(),
                                     Block::iterator(op.getOperation()),
                                     destination, Access::Any))
      return "its destination is used before it in " + describe(user);
    if (failed(addressSlice(loop, op)))
      return "its operands depend on what the pass before computes";
    return {};
  }

  /// Why the collective cannot end an iteration late; empty if it can.
  std::string whyNotDeferred() {
    if (!op.getSource() || !allocationIn(loop, op.getSource()))
      return "its source is not a buffer of the loop";
    if (Operation *user =
            findAccess(loop, destination, Access::Any, op.getOperation()))
      return "the loop uses its destination in " + describe(user);
    if (Operation *writer =
            findAccess(std::next(Block::iterator(op.getOperation())),
                       loop.getBody()->end(), source, Access::Write))
      return "its source is overwritten after it in " + describe(writer);
    return {};
  }

private:
  static std::string describe(Operation *op) {
    std::string name = getNodeName(op).str();
    std::string kind = op->getName().getStringRef().str();
    return name.empty() ? kind : kind + " of \"" + name + "\"";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// An allocation of the loop becomes slot (iteration mod 2) of one allocation
/// outside. The memref type stays as it was.
static LogicalResult doubleBuffer(IRRewriter &rewriter, scf::ForOp loop,
                                  memref::AllocOp alloc, int64_t alignment) {
  FailureOr<int64_t> bytes = maximumBytes(alloc, alignment);
  if (failed(bytes))
    return failure();
  Location loc = alloc.getLoc();
  rewriter.setInsertionPoint(loop);
  Value slots = memref::AllocOp::create(
      rewriter, loc, MemRefType::get({2 * *bytes}, rewriter.getI8Type()));
  rewriter.setInsertionPoint(alloc);
  AffineExpr iv = rewriter.getAffineDimExpr(0);
  AffineExpr lower = rewriter.getAffineSymbolExpr(0);
  AffineExpr step = rewriter.getAffineSymbolExpr(1);
  Value offset =
      affine::makeComposedAffineApply(
          rewriter, loc,
          AffineMap::get(1, 2, ((iv - lower).floorDiv(step) % 2) * *bytes),
          {loop.getInductionVar(), loop.getLowerBound(), loop.getStep()})
          .getResult();
  rewriter.replaceOpWithNewOp<memref::ViewOp>(alloc, alloc.getType(), slots,
                                              offset, alloc.getDynamicSizes());
  return success();
}

static Value createStart(OpBuilder &b, CollectiveOpInterface op,
                         const IRMapping &map, Value predicate) {
  auto mapped = [&](Value value) {
    return value ? map.lookupOrDefault(value) : Value();
  };
  auto start = comm::StartOp::create(
      b, op.getLoc(), comm::RequestType::get(b.getContext()), op.getKind(),
      mapped(op.getSource()), mapped(op.getDestination()), mapped(op.getRoot()),
      predicate, op.getDim(), op.getReduction(), op.getChannel());
  start->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return start;
}

static void createWait(OpBuilder &b, Location loc, Value request, Value source,
                       Value destination) {
  comm::WaitOp::create(b, loc, request, source, destination);
}

namespace {
struct OverlapCollectives
    : hpcc::impl::ScheduleOverlapCollectivesBase<OverlapCollectives> {
  using ScheduleOverlapCollectivesBase::ScheduleOverlapCollectivesBase;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (failed(pipeline(loop)))
        return signalPassFailure();
    SmallVector<CollectiveOpInterface> rest;
    getOperation().walk([&](CollectiveOpInterface op) {
      if (isSynchronousBackground(op))
        rest.push_back(op);
    });
    for (CollectiveOpInterface op : rest)
      sink(op);
  }

private:
  static bool isSynchronousBackground(CollectiveOpInterface op) {
    return !isa<comm::StartOp>(op) &&
           op.getChannel() == comm::Channel::Background;
  }

  LogicalResult pipeline(scf::ForOp loop) {
    SmallVector<CollectiveOpInterface> ops;
    for (Operation &op : *loop.getBody())
      if (auto collective = dyn_cast<CollectiveOpInterface>(op))
        if (isSynchronousBackground(collective))
          ops.push_back(collective);
    Operation *lastAhead = nullptr;
    for (CollectiveOpInterface op : ops) {
      BufferViewFlowAnalysis views(getOperation());
      Candidate candidate(loop, op, views);
      std::string whyNotPrefetched = candidate.whyNotPrefetched();
      if (whyNotPrefetched.empty()) {
        if (failed(prefetch(loop, op, lastAhead)))
          return failure();
        continue;
      }
      std::string whyNotDeferred = candidate.whyNotDeferred();
      if (whyNotDeferred.empty()) {
        if (failed(defer(loop, op)))
          return failure();
        continue;
      }
      op->emitRemark() << "not overlapped with other passes: not started early "
                       << "because " << whyNotPrefetched
                       << "; not finished late because " << whyNotDeferred;
    }
    return success();
  }

  LogicalResult prefetch(scf::ForOp &loop, CollectiveOpInterface op,
                         Operation *&lastAhead) {
    IRRewriter rewriter(&getContext());
    if (failed(doubleBuffer(rewriter, loop,
                            allocationIn(loop, op.getDestination()),
                            alignment)))
      return failure();
    FailureOr<SetVector<Operation *>> slice = addressSlice(loop, op);
    assert(succeeded(slice) && "checked by whyNotPrefetched");
    Location loc = op.getLoc();
    auto startFor = [&](Value iteration, Value predicate) {
      IRMapping map;
      map.map(loop.getInductionVar(), iteration);
      for (Operation *step : *slice)
        rewriter.clone(*step, map);
      return createStart(rewriter, op, map, predicate);
    };

    rewriter.setInsertionPoint(loop);
    auto lower = getConstantIntValue(loop.getLowerBound());
    auto upper = getConstantIntValue(loop.getUpperBound());
    Value any;
    if (!lower || !upper || *lower >= *upper)
      any = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                  loop.getLowerBound(), loop.getUpperBound());
    Value first = startFor(loop.getLowerBound(), any);

    if (lastAhead)
      rewriter.setInsertionPointAfter(lastAhead);
    else
      rewriter.setInsertionPointToStart(loop.getBody());
    Value next = arith::AddIOp::create(rewriter, loc, loop.getInductionVar(),
                                       loop.getStep());
    Value more = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                       next, loop.getUpperBound());
    Value ahead = startFor(next, more);
    lastAhead = ahead.getDefiningOp();

    return carry(rewriter, loop, op, first, ahead, [&](Value previous) {
      rewriter.setInsertionPoint(op);
      createWait(rewriter, loc, previous, op.getSource(), op.getDestination());
    });
  }

  LogicalResult defer(scf::ForOp &loop, CollectiveOpInterface op) {
    IRRewriter rewriter(&getContext());
    if (failed(doubleBuffer(rewriter, loop, allocationIn(loop, op.getSource()),
                            alignment)))
      return failure();
    Location loc = op.getLoc();
    // A request crosses the iteration, so it holds both slots.
    Value source = rootOfViews(op.getSource());
    Value destination = rootOfViews(op.getDestination());
    rewriter.setInsertionPoint(loop);
    Value none = comm::NullOp::create(rewriter, loc,
                                      comm::RequestType::get(&getContext()));
    rewriter.setInsertionPoint(op);
    Value now = createStart(rewriter, op, IRMapping(), {});
    LogicalResult carried =
        carry(rewriter, loop, op, none, now, [&](Value previous) {
          rewriter.setInsertionPoint(now.getDefiningOp());
          createWait(rewriter, loc, previous, source, destination);
        });
    if (failed(carried))
      return failure();
    rewriter.setInsertionPointAfter(loop);
    createWait(rewriter, loc, loop.getResults().back(), source, destination);
    return success();
  }

  /// Hands `request` from each iteration to the next, which gets it through
  /// `use`, and erases the synchronous op.
  LogicalResult carry(IRRewriter &rewriter, scf::ForOp &loop,
                      CollectiveOpInterface op, Value initial, Value request,
                      function_ref<void(Value)> use) {
    FailureOr<LoopLikeOpInterface> extended = loop.replaceWithAdditionalYields(
        rewriter, initial, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
          OpBuilder::InsertionGuard guard(rewriter);
          use(arguments[0]);
          return SmallVector<Value>{request};
        });
    if (failed(extended))
      return failure();
    loop = cast<scf::ForOp>(extended->getOperation());
    rewriter.eraseOp(op);
    return success();
  }

  void sink(CollectiveOpInterface op) {
    BufferViewFlowAnalysis views(getOperation());
    AliasSet source,
        destination = views.resolve(rootOfViews(op.getDestination()));
    if (op.getSource())
      source = views.resolve(rootOfViews(op.getSource()));
    Operation *stop = op->getNextNode();
    while (!stop->hasTrait<OpTrait::IsTerminator>() &&
           !findAccess(stop, destination, Access::Any) &&
           !findAccess(stop, source, Access::Write))
      stop = stop->getNextNode();
    OpBuilder b(op);
    Value request = createStart(b, op, IRMapping(), {});
    b.setInsertionPoint(stop);
    createWait(b, op.getLoc(), request, op.getSource(), op.getDestination());
    op->erase();
  }
};
} // namespace
