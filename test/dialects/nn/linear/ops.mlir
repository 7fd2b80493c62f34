// RUN: hpcc-opt %s --verify-roundtrip -o /dev/null

func.func @linear(%x: tensor<?x84xf32>, %w: tensor<10x84xf32>, %b: tensor<10xf32>, %dy: tensor<?x10xf32>) {
  %0 = nn.linear %x, %w : (tensor<?x84xf32>, tensor<10x84xf32>) -> tensor<?x10xf32>
  %1 = nn.linear %x, %w, %b : (tensor<?x84xf32>, tensor<10x84xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  %2 = nn.linear_backward_data %dy, %w : (tensor<?x10xf32>, tensor<10x84xf32>) -> tensor<?x84xf32>
  %3, %4 = nn.linear_backward_weights %x, %dy : (tensor<?x84xf32>, tensor<?x10xf32>) -> (tensor<10x84xf32>, tensor<10xf32>)
  return
}

func.func @per_token(%x: tensor<?x7x84xf32>, %w: tensor<10x84xf32>) -> tensor<?x7x10xf32> {
  %0 = nn.linear %x, %w : (tensor<?x7x84xf32>, tensor<10x84xf32>) -> tensor<?x7x10xf32>
  return %0 : tensor<?x7x10xf32>
}

func.func @shard(%x: tensor<?x84xf32>, %w: tensor<?x84xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = nn.linear %x, %w, %b : (tensor<?x84xf32>, tensor<?x84xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
