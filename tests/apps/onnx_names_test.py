# SPDX-License-Identifier: BSD-3-Clause
"""Names of tensors that exporting has given twice, or taken away."""
import unittest

import h5py
import numpy as np

import onnx_files
import program
from onnx_files import node, value_info
from program import BAD_INPUT, DONE, USAGE


class Names(program.Case):
    def write(self, nodes, tensors, *outputs, lines=()):
        """A graph of x (N, 3) whose outputs are (N, 2), the first its prediction, and its problem file."""
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, tensors, [value_info("x", ("N", 3), "float64")],
            [value_info(name, ("N", 2), "float64") for name in outputs]))
        self.say(*lines)

    def say(self, *lines):
        (self.folder / "problem.toml").write_text("\n".join(
            ("[model]", 'kind = "onnx"', 'file = "model.onnx"', 'loss = "mse"', *lines, "[data]", 'file = "data.npz"',
             "")))

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        self.weights = {"w": random.normal(size=(3, 2)), "b": random.normal(size=2)}
        self.data = {"x": random.normal(size=(7, 3)), "target": random.normal(size=(7, 2))}
        np.savez(self.folder / "data.npz", **self.data)

    def analyze_one(self, checkpoint):
        done = self.run_program("analyze", checkpoint, "-p", "problem.toml", "-o", "out.h5", "--force", "--only",
                                "hessian", "--save-hessian")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        with h5py.File(self.folder / "out.h5") as file:
            names = [program.text(name) for name in file["parameter_name"]]
            return names, float(file["loss"][0]), file["hessian/matrix"][0]

    def expect_linear(self, checkpoint, names, weights):
        """The mean square of x w + b - target, and its Hessian in those of w and b that are `names`."""
        found, loss, hessian = self.analyze_one(checkpoint)
        self.assertEqual(found, names)
        rest = self.data["x"] @ weights["w"] + weights["b"] - self.data["target"]
        self.assertAlmostEqual(loss, (rest ** 2).mean(), delta=1e-14)
        slopes = {"w": np.kron(self.data["x"][:, :, None], np.eye(2)).reshape(7, 6, 2).transpose(0, 2, 1),
                  "b": np.broadcast_to(np.eye(2), (7, 2, 2))}
        jacobian = np.concatenate([slopes[name[0]] for name in names], axis=2).reshape(14, -1)
        np.testing.assert_allclose(hessian, 2 / 14 * jacobian.T @ jacobian, rtol=0, atol=1e-14)

    def test_another_name_of_a_parameter_is_that_parameter(self):
        self.write([node("Identity", ["w"], ["w_too"]), node("MatMul", ["x", "w_too"], ["xw"]),
                    node("Add", ["xw", "b"], ["y"])], self.weights, "y")
        other = {name: value + 1 for name, value in self.weights.items()}
        np.savez(self.folder / "other.npz", **other)
        for lines, names in (((), ["w", "b"]), (('parameters = ["w", "b"]',), ["w", "b"]),
                             (('parameters = ["w_too"]',), ["w"]), (('frozen = ["w"]',), ["b"]),
                             (('frozen = ["w_*"]',), ["b"]), (('frozen = ["b"]',), ["w"])):
            with self.subTest(lines):
                self.say(*lines)
                self.expect_linear("model.onnx", names, self.weights)
                self.expect_linear("other.npz", names, other)
        self.say('frozen = ["w_tool"]')
        self.refuses(USAGE, ("analyze", "other.npz", "-p", "problem.toml", "-o", "o.h5"),
                     "'w_tool' in 'frozen' is no tensor of", "did you mean 'w_too'?")
        # A checkpoint of its own name has a tensor of its own, and so has a problem file that says so.
        self.say()
        np.savez(self.folder / "both.npz", w_too=other["w"], **self.weights)
        self.assertEqual(self.analyze_one("both.npz")[0], ["w", "b", "w_too"])
        self.say('separate = ["w_too"]', 'frozen = ["w"]')
        self.expect_linear("model.onnx", ["b", "w_too"], self.weights)

    def test_what_a_tensor_is_tied_to_must_be_there(self):
        self.write([node("Gemm", ["x", "w", "b"], ["y"])], self.weights, "y", lines=['tied = ["w = v"]'])
        np.savez(self.folder / "other.npz", **self.weights)
        self.refuses(USAGE, ("analyze", "other.npz", "-p", "problem.toml", "-o", "o.h5"), "problem.toml:5: ",
                     "'v' in 'tied' is no tensor of")

    def test_a_merged_tensor_of_another_output_is_known(self):
        # Two heads whose biases were equal, as of zeros.
        tensors = {"w": self.weights["w"], "v": self.weights["w"] + 1, "a.bias": self.weights["b"]}
        self.write([node("Identity", ["a.bias"], ["b.bias"]), node("MatMul", ["x", "w"], ["xw"]),
                    node("Add", ["xw", "a.bias"], ["a"]), node("MatMul", ["x", "v"], ["xv"]),
                    node("Add", ["xv", "b.bias"], ["b"])], tensors, "a", "b", lines=['output = "a"'])
        np.savez(self.folder / "all.npz", **tensors, **{"b.bias": self.weights["b"]})
        np.savez(self.folder / "more.npz", **tensors, **{"c.bias": self.weights["b"]})
        for checkpoint in ("model.onnx", "all.npz"):
            names = self.analyze_one(checkpoint)[0]
            self.assertEqual(names, ["w", "a.bias"])
        self.refuses(BAD_INPUT, ("analyze", "more.npz", "-p", "problem.toml", "-o", "o.h5"),
                     "tensor c.bias is not in the graph of")

    def test_what_the_output_does_not_use(self):
        tensors = {**self.weights, "v": self.weights["w"]}
        self.write([node("MatMul", ["x", "w"], ["xw"]), node("Add", ["xw", "b"], ["y"]),
                    node("MatMul", ["x", "v"], ["z"])], tensors, "y", "z", lines=['output = "y"'])
        arguments = ("analyze", "all.npz", "-p", "problem.toml", "-o", "o.h5")
        np.savez(self.folder / "all.npz", **self.weights, v=tensors["v"], **{"l2.bias": self.weights["b"]})
        self.refuses(BAD_INPUT, arguments, "tensor l2.bias is not in the graph of",
                     'where the forward pass does not use it, a map can say so (--map): ignore = ["l2.bias"]')
        (self.folder / "map.toml").write_text('ignore = ["l2.bias"]\n')
        done = self.run_program(*arguments, "--map", "map.toml")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.say('output = "y"', 'frozen = ["v"]')
        self.refuses(USAGE, arguments, "'v' in 'frozen' is a tensor of", "none that the chosen output depends on")

    def test_a_map_that_ignores_what_the_graph_uses(self):
        self.write([node("MatMul", ["x", "w"], ["xw"]), node("Add", ["xw", "b"], ["y"])], self.weights, "y")
        np.savez(self.folder / "all.npz", w=self.weights["w"], b=2 * self.weights["b"])
        (self.folder / "map.toml").write_text('ignore = ["b"]\n')
        arguments = ("analyze", "all.npz", "-p", "problem.toml", "-o", "o.h5", "--force", "--map", "map.toml")
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, DONE)
        self.assertIn("computes with b as when the model was exported: the map of names ignores the checkpoint's own", done.stderr)
        self.assertNotIn("does not have", done.stderr)
        self.say('frozen = ["b"]')
        self.assertEqual(self.run_program(*arguments).stderr, "")

    def test_a_map_for_one_layer_alone_is_not_suggested(self):
        # As of a default export: r.weight has become something else, h has kept its name.
        self.write([node("MatMul", ["x", "onnx::MatMul_7"], ["z"]), node("Tanh", ["z"], ["s"]),
                    node("Gemm", ["s", "h.weight", "h.bias"], ["y"], transB=1)],
                   {"onnx::MatMul_7": self.weights["w"] * 2, "h.weight": self.weights["w"][:2],
                    "h.bias": self.weights["b"]}, "y")
        np.savez(self.folder / "all.npz", **{"r.weight": self.weights["w"], "h.weight": self.weights["w"][:2],
                                             "h.bias": self.weights["b"]})
        done = self.run_program("inspect", "all.npz", "-p", "problem.toml", "--write-map", "map.toml")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("no map was written", done.stderr)
        self.assertIn("tensor r.weight is not in the graph of", done.stdout)
        self.assertNotIn("--map", done.stdout)
        self.assertFalse((self.folder / "map.toml").exists())

    def test_no_map_is_offered_for_what_a_graph_itself_is_refused_for(self):
        self.write([node("MatMul", ["x", "w"], ["xw"]), node("ReduceMean", ["xw"], ["mean"], axes=[0]),
                    node("Sub", ["xw", "mean"], ["y"])], {"w": self.weights["w"]}, "y")
        done = self.run_program("analyze", "model.onnx", "-p", "problem.toml", "-o", "o.h5")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("samples would interact", done.stderr)
        self.assertNotIn("--map", done.stderr)

    def test_bounds_beyond_what_doubles_hold_are_the_graphs_own(self):
        # x[:, 1:] as tools write it that make initializers of constants.
        bounds = {"start": [1], "end": [2 ** 63 - 1], "axis": [1]}
        weights = {"w": self.weights["w"][:2], "b": self.weights["b"]}
        self.write([node("Slice", ["x", *bounds], ["s"]), node("MatMul", ["s", "w"], ["z"]),
                    node("Add", ["z", "b"], ["y"])],
                   {**weights, **{name: np.array(value) for name, value in bounds.items()}}, "y")
        np.savez(self.folder / "w.npz", **weights)
        rest = self.data["x"][:, 1:] @ weights["w"] + weights["b"] - self.data["target"]
        for checkpoint in ("model.onnx", "w.npz"):
            names, loss, _ = self.analyze_one(checkpoint)
            self.assertEqual(names, ["w", "b"])
            self.assertAlmostEqual(loss, (rest ** 2).mean(), delta=1e-14)
        for arguments in ((), ("-p", "problem.toml")):
            done = self.run_program("inspect", "model.onnx", *arguments)
            self.assertEqual((done.returncode, done.stderr), (DONE, ""))
            self.assertIn("its integer 9223372036854775807 is beyond 2^53", done.stdout)

    def test_what_no_node_uses_is_told(self):
        tensors = {**self.weights, "old": np.ones(3)}
        nodes = [node("MatMul", ["x", "w"], ["xw"]), node("Add", ["xw", "b"], ["y"])]
        self.write(nodes, tensors, "y")
        arguments = ("analyze", "model.onnx", "-p", "problem.toml", "-o", "o.h5", "--force", "--only", "hessian")
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, DONE)
        self.assertIn("no node uses old, which the checkpoint has: parameters without effect", done.stderr)
        self.assertIn("in the checkpoint, but no node uses it: without effect",
                      self.run_program("inspect", "model.onnx", "-p", "problem.toml").stdout)
        for line in ('frozen = ["old"]', 'parameters = ["*"]'):
            self.write(nodes, tensors, "y", lines=(line,))
            done = self.run_program(*arguments)
            self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.write(nodes, tensors, "y", lines=('frozen = ["w", "b"]',))
        self.refuses(USAGE, arguments, "[model] of kind 'onnx': 'frozen' leaves no parameter of 'y'")

    def test_a_copy_that_parameters_leave_out_is_told(self):
        # As Keras reads a variable: once by itself, once by an Identity.
        nodes = [node("MatMul", ["x", "w"], ["a"]), node("Identity", ["w"], ["read"]),
                 node("MatMul", ["x", "read"], ["c"]), node("Mul", ["a", "c"], ["y"])]
        arguments = ("analyze", "model.onnx", "-p", "problem.toml", "-o", "o.h5", "--force", "--only", "hessian")
        weights = {"w": self.weights["w"]}
        self.write(nodes, weights, "y", lines=('parameters = ["w"]',))
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, DONE)
        self.assertIn("computes with read, in the file the same tensor as a parameter (w), as a constant", done.stderr)
        for line in ('parameters = ["w"]\nfrozen = ["read"]', 'parameters = ["w", "read"]\nseparate = ["read"]',
                     'tied = ["read = w"]'):
            self.write(nodes, weights, "y", lines=(line,))
            done = self.run_program(*arguments)
            self.assertEqual((done.returncode, done.stderr), (DONE, ""), line)


if __name__ == "__main__":
    program.main()
