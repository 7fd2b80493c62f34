// RUN: hpcc-opt %s --hpcc-fuse-lower-generated --canonicalize --cse --split-input-file | FileCheck %s

// The comparison is unordered, so that NaN stays NaN.
// CHECK-LABEL: @relu
//       CHECK:   %[[N:.*]] = tensor.dim %arg0, %c0
//       CHECK:   %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
//       CHECK:   linalg.generic {{.*}}["parallel", "parallel"]} ins(%arg0 : tensor<?x4xf32>) outs(%[[E]] : tensor<?x4xf32>) attrs = {nn.node = 3 : i64}
//       CHECK:     %[[P:.*]] = arith.cmpf ugt, %in, %{{.*}}
//       CHECK:     arith.select %[[P]], %in, %{{.*}}
func.func @relu(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = nn.relu %x {nn.node = 3 : i64} : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[$CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>
// CHECK-LABEL: @broadcast_of_channels
//       CHECK:   linalg.generic {indexing_maps = [#[[$ALL]], #[[$CHANNEL]], #[[$ALL]]]
//       CHECK:     arith.divf
func.func @broadcast_of_channels(%x: tensor<?x3x4x5xf32>, %c: tensor<3x1x1xf32>) -> tensor<?x3x4x5xf32> {
  %0 = nn.div %x, %c : (tensor<?x3x4x5xf32>, tensor<3x1x1xf32>) -> tensor<?x3x4x5xf32>
  return %0 : tensor<?x3x4x5xf32>
}

// -----

// CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[$CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK-LABEL: @sum_to_channels
//       CHECK:   %[[Z:.*]] = linalg.fill {{.*}} -> tensor<3xf32>
//       CHECK:   %[[S:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$CHANNEL]]], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%arg0 {{.*}} outs(%[[Z]]
//       CHECK:   tensor.expand_shape %[[S]] {{\[\[}}0, 1, 2]] output_shape [3, 1, 1] : tensor<3xf32> into tensor<3x1x1xf32>
func.func @sum_to_channels(%x: tensor<?x3x4x5xf32>) -> tensor<3x1x1xf32> {
  %0 = nn.sum_to %x : tensor<?x3x4x5xf32> to tensor<3x1x1xf32>
  return %0 : tensor<3x1x1xf32>
}

// -----

// CHECK-LABEL: @sum_to_scalar
//       CHECK:   %[[S:.*]] = linalg.generic {{.*}}["reduction", "reduction"]}
//       CHECK:   tensor.expand_shape %[[S]] [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
func.func @sum_to_scalar(%x: tensor<?x3xf32>) -> tensor<1x1xf32> {
  %0 = nn.sum_to %x : tensor<?x3xf32> to tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

// CHECK-LABEL: @sum_keeps_rows
//       CHECK:   %[[S:.*]] = linalg.generic {{.*}}["parallel", "reduction", "parallel"]}
//       CHECK:   tensor.expand_shape %[[S]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 1, 5] : tensor<?x5xf32> into tensor<?x1x5xf32>
func.func @sum_keeps_rows(%x: tensor<?x4x5xf32>) -> tensor<?x1x5xf32> {
  %0 = nn.sum_to %x : tensor<?x4x5xf32> to tensor<?x1x5xf32>
  return %0 : tensor<?x1x5xf32>
}

// -----

// CHECK-LABEL: @flatten
//       CHECK:   tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2, 3]] : tensor<?x2x3x4xf32> into tensor<?x24xf32>
//  CHECK-NEXT:   return
func.func @flatten(%x: tensor<?x2x3x4xf32>) -> tensor<?x24xf32> {
  %0 = nn.reshape %x : tensor<?x2x3x4xf32> to tensor<?x24xf32>
  return %0 : tensor<?x24xf32>
}

// -----

// CHECK-LABEL: @reshape_through_rows
//       CHECK:   %[[R:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : tensor<?x4x6xf32> into tensor<?x24xf32>
//       CHECK:   tensor.expand_shape %[[R]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 3, 8] : tensor<?x24xf32> into tensor<?x3x8xf32>
func.func @reshape_through_rows(%x: tensor<?x4x6xf32>) -> tensor<?x3x8xf32> {
  %0 = nn.reshape %x : tensor<?x4x6xf32> to tensor<?x3x8xf32>
  return %0 : tensor<?x3x8xf32>
}

// -----

// Features of a shard keep their dimension.
// CHECK-LABEL: @reshape_of_a_shard
//       CHECK:   tensor.expand_shape %arg0 {{\[\[}}0], [1, 2, 3]] output_shape [%{{.*}}, %{{.*}}, 1, 1] : tensor<?x?xf32> into tensor<?x?x1x1xf32>
func.func @reshape_of_a_shard(%x: tensor<?x?xf32>) -> tensor<?x?x1x1xf32> {
  %0 = nn.reshape %x : tensor<?x?xf32> to tensor<?x?x1x1xf32>
  return %0 : tensor<?x?x1x1xf32>
}

// CHECK-LABEL: @shard_back
//       CHECK:   tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2, 3]] : tensor<?x?x1x1xf32> into tensor<?x?xf32>
func.func @shard_back(%x: tensor<?x?x1x1xf32>) -> tensor<?x?xf32> {
  %0 = nn.reshape %x : tensor<?x?x1x1xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: @rows_only
//       CHECK:   tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<?x1xf32> into tensor<?xf32>
//       CHECK:   tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2]] output_shape [%{{.*}}, 1, 1] : tensor<?xf32> into tensor<?x1x1xf32>
func.func @rows_only(%x: tensor<?x1xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?x1x1xf32>) {
  %0 = nn.reshape %x : tensor<?x1xf32> to tensor<?xf32>
  %1 = nn.reshape %y : tensor<?xf32> to tensor<?x1x1xf32>
  return %0, %1 : tensor<?xf32>, tensor<?x1x1xf32>
}

// CHECK-LABEL: @static_reshapes
//       CHECK:   tensor.collapse_shape %arg0 [] : tensor<1x1xf32> into tensor<f32>
//       CHECK:   tensor.expand_shape %{{.*}} [] output_shape [1, 1, 1] : tensor<f32> into tensor<1x1x1xf32>
func.func @static_reshapes(%x: tensor<1x1xf32>, %y: tensor<f32>) -> (tensor<f32>, tensor<1x1x1xf32>) {
  %0 = nn.reshape %x : tensor<1x1xf32> to tensor<f32>
  %1 = nn.reshape %y : tensor<f32> to tensor<1x1x1xf32>
  return %0, %1 : tensor<f32>, tensor<1x1x1xf32>
}

// -----

// Copies write into slices of the result, so that nothing is copied twice.
// CHECK-LABEL: @concat
//       CHECK:   %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x5xf32>
//       CHECK:   %[[S0:.*]] = tensor.extract_slice %[[E]][0, 0] [%{{.*}}, 2] [1, 1]
//       CHECK:   %[[C0:.*]] = linalg.copy ins(%arg0 {{.*}} outs(%[[S0]]
//       CHECK:   %[[I0:.*]] = tensor.insert_slice %[[C0]] into %[[E]][0, 0] [%{{.*}}, 2] [1, 1]
//       CHECK:   %[[S1:.*]] = tensor.extract_slice %[[I0]][0, 2] [%{{.*}}, 3] [1, 1]
//       CHECK:   %[[C1:.*]] = linalg.copy ins(%arg1 {{.*}} outs(%[[S1]]
//       CHECK:   tensor.insert_slice %[[C1]] into %[[I0]][0, 2] [%{{.*}}, 3] [1, 1]
func.func @concat(%x: tensor<?x2xf32>, %y: tensor<?x3xf32>) -> tensor<?x5xf32> {
  %0 = nn.concat %x, %y {axis = 1 : i64} : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

// -----

// A slice is contiguous: library calls take no strides.
// CHECK-LABEL: @slice
//       CHECK:   %[[S:.*]] = tensor.extract_slice %arg0[0, 1] [%{{.*}}, 2] [1, 1] : tensor<?x5xf32> to tensor<?x2xf32>
//       CHECK:   linalg.copy ins(%[[S]] {{.*}} outs(%{{.*}} : tensor<?x2xf32>)
func.func @slice(%x: tensor<?x5xf32>) -> tensor<?x2xf32> {
  %0 = nn.slice %x {offsets = array<i64: 0, 1>} : tensor<?x5xf32> to tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

// CHECK-LABEL: @pad_and_crop
//       CHECK:   %[[BOX:.*]] = tensor.extract_slice %arg0[0, 1] [%{{.*}}, 4] [1, 1] : tensor<?x5xf32> to tensor<?x4xf32>
//       CHECK:   %[[F:.*]] = linalg.fill ins(%cst{{.*}}) outs(%{{.*}} : tensor<?x6xf32>)
//       CHECK:   %[[S:.*]] = tensor.extract_slice %[[F]][0, 0] [%{{.*}}, 4] [1, 1]
//       CHECK:   %[[C:.*]] = linalg.copy ins(%[[BOX]] {{.*}} outs(%[[S]]
//       CHECK:   tensor.insert_slice %[[C]] into %[[F]][0, 0] [%{{.*}}, 4] [1, 1]
func.func @pad_and_crop(%x: tensor<?x5xf32>) -> tensor<?x6xf32> {
  %0 = nn.pad %x {pads = array<i64: 0, -1, 0, 2>, value = 1.0 : f64} : tensor<?x5xf32> to tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// -----

// CHECK-DAG: #[[$FROM:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-DAG: #[[$TO:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: @transpose
//       CHECK:   linalg.generic {indexing_maps = [#[[$FROM]], #[[$TO]]]{{.*}} outs(%{{.*}} : tensor<?x3x2xf32>)
func.func @transpose(%x: tensor<?x2x3xf32>) -> tensor<?x3x2xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<?x2x3xf32> to tensor<?x3x2xf32>
  return %0 : tensor<?x3x2xf32>
}

// -----

// The update writes the parameter and its momentum themselves.
// CHECK-LABEL: @sgd_in_place
//       CHECK:   linalg.generic {{.*}} ins(%arg2 : tensor<4xf32>) outs(%arg0, %arg1 : tensor<4xf32>, tensor<4xf32>)
//       CHECK:   ^bb0(%[[G:.*]]: f32, %[[W:.*]]: f32, %[[M:.*]]: f32):
//  CHECK-NEXT:     %[[KEPT:.*]] = arith.mulf %[[M]], %{{.*}}
//  CHECK-NEXT:     %[[NEWM:.*]] = arith.addf %[[KEPT]], %[[G]]
//  CHECK-NEXT:     %[[STEP:.*]] = arith.mulf %arg3, %[[NEWM]]
//  CHECK-NEXT:     %[[NEWW:.*]] = arith.subf %[[W]], %[[STEP]]
//  CHECK-NEXT:     linalg.yield %[[NEWW]], %[[NEWM]]
func.func @sgd_in_place(%w: tensor<4xf32>, %m: tensor<4xf32>, %g: tensor<4xf32>, %lr: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %0, %1 = nn.sgd %w momentum(%m : tensor<4xf32>) gradient(%g : tensor<4xf32>) lr(%lr) {momentum = 0.9 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "pytorch"} : tensor<4xf32> -> tensor<4xf32>, tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @caffe_puts_the_rate_into_the_momentum
//       CHECK:   ^bb0(%[[G:.*]]: f32, %[[W:.*]]: f32, %[[M:.*]]: f32):
//  CHECK-NEXT:     %[[KEPT:.*]] = arith.mulf %[[M]], %{{.*}}
//  CHECK-NEXT:     %[[STEP:.*]] = arith.mulf %arg3, %[[G]]
//  CHECK-NEXT:     %[[NEWM:.*]] = arith.addf %[[KEPT]], %[[STEP]]
//  CHECK-NEXT:     %[[NEWW:.*]] = arith.subf %[[W]], %[[NEWM]]
//  CHECK-NEXT:     linalg.yield %[[NEWW]], %[[NEWM]]
func.func @caffe_puts_the_rate_into_the_momentum(%w: tensor<4xf32>, %m: tensor<4xf32>, %g: tensor<4xf32>, %lr: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %0, %1 = nn.sgd %w momentum(%m : tensor<4xf32>) gradient(%g : tensor<4xf32>) lr(%lr) {momentum = 0.9 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "caffe"} : tensor<4xf32> -> tensor<4xf32>, tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A loss is lowered to its pieces, these to linalg; no nn op is left.
// CHECK-LABEL: @softmax_loss
//   CHECK-NOT:   nn.
//       CHECK:   arith.maximumf
//       CHECK:   math.exp
//       CHECK:   math.log
//       CHECK:   return
func.func @softmax_loss(%x: tensor<?x3xf32>, %t: tensor<?xi32>, %n: index) -> (tensor<f32>, tensor<?x3xf32>) {
  %0, %1 = nn.softmax_loss %x target(%t : tensor<?xi32>) examples(%n) {weight = 1.0 : f64} : tensor<?x3xf32> -> tensor<f32>, tensor<?x3xf32>
  return %0, %1 : tensor<f32>, tensor<?x3xf32>
}

// -----

// Dropout is the identity outside training, and with ratio 0.
// CHECK-LABEL: @dropout
//  CHECK-NEXT:   return %arg0, %arg0
func.func @dropout(%x: tensor<?x3xf32>, %p: tensor<?xi32>, %s: i64) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %0 = nn.dropout %x {ratio = 0.5 : f64} : tensor<?x3xf32>
  %1 = nn.dropout_train %x positions(%p : tensor<?xi32>) step(%s) {ratio = 0.0 : f64, node = 3 : i64, seed = 1 : i64} : tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}

// -----

// Library ops stay.
// CHECK-LABEL: @library
//  CHECK-NEXT:   nn.linear
//  CHECK-NEXT:   return
func.func @library(%x: tensor<?x3xf32>, %w: tensor<4x3xf32>) -> tensor<?x4xf32> {
  %0 = nn.linear %x, %w : (tensor<?x3xf32>, tensor<4x3xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
