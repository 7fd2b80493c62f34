# SPDX-License-Identifier: Apache-2.0
"""Bytes on the wire against the method's formulas, computed here.

Everything divides: K workers, b examples each, boundary width D, widths n_i
between FC layers, P trunk parameters. The log's comm_bytes are what all
workers together received in one step.
"""
import pytest

from e2e.harness import hpcc, save_model, train
from models import nets

FLOAT = 4


def divisible_net():
    """Trunk of 896 parameters (a multiple of 8 workers' vectors of 16 floats),
    D = 128, FC widths 48, 32 and 16."""
    b = nets.Builder([3, 8, 8], 13, 1, "divisible")
    b.conv("conv1", 32, 3, pads=[1, 1, 1, 1]).relu("r1").pool("pool1", "MaxPool", 4, 4)
    b.flatten().gemm("fc1", 48).relu("r2").gemm("fc2", 32).relu("r3")
    return b.gemm("fc3", 16).output("logits").build()


TRUNK, BOUNDARY, BETWEEN = 896, 128, (48, 32)
HEAD = 128 * 48 + 48 + 48 * 32 + 32 + 32 * 16 + 16


def hybrid_bytes(workers, own):
    """Received by all workers in one step of scheme a, b or c."""
    others, batch = workers - 1, workers * own
    boundary = 2 * workers * others * own * BOUNDARY
    between = 2 * workers * others * own * sum(BETWEEN)
    labels = workers * others * own
    trunk = 2 * others * TRUNK
    # Softmax: all-reduces of the maximum and of {sum of exp, target logit}; an
    # all-reduce costs (K-1)/K of its values in and again out, per worker.
    # After them every worker knows the whole loss; nothing is sent for it.
    softmax = 2 * others * 3 * batch
    return FLOAT * (boundary + between + labels + trunk + softmax)


@pytest.mark.parametrize("scheme", ["a", "b", "c"])
@pytest.mark.parametrize("workers", [2, 4, 8])
def test_bytes_of_a_step(tmp_path, workers, scheme):
    model, own = divisible_net(), 8
    data = nets.random_batch(model, 2 * workers * own, classes=16)
    trained = train(tmp_path, model, data, "--cpus", workers, "--scheme", scheme, "--batch",
                    workers * own, "--verify-comm", steps=4)
    counted = {line["comm_bytes"] for line in trained.log if "event" not in line}
    assert counted == {hybrid_bytes(workers, own)}


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_bytes_of_plain_data_parallelism(tmp_path, workers):
    model, own = divisible_net(), 8
    data = nets.random_batch(model, 2 * workers * own, classes=16)
    trained = train(tmp_path, model, data, "--cpus", workers, "--scheme", "data", "--batch",
                    workers * own, "--verify-comm", steps=4)
    counted = {line["comm_bytes"] for line in trained.log if "event" not in line}
    # 2 (K-1)/K of trunk and head per worker, and the loss. The head does not
    # divide into whole vectors for every K: buckets are padded by less than
    # one vector per worker and bucket.
    least = FLOAT * 2 * (workers - 1) * (TRUNK + HEAD + 1)
    assert len(counted) == 1
    assert least <= counted.pop() <= least + FLOAT * 2 * (workers - 1) * 4 * workers * 16


def test_one_worker_sends_nothing(tmp_path):
    model = divisible_net()
    trained = train(tmp_path, model, nets.random_batch(model, 16, classes=16), "--cpus", 1,
                    "--scheme", "c", "--batch", 8, "--verify-comm", steps=2)
    assert all(line["comm_bytes"] == 0 for line in trained.log if "event" not in line)


@pytest.mark.parametrize("scheme", ["a", "b", "c", "data"])
@pytest.mark.parametrize("name", ["three_fc", "mlp", "auxiliary", "batch_norm_net", "no_head"])
def test_ledger_holds_where_nothing_divides(tmp_path, name, scheme):
    model = nets.ALL[name]()
    flags = ["--loss-output", "logits,aux=0.3"] if name == "auxiliary" else []
    train(tmp_path, model, nets.random_batch(model, 47), "--cpus", 3, "--scheme", scheme,
          "--batch", 22, "--fc-batch", 5, "--verify-comm", *flags, steps=6)


def test_an_input_without_gradient_sends_nothing_back(tmp_path):
    """An MLP is all head: its boundary is the input."""
    model = nets.mlp(widths=(16, 32, 32), classes=16)
    own, workers = 8, 4
    data = nets.random_batch(model, 2 * workers * own, classes=16)
    trained = train(tmp_path, model, data, "--cpus", workers, "--scheme", "c", "--batch",
                    workers * own, "--verify-comm", steps=2)
    others = workers - 1
    values = (workers * others * own * (16 + 2 * (32 + 32) + 1)
              + 2 * others * 3 * workers * own)
    assert {line["comm_bytes"] for line in trained.log} == {FLOAT * values}


def test_plan_counts_parameters(tmp_path):
    path = save_model(divisible_net(), tmp_path)
    text = hpcc(path, "--cpus", 4, "--scheme", "c", "--batch", 32).out
    for name in ("conv1", "fc1", "fc2", "fc3"):
        assert name in text
