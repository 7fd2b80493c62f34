# SPDX-License-Identifier: Apache-2.0
"""Forward and backward of the ONNX operators that the small test nets use.

Every operator is a function forward(node, inputs, context) that returns
(outputs, backward); backward(gradients of outputs) returns the gradients of
the inputs, None where there is none. Plain NumPy in the dtype of the inputs.
"""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import reference.philox as philox

OPERATORS = {}


def operator(*names):
    def register(function):
        for name in names:
            OPERATORS[name] = function
        return function
    return register


def spatial_pads(node, spatial, kernel, strides, dilations):
    """Begin and end pads per axis, with auto_pad resolved."""
    mode = node.attribute("auto_pad", "NOTSET")
    if mode == "NOTSET":
        pads = node.attribute("pads", [0] * 2 * len(kernel))
        return list(zip(pads[:len(kernel)], pads[len(kernel):]))
    if mode == "VALID":
        return [(0, 0)] * len(kernel)
    pairs = []
    for size, k, stride, dilation in zip(spatial, kernel, strides, dilations):
        out = -(-size // stride)
        total = max((out - 1) * stride + (k - 1) * dilation + 1 - size, 0)
        small, large = total // 2, total - total // 2
        pairs.append((small, large) if mode == "SAME_UPPER" else (large, small))
    return pairs


def windows_of(x, kernel, strides, dilations, outs):
    """View [n, c, oh, ow, kh, kw] of the padded x."""
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    view = sliding_window_view(x, extent, axis=(2, 3))
    view = view[:, :, ::strides[0], ::strides[1], ::dilations[0], ::dilations[1]]
    return view[:, :, :outs[0], :outs[1]]


def scatter_windows(shape, gradient, strides, dilations):
    """The transpose of windows_of: adds [n, c, oh, ow, kh, kw] up into shape."""
    total = np.zeros(shape, gradient.dtype)
    oh, ow, kh, kw = gradient.shape[2:]
    for i in range(kh):
        for j in range(kw):
            y, x = i * dilations[0], j * dilations[1]
            total[:, :, y:y + (oh - 1) * strides[0] + 1:strides[0],
                  x:x + (ow - 1) * strides[1] + 1:strides[1]] += gradient[..., i, j]
    return total


def pad_spatial(x, pads, value=0.0):
    return np.pad(x, [(0, 0), (0, 0)] + [tuple(p) for p in pads],
                  constant_values=value)


@operator("Conv")
def conv(node, inputs, context):
    x, w = inputs[:2]
    kernel = w.shape[2:]
    strides = node.attribute("strides", [1] * len(kernel))
    dilations = node.attribute("dilations", [1] * len(kernel))
    groups = node.attribute("group", 1)
    pads = spatial_pads(node, x.shape[2:], kernel, strides, dilations)
    padded = pad_spatial(x, pads)
    outs = [(padded.shape[2 + a] - (kernel[a] - 1) * dilations[a] - 1) // strides[a] + 1
            for a in range(2)]
    view = windows_of(padded, kernel, strides, dilations, outs)
    n, grouped_in, grouped_out = x.shape[0], w.shape[1], w.shape[0] // groups

    def rows(group):
        part = view[:, group * grouped_in:(group + 1) * grouped_in]
        return part.transpose(0, 2, 3, 1, 4, 5).reshape(n * outs[0] * outs[1], -1)

    def weights(group):
        return w[group * grouped_out:(group + 1) * grouped_out].reshape(grouped_out, -1)

    y = np.concatenate([rows(g) @ weights(g).T for g in range(groups)], axis=1)
    y = y.reshape(n, outs[0], outs[1], -1).transpose(0, 3, 1, 2)
    if len(inputs) > 2 and inputs[2] is not None:
        y = y + inputs[2][None, :, None, None]

    def backward(dys):
        dy = dys[0]
        flat = dy.transpose(0, 2, 3, 1).reshape(-1, dy.shape[1])
        dw, dview = [], []
        for g in range(groups):
            part = flat[:, g * grouped_out:(g + 1) * grouped_out]
            dw.append((part.T @ rows(g)).reshape(grouped_out, *w.shape[1:]))
            dview.append((part @ weights(g)).reshape(
                n, outs[0], outs[1], grouped_in, *kernel))
        dview = np.concatenate(dview, axis=3).transpose(0, 3, 1, 2, 4, 5)
        dpadded = scatter_windows(padded.shape, dview, strides, dilations)
        dx = dpadded[:, :, pads[0][0]:pads[0][0] + x.shape[2],
                     pads[1][0]:pads[1][0] + x.shape[3]]
        return [dx, np.concatenate(dw), flat.sum(axis=0)][:len(inputs)]

    return [y], backward


@operator("Gemm")
def gemm(node, inputs, context):
    a, b = inputs[:2]
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    trans_a, trans_b = node.attribute("transA", 0), node.attribute("transB", 0)
    left = a.T if trans_a else a
    right = b.T if trans_b else b
    y = alpha * (left @ right)
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None:
        y = y + beta * bias

    def backward(dys):
        dy = dys[0]
        da, db = alpha * (dy @ right.T), alpha * (left.T @ dy)
        result = [da.T if trans_a else da, db.T if trans_b else db]
        if bias is not None:
            result.append(beta * sum_to(dy, bias.shape))
        return result

    return [y], backward


@operator("MatMul")
def matmul(node, inputs, context):
    a, b = inputs

    def backward(dys):
        dy = dys[0]
        da = dy @ np.swapaxes(b, -1, -2)
        db = np.swapaxes(a, -1, -2) @ dy
        return [sum_to(da, a.shape), sum_to(db, b.shape)]

    return [a @ b], backward


def sum_to(gradient, shape):
    """Undo broadcasting: sum the gradient over the axes that were stretched."""
    extra = gradient.ndim - len(shape)
    gradient = gradient.sum(axis=tuple(range(extra)))
    axes = tuple(i for i, size in enumerate(shape) if size == 1 != gradient.shape[i])
    return gradient.sum(axis=axes, keepdims=True).reshape(shape)


@operator("Add", "Sub", "Mul", "Div")
def binary(node, inputs, context):
    a, b = inputs
    value, slopes = {
        "Add": (lambda: a + b, lambda: (1.0, 1.0)),
        "Sub": (lambda: a - b, lambda: (1.0, -1.0)),
        "Mul": (lambda: a * b, lambda: (b, a)),
        "Div": (lambda: a / b, lambda: (1.0 / b, -a / (b * b))),
    }[node.op_type]

    def backward(dys):
        da, db = slopes()
        return [sum_to(dys[0] * da, a.shape), sum_to(dys[0] * db, b.shape)]

    return [value()], backward


@operator("Sum")
def sum_all(node, inputs, context):
    y = inputs[0]
    for other in inputs[1:]:
        y = y + other
    return [y], lambda dys: [sum_to(dys[0], x.shape) for x in inputs]


@operator("Relu")
def relu(node, inputs, context):
    x = inputs[0]
    return [np.maximum(x, 0)], lambda dys: [dys[0] * (x > 0)]


@operator("LeakyRelu")
def leaky_relu(node, inputs, context):
    x = inputs[0]
    slope = np.where(x > 0, 1.0, node.attribute("alpha", 0.01)).astype(x.dtype)
    return [x * slope], lambda dys: [dys[0] * slope]


@operator("Sigmoid")
def sigmoid(node, inputs, context):
    y = 1 / (1 + np.exp(-inputs[0]))
    return [y], lambda dys: [dys[0] * y * (1 - y)]


@operator("Tanh")
def tanh(node, inputs, context):
    y = np.tanh(inputs[0])
    return [y], lambda dys: [dys[0] * (1 - y * y)]


def pool_geometry(node, x):
    kernel = node.attribute("kernel_shape")
    strides = node.attribute("strides", [1] * len(kernel))
    dilations = node.attribute("dilations", [1] * len(kernel))
    pads = spatial_pads(node, x.shape[2:], kernel, strides, dilations)
    outs, full_pads = [], []
    for a, k in enumerate(kernel):
        extent = (k - 1) * dilations[a] + 1
        span = x.shape[2 + a] + sum(pads[a]) - extent
        out = span // strides[a] + 1
        if node.attribute("ceil_mode", 0):
            out = -(-span // strides[a]) + 1
            # A window that would start behind the data is dropped.
            if (out - 1) * strides[a] >= x.shape[2 + a] + pads[a][0]:
                out -= 1
        outs.append(out)
        reach = (out - 1) * strides[a] + extent - x.shape[2 + a] - pads[a][0]
        full_pads.append((pads[a][0], max(reach, pads[a][1])))
    return kernel, strides, dilations, pads, full_pads, outs


@operator("MaxPool")
def max_pool(node, inputs, context):
    """The first of equal values in scan order wins and takes the gradient."""
    x = inputs[0]
    kernel, strides, dilations, _, pads, outs = pool_geometry(node, x)
    padded = pad_spatial(x, pads, -np.inf)
    view = windows_of(padded, kernel, strides, dilations, outs)
    flat = view.reshape(*view.shape[:4], -1)
    winner = flat.argmax(axis=-1)
    y = np.take_along_axis(flat, winner[..., None], axis=-1)[..., 0]

    def backward(dys):
        spread = np.zeros(flat.shape, x.dtype)
        np.put_along_axis(spread, winner[..., None], dys[0][..., None], axis=-1)
        dpadded = scatter_windows(padded.shape, spread.reshape(view.shape),
                                  strides, dilations)
        return [dpadded[:, :, pads[0][0]:pads[0][0] + x.shape[2],
                        pads[1][0]:pads[1][0] + x.shape[3]]]

    return [y], backward


@operator("AveragePool")
def average_pool(node, inputs, context):
    x = inputs[0]
    kernel, strides, dilations, declared, pads, outs = pool_geometry(node, x)
    padded = pad_spatial(x, pads)
    # Which cells count: the data, and the declared pads if the node says so;
    # never what ceil_mode adds behind them.
    cells = np.ones((1, 1) + x.shape[2:], x.dtype)
    if node.attribute("count_include_pad", 0):
        cells = pad_spatial(cells, declared, 1.0)
        rest = [(0, full[1] - end[1]) for full, end in zip(pads, declared)]
        cells = pad_spatial(cells, rest)
    else:
        cells = pad_spatial(cells, pads)
    counts = windows_of(cells, kernel, strides, dilations, outs).sum(axis=(-1, -2))
    view = windows_of(padded, kernel, strides, dilations, outs)

    def backward(dys):
        spread = np.broadcast_to((dys[0] / counts)[..., None, None], view.shape)
        dpadded = scatter_windows(padded.shape, spread, strides, dilations)
        return [dpadded[:, :, pads[0][0]:pads[0][0] + x.shape[2],
                        pads[1][0]:pads[1][0] + x.shape[3]]]

    return [view.sum(axis=(-1, -2)) / counts], backward


@operator("GlobalAveragePool")
def global_average_pool(node, inputs, context):
    x = inputs[0]
    axes = tuple(range(2, x.ndim))
    size = int(np.prod(x.shape[2:]))
    return ([x.mean(axis=axes, keepdims=True)],
            lambda dys: [np.broadcast_to(dys[0] / size, x.shape)])


@operator("LRN")
def lrn(node, inputs, context):
    x = inputs[0]
    size, bias = node.attribute("size"), node.attribute("bias", 1.0)
    alpha, beta = node.attribute("alpha", 1e-4), node.attribute("beta", 0.75)
    channels = x.shape[1]
    below, above = (size - 1) // 2, size - 1 - (size - 1) // 2
    # near[i, j]: channel j is in the window of channel i.
    distance = np.arange(channels)[None, :] - np.arange(channels)[:, None]
    near = ((distance >= -below) & (distance <= above)).astype(x.dtype)
    base = bias + alpha / size * np.einsum("ij,nj...->ni...", near, x * x)
    y = x * base ** -beta

    def backward(dys):
        inner = dys[0] * x * base ** (-beta - 1)
        return [dys[0] * base ** -beta - 2 * alpha * beta / size * x
                * np.einsum("ij,ni...->nj...", near, inner)]

    return [y], backward


@operator("BatchNormalization")
def batch_normalization(node, inputs, context):
    """Statistics over each worker's rows (`context.segments`), as DDP does."""
    x, scale, bias, running_mean, running_var = inputs
    epsilon = node.attribute("epsilon", 1e-5)
    momentum = node.attribute("momentum", 0.9)
    shape = (1, -1) + (1,) * (x.ndim - 2)
    if not context.training:
        inverse = 1 / np.sqrt(running_var + epsilon)
        y = (x - running_mean.reshape(shape)) * (inverse * scale).reshape(shape)
        return [y + bias.reshape(shape)], None
    axes = (0,) + tuple(range(2, x.ndim))
    y, normal = np.empty_like(x), np.empty_like(x)
    inverses, mean_sum, var_sum, rows = [], 0.0, 0.0, 0
    for begin, end in context.segments:
        if begin == end:
            inverses.append(None)
            continue
        part = x[begin:end]
        mean, var = part.mean(axis=axes), part.var(axis=axes)
        inverse = 1 / np.sqrt(var + epsilon)
        normal[begin:end] = (part - mean.reshape(shape)) * inverse.reshape(shape)
        inverses.append(inverse)
        count = part.size // part.shape[1]
        unbiased = count / (count - 1) if context.bn_variance == "pytorch" and count > 1 else 1
        mean_sum = mean_sum + (end - begin) * mean
        var_sum = var_sum + (end - begin) * var * unbiased
        rows += end - begin
    y = normal * scale.reshape(shape) + bias.reshape(shape)
    if rows:
        context.running[node.inputs[3]] = (
            momentum * running_mean + (1 - momentum) * mean_sum / rows)
        context.running[node.inputs[4]] = (
            momentum * running_var + (1 - momentum) * var_sum / rows)

    def backward(dys):
        dy, dx = dys[0], np.zeros_like(x)
        for (begin, end), inverse in zip(context.segments, inverses):
            if begin == end:
                continue
            part, hat = dy[begin:end], normal[begin:end]
            mean = part.mean(axis=axes).reshape(shape)
            slope = (part * hat).mean(axis=axes).reshape(shape)
            dx[begin:end] = (part - mean - hat * slope) * (scale * inverse).reshape(shape)
        return [dx, (dy * normal).sum(axis=axes), dy.sum(axis=axes), None, None]

    return [y], backward


@operator("Dropout")
def dropout(node, inputs, context):
    """Active in training even where the file says it is inert."""
    x = inputs[0]
    ratio = node.attribute("ratio", 0.5)
    if len(inputs) > 1 and inputs[1] is not None:
        ratio = float(inputs[1])
    if not context.training or ratio == 0:
        return [x], lambda dys: [dys[0]]
    scale = philox.dropout_scale(x.shape, ratio, context.positions, context.step,
                                 node.ordinal, context.seed).astype(x.dtype)
    return [x * scale], lambda dys: [dys[0] * scale]


@operator("Identity")
def identity(node, inputs, context):
    return [inputs[0]], lambda dys: [dys[0]]


@operator("Flatten")
def flatten(node, inputs, context):
    x = inputs[0]
    axis = node.attribute("axis", 1)
    shape = (int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:])))
    return [x.reshape(shape)], lambda dys: [dys[0].reshape(x.shape)]


@operator("Reshape")
def reshape(node, inputs, context):
    """A leading constant stands for the batch, whatever it was at export."""
    x, target = inputs[0], [int(v) for v in inputs[1]]
    shape = [x.shape[i] if v == 0 else v for i, v in enumerate(target)]
    shape[0] = x.shape[0]
    return [x.reshape(shape)], lambda dys: [dys[0].reshape(x.shape)]


@operator("Concat")
def concat(node, inputs, context):
    axis = node.attribute("axis")
    edges = np.cumsum([x.shape[axis] for x in inputs])[:-1]
    return ([np.concatenate(inputs, axis=axis)],
            lambda dys: np.split(dys[0], edges, axis=axis))


@operator("Softmax")
def softmax(node, inputs, context):
    x = inputs[0]
    axis = node.attribute("axis", 1 if context.opset < 13 else -1)
    flat = x.reshape(int(np.prod(x.shape[:axis])), -1) if context.opset < 13 else x
    shifted = np.exp(flat - flat.max(axis=1 if context.opset < 13 else axis, keepdims=True))
    y = shifted / shifted.sum(axis=1 if context.opset < 13 else axis, keepdims=True)

    def backward(dys):
        dy = dys[0].reshape(y.shape)
        over = 1 if context.opset < 13 else axis
        return [(y * (dy - (dy * y).sum(axis=over, keepdims=True))).reshape(x.shape)]

    return [y.reshape(x.shape)], backward
