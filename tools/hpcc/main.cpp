// SPDX-License-Identifier: Apache-2.0
// hpcc MODEL.onnx: compiles, prints the plan, trains.
#include "tools/hpcc/CommandLine.h"
#include "tools/hpcc/Driver.h"

using namespace hpcc;

int main(int argc, char **argv) {
  runtime::Result<CommandLine> line =
      parseCommandLine(llvm::ArrayRef<const char *>(argv + 1, argc - 1));
  runtime::Status status = line.status();
  if (status.ok() && line->help)
    printHelp(llvm::outs());
  else if (status.ok() && line->version)
    llvm::outs() << "hpcc " << HPCC_VERSION << "\n";
  else if (status.ok())
    return runDriver(*line);
  if (status.ok())
    return 0;
  llvm::errs() << "hpcc: error: " << status.message() << "\n";
  return status.exitCode();
}
