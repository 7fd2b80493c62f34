# SPDX-License-Identifier: Apache-2.0
"""The batch stays dimension 0, whatever the exporter wrote; shape arithmetic
is evaluated. Names begin with the id of the report they come from."""
import numpy as np
import pytest
from onnx import numpy_helper

from frontend.imports import (attribute, imported, model, op, ops, output_types, refused,
                              remarks, result_type)


def test_B01_leading_one_is_the_batch(tmp_path):
    network = model("""
g (float[1,256,4,4] x) => (float[1,8] y) <int64[2] s = {1, 4096}, float[4096,8] w> {
  r = Reshape(x, s)
  y = Gemm(r, w)
}""")
    assert output_types(imported(tmp_path, network)) == ["tensor<?x8xf32>"]
    assert "dimension 0 of target [1, 4096] is taken as the batch" in remarks(tmp_path, network)


@pytest.mark.parametrize("batch", ["1", "N"])
def test_B03_minus_one_never_absorbs_the_batch(tmp_path, batch):
    ir = imported(tmp_path, model(f"""
g (float[{batch},4,5,5] x) => (float[{batch},25,4] y) <int64[3] s = {{1, 4, -1}}> {{
  r = Reshape(x, s)
  y = Transpose<perm=[0,2,1]>(r)
}}"""))
    assert output_types(ir) == ["tensor<?x25x4xf32>"]


@pytest.mark.parametrize("shape, batch", [([8, 50], "1"), ([50, 8], "N"), ([-1, 5], "N"),
                                          ([-1], "N"), ([3, -1], "1"), ([1, -1], "2"),
                                          ([7, -1, 7], "N")])
def test_B03_mixing_examples_is_refused(tmp_path, shape, batch):
    """[3, -1] and the like could be the batch only if the file's batch were 3."""
    text = str(shape).strip("[]")
    refused(tmp_path, model(f"""
g (float[{batch},4,5,5] x) => (float[a,b] y) <int64[{len(shape)}] s = {{{text}}}> {{
  y = Reshape(x, s)
}}"""), "Reshape#0", str(shape), *([] if shape == [7, -1, 7] else ["batch"]))


@pytest.mark.parametrize("raw", [True, False])
def test_B04_both_storages_of_the_target(tmp_path, raw):
    network = model("""
g (float[1,4,5,5] x) => (float[1,100] y) <int64[2] s = {1, 100}> {
  y = Reshape(x, s)
}""")
    if raw:
        network.graph.initializer[0].CopyFrom(
            numpy_helper.from_array(np.array([1, 100]), "s"))
    assert bool(network.graph.initializer[0].raw_data) == raw
    assert output_types(imported(tmp_path, network)) == ["tensor<?x100xf32>"]


def test_B05_symbolic_input_wins_over_a_traced_constant(tmp_path):
    network = """
g (float[N,4,5] x) => (float[N,20] y) <int64[2] s = {2, %d}> {
  y = Reshape(x, s)
}"""
    assert output_types(imported(tmp_path, model(network % -1))) == ["tensor<?x20xf32>"]
    refused(tmp_path, model(network % 7), "Reshape#0", "[2, 7]", '"N"')


def test_B06_sizes_through_casts_and_slices(tmp_path):
    network = model("""
g (float[N,8,4,4] x) => (float[N,10] y)
  <int64[1] zero = {0}, int64[1] one = {1}, int64[1] rest = {-1}, float[128,10] w> {
  s = Shape(x)
  f = Cast<to=1>(s)
  sliced = Slice(f, zero, one)
  scalar = Squeeze(sliced, zero)
  i = Cast<to=7>(scalar)
  n = Unsqueeze(i, zero)
  target = Concat<axis=0>(n, rest)
  flat = Reshape(x, target)
  y = Gemm(flat, w)
}""")
    ir = imported(tmp_path, network)
    assert output_types(ir) == ["tensor<?x10xf32>"]
    assert "tensor<?x128xf32>" in op(ir, "nn.reshape")
    assert not ops(ir, "arith.constant")


@pytest.mark.parametrize("compute", [
    # rows of the flattened input, in ways that exporters write
    "c = Gather(s, one)\n h = Gather(s, two)\n p = Mul(c, h)\n q = Mul(p, h)",
    "c = Gather(s, one)\n h = Gather(s, two)\n a = Mul(h, h)\n q = Mul(a, c)",
    "c = Gather(s, one)\n t = Add(c, c)\n t2 = Mul(t, t)\n q0 = Div(t2, two)\n q = Mul(q0, q1)",
])
def test_arithmetic_on_sizes(tmp_path, compute):
    network = model(f"""
g (float[N,8,4,4] x) => (float[N,128] y)
  <int64[1] zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64 q1 = {{1}}> {{
  s = Shape(x)
  n = Gather(s, zero)
  {compute}
  qs = Unsqueeze(q, zero)
  target = Concat<axis=0>(n, qs)
  y = Reshape(x, target)
}}""")
    assert output_types(imported(tmp_path, network)) == ["tensor<?x128xf32>"]


def test_B07_one_unknown_size_follows_from_the_rest(tmp_path):
    """N*N - N*N is nothing that the evaluator knows; 3 is."""
    network = model("""
g (float[N,4,3] x) => (float[N,4,3] y)
  <int64[1] zero = {0}, int64[1] one = {1}, int64[1] three = {3}> {
  s = Shape(x)
  n = Gather(s, zero)
  c = Gather(s, one)
  nn = Mul(n, n)
  unknown = Div(nn, c)
  target = Concat<axis=0>(n, unknown, three)
  y = Reshape(x, target)
}""")
    assert output_types(imported(tmp_path, network)) == ["tensor<?x4x3xf32>"]


@pytest.mark.parametrize("shape, allowzero, expected", [
    ([0, 2, -1], 0, "tensor<?x2x6xf32>"), ([0, 0, 4], 0, "tensor<?x3x4xf32>"),
    ([-1, 3, 4], 1, "tensor<?x3x4xf32>")])
def test_B35_zero_copies(tmp_path, shape, allowzero, expected):
    text = str(shape).strip("[]")
    ir = imported(tmp_path, model(f"""
g (float[2,3,4] x) => (float[a,b,c] y) <int64[3] s = {{{text}}}> {{
  r = Relu(x)
  y = Reshape<allowzero={allowzero}>(r, s)
}}""", opset=14))
    assert output_types(ir) == [expected]


def test_B35_allowzero_with_both_is_an_error(tmp_path):
    refused(tmp_path, model("""
g (float[2,3,4] x) => (float[a,b] y) <int64[3] s = {0, -1, 4}> {
  y = Reshape<allowzero=1>(x, s)
}""", opset=14), "Reshape#0", "allowzero")


def test_B35_parameters_copy_too(tmp_path):
    """x[2,3,4], [2,0,1,-1] -> [2,3,1,4], on a tensor without a batch."""
    ir = imported(tmp_path, model("""
g (float[N,2,3,1,4] x) => (float[N,2,3,1,4] y) <float[2,3,4] w, int64[4] s = {2, 0, 1, -1}> {
  r = Reshape(w, s)
  y = Add(x, r)
}"""))
    assert result_type(op(ir, "nn.reshape")) == "tensor<2x3x1x4xf32>"


@pytest.mark.parametrize("batch", ["N", "1"])
def test_B36_squeeze_without_axes_keeps_the_batch(tmp_path, batch):
    network = model(f"""
g (float[{batch},8,4,4] x) => (float[{batch},3] y) <float[8,3] w> {{
  p = GlobalAveragePool(x)
  s = Squeeze(p)
  y = Gemm(s, w)
}}""")
    assert output_types(imported(tmp_path, network)) == ["tensor<?x3xf32>"]
    assert "keeps the batch" in remarks(tmp_path, network)


def test_B36_squeezing_the_batch_is_refused(tmp_path):
    refused(tmp_path, model("""
g (float[1,8] x) => (float[8] y) <int64[1] zero = {0}> {
  y = Squeeze(x, zero)
}"""), "Squeeze#0", "batch")


@pytest.mark.parametrize("opset, node", [
    (11, "y = Unsqueeze<axes=[1,-1]>(x)"), (13, "y = Unsqueeze(x, a)")])
def test_unsqueeze_of_both_forms(tmp_path, opset, node):
    ir = imported(tmp_path, model(f"""
g (float[N,8] x) => (float[N,1,8,1] y) <int64[2] a = {{1, -1}}> {{
  {node}
}}""", opset=opset))
    assert output_types(ir) == ["tensor<?x1x8x1xf32>"]


@pytest.mark.parametrize("node", ["Unsqueeze(x, z)", "Transpose(x)", "Transpose<perm=[1,0]>(x)",
                                  "Concat<axis=0>(x, x)", "Softmax<axis=0>(x)",
                                  "Pad(x, p)", "Slice(x, z, o)", "Flatten<axis=2>(x)",
                                  "Gemm<transA=1>(x, w)"])
def test_batch_stays_dimension_0(tmp_path, node):
    refused(tmp_path, model(f"""
g (float[N,8] x) => (float[a,b] y)
  <int64[1] z = {{0}}, int64[1] o = {{1}}, int64[4] p = {{1, 0, 0, 0}}, float[8,8] w> {{
  y = {node}
}}"""), node.split("(")[0].split("<")[0] + "#0", "batch")


@pytest.mark.parametrize("axis, batch, ok", [(1, "N", True), (-3, "N", True), (2, "N", False),
                                             (0, "N", False), (0, "1", True)])
def test_flatten(tmp_path, axis, batch, ok):
    network = model(f"""
g (float[{batch},4,5,5] x) => (float[{batch},100] y) {{
  y = Flatten<axis={axis}>(x)
}}""")
    if ok:
        assert output_types(imported(tmp_path, network)) == ["tensor<?x100xf32>"]
    else:
        refused(tmp_path, network, "Flatten#0", "batch")


def test_B60_transposes_stay_in_the_algebra(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,3,4,4] x) => (float[N,2] y)
  <float[5,3,3,3] w, float[20,2] fc, int64[2] s = {0, -1}> {
  c = Conv(x, w)
  t = Transpose<perm=[0,2,3,1]>(c)
  r = Reshape(t, s)
  y = MatMul(r, fc)
}"""))
    assert attribute(next(o for o in ops(ir, "nn.transpose") if "?" in o), "perm") == [0, 2, 3, 1]
    assert "tensor<?x2x2x5xf32> to tensor<?x20xf32>" in ir


def test_B47_empty_dimensions(tmp_path):
    ir = imported(tmp_path, model("""
g (float[1,0,1030] x) => (float[1,0,768] y) <float[1030,768] w> {
  y = MatMul(x, w)
}"""))
    assert output_types(ir) == ["tensor<?x0x768xf32>"]


@pytest.mark.parametrize("opset, node", [
    (9, "y = Slice<axes=[2,3], starts=[1,-2], ends=[3,100]>(x)"),
    (13, "y = Slice(x, starts, ends, axes)")])
def test_slice_of_activations(tmp_path, opset, node):
    ir = imported(tmp_path, model(f"""
g (float[N,3,4,5] x) => (float[N,3,2,2] y)
  <int64[2] starts = {{1, -2}}, int64[2] ends = {{3, 100}}, int64[2] axes = {{2, -1}}> {{
  {node}
}}""", opset=opset))
    assert output_types(ir) == ["tensor<?x3x2x2xf32>"]
    assert attribute(op(ir, "nn.slice"), "offsets") == [0, 0, 1, 3]


def test_B72_pads_are_begins_then_ends(tmp_path):
    ir = imported(tmp_path, model("""
g (float[1,1,2,2] x) => (float[1,1,6,8] y) <int64[8] p = {0,0,1,2,0,0,3,4}> {
  y = Pad(x, p)
}"""))
    assert output_types(ir) == ["tensor<?x1x6x8xf32>"]
    assert attribute(op(ir, "nn.pad"), "pads") == [0, 0, 1, 2, 0, 0, 3, 4]


def test_pad_of_every_opset(tmp_path):
    """Attributes, then inputs, then axes; negative pads crop."""
    for opset, node in [(10, "y = Pad<pads=[0,0,1,-1,0,0,2,0], value=2.0>(x)"),
                        (13, "y = Pad(x, p, v)"), (18, "y = Pad(x, q, v, a)")]:
        ir = imported(tmp_path, model(f"""
g (float[N,1,2,2] x) => (float[N,1,5,1] y)
  <int64[8] p = {{0,0,1,-1,0,0,2,0}}, int64[4] q = {{1,-1,2,0}}, float v = {{2}},
   int64[2] a = {{2, -1}}> {{
  {node}
}}""", opset=opset))
        assert output_types(ir) == ["tensor<?x1x5x1xf32>"]
        assert attribute(op(ir, "nn.pad"), "pads") == [0, 0, 1, -1, 0, 0, 2, 0]
        assert attribute(op(ir, "nn.pad"), "value").startswith("2.0")
    refused(tmp_path, model("""
g (float[N,1,2,2] x) => (float[N,1,4,4] y) <int64[8] p = {0,0,1,1,0,0,1,1}> {
  y = Pad<mode="reflect">(x, p)
}"""), "Pad#0", "reflect")
