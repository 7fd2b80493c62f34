// RUN: hpcc-opt %s --verify-roundtrip -o /dev/null

func.func @softmax(%x: tensor<?x10xf32>) {
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<?x10xf32>
  %1 = nn.softmax_backward %x, %0 {axis = 1 : i64} : tensor<?x10xf32>
  %2 = nn.log_softmax %x {axis = 1 : i64} : tensor<?x10xf32>
  %3 = nn.log_softmax_backward %x, %2 {axis = 1 : i64} : tensor<?x10xf32>
  return
}
