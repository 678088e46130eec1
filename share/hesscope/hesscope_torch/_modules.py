# SPDX-License-Identifier: BSD-3-Clause
"""A user's module as it is exported, and left as it was."""

import contextlib
import random

import numpy as np
import torch
import torch.utils.checkpoint
from torch import nn


class Root(nn.Module):
    """Calls a model as a whole, hooks and all, under the names of its tensors."""

    def __init__(self, model, call):
        super().__init__()
        self.__dict__.update(_parameters=model._parameters, _buffers=model._buffers, _modules=model._modules,
                             _non_persistent_buffers_set=model._non_persistent_buffers_set, _call=call, training=False)

    def forward(self, *tensors):
        return self._call(*tensors)


class _Kept:
    """In place of torch.utils.checkpoint's function, which forgets what it computes, and which PyTorch does not export."""

    @staticmethod
    def apply(function, _, *arguments):
        return function(*arguments)


@contextlib.contextmanager
def computing(modules, dtype):
    """Modules in evaluation mode, with numbers of this type, on the CPU; afterwards all is as it was."""
    parts = list({id(part): part for module in modules for part in module.modules()}.values())
    kept = [(part, dict(part.__dict__), dict(part._parameters), dict(part._buffers)) for part in parts]
    parameters = {id(p): p for part in parts for p in part._parameters.values() if p is not None}
    numbers = [(parameter, parameter.data) for parameter in parameters.values()]
    checkpoints = torch.utils.checkpoint.CheckpointFunction
    default, drawn = torch.get_default_dtype(), (random.getstate(), np.random.get_state())

    def copied(value):
        return cast(value, dtype).clone() if isinstance(value, torch.Tensor) else value

    try:
        for part in parts:
            part.__dict__.update({name: copied(value) for name, value in part.__dict__.items()}, training=False)
            part._buffers.update({name: copied(value) for name, value in part._buffers.items()})
        for parameter, data in numbers:
            parameter.data = copied(data)
        torch.set_default_dtype(dtype)
        torch.utils.checkpoint.CheckpointFunction = _Kept
        with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(default)
        torch.utils.checkpoint.CheckpointFunction = checkpoints
        random.setstate(drawn[0])
        np.random.set_state(drawn[1])
        for parameter, data in numbers:
            parameter.data = data
        for part, attributes, own, buffers in kept:
            part.__dict__.clear()
            part.__dict__.update(attributes)
            for now, before in ((part._parameters, own), (part._buffers, buffers)):
                now.clear()
                now.update(before)


@contextlib.contextmanager
def asked_for_slopes(root, leaves):
    """Tensors that an output may be differentiated by: frozen parameters, and buffers as copies, which forward() may count
    in; these take their places among the leaves."""
    frozen = [leaf for leaf in leaves.values() if isinstance(leaf, nn.Parameter) and not leaf.requires_grad]
    replaced = []
    for prefix, part in root.named_modules():
        for key, buffer in part._buffers.items():
            name = f"{prefix}.{key}" if prefix else key
            if name in leaves and leaves[name] is buffer:
                leaves[name] = buffer.clone().requires_grad_()
                replaced.append((part, key, buffer, leaves[name]))
    try:
        for parameter in frozen:
            parameter.requires_grad_(True)
        for part, key, _, leaf in replaced:
            part._buffers[key] = leaf.clone()
        yield
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)
        for part, key, buffer, _ in replaced:
            part._buffers[key] = buffer


def cast(tensor, dtype):
    tensor = tensor.detach().cpu()
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def tensors_of(model):
    """Parameters and buffers that checkpoints have, by name: without what get_extra_state() adds."""
    tensors = model.state_dict(keep_vars=True)
    return {name: tensor for name, tensor in tensors.items()
            if isinstance(tensor, torch.Tensor) and not name.endswith("_extra_state")}


def averages_of(model):
    """Names of what batch normalisation has averaged: buffers that are known to be constant."""
    return {f"{name}.{kind}".lstrip(".") for name, part in model.named_modules()
            if isinstance(part, nn.modules.batchnorm._NormBase) for kind in ("running_mean", "running_var")}


def parametrized(model):
    """(name, class) of the first tensor that a parametrization computes; None where there is none."""
    return next(((f"{name}.{key}".lstrip("."), type(steps[0]).__name__) for name, part in model.named_modules()
                 if nn.utils.parametrize.is_parametrized(part) for key, steps in part.parametrizations.items()), None)


def held_rows(model):
    """(table, rows) of embeddings that PyTorch has no derivatives by, or that each forward pass shortens."""
    return [(part.weight, slice(None) if part.max_norm is not None else part.padding_idx) for part in model.modules()
            if isinstance(part, (nn.Embedding, nn.EmbeddingBag)) and (part.max_norm, part.padding_idx) != (None, None)]


def equal_tensors(model, parameters):
    """(tied, separate): "NAME = OTHER" of names of one and the same tensor, and parameters that happen to hold the same
    numbers, as the layers of a network that is not trained yet do."""
    tensors = tensors_of(model)
    tied, separate = [], []
    for i, name in enumerate(parameters):
        same = next((other for other in parameters[:i] if tensors[other] is tensors[name]), None)
        if same is not None:
            tied.append(f"{name} = {same}")
        elif any(torch.equal(tensors[other], tensors[name]) for other in parameters[:i]):
            separate.append(name)
    return tied, separate
