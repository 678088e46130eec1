# SPDX-License-Identifier: BSD-3-Clause
"""Tensors that were equal when a model was exported, and are two, or that are one, turned."""
import h5py
import numpy as np

import onnx_files
import program
from onnx_files import node, value_info
from program import BAD_INPUT, DONE


class Merged(program.Case):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(7)
        self.data = {"x": self.normal(7, 3), "target": self.normal(7, 2)}
        self.save("data", self.data)
        self.head = {"o.weight": self.normal(3, 2), "o.bias": self.normal(2)}

    def normal(self, *shape):
        return self.random.normal(size=shape)

    def save(self, name, arrays):
        np.savez(self.folder / f"{name}.npz", **arrays)

    def write(self, nodes, tensors, *inputs):
        """A graph of x (N, 3), whose "h" (N, 3) goes through the head."""
        nodes = [*nodes, node("MatMul", ["h", "o.weight"], ["ho"]), node("Add", ["ho", "o.bias"], ["y"])]
        self.write_graph(nodes, {**tensors, **self.head}, value_info("x", ("N", 3), "float64"), *inputs)

    def write_graph(self, nodes, tensors, *inputs):
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, tensors, inputs, [value_info("y", ("N", 2), "float64")]))
        self.say()

    def say(self, *lines, loss="mse"):
        (self.folder / "problem.toml").write_text("\n".join(
            ("[model]", 'kind = "onnx"', 'file = "model.onnx"', f'loss = "{loss}"', *lines, "[data]",
             'file = "data.npz"', "")))

    def analyzed(self, checkpoint, *arguments):
        """Names of parameters, loss, Hessian, and what was warned of."""
        done = self.run_program("analyze", checkpoint, "-p", "problem.toml", "-o", "out.h5", "--force", "--only",
                                "hessian", "--save-hessian", *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            names = [program.text(name) for name in file["parameter_name"]]
            return names, float(file["loss"][0]), file["hessian/matrix"][0], done.stderr

    def expect_loss(self, checkpoint, hidden, names):
        """The loss behind these h; gives what was warned of."""
        found, loss, _, warned = self.analyzed(checkpoint)
        self.assertEqual(sorted(found), sorted([*names, *self.head]))
        rest = hidden @ self.head["o.weight"] + self.head["o.bias"] - self.data["target"]
        self.assertAlmostEqual(loss, (rest ** 2).mean(), delta=1e-14 * (1 + loss))
        return warned

    def test_statistics_that_were_equal_to_weights_stay_as_they_were(self):
        self.write([node("Identity", ["bn.weight"], ["bn.running_var"]),
                    node("Identity", ["bn.bias"], ["bn.running_mean"]),
                    node("BatchNormalization", ["x", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"],
                         ["h"], epsilon=0.5)], {"bn.weight": np.ones(3), "bn.bias": np.zeros(3)})
        weights = {"bn.weight": self.normal(3), "bn.bias": self.normal(3)}  # of a variance some were below 0
        self.save("alone", {**weights, **self.head})
        hidden = self.data["x"] * weights["bn.weight"] / np.sqrt(1.5) + weights["bn.bias"]
        for lines in ((), ('frozen = ["bn.running_*"]',)):
            self.say(*lines)
            warned = self.expect_loss("alone.npz", hidden, weights)
            self.assertEqual("bn.running_mean" in warned and "averages of batch normalisation" in warned, not lines)
        statistics = {"bn.running_mean": self.normal(3), "bn.running_var": self.normal(3) ** 2}
        self.say()
        self.save("all", {**weights, **statistics, **self.head})
        hidden = ((self.data["x"] - statistics["bn.running_mean"]) * weights["bn.weight"]
                  / np.sqrt(statistics["bn.running_var"] + 0.5) + weights["bn.bias"])
        self.assertEqual(self.expect_loss("all.npz", hidden, weights), "")

    def test_a_constant_that_was_equal_to_a_parameter_is_asked_about(self):
        self.write([node("Identity", ["ln.weight"], ["sc.scale"]), node("Mul", ["x", "ln.weight"], ["g"]),
                    node("Tanh", ["g"], ["t"]), node("Mul", ["t", "sc.scale"], ["h"])], {"ln.weight": np.ones(3)})
        weights = {"ln.weight": self.normal(3)}
        self.save("alone", {**weights, **self.head})
        once = np.tanh(self.data["x"] * weights["ln.weight"])
        warned = self.expect_loss("alone.npz", once * weights["ln.weight"], weights)
        for words in ("sc.scale, which the checkpoint does not have, was equal to a parameter",
                      "sc.scale is taken for ln.weight", 'tied = ["sc.scale = ln.weight"]'):
            self.assertIn(words, warned)
        for line, hidden in (('tied = ["sc.scale = ln.weight"]', once * weights["ln.weight"]),
                             ('separate = ["sc.scale"]', once), ('frozen = ["sc.scale"]', once),
                             ('parameters = ["ln.*", "o.*"]', once)):
            with self.subTest(line):
                self.say(line)
                self.assertEqual(self.expect_loss("alone.npz", hidden, weights), "")

    def test_a_matrix_tied_to_its_transpose(self):
        weight = {"enc": self.normal(3, 3)}
        encoded = np.tanh(self.data["x"] @ weight["enc"])
        nodes = [node("MatMul", ["x", "enc"], ["e"]), node("Tanh", ["e"], ["t"]), node("MatMul", ["t", "dec"], ["h"])]
        turned, same, even = weight["enc"].T, weight["enc"], weight["enc"] + weight["enc"].T
        self.save("turned", {**weight, "dec": turned, **self.head})
        self.save("same", {**weight, "dec": same, **self.head})
        self.save("even", {"enc": even, "dec": even, **self.head})
        # The graph's own numbers say nothing, whether they are others or symmetric.
        for exported in ({"enc": self.normal(3, 3), "dec": self.normal(3, 3)}, {"enc": np.eye(3), "dec": np.eye(3)}):
            self.write(nodes, exported)
            self.say('tied = ["dec = enc"]')
            self.assertEqual(self.expect_loss("turned.npz", encoded @ turned, weight), "")
            self.assertEqual(self.expect_loss("same.npz", encoded @ same, weight), "")
            self.assertIn("'dec' is taken for 'enc' as it is, not transposed", self.analyzed("even.npz")[3])
        # Its numbers say that it turns the matrix, or does not.
        for exported, fits, other in ((turned, "turned", "same"), (same, "same", "turned")):
            self.write(nodes, {"enc": same, "dec": exported})
            self.say('tied = ["dec = enc"]')
            self.assertEqual(self.expect_loss(f"{fits}.npz", encoded @ exported, weight), "")
            self.assertEqual(self.analyzed("even.npz")[3], "")
            self.refuses(BAD_INPUT, ("analyze", f"{other}.npz", "-p", "problem.toml", "-o", "o.h5"),
                         "the graph is of another model")

    def test_a_map_is_not_made_by_a_symmetric_matrix(self):
        self.write([node("MatMul", ["x", "onnx::MatMul_9"], ["h"])], {"onnx::MatMul_9": np.eye(3)})
        self.save("first", {"enc.weight": np.eye(3), **self.head})
        done = self.run_program("inspect", "first.npz", "-p", "problem.toml", "--write-map", "map.toml")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("'enc.weight' is a symmetric matrix", done.stdout + done.stderr)
        self.assertFalse((self.folder / "map.toml").exists())

    def test_truth_values_are_0_or_1(self):
        self.write([node("Cast", ["mask"], ["m"], to=11), node("Mul", ["x", "m"], ["h"])], {},
                   value_info("mask", ("N", 3), "bool"))
        self.save("head", self.head)
        mask = self.random.integers(0, 2, size=(7, 3)).astype(np.uint8)
        mask[2, 1] = 1
        self.save("data", {**self.data, "mask": mask})
        self.assertEqual(self.expect_loss("head.npz", self.data["x"] * mask, {}), "")
        self.save("data", {**self.data, "mask": 255 * mask})
        self.refuses(BAD_INPUT, ("analyze", "head.npz", "-p", "problem.toml", "-o", "o.h5"),
                     "array 'mask', sample", "expected a whole number 0 ... 1, as input 'mask' is bool, found 255")

    def test_whole_numbers_are_those_of_their_type(self):
        self.save("head", self.head)
        for kind, count in (("uint32", 3_000_000_000), ("int64", -5_000_000_000), ("int64", 2**53)):
            self.write([node("Cast", ["counts"], ["c"], to=11), node("Mul", ["c", "small"], ["m"]),
                        node("Mul", ["x", "m"], ["h"])], {"small": np.array(1e-9)},
                       value_info("counts", ("N", 3), kind))
            counts = np.full((7, 3), count, dtype=kind)
            self.save("data", {**self.data, "counts": counts})
            self.expect_loss("head.npz", self.data["x"] * (counts * 1e-9), {})

    def test_what_a_module_has_and_the_checkpoint_lacks_is_warned_of(self):
        self.write([node("Mul", ["x", "0.alpha"], ["h"])], {"0.alpha": np.array(2.0)})
        warned = self.expect_loss("model.onnx", 2 * self.data["x"], {})
        self.assertIn("computes with 0.alpha: single numbers", warned)
        self.write([node("Add", ["x", "ln.bias"], ["h"])], {"ln.bias": np.zeros(3)})
        self.save("head", self.head)
        warned = self.expect_loss("head.npz", self.data["x"], {})
        self.assertIn("computes with ln.bias, which the checkpoint does not have", warned)

    def test_a_loss_of_the_parameters_alone(self):
        # Rosenbrock's function of (u, v).
        self.write_graph([node("Mul", ["u", "u"], ["uu"]), node("Sub", ["v", "uu"], ["d"]), node("Mul", ["d", "d"], ["dd"]),
                          node("Mul", ["dd", "hundred"], ["first"]), node("Sub", ["one", "u"], ["e"]),
                          node("Mul", ["e", "e"], ["ee"]), node("Add", ["first", "ee"], ["y"])],
                         {"u": np.array([-1.2]), "v": np.array([1.0]), "one": np.array([1.0]),
                          "hundred": np.array([100.0])})
        self.say('parameters = ["u", "v"]', loss="output")
        names, loss, hessian, warned = self.analyzed("model.onnx")
        self.assertEqual((names, warned), (["u", "v"], ""))
        self.assertAlmostEqual(loss, 24.2, delta=1e-12)
        np.testing.assert_allclose(hessian, [[1330, 480], [480, 200]], rtol=1e-14)


if __name__ == "__main__":
    program.main()
