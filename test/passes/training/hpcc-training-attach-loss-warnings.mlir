// RUN: hpcc-opt %s --hpcc-training-attach-loss -o /dev/null 2>&1 | FileCheck %s

// A momentum of 1 is kept, with a warning; so are constant statistics.

// CHECK-COUNT-1: warning: {{.*}}`bn`: momentum 1 in the file means that its running statistics never move
// CHECK-COUNT-2: warning: {{.*}}`bn`: its running statistics are constants and keep their values
// CHECK-NOT: warning
module attributes {nn.options = {loss = "mse"}} {
  nn.parameter @s : tensor<3xf32> {initializer = "s", role = "norm_scale", trainable}
  func.func @forward(%x: tensor<?x3xf32>) -> (tensor<?x3xf32> {nn.name = "y"}) {
    %s = nn.load @s : tensor<3xf32>
    %c = arith.constant dense<0.0> : tensor<3xf32>
    %0 = nn.batch_norm %x scale(%s, %s) stats(%c, %c) {epsilon = 1.0e-5 : f64, momentum = 1.0 : f64, nn.node = 0 : i64} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3xf32> loc("bn")
    return %0 : tensor<?x3xf32>
  }
}
