// SPDX-License-Identifier: Apache-2.0
// Passes of the training room: from a network to its training step.

def HpccTrainingAttachLoss : Pass<"hpcc-training-attach-loss", "::mlir::ModuleOp"> {
  let summary = "Make step functions of @forward: loss, metrics, training forms";
  let description = [{
    Precondition: the `normalized` phase, a @forward that reads its parameters
    by `nn.load`. Postcondition: @train_step and @gradients return the loss,
    @eval_step the loss and the top-1 and top-5 hits; in all functions
    parameters are arguments (`nn.arg`). The loss is that of the outputs that
    `loss_outputs` names, else of the first one. For `softmax` and `logistic`
    predictions [N, C, 1, ..., 1] become [N, C], and a trailing softmax
    (`softmax`) or sigmoid (`logistic`) is part of the loss.

    In @train_step and @gradients `nn.dropout` becomes `nn.dropout_train`, and
    `nn.batch_norm` becomes `nn.batch_norm_train` with, in @train_step, updates
    of its running statistics.

    Does not make gradients; see `hpcc-training-differentiate`.
  }];
  let dependentDialects = ["::hpcc::nn::NNDialect", "::mlir::arith::ArithDialect"];
}

def HpccTrainingDifferentiate : Pass<"hpcc-training-differentiate", "::mlir::ModuleOp"> {
  let summary = "Add the gradients of the trainable parameters by reverse mode";
  let description = [{
    Precondition: @train_step and @gradients hold losses (ops that give
    d loss / d operand 0 as a result). Postcondition: they also return the
    gradient of each parameter that is trainable, not frozen, and reached.
    Only gradients on a path to such a parameter are built, each by the VJP of
    its op (DifferentiableOpInterface). Several gradients of one value are
    added. Gradient ops carry their op's `nn.node` and its location within
    "grad".

    All ops on such a path that have no rule are reported together.
  }];
  let dependentDialects = ["::hpcc::nn::NNDialect", "::mlir::arith::ArithDialect"];
}

def HpccTrainingUpdateParameters
    : Pass<"hpcc-training-update-parameters", "::mlir::ModuleOp"> {
  let summary = "Turn the gradients of @train_step into optimizer updates";
  let description = [{
    Precondition: @train_step returns gradients (`nn.result` of kind
    "gradient"). Postcondition: it returns the updated values and states
    instead, each aliasing its argument; updates are its last ops. A parameter
    whose role `no_decay` names ("bias"; "norm" for scale and bias of
    normalisations) has decay 0. State exists only with momentum.
  }];
  let dependentDialects = ["::hpcc::nn::NNDialect"];
}
