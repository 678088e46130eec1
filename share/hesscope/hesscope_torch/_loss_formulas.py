# SPDX-License-Identifier: BSD-3-Clause
"""Losses of torch.nn.functional by their formulas."""

import inspect
import math

import torch
import torch.nn.functional as F

from ._attributes import known


def norm(x, p, keepdim=False):
    """Along the last axis. Its slope is 0 at 0, and so is that by an entry which is 0."""
    if p == 2:
        return (x ** 2).sum(-1, keepdim).sqrt()
    size, is_zero = x.abs(), x == 0
    if p == 1:
        return size.sum(-1, keepdim)
    if p == math.inf:
        return size.amax(-1, keepdim)
    if p == 0:
        return (~is_zero).to(x.dtype).sum(-1, keepdim)
    total = (size.masked_fill(is_zero, 1) ** p).masked_fill(is_zero, 0).sum(-1, keepdim)
    return (total.masked_fill(total == 0, 1) ** (1 / p)).masked_fill(total == 0, 0)


def distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return norm(x1 - x2 + eps, p, keepdim)


def _positive(x):
    """As clamp(min=0): with the slope 1 at 0."""
    return x.clamp(min=0)


def _reduced(losses, reduction):
    return {"mean": torch.mean, "sum": torch.sum, "none": lambda each: each}[reduction](losses)


def _absolute(output, target):
    return (output - target).abs()


def _squared(output, target):
    return (output - target) ** 2


def _huber(output, target, delta):
    size = (output - target).abs()
    return torch.where(size < delta, size ** 2 / 2, delta * (size - delta / 2))


def _smooth_absolute(output, target, beta):
    return _huber(output, target, beta) / beta if beta > 0 else _absolute(output, target)


def _binary_cross_entropy(output, target, weight=None):
    losses = -(target * output.log().clamp(min=-100) + (1 - target) * (1 - output).log().clamp(min=-100))
    return losses if weight is None else weight * losses


def _binary_cross_entropy_with_logits(output, target, weight=None, pos_weight=None):
    positives = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    losses = (1 - target) * output + positives * F.softplus(-output)
    return losses if weight is None else weight * losses


def _poisson(output, target, log_input, full, eps):
    losses = output.exp() - target * output if log_input else output - target * (output + eps).log()
    if not full:
        return losses
    several = target.clamp(min=1)
    return losses + (several * several.log() - several + (2 * math.pi * several).log() / 2).masked_fill(target <= 1, 0)


def _soft_margin(output, target):
    return F.softplus(-target * output)


def _hinge_embedding(output, target, margin):
    return (torch.where(target != 1, _positive(margin - output), torch.zeros_like(output)) +
            torch.where(target != -1, output, torch.zeros_like(output)))


def _margin_ranking(a, b, target, margin):
    return _positive(margin - target * (a - b))


def _multi_margin(output, target, p, margin, weight=None):
    gaps = (margin - output.gather(-1, target.unsqueeze(-1)) + output).relu()
    gaps = gaps if p == 1 else gaps ** p
    gaps = gaps if weight is None else gaps * weight[target].unsqueeze(-1)
    return gaps.masked_fill(torch.arange(output.shape[-1]) == target.unsqueeze(-1), 0).mean(-1)


def _multilabel_margin(output, target):
    is_listed = (target < 0).long().cumsum(-1) == 0  # what stands before the first that is no class
    label = target.clamp(min=0)
    is_label = is_listed.unsqueeze(-1) & (label.unsqueeze(-1) == torch.arange(output.shape[-1]))
    is_other = is_label.long().sum(-2, keepdim=True) == 0
    gaps = (1 - output.gather(-1, label).unsqueeze(-1) + output.unsqueeze(-2)).relu()
    return torch.where(is_listed.unsqueeze(-1) & is_other, gaps, torch.zeros_like(gaps)).mean(-1).sum(-1)


def _cosine_embedding(a, b, target, margin):
    cosine = (a * b).sum(-1) / (((a ** 2).sum(-1) + 1e-12) * ((b ** 2).sum(-1) + 1e-12)).sqrt()
    zero = torch.zeros_like(cosine)
    return torch.where(target == 1, 1 - cosine, zero) + torch.where(target == -1, _positive(cosine - margin), zero)


def _triplet_margin(anchor, positive, negative, margin, p, eps, swap):
    far = distance(anchor, negative, p, eps)
    if swap:
        far = torch.min(far, distance(positive, negative, p, eps))
    return _positive(margin + distance(anchor, positive, p, eps) - far)


def _cross_entropy(output, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing):
    reduction = _reduction(reduction, size_average, reduce)
    is_index = not target.is_floating_point()
    if label_smoothing == 0 and is_index:
        return F.cross_entropy(output, target, weight, None, ignore_index, None, reduction)
    axis = min(output.ndim - 1, 1)
    log_p = output.log_softmax(axis)
    log_p = log_p if weight is None else log_p * weight.reshape(-1, *[1] * (output.ndim - axis - 1))
    if not is_index:
        losses = -(1 - label_smoothing) * (target * log_p).sum(axis) - label_smoothing * log_p.mean(axis)
        return _reduced(losses, reduction)
    is_ignored = target == ignore_index
    has_ignored = known(is_ignored.any())
    target = target.masked_fill(is_ignored, 0) if has_ignored else target
    own = log_p.gather(axis, target.unsqueeze(axis)).squeeze(axis)
    losses = -(1 - label_smoothing) * own - label_smoothing * log_p.mean(axis)
    weights = torch.ones_like(losses) if weight is None else weight[target]
    if has_ignored:
        losses, weights = losses.masked_fill(is_ignored, 0), weights.masked_fill(is_ignored, 0)
    elif weight is None:
        return _reduced(losses, reduction)
    return losses.sum() / weights.sum() if reduction == "mean" else _reduced(losses, reduction)


def _reduction(reduction, size_average, reduce):
    if size_average is None and reduce is None:
        return reduction
    return torch.nn._reduction.legacy_get_string(size_average, reduce, emit_warning=False)


def _averaged(function, losses):
    """The loss, of a function that gives it for each entry."""
    signature = inspect.signature(function)

    def loss(*arguments):
        settings = signature.bind(*arguments).arguments
        old = [settings.pop(name, None) for name in ("size_average", "reduce")]
        reduction = _reduction(settings.pop("reduction"), *old)
        values = list(settings.values())
        while values[-1] is None:
            values.pop()
        return _reduced(losses(*values), reduction)
    return loss


FORMULAS = {function: _averaged(function, losses) for function, losses in (
    (F.l1_loss, _absolute), (F.mse_loss, _squared), (F.huber_loss, _huber), (F.smooth_l1_loss, _smooth_absolute),
    (F.binary_cross_entropy, _binary_cross_entropy),
    (F.binary_cross_entropy_with_logits, _binary_cross_entropy_with_logits), (F.poisson_nll_loss, _poisson),
    (F.soft_margin_loss, _soft_margin), (F.hinge_embedding_loss, _hinge_embedding),
    (F.margin_ranking_loss, _margin_ranking), (F.multi_margin_loss, _multi_margin),
    (F.multilabel_margin_loss, _multilabel_margin), (F.cosine_embedding_loss, _cosine_embedding),
    (F.triplet_margin_loss, _triplet_margin))}
FORMULAS[F.cross_entropy] = _cross_entropy
