// SPDX-License-Identifier: Apache-2.0
// Decides between printing IR, printing the plan, and running.
#include "tools/hpcc/Driver.h"

#include "tools/hpcc/Plan.h"
#include "tools/hpcc/Runner.h"
#include "tools/hpcc/Session.h"

using namespace hpcc;
using namespace hpcc::runtime;

static Status emitPhase(const CommandLine &line, Session &session) {
  // All functions: what is printed can be continued in any way.
  if (Status status = session.lower(*line.emit, {}); !status.ok())
    return status;
  session.print(llvm::outs());
  return {};
}

static Status showPlan(const CommandLine &line, Session &session) {
  PlanBuilder plan(line.model);
  // Memory is known once there is an arena. Dumps show every phase.
  Phase last = line.dumpIR.empty() ? Phase::Arena : Phase::Llvm;
  if (line.from && *line.from > last)
    last = *line.from;
  if (!line.from) {
    Options options = session.options();
    options.functions = {"train_step"};
    session.setOptions(options);
  }
  llvm::StringSet<> keep;
  keep.insert("train_step");
  auto observe = [&](mlir::ModuleOp module, Phase phase) {
    return plan.observe(module, phase);
  };
  if (Status status = session.lower(last, keep, observe); !status.ok())
    return status;
  printPlan(llvm::outs(), plan.get(), {line.lr, line.gpus, /*dataset=*/0});
  return {};
}

static Status drive(const CommandLine &line, int &exitCode) {
  if (Status status = checkOutputPaths(line); !status.ok())
    return status;
  if (line.gpus && line.runs()) {
    std::string workers = std::to_string(line.options.workers);
    return environmentError("--gpus " + workers +
                            ": no GPU that hpcc can use here; --cpus " +
                            workers + " runs the same on the CPU");
  }
  Session session(line);
  if (Status status = session.load(); !status.ok())
    return status;
  if (line.emit)
    return emitPhase(line, session);
  if (!line.runs())
    return showPlan(line, session);
  Runner runner(line, session);
  Status status = runner.run(exitCode);
  // The runner ends the process where a worker hangs: report first.
  if (!status.ok() && !status.message().empty())
    llvm::errs() << "hpcc: error: " << status.message() << "\n";
  return status.ok() ? status : Status::error(status.code(), "");
}

int hpcc::runDriver(const CommandLine &line) {
  int exitCode = 0;
  Status status = drive(line, exitCode);
  if (status.ok())
    return exitCode;
  if (!status.message().empty())
    llvm::errs() << "hpcc: error: " << status.message() << "\n";
  return status.exitCode();
}
