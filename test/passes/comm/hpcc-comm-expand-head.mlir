// RUN: hpcc-opt %s --hpcc-partition-place-layers --hpcc-partition-form-head --hpcc-comm-expand-head --canonicalize 2>/dev/null | FileCheck %s --check-prefix=C
// RUN: sed 's/scheme = "c"/scheme = "b"/' %s | hpcc-opt --hpcc-partition-place-layers --hpcc-partition-form-head --hpcc-comm-expand-head --canonicalize 2>/dev/null | FileCheck %s --check-prefix=B
// RUN: sed 's/scheme = "c"/scheme = "a"/' %s | hpcc-opt --hpcc-partition-place-layers --hpcc-partition-form-head --hpcc-comm-expand-head --canonicalize 2>/dev/null | FileCheck %s --check-prefix=A
// RUN: sed 's/workers = 4/workers = 1, fc_batch = 32/' %s | hpcc-opt --hpcc-partition-place-layers --hpcc-partition-form-head --hpcc-comm-expand-head --canonicalize 2>/dev/null | FileCheck %s --check-prefix=ONE --implicit-check-not=comm.
// RUN: sed 's/workers = 4/workers = 4, fc_update = "accumulate"/' %s | hpcc-opt --hpcc-partition-place-layers --hpcc-partition-form-head --hpcc-comm-expand-head --canonicalize 2>/dev/null | FileCheck %s --check-prefix=ACC
// RUN: sed 's/workers = 4/workers = 4, fc_update = "3"/' %s | hpcc-opt --hpcc-partition-place-layers --hpcc-partition-form-head --hpcc-comm-expand-head --canonicalize 2>/dev/null | FileCheck %s --check-prefix=GROUP

// Scheme c: gathered from every worker, reduce-scattered to every worker.
// C: scf.for
// C: %[[OFF:.*]], %[[CNT:.*]], %[[TOTAL:.*]], %{{.*}} = nn.chunk {{.*}}scheme = "c", workers = 4
// C: %[[MINE:.*]] = tensor.extract_slice %{{.*}}[%[[OFF]], 0] [%[[CNT]], 8]
// C: %[[ALL:.*]] = comm.all_gather ins(%[[MINE]] : tensor<?x8xf32>) {{.*}}channel(background)
// C: nn.linear %[[ALL]], %{{.*}} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x?xf32>
// Features are gathered between the layers, at once.
// C: comm.all_gather {{.*}}channel(inline) {dim = 1
// The softmax reduces a maximum, then the two sums together.
// C: comm.all_reduce {{.*}}reduction = 1
// C: comm.all_reduce {{.*}} -> tensor<2x?xf32>
// C: nn.softmax_finish
// The hidden gradient is a partial sum: to the worker that has the feature.
// C: comm.reduce_scatter {{.*}}channel(inline) {dim = 1
// C: comm.reduce_scatter {{.*}}channel(background)
// A pass without rows makes no update.
// C: arith.cmpi sgt, %[[TOTAL]]
// C: scf.if
// C: nn.sgd {{.*}}scale(
// C: } else {

// Scheme b: one worker's rows to all, gradients back to it.
// B: nn.chunk {{.*}}scheme = "b"
// B: comm.broadcast {{.*}}root(%[[ROOT:.*]]) channel(background)
// B: comm.reduce {{.*}}root({{.*}}) channel(background)

// Scheme a: everything gathered before the only pass, which is the update too.
// A: comm.all_gather ins({{.*}} : tensor<?x8xf32>)
// A: comm.all_gather ins({{.*}} : tensor<?xi32>)
// A: nn.chunk {{.*}}scheme = "a"
// A-NOT: scf.if
// A: nn.sgd
// A-NOT: scale(
// A: comm.reduce_scatter {{.*}}channel(inline)

// One worker makes the passes that fc_batch asks for, with no communication.
// ONE: scf.for
// ONE: nn.chunk {{.*}}fc_batch = 32
// ONE: nn.sgd {{.*}}scale(

// accumulate: gradients are carried, the update comes after the loop.
// ACC: scf.for
// ACC: scf.yield
// ACC: nn.sgd
// ACC-NOT: scale(

// Groups of three passes, the last shorter: an update where a group ends and
// had rows; then the sums start again.
// GROUP: scf.for
// GROUP: arith.remui
// GROUP: arith.ori
// GROUP: arith.andi
// GROUP: scf.if
// GROUP: nn.sgd {{.*}}scale(
// GROUP: linalg.fill
// GROUP: } else {
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
