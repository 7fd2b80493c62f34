# SPDX-License-Identifier: Apache-2.0
"""Inference and export against the onnx package's checker and evaluator."""
import pathlib

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from e2e.harness import MODELS, assert_close, hpcc, needs_shared, save_model, train, weights
from models import nets
from reference.evaluator import evaluate

# float32 against float32 in another order of summation.
TOLERANCE = 1e-5


def infer(folder, model, inputs, *flags, timeout=120):
    folder = pathlib.Path(folder)
    path = save_model(model, folder)
    source, target = folder / "in.npz", folder / "out.npz"
    np.savez(source, **inputs)
    hpcc(path, *flags, "--infer", source, "--output", target, timeout=timeout)
    with np.load(target) as outputs:
        return {name: outputs[name] for name in outputs.files}


@pytest.mark.parametrize("count", [1, 3, 8])
@pytest.mark.parametrize("name", nets.ALL)
def test_infer_equals_the_evaluator(tmp_path, name, count):
    model = nets.ALL[name]()
    inputs = {"x": nets.random_batch(model, count)[0]}
    assert_close(infer(tmp_path, model, inputs), evaluate(model, inputs), TOLERANCE, name)


@pytest.mark.parametrize("name", ["lenet", "digits", "digits_mlp"])
def test_infer_of_pytorch_exports(tmp_path, name):
    """lenet.onnx fixes the batch to 1; hpcc makes it symbolic."""
    model = onnx.load(MODELS / f"{name}.onnx")
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim][1:]
    image = np.random.default_rng(0).standard_normal((3, *shape)).astype(np.float32)
    expected = np.concatenate([evaluate(model, {"image": image[i:i + 1]})["logits"]
                               for i in range(3)])
    actual = infer(tmp_path, MODELS / f"{name}.onnx", {"image": image})
    assert_close(actual, {"logits": expected}, TOLERANCE, name)


@pytest.mark.parametrize("opset", [7, 9, 10, 11, 13, 17, 21])
def test_opsets(tmp_path, opset):
    model = nets.three_fc(opset=opset)
    inputs = {"x": nets.random_batch(model, 2)[0]}
    # Inert in inference, and below opset 10 the evaluator knows it not.
    plain = nets.three_fc(opset=13, dropout=0)
    assert_close(infer(tmp_path, model, inputs), evaluate(plain, inputs), TOLERANCE, "logits")


@pytest.mark.parametrize("name", ["bvlc_alexnet", "zfnet512", "resnet50", "vgg19"])
def test_light_models(tmp_path, name):
    """ONNX's light models with the outputs that its backend tests expect."""
    path = needs_shared("data", "onnx-light", f"light_{name}.onnx")
    model = onnx.load(path)
    names = {t.name for t in model.graph.initializer}
    source = next(i for i in model.graph.input if i.name not in names)
    shape = [d.dim_value for d in source.type.tensor_type.shape.dim]
    count = int(np.prod(shape))
    image = (np.arange(count).reshape(shape) / count).astype(np.float32)
    expected = numpy_helper.to_array(onnx.load_tensor(
        str(path.with_name(f"light_{name}_output_0.pb"))))
    (actual,) = infer(tmp_path, path, {source.name: image}, timeout=300).values()
    # The backend tests' own tolerance.
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("name", nets.ALL)
def test_export(tmp_path, name):
    """The file's own nodes, names and opset with trained values."""
    model = nets.ALL[name]()
    data = nets.random_batch(model, 30)
    flags = ["--loss-output", "logits,aux=0.3"] if name == "auxiliary" else []
    trained = train(tmp_path, model, data, "--cpus", 2, "--batch", 10, *flags, steps=3)
    exported = onnx.load(trained.exported)
    onnx.checker.check_model(exported, full_check=True)
    assert exported.opset_import == model.opset_import
    assert exported.graph.input == model.graph.input
    assert exported.graph.output == model.graph.output
    assert list(exported.graph.node) == list(model.graph.node)
    before = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    assert list(trained.values) == list(before), "initializers' names or order changed"
    changed = {k for k in before if not np.array_equal(before[k], trained.values[k])}
    constant = {k for k in before if k.endswith(".ratio")}
    assert changed == set(before) - constant
    inputs = {"x": data[0][:7]}
    assert_close(infer(tmp_path, trained.exported, inputs), evaluate(exported, inputs),
                 TOLERANCE, "trained")


def test_export_without_training_is_the_same_model(tmp_path):
    """Case B62: imported values survive to the bit (rate 0)."""
    model = nets.three_fc()
    trained = train(tmp_path, model, nets.random_batch(model, 30), "--cpus", 3, "--batch", 10,
                    "--lr", 0, steps=2)
    for tensor in model.graph.initializer:
        value = numpy_helper.to_array(tensor)
        assert value.tobytes() == trained.values[tensor.name].tobytes(), tensor.name


def test_trailing_softmax_stays_in_the_file(tmp_path):
    """Merged into the loss in training; inference and export keep the node."""
    model = nets.matmul_net()
    inputs = {"x": nets.random_batch(model, 4)[0]}
    out = infer(tmp_path, model, inputs)["probabilities"]
    assert np.allclose(out.sum(axis=1), 1, atol=1e-6)


def test_infer_of_no_inputs_and_wrong_names(tmp_path):
    path = save_model(nets.mlp(), tmp_path)
    np.savez(tmp_path / "in.npz", y=np.zeros((1, 11), np.float32))
    outcome = hpcc(path, "--infer", tmp_path / "in.npz", "--output", tmp_path / "out.npz",
                   status=1)
    assert "x" in outcome.err and "y" in outcome.err


@pytest.mark.parametrize("count", [0, 1])
def test_infer_of_few_examples(tmp_path, count):
    model = nets.three_fc()
    out = infer(tmp_path, model, {"x": np.zeros((count, 2, 10, 10), np.float32)})
    assert out["logits"].shape == (count, 5)


def test_dump_gradients(tmp_path):
    """First batch, training mode, no update: against the simulation."""
    from e2e.harness import save_data
    from reference.simulate import Options, Simulation
    model = nets.three_fc()
    data = nets.random_batch(model, 22)
    path = save_model(model, tmp_path)
    source, target = save_data(tmp_path, *data), tmp_path / "gradients.npz"
    hpcc(path, "--cpus", 1, "--batch", 22, "--seed", 5, "--no-shuffle", "--data", source,
         "--dump-gradients", target)
    _, expected = Simulation(model, Options(batch=22, seed=5)).gradients(*data)
    with np.load(target) as actual:
        assert_close(dict(actual), expected, TOLERANCE, "gradients")


def test_reinit_and_classes(tmp_path):
    """Another number of classes replaces the last layer, seeded."""
    model = nets.three_fc()
    images, _ = nets.random_batch(model, 30)
    labels = (np.arange(30) % 9).astype(np.int32)
    flags = ["--cpus", 2, "--batch", 10, "--classes", 9, "--lr", 0, "--seed", 3]
    runs = [train(tmp_path, model, (images, labels), *flags, steps=1, name=f"r{i}")
            for i in range(2)]
    values = runs[0].values
    assert values["fc3.weight"].shape == (9, 7) and values["fc3.bias"].shape == (9,)
    assert np.array_equal(values["fc1.weight"], weights(save_model(model, tmp_path))["fc1.weight"])
    assert values["fc3.weight"].std() > 0.1
    assert all(np.array_equal(values[k], runs[1].values[k]) for k in values)
    onnx.checker.check_model(onnx.load(runs[0].exported), full_check=True)
    out = infer(tmp_path, runs[0].exported, {"x": images[:2]})
    assert out["logits"].shape == (2, 9)


def test_reinit_all_draws_new_values(tmp_path):
    model = nets.three_fc()
    data = nets.random_batch(model, 30)
    flags = ["--cpus", 2, "--batch", 10, "--lr", 0, "--reinit", "all"]
    first = train(tmp_path, model, data, *flags, "--seed", 1, steps=1, name="one").values
    again = train(tmp_path, model, data, *flags, "--seed", 1, steps=1, name="two").values
    other = train(tmp_path, model, data, *flags, "--seed", 2, steps=1, name="three").values
    for name in first:
        assert np.array_equal(first[name], again[name]), name
        if name.endswith(".weight"):
            assert not np.array_equal(first[name], other[name]), name
            fan = np.prod(first[name].shape[1:])
            # He (2/fan) or Glorot (2/(fan in + out)) in variance, few values.
            assert 0.2 / fan < first[name].var() < 4 / fan, name
