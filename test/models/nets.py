# SPDX-License-Identifier: Apache-2.0
"""Tiny ONNX networks for tests, built with the onnx package.

Each function returns a ModelProto with a symbolic batch and seeded weights.
Widths are odd and small (13, 7, 5) so that nothing divides by a worker count.
"""
import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

IR_VERSIONS = {7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8,
               17: 8, 18: 8, 19: 9, 20: 9, 21: 10}


class Builder:
    """Appends nodes and keeps the value that the last one made."""

    def __init__(self, input_shape, opset=13, seed=1, name="net"):
        self.random = np.random.default_rng(seed)
        self.opset, self.name = opset, name
        self.nodes, self.initializers, self.outputs = [], [], []
        self.inputs = [helper.make_tensor_value_info(
            "x", TensorProto.FLOAT, ["N", *input_shape])]
        self.value, self.shape = "x", list(input_shape)

    def parameter(self, name, array):
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, name, *shape):
        scale = np.sqrt(2 / np.prod(shape[1:]))
        return self.parameter(
            name, (self.random.standard_normal(shape) * scale).astype(np.float32))

    def bias(self, name, size):
        return self.parameter(
            name, (self.random.standard_normal(size) * 0.1).astype(np.float32))

    def node(self, op_type, inputs, name, **attributes):
        output = f"{name}_out"
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=name,
                                           **attributes))
        self.value = output
        return self

    def conv(self, name, channels, kernel, bias=True, **attributes):
        groups = attributes.get("group", 1)
        strides = attributes.get("strides", [1, 1])
        pads = attributes.get("pads", [0, 0, 0, 0])
        dilations = attributes.get("dilations", [1, 1])
        inputs = [self.value, self.weight(f"{name}.weight", channels,
                                          self.shape[0] // groups, kernel, kernel)]
        if bias:
            inputs.append(self.bias(f"{name}.bias", channels))
        self.shape = [channels] + [
            (self.shape[1 + a] + pads[a] + pads[a + 2]
             - (kernel - 1) * dilations[a] - 1) // strides[a] + 1 for a in range(2)]
        return self.node("Conv", inputs, name, **attributes)

    def pool(self, name, kind, kernel, stride):
        self.shape[1:] = [(s - kernel) // stride + 1 for s in self.shape[1:]]
        return self.node(kind, [self.value], name, kernel_shape=[kernel] * 2,
                         strides=[stride] * 2)

    def gemm(self, name, width):
        inputs = [self.value, self.weight(f"{name}.weight", width, self.shape[0]),
                  self.bias(f"{name}.bias", width)]
        self.shape = [width]
        return self.node("Gemm", inputs, name, transB=1)

    def matmul_add(self, name, width):
        weight = (self.random.standard_normal((self.shape[0], width))
                  * np.sqrt(2 / self.shape[0])).astype(np.float32)
        self.node("MatMul", [self.value, self.parameter(f"{name}.weight", weight)],
                  f"{name}_matmul")
        self.shape = [width]
        return self.node("Add", [self.value, self.bias(f"{name}.bias", width)], name)

    def relu(self, name):
        return self.node("Relu", [self.value], name)

    def dropout(self, name, ratio):
        if self.opset < 12:
            return self.node("Dropout", [self.value], name, ratio=ratio)
        self.parameter(f"{name}.ratio", np.array(ratio, np.float32))
        return self.node("Dropout", [self.value, f"{name}.ratio"], name)

    def batch_norm(self, name):
        size = self.shape[0]
        scale = (1 + 0.1 * self.random.standard_normal(size)).astype(np.float32)
        inputs = [self.value, self.parameter(f"{name}.weight", scale),
                  self.bias(f"{name}.bias", size),
                  self.parameter(f"{name}.running_mean", np.zeros(size, np.float32)),
                  self.parameter(f"{name}.running_var", np.ones(size, np.float32))]
        return self.node("BatchNormalization", inputs, name, epsilon=1e-5, momentum=0.9)

    def flatten(self, name="flatten"):
        self.shape = [int(np.prod(self.shape))]
        return self.node("Flatten", [self.value], name)

    def global_average_pool(self, name="gap"):
        self.shape[1:] = [1, 1]
        return self.node("GlobalAveragePool", [self.value], name)

    def softmax(self, name="softmax"):
        return self.node("Softmax", [self.value], name, axis=1)

    def output(self, name):
        """Names the current value and makes it an output of the graph."""
        self.nodes[-1].output[0] = name
        self.value = name
        self.outputs.append(helper.make_tensor_value_info(
            name, TensorProto.FLOAT, ["N", *self.shape]))
        return self

    def build(self):
        inputs = list(self.inputs)
        if IR_VERSIONS[self.opset] < 4:  # initializers had to be inputs too
            inputs += [helper.make_tensor_value_info(t.name, t.data_type, t.dims)
                       for t in self.initializers]
        graph = helper.make_graph(self.nodes, self.name, inputs, self.outputs,
                                  self.initializers)
        model = helper.make_model(graph, producer_name="hpcc-tests",
                                  opset_imports=[helper.make_opsetid("", self.opset)],
                                  ir_version=IR_VERSIONS[self.opset])
        checker.check_model(model)
        return model


def three_fc(opset=13, dropout=0.4, classes=5, seed=1):
    """conv-pool-conv-pool trunk with dropout, head 13-7-classes with dropout."""
    b = Builder([2, 10, 10], opset, seed, "three_fc")
    b.conv("conv1", 5, 3, pads=[1, 1, 1, 1]).relu("relu1").pool("pool1", "MaxPool", 2, 2)
    b.conv("conv2", 6, 3).relu("relu2").pool("pool2", "AveragePool", 2, 1)
    if dropout:
        b.dropout("drop0", dropout)
    b.flatten().gemm("fc1", 13).relu("relu3")
    if dropout:
        b.dropout("drop1", dropout)
    b.gemm("fc2", 7).relu("relu4")
    return b.gemm("fc3", classes).output("logits").build()


def mlp(opset=13, widths=(11, 13, 7), classes=5, seed=2):
    """All head; its input needs no gradient."""
    b = Builder([widths[0]], opset, seed, "mlp")
    for i, width in enumerate(widths[1:]):
        b.gemm(f"fc{i}", width).relu(f"relu{i}")
    return b.gemm("last", classes).output("logits").build()


def matmul_net(opset=13, seed=3):
    """MatMul + Add layers, whose initializers are [in, out]; ends in Softmax."""
    b = Builder([2, 6, 6], opset, seed, "matmul_net")
    b.conv("conv", 4, 3).relu("relu1").flatten()
    b.matmul_add("fc1", 9).relu("relu2").matmul_add("fc2", 5)
    return b.softmax().output("probabilities").build()


def no_head(opset=13, seed=4):
    """SqueezeNet's shape: a 1x1 conv and global pooling make the classes."""
    b = Builder([2, 8, 8], opset, seed, "no_head")
    b.conv("conv1", 5, 3).relu("relu1").conv("classes", 5, 1)
    return b.global_average_pool().flatten().output("logits").build()


def auxiliary(opset=13, seed=5):
    """Two outputs: the main head and, half-way, an auxiliary one."""
    b = Builder([2, 8, 8], opset, seed, "auxiliary")
    b.conv("conv1", 4, 3).relu("relu1")
    value, shape = b.value, list(b.shape)
    b.pool("aux_pool", "AveragePool", 3, 3).flatten("aux_flatten")
    b.gemm("aux_fc", 5).output("aux")
    b.value, b.shape = value, shape
    b.conv("conv2", 6, 3).relu("relu2").flatten().gemm("fc1", 7).relu("relu3")
    return b.gemm("fc2", 5).output("logits").build()


def lrn_net(opset=13, size=5, seed=6):
    b = Builder([2, 8, 8], opset, seed, "lrn_net")
    b.conv("conv1", 7, 3).relu("relu1")
    b.node("LRN", [b.value], "lrn", size=size, alpha=0.1, beta=0.75, bias=1.0)
    b.pool("pool", "MaxPool", 3, 2).flatten().gemm("fc1", 9).relu("relu2")
    return b.gemm("fc2", 5).output("logits").build()


def batch_norm_net(opset=15, seed=7):
    b = Builder([2, 8, 8], opset, seed, "batch_norm_net")
    b.conv("conv1", 5, 3, bias=False).batch_norm("bn").relu("relu1")
    b.pool("pool", "MaxPool", 2, 2).flatten().gemm("fc1", 9).relu("relu2")
    return b.gemm("fc2", 5).output("logits").build()


def concat_net(opset=13, seed=8):
    """Two branches joined along the channels, a residual add, odd groups."""
    b = Builder([2, 8, 8], opset, seed, "concat_net")
    b.conv("left", 3, 1).relu("relu_left")
    left = b.value
    b.value, b.shape = "x", [2, 8, 8]
    b.conv("right", 3, 3, pads=[1, 1, 1, 1]).relu("relu_right")
    b.node("Concat", [left, b.value], "concat", axis=1)
    b.shape = [6, 8, 8]
    joined = b.value
    b.conv("grouped", 6, 3, pads=[1, 1, 1, 1], group=3)
    b.node("Add", [joined, b.value], "residual").relu("relu_joined")
    b.pool("pool", "MaxPool", 2, 2).flatten().gemm("fc1", 9).relu("relu_fc")
    return b.gemm("fc2", 5).output("logits").build()


def one_layer(inputs, outputs, weight, bias, seed=9):
    """x -> Gemm with given values: for arithmetic done by hand."""
    b = Builder([inputs], 13, seed, "one_layer")
    b.parameter("w", np.asarray(weight, np.float32))
    names = [b.value, "w"]
    if bias is not None:
        names.append(b.parameter("b", np.asarray(bias, np.float32)))
    b.shape = [outputs]
    return b.node("Gemm", names, "fc", transB=1).output("y").build()


ALL = {function.__name__: function for function in (
    three_fc, mlp, matmul_net, no_head, auxiliary, lrn_net, batch_norm_net, concat_net)}


def random_batch(model, count, classes=5, seed=0):
    """Inputs of the model's shape and labels, seeded."""
    random = np.random.default_rng(seed)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim][1:]
    return (random.standard_normal((count, *shape)).astype(np.float32),
            random.integers(0, classes, count).astype(np.int32))
