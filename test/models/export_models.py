#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the committed .onnx files with PyTorch (1.13, Debian's python3-torch).

Run by hand when a network changes: test/models/export_models.py [FOLDER].
The weights are PyTorch's own initial values from a fixed seed.
"""
import collections
import pathlib
import sys

import torch
from torch import nn


def chain(**layers):
    return nn.Sequential(collections.OrderedDict(layers))


def lenet():
    """For MNIST, 1x28x28; exported with batch 1, as most files are."""
    return chain(
        conv1=nn.Conv2d(1, 16, 5), relu1=nn.ReLU(), pool1=nn.MaxPool2d(2),
        conv2=nn.Conv2d(16, 32, 5), relu2=nn.ReLU(), pool2=nn.MaxPool2d(2),
        flatten=nn.Flatten(), fc1=nn.Linear(512, 128), relu3=nn.ReLU(),
        fc2=nn.Linear(128, 84), relu4=nn.ReLU(), fc3=nn.Linear(84, 10)), (1, 28, 28)


def digits():
    """For scikit-learn's 8x8 digits; symbolic batch."""
    return chain(
        conv1=nn.Conv2d(1, 16, 3, padding=1), relu1=nn.ReLU(),
        conv2=nn.Conv2d(16, 16, 3, padding=1), relu2=nn.ReLU(), pool2=nn.MaxPool2d(2),
        conv3=nn.Conv2d(16, 24, 3, padding=1), relu3=nn.ReLU(), pool3=nn.MaxPool2d(2),
        flatten=nn.Flatten(), fc1=nn.Linear(96, 64), relu4=nn.ReLU(),
        fc2=nn.Linear(64, 10)), (1, 8, 8)


def digits_mlp():
    """The same digits without a convolution: everything is head."""
    return chain(
        flatten=nn.Flatten(), fc1=nn.Linear(64, 50), relu1=nn.ReLU(),
        fc2=nn.Linear(50, 30), tanh2=nn.Tanh(), fc3=nn.Linear(30, 10)), (1, 8, 8)


def export(path, network, shape, symbolic):
    torch.onnx.export(
        network, torch.zeros(1, *shape), str(path), opset_version=13,
        input_names=["image"], output_names=["logits"],
        dynamic_axes={"image": {0: "N"}, "logits": {0: "N"}} if symbolic else None)
    print(f"{path}: {path.stat().st_size} bytes")


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    if folder.is_file():
        folder = folder.parent
    for name, make, symbolic in (("lenet", lenet, False), ("digits", digits, True),
                                 ("digits_mlp", digits_mlp, True)):
        torch.manual_seed(0)
        network, shape = make()
        export(folder / f"{name}.onnx", network.eval(), shape, symbolic)


if __name__ == "__main__":
    main()
