// RUN: hpcc-opt %s --hpcc-bufferize-resolve-copies --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @activations_may_be_copied
// CHECK: linalg.copy ins(%{{.*}}) outs(%{{.*}})
// CHECK-NOT: memref.copy
func.func @activations_may_be_copied(%x: memref<4xf32> {nn.arg = {kind = "input", name = "x"}},
    %y: memref<4xf32> {nn.arg = {kind = "result", name = "y"}}) {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

// A parameter may be an output.
// CHECK-LABEL: func.func @a_result_may_be_a_value
// CHECK: linalg.copy
func.func @a_result_may_be_a_value(%w: memref<4xf32> {nn.arg = {kind = "value", name = "w"}},
    %y: memref<4xf32> {nn.arg = {kind = "result", name = "y"}}) {
  memref.copy %w, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @an_old_value_is_kept(%w: memref<4xf32> {nn.arg = {kind = "value", name = "fc.weight"}}) {
  %old = memref.alloc() : memref<4xf32>
  // expected-error @below {{copies value "fc.weight", which must be updated in place}}
  // expected-note @below {{an old value is used after its update}}
  memref.copy %w, %old : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @a_part_of_the_state_is_replaced(%m: memref<4x2xf32> {nn.arg = {kind = "state", name = "m"}},
    %new: memref<2x2xf32>) {
  %part = memref.subview %m[2, 0] [2, 2] [1, 1] : memref<4x2xf32> to memref<2x2xf32, strided<[2, 1], offset: 4>>
  // expected-error @below {{copies state "m", which must be updated in place}}
  // expected-note @below {{an old value is used after its update}}
  memref.copy %new, %part : memref<2x2xf32> to memref<2x2xf32, strided<[2, 1], offset: 4>>
  return
}
