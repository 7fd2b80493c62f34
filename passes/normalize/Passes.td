// SPDX-License-Identifier: Apache-2.0
// Passes of the normalize room: one form for each kind of layer.

def HpccNormalizeFoldBias
    : Pass<"hpcc-normalize-fold-bias", "::mlir::ModuleOp"> {
  let summary = "Turn the addition of a parameter behind a layer into its bias";
  let description = [{
    Precondition: the `import` phase. An `nn.add` of a parameter that has one
    element per output unit (per channel of a convolution), to an `nn.linear`
    or `nn.conv` without bias and without other users, becomes the layer's
    bias. A parameter of higher rank, [1, O] say, is reshaped to [O]; see
    `hpcc-normalize-fold-parameter-shapes`, which removes that again. The
    layer's location is then that of both nodes.

    ```mlir
    %0 = nn.linear %x, %w : (tensor<?x5xf32>, tensor<3x5xf32>) -> tensor<?x3xf32>
    %1 = nn.add %0, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    // becomes
    %0 = nn.linear %x, %w, %b : (tensor<?x5xf32>, tensor<3x5xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    ```

    Does not fold constants, which are not trained, nor a bias that is added
    to several layers or broadcast over units.
  }];
  let dependentDialects = ["::hpcc::nn::NNDialect"];
}

def HpccNormalizeFoldParameterShapes
    : Pass<"hpcc-normalize-fold-parameter-shapes", "::mlir::ModuleOp"> {
  let summary = "Let parameters have the shape in which they are used";
  let description = [{
    Where every use of a parameter is the same `nn.reshape`, or the same
    transpose of a matrix, the parameter takes that shape (`transposed` then
    says how its value lies in the file). So MatMul's [in, out] weights become
    [out, in] once, at load, not in every step; their shards are rows.

    A parameter with different uses keeps its shape and its uses their ops:
    tied weights stay one parameter whose gradients are added. A reshape
    behind a transposition stays too, since `transposed` cannot state it.
  }];
  let dependentDialects = ["::hpcc::nn::NNDialect"];
}
