// SPDX-License-Identifier: Apache-2.0
// Shrinks IR that shows a bug, as mlir-reduce does, with hpcc's dialects and
// passes.
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "passes/Passes.h"
#include "passes/pipelines/Pipelines.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  hpcc::registerHpccPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  hpcc::registerPhaseDialects(registry);
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context)) ? 1 : 0;
}
