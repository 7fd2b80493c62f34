# SPDX-License-Identifier: Apache-2.0
"""Nothing that a test does may depend on the caller's OpenMP settings."""
import os

for name in ("OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY"):
    os.environ.pop(name, None)
