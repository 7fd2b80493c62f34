// SPDX-License-Identifier: Apache-2.0
// A compiled program on CPU workers: training, evaluation, and the one-offs.
#pragma once

#include "runtime/comm/local/LocalGroup.h"
#include "runtime/train/ContextWorkers.h"
#include "runtime/train/Trainer.h"
#include "tools/hpcc/Plan.h"
#include "tools/hpcc/Session.h"
#include "tools/hpcc/VerifyCommunication.h"
#include "tools/jit/Jit.h"

namespace hpcc {

class Runner {
public:
  Runner(const CommandLine &line, Session &session)
      : line(line), session(session) {}
  ~Runner();

  /// Sets `exitCode` where that is not 0 although nothing failed.
  runtime::Status run(int &exitCode);

private:
  runtime::Status openData();
  runtime::Status compile();
  runtime::Status startWorkers();
  runtime::Status loadParameters();
  runtime::Result<runtime::LogicalState> initialState();
  runtime::Status trainModel(int &exitCode);
  runtime::Status evaluateModel();
  runtime::Status inferFile();
  runtime::Status writeGradients();
  runtime::Status exportModel();
  /// Functions that the run calls.
  llvm::StringSet<> functions() const;
  std::string modelHash();

  const CommandLine &line;
  Session &session;
  std::string hash;
  std::unique_ptr<runtime::Dataset> data, validation, evaluation;
  std::unique_ptr<CommunicationVerifier> verifier;
  std::unique_ptr<Jit> jit;
  runtime::Program program;
  std::unique_ptr<runtime::LocalGroup> group;
  std::unique_ptr<runtime::ContextWorkers> workers;
  std::unique_ptr<runtime::Engine> engine;
};

} // namespace hpcc
