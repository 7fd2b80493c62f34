// SPDX-License-Identifier: Apache-2.0
// What the user asked for, as the passes see it: the module attribute
// `nn.options`. Absent keys have the defaults below. The driver writes it at
// import; it travels with the IR, so continuing from printed IR needs no flag.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "runtime/include/hpcc/sharding.h"
#include "llvm/ADT/STLExtras.h"
#include <string>
#include <vector>

namespace hpcc {

struct LossOutput {
  std::string name; // of a graph output; empty = the first output
  double weight = 1.0;
};
struct Placement {
  std::string pattern; // glob over node names
  std::string place;   // "data"
};
enum class SchemeChoice { A, B, C, Data };

struct Options {
  std::string loss = "softmax"; // softmax | logistic | mse
  std::vector<LossOutput> lossOutputs;
  double momentum = 0.9;
  std::string momentumForm = "pytorch"; // pytorch | caffe
  bool nesterov = false;
  double weightDecay = 0.0;
  std::vector<std::string> noDecay; // roles: "bias", "norm"
  std::string lrScaling = "none";   // none | linear | sqrt
  int64_t baseBatch = 128;
  SchemeChoice scheme = SchemeChoice::Data;
  int64_t workers = 1;
  int64_t batch = 128; // B, examples per step over all workers
  int64_t fcBatch = 0; // f, 0 = not given
  std::string
      fcUpdate; // every | accumulate | <N>; empty = the scheme's default
  std::vector<Placement> place;
  std::vector<std::string> freeze;    // glob over initializer names
  std::string bnVariance = "pytorch"; // pytorch | onnx
  int64_t seed = 0;
  /// What the targets of `logistic` are: "class" indices [N], or a "vector"
  /// [N, C] of floats. Follows from the data.
  std::string labels = "class";
  /// Which functions `training` makes: forward, train_step, eval_step,
  /// gradients. Empty: all.
  std::vector<std::string> functions;

  bool wants(llvm::StringRef function) const {
    return functions.empty() || llvm::is_contained(functions, function.str());
  }
  /// The options of a module; a malformed attribute is diagnosed at the module.
  static mlir::FailureOr<Options> get(mlir::ModuleOp module);
  void set(mlir::ModuleOp module) const;

  /// Passes between two updates of the head: 1 for `every`, N for `N`, all
  /// passes for `accumulate`.
  int64_t passesPerUpdate() const;
  int64_t passes() const;
  sharding::PassPlan passPlan() const;
  llvm::StringRef schemeName() const;
};

} // namespace hpcc
