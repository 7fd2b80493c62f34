# SPDX-License-Identifier: Apache-2.0
"""What went wrong for others who train on several devices; each test's name
begins with the report's id. Here are those that the program shows from
outside; B102, B105, B112 and B128 are tests of the runtime and its scheduler,
B121 to B124 and B133 are among the checkpoint tests."""
import re

import numpy as np
import pytest

from e2e.harness import (assert_identical_training, assert_same_training, hpcc, save_model, train)
from models import nets


def test_B104_short_last_batch_is_spread(tmp_path):
    """101 examples, batch 8, 3 workers: 13 steps, the last of 5."""
    model = nets.three_fc()
    data = nets.random_batch(model, 101)
    common = ["--batch", 8, "--lr", "0.02", "--fc-update", "accumulate", "--epochs", 2]
    one = train(tmp_path, model, data, "--cpus", 1, *common, steps=None, name="one")
    three = train(tmp_path, model, data, "--cpus", 3, "--scheme", "c", *common, steps=None,
                  name="three")
    assert len(three.losses) == 26
    assert_same_training(three, one, 1e-5)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_B115_bias_is_added_once(tmp_path, workers):
    """Loss 0 at the first step only if the outputs are the report's."""
    model = nets.one_layer(4, 3, np.arange(1, 13).reshape(3, 4), [100, 200, 300])
    x = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    expected = np.array([[130, 270, 410], [170, 374, 578]], np.float32)
    data = np.concatenate([x, x]), np.concatenate([expected, expected])
    trained = train(tmp_path, model, data, "--cpus", workers, "--batch", 4, "--loss", "mse",
                    *(["--scheme", "c"] if workers > 1 else []), steps=1)
    assert trained.losses[0] == 0


@pytest.mark.parametrize("widths, classes, workers", [((5, 5), 5, 2), ((8,), 1, 2),
                                                      ((5, 3), 2, 4)])
def test_B117_width_does_not_divide(tmp_path, widths, classes, workers):
    model = nets.mlp(widths=widths, classes=classes)
    images, _ = nets.random_batch(model, 12)
    labels = np.random.default_rng(1).standard_normal((12, classes)).astype(np.float32)
    common = ["--batch", 6, "--loss", "mse", "--fc-update", "accumulate", "--lr", "0.02"]
    one = train(tmp_path, model, (images, labels), "--cpus", 1, *common, steps=10, name="one")
    many = train(tmp_path, model, (images, labels), "--cpus", workers, "--scheme", "b", *common,
                 steps=10, name="many")
    assert_same_training(many, one, 1e-5)


def test_B117_plan_names_the_shards(tmp_path):
    """1000 classes on 3 workers: 334, 333, 333."""
    path = save_model(nets.mlp(classes=1000), tmp_path)
    text = hpcc(path, "--cpus", 3, "--scheme", "c").out
    assert re.search(r"\b334\b", text) and re.search(r"\b333\b", text), text


@pytest.mark.parametrize("workers", [2, 4])
def test_B119_dropout_drops_the_same_units(tmp_path, workers):
    """Dropout 0.5 before and after a sharded layer."""
    model = nets.three_fc(dropout=0.5)
    data = nets.random_batch(model, 24)
    common = ["--batch", 12, "--fc-update", "accumulate", "--lr", "0.02", "--seed", 9]
    one = train(tmp_path, model, data, "--cpus", 1, *common, steps=6, name="one")
    many = train(tmp_path, model, data, "--cpus", workers, "--scheme", "c", *common, steps=6,
                 name="many")
    assert_same_training(many, one, 1e-5)


def test_B119_seeds_differ(tmp_path):
    model = nets.three_fc(dropout=0.5)
    data = nets.random_batch(model, 24)
    first, second = (train(tmp_path, model, data, "--cpus", 2, "--batch", 12, "--seed", seed,
                           steps=2, name=f"s{seed}") for seed in (1, 2))
    assert first.losses[0] != second.losses[0]


@pytest.mark.parametrize("scheme", ["a", "b", "c", "data"])
def test_B130_same_workers_same_bytes(tmp_path, scheme):
    model = nets.three_fc()
    data = nets.random_batch(model, 47)
    flags = ["--cpus", 4, "--scheme", scheme, "--batch", 22, "--deterministic"]
    runs = [train(tmp_path, model, data, *flags, shuffle=True, name=f"r{i}") for i in range(3)]
    assert_identical_training(runs[1], runs[0])
    assert_identical_training(runs[2], runs[0])


def test_B130_other_workers_to_rounding(tmp_path):
    model = nets.three_fc()
    data = nets.random_batch(model, 47)
    two, four = (train(tmp_path, model, data, "--cpus", k, "--scheme", "c", "--fc-update",
                       "accumulate", "--batch", 22, name=f"k{k}") for k in (2, 4))
    assert_same_training(four, two, 1e-5)


def test_B131_batch_is_global(tmp_path):
    """256 on 4 workers is 64 each, and the plan says so."""
    path = save_model(nets.three_fc(), tmp_path)
    text = hpcc(path, "--cpus", 4, "--scheme", "c", "--batch", 256).out
    assert re.search(r"\b256\b", text) and re.search(r"\b64\b", text), text


def test_B87_unequal_counts_weigh_right(tmp_path):
    """13 examples on 2 workers: 6 and 7."""
    model = nets.mlp()
    data = nets.random_batch(model, 13)
    common = ["--batch", 13, "--fc-update", "accumulate"]
    one = train(tmp_path, model, data, "--cpus", 1, *common, steps=3, name="one")
    two = train(tmp_path, model, data, "--cpus", 2, "--scheme", "data", *common, steps=3,
                name="two")
    assert_same_training(two, one, 1e-6)


@pytest.mark.parametrize("workers", [2, 4])
def test_B90_rate_is_not_scaled_by_the_workers(tmp_path, workers):
    model = nets.mlp(widths=(16, 24, 12), classes=8)
    data = nets.random_batch(model, 64, classes=8)
    common = ["--batch", 64, "--fc-update", "accumulate", "--lr", "0.05"]
    one = train(tmp_path, model, data, "--cpus", 1, *common, steps=5, name="one")
    many = train(tmp_path, model, data, "--cpus", workers, "--scheme", "c", *common, steps=5,
                 name="many")
    assert_same_training(many, one, 1e-5)
