// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/Graph.h"

#include "frontend/onnx/OperatorTable.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <queue>

using namespace llvm;

namespace hpcc {

/// The newest file format whose rules are known here.
static constexpr int64_t lastIrVersion = 13;

bool isDefaultDomain(StringRef domain) {
  return domain.empty() || domain == "ai.onnx";
}

static int64_t findOpset(const onnx::ModelProto &model,
                         std::vector<GraphProblem> &problems) {
  auto problem = [&](const Twine &message) {
    problems.push_back({-1, message.str()});
    return int64_t(0);
  };
  if (model.ir_version() > lastIrVersion)
    return problem("IR version " + Twine(model.ir_version()) +
                   " is newer than " + Twine(lastIrVersion) +
                   ", the last one hpcc knows");
  int64_t opset = model.ir_version() < 3 ? 1 : 0;
  for (const onnx::OperatorSetIdProto &entry : model.opset_import()) {
    if (!isDefaultDomain(entry.domain()))
      continue;
    if (opset > 1 && opset != entry.version())
      return problem("two opsets are imported for the default domain: " +
                     Twine(opset) + " and " + Twine(entry.version()));
    opset = entry.version();
  }
  if (opset == 0)
    return problem("no opset_import for the default domain, which IR version " +
                   Twine(model.ir_version()) + " requires");
  if (opset < firstOpset || opset > lastOpset)
    return problem("opset " + Twine(opset) + " is not supported; hpcc reads " +
                   Twine(firstOpset) + " to " + Twine(lastOpset));
  return opset;
}

namespace {
class Sorter {
public:
  Sorter(const ModelFile::Contents &contents,
         std::vector<GraphProblem> &problems)
      : contents(contents), proto(contents.model.graph()), problems(problems),
        needed(proto.node_size(), false) {}

  void run(Graph &graph) {
    findProducers();
    if (!problems.empty())
      return;
    markNeeded();
    if (!problems.empty())
      return;
    sort(graph);
    for (int i = 0; i < proto.node_size(); ++i)
      if (!needed[i])
        graph.dead.push_back(i);
  }

private:
  void findProducers() {
    for (const onnx::ValueInfoProto &input : proto.input())
      if (!inputs.insert(input.name()).second || input.name().empty())
        problems.push_back(
            {-1, "two graph inputs are named \"" + input.name() + "\""});
    for (int i = 0; i < proto.node_size(); ++i) {
      for (const std::string &output : proto.node(i).output()) {
        if (output.empty())
          continue;
        bool isOwnConstant =
            contents.find(output) && contents.find(output)->node == i;
        if (inputs.contains(output) ||
            (contents.find(output) && !isOwnConstant) ||
            !producers.try_emplace(output, i).second)
          problems.push_back({i, "redefines the value \"" + output + "\""});
      }
    }
  }

  bool isGiven(const std::string &name) const {
    return name.empty() || inputs.contains(name) ||
           (contents.find(name) && !producers.contains(name));
  }

  /// Backward from the outputs.
  void markNeeded() {
    std::vector<int> worklist;
    auto need = [&](const std::string &name, int user, StringRef what) {
      if (isGiven(name))
        return;
      auto producer = producers.find(name);
      if (producer == producers.end()) {
        problems.push_back({user, (what + " \"" + name +
                                   "\" is made by no node, input or "
                                   "initializer")
                                      .str()});
        return;
      }
      if (!needed[producer->second]) {
        needed[producer->second] = true;
        worklist.push_back(producer->second);
      }
    };
    if (proto.output_size() == 0)
      problems.push_back({-1, "the graph has no output"});
    for (const onnx::ValueInfoProto &output : proto.output()) {
      if (output.name().empty())
        problems.push_back({-1, "an output has no name"});
      need(output.name(), -1, "output");
    }
    while (!worklist.empty()) {
      int node = worklist.back();
      worklist.pop_back();
      for (const std::string &input : proto.node(node).input())
        need(input, node, "input");
    }
  }

  /// Kahn's algorithm; among the ready nodes the first of the file goes first.
  void sort(Graph &graph) {
    std::vector<int> waiting(proto.node_size(), 0);
    std::vector<std::vector<int>> users(proto.node_size());
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    size_t count = 0;
    for (int i = 0; i < proto.node_size(); ++i) {
      if (!needed[i])
        continue;
      ++count;
      for (const std::string &input : proto.node(i).input()) {
        if (isGiven(input))
          continue;
        users[producers.find(input)->second].push_back(i);
        ++waiting[i];
      }
      if (waiting[i] == 0)
        ready.push(i);
    }
    while (!ready.empty()) {
      int node = ready.top();
      ready.pop();
      graph.order.push_back(node);
      for (int user : users[node])
        if (--waiting[user] == 0)
          ready.push(user);
    }
    if (graph.order.size() == count)
      return;
    for (int i = 0; i < proto.node_size(); ++i)
      if (needed[i] && waiting[i] > 0)
        problems.push_back({i, "is in a cycle, or waits for one"});
  }

  const ModelFile::Contents &contents;
  const onnx::GraphProto &proto;
  std::vector<GraphProblem> &problems;
  StringSet<> inputs;
  StringMap<int> producers;
  std::vector<char> needed;
};
} // namespace

Graph analyzeGraph(const ModelFile::Contents &contents,
                   std::vector<GraphProblem> &problems) {
  Graph graph;
  graph.opset = findOpset(contents.model, problems);
  if (problems.empty())
    Sorter(contents, problems).run(graph);
  return graph;
}

} // namespace hpcc
