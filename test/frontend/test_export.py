# SPDX-License-Identifier: Apache-2.0
"""What export writes: the file's own model with other values in it."""
import os
import resource
import signal
import stat
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, checker, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from e2e.harness import BIN, MODELS, run
from frontend.imports import model, save

FULL = """
g (float[N,2,4,4] x) => (float[N,3] y)
  <float[2,2,1,1] conv_w, float[2] s, float[2] b, float[2] m, float[2] v, float[32,3] fc_w,
   float[3] fc_b, float ratio = {0.5}, bool training = {1}, int64[2] shape = {-1, 32}> {
  c = Conv(x, conv_w)
  n, new_m, new_v = BatchNormalization<training_mode=1>(c, s, b, m, v)
  d = Dropout(n, ratio, training)
  r = Reshape(d, shape)
  y = Gemm(r, fc_w, fc_b)
}"""


def exported(folder, network, *flags, status=0, name="out.onnx"):
    path = save(folder, network)
    run("hpcc-import", path, "--export", folder / name, *flags, status=status)
    return onnx.load(folder / name) if status == 0 else None


def arrays(network):
    return {t.name: numpy_helper.to_array(t) for t in network.graph.initializer}


def test_only_values_change(tmp_path):
    before = onnx.load(MODELS / "digits.onnx")
    run("hpcc-import", MODELS / "digits.onnx", "--export", tmp_path / "out.onnx",
        "--set", "fc1.bias=1.5", "--set", "conv1.weight=-2")
    after = onnx.load(tmp_path / "out.onnx")
    checker.check_model(after, full_check=True)
    old, new = arrays(before), arrays(after)
    assert list(old) == list(new)
    for name in old:
        expected = {"fc1.bias": 1.5, "conv1.weight": -2}.get(name, old[name])
        np.testing.assert_array_equal(new[name], np.broadcast_to(expected, old[name].shape))
    for network in (before, after):
        del network.graph.initializer[:]
    assert before == after


def test_B94_training_state_is_gone(tmp_path):
    network = model(FULL, opset=15)
    network.training_info.add()
    after = exported(tmp_path, network, "--set", "m=0.25", "--set", "v=4")
    checker.check_model(after, full_check=True)
    assert not after.training_info
    batch_norm = next(n for n in after.graph.node if n.op_type == "BatchNormalization")
    assert list(batch_norm.output) == ["n"]
    assert not any(a.name == "training_mode" for a in batch_norm.attribute)
    values = arrays(after)
    assert list(values["m"]) == [0.25] * 2 and list(values["v"]) == [4] * 2
    x = np.random.default_rng(1).standard_normal((3, 2, 4, 4)).astype(np.float32)
    first, second = (ReferenceEvaluator(after).run(None, {"x": x})[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert [i.name for i in after.graph.input] == ["x"]
    assert [o.name for o in after.graph.output] == ["y"]


@pytest.mark.parametrize("kind, value, stored", [
    (TensorProto.FLOAT16, 0.1, 0.0999755859375), (TensorProto.DOUBLE, 0.5, 0.5),
    (TensorProto.BFLOAT16, 0.1, 0.10009765625), (TensorProto.FLOAT, 0.5, 0.5),
    (TensorProto.FLOAT16, 1e6, np.inf)])
def test_weight_types_stay(tmp_path, kind, value, stored):
    network = model("g (float[N,2] x) => (float[N,1] y) <float[1,2] w> "
                    "{ y = Gemm<transB=1>(x, w) }")
    network.graph.initializer[0].CopyFrom(helper.make_tensor("w", kind, [1, 2], [3, 4]))
    after = exported(tmp_path, network, "--set", f"w={value}").graph.initializer[0]
    assert after.data_type == kind and list(after.dims) == [1, 2]
    np.testing.assert_array_equal(numpy_helper.to_array(after).astype(np.float64), [[stored] * 2])


@pytest.mark.parametrize("ir_version", [3, 8])
def test_made_weights_become_initializers(tmp_path, ir_version):
    network = model("""
g (float[N,4] x) => (float[N,3] y) <int64[2] shape = {4, 3}, int64[2] other = {2, 2}> {
  w = ConstantOfShape(shape)
  c = Constant<value_floats=[1.0, 2.0, 3.0]>()
  y = Gemm(x, w, c)
}""", opset=12, ir_version=ir_version)
    if ir_version < 4:
        for tensor in network.graph.initializer:
            network.graph.input.append(helper.make_tensor_value_info(
                tensor.name, tensor.data_type, list(tensor.dims)))
    after = exported(tmp_path, network, "--set", "w=2", "--set", "c=1")
    checker.check_model(after, full_check=True)
    assert [n.op_type for n in after.graph.node] == ["Gemm"]
    assert set(arrays(after)) == {"other", "w", "c"}
    x = np.ones((2, 4), np.float32)
    np.testing.assert_array_equal(ReferenceEvaluator(after).run(None, {"x": x})[0],
                                  np.full((2, 3), 9))


def test_other_shapes_after_classes(tmp_path):
    network = model("""
g (float[N,8] x) => (float[N,5] y) <float[8,8] a, float[8,5] w, float[5] b> {
  h = Gemm(x, a)
  l = Gemm(h, w, b)
  y = Softmax(l)
}""")
    network.graph.value_info.append(helper.make_tensor_value_info("l", TensorProto.FLOAT,
                                                                  ["N", 5]))
    after = exported(tmp_path, network, "--set", "w=0.5", "--resize", "w=8x7", "--set", "b=1",
                     "--resize", "b=7")
    checker.check_model(after, full_check=True)
    assert [d.dim_value for d in after.graph.output[0].type.tensor_type.shape.dim] == [0, 7]
    y = ReferenceEvaluator(after).run(None, {"x": np.ones((2, 8), np.float32)})[0]
    assert y.shape == (2, 7)


def test_large_models_have_external_data(tmp_path):
    network = model(FULL)
    network.graph.initializer.append(
        numpy_helper.from_array(np.arange(1000, dtype=np.float32), "large"))
    network.graph.node.append(helper.make_node("Identity", ["large"], ["unused"]))
    path = save(tmp_path, network)
    run("hpcc-import", path, "--export", tmp_path / "out.onnx", "--external-threshold", 1000,
        "--set", "large=3")
    assert (tmp_path / "out.onnx.data").stat().st_size == 4000
    after = onnx.load(tmp_path / "out.onnx", load_external_data=False)
    large = next(t for t in after.graph.initializer if t.name == "large")
    assert {e.key: e.value for e in large.external_data} == {
        "location": "out.onnx.data", "offset": "0", "length": "4000"}
    checker.check_model(tmp_path / "out.onnx")
    assert set(arrays(onnx.load(tmp_path / "out.onnx"))["large"]) == {3.0}
    # And it is a model that can be trained again.
    out = run("hpcc-import", tmp_path / "out.onnx", "--read", "large").out.split()
    assert out == ["3.000000e+00"] * 1000


def test_external_data_comes_back_inside(tmp_path):
    """A small model that had external data needs none, wherever it goes."""
    network = model("g (float[N,4] x) => (float[N,3] y) <float[3,4] w, float[3] b> "
                    "{ y = Gemm<transB=1>(x, w, b) }")
    tensor = network.graph.initializer[0]
    data = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="w.bin")
    (tmp_path / "w.bin").write_bytes(data)
    path = save(tmp_path, network.SerializeToString())
    (tmp_path / "elsewhere").mkdir()
    run("hpcc-import", path, "--export", tmp_path / "elsewhere" / "out.onnx", "--set", "b=1")
    after = onnx.load(tmp_path / "elsewhere" / "out.onnx")
    assert arrays(after)["w"].tobytes() == data
    assert os.listdir(tmp_path / "elsewhere") == ["out.onnx"]


def test_unwritable_targets_leave_nothing(tmp_path):
    path = save(tmp_path, model(FULL))
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "missing" / "out.onnx", tmp_path / "folder", "/proc/out.onnx",
                   path / "out.onnx"):
        outcome = run("hpcc-import", path, "--export", target, status=1)
        assert f'cannot write "{target}"' in outcome.err
    assert sorted(os.listdir(tmp_path)) == ["folder", "model.onnx"]


def test_a_full_disk_is_reported(tmp_path):
    """A limit on file size stands in for the disk; the old file stays."""
    path = save(tmp_path, model(FULL))
    (tmp_path / "out.onnx").write_bytes(b"old")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    done = subprocess.run([BIN / "hpcc-import", path, "--export", tmp_path / "out.onnx"],
                          capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 1 and "cannot write" in done.stderr, done
    assert (tmp_path / "out.onnx").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["model.onnx", "out.onnx"]


def test_replacing_the_input_file_itself(tmp_path):
    path = save(tmp_path, model(FULL))
    run("hpcc-import", path, "--export", path, "--set", "fc_b=1")
    assert set(arrays(onnx.load(path))["fc_b"]) == {1.0}
    assert os.listdir(tmp_path) == ["model.onnx"]


def test_file_mode_is_ordinary(tmp_path):
    before = os.umask(0o022)
    try:
        exported(tmp_path, model(FULL))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.onnx").stat().st_mode) == 0o644
