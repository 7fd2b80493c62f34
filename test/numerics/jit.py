# SPDX-License-Identifier: Apache-2.0
"""Runs a function of the nn dialect on arrays, through hpcc's lowering of
generated ops and MLIR's own code generation. Library ops cannot run here."""
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HPCC_BUILD", ROOT / "build"))
HPCC_OPT = BUILD / "bin" / "hpcc-opt"


def llvm_prefix():
    config = shutil.which("llvm-config-22")
    if config is None:
        pytest.skip("llvm-config-22 is missing")
    return pathlib.Path(subprocess.run([config, "--prefix"], capture_output=True, text=True,
                                       check=True).stdout.strip())


LOWERING = [
    "--hpcc-fuse-lower-generated", "--canonicalize", "--cse", "--hpcc-fuse-elementwise",
    "--canonicalize", "--cse", "--hpcc-fuse-reuse-operands", "--canonicalize",
    "--convert-elementwise-to-linalg", "--inline",
    "--one-shot-bufferize=bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map",
    "--convert-linalg-to-loops", "--convert-scf-to-cf", "--expand-strided-metadata",
    "--lower-affine", "--convert-math-to-llvm", "--convert-math-to-libm",
    "--convert-index-to-llvm", "--finalize-memref-to-llvm", "--convert-arith-to-llvm",
    "--convert-ub-to-llvm", "--convert-func-to-llvm", "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts"]

ELEMENTS = {np.dtype(np.float32): "f32", np.dtype(np.int32): "i32"}


def tensor_type(array, dynamic=()):
    extents = ["?" if i in dynamic else str(n) for i, n in enumerate(array.shape)]
    return "tensor<" + "x".join(extents + [ELEMENTS[array.dtype]]) + ">"


def literal(array):
    """Exact: floats as their bits."""
    if array.dtype == np.float32:
        flat = [f"0x{bits:08X}" for bits in array.ravel().view(np.uint32)]
    else:
        flat = [str(v) for v in array.ravel()]

    def nest(values, shape):
        if not shape:
            return values[0]
        step = len(values) // shape[0]
        return "[" + ", ".join(nest(values[i * step:(i + 1) * step], shape[1:])
                               for i in range(shape[0])) + "]"
    return f"dense<{nest(flat, array.shape)}> : "


def opt(text, *flags):
    """hpcc-opt on a text; its output."""
    result = subprocess.run([HPCC_OPT, "-", *flags], input=text, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def run(module, function, arguments, results):
    """Calls `function` of a module (text without the outer `module`).

    `arguments` are arrays with their types in the IR, or (value, type) of
    scalars; `results` the types of the results, `shapes` their numbers of
    elements are taken from the program. Returns arrays.
    """
    lines, names, types = [], [], []
    for i, (value, type_) in enumerate(arguments):
        if isinstance(value, np.ndarray):
            static = tensor_type(value)
            lines.append(f"%c{i} = arith.constant {literal(value)}{static}")
            lines.append(f"%a{i} = tensor.cast %c{i} : {static} to {type_}")
        else:
            lines.append(f"%a{i} = arith.constant {value} : {type_}")
        names.append(f"%a{i}")
        types.append(type_)
    count = len(results)
    left = f"%r:{count}" if count > 1 else "%r"
    lines.append(f"{left} = call @{function}({', '.join(names)}) : "
                 f"({', '.join(types)}) -> ({', '.join(results)})")
    for i, type_ in enumerate(results):
        value = f"%r#{i}" if count > 1 else "%r"
        bits = type_.replace("f32", "i32")
        if bits != type_:
            lines.append(f"%b{i} = arith.bitcast {value} : {type_} to {bits}")
            value = f"%b{i}"
        lines.append(f"%u{i} = tensor.cast {value} : {bits} to tensor<*xi32>")
        lines.append(f"call @printMemrefI32(%u{i}) : (tensor<*xi32>) -> ()")
    body = "\n    ".join(lines)
    text = f"""{module}
  func.func private @printMemrefI32(%x: tensor<*xi32>) attributes {{llvm.emit_c_interface}}
  func.func @main() {{
    {body}
    return
  }}
"""
    lowered = opt(text, *LOWERING)
    prefix = llvm_prefix()
    libraries = [prefix / "lib" / f"libmlir_{name}.so" for name in ("runner_utils", "c_runner_utils")]
    result = subprocess.run(
        [prefix / "bin" / "mlir-runner", "-e", "main", "-entry-point-result=void", "-O1",
         "-shared-libs=" + ",".join(map(str, libraries))],
        input=lowered, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return [array.view(np.float32) if "f32" in type_ else array
            for array, type_ in zip(parse(result.stdout), results)]


def parse(text):
    arrays = []
    for part in text.split("Unranked Memref")[1:]:
        header, data = part.split("data =", 1)
        sizes = re.search(r"sizes = \[(.*?)\]", header).group(1)
        shape = [int(s) for s in sizes.split(",") if s.strip()]
        values = [int(v) for v in re.findall(r"-?\d+", data)]
        arrays.append(np.array(values, dtype=np.int32).reshape(shape))
    return arrays
