# SPDX-License-Identifier: BSD-3-Clause
"""Models of the kind "onnx" whose last bits decide: means, scales and constants of 32 bits in front of a jump; and what a
checkpoint holds for the constants of a graph."""
import h5py
import numpy as np

import onnx_files
import program
from onnx_files import node, value_info
from program import BAD_INPUT, DONE, INCONCLUSIVE

DOUBLE = 11  # as `to` of Cast


class Graphs(program.Case):
    def write(self, nodes, tensors, arrays, *lines, output=(), opset=13, loss="mse", inputs=("x",)):
        """A graph x -> y, with its data and problem file."""
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, tensors, [value_info(name, ("N", *arrays[name].shape[1:]), str(arrays[name].dtype)) for name in inputs],
            [value_info("y", ("N", *output), "float64")], opset))
        np.savez(self.folder / "data.npz", **arrays)
        (self.folder / "problem.toml").write_text("\n".join(
            ("[model]", 'kind = "onnx"', 'file = "model.onnx"', f'loss = "{loss}"', *lines, "[data]", 'file = "data.npz"', "")))

    def run_it(self, checkpoint="w.npz", expect=DONE):
        done = self.run_program("analyze", checkpoint, "-p", "problem.toml", "-o", "out.h5", "--force", "--only", "hessian")
        self.assertEqual(done.returncode, expect, done.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            return file["loss"][()], done.stderr

    def loss_of(self, *arguments, **options):
        self.write(*arguments, **options)
        np.savez(self.folder / "w.npz", w=np.array([3.0]))
        return self.run_it()[0][0]


class Jumps(Graphs):
    """Each jump falls on the right side, so that w is multiplied by 1, and its loss for targets of 0 is w^2 = 9."""

    def test_means_of_ones_are_one(self):
        ends = [node("Floor", ["m"], ["f"]), node("Mul", ["f", "w"], ["y"])]
        ones = lambda *shape: np.ones((4, *shape))  # noqa: E731
        w = {"w": np.array([3.0])}
        for first, shape, output in (
                (node("ReduceMean", ["x"], ["m"], axes=[1], keepdims=1), (49,), (1,)),
                (node("GlobalAveragePool", ["x"], ["m"]), (1, 49), (1, 1)),
                (node("AveragePool", ["x"], ["m"], kernel_shape=[49]), (1, 49), (1, 1)),
                (node("Mean", ["x"] * 49, ["m"]), (1,), (1,))):
            arrays = {"x": ones(*shape), "target": np.zeros((4, *output))}
            self.assertEqual(self.loss_of([first, *ends], w, arrays, output=output), 9)

    def test_scaled_products_of_ones_are_one(self):
        nodes = [node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), node("MatMul", ["x", "t"], ["m"]),
                 node("Mul", ["m", "s"], ["p"]), node("Floor", ["p"], ["f"]), node("Mul", ["f", "w"], ["y"])]
        arrays = {"x": np.ones((4, 12, 10)), "target": np.zeros((4, 12, 12))}
        self.assertEqual(self.loss_of(nodes, {"w": np.array([3.0]), "s": np.array([0.1])}, arrays, 'frozen = ["s"]',
                                      output=(12, 12)), 9)

    def test_constants_of_32_bits_whoever_holds_them(self):
        numbers = {"a": np.array([0.7], np.float32), "b": np.array([0.1], np.float32)}
        wanted = float(np.floor(numbers["a"] / numbers["b"])[0])
        self.assertNotEqual(wanted, np.floor(np.float64(numbers["a"][0]) / np.float64(numbers["b"][0])))
        nodes = [node("Div", ["a", "b"], ["d"]), node("Floor", ["d"], ["f"]), node("Cast", ["f"], ["g"], to=DOUBLE),
                 node("Mul", ["g", "w"], ["v"]), node("Mul", ["x", "v"], ["y"])]
        arrays = {"x": np.ones((4, 1)), "target": np.zeros((4, 1))}
        w = np.array([3.0])
        np.savez(self.folder / "all.npz", w=w, **numbers)
        for lines, checkpoint in ((('frozen = ["a", "b"]',), "w.npz"), (('frozen = ["a", "b"]',), "all.npz"),
                                  (('parameters = ["w"]',), "model.onnx"), (('parameters = ["w"]',), "w.npz")):
            self.loss_of(nodes, {"w": w, **numbers}, arrays, *lines, output=(1,))
            self.assertEqual(self.run_it(checkpoint)[0][0], (3 * wanted) ** 2, (lines, checkpoint))

    def test_thresholds_have_32_bits(self):
        above = float(np.float32(0.2))
        arrays = {"x": np.array([[above], [np.nextafter(above, 1)]]), "target": np.zeros((2, 1))}
        for first in (node("ThresholdedRelu", ["x"], ["t"], alpha=0.2), node("Shrink", ["x"], ["t"], lambd=0.2)):
            loss = self.loss_of([first, node("Mul", ["t", "w"], ["y"])], {"w": np.array([3.0])}, arrays, output=(1,))
            self.assertAlmostEqual(loss, (3 * above) ** 2 / 2, delta=1e-15)

    def test_comparisons_before_opset_7_align_at_an_axis(self):
        x = np.random.default_rng(1).normal(size=(5, 3, 3))
        c = np.array([-0.5, 0.0, 0.5])
        nodes = [node("Less", ["x", "c"], ["l"], axis=1, broadcast=1), node("Cast", ["l"], ["f"], to=DOUBLE),
                 node("Mul", ["f", "w"], ["y"], broadcast=1)]
        loss = self.loss_of(nodes, {"w": np.array([3.0]), "c": c}, {"x": x, "target": np.zeros((5, 3, 3))}, 'frozen = ["c"]',
                            output=(3, 3), opset=6)
        self.assertAlmostEqual(loss, 9 * (x < c[:, None]).mean(), delta=1e-14)


class Checkpoints(Graphs):
    def test_no_fractions_for_whole_numbers(self):
        nodes = [node("Gather", ["w", "i"], ["v"]), node("Mul", ["x", "v"], ["y"])]
        w = np.array([3.0, 4.0, 5.0])
        self.write(nodes, {"w": w, "i": np.array([0, 1])}, {"x": np.ones((4, 2)), "target": np.zeros((4, 2))}, output=(2,))
        np.savez(self.folder / "w.npz", w=w, i=np.array([2, 1]))
        self.assertEqual(self.run_it()[0][0], (25 + 16) / 2)
        for entry in (1.5, np.nan, 1e300):
            np.savez(self.folder / "bad.npz", w=w, i=np.array([0, entry]))
            self.refuses(BAD_INPUT, ("analyze", "bad.npz", "-p", "problem.toml", "-o", "other.h5"), "bad.npz", "tensor 'i'",
                         "whole numbers")

    def write_tied(self):
        nodes = [node("MatMul", ["x", "a"], ["m"]), node("Tanh", ["m"], ["h"]), node("MatMul", ["h", "b"], ["y"])]
        self.a = np.random.default_rng(2).normal(size=(3, 3))
        self.arrays = {"x": np.random.default_rng(3).normal(size=(4, 3)), "target": np.zeros((4, 3))}
        self.tied = nodes, {"a": self.a, "b": self.a + 1}, self.arrays

    def test_tied_tensors_that_are_not_finite_are_recorded(self):
        self.write_tied()
        self.write(*self.tied, 'tied = ["b = a"]', output=(3,))
        broken = self.a.copy()
        broken[1, 2] = np.nan
        for step, values in ((1, self.a), (2, broken)):
            np.savez(self.folder / f"step-{step}.npz", a=values, b=values)
        losses = self.run_it(".", expect=INCONCLUSIVE)[0]
        self.assertEqual(list(np.isnan(losses)), [False, True])

    def test_a_tie_of_no_tensor_is_told_of(self):
        self.write_tied()
        nodes = [node("MatMul", ["x", "a"], ["m"]), node("MatMul", ["m", "decoder"], ["y"])]
        self.write(nodes, {"a": self.a, "decoder": self.a + 1}, self.arrays, 'tied = ["decodr = a"]', output=(3,))
        np.savez(self.folder / "w.npz", a=self.a, decoder=self.a + 1)
        self.assertRegex(self.run_it()[1], r"'decodr' in 'tied' is no tensor .*did you mean 'decoder'\?\): it ties nothing")

    def test_an_input_may_be_the_target(self):
        self.write_tied()
        self.write(*self.tied, 'target = "x"', output=(3,))
        np.savez(self.folder / "w.npz", a=self.a, b=self.a + 1)
        x = self.arrays["x"]
        found = np.tanh(x @ self.a) @ (self.a + 1)
        self.assertAlmostEqual(self.run_it()[0][0], np.mean((found - x) ** 2), delta=1e-13)


if __name__ == "__main__":
    program.main()
