# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch models in hesscope: from a module to the exact Hessian of its loss, with no export by hand.

    import hesscope_torch        # sys.path.append("PREFIX/share/hesscope"), or copy this file and hesscope.py

    run = hesscope_torch.analyze(model, images, labels, nn.CrossEntropyLoss())
    run["spectrum/lambda_max"].item()

    H, names = hesscope_torch.hessian(model, images, labels, nn.CrossEntropyLoss())

For the checkpoints of a training, once

    hesscope_torch.save_problem("digits", model, images, labels, nn.CrossEntropyLoss())

and then `hesscope analyze runs --problem digits/problem.toml -o run.h5`, or any other command that takes a problem.

Arguments of all three:

model         an nn.Module; it is taken in evaluation mode, and left as it was. What requires a gradient is a parameter; all
              else, as buffers and frozen layers, is constant. Parameters have the names of the state_dict.
inputs        a tensor or an array, a list of them, or a dictionary by the names of forward()'s arguments. The first axis is
              of samples, which must not interact: hesscope proves that they do not, or refuses the model.
targets       a tensor or an array with a row for each sample; None where the model gives its loss itself.
loss          a loss of torch.nn, with its settings, or of torch.nn.functional; or a function of (output, targets) that gives
              the mean over the batch, or a number for each sample. Such a function becomes a part of the graph: then there
              is no Gauss-Newton matrix. None where the model gives its loss itself.
output        of a model that gives several tensors, the index or the name of the one that counts; the first if None.
sample_axis   1 where time comes first, as in recurrent layers without batch_first.
weight_decay  w adds w/2 times the sum of all squared parameters to the loss.

All is computed in 64 bits. A model that insists on 32 (`x.float()`) is exported as it is, and a warning says so. What the
model predicts is stored beside the data, and hesscope refuses a graph that predicts anything else.
"""

import collections.abc
import copy
import inspect
import json
import pathlib
import tempfile
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import hesscope

__all__ = ["analyze", "hessian", "save_problem"]

OPSET = 17
RESERVED = {"target", "predictions", "output"}  # names of what is no input


def analyze(model, inputs, targets=None, loss=None, *options, output=None, sample_axis=0, weight_decay=0.0, result=None,
            program=None):
    """What `hesscope analyze` finds at the model's parameters as they are, as one tree (see hesscope.open).

    options  those of the command, as "--blocks", or "--only", "spectrum"; `hesscope analyze --help` lists them.
    result   the file to keep it in; without it none is kept.
    program  the hesscope to run; see hesscope.analyze.

    Raises hesscope.Error with what the program says, as where samples interact.
    """
    with tempfile.TemporaryDirectory(prefix="hesscope-") as folder:
        graph = _Graph(model, inputs, targets, loss, output)
        problem = graph.save(pathlib.Path(folder), sample_axis, weight_decay)
        checkpoint = pathlib.Path(folder) / "model.pt"
        torch.save(graph.state_dict(), checkpoint)
        return hesscope.analyze(checkpoint, problem, *options, output=result, program=program)


def hessian(model, inputs, targets=None, loss=None, *, output=None, sample_axis=0, weight_decay=0.0, program=None):
    """(H, names): the Hessian of the mean loss, (n, n) in float64, and for each of its n rows the name of the tensor that
    the row is of. The entries of a tensor follow one another as in tensor.flatten()."""
    run = analyze(model, inputs, targets, loss, "--only", "hessian", "--save-hessian", output=output,
                  sample_axis=sample_axis, weight_decay=weight_decay, program=program)
    matrix = np.asarray(run["hessian/matrix"].values)[0]
    sizes = np.diff([*np.asarray(run["parameter_offset"].values), len(matrix)])
    return matrix, np.repeat(np.asarray(run["parameter_name"].values, object), sizes)


def save_problem(folder, model, inputs, targets=None, loss=None, *, output=None, sample_axis=0, weight_decay=0.0):
    """Writes model.onnx, data.npz and problem.toml into the folder, which is made where it is missing, over what is there
    by these names. Returns the path of problem.toml."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return _Graph(model, inputs, targets, loss, output).save(folder, sample_axis, weight_decay)


class _Loss:
    """A loss as a problem file names it, or a function that becomes a part of the graph."""

    def __init__(self, kind, function=None, **settings):
        self.kind, self.function, self._settings = kind, function, settings

    def settings(self, targets, predicted):
        """Keys of [model]."""
        found = {key: value.tolist() if isinstance(value, torch.Tensor) else value
                 for key, value in self._settings.items() if value is not None}
        if "ignore_index" in found and not bool((targets == found["ignore_index"]).any()):
            del found["ignore_index"]
        if self.kind in ("cross-entropy", "nll") and predicted.ndim > 2:
            found["class_axis"] = 1
        return found


def _loss_of(loss):
    """Of those that hesscope has itself, by name; of those that PyTorch does not export, written out."""
    modules = {F.cross_entropy: nn.CrossEntropyLoss, F.nll_loss: nn.NLLLoss, F.mse_loss: nn.MSELoss,
               F.huber_loss: nn.HuberLoss, F.smooth_l1_loss: nn.SmoothL1Loss, F.l1_loss: nn.L1Loss,
               F.binary_cross_entropy_with_logits: nn.BCEWithLogitsLoss}
    if inspect.isfunction(loss) and loss in modules:
        loss = modules[loss]()
    if getattr(loss, "reduction", None) != "mean":
        return _Loss("output", loss)
    if type(loss) is nn.CrossEntropyLoss:
        return _Loss("cross-entropy", class_weights=loss.weight, ignore_index=loss.ignore_index,
                     label_smoothing=loss.label_smoothing or None)
    if type(loss) is nn.NLLLoss:
        return _Loss("nll", class_weights=loss.weight, ignore_index=loss.ignore_index)
    if type(loss) is nn.MSELoss:
        return _Loss("mse")
    if type(loss) is nn.HuberLoss:
        return _Loss("huber", delta=float(loss.delta))
    if type(loss) is nn.SmoothL1Loss and loss.beta == 1:
        return _Loss("huber", delta=1.0)
    if type(loss) is nn.SmoothL1Loss and loss.beta > 0:
        beta = loss.beta
        return _Loss("output", lambda output, target: torch.where(
            (output - target).abs() < beta, (output - target) ** 2 / (2 * beta), (output - target).abs() - beta / 2).mean())
    if type(loss) is nn.L1Loss:
        return _Loss("output", lambda output, target: (output - target).abs().mean())
    if type(loss) is nn.BCEWithLogitsLoss and loss.weight is None:
        return _Loss("bce-with-logits", pos_weight=loss.pos_weight)
    return _Loss("output", loss)


class _Graph:
    """What is exported: a copy of the model in evaluation mode that takes all tensors in their order, and gives the output
    that counts or the loss of it. In 64 bits, where the model bears that."""

    def __init__(self, model, inputs, targets, loss, output):
        model = _unwrapped(model)
        self._loss = _loss_of(loss)
        self._targets, self._output = None if targets is None else torch.as_tensor(targets), output
        self._keywords = list(inputs) if isinstance(inputs, collections.abc.Mapping) else None
        self._names, self._inputs = _named(model, inputs)
        self._has_target = self._loss.function is not None and targets is not None
        if self._has_target:
            self._names.append("target")
            self._inputs.append(self._targets)
        modes = {part: part.training for part in model.modules()}
        model.eval()
        try:
            self._copy(model, torch.float64)
        except RuntimeError as error:
            self._copy(model, torch.float32)
            warnings.warn(f"the model does not run in 64 bits, so constants in it have 32: {error}", stacklevel=4)
        finally:
            for part, mode in modes.items():
                part.training = mode

    def _copy(self, model, dtype):
        self._tensors = [_cast(tensor, dtype) for tensor in self._inputs]
        try:
            self._module = copy.deepcopy(model)
        except RuntimeError:  # of what a hook computes from parameters, as weight_norm does, unless it has no gradient
            with torch.no_grad():
                self._call(model.forward, self._loss.function, self._inputs)
            self._module = copy.deepcopy(model)
        self._module = self._module.cpu().to(dtype)
        forward, function = self._module.forward, self._loss.function
        if isinstance(function, nn.Module):
            function = copy.deepcopy(function).cpu().to(dtype)
        self._module.forward = lambda *tensors: self._call(forward, function, tensors)
        self._predicted, self._roles = self._run()

    def _call(self, forward, function, tensors):
        inputs = tensors[:-1] if self._has_target else tensors
        found = forward(*inputs) if self._keywords is None else forward(**dict(zip(self._keywords, inputs)))
        if self._output is not None:
            found = found[self._output]
        elif isinstance(found, collections.abc.Mapping):
            found = next(iter(found.values()))
        elif not isinstance(found, torch.Tensor):
            found = found[0]
        if function is None:
            return found
        return function(found, tensors[-1]) if self._has_target else function(found)

    def _run(self):
        """What the graph gives, and by name the roles of tensors in it: "parameter", "constant" or "unused"."""
        tensors = {name: tensor for name, tensor in self._module.state_dict(keep_vars=True).items()
                   if isinstance(tensor, torch.Tensor) and tensor.is_floating_point()}
        is_trained = {name: tensor.requires_grad for name, tensor in tensors.items()}
        averages = _averages(self._module)
        asked = [name for name in tensors if name not in averages]
        for name in asked:
            tensors[name].requires_grad_()
        found = self._module(*self._tensors)
        slopes = torch.autograd.grad(found.sum(), [tensors[name] for name in asked], allow_unused=True)
        roles = dict.fromkeys(averages & set(tensors), "constant")
        for name, slope in zip(asked, slopes):
            tensors[name].requires_grad_(is_trained[name])
            roles[name] = "unused" if slope is None else "parameter" if is_trained[name] else "constant"
        left_out = [name for name in asked if is_trained[name] and roles[name] == "unused"]
        if left_out:
            warnings.warn(f"no derivative of the output reaches {', '.join(left_out)}: not among the parameters", stacklevel=6)
        return found.detach(), roles

    def state_dict(self):
        """Without what has no part in the output."""
        return {name: tensor for name, tensor in self._module.state_dict().items()
                if self._roles.get(name) in ("parameter", "constant")}

    def save(self, folder, sample_axis, weight_decay):
        self._export(folder / "model.onnx", sample_axis)
        arrays = dict(zip(self._names, self._tensors))
        if self._targets is not None and not self._has_target:
            arrays["target"] = _cast(self._targets, torch.float64)
        if self._predicted.ndim > 0:
            arrays["predictions"] = self._predicted
        count = self._tensors[0].shape[sample_axis]
        np.savez_compressed(folder / "data.npz", **{
            name: _by_sample(tensor, sample_axis, count).numpy() for name, tensor in arrays.items()})

        settings = {"kind": "onnx", "file": "model.onnx", "loss": self._loss.kind,
                    **self._loss.settings(self._targets, self._predicted)}
        if weight_decay:
            settings["weight_decay"] = float(weight_decay)
        parameters = [name for name, role in self._roles.items() if role == "parameter"]
        if len(parameters) < len(self._roles):
            settings["parameters"] = parameters
        tied, separate = _equal(self._module, parameters)
        settings.update({key: names for key, names in (("tied", tied), ("separate", separate)) if names})
        lines = ["[model]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items()),
                 "[data]", 'file = "data.npz"']
        (folder / "problem.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder / "problem.toml"

    def _export(self, path, sample_axis):
        options = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
        torch.onnx.export(
            self._module, tuple(_two_samples(tensor, sample_axis) for tensor in self._tensors), str(path),
            input_names=self._names, output_names=["output"], opset_version=OPSET,
            dynamic_axes={name: {sample_axis: "batch"} for name in self._names},
            do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE, **options)


def _unwrapped(model):
    """As torch.compile and parallel training wrap it; hesscope reads names of checkpoints without what that adds."""
    if isinstance(model, (nn.DataParallel, nn.parallel.DistributedDataParallel)):
        model = model.module
    return getattr(model, "_orig_mod", model)


def _named(model, inputs):
    """Names of the graph's inputs, those of forward()'s arguments where they can be, and the tensors."""
    if isinstance(inputs, collections.abc.Mapping):
        names, tensors = list(inputs), list(inputs.values())
    else:
        tensors = [inputs] if isinstance(inputs, (torch.Tensor, np.ndarray)) else list(inputs)
        names = [name for name, each in inspect.signature(model.forward).parameters.items()
                 if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)][:len(tensors)]
    if len(names) < len(tensors) or RESERVED & set(names):
        names = [f"input_{i}" for i in range(len(tensors))]
    return names, tensors


def _cast(tensor, dtype):
    tensor = torch.as_tensor(tensor).detach().cpu()
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _two_samples(tensor, sample_axis):
    """An exporter may take what it sees once for a constant, and one sample for an axis that is stretched."""
    places = torch.tensor([0, min(1, tensor.shape[sample_axis] - 1)])
    return tensor.index_select(sample_axis, places)


def _by_sample(tensor, sample_axis, count):
    """With samples along the first axis. An output or targets that have samples and positions along one axis, as
    logits.view(-1, C) leaves them, get an axis for each."""
    if tensor.ndim > sample_axis and tensor.shape[sample_axis] == count:
        return tensor.movedim(sample_axis, 0)
    if tensor.shape[0] != count and tensor.shape[0] % count == 0:
        return tensor.reshape(count, -1, *tensor.shape[1:])
    return tensor


def _averages(model):
    """Names of what batch normalisation has averaged: buffers that are known to be constant."""
    return {f"{name}.{kind}".lstrip(".") for name, part in model.named_modules()
            if isinstance(part, nn.modules.batchnorm._NormBase) for kind in ("running_mean", "running_var")}


def _equal(model, parameters):
    """(tied, separate): "NAME = OTHER" of names of one and the same tensor, and parameters that happen to hold the same
    numbers, as the layers of a network that is not trained yet do."""
    tensors = model.state_dict(keep_vars=True)
    tied, separate = [], []
    for i, name in enumerate(parameters):
        for other in parameters[:i]:
            if tensors[other] is tensors[name]:
                tied.append(f"{name} = {other}")
                break
            if torch.equal(tensors[other], tensors[name]):
                separate.append(name)
                break
    return tied, separate
