# SPDX-License-Identifier: BSD-3-Clause
"""The models and data of the experiment wt-blocks. usage: make.py DECLARATION

Made this folder's files with PyTorch 1.13 and NumPy 1.24. DECLARATION is the text of the Declaration of Independence
(1776, in the public domain), that of Debian's package miscfiles 1.5+dfsg-4, us-declaration.gz unpacked. The digits are
the 300 of ../../digits. Weights in the graphs are those of PyTorch's initialisation; the experiment draws its own."""
import math
import pathlib
import re
import sys

import numpy as np
import torch
from torch import nn

LETTERS = " abcdefghijklmnopqrstuvwxyz"
LENGTH, SEQUENCES, WIDTH, HEADS, LAYERS = 16, 96, 8, 2, 2


class Attention(nn.Module):
    """Causal, with queries, keys and values as matrices of their own."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.register_buffer("mask", torch.full((LENGTH, LENGTH), -1e9).triu(1), persistent=False)

    def forward(self, x):
        def heads(y):
            return y.view(-1, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2)

        scores = heads(self.query(x)) @ heads(self.key(x)).transpose(2, 3) / math.sqrt(WIDTH / HEADS) + self.mask
        return self.output((scores.softmax(-1) @ heads(self.value(x))).transpose(1, 2).reshape(-1, LENGTH, WIDTH))


class Block(nn.Module):
    """Normalisation first, without weights of its own."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH, elementwise_affine=False)
        self.attention = Attention()
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Gpt(nn.Module):
    """A small GPT on letters: the next one at each of 16 positions."""

    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(len(LETTERS), WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH, elementwise_affine=False)
        self.head = nn.Linear(WIDTH, len(LETTERS), bias=False)

    def forward(self, tokens):
        x = self.token(tokens) + self.position.weight
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Cnn(nn.Sequential):
    """After LeNet, for images of 8 x 8; without biases, as the GPT."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1, bias=False)
        self.relu1, self.pool1 = nn.ReLU(), nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(6, 8, 3, padding=1, bias=False)
        self.relu2 = nn.ReLU()
        self.conv3 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.relu3, self.pool3 = nn.ReLU(), nn.MaxPool2d(2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Linear(32, 16, bias=False)
        self.relu4 = nn.ReLU()
        self.fc2 = nn.Linear(16, 10, bias=False)


def export(model, name, example):
    torch.onnx.export(model.eval(), example, f"{name}.onnx", input_names=["input"], output_names=["logits"],
                      dynamic_axes={"input": {0: "batch"}, "logits": {0: "batch"}}, opset_version=14,
                      do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
    print(name, {key: tuple(value.shape) for key, value in model.named_parameters()},
          sum(value.numel() for value in model.parameters()))


torch.manual_seed(0)
digits = np.load("../../digits/eval.npz")
np.savez_compressed("digits.npz", input=digits["image"], target=digits["target"])
export(Cnn(), "cnn", torch.tensor(digits["image"][:2]))

text = re.sub("[^a-z]+", " ", pathlib.Path(sys.argv[1]).read_text().lower()).strip()
numbers = np.array([LETTERS.index(letter) for letter in text])
starts = LENGTH * np.arange(SEQUENCES)[:, None] + np.arange(LENGTH)
np.savez_compressed("letters.npz", input=numbers[starts], target=numbers[starts + 1])
export(Gpt(), "gpt", torch.tensor(numbers[starts][:2]))
