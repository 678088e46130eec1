# SPDX-License-Identifier: BSD-3-Clause
"""Functions that PyTorch does not export, or not as it computes them."""

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode


class WrittenOut(TorchFunctionMode):
    """Within it they are computed by their formulas."""

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        return FORMULAS.get(function, function)(*arguments, **(keywords or {}))


def _reduced(losses, reduction):
    return {"mean": torch.mean, "sum": torch.sum, "none": lambda each: each}[reduction](losses)


def _absolute(output, target, size_average=None, reduce=None, reduction="mean"):
    return _reduced((output - target).abs(), reduction)


def _squared(output, target, size_average=None, reduce=None, reduction="mean"):
    return _reduced((output - target) ** 2, reduction)


def _huber(output, target, reduction="mean", delta=1.0):
    size = (output - target).abs()
    return _reduced(torch.where(size < delta, size ** 2 / 2, delta * (size - delta / 2)), reduction)


def _smooth_absolute(output, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    return _huber(output, target, reduction, beta) / beta if beta > 0 else _absolute(output, target, reduction=reduction)


def _binary_cross_entropy(output, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    losses = -(target * output.log().clamp(min=-100) + (1 - target) * (1 - output).log().clamp(min=-100))
    return _reduced(losses if weight is None else weight * losses, reduction)


def _cross_entropy(output, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                   label_smoothing=0.0):
    if label_smoothing == 0 or weight is not None or output.ndim < 2:
        return F.cross_entropy(output, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing)
    log_p = output.log_softmax(1)
    if target.is_floating_point():
        own = -(target * log_p).sum(1)
    else:
        own = -log_p.gather(1, target.unsqueeze(1)).squeeze(1)
    losses = (1 - label_smoothing) * own - label_smoothing * log_p.mean(1)
    return losses.mean() if reduction == "mean" else _reduced(losses, reduction)


def _poisson(output, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    if full:
        return F.poisson_nll_loss(output, target, log_input, full, size_average, eps, reduce, reduction)
    return _reduced(output.exp() - target * output if log_input else output - target * (output + eps).log(), reduction)


def _bilinear(a, b, weight, bias=None):
    found = torch.einsum("...n,onm,...m->...o", a, weight, b)
    return found if bias is None else found + bias


def _distance(a, b, p=2.0, eps=1e-6, keepdim=False):
    size = (a - b + eps).abs()
    return ((size ** 2).sum(-1, keepdim).sqrt() if p == 2 else (size ** p).sum(-1, keepdim) ** (1 / p))


def _embedding(places, table, padding_idx=None, *settings, **named_settings):
    found = F.embedding(places, table, None, *settings, **named_settings)
    if padding_idx is None:
        return found
    row = padding_idx % len(table)  # of which PyTorch has no derivative
    constant = torch.tensor(table.detach()[row].numpy())
    return torch.where((places == row).unsqueeze(-1), constant, found)


FORMULAS = {
    F.l1_loss: _absolute, F.mse_loss: _squared, F.huber_loss: _huber, F.smooth_l1_loss: _smooth_absolute,
    F.binary_cross_entropy: _binary_cross_entropy, F.cross_entropy: _cross_entropy, F.poisson_nll_loss: _poisson,
    F.pairwise_distance: _distance, torch.pairwise_distance: _distance, F.embedding: _embedding, F.bilinear: _bilinear,
    torch.cosh: lambda x: (x.exp() + (-x).exp()) / 2, torch.Tensor.cosh: lambda x: (x.exp() + (-x).exp()) / 2,
    torch.sinh: lambda x: (x.exp() - (-x).exp()) / 2, torch.Tensor.sinh: lambda x: (x.exp() - (-x).exp()) / 2,
}
