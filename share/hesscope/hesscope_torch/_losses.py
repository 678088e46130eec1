# SPDX-License-Identifier: BSD-3-Clause
"""Which losses of PyTorch hesscope has itself."""

import functools
import inspect

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Loss:
    """A loss as a problem file names it, or a function that becomes a part of the graph."""

    def __init__(self, function, kind="output", **settings):
        self.function, self.kind, self._settings = function, kind, settings
        self.is_in_graph = kind == "output"

    def settings(self, targets, predicted, by_sample):
        """Keys of [model]; by_sample() puts samples along the first axis."""
        found = {key: value.tolist() if isinstance(value, torch.Tensor) else value
                 for key, value in self._settings.items() if value is not None}
        if "ignore_index" in found and not bool((targets == found["ignore_index"]).any()):
            del found["ignore_index"]
        if "pos_weight" in found:
            found["pos_weight"] = _for_each_entry(self._settings["pos_weight"], predicted, by_sample)
        if self.kind in ("cross-entropy", "nll") and predicted.ndim > 2:
            found["class_axis"] = 1
        if self.kind in ("mse", "huber", "bce-with-logits") and targets.shape != predicted.shape:
            raise ValueError(f"targets of shape {tuple(targets.shape)}, and an output of shape {tuple(predicted.shape)}: "
                             "PyTorch would compare each with each")
        return found


def _for_each_entry(weight, predicted, by_sample):
    """As a problem file has it: one number, or one for each entry of the last axis, or for each of a sample's output."""
    if weight.numel() == 1:
        return weight.item()
    samples = by_sample(weight.expand(predicted.shape))
    if bool((samples != samples[:1]).any()):
        raise ValueError(f"pos_weight of shape {tuple(weight.shape)} has other numbers for other samples: write the loss as "
                         "a function of the output and of targets that hold these numbers, too")
    is_of_last = weight.ndim == 1 and samples.shape[1:][-1:] == weight.shape and bool((samples == weight).all())
    return weight.tolist() if is_of_last else samples[0].flatten().tolist()


def kind_of(argument):
    """For a message of what is none that can be."""
    if inspect.isclass(argument) or isinstance(argument, str):
        return repr(argument)
    is_data = isinstance(argument, (torch.Tensor, np.ndarray))
    return type(argument).__name__ + (": the order is model, inputs, targets, loss" if is_data else "")


def loss_of(loss):
    """Of those that hesscope has itself, by name."""
    modules = {F.cross_entropy: nn.CrossEntropyLoss, F.nll_loss: nn.NLLLoss, F.mse_loss: nn.MSELoss,
               F.huber_loss: nn.HuberLoss, F.smooth_l1_loss: nn.SmoothL1Loss,
               F.binary_cross_entropy_with_logits: nn.BCEWithLogitsLoss}
    if inspect.isclass(loss) or isinstance(loss, str) or not (loss is None or callable(loss)):
        raise TypeError(f"loss must be a module, as nn.CrossEntropyLoss(), or a function, got {kind_of(loss)}")
    if isinstance(loss, functools.partial) and not loss.args and loss.func in modules:
        loss = modules[loss.func](**loss.keywords)
    elif inspect.isfunction(loss) and loss in modules:
        loss = modules[loss]()
    if getattr(loss, "reduction", None) != "mean":
        return Loss(loss)
    if type(loss) is nn.CrossEntropyLoss:
        return Loss(loss, "cross-entropy", class_weights=loss.weight, ignore_index=loss.ignore_index,
                     label_smoothing=loss.label_smoothing or None)
    if type(loss) is nn.NLLLoss:
        return Loss(loss, "nll", class_weights=loss.weight, ignore_index=loss.ignore_index)
    if type(loss) is nn.MSELoss:
        return Loss(loss, "mse")
    if type(loss) is nn.HuberLoss or type(loss) is nn.SmoothL1Loss and loss.beta == 1:
        return Loss(loss, "huber", delta=float(getattr(loss, "delta", 1)))
    if type(loss) is nn.BCEWithLogitsLoss and loss.weight is None:
        return Loss(loss, "bce-with-logits", pos_weight=loss.pos_weight)
    return Loss(loss)
