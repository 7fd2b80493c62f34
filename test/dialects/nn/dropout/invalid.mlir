// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @ratio(%x: tensor<?x10xf32>, %p: tensor<?xi32>, %s: i64) {
  // expected-error @+1 {{`ratio` must be at least 0 and less than 1, got 1.000000e+00}}
  %0 = nn.dropout_train %x positions(%p : tensor<?xi32>) step(%s) {ratio = 1.0 : f64, node = 3 : i64, seed = 1 : i64} : tensor<?x10xf32>
  return
}

// -----

func.func @shard(%x: tensor<?x10xf32>, %p: tensor<?xi32>, %s: i64, %o: index) {
  // expected-error @+1 {{a shard must say of how many `features` it is}}
  %0 = nn.dropout_train %x positions(%p : tensor<?xi32>) step(%s) offset(%o) {ratio = 0.5 : f64, node = 3 : i64, seed = 1 : i64} : tensor<?x10xf32>
  return
}

// -----

func.func @positions(%x: tensor<?x10xf32>, %p: tensor<?xi64>, %s: i64) {
  // expected-error @+1 {{positions must be i32, got 'tensor<?xi64>'}}
  %0 = nn.dropout_train %x positions(%p : tensor<?xi64>) step(%s) {ratio = 0.5 : f64, node = 3 : i64, seed = 1 : i64} : tensor<?x10xf32>
  return
}
