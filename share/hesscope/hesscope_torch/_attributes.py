# SPDX-License-Identifier: BSD-3-Clause
"""Functions whose settings ONNX keeps as 32-bit numbers, by their formulas where the settings are others; and
normalisations that PyTorch does not export."""

import warnings

import numpy as np
import torch
import torch.nn.functional as F

import hesscope


def is_kept(setting):
    """Whether hesscope reads the number again: it takes 32 bits for the shortest decimal that rounds to them."""
    return float(str(np.float32(setting))) == setting


def known(number, kind=bool):
    """What it is for the data at hand, which the graph keeps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torch.jit.TracerWarning)
        return kind(number)


def expm1(x):
    """With all its digits near 0, too."""
    return (x / 2).tanh() * (x.exp() + 1)


def _put(found, x, is_in_place):
    return x.copy_(found) if is_in_place else found


def _leaky_relu(x, slope, is_in_place):
    if is_kept(slope):
        return F.leaky_relu(x, slope, is_in_place)
    return _put(torch.where(x > 0, x, slope * x), x, is_in_place)


def _rrelu(input, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    if training:
        return F.rrelu(input, lower, upper, training, inplace)
    return _leaky_relu(input, (lower + upper) / 2, inplace)


def _elu(x, alpha, is_in_place):
    if is_kept(alpha):
        return F.elu(x, alpha, is_in_place)
    return _put(torch.where(x > 0, x, alpha * expm1(x.clamp(max=0))), x, is_in_place)


def _celu(input, alpha=1.0, inplace=False):
    if is_kept(alpha):
        return F.celu(input, alpha, inplace)
    return _put(torch.where(input > 0, input, alpha * expm1(input.clamp(max=0) / alpha)), input, inplace)


def _selu(input, inplace=False):
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return _put(scale * torch.where(input > 0, input, alpha * expm1(input.clamp(max=0))), input, inplace)


def _threshold(x, threshold, value, is_in_place):
    return _put(torch.where(x > threshold, x, torch.full_like(x, value)), x, is_in_place)


def _hardsigmoid(x, is_in_place):
    found = torch.where(x >= 3, torch.ones_like(x), torch.where(x <= -3, torch.zeros_like(x), (x + 3) / 6))
    return _put(found, x, is_in_place)


def _standard(x, axes, eps):
    centred = x - x.mean(axes, keepdim=True)
    return centred / ((centred ** 2).mean(axes, keepdim=True) + eps).sqrt()


def _scaled(x, weight, bias):
    """By numbers of each channel."""
    ones = [1] * (x.ndim - 2)
    x = x if weight is None else x * weight.reshape(-1, *ones)
    return x if bias is None else x + bias.reshape(-1, *ones)


def _by_averages(x, mean, variance, eps):
    return _scaled(x, None, -mean) / _scaled(torch.zeros_like(x), None, variance + eps).sqrt()


def _layer_norm(x, shape, weight, bias, eps):
    if is_kept(eps):
        weight = torch.ones(shape, dtype=x.dtype) if weight is None else weight
        return F.layer_norm(x, shape, weight, bias, eps)
    found = _standard(x, tuple(range(-len(shape), 0)), eps)
    found = found if weight is None else found * weight
    return found if bias is None else found + bias


def _group_norm(x, groups, weight, bias, eps):
    if is_kept(eps) and x.ndim > 2:
        return F.group_norm(x, groups, weight, bias, eps)
    return _scaled(_standard(x.reshape(x.shape[0], groups, -1), (-1,), eps).reshape(x.shape), weight, bias)


def _instance_norm(x, mean, variance, weight, bias, is_own, momentum, eps):
    if not is_own:
        return _scaled(_by_averages(x, mean, variance, eps), weight, bias)
    if not is_kept(eps):
        return _scaled(_standard(x, tuple(range(2, x.ndim)), eps), weight, bias)
    channels = known(x.shape[1], int)
    weight = torch.ones(channels, dtype=x.dtype) if weight is None else weight
    bias = torch.zeros(channels, dtype=x.dtype) if bias is None else bias
    return F.instance_norm(x, None, None, weight, bias, True, momentum, eps)


def batch_norm(samples):
    """Within a batch of so many samples, which must not interact; or of None, which may."""
    def formula(x, mean, variance, weight, bias, is_own, momentum, eps):
        if not is_own and is_kept(eps):
            return F.batch_norm(x, mean, variance, weight, bias, is_own, momentum, eps)
        if not is_own:
            return _scaled(_by_averages(x, mean, variance, eps), weight, bias)
        if samples is not None and known(x.shape[0] == samples):
            raise hesscope.Error("batch normalisation by the batch's own mean and variance makes samples interact: "
                                 "let it take its averages (track_running_stats=True, model.eval()), or, if samples "
                                 "interact on purpose, write whole_batch=True", None)
        return _scaled(_standard(x, (0, *range(2, x.ndim)), eps), weight, bias)
    return formula


FORMULAS = {
    F.leaky_relu: _leaky_relu, F.rrelu: _rrelu, torch.rrelu: _rrelu, F.elu: _elu, F.celu: _celu, torch.celu: _celu,
    F.selu: _selu, torch.selu: _selu, F.hardsigmoid: _hardsigmoid, F.threshold: _threshold, F.layer_norm: _layer_norm,
    F.group_norm: _group_norm, F.instance_norm: _instance_norm,
}
