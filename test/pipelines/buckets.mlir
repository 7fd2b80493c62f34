// RUN: hpcc-opt %s --hpcc-phase-bufferized | FileCheck %s --implicit-check-not=linalg.copy
// RUN: hpcc-opt %s --hpcc-phase-bufferized --hpcc-phase-scheduled --hpcc-phase-arena --hpcc-phase-rt --hpcc-phase-llvm -o /dev/null

// A trunk of one layer, its weight and bias in one bucket of 48 floats on two
// workers: both gradients are written where they lie in the bucket, the
// worker's half is updated in place, and the values are gathered in place.

// CHECK-LABEL: func.func @train_step
// CHECK-SAME: %[[VALUES:[^:]*]]: memref<48xf32> {nn.arg = {kind = "value"
// CHECK-SAME: %[[STATE:[^:]*]]: memref<24xf32> {nn.arg = {kind = "state"
// CHECK: %[[BUCKET:.*]] = memref.alloc() {{.*}} : memref<48xf32>
// CHECK: %[[FLAT:.*]] = memref.subview %[[BUCKET]][0] [36] [1]
// CHECK: %[[DW:.*]] = memref.expand_shape %[[FLAT]]
// CHECK: nn.primitive "linear_backward_weights" {{.*}} outs(%[[DW]] :
// CHECK: %[[DB:.*]] = memref.subview %[[BUCKET]][36] [4] [1]
// CHECK: linalg.reduce {{.*}} outs(%[[DB]] :
// CHECK: %[[OWN:.*]] = memref.alloc() {{.*}} : memref<24xf32>
// CHECK: comm.reduce_scatter ins(%[[BUCKET]] : memref<48xf32>) outs(%[[OWN]] : memref<24xf32>)
// CHECK: %[[PART:.*]] = memref.subview %[[VALUES]]
// CHECK: linalg.generic {{.*}} ins(%[[OWN]] : memref<24xf32>) outs(%[[PART]], %[[STATE]] :
// CHECK: comm.all_gather_in_place outs(%[[VALUES]] : memref<48xf32>)
// CHECK-NEXT: return

#id = affine_map<(i) -> (i)>
module attributes {nn.options = {workers = 2 : i64, batch = 8 : i64}} {
  func.func @train_step(
      %x: tensor<?x9xf32> {nn.arg = {kind = "input", name = "x"}},
      %dy: tensor<?x4xf32> {nn.arg = {kind = "input", name = "dy"}},
      %n: index {nn.arg = {kind = "examples"}}, %rank: index {nn.arg = {kind = "rank"}},
      %lr: f32 {nn.arg = {kind = "lr"}},
      %w: tensor<48xf32> {nn.arg = {kind = "value", name = "bucket0", split = "replicated", padded = 48,
          segments = [{parameter = "w", offset = 0, shape = [4, 9]}, {parameter = "b", offset = 36, shape = [4]}]}},
      %m: tensor<24xf32> {nn.arg = {kind = "state", name = "bucket0.momentum", slot = "momentum", split = "flat", padded = 48,
          segments = [{parameter = "w", offset = 0, shape = [4, 9]}, {parameter = "b", offset = 36, shape = [4]}]}})
      -> (tensor<48xf32> {nn.result = {kind = "value", arg = 5}}, tensor<24xf32> {nn.result = {kind = "state", arg = 6}}) {
    %mu = arith.constant 0.9 : f32
    %c24 = arith.constant 24 : index
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<48xf32>
    %dw1 = tensor.extract_slice %empty[0] [36] [1] : tensor<48xf32> to tensor<36xf32>
    %dwe = tensor.expand_shape %dw1 [[0, 1]] output_shape [4, 9] : tensor<36xf32> into tensor<4x9xf32>
    %dw = nn.primitive "linear_backward_weights" ins(%x, %dy : tensor<?x9xf32>, tensor<?x4xf32>) outs(%dwe : tensor<4x9xf32>) {} -> tensor<4x9xf32>
    %flat = tensor.collapse_shape %dw [[0, 1]] : tensor<4x9xf32> into tensor<36xf32>
    %b0 = tensor.insert_slice %flat into %empty[0] [36] [1] : tensor<36xf32> into tensor<48xf32>
    %dbe = tensor.extract_slice %b0[36] [4] [1] : tensor<48xf32> to tensor<4xf32>
    %dbz = linalg.fill ins(%zero : f32) outs(%dbe : tensor<4xf32>) -> tensor<4xf32>
    %db = linalg.reduce ins(%dy : tensor<?x4xf32>) outs(%dbz : tensor<4xf32>) dimensions = [0]
      (%a: f32, %o: f32) {
        %e = arith.addf %o, %a : f32
        linalg.yield %e : f32
      }
    %b1 = tensor.insert_slice %db into %b0[36] [4] [1] : tensor<4xf32> into tensor<48xf32>
    %pade = tensor.extract_slice %b1[40] [8] [1] : tensor<48xf32> to tensor<8xf32>
    %pad = linalg.fill ins(%zero : f32) outs(%pade : tensor<8xf32>) -> tensor<8xf32>
    %b2 = tensor.insert_slice %pad into %b1[40] [8] [1] : tensor<8xf32> into tensor<48xf32>
    %owne = tensor.empty() : tensor<24xf32>
    %own = comm.reduce_scatter ins(%b2 : tensor<48xf32>) outs(%owne : tensor<24xf32>) channel(background) -> tensor<24xf32>
    %at = arith.muli %rank, %c24 : index
    %we = tensor.extract_slice %w[%at] [24] [1] : tensor<48xf32> to tensor<24xf32>
    %u:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%own : tensor<24xf32>) outs(%we, %m : tensor<24xf32>, tensor<24xf32>) {
      ^bb0(%a: f32, %ow: f32, %om: f32):
        %e = arith.mulf %om, %mu : f32
        %m2 = arith.addf %e, %a : f32
        %f = arith.mulf %m2, %lr : f32
        %w2 = arith.subf %ow, %f : f32
        linalg.yield %w2, %m2 : f32, f32
    } -> (tensor<24xf32>, tensor<24xf32>)
    %w1 = tensor.insert_slice %u#0 into %w[%at] [24] [1] : tensor<24xf32> into tensor<48xf32>
    %w2 = comm.all_gather_in_place outs(%w1 : tensor<48xf32>) channel(background) -> tensor<48xf32>
    return %w2, %u#1 : tensor<48xf32>, tensor<24xf32>
  }
}
