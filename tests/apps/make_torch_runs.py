# SPDX-License-Identifier: BSD-3-Clause
"""Writes the PyTorch checkpoints that inputs_test.py reads, once: make_torch_runs.py tests/apps/torch_runs

Made with PyTorch 1.13.1 and NumPy 1.24.2. A perceptron 2-4-2 with tanh, its parameters named as hesscope's mlp has
them, is trained on 30 points by gradient descent with momentum. run/epoch_N.pt are as training programs write them;
golden.npz has, for each, loss, gradient and Hessian of the mean cross-entropy over all points in float64, from
torch.autograd. The tests need no PyTorch.
"""

import collections
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

EPOCHS = (0, 1, 5, 10, 25, 50)


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 4), nn.Linear(4, 2)])

    def forward(self, x):
        return self.layers[1](torch.tanh(self.layers[0](x)))


def points():
    generator = torch.Generator().manual_seed(3)
    inputs = torch.randn(30, 2, generator=generator, dtype=torch.float64)
    return inputs, (inputs[:, 0] * inputs[:, 1] > 0).long()


def flat_loss(inputs, target):
    def loss(theta):
        first, bias, last, shift = torch.split(theta, [8, 4, 8, 2])
        hidden = torch.tanh(inputs @ first.reshape(4, 2).T + bias)
        return nn.functional.cross_entropy(hidden @ last.reshape(2, 4).T + shift, target)

    return loss


def flat(model):
    return torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()])


def train(folder, inputs, target):
    torch.manual_seed(4)
    model = Perceptron().double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.5)
    loss = flat_loss(inputs, target)
    golden = collections.defaultdict(list)
    (folder / "run").mkdir(exist_ok=True)
    for epoch in range(EPOCHS[-1] + 1):
        value = nn.functional.cross_entropy(model(inputs), target)
        if epoch in EPOCHS:
            theta = flat(model).requires_grad_()
            golden["epoch"].append(epoch)
            golden["theta"].append(theta.detach())
            golden["loss"].append(value.detach())
            golden["gradient"].append(torch.autograd.functional.jacobian(loss, theta))
            golden["hessian"].append(torch.autograd.functional.hessian(loss, theta))
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch,
                        "loss": value.item()}, folder / "run" / f"epoch_{epoch}.pt")
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    np.savez_compressed(folder / "golden.npz", **{name: np.array([np.asarray(v) for v in values])
                                                  for name, values in golden.items()})
    return model


def write_wrapped(folder, model):
    """As torch.nn.DataParallel and torch.compile leave the names, alone and together, plain and in a part."""
    parallel = nn.DataParallel(model).state_dict()
    torch.save(parallel, folder / "parallel.pt")
    compiled = collections.OrderedDict((f"_orig_mod.{name}", value) for name, value in model.state_dict().items())
    torch.save(compiled, folder / "compiled.pt")
    both = collections.OrderedDict((f"_orig_mod.{name}", value) for name, value in parallel.items())
    torch.save({"state": both, "global_step": 7}, folder / "both.pt")
    torch.save(model.state_dict(), folder / "plain.pt")


def write_odd_weights(folder, model):
    state = collections.OrderedDict((name, value.clone()) for name, value in model.state_dict().items())
    integers = collections.OrderedDict(state)
    integers["layers.0.weight"] = torch.tensor([[1, -2], [0, 3], [2, 2], [-1, 0]], dtype=torch.int8)
    integers["layers.1.bias"] = torch.tensor([True, False])
    torch.save(integers, folder / "integers.pt")
    tied = collections.OrderedDict(state)
    tied["layers.1.weight"] = tied["layers.0.weight"].t()
    torch.save(tied, folder / "tied.pt")


def write_data(folder, inputs, target):
    torch.save((inputs, target), folder / "tuple.pt")
    torch.save({"train": {"X": inputs, "y": target.float()}, "names": ["a", "b"]}, folder / "nested.pt")
    pixels = (inputs.clamp(-2, 2) * 60 + 128).to(torch.uint8)
    torch.save({"inputs": pixels, "target": target}, folder / "bytes.pt")
    torch.save({"inputs": pixels.double(), "target": target.float()}, folder / "unscaled.pt")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    inputs, target = points()
    model = train(folder, inputs, target)
    write_wrapped(folder, model)
    write_odd_weights(folder, model)
    write_data(folder, inputs, target)


if __name__ == "__main__":
    main()
