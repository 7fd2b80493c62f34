// RUN: hpcc-opt %s --hpcc-layout-block-images=block=16 2>/dev/null | FileCheck %s
// RUN: hpcc-opt %s --hpcc-layout-block-images=block=16 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: hpcc-opt %s --hpcc-layout-block-images | FileCheck %s --check-prefix=NONE --implicit-check-not=nn.reorder --implicit-check-not=nn.layouts

// A chain stays blocked: the first convolution reads its three channels as
// they are, relu takes the layout over, and the only reorder is in front of
// the flattening.
// REMARK: 1 reorders of images remain in @chain
// CHECK-LABEL: func.func @chain
// NONE-LABEL: func.func @chain
func.func @chain(%x: tensor<?x3x8x8xf32>, %w: tensor<32x3x3x3xf32>) -> tensor<?x512xf32> {
  // CHECK: %[[C:.*]] = nn.conv %{{.*}} {{.*}}nn.layouts = ["", "", "nChw16c"]{{.*}} -> tensor<?x2x8x8x16xf32>
  %c = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<32x3x3x3xf32>) -> tensor<?x32x8x8xf32>
  // CHECK: %[[R:.*]] = nn.relu %[[C]] : tensor<?x2x8x8x16xf32>
  %r = nn.relu %c : tensor<?x32x8x8xf32>
  // CHECK: %[[P:.*]], %{{.*}} = nn.max_pool %[[R]] {{.*}}nn.layouts = ["nChw16c", "nChw16c", "nChw16c"]{{.*}} -> (tensor<?x2x4x4x16xf32>, tensor<?x2x4x4x16xi8>)
  %p, %i = nn.max_pool %r {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<?x32x8x8xf32>) -> (tensor<?x32x4x4xf32>, tensor<?x32x4x4xi8>)
  // CHECK: %[[F:.*]] = nn.reorder %[[P]] {from = "nChw16c", to = "nchw"} : tensor<?x2x4x4x16xf32> to tensor<?x32x4x4xf32>
  // CHECK: nn.reshape %[[F]]
  %f = nn.reshape %p : tensor<?x32x4x4xf32> to tensor<?x512xf32>
  return %f : tensor<?x512xf32>
}

// Six channels do not fill a block.
// CHECK-LABEL: func.func @odd_channels_stay_plain
// CHECK-NOT: nn.reorder
// CHECK-NOT: nn.layouts
// CHECK: return
func.func @odd_channels_stay_plain(%x: tensor<?x1x8x8xf32>, %w: tensor<6x1x3x3xf32>) -> tensor<?x6x6x6xf32> {
  %c = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64} : (tensor<?x1x8x8xf32>, tensor<6x1x3x3xf32>) -> tensor<?x6x6x6xf32>
  return %c : tensor<?x6x6x6xf32>
}
