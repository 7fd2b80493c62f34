// One worker: the same passes as scheme c with a batch of 7 makes, and no
// collective. Phase `fused`.
#rows = affine_map<(n, u) -> (n, u)>
#scalar = affine_map<(n, u) -> ()>
module attributes {nn.options = {workers = 1 : i64, batch = 30 : i64, scheme = "c"}} {
  func.func @train_step(
      %x: tensor<?x9xf32> {nn.arg = {kind = "input", name = "x"}},
      %n: index {nn.arg = {kind = "examples"}},
      %rank: index {nn.arg = {kind = "rank"}},
      %lr: f32 {nn.arg = {kind = "lr"}},
      %w: tensor<?x9xf32> {nn.arg = {kind = "value", name = "w", split = "dim0", segments = [{parameter = "w", offset = 0, shape = [31, 9]}]}},
      %m: tensor<?x9xf32> {nn.arg = {kind = "state", name = "m", slot = "momentum", split = "dim0", segments = [{parameter = "w", offset = 0, shape = [31, 9]}]}})
      -> (tensor<f32> {nn.result = {kind = "loss"}},
          tensor<?x9xf32> {nn.result = {kind = "value", arg = 4}},
          tensor<?x9xf32> {nn.result = {kind = "state", arg = 5}},
          tensor<?x9xf32> {nn.result = {kind = "output", name = "dx"}}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %passes = arith.constant 5 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %scale = arith.constant 0.01 : f32
    %mu = arith.constant 0.9 : f32
    %first, %rows = nn.examples %n rank(%rank) {workers = 1 : i64, batch = 30 : i64}
    %at, %units = nn.shard rank(%rank) {extent = 31 : i64, workers = 1 : i64}
    %le = tensor.empty() : tensor<f32>
    %l0 = linalg.fill ins(%zero : f32) outs(%le : tensor<f32>) -> tensor<f32>
    %dx0 = tensor.empty(%rows) : tensor<?x9xf32>
    %r:4 = scf.for %i = %c0 to %passes step %c1 iter_args(%li = %l0, %dxi = %dx0, %wi = %w, %mi = %m)
        -> (tensor<f32>, tensor<?x9xf32>, tensor<?x9xf32>, tensor<?x9xf32>) {
      %offset, %count, %total, %root = nn.chunk %n rank(%rank) pass(%i) {scheme = "c", workers = 1 : i64, batch = 30 : i64, fc_batch = 7 : i64}
      %own = tensor.extract_slice %x[%offset, 0] [%count, 9] [1, 1] : tensor<?x9xf32> to tensor<?x9xf32>
      %ye = tensor.empty(%total, %units) : tensor<?x?xf32>
      %y = nn.primitive "linear_forward" ins(%own, %wi : tensor<?x9xf32>, tensor<?x9xf32>) outs(%ye : tensor<?x?xf32>) {} -> tensor<?x?xf32> loc("fc")
      // A loss whose gradient is (y - 1) / 100.
      %dy = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]}
          outs(%y : tensor<?x?xf32>) {
        ^bb0(%o: f32):
          %d = arith.subf %o, %one : f32
          %e = arith.mulf %d, %scale : f32
          linalg.yield %e : f32
      } -> tensor<?x?xf32> loc("loss")
      %l = linalg.generic {indexing_maps = [#rows, #scalar], iterator_types = ["reduction", "reduction"]}
          ins(%dy : tensor<?x?xf32>) outs(%li : tensor<f32>) {
        ^bb0(%a: f32, %o: f32):
          %e = arith.mulf %a, %a : f32
          %f = arith.addf %o, %e : f32
          linalg.yield %f : f32
      } -> tensor<f32> loc("loss")
      %ds = tensor.extract_slice %dxi[%offset, 0] [%count, 9] [1, 1] : tensor<?x9xf32> to tensor<?x9xf32>
      %dg = nn.primitive "linear_backward_data" ins(%dy, %wi : tensor<?x?xf32>, tensor<?x9xf32>) outs(%ds : tensor<?x9xf32>) {} -> tensor<?x9xf32> loc("grad"("fc"))
      %dx = tensor.insert_slice %dg into %dxi[%offset, 0] [%count, 9] [1, 1] : tensor<?x9xf32> into tensor<?x9xf32>
      %gwe = tensor.empty(%units) : tensor<?x9xf32>
      %gw = nn.primitive "linear_backward_weights" ins(%own, %dy : tensor<?x9xf32>, tensor<?x?xf32>) outs(%gwe : tensor<?x9xf32>) {} -> tensor<?x9xf32> loc("grad"("fc"))
      %some = arith.cmpi sgt, %total, %c0 : index
      %u:2 = scf.if %some -> (tensor<?x9xf32>, tensor<?x9xf32>) {
        %s:2 = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
            ins(%gw : tensor<?x9xf32>) outs(%wi, %mi : tensor<?x9xf32>, tensor<?x9xf32>) {
          ^bb0(%a: f32, %ow: f32, %om: f32):
            %e = arith.mulf %om, %mu : f32
            %m2 = arith.addf %e, %a : f32
            %f = arith.mulf %m2, %lr : f32
            %w2 = arith.subf %ow, %f : f32
            linalg.yield %w2, %m2 : f32, f32
        } -> (tensor<?x9xf32>, tensor<?x9xf32>) loc("update")
        scf.yield %s#0, %s#1 : tensor<?x9xf32>, tensor<?x9xf32>
      } else {
        scf.yield %wi, %mi : tensor<?x9xf32>, tensor<?x9xf32>
      }
      scf.yield %l, %dx, %u#0, %u#1 : tensor<f32>, tensor<?x9xf32>, tensor<?x9xf32>, tensor<?x9xf32>
    }
    return %r#0, %r#2, %r#3, %r#1 : tensor<f32>, tensor<?x9xf32>, tensor<?x9xf32>, tensor<?x9xf32>
  }
}
