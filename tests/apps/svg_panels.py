# SPDX-License-Identifier: BSD-3-Clause
"""Drawings of `hesscope plot` read back: panels with their axes, and where marks are on them."""
import re

import numpy as np

SVG = "{http://www.w3.org/2000/svg}"


class Panel:
    """One plot of a figure: its axes, by which numbers become places, and its series."""

    def __init__(self, group):
        self.group = group
        self.box = [float(group.get(f"data-{name}")) for name in ("left", "top", "width", "height")]

    def place(self, axis, values):
        """Where numbers belong on the canvas, by the scale's closed form."""
        kind = self.group.get(f"data-{axis}-scale")
        ends = [float(self.group.get(f"data-{axis}-{end}")) for end in ("lower", "upper")]
        if kind == "log":
            forward = np.log10
        elif kind == "signed-log":
            threshold = float(self.group.get(f"data-{axis}-threshold"))
            forward = lambda v: np.arcsinh(v / (2 * threshold))
        else:
            forward = lambda v: v
        with np.errstate(invalid="ignore", divide="ignore"):
            place = (forward(np.asarray(values, float)) - forward(ends[0])) / (forward(ends[1]) - forward(ends[0]))
        left, top, width, height = self.box
        return left + width * place if axis == "x" else top + height - height * place

    def series(self, kind):
        return [g for g in self.group if g.get("class") == kind]

    def line(self, label):
        return next(g for g in self.series("line") if g.get("data-label") == label)


def points(group):
    """The vertices of the paths of a series."""
    return np.array([[float(x), float(y)] for path in group.iter(SVG + "path")
                     for x, y in re.findall(r"[ML]([^,]+),([^MLZ]+)", path.get("d"))]).reshape(-1, 2)


def circles(group):
    return np.array([[float(c.get("cx")), float(c.get("cy"))] for c in group.iter(SVG + "circle")]).reshape(-1, 2)


def texts(root):
    return ["".join(t.itertext()) for t in root.iter(SVG + "text")]
