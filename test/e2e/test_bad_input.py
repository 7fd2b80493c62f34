# SPDX-License-Identifier: Apache-2.0
"""Bad input: a clear message and the documented exit status, never a crash or
a hang, nothing lost. Exit 1: model, data or flags (a path that cannot be
written is a flag's); 2: device or disk."""
import os
import stat

import numpy as np
import pytest

from e2e.harness import MODELS, hpcc, save_data, save_model
from models import nets

DIGITS = MODELS / "digits.onnx"


def mentions(outcome, *words):
    for word in words:
        assert str(word).lower() in outcome.err.lower(), (
            f"the message does not say '{word}'{outcome.describe()}")


def digit_data(folder, count=40, label=None, shape=(1, 8, 8)):
    random = np.random.default_rng(0)
    labels = (np.arange(count) % 10).astype(np.int32)
    if label is not None:
        labels[7] = label
    return save_data(folder, random.random((count, *shape), dtype=np.float32), labels)


def training(data, *flags, **options):
    return hpcc(DIGITS, "--cpus", 2, "--batch", 8, "--steps", 2, "--data", data, *flags,
                **options)


@pytest.mark.parametrize("size", [0, 1, 2, 10, 100, 1000, 20000, -1, -100])
def test_truncated_model(tmp_path, size):
    path = tmp_path / "cut.onnx"
    path.write_bytes(DIGITS.read_bytes()[:size])
    mentions(hpcc(path, status=1, timeout=30), "cut.onnx")


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_as_model(tmp_path, seed):
    path = tmp_path / "noise.onnx"
    path.write_bytes(np.random.default_rng(seed).bytes(1 + 97 * seed))
    mentions(hpcc(path, status=1, timeout=30), "noise.onnx")


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bytes_in_a_model(tmp_path, seed):
    """Some flips leave a good model; none may crash or hang."""
    random = np.random.default_rng(seed)
    content = bytearray(save_model(nets.three_fc(), tmp_path).read_bytes())
    for place in random.integers(0, len(content), 3):
        content[place] = int(random.integers(256))
    # Half of them in the graph's structure, which a file this small begins with.
    content[int(random.integers(0, 400))] = int(random.integers(256))
    path = tmp_path / "flipped.onnx"
    path.write_bytes(content)
    outcome = hpcc(path, status=None, timeout=60)
    assert outcome.status in (0, 1), outcome.describe()
    assert outcome.status == 0 or outcome.err.strip(), outcome.describe()


def test_missing_model():
    mentions(hpcc("no-such-model.onnx", status=1), "no-such-model.onnx")


def test_model_is_a_folder(tmp_path):
    hpcc(tmp_path, status=1)


def test_no_arguments():
    mentions(hpcc(status=1), "usage")


def test_help_names_every_flag_in_groups():
    text = hpcc("--help").out
    flags = """gpus cpus threads scheme batch fc-batch fc-update place loss loss-output
        optimizer lr momentum momentum-form nesterov weight-decay no-decay lr-schedule lr-scaling
        base-batch seed deterministic recipe classes reinit freeze data val epochs steps
        no-shuffle mean std export checkpoint save-every resume log eval emit dump-ir from
        verify-comm infer output dump-gradients bn-variance""".split()
    missing = [flag for flag in flags if f"--{flag}" not in text]
    assert not missing, f"--help does not list {missing}"


@pytest.mark.parametrize("wrong, meant", [
    ("--epoch", "--epochs"), ("--sheme", "--scheme"), ("--exprot", "--export"),
    ("--batchsize", "--batch"), ("--fc_batch", "--fc-batch")])
def test_unknown_flag_suggests_one(wrong, meant):
    mentions(hpcc(DIGITS, wrong, "3", status=1), wrong, meant)


@pytest.mark.parametrize("flag, value", [
    ("--cpus", "0"), ("--cpus", "-2"), ("--cpus", "two"), ("--batch", "0"), ("--batch", "1e9x"),
    ("--scheme", "d"), ("--fc-update", "sometimes"), ("--fc-update", "0"), ("--fc-batch", "-1"),
    ("--loss", "hinge"), ("--momentum-form", "keras"), ("--lr-scaling", "cubic"),
    ("--no-decay", "biases"), ("--emit", "nowhere"), ("--lr", "fast"), ("--classes", "0"),
    ("--place", "fc1"), ("--bn-variance", "sample"), ("--optimizer", "lbfgs")])
def test_bad_value_of_a_flag(flag, value):
    mentions(hpcc(DIGITS, f"{flag}={value}", status=1), flag[2:], value)


@pytest.mark.parametrize("label", [10, -1, 2**31 - 1])
def test_label_out_of_range_names_the_sample(tmp_path, label):
    """Case B85, through the program."""
    mentions(training(digit_data(tmp_path, label=label), status=1), label, 7)


def test_shape_mismatch(tmp_path):
    mentions(training(digit_data(tmp_path, shape=(1, 9, 8)), status=1), "8", "9")
    mentions(training(digit_data(tmp_path, shape=(3, 8, 8)), status=1), "3")


def test_empty_data(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    empty = save_data(folder, np.zeros((0, 1, 8, 8), np.float32), np.zeros(0, np.int32))
    training(empty, status=1)
    empty = empty.rename(tmp_path / "empty.npz")
    mentions(training(digit_data(tmp_path, count=40), "--val", empty, status=1), "empty.npz")


def test_missing_data(tmp_path):
    mentions(training(tmp_path / "none.npz", status=1), "none.npz")


def test_truncated_data(tmp_path):
    content = digit_data(tmp_path).read_bytes()
    for size in (0, 30, 200, len(content) // 2, len(content) - 5):
        cut = tmp_path / "cut.npz"
        cut.write_bytes(content[:size])
        mentions(training(cut, status=1), "cut.npz")


def test_counts_of_images_and_labels_differ(tmp_path):
    path = save_data(tmp_path, np.zeros((12, 1, 8, 8), np.float32), np.zeros(11, np.int32))
    mentions(training(path, status=1), "12", "11")


def test_bad_range(tmp_path):
    path = digit_data(tmp_path, count=40)
    mentions(training(f"{path}[30:41]", status=1), "41", "40")
    mentions(training(f"{path}[9:9]", status=1), "9")
    training(f"{path}[30:40]")


def test_batch_smaller_than_workers(tmp_path):
    mentions(hpcc(DIGITS, "--cpus", 5, "--batch", 4, status=1), "5", "4", "batch")


def test_gpus_without_a_gpu_names_what_works(tmp_path):
    """Compiling for 8 GPUs works anywhere; running does not."""
    hpcc(DIGITS, "--gpus", 8, "--scheme", "c")
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("this machine has a GPU")
    outcome = hpcc(DIGITS, "--gpus", 8, "--data", digit_data(tmp_path), "--steps", 1, status=2)
    mentions(outcome, "--cpus 8")


def test_unwritable_export_is_told_before_training(tmp_path):
    data = digit_data(tmp_path)
    for flag in ("--export", "--log"):
        outcome = training(data, flag, tmp_path / "no" / "such" / "out", status=1)
        mentions(outcome, flag, tmp_path / "no" / "such" / "out")
        assert "step" not in outcome.out, "trained first"


@pytest.mark.parametrize("flag, size", [("--export", 20000), ("--log", 60)])
def test_full_disk(tmp_path, flag, size):
    """A limit on the size of files stands in for a full disk: the write that
    crosses it fails half-way. Never /dev/full itself: a program that writes a
    temporary file and renames it would, run as root, replace the device."""
    target = tmp_path / "out"
    outcome = training(digit_data(tmp_path), flag, target, status=2, file_limit=size)
    mentions(outcome, target)
    if flag == "--export":
        assert not target.exists(), "a torn file was left"


@pytest.mark.parametrize("flag", ["--export", "--log"])
def test_a_device_is_never_replaced(tmp_path, flag):
    """A node like /dev/full, of our own: written to or refused, not replaced."""
    device = tmp_path / "full"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        device.open("wb").close()
    except OSError as error:
        pytest.skip(f"cannot make a device node: {error}")
    outcome = training(digit_data(tmp_path), flag, device, status=None)
    assert stat.S_ISCHR(device.stat().st_mode), f"replaced{outcome.describe()}"
    assert outcome.status in (1, 2), outcome.describe()
    mentions(outcome, device)


def test_export_never_leaves_a_torn_file(tmp_path):
    """A failed training keeps what was there."""
    target = tmp_path / "kept.onnx"
    target.write_bytes(b"mine")
    training(digit_data(tmp_path, label=10), "--export", target, status=1)
    assert target.read_bytes() == b"mine"


def test_export_over_the_input_is_complete(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(DIGITS.read_bytes())
    hpcc(path, "--cpus", 2, "--batch", 8, "--steps", 2, "--data", digit_data(tmp_path),
         "--export", path)
    hpcc(path)


def test_checkpoint_folder_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    mentions(training(digit_data(tmp_path), "--checkpoint", tmp_path / "file" / "x", status=1),
             "file")


def test_resume_from_nothing(tmp_path):
    mentions(training(digit_data(tmp_path), "--resume", tmp_path / "none", status=1), "none")


def test_logistic_refuses_a_softmax(tmp_path):
    path = save_model(nets.matmul_net(), tmp_path)
    mentions(hpcc(path, "--loss", "logistic", status=1), "softmax", "logistic")


def test_unknown_loss_output(tmp_path):
    path = save_model(nets.auxiliary(), tmp_path)
    mentions(hpcc(path, "--loss-output", "nothing", status=1), "nothing", "logits", "aux")


def test_pattern_that_matches_nothing(tmp_path):
    path = save_model(nets.three_fc(), tmp_path)
    for flags in (["--place", "fc9=data"], ["--freeze", "fc9*"], ["--reinit", "fc9*"]):
        outcome = hpcc(path, *flags, status=None)
        assert outcome.status in (0, 1)
        mentions(outcome, "fc9")


def test_unsupported_operators_are_one_list(tmp_path):
    """Every node that cannot be imported is named, in one go."""
    from onnx import TensorProto, helper
    nodes = [helper.make_node("Relu", ["x"], ["a"], name="fine"),
             helper.make_node("Erf", ["a"], ["b"], name="first_bad"),
             helper.make_node("DepthToSpace", ["b"], ["c"], name="second_bad", blocksize=2)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4, 2, 2])],
        [helper.make_tensor_value_info("c", TensorProto.FLOAT, ["N", 1, 4, 4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    outcome = hpcc(save_model(model, tmp_path), status=1)
    mentions(outcome, "first_bad", "Erf", "second_bad", "DepthToSpace")
    assert "fine" not in outcome.err
