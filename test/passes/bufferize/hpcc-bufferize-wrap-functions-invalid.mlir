// RUN: hpcc-opt %s --hpcc-bufferize-wrap-functions --split-input-file --verify-diagnostics

// expected-error @below {{result #0 aliases argument #3 of 1}}
func.func @no_such_argument(%w: tensor<4xf32>)
    -> (tensor<4xf32> {nn.result = {kind = "value", arg = 3}}) {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{result #0 has type 'tensor<2xf32>' but aliases argument #0 of type 'tensor<4xf32>'}}
func.func @types_differ(%w: tensor<4xf32>, %v: tensor<2xf32>)
    -> (tensor<2xf32> {nn.result = {kind = "value", arg = 0}}) {
  return %v : tensor<2xf32>
}

// -----

// expected-error @below {{two results alias argument #0}}
func.func @aliased_twice(%w: tensor<4xf32>)
    -> (tensor<4xf32> {nn.result = {kind = "value", arg = 0}}, tensor<4xf32> {nn.result = {kind = "value", arg = 0}}) {
  return %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{result #0 must be a ranked tensor, got 'f32'}}
func.func @scalar_result(%w: tensor<4xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  return %zero : f32
}
