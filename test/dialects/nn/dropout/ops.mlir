// RUN: hpcc-opt %s --verify-roundtrip -o /dev/null

func.func @dropout(%x: tensor<?x10xf32>, %p: tensor<?xi32>, %step: i64, %offset: index) {
  %0 = nn.dropout %x {ratio = 0.5 : f64} : tensor<?x10xf32>
  %1 = nn.dropout_train %x positions(%p : tensor<?xi32>) step(%step) {ratio = 0.5 : f64, node = 3 : i64, seed = 1 : i64} : tensor<?x10xf32>
  %2 = nn.dropout_train %x positions(%p : tensor<?xi32>) step(%step) offset(%offset) {ratio = 0.5 : f64, node = 3 : i64, seed = 1 : i64, features = 30 : i64} : tensor<?x10xf32>
  return
}
