// RUN: hpcc-opt %s --hpcc-lower-outline-kernels --canonicalize --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// Dimensions that all operands run through are one loop, and a large op is
// split between threads.
// CHECK-LABEL: func.func @dimensions_are_merged
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %{{.*}} {{\[}}[0, 1]] : memref<128x64xf32> into memref<8192xf32>
// CHECK: %[[CAST:.*]] = memref.cast %[[FLAT]] : memref<8192xf32> to memref<?xf32>
// CHECK: rt.parallel_for %arg0 @[[K:kernel_mulf_[0-9a-f]+]] from %c0 to %c8192(%[[CAST]] : memref<?xf32>)
// CHECK: func.func private @[[K]](%[[A:.*]]: memref<?xf32>, %[[FROM:.*]]: index, %[[TO:.*]]: index)
// CHECK: scf.for %[[I:.*]] = %[[FROM]] to %[[TO]]
// CHECK-NEXT: memref.load %[[A]][%[[I]]]
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: memref.store %{{.*}}, %[[A]][%[[I]]]
func.func @dimensions_are_merged(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %a: memref<128x64xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%a : memref<128x64xf32>) {
  ^bb0(%x: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @small_ops_are_plain_calls
// CHECK: call @kernel_fill_
// CHECK-NOT: rt.parallel_for
func.func @small_ops_are_plain_calls(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %a: memref<8xf32>, %v: f32) {
  linalg.fill ins(%v : f32) outs(%a : memref<8xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @kernels_do_not_depend_on_shapes
// CHECK-COUNT-2: call @[[K:kernel_copy_[0-9a-f]+]](
// CHECK: func.func private @[[K]](
// CHECK-NOT: func.func private
func.func @kernels_do_not_depend_on_shapes(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %a: memref<8xf32>, %b: memref<8xf32>, %c: memref<2x3xf32>, %d: memref<2x3xf32>) {
  linalg.copy ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  linalg.copy ins(%c : memref<2x3xf32>) outs(%d : memref<2x3xf32>)
  return
}

// -----

// Constants are part of a kernel; other scalars come from outside.
// CHECK-LABEL: func.func @constants_tell_kernels_apart
// CHECK: call @[[ONE:kernel_fill_[0-9a-f]+]](
// CHECK-NOT: call @[[ONE]](
// CHECK: call @kernel_fill_
// CHECK: call @kernel_fill_{{.*}}(%arg2, %{{.*}}, %c0
func.func @constants_tell_kernels_apart(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %a: memref<8xf32>, %v: f32) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  linalg.fill ins(%one : f32) outs(%a : memref<8xf32>)
  linalg.fill ins(%two : f32) outs(%a : memref<8xf32>)
  linalg.fill ins(%v : f32) outs(%a : memref<8xf32>)
  return
}

// -----

#in = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Rows are split; the sum of a row runs in a register, in the order of the row.
// CHECK-LABEL: func.func @sums_are_not_split
// CHECK: rt.parallel_for %arg0 @[[K:kernel_addf_[0-9a-f]+]] from %c0 to %c128
// CHECK: func.func private @[[K]](%[[IN:.*]]: memref<?x?xf32>, %[[OUT:.*]]: memref<?xf32>, %[[FROM:.*]]: index, %[[TO:.*]]: index)
// CHECK: scf.for %[[I:.*]] = %[[FROM]] to %[[TO]]
// CHECK: %[[INIT:.*]] = memref.load %[[OUT]][%[[I]]]
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]])
// CHECK: memref.store %[[SUM]], %[[OUT]][%[[I]]]
func.func @sums_are_not_split(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %a: memref<128x64xf32>, %s: memref<128xf32>) {
  linalg.generic {indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<128x64xf32>) outs(%s : memref<128xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  }
  return
}

// -----

#in = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// Rows are summed into columns; it is the columns that are split.
// CHECK-LABEL: func.func @columns_are_split
// CHECK: rt.parallel_for %arg0 @[[K:kernel_addf_[0-9a-f]+]] from %c0 to %c64
// CHECK: func.func private @[[K]]({{.*}}, %[[FROM:.*]]: index, %[[TO:.*]]: index)
// CHECK: scf.for %{{.*}} = %c0 to
// CHECK-NEXT: scf.for %{{.*}} = %[[FROM]] to %[[TO]]
func.func @columns_are_split(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %a: memref<128x64xf32>, %s: memref<64xf32>) {
  linalg.generic {indexing_maps = [#in, #column], iterator_types = ["reduction", "parallel"]} ins(%a : memref<128x64xf32>) outs(%s : memref<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func private @kernel_index_cast_
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[J:.*]] =
// CHECK: arith.index_cast %[[J]] : index to i32
func.func @indices_are_loop_variables(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %a: memref<4x8xi32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%a : memref<4x8xi32>) {
  ^bb0(%x: i32):
    %j = linalg.index 1 : index
    %y = arith.index_cast %j : index to i32
    linalg.yield %y : i32
  }
  return
}

// -----

// Two buffers of the arena do not overlap; two slices of one buffer may.
// CHECK: func.func private @kernel_copy_{{.*}}attributes {rt.restrict = array<i64: 1, 6>}
// CHECK: func.func private @kernel_copy_
// CHECK-NOT: rt.restrict
func.func @overlap(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %arena: memref<128xi8> {nn.arg = {kind = "arena"}}, %i: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<8xf32>
  %b = memref.view %arena[%c64][] : memref<128xi8> to memref<8xf32>
  linalg.copy ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  %p = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %q = memref.subview %a[%i] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
  linalg.copy ins(%p : memref<4xf32, strided<[1]>>) outs(%q : memref<4xf32, strided<[1], offset: ?>>)
  return
}
