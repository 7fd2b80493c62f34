# SPDX-License-Identifier: Apache-2.0
"""Values of generated ops against NumPy in double precision."""
import numpy as np
import pytest

import reference.philox as philox
from numerics.jit import run

RANDOM = np.random.default_rng(7)


def f32(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def call(body, inputs, result, extra=""):
    """A function with one result of the given body."""
    args = ", ".join(f"%{name}: {type_}" for name, (_, type_) in inputs.items())
    text = f"func.func private @f({args}) -> {result} {{\n{body}\n return %y : {result}\n}}"
    return run(text, "f", list(inputs.values()), [result])[0]


SPECIAL = np.array([[0.0, -0.0, 1.0, -1.0, 88.0, -88.0],
                    [100.0, -100.0, np.inf, -np.inf, np.nan, 1e-30]], np.float32)

UNARY = {
    "nn.relu": lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)),
    "nn.sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "nn.tanh": np.tanh,
    "nn.leaky_relu {alpha = 0.25 : f64}": lambda x: np.where(x >= 0, x, 0.25 * x),
    "nn.clip {min = -1.5 : f64, max = 2.0 : f64}": lambda x: np.clip(x, -1.5, 2.0),
    "nn.clip {max = 2.0 : f64}": lambda x: np.minimum(x, 2.0),
    # ONNX: where min exceeds max, everything is max.
    "nn.clip {min = 3.0 : f64, max = 2.0 : f64}": lambda x: np.where(np.isnan(x), x, 2.0),
}


@pytest.mark.parametrize("op", UNARY)
def test_unary_with_special_values(op):
    name, _, attributes = op.partition(" ")
    y = call(f"%y = {name} %x {attributes} : tensor<?x6xf32>",
             {"x": (SPECIAL, "tensor<?x6xf32>")}, "tensor<?x6xf32>")
    with np.errstate(over="ignore", invalid="ignore"):
        expected = UNARY[op](SPECIAL.astype(np.float64))
    np.testing.assert_allclose(y, expected, rtol=2e-6, atol=1e-37)


@pytest.mark.parametrize("op, function", [("add", np.add), ("sub", np.subtract),
                                          ("mul", np.multiply), ("div", np.divide)])
@pytest.mark.parametrize("shape", [(3, 4, 5), (4, 1), (1,), (), (1, 4, 1)])
def test_binary_broadcasts_like_numpy(op, function, shape):
    x, c = f32(3, 4, 5), f32(*shape) + 3
    dynamic = (0,) if shape[:1] == (3,) else ()
    from numerics.jit import tensor_type
    c = np.asarray(c, np.float32)
    c_type = tensor_type(c, dynamic)
    y = call(f"%y = nn.{op} %c, %x : ({c_type}, tensor<?x4x5xf32>) -> tensor<?x4x5xf32>",
             {"x": (x, "tensor<?x4x5xf32>"), "c": (c, c_type)}, "tensor<?x4x5xf32>")
    np.testing.assert_array_equal(y, function(c, x))


@pytest.mark.parametrize("result, axes", [
    ("tensor<4x1xf32>", (0, 2)), ("tensor<5xf32>", (0, 1)), ("tensor<f32>", (0, 1, 2)),
    ("tensor<1x1x1xf32>", (0, 1, 2)), ("tensor<?x1x5xf32>", (1,)), ("tensor<?x4x1xf32>", (2,))])
def test_sum_to(result, axes):
    x = f32(3, 4, 5)
    y = call(f"%y = nn.sum_to %x : tensor<?x4x5xf32> to {result}",
             {"x": (x, "tensor<?x4x5xf32>")}, result)
    rank = result.count("x") if result != "tensor<f32>" else 0
    expected = x.astype(np.float64).sum(axes, keepdims=True)
    np.testing.assert_allclose(y, expected.reshape(expected.shape[3 - rank:]), rtol=1e-5, atol=1e-6)


def test_shapes():
    x = f32(2, 3, 4)
    text = """func.func private @f(%x: tensor<?x3x4xf32>)
      -> (tensor<?x4x3xf32>, tensor<?x7x4xf32>, tensor<?x2x2xf32>, tensor<?x4x5xf32>, tensor<?x6x2xf32>) {
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<?x3x4xf32> to tensor<?x4x3xf32>
  %1 = nn.slice %x {offsets = array<i64: 0, 2, 0>} : tensor<?x3x4xf32> to tensor<?x1x4xf32>
  %2 = nn.concat %x, %1, %x {axis = 1 : i64} : (tensor<?x3x4xf32>, tensor<?x1x4xf32>, tensor<?x3x4xf32>) -> tensor<?x7x4xf32>
  %3 = nn.slice %x {offsets = array<i64: 0, 1, 2>} : tensor<?x3x4xf32> to tensor<?x2x2xf32>
  %4 = nn.pad %x {pads = array<i64: 0, 1, -1, 0, 0, 2>, value = 0.5 : f64} : tensor<?x3x4xf32> to tensor<?x4x5xf32>
  %5 = nn.reshape %x : tensor<?x3x4xf32> to tensor<?x6x2xf32>
  return %0, %2, %3, %4, %5 : tensor<?x4x3xf32>, tensor<?x7x4xf32>, tensor<?x2x2xf32>, tensor<?x4x5xf32>, tensor<?x6x2xf32>
}"""
    results = ["tensor<?x4x3xf32>", "tensor<?x7x4xf32>", "tensor<?x2x2xf32>",
               "tensor<?x4x5xf32>", "tensor<?x6x2xf32>"]
    y = run(text, "f", [(x, "tensor<?x3x4xf32>")], results)
    padded = np.full((2, 4, 5), 0.5, np.float32)
    padded[:, 1:, :3] = x[:, :, 1:]
    for got, expected in zip(y, [x.transpose(0, 2, 1), np.concatenate([x, x[:, 2:3], x], 1),
                                 x[:, 1:, 2:], padded, x.reshape(2, 6, 2)]):
        np.testing.assert_array_equal(got, expected)


#
# Losses and metrics
#

def softmax_loss(x, t, n):
    x = x.astype(np.float64)
    z = x - x.max(1, keepdims=True)
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    rows = np.arange(len(t))
    return -np.log(p[rows, t]).sum() / n, (p - np.eye(x.shape[1])[t]) / n


def logistic_loss(x, y, n):
    x = x.astype(np.float64)
    loss = (np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x)))).sum() / n
    return loss, (1 / (1 + np.exp(-x)) - y) / n


def mse_loss(x, y, n):
    d = x.astype(np.float64) - y
    features = d[0].size
    return (d * d).sum() / (n * features), 2 * d / (n * features)


def run_loss(op, x, t, n, weight=1.0, offset=None, classes=0):
    dims = "x".join(map(str, x.shape[1:]))
    x_type = f"tensor<?x{dims}xf32>"
    t_type = "tensor<?xi32>" if t.dtype == np.int32 else x_type
    where = "offset(%o)" if offset is not None else ""
    text = f"""func.func private @f(%x: {x_type}, %t: {t_type}, %n: index, %o: index) -> (tensor<f32>, {x_type}) {{
  %0, %1 = nn.{op} %x target(%t : {t_type}) examples(%n) {where} {{weight = {weight} : f64, classes = {classes} : i64}} : {x_type} -> tensor<f32>, {x_type}
  return %0, %1 : tensor<f32>, {x_type}
}}"""
    return run(text, "f", [(x, x_type), (t, t_type), (n, "index"), (offset or 0, "index")],
               ["tensor<f32>", x_type])


# 6 rows of a step with 9 examples over all workers: losses add up.
LABELS = np.array([0, 4, 2, 2, 1, 3], np.int32)


def test_softmax_loss():
    x = f32(6, 5)
    loss, dx = run_loss("softmax_loss", x, LABELS, 9, weight=0.5)
    expected, gradient = softmax_loss(x, LABELS, 9)
    np.testing.assert_allclose(loss, 0.5 * expected, rtol=1e-6)
    np.testing.assert_allclose(dx, 0.5 * gradient, rtol=1e-5, atol=1e-8)


def test_softmax_loss_of_large_logits():
    x = np.array([[1000, 0, -1000, 0, 0], [-3e38, 0, 0, 0, 0]], np.float32)
    t = np.array([0, 1], np.int32)
    loss, dx = run_loss("softmax_loss", x, t, 2)
    expected, gradient = softmax_loss(x, t, 2)
    np.testing.assert_allclose(loss, expected, rtol=1e-6)
    np.testing.assert_allclose(dx, gradient, rtol=1e-6, atol=1e-7)


def test_logistic_loss_of_indices_and_of_vectors():
    x = f32(6, 5) * 3
    x[0] = [200, -200, 90, -90, 0]
    hot = np.eye(5, dtype=np.float32)[LABELS]
    expected, gradient = logistic_loss(x, hot, 9)
    for t in (LABELS, hot):
        loss, dx = run_loss("logistic_loss", x, t, 9)
        np.testing.assert_allclose(loss, expected, rtol=1e-6)
        np.testing.assert_allclose(dx, gradient, rtol=1e-5, atol=1e-8)


def test_logistic_loss_of_shards_adds_up():
    x = f32(6, 5)
    expected, gradient = logistic_loss(x, np.eye(5)[LABELS], 6)
    parts = [run_loss("logistic_loss", x[:, a:b].copy(), LABELS, 6, offset=a, classes=5)
             for a, b in ((0, 3), (3, 5))]
    np.testing.assert_allclose(sum(p[0] for p in parts), expected, rtol=1e-6)
    np.testing.assert_allclose(np.concatenate([p[1] for p in parts], 1), gradient, rtol=1e-5,
                               atol=1e-8)


@pytest.mark.parametrize("shape", [(3, 4), (3, 2, 5)])
def test_mse_loss(shape):
    x, t = f32(*shape), f32(*shape)
    loss, dx = run_loss("mse_loss", x, t, 4)
    expected, gradient = mse_loss(x, t, 4)
    np.testing.assert_allclose(loss, expected, rtol=1e-6)
    np.testing.assert_allclose(dx, gradient, rtol=1e-6)


def test_pieces_of_softmax_on_shards():
    """As the workers of a head do it, with NumPy as the all-reduce."""
    x = f32(6, 7)
    cuts = [(0, 3), (3, 5), (5, 7)]
    shards = [x[:, a:b].copy() for a, b in cuts]

    def piece(shard, body, more, results):
        x_type = f"tensor<?x{shard.shape[1]}xf32>"
        inputs = {"x": (shard, x_type), "t": (LABELS, "tensor<?xi32>"), **more}
        args = ", ".join(f"%{k}: {t}" for k, (_, t) in inputs.items())
        text = (f"func.func private @f({args}) -> ({', '.join(results)}) {{\n"
                + body.replace("XT", x_type) + "\n}")
        return run(text, "f", list(inputs.values()), results)

    highest = np.max([piece(s, """%0 = nn.row_max %x : (XT) -> tensor<?xf32>
        return %0 : tensor<?xf32>""", {}, ["tensor<?xf32>"])[0] for s in shards], axis=0)
    np.testing.assert_array_equal(highest, x.max(1))
    terms = sum(piece(s, """%0 = nn.softmax_terms %x, %m, %t offset(%o) : XT, tensor<?xf32>, tensor<?xi32> -> tensor<2x?xf32>
        return %0 : tensor<2x?xf32>""", {"m": (highest, "tensor<?xf32>"), "o": (a, "index")},
                      ["tensor<2x?xf32>"])[0] for s, (a, _) in zip(shards, cuts))
    expected, gradient = softmax_loss(x, LABELS, 6)
    for s, (a, b) in zip(shards, cuts):
        x_type = f"tensor<?x{b - a}xf32>"
        loss, dx = piece(s, """%0, %1 = nn.softmax_finish %x, %m, %s, %t examples(%n) offset(%o) {weight = 1.0 : f64} : XT, tensor<?xf32>, tensor<2x?xf32>, tensor<?xi32> -> tensor<f32>, XT
        return %0, %1 : tensor<f32>, XT""",
                         {"m": (highest, "tensor<?xf32>"), "s": (terms, "tensor<2x?xf32>"),
                          "n": (6, "index"), "o": (a, "index")}, ["tensor<f32>", x_type])
        np.testing.assert_allclose(loss, expected, rtol=1e-6)
        np.testing.assert_allclose(dx, gradient[:, a:b], rtol=1e-5, atol=1e-7)


def test_classification_counts():
    nan = np.nan
    x = np.array([[9, 1, 2, 3, 4, 5, 6],      # target 0: first
                  [1, 9, 9, 0, 0, 0, 0],      # tie for the target 2: the lower class wins
                  [9, 9, 0, 0, 0, 0, 0],      # tie for the target 0: it wins
                  [1, 2, 3, 4, 5, 6, 7],      # target 2: fifth
                  [1, 2, 3, 4, 5, 6, 7],      # target 1: sixth
                  [nan, 9, 0, 0, 0, 0, 0],    # NaN elsewhere ranks before
                  [nan, 1, 1, 1, 1, 1, 1]],   # a NaN target loses
                 np.float32)
    t = np.array([0, 2, 0, 2, 1, 1, 0], np.int32)
    counts = call("%y = nn.classification_counts %x, %t : (tensor<?x7xf32>, tensor<?xi32>) -> tensor<2xf32>",
                  {"x": (x, "tensor<?x7xf32>"), "t": (t, "tensor<?xi32>")}, "tensor<2xf32>")
    np.testing.assert_array_equal(counts, [2, 5])


#
# Dropout
#

@pytest.mark.parametrize("ratio, seed, step", [(0.5, 0, 0), (0.3, 2 ** 40 + 5, 2 ** 33 + 7)])
def test_dropout_mask(ratio, seed, step):
    x = f32(3, 4, 5)
    positions = np.array([7, 1, 100000], np.int32)
    y = call(f"""%y = nn.dropout_train %x positions(%p : tensor<?xi32>) step(%s)
        {{ratio = {ratio} : f64, node = 6 : i64, seed = {seed} : i64}} : tensor<?x4x5xf32>""",
             {"x": (x, "tensor<?x4x5xf32>"), "p": (positions, "tensor<?xi32>"), "s": (step, "i64")},
             "tensor<?x4x5xf32>")
    factors = philox.dropout_scale(x.shape, ratio, positions, step, 6, seed)
    np.testing.assert_array_equal(y, x * factors.astype(np.float32))


def test_dropout_of_a_shard_is_a_part_of_the_whole():
    x = f32(3, 7, 2)
    positions = np.array([4, 5, 6], np.int32)
    factors = philox.dropout_scale(x.shape, 0.4, positions, 3, 9, 1)
    y = call("""%y = nn.dropout_train %x positions(%p : tensor<?xi32>) step(%s) offset(%o)
        {ratio = 0.4 : f64, node = 9 : i64, seed = 1 : i64, features = 7 : i64} : tensor<?x?x2xf32>""",
             {"x": (x[:, 2:5].copy(), "tensor<?x?x2xf32>"), "p": (positions, "tensor<?xi32>"),
              "s": (3, "i64"), "o": (2, "index")}, "tensor<?x?x2xf32>")
    np.testing.assert_array_equal(y, (x * factors.astype(np.float32))[:, 2:5])


#
# Updates
#

def sgd(w, m, g, lr, momentum, decay, form, nesterov):
    w, m, g = (v.astype(np.float64) for v in (w, m, g))
    g = g + decay * w
    if form == "caffe":
        new = momentum * m + lr * g
        return w - ((1 + momentum) * new - momentum * m if nesterov else new), new
    new = momentum * m + g
    return w - lr * (g + momentum * new if nesterov else new), new


@pytest.mark.parametrize("form", ["pytorch", "caffe"])
@pytest.mark.parametrize("nesterov", [False, True])
def test_sgd(form, nesterov):
    w, m, g = f32(3, 4), f32(3, 4), f32(3, 4)
    type_ = "tensor<3x4xf32>"
    flag = ", nesterov" if nesterov else ""
    text = f"""func.func private @f(%w: {type_}, %m: {type_}, %g: {type_}, %lr: f32, %s: f32) -> ({type_}, {type_}) {{
  %0, %1 = nn.sgd %w momentum(%m : {type_}) gradient(%g : {type_}) lr(%lr) scale(%s)
      {{momentum = 0.9 : f64, decay = 0.125 : f64, lr_mult = 2.0 : f64, form = "{form}"{flag}}} : {type_} -> {type_}, {type_}
  return %0, %1 : {type_}, {type_}
}}"""
    got = run(text, "f", [(w, type_), (m, type_), (g, type_), ("0.05", "f32"), ("3.0", "f32")],
              [type_, type_])
    expected = sgd(w, m, 3 * g, 2 * 0.05, 0.9, 0.125, form, nesterov)
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_momentum_forms_differ_once_the_rate_changes():
    """g = 1, momentum 0.9, rates 1 then 0.1: -1.19 and -2.0."""
    type_ = "tensor<1xf32>"
    for form, expected in (("pytorch", -1.19), ("caffe", -2.0)):
        text = f"""func.func private @f(%w: {type_}, %m: {type_}, %g: {type_}, %a: f32, %b: f32) -> {type_} {{
  %0, %1 = nn.sgd %w momentum(%m : {type_}) gradient(%g : {type_}) lr(%a) {{momentum = 0.9 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "{form}"}} : {type_} -> {type_}, {type_}
  %2, %3 = nn.sgd %0 momentum(%1 : {type_}) gradient(%g : {type_}) lr(%b) {{momentum = 0.9 : f64, decay = 0.0 : f64, lr_mult = 1.0 : f64, form = "{form}"}} : {type_} -> {type_}, {type_}
  return %2 : {type_}
}}"""
        zero, one = np.zeros(1, np.float32), np.ones(1, np.float32)
        got = run(text, "f", [(zero, type_), (zero, type_), (one, type_), ("1.0", "f32"),
                              ("0.1", "f32")], [type_])[0]
        np.testing.assert_allclose(got, [expected], rtol=1e-6)


def test_running_variance_is_unbiased_on_request():
    """The numbers of pytorch/pytorch#1410: 1.1667 (PyTorch) and 1.15 (ONNX)."""
    x = np.stack([np.arange(1, 5) + i for i in range(4)]).astype(np.float32)  # [4, 4] rows
    x = x.reshape(4, 1, 4)
    old = np.ones(1, np.float32)
    batch = np.array([x.astype(np.float64).var()], np.float32)
    for unbiased, factor in (("", 1.0), ("unbiased(%x : tensor<?x1x4xf32>)", 16 / 15)):
        y = call(f"%y = nn.running_update %o, %b {unbiased} {{momentum = 0.9 : f64}} : tensor<1xf32>",
                 {"o": (old, "tensor<1xf32>"), "b": (batch, "tensor<1xf32>"),
                  "x": (x, "tensor<?x1x4xf32>")}, "tensor<1xf32>")
        np.testing.assert_allclose(y, 0.9 + 0.1 * batch * factor, rtol=1e-6)
