// RUN: hpcc-opt %s --hpcc-phase-normalized | FileCheck %s
// MatMul and Add as imported, the bias of rank 2, become one linear layer whose
// parameters have the layer's own shapes.

// CHECK-DAG: nn.parameter @w : tensor<3x5xf32> {{{.*}}transposed}
// CHECK-DAG: nn.parameter @b : tensor<3xf32>
nn.parameter @w : tensor<5x3xf32> {initializer = "w", role = "weight", trainable}
nn.parameter @b : tensor<1x3xf32> {initializer = "b", role = "bias", trainable}

// CHECK-LABEL: func.func @forward
func.func @forward(%x: tensor<?x5x1xf32>) -> tensor<?x3xf32> {
  // CHECK: %[[X:.*]] = nn.reshape %arg0 : tensor<?x5x1xf32> to tensor<?x5xf32>
  // CHECK-NOT: nn.reshape
  // CHECK-NOT: nn.transpose
  %0 = nn.reshape %x : tensor<?x5x1xf32> to tensor<?x1x5xf32>
  %1 = nn.reshape %0 : tensor<?x1x5xf32> to tensor<?x5xf32>
  %w = nn.load @w : tensor<5x3xf32>
  %t = nn.transpose %w {perm = array<i64: 1, 0>} : tensor<5x3xf32> to tensor<3x5xf32>
  // CHECK: nn.linear %[[X]]
  // CHECK-NOT: nn.add
  %2 = nn.linear %1, %t : (tensor<?x5xf32>, tensor<3x5xf32>) -> tensor<?x3xf32>
  %b = nn.load @b : tensor<1x3xf32>
  %3 = nn.add %2, %b : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
  return %3 : tensor<?x3xf32>
}
