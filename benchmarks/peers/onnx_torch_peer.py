#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch on the models of tests/fixtures/onnx-models: time and memory of the Hessian.

usage: onnx_torch_peer.py FOLDER CHECKPOINT PREFIX PARAMETERS OUTPUT THREADS [WAY]

PREFIX.theta is from onnx_peer, PARAMETERS its names and shapes in JSON. Without WAY each way to a Hessian is timed
and "ways" printed, in seconds, NaN where PyTorch cannot go it. With WAY this one is repeated; the Hessian is
written to OUTPUT as raw doubles, "seconds" and "bytes" are printed.

The forward passes are those that the modules had when they were exported, on plain tensors by their names in the
state_dict. Constants that the graph holds in 32 bits are rounded to 32 bits here.
"""

import json
import math
import pathlib
import sys
import time
import tomllib
import warnings

import numpy as np
import torch
import torch.nn.functional as F

NUM_ROUNDS = 5


def rounded(value):
    """To 32 bits."""
    return float(np.float32(value))


SQRT_2 = rounded(math.sqrt(2))
# Of a normalization that is exported as its arithmetic: a tensor. Of one that is a node it is an attribute, read as
# the shortest decimal that rounds to it.
EPSILON_OF_TENSOR = rounded(1e-5)
EPSILON_OF_ATTRIBUTE = 1e-5
WAYS = {
    "by rows": lambda loss, theta: torch.autograd.functional.hessian(loss, theta),
    "vectorized": lambda loss, theta: torch.autograd.functional.hessian(loss, theta, vectorize=True),
}


def linear(p, name, x):
    return F.linear(x, p[f"{name}.weight"], p.get(f"{name}.bias"))


def layer_norm(p, name, x, epsilon):
    return F.layer_norm(x, x.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"], epsilon)


def gelu(x):
    return x * (1 + torch.erf(x / SQRT_2)) * 0.5


def attention(q, k, v, heads, scale, mask=None):
    """Of q, k and v (samples, length, width); scale of the width of a head."""
    samples, length, width = q.shape
    q, k, v = (x.reshape(samples, length, heads, width // heads).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(2, 3) * scale(width // heads)
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    return (F.softmax(scores, -1) @ v).transpose(1, 2).reshape(samples, length, width)


def mlp(p, inputs):
    x = torch.tanh(linear(p, "0", inputs))
    return linear(p, "4", gelu(linear(p, "2", x)))


def cnn(p, image):
    x = F.max_pool2d(F.relu(F.conv2d(image, p["conv1.weight"], p["conv1.bias"])), 2)
    x = F.avg_pool2d(F.relu(F.conv2d(x, p["conv2.weight"], p["conv2.bias"], padding=1)), 3)
    return linear(p, "fc", x.flatten(1))


def deepsets(p, points):
    x = torch.tanh(linear(p, "phi.2", torch.tanh(linear(p, "phi.0", points))))
    weights = F.softmax(linear(p, "score", x).squeeze(-1), 1)
    return linear(p, "rho.2", F.elu(linear(p, "rho.0", torch.einsum("bn,bnh->bh", weights, x))))


def lstm(p, sequence):
    state = sequence.new_zeros(1, len(sequence), p["rnn.weight_hh_l0"].shape[1])
    weights = [p[f"rnn.{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    outputs = torch.lstm(sequence, (state, state), weights, True, 1, 0.0, False, False, True)[0]
    return linear(p, "head", outputs[:, -1])


def siren(p, coordinates):
    x = coordinates
    for layer in range(3):
        x = torch.sin(3.0 * linear(p, f"net.{layer}", x))
    return linear(p, "out", x)


def batch_norm(p, name, x):
    statistics = p[f"{name}.running_mean"], p[f"{name}.running_var"]
    return F.batch_norm(x, *statistics, p[f"{name}.weight"], p[f"{name}.bias"])


def resnet(p, image):
    def residual(name, x, stride):
        y = F.relu(batch_norm(p, f"{name}.bn1", F.conv2d(x, p[f"{name}.conv1.weight"], stride=stride, padding=1)))
        y = batch_norm(p, f"{name}.bn2", F.conv2d(y, p[f"{name}.conv2.weight"], padding=1))
        if stride > 1:
            x = batch_norm(p, f"{name}.down.1", F.conv2d(x, p[f"{name}.down.0.weight"], stride=stride))
        return F.relu(y + x)

    x = F.relu(batch_norm(p, "bn", F.conv2d(image, p["stem.weight"], padding=1)))
    x = residual("layer2", residual("layer1", x, 1), 2)
    return linear(p, "fc", x.mean((2, 3)))


def gpt(p, tokens, heads=2):
    def norm(name, x):
        return layer_norm(p, name, x, EPSILON_OF_TENSOR)

    x = F.embedding(tokens, p["wte.weight"]) + p["wpe.weight"]
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    q, k, v = linear(p, "h.0.attn.qkv", norm("h.0.ln1", x)).split(x.shape[2], 2)
    x = x + linear(p, "h.0.attn.proj", attention(q, k, v, heads, lambda width: rounded(width**-0.5), mask))
    x = x + linear(p, "h.0.mlp.2", gelu(linear(p, "h.0.mlp.0", norm("h.0.ln2", x))))
    return linear(p, "head", norm("ln_f", x))


def gpt_default_export(p, tokens):
    """Weights of products are stored transposed, under names that PyTorch made up, in the order of their use."""
    stored = sorted(name for name in p if name.startswith("onnx::MatMul_"))
    names = ["h.0.attn.qkv", "h.0.attn.proj", "h.0.mlp.0", "h.0.mlp.2", "head"]
    return gpt({**p, **{f"{name}.weight": p[old].T for name, old in zip(names, stored)}}, tokens, heads=1)


def vit(p, image):
    patches = F.conv2d(image, p["patch.weight"], p["patch.bias"], stride=3).flatten(2).transpose(1, 2)
    x = torch.cat([p["cls"].expand(len(image), -1, -1), patches], 1) + p["pos"]
    inner = F.linear(layer_norm(p, "ln1", x, EPSILON_OF_ATTRIBUTE), p["attn.in_proj_weight"], p["attn.in_proj_bias"])
    heads = attention(*inner.split(x.shape[2], 2), 2, lambda width: 1 / rounded(width**0.5))
    x = x + linear(p, "attn.out_proj", heads)
    x = x + linear(p, "mlp.2", gelu(linear(p, "mlp.0", layer_norm(p, "ln2", x, EPSILON_OF_ATTRIBUTE))))
    return linear(p, "head", layer_norm(p, "ln", x, EPSILON_OF_ATTRIBUTE)[:, 0])


MODELS = {
    "cnn": cnn,
    "deepsets": deepsets,
    "gpt": gpt,
    "gpt-default-export": gpt_default_export,
    "lstm": lstm,
    "mlp": mlp,
    "resnet": resnet,
    "siren": siren,
    "vit": vit,
}
LOSSES = {
    "cross-entropy": lambda output, target: F.cross_entropy(output.reshape(-1, output.shape[-1]), target.reshape(-1)),
    "mse": F.mse_loss,
}


def as_tensor(array):
    return torch.from_numpy(array.astype(np.float64) if array.dtype.kind == "f" else array.astype(np.int64))


def mean_loss(folder, checkpoint, parameters):
    """Of theta, as problem.toml says it."""
    settings = tomllib.loads((folder / "problem.toml").read_text())["model"]
    data = {name: as_tensor(array) for name, array in np.load(folder / "eval.npz").items()}
    target, function = data.pop("target"), LOSSES[settings["loss"]]
    (inputs,) = data.values()
    buffers = {}
    if checkpoint.suffix == ".npz":
        buffers = {name: as_tensor(array) for name, array in np.load(checkpoint).items() if "running_" in name}
    sizes = [math.prod(shape) for _, shape in parameters]

    def loss(theta):
        parts = zip(torch.split(theta, sizes), parameters)
        tensors = {name: part.reshape(shape) for part, (name, shape) in parts}
        output = MODELS[folder.name]({**buffers, **tensors}, inputs)
        return function(output, target) + settings.get("weight_decay", 0.0) / 2 * (theta @ theta)

    return loss


def seconds_of(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def status_bytes(key):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))


def peak_memory_over_baseline(call):
    """As peak_memory.h has it."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = status_bytes("VmRSS")
    call()
    return status_bytes("VmHWM") - before


def main():
    folder, checkpoint = map(pathlib.Path, sys.argv[1:3])
    prefix, parameters, output, threads = sys.argv[3:7]
    torch.set_num_threads(int(threads))
    warnings.simplefilter("ignore")  # of operators that vmap loops over
    loss = mean_loss(folder, checkpoint, json.loads(parameters))
    theta = torch.from_numpy(np.fromfile(f"{prefix}.theta"))

    def fails(way):
        try:
            WAYS[way](loss, theta)
        except RuntimeError:
            return True
        return False

    def fastest(way):
        return min(seconds_of(lambda: WAYS[way](loss, theta)) for _ in range(NUM_ROUNDS))

    if len(sys.argv) == 7:
        print(json.dumps({"ways": {way: math.nan if fails(way) else fastest(way) for way in WAYS}}))
        return
    way = WAYS[sys.argv[7]]
    point = theta.clone().requires_grad_(True)
    torch.autograd.grad(loss(point), point)
    bytes_over = peak_memory_over_baseline(lambda: way(loss, theta))
    seconds = [seconds_of(lambda: way(loss, theta)) for _ in range(NUM_ROUNDS)]
    way(loss, theta).detach().numpy().tofile(output)
    print(json.dumps({"software": f"PyTorch {torch.__version__}", "seconds": seconds, "bytes": bytes_over}))


if __name__ == "__main__":
    main()
