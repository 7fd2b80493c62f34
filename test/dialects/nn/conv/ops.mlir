// RUN: hpcc-opt %s --verify-roundtrip -o /dev/null

func.func @conv(%x: tensor<?x3x8x8xf32>, %w: tensor<6x3x3x3xf32>, %b: tensor<6xf32>, %dy: tensor<?x6x4x4xf32>) {
  %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<?x6x4x4xf32>
  %1 = nn.conv %x, %w, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<6x3x3x3xf32>, tensor<6xf32>) -> tensor<?x6x4x4xf32>
  %2 = nn.conv_backward_data %dy, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x6x4x4xf32>, tensor<6x3x3x3xf32>) -> tensor<?x3x8x8xf32>
  %3, %4 = nn.conv_backward_weights %x, %dy {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<?x6x4x4xf32>) -> (tensor<6x3x3x3xf32>, tensor<6xf32>)
  %5 = nn.conv_backward_weights %x, %dy {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<?x6x4x4xf32>) -> tensor<6x3x3x3xf32>
  return
}

func.func @conv_1d_of_static_batch(%x: tensor<2x4x9xf32>, %w: tensor<4x2x3xf32>) -> tensor<2x4x7xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, group = 2 : i64} : (tensor<2x4x9xf32>, tensor<4x2x3xf32>) -> tensor<2x4x7xf32>
  return %0 : tensor<2x4x7xf32>
}
