// SPDX-License-Identifier: Apache-2.0
// nn.head -> a loop over passes (architecture, section 1). The body is written
// once for all workers; what differs between schemes is how the rows of a pass
// come in and how their gradients go back, and what differs between update
// policies is when the optimizer ops run.
#include "passes/comm/HeadPartitioner.h"

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCCOMMEXPANDHEAD
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
/// Copies the marks of the op at work onto the ops made for it.
struct MarkListener : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (!source)
      return;
    for (StringRef name : {"nn.node", "nn.placement"})
      if (Attribute attr = source->getAttr(name))
        op->setAttr(name, attr);
  }
  Operation *source = nullptr;
};

class HeadExpander {
public:
  HeadExpander(nn::HeadOp head, StepFunction &step, const Options &options)
      : head(head), step(step), options(options), loc(head.getLoc()),
        builder(head->getContext()), body(head.getBody().front()),
        yield(cast<nn::YieldOp>(body.getTerminator())) {
    builder.setListener(&marks);
    sums = yield.getSums().size();
    grads = yield.getGrads().size();
    group = options.passesPerUpdate();
    passes = options.passes();
    for (Operation &op : body.without_terminator()) {
      if (isa<OptimizerOpInterface>(op))
        optimizers.push_back(cast<OptimizerOpInterface>(op));
      else if (op.hasTrait<UpdateTrait>())
        statistics.push_back(&op);
    }
  }

  LogicalResult run() {
    builder.setInsertionPoint(head);
    n = step.argument("examples");
    rank = step.argument("rank");
    if (!n || !rank)
      return failure();
    mine = step.localExamples();
    shardParameters();
    if (options.scheme == SchemeChoice::A)
      for (Value value : head.getRows())
        gathered.push_back(distributed() ? gather(value, step.allExamples(),
                                                  comm::Channel::Inline)
                                         : value);
    if (failed(makeLoop()) || failed(finish()))
      return failure();
    head.erase();
    for (Operation *cast : wholeCasts)
      cast->erase();
    step.updateType();
    return success();
  }

private:
  bool distributed() const { return options.workers > 1; }
  /// Gradients are summed over passes before an update.
  bool accumulates() const { return group > 1 && !optimizers.empty(); }
  /// ... and the only update comes after the loop.
  bool updatesAfterLoop() const { return accumulates() && group == passes; }
  bool updatesByGroup() const { return accumulates() && group < passes; }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  //===--------------------------------------------------------------------===//
  // Parameters
  //===--------------------------------------------------------------------===//

  /// This worker's part of every parameter and state that only the head uses.
  void shardParameters() {
    llvm::SetVector<Value> storages;
    for (Value value : head.getCarry())
      storages.insert(value);
    body.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand);
            argument && argument.getOwner() == head->getBlock() &&
            step.isStorage(argument.getArgNumber()))
          storages.insert(argument);
    });
    Builder attrs(head->getContext());
    for (Value value : storages) {
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument || argument.getOwner() != head->getBlock())
        continue;
      auto type = cast<RankedTensorType>(argument.getType());
      bool onlyHead = llvm::all_of(argument.getUsers(), [&](Operation *user) {
        return user == head || head->isProperAncestor(user);
      });
      unsigned number = argument.getArgNumber();
      StringRef name = step.parameter(number);
      bool sharded = distributed() && onlyHead && type.getRank() > 0 &&
                     type.getDimSize(0) > 1;
      step.setArgEntries(
          number,
          {attrs.getNamedAttr(
               "split", attrs.getStringAttr(sharded ? "dim0" : "replicated")),
           attrs.getNamedAttr("padded",
                              attrs.getI64IntegerAttr(type.getNumElements())),
           attrs.getNamedAttr("segments",
                              attrs.getArrayAttr(StepFunction::segment(
                                  attrs, name, 0, type.getShape())))});
      if (sharded)
        shardedStorages[argument] = type;
    }
    // Types change last: the body's ops still read the whole types.
    for (auto [argument, type] : shardedStorages) {
      SmallVector<int64_t> shape(type.getShape());
      shape[0] = ShapedType::kDynamic;
      argument.setType(RankedTensorType::get(shape, type.getElementType()));
      // Captured in the body: a stand-in keeps the whole type while ops ask.
      auto whole = UnrealizedConversionCastOp::create(
          builder, argument.getLoc(), type, argument);
      wholeCasts.push_back(whole);
      argument.replaceUsesWithIf(whole.getResult(0), [&](OpOperand &use) {
        return head->isProperAncestor(use.getOwner());
      });
    }
  }
  bool isSharded(Value storage) const {
    return shardedStorages.contains(storage);
  }

  //===--------------------------------------------------------------------===//
  // Rows in, gradients back
  //===--------------------------------------------------------------------===//

  Value emptyRows(Value like, Value rows) {
    return emptyTensor(builder, like.getLoc(),
                       cast<RankedTensorType>(like.getType()), rows);
  }
  Value gather(Value part, Value total, comm::Channel channel) {
    return comm::AllGatherOp::create(builder, part.getLoc(), part.getType(),
                                     part, emptyRows(part, total), Value(), 0,
                                     comm::Reduction::Sum, channel, "workers")
        .getResult();
  }

  /// The rows of the pass as every worker sees them.
  Value rowsOfPass(size_t i, nn::ChunkOp chunk) {
    Value value = head.getRows()[i];
    if (options.scheme == SchemeChoice::A)
      return sliceDim(builder, value.getLoc(), gathered[i], 0,
                      chunk.getOffset(), chunk.getCount());
    Value part = sliceDim(builder, value.getLoc(), value, 0, chunk.getOffset(),
                          chunk.getCount());
    if (!distributed())
      return part;
    if (options.scheme == SchemeChoice::C)
      return gather(part, chunk.getTotal(), comm::Channel::Background);
    return comm::BroadcastOp::create(builder, value.getLoc(), value.getType(),
                                     part, emptyRows(value, chunk.getTotal()),
                                     chunk.getRoot(), 0, comm::Reduction::Sum,
                                     comm::Channel::Background, "workers")
        .getResult();
  }

  /// Gradients of the pass's rows into the buffer of this worker's rows (of
  /// all rows in scheme a).
  Value sendBack(HeadPartitioner &partitioner, Value gradient, Value into,
                 nn::ChunkOp chunk) {
    Location at = gradient.getLoc();
    if (!distributed())
      return insertDim(builder, at, partitioner.full(gradient), into, 0,
                       chunk.getOffset());
    Value partial = partitioner.partial(gradient);
    if (options.scheme == SchemeChoice::A)
      return insertDim(builder, at, partial, into, 0, chunk.getOffset());
    Value slot =
        sliceDim(builder, at, into, 0, chunk.getOffset(), chunk.getCount());
    Value received =
        options.scheme == SchemeChoice::C
            ? comm::ReduceScatterOp::create(
                  builder, at, slot.getType(), partial, slot, Value(), 0,
                  comm::Reduction::Sum, comm::Channel::Background, "workers")
                  .getResult()
            : comm::ReduceOp::create(builder, at, slot.getType(), partial, slot,
                                     chunk.getRoot(), 0, comm::Reduction::Sum,
                                     comm::Channel::Background, "workers")
                  .getResult();
    return insertDim(builder, at, received, into, 0, chunk.getOffset());
  }

  //===--------------------------------------------------------------------===//
  // The loop
  //===--------------------------------------------------------------------===//

  LogicalResult makeLoop() {
    SmallVector<Value> init;
    for (Value sum : yield.getSums())
      init.push_back(
          zeroTensor(builder, loc, cast<RankedTensorType>(sum.getType())));
    Value held = options.scheme == SchemeChoice::A && distributed()
                     ? step.allExamples()
                     : mine;
    for (Value gradient : yield.getGrads())
      init.push_back(emptyRows(gradient, held));
    llvm::append_range(init, head.getCarry());
    if (accumulates())
      for (OptimizerOpInterface op : optimizers)
        init.push_back(zeroLike(op));
    if (updatesByGroup())
      init.push_back(index(0));

    loop = scf::ForOp::create(builder, loc, index(0), index(passes), index(1),
                              init);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    return makeBody(loop.getRegionIterArgs());
  }

  /// Zeros for a parameter's gradient on this worker.
  Value zeroLike(OptimizerOpInterface op) {
    Value storage = storageOf(op->getOperand(0));
    auto type = cast<RankedTensorType>(storage.getType());
    SmallVector<Value> dynamic;
    if (isSharded(storage))
      dynamic.push_back(step.shardSize(shardedStorages[storage].getDimSize(0)));
    return zeroTensor(builder, op.getLoc(), type, dynamic);
  }
  /// The function's storage behind a value of the body.
  Value storageOf(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && argument.getOwner() == &body)
      return head->getOperand(argument.getArgNumber());
    if (auto whole = value.getDefiningOp<UnrealizedConversionCastOp>())
      return whole.getOperand(0);
    return value;
  }

  /// States the forms of storages; `carry` are the current carried values.
  void enterStorages(HeadPartitioner &partitioner, ValueRange carry) {
    auto enter = [&](Value global, Value storage, Value local) {
      if (isSharded(storage))
        partitioner.setShard(global, local);
      else
        partitioner.setFull(global, local);
    };
    ValueRange carried = body.getArguments().drop_front(head.getRows().size());
    for (auto [global, storage, local] :
         llvm::zip(carried, head.getCarry(), carry))
      enter(global, storage, local);
    for (Operation *whole : wholeCasts)
      partitioner.setShard(whole->getResult(0), whole->getOperand(0));
  }

  LogicalResult makeBody(ValueRange args) {
    ValueRange sumArgs = args.take_front(sums);
    ValueRange gradArgs = args.drop_front(sums).take_front(grads);
    ValueRange carryArgs =
        args.drop_front(sums + grads).take_front(head.getCarry().size());
    ValueRange accArgs = args.drop_front(sums + grads + carryArgs.size());

    sharding::PassPlan plan = options.passPlan();
    auto chunk = nn::ChunkOp::create(
        builder, loc, n, rank, loop.getInductionVar(), options.schemeName(),
        plan.workers, plan.batch, plan.fcBatch);
    HeadPartitioner partitioner(builder, step, options, chunk.getTotal());
    enterStorages(partitioner, carryArgs);
    for (size_t i = 0; i < head.getRows().size(); ++i)
      partitioner.setFull(body.getArgument(i), rowsOfPass(i, chunk));
    for (Operation &op : body.without_terminator())
      if (!op.hasTrait<UpdateTrait>() && failed(expand(&op, partitioner)))
        return failure();

    SmallVector<Value> results;
    for (auto [sum, so_far] : llvm::zip(yield.getSums(), sumArgs)) {
      auto [local, partial] = partitioner.cheapest(sum);
      partialSums.push_back(partial);
      results.push_back(accumulate(builder, sum.getLoc(), so_far, local));
    }
    for (auto [gradient, into] : llvm::zip(yield.getGrads(), gradArgs))
      results.push_back(sendBack(partitioner, gradient, into, chunk));

    FailureOr<SmallVector<Value>> updated =
        updatePass(partitioner, carryArgs, accArgs, chunk.getTotal());
    if (failed(updated))
      return failure();
    llvm::append_range(results, *updated);
    scf::YieldOp::create(builder, loc, results);
    return success();
  }

  LogicalResult expand(Operation *op, HeadPartitioner &partitioner) {
    marks.source = op;
    LogicalResult done = success();
    if (auto partitionable = dyn_cast<PartitionableOpInterface>(op))
      done = partitionable.partition(partitioner);
    else {
      IRMapping map;
      for (Value operand : op->getOperands())
        map.map(operand, isa<RankedTensorType>(operand.getType())
                             ? partitioner.full(operand)
                             : operand);
      Operation *copy = builder.clone(*op, map);
      for (auto [global, local] :
           llvm::zip(op->getResults(), copy->getResults()))
        partitioner.setFull(global, local);
    }
    marks.source = nullptr;
    return done;
  }

  //===--------------------------------------------------------------------===//
  // Updates
  //===--------------------------------------------------------------------===//

  /// The updates of one pass: new carry, then accumulators and their count.
  FailureOr<SmallVector<Value>> updatePass(HeadPartitioner &partitioner,
                                           ValueRange carry,
                                           ValueRange accumulators,
                                           Value total) {
    if (head.getCarry().empty())
      return SmallVector<Value>{};
    // Ask for every gradient outside the conditions below, where all workers
    // take part in its collectives.
    SmallVector<Value> gradients;
    for (OptimizerOpInterface op : optimizers) {
      Value gradient = op.getGradientMutable().get();
      bool sharded = isSharded(storageOf(op->getOperand(0)));
      gradients.push_back(sharded ? partitioner.shard(gradient)
                                  : partitioner.full(gradient));
    }
    for (Operation *op : statistics)
      for (Value operand : op->getOperands())
        if (!isa<BlockArgument>(operand))
          partitioner.isSharded(operand) ? partitioner.shard(operand)
                                         : partitioner.full(operand);

    SmallVector<Value> current(carry);
    if (!statistics.empty() && failed(guarded(total, current, [&]() {
          return update(partitioner, statistics, current);
        })))
      return failure();
    if (!accumulates()) {
      auto run = [&]() {
        setScale(passes > 1 ? ratio(builder, loc, n, total) : Value());
        return update(partitioner, optimizerOps(), current);
      };
      // One pass has all examples of the step, so it is never empty.
      if (failed(passes > 1 ? guarded(total, current, run) : run()))
        return failure();
      return current;
    }
    SmallVector<Value> results(current);
    SmallVector<Value> sumsOfGradients;
    for (auto [op, gradient, accumulator] :
         llvm::zip_first(optimizers, gradients, accumulators)) {
      marks.source = op;
      sumsOfGradients.push_back(
          accumulate(builder, op.getLoc(), accumulator, gradient));
      marks.source = nullptr;
    }
    if (updatesByGroup())
      return updateGroup(partitioner, current, sumsOfGradients,
                         accumulators.back(), total);
    llvm::append_range(results, sumsOfGradients);
    return results;
  }

  FailureOr<SmallVector<Value>> updateGroup(HeadPartitioner &partitioner,
                                            SmallVector<Value> current,
                                            SmallVector<Value> accumulators,
                                            Value rowsBefore, Value total) {
    Value rows = arith::AddIOp::create(builder, loc, rowsBefore, total);
    Value next =
        arith::AddIOp::create(builder, loc, loop.getInductionVar(), index(1));
    Value inGroup = arith::RemUIOp::create(builder, loc, next, index(group));
    auto equal = [&](Value a, Value b) -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a,
                                   b);
    };
    Value ends = arith::OrIOp::create(builder, loc, equal(inGroup, index(0)),
                                      equal(next, index(passes)));
    Value any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                      rows, index(0));
    Value due = arith::AndIOp::create(builder, loc, ends, any);

    SmallVector<Value> state(current);
    llvm::append_range(state, accumulators);
    auto branch = scf::IfOp::create(builder, loc, ValueRange(state).getTypes(),
                                    due, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      setScale(ratio(builder, loc, n, rows));
      enterGradients(partitioner, accumulators);
      if (failed(update(partitioner, optimizerOps(), current)))
        return failure();
      Value zero =
          arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
      for (Value accumulator : accumulators)
        current.push_back(
            linalg::FillOp::create(builder, loc, zero, accumulator)
                .getResult(0));
      scf::YieldOp::create(builder, loc, current);
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, loc, state);
    }
    SmallVector<Value> results(branch.getResults());
    results.push_back(
        arith::SelectOp::create(builder, loc, ends, index(0), rows));
    return results;
  }

  /// Runs `updates` only where the pass has rows; `values` are what changes.
  LogicalResult guarded(Value total, SmallVector<Value> &values,
                        llvm::function_ref<LogicalResult()> updates) {
    Value any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                      total, index(0));
    SmallVector<Value> before(values);
    auto branch =
        scf::IfOp::create(builder, loc, ValueRange(before).getTypes(), any,
                          /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    if (failed(updates()))
      return failure();
    scf::YieldOp::create(builder, loc, values);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, before);
    values.assign(branch.getResults().begin(), branch.getResults().end());
    return success();
  }

  SmallVector<Operation *> optimizerOps() {
    return SmallVector<Operation *>(optimizers.begin(), optimizers.end());
  }
  void setScale(Value scale) {
    for (OptimizerOpInterface op : optimizers)
      op.getScaleMutable().assign(scale ? ValueRange(scale) : ValueRange());
  }
  void enterGradients(HeadPartitioner &partitioner, ValueRange gradients) {
    for (auto [op, gradient] : llvm::zip(optimizers, gradients)) {
      Value global = op.getGradientMutable().get();
      if (isSharded(storageOf(op->getOperand(0))))
        partitioner.setShard(global, gradient);
      else
        partitioner.setFull(global, gradient);
    }
  }

  /// Expands the updates and replaces in `carry` what they update.
  LogicalResult update(HeadPartitioner &partitioner,
                       ArrayRef<Operation *> updates,
                       SmallVector<Value> &carry) {
    size_t firstCarry = sums + grads;
    for (Operation *op : updates) {
      if (failed(expand(op, partitioner)))
        return failure();
      for (Value result : op->getResults()) {
        Value storage;
        for (OpOperand &use : result.getUses())
          if (use.getOwner() == yield) {
            size_t position = use.getOperandNumber() - firstCarry;
            storage = head.getCarry()[position];
            carry[position] = isSharded(storage) ? partitioner.shard(result)
                                                 : partitioner.full(result);
          }
      }
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // After the loop
  //===--------------------------------------------------------------------===//

  LogicalResult finish() {
    SmallVector<Value> results(loop.getResults());
    HeadPartitioner partitioner(builder, step, options, step.allExamples());
    for (auto [i, partial] : llvm::enumerate(partialSums))
      if (partial)
        results[i] = partitioner.allReduce(results[i], ReductionKind::Sum);
    if (options.scheme == SchemeChoice::A && distributed())
      for (size_t i = sums; i < sums + grads; ++i) {
        Value all = results[i];
        results[i] = comm::ReduceScatterOp::create(
                         builder, yield->getOperand(i).getLoc(), all.getType(),
                         all, emptyRows(all, mine), Value(), 0,
                         comm::Reduction::Sum, comm::Channel::Inline, "workers")
                         .getResult();
      }
    if (updatesAfterLoop() && !optimizers.empty()) {
      size_t carried = head.getCarry().size();
      SmallVector<Value> carry(
          ArrayRef<Value>(results).slice(sums + grads, carried));
      enterStorages(partitioner, carry);
      setScale(Value());
      enterGradients(partitioner,
                     ArrayRef<Value>(results).slice(sums + grads + carried,
                                                    optimizers.size()));
      if (failed(update(partitioner, optimizerOps(), carry)))
        return failure();
      llvm::copy(carry, results.begin() + sums + grads);
    }
    for (auto [old, value] : llvm::zip(head.getResults(), results))
      old.replaceAllUsesWith(value);
    return success();
  }

  nn::HeadOp head;
  StepFunction &step;
  const Options &options;
  Location loc;
  MarkListener marks;
  OpBuilder builder;
  Block &body;
  nn::YieldOp yield;
  size_t sums = 0, grads = 0;
  int64_t group = 1, passes = 1;
  SmallVector<OptimizerOpInterface> optimizers;
  SmallVector<Operation *> statistics;
  /// Storages split over the workers, with their whole types.
  llvm::MapVector<Value, RankedTensorType> shardedStorages;
  SmallVector<Operation *> wholeCasts;
  SmallVector<Value> gathered; // scheme a
  SmallVector<bool> partialSums;
  Value n, rank, mine;
  scf::ForOp loop;
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct ExpandHead : hpcc::impl::HpccCommExpandHeadBase<ExpandHead> {
  void runOnOperation() override {
    FailureOr<Options> options = Options::get(getOperation());
    if (failed(options))
      return signalPassFailure();
    SmallVector<nn::HeadOp> heads;
    getOperation().walk([&](nn::HeadOp head) { heads.push_back(head); });
    for (nn::HeadOp head : heads) {
      auto function = head->getParentOfType<func::FuncOp>();
      StepFunction step(function, *options);
      if (failed(HeadExpander(head, step, *options).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
