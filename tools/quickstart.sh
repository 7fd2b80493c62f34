#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a clone to a trained network: packages, build, then a small convnet that
# PyTorch exported learns 8x8 handwritten digits on four CPU workers.
#   --no-install   leave the machine's packages alone
set -euo pipefail
cd "$(dirname "$0")/.."

tools/scripts/install-packages.sh "$@"

step() {
  printf '\n$ %s\n' "$*"
  "$@"
}

echo "building (a few minutes the first time)"
mkdir -p out
cmake --preset dev >out/configure.log || {
  cat out/configure.log
  exit 2
}
cmake --build build --target hpcc hpcc-opt

.venv/bin/python tools/scripts/digits.py out/digits

# --reinit all: the file holds PyTorch's initial values; draw our own.
step build/bin/hpcc test/models/digits.onnx --cpus 4 --scheme c --batch 32 \
  --reinit all --lr 0.02 --data out/digits/train.npz --val out/digits/val.npz \
  --epochs 15 --export out/digits-trained.onnx

printf '\nThe trained network is out/digits-trained.onnx.\n'
