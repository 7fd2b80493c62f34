// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @labels(%x: tensor<?x10xf32>, %t: tensor<?xi64>, %n: index) {
  // expected-error @+1 {{expects class indices as i32, got 'tensor<?xi64>'}}
  %0, %1 = nn.softmax_loss %x target(%t : tensor<?xi64>) examples(%n) {weight = 1.0 : f64} : tensor<?x10xf32> -> tensor<f32>, tensor<?x10xf32>
  return
}

// -----

func.func @whole_rows(%x: tensor<?x10xf32>, %t: tensor<?xi32>, %n: index) {
  // expected-error @+1 {{is of whole rows; a shard of the classes goes through nn.softmax_terms}}
  %0, %1 = nn.softmax_loss %x target(%t : tensor<?xi32>) examples(%n) offset(%n) {weight = 1.0 : f64} : tensor<?x10xf32> -> tensor<f32>, tensor<?x10xf32>
  return
}

// -----

func.func @shard(%x: tensor<?x10xf32>, %t: tensor<?xi32>, %n: index) {
  // expected-error @+1 {{a shard must say of how many `classes` it is}}
  %0, %1 = nn.logistic_loss %x target(%t : tensor<?xi32>) examples(%n) offset(%n) {weight = 1.0 : f64} : tensor<?x10xf32> -> tensor<f32>, tensor<?x10xf32>
  return
}

// -----

func.func @target(%x: tensor<?x10xf32>, %t: tensor<?x9xf32>, %n: index) {
  // expected-error @+1 {{target must have shape ?x10, got ?x9}}
  %0, %1 = nn.mse_loss %x target(%t : tensor<?x9xf32>) examples(%n) {weight = 1.0 : f64} : tensor<?x10xf32> -> tensor<f32>, tensor<?x10xf32>
  return
}

// -----

func.func @gradient(%x: tensor<?x10xf32>, %t: tensor<?x10xf32>, %n: index) {
  // expected-error @+1 {{gradient must have the type of x, 'tensor<?x10xf32>', got 'tensor<?x9xf32>'}}
  %0, %1 = nn.mse_loss %x target(%t : tensor<?x10xf32>) examples(%n) {weight = 1.0 : f64} : tensor<?x10xf32> -> tensor<f32>, tensor<?x9xf32>
  return
}

// -----

func.func @rank(%x: tensor<?x10x1xf32>, %t: tensor<?xi32>) {
  // expected-error @+1 {{x must have rank 2, got 'tensor<?x10x1xf32>'}}
  %0 = nn.classification_counts %x, %t : (tensor<?x10x1xf32>, tensor<?xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @counts(%x: tensor<?x10xf32>, %t: tensor<?xi32>) {
  // expected-error @+1 {{counts must have shape 2, got 3}}
  %0 = nn.classification_counts %x, %t : (tensor<?x10xf32>, tensor<?xi32>) -> tensor<3xf32>
  return
}
