// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @broadcast(%x: tensor<?x3x4xf32>, %y: tensor<2x4xf32>) -> tensor<?x3x4xf32> {
  // expected-error @+1 {{operands of shapes ?x3x4 and 2x4 do not broadcast: 3 against 2}}
  %0 = nn.add %x, %y : (tensor<?x3x4xf32>, tensor<2x4xf32>) -> tensor<?x3x4xf32>
  return %0 : tensor<?x3x4xf32>
}

// -----

func.func @result(%x: tensor<?x3x4xf32>, %y: tensor<4xf32>) -> tensor<?x3x5xf32> {
  // expected-error @+1 {{result must have shape ?x3x4, got ?x3x5}}
  %0 = nn.mul %x, %y : (tensor<?x3x4xf32>, tensor<4xf32>) -> tensor<?x3x5xf32>
  return %0 : tensor<?x3x5xf32>
}

// -----

func.func @element(%x: tensor<?x3xf32>, %y: tensor<3xf64>) -> tensor<?x3xf32> {
  // expected-error @+1 {{expects operands of 'f32', got 'f64'}}
  %0 = nn.sub %x, %y : (tensor<?x3xf32>, tensor<3xf64>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

func.func @sum_to_other(%x: tensor<?x3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{result 'tensor<2xf32>' does not broadcast to 'tensor<?x3xf32>'}}
  %0 = nn.sum_to %x : tensor<?x3xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @sum_to_more(%x: tensor<3xf32>) -> tensor<1x3xf32> {
  // expected-error @+1 {{result must not have a higher rank than 1, got 2}}
  %0 = nn.sum_to %x : tensor<3xf32> to tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}
