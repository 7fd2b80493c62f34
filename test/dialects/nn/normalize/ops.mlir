// RUN: hpcc-opt %s --verify-roundtrip -o /dev/null

func.func @batch_norm(%x: tensor<?x4x3x3xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) {
  %0 = nn.batch_norm %x scale(%s, %b) stats(%m, %v) {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<?x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x3x3xf32>
  %1, %2, %3 = nn.batch_norm_train %x, %s, %b {epsilon = 1.0e-5 : f64} : (tensor<?x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>)
  %4, %5, %6 = nn.batch_norm_backward %x, %1, %s stats(%2, %3) {epsilon = 1.0e-5 : f64} : (tensor<?x4x3x3xf32>, tensor<?x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>)
  %7 = nn.running_update %m, %2 {momentum = 0.9 : f64} : tensor<4xf32>
  %8 = nn.running_update %v, %3 unbiased(%x : tensor<?x4x3x3xf32>) {momentum = 0.9 : f64} : tensor<4xf32>
  return
}

func.func @lrn(%x: tensor<?x4x3x3xf32>) {
  %0 = nn.lrn %x {size = 5 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64} : (tensor<?x4x3x3xf32>) -> tensor<?x4x3x3xf32>
  %1 = nn.lrn_backward %x, %0, %0 {size = 5 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64} : (tensor<?x4x3x3xf32>, tensor<?x4x3x3xf32>, tensor<?x4x3x3xf32>) -> tensor<?x4x3x3xf32>
  return
}
