// RUN: hpcc-opt %s --split-input-file --hpcc-training-update-parameters | FileCheck %s

// Decay by role; the state's argument comes last; results alias arguments.

module attributes {nn.options = {momentum = 0.9, weight_decay = 0.1, no_decay = ["bias", "norm"], momentum_form = "caffe", nesterov = true}} {
  nn.parameter @w : tensor<3x3xf32> {initializer = "w", role = "weight", trainable}
  nn.parameter @b : tensor<3xf32> {initializer = "b", role = "bias", trainable}
  nn.parameter @s : tensor<3xf32> {initializer = "s", role = "norm_scale", trainable}
  func.func @train_step(%lr: f32 {nn.arg = {kind = "lr", name = "lr"}},
      %w: tensor<3x3xf32> {nn.arg = {kind = "value", name = "w", parameter = "w", slot = "value"}},
      %b: tensor<3xf32> {nn.arg = {kind = "value", name = "b", parameter = "b", slot = "value"}},
      %s: tensor<3xf32> {nn.arg = {kind = "value", name = "s", parameter = "s", slot = "value"}},
      %x: tensor<?x3xf32>, %loss: tensor<f32>, %g: tensor<3x3xf32>, %h: tensor<3xf32>)
      -> (tensor<f32> {nn.result = {kind = "loss", name = "loss"}},
          tensor<3x3xf32> {nn.result = {kind = "gradient", name = "w", parameter = "w"}},
          tensor<3xf32> {nn.result = {kind = "gradient", name = "b", parameter = "b"}},
          tensor<3xf32> {nn.result = {kind = "gradient", name = "s", parameter = "s"}}) {
    %0 = nn.linear %x, %w, %b {nn.node = 5 : i64} : (tensor<?x3xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    %1 = nn.mul %0, %s {nn.node = 6 : i64} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    return %loss, %g, %h, %h : tensor<f32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>
  }
}

// CHECK-LABEL: func.func @train_step
//  CHECK-SAME:   (%[[LR:[a-z0-9]*]]: f32
//  CHECK-SAME:   %[[MW:[a-z0-9]*]]: tensor<3x3xf32> {nn.arg = {kind = "state", name = "w.momentum", parameter = "w", slot = "momentum"}}
//  CHECK-SAME:   -> (tensor<f32> {nn.result = {kind = "loss", name = "loss"}},
//  CHECK-SAME:    tensor<3x3xf32> {nn.result = {arg = 1 : i64, kind = "value", name = "w"}},
//  CHECK-SAME:    tensor<3xf32> {nn.result = {arg = 2 : i64, kind = "value", name = "b"}},
//  CHECK-SAME:    tensor<3xf32> {nn.result = {arg = 3 : i64, kind = "value", name = "s"}},
//  CHECK-SAME:    tensor<3x3xf32> {nn.result = {arg = 8 : i64, kind = "state", name = "w.momentum"}},
//       CHECK:   %[[W:.*]], %[[NMW:.*]] = nn.sgd %{{.*}} momentum(%[[MW]] : tensor<3x3xf32>) gradient(%{{.*}} : tensor<3x3xf32>) lr(%[[LR]])
//  CHECK-SAME:     {decay = 1.000000e-01 : f64, form = "caffe", lr_mult = 1.000000e+00 : f64, momentum = 9.000000e-01 : f64, nesterov, nn.node = 5 : i64, nn.parameter = @w}
//       CHECK:   %[[B:.*]], %[[NMB:.*]] = nn.sgd {{.*}}{decay = 0.000000e+00 : f64, {{.*}}nn.node = 5 : i64, nn.parameter = @b}
//       CHECK:   %[[S:.*]], %[[NMS:.*]] = nn.sgd {{.*}}{decay = 0.000000e+00 : f64, {{.*}}nn.node = 6 : i64, nn.parameter = @s}
//       CHECK:   return %{{.*}}, %[[W]], %[[B]], %[[S]], %[[NMW]], %[[NMB]], %[[NMS]]

// -----

// Without momentum there is no state; by default everything decays.

module attributes {nn.options = {momentum = 0.0, weight_decay = 0.1}} {
  nn.parameter @b : tensor<3xf32> {initializer = "b", role = "bias", trainable}
  func.func @train_step(%lr: f32 {nn.arg = {kind = "lr", name = "lr"}},
      %b: tensor<3xf32> {nn.arg = {kind = "value", name = "b", parameter = "b", slot = "value"}},
      %x: tensor<?x3xf32>, %g: tensor<3xf32>)
      -> (tensor<3xf32> {nn.result = {kind = "gradient", name = "b", parameter = "b"}}) {
    %0 = nn.add %x, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    return %g : tensor<3xf32>
  }
}

// CHECK-LABEL: func.func @train_step
//   CHECK-NOT:   kind = "state"
//       CHECK:   %[[B:.*]] = nn.sgd %{{.*}} gradient(%{{.*}} : tensor<3xf32>) lr(%{{.*}}) {decay = 1.000000e-01 : f64, form = "pytorch"
//       CHECK:   return %[[B]]
