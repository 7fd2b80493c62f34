# SPDX-License-Identifier: Apache-2.0
"""Running hpcc, reading what it wrote, and comparing with useful messages."""
import dataclasses
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("HPCC_BIN", ROOT / "build" / "bin"))
MODELS = ROOT / "test" / "models"
SHARED = pathlib.Path(os.environ.get("HPCC_SHARED", ROOT.parent / "shared"))

PHASES = ["import", "normalized", "training", "partitioned", "comm", "layout", "fused",
          "bufferized", "scheduled", "arena", "rt", "llvm"]

# A crash is a signal, an assertion or a sanitizer report, whatever the status.
CRASH = re.compile(r"Assertion|PLEASE submit a bug report|Stack dump|terminate called|"
                   r"AddressSanitizer|runtime error:|Segmentation fault")


def needs_shared(*parts):
    """A path below the shared data folder; skips the test where it is missing."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs {path} (the folder with real data; HPCC_SHARED names another)")
    return path


@dataclasses.dataclass
class Outcome:
    command: str
    status: int
    out: str
    err: str

    def describe(self):
        def tail(text):
            return text[-3000:].rstrip() or "(nothing)"
        return (f"\n$ {self.command}\nexit status {self.status}\n"
                f"--- stdout\n{tail(self.out)}\n--- stderr\n{tail(self.err)}")


def limit_files(size):
    """For a child: writing a file beyond `size` bytes fails, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def run(program, *arguments, status=0, timeout=120, cwd=None, env=None, file_limit=None):
    """Runs build/bin/`program`; `status` is what it must exit with, None: any."""
    command = [str(BIN / program), *map(str, arguments)]
    line = shlex.join(command)
    if not (BIN / program).exists():
        pytest.fail(f"no {BIN / program}: build first (cmake --build build)")
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, cwd=cwd,
                              env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                              preexec_fn=file_limit and (lambda: limit_files(file_limit)))
    except subprocess.TimeoutExpired as hung:
        pytest.fail(f"hangs: no end after {timeout} s\n$ {line}\n"
                    f"{(hung.stdout or b'')[-2000:]!r}\n{(hung.stderr or b'')[-2000:]!r}")
    outcome = Outcome(line, done.returncode, done.stdout.decode(errors="replace"),
                      done.stderr.decode(errors="replace"))
    assert done.returncode >= 0, f"killed by signal {-done.returncode}{outcome.describe()}"
    assert not CRASH.search(outcome.out + outcome.err), f"crashed{outcome.describe()}"
    if status is not None:
        assert done.returncode == status, (
            f"expected exit status {status}{outcome.describe()}")
    return outcome


def hpcc(*arguments, **options):
    return run("hpcc", *arguments, **options)


def save_model(model, folder, name="model.onnx"):
    """The path of `model`, which may be a path or a ModelProto."""
    if isinstance(model, (str, pathlib.Path)):
        return pathlib.Path(model)
    path = pathlib.Path(folder) / name
    onnx.save(model, path)
    return path


def save_data(folder, images, labels, name="data.npz"):
    path = pathlib.Path(folder) / name
    np.savez(path, images=images, labels=labels)
    return path


def weights(path):
    """{initializer name: array} of a model."""
    return {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}


def log_lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


@dataclasses.dataclass
class Trained:
    losses: np.ndarray
    values: dict
    outcome: Outcome
    log: list
    exported: pathlib.Path


def train(folder, model, data, *flags, steps=20, shuffle=False, status=0, timeout=180,
          name="run"):
    """Trains and returns losses by step and the exported weights.

    `data` is (images, labels), a path, or a --data specification.
    """
    folder = pathlib.Path(folder)
    if isinstance(data, tuple):
        data = save_data(folder, *data, name=f"{name}.npz")
    model = save_model(model, folder, f"{name}-in.onnx")
    exported, log = folder / f"{name}.onnx", folder / f"{name}.jsonl"
    arguments = [model, *flags, "--data", data, "--export", exported, "--log", log]
    if steps is not None:
        arguments += ["--steps", steps]
    if not shuffle:
        arguments.append("--no-shuffle")
    outcome = hpcc(*arguments, status=status, timeout=timeout)
    lines = log_lines(log)
    losses = np.array([line["loss"] for line in lines if "step" in line and "event" not in line])
    if steps is not None:
        assert len(losses) == steps, f"{len(losses)} steps logged, {steps} asked{outcome.describe()}"
    return Trained(losses, weights(exported), outcome, lines, exported)


def relative(actual, expected):
    """Relative L2 difference."""
    actual = np.asarray(actual, np.float64)
    expected = np.asarray(expected, np.float64)
    if actual.shape != expected.shape:
        return np.inf
    if actual.size == 0:
        return 0.0
    scale = np.linalg.norm(expected)
    difference = np.linalg.norm(actual - expected)
    return difference / scale if scale else difference


def assert_close(actual, expected, tolerance, what):
    """Both are arrays or dicts of arrays; lists every one that is too far off."""
    if not isinstance(expected, dict):
        actual, expected = {what: actual}, {what: expected}
    missing = sorted(set(expected) ^ set(actual))
    assert not missing, f"{what}: only on one side: {missing}"
    far = {}
    for name, value in expected.items():
        difference = relative(actual[name], value)
        if not difference <= tolerance:  # catches NaN too
            far[name] = difference
    lines = "\n".join(
        f"  {name}: relative L2 difference {difference:.3g}, shapes "
        f"{np.shape(actual[name])} and {np.shape(expected[name])}; first values "
        f"{np.ravel(actual[name])[:4]} and {np.ravel(expected[name])[:4]}"
        for name, difference in far.items())
    assert not far, f"{what}: beyond {tolerance:g}:\n{lines}"


def assert_same_training(actual, expected, tolerance):
    assert np.isfinite(expected.losses).all(), "the reference itself did not stay finite"
    assert_close(actual.losses, expected.losses, tolerance, "losses")
    assert_close(actual.values, expected.values, tolerance, "weights")


def assert_identical_training(actual, expected):
    assert actual.losses.tolist() == expected.losses.tolist(), (
        f"losses differ:\n{actual.losses}\n{expected.losses}")
    for name, value in expected.values.items():
        same = actual.values[name].tobytes() == value.tobytes()
        assert same, (f"{name} differs by {relative(actual.values[name], value):.3g} "
                      "where every bit must be the same")


def operations(text):
    """The names of all ops, in order, of IR in generic form."""
    return re.findall(r'"([a-z_][\w]*\.[\w.$]+)"\s*\(', text)
