// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @inputs(%x: tensor<?x84xf32>, %w: tensor<10x83xf32>, %b: tensor<10xf32>) -> tensor<?x10xf32> {
  // expected-error @+1 {{w has 83 inputs, but x has rows of 84}}
  %0 = nn.linear %x, %w, %b : (tensor<?x84xf32>, tensor<10x83xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  return %0 : tensor<?x10xf32>
}

// -----

func.func @bias(%x: tensor<?x84xf32>, %w: tensor<10x84xf32>, %b: tensor<1xf32>) -> tensor<?x10xf32> {
  // expected-error @+1 {{b must have shape 10, got 1}}
  %0 = nn.linear %x, %w, %b : (tensor<?x84xf32>, tensor<10x84xf32>, tensor<1xf32>) -> tensor<?x10xf32>
  return %0 : tensor<?x10xf32>
}

// -----

func.func @result(%x: tensor<?x84xf32>, %w: tensor<10x84xf32>, %b: tensor<10xf32>) -> tensor<?x11xf32> {
  // expected-error @+1 {{y must have shape ?x10, got ?x11}}
  %0 = nn.linear %x, %w, %b : (tensor<?x84xf32>, tensor<10x84xf32>, tensor<10xf32>) -> tensor<?x11xf32>
  return %0 : tensor<?x11xf32>
}

// -----

func.func @weights(%x: tensor<?x84xf32>, %w: tensor<10x84x1xf32>, %b: tensor<10xf32>) -> tensor<?x10xf32> {
  // expected-error @+1 {{w must have rank 2, got 'tensor<10x84x1xf32>'}}
  %0 = nn.linear %x, %w, %b : (tensor<?x84xf32>, tensor<10x84x1xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  return %0 : tensor<?x10xf32>
}

// -----

func.func @row(%x: tensor<84xf32>, %w: tensor<10x84xf32>, %b: tensor<10xf32>) -> tensor<?x10xf32> {
  // expected-error @+1 {{x must have rank 2 or more, got 'tensor<84xf32>'}}
  %0 = nn.linear %x, %w, %b : (tensor<84xf32>, tensor<10x84xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  return %0 : tensor<?x10xf32>
}
