#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sum JUnit XML reports (lit, GoogleTest and pytest all write them).

count-results.py DIR prints "N passed, N failed, N skipped" over DIR/*.xml and
exits 1 when something failed, when nothing ran, or when a report is missing a
partner: a runner that announced itself (DIR/<name>.started) but left no
DIR/<name>.xml has crashed and counts as one failure. A known defect (pytest's xfail) is named and
counted with the skipped: the line has no fourth number.
"""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def count_file(path):
    """Returns (passed, failed, skipped, names of failures) of one report."""
    passed = failed = skipped = 0
    failures = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        # GoogleTest marks disabled and filtered tests by an attribute only.
        disabled = case.get("status") == "notrun"
        if "failure" in kinds or "error" in kinds:
            failed += 1
            failures.append(f"{case.get('classname')}.{case.get('name')}")
        elif "skipped" in kinds or disabled:
            skipped += 1
            reason = case.find("skipped")
            if reason is not None and reason.get("type") == "pytest.xfail":
                print(f"KNOWN FAILURE {case.get('classname')}.{case.get('name')}:"
                      f" {reason.get('message')}")
        else:
            passed += 1
    return passed, failed, skipped, failures


def count_folder(folder):
    total = [0, 0, 0]
    for started in sorted(folder.glob("*.started")):
        report = started.with_suffix(".xml")
        try:
            *counts, failures = count_file(report)
        except (OSError, ElementTree.ParseError) as error:
            counts, failures = (0, 1, 0), [f"{started.stem}: no report ({error})"]
        total = [a + b for a, b in zip(total, counts)]
        for name in failures:
            print(f"FAILED {name}")
    return total


def main(argv):
    if len(argv) != 2:
        print("usage: count-results.py DIR", file=sys.stderr)
        return 2
    passed, failed, skipped = count_folder(pathlib.Path(argv[1]))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
