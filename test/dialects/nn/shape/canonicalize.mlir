// RUN: hpcc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @reshape_to_same_type
//  CHECK-NEXT:   return %arg0
func.func @reshape_to_same_type(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = nn.reshape %x : tensor<?x4xf32> to tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: @reshape_of_reshape
//  CHECK-NEXT:   %[[Y:.*]] = nn.reshape %arg0 : tensor<?x4x3xf32> to tensor<?x3x4xf32>
//  CHECK-NEXT:   return %[[Y]]
func.func @reshape_of_reshape(%x: tensor<?x4x3xf32>) -> tensor<?x3x4xf32> {
  %0 = nn.reshape %x : tensor<?x4x3xf32> to tensor<?x12xf32>
  %1 = nn.reshape %0 : tensor<?x12xf32> to tensor<?x3x4xf32>
  return %1 : tensor<?x3x4xf32>
}

// CHECK-LABEL: @reshape_and_back
//  CHECK-NEXT:   return %arg0
func.func @reshape_and_back(%x: tensor<?x4x3xf32>) -> tensor<?x4x3xf32> {
  %0 = nn.reshape %x : tensor<?x4x3xf32> to tensor<?x12xf32>
  %1 = nn.reshape %0 : tensor<?x12xf32> to tensor<?x4x3xf32>
  return %1 : tensor<?x4x3xf32>
}

// CHECK-LABEL: @identity_transpose
//  CHECK-NEXT:   return %arg0
func.func @identity_transpose(%x: tensor<?x4x3xf32>) -> tensor<?x4x3xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 1, 2>} : tensor<?x4x3xf32> to tensor<?x4x3xf32>
  return %0 : tensor<?x4x3xf32>
}

// CHECK-LABEL: @transpose_of_equal_extents_stays
//       CHECK:   nn.transpose
func.func @transpose_of_equal_extents_stays(%x: tensor<?x3x3xf32>) -> tensor<?x3x3xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<?x3x3xf32> to tensor<?x3x3xf32>
  return %0 : tensor<?x3x3xf32>
}
