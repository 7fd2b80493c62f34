// SPDX-License-Identifier: Apache-2.0
// Tags every op of a step as trunk (data parallel) or head (model parallel).
// Layers are classified on the forward ops, found by walking back from the
// losses; gradients and updates follow the layer they belong to (`nn.node`).
#include "passes/NodeName.h"
#include "passes/Options.h"
#include "passes/Passes.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCPARTITIONPLACELAYERS
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
constexpr llvm::StringLiteral kPlacement = "nn.placement";
constexpr llvm::StringLiteral kNode = "nn.node";

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

bool isFullyConnected(Operation *op) {
  auto layer = dyn_cast<LayerOpInterface>(op);
  return layer && layer.isFullyConnected();
}

/// Whether a --place rule is about the node of an op.
bool matches(const Placement &rule, Operation *op) {
  StringRef name = getNodeName(op);
  llvm::Expected<llvm::GlobPattern> glob =
      llvm::GlobPattern::create(rule.pattern);
  if (!glob) {
    consumeError(glob.takeError());
    return rule.pattern == name;
  }
  return glob->match(name);
}

/// The placement of one function's ops.
class StepPlacement {
public:
  StepPlacement(func::FuncOp function, const Options &options)
      : function(function), options(options) {}

  LogicalResult run() {
    collectForward();
    // A layer that shares a parameter with the trunk stays there, which may
    // keep others there.
    do
      placeForward();
    while (demoteSharedParameters());
    placeTheRest();
    return checkCrossings();
  }
  bool isHead(Operation *op) const { return head.contains(op); }
  bool hasHead() const { return !headLayers.empty(); }
  bool isForward(Operation *op) const { return forward.contains(op); }
  bool isHeadLayer(Operation *op) const { return headLayers.contains(op); }
  /// Why a fully-connected layer is in the trunk.
  StringRef reason(Operation *op) const { return reasons.lookup(op); }

private:
  Block &block() const { return func::FuncOp(function).getBody().front(); }

  static bool isSpatial(Operation *op) {
    auto layer = dyn_cast<LayerOpInterface>(op);
    return layer && layer.isSpatial();
  }

  void collectForward() {
    SmallVector<Operation *> work;
    for (Operation &op : block())
      if (op.hasTrait<LossTrait>()) {
        losses.insert(&op);
        if (Operation *producer = op.getOperand(0).getDefiningOp())
          work.push_back(producer);
      }
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (!forward.insert(op).second)
        continue;
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          work.push_back(producer);
    }
  }

  bool keptByUser(Operation *op) const {
    return llvm::any_of(options.place, [&](const Placement &rule) {
      return matches(rule, op);
    });
  }

  void placeForward() {
    head.clear();
    headLayers.clear();
    // Backwards: from which ops a path meets a layer of the trunk.
    DenseSet<Operation *> meetsTrunk;
    for (Operation &op : llvm::reverse(block())) {
      if (!forward.contains(&op))
        continue;
      for (Operation *user : op.getUsers())
        if (forward.contains(user) &&
            (isSpatial(user) || meetsTrunk.contains(user) ||
             (isFullyConnected(user) && !headLayers.contains(user))))
          meetsTrunk.insert(&op);
      if (!isFullyConnected(&op))
        continue;
      if (meetsTrunk.contains(&op))
        reasons[&op] = "a path from it to the loss meets a layer of the trunk";
      else if (keptByUser(&op))
        reasons[&op] = "--place keeps it in the trunk";
      else if (!demoted.contains(&op))
        headLayers.insert(&op);
    }
    for (Operation &op : block())
      if (headLayers.contains(&op) ||
          ((forward.contains(&op) || losses.contains(&op)) && usesHead(&op)))
        head.insert(&op);
  }

  bool usesHead(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return head.contains(operand.getDefiningOp());
    });
  }

  bool demoteSharedParameters() {
    bool changed = false;
    for (Operation *layer : headLayers) {
      for (Value operand : layer->getOperands()) {
        if (!isa<BlockArgument>(operand) ||
            !cast<RankedTensorType>(operand.getType()).hasStaticShape())
          continue;
        if (llvm::none_of(operand.getUsers(), [&](Operation *user) {
              return forward.contains(user) && !head.contains(user);
            }))
          continue;
        demoted.insert(layer);
        reasons[layer] = "it shares a parameter with a layer of the trunk";
        changed = true;
      }
    }
    return changed;
  }

  /// Gradients, updates and metrics.
  void placeTheRest() {
    DenseSet<Attribute> nodes;
    for (Operation *op : head)
      if (Attribute node = op->getAttr(kNode))
        nodes.insert(node);
    for (Operation &op : block()) {
      if (forward.contains(&op) || losses.contains(&op) ||
          op.hasTrait<OpTrait::IsTerminator>() || !usesHead(&op))
        continue;
      Attribute node = op.getAttr(kNode);
      bool rows = llvm::any_of(op.getOperands(), [&](Value operand) {
        auto type = dyn_cast<RankedTensorType>(operand.getType());
        return head.contains(operand.getDefiningOp()) && type &&
               !type.hasStaticShape();
      });
      bool inHead = op.hasTrait<UpdateTrait>() ||
                    (node ? nodes.contains(node) : rows) ||
                    // The sum of what several head layers send back.
                    (isa<nn::AddOp>(op) && rows && allFromHead(&op));
      if (inHead)
        head.insert(&op);
    }
  }
  bool allFromHead(Operation *op) const {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return head.contains(operand.getDefiningOp());
    });
  }

  /// What enters the head must exist before it: forward values only.
  LogicalResult checkCrossings() {
    for (Operation *op : head)
      for (Value operand : op->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (producer && !head.contains(producer) &&
            !forward.contains(producer) && producer->getNumOperands() != 0)
          return op->emitError()
                 << "in the head, but it needs `" << getNodeName(producer)
                 << "` (" << producer->getName() << ") of the trunk's backward "
                 << "pass; keep the layer in the trunk with --place '"
                 << getNodeName(op) << "=data'";
      }
    return success();
  }

  func::FuncOp function;
  const Options &options;
  DenseSet<Operation *> forward, losses, demoted;
  llvm::SetVector<Operation *> head, headLayers;
  DenseMap<Operation *, StringRef> reasons;
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

void remarkLayer(Operation *op, const StepPlacement &placement) {
  if (placement.isHeadLayer(op))
    op->emitRemark() << "`" << getNodeName(op)
                     << "`: head, model parallel (fully connected, reaches the "
                        "loss without a spatial op)";
  else if (!placement.reason(op).empty())
    op->emitRemark() << "`" << getNodeName(op)
                     << "`: trunk, data parallel (fully connected, but "
                     << placement.reason(op) << ")";
  else if (auto layer = dyn_cast<LayerOpInterface>(op);
           layer && layer.isSpatial() && placement.isForward(op))
    op->emitRemark() << "`" << getNodeName(op)
                     << "`: trunk, data parallel (spatial)";
}

LogicalResult placeFunction(func::FuncOp function, const Options &options) {
  Builder builder(function.getContext());
  bool dataOnly = options.scheme == SchemeChoice::Data;
  StepPlacement placement(function, options);
  if (!dataOnly && failed(placement.run()))
    return failure();
  for (Operation &op : function.getBody().front().without_terminator())
    op.setAttr(kPlacement,
               builder.getStringAttr(placement.isHead(&op) ? "model" : "data"));
  if (function.getName() != "train_step")
    return success();
  for (const Placement &rule : options.place)
    if (llvm::none_of(function.getBody().front(), [&](Operation &op) {
          return isFullyConnected(&op) && matches(rule, &op);
        }))
      function.emitWarning() << "--place '" << rule.pattern << "=" << rule.place
                             << "' matches no fully-connected layer";
  if (dataOnly)
    return success();
  for (Operation &op : function.getBody().front())
    remarkLayer(&op, placement);
  if (!placement.hasHead())
    function.emitRemark() << "no fully-connected layer reaches the loss "
                             "without a spatial op: there is no head, scheme "
                          << options.schemeName() << " runs as `data`";
  return success();
}

struct PlaceLayers : hpcc::impl::HpccPartitionPlaceLayersBase<PlaceLayers> {
  void runOnOperation() override {
    FailureOr<Options> options = Options::get(getOperation());
    if (failed(options))
      return signalPassFailure();
    if (options->scheme == SchemeChoice::Data &&
        (options->fcBatch || !options->fcUpdate.empty()))
      getOperation().emitRemark()
          << "scheme data has no head: --fc-batch and --fc-update are ignored";
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.getName() == "train_step" ||
          function.getName() == "eval_step")
        if (failed(placeFunction(function, *options)))
          return signalPassFailure();
  }
};
} // namespace
