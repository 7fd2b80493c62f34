// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @scale(%x: tensor<?x4x3x3xf32>, %s: tensor<3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{scale must have shape 4, got 3}}
  %0, %1, %2 = nn.batch_norm_train %x, %s, %b {epsilon = 1.0e-5 : f64} : (tensor<?x4x3x3xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<?x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @result(%x: tensor<?x4x3x3xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{y must have shape ?x4x3x3, got ?x4x3x2}}
  %0 = nn.batch_norm %x scale(%s, %s) stats(%s, %s) {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<?x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x3x2xf32>
  return
}

// -----

func.func @no_channels(%x: tensor<4xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{x must have channels, got 'tensor<4xf32>'}}
  %0 = nn.batch_norm %x scale(%s, %s) stats(%s, %s) {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
