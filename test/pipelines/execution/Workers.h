// SPDX-License-Identifier: Apache-2.0
// Compiles a `fused` module in one of several ways and runs @train_step of the
// result on worker threads, with an arena that is full of NaNs and has a canary
// behind it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/base/EventLog.h"
#include "runtime/comm/Communicator.h"
#include "tools/jit/Jit.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hpcc::test {

/// How to compile.
struct Variant {
  bool schedule = true;
  /// Otherwise every buffer is allocated when it is needed.
  bool arena = true;
  /// Damage done to the IR after scheduling or after planning, to show that the
  /// tests would notice.
  std::function<void(mlir::ModuleOp)> afterSchedule, afterArena;
};

/// The text of test/pipelines/Inputs/<name>.
std::string readInput(const std::string &name);

class Compiled {
public:
  /// Fails the current test, and returns null, where compilation fails.
  static std::unique_ptr<Compiled> create(const std::string &text,
                                          const Variant &variant = {});
  ~Compiled();

  mlir::ModuleOp module() const;
  const Jit &code() const { return *machineCode; }

private:
  Compiled();
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> ir;
  std::unique_ptr<Jit> machineCode;
};

/// What one worker holds after the run: arguments by name.
using WorkerState = std::map<std::string, std::vector<float>>;

struct RunOptions {
  int64_t workers = 1;
  int threads = 1;
  /// Examples of each step.
  std::vector<int64_t> examples;
  float rate = 0.01f;
  runtime::TransferHook *hook = nullptr;
  runtime::EventLog *events = nullptr;
};

struct RunResult {
  std::vector<WorkerState> workers;
  bool canariesIntact = true;
  std::string error;
};

/// The value of element `index` of the logical tensor `name` at the start.
float initialValue(const std::string &name, int64_t index);

RunResult run(const Compiled &program, const RunOptions &options);

} // namespace hpcc::test
