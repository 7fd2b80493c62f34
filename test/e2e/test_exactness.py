# SPDX-License-Identifier: Apache-2.0
"""K workers train as one does: section "exactness" of the method.

20 steps of a batch that divides by nothing, the short last batch among them;
dropout is on. A short batch of 3 leaves some workers without an example.
"""
import functools

import pytest

from e2e.harness import assert_same_training, train
from models import nets

# What the method promises; observed differences are some 1e-7.
TOLERANCE = 1e-5
BATCH, EXAMPLES = 22, 22 * 3 + 3
COMMON = ["--batch", BATCH, "--lr", "0.02", "--weight-decay", "1e-3", "--seed", "5"]


@functools.lru_cache(maxsize=None)
def model_and_data(name):
    model = nets.ALL[name]()
    return model, nets.random_batch(model, EXAMPLES)


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory):
    """Training with one worker, plain backpropagation, per network and flags."""
    @functools.lru_cache(maxsize=None)
    def reference(name, *flags):
        folder = tmp_path_factory.mktemp("one")
        return train(folder, *model_and_data(name), "--cpus", 1, "--scheme", "data",
                     *COMMON, *flags)
    return reference


@pytest.mark.parametrize("scheme", ["a", "b", "c", "data"])
@pytest.mark.parametrize("workers", [1, 2, 3, 4, 8])
def test_accumulate_equals_one_worker(tmp_path, one_worker, workers, scheme):
    actual = train(tmp_path, *model_and_data("three_fc"), "--cpus", workers, "--scheme", scheme,
                   "--fc-update", "accumulate", *COMMON)
    assert_same_training(actual, one_worker("three_fc"), TOLERANCE)


@pytest.mark.parametrize("fc_batch", [1, 4, 7, 100])
@pytest.mark.parametrize("scheme", ["a", "b", "c"])
def test_accumulate_with_any_fc_batch(tmp_path, one_worker, scheme, fc_batch):
    actual = train(tmp_path, *model_and_data("three_fc"), "--cpus", 3, "--scheme", scheme,
                   "--fc-update", "accumulate", "--fc-batch", fc_batch, *COMMON)
    assert_same_training(actual, one_worker("three_fc"), TOLERANCE)


@pytest.mark.parametrize("scheme", ["b", "c"])
@pytest.mark.parametrize("name", ["mlp", "matmul_net", "no_head", "lrn_net", "concat_net"])
def test_other_networks(tmp_path, one_worker, name, scheme):
    actual = train(tmp_path, *model_and_data(name), "--cpus", 3, "--scheme", scheme,
                   "--fc-update", "accumulate", *COMMON)
    assert_same_training(actual, one_worker(name), TOLERANCE)


@pytest.mark.parametrize("workers, scheme", [(2, "a"), (3, "b"), (4, "c"), (8, "c")])
def test_two_losses(tmp_path, one_worker, workers, scheme):
    losses = ("--loss-output", "logits,aux=0.3")
    actual = train(tmp_path, *model_and_data("auxiliary"), "--cpus", workers, "--scheme", scheme,
                   "--fc-update", "accumulate", *losses, *COMMON)
    assert_same_training(actual, one_worker("auxiliary", *losses), TOLERANCE)


@pytest.mark.parametrize("flags", [
    ("--momentum-form", "caffe"),
    ("--nesterov",),
    ("--momentum-form", "caffe", "--nesterov"),
    ("--momentum", "0"),
    ("--no-decay", "bias"),
    ("--loss", "logistic"),
    ("--lr-scaling", "linear", "--base-batch", "11"),
    ("--freeze", "fc2.*"),
    ("--place", "fc1=data"),
], ids=" ".join)
def test_learning_flags(tmp_path, one_worker, flags):
    actual = train(tmp_path, *model_and_data("three_fc"), "--cpus", 3, "--scheme", "c",
                   "--fc-update", "accumulate", *COMMON, *flags)
    place = flags[0] == "--place"
    assert_same_training(actual, one_worker("three_fc", *(() if place else flags)), TOLERANCE)


def test_more_workers_than_units_and_than_examples(tmp_path, one_worker):
    """16 workers on widths 13, 7 and 5, and on a last batch of 3."""
    actual = train(tmp_path, *model_and_data("three_fc"), "--cpus", 16, "--scheme", "c",
                   "--fc-update", "accumulate", *COMMON)
    assert_same_training(actual, one_worker("three_fc"), TOLERANCE)


def test_shuffled_data_come_in_the_same_order(tmp_path):
    model, data = model_and_data("three_fc")
    runs = [train(tmp_path, model, data, "--cpus", k, "--scheme", "c", "--fc-update",
                  "accumulate", *COMMON, shuffle=True, name=f"k{k}") for k in (1, 3)]
    assert_same_training(runs[1], runs[0], TOLERANCE)
