// RUN: split-file %s %t
// RUN: not hpcc-opt %t/load.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=training})' 2>&1 | FileCheck %s --check-prefix=LOAD
// RUN: hpcc-opt %t/load.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=normalized})' -o /dev/null
// RUN: not hpcc-opt %t/library.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=bufferized})' 2>&1 | FileCheck %s --check-prefix=LIBRARY
// RUN: hpcc-opt %t/library.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=fused})' -o /dev/null
// RUN: not hpcc-opt %t/generated.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=fused})' 2>&1 | FileCheck %s --check-prefix=GENERATED
// RUN: hpcc-opt %t/generated.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=layout})' -o /dev/null
// RUN: not hpcc-opt %t/tensor.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=bufferized})' 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not hpcc-opt %t/background.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=scheduled})' 2>&1 | FileCheck %s --check-prefix=BACKGROUND
// RUN: hpcc-opt %t/background.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=bufferized})' -o /dev/null
// RUN: not hpcc-opt %t/background.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=partitioned})' 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not hpcc-opt %t/alloc.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=arena})' 2>&1 | FileCheck %s --check-prefix=ALLOC
// RUN: not hpcc-opt %t/kernel.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=rt})' 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not hpcc-opt %t/kernel.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=llvm})' 2>&1 | FileCheck %s --check-prefix=LLVM
// RUN: not hpcc-opt %t/kernel.mlir --pass-pipeline='builtin.module(hpcc-verify-phase{phase=lowered})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// LOAD: error: in phase `training`: nn.load was expected to have been removed by
// LIBRARY: error: in phase `bufferized`: nn.linear was expected to have been removed by hpcc-bufferize-lower-library
// GENERATED: error: in phase `fused`: nn.relu was expected to have been removed by hpcc-fuse-lower-generated
// TENSOR: error: in phase `bufferized`: tensor.empty was expected to have been removed by one-shot-bufferize
// BACKGROUND: error: in phase `scheduled`: comm.all_gather was expected to have been removed by hpcc-schedule-overlap-collectives
// EARLY: error: in phase `partitioned`: comm.all_gather belongs to phase `comm` and later
// ALLOC: error: in phase `arena`: memref.alloc was expected to have been removed by hpcc-arena-plan-memory
// KERNEL: error: in phase `rt`: linalg.fill was expected to have been removed by hpcc-lower-outline-kernels
// LLVM: error: in phase `llvm`: func.func was expected to have been removed by convert-to-llvm
// UNKNOWN: error: there is no phase "lowered"

//--- load.mlir
nn.parameter @w : tensor<4x8xf32> {initializer = "w", role = "weight", trainable}
func.func @f() -> tensor<4x8xf32> {
  %w = nn.load @w : tensor<4x8xf32>
  return %w : tensor<4x8xf32>
}
//--- library.mlir
func.func @f(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) -> tensor<?x4xf32> {
  %y = nn.linear %x, %w : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
//--- generated.mlir
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = nn.relu %x : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
//--- tensor.mlir
func.func @f() {
  %y = tensor.empty() : tensor<8xf32>
  return
}
//--- background.mlir
func.func @f(%x: memref<1x8xf32>, %y: memref<2x8xf32>) {
  comm.all_gather ins(%x : memref<1x8xf32>) outs(%y : memref<2x8xf32>) channel(background)
  return
}
//--- alloc.mlir
func.func @f() {
  %y = memref.alloc() : memref<8xf32>
  return
}
//--- kernel.mlir
func.func @f(%x: memref<8xf32>, %v: f32) {
  linalg.fill ins(%v : f32) outs(%x : memref<8xf32>)
  return
}
