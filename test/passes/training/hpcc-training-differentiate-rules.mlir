// RUN: hpcc-opt %s --split-input-file --hpcc-training-attach-loss --hpcc-training-differentiate | FileCheck %s

// The rule of each family. The parameter in front makes every gradient needed.

module attributes {nn.options = {loss = "mse"}} {
  nn.parameter @p : tensor<4x6x6xf32> {initializer = "p", role = "other", trainable}
  func.func @forward(%x: tensor<?x4x6x6xf32>) -> (tensor<?x4x6x6xf32> {nn.name = "y"}) {
    %p = nn.load @p : tensor<4x6x6xf32>
    %0 = nn.add %x, %p : (tensor<?x4x6x6xf32>, tensor<4x6x6xf32>) -> tensor<?x4x6x6xf32>
    %1 = nn.leaky_relu %0 {alpha = 0.1 : f64} : tensor<?x4x6x6xf32>
    %2 = nn.sigmoid %1 : tensor<?x4x6x6xf32>
    %3 = nn.tanh %2 : tensor<?x4x6x6xf32>
    %4 = nn.clip %3 {min = 0.0 : f64, max = 0.5 : f64} : tensor<?x4x6x6xf32>
    %5 = nn.lrn %4 {size = 3 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64} : (tensor<?x4x6x6xf32>) -> tensor<?x4x6x6xf32>
    return %5 : tensor<?x4x6x6xf32>
  }
}

// CHECK-LABEL: func.func @gradients
//       CHECK:   %[[R:.*]] = nn.leaky_relu %[[A:.*]] {
//       CHECK:   %[[S:.*]] = nn.sigmoid
//       CHECK:   %[[T:.*]] = nn.tanh
//       CHECK:   %[[C:.*]] = nn.clip
//       CHECK:   %[[L:.*]] = nn.lrn
//       CHECK:   %{{.*}}, %[[D5:.*]] = nn.mse_loss
//  CHECK-NEXT:   %[[D4:.*]] = nn.lrn_backward %[[C]], %[[L]], %[[D5]] {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, size = 3 : i64}
//  CHECK-NEXT:   %[[D3:.*]] = nn.clip_backward %[[D4]], %[[T]] {max = 5.000000e-01 : f64, min = 0.000000e+00 : f64}
//  CHECK-NEXT:   %[[D2:.*]] = nn.tanh_backward %[[D3]], %[[T]]
//  CHECK-NEXT:   %[[D1:.*]] = nn.sigmoid_backward %[[D2]], %[[S]]
//  CHECK-NEXT:   %[[D0:.*]] = nn.leaky_relu_backward %[[D1]], %[[A]] {alpha = 1.000000e-01 : f64}
//  CHECK-NEXT:   %[[DP:.*]] = nn.sum_to %[[D0]] : tensor<?x4x6x6xf32> to tensor<4x6x6xf32>
//  CHECK-NEXT:   return %{{.*}}, %[[DP]]

// -----

module attributes {nn.options = {loss = "mse"}} {
  nn.parameter @p : tensor<4x1x1xf32> {initializer = "p", role = "other", trainable}
  nn.parameter @q : tensor<4x1x1xf32> {initializer = "q", role = "other", trainable}
  nn.parameter @r : tensor<f32> {initializer = "r", role = "other", trainable}
  func.func @forward(%x: tensor<?x4x6x6xf32>) -> (tensor<?x4x6x6xf32> {nn.name = "y"}) {
    %p = nn.load @p : tensor<4x1x1xf32>
    %q = nn.load @q : tensor<4x1x1xf32>
    %r = nn.load @r : tensor<f32>
    %0 = nn.mul %x, %p : (tensor<?x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<?x4x6x6xf32>
    %1 = nn.div %0, %q : (tensor<?x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<?x4x6x6xf32>
    %2 = nn.sub %1, %r : (tensor<?x4x6x6xf32>, tensor<f32>) -> tensor<?x4x6x6xf32>
    return %2 : tensor<?x4x6x6xf32>
  }
}

// d(a/q)/dq = -(a/q)/q; negation is by a constant.
// CHECK-LABEL: func.func @gradients
//  CHECK-SAME:   (%[[X:[a-z0-9]*]]: tensor<?x4x6x6xf32>
//  CHECK-SAME:   %[[P:[a-z0-9]*]]: tensor<4x1x1xf32> {nn.arg = {kind = "value", name = "p"
//  CHECK-SAME:   %[[Q:[a-z0-9]*]]: tensor<4x1x1xf32> {nn.arg = {kind = "value", name = "q"
//       CHECK:   %[[QUOT:.*]] = nn.div
//       CHECK:   %{{.*}}, %[[D:.*]] = nn.mse_loss
//  CHECK-NEXT:   %[[SR:.*]] = nn.sum_to %[[D]] : tensor<?x4x6x6xf32> to tensor<f32>
//  CHECK-NEXT:   %[[M1:.*]] = arith.constant dense<-1.000000e+00> : tensor<f32>
//  CHECK-NEXT:   %[[DR:.*]] = nn.mul %[[SR]], %[[M1]]
//  CHECK-NEXT:   %[[DA:.*]] = nn.div %[[D]], %[[Q]]
//  CHECK-NEXT:   %[[DAQ:.*]] = nn.mul %[[DA]], %[[QUOT]]
//  CHECK-NEXT:   %[[SQ:.*]] = nn.sum_to %[[DAQ]] : tensor<?x4x6x6xf32> to tensor<4x1x1xf32>
//  CHECK-NEXT:   %[[M2:.*]] = arith.constant dense<-1.000000e+00> : tensor<f32>
//  CHECK-NEXT:   %[[DQ:.*]] = nn.mul %[[SQ]], %[[M2]]
//  CHECK-NEXT:   %[[DXP:.*]] = nn.mul %[[DA]], %[[X]]
//  CHECK-NEXT:   %[[DP:.*]] = nn.sum_to %[[DXP]] : tensor<?x4x6x6xf32> to tensor<4x1x1xf32>
//  CHECK-NEXT:   return %{{.*}}, %[[DP]], %[[DQ]], %[[DR]]

// -----

module attributes {nn.options = {loss = "mse"}} {
  nn.parameter @p : tensor<2x5x5xf32> {initializer = "p", role = "other", trainable}
  func.func @forward(%x: tensor<?x2x5x5xf32>) -> (tensor<?x48xf32> {nn.name = "y"}) {
    %p = nn.load @p : tensor<2x5x5xf32>
    %0 = nn.add %x, %p : (tensor<?x2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<?x2x5x5xf32>
    %1 = nn.slice %0 {offsets = array<i64: 0, 1, 0, 2>} : tensor<?x2x5x5xf32> to tensor<?x1x5x3xf32>
    %2 = nn.concat %0, %0 {axis = 1 : i64} : (tensor<?x2x5x5xf32>, tensor<?x2x5x5xf32>) -> tensor<?x4x5x5xf32>
    %3 = nn.pad %2 {pads = array<i64: 0, 0, 0, -1, 0, 0, 0, -1>, value = 0.0 : f64} : tensor<?x4x5x5xf32> to tensor<?x4x5x3xf32>
    %4 = nn.mul %3, %1 : (tensor<?x4x5x3xf32>, tensor<?x1x5x3xf32>) -> tensor<?x4x5x3xf32>
    %5 = nn.transpose %4 {perm = array<i64: 0, 2, 3, 1>} : tensor<?x4x5x3xf32> to tensor<?x5x3x4xf32>
    %6, %i = nn.max_pool %5 {kernel = array<i64: 1, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 1>} : (tensor<?x5x3x4xf32>) -> (tensor<?x5x3x4xf32>, tensor<?x5x3x4xi8>)
    %7 = nn.avg_pool %6 {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, count_include_pad = false} : (tensor<?x5x3x4xf32>) -> tensor<?x5x2x3xf32>
    %8 = nn.pad %7 {pads = array<i64: 0, 0, 0, 0, 0, 3, 0, 0>, value = 0.0 : f64} : tensor<?x5x2x3xf32> to tensor<?x8x2x3xf32>
    %9 = nn.reshape %8 : tensor<?x8x2x3xf32> to tensor<?x48xf32>
    %10 = nn.log_softmax %9 {axis = 1 : i64} : tensor<?x48xf32>
    return %10 : tensor<?x48xf32>
  }
}

// CHECK-LABEL: func.func @gradients
//       CHECK:   %{{.*}}, %[[IDX:.*]] = nn.max_pool
//       CHECK:   %[[Y:.*]] = nn.log_softmax
//       CHECK:   nn.mse_loss
//  CHECK-NEXT:   nn.log_softmax_backward %{{.*}}, %[[Y]] {axis = 1 : i64}
//  CHECK-NEXT:   nn.reshape {{.*}} : tensor<?x48xf32> to tensor<?x8x2x3xf32>
//  CHECK-NEXT:   nn.pad {{.*}}pads = array<i64: 0, 0, 0, 0, 0, -3, 0, 0>, value = 0.000000e+00 : f64} : tensor<?x8x2x3xf32> to tensor<?x5x2x3xf32>
//  CHECK-NEXT:   nn.avg_pool_backward
//  CHECK-NEXT:   nn.max_pool_backward %{{.*}}, %[[IDX]]
//  CHECK-NEXT:   nn.transpose {{.*}}perm = array<i64: 0, 3, 1, 2>
//  CHECK-NEXT:   %[[M0:.*]] = nn.mul
//  CHECK-NEXT:   %[[M1:.*]] = nn.mul
//  CHECK-NEXT:   %[[S1:.*]] = nn.sum_to %[[M1]] : tensor<?x4x5x3xf32> to tensor<?x1x5x3xf32>
//  CHECK-NEXT:   %[[C:.*]] = nn.pad %[[M0]] {pads = array<i64: 0, 0, 0, 1, 0, 0, 0, 1>, value = 0.000000e+00 : f64}
//  CHECK-NEXT:   %[[C0:.*]] = nn.slice %[[C]] {offsets = array<i64: 0, 0, 0, 0>}
//  CHECK-NEXT:   %[[C1:.*]] = nn.slice %[[C]] {offsets = array<i64: 0, 2, 0, 0>}
//  CHECK-NEXT:   %[[A:.*]] = nn.add %[[C0]], %[[C1]]
//  CHECK-NEXT:   %[[SL:.*]] = nn.pad %[[S1]] {pads = array<i64: 0, 1, 0, 2, 0, 0, 0, 0>, value = 0.000000e+00 : f64} : tensor<?x1x5x3xf32> to tensor<?x2x5x5xf32>
//  CHECK-NEXT:   nn.add %[[A]], %[[SL]]
