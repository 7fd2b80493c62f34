# SPDX-License-Identifier: Apache-2.0
"""Training as hpcc defines it (docs/method.md), simulated in NumPy.

Imports nothing of hpcc: trunk data parallel, head in passes by scheme a, b or
c, one worker's arithmetic after the other in one process. Where K workers hold
slices of one tensor the simulation holds the whole, so it shows what the
slices must add up to. float64 unless told otherwise.
"""
import dataclasses
import fnmatch

import numpy as np

from reference.network import Context, Network


@dataclasses.dataclass
class Options:
    scheme: str = "c"
    workers: int = 1
    batch: int = 128
    fc_batch: int = 0
    fc_update: str | None = None        # every, accumulate, or a number as text
    loss: str = "softmax"
    loss_outputs: tuple = ()            # ((output name, weight), ...)
    lr: float = 0.01                    # or a function of the step
    momentum: float = 0.9
    momentum_form: str = "pytorch"
    nesterov: bool = False
    weight_decay: float = 0.0
    no_decay: tuple = ()                # of "bias", "norm"
    lr_scaling: str = "none"
    base_batch: int = 128
    place: tuple = ()
    freeze: tuple = ()
    bn_variance: str = "pytorch"
    seed: int = 0


def examples(n, workers, rank):
    """The positions [begin, end) of worker `rank` in a batch of n."""
    return rank * n // workers, (rank + 1) * n // workers


def ceil_div(a, b):
    return -(-a // b)


def passes(scheme, workers, batch, fc_batch, n):
    """Per pass of a step with n of `batch` examples: the positions it covers.

    The number of passes is that of a full batch. In scheme b a short batch can
    hold one example more of a worker than the full one does (7 and 8 examples
    on 5 workers); the worker's last pass takes it, since no example is lost.
    """
    full = [end - begin for begin, end in
            (examples(batch, workers, r) for r in range(workers))]
    starts = [examples(n, workers, r) for r in range(workers)]
    if scheme == "a":
        f = fc_batch or batch
        return [np.arange(min(i * f, n), min((i + 1) * f, n))
                for i in range(ceil_div(batch, f))]
    if scheme == "b":
        result = []
        for r, (begin, end) in enumerate(starts):
            f = fc_batch or max(full[r], 1)
            count = ceil_div(full[r], f) if fc_batch else 1
            for j in range(count):
                stop = end if j == count - 1 else min(begin + (j + 1) * f, end)
                result.append(np.arange(min(begin + j * f, end), stop))
        return result
    assert scheme == "c", scheme
    count = min(ceil_div(batch, fc_batch), max(full)) if fc_batch else workers
    result = []
    for i in range(count):
        parts = [np.arange(begin + i * (end - begin) // count,
                           begin + (i + 1) * (end - begin) // count)
                 for begin, end in starts]
        result.append(np.concatenate(parts))
    return result


def loss_and_gradient(kind, logits, targets, count):
    """The loss summed over the rows and divided by `count` examples."""
    flat = logits.reshape(len(logits), -1)
    targets = np.asarray(targets)
    if kind != "mse" and targets.ndim == 1:
        targets = np.eye(flat.shape[1])[targets.astype(np.int64)]
    targets = targets.reshape(flat.shape).astype(flat.dtype)
    if kind == "softmax":
        shifted = flat - flat.max(axis=1, keepdims=True)
        log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        weight = targets.sum(axis=1, keepdims=True)
        value = (targets * (log_sum - shifted)).sum() / count
        gradient = (weight * np.exp(shifted - log_sum) - targets) / count
    elif kind == "logistic":
        value = (np.maximum(flat, 0) - flat * targets
                 + np.log1p(np.exp(-np.abs(flat)))).sum() / count
        gradient = (1 / (1 + np.exp(-flat)) - targets) / count
    else:
        assert kind == "mse", kind
        units = flat.shape[1]
        value = ((flat - targets) ** 2).sum() / (count * units)
        gradient = 2 * (flat - targets) / (count * units)
    return value, gradient.reshape(logits.shape)


class Simulation:
    """The state of one training run; step() advances it by one batch."""

    def __init__(self, model, options, dtype=np.float64):
        self.options = options
        self.network = Network(model, dtype)
        self.values = self.network.values
        self.steps = 0
        self.momenta = {name: np.zeros_like(self.values[name])
                        for name in self.network.trainable()
                        if not any(fnmatch.fnmatch(name, p) for p in options.freeze)}
        outputs = options.loss_outputs or ((self.network.outputs[0], 1.0),)
        self.losses = [(self._logits(name), weight) for name, weight in outputs]
        self.trunk = self.head = None

    def _logits(self, output):
        """A trailing Softmax belongs to the softmax loss."""
        node = self.network.producer.get(output)
        if self.options.loss == "softmax" and node and node.op_type in ("Softmax", "LogSoftmax"):
            return node.inputs[0]
        return output

    def _context(self, positions, segments):
        return Context(self.network.opset, True, positions, segments, self.steps,
                       self.options.seed, self.options.bn_variance)

    def _partition(self, images):
        targets = [name for name, _ in self.losses]
        nodes = self.network.needed(targets)
        environment, _ = self.network.evaluate(
            nodes, {self.network.inputs[0]: images[:1]}, Context(self.network.opset))
        self.trunk, self.head = self.network.split(targets, environment, self.options.place)
        if self.options.scheme == "data" or not self.head:
            self.trunk, self.head = nodes, []
        inside = {v for node in self.head for v in node.outputs}
        crossing = {v for node in self.head for v in node.inputs
                    if v and v not in self.values} | set(targets)
        self.boundary = sorted(crossing - inside) if self.head else targets
        self.head_parameters = {v for node in self.head for v in node.inputs
                                if v in self.momenta}

    def _pass_positions(self, n):
        o = self.options
        if not self.head:
            return [np.arange(n)]
        return passes(o.scheme, o.workers, o.batch, o.fc_batch, n)

    def _group(self):
        """Passes per head update; None: one update per step."""
        update = self.options.fc_update
        if update is None:
            update = "accumulate" if self.options.scheme == "a" else "every"
        if not self.head or update == "accumulate":
            return None
        return 1 if update == "every" else int(update)

    def _rate_factor(self, in_head):
        o = self.options
        nominal = o.batch
        if in_head and self._group() is not None:
            count = len(self._pass_positions(o.batch))
            nominal = self._group() * o.batch / count
        ratio = nominal / o.base_batch
        return {"none": 1.0, "linear": ratio, "sqrt": ratio ** 0.5}[o.lr_scaling]

    def _update(self, names, gradients, factor, rate):
        """One optimizer step on `names` with gradients times `factor`."""
        o = self.options
        for name in sorted(names):
            w, m = self.values[name], self.momenta[name]
            g = gradients[name] * factor if name in gradients else np.zeros_like(w)
            role = self.network.roles[name]
            spared = ("bias" in o.no_decay and role == "bias"
                      or "norm" in o.no_decay and role.startswith("norm"))
            if not spared:
                g = g + o.weight_decay * w
            if o.momentum_form == "pytorch":
                new = o.momentum * m + g
                change = rate * (g + o.momentum * new if o.nesterov else new)
            else:
                new = o.momentum * m + rate * g
                change = (1 + o.momentum) * new - o.momentum * m if o.nesterov else new
            self.momenta[name] = new.astype(w.dtype)
            self.values[name] = (w - change).astype(w.dtype)

    def gradients(self, images, labels):
        """Loss and gradients of the whole batch, no update."""
        saved = dict(self.values)
        collected = {}
        loss = self._run(images, labels, lambda names, g, factor, rate: collected.update(
            {name: g[name] for name in names if name in g}), one_group=True)
        self.values.update(saved)
        return loss, collected

    def step(self, images, labels):
        loss = self._run(images, labels, self._update)
        self.steps += 1
        return loss

    def _run(self, images, labels, update, one_group=False):
        o, network, n = self.options, self.network, len(images)
        images = np.asarray(images, dtype=network.dtype)
        if self.trunk is None:
            self._partition(images)
        segments = [examples(n, o.workers, r) for r in range(o.workers)]
        context = self._context(np.arange(n), segments)
        environment, tape = network.evaluate(
            self.trunk, {network.inputs[0]: images}, context)
        rate = o.lr(self.steps) if callable(o.lr) else o.lr

        loss, returned = 0.0, {}
        group_gradients, group_examples = {}, 0
        group = None if one_group else self._group()
        positions = self._pass_positions(n)
        for index, rows in enumerate(positions):
            if len(rows):
                value, gradients = self._head_pass(environment, labels, rows, n, context)
                loss += value
                for name in self.boundary:
                    if name in gradients:
                        whole = returned.setdefault(name, np.zeros_like(environment[name]))
                        whole[rows] = gradients[name]
                for name in self.head_parameters & set(gradients):
                    group_gradients[name] = group_gradients.get(name, 0) + gradients[name]
                group_examples += len(rows)
            last = index + 1 == len(positions)
            if last or group is not None and (index + 1) % group == 0:
                if group_examples and self.head:
                    update(self.head_parameters, group_gradients, n / group_examples,
                           rate * self._rate_factor(True))
                group_gradients, group_examples = {}, 0

        gradients = network.differentiate(tape, returned)
        update(set(self.momenta) - self.head_parameters, gradients, 1.0,
               rate * self._rate_factor(False))
        self.values.update({k: v.astype(network.dtype) for k, v in context.running.items()})
        return loss

    def _head_pass(self, environment, labels, rows, n, context):
        """Loss (its share of the step's mean) and gradients of one pass."""
        inner = self._context(rows, [(0, len(rows))])
        inner.running = context.running
        start = {name: environment[name][rows] for name in self.boundary}
        values, tape = self.network.evaluate(self.head, start, inner)
        loss, gradients = 0.0, {}
        for name, weight in self.losses:
            value, gradient = loss_and_gradient(
                self.options.loss, values[name], np.asarray(labels)[rows], n)
            loss += weight * value
            gradients[name] = gradients.get(name, 0) + weight * gradient
        return loss, self.network.differentiate(tape, gradients)


def batches(count, batch, steps):
    """Slices of unshuffled data: epochs in file order, a short batch ends each."""
    done = 0
    while done < steps:
        for begin in range(0, count, batch):
            yield slice(begin, min(begin + batch, count))
            done += 1
            if done == steps:
                return


def load_data(path):
    """images (uint8 becomes [0, 1]) and labels of an .npz file."""
    with np.load(path) as data:
        images, labels = data["images"], data["labels"]
    if images.dtype == np.uint8:
        images = images / np.float32(255)
    return images, labels


def train(model, data, options, steps, dtype=np.float64):
    """Trains on unshuffled data; returns (losses, {initializer: values})."""
    images, labels = data if isinstance(data, tuple) else load_data(data)
    simulation = Simulation(model, options, dtype)
    losses = [simulation.step(images[part], labels[part])
              for part in batches(len(images), options.batch, steps)]
    return np.array(losses), simulation.values
