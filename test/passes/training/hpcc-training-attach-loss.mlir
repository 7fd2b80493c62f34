// RUN: hpcc-opt %s --split-input-file --hpcc-training-attach-loss | FileCheck %s

// All functions get parameters as arguments; steps get what they need.

module attributes {nn.options = {loss = "softmax"}} {
  nn.parameter @w : tensor<3x4xf32> {initializer = "w", role = "weight", trainable}
  nn.parameter @unused : tensor<3xf32> {initializer = "u", role = "bias", trainable}
  func.func @forward(%x: tensor<?x4xf32> {nn.arg = {kind = "input", name = "x"}})
      -> (tensor<?x3xf32> {nn.name = "y"}) {
    %w = nn.load @w : tensor<3x4xf32>
    %0 = nn.linear %x, %w {nn.node = 0 : i64} : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
}

// CHECK-LABEL: func.func @forward
//  CHECK-SAME:   (%[[X:.*]]: tensor<?x4xf32> {nn.arg = {kind = "input", name = "x"}},
//  CHECK-SAME:    %[[W:.*]]: tensor<3x4xf32> {nn.arg = {kind = "value", name = "w", parameter = "w", slot = "value"}})
//  CHECK-SAME:   -> (tensor<?x3xf32> {nn.result = {kind = "output", name = "y"}})
//       CHECK:   nn.linear %[[X]], %[[W]]

// CHECK-LABEL: func.func @train_step
//  CHECK-SAME:   (%[[X:[a-z0-9]*]]: tensor<?x4xf32> {nn.arg = {kind = "input", name = "x"}},
//  CHECK-SAME:    %[[T:[a-z0-9]*]]: tensor<?xi32> {nn.arg = {classes = 3 : i64, kind = "target", name = "target"}},
//  CHECK-SAME:    %{{[a-z0-9]*}}: tensor<?xi32> {nn.arg = {kind = "position", name = "position"}},
//  CHECK-SAME:    %[[N:[a-z0-9]*]]: index {nn.arg = {kind = "examples", name = "examples"}},
//  CHECK-SAME:    %{{[a-z0-9]*}}: index {nn.arg = {kind = "rank", name = "rank"}},
//  CHECK-SAME:    %{{[a-z0-9]*}}: i64 {nn.arg = {kind = "step", name = "step"}},
//  CHECK-SAME:    %{{[a-z0-9]*}}: f32 {nn.arg = {kind = "lr", name = "lr"}},
//  CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<3x4xf32> {nn.arg = {kind = "value", name = "w", parameter = "w", slot = "value"}})
//  CHECK-SAME:   -> (tensor<f32> {nn.result = {kind = "loss", name = "loss"}})
//       CHECK:   %[[Y:.*]] = nn.linear %[[X]], %[[W]] {nn.node = 0 : i64}
//       CHECK:   %[[LOSS:.*]], %{{.*}} = nn.softmax_loss %[[Y]] target(%[[T]] : tensor<?xi32>) examples(%[[N]]) {weight = 1.000000e+00 : f64}
//       CHECK:   return %[[LOSS]]

// CHECK-LABEL: func.func @eval_step
//   CHECK-NOT:   kind = "step"
//  CHECK-SAME:   -> (tensor<f32> {nn.result = {kind = "loss", name = "loss"}}, tensor<2xf32> {nn.result = {kind = "counts", name = "counts"}})
//       CHECK:   %[[LOSS:.*]], %{{.*}} = nn.softmax_loss
//       CHECK:   %[[COUNTS:.*]] = nn.classification_counts
//       CHECK:   return %[[LOSS]], %[[COUNTS]]

// CHECK-LABEL: func.func @gradients
//   CHECK-NOT:   kind = "lr"
//       CHECK:   nn.softmax_loss

// -----

// A trailing softmax is part of the loss in steps (through reshapes and over
// dimensions of extent 1), and stays in @forward.

module attributes {nn.options = {loss = "softmax"}} {
  nn.parameter @w : tensor<3x4x1x1xf32> {initializer = "w", role = "weight", trainable}
  func.func @forward(%x: tensor<?x4x1x1xf32> {nn.arg = {kind = "input", name = "x"}})
      -> (tensor<?x3xf32> {nn.name = "y"}) {
    %w = nn.load @w : tensor<3x4x1x1xf32>
    %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64, nn.node = 7 : i64} : (tensor<?x4x1x1xf32>, tensor<3x4x1x1xf32>) -> tensor<?x3x1x1xf32>
    %1 = nn.softmax %0 {axis = 1 : i64} : tensor<?x3x1x1xf32>
    %2 = nn.reshape %1 : tensor<?x3x1x1xf32> to tensor<?x3xf32>
    return %2 : tensor<?x3xf32>
  }
}

// CHECK-LABEL: func.func @forward
//       CHECK:   nn.softmax %
// CHECK-LABEL: func.func @train_step
//   CHECK-NOT:   nn.softmax %
//       CHECK:   %[[Y:.*]] = nn.conv
//  CHECK-NEXT:   %[[LOGITS:.*]] = nn.reshape %[[Y]] {nn.node = 7 : i64} : tensor<?x3x1x1xf32> to tensor<?x3xf32>
//  CHECK-NEXT:   nn.softmax_loss %[[LOGITS]]
// CHECK-LABEL: func.func @eval_step
//   CHECK-NOT:   nn.softmax %
//       CHECK:   nn.softmax_loss

// -----

// A softmax over another axis, and any softmax under mse, is an operator like
// others.

module attributes {nn.options = {loss = "mse"}} {
  func.func @forward(%x: tensor<?x3xf32> {nn.arg = {kind = "input", name = "x"}})
      -> (tensor<?x3xf32> {nn.name = "y"}) {
    %0 = nn.softmax %x {axis = 1 : i64} : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
}

// CHECK-LABEL: func.func @train_step
//  CHECK-SAME:    %[[T:[a-z0-9]*]]: tensor<?x3xf32> {nn.arg = {kind = "target", name = "target"}}
//       CHECK:   %[[Y:.*]] = nn.softmax %
//       CHECK:   nn.mse_loss %[[Y]] target(%[[T]] : tensor<?x3xf32>)
// CHECK-LABEL: func.func @eval_step
// There are no hits without classes.
//       CHECK:   %[[LOSS:.*]], %{{.*}} = nn.mse_loss
//       CHECK:   return %[[LOSS]] : tensor<f32>

// -----

// The sigmoid before independent logistic units is part of their loss.

module attributes {nn.options = {loss = "logistic"}} {
  func.func @forward(%x: tensor<?x3xf32> {nn.arg = {kind = "input", name = "x"}})
      -> (tensor<?x3xf32> {nn.name = "y"}) {
    %0 = nn.sigmoid %x : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
}

// CHECK-LABEL: func.func @train_step
//  CHECK-SAME:   %[[X:[a-z0-9]*]]: tensor<?x3xf32>
//   CHECK-NOT:   nn.sigmoid
//       CHECK:   nn.logistic_loss %[[X]] target(%{{.*}} : tensor<?xi32>)

// -----

// Named outputs, weighted; what only serves another output is dropped.

module attributes {nn.options = {loss = "softmax", loss_outputs = [["b", 1.0], ["a", 0.3]]}} {
  func.func @forward(%x: tensor<?x3xf32> {nn.arg = {kind = "input", name = "x"}})
      -> (tensor<?x3xf32> {nn.name = "a"}, tensor<?x3xf32> {nn.name = "b"}, tensor<?x3xf32> {nn.name = "c"}) {
    %0 = nn.relu %x : tensor<?x3xf32>
    %1 = nn.tanh %x : tensor<?x3xf32>
    %2 = nn.sigmoid %x : tensor<?x3xf32>
    return %0, %1, %2 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  }
}

// CHECK-LABEL: func.func @train_step
//   CHECK-NOT:   nn.sigmoid
//       CHECK:   %[[A:.*]] = nn.relu
//       CHECK:   %[[B:.*]] = nn.tanh
//   CHECK-NOT:   nn.sigmoid
//       CHECK:   %[[LB:.*]], %{{.*}} = nn.softmax_loss %[[B]] {{.*}}weight = 1.000000e+00
//       CHECK:   %[[LA:.*]], %{{.*}} = nn.softmax_loss %[[A]] {{.*}}weight = 3.000000e-01
//       CHECK:   %[[SUM:.*]] = nn.add %[[LB]], %[[LA]]
//       CHECK:   return %[[SUM]]

// -----

// Dropout and batch normalisation in their training forms; the running
// variance is unbiased by default.

module attributes {nn.options = {loss = "mse", seed = 9 : i64}} {
  nn.parameter @s : tensor<3xf32> {initializer = "s", role = "norm_scale", trainable}
  nn.parameter @b : tensor<3xf32> {initializer = "b", role = "norm_bias", trainable}
  nn.parameter @m : tensor<3xf32> {initializer = "m", role = "running_mean"}
  nn.parameter @v : tensor<3xf32> {initializer = "v", role = "running_var"}
  func.func @forward(%x: tensor<?x3xf32> {nn.arg = {kind = "input", name = "x"}}) -> (tensor<?x3xf32> {nn.name = "y"}) {
    %s = nn.load @s : tensor<3xf32>
    %b = nn.load @b : tensor<3xf32>
    %m = nn.load @m : tensor<3xf32>
    %v = nn.load @v : tensor<3xf32>
    %0 = nn.batch_norm %x scale(%s, %b) stats(%m, %v) {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, nn.node = 0 : i64} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    %1 = nn.dropout %0 {ratio = 0.5 : f64, nn.node = 1 : i64} : tensor<?x3xf32>
    %2 = nn.dropout %1 {ratio = 0.0 : f64, nn.node = 2 : i64} : tensor<?x3xf32>
    return %2 : tensor<?x3xf32>
  }
}

// CHECK-LABEL: func.func @train_step
//  CHECK-SAME:   %[[X:[a-z0-9]*]]: tensor<?x3xf32>
//  CHECK-SAME:   %[[POS:[a-z0-9]*]]: tensor<?xi32> {nn.arg = {kind = "position"
//  CHECK-SAME:   %[[STEP:[a-z0-9]*]]: i64
//  CHECK-SAME:   %[[M:[a-z0-9]*]]: tensor<3xf32> {nn.arg = {kind = "value", name = "m"
//  CHECK-SAME:   %[[V:[a-z0-9]*]]: tensor<3xf32> {nn.arg = {kind = "value", name = "v"
//  CHECK-SAME:   tensor<3xf32> {nn.result = {arg = 9 : i64, kind = "value", name = "m"}}, tensor<3xf32> {nn.result = {arg = 10 : i64, kind = "value", name = "v"}}
//       CHECK:   %[[Y:.*]], %[[MEAN:.*]], %[[VAR:.*]] = nn.batch_norm_train %[[X]], {{.*}}nn.node = 0
//       CHECK:   %[[D:.*]] = nn.dropout_train %[[Y]] positions(%[[POS]] : tensor<?xi32>) step(%[[STEP]]) {nn.node = 1 : i64, node = 1 : i64, ratio = 5.000000e-01 : f64, seed = 9 : i64}
//   CHECK-NOT:   nn.dropout
//       CHECK:   %[[LOSS:.*]], %{{.*}} = nn.mse_loss %[[D]]
//       CHECK:   %[[NEWM:.*]] = nn.running_update %[[M]], %[[MEAN]] {momentum = 9.000000e-01 : f64, nn.node = 0 : i64}
//       CHECK:   %[[NEWV:.*]] = nn.running_update %[[V]], %[[VAR]] unbiased(%[[X]] : tensor<?x3xf32>)
//       CHECK:   return %[[LOSS]], %[[NEWM]], %[[NEWV]]

// CHECK-LABEL: func.func @eval_step
//       CHECK:   nn.batch_norm %
//   CHECK-NOT:   nn.dropout_train

// CHECK-LABEL: func.func @gradients
//       CHECK:   nn.batch_norm_train
//   CHECK-NOT:   nn.running_update
//       CHECK:   return

// -----

// The population variance as ONNX has it; frozen statistics do not move.

module attributes {nn.options = {loss = "mse", bn_variance = "onnx", freeze = ["m*"]}} {
  nn.parameter @s : tensor<3xf32> {initializer = "s", role = "norm_scale", trainable}
  nn.parameter @m : tensor<3xf32> {initializer = "m", role = "running_mean"}
  nn.parameter @v : tensor<3xf32> {initializer = "v", role = "running_var"}
  func.func @forward(%x: tensor<?x3xf32> {nn.arg = {kind = "input", name = "x"}}) -> (tensor<?x3xf32> {nn.name = "y"}) {
    %s = nn.load @s : tensor<3xf32>
    %m = nn.load @m : tensor<3xf32>
    %v = nn.load @v : tensor<3xf32>
    %0 = nn.batch_norm %x scale(%s, %s) stats(%m, %v) {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, nn.node = 0 : i64} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
}

// CHECK-LABEL: func.func @train_step
//       CHECK:   nn.running_update
//   CHECK-NOT:   unbiased
//   CHECK-NOT:   nn.running_update
//       CHECK:   return
