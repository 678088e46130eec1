# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch models in hesscope: from a module to the exact Hessian of its loss, with no export by hand.

    import hesscope_torch        # sys.path.append("PREFIX/share/hesscope"), or copy this folder and hesscope.py

    run = hesscope_torch.analyze(model, images, labels, nn.CrossEntropyLoss())
    run["spectrum/lambda_max"].item()

    H, names = hesscope_torch.hessian(model, images, labels, nn.CrossEntropyLoss())

For the checkpoints of a training, once

    hesscope_torch.save_problem("digits", model, images, labels, nn.CrossEntropyLoss())

and then `hesscope analyze runs --problem digits/problem.toml -o run.h5`, or any other command that takes a problem.

Arguments of all three:

model         an nn.Module; it is taken in evaluation mode, and left as it was. What requires a gradient is a parameter; all
              else, as buffers and frozen layers, is constant. Parameters have the names of the state_dict, and its order.
inputs        a tensor or an array, a list of them, or a dictionary by the names of forward()'s arguments. The first axis is
              of samples, which must not interact: hesscope proves that they do not, or refuses the model.
targets       a tensor or an array with a row for each sample; None where the model gives its loss itself.
loss          a loss of torch.nn or torch.nn.functional; or a function of (what the model gives, targets) that gives the mean
              over the batch, or a number for each sample. Of CrossEntropyLoss, NLLLoss, MSELoss, HuberLoss, SmoothL1Loss(beta=1)
              and BCEWithLogitsLoss there are Gauss-Newton matrices; any other becomes a part of the graph. None where the
              model gives its loss itself.
output        of a model that gives several tensors, the index or the name of the one that counts. Without it these six
              losses take the first tensor, and any other loss all that the model gives.
sample_axis   1 where time comes first, as in recurrent layers without batch_first; of tensors that have N entries there.
weight_decay  w adds w/2 times the sum of all squared parameters to the loss.
whole_batch   True where samples interact on purpose, as in contrastive losses and graphs: the batch is then one sample.

What PyTorch exports wrongly, or not at all, is written out by its formula where that is exact.

All is computed in 64 bits, constants too, and behind `x.float()` as well. Where a layer behind it does not run with 64 bits
in PyTorch, constants have 32, and a warning says so; a model that casts back, as some normalisations do, runs.

The loss is compared with PyTorch's own, and PyTorch's derivatives with what the model computes: another loss is an error,
another gradient, or other second derivatives, a warning, as PyTorch leaves out what detach(), no_grad() and custom backward
functions cut.
"""

import pathlib
import re
import tempfile
import warnings

import numpy as np
import torch

import hesscope

from ._folder import require_own_folder, save_all_or_nothing
from ._problem import Problem

__all__ = ["analyze", "hessian", "save_problem"]


def analyze(model, inputs, targets=None, loss=None, *options, output=None, sample_axis=0, weight_decay=0.0,
            whole_batch=False, result=None, program=None):
    """What `hesscope analyze` finds at the model's parameters as they are, as one tree (see hesscope.open).

    options  those of the command, as "--blocks", or "--only", "spectrum"; `hesscope analyze --help` lists them.
    result   the file to keep it in, which must not exist unless "--force" is among the options; without it none is kept.
    program  the hesscope to run; see hesscope.analyze.

    Raises hesscope.Error where PyTorch cannot export the model, with what the program says, as where samples interact, and
    where PyTorch has another loss; ValueError and TypeError for arguments that cannot be.
    """
    problem = Problem(model, inputs, targets, loss, output, sample_axis, weight_decay, whole_batch)
    return _analyzed(problem, options, result, program)


def _analyzed(problem, options, result, program):
    with tempfile.TemporaryDirectory(prefix="hesscope-") as folder:
        path = problem.save(pathlib.Path(folder), is_compared=True)
        checkpoint = pathlib.Path(folder) / "model.pt"
        torch.save(problem.state, checkpoint)

        def without_places(said):
            """In files that the user knows nothing of."""
            return re.sub(re.escape(folder) + r"/([\w.]+(:\d+)?: )?", "", said)
        try:
            run, said = hesscope._analyzed(checkpoint, path, options, result, program)
        except hesscope.Error as error:
            said = without_places(str(error))
            if "but the model has nan" in said:
                raise problem.no_number() from None
            raise hesscope.Error(problem.explained(said), error.exit_code) from None
        if said:
            warnings.warn(without_places(said), stacklevel=3)
    problem.compare(run["loss"].values[0], run["gradient_norm"].values[0])
    return run


def hessian(model, inputs, targets=None, loss=None, *, output=None, sample_axis=0, weight_decay=0.0, whole_batch=False,
            program=None):
    """(H, names): the Hessian of the mean loss, (n, n) in float64, and for each of its n rows the name of the tensor that
    the row is of. Tensors come in the order of named_parameters(), entries as in tensor.flatten()."""
    problem = Problem(model, inputs, targets, loss, output, sample_axis, weight_decay, whole_batch)
    run = _analyzed(problem, ("--only", "hessian", "--save-hessian"), None, program)
    matrix = np.asarray(run["hessian/matrix"].values)[0]
    if np.isfinite(run["gradient_norm"].values[0]) and not np.isfinite(matrix).all():
        warnings.warn("the Hessian is not finite at these parameters: some second derivative is infinite, as that of "
                      "abs(x) ** 1.5 at 0", stacklevel=2)
    sizes = np.diff([*np.asarray(run["parameter_offset"].values), len(matrix)])
    names = np.repeat(np.asarray(run["parameter_name"].values, object), sizes)
    place = {name: i for i, name in enumerate(problem.parameters)}  # the file has the order of the graph
    order = np.argsort([place[name] for name in names], kind="stable")
    if np.any(np.diff(order) != 1):
        matrix, names = matrix[np.ix_(order, order)], names[order]
    return matrix, names


def save_problem(folder, model, inputs, targets=None, loss=None, *, output=None, sample_axis=0, weight_decay=0.0,
                 whole_batch=False):
    """Writes model.onnx, data.npz and problem.toml into the folder, which is made where it is missing; and map.toml, to be
    given as --map, where the model has tensors without a part in its output. What it has written before it replaces;
    other files of these names are a FileExistsError, and another map.toml stays. Where it raises an error, the folder is
    as it was. Returns the path of problem.toml."""
    folder = pathlib.Path(folder).expanduser()
    require_own_folder(folder)
    problem = Problem(model, inputs, targets, loss, output, sample_axis, weight_decay, whole_batch)
    return save_all_or_nothing(problem, folder)
