# SPDX-License-Identifier: Apache-2.0
# How lit runs the FileCheck tests: hpcc-opt and hpcc from the build, FileCheck,
# not and split-file from LLVM 22. Paths that a test may need:
#   %models  the committed .onnx files        %shared  the shared data folder
# A test that reads %shared says `REQUIRES: shared`.
import os

import lit.formats

config.name = "hpcc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# These hold GoogleTest or pytest files, or inputs.
config.excludes = ["Inputs", "e2e", "models", "numerics", "reference", "runtime"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.hpcc_build_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.hpcc_build_dir, "bin"),
        config.llvm_bin_dir,
        os.environ["PATH"],
    ]
)
# Tests must not read the caller's colours, locale or OpenMP settings.
config.environment["LC_ALL"] = "C"
config.environment["OMP_NUM_THREADS"] = "1"

shared = os.environ.get("HPCC_SHARED") or os.path.join(
    os.path.dirname(config.hpcc_source_dir), "shared"
)
if os.path.isdir(shared):
    config.available_features.add("shared")
config.substitutions.append(("%shared", shared))
config.substitutions.append(
    ("%models", os.path.join(config.test_source_root, "models"))
)
