// RUN: hpcc-opt %s --hpcc-bufferize-wrap-functions | FileCheck %s

// State comes back through its own argument, everything else through a new one.
// CHECK-LABEL: func.func @state_is_written_in_place(
// CHECK-SAME: %[[CTX:[^:]*]]: !llvm.ptr {nn.arg = {kind = "context"}}
// CHECK-SAME: %[[W:[^:]*]]: memref<4xf32> {nn.arg = {kind = "value", name = "w"}}
// CHECK-SAME: %[[LOSS:[^:]*]]: memref<f32> {nn.arg = {kind = "result", name = "loss", of = "loss"}}
// CHECK-SAME: attributes {llvm.emit_c_interface}
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[W]] restrict writable
// CHECK: %[[NEW:.*]] = tensor.insert %{{.*}} into %[[T]]
// CHECK-DAG: bufferization.materialize_in_destination %[[NEW]] in restrict writable %[[W]]
// CHECK-DAG: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[LOSS]]
// CHECK: return{{$}}
func.func @state_is_written_in_place(%w: tensor<4xf32> {nn.arg = {kind = "value", name = "w"}})
    -> (tensor<f32> {nn.result = {kind = "loss"}}, tensor<4xf32> {nn.result = {kind = "value", arg = 0}}) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %loss = arith.constant dense<0.0> : tensor<f32>
  %new = tensor.insert %one into %w[%c0] : tensor<4xf32>
  return %loss, %new : tensor<f32>, tensor<4xf32>
}

// An argument that no result aliases must not be written.
// CHECK-LABEL: func.func @inputs_are_read_only(
// CHECK: bufferization.to_tensor %{{.*}} restrict :
func.func @inputs_are_read_only(%x: tensor<?xf32> {nn.arg = {kind = "input", name = "x"}})
    -> (tensor<?xf32> {nn.name = "y"}) {
  return %x : tensor<?xf32>
}

// The name of an output that import recorded.
// CHECK-LABEL: func.func @outputs_keep_their_name(
// CHECK-SAME: nn.arg = {kind = "result", name = "logits", of = "output"}
func.func @outputs_keep_their_name(%x: tensor<?xf32> {nn.arg = {kind = "input", name = "x"}})
    -> (tensor<?xf32> {nn.name = "logits"}) {
  return %x : tensor<?xf32>
}

// CHECK-LABEL: func.func private @private_functions_are_left_alone(
// CHECK-SAME: tensor<4xf32>
func.func private @private_functions_are_left_alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @functions_without_tensors_are_left_alone(%{{.*}}: index)
func.func @functions_without_tensors_are_left_alone(%n: index) {
  return
}
