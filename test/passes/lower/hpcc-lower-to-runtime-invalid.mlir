// RUN: hpcc-opt %s --hpcc-lower-to-runtime --split-input-file --verify-diagnostics

func.func @columns_are_not_contiguous(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  %columns = memref.subview %x[0, 0] [8, 2] [1, 1] : memref<8x4xf32> to memref<8x2xf32, strided<[4, 1]>>
  // expected-error @below {{needs row-major contiguous buffers, got 'memref<8x2xf32, strided<[4, 1]>>'}}
  // expected-error @below {{failed to legalize operation 'nn.primitive'}}
  nn.primitive "softmax_forward" ins(%columns : memref<8x2xf32, strided<[4, 1]>>) outs(%y : memref<8x4xf32>) {}
  return
}

// -----

func.func @no_context(%x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  // expected-error @below {{the function has no argument of kind "context"}}
  // expected-error @below {{failed to legalize operation 'nn.primitive'}}
  nn.primitive "softmax_forward" ins(%x : memref<8x4xf32>) outs(%y : memref<8x4xf32>) {}
  return
}
