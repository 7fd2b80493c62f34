// RUN: hpcc-opt %s --hpcc-fuse-lower-generated --canonicalize --cse --hpcc-fuse-elementwise --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @chain
// CHECK-COUNT-1: linalg.generic
//       CHECK:     arith.addf
//       CHECK:     arith.mulf
//   CHECK-NOT:   linalg.generic
func.func @chain(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = nn.add %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = nn.mul %0, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// Computing relu again in its gradient would keep %x alive.
// CHECK-LABEL: @two_users_are_not_fused
// CHECK-COUNT-2: linalg.generic
func.func @two_users_are_not_fused(%x: tensor<?x4xf32>, %dy: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = nn.relu %x : tensor<?x4xf32>
  %1 = nn.relu_backward %dy, %0 : tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: @update_in_place_is_left_alone
//       CHECK:   %[[G:.*]] = linalg.generic
//       CHECK:   linalg.generic {{.*}} ins(%[[G]] : tensor<4xf32>) outs(%arg0 : tensor<4xf32>)
func.func @update_in_place_is_left_alone(%w: tensor<4xf32>, %g: tensor<4xf32>, %lr: f32) -> tensor<4xf32> {
  %0 = nn.mul %g, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.sgd %w gradient(%0 : tensor<4xf32>) lr(%lr) {momentum = 0.0 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "pytorch"} : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
