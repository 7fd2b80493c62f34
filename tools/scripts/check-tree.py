#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the tree's own rules: who may include whom, and the licence line.

The rooms form layers (frontend -> dialects, passes -> dialects, the runtime
apart), and each library's headers belong to one room. Rules are prefixes of
paths; the first row of ROOMS whose prefix matches a file decides. Warns, and
only warns, about files over 800 lines.
"""
import os
import pathlib
import re
import subprocess
import sys

SOURCES = (".cpp", ".h", ".td", ".def", ".cu", ".cuh", ".c")
INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]', re.M)
OUR_ROOMS = ("frontend/", "dialects/", "passes/", "runtime/", "tools/", "test/")

# The runtime headers that the compiler reads too.
COMPILER_SHARED = (
    "runtime/include/hpcc/abi.def",
    "runtime/include/hpcc/sharding.h",
    "hpcc/abi.def",
    "hpcc/sharding.h",
)

# (room, what of ours it may include). "hpcc/" is runtime/include by its other
# root. Tests may include anything.
ROOMS = [
    ("frontend/", ("frontend/", "dialects/")),
    ("passes/", ("passes/", "dialects/") + COMPILER_SHARED),
    ("dialects/interfaces/", ("dialects/interfaces/",)),
    ("dialects/", ("dialects/",) + COMPILER_SHARED),
    ("runtime/train/", (
        "runtime/train/", "runtime/data/", "runtime/base/", "runtime/comm/",
        "runtime/include/", "hpcc/")),
    ("runtime/comm/local/", (
        "runtime/comm/", "runtime/base/", "runtime/include/", "hpcc/")),
    ("runtime/", ("runtime/", "hpcc/")),
    ("tools/", ("tools/", "frontend/", "passes/", "dialects/", "runtime/",
                "hpcc/")),
    ("test/", OUR_ROOMS + ("hpcc/",)),
]

# (headers, the only rooms that may include them, what they are)
LIBRARIES = [
    (("mlir/", "llvm/", "llvm-c/", "mlir-c/"),
     ("frontend/", "dialects/", "passes/", "tools/", "test/"), "LLVM or MLIR"),
    (("cuda", "cublas", "cudnn", "nvrtc", "cupti"),
     ("runtime/cuda/", "runtime/comm/nccl/", "test/runtime/"), "CUDA"),
    (("nccl",), ("runtime/comm/nccl/", "test/runtime/"), "NCCL"),
    (("dnnl", "oneapi/dnnl/"), ("runtime/cpu/", "test/runtime/"), "oneDNN"),
    (("mpi.h",), ("runtime/comm/mpi/", "test/runtime/"), "MPI"),
    (("google/protobuf/", "onnx/onnx", "onnx/proto", "onnx/common/"),
     ("frontend/onnx/", "frontend/export/", "test/frontend/"), "protobuf"),
]


def room_of(path):
    for prefix, allowed in ROOMS:
        if path.startswith(prefix):
            return prefix, allowed
    return None, ()


def include_errors(path, text):
    """Yields one message per include of `path` that its room may not have."""
    room, allowed = room_of(path)
    if room is None:
        return
    for match in INCLUDE.finditer(text):
        header = match.group(1)
        line = text.count("\n", 0, match.start(1)) + 1
        where = f"{path}:{line}: includes \"{header}\""
        for prefixes, rooms, what in LIBRARIES:
            if header.startswith(prefixes) and not path.startswith(rooms):
                yield (f"{where}: {what} headers belong to "
                       f"{', '.join(r for r in rooms if r[:4] != 'test')} only")
        if header.startswith(OUR_ROOMS + ("hpcc/",)):
            if not header.startswith(allowed):
                yield f"{where}: {room} may include only {', '.join(allowed)}"
        elif "/" not in header and path.startswith(OUR_ROOMS):
            continue  # a neighbour, or the standard library


def licence_errors(path, text):
    if path.endswith(SOURCES + (".py", ".sh")) or path.endswith("CMakeLists.txt"):
        if "SPDX-License-Identifier: Apache-2.0" not in text[:400]:
            yield (f"{path}:1: no licence line; begin with "
                   "'SPDX-License-Identifier: Apache-2.0' in a comment")


def check(root, paths):
    """Returns (errors, warnings) for the files `paths` below `root`."""
    errors, warnings = [], []
    for path in paths:
        if not path.endswith(SOURCES + (".py", ".sh", ".mlir", "CMakeLists.txt")):
            continue
        try:
            text = pathlib.Path(root, path).read_text(encoding="utf-8")
        except FileNotFoundError:
            continue  # deleted and not committed
        errors += licence_errors(path, text)
        if path.endswith(SOURCES):
            errors += include_errors(path, text)
        lines = text.count("\n")
        if lines > 800:
            warnings.append(f"{path}: {lines} lines; over 800 wants a split or a reason")
    return errors, warnings


def main():
    root = subprocess.run(["git", "rev-parse", "--show-toplevel"], check=True,
                          capture_output=True, text=True,
                          cwd=os.path.dirname(os.path.abspath(__file__))).stdout.strip()
    paths = subprocess.run(["git", "ls-files"], check=True, capture_output=True,
                           text=True, cwd=root).stdout.splitlines()
    errors, warnings = check(root, paths)
    for line in warnings:
        print("warning:", line)
    for line in errors:
        print("error:", line)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
