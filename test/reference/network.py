# SPDX-License-Identifier: Apache-2.0
"""A small ONNX graph as a list of nodes, with evaluation and reverse mode."""
import dataclasses
import fnmatch
import pathlib

import numpy as np
import onnx
from onnx import numpy_helper

import reference.layers as layers

POOLS = {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"}


@dataclasses.dataclass
class Node:
    ordinal: int
    name: str
    op_type: str
    inputs: list
    outputs: list
    attributes: dict

    def attribute(self, name, default=None):
        return self.attributes.get(name, default)


@dataclasses.dataclass
class Context:
    """What an operator needs beside its inputs."""
    opset: int
    training: bool = False
    positions: np.ndarray | None = None
    segments: list | None = None
    step: int = 0
    seed: int = 0
    bn_variance: str = "pytorch"
    running: dict = dataclasses.field(default_factory=dict)


class Network:
    """The graph; `values` maps initializer names to arrays in file layout."""

    def __init__(self, model, dtype=np.float64):
        if isinstance(model, (str, pathlib.Path)):
            model = onnx.load(model)
        self.dtype = np.dtype(dtype)
        self.opset = max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
        self.values = {t.name: self._cast(numpy_helper.to_array(t))
                       for t in model.graph.initializer}
        self.nodes = []
        for ordinal, proto in enumerate(model.graph.node):
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute}
            attributes = {k: v.decode() if isinstance(v, bytes) else v
                          for k, v in attributes.items()}
            if proto.op_type == "Constant":
                self.values[proto.output[0]] = self._cast(
                    numpy_helper.to_array(attributes["value"]))
                continue
            self.nodes.append(Node(ordinal, proto.name or f"{proto.op_type}#{ordinal}",
                                   proto.op_type, list(proto.input),
                                   list(proto.output), attributes))
        self.inputs = [i.name for i in model.graph.input if i.name not in self.values]
        self.outputs = [o.name for o in model.graph.output]
        self.producer = {v: node for node in self.nodes for v in node.outputs}
        self.roles = self._roles()

    def _cast(self, array):
        return array.astype(self.dtype) if array.dtype.kind == "f" else array

    def _roles(self):
        roles = {}
        places = {"Conv": {1: "weight", 2: "bias"}, "MatMul": {0: "weight", 1: "weight"},
                  "Gemm": {0: "weight", 1: "weight", 2: "bias"},
                  "BatchNormalization": {1: "norm_scale", 2: "norm_bias",
                                         3: "running_mean", 4: "running_var"}}
        for node in self.nodes:
            for index, value in enumerate(node.inputs):
                if value in self.values and index in places.get(node.op_type, {}):
                    roles.setdefault(value, places[node.op_type][index])
            if node.op_type == "Add":
                for value, other in (node.inputs, node.inputs[::-1]):
                    source = self.producer.get(other)
                    if value in self.values and source and source.op_type == "MatMul":
                        roles.setdefault(value, "bias")
        return roles

    def trainable(self):
        return [name for name in self.values if self.roles.get(name) in
                ("weight", "bias", "norm_scale", "norm_bias")]

    def needed(self, targets):
        """The nodes that the values `targets` depend on, in file order."""
        wanted, needed = set(targets), []
        for node in reversed(self.nodes):
            if wanted & set(node.outputs):
                needed.append(node)
                wanted |= set(node.inputs)
        return needed[::-1]

    def evaluate(self, nodes, environment, context, replaced=None):
        """Runs `nodes`; returns the values and the tape for differentiate()."""
        environment = dict(environment)
        values = self.values if replaced is None else replaced
        tape = []
        for node in nodes:
            inputs = [None if not name else environment[name] if name in environment
                      else values[name] for name in node.inputs]
            outputs, backward = layers.OPERATORS[node.op_type](node, inputs, context)
            environment.update(zip(node.outputs, outputs))
            tape.append((node, backward))
        return environment, tape

    @staticmethod
    def differentiate(tape, gradients):
        """Adds to `gradients` (value name -> array) in reverse order of the tape."""
        gradients = dict(gradients)
        for node, backward in reversed(tape):
            if not any(name in gradients for name in node.outputs):
                continue
            assert node.outputs[0] in gradients
            for name, gradient in zip(node.inputs, backward([gradients[node.outputs[0]]])):
                if name and gradient is not None:
                    gradients[name] = (gradients[name] + gradient if name in gradients
                                       else gradient)
        return gradients

    def infer(self, inputs):
        """The graph's outputs in inference mode."""
        environment, _ = self.evaluate(self.needed(self.outputs), inputs,
                                       Context(self.opset))
        return {name: environment[name] for name in self.outputs}

    def split(self, targets, environment, place=()):
        """Trunk and head nodes, by the definition of the method.

        `environment` holds every value for some batch: ranks and sizes are read
        from it. `place` holds (node name pattern, "data") pairs.
        """
        nodes = self.needed(targets)
        consumers = {}
        for node in nodes:
            for value in node.inputs:
                consumers.setdefault(value, []).append(node)

        def is_fc(node):
            if node.op_type in ("Gemm", "MatMul"):
                parameters = [v for v in node.inputs[:2] if v in self.values]
                return len(parameters) == 1 and environment[node.outputs[0]].ndim == 2
            if node.op_type != "Conv":
                return False
            x, w = environment[node.inputs[0]], self.values[node.inputs[1]]
            return (x.shape[2:] == w.shape[2:] and not any(node.attribute("pads", [0]))
                    and node.attribute("auto_pad", "NOTSET") in ("NOTSET", "VALID"))

        def is_spatial(node):
            if node.op_type in ("Conv", "MatMul", "Gemm"):
                return any(v in self.values for v in node.inputs[:2]) and not is_fc(node)
            if node.op_type in ("BatchNormalization", "LRN"):
                return environment[node.inputs[0]].ndim > 2
            return node.op_type in POOLS

        def reachable(node):
            seen, stack = {}, [node]
            while stack:
                top = stack.pop()
                for value in top.outputs:
                    for user in consumers.get(value, []):
                        if user.ordinal not in seen:
                            seen[user.ordinal] = user
                            stack.append(user)
            return seen.values()

        head = set()
        for node in nodes:
            if not is_fc(node) or any(is_spatial(user) for user in reachable(node)):
                continue
            if any(fnmatch.fnmatch(node.name, pattern) and where == "data"
                   for pattern, where in place):
                continue
            head |= {node.ordinal} | {user.ordinal for user in reachable(node)}
        return ([n for n in nodes if n.ordinal not in head],
                [n for n in nodes if n.ordinal in head])
