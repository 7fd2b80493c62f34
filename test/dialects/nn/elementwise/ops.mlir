// RUN: hpcc-opt %s --verify-roundtrip -o /dev/null

func.func @unary(%x: tensor<?x3x4x4xf32>, %dy: tensor<?x3x4x4xf32>, %f: f32) {
  %0 = nn.relu %x : tensor<?x3x4x4xf32>
  %1 = nn.leaky_relu %x {alpha = 1.0e-2 : f64} : tensor<?x3x4x4xf32>
  %2 = nn.sigmoid %x : tensor<?x3x4x4xf32>
  %3 = nn.tanh %x : tensor<?x3x4x4xf32>
  %4 = nn.clip %x {min = 0.0 : f64, max = 6.0 : f64} : tensor<?x3x4x4xf32>
  %5 = nn.clip %x {min = 0.0 : f64} : tensor<?x3x4x4xf32>
  %6 = nn.scale %x by %f : tensor<?x3x4x4xf32>
  %7 = nn.relu_backward %dy, %0 : tensor<?x3x4x4xf32>
  %8 = nn.leaky_relu_backward %dy, %x {alpha = 1.0e-2 : f64} : tensor<?x3x4x4xf32>
  %9 = nn.sigmoid_backward %dy, %2 : tensor<?x3x4x4xf32>
  %10 = nn.tanh_backward %dy, %3 : tensor<?x3x4x4xf32>
  %11 = nn.clip_backward %dy, %x {max = 6.0 : f64} : tensor<?x3x4x4xf32>
  return
}

func.func @binary(%x: tensor<?x3x4x4xf32>, %c: tensor<3x1x1xf32>, %s: tensor<f32>, %n: tensor<?x1x4x1xf32>) {
  %0 = nn.add %x, %x : (tensor<?x3x4x4xf32>, tensor<?x3x4x4xf32>) -> tensor<?x3x4x4xf32>
  %1 = nn.sub %x, %c : (tensor<?x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<?x3x4x4xf32>
  %2 = nn.mul %s, %x : (tensor<f32>, tensor<?x3x4x4xf32>) -> tensor<?x3x4x4xf32>
  %3 = nn.div %x, %n : (tensor<?x3x4x4xf32>, tensor<?x1x4x1xf32>) -> tensor<?x3x4x4xf32>
  %4 = nn.sum_to %x : tensor<?x3x4x4xf32> to tensor<3x1x1xf32>
  %5 = nn.sum_to %x : tensor<?x3x4x4xf32> to tensor<f32>
  %6 = nn.sum_to %x : tensor<?x3x4x4xf32> to tensor<?x1x4x1xf32>
  return
}
