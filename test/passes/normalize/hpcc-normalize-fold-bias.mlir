// RUN: hpcc-opt %s --hpcc-normalize-fold-bias --split-input-file --mlir-print-debuginfo | FileCheck %s

nn.parameter @w : tensor<3x5xf32> {initializer = "w", role = "weight", trainable}
nn.parameter @b : tensor<3xf32> {initializer = "b", role = "bias", trainable}

// CHECK-LABEL: func.func @bias_behind_linear
func.func @bias_behind_linear(%x: tensor<?x5xf32>) -> tensor<?x3xf32> {
  %w = nn.load @w : tensor<3x5xf32>
  %0 = nn.linear %x, %w {nn.node = 0 : i64} : (tensor<?x5xf32>, tensor<3x5xf32>) -> tensor<?x3xf32> loc("product")
  // CHECK: %[[B:.*]] = nn.load @b
  %b = nn.load @b : tensor<3xf32>
  // CHECK: nn.linear %{{.*}}, %{{.*}}, %[[B]] {nn.node = 0 : i64}{{.*}} loc(#[[LOC:.*]])
  // CHECK-NOT: nn.add
  %1 = nn.add %b, %0 {nn.node = 1 : i64} : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32> loc("sum")
  return %1 : tensor<?x3xf32>
}
// CHECK-DAG: #[[PRODUCT:.*]] = loc("product")
// CHECK-DAG: #[[SUM:.*]] = loc("sum")
// CHECK: #[[LOC]] = loc(fused[#[[PRODUCT]], #[[SUM]]])

// -----

nn.parameter @w : tensor<4x3x1x1xf32> {initializer = "w", role = "weight", trainable}
nn.parameter @b : tensor<4x1x1xf32> {initializer = "b", role = "bias", trainable}

// CHECK-LABEL: func.func @bias_per_channel_behind_conv
func.func @bias_per_channel_behind_conv(%x: tensor<?x3x2x2xf32>) -> tensor<?x4x2x2xf32> {
  %w = nn.load @w : tensor<4x3x1x1xf32>
  %b = nn.load @b : tensor<4x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64} : (tensor<?x3x2x2xf32>, tensor<4x3x1x1xf32>) -> tensor<?x4x2x2xf32>
  // CHECK: %[[B:.*]] = nn.reshape %{{.*}} : tensor<4x1x1xf32> to tensor<4xf32>
  // CHECK: nn.conv %{{.*}}, %{{.*}}, %[[B]]
  // CHECK-NOT: nn.add
  %1 = nn.add %0, %b : (tensor<?x4x2x2xf32>, tensor<4x1x1xf32>) -> tensor<?x4x2x2xf32>
  return %1 : tensor<?x4x2x2xf32>
}

// -----

nn.parameter @w : tensor<3x3xf32> {initializer = "w", role = "weight", trainable}
nn.parameter @b : tensor<3xf32> {initializer = "b", role = "bias", trainable}
nn.parameter @one : tensor<1xf32> {initializer = "one", role = "bias", trainable}

// CHECK-LABEL: func.func @other_users_keep_the_add
func.func @other_users_keep_the_add(%x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %w = nn.load @w : tensor<3x3xf32>
  %b = nn.load @b : tensor<3xf32>
  %0 = nn.linear %x, %w : (tensor<?x3xf32>, tensor<3x3xf32>) -> tensor<?x3xf32>
  // CHECK: nn.add
  %1 = nn.add %0, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}
// CHECK-LABEL: func.func @second_bias_is_not_folded
func.func @second_bias_is_not_folded(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %w = nn.load @w : tensor<3x3xf32>
  %b = nn.load @b : tensor<3xf32>
  %0 = nn.linear %x, %w, %b : (tensor<?x3xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  // CHECK: nn.add
  %1 = nn.add %0, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
// CHECK-LABEL: func.func @one_number_for_all_units_is_not_folded
func.func @one_number_for_all_units_is_not_folded(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %w = nn.load @w : tensor<3x3xf32>
  %b = nn.load @one : tensor<1xf32>
  %0 = nn.linear %x, %w : (tensor<?x3xf32>, tensor<3x3xf32>) -> tensor<?x3xf32>
  // CHECK: nn.add
  %1 = nn.add %0, %b : (tensor<?x3xf32>, tensor<1xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
// CHECK-LABEL: func.func @constant_is_not_folded
func.func @constant_is_not_folded(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %w = nn.load @w : tensor<3x3xf32>
  %b = arith.constant dense<1.0> : tensor<3xf32>
  %0 = nn.linear %x, %w : (tensor<?x3xf32>, tensor<3x3xf32>) -> tensor<?x3xf32>
  // CHECK: nn.add
  %1 = nn.add %0, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
