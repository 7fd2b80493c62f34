// RUN: hpcc-opt %s --split-input-file --hpcc-training-update-parameters --verify-diagnostics

// expected-error @+1 {{--no-decay must be of `bias` and `norm`, got `weights`}}
module attributes {nn.options = {no_decay = ["weights"]}} {}

// -----

// expected-error @+1 {{--momentum must be at least 0 and less than 1, got 1.000000e+00}}
module attributes {nn.options = {momentum = 1.0}} {}

// -----

// expected-error @+1 {{--weight-decay must not be negative, got -1.000000e-01}}
module attributes {nn.options = {weight_decay = -0.1}} {}

// -----

// expected-error @+1 {{--nesterov needs --momentum greater than 0, got 0}}
module attributes {nn.options = {momentum = 0.0, nesterov = true}} {}

// -----

module {
  // expected-error @+1 {{has no argument of kind "lr" (nn.arg)}}
  func.func @train_step() {
    return
  }
}
