# SPDX-License-Identifier: BSD-3-Clause
"""Models of the kind "onnx": what a problem file may say of a graph, its tensors and its arrays."""
import importlib.util
import time
import unittest

import h5py
import numpy as np

import onnx_files
import program
from onnx_files import node, value_info
from onnx_perceptron import Perceptron
from program import BAD_INPUT, DONE, USAGE


class Settings(Perceptron):
    """What a problem file may say of a graph, and what is said where that does not fit."""

    def test_the_loss_is_that_of_numpy(self):
        names, loss, hessian = self.run_it()
        self.assertEqual((names, hessian.shape), (["A", "a", "B", "b"], (26, 26)))
        hidden = np.tanh(self.data["x"] @ self.weights["A"].T + self.weights["a"])
        logits = hidden @ self.weights["B"].T + self.weights["b"]
        each = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(10), self.data["target"]]
        self.assertAlmostEqual(loss, each.mean(), delta=1e-14)

    def test_keys_that_say_nothing(self):
        self.say("parameters = []")
        self.rejects("'parameters' names none; leave it out for all", code=USAGE)
        self.say("batch = 1")
        self.rejects("input 'x' has a symbol for its number of samples", "leave it out")
        self.say("class_weights = []")
        self.rejects("'class_weights' holds no number; leave it out", code=USAGE)
        self.say('target = "target"', loss="output")
        self.rejects("'target' is not for loss = \"output\"", "leave it out", code=USAGE)

    def test_a_tensor_that_the_graph_lacks(self):
        self.save("more.npz", C=np.zeros((2, 2)))
        self.rejects("more.npz", "tensor C is not in the graph of", "model.onnx", "tied", checkpoint="more.npz")

    def test_what_the_checkpoint_lacks_is_a_constant(self):
        self.save("less.npz", A=None, a=None)
        done = self.run_program(*self.arguments("less.npz"))
        self.assertIn("model.onnx computes with A, a, which the checkpoint does not have", done.stderr)
        self.assertIn("do_constant_folding=False", done.stderr)
        names, _, hessian = self.run_it("less.npz")
        self.assertEqual((names, hessian.shape), (["B", "b"], (10, 10)))
        self.say('frozen = ["A", "a"]')
        done = self.run_program(*self.arguments("less.npz"))
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        np.savez(self.folder / "other.npz", C=np.zeros(3))
        self.rejects("C", checkpoint="other.npz")

    def test_a_shape_that_is_not_the_graphs(self):
        self.save("turned.npz", A=self.weights["A"].T)
        self.rejects("turned.npz", "'A'", "(3, 4)", "(4, 3)", checkpoint="turned.npz")

    def test_tied_tensors(self):
        self.save("tied.npz", C=self.weights["B"])
        self.say('tied = ["C = B"]')
        self.assertEqual(self.run_it("tied.npz")[0], ["A", "a", "B", "b"])
        self.save("untied.npz", C=self.weights["B"] + 1)
        self.rejects("untied.npz", "'C' and 'B' differ", checkpoint="untied.npz")
        # Every checkpoint is looked at, not the first alone.
        done = self.run_program("analyze", "tied.npz", "untied.npz", "-p", "problem.toml", "-o", "out.h5", "--force",
                                "--order", "given")
        self.assertEqual((done.returncode, "'C' and 'B' differ" in done.stderr), (BAD_INPUT, True), done.stderr)
        self.say('tied = ["C"]')
        self.rejects("NAME = OTHER", checkpoint="tied.npz", code=USAGE)
        self.say('tied = ["C = B", "B = C"]')
        self.rejects("stands for itself", checkpoint="tied.npz", code=USAGE)
        # One that is tied to a tied one stands for what that does.
        self.save("chain.npz", C=self.weights["B"], D=self.weights["B"])
        self.say('tied = ["D = C", "C = B"]')
        self.assertEqual(self.run_it("chain.npz")[0], ["A", "a", "B", "b"])
        # The copy alone is not taken for a tensor that is as it was when exported.
        self.save("copy.npz", B=None, C=self.weights["B"])
        self.say('tied = ["C = B"]')
        self.rejects("'C' is there, which is tied to 'B', but that is not", checkpoint="copy.npz")

    def twice_the_head(self):
        """The graph with B under a second name, as exporters write a tied tensor: x -> ... -> logits -> (C B^T)."""
        self.weights["C"] = self.weights["B"].copy()
        nodes = [node("Gemm", ["x", "A", "a"], ["sum"], transB=1), node("Tanh", ["sum"], ["hidden"]),
                 node("Gemm", ["hidden", "B", "b"], ["half"], transB=1), node("Identity", ["B"], ["C"]),
                 node("MatMul", ["half", "C"], ["back"]), node("Gemm", ["back", "B", "b"], ["logits"], transB=1)]
        own = {name: value for name, value in self.weights.items() if name != "C"}
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, own, [value_info("x", ("N", 3), "float64")], [value_info("logits", ("N", 2), "float64")]))

    def test_tensors_that_are_equal_everywhere_may_be_tied(self):
        self.twice_the_head()
        self.save("step-1.npz")
        self.save("step-2.npz", **{name: 2 * value for name, value in self.weights.items()})
        self.save("step-3.npz", C=self.weights["C"] + 1)
        warning = "tensors 'B' and 'C' are equal to the last bit in all checkpoints"

        def run(*checkpoints):
            done = self.run_program("analyze", *checkpoints, "-p", "problem.toml", "-o", "out.h5", "--force", "--only",
                                    "hessian")
            self.assertEqual(done.returncode, DONE, done.stderr)
            with h5py.File(self.folder / "out.h5") as file:
                return done.stderr, [program.text(name) for name in file["parameter_name"]]

        text, names = run("step-1.npz", "step-2.npz")
        self.assertIn(warning, text)
        self.assertIn('tied = ["C = B"]', text)
        self.assertEqual(names, ["A", "a", "B", "b", "C"])
        self.assertNotIn(warning, run("step-1.npz", "step-3.npz")[0])
        self.say('tied = ["C = B"]')
        self.assertEqual(run("step-1.npz", "step-2.npz"), ("", ["A", "a", "B", "b"]))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch")
    def test_tensors_of_one_storage_are_tied(self):
        import torch
        self.twice_the_head()
        state = {name: torch.tensor(value) for name, value in self.weights.items()}
        torch.save(state, self.folder / "apart.pt")
        torch.save({**state, "C": state["B"]}, self.folder / "tied.pt")
        names, apart_loss, apart = self.run_it("apart.pt")
        self.assertEqual(names, ["A", "a", "B", "b", "C"])
        names, loss, tied = self.run_it("tied.pt")
        self.assertEqual((names, loss), (["A", "a", "B", "b"], apart_loss))
        # The chain rule: theta -> (theta, its B once more).
        spread = np.vstack([np.eye(26), np.eye(26)[16:24]])
        np.testing.assert_allclose(tied, spread.T @ apart @ spread, rtol=0, atol=1e-13)
        self.say('tied = ["C = B"]')
        np.testing.assert_array_equal(self.run_it("apart.pt")[2], tied)
        self.say('tied = ["B = C"]')  # the other way round: C is the parameter
        names, loss, _ = self.run_it("tied.pt")
        self.assertEqual((names, loss), (["A", "a", "b", "C"], apart_loss))

    def test_constants_of_32_bits_jump_where_32_bits_do(self):
        # As T5 puts distances into buckets: 8 log(n / 8) / log(16) is a whole number in 32 bits, and just below in 64.
        number = np.array([16, 32, 64], dtype=np.int64)
        single = {"eight": np.float32(8), "width": np.log(np.float32(16))}
        nodes = [node("Cast", ["number"], ["n"], to=1), node("Div", ["n", "eight"], ["share"]),
                 node("Log", ["share"], ["log"]), node("Div", ["log", "width"], ["part"]),
                 node("Mul", ["part", "eight"], ["place"]), node("Cast", ["place"], ["bucket"], to=7),
                 node("Gather", ["T", "bucket"], ["rows"], axis=0), node("MatMul", ["x", "rows"], ["logits"])]
        table = np.random.default_rng(3).normal(size=(8, 2))
        inputs, outputs = [value_info("x", ("N", 3), "float64")], [value_info("logits", ("N", 2), "float64")]
        np.savez(self.folder / "weights.npz", T=table)
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, {"T": table, "number": number, **{k: np.array(v) for k, v in single.items()}}, inputs, outputs))
        self.say('frozen = ["number", "eight", "width"]')
        loss = self.run_it()[1]
        logits = self.data["x"] @ table[[2, 4, 6]]
        each = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(10), self.data["target"]]
        self.assertAlmostEqual(loss, each.mean(), delta=1e-14)

    def test_frozen_and_chosen_parameters(self):
        whole = self.run_it()[2]
        for line in ('frozen = ["A", "a"]', 'parameters = ["B", "b"]', 'parameters = ["*"]\nfrozen = ["A*", "a"]'):
            with self.subTest(line):
                self.say(line)
                names, _, hessian = self.run_it()
                self.assertEqual(names, ["B", "b"])
                np.testing.assert_allclose(hessian, whole[16:, 16:], rtol=0, atol=1e-14)
        self.say('frozen = ["*"]')
        self.rejects("problem.toml:5: [model] of kind 'onnx': 'frozen' leaves no parameter of 'logits'", code=USAGE)
        for key in ("frozen", "parameters"):
            self.say(f'{key} = ["Q*"]')
            self.rejects(f"problem.toml:5: [model] of kind 'onnx': 'Q*' in '{key}' is no tensor of", "model.onnx",
                         code=USAGE)
        self.say("class_weights = [1, 2, 3]")  # known to be too many once the graph is
        self.rejects("problem.toml:5: 'class_weights' has 3 numbers", code=USAGE)
        self.save("data.npz", target=np.zeros((10, 2)))
        self.say('frozen = ["A"]', "pos_weight = [1, 2, 3]", loss="bce-with-logits")
        self.rejects("problem.toml:6: 'pos_weight' has 3 numbers", code=USAGE)

    def test_what_is_frozen_may_be_missing(self):
        # The graph's own where a checkpoint has none: whichever comes first.
        other = {name: value + 1 for name, value in self.weights.items()}
        np.savez(self.folder / "step-2.npz", **other)
        self.say('frozen = ["A", "a"]')
        losses = {}
        for kept in ((), ("A",), ("A", "a")):
            np.savez(self.folder / "step-1.npz", **{name: self.weights[name] for name in (*kept, "B", "b")})
            for order in ("1 2", "2 1"):
                names = [f"step-{step}.npz" for step in order.split()]
                done = self.run_program("analyze", *names, "-p", "problem.toml", "-o", "out.h5", "--force", "--only",
                                        "hessian", "--order", "given")
                self.assertEqual(done.returncode, DONE, done.stderr)
                with h5py.File(self.folder / "out.h5") as file:
                    for name, loss in zip(names, file["loss"][()]):
                        self.assertEqual(losses.setdefault(name, loss), loss)
        self.assertNotEqual(losses["step-1.npz"], losses["step-2.npz"])
        # A parameter of the second that is a constant of the graph for the first is another matter.
        self.say()
        self.save("step-1.npz", A=None)
        done = self.run_program("analyze", "step-1.npz", "step-2.npz", "-p", "problem.toml", "-o", "out.h5", "--force")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("step-2.npz: tensor 'A'", done.stderr)

    def test_an_array_of_another_name(self):
        self.save("data.npz", x=None, points=self.data["x"])
        self.rejects("data.npz: no array 'x' for the input 'x' of", "[model.inputs] x = \"ARRAY\"")
        self.say(tables='[model.inputs]\nx = "points"')
        self.assertEqual(self.run_it()[0], ["A", "a", "B", "b"])
        self.save("data.npz", points=self.data["x"])
        self.write_model(x="input.1")
        self.say()
        self.rejects("[model.inputs] 'input.1' = \"ARRAY\"")
        self.say(tables="[model.inputs]\n'input.1' = \"points\"")
        self.assertEqual(self.run_it()[0], ["A", "a", "B", "b"])
        self.write_model()
        self.say(tables='[model.inputs]\nX = "points"')
        self.rejects("'X' in 'inputs' is no input of", "model.onnx", "did you mean 'x'?", code=USAGE)
        self.say()
        self.save("data.npz", target=None, y=self.data["target"])
        self.rejects("data.npz: no array 'target' for the targets of the loss; the file holds x, y. Where names differ,"
                     " say so in the problem file: [model] target = \"ARRAY\"")
        self.say('target = "y"')
        self.assertEqual(self.run_it()[0], ["A", "a", "B", "b"])

    def test_a_loss_that_is_none(self):
        self.say(loss="bce")
        self.rejects("did you mean 'bce-with-logits'?); cross-entropy and bce-with-logits take logits", code=USAGE)

    def test_one_of_several_outputs(self):
        self.write_model(extra=["hidden"])
        self.rejects("the outputs logits, hidden", 'output = "logits"')
        self.say('output = "logit"')
        self.rejects("no output 'logit'", "did you mean 'logits'?")
        self.say('output = "logits"')
        whole = self.run_it()
        self.assertEqual(whole[0], ["A", "a", "B", "b"])
        self.save("data.npz", target=np.zeros((10, 4)))
        self.say('output = "hidden"', loss="mse")
        names, loss, hessian = self.run_it()
        hidden = np.tanh(self.data["x"] @ self.weights["A"].T + self.weights["a"])
        self.assertAlmostEqual(loss, (hidden ** 2).mean(), delta=1e-15)

    def test_a_graph_of_one_sample(self):
        whole = self.run_it()
        self.write_model(batch=1)
        self.rejects("input 'x'", "exported for a batch of 1", "dynamic_axes", "batch = 1")
        self.say("batch = 1")
        names, loss, hessian = self.run_it()
        self.assertEqual((names, loss), whole[:2])
        np.testing.assert_array_equal(hessian, whole[2])
        self.write_model(batch=5)
        self.rejects("input 'x'", "batch of 1")
        self.say()
        self.rejects("input 'x'", "exported for a batch of 5")

    def test_samples_along_another_axis_than_the_first(self):
        names, loss, hessian = self.run_it()
        nodes = [node("Gemm", ["A", "x"], ["Ax"]), node("Add", ["Ax", "column"], ["sum"]),
                 node("Tanh", ["sum"], ["hidden"]), node("MatMul", ["B", "hidden"], ["Bh"]),
                 node("Add", ["Bh", "b"], ["logits"])]
        tensors = {"A": self.weights["A"], "column": self.weights["a"].reshape(4, 1), "B": self.weights["B"],
                   "b": self.weights["b"].reshape(2, 1)}
        np.savez(self.folder / "columns.npz", **tensors)
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, tensors, [value_info("x", (3, "N"), "float64")], [value_info("logits", (2, "N"), "float64")]))
        found = self.run_it("columns.npz")
        self.assertEqual(found[0], ["A", "column", "B", "b"])
        self.assertAlmostEqual(found[1], loss, delta=1e-15)
        np.testing.assert_allclose(found[2], hessian, rtol=0, atol=1e-15)
        self.save("data.npz", x=self.data["x"].T)
        self.rejects("input 'x' has length 3 along axis 0", "has 10", "its samples are along axis 1",
                     checkpoint="columns.npz")

    def test_products_of_constants_that_would_take_a_minute(self):
        # 27e9 multiplications, by a file of a few bytes
        nodes = [node("ConstantOfShape", ["shape"], ["large"]), node("MatMul", ["large", "large"], ["product"]),
                 node("ReduceSum", ["product"], ["sum"], keepdims=0), node("MatMul", ["x", "B"], ["scores"]),
                 node("Add", ["scores", "sum"], ["logits"])]
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, {"B": self.weights["A"].T[:, :2].copy(), "shape": np.array([3000, 3000])},
            [value_info("x", ("N", 3), "float64")], [value_info("logits", ("N", 2), "float64")]))
        np.savez(self.folder / "weights.npz", B=self.weights["A"].T[:, :2])
        begin = time.monotonic()
        self.rejects("(MatMul, opset 13)", "27000000000 multiplications", "Store the result in the model")
        self.assertLess(time.monotonic() - begin, 20)

    def test_arrays_of_a_wrong_shape(self):
        self.save("data.npz", x=self.data["x"][:, :2])
        self.rejects("input 'x' has length 3 along axis 1", "data.npz", "has 2")
        self.save("data.npz", x=self.data["x"][:, :, None])
        self.rejects("input 'x' has 2 axes", "has 3")
        self.save("data.npz", target=np.zeros((10, 3)))
        self.rejects("data.npz", "'target'", "(samples, 3)", "(samples, 2)")
        self.save("data.npz", target=np.full(10, 2))
        self.rejects("data.npz", "'target'", "expected a class index 0 ... 1, found 2")
        self.save("data.npz", target=np.arange(9) % 2)
        self.rejects("data.npz", "9", "10")

    def test_keys_that_the_loss_does_not_take(self):
        self.save("data.npz", target=np.zeros((10, 2)))
        for key, value, loss in (("label_smoothing", 0.1, "mse"), ("class_weights", [1.0, 2.0], "huber"),
                                 ("pos_weight", [2.0], "cross-entropy"), ("delta", 0.5, "mse"),
                                 ("ignore_index", 0, "bce-with-logits"), ("label_smoothing", 0.1, "nll")):
            with self.subTest(key=key, loss=loss):
                self.say(f"{key} = {value}", loss=loss)
                self.rejects("problem.toml:5: ", f"'{key}' is not for loss = \"{loss}\"", code=USAGE)
        self.say(loss="hinge")
        self.rejects("hinge", "cross-entropy", code=USAGE)
        self.say("activation = 1")
        self.rejects("activation", code=USAGE)
        self.say(loss="output")
        self.rejects("(samples, 2)", "one number for each sample")


if __name__ == "__main__":
    program.main()
