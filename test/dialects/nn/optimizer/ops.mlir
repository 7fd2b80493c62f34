// RUN: hpcc-opt %s --verify-roundtrip -o /dev/null

func.func @sgd(%w: tensor<4x3xf32>, %m: tensor<4x3xf32>, %g: tensor<4x3xf32>, %lr: f32) {
  %0, %1 = nn.sgd %w momentum(%m : tensor<4x3xf32>) gradient(%g : tensor<4x3xf32>) lr(%lr) {momentum = 0.9 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "pytorch", nesterov} : tensor<4x3xf32> -> tensor<4x3xf32>, tensor<4x3xf32>
  %2 = nn.sgd %w gradient(%g : tensor<4x3xf32>) lr(%lr) scale(%lr) {momentum = 0.0 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "caffe"} : tensor<4x3xf32> -> tensor<4x3xf32>
  return
}
