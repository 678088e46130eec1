#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's time for the Hessians of W4, W6 and W7 to W11, in 64 bits, on a processor or a GPU.

usage: torch_models.py [cpu|cuda] [NAME ...]

The models are those of benchmarks/models and the perceptrons of the work table, the samples standard normal or any
tokens and classes. Columns of the Hessian come as tangents of the gradient or as pullbacks of it, as many at once as
is fastest and memory holds; of what takes minutes some blocks of columns are timed and the rest is taken to be as
slow. Prints a table in Markdown. Needs PyTorch 2 (torch.func).
"""
import math
import pathlib
import sys
import time
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, jvp, vjp, vmap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import make_models  # noqa: E402

BLOCKS = (32, 128, 512, 2048)
SECONDS = 10.0  # for each size of block and way


class Lstm(nn.Module):
    """make_models.Lstm in single operations: nn.LSTM has no derivatives of second order on a GPU."""

    def __init__(self):
        super().__init__()
        self.input, self.state, self.head = nn.Linear(4, 64), nn.Linear(16, 64), nn.Linear(16, 5)

    def forward(self, sequence):
        h = c = sequence.new_zeros(len(sequence), 16)
        for x in sequence.unbind(1):
            i, f, g, o = (self.input(x) + self.state(h)).split(16, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return self.head(h)


class Gpt(make_models.Gpt):
    """Its tokens as rows of a unit matrix: an embedding's derivatives do not run over many directions at once."""

    def forward(self, rows):
        return self.head(self.last(self.block(rows @ self.wte.weight + self.wpe)))


def perceptron(width):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 3))


# The module, its inputs, how many classes and of what shape the targets are.
WORKS = {
    "W4 mlp 2-64-64-3": (lambda: perceptron(64), lambda: torch.randn(2000, 2), 3, (2000,)),
    "W6 mlp 2-28-28-3": (lambda: perceptron(28), lambda: torch.randn(10000, 2), 3, (10000,)),
    "W7 gpt": (Gpt, lambda: torch.eye(32)[torch.randint(32, (64, 16))], 32, (64, 16)),
    "W8 cnn": (make_models.lenet, lambda: torch.randn(1797, 1, 8, 8), 10, (1797,)),
    "W9 resnet": (make_models.resnet, lambda: torch.randn(256, 3, 8, 8), 10, (256,)),
    "W10 lstm": (Lstm, lambda: torch.randn(256, 20, 4), 5, (256,)),
    "W11 vit": (make_models.Vit, lambda: torch.randn(256, 1, 8, 8), 10, (256,)),
}


def loss_of(name, device):
    """The mean cross-entropy as a function of one vector, and a point."""
    make, inputs, num_classes, shape = WORKS[name]
    torch.manual_seed(1)
    model = make().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, (parameter[0].numel() if parameter.dim() > 1 else 100) ** -0.5)
    model, x = model.to(device, torch.float64), inputs().to(device, torch.float64)
    target = torch.randint(num_classes, shape).to(device)
    parts = dict(model.named_parameters())
    theta = torch.cat([part.detach().flatten() for part in parts.values()])
    sizes = [part.numel() for part in parts.values()]

    def loss(theta):
        pieces = {n: t.reshape(p.shape) for (n, p), t in zip(parts.items(), theta.split(sizes))}
        output = functional_call(model, pieces, (x,))
        return F.cross_entropy(output.reshape(-1, num_classes), target.reshape(-1))

    return loss, theta


def ways(loss, theta):
    gradient = grad(loss)
    return {
        "tangents": vmap(lambda v: jvp(gradient, (theta,), (v,))[1]),
        "pullbacks": lambda block: vmap(vjp(gradient, theta)[1])(block)[0],
    }


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def seconds_of_block(way, block, device):
    way(block)
    synchronize(device)
    seconds, calls = 0.0, 0
    begin = time.perf_counter()
    while calls < 3 and seconds < SECONDS / 2:
        way(block)
        synchronize(device)
        calls += 1
        seconds = time.perf_counter() - begin
    return seconds / calls


def best(name, device):
    """The seconds of all blocks, the way, the size of its blocks and the number of parameters."""
    loss, theta = loss_of(name, device)
    n = len(theta)
    found = (math.inf, "", 0)
    for label, way in ways(loss, theta).items():
        before = math.inf
        for size in BLOCKS:
            size = min(size, n)
            block = torch.eye(size, n, dtype=torch.float64, device=device)
            try:
                total = seconds_of_block(way, block, device) * n / size
            except torch.OutOfMemoryError:
                torch.cuda.empty_cache()
                break
            found = min(found, (total, label, size))
            if total > before or size == n:
                break
            before = total
    return (*found, n)


def main():
    arguments = sys.argv[1:]
    device = arguments.pop(0) if arguments and arguments[0] in ("cpu", "cuda") else "cpu"
    warnings.simplefilter("ignore")  # of operators that vmap loops over
    where = torch.cuda.get_device_name() if device == "cuda" else f"{torch.get_num_threads()} threads"
    print(f"PyTorch {torch.__version__}, {where}\n\n| | parameters | seconds | way | columns at once |\n"
          "|---|---:|---:|---|---:|")
    for name in arguments or WORKS:
        seconds, way, size, n = best(name, device)
        print(f"| {name} | {n:,} | {seconds:.3g} | {way} | {size} |", flush=True)


if __name__ == "__main__":
    main()
