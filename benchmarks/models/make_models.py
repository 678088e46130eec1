#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The models of the works W7 to W11, as modules of PyTorch, and what made the .onnx files beside this file.

usage: make_models.py [FOLDER]

The files were written by PyTorch 1.13.0 (Debian 12), with weights from a fixed seed, in 32 bits. Constants are
numbers that 32 bits hold, so that a 64-bit module with these weights is the same function to the last digits.
"""
import pathlib
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

OPSET = 17  # has layer normalisation as one operator
SQRT_2 = float(np.float32(np.sqrt(2)))


def gelu(x):
    return x * 0.5 * (1 + torch.erf(x / SQRT_2))


class Block(nn.Module):
    """Of a transformer, normalised before each half; heads of 4^k numbers, whose square root is a binary one."""

    def __init__(self, width, heads, hidden, length=None):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.is_causal = length is not None
        if self.is_causal:
            self.register_buffer("mask", torch.tril(torch.ones(length, length)))

    def forward(self, x):
        samples, length, width = x.shape
        parts = self.attention(self.before_attention(x)).split(width, dim=2)
        q, k, v = (part.reshape(samples, length, self.heads, width // self.heads).transpose(1, 2) for part in parts)
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        if self.is_causal:
            scores = scores.masked_fill(self.mask == 0, float("-inf"))
        mixed = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(samples, length, width)
        x = x + self.projection(mixed)
        return x + self.down(gelu(self.up(self.before_mlp(x))))


class Gpt(nn.Module):
    """A decoder of one layer; the next token at each position."""

    def __init__(self, tokens=32, length=16, width=32):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(tokens, width), nn.Parameter(torch.empty(length, width))
        self.block = Block(width, heads=2, hidden=4 * width, length=length)
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, tokens, bias=False)

    def forward(self, tokens):
        return self.head(self.last(self.block(self.wte(tokens) + self.wpe)))


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(6, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(48, 40), nn.ReLU(), nn.Linear(40, 10))


class Residual(nn.Module):
    def __init__(self, channels, out_channels, stride):
        super().__init__()
        self.first, self.first_norm = nn.Conv2d(channels, out_channels, 3, stride, 1, bias=False), norm(out_channels)
        self.second, self.second_norm = nn.Conv2d(out_channels, out_channels, 3, 1, 1, bias=False), norm(out_channels)
        self.shortcut = None
        if stride > 1:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, out_channels, 1, stride, bias=False), norm(out_channels))

    def forward(self, x):
        y = self.second_norm(self.second(F.relu(self.first_norm(self.first(x)))))
        return F.relu(y + (x if self.shortcut is None else self.shortcut(x)))


def norm(channels):
    return nn.BatchNorm2d(channels)


def resnet():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), norm(8), nn.ReLU(), Residual(8, 8, 1),
                         Residual(8, 16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(4, 16, batch_first=True), nn.Linear(16, 5)

    def forward(self, sequence):
        return self.head(self.lstm(sequence)[0][:, -1])


class Vit(nn.Module):
    """Patches of 2 x 2 pixels, a class token, two layers."""

    def __init__(self, width=16, patches=16):
        super().__init__()
        self.patch = nn.Conv2d(1, width, 2, stride=2)
        self.token = nn.Parameter(torch.empty(1, 1, width))
        self.positions = nn.Parameter(torch.empty(patches + 1, width))
        self.blocks = nn.Sequential(*[Block(width, heads=4, hidden=2 * width) for _ in range(2)])
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)

    def forward(self, image):
        patches = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(image.shape[0], -1, -1), patches], 1) + self.positions
        return self.head(self.last(self.blocks(x))[:, 0])


# The module, the name of its input and two samples of it.
MODELS = {
    "gpt": (Gpt, "tokens", lambda: torch.randint(32, (2, 16))),
    "cnn": (lenet, "image", lambda: torch.randn(2, 1, 8, 8)),
    "resnet": (resnet, "image", lambda: torch.randn(2, 3, 8, 8)),
    "lstm": (Lstm, "sequence", lambda: torch.randn(2, 20, 4)),
    "vit": (Vit, "image", lambda: torch.randn(2, 1, 8, 8)),
}


def made(name):
    """The module in evaluation mode, its weights from a fixed seed: none are equal, as none are after training."""
    torch.manual_seed(1)
    module = MODELS[name][0]().eval()
    with torch.no_grad():
        for part in module.modules():
            for which, tensor in part.named_parameters(recurse=False):
                if isinstance(part, (nn.LayerNorm, nn.BatchNorm2d)):
                    tensor.normal_(1.0 if which == "weight" else 0.0, 0.1)
                else:
                    fan_in = tensor[0].numel() if tensor.dim() > 1 else 100
                    tensor.normal_(0.0, fan_in ** -0.5)
            if isinstance(part, nn.BatchNorm2d):
                part.running_mean.normal_(0.0, 0.1)
                part.running_var.uniform_(0.5, 1.5)
    return module


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    for name, (_, input_name, samples) in MODELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(made(name), samples(), str(folder / f"{name}.onnx"), input_names=[input_name],
                              output_names=["logits"], opset_version=OPSET, do_constant_folding=False,
                              dynamic_axes={input_name: {0: "batch"}, "logits": {0: "batch"}},
                              training=torch.onnx.TrainingMode.PRESERVE)


if __name__ == "__main__":
    main()
