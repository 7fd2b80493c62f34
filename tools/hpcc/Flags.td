// SPDX-License-Identifier: Apache-2.0
// The flags of hpcc, grouped as `--help` shows them. Only flags that do
// something are here. Meaning and defaults: docs/CommandLine.md.
include "llvm/Option/OptParser.td"

class Help<string title> : OptionGroup<title> {
  let HelpText = title;
}
def devices : Help<"Devices">;
def method : Help<"Method">;
def learning : Help<"Learning">;
def weights : Help<"Weights">;
def data_group : Help<"Data">;
def results : Help<"Results">;
def inspect : Help<"Inspection">;
def one_offs : Help<"One-offs">;
def general : Help<"General">;

class Plain<string name, OptionGroup group, string help>
    : Option<["--"], name, KIND_FLAG>, Group<group>, HelpText<help>;
// `--name VALUE` and `--name=VALUE`.
multiclass Value<string name, string meta, OptionGroup group, string help> {
  def NAME : Option<["--"], name, KIND_SEPARATE>, Group<group>,
             MetaVarName<meta>, HelpText<help>;
  def NAME # _eq : Option<["--"], name # "=", KIND_JOINED>, Group<group>,
                   Alias<!cast<Option>(NAME)>;
}

defm gpus : Value<"gpus", "N", devices, "Compile for N GPU workers">;
defm cpus : Value<"cpus", "N", devices, "Compile for and run N CPU workers [1]">;
defm threads : Value<"threads", "N", devices, "Threads per worker [cores / workers]">;

defm scheme : Value<"scheme", "a|b|c|data", method,
  "How the head is parallelised [c with several workers and a head, else data]">;
defm batch : Value<"batch", "B", method, "Examples per step over all workers [128]">;
defm fc_batch : Value<"fc-batch", "f", method, "Examples per pass of the head">;
defm fc_update : Value<"fc-update", "every|accumulate|N", method,
  "When the head is updated [a: accumulate, b and c: every]">;
defm place : Value<"place", "PATTERN=data", method,
  "Move head layers whose node names match to the trunk (may repeat)">;
defm batchnorm : Value<"batchnorm", "local", method,
  "Batch norm in the trunk normalises per worker [local]">;
defm bn_variance : Value<"bn-variance", "pytorch|onnx", method,
  "Running variance: unbiased or population [pytorch]">;
defm precision : Value<"precision", "fp32", method, "Arithmetic [fp32]">;

defm loss : Value<"loss", "softmax|logistic|mse", learning, "Loss [softmax]">;
defm loss_output : Value<"loss-output", "NAME[=W],...", learning,
  "Graph outputs that the loss is taken of, with weights [the first output]">;
defm optimizer : Value<"optimizer", "sgd", learning, "Optimizer [sgd]">;
defm lr : Value<"lr", "X", learning, "Learning rate for --base-batch examples [0.01]">;
defm momentum : Value<"momentum", "X", learning, "Momentum [0.9]">;
defm momentum_form : Value<"momentum-form", "pytorch|caffe", learning,
  "Rate outside or inside the momentum [pytorch]">;
def nesterov : Plain<"nesterov", learning, "Nesterov momentum">;
defm weight_decay : Value<"weight-decay", "X", learning, "Weight decay [0]">;
defm no_decay : Value<"no-decay", "ROLES", learning,
  "Roles without weight decay: bias, norm, or both">;
defm lr_schedule : Value<"lr-schedule", "SCHEDULE", learning,
  "constant | step:LEN:GAMMA | drops:P,...:GAMMA | cosine[:FLOOR], after warmup:LEN+ [constant]">;
defm lr_scaling : Value<"lr-scaling", "none|linear|sqrt", learning,
  "Scale the rate by batch size over --base-batch [none]">;
defm base_batch : Value<"base-batch", "N", learning, "Batch that --lr is for [128]">;
defm seed : Value<"seed", "N", learning, "Seed of data order, dropout and initial values [0]">;
def deterministic : Plain<"deterministic", learning,
  "Repeat to the bit on as many workers (CPU workers always do)">;
defm recipe : Value<"recipe", "FILE", learning,
  "Read flags from FILE, one a line, # comments; the command line wins">;

defm classes : Value<"classes", "N", weights,
  "Replace the last fully-connected layer by a fresh one of N classes">;
defm reinit : Value<"reinit", "PATTERN|all", weights,
  "Initialise the parameters whose names match (may repeat)">;
defm freeze : Value<"freeze", "PATTERN", weights,
  "Do not train the parameters whose names match (may repeat)">;

defm data : Value<"data", "SPEC", data_group,
  "Train on FILE.npz, an IDX directory or synthetic:CxHxW[:N], each with a range [i:j]">;
defm val : Value<"val", "SPEC", data_group, "Evaluate on SPEC after each epoch">;
defm epochs : Value<"epochs", "N", data_group, "Epochs to train [1]">;
defm steps : Value<"steps", "N", data_group, "Steps to train, instead of epochs">;
def no_shuffle : Plain<"no-shuffle", data_group, "Keep the examples' order">;
defm mean : Value<"mean", "X,...", data_group, "Subtracted from inputs, one or per channel">;
defm std : Value<"std", "X,...", data_group, "Inputs are divided by it, one or per channel">;

defm export : Value<"export", "FILE.onnx", results, "Write the trained network">;
defm checkpoint : Value<"checkpoint", "DIR", results, "Keep checkpoints in DIR">;
defm save_every : Value<"save-every", "N", results, "Steps between checkpoints [an epoch]">;
defm resume : Value<"resume", "DIR", results, "Continue from the checkpoint in DIR">;
defm log : Value<"log", "FILE.jsonl", results, "Write a line of JSON per step">;
defm eval : Value<"eval", "SPEC", results, "Evaluate on SPEC at the end, or alone without --data">;

defm emit : Value<"emit", "PHASE", inspect, "Print the IR of a phase and stop">;
defm dump_ir : Value<"dump-ir", "DIR", inspect, "Write the IR after each pass to DIR">;
defm from : Value<"from", "PHASE", inspect, "The input is printed IR of this phase">;
def verify_comm : Plain<"verify-comm", inspect,
  "Compare the bytes each worker receives with the ledger after every step">;

defm infer : Value<"infer", "IN.npz", one_offs, "Run the network on the arrays of IN.npz">;
defm output : Value<"output", "OUT.npz", one_offs, "Where --infer writes the outputs">;
defm dump_gradients : Value<"dump-gradients", "FILE.npz", one_offs,
  "Write the gradients of the first batch">;

def help : Plain<"help", general, "Show this">;
def version : Plain<"version", general, "Show the version">;
