// SPDX-License-Identifier: Apache-2.0
// Passes of the comm room: from one program for all to a program per worker.

def HpccCommScaleRates : Pass<"hpcc-comm-scale-rates", "::mlir::ModuleOp"> {
  let summary = "Scale learning rates with the batch each part updates on";
  let description = [{
    Multiplies `lr_mult` of every optimizer update of @train_step by size /
    base_batch (`linear`), its square root (`sqrt`) or 1 (`none`). The size is
    nominal: the batch B for the trunk and for an accumulating head, B/P for a
    head that updates every pass, N*B/P for one that updates every N passes.
  }];
}

def HpccCommExpandHead : Pass<"hpcc-comm-expand-head", "::mlir::ModuleOp"> {
  let summary = "Turn nn.head into a loop of passes over per-worker shards";
  let description = [{
    Precondition: the `partitioned` phase. Each nn.head becomes a loop over
    the passes of its scheme. Parameters of the head and their state get this
    worker's range of dimension 0; ops take per-worker form through
    PartitionableOpInterface; activations come in and gradients go back by
    all-gather and reduce-scatter (c), broadcast and reduce (b), or once for
    all passes (a). Updates happen after each pass, group of passes, or all.
    With one worker there are the same passes and no collective.

    Collectives are synchronous here; `hpcc-schedule-split-collectives`
    overlaps those of channel `background`.
  }];
  let dependentDialects = ["::hpcc::nn::NNDialect", "::hpcc::comm::CommDialect",
                           "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::linalg::LinalgDialect"];
}

def HpccCommFormBuckets : Pass<"hpcc-comm-form-buckets", "::mlir::ModuleOp"> {
  let summary = "Lay the trunk's parameters out in buckets and synchronise them";
  let description = [{
    Trainable parameters of the trunk become ranges of flat buckets of at most
    16 tensors, in the order in which their gradients are complete; a bucket
    holds parameters with equal decay and rate. Each worker updates its 1/K of
    a bucket, whose optimizer state exists only there: gradients are
    reduce-scattered as soon as the bucket is complete, values all-gathered
    after the update. Partial losses, counts and running statistics are
    all-reduced. All storage arguments get their `split` and `segments`.
  }];
  let options = [Option<"maxTensors", "max-tensors", "int64_t", "16",
                        "Tensors in one bucket (bufferization is cubic in it)">];
  let dependentDialects = ["::hpcc::nn::NNDialect", "::hpcc::comm::CommDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::linalg::LinalgDialect"];
}
