// SPDX-License-Identifier: Apache-2.0
// Collects the plan from the IR of several phases.
#include "tools/hpcc/Plan.h"

#include "dialects/interfaces/Interfaces.h"
#include "dialects/nn/IR/NN.h"
#include "passes/NodeName.h"

using namespace mlir;
using namespace hpcc;

static int64_t sum(const std::vector<PlanLayer> &layers, bool head) {
  int64_t total = 0;
  for (const PlanLayer &layer : layers)
    if (layer.isHead == head)
      total += layer.parameters;
  return total;
}
int64_t Plan::headParameters() const { return sum(layers, true); }
int64_t Plan::trunkParameters() const { return sum(layers, false); }

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Elements of one example.
static int64_t elementsPerExample(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  int64_t elements = 1;
  for (int64_t extent : tensor.getShape())
    elements *= ShapedType::isDynamic(extent) ? 1 : extent;
  return elements;
}

static std::optional<int64_t> nodeOrdinal(Operation *op) {
  if (auto attr = op->getAttrOfType<IntegerAttr>("nn.node"))
    return attr.getInt();
  return std::nullopt;
}

void PlanBuilder::collectLayers(func::FuncOp forward) {
  llvm::DenseSet<Attribute> counted;
  forward.walk([&](Operation *op) {
    std::optional<int64_t> node = nodeOrdinal(op);
    if (!node || isa<nn::LoadOp>(op))
      return;
    auto [found, isNew] = layerOfNode.insert({*node, plan.layers.size()});
    if (isNew)
      plan.layers.emplace_back();
    PlanLayer &layer = plan.layers[found->second];
    if (isNew) {
      layer.name = getNodeName(op->getLoc()).str();
      layer.op = op->getName().stripDialect().str();
    }
    if (auto cost = dyn_cast<CostOpInterface>(op))
      layer.flops += cost.getFlops(1);
    layer.activations = 0;
    for (Type type : op->getResultTypes())
      layer.activations += elementsPerExample(type);
    for (Value operand : op->getOperands()) {
      // A parameter, directly or through a reshape or transpose.
      auto load = operand.getDefiningOp<nn::LoadOp>();
      if (!load || !counted.insert(load.getParameterAttr()).second)
        continue;
      layer.parameters += elementsPerExample(load.getType());
    }
    if (auto linear = dyn_cast<nn::LinearOp>(op)) {
      auto weights = cast<RankedTensorType>(linear.getW().getType());
      layer.fullyConnected = true;
      layer.units = weights.getDimSize(0);
      layer.inputs = weights.getDimSize(1);
    } else if (auto conv = dyn_cast<nn::ConvOp>(op)) {
      layer.units = cast<RankedTensorType>(conv.getW().getType()).getDimSize(0);
      layer.inputs = elementsPerExample(conv.getX().getType());
    }
  });
}

//===----------------------------------------------------------------------===//
// Placement and boundary
//===----------------------------------------------------------------------===//

void PlanBuilder::collectPlacement(func::FuncOp step) {
  step.walk([&](nn::HeadOp head) {
    plan.hasHead = true;
    head.getBody().walk([&](Operation *op) {
      std::optional<int64_t> node = nodeOrdinal(op);
      if (auto found = layerOfNode.find(node.value_or(-1));
          node && found != layerOfNode.end())
        plan.layers[found->second].isHead = true;
    });
    for (Value row : head.getRows()) {
      auto type = cast<RankedTensorType>(row.getType());
      PlanBoundary crossing;
      crossing.features = elementsPerExample(type);
      if (Operation *producer = row.getDefiningOp()) {
        crossing.name = getNodeName(producer->getLoc()).str();
      } else {
        auto argument = cast<BlockArgument>(row);
        auto dict = step.getArgAttrOfType<DictionaryAttr>(
            argument.getArgNumber(), "nn.arg");
        StringRef kind, name;
        if (auto attr = dict ? dict.getAs<StringAttr>("kind") : StringAttr())
          kind = attr.getValue();
        if (auto attr = dict ? dict.getAs<StringAttr>("name") : StringAttr())
          name = attr.getValue();
        crossing.isLabel = kind == "target" || kind == "position";
        crossing.name = kind == "target"     ? "labels"
                        : kind == "position" ? "positions"
                                             : name.str();
      }
      plan.boundary.push_back(std::move(crossing));
    }
  });
}

//===----------------------------------------------------------------------===//
// Communication and storage
//===----------------------------------------------------------------------===//

LogicalResult PlanBuilder::collectCommunication(func::FuncOp step) {
  int64_t workers = plan.options.workers;
  llvm::MapVector<Operation *, PlanCollective> collectives;
  for (int64_t rank = 0; rank < workers; ++rank) {
    FailureOr<Ledger> ledger =
        computeLedger(step, plan.options.batch, rank, workers);
    if (failed(ledger))
      return failure();
    for (LedgerEntry &entry : ledger->entries) {
      PlanCollective &collective = collectives[entry.op];
      if (collective.bytes.empty()) {
        collective.bytes.resize(workers);
        collective.first = entry;
        collective.inPasses = entry.pass >= 0;
      }
      collective.bytes[rank] += entry.bytes;
      if (rank == 0)
        ++collective.runs;
    }
    plan.receivedBytes.push_back(ledger->bytes());
  }
  for (auto &[op, collective] : collectives) {
    // The op does not outlive the phase.
    collective.first.op = nullptr;
    plan.collectives.push_back(std::move(collective));
  }
  return success();
}

/// Floats of a storage argument on one worker.
static int64_t storageElements(DictionaryAttr dict, Type type, int64_t workers,
                               int64_t rank) {
  auto tensor = dyn_cast<ShapedType>(type);
  StringRef split;
  if (auto attr = dict.getAs<StringAttr>("split"))
    split = attr.getValue();
  if (split == "flat")
    if (auto padded = dict.getAs<IntegerAttr>("padded"))
      return padded.getInt() / workers;
  if (split == "dim0") {
    auto segments = dict.getAs<ArrayAttr>("segments");
    auto shape =
        cast<DictionaryAttr>(segments[0]).getAs<ArrayAttr>("shape").getValue();
    int64_t elements = 1;
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      int64_t size = cast<IntegerAttr>(extent).getInt();
      elements *= dim ? size : sharding::shard(size, workers, rank).size;
    }
    return elements;
  }
  return tensor && tensor.hasStaticShape() ? tensor.getNumElements() : 0;
}

void PlanBuilder::collectStorage(func::FuncOp step) {
  int64_t workers = plan.options.workers;
  plan.parameterBytes.assign(workers, 0);
  plan.stateBytes.assign(workers, 0);
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    auto dict = step.getArgAttrOfType<DictionaryAttr>(i, "nn.arg");
    auto kind = dict ? dict.getAs<StringAttr>("kind") : StringAttr();
    if (!kind || (kind.getValue() != "value" && kind.getValue() != "state"))
      continue;
    auto &bytes =
        kind.getValue() == "value" ? plan.parameterBytes : plan.stateBytes;
    for (int64_t rank = 0; rank < workers; ++rank)
      bytes[rank] += 4 * storageElements(dict, step.getArgument(i).getType(),
                                         workers, rank);
  }
}

LogicalResult PlanBuilder::observe(ModuleOp module, Phase phase) {
  if (phase < Phase::Normalized)
    return success();
  FailureOr<Options> options = Options::get(module);
  if (failed(options))
    return failure();
  plan.options = *options;
  auto function = [&](StringRef name) {
    return module.lookupSymbol<func::FuncOp>(name);
  };
  // Functions that a run does not need are erased after `training`.
  if (plan.layers.empty() && phase <= Phase::Comm)
    if (auto forward = function("forward"))
      collectLayers(forward);
  auto step = function("train_step");
  if (!step)
    return success();
  if (phase == Phase::Partitioned)
    collectPlacement(step);
  if (phase == Phase::Comm) {
    collectStorage(step);
    return collectCommunication(step);
  }
  if (phase == Phase::Arena)
    for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
      auto dict = step.getArgAttrOfType<DictionaryAttr>(i, "nn.arg");
      auto kind = dict ? dict.getAs<StringAttr>("kind") : StringAttr();
      auto type = dyn_cast<MemRefType>(step.getArgument(i).getType());
      if (kind && kind.getValue() == "arena" && type && type.hasStaticShape())
        plan.arenaBytes = type.getNumElements();
    }
  return success();
}
