# SPDX-License-Identifier: BSD-3-Clause
"""Writes checkpoints of PyTorch's optimisers, once: make_optimizer_fixtures.py tests/problem/optimizers

Made with PyTorch 1.13.1 and NumPy 1.24.2. Each NAME.pt is a training checkpoint of a perceptron 2-3-2 (of a deep
linear attention where its name says so) in float64. Beside it stands NAME.npz with what PyTorch's last update was, by
parameter:
  delta.PARAMETER      the change of the parameter, weight decay left out
  numerator.PARAMETER  what was divided by the preconditioner P: delta = -learning rate numerator / P
so that P is known without any formula for it. The tests need no PyTorch.
"""

import collections
import copy
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

BETAS = (0.8, 0.95)
STEPS = 7


class Perceptron(nn.Module):
    """2-3-2, its parameters named as hesscope's mlp has them."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 3), nn.Linear(3, 2)])

    def forward(self, x):
        return self.layers[1](torch.tanh(self.layers[0](x)))


class Deep(nn.Module):
    """The parameters of a linear attention of 11 layers, d = 2: all of one shape, "layers.10" before "layers.2"."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            [nn.ParameterDict({"P": torch.randn(2, 2) / 4, "Q": torch.randn(2, 2) / 4}) for _ in range(11)])


def points():
    random = np.random.default_rng(5)
    return random.normal(size=(20, 2)), np.arange(20) % 2


def prompts():
    random = np.random.default_rng(6)
    return random.normal(size=(16, 3, 5)), random.normal(size=16)


def loss_of(model):
    if isinstance(model, Deep):  # any that tells all parameters apart
        return sum((k + 1) * (p**2).sum() for k, p in enumerate(model.parameters()))
    inputs, target = points()
    return nn.functional.cross_entropy(model(torch.from_numpy(inputs)), torch.from_numpy(target))


def train(model, optimizer, steps):
    """@return the parameters before the last step, and the optimiser's memory then."""
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(model).backward()
        if step == steps - 1:
            before = copy.deepcopy(model.state_dict())
            old = copy.deepcopy({n: optimizer.state.get(p) for n, p in model.named_parameters()})
            optimizer.step()
            return before, old
        optimizer.step()
    return None, None


def numerator(kind, group, state, gradient):
    step = float(state["step"]) if "step" in state else 0
    if kind in ("Adam", "AdamW", "RAdam", "Adamax"):
        return state["exp_avg"]
    if kind == "NAdam":
        mu, after = (group["betas"][0] * (1 - 0.5 * 0.96**(t * group["momentum_decay"])) for t in (step, step + 1))
        product = float(state["mu_product"])
        # The factor mu is PyTorch 1.13's.
        return (1 - mu) / (1 - product) * gradient + after / (1 - product * mu * after) * state["exp_avg"]
    return gradient if kind in ("RMSprop", "Adagrad") else None


def expect(folder, name, model, optimizer, before, old):
    kind = type(optimizer).__name__
    arrays = {}
    of = {p: n for n, p in model.named_parameters()}
    for group in optimizer.param_groups:
        for p in group["params"]:
            state = optimizer.state[p]
            above = numerator(kind, group, state, p.grad)
            if above is None:
                continue
            delta = p.detach() - before[of[p]]
            if kind == "AdamW":
                delta = p.detach() - before[of[p]] * (1 - group["lr"] * group["weight_decay"])
            if kind == "RMSprop" and group["momentum"] > 0:
                delta = -group["lr"] * (state["momentum_buffer"] - group["momentum"] * old[of[p]]["momentum_buffer"])
            arrays["delta." + of[p]] = delta.numpy()
            arrays["numerator." + of[p]] = above.numpy()
    if arrays:
        np.savez_compressed(folder / f"{name}.npz", **arrays)


def save(folder, name, model, optimizer, steps=STEPS, model_state=None, optimizer_state=None):
    before, old = train(model, optimizer, steps)
    content = {"epoch": steps, "global_step": 20 * steps, "note": "a run",
               "model": model_state(model.state_dict()) if model_state else model.state_dict(),
               "optimizer": optimizer_state(optimizer, model) if optimizer_state else optimizer.state_dict()}
    if isinstance(model, Perceptron):  # what the deep one is trained on is no model's loss
        content["loss"] = float(loss_of(model))
    torch.save(content, folder / f"{name}.pt")
    if before is not None:
        expect(folder, name, model, optimizer, before, old)


def perceptron():
    torch.manual_seed(1)
    return Perceptron().double()


def groups_of(model, first, second):
    weights = [p for p in model.parameters() if p.ndim == 2]
    biases = [p for p in model.parameters() if p.ndim == 1]
    return [{"params": weights, **first}, {"params": biases, **second}]


def write_kinds(folder):
    def one(name, kind, steps=STEPS, **options):
        model = perceptron()
        save(folder, name, model, getattr(torch.optim, kind)(model.parameters(), **options), steps)

    one("adam", "Adam", lr=0.02, betas=BETAS, eps=1e-4)
    one("adam-start", "Adam", 0, lr=0.02, betas=BETAS, eps=1e-4)
    one("amsgrad", "Adam", 30, lr=0.5, betas=(0.8, 0.6), eps=1e-4, amsgrad=True)
    one("adamax", "Adamax", lr=0.03, betas=BETAS, eps=1e-3)
    one("radam", "RAdam", 12, lr=0.04, betas=BETAS, eps=1e-4)
    one("radam-early", "RAdam", 2, lr=0.04, betas=BETAS, eps=1e-4)
    one("nadam", "NAdam", 400, lr=0.01, betas=BETAS, eps=1e-4)
    one("nadam-early", "NAdam", 3, lr=0.01, betas=BETAS, eps=1e-4)
    one("rmsprop", "RMSprop", lr=0.01, alpha=0.9, eps=1e-3)
    one("rmsprop-centered", "RMSprop", lr=0.01, alpha=0.9, eps=1e-3, centered=True, momentum=0.6)
    one("adagrad", "Adagrad", lr=0.1, lr_decay=0.05, eps=1e-3)
    one("adagrad-start", "Adagrad", 0, lr=0.1, initial_accumulator_value=0.1)
    one("sgd", "SGD", lr=0.3)
    one("momentum", "SGD", lr=0.2, momentum=0.9, dampening=0.3, weight_decay=0.01)
    one("nesterov", "SGD", lr=0.2, momentum=0.9, nesterov=True)
    one("maximize", "SGD", lr=0.001, maximize=True)
    one("adadelta", "Adadelta", lr=1.0)
    model = perceptron()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        return loss

    optimizer.step(closure)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, folder / "lbfgs.pt")


def write_groups(folder):
    model = perceptron()
    save(folder, "adamw-groups", model, torch.optim.AdamW(
        groups_of(model, {"lr": 0.02, "weight_decay": 0.1, "eps": 1e-3}, {"lr": 0.005, "weight_decay": 0.0}),
        betas=BETAS))
    model = perceptron()
    save(folder, "sgd-groups", model, torch.optim.SGD(
        groups_of(model, {"lr": 0.2}, {"lr": 0.05}), lr=0.1, momentum=0.8))
    model = perceptron()
    save(folder, "betas-groups", model, torch.optim.Adam(
        groups_of(model, {"betas": (0.8, 0.95)}, {"betas": (0.9, 0.95)}), lr=0.01))


def by_name(optimizer, model):
    names = [n for n, _ in model.named_parameters()]
    state = optimizer.state_dict()
    return {"state": {names[k]: v for k, v in state["state"].items()},
            "param_groups": [{**g, "params": [names[k] for k in g["params"]]} for g in state["param_groups"]]}


def flattened(optimizer, model):
    """As torch.distributed.checkpoint flattens it."""
    nested = by_name(optimizer, model)
    flat = {f"state.{n}.{key}": v for n, state in nested["state"].items() for key, v in state.items()}
    for group in nested["param_groups"]:
        for name in group["params"]:
            flat.update({f"param_groups.{name}.{key}": v for key, v in group.items() if key != "params"})
    return flat


def with_names(optimizer, model):
    """As PyTorch 2.6 has it for optimisers given named_parameters()."""
    state = optimizer.state_dict()
    names = [n for n, _ in model.named_parameters()]
    for group in state["param_groups"]:
        group["param_names"] = [names[k] for k in group["params"]]
    return state


def in_order_of_names(state):
    return collections.OrderedDict(sorted(state.items()))


def write_names(folder):
    def adam(model):
        return torch.optim.Adam(model.parameters(), lr=0.02, betas=BETAS, eps=1e-4)

    for name, change in [("by-name", by_name), ("flattened", flattened)]:
        model = perceptron()
        save(folder, name, model, adam(model), optimizer_state=change)
    # Wrapped for training, saved bare, as by FSDP.
    model = perceptron()
    save(folder, "wrapped", model, adam(model), optimizer_state=lambda o, m: {
        "state": {"_fsdp_wrapped_module." + n: v for n, v in by_name(o, m)["state"].items()}})
    model = perceptron()
    save(folder, "sorted", model, adam(model), model_state=in_order_of_names)
    torch.manual_seed(2)
    for name, change in [("deep", None), ("deep-sorted", None), ("deep-sorted-named", with_names)]:
        model = Deep().double()
        save(folder, name, model, adam(model), 3,
             model_state=in_order_of_names if "sorted" in name else None, optimizer_state=change)
        torch.manual_seed(2)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    inputs, target = points()
    np.savez_compressed(folder / "points.npz", inputs=inputs, target=target)
    z, value = prompts()
    np.savez_compressed(folder / "prompts.npz", Z=z, target=value)
    write_kinds(folder)
    write_groups(folder)
    write_names(folder)


if __name__ == "__main__":
    main()
