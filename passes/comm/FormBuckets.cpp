// SPDX-License-Identifier: Apache-2.0
// The trunk's parameters in flat buckets, synchronised over the workers
// (architecture, section 1, "Trunk update"). A bucket holds parameters that
// are updated alike, so its update is one elementwise op over the worker's
// range and needs no table of segments at run time.
#include "passes/comm/StepFunction.h"

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCCOMMFORMBUCKETS
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
constexpr int64_t kVector = 16; // floats in 64 bytes

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

struct Segment {
  std::string parameter;
  int64_t offset;
  RankedTensorType type;
};
struct Bucket {
  std::string name;
  SmallVector<Segment> segments;
  int64_t length = 0; // up to the end of the last segment
  int64_t padded = 0; // a multiple of K vectors
};

int64_t alignTo(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Updates of the trunk, in the order in which their gradients are complete.
SmallVector<OptimizerOpInterface> trunkUpdates(func::FuncOp function) {
  DenseMap<Operation *, size_t> position;
  std::vector<std::pair<std::pair<size_t, size_t>, OptimizerOpInterface>> found;
  for (Operation &op : function.getBody().front()) {
    position[&op] = position.size();
    auto placement = op.getAttrOfType<StringAttr>("nn.placement");
    auto update = dyn_cast<OptimizerOpInterface>(op);
    if (!update || (placement && placement.getValue() == "model"))
      continue;
    Operation *producer = update.getGradientMutable().get().getDefiningOp();
    found.push_back({{position.lookup(producer), found.size()}, update});
  }
  llvm::sort(found, llvm::less_first());
  SmallVector<OptimizerOpInterface> updates;
  for (auto &entry : found)
    updates.push_back(entry.second);
  return updates;
}

class BucketFormer {
public:
  BucketFormer(ModuleOp module, const Options &options, int64_t maxTensors)
      : module(module), options(options), maxTensors(maxTensors) {}

  LogicalResult run() {
    if (auto train = module.lookupSymbol<func::FuncOp>("train_step"))
      if (failed(rewriteTraining(train)))
        return failure();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      StepFunction step(function, options);
      if (function.getName() == "eval_step")
        rewriteReader(step);
      reducePartials(step);
      describeStorages(step);
      renumberResults(step);
    }
    return success();
  }

private:
  bool distributed() const { return options.workers > 1; }

  static BlockArgument argumentOf(Value value) {
    return dyn_cast<BlockArgument>(value);
  }

  /// Puts the updates into buckets; returns the updates of each.
  SmallVector<SmallVector<OptimizerOpInterface>>
  layOut(StepFunction &step, ArrayRef<OptimizerOpInterface> updates) {
    SmallVector<SmallVector<OptimizerOpInterface>> members;
    llvm::MapVector<Attribute, size_t> open; // by how they are updated
    for (OptimizerOpInterface op : updates) {
      Attribute key = op->getPropertiesAsAttribute();
      auto [entry, fresh] = open.insert({key, buckets.size()});
      if (!fresh && int64_t(members[entry->second].size()) == maxTensors) {
        entry->second = buckets.size();
        fresh = true;
      }
      if (fresh) {
        buckets.push_back({});
        buckets.back().name = "bucket" + std::to_string(buckets.size() - 1);
        members.push_back({});
      }
      Bucket &bucket = buckets[entry->second];
      BlockArgument value = argumentOf(op->getOperand(0));
      auto type = cast<RankedTensorType>(value.getType());
      std::string name = step.parameter(value.getArgNumber()).str();
      int64_t offset = alignTo(bucket.length, kVector);
      bucket.segments.push_back({name, offset, type});
      bucket.length = offset + type.getNumElements();
      bucket.padded = alignTo(bucket.length, kVector * options.workers);
      bucketOf[name] = {entry->second, bucket.segments.size() - 1};
      members[entry->second].push_back(op);
    }
    return members;
  }

  RankedTensorType flatType(MLIRContext *context, int64_t length) {
    return RankedTensorType::get({length}, Float32Type::get(context));
  }

  BlockArgument addStorage(StepFunction &step, const Bucket &bucket,
                           StringRef kind, StringRef slot, StringRef split,
                           int64_t length) {
    func::FuncOp function = step.get();
    Builder builder(function.getContext());
    SmallVector<Attribute> segments;
    for (const Segment &segment : bucket.segments)
      segments.push_back(StepFunction::segment(
          builder, segment.parameter, segment.offset, segment.type.getShape()));
    std::string name = bucket.name;
    if (slot != "value")
      name += "." + slot.str();
    NamedAttribute entries[] = {
        builder.getNamedAttr("kind", builder.getStringAttr(kind)),
        builder.getNamedAttr("name", builder.getStringAttr(name)),
        builder.getNamedAttr("slot", builder.getStringAttr(slot)),
        builder.getNamedAttr("split", builder.getStringAttr(split)),
        builder.getNamedAttr("padded",
                             builder.getI64IntegerAttr(bucket.padded)),
        builder.getNamedAttr("segments", builder.getArrayAttr(segments))};
    DictionaryAttr arg = builder.getDictionaryAttr(
        builder.getNamedAttr("nn.arg", builder.getDictionaryAttr(entries)));
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(
        index, flatType(function.getContext(), length), arg,
        NameLoc::get(builder.getStringAttr(name), function.getLoc()));
    return function.getArgument(index);
  }

  /// The range of one segment of a flat value, in the parameter's shape.
  Value viewSegment(OpBuilder &builder, Location loc, Value flat,
                    const Segment &segment) {
    int64_t count = segment.type.getNumElements();
    Value range =
        sliceDim(builder, loc, flat, 0, builder.getIndexAttr(segment.offset),
                 builder.getIndexAttr(count));
    return reshape(builder, loc, range, segment.type);
  }
  Value reshape(OpBuilder &builder, Location loc, Value value,
                RankedTensorType type) {
    auto from = cast<RankedTensorType>(value.getType());
    if (from == type)
      return value;
    // A scalar has no dimension to gather the others into.
    SmallVector<ReassociationIndices> groups;
    if (from.getRank() > 0 && type.getRank() > 0)
      groups.push_back(llvm::to_vector<2>(
          llvm::seq<int64_t>(0, std::max(from.getRank(), type.getRank()))));
    if (type.getRank() > from.getRank())
      return tensor::ExpandShapeOp::create(builder, loc, type, value, groups);
    return tensor::CollapseShapeOp::create(builder, loc, type, value, groups);
  }

  LogicalResult rewriteTraining(func::FuncOp function) {
    StepFunction step(function, options);
    SmallVector<OptimizerOpInterface> updates = trunkUpdates(function);
    for (OptimizerOpInterface op : updates)
      if (!argumentOf(op->getOperand(0)))
        return op->emitOpError() << "updates a value that is not an argument";
    auto members = layOut(step, updates);
    Block &block = function.getBody().front();
    auto ret = cast<func::ReturnOp>(block.getTerminator());
    BitVector dead(function.getNumArguments());
    SmallVector<Value> newResults;
    SmallVector<Attribute> newResultAttrs;
    Builder attrs(function.getContext());
    for (auto [bucket, ops] : llvm::zip(buckets, members)) {
      BlockArgument values = addStorage(step, bucket, "value", "value",
                                        "replicated", bucket.padded);
      dead.resize(function.getNumArguments());
      SmallVector<Value> results = synchronise(step, bucket, ops, values, dead);
      for (auto [storage, result] : llvm::zip(storagesOfBucket, results)) {
        newResults.push_back(result);
        resultStorage[newResults.size() - 1] = storage;
        newResultAttrs.push_back(attrs.getDictionaryAttr(attrs.getNamedAttr(
            "kind",
            attrs.getStringAttr(step.argKind(storage.getArgNumber())))));
      }
      dead.resize(function.getNumArguments());
    }
    // The results of what the buckets replace go; those of the buckets come.
    SmallVector<Value> operands;
    SmallVector<std::pair<Attribute, BlockArgument>> kept;
    for (auto [i, operand] : llvm::enumerate(ret.getOperands())) {
      auto dict = function.getResultAttrOfType<DictionaryAttr>(i, "nn.result");
      auto arg =
          dict ? dyn_cast_or_null<IntegerAttr>(dict.get("arg")) : IntegerAttr();
      BlockArgument storage =
          arg ? function.getArgument(unsigned(arg.getInt())) : BlockArgument();
      if (storage && dead.test(storage.getArgNumber()))
        continue;
      operands.push_back(operand);
      kept.push_back({dict, storage});
    }
    for (auto [i, value] : llvm::enumerate(newResults)) {
      operands.push_back(value);
      kept.push_back({newResultAttrs[i], resultStorage[i]});
    }
    ret.getOperandsMutable().assign(operands);
    for (auto &ops : members)
      for (OptimizerOpInterface op : ops) {
        if (!op->use_empty())
          return op->emitOpError()
                 << "has a result that is not the new value of its storage "
                    "(nn.result with `arg`)";
        op->erase();
      }
    step.updateType();
    function.removeResAttrsAttr();
    for (auto [i, entry] : llvm::enumerate(kept))
      setResult(function, i, entry.first, entry.second);
    if (failed(function.eraseArguments(dead)))
      return failure();
    return success();
  }

  /// `arg` of a result is kept as the storage's name until arguments settle.
  void setResult(func::FuncOp function, unsigned index, Attribute dict,
                 BlockArgument storage) {
    if (!dict)
      return;
    Builder builder(function.getContext());
    NamedAttrList list(cast<DictionaryAttr>(dict));
    if (storage) {
      StepFunction step(function, options);
      list.erase("arg");
      list.set("name", step.argEntry(storage.getArgNumber(), "name"));
    }
    function.setResultAttr(index, "nn.result",
                           list.getDictionary(function.getContext()));
  }
  void renumberResults(StepFunction &step) {
    func::FuncOp function = step.get();
    Builder builder(function.getContext());
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto dict = function.getResultAttrOfType<DictionaryAttr>(i, "nn.result");
      auto kind = dict ? dict.getAs<StringAttr>("kind") : StringAttr();
      if (!kind || (kind.getValue() != "value" && kind.getValue() != "state"))
        continue;
      for (unsigned arg = 0; arg < function.getNumArguments(); ++arg)
        if (step.isStorage(arg) &&
            step.argEntry(arg, "name") == dict.get("name")) {
          NamedAttrList list(dict);
          list.set("arg", builder.getI64IntegerAttr(arg));
          function.setResultAttr(i, "nn.result",
                                 list.getDictionary(function.getContext()));
        }
    }
  }

  /// Gradients into the bucket, reduce-scatter, update of this worker's range,
  /// all-gather. Returns the new values and states.
  SmallVector<Value> synchronise(StepFunction &step, const Bucket &bucket,
                                 ArrayRef<OptimizerOpInterface> ops,
                                 BlockArgument values, BitVector &dead) {
    func::FuncOp function = step.get();
    Block &block = function.getBody().front();
    MLIRContext *context = function.getContext();
    Location loc = ops.front()->getLoc();
    int64_t part = bucket.padded / options.workers;
    OpBuilder builder = OpBuilder::atBlockBegin(&block);

    for (auto [member, segment] : llvm::zip(ops, bucket.segments)) {
      OptimizerOpInterface op = member;
      BlockArgument value = argumentOf(op->getOperand(0));
      value.replaceUsesWithIf(
          viewSegment(builder, op->getLoc(), values, segment),
          [&](OpOperand &use) { return use.getOwner() != member; });
      dead.set(value.getArgNumber());
    }
    // Padding is reduced too and must be 0. All of the bucket is cleared, so
    // that the program is the same whatever the padding.
    Value gradients =
        zeroTensor(builder, loc, flatType(context, bucket.padded));
    Operation *last = nullptr;
    for (auto [member, segment] : llvm::zip(ops, bucket.segments)) {
      OptimizerOpInterface op = member;
      Value gradient = op.getGradientMutable().get();
      if (Operation *producer = gradient.getDefiningOp();
          producer && (!last || last->isBeforeInBlock(producer)))
        last = producer;
      if (last)
        builder.setInsertionPointAfter(last);
      int64_t count = segment.type.getNumElements();
      Value flat =
          reshape(builder, op->getLoc(), gradient, flatType(context, count));
      gradients = insertDim(builder, op->getLoc(), flat, gradients, 0,
                            builder.getIndexAttr(segment.offset));
      last = gradients.getDefiningOp();
    }
    Value own = gradients;
    Value offset;
    if (distributed()) {
      RankedTensorType type = flatType(context, part);
      own = comm::ReduceScatterOp::create(builder, loc, type, gradients,
                                          emptyTensor(builder, loc, type),
                                          Value(), 0, comm::Reduction::Sum,
                                          comm::Channel::Background, "workers")
                .getResult();
    }

    OptimizerOpInterface model = ops.front();
    builder.setInsertionPoint(block.getTerminator());
    Value mine = values;
    if (distributed()) {
      offset = arith::MulIOp::create(
          builder, loc, step.argument("rank"),
          arith::ConstantIndexOp::create(builder, loc, part));
      mine =
          sliceDim(builder, loc, values, 0, offset, builder.getIndexAttr(part));
    }
    IRMapping map;
    storagesOfBucket.assign({values});
    map.map(model->getOperand(0), mine);
    map.map(model.getGradientMutable().get(), own);
    for (unsigned i = 1; i < model->getNumResults(); ++i) {
      BlockArgument state = argumentOf(model->getOperand(i));
      StringRef slot =
          cast<StringAttr>(step.argEntry(state.getArgNumber(), "slot"))
              .getValue();
      BlockArgument flat =
          addStorage(step, bucket, "state", slot,
                     distributed() ? "flat" : "replicated", part);
      storagesOfBucket.push_back(flat);
      map.map(state, flat);
      dead.resize(function.getNumArguments());
      for (OptimizerOpInterface op : ops)
        dead.set(argumentOf(op->getOperand(i)).getArgNumber());
    }
    Operation *update = builder.clone(*model, map);
    for (unsigned i = 0; i < update->getNumResults(); ++i)
      update->getResult(i).setType(update->getOperand(i).getType());
    SmallVector<Value> results(update->getResults());
    if (distributed()) {
      Value whole = insertDim(builder, loc, results[0], values, 0, offset);
      results[0] =
          comm::AllGatherInPlaceOp::create(
              builder, loc, whole.getType(), Value(), whole, Value(), 0,
              comm::Reduction::Sum, comm::Channel::Background, "workers")
              .getResult();
    }
    return results;
  }

  /// A function that only reads parameters.
  void rewriteReader(StepFunction &step) {
    func::FuncOp function = step.get();
    Block &block = function.getBody().front();
    DenseMap<size_t, BlockArgument> storages;
    BitVector dead(function.getNumArguments());
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    unsigned count = function.getNumArguments();
    for (unsigned i = 0; i < count; ++i) {
      if (!step.isStorage(i))
        continue;
      auto found = bucketOf.find(step.parameter(i).str());
      if (found == bucketOf.end())
        continue;
      auto [bucket, segment] = found->second;
      BlockArgument &storage = storages[bucket];
      if (!storage)
        storage = addStorage(step, buckets[bucket], "value", "value",
                             "replicated", buckets[bucket].padded);
      BlockArgument value = function.getArgument(i);
      value.replaceAllUsesWith(viewSegment(builder, value.getLoc(), storage,
                                           buckets[bucket].segments[segment]));
      dead.resize(function.getNumArguments());
      dead.set(i);
    }
    dead.resize(function.getNumArguments());
    (void)function.eraseArguments(dead);
  }

  //===--------------------------------------------------------------------===//
  // Sums over workers
  //===--------------------------------------------------------------------===//

  Value allReduce(OpBuilder &builder, Value value, comm::Channel channel) {
    auto type = cast<RankedTensorType>(value.getType());
    return comm::AllReduceOp::create(builder, value.getLoc(), type, value,
                                     emptyTensor(builder, value.getLoc(), type),
                                     Value(), 0, comm::Reduction::Sum, channel,
                                     "workers")
        .getResult();
  }

  /// Losses and counts of the trunk are sums over this worker's examples;
  /// running statistics are averaged by the workers' numbers of examples.
  void reducePartials(StepFunction &step) {
    if (!distributed() || (step.get().getName() != "train_step" &&
                           step.get().getName() != "eval_step"))
      return;
    func::FuncOp function = step.get();
    Block &block = function.getBody().front();
    auto ret = block.getTerminator();
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto dict = function.getResultAttrOfType<DictionaryAttr>(i, "nn.result");
      auto kind = dict ? dict.getAs<StringAttr>("kind") : StringAttr();
      if (kind && (kind.getValue() == "loss" || kind.getValue() == "counts"))
        reduceSum(ret->getOpOperand(i));
    }
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!op.hasTrait<UpdateTrait>() || isa<OptimizerOpInterface>(op))
        continue;
      auto placement = op.getAttrOfType<StringAttr>("nn.placement");
      if (placement && placement.getValue() == "model")
        continue;
      OpBuilder builder(op.getContext());
      Value result = op.getResult(0);
      Value mine = step.localExamples();
      builder.setInsertionPointAfter(&op);
      Value weight =
          ratio(builder, op.getLoc(), mine, step.argument("examples"));
      auto scaled = nn::ScaleOp::create(builder, op.getLoc(), result.getType(),
                                        result, weight);
      Value mean = allReduce(builder, scaled, comm::Channel::Background);
      result.replaceUsesWithIf(mean, [&](OpOperand &use) {
        return use.getOwner() != scaled.getOperation();
      });
    }
  }

  /// A sum is partial where ops of the trunk computed it; what comes out of
  /// the head is complete.
  void reduceSum(OpOperand &use) {
    Value value = use.get();
    Operation *producer = value.getDefiningOp();
    if (!producer || isa<scf::ForOp, comm::AllReduceOp>(producer))
      return;
    if (auto add = dyn_cast<nn::AddOp>(producer)) {
      reduceSum(add.getLhsMutable());
      reduceSum(add.getRhsMutable());
      return;
    }
    OpBuilder builder(producer->getContext());
    builder.setInsertionPointAfter(producer);
    use.set(allReduce(builder, value, comm::Channel::Inline));
  }

  /// Storages that are neither in a bucket nor sharded are whole everywhere.
  void describeStorages(StepFunction &step) {
    func::FuncOp function = step.get();
    Builder builder(function.getContext());
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (!step.isStorage(i) || step.argEntry(i, "split"))
        continue;
      auto type = cast<RankedTensorType>(function.getArgument(i).getType());
      step.setArgEntries(
          i,
          {builder.getNamedAttr("split", builder.getStringAttr("replicated")),
           builder.getNamedAttr(
               "padded", builder.getI64IntegerAttr(type.getNumElements())),
           builder.getNamedAttr(
               "segments",
               builder.getArrayAttr(StepFunction::segment(
                   builder, step.parameter(i), 0, type.getShape())))});
    }
  }

  ModuleOp module;
  const Options &options;
  int64_t maxTensors;
  SmallVector<Bucket> buckets;
  std::map<std::string, std::pair<size_t, size_t>> bucketOf;
  SmallVector<BlockArgument> storagesOfBucket;
  DenseMap<size_t, BlockArgument> resultStorage;
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct FormBuckets : hpcc::impl::HpccCommFormBucketsBase<FormBuckets> {
  using HpccCommFormBucketsBase::HpccCommFormBucketsBase;
  void runOnOperation() override {
    FailureOr<Options> options = Options::get(getOperation());
    if (failed(options) ||
        failed(BucketFormer(getOperation(), *options, maxTensors).run()))
      signalPassFailure();
  }
};
} // namespace
