# SPDX-License-Identifier: Apache-2.0
"""NumPy references that import nothing of hpcc."""
