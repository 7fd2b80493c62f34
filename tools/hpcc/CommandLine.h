// SPDX-License-Identifier: Apache-2.0
// What the user asked for. Parsing reports the first mistake as a Status whose
// message names the flag, what it accepts and what it got.
#pragma once

#include "passes/Options.h"
#include "passes/pipelines/Phases.h"
#include "runtime/base/Status.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace hpcc {

struct CommandLine {
  bool help = false;
  bool version = false;

  /// The .onnx file, or printed IR with `from`.
  std::string model;
  std::optional<Phase> from;
  std::optional<Phase> emit;
  std::string dumpIR;
  bool verifyComm = false;

  /// What passes see; travels in the IR.
  Options options;
  /// Keys of `nn.options` that a flag set explicitly.
  llvm::StringSet<> given;
  bool gpus = false;
  /// Per worker; 0: cores / workers.
  int64_t threads = 0;

  double lr = 0.01;
  std::string lrSchedule = "constant";
  int64_t classes = 0; ///< 0: keep the file's.
  std::vector<std::string> reinit;

  std::string data, val, eval;
  int64_t epochs = 1;
  int64_t steps = 0; ///< 0: `epochs` decides.
  bool shuffle = true;
  std::vector<float> mean, deviation;

  std::string exportFile, checkpoint, resume, log;
  int64_t saveEvery = 0; ///< 0: an epoch.

  std::string infer, output, dumpGradients;

  bool trains() const { return !data.empty() && dumpGradients.empty(); }
  /// Something executes, as opposed to: the plan or IR is printed.
  bool runs() const {
    return !emit && (!data.empty() || !eval.empty() || !infer.empty() ||
                     !exportFile.empty());
  }
};

/// `arguments` without the program's name. Includes every check that needs
/// neither the model nor the data.
runtime::Result<CommandLine>
parseCommandLine(llvm::ArrayRef<const char *> arguments);

/// Whether every output can be written, found out before work is spent.
runtime::Status checkOutputPaths(const CommandLine &commandLine);

void printHelp(llvm::raw_ostream &os);

} // namespace hpcc
