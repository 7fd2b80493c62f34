// SPDX-License-Identifier: Apache-2.0
// The plan as text.
#include "tools/hpcc/Plan.h"
#include "tools/hpcc/Table.h"

#include "runtime/include/hpcc/sharding.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace hpcc;
using llvm::StringRef;

/// "334+333+333", "64 each", "16 x 4, 15 x 60".
static std::string shardsText(int64_t units, int64_t workers) {
  auto size = [&](int64_t rank) {
    return sharding::shard(units, workers, rank).size;
  };
  int64_t larger = units % workers;
  if (larger == 0)
    return std::to_string(size(0)) + " each";
  if (workers <= 4) {
    std::vector<std::string> sizes;
    for (int64_t rank = 0; rank < workers; ++rank)
      sizes.push_back(std::to_string(size(rank)));
    return llvm::join(sizes, "+");
  }
  return std::to_string(size(0)) + " x " + std::to_string(larger) + ", " +
         std::to_string(size(workers - 1)) + " x " +
         std::to_string(workers - larger);
}

/// Rows of a pass, over all workers.
static std::vector<int64_t> passSizes(const Options &options) {
  std::vector<int64_t> sizes;
  sharding::PassPlan plan = options.passPlan();
  for (int64_t pass = 0, passes = options.passes(); pass < passes; ++pass) {
    sharding::Chunk chunk =
        sharding::chunk(plan, options.batch, /*rank=*/0, pass);
    sizes.push_back(chunk.total);
  }
  return sizes;
}

static std::string rangeText(const std::vector<int64_t> &values) {
  int64_t least = *llvm::min_element(values), most = *llvm::max_element(values);
  if (least == most)
    return std::to_string(least);
  return std::to_string(least) + " to " + std::to_string(most);
}

static std::string plural(int64_t count, StringRef what) {
  return (llvm::Twine(count) + " " + what + (count == 1 ? "" : "s")).str();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static void printLayers(llvm::raw_ostream &os, const Plan &plan) {
  const Options &options = plan.options;
  int64_t rows = sharding::ceilDiv(options.batch, options.workers);
  int64_t passRows =
      plan.hasHead ? sharding::chunkBounds(options.passPlan()).total : 0;
  Table table("lllrrrl");
  table.row({"layer", "op", "placement", "parameters", "flops/example",
             "activations", "shards"});
  int64_t parameters = 0, flops = 0, memory = 0;
  for (const PlanLayer &layer : plan.layers) {
    bool sharded = layer.isHead && layer.units > 0;
    // Activations of one worker: its examples of the step in the trunk, the
    // rows of one pass and its shard of the features in the head.
    int64_t bytes = 4 * layer.activations * (layer.isHead ? passRows : rows);
    if (sharded)
      bytes =
          4 * passRows * sharding::shard(layer.units, options.workers, 0).size;
    table.row({layer.name, layer.op,
               layer.isHead ? "head, model" : "trunk, data",
               layer.parameters ? grouped(layer.parameters) : "-",
               countText(double(layer.flops)), bytesText(double(bytes)),
               sharded ? shardsText(layer.units, options.workers) : "-"});
    parameters += layer.parameters;
    flops += layer.flops;
    memory += bytes;
  }
  table.row({"all", "", "", grouped(parameters), countText(double(flops)),
             bytesText(double(memory))});
  table.print(os, 28);
  os << "flops: forward; a training step is about three times that. "
        "Activations: one worker, before the\narena shares their memory.\n";
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

static StringRef whoSends(comm::Kind kind) {
  switch (kind) {
  case comm::Kind::AllGather:
  case comm::Kind::AllGatherInPlace:
    return "each to all";
  case comm::Kind::ReduceScatter:
    return "all to each";
  case comm::Kind::Broadcast:
    return "owner to all";
  case comm::Kind::Reduce:
    return "all to owner";
  case comm::Kind::AllReduce:
    return "all to all";
  }
  return "";
}

static void printCollectives(llvm::raw_ostream &os, const Plan &plan) {
  Table table("llllrl");
  table.row({"collective", "for", "who sends", "when", "received", "channel"});
  int64_t passes = plan.options.passes();
  for (const PlanCollective &collective : plan.collectives) {
    std::string when = collective.runs == 1 ? "once" : "";
    if (collective.inPasses && collective.runs % passes == 0)
      when = collective.runs == passes
                 ? "each pass"
                 : std::to_string(collective.runs / passes) + " x each pass";
    else if (when.empty())
      when = std::to_string(collective.runs) + " times";
    table.row({comm::stringifyKind(collective.first.kind).str(),
               collective.first.node.empty() ? "-" : collective.first.node,
               whoSends(collective.first.kind).str(), when,
               bytesText(collective.bytes),
               comm::stringifyChannel(collective.first.channel).str()});
  }
  table.print(os, 28);
  os << "received: bytes per worker and full step, all runs together.\n";
}

/// The formulas of docs/method.md with everything divisible, per worker.
static void printComparison(llvm::raw_ostream &os, const Plan &plan) {
  const Options &options = plan.options;
  double workers = double(options.workers);
  double perWorker = double(options.batch) / workers;
  double share = 2 * (workers - 1) / workers * 4;
  double trunk = share * double(plan.trunkParameters());
  double headAsData = share * double(plan.headParameters());
  os << "received per worker and step: " << bytesText(plan.receivedBytes)
     << " (the ledger)\n";
  if (!plan.hasHead)
    return;
  double boundary = 0, between = 0;
  for (const PlanBoundary &crossing : plan.boundary)
    if (!crossing.isLabel)
      boundary += double(crossing.features);
  for (const PlanLayer &layer : plan.layers)
    if (layer.isHead && layer.fullyConnected &&
        double(layer.inputs) != boundary)
      between += double(layer.inputs);
  double both = 2 * (workers - 1) * perWorker * 4;
  Table table("lrl");
  table.row({"  trunk, either way", bytesText(trunk), "2 (K-1)/K P_trunk s"});
  table.row({"  head, scheme " + options.schemeName().str(),
             bytesText(both * (boundary + between)),
             "2 (K-1) b (D + sum n_i) s, D = " + grouped(int64_t(boundary)) +
                 ", sum n_i = " + grouped(int64_t(between))});
  table.row({"  head, plain data parallelism", bytesText(headAsData),
             "2 (K-1)/K P_head s"});
  table.print(os, 64);
}

//===----------------------------------------------------------------------===//
// Passes, rates, memory
//===----------------------------------------------------------------------===//

static double rateFactor(const Options &options, double size) {
  double ratio = size / double(options.baseBatch);
  if (options.lrScaling == "linear")
    return ratio;
  return options.lrScaling == "sqrt" ? std::sqrt(ratio) : 1;
}

static void printPasses(llvm::raw_ostream &os, const Plan &plan,
                        const PlanContext &context) {
  const Options &options = plan.options;
  int64_t steps =
      context.dataset ? sharding::ceilDiv(context.dataset, options.batch) : 0;
  auto number = [](double value) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
    return text;
  };
  if (plan.hasHead) {
    int64_t passes = options.passes(), group = options.passesPerUpdate();
    int64_t updates = sharding::ceilDiv(passes, group);
    os << "head: " << passes << (passes == 1 ? " pass of " : " passes of ")
       << rangeText(passSizes(options)) << " examples a step, "
       << plural(updates, "update") << " a step";
    if (steps)
      os << ", " << grouped(steps * updates) << " an epoch";
    os << "\n";
  }
  os << "trunk: 1 update a step";
  if (steps)
    os << ", " << grouped(steps) << " an epoch of " << grouped(context.dataset)
       << " examples";
  os << "\n";
  double batch = double(options.batch);
  os << "learning rate: trunk "
     << number(context.rate * rateFactor(options, batch));
  if (plan.hasHead) {
    double size =
        batch * double(options.passesPerUpdate()) / double(options.passes());
    os << ", head " << number(context.rate * rateFactor(options, size));
  }
  os << " (--lr-scaling " << options.lrScaling << ", base batch "
     << options.baseBatch << ")\n";
}

static void printMemory(llvm::raw_ostream &os, const Plan &plan) {
  os << "memory of a worker: parameters " << bytesText(plan.parameterBytes)
     << ", optimizer state " << bytesText(plan.stateBytes);
  if (plan.arenaBytes)
    os << ", arena " << bytesText(double(*plan.arenaBytes));
  os << "\n";
}

static void printTitle(llvm::raw_ostream &os, const Plan &plan,
                       const PlanContext &context) {
  const Options &options = plan.options;
  std::vector<int64_t> sizes;
  for (int64_t rank = 0; rank < options.workers; ++rank)
    sizes.push_back(
        sharding::examples(options.batch, options.workers, rank).size);
  os << plan.model << ": "
     << plural(options.workers, context.gpus ? "GPU worker" : "CPU worker")
     << ", scheme " << (plan.hasHead ? options.schemeName() : "data")
     << ", batch " << options.batch << " (" << rangeText(sizes)
     << " per worker)\n";
}

void hpcc::printSummary(llvm::raw_ostream &os, const Plan &plan,
                        const PlanContext &context) {
  printTitle(os, plan, context);
  if (plan.hasHead) {
    std::vector<std::string> crossings;
    for (const PlanBoundary &crossing : plan.boundary)
      if (!crossing.isLabel)
        crossings.push_back(crossing.name + " (" + grouped(crossing.features) +
                            " per example)");
    os << "boundary of trunk and head: " << llvm::join(crossings, ", ") << "\n";
  }
  printPasses(os, plan, context);
  printMemory(os, plan);
}

void hpcc::printPlan(llvm::raw_ostream &os, const Plan &plan,
                     const PlanContext &context) {
  printSummary(os, plan, context);
  os << "\n";
  printLayers(os, plan);
  if (plan.options.workers == 1)
    return;
  os << "\n";
  printCollectives(os, plan);
  os << "\n";
  printComparison(os, plan);
}
