# SPDX-License-Identifier: Apache-2.0
"""Tests of the reference itself: against differences, arithmetic and ONNX."""
import numpy as np
import pytest

from models import nets
from reference import layers, philox, simulate
from reference.evaluator import evaluate
from reference.network import Context, Network, Node
from reference.simulate import Options, Simulation, passes


def relative(a, b):
    return np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30)


# Known answers of Random123 (kat_vectors): philox4x32 with 10 rounds.
@pytest.mark.parametrize("counter, key, expected", [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2,
     (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
     (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
])
def test_philox_known_answers(counter, key, expected):
    assert tuple(int(w) for w in philox.philox4x32(counter, key)) == expected


def test_dropout_keeps_the_stated_share_and_the_mean():
    scale = philox.dropout_scale((50, 400), 0.3, np.arange(50), 3, 4, 5)
    kept = (scale > 0).mean()
    # 20,000 draws: the share's standard deviation is 0.0033.
    assert abs(kept - 0.7) < 0.015
    assert set(np.unique(scale)) == {np.float32(0), np.float32(1) / np.float32(0.7)}


def test_a_unit_drops_by_its_global_position_alone():
    whole = philox.dropout_scale((8, 3, 5), 0.5, np.arange(8), 2, 7, 1)
    part = philox.dropout_scale((3, 3, 5), 0.5, [4, 1, 6], 2, 7, 1)
    assert np.array_equal(part, whole[[4, 1, 6]])
    other = philox.dropout_scale((8, 3, 5), 0.5, np.arange(8), 3, 7, 1)
    assert not np.array_equal(whole, other)


@pytest.mark.parametrize("name", nets.ALL)
def test_forward_is_that_of_the_onnx_evaluator(name):
    model = nets.ALL[name]()
    images, _ = nets.random_batch(model, 3)
    actual = Network(model).infer({"x": images.astype(np.float64)})
    for output, value in evaluate(model, {"x": images}).items():
        assert relative(actual[output], value) < 1e-6, output


# A Softmax in front of logistic units is an error by the rules.
@pytest.mark.parametrize("name, loss", [
    (name, loss) for name in nets.ALL for loss in ("softmax", "logistic", "mse")
    if (name, loss) != ("matmul_net", "logistic")])
def test_gradients_are_the_central_differences(name, loss):
    model = nets.ALL[name]()
    images, labels = nets.random_batch(model, 5)
    if loss == "mse":
        labels = np.random.default_rng(0).standard_normal((5, 5))
    outputs = (("logits", 1.0), ("aux", 0.3)) if name == "auxiliary" else ()
    options = Options(scheme="c", workers=2, batch=5, loss=loss, loss_outputs=outputs)
    simulation = Simulation(model, options)
    _, gradients = simulation.gradients(images, labels)
    random, step = np.random.default_rng(1), 1e-6
    assert set(gradients) == set(simulation.momenta)
    for parameter, gradient in gradients.items():
        direction = random.standard_normal(gradient.shape)
        values = simulation.values[parameter].copy()
        ends = []
        for sign in (1, -1):
            simulation.values[parameter] = values + sign * step * direction
            ends.append(simulation.gradients(images, labels)[0])
        simulation.values[parameter] = values
        slope = (ends[0] - ends[1]) / (2 * step)
        expected = (gradient * direction).sum()
        # The difference quotient is good to about step^2 + 1e-16/step.
        assert abs(slope - expected) < 2e-7 * max(1, abs(expected)), parameter


@pytest.mark.parametrize("scheme, workers, batch, f, n, expected", [
    ("a", 3, 8, 0, 8, [[0, 1, 2, 3, 4, 5, 6, 7]]),
    ("a", 3, 8, 3, 8, [[0, 1, 2], [3, 4, 5], [6, 7]]),
    ("a", 3, 8, 3, 4, [[0, 1, 2], [3], []]),
    ("b", 3, 8, 0, 8, [[0, 1], [2, 3, 4], [5, 6, 7]]),
    ("b", 3, 8, 2, 8, [[0, 1], [2, 3], [4], [5, 6], [7]]),
    ("b", 3, 8, 2, 2, [[], [0], [], [1], []]),
    ("b", 1, 5, 2, 5, [[0, 1], [2, 3], [4]]),
    ("c", 2, 8, 0, 8, [[0, 1, 4, 5], [2, 3, 6, 7]]),
    ("c", 2, 7, 0, 7, [[0, 3, 4], [1, 2, 5, 6]]),
    ("c", 2, 8, 3, 8, [[0, 4], [1, 5], [2, 3, 6, 7]]),
    ("c", 4, 8, 1, 8, [[0, 2, 4, 6], [1, 3, 5, 7]]),
    ("c", 3, 9, 0, 2, [[], [], [0, 1]]),
    ("c", 1, 6, 0, 6, [[0, 1, 2, 3, 4, 5]]),
    ("c", 1, 6, 4, 6, [[0, 1, 2], [3, 4, 5]]),
])
def test_passes_by_hand(scheme, workers, batch, f, n, expected):
    got = [list(p) for p in passes(scheme, workers, batch, f, n)]
    assert got == expected


@pytest.mark.parametrize("scheme", "abc")
def test_every_example_is_in_one_pass(scheme):
    for workers in (1, 2, 3, 5, 8):
        for batch in range(workers, 2 * workers + 6):
            for f in range(0, batch + 2):
                for n in range(1, batch + 1):
                    rows = np.concatenate(passes(scheme, workers, batch, f, n))
                    assert sorted(rows) == list(range(n)), (workers, batch, f, n)


@pytest.mark.parametrize("scheme, f", [("a", 0), ("a", 4), ("b", 0), ("b", 3), ("c", 0),
                                       ("c", 4), ("data", 0)])
@pytest.mark.parametrize("workers", [2, 3, 8])
def test_accumulate_does_not_depend_on_workers_or_scheme(scheme, f, workers):
    """Dropout on, batch 11 divides by nothing, 29 examples end in a short one."""
    model = nets.three_fc()
    data = nets.random_batch(model, 29)
    common = dict(batch=11, lr=0.05, weight_decay=1e-3, seed=3)
    losses, values = simulate.train(model, data, Options(scheme="data", **common), 8)
    other, other_values = simulate.train(
        model, data, Options(scheme=scheme, workers=workers, fc_batch=f,
                             fc_update="accumulate", **common), 8)
    assert relative(other, losses) < 1e-12
    for name, value in values.items():
        assert relative(other_values[name], value) < 1e-11, name


def test_every_depends_on_the_passes():
    model = nets.three_fc()
    data = nets.random_batch(model, 12)
    common = dict(batch=12, lr=0.05, workers=2)
    a, _ = simulate.train(model, data, Options(scheme="c", fc_update="every", **common), 4)
    b, _ = simulate.train(model, data, Options(scheme="b", fc_update="every", **common), 4)
    # The first loss: b's second pass already sees the updated head.
    assert relative(a, b) > 1e-4


def test_group_of_all_passes_is_accumulate():
    model = nets.three_fc()
    data = nets.random_batch(model, 12)
    common = dict(batch=12, lr=0.05, workers=3, scheme="c")
    a, x = simulate.train(model, data, Options(fc_update="3", **common), 4)
    b, y = simulate.train(model, data, Options(fc_update="accumulate", **common), 4)
    assert relative(a, b) < 1e-13
    assert all(relative(x[k], y[k]) < 1e-12 for k in x)


def test_which_layers_are_the_head():
    expected = {
        "three_fc": ["fc1", "relu3", "drop1", "fc2", "relu4", "fc3"],
        "mlp": ["fc0", "relu0", "fc1", "relu1", "last"],
        "matmul_net": ["fc1_matmul", "fc1", "relu2", "fc2_matmul", "fc2"],
        "no_head": [],
        "auxiliary": ["aux_fc", "fc1", "relu3", "fc2"],
    }
    for name, layers in expected.items():
        model = nets.ALL[name]()
        outputs = (("logits", 1.0), ("aux", 0.3)) if name == "auxiliary" else ()
        simulation = Simulation(model, Options(batch=4, loss_outputs=outputs))
        simulation.gradients(*nets.random_batch(model, 4))
        assert [n.name for n in simulation.head] == layers, name


def test_place_moves_a_layer_to_the_trunk():
    model = nets.three_fc()
    simulation = Simulation(model, Options(batch=4, place=(("fc1", "data"),)))
    simulation.gradients(*nets.random_batch(model, 4))
    assert [n.name for n in simulation.head] == ["fc2", "relu4", "fc3"]


# y = w x, mse: loss = mean (w x - t)^2, gradient = mean 2 (w x - t) x.
def one_weight(**options):
    model = nets.one_layer(1, 1, [[2.0]], None)
    return Simulation(model, Options(loss="mse", **options))


def test_one_weight_two_passes_by_hand():
    simulation = one_weight(scheme="b", workers=2, batch=2, lr=0.1, momentum=0.5)
    loss = simulation.step(np.array([[1.0], [2.0]]), np.array([[0.0], [0.0]]))
    # Pass 0: loss 4, g = 2*2*1 = 4, m = 4, w = 2 - 0.4 = 1.6.
    # Pass 1: loss (3.2)^2 = 10.24, g = 2*3.2*2 = 12.8, m = 2 + 12.8, w = 1.6 - 1.48.
    assert loss == pytest.approx((4 + 10.24) / 2)
    assert simulation.values["w"][0, 0] == pytest.approx(0.12)


def test_one_weight_accumulated_by_hand():
    simulation = one_weight(scheme="b", workers=2, batch=2, lr=0.1, fc_update="accumulate")
    loss = simulation.step(np.array([[1.0], [2.0]]), np.array([[0.0], [0.0]]))
    # loss (4 + 16)/2, g = (4 + 16)/2 = 10.
    assert loss == pytest.approx(10)
    assert simulation.values["w"][0, 0] == pytest.approx(1.0)


def test_an_empty_pass_makes_no_update():
    """Decay would show it: scheme b, worker 0 has no example of n = 1."""
    simulation = one_weight(scheme="b", workers=2, batch=2, lr=0.1, weight_decay=1.0,
                            momentum=0.0)
    simulation.step(np.array([[0.0]]), np.array([[0.0]]))
    assert simulation.values["w"][0, 0] == pytest.approx(2 * 0.9)


def constant_gradient(form, nesterov=False):
    """Case B74: gradient 1 twice, momentum 0.9, rate 1 then 0.1."""
    simulation = one_weight(batch=1, momentum=0.9, momentum_form=form, nesterov=nesterov,
                            lr=lambda step: [1.0, 0.1][step])
    simulation.values["w"] = np.zeros((1, 1))
    for _ in range(2):
        w = simulation.values["w"][0, 0]
        # mse gradient 2 (w x - t) x = 1 at x = 1 for t = w - 1/2.
        simulation.step(np.array([[1.0]]), np.array([[w - 0.5]]))
    return simulation.values["w"][0, 0]


def test_B74_momentum_forms():
    assert constant_gradient("pytorch") == pytest.approx(-1.19)
    assert constant_gradient("caffe") == pytest.approx(-2.0)
    # PyTorch: m = 1, 1.9; w = -(1.9) - 0.1 (1 + 1.71).
    assert constant_gradient("pytorch", True) == pytest.approx(-2.171)
    # Caffe: m = 1, 1; w = -(1.9) - (1.9*1 - 0.9*1).
    assert constant_gradient("caffe", True) == pytest.approx(-2.9)


def test_decay_spares_roles():
    model = nets.batch_norm_net()
    options = Options(batch=4, lr=1.0, weight_decay=0.1, momentum=0.0, scheme="data",
                      no_decay=("bias", "norm"))
    images, labels = nets.random_batch(model, 4)
    plain = Simulation(model, Options(**{**options.__dict__, "weight_decay": 0.0}))
    decayed = Simulation(model, options)
    start = {k: v.copy() for k, v in plain.values.items()}
    plain.step(images, labels)
    decayed.step(images, labels)
    for name, value in start.items():
        shrink = 0.1 if name in ("conv1.weight", "fc1.weight", "fc2.weight") else 0.0
        difference = plain.values[name] - decayed.values[name]
        assert np.allclose(difference, shrink * value, atol=1e-12), name


@pytest.mark.parametrize("update, scheme, f, head_size", [
    ("accumulate", "c", 0, 24), ("every", "c", 0, 6), ("every", "b", 2, 2), ("2", "c", 0, 12),
])
def test_rates_scale_by_nominal_sizes(update, scheme, f, head_size):
    for scaling, power in (("none", 0), ("linear", 1), ("sqrt", 0.5)):
        simulation = Simulation(nets.three_fc(), Options(
            batch=24, workers=4, scheme=scheme, fc_batch=f, fc_update=update,
            lr_scaling=scaling, base_batch=12))
        simulation.gradients(*nets.random_batch(nets.three_fc(), 5))
        assert simulation._rate_factor(False) == pytest.approx(2 ** power)
        assert simulation._rate_factor(True) == pytest.approx((head_size / 12) ** power)


@pytest.mark.parametrize("variance, expected", [("pytorch", 7 / 6), ("onnx", 1.15)])
def test_B78_running_variance(variance, expected):
    """The 16 values 1..4, 2..5, 3..6, 4..7 of a channel have variance 2.5."""
    rows = np.arange(1, 5)[:, None, None, None] + np.arange(4)[None, None, :, None]
    x = rows * np.ones((1, 3, 1, 1))
    node = Node(0, "bn", "BatchNormalization", ["x", "s", "b", "mean", "var"], ["y"], {})
    context = Context(15, True, np.arange(4), [(0, 4)], bn_variance=variance)
    one, zero = np.ones(3), np.zeros(3)
    layers.batch_normalization(node, [x, one, zero, zero, one], context)
    assert context.running["mean"] == pytest.approx(np.full(3, 0.4))
    assert context.running["var"] == pytest.approx(np.full(3, expected))


def test_batch_norm_weighs_workers_by_their_counts():
    x = np.arange(10.0).reshape(5, 2)
    node = Node(0, "bn", "BatchNormalization", ["x", "s", "b", "mean", "var"], ["y"],
                {"momentum": 0.0})
    context = Context(15, True, np.arange(5), [(0, 2), (2, 5), (5, 5)], bn_variance="onnx")
    one, zero = np.ones(2), np.zeros(2)
    (y,), _ = layers.batch_normalization(node, [x, one, zero, zero, one], context)
    # Column 0 is 0 2 | 4 6 8: means 1 and 6, variances 1 and 8/3.
    assert context.running["mean"][0] == pytest.approx((2 * 1 + 3 * 6) / 5)
    assert context.running["var"][0] == pytest.approx((2 * 1 + 3 * 8 / 3) / 5)
    assert y[:2, 0] == pytest.approx(np.array([-1, 1]), rel=1e-4)


def test_B91_the_first_of_equal_maxima_takes_the_gradient():
    node = Node(0, "pool", "MaxPool", ["x"], ["y"], {"kernel_shape": [2, 2]})
    (y,), backward = layers.max_pool(node, [np.array([[[[1.0, 2], [2, 2]]]])], None)
    assert y.item() == 2
    assert backward([np.ones((1, 1, 1, 1))])[0].ravel().tolist() == [0, 1, 0, 0]


def test_B61_lrn_divides_alpha_by_the_size():
    node = Node(0, "lrn", "LRN", ["x"], ["y"], dict(size=2, alpha=1.0, beta=1.0, bias=0.0))
    (y,), _ = layers.lrn(node, [np.ones((1, 3, 1, 1))], None)
    # Windows of 2, 2 and 1 ones: y = 1 / (1/2 * count).
    assert y.ravel().tolist() == [1, 1, 2]


def test_B68_average_pool_divides_by_real_elements():
    node = Node(0, "pool", "AveragePool", ["x"], ["y"],
                dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1))
    (y,), _ = layers.average_pool(node, [np.ones((1, 1, 3, 3))], None)
    assert y.shape == (1, 1, 2, 2) and np.all(y == 1)


def test_B16_pads_of_begin_and_end_differ():
    node = Node(0, "conv", "Conv", ["x", "w"], ["y"],
                dict(pads=[0, 0, 1, 1], strides=[2, 2]))
    (y,), _ = layers.conv(node, [np.ones((1, 1, 4, 4)), np.ones((1, 1, 3, 3))], None)
    assert y.tolist() == [[[[9, 6], [6, 4]]]]


def test_batches_end_an_epoch_with_a_short_one():
    parts = [(s.start, s.stop) for s in simulate.batches(5, 2, 5)]
    assert parts == [(0, 2), (2, 4), (4, 5), (0, 2), (2, 4)]
