// RUN: hpcc-opt %s --hpcc-phase-bufferized --hpcc-phase-scheduled --hpcc-phase-arena | FileCheck %s

// The rows of a flattened image are those of the image, whose maximum is known.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: bytes = 1600 : i64
module attributes {nn.options = {workers = 1 : i64, batch = 8 : i64}} {
  func.func @forward(%x: tensor<?x1x8x8xf32> {nn.arg = {kind = "input", name = "x"}},
      %w: tensor<50x64xf32> {nn.arg = {kind = "value", name = "w", split = "replicated"}})
      -> (tensor<?x50xf32> {nn.result = {kind = "output", name = "y"}}) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %flat = tensor.collapse_shape %x [[0], [1, 2, 3]] : tensor<?x1x8x8xf32> into tensor<?x64xf32>
    %rows = tensor.dim %flat, %c0 : tensor<?x64xf32>
    %e = tensor.empty(%rows) : tensor<?x50xf32>
    %h = nn.primitive "linear_forward" ins(%flat, %w : tensor<?x64xf32>, tensor<50x64xf32>) outs(%e : tensor<?x50xf32>) {} -> tensor<?x50xf32>
    %e2 = tensor.empty(%rows) : tensor<?x50xf32>
    %y = nn.primitive "softmax_forward" ins(%h : tensor<?x50xf32>) outs(%e2 : tensor<?x50xf32>) {axis = 1 : i64} -> tensor<?x50xf32>
    return %y : tensor<?x50xf32>
  }
}
