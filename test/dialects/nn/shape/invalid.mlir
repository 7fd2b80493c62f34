// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @elements(%x: tensor<?x12xf32>) {
  // expected-error @+1 {{must keep the number of elements per example, 12, got 13}}
  %0 = nn.reshape %x : tensor<?x12xf32> to tensor<?x13xf32>
  return
}

// -----

func.func @batch(%x: tensor<?x12xf32>) {
  // expected-error @+1 {{must keep the batch as dimension 0: 'tensor<?x12xf32>' to 'tensor<12xf32>'}}
  %0 = nn.reshape %x : tensor<?x12xf32> to tensor<12xf32>
  return
}

// -----

func.func @moves_dynamic(%x: tensor<?x?xf32>) {
  // expected-error @+1 {{must keep dynamic dimension 1: 'tensor<?x?xf32>' to 'tensor<?x1x?xf32>'}}
  %0 = nn.reshape %x : tensor<?x?xf32> to tensor<?x1x?xf32>
  return
}

// -----

func.func @perm(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{`perm` must be a permutation of the 2 dimensions, got [1, 1]}}
  %0 = nn.transpose %x {perm = array<i64: 1, 1>} : tensor<2x3xf32> to tensor<3x2xf32>
  return
}

// -----

func.func @perm_of_batch(%x: tensor<?x3xf32>) {
  // expected-error @+1 {{must keep the batch as dimension 0, got [1, 0]}}
  %0 = nn.transpose %x {perm = array<i64: 1, 0>} : tensor<?x3xf32> to tensor<3x?xf32>
  return
}

// -----

func.func @transposed_shape(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{y must have shape 3x2, got 2x3}}
  %0 = nn.transpose %x {perm = array<i64: 1, 0>} : tensor<2x3xf32> to tensor<2x3xf32>
  return
}

// -----

func.func @concat_extent(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{y must have shape ?x8, got ?x9}}
  %0 = nn.concat %x, %x {axis = 1 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x9xf32>
  return
}

// -----

func.func @concat_other(%x: tensor<?x4x3xf32>, %y: tensor<?x4x2xf32>) {
  // expected-error @+1 {{input 1 must have shape ?x4x3, got ?x4x2}}
  %0 = nn.concat %x, %y {axis = 1 : i64} : (tensor<?x4x3xf32>, tensor<?x4x2xf32>) -> tensor<?x8x3xf32>
  return
}

// -----

func.func @concat_batch(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{`axis` must be one of the 2 dimensions and not the batch, got 0}}
  %0 = nn.concat %x, %x {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @slice_outside(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{dimension 1 has extent 4, got offset 2 and extent 3}}
  %0 = nn.slice %x {offsets = array<i64: 0, 2>} : tensor<?x4xf32> to tensor<?x3xf32>
  return
}

// -----

func.func @slice_batch(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{must take all of dynamic dimension 0}}
  %0 = nn.slice %x {offsets = array<i64: 1, 0>} : tensor<?x4xf32> to tensor<?x4xf32>
  return
}

// -----

func.func @pad_result(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{y must have shape ?x6, got ?x5}}
  %0 = nn.pad %x {pads = array<i64: 0, 1, 0, 1>, value = 0.0 : f64} : tensor<?x4xf32> to tensor<?x5xf32>
  return
}

// -----

func.func @pad_batch(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{must not pad dynamic dimension 0}}
  %0 = nn.pad %x {pads = array<i64: 1, 0, 0, 0>, value = 0.0 : f64} : tensor<?x4xf32> to tensor<?x4xf32>
  return
}

// -----

func.func @crop(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{crops more than the extent 4 of dimension 1}}
  %0 = nn.pad %x {pads = array<i64: 0, -3, 0, -2>, value = 0.0 : f64} : tensor<?x4xf32> to tensor<?x0xf32>
  return
}
