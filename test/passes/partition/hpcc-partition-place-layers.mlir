// RUN: hpcc-opt %s --hpcc-partition-place-layers --split-input-file 2>/dev/null | FileCheck %s
// RUN: hpcc-opt %s --hpcc-partition-place-layers --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Convolution is trunk, both fully-connected layers are head, and gradients
// and updates follow their layer.

module attributes {nn.options = {scheme = "c", workers = 4 : i64}} {
// CHECK-LABEL: func.func @train_step
func.func @train_step(%x: tensor<?x1x4x4xf32> {nn.arg = {kind = "input", name = "x"}},
    %t: tensor<?xi32> {nn.arg = {kind = "target", name = "t"}},
    %n: index {nn.arg = {kind = "examples"}}, %rank: index {nn.arg = {kind = "rank"}},
    %lr: f32 {nn.arg = {kind = "lr"}},
    %cw: tensor<2x1x3x3xf32> {nn.arg = {kind = "value", name = "cw"}},
    %w1: tensor<6x8xf32> {nn.arg = {kind = "value", name = "w1"}},
    %w2: tensor<3x6xf32> {nn.arg = {kind = "value", name = "w2"}})
    -> (tensor<f32>, tensor<2x1x3x3xf32>, tensor<6x8xf32>, tensor<3x6xf32>) {
  // CHECK: nn.conv {{.*}}nn.placement = "data"
  // REMARK-DAG: remark: {{.*}}`conv1`: trunk, data parallel (spatial)
  %c = nn.conv %x, %cw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64, nn.node = 0 : i64} : (tensor<?x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<?x2x2x2xf32> loc("conv1")
  // CHECK: nn.reshape {{.*}}nn.placement = "data"
  %f = nn.reshape %c {nn.node = 1 : i64} : tensor<?x2x2x2xf32> to tensor<?x8xf32> loc("flatten")
  // CHECK: nn.linear {{.*}}nn.placement = "model"
  // REMARK-DAG: remark: {{.*}}`fc1`: head, model parallel
  %h = nn.linear %f, %w1 {nn.node = 2 : i64} : (tensor<?x8xf32>, tensor<6x8xf32>) -> tensor<?x6xf32> loc("fc1")
  // CHECK: nn.relu {{.*}}nn.placement = "model"
  %r = nn.relu %h {nn.node = 3 : i64} : tensor<?x6xf32> loc("relu")
  // REMARK-DAG: remark: {{.*}}`fc2`: head, model parallel
  %y = nn.linear %r, %w2 {nn.node = 4 : i64} : (tensor<?x6xf32>, tensor<3x6xf32>) -> tensor<?x3xf32> loc("fc2")
  // CHECK: nn.softmax_loss {{.*}}nn.placement = "model"
  %loss, %dy = nn.softmax_loss %y target(%t : tensor<?xi32>) examples(%n) {weight = 1.0 : f64} : tensor<?x3xf32> -> tensor<f32>, tensor<?x3xf32>
  %dw2 = nn.linear_backward_weights %r, %dy {nn.node = 4 : i64} : (tensor<?x6xf32>, tensor<?x3xf32>) -> tensor<3x6xf32>
  %dr = nn.linear_backward_data %dy, %w2 {nn.node = 4 : i64} : (tensor<?x3xf32>, tensor<3x6xf32>) -> tensor<?x6xf32>
  // CHECK: nn.relu_backward {{.*}}nn.placement = "model"
  %dh = nn.relu_backward %dr, %r {nn.node = 3 : i64} : tensor<?x6xf32>
  %dw1 = nn.linear_backward_weights %f, %dh {nn.node = 2 : i64} : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<6x8xf32>
  // CHECK: nn.linear_backward_data {{.*}}nn.placement = "model"
  %df = nn.linear_backward_data %dh, %w1 {nn.node = 2 : i64} : (tensor<?x6xf32>, tensor<6x8xf32>) -> tensor<?x8xf32>
  // CHECK: nn.reshape {{.*}}nn.placement = "data"
  %dc = nn.reshape %df {nn.node = 1 : i64} : tensor<?x8xf32> to tensor<?x2x2x2xf32>
  // CHECK: nn.conv_backward_weights {{.*}}nn.placement = "data"
  %dcw = nn.conv_backward_weights %x, %dc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64, nn.node = 0 : i64} : (tensor<?x1x4x4xf32>, tensor<?x2x2x2xf32>) -> tensor<2x1x3x3xf32>
  // CHECK: nn.sgd {{.*}}nn.placement = "data"
  %ncw = nn.sgd %cw gradient(%dcw : tensor<2x1x3x3xf32>) lr(%lr) {momentum = 0.0 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "pytorch"} : tensor<2x1x3x3xf32> -> tensor<2x1x3x3xf32>
  // CHECK: nn.sgd {{.*}}nn.placement = "model"
  // CHECK: nn.sgd {{.*}}nn.placement = "model"
  %nw1 = nn.sgd %w1 gradient(%dw1 : tensor<6x8xf32>) lr(%lr) {momentum = 0.0 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "pytorch"} : tensor<6x8xf32> -> tensor<6x8xf32>
  %nw2 = nn.sgd %w2 gradient(%dw2 : tensor<3x6xf32>) lr(%lr) {momentum = 0.0 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "pytorch"} : tensor<3x6xf32> -> tensor<3x6xf32>
  return %loss, %ncw, %nw1, %nw2 : tensor<f32>, tensor<2x1x3x3xf32>, tensor<6x8xf32>, tensor<3x6xf32>
}
}

// -----

// A linear layer before a pool (as in squeeze-and-excite) is trunk; the last
// one is head.
module attributes {nn.options = {scheme = "b", workers = 2 : i64}} {
// CHECK-LABEL: func.func @train_step
func.func @train_step(%x: tensor<?x4xf32>, %t: tensor<?xi32>, %n: index,
    %w1: tensor<4x4xf32>, %w2: tensor<3x1xf32>) -> tensor<f32> {
  // CHECK: nn.linear {{.*}}nn.placement = "data"
  // REMARK-DAG: remark: {{.*}}`se`: trunk, data parallel (fully connected, but a path from it to the loss meets a layer of the trunk)
  %a = nn.linear %x, %w1 {nn.node = 0 : i64} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32> loc("se")
  %b = nn.reshape %a {nn.node = 1 : i64} : tensor<?x4xf32> to tensor<?x1x2x2xf32>
  // REMARK-DAG: remark: {{.*}}`pool`: trunk, data parallel (spatial)
  %p = nn.avg_pool %b {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, count_include_pad = false, nn.node = 2 : i64} : (tensor<?x1x2x2xf32>) -> tensor<?x1x1x1xf32> loc("pool")
  %f = nn.reshape %p {nn.node = 3 : i64} : tensor<?x1x1x1xf32> to tensor<?x1xf32>
  // CHECK: nn.linear {{.*}}nn.placement = "model"
  // REMARK-DAG: remark: {{.*}}`fc`: head
  %y = nn.linear %f, %w2 {nn.node = 4 : i64} : (tensor<?x1xf32>, tensor<3x1xf32>) -> tensor<?x3xf32> loc("fc")
  %loss, %dy = nn.softmax_loss %y target(%t : tensor<?xi32>) examples(%n) {weight = 1.0 : f64} : tensor<?x3xf32> -> tensor<f32>, tensor<?x3xf32>
  return %loss : tensor<f32>
}
}

// -----

// --place keeps fc1 in the trunk; a layer kept in the trunk keeps those before
// it there too.
module attributes {nn.options = {scheme = "c", workers = 2 : i64, place = [["fc2", "data"]]}} {
// CHECK-LABEL: func.func @train_step
func.func @train_step(%x: tensor<?x4xf32>, %t: tensor<?xi32>, %n: index,
    %w1: tensor<4x4xf32>, %w2: tensor<4x4xf32>, %w3: tensor<3x4xf32>) -> tensor<f32> {
  // CHECK: nn.linear {{.*}}nn.placement = "data"
  // REMARK-DAG: remark: {{.*}}`fc1`: trunk, data parallel (fully connected, but a path from it to the loss meets a layer of the trunk)
  %a = nn.linear %x, %w1 : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32> loc("fc1")
  // CHECK: nn.linear {{.*}}nn.placement = "data"
  // REMARK-DAG: remark: {{.*}}`fc2`: trunk, data parallel (fully connected, but --place keeps it in the trunk)
  %b = nn.linear %a, %w2 : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32> loc("fc2")
  // CHECK: nn.linear {{.*}}nn.placement = "model"
  // REMARK-DAG: remark: {{.*}}`fc3`: head
  %y = nn.linear %b, %w3 : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32> loc("fc3")
  %loss, %dy = nn.softmax_loss %y target(%t : tensor<?xi32>) examples(%n) {weight = 1.0 : f64} : tensor<?x3xf32> -> tensor<f32>, tensor<?x3xf32>
  return %loss : tensor<f32>
}
}

// -----

// A network without a fully-connected layer has no head: no error.
module attributes {nn.options = {scheme = "c", workers = 2 : i64}} {
// REMARK-DAG: remark: {{.*}}there is no head, scheme c runs as `data`
func.func @train_step(%x: tensor<?x3x2x2xf32>, %t: tensor<?xi32>, %n: index) -> tensor<f32> {
  // REMARK-DAG: remark: {{.*}}spatial
  %p = nn.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, count_include_pad = false} : (tensor<?x3x2x2xf32>) -> tensor<?x3x1x1xf32> loc("pool")
  %f = nn.reshape %p : tensor<?x3x1x1xf32> to tensor<?x3xf32>
  // CHECK: nn.softmax_loss {{.*}}nn.placement = "data"
  %loss, %dy = nn.softmax_loss %f target(%t : tensor<?xi32>) examples(%n) {weight = 1.0 : f64} : tensor<?x3xf32> -> tensor<f32>, tensor<?x3xf32>
  return %loss : tensor<f32>
}
}

// -----

// A convolution that covers its whole unpadded map is fully connected.
module attributes {nn.options = {scheme = "c", workers = 2 : i64}} {
func.func @train_step(%x: tensor<?x2x3x3xf32>, %t: tensor<?xi32>, %n: index, %w: tensor<5x2x3x3xf32>) -> tensor<f32> {
  // CHECK: nn.conv {{.*}}nn.placement = "model"
  // REMARK-DAG: remark: {{.*}}`fc`: head
  %c = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64} : (tensor<?x2x3x3xf32>, tensor<5x2x3x3xf32>) -> tensor<?x5x1x1xf32> loc("fc")
  %y = nn.reshape %c : tensor<?x5x1x1xf32> to tensor<?x5xf32>
  %loss, %dy = nn.softmax_loss %y target(%t : tensor<?xi32>) examples(%n) {weight = 1.0 : f64} : tensor<?x5xf32> -> tensor<f32>, tensor<?x5xf32>
  return %loss : tensor<f32>
}
}

// -----

// REMARK-DAG: remark: {{.*}}--fc-batch and --fc-update are ignored
module attributes {nn.options = {scheme = "data", workers = 2 : i64, fc_batch = 8 : i64}} {
func.func @train_step(%x: tensor<?x3xf32>, %t: tensor<?xi32>, %n: index, %w: tensor<5x3xf32>) -> tensor<f32> {
  // CHECK: nn.linear {{.*}}nn.placement = "data"
  %y = nn.linear %x, %w : (tensor<?x3xf32>, tensor<5x3xf32>) -> tensor<?x5xf32> loc("fc")
  %loss, %dy = nn.softmax_loss %y target(%t : tensor<?xi32>) examples(%n) {weight = 1.0 : f64} : tensor<?x5xf32> -> tensor<f32>, tensor<?x5xf32>
  return %loss : tensor<f32>
}
}
