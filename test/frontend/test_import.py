# SPDX-License-Identifier: Apache-2.0
"""The graph as a whole: inputs, parameters, names, order, versions. Test names
begin with the id of the report they come from."""
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from e2e.harness import MODELS, needs_shared, run
from frontend.imports import (imported, model, op, ops, output_types, parameters, refused, remarks,
                              save)

SMALL = """
g (float[N,3,4,4] x) => (float[N,5] y)
  <float[2,3,3,3] conv_w, float[5,8] fc_w, float[5] fc_b, int64[2] s = {-1, 8}> {
  c = Conv(x, conv_w)
  r = Reshape(c, s)
  y = Gemm<transB=1>(r, fc_w, fc_b)
}"""


def list_initializers_as_inputs(network):
    for tensor in network.graph.initializer:
        network.graph.input.append(helper.make_tensor_value_info(
            tensor.name, tensor.data_type, list(tensor.dims)))


@pytest.mark.parametrize("ir_version, listed", [(3, True), (6, True), (6, False), (8, False)])
def test_B37_B38_inputs_are_those_without_initializers(tmp_path, ir_version, listed):
    network = model(SMALL, ir_version=ir_version)
    if listed:
        list_initializers_as_inputs(network)
    ir = imported(tmp_path, network)
    assert ir.count("nn.arg") == 1 and 'kind = "input", name = "x"' in ir
    assert list(parameters(ir)) == ["conv_w", "fc_w", "fc_b"]


def test_B39_one_initializer_is_one_parameter(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,4] x) => (float[N,4] y) <float[4,4] w> {
  a = MatMul(x, w)
  t = Transpose(w)
  y = MatMul(a, t)
}"""))
    assert list(parameters(ir)) == ["w"] and len(ops(ir, "nn.load")) == 1
    assert len(ops(ir, "nn.linear")) == 2


def test_B40_an_output_may_be_used_inside(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,4] x) => (float[N,4] y, float[N,2] z) <float[4,2] w> {
  y = Relu(x)
  z = Gemm(y, w)
}"""))
    assert output_types(ir) == ["tensor<?x4xf32>", "tensor<?x2xf32>"]
    assert 'nn.name = "y"' in ir and 'nn.name = "z"' in ir


def test_B42_nodes_in_any_order(tmp_path):
    network = model("""
g (float[N,4] x) => (float[N,2] y) <float[4,2] w, float[2] b> {
  m = MatMul(x, w)
  y = Add(m, b)
}""")
    first, second = network.graph.node
    second, first = onnx.NodeProto.FromString(second.SerializeToString()), \
        onnx.NodeProto.FromString(first.SerializeToString())
    del network.graph.node[:]
    network.graph.node.extend([second, first])
    ir = imported(tmp_path, network)
    assert "nn.node = 1" in op(ir, "nn.linear") and "nn.node = 0" in op(ir, "nn.add")


def test_B42_a_cycle_is_an_error(tmp_path):
    network = model("""
g (float[N,4] x) => (float[N,4] y) {
  a = Add(x, x)
  b = Relu(a)
  y = Relu(b)
}""")
    network.graph.node[0].input[1] = "b"
    for node, name in zip(network.graph.node, ["first", "second", "third"]):
        node.name = name
    text = refused(tmp_path, network, '"first"', '"second"', "cycle")
    assert len(text.splitlines()) == 4


def test_B43_names_of_any_characters(tmp_path):
    names = ["a/b", "a:b", "0", "weight one", "\"quoted\"", "ключ", "forward", "train_step"]
    nodes, value = [], "x"
    for i, name in enumerate(names):
        nodes.append(helper.make_node("Add", [value, name], [f"v{i}"],
                                      name=["", "знак", "n/1", "n:1"][i % 4]))
        value = f"v{i}"
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, ["N", 3])],
        [numpy_helper.from_array(np.full(3, i, np.float32), n) for i, n in enumerate(names)])
    network = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    ir = imported(tmp_path, network)
    symbols = [line.split(" : ")[0] for line in ops(ir, "nn.parameter")]
    assert len(set(symbols)) == len(names)
    assert len([line for line in ops(ir, "func.func") if "@forward(" in line]) == 1
    for i, name in enumerate(names):
        values = run("hpcc-import", tmp_path / "model.onnx", "--read", name).out.split()
        assert values == [str(i)] * 3 or [float(v) for v in values] == [i] * 3
    assert run("hpcc-opt", write(tmp_path, ir)).out  # prints and parses


def write(folder, text):
    path = folder / "ir.mlir"
    path.write_text(text)
    return path


def test_locations_are_node_names(tmp_path):
    network = model(SMALL)
    network.graph.node[0].name = "features/0"
    ir = imported(tmp_path, network, "--locations")
    assert re.search(r'loc\("features/0"\(#loc\d*\)\)', ir)
    assert re.search(r'loc\("Gemm#2"\(#loc\d*\)\)', ir)
    assert f'loc("{tmp_path / "model.onnx"}")' in ir


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("kind, bits, values", [
    (TensorProto.BFLOAT16, [48996, 16256], [-0.890625, 1]),
    (TensorProto.FLOAT16, [15360, 49152], [1, -2]),
    (TensorProto.FLOAT16, [1, 31744], [2.0 ** -24, np.inf])])
def test_B45_B46_sixteen_bit_weights(tmp_path, kind, bits, values, raw):
    network = model("g (float[N,2] x) => (float[N,1] y) <float[1,2] w> "
                    "{ y = Gemm<transB=1>(x, w) }")
    tensor = network.graph.initializer[0]
    tensor.Clear()
    tensor.name, tensor.data_type = "w", kind
    tensor.dims.extend([1, 2])
    if raw:
        tensor.raw_data = np.array(bits, np.uint16).tobytes()
    else:
        tensor.int32_data.extend(bits)
    out = run("hpcc-import", save(tmp_path, network), "--read", "w").out.split()
    np.testing.assert_allclose([float(v) for v in out], values, rtol=1e-5)
    assert "tensor<1x2xf32>" in parameters(imported(tmp_path, network))["w"]


@pytest.mark.parametrize("array", [np.array([1.5, -2], np.float64)])
def test_double_weights(tmp_path, array):
    network = model("g (float[N,2] x) => (float[N,1] y) <float[1,2] w> "
                    "{ y = Gemm<transB=1>(x, w) }")
    network.graph.initializer[0].CopyFrom(numpy_helper.from_array(array.reshape(1, 2), "w"))
    out = run("hpcc-import", save(tmp_path, network), "--read", "w").out.split()
    assert [float(v) for v in out] == [1.5, -2]


def test_B48_functions_are_refused_by_name(tmp_path):
    network = model("g (float[N,2] x) => (float[N,2] y) { y = foo(x) }")
    network.graph.node[0].domain = "local"
    network.opset_import.append(helper.make_opsetid("local", 1))
    network.functions.append(helper.make_function(
        "local", "foo", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])],
        [helper.make_opsetid("", 13)]))
    refused(tmp_path, network, 'foo of domain "local" (version 1)', "functions of the model")


def test_B49_control_flow_is_refused_by_name(tmp_path):
    branch = helper.make_graph([helper.make_node("Add", ["x", "w"], ["b"])], "branch", [],
                               [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)])
    network = model("g (float[N,2] x, bool c) => (float[N,2] y) <float[2] w> { y = Relu(x) }")
    network.graph.node[0].CopyFrom(helper.make_node(
        "If", ["c"], ["y"], name="decide", then_branch=branch, else_branch=branch))
    refused(tmp_path, network, '"decide": If (opset 13) is not supported')


@pytest.mark.parametrize("attribute, ok", [
    ({"value_ints": [-1, 8]}, True), ({"value": numpy_helper.from_array(np.array([-1, 8]))}, True),
    ({"value_string": "text"}, False)])
def test_B51_constant_forms(tmp_path, attribute, ok):
    network = model("""
g (float[N,2,2,2] x) => (float[N,8] y) {
  y = Reshape(x, x)
}""")
    network.graph.node[0].input[1] = "s"
    network.graph.node.append(helper.make_node("Constant", [], ["s"], name="target", **attribute))
    if ok:
        assert output_types(imported(tmp_path, network)) == ["tensor<?x8xf32>"]
    else:
        refused(tmp_path, network, "target", "value_string")


def test_B51_float_constants(tmp_path):
    """A constant that feeds a weight slot is a parameter, a bound is not."""
    network = model("""
g (float[N,2] x) => (float[N,2] y) <int64[2] shape = {2, 2}> {
  w = ConstantOfShape(shape)
  b = Constant<value_floats=[1.0, 2.0]>()
  g = Gemm(x, w, b)
  two = Constant<value_float=2.0>()
  y = Mul(g, two)
}""")
    ir = imported(tmp_path, network)
    assert list(parameters(ir)) == ["w", "b"]
    read = {name: run("hpcc-import", tmp_path / "model.onnx", "--read", name).out.split()
            for name in ("w", "b")}
    assert [float(v) for v in read["w"]] == [0, 0, 0, 0]
    assert [float(v) for v in read["b"]] == [1, 2]


@pytest.mark.parametrize("change, mention", [
    (lambda m: m.opset_import[0].__setattr__("version", 999), "opset 999"),
    (lambda m: m.opset_import[0].__setattr__("version", 6), "opset 6"),
    (lambda m: m.opset_import[0].__setattr__("version", -3), "opset -3"),
    (lambda m: m.ClearField("opset_import"), "opset_import"),
    (lambda m: (m.ClearField("opset_import"), m.__setattr__("ir_version", 2)), "opset 1"),
    (lambda m: m.opset_import.append(helper.make_opsetid("ai.onnx", 9)), "two opsets"),
    (lambda m: m.__setattr__("ir_version", 99), "IR version 99")])
def test_B52_versions(tmp_path, change, mention):
    network = model(SMALL)
    change(network)
    refused(tmp_path, network, mention)


def test_B53_attributes_without_a_type(tmp_path):
    network = model("""
g (float[N,1,4,4] x) => (float[N,1,2,2] y) {
  p = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x)
  y = LeakyRelu<alpha=0.5>(p)
}""")
    for node in network.graph.node:
        for attribute in node.attribute:
            attribute.ClearField("type")
    ir = imported(tmp_path, network)
    assert output_types(ir) == ["tensor<?x1x2x2xf32>"]
    assert "alpha = 5.0" in op(ir, "nn.leaky_relu")


def test_wrong_attribute_type_is_an_error(tmp_path):
    network = model("g (float[N,3] x) => (float[N,3] y) { y = LeakyRelu<alpha=0.5>(x) }")
    network.graph.node[0].attribute[0].CopyFrom(helper.make_attribute("alpha", "high"))
    refused(tmp_path, network, "LeakyRelu#0", "alpha", "float")


def test_B54_domains(tmp_path):
    network = model("g (float[N,3] x) => (float[N,3] y) { y = Relu(x) }")
    network.graph.node[0].domain = "ai.onnx"
    op(imported(tmp_path, network), "nn.relu")
    network.graph.node[0].domain = "com.microsoft"
    network.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    refused(tmp_path, network, 'Relu of domain "com.microsoft" (version 1)')
    network.opset_import[0].domain = "ai.onnx"
    network.graph.node[0].domain = ""
    op(imported(tmp_path, network), "nn.relu")


def test_everything_unsupported_is_one_list(tmp_path):
    """Operators, attributes and versions, in one error; supported nodes, and
    nodes that no output needs, are not in it."""
    network = model("""
g (float[N,3] x) => (float[N,3] y) {
  a = Erf(x)
  b = Relu(a)
  unused = Gelu(x)
  c = Foo(b)
  y = LeakyRelu<alpha=0.5, slope=2>(c)
}""")
    for node in network.graph.node:
        node.name = f"the_{node.op_type}"
    text = refused(tmp_path, network, "3 problems", '"the_Erf": Erf (opset 13)',
                   '"the_Foo": Foo (opset 13)', "attribute slope is not supported")
    assert "Relu (opset 13) is" not in text and "Gelu" not in text


def test_dead_nodes_are_left_out(tmp_path):
    network = model("""
g (float[N,3] x) => (float[N,3] y) {
  unused = Sigmoid(x)
  y = Relu(x)
}""")
    assert "1 nodes that no output needs" in remarks(tmp_path, network)
    assert not ops(imported(tmp_path, network), "nn.sigmoid")


def test_B92_only_weights_are_trainable(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,1,4,4] x) => (float[N,2] y)
  <float[3,1,3,3] conv_w, float[3] s, float[3] b, float[3] m, float[3] v, float zero = {0},
   float six = {6}, int64[2] shape = {-1, 12}, float[12,2] fc_w, float[2] fc_b,
   float ratio = {0.5}> {
  c = Conv(x, conv_w)
  n = BatchNormalization(c, s, b, m, v)
  k = Clip(n, zero, six)
  r = Reshape(k, shape)
  d = Dropout(r, ratio)
  y = Gemm(d, fc_w, fc_b)
}"""))
    trainable = [name for name, line in parameters(ir).items() if "trainable" in line]
    assert trainable == ["conv_w", "s", "b", "fc_w", "fc_b"]
    assert list(parameters(ir)) == ["conv_w", "s", "b", "m", "v", "fc_w", "fc_b"]


def test_a_bias_of_one_unit_is_trained(tmp_path):
    """Its one element does not make it a constant; a scalar of rank 0 is one."""
    network = model("""
g (float[N,4] x) => (float[N,1] y) <float[4,1] w, float[1] b, float c> {
  m = MatMul(x, w)
  a = Add(m, b)
  y = Mul(a, c)
}""")
    assert list(parameters(imported(tmp_path, network))) == ["w", "b"]
    assert 'scalar "c" is not trained' in remarks(tmp_path, network)
    replaced = parameters(imported(tmp_path, network, "--classes", 3))
    assert "tensor<4x3xf32>" in replaced["w"] and "tensor<3xf32>" in replaced["b"]


def test_B70_a_weight_behind_a_reshape(tmp_path):
    ir = imported(tmp_path, model("""
g (float[N,3] x) => (float[N,4] y) <float[12] w, int64[2] s = {3, 4}> {
  m = Reshape(w, s)
  y = Gemm(x, m)
}"""))
    assert "tensor<12xf32>" in parameters(ir)["w"] and 'role = "weight"' in parameters(ir)["w"]
    folded = run("hpcc-opt", write(tmp_path, ir), "--hpcc-normalize-fold-parameter-shapes").out
    assert "tensor<4x3xf32>" in parameters(folded)["w"] and "transposed" in parameters(folded)["w"]
    assert not ops(folded, "nn.reshape") and not ops(folded, "nn.transpose")


def test_symbolic_feature_sizes_are_refused(tmp_path):
    refused(tmp_path, model("g (float[N,3,height,4] x) => (float[N,3,height,4] y) "
                            "{ y = Relu(x) }"), 'input "x"', '"height"', "dimension 2")


def test_integer_inputs_are_refused(tmp_path):
    refused(tmp_path, model("g (int64[N,3] x) => (int64[N,3] y) { y = Relu(x) }"),
            'input "x"', "int64")


@pytest.mark.parametrize("transposed", [0, 1])
def test_classes_replaces_the_last_layer(tmp_path, transposed):
    shape = "5,8" if transposed else "8,5"
    network = model(f"""
g (float[N,3] x) => (float[N,5] y) <float[3,8] a, float[{shape}] w, float[5] b> {{
  h = Gemm(x, a)
  r = Relu(h)
  l = Gemm<transB={transposed}>(r, w, b)
  y = Softmax(l)
}}""")
    ir = imported(tmp_path, network, "--classes", 7)
    assert output_types(ir) == ["tensor<?x7xf32>"]
    found = parameters(ir)
    assert ("tensor<7x8xf32>" if transposed else "tensor<8x7xf32>") in found["w"]
    assert 'reinit = "he"' in found["w"] and 'reinit = "zeros"' in found["b"]
    assert "tensor<7xf32>" in found["b"] and "reinit" not in found["a"]


def test_classes_of_matmul_and_add(tmp_path):
    network = model("""
g (float[N,8] x) => (float[N,5] y) <float[8,5] w, float[5] b> {
  m = MatMul(x, w)
  y = Add(b, m)
}""")
    ir = imported(tmp_path, network, "--classes", 3)
    assert output_types(ir) == ["tensor<?x3xf32>"]
    assert "tensor<3xf32>" in parameters(ir)["b"]


@pytest.mark.parametrize("body, mention", [
    ("y = Relu(x)", "no fully-connected layer"),
    ("h = Gemm(x, w)\n i = Gemm(h, w)\n y = Relu(i)", "used by other nodes"),
    ("h = Gemm(x, w)\n y = LRN<size=3>(h)", "LRN lies between")])
def test_classes_that_cannot_be_replaced(tmp_path, body, mention):
    refused(tmp_path, model(f"g (float[N,8] x) => (float[N,8] y) <float[8,8] w> {{ {body} }}"),
            mention, flags=["--classes", 3])


def test_reinit(tmp_path):
    path = MODELS / "digits.onnx"
    every = parameters(run("hpcc-import", path, "--reinit", "all").out)
    assert all("reinit" in line for line in every.values())
    some = parameters(run("hpcc-import", path, "--reinit", "fc?.weight").out)
    assert [n for n, line in some.items() if "reinit" in line] == ["fc1.weight", "fc2.weight"]
    outcome = run("hpcc-import", path, "--reinit", "fc9*", status=1)
    assert "fc9*" in outcome.err


@pytest.mark.parametrize("name, layers", [("bvlc_alexnet", 8), ("vgg19", 19), ("zfnet512", 8),
                                          ("resnet50", 54)])
def test_light_models(name, layers):
    """Their weights are made by ConstantOfShape nodes; 53 + 1 layers in ResNet."""
    path = needs_shared("data", "onnx-light", f"light_{name}.onnx")
    ir = run("hpcc-import", path).out
    assert len(ops(ir, "nn.conv")) + len(ops(ir, "nn.linear")) == layers
    assert output_types(ir) == ["tensor<?x1000xf32>"]
    assert not ops(ir, "arith.constant")
