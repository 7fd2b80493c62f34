// SPDX-License-Identifier: Apache-2.0
// Passes of the bufferize room.

def BufferizeLowerLibrary : Pass<"hpcc-bufferize-lower-library"> {
  let summary = "Turn library ops into nn.primitive";
  let description = [{
    Asks every op whose `LoweringOpInterface::isLibraryOp` holds to lower
    itself. Afterwards nn holds only its structural ops and `nn.primitive`.
  }];
  let dependentDialects = ["::hpcc::nn::NNDialect"];
}

def BufferizePlaceResults : Pass<"hpcc-bufferize-place-results"> {
  let summary = "Compute what is inserted into a tensor where it will lie";
  let description = [{
    A result whose only use is to be inserted into a larger tensor, reshaped or
    not, is computed into that place instead of a `tensor.empty`: gradients
    land in their bucket without a copy. The larger tensor must exist where the
    result is computed; of an op with several such results only one is placed,
    since the others are inserted into a tensor that comes after it.

    Does what `eliminate-empty-tensors` does not: see through `collapse_shape`.

    ```mlir
    %e = tensor.empty() : tensor<4x9xf32>
    %dw = nn.primitive "linear_backward_weights" ins(...) outs(%e : tensor<4x9xf32>) {} -> tensor<4x9xf32>
    %flat = tensor.collapse_shape %dw [[0, 1]] : tensor<4x9xf32> into tensor<36xf32>
    %new = tensor.insert_slice %flat into %bucket[0] [36] [1] : tensor<36xf32> into tensor<48xf32>
    ```
    becomes
    ```mlir
    %place = tensor.extract_slice %bucket[0] [36] [1] : tensor<48xf32> to tensor<36xf32>
    %e = tensor.expand_shape %place [[0, 1]] output_shape [4, 9] : tensor<36xf32> into tensor<4x9xf32>
    %dw = nn.primitive "linear_backward_weights" ins(...) outs(%e : tensor<4x9xf32>) {} -> tensor<4x9xf32>
    ...
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def BufferizeWrapFunctions : Pass<"hpcc-bufferize-wrap-functions"> {
  let summary = "Give public functions a signature of buffers";
  let description = [{
    A public function on tensors gets memref arguments, in this order: the
    context (`nn.arg` kind "context"), its own arguments, and one of kind
    "result" for every result that does not alias an argument. It returns
    nothing. A result whose `nn.result` names an `arg` is written into that
    argument, which is the only reason to write to one. The body stays on
    tensors: `to_tensor` at entry, `materialize_in_destination` at the end, so
    that bufferization updates state in place.

    ```mlir
    func.func @train_step(%w: tensor<4xf32> {nn.arg = {kind = "value", name = "w"}})
        -> (tensor<4xf32> {nn.result = {kind = "value", arg = 0}}, tensor<f32> {nn.result = {kind = "loss"}})
    ```
    becomes
    ```mlir
    func.func @train_step(%ctx: !llvm.ptr {nn.arg = {kind = "context"}}, %w: memref<4xf32> {nn.arg = {kind = "value", name = "w"}},
        %loss: memref<f32> {nn.arg = {kind = "result", name = "loss"}}) attributes {llvm.emit_c_interface}
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def BufferizeResolveCopies : Pass<"hpcc-bufferize-resolve-copies"> {
  let summary = "Reject copies of parameters, make other copies kernels";
  let description = [{
    Bufferization copies where a value is used after it was overwritten. A
    copy from or to an argument that holds parameters or optimizer state means
    that an update does not happen in place: an error that names the op. Other
    copies (an output that is also an input, parts of a concatenation) become
    `linalg.copy`.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def BufferizeResolveDimensions : Pass<"hpcc-bufferize-resolve-dimensions"> {
  let summary = "Compute extents of arguments instead of asking buffers";
  let description = [{
    The extent of a dynamic dimension of an argument becomes the op that
    computes it, whose maximum is known: `nn.examples` for the rows of this
    worker's batch, `nn.shard` for the rows of a head parameter. A function
    without the step's number of examples (inference) takes it from its first
    input.
  }];
  let dependentDialects = ["::hpcc::nn::NNDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}

def BufferizePackBuffers : Pass<"hpcc-bufferize-pack-buffers"> {
  let summary = "Give library ops dense buffers";
  let description = [{
    A library op works on a pointer and a shape. Where it would read or write a
    strided view (a part of a concatenation), it gets a buffer of its own,
    copied before or after.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect"];
}
