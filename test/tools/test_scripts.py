# SPDX-License-Identifier: Apache-2.0
"""The checks must be able to fail: planted faults for tools/scripts."""
import importlib.util
import pathlib
import subprocess
import sys

import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"


def load(name):
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"),
                                                  SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tree = load("check-tree")
results = load("count-results")


@pytest.mark.parametrize("path, header", [
    ("runtime/base/A.cpp", "mlir/IR/Builders.h"),
    ("runtime/base/A.cpp", "llvm/ADT/SmallVector.h"),
    ("runtime/base/A.cpp", "passes/Options.h"),
    ("runtime/train/A.cpp", "runtime/cpu/Device.h"),
    ("runtime/comm/local/A.cpp", "runtime/cuda/Device.h"),
    ("runtime/comm/local/A.cpp", "dnnl.hpp"),
    ("runtime/train/A.cpp", "frontend/onnx/Import.h"),
    ("passes/layout/A.cpp", "frontend/onnx/Import.h"),
    ("passes/layout/A.cpp", "runtime/cpu/Device.h"),
    ("passes/layout/A.cpp", "oneapi/dnnl/dnnl.hpp"),
    ("dialects/nn/ops/A.cpp", "passes/Options.h"),
    ("dialects/interfaces/A.h", "dialects/nn/IR/NN.h"),
    ("frontend/onnx/A.cpp", "passes/Options.h"),
    ("frontend/A.cpp", "google/protobuf/message.h"),
    ("tools/hpcc/A.cpp", "onnx/onnx_pb.h"),
    ("runtime/data/A.cpp", "mpi.h"),
    ("runtime/cpu/A.cpp", "cuda_runtime.h"),
    ("runtime/comm/mpi/A.cpp", "nccl.h"),
])
def test_an_include_across_the_layers_is_an_error(path, header):
    text = f'// SPDX\n#include "{header}"\n'
    errors = list(tree.include_errors(path, text))
    assert len(errors) == 1, errors
    assert errors[0].startswith(f"{path}:2:") and header in errors[0]


@pytest.mark.parametrize("path, header", [
    ("runtime/cpu/A.cpp", "dnnl.hpp"),
    ("runtime/train/A.cpp", "runtime/data/Dataset.h"),
    ("runtime/comm/local/A.cpp", "runtime/base/Status.h"),
    ("passes/layout/A.cpp", "runtime/include/hpcc/abi.def"),
    ("passes/layout/A.cpp", "dialects/nn/IR/NN.h"),
    ("passes/layout/A.cpp", "mlir/IR/Builders.h"),
    ("frontend/onnx/A.cpp", "google/protobuf/message.h"),
    ("tools/hpcc/A.cpp", "runtime/train/Trainer.h"),
    ("dialects/nn/ops/A.td", "mlir/IR/OpBase.td"),
    ("runtime/base/A.cpp", "vector"),
])
def test_an_include_within_the_layers_is_fine(path, header):
    assert not list(tree.include_errors(path, f"#include <{header}>\n"))


def test_a_missing_licence_line_is_an_error(tmp_path):
    (tmp_path / "a.cpp").write_text("int x;\n")
    (tmp_path / "b.cpp").write_text("// SPDX-License-Identifier: Apache-2.0\n")
    errors, warnings = tree.check(tmp_path, ["a.cpp", "b.cpp"])
    assert len(errors) == 1 and errors[0].startswith("a.cpp:1:")
    assert not warnings


def write_report(folder, name, body):
    (folder / f"{name}.started").touch()
    if body is not None:
        (folder / f"{name}.xml").write_text(body)


def test_counts_add_up_over_runners(tmp_path):
    write_report(tmp_path, "one", "<testsuites><testsuite><testcase name='a'/>"
                 "<testcase name='b'><skipped/></testcase></testsuite></testsuites>")
    write_report(tmp_path, "two", "<testsuite><testcase name='c'><failure/>"
                 "</testcase><testcase name='d' status='notrun'/></testsuite>")
    assert results.count_folder(tmp_path) == [1, 1, 2]
    assert results.main(["", str(tmp_path)]) == 1


def test_a_runner_that_left_no_report_counts_as_failed(tmp_path):
    write_report(tmp_path, "crashed", None)
    write_report(tmp_path, "torn", "<testsuite><testca")
    write_report(tmp_path, "good", "<testsuite><testcase name='a'/></testsuite>")
    assert results.count_folder(tmp_path) == [1, 2, 0]


def test_nothing_run_is_a_failure(tmp_path, capsys):
    assert results.main(["", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "0 passed, 0 failed, 0 skipped\n"


def test_a_known_failure_is_named_and_counted_with_the_skipped(tmp_path, capsys):
    """The report is pytest's own, so the mark's spelling in it is real."""
    (tmp_path / "test_known.py").write_text(
        "import pytest\n"
        "@pytest.mark.xfail(strict=True, reason='widths are mixed up')\n"
        "def test_defect(): assert False\n"
        "def test_fine(): pass\n"
        "def test_elsewhere(): pytest.skip('no such machine')\n")
    (tmp_path / "pytest.started").write_text("")
    subprocess.run([sys.executable, "-m", "pytest", "-q", tmp_path / "test_known.py",
                    "--junitxml", tmp_path / "pytest.xml"], check=True, timeout=60,
                   capture_output=True, cwd=tmp_path)
    assert results.main(["", str(tmp_path)]) == 0
    known, total = capsys.readouterr().out.splitlines()
    assert known == "KNOWN FAILURE test_known.test_defect: widths are mixed up"
    assert total == "1 passed, 0 failed, 2 skipped"
