# SPDX-License-Identifier: BSD-3-Clause
"""Whether PyTorch's derivatives are those of what a model computes.

They are compared with differences: the gradient with differences of losses, and its derivative, by double backward,
with differences of gradients. All along one direction and near the parameters, not at them, where units may be at a
kink. A step over a kink or a jump, and digits that the model cancels, show in differences of several steps, which then
are not alike, and prove nothing.
"""

import torch

NEAR = 1e-4  # how far from the parameters
STEPS = 1e-5, 2e-5, 3e-5, 4e-5  # between losses
STEP = 1e-8  # between gradients: short, as a gradient jumps where a unit is at a kink
ROUNDING = 1e3 * torch.finfo(torch.float64).eps


class Slopes:
    """At parameters in 64 bits, which it leaves elsewhere; loss() computes the loss anew.

    held      parameters and rows of them that stay where they are.
    gradient  (PyTorch's slope along the direction, that of the loss) where these differ, else None.
    second    by how much PyTorch's derivative of the gradient along the direction differs, as a part of the larger of the
              two, where the gradient does not; else None.
    size      of that derivative: what the rounding of parameters changes a gradient by is in proportion to it.
    """

    def __init__(self, loss, parameters, held=()):
        self.gradient = self.second = None
        generator = torch.Generator().manual_seed(1)

        def normal():
            tensors = [torch.randn(p.shape, generator=generator, dtype=torch.float64) for p in parameters]
            for tensor, parameter in zip(tensors, parameters):
                for rows in (rows for each, rows in held if each is parameter):
                    tensor[rows] = 0
            return tensors
        self._loss, self._parameters, self._direction = loss, parameters, normal()
        self._start = [p.detach() + NEAR * shift for p, shift in zip(parameters, normal())]
        gradient = self._gradient_at(0)
        after, before = ((self._gradient_at(step) - gradient) / step for step in (STEP, -STEP))
        differences, said = (after + before) / 2, self._derivative_of_gradient()
        self.size = max(differences.norm().item(), 0 if said is None else said.norm().item())
        self._compare_gradient(gradient)
        if self.gradient is None and said is not None:
            doubt = (after - before).norm() + ROUNDING * gradient.norm() / STEP
            difference = (said - differences).norm()
            if difference > 1e-5 * self.size + 10 * doubt:
                self.second = difference.item() / self.size

    def _compare_gradient(self, gradient):
        said = gradient.dot(_flat(self._direction)).item()
        with torch.no_grad():
            value = self._loss_at(0).item()
            found = [(self._loss_at(step) - self._loss_at(-step)).item() / (2 * step) for step in STEPS]
        doubt = max(found) - min(found) + ROUNDING * (abs(value) / STEPS[0] + self.size)
        if abs(found[0] - said) > 1e-4 * gradient.norm() + 10 * doubt:
            self.gradient = said, found[0]

    def _derivative_of_gradient(self):
        """Along the direction, by double backward; None of what PyTorch cannot differentiate twice."""
        try:
            slopes = torch.autograd.grad(self._loss_at(0), self._parameters, create_graph=True, allow_unused=True)
            slope = sum((slope * d).sum() for slope, d in zip(slopes, self._direction) if slope is not None)
            return self._flat_gradient(slope) if slope.requires_grad else torch.zeros_like(_flat(self._direction))
        except RuntimeError:
            return None

    def _gradient_at(self, step):
        return self._flat_gradient(self._loss_at(step))

    def _flat_gradient(self, value):
        slopes = torch.autograd.grad(value, self._parameters, allow_unused=True)
        return _flat([torch.zeros_like(p) if slope is None else slope.to_dense() if slope.is_sparse else slope
                      for slope, p in zip(slopes, self._parameters)])

    def _loss_at(self, step):
        for parameter, start, d in zip(self._parameters, self._start, self._direction):
            parameter.data.copy_(start + step * d)
        return self._loss()


def _flat(tensors):
    return torch.cat([tensor.detach().flatten() for tensor in tensors])
