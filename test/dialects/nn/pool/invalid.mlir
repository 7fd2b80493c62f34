// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @result(%x: tensor<?x4x7x7xf32>) {
  // expected-error @+1 {{y must have shape ?x4x3x3, got ?x4x3x4}}
  %0, %1 = nn.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<?x4x7x7xf32>) -> (tensor<?x4x3x4xf32>, tensor<?x4x3x4xi8>)
  return
}

// -----

func.func @indices(%x: tensor<?x4x7x7xf32>) {
  // expected-error @+1 {{indices of a window of 9 places must be i8, got 'i32'}}
  %0, %1 = nn.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<?x4x7x7xf32>) -> (tensor<?x4x3x3xf32>, tensor<?x4x3x3xi32>)
  return
}

// -----

func.func @padding_alone(%x: tensor<?x4x7x7xf32>) {
  // expected-error @+1 {{`pads` begin of dimension 1 must be less than the window's 3, got 3}}
  %0 = nn.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 3, 0, 3>, count_include_pad = true} : (tensor<?x4x7x7xf32>) -> tensor<?x4x3x6xf32>
  return
}

// -----

func.func @kernel(%x: tensor<?x4x7x7xf32>) {
  // expected-error @+1 {{`kernel` must have 2 entries, got 1}}
  %0 = nn.avg_pool %x {kernel = array<i64: 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, count_include_pad = true} : (tensor<?x4x7x7xf32>) -> tensor<?x4x3x3xf32>
  return
}
