// RUN: hpcc-opt %s --hpcc-partition-place-layers --hpcc-partition-form-head --hpcc-comm-expand-head --hpcc-comm-form-buckets --canonicalize 2>/dev/null | FileCheck %s
// RUN: sed 's/workers = 4/workers = 1/' %s | hpcc-opt --hpcc-partition-place-layers --hpcc-partition-form-head --hpcc-comm-expand-head --hpcc-comm-form-buckets --canonicalize 2>/dev/null | FileCheck %s --check-prefix=ONE --implicit-check-not=comm.

// The convolution's 18 weights live in a bucket padded to 4 workers times 16
// floats; each worker has a quarter of the momentum.
// CHECK: %[[BUCKET:[a-z0-9]+]]: tensor<64xf32> {nn.arg = {kind = "value", name = "bucket0", padded = 64 : i64, segments = [{offset = 0 : i64, parameter = "cw", shape = [2, 1, 3, 3]}], slot = "value", split = "replicated"}}
// CHECK-SAME: tensor<16xf32> {nn.arg = {kind = "state", name = "bucket0.momentum"{{.*}}split = "flat"}}
// CHECK: %[[W:.*]] = tensor.extract_slice %[[BUCKET]][0] [18] [1]
// CHECK: tensor.expand_shape %[[W]]
// CHECK: nn.conv_backward_weights
// CHECK: %[[G:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0] [18] [1] : tensor<18xf32> into tensor<64xf32>
// CHECK: comm.reduce_scatter ins(%[[G]] : tensor<64xf32>) outs(%{{.*}} : tensor<16xf32>) channel(background)
// CHECK: %[[MINE:.*]] = tensor.extract_slice %[[BUCKET]]
// CHECK: nn.sgd %[[MINE]] momentum(%{{.*}} : tensor<16xf32>)
// CHECK: comm.all_gather_in_place
// ONE: %[[BUCKET:[a-z0-9]+]]: tensor<32xf32> {nn.arg = {kind = "value", name = "bucket0"
// ONE: nn.sgd %[[BUCKET]] momentum(%{{.*}} : tensor<32xf32>)
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
