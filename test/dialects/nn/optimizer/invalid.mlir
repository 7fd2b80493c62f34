// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @form(%w: tensor<4xf32>, %lr: f32) {
  // expected-error @+1 {{`form` must be "pytorch" or "caffe", got "adam"}}
  %0 = nn.sgd %w gradient(%w : tensor<4xf32>) lr(%lr) {momentum = 0.0 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "adam"} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @state(%w: tensor<4xf32>, %lr: f32) {
  // expected-error @+1 {{has momentum 9.000000e-01, so it must take and give a momentum value}}
  %0 = nn.sgd %w gradient(%w : tensor<4xf32>) lr(%lr) {momentum = 0.9 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "caffe"} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @types(%w: tensor<4xf32>, %g: tensor<5xf32>, %lr: f32) {
  // expected-error @+1 {{expects all values to have the type of w, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = nn.sgd %w gradient(%g : tensor<5xf32>) lr(%lr) {momentum = 0.0 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "caffe"} : tensor<4xf32> -> tensor<4xf32>
  return
}
