# SPDX-License-Identifier: Apache-2.0
"""The IR of every phase: training continues from it to the bit, and its shape
does not depend on the number of workers."""
import functools
import re

import pytest

from e2e.harness import (MODELS, PHASES, assert_identical_training, hpcc, operations, run, save_model,
                         train)
from models import nets

PROGRAM = ["--cpus", 3, "--scheme", "c", "--batch", 22, "--fc-batch", 4, "--seed", 5,
           "--weight-decay", "1e-3"]
TRAINER = ["--lr", "0.02"]


@functools.lru_cache(maxsize=None)
def model_and_data():
    model = nets.three_fc()
    return model, nets.random_batch(model, 22 * 2 + 3)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """Training in one go."""
    return train(tmp_path_factory.mktemp("straight"), *model_and_data(), *PROGRAM, *TRAINER,
                 steps=5)


@pytest.mark.parametrize("phase", PHASES)
def test_continuing_from_printed_ir_trains_the_same(tmp_path, straight, phase):
    model, data = model_and_data()
    path = save_model(model, tmp_path)
    printed = tmp_path / f"{phase}.mlir"
    printed.write_text(hpcc(path, *PROGRAM, "--emit", phase).out)
    continued = train(tmp_path, printed, data, "--from", phase, *TRAINER, steps=5,
                      name="continued")
    assert_identical_training(continued, straight)


@pytest.mark.parametrize("phase", PHASES)
def test_printed_ir_parses_and_holds_no_weights(tmp_path, phase):
    printed = tmp_path / f"{phase}.mlir"
    text = hpcc(MODELS / "lenet.onnx", *PROGRAM, f"--emit={phase}").out
    printed.write_text(text)
    assert len(text) > 1000
    # As text, as bytes in hexadecimal, or as a resource at the end of the file.
    found = re.search(r"dense<[^>]{2000}|[0-9a-fA-F]{500}|dense_resource", text)
    assert not found, found.group()[:100]
    again = run("hpcc-opt", printed, "--verify-roundtrip")
    assert "forward" in again.out


# From `rt` on, kernels on small static extents are called directly and equal
# views are merged where placements coincide, so sizes decide about ops.
LATE = pytest.mark.xfail(strict=True, reason="sizes still decide about ops in late phases")


@pytest.mark.parametrize("scheme", ["a", "b", "c", "data"])
@pytest.mark.parametrize("phase", [pytest.param(phase, marks=LATE)
                                   if phase in ("rt", "llvm") else phase
                                   for phase in PHASES])
def test_same_ops_for_2_and_64_workers(tmp_path, phase, scheme):
    """Loops, not unrolling: only sizes, shapes and attributes may differ.

    Constants are sizes: two of them are one where they happen to be equal, so
    they are left out of the comparison.
    """
    path = save_model(nets.three_fc(), tmp_path)
    lists = []
    for workers in (2, 64):
        printed = tmp_path / f"{workers}.mlir"
        printed.write_text(hpcc(path, "--cpus", workers, "--scheme", scheme, "--batch", 128,
                                "--emit", phase).out)
        generic = run("hpcc-opt", printed, "--mlir-print-op-generic").out
        lists.append([op for op in operations(generic)
                      if op not in ("arith.constant", "llvm.mlir.constant")])
    two, many = lists
    assert len(two) > 10
    for index, (left, right) in enumerate(zip(two, many)):
        assert left == right, (f"op {index} of phase {phase}: {left} for 2 workers, {right} "
                               f"for 64; before it {two[max(0, index - 5):index]}")
    assert len(two) == len(many), (f"{len(two)} ops for 2 workers, {len(many)} for 64; "
                                   f"the rest: {(two + many)[min(len(two), len(many)):][:10]}")


def test_one_worker_has_no_communication(tmp_path):
    path = save_model(nets.three_fc(), tmp_path)
    for phase in PHASES[PHASES.index("comm"):PHASES.index("rt")]:
        text = hpcc(path, "--cpus", 1, "--scheme", "c", "--fc-batch", 4, "--batch", 22,
                    "--emit", phase).out
        assert "comm." not in text, f"phase {phase} speaks of communication with one worker"


def test_dump_ir_writes_one_file_per_pass(tmp_path):
    path = save_model(nets.three_fc(), tmp_path)
    folder = tmp_path / "ir"
    hpcc(path, *PROGRAM, "--dump-ir", folder)
    files = [f for f in folder.rglob("*") if f.is_file()]
    assert len(files) >= len(PHASES), f"{len(files)} files in {folder}"
