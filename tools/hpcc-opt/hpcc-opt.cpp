// SPDX-License-Identifier: Apache-2.0
// Runs passes over textual IR.
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  hpcc::registerHpccPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<hpcc::nn::NNDialect, hpcc::comm::CommDialect,
                  hpcc::rt::RtDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "hpcc pass driver\n", registry));
}
