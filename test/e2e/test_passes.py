# SPDX-License-Identifier: Apache-2.0
"""Training with several head updates per step against the NumPy simulation.

hpcc computes in float32, the simulation in float64. One rounding is 6e-8;
sums of a few hundred terms and 20 steps of a contracting training bring that
to some 1e-6 in the worst tensor. 2e-5 leaves room for that and for nothing
else: a pass with one example too many moves the weights by more than 1e-3.
"""
import pytest

from e2e.harness import assert_close, train
from models import nets
from reference import simulate

TOLERANCE = 2e-5
BATCH, EXAMPLES, STEPS = 22, 22 * 3 + 3, 20


def compare(folder, name, flags, steps=STEPS, examples=EXAMPLES, labels=None, **options):
    model = nets.ALL[name]()
    data = nets.random_batch(model, examples)
    if labels is not None:
        data = data[0], labels
    options = {"batch": BATCH, "lr": 0.02, "weight_decay": 1e-3, "seed": 5, **options}
    losses, values = simulate.train(model, data, simulate.Options(**options), steps)
    spelled = []
    for key in ("scheme", "batch", "fc_batch", "fc_update", "lr", "momentum", "weight_decay",
                "momentum_form", "lr_scaling", "base_batch", "seed", "loss", "bn_variance"):
        if options.get(key):
            spelled += ["--" + key.replace("_", "-"), options[key]]
    actual = train(folder, model, data, "--cpus", options["workers"], *spelled, *flags,
                   steps=steps)
    assert_close(actual.losses, losses, TOLERANCE, "losses")
    assert_close(actual.values, values, TOLERANCE, "weights")


@pytest.mark.parametrize("fc_batch", [0, 4])
@pytest.mark.parametrize("scheme", ["a", "b", "c"])
@pytest.mark.parametrize("workers", [1, 2, 3, 4, 8])
def test_every(tmp_path, workers, scheme, fc_batch):
    compare(tmp_path, "three_fc", [], workers=workers, scheme=scheme, fc_batch=fc_batch,
            fc_update="every")


@pytest.mark.parametrize("group", [2, 3, 100])
@pytest.mark.parametrize("scheme", ["a", "b", "c"])
def test_groups_of_passes(tmp_path, scheme, group):
    compare(tmp_path, "three_fc", [], workers=3, scheme=scheme, fc_batch=3,
            fc_update=str(group))


@pytest.mark.parametrize("scheme, workers", [("a", 3), ("b", 3), ("c", 3), ("data", 3)])
def test_default_update_rule(tmp_path, scheme, workers):
    """`every` for b and c, `accumulate` for a."""
    compare(tmp_path, "three_fc", [], workers=workers, scheme=scheme)


@pytest.mark.parametrize("scaling", ["linear", "sqrt"])
@pytest.mark.parametrize("update", ["every", "2", "accumulate"])
def test_rates_scale_by_nominal_sizes(tmp_path, update, scaling):
    compare(tmp_path, "three_fc", [], workers=4, scheme="c", fc_update=update,
            lr_scaling=scaling, base_batch=16)


@pytest.mark.parametrize("form", ["pytorch", "caffe"])
def test_momentum_forms(tmp_path, form):
    compare(tmp_path, "three_fc", [], workers=2, scheme="c", momentum_form=form)
    compare(tmp_path, "three_fc", ["--nesterov"], workers=2, scheme="c", momentum_form=form,
            nesterov=True)


def test_decay_spares_roles(tmp_path):
    compare(tmp_path, "three_fc", ["--no-decay", "bias"], workers=2, scheme="c",
            weight_decay=0.1, no_decay=("bias",))
    compare(tmp_path, "batch_norm_net", ["--no-decay", "bias,norm"], workers=1, scheme="c",
            weight_decay=0.1, no_decay=("bias", "norm"))


@pytest.mark.parametrize("loss", ["softmax", "logistic"])
def test_losses(tmp_path, loss):
    compare(tmp_path, "three_fc", [], workers=3, scheme="c", loss=loss)


def test_mean_squared_error(tmp_path):
    import numpy as np
    labels = np.random.default_rng(3).standard_normal((EXAMPLES, 5)).astype(np.float32)
    compare(tmp_path, "three_fc", [], labels=labels, workers=3, scheme="c", loss="mse")


def test_logistic_with_float_labels(tmp_path):
    import numpy as np
    labels = np.random.default_rng(3).integers(0, 2, (EXAMPLES, 5)).astype(np.float32)
    compare(tmp_path, "three_fc", [], labels=labels, workers=3, scheme="b", loss="logistic")


@pytest.mark.parametrize("name", ["mlp", "matmul_net", "no_head", "lrn_net", "concat_net"])
def test_other_networks(tmp_path, name):
    compare(tmp_path, name, [], workers=3, scheme="c")


def test_two_losses(tmp_path):
    compare(tmp_path, "auxiliary", ["--loss-output", "logits,aux=0.3"], workers=3, scheme="c",
            loss_outputs=(("logits", 1.0), ("aux", 0.3)))


@pytest.mark.parametrize("variance", ["pytorch", "onnx"])
@pytest.mark.parametrize("workers", [1, 3])
def test_batch_norm_per_worker(tmp_path, workers, variance):
    """Trunk batch norm normalises over each worker's examples."""
    compare(tmp_path, "batch_norm_net", [], workers=workers, scheme="c", bn_variance=variance)


def test_placed_in_the_trunk(tmp_path):
    compare(tmp_path, "three_fc", ["--place", "fc1=data"], workers=3, scheme="c",
            place=(("fc1", "data"),))


def test_frozen_layers_stay(tmp_path):
    compare(tmp_path, "three_fc", ["--freeze", "conv1.*"], workers=2, scheme="c",
            freeze=("conv1.*",))


def test_old_opset_with_dropout_ratio_as_attribute(tmp_path):
    model = nets.three_fc(opset=9)
    data = nets.random_batch(model, EXAMPLES)
    options = simulate.Options(workers=2, batch=BATCH, lr=0.02, seed=5)
    losses, values = simulate.train(model, data, options, STEPS)
    actual = train(tmp_path, model, data, "--cpus", 2, "--batch", BATCH, "--lr", "0.02",
                   "--seed", 5)
    assert_close(actual.losses, losses, TOLERANCE, "losses")
    assert_close(actual.values, values, TOLERANCE, "weights")
