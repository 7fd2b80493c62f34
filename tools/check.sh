#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Set up, build and test everything. The last line is
#   N passed, N failed, N skipped
# and the exit status is not 0 when something failed or nothing ran.
#   --no-install   leave the machine's packages alone
# HPCC_SHARED names the folder with real data (../shared when unset); tests
# that read it are skipped, and say so, where it is missing.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD

tools/scripts/install-packages.sh "$@" || {
  echo "0 passed, 1 failed, 0 skipped"
  exit 2
}

results=build/results
rm -rf "$results"
mkdir -p "$results"
python=$root/.venv/bin/python

# run NAME COMMAND...: a check that is one test, reported as JUnit XML.
run() {
  local name=$1 begin=$SECONDS
  shift
  echo "== $name"
  : >"$results/$name.started"
  local body=""
  "$@" || body='<failure message="see the log"/>'
  echo "<testsuite><testcase classname=\"check\" name=\"$name\">$body</testcase></testsuite>" \
    >"$results/$name.xml"
  echo "== $name took $((SECONDS - begin)) s"
  [ -z "$body" ]
}

# report NAME COMMAND...: a runner that writes $results/NAME.xml itself.
report() {
  local name=$1 begin=$SECONDS
  shift
  echo "== $name"
  : >"$results/$name.started"
  "$@"
  echo "== $name took $((SECONDS - begin)) s"
}

build() {
  cmake --preset "$1" >"$results/configure-$1.log" || {
    cat "$results/configure-$1.log"
    return 1
  }
  shift
  cmake --build "$@"
}

format() {
  git ls-files -z '*.cpp' '*.h' | xargs -0 -r clang-format-22 --dry-run -Werror
}

# gtests BUILD_DIR PREFIX: every GoogleTest program of that build.
gtests() {
  local program
  for program in "$1"/bin/tests/*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    report "$2-$(basename "$program")" timeout 900 "$program" --gtest_brief=1 \
      --gtest_output="xml:$root/$results/$2-$(basename "$program").xml"
  done
}

# Idle OpenMP teams sleep: spinning ones slow small tests on a busy machine.
export OMP_WAIT_POLICY=passive

run format format
run tree "$python" tools/scripts/check-tree.py
if run build build dev build; then
  report lit build/test/run-lit --xunit-xml-output "$results/lit.xml"
  gtests build gtest
  e2e=()
  [ -x build/bin/hpcc ] || e2e=(--ignore=test/e2e)
  report pytest timeout 1500 "$python" -m pytest -q test "${e2e[@]}" \
    --junitxml "$results/pytest.xml"
fi

# The runtime and its tests once more with the address and undefined-behaviour
# sanitizers. LLVM's own objects are not instrumented, so the compiler is not
# built so.
if run build-sanitized build asan build-asan --target hpcc-runtime-tests; then
  export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  gtests build-asan sanitized
fi

echo "== $((SECONDS)) s in all"
"$python" tools/scripts/count-results.py "$results"
