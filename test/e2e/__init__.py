# SPDX-License-Identifier: Apache-2.0
"""Tests that drive the hpcc program from outside."""
