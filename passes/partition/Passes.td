// SPDX-License-Identifier: Apache-2.0
// Passes of the partition room: which layer runs how.

def HpccPartitionPlaceLayers
    : Pass<"hpcc-partition-place-layers", "::mlir::ModuleOp"> {
  let summary = "Decide for each op of a step: data parallel trunk or model parallel head";
  let description = [{
    Precondition: the `training` phase. A *head FC* is a fully-connected layer
    that reaches the loss and from which no path meets a spatial op or a layer
    that `place` keeps in the trunk. The head is the head FCs, every op
    reachable from them, and the loss; also their gradients and updates. All
    else is trunk (Krizhevsky 2014; docs: architecture, section 1).

    Postcondition: every op of @train_step and @eval_step carries
    `nn.placement`: `data` (trunk) or `model` (head). A remark states each
    decision about a layer. With scheme `data`, or no head FC, all is `data`.

    Does not move anything; see `hpcc-partition-form-head`.
  }];
}

def HpccPartitionFormHead
    : Pass<"hpcc-partition-form-head", "::mlir::ModuleOp"> {
  let summary = "Group the ops of the head into one nn.head region";
  let description = [{
    Precondition: ops carry `nn.placement`. Postcondition: the `model` ops of
    a function are the body of one `nn.head`. Values with a row per example
    that cross into the head are its `rows`; parameters that it updates, and
    their state, its `carry`; scalars and frozen parameters are captured. Out
    come sums (losses, counts), gradients of rows, and the carry.

    Does not make passes or communication; see `hpcc-comm-expand-head`.
  }];
  let dependentDialects = ["::hpcc::nn::NNDialect"];
}
