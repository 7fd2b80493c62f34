// RUN: not hpcc-opt %s --hpcc-training-differentiate -o /dev/null 2>&1 | FileCheck %s

// All nodes without a rule between loss and parameter are listed at once; one
// that no gradient has to pass (before_parameters) is fine.

//     CHECK: error: {{.*}}no gradient is defined for 2 nodes between the loss and a trained parameter; freeze the parameters before with --freeze, or replace the operator
// CHECK-NOT: before_parameters
//     CHECK: note: {{.*}}`lower`: nn.scale
// CHECK-NOT: before_parameters
//     CHECK: note: {{.*}}`upper`: nn.scale
module {
  nn.parameter @w : tensor<3x3xf32> {initializer = "w", role = "weight", trainable}
  func.func @gradients(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>, %n: index, %f: f32,
      %w: tensor<3x3xf32> {nn.arg = {kind = "value", name = "w", parameter = "w", slot = "value"}})
      -> (tensor<f32> {nn.result = {kind = "loss", name = "loss"}}) {
    %0 = nn.scale %x by %f : tensor<?x3xf32> loc("before_parameters")
    %1 = nn.linear %0, %w : (tensor<?x3xf32>, tensor<3x3xf32>) -> tensor<?x3xf32> loc("fc")
    %2 = nn.scale %1 by %f : tensor<?x3xf32> loc("lower")
    %3 = nn.relu %2 : tensor<?x3xf32> loc("relu")
    %4 = nn.scale %3 by %f : tensor<?x3xf32> loc("upper")
    %loss, %dx = nn.mse_loss %4 target(%t : tensor<?x3xf32>) examples(%n) {weight = 1.0 : f64} : tensor<?x3xf32> -> tensor<f32>, tensor<?x3xf32>
    return %loss : tensor<f32>
  }
}
