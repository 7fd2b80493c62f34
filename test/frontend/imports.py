# SPDX-License-Identifier: Apache-2.0
"""Importing small models with hpcc-import, and looking at the IR."""
import re

import numpy as np
import onnx
from onnx import numpy_helper, parser

from e2e.harness import CRASH, run

IR_VERSIONS = {7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8,
               19: 9, 20: 9, 21: 10}


def model(text, opset=13, ir_version=None):
    """A model from ONNX's textual form of one graph. What is declared there
    without values becomes an initializer with arbitrary ones."""
    version = ir_version or IR_VERSIONS.get(opset, 10)
    network = parser.parse_model(
        f'<ir_version: {version}, opset_import: ["" : {opset}]>\n{text}')
    declared = list(network.graph.value_info)
    del network.graph.value_info[:]
    random = np.random.default_rng(7)
    for value in declared:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        array = random.standard_normal(shape).astype(np.float32)
        network.graph.initializer.append(numpy_helper.from_array(array, value.name))
    return network


def save(folder, network):
    path = folder / "model.onnx"
    if isinstance(network, bytes):
        path.write_bytes(network)
    else:
        onnx.save(network, path)
    return path


def imported(folder, network, *flags):
    """The IR, one op per line, without the text that every test would repeat."""
    return run("hpcc-import", save(folder, network), *flags).out


def remarks(folder, network):
    return run("hpcc-import", save(folder, network), "--remarks").err


def refused(folder, network, *mentions, flags=()):
    """The error text of a model that must not import; no crash, no hang."""
    outcome = run("hpcc-import", save(folder, network), *flags, status=1, timeout=60)
    assert not CRASH.search(outcome.err), outcome.describe()
    assert outcome.err.startswith("error: "), outcome.describe()
    for mention in mentions:
        assert mention in outcome.err, f"no {mention!r} in{outcome.describe()}"
    return outcome.err


def ops(ir, name):
    """The lines of the ops of this name."""
    return [line.strip() for line in ir.splitlines() if re.search(rf"\b{re.escape(name)}\b", line)]


def op(ir, name):
    found = ops(ir, name)
    assert len(found) == 1, f"{len(found)} {name} in\n{ir}"
    return found[0]


def result_type(line):
    """The type behind the last arrow, or behind the last colon."""
    return re.search(r"(?:->|: | to )\s*\(?(tensor<[^>]*>)[^>]*$", line).group(1)


def output_types(ir):
    """Types of @forward's results."""
    line = next(line for line in ir.splitlines() if "func.func @forward" in line)
    return re.findall(r"tensor<[^>]*>", line.rsplit("->", 1)[1])


def attribute(line, name):
    match = re.search(rf"\b{name} = (array<i64: ([^>]*)>|[^,}}]*)", line)
    if not match:
        return None
    if match.group(2) is not None:
        return [int(i) for i in match.group(2).split(",")]
    return match.group(1)


def parameters(ir):
    """initializer -> the line of its nn.parameter."""
    return {re.search(r'initializer = "((?:[^"\\]|\\.)*)"', line).group(1): line
            for line in ops(ir, "nn.parameter")}
