// RUN: hpcc-opt %s --hpcc-bufferize-place-results | FileCheck %s

// CHECK-LABEL: func.func @through_a_reshape
// CHECK: %[[PART:.*]] = tensor.extract_slice %arg0[0] [36] [1]
// CHECK: %[[PLACE:.*]] = tensor.expand_shape %[[PART]] {{\[}}[0, 1]] output_shape [4, 9]
// CHECK: nn.primitive "linear_backward_weights" {{.*}} outs(%[[PLACE]] :
func.func @through_a_reshape(%bucket: tensor<48xf32>, %x: tensor<?x9xf32>, %dy: tensor<?x4xf32>) -> tensor<48xf32> {
  %e = tensor.empty() : tensor<4x9xf32>
  %dw = nn.primitive "linear_backward_weights" ins(%x, %dy : tensor<?x9xf32>, tensor<?x4xf32>) outs(%e : tensor<4x9xf32>) {} -> tensor<4x9xf32>
  %flat = tensor.collapse_shape %dw [[0, 1]] : tensor<4x9xf32> into tensor<36xf32>
  %new = tensor.insert_slice %flat into %bucket[0] [36] [1] : tensor<36xf32> into tensor<48xf32>
  return %new : tensor<48xf32>
}

// CHECK-LABEL: func.func @without_a_reshape
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %arg0[%arg2] [4] [1]
// CHECK: linalg.copy {{.*}} outs(%[[PLACE]] :
func.func @without_a_reshape(%bucket: tensor<48xf32>, %x: tensor<4xf32>, %at: index) -> tensor<48xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.copy ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %new = tensor.insert_slice %y into %bucket[%at] [4] [1] : tensor<4xf32> into tensor<48xf32>
  return %new : tensor<48xf32>
}

// CHECK-LABEL: func.func @only_one_of_two_results
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %arg0[0] [4] [1]
// CHECK: nn.primitive "two" outs(%[[PLACE]], %{{[0-9]+}} :
func.func @only_one_of_two_results(%bucket: tensor<48xf32>) -> tensor<48xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %y:2 = nn.primitive "two" outs(%e, %f : tensor<4xf32>, tensor<4xf32>) {} -> tensor<4xf32>, tensor<4xf32>
  %a = tensor.insert_slice %y#0 into %bucket[0] [4] [1] : tensor<4xf32> into tensor<48xf32>
  %b = tensor.insert_slice %y#1 into %a[4] [4] [1] : tensor<4xf32> into tensor<48xf32>
  return %b : tensor<48xf32>
}

// CHECK-LABEL: func.func @other_uses_keep_the_result
// CHECK-NOT: extract_slice
func.func @other_uses_keep_the_result(%bucket: tensor<48xf32>, %x: tensor<4xf32>) -> (tensor<48xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.copy ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %new = tensor.insert_slice %y into %bucket[0] [4] [1] : tensor<4xf32> into tensor<48xf32>
  return %new, %y : tensor<48xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @late_destinations_keep_the_result
// CHECK-NOT: extract_slice
func.func @late_destinations_keep_the_result(%x: tensor<4xf32>) -> tensor<48xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.copy ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %bucket = tensor.empty() : tensor<48xf32>
  %new = tensor.insert_slice %y into %bucket[0] [4] [1] : tensor<4xf32> into tensor<48xf32>
  return %new : tensor<48xf32>
}
