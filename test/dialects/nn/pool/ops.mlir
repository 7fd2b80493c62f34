// RUN: hpcc-opt %s --verify-roundtrip -o /dev/null

func.func @pool(%x: tensor<?x4x7x7xf32>) {
  %0, %1 = nn.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<?x4x7x7xf32>) -> (tensor<?x4x3x3xf32>, tensor<?x4x3x3xi8>)
  %2 = nn.max_pool_backward %0, %1 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<?x4x3x3xf32>, tensor<?x4x3x3xi8>) -> tensor<?x4x7x7xf32>
  %3 = nn.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, count_include_pad = false} : (tensor<?x4x7x7xf32>) -> tensor<?x4x4x4xf32>
  %4 = nn.avg_pool_backward %3 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, count_include_pad = false} : (tensor<?x4x4x4xf32>) -> tensor<?x4x7x7xf32>
  return
}

func.func @large_window(%x: tensor<?x1x17x17xf32>) {
  %0, %1 = nn.max_pool %x {kernel = array<i64: 17, 17>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<?x1x17x17xf32>) -> (tensor<?x1x1x1xf32>, tensor<?x1x1x1xi32>)
  return
}
