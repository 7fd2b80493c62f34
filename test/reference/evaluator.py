# SPDX-License-Identifier: Apache-2.0
"""The onnx package's reference evaluator, with one operator put right.

onnx 1.23.2 computes LRN for as many channels as the batch has examples (the
loop runs over x.shape[0]); BatchNormalization below opset 14 normalises with a
mix of batch and running statistics there, so test nets with it use opset 15.
"""
import numpy as np
import onnx.reference
from onnx.reference.op_run import OpRun


class LRN(OpRun):
    def _run(self, x, alpha=None, beta=None, bias=None, size=None):
        below, above = (size - 1) // 2, size // 2
        squares = np.stack([
            (x[:, max(0, c - below):c + above + 1] ** 2).sum(axis=1)
            for c in range(x.shape[1])], axis=1)
        return ((x / (bias + alpha / size * squares) ** beta).astype(x.dtype),)


def evaluate(model, inputs):
    """{output name: value} of an onnx model in inference mode."""
    evaluator = onnx.reference.ReferenceEvaluator(model, new_ops=[LRN])
    return dict(zip(evaluator.output_names, evaluator.run(None, inputs)))
