// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @axis(%x: tensor<?x10xf32>) {
  // expected-error @+1 {{`axis` must be one of the 2 dimensions, got 2}}
  %0 = nn.softmax %x {axis = 2 : i64} : tensor<?x10xf32>
  return
}

// -----

func.func @batch(%x: tensor<?x10xf32>) {
  // expected-error @+1 {{`axis` must not be the batch}}
  %0 = nn.log_softmax %x {axis = 0 : i64} : tensor<?x10xf32>
  return
}
