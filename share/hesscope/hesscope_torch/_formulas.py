# SPDX-License-Identifier: BSD-3-Clause
"""Functions that PyTorch does not export, or not as it computes them."""

import inspect
import itertools
import math
import operator
import types

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

import hesscope

from . import _attributes, _loss_formulas
from ._attributes import expm1, known
from ._loss_formulas import distance, norm


class WrittenOut(TorchFunctionMode):
    """Within it they are computed by their formulas, also where functions of PyTorch call them that are Python code.

    samples: how many there are, which must not interact; None where they may.
    """

    def __init__(self, samples=None):
        super().__init__()
        self._formulas = {**FORMULAS, F.batch_norm: _attributes.batch_norm(samples)}

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        keywords = keywords or {}
        if function in self._formulas:
            given = _signature(function).bind(*arguments, **keywords)
            given.apply_defaults()
            return self._formulas[function](*given.args, **given.kwargs)
        if not _is_in_python(function):
            return function(*arguments, **keywords)
        with self:
            return _body(function)(*arguments, **keywords)


def _signature(function):
    """That of PyTorch, so that a formula may name its arguments as it likes; the formula's where PyTorch has none, as
    of functions that are not written in Python."""
    try:
        return inspect.signature(function)
    except ValueError:
        return inspect.signature(FORMULAS[function])


def _is_in_python(function):
    """Whether it is a function of PyTorch that asks itself whether a mode takes it, and then computes."""
    return isinstance(function, types.FunctionType) and any(
        function.__globals__ is module.__dict__ for module in (F, torch.functional)) and any(
        name.startswith("has_torch_function") for name in function.__code__.co_names)


def _body(function):
    """What the function computes. The function itself would ask the mode, and come back here for ever."""
    taken = {name: lambda *_: False for name in function.__globals__ if name.startswith("has_torch_function")}
    body = types.FunctionType(function.__code__, {**function.__globals__, **taken}, function.__name__,
                              function.__defaults__, function.__closure__)
    body.__kwdefaults__ = function.__kwdefaults__
    return body


def _bilinear(input1, input2, weight, bias=None):
    found = torch.einsum("...n,onm,...m->...o", input1, weight, input2)
    return found if bias is None else found + bias


def _cdist(a, b, p, compute_mode):
    return norm(a.unsqueeze(-2) - b.unsqueeze(-3), p)


def _cosine_similarity(x1, x2, dim=1, eps=1e-8):
    if x1.ndim != x2.ndim:
        x1, x2 = torch.broadcast_tensors(x1, x2)
    x1, x2 = x1.movedim(dim, -1), x2.movedim(dim, -1)
    return (x1 / norm(x1, 2, True).clamp(min=eps) * (x2 / norm(x2, 2, True).clamp(min=eps))).sum(-1)


def _norm(input, p, dim, keepdim, *settings):
    dtype = settings[-1]
    if not isinstance(dim, int) or not isinstance(p, (int, float)) or p <= 0 or p in (1, 2) or dtype is not None:
        return torch.norm(input, p, dim, keepdim, dtype=dtype)
    found = norm(input.movedim(dim, -1), p, keepdim)
    return found.movedim(-1, dim) if keepdim else found


def _embedding(places, table, padding_idx, *settings):
    found = F.embedding(places, table, None, *settings)
    if padding_idx is None:
        return found
    row = padding_idx % len(table)  # of which PyTorch has no derivative
    constant = torch.tensor(table.detach()[row].numpy())
    return torch.where((places == row).unsqueeze(-1), constant, found)


def _pad(input, pad, mode="constant", value=None):
    if mode != "circular":
        return F.pad(input, pad, mode, value)
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2])):
        def part(x, *bounds, inner=[slice(None)] * i):
            return x[(..., slice(*bounds), *inner)]
        input = part(input, max(-before, 0), min(after, 0) or None)
        ends = ([part(input, -before, None)] if before > 0 else []), ([part(input, 0, after)] if after > 0 else [])
        input = torch.cat([*ends[0], input, *ends[1]], -1 - i)
    return input


def _softplus(input, beta=1, threshold=20):
    return torch.where(beta * input > threshold, input, F.softplus(input, beta))


def _unflatten(input, dim, sizes):
    dim %= input.ndim
    return input.reshape(*input.shape[:dim], *sizes, *input.shape[dim + 1:])


def _hstack(tensors):
    return torch.cat(list(tensors), 0 if tensors[0].ndim == 1 else 1)


def _tile(input, *dims):
    dims = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    return input.repeat(*[1] * (input.ndim - len(dims)), *dims)


def _repeat_interleave(input, repeats, dim=None, *, output_size=None):
    if not isinstance(repeats, int) or dim is None:
        return torch.repeat_interleave(input, repeats, dim, output_size=output_size)
    dim %= input.ndim
    return torch.stack([input] * repeats, dim + 1).flatten(dim, dim + 1)


def _diag_embed(input, offset=0, dim1=-2, dim2=-1):
    if (offset, dim1, dim2) != (0, -2, -1):
        return torch.diag_embed(input, offset, dim1, dim2)
    is_diagonal = torch.eye(known(input.shape[-1], int), dtype=torch.bool)
    return torch.where(is_diagonal, input.unsqueeze(-1), torch.zeros((), dtype=input.dtype))


def _diag(input, diagonal=0):
    return input.diagonal(diagonal) if input.ndim == 2 else _diag_embed(input, diagonal)


def _diff(input, n=1, dim=-1, prepend=None, append=None):
    input = torch.cat([part for part in (prepend, input, append) if part is not None], dim)
    for _ in range(n):
        count = input.shape[dim] - 1
        input = input.narrow(dim, 1, count) - input.narrow(dim, 0, count)
    return input


def _cumprod(input, dim):
    return torch.stack(list(itertools.accumulate(input.unbind(dim), operator.mul)), dim)


def _index_add(input, dim, index, source, *, alpha=1):
    places = index.reshape([-1 if axis == dim % input.ndim else 1 for axis in range(input.ndim)])
    places = places + torch.zeros_like(source, dtype=torch.int64)
    return input.scatter_add(dim, places, source if alpha == 1 else alpha * source)


def _index_add_(input, dim, index, source, *, alpha=1):
    return input.copy_(_index_add(input, dim, index, source, alpha=alpha))


def _slope_within(*_, **__):
    raise hesscope.Error("the model takes a derivative itself (autograd.grad), as by its inputs, and PyTorch cannot export "
                         "that: write the derivative out, layer by layer", None)


def _drops_out(function):
    """Of a function that drops numbers out: itself, where it leaves them all."""
    def formula(input, p, training, inplace):
        if training and p > 0:
            raise hesscope.Error("the model drops numbers out at random although it is in evaluation mode: write F."
                                 f"{function.__name__}(x, p, training=self.training), or use a module such as nn.Dropout",
                                 None)
        return function(input, p, False, inplace)
    return formula


def _fake_quantize(*_, **__):
    raise hesscope.Error("the model rounds its numbers (fake_quantize), and rounding has no derivative: analyze the model "
                         "as it was before it was prepared for quantisation, or without rounding: "
                         "model.apply(torch.ao.quantization.disable_fake_quant)", None)


def _observe_and_fake_quantize(input, observes, rounds, *_, **__):
    return _fake_quantize() if known(rounds) else input


def _logaddexp(input, other):
    return input + F.softplus(other - input)


def _logit(input, eps=None):
    input = input if eps is None else input.clamp(eps, 1 - eps)
    return input.log() - (1 - input).log()


def _atan2(input, other):
    input, other = torch.broadcast_tensors(input, other)
    is_flat, is_origin = input.abs() <= other.abs(), (input == 0) & (other == 0)
    flat = (input.masked_fill(is_origin, 0) / other.masked_fill(~is_flat | is_origin, 1)).atan()
    steep = math.pi / 2 * torch.sign(input) - (other / input.masked_fill(is_flat, 1)).atan()
    turn = torch.where(input < 0, torch.full_like(input, -math.pi), torch.full_like(input, math.pi))
    return torch.where(is_flat, flat + torch.where(other < 0, turn, torch.zeros_like(turn)), steep)


def _cosh(input):
    return (input.exp() + (-input).exp()) / 2


TENSORS = {
    "unflatten": _unflatten, "hstack": _hstack, "tile": _tile, "repeat_interleave": _repeat_interleave,
    "broadcast_to": lambda input, size: input.expand(size), "diag_embed": _diag_embed, "diag": _diag, "diff": _diff,
    "cumprod": _cumprod, "inner": lambda input, other: torch.tensordot(input, other, ([-1], [-1])), "atan2": _atan2,
    "index_add": _index_add, "index_add_": _index_add_,
    "logaddexp": _logaddexp, "logit": _logit, "exp2": lambda input: torch.full_like(input, 2) ** input, "expm1": expm1,
    "cosh": _cosh, "sinh": lambda input: input.tanh() * _cosh(input),
}
DROPPING = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
ROUNDING = ("fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine")
FORMULAS = {
    **_attributes.FORMULAS, **_loss_formulas.FORMULAS,
    F.pairwise_distance: distance, torch.pairwise_distance: distance, torch.cdist: _cdist, F.embedding: _embedding,
    F.bilinear: _bilinear, F.pad: _pad, F.softplus: _softplus, F.cosine_similarity: _cosine_similarity,
    torch.norm: _norm, torch.Tensor.norm: _norm, torch.autograd.grad: _slope_within,
    **{getattr(owner, name): formula for owner in (torch, torch.Tensor) for name, formula in TENSORS.items()
       if hasattr(owner, name)},
    **{getattr(F, name): _drops_out(getattr(F, name)) for name in DROPPING if hasattr(F, name)},
    **{getattr(torch, name): _fake_quantize for name in ROUNDING},
    torch.fused_moving_avg_obs_fake_quant: _observe_and_fake_quantize,
}
