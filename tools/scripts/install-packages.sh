#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Install what the build and the tests need: Debian packages (as root or with
# sudo) and a Python environment in .venv. Does nothing when all is there.
#   --no-install   leave the machine's packages alone
set -euo pipefail
cd "$(dirname "$0")/../.."

install=1
for arg in "$@"; do
  case "$arg" in
    --no-install) install=0 ;;
    *) echo "install-packages.sh: unknown option '$arg'; there is only --no-install" >&2
       exit 1 ;;
  esac
done

build_packages=(
  ccache clang-22 clang-format-22 cmake git libclang-rt-22-dev libdnnl-dev
  libgtest-dev libmlir-22-dev libonnx-dev libprotobuf-dev libzstd-dev lld-22
  llvm-22-dev llvm-22-tools mlir-22-tools ninja-build nlohmann-json3-dev
  protobuf-compiler zlib1g-dev
)
# ONNX's own node vectors, and the 8x8 digits that scikit-learn ships.
test_packages=(libonnx-testdata python3 python3-sklearn python3-venv)

missing=()
for package in "${build_packages[@]}" "${test_packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$install" = 0 ]; then
    echo "not installed (and --no-install was given): ${missing[*]}" >&2
  else
    sudo=()
    if [ "$(id -u)" != 0 ]; then
      command -v sudo >/dev/null || {
        echo "install-packages.sh: not root and no sudo; install by hand: ${missing[*]}" >&2
        exit 2
      }
      sudo=(sudo)
    fi
    echo "installing: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    "${sudo[@]}" apt-get update -q
    "${sudo[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
  fi
fi

# Debian's own interpreter: the packages above are installed for that one.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
requirements=tools/scripts/requirements.txt
if ! cmp -s "$requirements" .venv/installed-requirements.txt; then
  echo "making the Python environment .venv"
  "$python" -m venv --clear .venv
  .venv/bin/python -m pip install -q --disable-pip-version-check -r "$requirements"
  cp "$requirements" .venv/installed-requirements.txt
fi
