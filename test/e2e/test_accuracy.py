# SPDX-License-Identifier: Apache-2.0
"""Real handwriting is learnt: MNIST with LeNet, and the 8x8 digits."""
import importlib.util
import pathlib

import pytest

from e2e.harness import MODELS, ROOT, hpcc, log_lines, needs_shared


def top1(log):
    """Of the last validation."""
    return [line for line in log_lines(log) if line.get("event") == "eval"][-1]["top1"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_mnist(tmp_path, seed):
    """Five epochs, four workers, scheme c with an update of the head per pass."""
    data = needs_shared("data", "mnist-t10k")
    log = tmp_path / "log.jsonl"
    hpcc(MODELS / "lenet.onnx", "--reinit", "all", "--seed", seed, "--cpus", 4, "--scheme", "c",
         "--fc-update", "every", "--batch", 64, "--lr", "0.02", "--lr-schedule", "cosine", "--data",
         f"{data}[0:9000]", "--val", f"{data}[9000:10000]", "--epochs", 5, "--log", log, timeout=300)
    accuracy = top1(log)
    assert accuracy >= 0.97, f"{accuracy:.4f} of the 1,000 validation digits"


def digits(folder):
    path = ROOT / "tools" / "scripts" / "digits.py"
    spec = importlib.util.spec_from_file_location("digits", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if module.find() is None:
        pytest.skip("no digits.csv.gz: the package python3-sklearn is not installed")
    assert module.main(["digits.py", str(folder)]) == 0
    return pathlib.Path(folder)


def test_small_digits(tmp_path):
    """What tools/quickstart.sh runs."""
    folder, log = digits(tmp_path), tmp_path / "log.jsonl"
    hpcc(MODELS / "digits.onnx", "--cpus", 4, "--scheme", "c", "--batch", 32, "--lr", "0.02",
         "--data", folder / "train.npz", "--val", folder / "val.npz", "--epochs", 15, "--log",
         log, timeout=300)
    accuracy = top1(log)
    assert accuracy >= 0.95, f"{accuracy:.4f} of the 297 validation digits"
