// RUN: hpcc-opt %s --hpcc-lower-to-runtime --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @init(%arg0: !llvm.ptr {nn.arg = {kind = "context"}}) attributes {llvm.emit_c_interface}
// CHECK-NEXT: rt.define %arg0 0 "linear_forward" {node = "fc", ranks = [2, 2, 2], types = ["f32", "f32", "f32"]}
// CHECK-NEXT: rt.define %arg0 1 "linear_forward" {node = "other", ranks = [2, 2, 2], types = ["f32", "f32", "f32"]}
// CHECK-NEXT: return
// CHECK-LABEL: func.func @equal_descriptors_are_shared
// CHECK: rt.execute %arg0 0(%arg1, %arg2, %arg3 : memref<?x9xf32>, memref<4x9xf32>, memref<?x4xf32>)
// CHECK: rt.execute %arg0 1(
// CHECK: rt.execute %arg0 0(
func.func @equal_descriptors_are_shared(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %x: memref<?x9xf32>, %w: memref<4x9xf32>, %y: memref<?x4xf32>) {
  nn.primitive "linear_forward" ins(%x, %w : memref<?x9xf32>, memref<4x9xf32>) outs(%y : memref<?x4xf32>) {} loc("fc")
  nn.primitive "linear_forward" ins(%x, %w : memref<?x9xf32>, memref<4x9xf32>) outs(%y : memref<?x4xf32>) {} loc("other")
  nn.primitive "linear_forward" ins(%x, %w : memref<?x9xf32>, memref<4x9xf32>) outs(%y : memref<?x4xf32>) {} loc("fc")
  return
}

// -----

// CHECK: rt.define %arg0 0 "comm" {channel = "background", dim = 1 : i64, node = "fc", op = "all_gather", ranks = [2, 2], reduction = "sum", type = "f32"
// CHECK: rt.define %arg0 1 "comm" {channel = "inline", dim = 0 : i64, node = "", op = "all_reduce", ranks = [0, 0], reduction = "max"
// CHECK: rt.define %arg0 2 "comm" {{.*}} op = "all_gather_in_place", ranks = [1, 1]
// CHECK-LABEL: func.func @collectives
// CHECK: %[[NONE:.*]] = arith.constant -1 : i64
// CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[R:.*]] = %[[NONE]]) -> (i64)
// CHECK: rt.comm_wait %arg0, %[[R]]
// CHECK: %[[NOW:.*]] = rt.comm_start %arg0 0 ins({{.*}}) outs({{.*}}) if %{{.*}}
// CHECK: scf.yield %[[NOW]]
// CHECK: rt.comm_wait %arg0, %[[LAST]]
// CHECK: rt.comm_start %arg0 1
// CHECK-NOT: rt.comm_wait
// CHECK: rt.comm_start %arg0 2 outs(
func.func @collectives(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %a: memref<4x2xf32>, %b: memref<4x8xf32>, %s: memref<f32>, %t: memref<f32>, %w: memref<8xf32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %none = comm.null : !comm.request
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%r = %none) -> (!comm.request) {
    comm.wait %r ins(%a : memref<4x2xf32>) outs(%b : memref<4x8xf32>)
    %now = comm.start all_gather ins(%a : memref<4x2xf32>) outs(%b : memref<4x8xf32>) channel(background) if %p {dim = 1 : i64} : !comm.request loc("fc")
    scf.yield %now : !comm.request
  }
  comm.wait %last ins(%a : memref<4x2xf32>) outs(%b : memref<4x8xf32>)
  comm.all_reduce ins(%s : memref<f32>) outs(%t : memref<f32>) channel(inline) {reduction = 1 : i32}
  comm.all_gather_in_place outs(%w : memref<8xf32>) channel(inline)
  return
}

// -----

// CHECK-LABEL: func.func @batch_arithmetic
// CHECK: rt.chunk %arg0 rank(%arg1) pass(%arg2) {batch = 30 : i64, fc_batch = 7 : i64, scheme = 1 : i64, workers = 4 : i64}
// CHECK: rt.shard rank(%arg1) {extent = 31 : i64, workers = 4 : i64}
// CHECK: rt.examples %arg0 rank(%arg1) {workers = 4 : i64}
func.func @batch_arithmetic(%n: index, %rank: index, %pass: index) -> (index, index, index) {
  %offset, %count, %total, %root = nn.chunk %n rank(%rank) pass(%pass) {scheme = "b", workers = 4 : i64, batch = 30 : i64, fc_batch = 7 : i64}
  %first, %units = nn.shard rank(%rank) {extent = 31 : i64, workers = 4 : i64}
  %begin, %examples = nn.examples %n rank(%rank) {workers = 4 : i64, batch = 30 : i64}
  return %root, %units, %examples : index, index, index
}

// -----

// Rows of a buffer are contiguous, also reshaped.
// CHECK-LABEL: func.func @rows_are_contiguous
// CHECK: rt.execute
func.func @rows_are_contiguous(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %bucket: memref<64xf32>, %x: memref<8x4xf32>, %i: index) {
  %part = memref.subview %bucket[8] [16] [1] : memref<64xf32> to memref<16xf32, strided<[1], offset: 8>>
  %w = memref.expand_shape %part [[0, 1]] output_shape [4, 4] : memref<16xf32, strided<[1], offset: 8>> into memref<4x4xf32, strided<[4, 1], offset: 8>>
  %rows = memref.subview %x[%i, 0] [2, 4] [1, 1] : memref<8x4xf32> to memref<2x4xf32, strided<[4, 1], offset: ?>>
  nn.primitive "linear_backward_data" ins(%rows : memref<2x4xf32, strided<[4, 1], offset: ?>>) outs(%w : memref<4x4xf32, strided<[4, 1], offset: 8>>) {}
  return
}
