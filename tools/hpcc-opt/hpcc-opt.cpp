// SPDX-License-Identifier: Apache-2.0
// Runs passes over textual IR.
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"
#include "passes/pipelines/Pipelines.h"
#include "tools/hpcc-opt/TestPasses.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  hpcc::registerHpccPasses();
  hpcc::registerPhasePipelines();
  hpcc::registerTestPasses();
  mlir::DialectRegistry registry;
  hpcc::registerPhaseDialects(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "hpcc pass driver\n", registry));
}
