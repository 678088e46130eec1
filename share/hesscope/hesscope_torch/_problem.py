# SPDX-License-Identifier: BSD-3-Clause
"""A PyTorch module with data and a loss, as a problem of hesscope."""

import collections.abc
import contextlib
import inspect
import json
import math
import re
import threading
import traceback
import warnings

import numpy as np
import torch
from torch import nn

import hesscope

from ._folder import MARK
from ._formulas import WrittenOut
from ._graph import names_read
from ._losses import Loss, kind_of, loss_of
from ._modules import Root, asked_for_slopes, averages_of, cast, computing, equal_tensors, held_rows
from ._modules import parametrized, tensors_of
from ._slopes import Slopes

OPSET = 17
OUTPUT = "hesscope.output"
RESERVED = {"target", "predictions", OUTPUT}  # names of what is no input
COUNTERS = {"loss", "step", "epoch", "iteration", "global_step"}  # that hesscope reads in checkpoints
OTHERS = ("Tensors that are none of the model's, as in a list or a function, keep their 32 bits: make them buffers of the "
          "model, or of a module that is the loss, or call .double()")
ROUNDED = 1e-12  # up to which a loss may be rounding alone, as that of a perfect fit
CUT = ("detach(), no_grad() and custom backward functions make PyTorch leave derivatives out, or change them; hesscope's are "
       "those of what the model computes")
ONE_AT_A_TIME = threading.RLock()  # the exporter of PyTorch is not made for more


class Problem:
    """A model with its data and loss; save() writes it, and tells PyTorch's loss and gradient."""

    def __init__(self, model, inputs, targets, loss, output, sample_axis, weight_decay, whole_batch):
        if isinstance(model, (nn.DataParallel, nn.parallel.DistributedDataParallel, torch.optim.swa_utils.AveragedModel)):
            model = model.module
        if type(model).__name__ == "OptimizedModule":  # of torch.compile
            model = model._orig_mod
        _require_usual(model, loss)
        self._model, self._loss = model, loss_of(loss)
        if whole_batch:
            self._loss = Loss(loss)
        self._output, self._weight_decay, self._whole_batch = output, float(weight_decay), bool(whole_batch)
        self._keywords, self._names, tensors = _named(model, inputs)
        self._targets = None
        if targets is not None:
            self._targets = _as_tensor(targets, "targets")
            if self._loss.function is None:
                raise ValueError("targets without a loss")
        elif not self._loss.is_in_graph:
            raise ValueError(f"the loss {self._loss.kind} needs targets")
        self._has_target = self._targets is not None and self._loss.is_in_graph
        if self._has_target:
            self._names.append("hesscope.target" if "target" in _names_of(model) else "target")
            tensors.append(self._targets)
        self._set_axes(tensors, sample_axis)

    def _set_axes(self, tensors, sample_axis):
        first = tensors[0]
        if not 0 <= sample_axis < first.ndim:
            raise ValueError(f"sample_axis is {sample_axis}, and {self._names[0]} has {first.ndim} axes")
        self._sample_axis, self._count = sample_axis, first.shape[sample_axis]
        if self._count == 0:
            raise ValueError(f"{self._names[0]} has no samples")
        self._tensors, self._axes = tensors, []
        for name, tensor in zip(self._names, tensors):
            axis = self._axis_of(tensor)
            if axis is None and not self._whole_batch:
                raise ValueError(f"{name} of shape {tuple(tensor.shape)} has no axis of {self._count} samples, which "
                                 f"{self._names[0]} has: repeat what all samples have in common, or make it a buffer")
            self._axes.append(axis)

    def _axis_of(self, tensor):
        axes = (self._sample_axis, 0) if tensor.ndim > 1 else (0,)
        return next((axis for axis in axes if tensor.ndim > axis and tensor.shape[axis] == self._count), None)

    def save(self, folder, is_compared=False):
        """Writes the files into an empty folder; returns the path of problem.toml."""
        with ONE_AT_A_TIME:
            try:
                return self._save(folder, torch.float64, is_compared)
            except hesscope.Error:
                raise
            except RuntimeError as error:
                first = RuntimeError(f"{error}. {OTHERS}") if re.search("dtype|scalar type", str(error)) else error
            try:
                path = self._save(folder, torch.float32, is_compared)
            except hesscope.Error:
                raise
            except RuntimeError:
                raise first from None
        warnings.warn(f"the model does not run in 64 bits, so constants in it have 32: {first}", stacklevel=4)
        return path

    def _save(self, folder, dtype, is_compared):
        self._dtype = dtype
        function = self._loss.function
        with computing([each for each in (self._model, function) if isinstance(each, nn.Module)], dtype):
            root = Root(self._model, self._call)
            tensors = [cast(tensor, dtype).clone() for tensor in self._tensors]
            try:
                predicted = self._differentiate(root, tensors, with_buffers=True)
            except RuntimeError as error:  # of an operation that takes a buffer as it is, and no derivative by it
                if "cannot have requires_grad" not in str(error):
                    raise
                predicted = self._differentiate(root, tensors, with_buffers=False)
            self._export(root, tensors, folder / "model.onnx", is_compared)
            state = tensors_of(root)
            self._find_unused(state, names_read(folder / "model.onnx"))
            self.state = {name: state[name].detach().clone() for name, role in self._roles.items() if role != "unused"}
            tied, separate = equal_tensors(root, self.parameters)
            arrays = {name: tensor if axis is None else tensor.movedim(axis, 0)
                      for name, tensor, axis in zip(self._names, tensors, self._axes)}
            axis = self._axis_of_output(root, tensors, predicted)
            self._compare_slopes(root, tensors)  # the last, as it moves the parameters
        if self._whole_batch:
            arrays = {name: tensor[None] for name, tensor in zip(self._names, tensors)}
        if not self._loss.is_in_graph:
            arrays["target"] = self._by_sample(cast(self._targets, dtype), axis)
        if not self._loss.is_in_graph or not abs(predicted.mean()) <= ROUNDED:
            arrays["predictions"] = (predicted.reshape(1) if predicted.ndim == 0 or self._whole_batch else
                                     self._by_sample(predicted, axis))
        np.savez_compressed(folder / "data.npz", **{name: array.numpy() for name, array in arrays.items()})
        return self._write_problem(folder, self._loss.settings(
            self._targets, predicted, lambda tensor: self._by_sample(tensor, axis)), tied, separate)

    def _find_unused(self, state, read):
        """Of all tensors, those whose numbers count for nothing: a condition may read what no slope reaches."""
        for name in state:
            if name not in read | self._reached and not name.endswith("num_batches_tracked"):  # which hesscope passes over
                self._roles[name] = "unused"

    @property
    def parameters(self):
        """Their names, in the order of the state_dict."""
        return self._named_as("parameter")

    def _named_as(self, role):
        return [name for name, each in self._roles.items() if each == role]

    def _call(self, *tensors):
        if self._whole_batch:
            tensors = [tensor[0] for tensor in tensors]
        tensors = [tensor.clone() for tensor in tensors]  # which forward() may change in place
        inputs = tensors[:-1] if self._has_target else tensors
        found = self._model(*inputs) if self._keywords is None else self._model(**dict(zip(self._keywords, inputs)))
        found = self._selected(found)
        if self._loss.is_in_graph and self._loss.function is not None:
            found = self._loss.function(found, tensors[-1]) if self._has_target else self._loss.function(found)
        if not isinstance(found, torch.Tensor):
            raise TypeError(f"the loss, or the model that gives it, must give a tensor, got {type(found).__name__}")
        return found.mean().reshape(1) if self._whole_batch else found

    def _selected(self, found):
        output = self._output
        if output is None and self._loss.is_in_graph and self._loss.function is not None:
            return found
        if isinstance(found, torch.Tensor):
            if output in (None, 0):
                return found
            raise ValueError(f"output is {output!r}, and the model gives one tensor (the file to keep is `result`)")
        if isinstance(output, str):
            return found[output] if isinstance(found, collections.abc.Mapping) else getattr(found, output)
        values = (list(found.values()) if isinstance(found, collections.abc.Mapping) else
                  list(found) if isinstance(found, collections.abc.Iterable) else [])
        if output is None:
            values, output = [value for value in values if isinstance(value, torch.Tensor)], 0
        if not -len(values) <= output < len(values):
            raise ValueError(f"the model gives a {type(found).__name__}: say by `output` which of its tensors counts")
        return values[output]

    def _differentiate(self, root, tensors, with_buffers):
        """What the graph gives. Finds out the loss, its gradient's norm, and by name the role of each tensor, "parameter" or
        "constant", and whether a slope reaches it."""
        state = {name: tensor for name, tensor in tensors_of(root).items() if tensor.is_floating_point()}
        infinite = [name for name, tensor in state.items()
                    if tensor.requires_grad and tensor.isinf().any() and not tensor.isnan().any()]
        trained = {name for name, tensor in state.items() if tensor.requires_grad} - set(infinite)
        averages = averages_of(root)
        leaves = {name: tensor for name, tensor in state.items()
                  if isinstance(tensor, nn.Parameter) or with_buffers and name not in averages}
        with asked_for_slopes(root, leaves):
            predicted = self._predicted(root, tensors)
            if not predicted.requires_grad:
                raise ValueError("no derivative of what the model gives reaches any tensor of it")
            if self._loss.is_in_graph and predicted.ndim > 1 and predicted.numel() not in (1, self._count):
                raise ValueError("the loss, or the model that gives it, must give the mean over the batch or a number for "
                                 f"each of {self._count} samples, got a tensor of shape {tuple(predicted.shape)}")
            loss = self._loss_of(predicted)
            slopes = torch.autograd.grad(predicted.sum(), list(leaves.values()), retain_graph=True, allow_unused=True)
            self._reached = {name for name, slope in zip(leaves, slopes) if slope is not None}
            self._roles = {name: "parameter" if name in trained & self._reached else "constant" for name in state}
            self._own = own = list({id(leaves[name]): leaves[name] for name in self.parameters}.values())
            gradient = torch.autograd.grad(loss, own, allow_unused=True) if own else []
        left_out = [name for name in state if name in trained - self._reached]
        if left_out:
            warnings.warn(f"no derivative of the output reaches {', '.join(left_out)}: not among the parameters", stacklevel=6)
        if infinite:
            warnings.warn(f"{', '.join(infinite)}: constant, as a tensor is that holds infinities",
                          stacklevel=6)
        if not self.parameters:
            raise ValueError("no tensor that requires a gradient, and holds no infinities, has a part in what the model gives")
        with torch.no_grad():
            gradient = [torch.zeros_like(leaf) if slope is None else slope.to_dense() if slope.is_sparse else slope
                        for leaf, slope in zip(own, gradient)]
            self._own_loss = loss.item()
            if self._weight_decay:  # 0 times an infinite parameter would be no number
                self._own_loss += self._weight_decay / 2 * sum(leaf.square().sum().item() for leaf in own)
                gradient = [slope + self._weight_decay * leaf for leaf, slope in zip(own, gradient)]
            self._own_gradient_norm = math.hypot(*(torch.linalg.vector_norm(slope).item() for slope in gradient))
        return predicted.detach()

    def _predicted(self, root, tensors):
        return root(*([tensor[None] for tensor in tensors] if self._whole_batch else tensors))

    def _loss_of(self, predicted):
        return (predicted if self._loss.is_in_graph else self._loss.function(predicted, self._targets_for_loss())).mean()

    def _targets_for_loss(self):
        if self._targets.is_floating_point():
            return self._targets.detach().cpu().to(self._dtype)
        return self._targets.cpu().to(torch.int64 if self._loss.kind in ("cross-entropy", "nll") else self._dtype)

    def _export(self, root, tensors, path, is_compared):
        # An exporter takes one sample for an axis that may be stretched.
        tensors = [tensor[None] if self._whole_batch else
                   tensor if self._count > 1 else torch.cat([tensor, tensor], axis)
                   for tensor, axis in zip(tensors, self._axes)]
        options = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
        failure = None
        with WrittenOut(None if self._whole_batch else self._count), warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning, module="torch")
            if is_compared:
                warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
            try:
                torch.onnx.export(
                    root, tuple(tensors), str(path), input_names=self._names, output_names=[OUTPUT], opset_version=OPSET,
                    dynamic_axes={} if self._whole_batch else {n: {a: "batch"} for n, a in zip(self._names, self._axes)},
                    do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE, **options)
            except hesscope.Error:  # of a formula
                raise
            except Exception as error:  # which may be any
                failure = f"{type(error).__name__}: {str(error).strip()}".partition("\n")[0].removesuffix(": ")
                traceback.clear_frames(error.__traceback__)  # which hold what keeps PyTorch from exporting anything else
        if failure is not None:
            failure = failure.partition("  [Caused by")[0]  # which shows the graph
            missing = re.search(r"(?:the|of) operator '?(?:aten::)?(\w+)'?(, [^.]*)?", failure)
            if "requires grad as a constant" in failure:
                failure = ("the loss, or the model, uses a tensor that is learned and not the model's own: make model and loss "
                           "one module that gives the loss")
            elif "aten::_convolution_mode" in failure:
                failure = 'a convolution with padding="same" or "valid": give the padding as numbers'
            elif missing:
                failure = (f"{missing[1]}{missing[2] or ''}: write it by functions that PyTorch exports"
                           f"{_without_parametrization(self._model)}")
            raise hesscope.Error(f"PyTorch cannot export this model as ONNX: {failure}", None)

    def _compare_slopes(self, root, tensors):
        """PyTorch's derivatives with what the model computes, which hesscope's are of."""
        self._slopes = None
        if self._dtype != torch.float64:  # too few digits for differences
            return
        try:
            slopes = Slopes(lambda: self._loss_of(self._predicted(root, tensors)), self._own, held_rows(root))
        except Exception:  # the model may raise any at other parameters
            return
        if slopes.gradient is not None:
            warnings.warn("PyTorch's gradient is another one: along one direction its slope is {:.9g}, and that of the loss "
                          f"{{:.9g}}: {CUT}".format(*slopes.gradient), stacklevel=6)
        if slopes.second is not None:
            warnings.warn("PyTorch's second derivatives are others: along one direction those by double backward differ from "
                          f"differences of its own gradients by {100 * slopes.second:.2g} %: {CUT}. A formula of PyTorch may "
                          "be wrong, too, as that of nn.utils.weight_norm in PyTorch 1.13", stacklevel=6)
        self._slopes = slopes

    def _axis_of_output(self, root, tensors, predicted):
        """Along which what the graph gives has its samples."""
        axis = self._sample_axis
        if axis == 0 or predicted.ndim <= axis or predicted.shape[axis] != self._count:
            return 0
        if predicted.shape[0] == self._count > 1:  # the one that is shorter without the last sample
            fewer = [tensor.narrow(axis, 0, self._count - 1) for tensor, axis in zip(tensors, self._axes)]
            with torch.no_grad(), contextlib.suppress(RuntimeError):
                return 0 if root(*fewer).shape[0] < self._count else axis
        return axis

    def _by_sample(self, tensor, axis):
        """With samples along the first axis. What has samples and positions along one, as logits.view(-1, C) leaves them,
        gets an axis for each."""
        if tensor.ndim > axis and tensor.shape[axis] == self._count:
            return tensor.movedim(axis, 0)
        if tensor.shape[0] == self._count:
            return tensor
        if tensor.shape[0] % self._count != 0:
            raise ValueError(f"{tensor.shape[0]} targets or outputs of {self._count} samples")
        if self._sample_axis == 0:
            return tensor.reshape(self._count, -1, *tensor.shape[1:])
        return tensor.reshape(-1, self._count, *tensor.shape[1:]).movedim(1, 0)

    def _write_problem(self, folder, settings, tied, separate):
        settings = {"kind": "onnx", "file": "model.onnx", "loss": self._loss.kind, **settings}
        if self._whole_batch:
            settings["batch"] = 1
        if self._weight_decay:
            settings["weight_decay"] = self._weight_decay
        settings["parameters"] = [_pattern(name) for name in self.parameters]  # whatever they are called
        separate = [_pattern(name) for name in separate]
        settings.update({key: names for key, names in (("tied", tied), ("separate", separate)) if names})
        lines = ["[model]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items()),
                 "[data]", 'file = "data.npz"']
        (folder / "problem.toml").write_text(MARK + "\n".join(lines) + "\n", encoding="utf-8")
        unused = self._named_as("unused")
        if unused:
            (folder / "map.toml").write_text(f"{MARK}ignore = {json.dumps(unused)}\n", encoding="utf-8")
        return folder / "problem.toml"

    def compare(self, loss, gradient_norm):
        """With PyTorch's own."""
        close = 1e-6 if self._dtype == torch.float64 else 1e-3
        if not math.isfinite(loss) and not math.isfinite(self._own_loss):
            return
        if math.isnan(loss):
            raise self.no_number()
        if not abs(loss - self._own_loss) <= close * abs(self._own_loss) + ROUNDED:
            raise hesscope.Error(f"the exported graph has the loss {loss:.9g}, the model in PyTorch {self._own_loss:.9g}: the "
                                 "export is another model, as where it draws random numbers", None)
        if not math.isfinite(gradient_norm):
            self._warn_of_infinite_slopes()
            return
        if not math.isfinite(self._own_gradient_norm):
            warnings.warn("PyTorch has no finite gradient at these parameters, as where it takes the root of a sum of "
                          "squares that are 0: derivatives are 0 there", stacklevel=4)
            return
        slopes = self._slopes
        scale = abs(self._own_loss) + (slopes.size if slopes is not None and math.isfinite(slopes.size) else 0)
        is_near = abs(gradient_norm - self._own_gradient_norm) <= close * (self._own_gradient_norm + 1e-3 * scale)
        if not is_near and (slopes is None or slopes.gradient is None):
            warnings.warn(f"PyTorch's gradient is another one, of norm {self._own_gradient_norm:.9g} instead of "
                          f"{gradient_norm:.9g}: {CUT}", stacklevel=4)

    def no_number(self):
        """The error of a graph that has none where PyTorch has."""
        said = f"the exported graph's loss is no number, PyTorch's is {self._own_loss:.9g}"
        if not self._whole_batch:
            said += (": as where labels are no classes (ignore_index) in a loss that the model, or a function of your own, "
                     "computes: it divides by how many labels count, and samples interact. Pass "
                     "nn.CrossEntropyLoss(ignore_index=...) itself, or write whole_batch=True")
        return hesscope.Error(said, None)

    def explained(self, said):
        """What the program refuses the model with, and what to do about it in Python."""
        if "array 'predictions'" in said:
            said += "\nThe export is another model than that in PyTorch, as where it draws random numbers"
        if re.search("samples would interact|let samples meet", said) and not self._whole_batch:
            said += "\nIf samples interact on purpose, write whole_batch=True: the batch is then one sample"
        return said

    def _warn_of_infinite_slopes(self):
        said = ("the loss has no finite gradient at these parameters, and so no Hessian: as where a root is taken of 0, "
                "whose slope is infinite; sqrt(x + 1e-12) has a finite one")
        if math.isfinite(self._own_gradient_norm):
            said += (f". PyTorch's gradient, of norm {self._own_gradient_norm:.9g}, leaves infinite slopes out where they "
                     "meet a slope of 0, as that of relu, clamp or where")
        warnings.warn(said, stacklevel=5)


def _require_usual(model, loss):
    """That hesscope can have this model."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {kind_of(model)}")
    if any(isinstance(part, torch.jit.ScriptModule) for part in model.modules()):
        raise TypeError("a module of torch.jit: give the module that it was made of")
    if isinstance(loss, nn.Module) and any(parameter.requires_grad for parameter in loss.parameters()):
        raise ValueError("the loss has parameters of its own: make model and loss one module that gives the loss")
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if isinstance(tensor, nn.parameter.UninitializedTensorMixin):
            raise ValueError(f"{name} has no shape yet: call the model once before")
        if tensor.is_complex():
            raise TypeError(f"{name} holds complex numbers, which hesscope has no derivatives of")
        if {"*", "?"} & set(name):
            raise ValueError(f"{name} has a wildcard in its name")
        if name in COUNTERS or name.startswith("optimizer."):
            raise ValueError(f"a tensor named {name} is taken for what a checkpoint says of its training")
    names = _names_of(model)
    if names and all(name.startswith(("module.", "_orig_mod.")) for name in names):
        raise ValueError("all names begin as those of DataParallel do, which is left out: call the attribute otherwise")


def _without_parametrization(model):
    """What to do about a function that the user has not written; "" of a model without parametrizations."""
    found = parametrized(model)
    if found is None:
        return ""
    name, kind = found
    tensor = name.rpartition(".")[2]
    return (f"; if it is of the parametrization of {name} ({kind}), take that away, and analyze the model by its {tensor} "
            f'itself: torch.nn.utils.parametrize.remove_parametrizations(module, "{tensor}")')


def _pattern(name):
    """Which matches this name only: in problem files, [QK] is Q or K."""
    return name.replace("[", "[[]")


def _names_of(model):
    return {name for name, _ in (*model.named_parameters(), *model.named_buffers())}


def _named(model, inputs):
    """(keywords of forward() or None, names of the graph's inputs, tensors). Inputs have the names of forward()'s arguments
    where these can be names of arrays."""
    if isinstance(inputs, (torch.utils.data.DataLoader, torch.utils.data.Dataset)):
        raise TypeError("inputs must be tensors: of a Dataset, next(iter(DataLoader(dataset, batch_size=len(dataset))))")
    keywords = None
    if isinstance(inputs, collections.abc.Mapping):
        keywords = [name for name, value in inputs.items() if value is not None]
        names, values = list(keywords), [inputs[name] for name in keywords]
    else:
        values = [inputs] if isinstance(inputs, (torch.Tensor, np.ndarray)) else list(inputs)
        names = [name for name, each in inspect.signature(model.forward).parameters.items()
                 if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)][:len(values)]
    if not values:
        raise ValueError("no inputs")
    if len(names) < len(values) or (RESERVED | _names_of(model)) & set(names):
        names = [f"input_{i}" for i in range(len(values))]
    return keywords, names, [_as_tensor(value, name) for name, value in zip(names, values)]


def _as_tensor(value, name):
    try:
        return torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name} must be a tensor or an array, got {type(value).__name__}") from error
