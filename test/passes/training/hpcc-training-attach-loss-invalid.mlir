// RUN: hpcc-opt %s --split-input-file --hpcc-training-attach-loss --verify-diagnostics

module attributes {nn.options = {loss_outputs = [["z", 1.0]]}} {
  // expected-error @+1 {{--loss-output names `z`, which is no output of the model; it has `a`, `b`}}
  func.func @forward(%x: tensor<?x3xf32>) -> (tensor<?x3xf32> {nn.name = "a"}, tensor<?x3xf32> {nn.name = "b"}) {
    return %x, %x : tensor<?x3xf32>, tensor<?x3xf32>
  }
}

// -----

module attributes {nn.options = {loss = "logistic"}} {
  // expected-error @+1 {{output `a` is a softmax, and --loss logistic takes logits of independent units; use --loss softmax, or export the network without its softmax}}
  func.func @forward(%x: tensor<?x3xf32>) -> (tensor<?x3xf32> {nn.name = "a"}) {
    %0 = nn.softmax %x {axis = 1 : i64} : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
}

// -----

module attributes {nn.options = {loss = "softmax"}} {
  // expected-error @+1 {{--loss softmax needs an output [N, C], got `a` of type 'tensor<?x3x2xf32>'; name another one with --loss-output}}
  func.func @forward(%x: tensor<?x3x2xf32>) -> (tensor<?x3x2xf32> {nn.name = "a"}) {
    return %x : tensor<?x3x2xf32>
  }
}

// -----

module attributes {nn.options = {loss = "softmax"}} {
  // expected-error @+1 {{output `a` has no row of f32 per example, got 'tensor<3xf32>'; name another one with --loss-output}}
  func.func @forward(%x: tensor<3xf32>) -> (tensor<3xf32> {nn.name = "a"}) {
    return %x : tensor<3xf32>
  }
}

// -----

// expected-error @+1 {{--loss must be softmax, logistic or mse, got `hinge`}}
module attributes {nn.options = {loss = "hinge"}} {
  func.func @forward(%x: tensor<?x3xf32>) -> (tensor<?x3xf32> {nn.name = "a"}) {
    return %x : tensor<?x3xf32>
  }
}

// -----

module attributes {nn.options = {loss = "softmax", loss_outputs = [["a", 1.0], ["b", 1.0]]}} {
  // expected-error @+1 {{all loss outputs share one target, but `b` needs 'tensor<?xi32>' of 'tensor<?x4xf32>' where another output needs 'tensor<?xi32>'}}
  func.func @forward(%x: tensor<?x3xf32>, %y: tensor<?x4xf32>) -> (tensor<?x3xf32> {nn.name = "a"}, tensor<?x4xf32> {nn.name = "b"}) {
    return %x, %y : tensor<?x3xf32>, tensor<?x4xf32>
  }
}
