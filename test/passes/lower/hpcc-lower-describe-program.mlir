// RUN: hpcc-opt %s --hpcc-lower-describe-program --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: nn.program = {functions = {step = [
// CHECK-SAME: {element = !llvm.ptr, kind = "context"},
// CHECK-SAME: {dims = array<i64: -1, 9>, element = f32, kind = "input", name = "x"},
// CHECK-SAME: {element = index, kind = "rank"},
// CHECK-SAME: {dims = array<i64: -3, 9>, element = f32, kind = "value", name = "w", {{.*}}split = "dim0"},
// CHECK-SAME: {dims = array<i64: -2, 4>, element = f32, kind = "result", name = "y", of = "output", rows = "step"},
// CHECK-SAME: {dims = array<i64>, element = f32, kind = "result", name = "loss", of = "loss"}]}
// CHECK-SAME: parameters = [{initializer = "fc.weight", name = "w", role = "weight", trainable, type = tensor<31x9xf32>}]}
// CHECK-NOT: nn.parameter
nn.parameter @w : tensor<31x9xf32> {initializer = "fc.weight", role = "weight", trainable}
func.func @step(%ctx: !llvm.ptr {nn.arg = {kind = "context"}},
    %x: memref<?x9xf32> {nn.arg = {kind = "input", name = "x"}},
    %rank: index {nn.arg = {kind = "rank"}},
    %w: memref<?x9xf32> {nn.arg = {kind = "value", name = "w", split = "dim0", segments = [{parameter = "w", offset = 0, shape = [31, 9]}]}},
    %y: memref<?x4xf32> {nn.arg = {kind = "result", name = "y", of = "output", rows = "step"}},
    %loss: memref<f32> {nn.arg = {kind = "result", name = "loss", of = "loss"}}) {
  return
}
func.func private @kernel(%x: memref<?xf32>) {
  return
}

// -----

// expected-error @below {{argument #1 has no nn.arg}}
func.func @step(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %x: memref<?x9xf32>) {
  return
}
