# SPDX-License-Identifier: Apache-2.0
"""Philox4x32-10 (Salmon et al., SC'11) and the dropout mask drawn from it."""
import numpy as np

MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
WEYL = (0x9E3779B9, 0xBB67AE85)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def philox4x32(counter, key):
    """`counter`: four broadcastable integer arrays, `key`: two integers.

    Returns the four output words as uint64 arrays below 2^32.
    """
    words = np.broadcast_arrays(*[np.asarray(c, dtype=np.uint64) & LOW
                                  for c in counter])
    c0, c1, c2, c3 = words
    k0, k1 = int(key[0]) & 0xFFFFFFFF, int(key[1]) & 0xFFFFFFFF
    for _ in range(10):
        product0, product1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = ((product1 >> HALF) ^ c1 ^ np.uint64(k0), product1 & LOW,
                          (product0 >> HALF) ^ c3 ^ np.uint64(k1), product0 & LOW)
        k0, k1 = (k0 + WEYL[0]) & 0xFFFFFFFF, (k1 + WEYL[1]) & 0xFFFFFFFF
    return c0, c1, c2, c3


def dropout_scale(shape, ratio, positions, step, node, seed):
    """The factors, 0 or 1/(1-ratio), of a dropout over `shape` = [n, ...].

    `positions` are the rows' positions in the step's global batch. A unit's
    fate depends on nothing else than the seed, the node's ordinal in the file,
    the step, that position and the unit's index inside the example.
    """
    ratio = np.float32(ratio)
    units = int(np.prod(shape[1:], dtype=np.int64))
    word = philox4x32((np.arange(units)[None, :],
                       np.asarray(positions, dtype=np.int64)[:, None],
                       int(step), int(node)),
                      (int(seed), int(seed) >> 32))[0]
    keep = word >= np.uint64(int(np.floor(float(ratio) * 2.0 ** 32)))
    scale = np.float32(1) / (np.float32(1) - ratio) if ratio < 1 else np.float32(0)
    return (keep * scale).reshape(shape)
