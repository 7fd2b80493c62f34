#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes scikit-learn's 8x8 handwritten digits as .npz files for hpcc.

digits.py FOLDER [DIGITS.csv.gz] makes FOLDER/train.npz (1,500 examples) and
FOLDER/val.npz (297), each with `images` uint8 [n, 1, 8, 8] in 0..255 and
`labels` int32, in the file's order, which mixes the classes. Needs NumPy and the data file of Debian's python3-sklearn, not scikit-learn.
"""
import glob
import gzip
import os
import sys

import numpy as np

PLACES = (
    "/usr/lib/python3*/dist-packages/sklearn/datasets/data/digits.csv.gz",
    "/usr/share/**/sklearn/datasets/data/digits.csv.gz",
)
TRAIN = 1500


def find():
    for pattern in PLACES + tuple(os.path.join(p, "sklearn/datasets/data/digits.csv.gz")
                                  for p in sys.path):
        for path in sorted(glob.glob(pattern, recursive=True)):
            return path
    return None


def load(path):
    """images uint8 [1797, 1, 8, 8] and labels int32 [1797]."""
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.int32)
    # The file counts 16 grey levels: 0..16 becomes 0..255.
    images = np.minimum(table[:, :-1] * 16, 255).astype(np.uint8)
    return images.reshape(-1, 1, 8, 8), table[:, -1].astype(np.int32)


def main(argv):
    if len(argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 1
    path = argv[2] if len(argv) == 3 else find()
    if path is None:
        print("digits.py: no digits.csv.gz; install python3-sklearn or name the file",
              file=sys.stderr)
        return 2
    images, labels = load(path)
    os.makedirs(argv[1], exist_ok=True)
    np.savez(os.path.join(argv[1], "train.npz"), images=images[:TRAIN], labels=labels[:TRAIN])
    np.savez(os.path.join(argv[1], "val.npz"), images=images[TRAIN:], labels=labels[TRAIN:])
    print(f"{argv[1]}: train.npz {TRAIN}, val.npz {len(images) - TRAIN} digits from {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
