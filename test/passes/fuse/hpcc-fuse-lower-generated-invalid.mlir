// RUN: hpcc-opt %s --split-input-file --hpcc-fuse-lower-generated --verify-diagnostics

func.func @pad_of_integers(%x: tensor<?x4xi32>) -> tensor<?x5xi32> {
  // expected-error @+1 {{has a lowering for floats only, got 'tensor<?x4xi32>'}}
  %0 = nn.pad %x {pads = array<i64: 0, 0, 0, 1>, value = 0.0 : f64} : tensor<?x4xi32> to tensor<?x5xi32>
  return %0 : tensor<?x5xi32>
}
