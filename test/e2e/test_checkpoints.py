# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: continue to the bit, on other workers to rounding, through
signals, and never from a torn or incomplete one."""
import json
import pathlib
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from e2e.harness import (BIN, assert_identical_training, assert_same_training, hpcc,
                         log_lines, save_data, save_model, train, weights)
from models import nets

FLAGS = ["--scheme", "c", "--batch", 10, "--lr", "0.02", "--seed", 4]


def setting():
    """Examples end an epoch at 4.3 steps, so 7 + 8 steps stop in mid-epoch."""
    model = nets.three_fc()
    return model, nets.random_batch(model, 43)


def resumed(folder, workers_before, workers_after, *flags):
    """15 steps in one go, and as 7 + 8 with a checkpoint in between."""
    model, data = setting()
    model = save_model(model, folder)
    straight = train(folder, model, data, "--cpus", workers_before, *FLAGS, *flags, steps=15,
                     name="straight", shuffle=True)
    checkpoints = folder / "checkpoints"
    first = train(folder, model, data, "--cpus", workers_before, *FLAGS, *flags, "--checkpoint",
                  checkpoints, steps=7, name="first", shuffle=True)
    exported, log = folder / "second.onnx", folder / "second.jsonl"
    hpcc(model, "--cpus", workers_after, *FLAGS, *flags, "--data", folder / "first.npz",
         "--steps", 15, "--resume", checkpoints, "--export", exported, "--log", log)
    lines = [line for line in log_lines(log) if "event" not in line]
    first.losses = np.concatenate([first.losses, [line["loss"] for line in lines]])
    first.values = weights(exported)
    assert len(first.losses) == 15
    return straight, first


@pytest.mark.parametrize("workers", [1, 3])
def test_resume_is_bit_identical(tmp_path, workers):
    """Case B99 too: a rate that drops in step 9 drops there after resuming."""
    straight, second = resumed(tmp_path, workers, workers)
    assert_identical_training(second, straight)


@pytest.mark.parametrize("before, after", [(2, 1), (2, 3), (2, 4), (1, 3)])
def test_B121_resume_on_other_workers(tmp_path, before, after):
    straight, second = resumed(tmp_path, before, after, "--fc-update", "accumulate")
    assert_same_training(second, straight, 1e-5)


def test_resume_says_that_every_changes_with_the_workers(tmp_path):
    model, data = setting()
    train(tmp_path, model, data, "--cpus", 2, *FLAGS, "--checkpoint", tmp_path / "c", steps=4)
    outcome = hpcc(tmp_path / "run-in.onnx", "--cpus", 3, *FLAGS, "--data",
                   tmp_path / "run.npz", "--no-shuffle", "--steps", 6, "--resume",
                   tmp_path / "c")
    assert "worker" in (outcome.err + outcome.out).lower()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_saves_a_checkpoint(tmp_path, number):
    model, data = setting()
    path, source = save_model(model, tmp_path), save_data(tmp_path, *data)
    log, folder = tmp_path / "log.jsonl", tmp_path / "c"
    flags = [path, "--cpus", "2", *map(str, FLAGS), "--data", source, "--no-shuffle"]
    process = subprocess.Popen(
        [BIN / "hpcc", *flags, "--steps", "10000000", "--checkpoint", folder, "--log", log],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not (log.exists() and log.stat().st_size > 500):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "no step within 60 s"
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 3, (process.returncode, out[-500:], err[-500:])
    steps = max(line["step"] for line in log_lines(log))
    again = tmp_path / "again.jsonl"
    hpcc(*flags, "--steps", steps + 3, "--resume", folder, "--log", again)
    follow = [line["step"] for line in log_lines(again) if "event" not in line]
    assert follow == [steps + 1, steps + 2, steps + 3]


def newest(folder):
    return max((f for f in pathlib.Path(folder).glob("step-*") if f.is_dir()),
               key=lambda f: int(f.name.split("-")[-1]))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with one checkpoint after 4 steps, and the flags to resume it."""
    folder = tmp_path_factory.mktemp("saved")
    model, data = setting()
    train(folder, model, data, "--cpus", 2, *FLAGS, "--checkpoint", folder / "c", steps=4)
    for other in (folder / "c").iterdir():
        if other.is_dir() and not other.is_symlink() and other != newest(folder / "c"):
            shutil.rmtree(other)
    return folder


def resume(saved, checkpoints, status):
    return hpcc(saved / "run-in.onnx", "--cpus", 2, *FLAGS, "--no-shuffle", "--data",
                saved / "run.npz", "--steps", 6, "--resume", checkpoints, status=status)


def test_B124_truncated_checkpoint_is_refused(tmp_path, saved):
    """Every file, cut at every tenth of its length: never a fresh start."""
    for file in sorted(newest(saved / "c").iterdir()):
        content = file.read_bytes()
        for tenth in range(10):
            copy = tmp_path / f"{file.name}-{tenth}"
            shutil.copytree(saved / "c", copy, symlinks=True)
            (newest(copy) / file.name).write_bytes(content[:len(content) * tenth // 10])
            outcome = resume(saved, copy, 1)
            assert file.name in outcome.err or "checkpoint" in outcome.err.lower()


def test_B124_flipped_byte_is_noticed(tmp_path, saved):
    for file in sorted(newest(saved / "c").glob("*.safetensors")):
        copy = tmp_path / file.name
        shutil.copytree(saved / "c", copy, symlinks=True)
        content = bytearray(file.read_bytes())
        content[-3] ^= 1
        (newest(copy) / file.name).write_bytes(content)
        resume(saved, copy, 1)


def test_B123_missing_state_is_an_error(tmp_path, saved):
    for file in sorted(newest(saved / "c").iterdir()):
        copy = tmp_path / file.name
        shutil.copytree(saved / "c", copy, symlinks=True)
        (newest(copy) / file.name).unlink()
        resume(saved, copy, 1)


def test_B124_older_checkpoint_is_the_fallback(tmp_path):
    model, data = setting()
    train(tmp_path, model, data, "--cpus", 2, *FLAGS, "--checkpoint", tmp_path / "c",
          "--save-every", 2, steps=4)
    target = newest(tmp_path / "c") / "parameters.safetensors"
    target.write_bytes(target.read_bytes()[:-8])
    outcome = resume(tmp_path, tmp_path / "c", None)
    assert outcome.status in (0, 1)
    assert newest(tmp_path / "c").name in outcome.err + outcome.out, outcome.describe()


def test_B124_kill_while_saving_loses_nothing(tmp_path):
    """Killed at 12 moments while it saves after every step."""
    model, data = setting()
    path, source = save_model(model, tmp_path), save_data(tmp_path, *data)
    flags = [path, "--cpus", "2", *map(str, FLAGS), "--data", source, "--no-shuffle"]
    for attempt in range(12):
        folder, log = tmp_path / f"c{attempt}", tmp_path / f"log{attempt}.jsonl"
        process = subprocess.Popen(
            [BIN / "hpcc", *flags, "--steps", "100000", "--checkpoint", folder, "--save-every",
             "1", "--log", log], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while not (folder.exists() and any(folder.glob("step-*"))):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline, "no checkpoint within 60 s"
                time.sleep(0.01)
            time.sleep(0.003 * attempt)
        finally:
            process.kill()
            process.communicate()
        state = json.loads((newest(folder) / "state.json").read_text())
        hpcc(*flags, "--steps", state["step"] + 1, "--resume", folder)


def test_a_fresh_training_does_not_overwrite_checkpoints(tmp_path):
    model, data = setting()
    train(tmp_path, model, data, "--cpus", 2, *FLAGS, "--checkpoint", tmp_path / "c", steps=2)
    before = sorted(p.name for p in (tmp_path / "c").iterdir())
    train(tmp_path, model, data, "--cpus", 2, *FLAGS, steps=2, name="other")
    hpcc(tmp_path / "run-in.onnx", "--cpus", 2, *FLAGS, "--data", tmp_path / "run.npz",
         "--steps", 2, "--checkpoint", tmp_path / "c", status=1)
    assert sorted(p.name for p in (tmp_path / "c").iterdir()) == before


def test_best_on_validation_is_kept(tmp_path):
    model, data = setting()
    source = save_data(tmp_path, *data)
    train(tmp_path, model, data, "--cpus", 2, *FLAGS, "--checkpoint", tmp_path / "c", "--val",
          source, "--epochs", 3, steps=None)
    assert (tmp_path / "c" / "best").exists()


def test_B133_weights_only_and_rate_zero(tmp_path):
    """A step with rate 0 after loading leaves the outputs as they were."""
    model, data = setting()
    trained = train(tmp_path, model, data, "--cpus", 2, *FLAGS, steps=3, name="first")
    again = train(tmp_path, trained.exported, data, "--cpus", 3, "--scheme", "c", "--batch", 10,
                  "--lr", 0, steps=1, name="second")
    for name, value in trained.values.items():
        assert value.tobytes() == again.values[name].tobytes(), name
