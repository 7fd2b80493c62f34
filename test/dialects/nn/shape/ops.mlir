// RUN: hpcc-opt %s --verify-roundtrip -o /dev/null

func.func @shape(%x: tensor<?x4x3x3xf32>, %c: tensor<2x3xi64>) {
  %0 = nn.reshape %x : tensor<?x4x3x3xf32> to tensor<?x36xf32>
  %1 = nn.reshape %c : tensor<2x3xi64> to tensor<6xi64>
  %2 = nn.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<?x4x3x3xf32> to tensor<?x3x3x4xf32>
  %3 = nn.concat %x, %x {axis = 1 : i64} : (tensor<?x4x3x3xf32>, tensor<?x4x3x3xf32>) -> tensor<?x8x3x3xf32>
  %4 = nn.slice %x {offsets = array<i64: 0, 1, 0, 2>} : tensor<?x4x3x3xf32> to tensor<?x2x3x1xf32>
  %5 = nn.pad %x {pads = array<i64: 0, 0, 1, 1, 0, -1, 0, 2>, value = 0.5 : f64} : tensor<?x4x3x3xf32> to tensor<?x3x4x6xf32>
  return
}

func.func @reshape_of_a_shard(%x: tensor<?x?xf32>) -> tensor<?x?x1x1xf32> {
  %0 = nn.reshape %x : tensor<?x?xf32> to tensor<?x?x1x1xf32>
  return %0 : tensor<?x?x1x1xf32>
}
