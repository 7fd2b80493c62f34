// SPDX-License-Identifier: Apache-2.0
// Passes of the layout room: physical layouts of images.

def HpccLayoutBlockImages
    : Pass<"hpcc-layout-block-images", "::mlir::ModuleOp"> {
  let summary = "Keep images in blocked layouts between library ops";
  let description = [{
    An image `tensor<?xCxHxWxf32>` whose channels divide by the target's block
    b becomes `tensor<?xC/bxHxWxbxf32>` (nChw<b>c): the layout is in the shape,
    since tensor encodings do not survive bufferization. Library ops with
    images get `nn.layouts`, one entry per operand, then result ("" is
    row-major). An `nn.reorder` stands where a value is needed the other way;
    pointwise ops take over the layout of their operands, and reorders that
    undo each other cancel. A remark counts those that stay.

    Does nothing for a target without blocks (block 0). Weights keep the
    file's layout.
  }];
  let options = [Option<"block", "block", "int64_t", "0",
                        "Channels in a block; 0 keeps row-major images">];
  let dependentDialects = ["::hpcc::nn::NNDialect"];
}
