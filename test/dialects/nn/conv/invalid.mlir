// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @channels(%x: tensor<?x3x8x8xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<?x6x4x4xf32> {
  // expected-error @+1 {{w expects 4 input channels (4 in 1 groups), but x has 3}}
  %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x6x4x4xf32>
  return %0 : tensor<?x6x4x4xf32>
}

// -----

func.func @group(%x: tensor<?x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<?x6x4x4xf32> {
  // expected-error @+1 {{`group` must divide the 6 output channels, got 4}}
  %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 4 : i64} : (tensor<?x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<?x6x4x4xf32>
  return %0 : tensor<?x6x4x4xf32>
}

// -----

func.func @result(%x: tensor<?x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<?x6x5x4xf32> {
  // expected-error @+1 {{y must have shape ?x6x4x4, got ?x6x5x4}}
  %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<?x6x5x4xf32>
  return %0 : tensor<?x6x5x4xf32>
}

// -----

func.func @bias(%x: tensor<?x3x8x8xf32>, %w: tensor<6x3x3x3xf32>, %b: tensor<5xf32>) -> tensor<?x6x4x4xf32> {
  // expected-error @+1 {{b must have shape 6, got 5}}
  %0 = nn.conv %x, %w, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<6x3x3x3xf32>, tensor<5xf32>) -> tensor<?x6x4x4xf32>
  return %0 : tensor<?x6x4x4xf32>
}

// -----

func.func @pads(%x: tensor<?x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<?x6x4x4xf32> {
  // expected-error @+1 {{`pads` must have 4 entries, got 2}}
  %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<?x6x4x4xf32>
  return %0 : tensor<?x6x4x4xf32>
}

// -----

func.func @strides(%x: tensor<?x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<?x6x4x4xf32> {
  // expected-error @+1 {{`strides` must be at least 1, got 0}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 0>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<?x6x4x4xf32>
  return %0 : tensor<?x6x4x4xf32>
}

// -----

func.func @rank(%x: tensor<?x3x8x8xf32>, %w: tensor<6x3x3xf32>) -> tensor<?x6x4x4xf32> {
  // expected-error @+1 {{w must have rank 4, got 'tensor<6x3x3xf32>'}}
  %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<6x3x3xf32>) -> tensor<?x6x4x4xf32>
  return %0 : tensor<?x6x4x4xf32>
}

// -----

func.func @no_space(%x: tensor<?x3xf32>, %w: tensor<6x3xf32>) -> tensor<?x6xf32> {
  // expected-error @+1 {{x must have spatial dimensions, got 'tensor<?x3xf32>'}}
  %0 = nn.conv %x, %w {strides = array<i64>, dilations = array<i64>, pads = array<i64>, group = 1 : i64} : (tensor<?x3xf32>, tensor<6x3xf32>) -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
