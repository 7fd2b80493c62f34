// RUN: hpcc-opt %s --verify-roundtrip

func.func @init(%context: !llvm.ptr) {
  rt.define %context 0 "linear_forward" {node = "fc", ranks = [2, 2, 2]}
  return
}
func.func @calls(%context: !llvm.ptr, %x: memref<?x9xf32>, %y: memref<4x9xf32>, %n: index, %p: i1) {
  rt.execute %context 0(%x, %y : memref<?x9xf32>, memref<4x9xf32>)
  %a = rt.comm_start %context 1 ins(%x : memref<?x9xf32>) outs(%y : memref<4x9xf32>) root(%n) if %p
  rt.comm_wait %context, %a
  %b = rt.comm_start %context 2 outs(%y : memref<4x9xf32>)
  rt.comm_wait %context, %b
  %offset, %count, %total, %root = rt.chunk %n rank(%n) pass(%n) {scheme = 2 : i64, workers = 4 : i64, batch = 30 : i64, fc_batch = 0 : i64}
  %first, %units = rt.shard rank(%n) {extent = 31 : i64, workers = 4 : i64}
  %begin, %examples = rt.examples %n rank(%n) {workers = 4 : i64}
  rt.parallel_for %context @kernel from %first to %units(%x, %p : memref<?x9xf32>, i1)
  rt.parallel_for %context @nothing_captured from %first to %units()
  return
}
func.func private @kernel(memref<?x9xf32>, i1, index, index)
func.func private @nothing_captured(index, index)
