// RUN: hpcc-opt %s --hpcc-bufferize-pack-buffers | FileCheck %s

// Three channels of every example are strided: the op writes a dense buffer,
// which is copied into place.
// CHECK-LABEL: func.func @part_of_a_concatenation
// CHECK: %[[PART:.*]] = memref.subview
// CHECK: %[[DENSE:.*]] = memref.alloc(%{{.*}}) : memref<?x3x8xf32>
// CHECK: nn.primitive "softmax_forward" ins(%{{.*}} : memref<?x3x8xf32>) outs(%[[DENSE]] : memref<?x3x8xf32>)
// CHECK: linalg.copy ins(%[[DENSE]] : memref<?x3x8xf32>) outs(%[[PART]]
func.func @part_of_a_concatenation(%n: index, %x: memref<?x3x8xf32>) {
  %all = memref.alloc(%n) : memref<?x6x8xf32>
  %part = memref.subview %all[0, 3, 0] [%n, 3, 8] [1, 1, 1] : memref<?x6x8xf32> to memref<?x3x8xf32, strided<[48, 8, 1], offset: 24>>
  nn.primitive "softmax_forward" ins(%x : memref<?x3x8xf32>) outs(%part : memref<?x3x8xf32, strided<[48, 8, 1], offset: 24>>) {axis = 2 : i64}
  return
}

// Whole examples are dense.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: memref.alloc(
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @rows(%n: index, %i: index, %x: memref<?x8xf32>) {
  %rows = memref.subview %x[%i, 0] [%n, 8] [1, 1] : memref<?x8xf32> to memref<?x8xf32, strided<[8, 1], offset: ?>>
  nn.primitive "softmax_forward" ins(%rows : memref<?x8xf32, strided<[8, 1], offset: ?>>) outs(%rows : memref<?x8xf32, strided<[8, 1], offset: ?>>) {axis = 1 : i64}
  return
}
