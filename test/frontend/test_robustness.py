# SPDX-License-Identifier: Apache-2.0
"""Hostile and broken files: an error, never a crash, a hang, or a read outside
the model's folder. Test names begin with the id of the report."""
import os
import time

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from e2e.harness import CRASH, MODELS, run
from frontend.imports import imported, model, ops, refused, save

LAYER = "g (float[N,4] x) => (float[N,3] y) <float[3,4] w> { y = Gemm<transB=1>(x, w) }"


def external(location, data_location=TensorProto.EXTERNAL, **entries):
    network = model(LAYER)
    tensor = network.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = data_location
    for key, value in [("location", location), *entries.items()]:
        tensor.external_data.add(key=key, value=str(value))
    return network


def test_B63_external_data_lies_beside_the_model(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    values = np.arange(12, dtype=np.float32)
    (tmp_path / "sub" / "w.bin").write_bytes(b"12345678" + values.tobytes())
    path = save(tmp_path / "sub", external("w.bin", offset=8))
    for folder, name in [("/", path), (tmp_path, "sub/model.onnx"),
                         (tmp_path / "sub", "model.onnx")]:
        monkeypatch.chdir(folder)
        out = run("hpcc-import", name, "--read", "w").out.split()
        assert [float(v) for v in out] == list(values)


def test_B65_data_location_decides(tmp_path):
    (tmp_path / "w.bin").write_bytes(np.full(12, 7, np.float32).tobytes())
    network = external("w.bin")
    network.graph.initializer[0].raw_data = np.full(12, 9, np.float32).tobytes()
    path = save(tmp_path, network.SerializeToString())  # onnx.save would write w.bin
    out = run("hpcc-import", path, "--read", "w").out.split()
    assert [float(v) for v in out] == [7] * 12


@pytest.mark.parametrize("second, ok", [(0, True), (48, True), (16, False)])
def test_B65_overlapping_ranges(tmp_path, second, ok):
    """Partial overlap is damage; the same range twice is a tied weight."""
    (tmp_path / "w.bin").write_bytes(bytes(96))
    network = model("""
g (float[N,4] x) => (float[N,3] y) <float[3,4] w, float[3,4] v> {
  a = Gemm<transB=1>(x, w)
  b = Gemm<transB=1>(x, v)
  y = Add(a, b)
}""")
    for tensor, offset in zip(network.graph.initializer, [0, second]):
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="w.bin")
        tensor.external_data.add(key="offset", value=str(offset))
    if ok:
        imported(tmp_path, network)
    else:
        refused(tmp_path, network, '"w"', '"v"', "overlap")


@pytest.mark.parametrize("location", ["../w.bin", "/etc/passwd", "a/../../w.bin", "..", ".", "",
                                      "C:\\w.bin", "missing.bin", "folder", "link.bin"])
def test_B134_locations_outside_the_folder(tmp_path, location):
    (tmp_path / "w.bin").write_bytes(bytes(48))
    inner = tmp_path / "inner"
    (inner / "folder").mkdir(parents=True)
    os.symlink(tmp_path / "w.bin", inner / "link.bin")
    refused(inner, external(location), '"w"', "external data")


def test_B137_export_never_repeats_a_location(tmp_path):
    victim = tmp_path / "victim.bin"
    victim.write_bytes(b"precious")
    inner = tmp_path / "inner"
    inner.mkdir()
    outcome = run("hpcc-import", save(inner, external("../victim.bin")), "--export",
                  inner / "out.onnx", status=1)
    assert "leaves the folder" in outcome.err
    assert victim.read_bytes() == b"precious" and not (inner / "out.onnx").exists()


@pytest.mark.parametrize("entries", [
    {"foo": 1}, {"length": 2 ** 62}, {"length": -48}, {"length": "48x"}, {"length": 44},
    {"offset": 2 ** 63 - 8}, {"offset": 2 ** 64 - 48}, {"offset": 2 ** 70}, {"offset": 1}])
def test_B138_B139_hostile_ranges(tmp_path, entries):
    (tmp_path / "w.bin").write_bytes(bytes(48))
    refused(tmp_path, external("w.bin", **entries), '"w"', "external data")


@pytest.mark.parametrize("change", [
    lambda t: t.__setattr__("raw_data", bytes(44)),
    lambda t: t.__setattr__("raw_data", bytes(52)),
    lambda t: t.ClearField("raw_data"),
    lambda t: (t.ClearField("raw_data"), t.float_data.extend([1.0] * 11)),
    lambda t: (t.ClearField("raw_data"), t.__setattr__("data_type", TensorProto.INT8),
               t.int32_data.extend([1])),
    lambda t: t.dims.append(-1),
    lambda t: t.dims.append(2 ** 62),
    lambda t: t.dims.extend([2 ** 32, 2 ** 32]),
    lambda t: t.dims.extend([2 ** 31, 2 ** 31, 4]),
    lambda t: t.dims.extend([1] * 100),
    lambda t: t.segment.__setattr__("begin", 1)])
def test_B140_B141_shape_and_data_disagree(tmp_path, change):
    network = model(LAYER)
    change(network.graph.initializer[0])
    refused(tmp_path, network, '"w"')


@pytest.mark.parametrize("kind", [TensorProto.STRING, TensorProto.COMPLEX64, 77, 0])
def test_types_that_are_no_weights(tmp_path, kind):
    network = model(LAYER)
    network.graph.initializer[0].data_type = kind
    refused(tmp_path, network)


def test_B142_a_small_file_asks_for_much_memory(tmp_path):
    for size in (17592186044800, 2 ** 40, 2 ** 62):
        refused(tmp_path, model(f"""
g (float[N,4] x) => (float[N,4] y) <int64[1] s = {{{size}}}> {{
  c = ConstantOfShape(s)
  y = Add(x, c)
}}"""), "ConstantOfShape#0")


@pytest.mark.parametrize("shape, attributes", [
    ([1, 1, 3, 3, 3], {}), ([1, 1, 3], {}), ([], {}), ([1, 1, 0, 3], {}),
    ([1, 1, 3, 3], {"kernel_shape": [3]}), ([1, 1, 3, 3], {"kernel_shape": [3, 2]}),
    ([1, 1, 3, 3], {"strides": [1]}), ([1, 1, 3, 3], {"strides": [0, 1]}),
    ([1, 1, 3, 3], {"pads": [1, 1]}), ([1, 1, 3, 3], {"pads": [-1, 0, 0, 0]}),
    ([1, 1, 3, 3], {"dilations": [2 ** 62, 1]}), ([1, 1, 3, 3], {"strides": [-2 ** 63, 1]}),
    ([1, 1, 3, 3], {"group": 0}), ([1, 1, 3, 3], {"group": -1}), ([1, 1, 9, 9], {}),
    ([1, 1, 3, 3], {"auto_pad": "SOMEHOW"})])
def test_B144_ranks_and_lengths(tmp_path, shape, attributes):
    network = model("""
g (float[1,1,4,4] x) => (float[a,b,c,d] y) <float[1] w> { y = Conv(x, w) }""")
    network.graph.initializer[0].CopyFrom(
        numpy_helper.from_array(np.zeros(shape, np.float32), "w"))
    network.graph.node[0].attribute.extend(
        helper.make_attribute(name, value) for name, value in attributes.items())
    refused(tmp_path, network, "Conv#0")


@pytest.mark.parametrize("node", [
    "Transpose<perm=[0,0,1]>(x)", "Transpose<perm=[0,1]>(x)", "Transpose<perm=[0,1,7]>(x)",
    "Concat<axis=9>(x, x)", "Concat(x, x)", "Softmax<axis=-9>(x)", "Flatten<axis=9>(x)",
    "Unsqueeze(x, big)", "Squeeze(x, big)", "Pad(x, big)", "Slice(x, big, big, big)",
    "Reshape(x, big)", "Relu()", "Add(x)", "Gemm(x)", "MatMul(x)", "Reshape(x)", "Concat<axis=1>()",
    "LRN(x)", "LRN<size=0>(x)", "MaxPool(x)", "BatchNormalization(x)", "Clip(x, x)", "Dropout(x, x)",
    "Sum()", "Cast(x)", "Cast<to=7>(x)", "Identity()", "Gather(x, big)", "ConstantOfShape(x)",
    "Shape(x)", "Unsqueeze(x)", "Pad(x)"])
def test_malformed_nodes(tmp_path, node):
    text = refused(tmp_path, model(f"""
g (float[N,3,4] x) => (float[a,b,c] y)
  <int64[3] big = {{9223372036854775807, -9223372036854775807, 99}}> {{
  y = {node}
}}"""))
    assert node.split("(")[0].split("<")[0] in text or "output" in text


def test_B146_recursive_functions_do_not_recurse(tmp_path):
    network = model("g (float[N,2] x) => (float[N,2] y) { y = f(x) }")
    network.graph.node[0].domain = "local"
    network.opset_import.append(helper.make_opsetid("local", 1))
    network.functions.append(helper.make_function(
        "local", "f", ["a"], ["b"], [helper.make_node("f", ["a"], ["b"], domain="local")],
        [helper.make_opsetid("local", 1)]))
    refused(tmp_path, network, "f of domain")


def test_B147_deep_graphs(tmp_path):
    count = 100_000
    nodes = [helper.make_node("Relu" if i % 2 else "Identity", [f"v{i}"], [f"v{i + 1}"])
             for i in range(count)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("v0", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info(f"v{count}", TensorProto.FLOAT, ["N", 4])])
    network = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    assert len(ops(imported(tmp_path, network), "nn.relu")) == count // 2


def test_truncated_files(tmp_path):
    whole = (MODELS / "digits_mlp.onnx").read_bytes()
    for length in [0, 1, 2, 10, *range(50, len(whole) - 1, len(whole) // 40)]:
        refused(tmp_path, whole[:length])


def test_flipped_bytes(tmp_path):
    """Any outcome but a crash or a hang."""
    whole = bytearray(model(LAYER).SerializeToString())
    random = np.random.default_rng(3)
    begin = time.monotonic()
    for _ in range(150):
        damaged = bytearray(whole)
        for place in random.integers(0, len(whole), random.integers(1, 6)):
            damaged[place] = random.integers(0, 256)
        outcome = run("hpcc-import", save(tmp_path, bytes(damaged)), status=None, timeout=20)
        assert outcome.status in (0, 1), outcome.describe()
    assert time.monotonic() - begin < 120


def test_random_bytes(tmp_path):
    random = np.random.default_rng(4)
    for length in (1, 7, 100, 5000):
        refused(tmp_path, random.bytes(length))


def test_not_a_file(tmp_path):
    for path in (tmp_path, tmp_path / "missing.onnx", "/dev/null"):
        outcome = run("hpcc-import", path, status=1)
        assert str(path) in outcome.err and not CRASH.search(outcome.err)


def test_names_that_clash(tmp_path):
    text = "g (float[N,4] x) => (float[N,4] y) <float[4] w> { a = Relu(x)\n y = Add(a, w) }"
    for change, mention in [
            (lambda g: g.node[0].output.__setitem__(0, "w"), '"w"'),
            (lambda g: g.node[0].output.__setitem__(0, "x"), '"x"'),
            (lambda g: g.node[0].output.__setitem__(0, "y"), '"y"'),
            (lambda g: g.initializer.append(g.initializer[0]), '"w"'),
            (lambda g: g.input.append(g.input[0]), '"x"'),
            (lambda g: g.output.append(g.output[0]), '"y"'),
            (lambda g: g.node[1].input.__setitem__(1, "nowhere"), '"nowhere"'),
            (lambda g: g.output[0].__setattr__("name", "nowhere"), '"nowhere"')]:
        network = model(text)
        change(network.graph)
        refused(tmp_path, network, mention)


def test_an_output_without_batch(tmp_path):
    refused(tmp_path, model("""
g (float[N,4] x) => (float[4] y) <float[4] w> { y = Relu(w) }"""), 'output "y"')
