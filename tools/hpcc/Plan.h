// SPDX-License-Identifier: Apache-2.0
// What the compiled program will do, in numbers: layers, collectives, memory,
// passes, rates. Collected from the IR while it is lowered, so that it states
// what was compiled and not what was meant.
#pragma once

#include "passes/Options.h"
#include "passes/pipelines/Phases.h"
#include "tools/hpcc/Ledger.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace hpcc {

/// A node of the file.
struct PlanLayer {
  std::string name;
  std::string op;
  /// trunk or head.
  bool isHead = false;
  int64_t parameters = 0;
  int64_t flops = 0; ///< Forward, one example.
  /// Floats of its results, one example.
  int64_t activations = 0;
  /// Output features of a layer with weights; 0 otherwise.
  int64_t units = 0;
  bool fullyConnected = false;
  int64_t inputs = 0; ///< Of a fully-connected layer, features.
};

/// A value that crosses from the trunk to the head.
struct PlanBoundary {
  std::string name;
  int64_t features = 0;
  bool isLabel = false;
};

/// One collective op of the program, all its runs in a step together.
struct PlanCollective {
  LedgerEntry first;
  int64_t runs = 0;
  /// Per worker.
  std::vector<int64_t> bytes;
  bool inPasses = false;
};

struct Plan {
  std::string model;
  Options options;
  bool hasHead = false;
  std::vector<PlanLayer> layers;
  std::vector<PlanBoundary> boundary;
  std::vector<PlanCollective> collectives;
  /// Bytes, per worker.
  std::vector<int64_t> parameterBytes, stateBytes, receivedBytes;
  std::optional<int64_t> arenaBytes;

  int64_t headParameters() const;
  int64_t trunkParameters() const;
};

class PlanBuilder {
public:
  explicit PlanBuilder(std::string model) { plan.model = std::move(model); }

  /// To be called with the module at every phase reached. Fails, with a
  /// diagnostic, where the program cannot be accounted for.
  llvm::LogicalResult observe(mlir::ModuleOp module, Phase phase);
  const Plan &get() const { return plan; }

private:
  void collectLayers(mlir::func::FuncOp forward);
  void collectPlacement(mlir::func::FuncOp step);
  llvm::LogicalResult collectCommunication(mlir::func::FuncOp step);
  void collectStorage(mlir::func::FuncOp step);

  Plan plan;
  /// nn.node -> index in plan.layers.
  llvm::DenseMap<int64_t, size_t> layerOfNode;
};

/// What printing depends on beside the program.
struct PlanContext {
  double rate = 0.01;
  bool gpus = false;
  /// Examples of an epoch; 0: unknown.
  int64_t dataset = 0;
};
/// Everything, 100 columns wide.
void printPlan(llvm::raw_ostream &os, const Plan &plan,
               const PlanContext &context);
/// The parts that are not a table of layers or collectives.
void printSummary(llvm::raw_ostream &os, const Plan &plan,
                  const PlanContext &context);

} // namespace hpcc
