// SPDX-License-Identifier: Apache-2.0
// The order in which a file's nodes are imported.
#pragma once

#include "frontend/onnx/Contents.h"

namespace hpcc {

struct GraphProblem {
  int node; // -1: the graph as a whole
  std::string message;
};

struct Graph {
  /// Opset of the default domain.
  int64_t opset = 0;
  /// Nodes that the outputs need, in an order that is topological and
  /// otherwise the file's.
  std::vector<int> order;
  /// Nodes that no output needs.
  std::vector<int> dead;
};

/// Checks versions, names and edges. No recursion: graphs may be deep.
Graph analyzeGraph(const ModelFile::Contents &contents,
                   std::vector<GraphProblem> &problems);

bool isDefaultDomain(llvm::StringRef domain);

} // namespace hpcc
