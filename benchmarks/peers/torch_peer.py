#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch: torch.autograd.functional.hessian of the mean loss, batched over the samples.

usage: torch_peer.py PROBLEM OUTPUT THREADS FOLDER [FORM], FOLDER from `hesscope_peer --export`.
FORM is the forward pass of linear attention: "prompts" as published, on whole prompts Z, or
"states", on S = Z M Z^T and the query, which saves the length of the context. The Hessian is
tried vectorized, where memory allows, and by rows; the faster is repeated and reported. Prints and
writes what the C++ peers do (peer.h).
"""

import json
import os
import pathlib
import sys
import time

import numpy as np
import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import make_models  # pylint: disable=wrong-import-position

ROUNDS = 5
LONG_ENOUGH = 20  # seconds, of all rounds
MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def linear_attention_loss(problem, samples, form):
    """As models/linear_attention.h has it; and the numbers that a backward pass keeps."""
    e, n, layers = problem["dimension"] + 1, problem["context"], problem["layers"]
    m = e - 1 if problem["sparse"] else e
    prompts = samples[:, :-1].reshape(-1, e, n + 1)
    target = samples[:, -1]
    identity = torch.eye(e, dtype=torch.float64)
    corner = torch.zeros(e, e, dtype=torch.float64)
    corner[-1, -1] = 1.0 if problem["sparse"] else 0.0
    mask = torch.eye(n + 1, dtype=torch.float64)
    mask[n, n] = 0.0

    def weights_of(theta):
        weights = torch.nn.functional.pad(theta.reshape(layers, 2, m, m), (0, e - m, 0, e - m))
        return [(p + corner, q) for p, q in weights]

    def by_prompts(theta):  # einsums as in the code of arXiv 2310.01082, tokens as rows
        z = prompts.transpose(1, 2)
        for p, q in weights_of(theta):
            attention = torch.einsum("BNi,ij,BMj->BNM", z, q, z)
            key = torch.einsum("ij,BNj->BNi", p, z)
            z = z + torch.einsum("BNM,ML,BLi->BNi", attention.transpose(1, 2), mask, key) / n
        return ((-z[:, n, -1] - target) ** 2).mean()

    def by_states(theta):
        s = prompts[:, :, :n] @ prompts[:, :, :n].transpose(1, 2)
        x = prompts[:, :, n:]
        for layer, (p, q) in enumerate(weights_of(theta)):
            a = identity + p @ s @ q / n
            x = a @ x
            if layer + 1 < layers:
                s = a @ s @ a.transpose(1, 2)
        return ((-x[:, -1, 0] - target) ** 2).mean()

    if form == "prompts":
        return by_prompts, layers * (2 * (n + 1) ** 2 + 4 * (n + 1) * e) * len(samples)
    return by_states, layers * 8 * e * e * len(samples)


def mlp_loss(problem, samples, _form):
    """tanh layers and cross-entropy, as models/mlp.h has it."""
    widths = problem["widths"]
    inputs = samples[:, : widths[0]]
    target = samples[:, widths[0] :].argmax(1)

    def loss(theta):
        z, offset = inputs, 0
        for layer, (fan_in, fan_out) in enumerate(zip(widths, widths[1:])):
            weight = theta[offset : offset + fan_out * fan_in].reshape(fan_out, fan_in)
            offset += fan_out * fan_in
            z = z @ weight.T + theta[offset : offset + fan_out]
            offset += fan_out
            if layer + 2 < len(widths):
                z = torch.tanh(z)
        return torch.nn.functional.cross_entropy(z, target)

    return loss, 8 * sum(widths) * len(samples)


class Attention(nn.Module):
    """As models/attention.h has it, and the loss of each sample."""

    def forward(self, inputs, target):
        x = inputs.unsqueeze(1)  # of all heads
        scores = (x @ self.WQ) @ (x @ self.WK).transpose(2, 3) / self.WQ.shape[-1] ** 0.5
        heads = torch.softmax(scores, dim=-1) @ (x @ self.WV)
        return ((heads.transpose(1, 2).flatten(2) @ self.WO - target) ** 2).sum(1)


def set_parameters(module, tensors):
    """Puts plain tensors in place of the parameters. functional_call of PyTorch 1.13 leaves those of recurrent layers
    as they are."""
    for name, tensor in tensors.items():
        *path, last = name.split(".")
        part = module.get_submodule(".".join(path))
        part._parameters.pop(last, None)
        setattr(part, last, tensor)
        if isinstance(part, nn.RNNBase):
            part._flat_weights = [getattr(part, each) for each in part._flat_weights_names]


def numbers_kept_by(loss, theta):
    kept = 0

    def keep(tensor):
        nonlocal kept
        kept += tensor.numel()
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss(theta.clone().requires_grad_(True))
    return kept


def module_loss(problem, samples, _form):
    """A module of make_models.py by cross-entropy, with the weights that hesscope has read from the .onnx file; or W5."""
    is_attention = problem["module"] == "attention"
    module = Attention() if is_attention else make_models.made(problem["module"]).double()
    data = {}
    for array in problem["arrays"]:
        values = samples[:, array["offset"] : array["offset"] + array["width"]]
        if array["content"] == "one-hot":
            values = values.reshape(len(samples), *array["shape"], -1).argmax(-1)
        elif array["content"] == "integers":
            values = values.long()
        data[array["name"]] = values.reshape(len(samples), *array["shape"])
    sizes = [int(np.prod(shape)) for _, shape in problem["parameters"]]

    def loss(theta):
        parts = zip(torch.split(theta, sizes), problem["parameters"])
        set_parameters(module, {name: part.reshape(shape) for part, (name, shape) in parts})
        if is_attention:
            return module(data["inputs"], data["target"]).mean()
        inputs = [values for name, values in data.items() if name != "target"]
        logits = module(*inputs)
        return nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), data["target"].reshape(-1))

    return loss, numbers_kept_by(loss, torch.zeros(sum(sizes), dtype=torch.float64))


def timed(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def main():
    name, output, threads, folder = sys.argv[1:5]
    form = sys.argv[5] if len(sys.argv) > 5 else "states"
    torch.set_num_threads(int(threads))
    with open(f"{folder}/{name}.json", encoding="utf-8") as file:
        problem = json.load(file)
    samples = np.fromfile(f"{folder}/{name}.samples").reshape(problem["num_samples"], -1)
    theta = torch.from_numpy(np.fromfile(f"{folder}/{name}.theta"))
    make_loss = {"linear-attention": linear_attention_loss, "mlp": mlp_loss, "module": module_loss}[problem["kind"]]
    loss, numbers_kept = make_loss(problem, torch.from_numpy(samples), form)

    def hessian(vectorize):
        return torch.autograd.functional.hessian(loss, theta, vectorize=vectorize)

    begin = time.perf_counter()
    seconds, vectorize, h = [], 8 * numbers_kept * len(theta) <= MEMORY / 2, None
    if vectorize:
        vectorized, h = timed(lambda: hessian(True))
        seconds = [vectorized]
    # Thousands of rows of a whole network take minutes; where all fit into memory at once they are not tried.
    if not vectorize or problem["kind"] != "module":
        by_rows, of_rows = timed(lambda: hessian(False))
        if not seconds or by_rows <= seconds[0]:
            seconds, vectorize, h = [by_rows], False, of_rows
    while len(seconds) < ROUNDS and time.perf_counter() - begin < LONG_ENOUGH:
        again, h = timed(lambda: hessian(vectorize))
        seconds.append(again)
    h.detach().numpy().tofile(output)
    software = f"PyTorch {torch.__version__}"
    if problem["kind"] == "linear-attention":
        software += f" on {form}"
    software += ", vectorized" if vectorize else ", by rows"
    print(json.dumps({"software": software, "threads": torch.get_num_threads(), "seconds": seconds}))


if __name__ == "__main__":
    main()
