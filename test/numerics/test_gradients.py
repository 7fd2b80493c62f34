# SPDX-License-Identifier: Apache-2.0
"""Gradients of whole networks of generated ops, made by the training passes,
against central differences of the same function in NumPy (double)."""
import numpy as np
import pytest

from numerics.jit import opt, run, tensor_type

RANDOM = np.random.default_rng(11)


def f32(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def differences(function, value, step=1e-6):
    """Central differences of a scalar function of one array."""
    value = value.astype(np.float64)
    gradient = np.zeros_like(value)
    for index in np.ndindex(*value.shape):
        high, low = value.copy(), value.copy()
        high[index] += step
        low[index] -= step
        gradient[index] = (function(high) - function(low)) / (2 * step)
    return gradient


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# Name: shape of x, shapes of parameters, body, type of y, NumPy function.
CASES = {
    "add_sub_broadcast": ((3, 4, 5), [(4, 1), (5,)], """
      %0 = nn.add %x, %p0 : (XT, P0) -> XT
      %y = nn.sub %0, %p1 : (XT, P1) -> XT""", (3, 4, 5),
                          lambda x, p, q: x + p - q),
    "mul_by_scalar": ((3, 4), [()], """
      %y = nn.mul %p0, %x : (P0, XT) -> XT""", (3, 4), lambda x, p: p * x),
    "division": ((3, 4, 2), [(4, 1), (1, 4, 2)], """
      %0 = nn.div %x, %p0 : (XT, P0) -> XT
      %1 = nn.add %x, %p1 : (XT, P1) -> XT
      %y = nn.div %1, %0 : (XT, XT) -> XT""", (3, 4, 2),
                 lambda x, p, q: (x + q) / (x / p)),
    "activations": ((3, 5), [(5,), (5,)], """
      %0 = nn.mul %x, %p0 : (XT, P0) -> XT
      %1 = nn.tanh %0 : XT
      %2 = nn.mul %1, %p1 : (XT, P1) -> XT
      %3 = nn.sigmoid %2 : XT
      %4 = nn.leaky_relu %2 {alpha = 0.2 : f64} : XT
      %5 = nn.mul %3, %4 : (XT, XT) -> XT
      %6 = nn.relu %1 : XT
      %7 = nn.clip %1 {min = -0.5 : f64, max = 0.4 : f64} : XT
      %8 = nn.add %6, %7 : (XT, XT) -> XT
      %y = nn.add %5, %8 : (XT, XT) -> XT""", (3, 5), lambda x, p, q: (
                        lambda t: sigmoid(t * q) * np.where(t * q >= 0, t * q, 0.2 * t * q)
                        + np.maximum(t, 0) + np.clip(t, -0.5, 0.4))(np.tanh(x * p))),
    "shapes": ((2, 3, 4), [(3, 4)], """
      %0 = nn.mul %x, %p0 : (XT, P0) -> XT
      %1 = nn.transpose %0 {perm = array<i64: 0, 2, 1>} : XT to tensor<?x4x3xf32>
      %2 = nn.reshape %1 : tensor<?x4x3xf32> to tensor<?x6x2xf32>
      %3 = nn.slice %2 {offsets = array<i64: 0, 1, 0>} : tensor<?x6x2xf32> to tensor<?x4x2xf32>
      %4 = nn.pad %3 {pads = array<i64: 0, -1, 1, 0, 2, 0>, value = 0.5 : f64} : tensor<?x4x2xf32> to tensor<?x5x3xf32>
      %5 = nn.slice %2 {offsets = array<i64: 0, 1, 0>} : tensor<?x6x2xf32> to tensor<?x5x2xf32>
      %y = nn.concat %4, %5, %4 {axis = 2 : i64} : (tensor<?x5x3xf32>, tensor<?x5x2xf32>, tensor<?x5x3xf32>) -> tensor<?x5x8xf32>""",
               (2, 5, 8), lambda x, p: (lambda r: (lambda s: np.concatenate(
                   [s, r[:, 1:6], s], 2))(np.pad(r[:, 2:5], ((0, 0), (0, 2), (1, 0)),
                                                 constant_values=0.5)))(
                   (x * p).transpose(0, 2, 1).reshape(2, 6, 2))),
    "size_one": ((1, 1), [(1,)], """
      %0 = nn.add %x, %p0 : (XT, P0) -> XT
      %y = nn.mul %0, %0 : (XT, XT) -> XT""", (1, 1), lambda x, p: (x + p) ** 2),
}


@pytest.mark.parametrize("name", CASES)
def test_gradient(name):
    x_shape, shapes, body, y_shape, function = CASES[name]
    x, t = f32(*x_shape), f32(*y_shape)
    parameters = [np.asarray(f32(*shape), np.float32) for shape in shapes]
    x_type, y_type = tensor_type(x, (0,)), tensor_type(t, (0,))
    types = [tensor_type(p) for p in parameters]
    declared, loads = "", ""
    for i, type_ in enumerate(types):
        declared += (f'  nn.parameter @p{i} : {type_} {{initializer = "p{i}", role = "other", '
                     "trainable}\n")
        loads += f"    %p{i} = nn.load @p{i} : {type_}\n"
        body = body.replace(f"P{i}", type_)
    body = body.replace("XT", x_type)
    module = f"""module attributes {{nn.options = {{loss = "mse"}}}} {{
{declared}  func.func @forward(%x: {x_type} {{nn.arg = {{kind = "input", name = "x"}}}}) -> ({y_type} {{nn.name = "y"}}) {{
{loads}{body}
    return %y : {y_type}
  }}
}}"""
    text = opt(module, "--hpcc-training-attach-loss", "--hpcc-training-differentiate",
               "--symbol-privatize=exclude=gradients", "--symbol-dce")
    text = "\n".join(line for line in text.splitlines() if "nn.parameter" not in line)
    # Splice into the caller's module.
    inner = text[text.index("{", text.index("module")):]
    inner = inner[inner.index("func.func @gradients"):inner.rindex("}")]
    inner = inner[:inner.rindex("}") + 1].replace("@gradients(", "private @gradients(")
    maps = "\n".join(line for line in text.splitlines() if line.startswith("#"))
    n, rows = 5, len(x)
    got = run(maps + "\n" + inner, "gradients",
              [(x, x_type), (t, y_type), (np.arange(rows, dtype=np.int32), "tensor<?xi32>"),
               (n, "index"), (0, "index"), (0, "i64")] + list(zip(parameters, types)),
              ["tensor<f32>"] + types)

    def loss(values):
        d = function(x.astype(np.float64), *values) - t
        return (d * d).sum() / (n * d[0].size)

    doubles = [p.astype(np.float64) for p in parameters]
    np.testing.assert_allclose(got[0], loss(doubles), rtol=1e-5)
    for i, parameter in enumerate(parameters):
        expected = differences(lambda v, i=i: loss(doubles[:i] + [v] + doubles[i + 1:]), parameter)
        np.testing.assert_allclose(got[1 + i], expected, rtol=2e-4, atol=1e-5)
