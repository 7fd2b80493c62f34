// RUN: hpcc-opt %s --convert-to-llvm --split-input-file | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @descriptor_3("{\22node\22:\22fc\22,\22ranks\22:[2,2]}\00")
// CHECK-DAG: llvm.mlir.global internal constant @descriptor_3_kind("linear_forward\00")
// CHECK-DAG: llvm.func @hpcc_rt_define(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr)
// CHECK-LABEL: llvm.func @init
// CHECK: %[[ID:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: llvm.call @hpcc_rt_define(%arg0, %[[ID]], %{{.*}}, %{{.*}})
func.func @init(%context: !llvm.ptr) {
  rt.define %context 3 "linear_forward" {node = "fc", ranks = [2, 2]}
  return
}

// -----

// Arrays live on the function's stack, not on that of a loop's iteration.
// CHECK: llvm.func @hpcc_rt_execute(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr)
// CHECK-LABEL: llvm.func @execute
// CHECK-DAG: llvm.alloca %{{.*}} x !llvm.ptr
// CHECK-DAG: llvm.alloca %{{.*}} x i64
// CHECK: llvm.br
// CHECK-NOT: llvm.alloca
// CHECK: llvm.call @hpcc_rt_execute(
func.func @execute(%context: !llvm.ptr, %x: memref<?x9xf32>) {
  cf.br ^loop
^loop:
  rt.execute %context 0(%x : memref<?x9xf32>)
  cf.br ^loop
}

// -----

// A C bool is passed as a whole register.
// CHECK: llvm.func @hpcc_rt_comm_start(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i32) -> i64
// CHECK-LABEL: llvm.func @comm
// CHECK: %[[P:.*]] = llvm.zext %{{.*}} : i1 to i32
// CHECK: %[[R:.*]] = llvm.call @hpcc_rt_comm_start({{.*}}, %[[P]])
// CHECK: llvm.call @hpcc_rt_comm_wait(%arg0, %[[R]])
func.func @comm(%context: !llvm.ptr, %x: memref<2xf32>, %y: memref<4xf32>, %p: i1) {
  %r = rt.comm_start %context 1 ins(%x : memref<2xf32>) outs(%y : memref<4xf32>) if %p
  rt.comm_wait %context, %r
  return
}

// -----

// CHECK-LABEL: llvm.func @parallel
// CHECK: %[[BODY:.*]] = llvm.mlir.addressof @kernel_range
// CHECK: llvm.call @hpcc_rt_parallel_for(%arg0, %[[BODY]],
// CHECK-LABEL: llvm.func internal @kernel_range(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64)
// CHECK: llvm.call @kernel({{.*}}, %arg1, %arg2)
func.func @parallel(%context: !llvm.ptr, %x: memref<?xf32>, %v: f32, %n: index) {
  rt.parallel_for %context @kernel from %n to %n(%x, %v : memref<?xf32>, f32)
  rt.parallel_for %context @kernel from %n to %n(%x, %v : memref<?xf32>, f32)
  return
}
func.func private @kernel(%x: memref<?xf32>, %v: f32, %begin: index, %end: index) {
  return
}

// -----

// CHECK-LABEL: llvm.func @arithmetic
// CHECK: llvm.call @hpcc_rt_chunk(
// CHECK: llvm.call @hpcc_rt_shard(
// CHECK: llvm.call @hpcc_rt_examples(
func.func @arithmetic(%n: index) -> (index, index, index) {
  %offset, %count, %total, %root = rt.chunk %n rank(%n) pass(%n) {scheme = 2 : i64, workers = 4 : i64, batch = 30 : i64, fc_batch = 0 : i64}
  %first, %units = rt.shard rank(%n) {extent = 31 : i64, workers = 4 : i64}
  %begin, %examples = rt.examples %n rank(%n) {workers = 4 : i64}
  return %root, %units, %examples : index, index, index
}
