// RUN: hpcc-opt %s --hpcc-normalize-fold-bias | FileCheck %s
// The example of Passes.td.

nn.parameter @w : tensor<3x5xf32> {initializer = "w", role = "weight", trainable}
nn.parameter @b : tensor<3xf32> {initializer = "b", role = "bias", trainable}

// CHECK-LABEL: func.func @forward
func.func @forward(%x: tensor<?x5xf32>) -> tensor<?x3xf32> {
  // CHECK: %[[W:.*]] = nn.load @w
  %w = nn.load @w : tensor<3x5xf32>
  // CHECK: %[[B:.*]] = nn.load @b
  %b = nn.load @b : tensor<3xf32>
  // CHECK: nn.linear %arg0, %[[W]], %[[B]] : (tensor<?x5xf32>, tensor<3x5xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  // CHECK-NOT: nn.add
  %0 = nn.linear %x, %w : (tensor<?x5xf32>, tensor<3x5xf32>) -> tensor<?x3xf32>
  %1 = nn.add %0, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
