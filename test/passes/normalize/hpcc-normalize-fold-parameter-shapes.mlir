// RUN: hpcc-opt %s --hpcc-normalize-fold-parameter-shapes --split-input-file | FileCheck %s

// CHECK: nn.parameter @w : tensor<3x5xf32> {{{.*}}transposed}
nn.parameter @w : tensor<5x3xf32> {initializer = "w", role = "weight", trainable}

// CHECK-LABEL: func.func @transposed_weight
func.func @transposed_weight(%x: tensor<?x5xf32>) -> tensor<?x3xf32> {
  // CHECK: %[[W:.*]] = nn.load @w : tensor<3x5xf32>
  %w = nn.load @w : tensor<5x3xf32>
  // CHECK-NOT: nn.transpose
  %t = nn.transpose %w {perm = array<i64: 1, 0>} : tensor<5x3xf32> to tensor<3x5xf32>
  // CHECK: nn.linear %{{.*}}, %[[W]]
  %0 = nn.linear %x, %t : (tensor<?x5xf32>, tensor<3x5xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// A weight that the file holds flat: reshaped, then transposed (B70).
// CHECK: nn.parameter @w : tensor<4x3xf32> {{{.*}}transposed}
nn.parameter @w : tensor<12xf32> {initializer = "w", role = "weight", trainable}

// CHECK-LABEL: func.func @reshape_then_transpose
func.func @reshape_then_transpose(%x: tensor<?x3xf32>) -> tensor<?x4xf32> {
  %w = nn.load @w : tensor<12xf32>
  // CHECK-NOT: nn.reshape
  // CHECK-NOT: nn.transpose
  %r = nn.reshape %w : tensor<12xf32> to tensor<3x4xf32>
  %t = nn.transpose %r {perm = array<i64: 1, 0>} : tensor<3x4xf32> to tensor<4x3xf32>
  %0 = nn.linear %x, %t : (tensor<?x3xf32>, tensor<4x3xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK: nn.parameter @w : tensor<3x4xf32> {initializer = "w", role = "weight", trainable}
nn.parameter @w : tensor<3x4xf32> {initializer = "w", role = "weight", trainable}

// CHECK-LABEL: func.func @two_transposes_cancel
func.func @two_transposes_cancel(%x: tensor<?x4xf32>) -> tensor<?x3xf32> {
  %w = nn.load @w : tensor<3x4xf32>
  // CHECK-NOT: nn.transpose
  %t = nn.transpose %w {perm = array<i64: 1, 0>} : tensor<3x4xf32> to tensor<4x3xf32>
  %u = nn.transpose %t {perm = array<i64: 1, 0>} : tensor<4x3xf32> to tensor<3x4xf32>
  %0 = nn.linear %x, %u : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK: nn.parameter @w : tensor<3x4xf32> {{{.*}}transposed}
nn.parameter @w : tensor<3x4xf32> {initializer = "w", role = "weight", trainable, transposed}

// CHECK-LABEL: func.func @reshape_of_a_transposed_parameter_stays
func.func @reshape_of_a_transposed_parameter_stays() -> tensor<12xf32> {
  %w = nn.load @w : tensor<3x4xf32>
  // CHECK: nn.reshape
  %r = nn.reshape %w : tensor<3x4xf32> to tensor<12xf32>
  return %r : tensor<12xf32>
}

// -----

// One weight, used as it is and transposed (B39): one parameter still.
// CHECK: nn.parameter @w : tensor<4x4xf32> {initializer = "w", role = "weight", trainable}
nn.parameter @w : tensor<4x4xf32> {initializer = "w", role = "weight", trainable}

// CHECK-LABEL: func.func @different_uses_stay
func.func @different_uses_stay(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %w = nn.load @w : tensor<4x4xf32>
  // CHECK: nn.transpose
  %t = nn.transpose %w {perm = array<i64: 1, 0>} : tensor<4x4xf32> to tensor<4x4xf32>
  %0 = nn.linear %x, %t : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %1 = nn.linear %0, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
