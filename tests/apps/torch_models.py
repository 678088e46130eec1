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
    sample_axis: int = 0  # of the inputs and the target, where the model has it; in files samples come first

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
        arrays = {"target": self.target, **self.inputs}
        np.savez(path, **{name: np.moveaxis(tensor.numpy(), self.sample_axis, 0) for name, tensor in arrays.items()})

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
               "dynamic_axes": {name: {example.sample_axis: "batch"} for name in example.inputs}, **options}
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


# What users bring beside these. Each is analyzed once.

class Net(nn.Module):
    """Parts by name, and what is done with them."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def weight(*shape):
    return nn.Parameter(torch.randn(*shape) / 2)


def classes(function, inputs, logits=2, **parts):
    """Of a function, or of a module."""
    module = function if isinstance(function, nn.Module) else Net(function, **parts)
    samples = len(next(iter(inputs.values())))
    return Example(module, inputs, torch.arange(samples) % logits, "cross-entropy", cross_entropy)


def regression(function, inputs, target, **parts):
    module = function if isinstance(function, nn.Module) else Net(function, **parts)
    return Example(module, inputs, target, "mse", mse)


def encoder_layer():
    return classes(lambda net, x: net.head(net.encoder(x)).mean(1), {"x": torch.randn(6, 3, 4)},
                   encoder=nn.TransformerEncoderLayer(4, 2, 6, batch_first=True, norm_first=True, activation="gelu"),
                   head=nn.Linear(4, 2))


def attention_with_padding():
    padding = torch.zeros(6, 3, dtype=torch.bool)
    padding[::2, 2] = True

    def forward(net, x, padding):
        x = x.transpose(0, 1)
        return net.head(net.attention(x, x, x, key_padding_mask=padding)[0].transpose(0, 1).mean(1))
    return classes(forward, {"x": torch.randn(6, 3, 4), "padding": padding}, attention=nn.MultiheadAttention(4, 2),
                   head=nn.Linear(4, 2))


def rotary_decoder():
    """Rotary positions, RMS normalisation, SwiGLU."""
    angles = torch.outer(torch.arange(3.0), torch.tensor([1.0, 0.01]))

    def normalised(x, scale):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * scale

    def rotated(x):
        cosine, sine = (f(angles).to(x.dtype).repeat(1, 2) for f in (torch.cos, torch.sin))
        return x * cosine + torch.cat([-x[..., 2:], x[..., :2]], -1) * sine

    def forward(net, tokens):
        x = net.embedding(tokens)
        y = normalised(x, net.scale)
        scores = rotated(net.query(y)) @ rotated(net.key(y)).transpose(1, 2) / 2
        hidden = torch.triu(torch.ones(3, 3), 1).bool()
        x = x + scores.masked_fill(hidden, float("-inf")).softmax(-1) @ y
        return (x + net.down(F.silu(net.gate(x)) * net.up(x))) @ net.embedding.weight.T
    tokens = torch.randint(5, (6, 3))
    module = Net(forward, embedding=nn.Embedding(5, 4), scale=weight(4),
                 **{name: nn.Linear(4, 4, bias=False) for name in ("query", "key", "gate", "up", "down")})
    return Example(module, {"tokens": tokens}, tokens.flip(1), "cross-entropy", at_each_position)


def group_norm():
    return classes(nn.Sequential(nn.Conv2d(2, 4, 3), nn.GroupNorm(2, 4), nn.Mish(), nn.Flatten(), nn.Linear(16, 2)),
                   {"x": torch.randn(6, 2, 4, 4)})


def local_response_norm():
    """PyTorch writes its squeeze() as an If."""
    return classes(nn.Sequential(nn.Conv2d(1, 4, 2), nn.LocalResponseNorm(2), nn.Flatten(), nn.Linear(16, 2)),
                   {"x": torch.randn(6, 1, 3, 3)})


def separable_convolutions():
    return classes(nn.Sequential(nn.Conv1d(4, 4, 3, groups=4, dilation=2, padding=2), nn.Conv1d(4, 3, 1, stride=2),
                                 nn.PReLU(3), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(3, 2)),
                   {"x": torch.randn(6, 4, 7)})


def unet():
    def forward(net, x):
        first = F.relu(net.down(x))
        deep = net.up(torch.tanh(net.middle(F.max_pool2d(first, 2))))
        return net.last(torch.cat([first, F.interpolate(deep, scale_factor=2, mode="bilinear")], 1))
    module = Net(forward, down=nn.Conv2d(1, 2, 3, padding=1), middle=nn.Conv2d(2, 2, 3, padding=1, stride=2),
                 up=nn.ConvTranspose2d(2, 2, 2), last=nn.Conv2d(4, 2, 1))
    image = torch.randn(6, 1, 4, 4)
    return Example(module, {"image": image}, (image[:, 0] > 0).long(), "cross-entropy", cross_entropy)


def recurrent_both_ways():
    return regression(lambda net, x: net.head(net.gru(x)[0][:, -1]), {"x": torch.randn(6, 3, 2)}, torch.randn(6, 1),
                      gru=nn.GRU(2, 2, 2, bidirectional=True, batch_first=True), head=nn.Linear(4, 1))


def time_first():
    """As recurrent layers and Transformers of PyTorch have it unless told otherwise."""
    def forward(net, x, state):
        return net.head(net.encoder(net.gru(x, state)[0]))
    module = Net(forward, gru=nn.GRU(2, 4), encoder=nn.TransformerEncoderLayer(4, 2, 4), head=nn.Linear(4, 3))
    return Example(module, {"x": torch.randn(3, 6, 2), "state": torch.randn(1, 6, 4)}, torch.randint(3, (3, 6)),
                   "cross-entropy", lambda logits, target: cross_entropy(logits.reshape(-1, 3), target.reshape(-1)),
                   sample_axis=1)


def factorisation():
    """Of items that are no padding: PyTorch leaves that row out of its gradients, whatever the loss depends on."""
    return regression(lambda net, user, item: (net.users(user) * net.items(item)).sum(1) + net.bias(item).squeeze(1),
                      {"user": torch.randint(4, (9,)), "item": torch.randint(1, 5, (9,))}, torch.randn(9),
                      users=nn.Embedding(4, 2), items=nn.Embedding(5, 2, padding_idx=0), bias=nn.Embedding(5, 1))


def radial_basis():
    def forward(net, x):
        return net.head(torch.exp(-net.width.exp() * (x.unsqueeze(1) - net.centres).pow(2).sum(-1)))
    return regression(forward, {"x": torch.randn(8, 2)}, torch.randn(8, 1), centres=weight(4, 2), width=weight(4),
                      head=nn.Linear(4, 1))


def neural_ode():
    def forward(net, x):
        for _ in range(3):
            a = net.field(x)
            b = net.field(x + 0.05 * a)
            x = x + 0.1 * net.field(x + 0.1 * (2 * b - a))
        return x
    x = torch.randn(8, 2)
    return regression(forward, {"x": x}, x.flip(1), field=nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2)))


def hypernetwork():
    def forward(net, x, task):
        weights = net.layer(task)
        return torch.einsum("bi,bij->bj", torch.tanh(x), weights[:, :6].reshape(-1, 3, 2)) + weights[:, 6:]
    return regression(forward, {"x": torch.randn(8, 3), "task": torch.randn(8, 2)}, torch.randn(8, 2),
                      layer=nn.Linear(2, 8))


def residual_of_an_equation():
    """u' + k u for u = w tanh(a t + b), its derivative written out."""
    def forward(net, t):
        hidden = torch.tanh(net.layer(t))
        slope = ((1 - hidden ** 2) * net.layer.weight.squeeze(1)) @ net.head.weight.T
        return slope + net.rate * net.head(hidden)
    return regression(forward, {"t": torch.rand(9, 1)}, torch.zeros(9, 1), layer=nn.Linear(1, 4),
                      head=nn.Linear(4, 1), rate=nn.Parameter(torch.tensor(0.7)))


def mixture_density():
    def forward(net, x, y):
        hidden = torch.tanh(net.layer(x))
        scale = net.scale(hidden)
        each = F.log_softmax(net.weight(hidden), -1) - scale - ((y - net.mean(hidden)) / scale.exp()) ** 2 / 2
        return -torch.logsumexp(each, -1)
    module = Net(forward, layer=nn.Linear(1, 3), **{name: nn.Linear(3, 2) for name in ("weight", "scale", "mean")})
    return Example(module, {"x": torch.randn(8, 1), "y": torch.randn(8, 1)}, torch.zeros(8), "output",
                   lambda output, _: output.mean())


def contrastive():
    def forward(net, a, b):
        return F.cosine_similarity(net.tower(a), net.tower(b))
    return regression(forward, {"a": torch.randn(8, 3), "b": torch.randn(8, 3)}, torch.rand(8),
                      tower=nn.Sequential(nn.Linear(3, 4), nn.CELU(), nn.Linear(4, 3)))


def spectral_norms():
    """Their weights are divided by a norm that two buffers estimate."""
    normalized = nn.utils.parametrizations.spectral_norm
    return classes(lambda self, x: self.last(F.silu(self.first(x))), {"x": torch.randn(10, 4)},
                   first=normalized(nn.Linear(4, 5)), last=normalized(nn.Linear(5, 3)))


OTHERS = (encoder_layer, attention_with_padding, rotary_decoder, group_norm, local_response_norm,
          separable_convolutions, unet, recurrent_both_ways, time_first, factorisation, radial_basis, neural_ode,
          hypernetwork, residual_of_an_equation, mixture_density, contrastive, spectral_norms)
