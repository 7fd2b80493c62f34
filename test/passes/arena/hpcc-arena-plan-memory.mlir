// RUN: hpcc-opt %s --pass-pipeline='builtin.module(func.func(hpcc-arena-plan-memory))' --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @dead_buffers_share_bytes(
// CHECK-SAME: %[[ARENA:[^:]*]]: memref<128xi8> {nn.arg = {bytes = 128 : i64, kind = "arena", live = 128 : i64, name = "arena"}}
// CHECK-DAG: %[[A:.*]] = memref.view %[[ARENA]][%[[AT_A:.*]]][] : memref<128xi8> to memref<16xf32>
// CHECK-DAG: %[[AT_A]] = arith.constant 0 : index
// CHECK: memref.view %{{.*}}[%[[AT_B:.*]]][] : memref<128xi8> to memref<16xf32>
// CHECK: %[[AT_C:.*]] = arith.constant 0 : index
// CHECK: memref.view %{{.*}}[%[[AT_C]]][] : memref<128xi8> to memref<16xf32>
func.func @dead_buffers_share_bytes(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %zero: f32) {
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<16xf32>)
  %b = memref.alloc() : memref<16xf32>
  linalg.copy ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  %c = memref.alloc() : memref<16xf32>
  linalg.copy ins(%b : memref<16xf32>) outs(%c : memref<16xf32>)
  return
}

// -----

// The last use of %a is through a view of it.
// CHECK-LABEL: func.func @views_keep_their_buffer(
// CHECK-SAME: bytes = 128 : i64
func.func @views_keep_their_buffer(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %zero: f32) {
  %a = memref.alloc() : memref<16xf32>
  %v = memref.expand_shape %a [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<16xf32>)
  %b = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<16xf32>)
  linalg.fill ins(%zero : f32) outs(%v : memref<4x4xf32>)
  return
}

// -----

// The collective reads %a until the wait, after its last ordinary use.
// CHECK-LABEL: func.func @waits_keep_their_buffer(
// CHECK-SAME: bytes = 128 : i64
func.func @waits_keep_their_buffer(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %zero: f32, %d: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<16xf32>)
  %r = comm.start reduce_scatter ins(%a : memref<16xf32>) outs(%d : memref<16xf32>) channel(background) : !comm.request
  %t = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<16xf32>)
  comm.wait %r ins(%a : memref<16xf32>) outs(%d : memref<16xf32>)
  %u = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%u : memref<16xf32>)
  return
}

// -----

// A buffer that a loop uses is needed during all of it.
// CHECK-LABEL: func.func @loops_keep_their_buffer(
// CHECK-SAME: bytes = 192 : i64
func.func @loops_keep_their_buffer(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<16xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    linalg.fill ins(%zero : f32) outs(%a : memref<16xf32>)
    %b = memref.alloc() : memref<16xf32>
    linalg.fill ins(%zero : f32) outs(%b : memref<16xf32>)
    %c = memref.alloc() : memref<16xf32>
    linalg.copy ins(%b : memref<16xf32>) outs(%c : memref<16xf32>)
  }
  return
}

// -----

// At most 8 of 30 examples on each of 4 workers: 8 * 9 * 4 bytes, rounded up.
// CHECK-LABEL: func.func @sizes_are_the_largest(
// CHECK-SAME: bytes = 320 : i64
// CHECK: memref.view %{{.*}}[%{{.*}}][%{{.*}}] : memref<320xi8> to memref<?x9xf32>
func.func @sizes_are_the_largest(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %n: index, %rank: index, %zero: f32) {
  %at, %rows = nn.examples %n rank(%rank) {workers = 4 : i64, batch = 30 : i64}
  %a = memref.alloc(%rows) : memref<?x9xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?x9xf32>)
  return
}

// -----

// First fit, largest first: the big buffer lies at 0, the two small ones that
// are needed with it, behind it.
// CHECK-LABEL: func.func @first_fit_largest_first(
// CHECK-SAME: bytes = 320 : i64
// CHECK-SAME: live = 320 : i64
func.func @first_fit_largest_first(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %zero: f32) {
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<16xf32>)
  %b = memref.alloc() : memref<64xf32>
  %v = memref.expand_shape %b [[0, 1]] output_shape [4, 16] : memref<64xf32> into memref<4x16xf32>
  linalg.broadcast ins(%a : memref<16xf32>) outs(%v : memref<4x16xf32>) dimensions = [0]
  %c = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<16xf32>)
  linalg.fill ins(%zero : f32) outs(%b : memref<64xf32>)
  return
}

// -----

func.func @no_maximum_is_known(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %n: index, %zero: f32) {
  // expected-error @below {{no maximum is known for dimension 0 of 'memref<?x9xf32>'; its extent must follow from nn.examples, nn.chunk or nn.shard}}
  %a = memref.alloc(%n) : memref<?x9xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?x9xf32>)
  return
}

// -----

// CHECK-LABEL: func.func private @functions_without_a_context_are_left_alone(
// CHECK: memref.alloc
func.func private @functions_without_a_context_are_left_alone(%zero: f32) {
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<16xf32>)
  return
}
