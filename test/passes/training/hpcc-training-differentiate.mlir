// RUN: hpcc-opt %s --split-input-file --hpcc-training-differentiate --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// The data gradient of a first layer is never built; gradient ops carry their
// op's node and its location within "grad".

module {
  nn.parameter @w : tensor<4x1x3x3xf32> {initializer = "w", role = "weight", trainable}
  nn.parameter @b : tensor<4xf32> {initializer = "b", role = "bias", trainable}
  func.func @gradients(%x: tensor<?x1x5x5xf32> {nn.arg = {kind = "input", name = "x"}},
      %t: tensor<?x4x3x3xf32> {nn.arg = {kind = "target", name = "target"}},
      %n: index {nn.arg = {kind = "examples", name = "n"}},
      %w: tensor<4x1x3x3xf32> {nn.arg = {kind = "value", name = "w", parameter = "w", slot = "value"}},
      %b: tensor<4xf32> {nn.arg = {kind = "value", name = "b", parameter = "b", slot = "value"}})
      -> (tensor<f32> {nn.result = {kind = "loss", name = "loss"}}) {
    %0 = nn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64, nn.node = 3 : i64} : (tensor<?x1x5x5xf32>, tensor<4x1x3x3xf32>, tensor<4xf32>) -> tensor<?x4x3x3xf32> loc("conv1")
    %1 = nn.relu %0 {nn.node = 4 : i64} : tensor<?x4x3x3xf32> loc("relu1")
    %loss, %dx = nn.mse_loss %1 target(%t : tensor<?x4x3x3xf32>) examples(%n) {weight = 1.0 : f64} : tensor<?x4x3x3xf32> -> tensor<f32>, tensor<?x4x3x3xf32>
    return %loss : tensor<f32>
  }
}

// CHECK-LABEL: func.func @gradients
//  CHECK-SAME:   tensor<4x1x3x3xf32> {nn.result = {kind = "gradient", name = "w", parameter = "w"}}, tensor<4xf32> {nn.result = {kind = "gradient", name = "b", parameter = "b"}}
//       CHECK:   %[[Y:.*]] = nn.relu
//       CHECK:   %[[LOSS:.*]], %[[DX:.*]] = nn.mse_loss
//  CHECK-NEXT:   %[[DR:.*]] = nn.relu_backward %[[DX]], %[[Y]] {nn.node = 4 : i64} : {{.*}} loc("grad"("relu1"))
//  CHECK-NEXT:   %[[DW:.*]], %[[DB:.*]] = nn.conv_backward_weights %{{.*}}, %[[DR]] {{{.*}}nn.node = 3 : i64{{.*}} loc("grad"("conv1"))
//  CHECK-NEXT:   return %[[LOSS]], %[[DW]], %[[DB]]

// -----

// Gradients of a value with several users, and of a parameter that is used
// twice, are added; a bias alone needs no weight gradient.

module attributes {nn.options = {freeze = ["frozen.*"]}} {
  nn.parameter @w : tensor<3x3xf32> {initializer = "w", role = "weight", trainable}
  nn.parameter @fw : tensor<3x3xf32> {initializer = "frozen.w", role = "weight", trainable}
  nn.parameter @b : tensor<3xf32> {initializer = "b", role = "bias", trainable}
  func.func @gradients(%x: tensor<?x3xf32> {nn.arg = {kind = "input", name = "x"}},
      %t: tensor<?x3xf32> {nn.arg = {kind = "target", name = "target"}},
      %n: index {nn.arg = {kind = "examples", name = "n"}},
      %w: tensor<3x3xf32> {nn.arg = {kind = "value", name = "w", parameter = "w", slot = "value"}},
      %fw: tensor<3x3xf32> {nn.arg = {kind = "value", name = "fw", parameter = "fw", slot = "value"}},
      %b: tensor<3xf32> {nn.arg = {kind = "value", name = "b", parameter = "b", slot = "value"}})
      -> (tensor<f32> {nn.result = {kind = "loss", name = "loss"}}) {
    %0 = nn.linear %x, %w {nn.node = 0 : i64} : (tensor<?x3xf32>, tensor<3x3xf32>) -> tensor<?x3xf32>
    %1 = nn.linear %0, %w {nn.node = 1 : i64} : (tensor<?x3xf32>, tensor<3x3xf32>) -> tensor<?x3xf32>
    %2 = nn.linear %x, %fw, %b {nn.node = 2 : i64} : (tensor<?x3xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    %3 = nn.add %0, %1 {nn.node = 3 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %4 = nn.add %3, %2 {nn.node = 4 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %loss, %dx = nn.mse_loss %4 target(%t : tensor<?x3xf32>) examples(%n) {weight = 1.0 : f64} : tensor<?x3xf32> -> tensor<f32>, tensor<?x3xf32>
    return %loss : tensor<f32>
  }
}

// CHECK-LABEL: func.func @gradients
//  CHECK-SAME:   name = "w", parameter = "w"}
//   CHECK-NOT:   kind = "gradient", name = "fw"
//  CHECK-SAME:   kind = "gradient", name = "b"
//       CHECK:   %[[LOSS:.*]], %[[DX:.*]] = nn.mse_loss
//  CHECK-NEXT:   %[[DB:.*]] = nn.sum_to %[[DX]] {nn.node = 2 : i64} : tensor<?x3xf32> to tensor<3xf32>
//  CHECK-NEXT:   %[[D1:.*]] = nn.linear_backward_data %[[DX]], %{{.*}} {nn.node = 1 : i64}
//  CHECK-NEXT:   %[[DW1:.*]] = nn.linear_backward_weights %{{.*}}, %[[DX]] {nn.node = 1 : i64}
//  CHECK-NEXT:   %[[D0:.*]] = nn.add %[[DX]], %[[D1]] {nn.node = 0 : i64}
//  CHECK-NEXT:   %[[DW0:.*]] = nn.linear_backward_weights %{{.*}}, %[[D0]] {nn.node = 0 : i64}
//  CHECK-NEXT:   %[[DW:.*]] = nn.add %[[DW1]], %[[DW0]] {nn.node = 0 : i64}
//  CHECK-NEXT:   return %[[LOSS]], %[[DW]], %[[DB]]

// -----

// Updates of running statistics stay behind all gradients. No op off the path
// from loss to parameter needs a rule.

module {
  nn.parameter @s : tensor<3xf32> {initializer = "s", role = "norm_scale", trainable}
  nn.parameter @m : tensor<3xf32> {initializer = "m", role = "running_mean"}
  func.func @train_step(%x: tensor<?x3xf32> {nn.arg = {kind = "input", name = "x"}},
      %t: tensor<?x3xf32> {nn.arg = {kind = "target", name = "target"}},
      %n: index {nn.arg = {kind = "examples", name = "n"}}, %f: f32,
      %s: tensor<3xf32> {nn.arg = {kind = "value", name = "s", parameter = "s", slot = "value"}},
      %m: tensor<3xf32> {nn.arg = {kind = "value", name = "m", parameter = "m", slot = "value"}})
      -> (tensor<f32> {nn.result = {kind = "loss", name = "loss"}}, tensor<3xf32> {nn.result = {kind = "value", name = "m", arg = 5 : i64}}) {
    %in = nn.scale %x by %f : tensor<?x3xf32>
    %y, %mean, %var = nn.batch_norm_train %in, %s, %s {epsilon = 1.0e-5 : f64, nn.node = 1 : i64} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>)
    %loss, %dx = nn.mse_loss %y target(%t : tensor<?x3xf32>) examples(%n) {weight = 1.0 : f64} : tensor<?x3xf32> -> tensor<f32>, tensor<?x3xf32>
    %new = nn.running_update %m, %mean {momentum = 0.9 : f64} : tensor<3xf32>
    return %loss, %new : tensor<f32>, tensor<3xf32>
  }
}

// CHECK-LABEL: func.func @train_step
//       CHECK:   %[[Y:.*]], %[[MEAN:.*]], %[[VAR:.*]] = nn.batch_norm_train
//       CHECK:   %[[DX:.*]], %[[DSCALE:.*]], %[[DBIAS:.*]] = nn.batch_norm_backward %{{.*}}, %{{.*}}, %{{.*}} stats(%[[MEAN]], %[[VAR]])
//  CHECK-NEXT:   %[[DS:.*]] = nn.add %[[DSCALE]], %[[DBIAS]]
//  CHECK-NEXT:   %[[NEW:.*]] = nn.running_update
//  CHECK-NEXT:   return %{{.*}}, %[[NEW]], %[[DS]]
