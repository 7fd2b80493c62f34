# SPDX-License-Identifier: Apache-2.0
"""runtime/include/hpcc/sharding.h against the simulation's passes.

Both were written from the definition of the method, independently. A small
program prints what the header says for every case; any difference fails.
"""
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

from reference.simulate import examples, passes

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "runtime" / "include"
PROGRAM = r"""
#include "hpcc/sharding.h"
#include <cstdio>
using namespace hpcc::sharding;
int main() {
  long scheme, workers, batch, f, n;
  while (scanf("%ld %ld %ld %ld %ld", &scheme, &workers, &batch, &f, &n) == 5) {
    PassPlan plan{static_cast<Scheme>(scheme), workers, batch, f};
    printf("%ld", long(passCount(plan)));
    for (long pass = 0; pass < passCount(plan); ++pass)
      for (long rank = 0; rank < workers; ++rank) {
        Chunk c = chunk(plan, n, rank, pass);
        printf(" %ld %ld %ld", long(c.offset), long(c.count), long(c.total));
      }
    printf("\n");
  }
}
"""


@pytest.fixture(scope="module")
def header(tmp_path_factory):
    """Runs the compiled program on a list of cases."""
    compiler = shutil.which("clang++-22") or shutil.which("g++")
    folder = tmp_path_factory.mktemp("header")
    (folder / "main.cpp").write_text(PROGRAM)
    subprocess.run([compiler, "-std=c++20", "-O1", f"-I{INCLUDE}", folder / "main.cpp", "-o",
                    folder / "main"], check=True, timeout=120)

    def ask(cases):
        text = "\n".join(" ".join(map(str, case)) for case in cases)
        done = subprocess.run([folder / "main"], input=text, capture_output=True, text=True,
                              check=True, timeout=60)
        return [[int(v) for v in line.split()] for line in done.stdout.splitlines()]
    return ask


@pytest.mark.parametrize("scheme", "abc")
def test_passes_agree(header, scheme):
    cases = [("abc".index(scheme), workers, batch, f, n)
             for workers in (1, 2, 3, 5, 8) for batch in range(workers, 2 * workers + 7)
             for f in range(0, batch + 2) for n in range(1, batch + 1)]
    answers = header(cases)
    assert len(answers) == len(cases)
    for (_, workers, batch, f, n), answer in zip(cases, answers):
        expected = passes(scheme, workers, batch, f, n)
        where = f"K={workers} B={batch} f={f} n={n}"
        assert answer[0] == len(expected), where
        chunks = np.array(answer[1:]).reshape(len(expected), workers, 3)
        for index, rows in enumerate(expected):
            assert (chunks[index, :, 2] == len(rows)).all(), (where, index)
            if scheme == "a":
                # The same rows of the gathered batch on every worker.
                got = np.arange(n)[chunks[index, 0, 0]:][:chunks[index, 0, 1]]
                assert (chunks[index, :, :2] == chunks[index, 0, :2]).all(), (where, index)
            else:
                got = np.concatenate([
                    np.arange(*examples(n, workers, rank))[offset:offset + count]
                    for rank, (offset, count, _) in enumerate(chunks[index])])
            assert got.tolist() == rows.tolist(), (where, index)
