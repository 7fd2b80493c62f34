// RUN: hpcc-opt %s --hpcc-fuse-lower-generated --canonicalize --cse --hpcc-fuse-reuse-operands --canonicalize | FileCheck %s

// CHECK-LABEL: @relu_takes_the_place_of_a_library_result
//       CHECK:   %[[Y:.*]] = nn.linear
//   CHECK-NOT:   tensor.empty
//       CHECK:   linalg.generic {{.*}} ins(%[[Y]] : tensor<?x4xf32>) outs(%[[Y]] : tensor<?x4xf32>)
func.func @relu_takes_the_place_of_a_library_result(%x: tensor<?x3xf32>, %w: tensor<4x3xf32>) -> tensor<?x4xf32> {
  %0 = nn.linear %x, %w : (tensor<?x3xf32>, tensor<4x3xf32>) -> tensor<?x4xf32>
  %1 = nn.relu %0 : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// CHECK-LABEL: @an_argument_is_not_overwritten
//       CHECK:   %[[E:.*]] = tensor.empty
//       CHECK:   linalg.generic {{.*}} outs(%[[E]]
func.func @an_argument_is_not_overwritten(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = nn.relu %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: @a_value_with_another_use_is_not_overwritten
//       CHECK:   nn.linear
//       CHECK:   %[[E:.*]] = tensor.empty
//       CHECK:   linalg.generic {{.*}} outs(%[[E]]
func.func @a_value_with_another_use_is_not_overwritten(%x: tensor<?x3xf32>, %w: tensor<4x3xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = nn.linear %x, %w : (tensor<?x3xf32>, tensor<4x3xf32>) -> tensor<?x4xf32>
  %1 = nn.relu %0 : tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: @an_updated_parameter_is_not_overwritten
//       CHECK:   %[[W:.*]] = linalg.generic {{.*}} outs(%arg0
//       CHECK:   %[[E:.*]] = tensor.empty
//       CHECK:   linalg.generic {{.*}} ins(%[[W]] {{.*}} outs(%[[E]]
func.func @an_updated_parameter_is_not_overwritten(%w: tensor<4xf32>, %g: tensor<4xf32>, %lr: f32) -> tensor<4xf32> {
  %0 = nn.sgd %w gradient(%g : tensor<4xf32>) lr(%lr) {momentum = 0.0 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "pytorch"} : tensor<4xf32> -> tensor<4xf32>
  %1 = nn.relu %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @a_broadcast_operand_is_not_overwritten
//       CHECK:   %[[Y:.*]] = nn.linear
//       CHECK:   linalg.generic {{.*}} ins(%[[Y]], %arg0 {{.*}} outs(%[[Y]]
//       CHECK:   %[[E:.*]] = tensor.empty
//       CHECK:   linalg.generic {{.*}} outs(%[[E]]
func.func @a_broadcast_operand_is_not_overwritten(%x: tensor<?x1xf32>, %w: tensor<1x1xf32>, %v: tensor<1x1xf32>, %z: tensor<?x4xf32>) -> (tensor<?x1xf32>, tensor<?x4xf32>) {
  %0 = nn.linear %x, %w : (tensor<?x1xf32>, tensor<1x1xf32>) -> tensor<?x1xf32>
  %1 = nn.mul %0, %x : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %2 = nn.linear %x, %v : (tensor<?x1xf32>, tensor<1x1xf32>) -> tensor<?x1xf32>
  %3 = nn.add %2, %z : (tensor<?x1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1, %3 : tensor<?x1xf32>, tensor<?x4xf32>
}
