# SPDX-License-Identifier: BSD-3-Clause
"""Models as users of PyTorch write them, and their exact derivatives by PyTorch in float64.

Importing this needs PyTorch (1.13 or newer).
"""
import copy
import math
import warnings
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

BATCH = {0: "batch"}
cross_entropy, mse = F.cross_entropy, F.mse_loss


@dataclass
class Example:
    """A model with data and a loss, which is both PyTorch's function and a line of a problem file."""
    module: nn.Module
    inputs: dict
    target: torch.Tensor
    loss: str
    function: object
    settings: list = field(default_factory=list)

    def mean_loss(self, module):
        """In float64."""
        inputs = [as_double(tensor) for tensor in self.inputs.values()]
        return self.function(module(*inputs), as_double(self.target))

    def trained(self, epochs):
        """Yields the module after each epoch of two batches, with Adam."""
        optimizer = torch.optim.Adam(self.module.parameters(), lr=0.02)
        half = len(self.target) // 2
        for _ in range(epochs):
            self.module.train()
            for part in (slice(None, half), slice(half, None)):
                optimizer.zero_grad()
                output = self.module(*(tensor[part] for tensor in self.inputs.values()))
                self.function(output, self.target[part]).backward()
                optimizer.step()
            yield self.module.eval()

    def save_data(self, path):
        np.savez(path, target=self.target.numpy(), **{name: tensor.numpy() for name, tensor in self.inputs.items()})

    def problem(self):
        return "\n".join(['[model]', 'kind = "onnx"', 'file = "model.onnx"', f'loss = "{self.loss}"', *self.settings,
                          '[data]', 'file = "eval.npz"', ''])


def as_double(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


def export(example, path, **options):
    """As docs/onnx.md says; its constants are doubles."""
    module = copy.deepcopy(example.module).double().eval()
    inputs = tuple(as_double(tensor) for tensor in example.inputs.values())
    options = {"do_constant_folding": False, "training": torch.onnx.TrainingMode.PRESERVE, "opset_version": 14,
               "dynamic_axes": {name: BATCH for name in example.inputs}, **options}
    if not options["dynamic_axes"]:
        inputs = tuple(tensor[:1] for tensor in inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, inputs, str(path), input_names=list(example.inputs), output_names=["output"],
                          **options)


def with_tensors(module, tensors):
    """The module with plain tensors in place of its parameters, wherever these stand.

    torch.nn.utils.stateless.functional_call of PyTorch 1.13 leaves the weights of recurrent layers and all but one of
    tied parameters as they are, and says nothing.
    """
    module = copy.deepcopy(module)
    places = {id(parameter): tensors[name] for name, parameter in module.named_parameters()}
    for part in module.modules():
        for name, parameter in list(part._parameters.items()):
            if parameter is not None:
                del part._parameters[name]
                setattr(part, name, places[id(parameter)])
        if isinstance(part, nn.RNNBase):
            part._flat_weights = [getattr(part, name) for name in part._flat_weights_names]
    return module


def derivatives(example):
    """Names of the parameters, loss, gradient, Hessian in their order, and how far the latter's product with a random
    vector is from differences of gradients, relatively."""
    module = copy.deepcopy(example.module).double().eval()
    parameters = dict(module.named_parameters())
    sizes = [parameter.numel() for parameter in parameters.values()]
    theta = torch.cat([parameter.detach().reshape(-1) for parameter in parameters.values()])

    def loss(theta):
        parts = torch.split(theta, sizes)
        return example.mean_loss(with_tensors(module, {
            name: part.reshape(parameter.shape) for part, (name, parameter) in zip(parts, parameters.items())}))

    def gradient(theta):
        theta = theta.clone().requires_grad_(True)
        return torch.autograd.grad(loss(theta), theta)[0]

    hessian = torch.autograd.functional.hessian(loss, theta)
    direction, step = torch.randn(len(theta), dtype=torch.float64), 1e-5
    differences = (gradient(theta + step * direction) - gradient(theta - step * direction)) / (2 * step)
    doubt = (hessian @ direction - differences).norm() / differences.norm()
    return list(parameters), float(loss(theta)), gradient(theta).numpy(), hessian.numpy(), float(doubt)


class Gpt(nn.Module):
    """A decoder whose output layer is its embedding."""

    def __init__(self, tokens=7, length=5, width=4, heads=2):
        super().__init__()
        self.heads = heads
        self.wte, self.wpe = nn.Embedding(tokens, width), nn.Embedding(length, width)
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, tokens, bias=False)
        self.head.weight = self.wte.weight
        self.register_buffer("mask", torch.tril(torch.ones(length, length)))

    def forward(self, tokens):
        samples, length = tokens.shape
        x = self.wte(tokens) + self.wpe(torch.arange(length))
        width = x.shape[-1]
        parts = self.attention(self.before_attention(x)).split(width, dim=2)
        q, k, v = (part.view(samples, length, self.heads, width // self.heads).transpose(1, 2) for part in parts)
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(self.mask[:length, :length] == 0, float("-inf"))
        mixed = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(samples, length, width)
        x = x + self.projection(mixed)
        return self.head(self.last(x + self.mlp(self.before_mlp(x))))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(2, 4, batch_first=True), nn.Linear(4, 1)

    def forward(self, sequence):
        return self.head(self.lstm(sequence)[0][:, -1])


def at_each_position(logits, target):
    return cross_entropy(logits.transpose(1, 2), target)


def cnn():
    module = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(3, 4, 3), nn.Tanh(),
                           nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))
    return Example(module, {"image": torch.randn(16, 1, 8, 8)}, torch.arange(16) % 3, "cross-entropy", cross_entropy)


def gpt():
    tokens = torch.randint(7, (12, 6))
    return Example(Gpt(), {"tokens": tokens[:, :-1]}, tokens[:, 1:], "cross-entropy", at_each_position,
                   ['tied = ["head.weight = wte.weight"]'])


def lstm():
    sequence = torch.randn(16, 5, 2)
    return Example(Lstm(), {"sequence": sequence}, sequence.prod(dim=2).sum(dim=1, keepdim=True), "mse", mse)


def layer_norm():
    module = nn.Sequential(nn.Linear(3, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 4), nn.LayerNorm(4), nn.Tanh(),
                           nn.Linear(4, 3))
    return Example(module, {"x": torch.randn(20, 3)}, torch.arange(20) % 3, "cross-entropy", cross_entropy)


def batch_norm():
    module = nn.Sequential(nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(27, 4),
                           nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))
    return Example(module, {"image": torch.randn(16, 2, 4, 4)}, torch.arange(16) % 2, "cross-entropy", cross_entropy)


def silu_without_biases():
    module = nn.Sequential(nn.Linear(4, 8, bias=False), nn.SiLU(), nn.Linear(8, 6, bias=False), nn.SiLU(),
                           nn.Linear(6, 2, bias=False))
    x = torch.randn(20, 4)
    return Example(module, {"x": x}, x[:, :2] * x[:, 2:], "mse", mse)


def binary_classifier():
    module = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 1))
    x = torch.randn(20, 3)
    return Example(module, {"x": x}, (x.prod(dim=1, keepdim=True) > 0).float(), "bce-with-logits",
                   F.binary_cross_entropy_with_logits)


def dropout():
    module = nn.Sequential(nn.Linear(3, 8), nn.ELU(), nn.Dropout(0.3), nn.Linear(8, 5), nn.Softplus(), nn.Dropout(0.2),
                           nn.Linear(5, 1))
    x = torch.randn(20, 3)
    return Example(module, {"x": x}, 2 * x.sum(dim=1, keepdim=True), "huber", F.huber_loss)


TRAINED = (cnn, gpt, lstm, layer_norm, batch_norm, silu_without_biases, binary_classifier, dropout)
