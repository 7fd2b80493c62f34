# SPDX-License-Identifier: Apache-2.0
"""Operators and their versions: attributes, extents, refusals. Names begin
with the id of the report they come from. Expected extents are those of the
report or arithmetic."""
import onnx
import pytest

from frontend.imports import (attribute, imported, model, op, ops, output_types, parameters,
                              refused, remarks, result_type)


def window(tmp_path, node, shape, weight=None, opset=13):
    """(extents, pads) of one conv or pool on `shape`."""
    weights = f"<float[{weight}] w>" if weight else ""
    ir = imported(tmp_path, model(f"""
g (float[{shape}] x) => (float[a,b,c,d] y) {weights} {{
  y = {node}
}}""", opset=opset))
    extents = output_types(ir)[0].removeprefix("tensor<?x").removesuffix("xf32>").split("x")
    line = op(ir, "nn.conv" if weight else ("nn.max_pool" if "Max" in node else "nn.avg_pool"))
    return [int(e) for e in extents], attribute(line, "pads")


def test_B08_same_divides_by_the_stride(tmp_path):
    extents, pads = window(tmp_path, 'Conv<auto_pad="SAME_UPPER", strides=[2,2]>(x, w)',
                           "1,1,7,5", "1,1,3,3")
    assert extents == [1, 4, 3] and pads == [1, 1, 1, 1]


def test_B09_same_counts_the_dilation(tmp_path):
    node = 'Conv<auto_pad="SAME_UPPER", dilations=[2,2]>(x, w)'
    assert window(tmp_path, node, "1,4,22,27", "4,4,3,3") == ([4, 22, 27], [2, 2, 2, 2])
    assert window(tmp_path, node, "1,16,16,16", "16,16,3,3") == ([16, 16, 16], [2, 2, 2, 2])


@pytest.mark.parametrize("mode, pads", [("SAME_UPPER", [0, 0, 1, 1]),
                                        ("SAME_LOWER", [1, 1, 0, 0]),
                                        ("VALID", [0, 0, 0, 0])])
def test_odd_same_pads(tmp_path, mode, pads):
    """An even window over an even map needs one pad: at the end for UPPER."""
    out = 3 if mode == "VALID" else 4
    for node in (f'MaxPool<auto_pad="{mode}", kernel_shape=[2,2]>(x)',
                 f'AveragePool<auto_pad="{mode}", kernel_shape=[2,2]>(x)'):
        assert window(tmp_path, node, "1,1,4,4") == ([1, out, out], pads)


def test_B16_begin_and_end_pads_differ(tmp_path):
    node = "Conv<strides=[2,2], pads=[0,0,1,1]>(x, w)"
    assert window(tmp_path, node, "1,1,4,4", "1,1,3,3") == ([1, 2, 2], [0, 0, 1, 1])


def test_B17_last_window_starts_in_the_data(tmp_path):
    node = "MaxPool<ceil_mode=1, kernel_shape=[1,1], strides=[2,2]>(x)"
    assert window(tmp_path, node, "4,4,12,12") == ([4, 6, 6], [0, 0, 0, 0])


def test_B19_ceil_with_pads(tmp_path):
    """Of the report's three extents 3, 6 and 5 the last two: 2 and 2, not 3."""
    node = "MaxPool<ceil_mode=1, kernel_shape=[3,3], strides=[3,3], pads=[1,1,1,1]>(x)"
    assert window(tmp_path, node, "1,2,6,5") == ([2, 3, 2], [1, 1, 2, 1])
    assert window(tmp_path, node, "1,2,3,5") == ([2, 2, 2], [1, 1, 2, 1])


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
def test_B21_no_window_is_empty(tmp_path, kind):
    node = f"{kind}<ceil_mode=1, kernel_shape=[3,3], strides=[3,3], pads=[1,1,1,1]>(x)"
    assert window(tmp_path, node, "1,1,2,2") == ([1, 1, 1], [1, 1, 1, 1])
    refused(tmp_path, model(f"""
g (float[N,1,4,4] x) => (float[N,1,8,8] y) {{
  y = {kind}<kernel_shape=[2,2], pads=[2,2,2,2]>(x)
}}"""), f"{kind}#0", "only padding")


def test_B68_ceil_average_pads_at_the_end(tmp_path):
    """11x11, k2 s2 ceil -> 6x6; what ceil adds does not count in the divisor."""
    node = "AveragePool<ceil_mode=1, kernel_shape=[2,2], strides=[2,2]>(x)"
    assert window(tmp_path, node, "1,1,11,11") == ([1, 6, 6], [0, 0, 1, 1])
    ir = imported(tmp_path, model("""
g (float[N,1,5,5] x) => (float[N,1,3,3] y) {
  y = AveragePool<ceil_mode=1, kernel_shape=[3,3], strides=[2,2], pads=[1,1,0,0],
                  count_include_pad=1>(x)
}"""))
    assert attribute(op(ir, "nn.pad"), "pads") == [0, 0, 1, 1, 0, 0, 0, 0]
    assert attribute(op(ir, "nn.avg_pool"), "pads") == [0, 0, 1, 1]
    assert attribute(op(ir, "nn.avg_pool"), "count_include_pad") == "false"
    assert output_types(ir) == ["tensor<?x1x3x3xf32>"]


def test_pool_indices_type(tmp_path):
    for kernel, kind in (("16,16", "i8"), ("17,16", "i32")):
        line = op(imported(tmp_path, model(f"""
g (float[N,1,32,32] x) => (float[a,b,c,d] y) {{
  y = MaxPool<kernel_shape=[{kernel}]>(x)
}}""")), "nn.max_pool")
        assert line.endswith(f"x{kind}>)")


def test_groups_and_bias(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,4,5,5] x) => (float[N,6,3,3] y) <float[6,2,3,3] w, float[6] b> {
  y = Conv<group=2>(x, w, b)
}"""))
    assert attribute(op(ir, "nn.conv"), "group").startswith("2")
    refused(tmp_path, model("""
g (float[N,4,5,5] x) => (float[N,6,3,3] y) <float[6,4,3,3] w> {
  y = Conv<group=2>(x, w)
}"""), "Conv#0", "group 2", "[6, 4, 3, 3]", "[N, 4, 5, 5]")


@pytest.mark.parametrize("opset, shape", [(11, "tensor<?x12xf32>"), (13, "tensor<?x3x4xf32>")])
def test_B23_softmax_flattens_up_to_opset_12(tmp_path, opset, shape):
    for kind, name in (("Softmax", "nn.softmax"), ("LogSoftmax", "nn.log_softmax")):
        ir = imported(tmp_path, model(f"""
g (float[2,3,4] x) => (float[2,3,4] y) {{
  y = {kind}(x)
}}""", opset=opset))
        assert result_type(op(ir, name)) == shape
        assert attribute(op(ir, name), "axis").startswith("1" if opset == 11 else "2")
        assert output_types(ir) == ["tensor<?x3x4xf32>"]


def test_B23_last_axis_needs_no_flattening(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,3,4] x) => (float[N,3,4] y) { y = Softmax<axis=2>(x) }""", opset=11))
    assert not ops(ir, "nn.reshape")
    ir = imported(tmp_path, model("""
g (float[N,3,4,5] x) => (float[N,3,4,5] y) { y = Softmax<axis=2>(x) }""", opset=11))
    assert result_type(op(ir, "nn.softmax")) == "tensor<?x3x20xf32>"


def test_B27_empty_names_are_absent_inputs(tmp_path):
    text = """
g (float[N,3] x) => (float[N,3] y) <float[3,3] w, float six = {6}> {
  m = Gemm(x, w)
  y = Clip(m, m, six)
}"""
    network = model(text)
    network.graph.node[1].input[1] = ""
    line = op(imported(tmp_path, network), "nn.clip")
    assert attribute(line, "max").startswith("6.0") and attribute(line, "min") is None
    network.graph.node[1].input[2] = ""
    network.graph.node[0].input.append("")
    ir = imported(tmp_path, network)
    line = op(ir, "nn.clip")
    assert attribute(line, "max") is None and attribute(line, "min") is None
    assert op(ir, "nn.linear").count("%") == 3


def test_clip_of_opset_6_has_attributes(tmp_path):
    line = op(imported(tmp_path, model("""
g (float[N,3] x) => (float[N,3] y) { y = Clip<max=6.0>(x) }""", opset=10)), "nn.clip")
    assert attribute(line, "max").startswith("6.0") and attribute(line, "min") is None


C_FORMS = {"": None, "float[5] c": "bias", "float[1,5] c": "bias", "float c": "added",
           "float[1] c": "added", "float[1,1] c": "added"}


@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("c", C_FORMS)
def test_B29_gemm_forms(tmp_path, trans_b, c):
    shape = "5,4" if trans_b else "4,5"
    network = model(f"""
g (float[N,4] x) => (float[N,5] y) <float[{shape}] w{", " + c if c else ""}> {{
  y = Gemm<transB={trans_b}>(x, w{", c" if c else ""})
}}""")
    ir = imported(tmp_path, network)
    assert len(ops(ir, "nn.transpose")) == 1 - trans_b
    assert op(ir, "nn.linear").count("%") == (4 if C_FORMS[c] == "bias" else 3)
    assert len(ops(ir, "nn.add")) == (C_FORMS[c] == "added")
    assert output_types(ir) == ["tensor<?x5xf32>"]


def test_B29_alpha_and_beta(tmp_path):
    text = """
g (float[N,4] x) => (float[N,5] y) <float[4,5] w, float[5] c> {
  y = Gemm<alpha=0.5, beta=%s>(x, w, c)
}"""
    ir = imported(tmp_path, model(text % "2.0"))
    assert len(ops(ir, "nn.mul")) == 2 and len(ops(ir, "nn.add")) == 1
    ir = imported(tmp_path, model(text % "0.0"))
    assert len(ops(ir, "nn.mul")) == 1 and not ops(ir, "nn.add")
    assert list(parameters(ir)) == ["w"]


def test_B29_transA_and_row_constants_are_refused(tmp_path):
    refused(tmp_path, model("""
g (float[4,3] x) => (float[3,5] y) <float[4,5] w> {
  y = Gemm<transA=1, alpha=0.5>(x, w)
}"""), "Gemm#0", "transA")
    refused(tmp_path, model("""
g (float[3,4] x) => (float[3,5] y) <float[4,5] w, float[3,5] c> {
  y = Gemm(x, w, c)
}"""), "Gemm#0", "[3, 5]", "per example")


def test_B30_out_is_the_right_axis(tmp_path):
    network = """
g (float[2,5] x) => (float[2,3] y) <float[5,3] w, float[%d] c> {
  y = Gemm(x, w, c)
}"""
    assert output_types(imported(tmp_path, model(network % 3))) == ["tensor<?x3xf32>"]
    refused(tmp_path, model(network % 5), "Gemm#0", "[5]", "[N, 3]")


def test_K_must_agree(tmp_path):
    refused(tmp_path, model("""
g (float[N,512] x) => (float[N,3] y) <float[256,3] w> {
  y = Gemm(x, w)
}"""), "K of A is 512 but K of B is 256")


def test_B32_matmul_of_rank_3_stays_batched(tmp_path):
    ir = imported(tmp_path, model("""
g (float[2,7,5] x) => (float[2,7,3] y) <float[5,3] w, float[3] b> {
  m = MatMul(x, w)
  y = Add(m, b)
}"""))
    assert result_type(op(ir, "nn.linear")) == "tensor<?x7x3xf32>"
    assert output_types(ir) == ["tensor<?x7x3xf32>"]
    assert 'role = "bias"' in parameters(ir)["b"]


def test_matmul_of_computed_values_is_refused(tmp_path):
    refused(tmp_path, model("""
g (float[N,4,4] x) => (float[N,4,4] y) {
  a = Relu(x)
  y = MatMul(a, x)
}"""), "MatMul#1", "two computed")


def test_B59_spatial_0_is_another_operator(tmp_path):
    network = model("""
g (float[N,3,4,4] x) => (float[N,3,4,4] y)
  <float[3] s, float[3] b, float[3] m, float[3] v> {
  y = BatchNormalization(x, s, b, m, v)
}""", opset=7)
    network.graph.node[0].attribute.append(onnx.helper.make_attribute("spatial", 1))
    op(imported(tmp_path, network), "nn.batch_norm")
    network.graph.node[0].attribute[0].i = 0
    refused(tmp_path, network, "BatchNormalization#0", "spatial")
    network.graph.node[0].attribute[0].name = "axis_of_evil"
    refused(tmp_path, network, "BatchNormalization#0", "axis_of_evil")


def test_batch_norm_in_training_mode(tmp_path):
    network = model("""
g (float[N,3,4,4] x) => (float[N,3,4,4] y)
  <float[3] s, float[3] b, float[3] m, float[3] v> {
  y = BatchNormalization<training_mode=1, momentum=1.0>(x, s, b, m, v)
}""", opset=15)
    text = remarks(tmp_path, network)
    assert "training_mode is ignored" in text
    assert "momentum is 1" in text  # B76
    roles = {name: line for name, line in parameters(imported(tmp_path, network)).items()}
    for name, role in dict(s="norm_scale", b="norm_bias", m="running_mean",
                           v="running_var").items():
        assert f'role = "{role}"' in roles[name]
        assert ("trainable" in roles[name]) == (not role.startswith("running"))


def test_B61_lrn_keeps_onnx_meaning(tmp_path):
    for size in (5, 2):
        line = op(imported(tmp_path, model(f"""
g (float[1,3,1,1] x) => (float[1,3,1,1] y) {{
  y = LRN<size={size}, alpha=1.0, beta=1.0, bias=0.0>(x)
}}""")), "nn.lrn")
        assert attribute(line, "size").startswith(str(size))
        assert attribute(line, "alpha").startswith("1.0")


@pytest.mark.parametrize("opset, node", [(10, "Dropout<ratio=0.25>(x)"), (13, "Dropout(x, r)"),
                                         (13, "Dropout<seed=3>(x, r, t)")])
def test_dropout_of_every_opset(tmp_path, opset, node):
    network = model(f"""
g (float[N,3] x) => (float[N,3] y) <float r = {{0.25}}, bool t = {{1}}> {{
  y = {node}
}}""", opset=opset)
    ir = imported(tmp_path, network)
    assert attribute(op(ir, "nn.dropout"), "ratio").startswith("2.5")
    assert not parameters(ir)


def test_dropout_refusals(tmp_path):
    refused(tmp_path, model("""
g (float[N,3] x) => (float[N,3] y, bool[N,3] m) { y, m = Dropout(x) }"""),
            "Dropout#0", '"m"')
    refused(tmp_path, model("""
g (float[N,3] x) => (float[N,3] y) <float r = {1.5}> { y = Dropout(x, r) }"""),
            "Dropout#0", "1.5")


def test_B69_subtraction_keeps_its_order(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,3] x) => (float[N,3] y) <float one = {1}> {
  a = Add(x, one)
  y = Sub(x, a)
}"""))
    assert "%arg0, %" in op(ir, "nn.sub")
    assert not parameters(ir) and "dense<1.0" in op(ir, "arith.constant")


def test_sum_of_many(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,3] x) => (float[N,3] y) {
  a = Relu(x)
  y = Sum(x, a, x)
}"""))
    assert len(ops(ir, "nn.add")) == 2
    assert all("nn.node = 1" in line for line in ops(ir, "nn.add"))


def test_elementwise_operators(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,3] x) => (float[N,3] y) {
  a = LeakyRelu<alpha=0.25>(x)
  b = Sigmoid(a)
  c = Tanh(b)
  d = Mul(c, a)
  e = Div(d, c)
  y = Identity(e)
}"""))
    assert attribute(op(ir, "nn.leaky_relu"), "alpha").startswith("2.5")
    for name in ("nn.sigmoid", "nn.tanh", "nn.mul", "nn.div"):
        op(ir, name)


@pytest.mark.parametrize("x, y", [("N,3", "N"), ("N,3,4", "N,4")])
def test_batches_must_be_aligned(tmp_path, x, y):
    """[N, 4] against [N, 3, 4] would broadcast one example over another."""
    refused(tmp_path, model(f"""
g (float[{x}] x, float[{y}] z) => (float[{x}] y) {{
  y = Add(x, z)
}}"""), "Add#0", "example by example")


def test_concat(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,3,4] x) => (float[N,8,4] y) <int64[6] p = {0,0,0,0,2,0}> {
  a = Pad(x, p)
  y = Concat<axis=-2>(x, a)
}"""))
    assert output_types(ir) == ["tensor<?x8x4xf32>"]
    refused(tmp_path, model("""
g (float[N,3,4] x) => (float[N,6,4] y) <int64[6] p = {0,0,0,0,0,2}> {
  a = Pad(x, p)
  y = Concat<axis=1>(x, a)
}"""), "Concat#1", "[N, 3, 4]", "[N, 3, 6]")
