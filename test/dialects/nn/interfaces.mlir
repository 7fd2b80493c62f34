// Every op has each interface or opts out of it; the walk sees all ops.
// RUN: hpcc-opt %s "--hpcc-test-op-interfaces=markdown" -o /dev/null | FileCheck %s
module {}

// CHECK: | op | gradient | on shards | lowering | cost |
// CHECK: | `nn.add` | yes | yes | yes | yes |
// CHECK: | `nn.conv_backward_data` | - | yes | yes | yes |
// CHECK: | `nn.head` | - | - | - | - |
// CHECK: | `nn.tanh_backward` | - | yes | yes | yes |
