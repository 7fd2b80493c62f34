# SPDX-License-Identifier: Apache-2.0
"""The table of operators: sorted, as lookups rely on, and as documented."""
import collections
import re

import onnx

from e2e.harness import ROOT, run


def table():
    rows = [line.split() for line in run("hpcc-import", "--operators").out.splitlines()]
    return [(name, int(since)) for name, since in rows]


def test_sorted_without_duplicates():
    rows = table()
    assert rows == sorted(set(rows))


def test_every_row_is_an_onnx_operator():
    schemas = {s.name for s in onnx.defs.get_all_schemas_with_history() if s.domain == ""}
    versions = collections.defaultdict(set)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            versions[schema.name].add(schema.since_version)
    for name, since in table():
        assert name in schemas and since in versions[name], (name, since)


def test_documented():
    documented = []
    for line in (ROOT / "docs" / "import.md").read_text().splitlines():
        row = re.fullmatch(r"\| ([A-Za-z]+) \| ([\d, ]+) \|", line)
        if row:
            documented += [(row.group(1), int(v)) for v in row.group(2).split(",")]
    assert documented == table()
