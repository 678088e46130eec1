# SPDX-License-Identifier: BSD-3-Clause
"""A perceptron as an ONNX file written by hand, for tests of what is said of graphs."""
import h5py
import numpy as np

import onnx_files
import program
from onnx_files import node, value_info
from program import BAD_INPUT, DONE


class Perceptron(program.Case):
    """A graph x -> A x + a -> tanh -> B h + b of known weights, and its problem file."""

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(3)
        # x (N, 3) -> hidden (N, 4) by A and a -> logits (N, 2) by B and b
        self.weights = {"A": random.normal(size=(4, 3)), "a": random.normal(size=4), "B": random.normal(size=(2, 4)),
                        "b": random.normal(size=2)}
        self.data = {"x": random.normal(size=(10, 3)), "target": np.arange(10) % 2}
        self.write_model()
        np.savez(self.folder / "weights.npz", **self.weights)
        np.savez(self.folder / "data.npz", **self.data)
        self.say()

    def write_model(self, batch="N", extra=(), inline=(), x="x", before=(), into=None):
        """With the nodes `before`, of which the first layer takes `into` instead of the input."""
        nodes = [node("Constant", [], [name], value=self.weights[name]) for name in inline] + list(before)
        nodes += [node("Gemm", [into or x, "A", "a"], ["sum"], transB=1), node("Tanh", ["sum"], ["hidden"]),
                  node("Gemm", ["hidden", "B", "b"], ["logits"], transB=1)]
        outputs = [value_info("logits", (batch, 2), "float64")] + [value_info(n, (batch, 4), "float64") for n in extra]
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, {name: weight for name, weight in self.weights.items() if name not in inline},
            [value_info(x, (batch, 3), "float64")], outputs))

    def say(self, *lines, loss="cross-entropy", tables=""):
        (self.folder / "problem.toml").write_text("\n".join(
            ("[model]", 'kind = "onnx"', 'file = "model.onnx"', f'loss = "{loss}"', *lines, tables,
             "[data]", 'file = "data.npz"', "")))

    def arguments(self, checkpoint="weights.npz"):
        return ("analyze", checkpoint, "-p", "problem.toml", "-o", "out.h5", "--force", "--only", "hessian",
                "--save-hessian")

    def run_it(self, checkpoint="weights.npz"):
        done = self.run_program(*self.arguments(checkpoint))
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            names = [program.text(name) for name in file["parameter_name"]]
            return names, float(file["loss"][0]), file["hessian/matrix"][0]

    def rejects(self, *mentions, code=BAD_INPUT, checkpoint="weights.npz"):
        self.refuses(code, self.arguments(checkpoint), *mentions)

    def save(self, name, **changes):
        arrays = {**(self.weights if name != "data.npz" else self.data), **changes}
        np.savez(self.folder / name, **{key: array for key, array in arrays.items() if array is not None})
