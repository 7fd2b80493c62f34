// RUN: hpcc-opt %s --hpcc-bufferize-resolve-dimensions --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

module attributes {nn.options = {workers = 4 : i64, batch = 30 : i64}} {
  // CHECK-LABEL: func.func @rows_of_the_batch
  // CHECK-SAME: %[[N:[^:]*]]: index {nn.arg = {kind = "examples"}}
  // CHECK-SAME: %[[RANK:[^:]*]]: index {nn.arg = {kind = "rank"}}
  // CHECK: %{{.*}}, %[[ROWS:.*]] = nn.examples %[[N]] rank(%[[RANK]]) {batch = 30 : i64, workers = 4 : i64}
  // CHECK: memref.alloc(%[[ROWS]])
  // CHECK: memref.alloc(%[[ROWS]])
  // CHECK-NOT: memref.dim
  func.func @rows_of_the_batch(%x: memref<?x9xf32> {nn.arg = {kind = "input", name = "x"}},
      %t: memref<?xi32> {nn.arg = {kind = "target", name = "t"}},
      %n: index {nn.arg = {kind = "examples"}}, %rank: index {nn.arg = {kind = "rank"}}) -> (memref<?xf32>, memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %a = memref.dim %x, %c0 : memref<?x9xf32>
    %b = memref.dim %t, %c0 : memref<?xi32>
    %p = memref.alloc(%a) : memref<?xf32>
    %q = memref.alloc(%b) : memref<?xf32>
    return %p, %q : memref<?xf32>, memref<?xf32>
  }

  // CHECK-LABEL: func.func @rows_of_a_shard
  // CHECK: nn.shard rank(%{{.*}}) {extent = 31 : i64, workers = 4 : i64}
  // CHECK-NOT: memref.dim
  func.func @rows_of_a_shard(%rank: index {nn.arg = {kind = "rank"}},
      %w: memref<?x9xf32> {nn.arg = {kind = "value", name = "w", split = "dim0", segments = [{parameter = "w", offset = 0, shape = [31, 9]}]}}) -> index {
    %c0 = arith.constant 0 : index
    %a = memref.dim %w, %c0 : memref<?x9xf32>
    return %a : index
  }

  // Inference has no number of examples: it counts its input, of which a worker
  // has at most its part of the batch.
  // CHECK-LABEL: func.func @inference_counts_its_input
  // CHECK: %[[DIM:.*]] = memref.dim
  // CHECK: nn.examples %[[DIM]] rank(%{{.*}}) {batch = 8 : i64, workers = 1 : i64}
  func.func @inference_counts_its_input(%x: memref<?x9xf32> {nn.arg = {kind = "input", name = "x"}}) -> index {
    %c0 = arith.constant 0 : index
    %a = memref.dim %x, %c0 : memref<?x9xf32>
    return %a : index
  }
}

// -----

func.func @unknown_extent(%w: memref<?x9xf32> {nn.arg = {kind = "value", name = "w"}}) -> index {
  %c0 = arith.constant 0 : index
  // expected-error @below {{the extent of argument #0 ({kind = "value", name = "w"}) along dimension 0 follows neither from the number of examples nor from a shard}}
  %a = memref.dim %w, %c0 : memref<?x9xf32>
  return %a : index
}
