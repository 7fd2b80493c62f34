// RUN: hpcc-opt %s --verify-roundtrip -o /dev/null

func.func @losses(%x: tensor<?x10xf32>, %t: tensor<?xi32>, %f: tensor<?x10xf32>, %n: index, %offset: index) {
  %0, %1 = nn.softmax_loss %x target(%t : tensor<?xi32>) examples(%n) {weight = 1.0 : f64} : tensor<?x10xf32> -> tensor<f32>, tensor<?x10xf32>
  %2, %3 = nn.logistic_loss %x target(%t : tensor<?xi32>) examples(%n) offset(%offset) {weight = 1.0 : f64, classes = 30 : i64} : tensor<?x10xf32> -> tensor<f32>, tensor<?x10xf32>
  %4, %5 = nn.logistic_loss %x target(%f : tensor<?x10xf32>) examples(%n) {weight = 1.0 : f64} : tensor<?x10xf32> -> tensor<f32>, tensor<?x10xf32>
  %6, %7 = nn.mse_loss %x target(%f : tensor<?x10xf32>) examples(%n) {weight = 0.5 : f64} : tensor<?x10xf32> -> tensor<f32>, tensor<?x10xf32>
  return
}

func.func @pieces(%x: tensor<?x10xf32>, %t: tensor<?xi32>, %n: index, %offset: index) {
  %0 = nn.row_max %x : (tensor<?x10xf32>) -> tensor<?xf32>
  %1 = nn.softmax_terms %x, %0, %t offset(%offset) : tensor<?x10xf32>, tensor<?xf32>, tensor<?xi32> -> tensor<2x?xf32>
  %2, %3 = nn.softmax_finish %x, %0, %1, %t examples(%n) offset(%offset) {weight = 1.0 : f64} : tensor<?x10xf32>, tensor<?xf32>, tensor<2x?xf32>, tensor<?xi32> -> tensor<f32>, tensor<?x10xf32>
  %4 = nn.classification_counts %x, %t : (tensor<?x10xf32>, tensor<?xi32>) -> tensor<2xf32>
  %5 = nn.target_value %x, %t offset(%offset) : tensor<?x10xf32>, tensor<?xi32> -> tensor<?xf32>
  %6 = nn.count_better %x, %t, %5 : tensor<?x10xf32>, tensor<?xi32>, tensor<?xf32> -> tensor<?xf32>
  %7 = nn.hits %6 : (tensor<?xf32>) -> tensor<2xf32>
  return
}
