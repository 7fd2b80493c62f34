// RUN: hpcc-opt %s --hpcc-partition-place-layers --hpcc-partition-form-head 2>/dev/null | FileCheck %s

// The two fully-connected layers, the loss, their gradients and updates become
// one region; the convolution and its update stay outside.

// CHECK-LABEL: func.func @train_step
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x1x4x4xf32>
// CHECK: nn.conv
// CHECK: %[[A:.*]] = nn.reshape
// CHECK: %[[R:.*]]:4 = nn.head rows(%[[A]], %{{.*}} : tensor<?x8xf32>, tensor<?xi32>) carry(%{{.*}}, %{{.*}} : tensor<6x8xf32>, tensor<3x6xf32>)
// CHECK: nn.linear
// CHECK: nn.relu
// CHECK: nn.linear
// CHECK: nn.softmax_loss
// CHECK: nn.relu_backward
// CHECK: nn.sgd
// CHECK: nn.sgd
// CHECK: nn.yield sums(%{{.*}} : tensor<f32>) grads(%{{.*}} : tensor<?x8xf32>) carry(%{{.*}}, %{{.*}} : tensor<6x8xf32>, tensor<3x6xf32>)
// CHECK: nn.reshape %[[R]]#1
// CHECK: nn.conv_backward_weights
// CHECK: nn.sgd
// CHECK: return %[[R]]#0, %{{.*}}, %{{.*}}, %[[R]]#2, %[[R]]#3
module attributes {nn.options = {scheme = "c", workers = 4 : i64}} {
func.func @train_step(%x: tensor<?x1x4x4xf32> {nn.arg = {kind = "input", name = "x"}},
    %t: tensor<?xi32> {nn.arg = {kind = "target", name = "t"}},
    %n: index {nn.arg = {kind = "examples"}}, %rank: index {nn.arg = {kind = "rank"}},
    %lr: f32 {nn.arg = {kind = "lr"}},
    %cw: tensor<2x1x3x3xf32> {nn.arg = {kind = "value", name = "cw", parameter = @cw, slot = "value"}},
    %cm: tensor<2x1x3x3xf32> {nn.arg = {kind = "state", name = "cw.momentum", parameter = @cw, slot = "momentum"}},
    %w1: tensor<6x8xf32> {nn.arg = {kind = "value", name = "w1", parameter = @w1, slot = "value"}},
    %w2: tensor<3x6xf32> {nn.arg = {kind = "value", name = "w2", parameter = @w2, slot = "value"}})
    -> (tensor<f32> {nn.result = {kind = "loss"}},
        tensor<2x1x3x3xf32> {nn.result = {kind = "value", arg = 5 : i64}},
        tensor<2x1x3x3xf32> {nn.result = {kind = "state", arg = 6 : i64}},
        tensor<6x8xf32> {nn.result = {kind = "value", arg = 7 : i64}},
        tensor<3x6xf32> {nn.result = {kind = "value", arg = 8 : i64}}) {
  %c = nn.conv %x, %cw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64, nn.node = 0 : i64} : (tensor<?x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<?x2x2x2xf32> loc("conv1")
  %f = nn.reshape %c {nn.node = 1 : i64} : tensor<?x2x2x2xf32> to tensor<?x8xf32> loc("flatten")
  %h = nn.linear %f, %w1 {nn.node = 2 : i64} : (tensor<?x8xf32>, tensor<6x8xf32>) -> tensor<?x6xf32> loc("fc1")
  %r = nn.relu %h {nn.node = 3 : i64} : tensor<?x6xf32> loc("relu")
  %y = nn.linear %r, %w2 {nn.node = 4 : i64} : (tensor<?x6xf32>, tensor<3x6xf32>) -> tensor<?x3xf32> loc("fc2")
  %loss, %dy = nn.softmax_loss %y target(%t : tensor<?xi32>) examples(%n) {weight = 1.0 : f64} : tensor<?x3xf32> -> tensor<f32>, tensor<?x3xf32>
  %dw2 = nn.linear_backward_weights %r, %dy {nn.node = 4 : i64} : (tensor<?x6xf32>, tensor<?x3xf32>) -> tensor<3x6xf32>
  %dr = nn.linear_backward_data %dy, %w2 {nn.node = 4 : i64} : (tensor<?x3xf32>, tensor<3x6xf32>) -> tensor<?x6xf32>
  %dh = nn.relu_backward %dr, %r {nn.node = 3 : i64} : tensor<?x6xf32>
  %dw1 = nn.linear_backward_weights %f, %dh {nn.node = 2 : i64} : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<6x8xf32>
  %df = nn.linear_backward_data %dh, %w1 {nn.node = 2 : i64} : (tensor<?x6xf32>, tensor<6x8xf32>) -> tensor<?x8xf32>
  %dc = nn.reshape %df {nn.node = 1 : i64} : tensor<?x8xf32> to tensor<?x2x2x2xf32>
  %dcw = nn.conv_backward_weights %x, %dc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64, nn.node = 0 : i64} : (tensor<?x1x4x4xf32>, tensor<?x2x2x2xf32>) -> tensor<2x1x3x3xf32>
  %ncw, %ncm = nn.sgd %cw momentum(%cm : tensor<2x1x3x3xf32>) gradient(%dcw : tensor<2x1x3x3xf32>) lr(%lr) {momentum = 0.9 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "pytorch"} : tensor<2x1x3x3xf32> -> tensor<2x1x3x3xf32>, tensor<2x1x3x3xf32>
  %nw1 = nn.sgd %w1 gradient(%dw1 : tensor<6x8xf32>) lr(%lr) {momentum = 0.0 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "pytorch"} : tensor<6x8xf32> -> tensor<6x8xf32>
  %nw2 = nn.sgd %w2 gradient(%dw2 : tensor<3x6xf32>) lr(%lr) {momentum = 0.0 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "pytorch"} : tensor<3x6xf32> -> tensor<3x6xf32>
  return %loss, %ncw, %ncm, %nw1, %nw2 : tensor<f32>, tensor<2x1x3x3xf32>, tensor<2x1x3x3xf32>, tensor<6x8xf32>, tensor<3x6xf32>
}
}
