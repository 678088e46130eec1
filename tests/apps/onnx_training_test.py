# SPDX-License-Identifier: BSD-3-Clause
"""hesscope train for exported models: from the graph's own parameters, from checkpoints and from distributions."""
import importlib.util
import unittest

import h5py
import numpy as np

import onnx_files
import program
from onnx_files import node, value_info
from program import BAD_INPUT, DONE, FIXTURES, USAGE
from training import Rule

MODELS = FIXTURES / "onnx-models"
RULES = {"sgd": "momentum = 0.9", "adamw": "beta2 = 0.99\nweight-decay = 0.1", "sign": "", "lion": ""}
STEPS, RATE = 12, 0.02


def loss_of(theta, x, target):
    """Cross-entropy of x -> tanh(A x + a) -> B h + b, with theta = A, a, B, b; complex numbers pass through."""
    a_matrix, a, b_matrix, b = np.split(theta, [12, 16, 24])
    logits = np.tanh(x @ a_matrix.reshape(4, 3).T + a) @ b_matrix.reshape(2, 4).T + b
    return (np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(x)), target]).mean()


def gradient_of(theta, x, target):
    """By complex steps: exact to rounding."""
    gradient = np.empty(theta.size)
    for i in range(theta.size):
        shifted = theta.astype(complex)
        shifted[i] += 1e-30j
        gradient[i] = loss_of(shifted, x, target).imag / 1e-30
    return gradient


class Perceptron(program.Case):
    """A graph written by hand, whose training NumPy repeats."""

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(4)
        self.shapes = {"A": (4, 3), "a": (4,), "B": (2, 4), "b": (2,)}
        self.weights = {name: random.normal(size=shape) for name, shape in self.shapes.items()}
        self.x, self.target = random.normal(size=(10, 3)), np.arange(10) % 2
        nodes = [node("Gemm", ["x", "A", "a"], ["sum"], transB=1), node("Tanh", ["sum"], ["h"]),
                 node("Gemm", ["h", "B", "b"], ["logits"], transB=1)]
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, self.weights, [value_info("x", ("N", 3), "float64")], [value_info("logits", ("N", 2), "float64")]))
        np.savez(self.folder / "data.npz", x=self.x, target=self.target)

    def flat(self, tensors):
        return np.concatenate([np.ravel(tensors[name]) for name in self.shapes])

    def train(self, *tables, output="out", rule="sgd", extra="", monitor="", expect=DONE):
        (self.folder / "experiment.toml").write_text("\n".join((
            "[model]", 'kind = "onnx"', 'file = "model.onnx"', 'loss = "cross-entropy"', extra,
            "[data]", 'file = "data.npz"', *tables,
            "[training]", f"steps = {STEPS}", "checkpoint_every = 4", monitor,
            "[[run]]", 'name = "run"', f'rule = "{rule}"', RULES[rule], f"learning_rate = {RATE}")))
        done = self.run_program("train", "experiment.toml", "-o", output)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def checkpoint(self, step, output="out"):
        with h5py.File(self.folder / output / f"step-{step:06d}.h5") as file:
            return {name: file[name][()] for name in self.shapes}

    def test_every_rule_agrees_with_numpy(self):
        for name in RULES:
            with self.subTest(name):
                self.train(output=name, rule=name)
                theta, rule = self.flat(self.weights), Rule(26)
                np.testing.assert_array_equal(self.flat(self.checkpoint(0, name)), theta)
                for rule.t in range(1, STEPS + 1):
                    theta = theta - RATE * getattr(rule, name)(theta, gradient_of(theta, self.x, self.target))
                    if rule.t % 4 == 0:
                        np.testing.assert_allclose(self.flat(self.checkpoint(rule.t, name)), theta, rtol=1e-11)

    def test_what_is_trained_can_be_analyzed(self):
        self.train()
        self.analyze("out", problem="out/problem.toml")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual([program.text(name) for name in file["parameter_name"]], list(self.shapes))
            for row, step in enumerate((0, 4, 8, 12)):
                theta = self.flat(self.checkpoint(step))
                self.assertAlmostEqual(file["loss"][row], loss_of(theta, self.x, self.target), delta=1e-14)
        done = self.run_program("landscape", "out", "-p", "out/problem.toml", "-o", "plane.h5", "--directions", "pca",
                                "--grid", "5x5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "plane.h5") as file:
            self.assertEqual(file["landscape/trajectory_alpha"].shape, (4,))

    def test_where_it_starts(self):
        other = {name: value + 1 for name, value in self.weights.items()}
        np.savez(self.folder / "other.npz", **other)
        self.train("[initialization]", 'from_checkpoint = "other.npz"', output="other")
        np.testing.assert_array_equal(self.flat(self.checkpoint(0, "other")), self.flat(other))
        self.train("[initialization]", 'distribution = "constant"', "value = 0.5", output="constant")
        np.testing.assert_array_equal(self.flat(self.checkpoint(0, "constant")), 0.5)
        self.train('[initialization.blocks."B"]', 'distribution = "constant"', "value = 0.25", output="some")
        np.testing.assert_array_equal(self.flat(self.checkpoint(0, "some")),
                                      self.flat({**self.weights, "B": np.full((2, 4), 0.25)}))
        # What is frozen stays in the graph.
        self.train(extra='frozen = ["A"]', output="frozen")
        with h5py.File(self.folder / "frozen" / "step-000012.h5") as file:
            self.assertNotIn("A", file)
        self.analyze("frozen", problem="frozen/problem.toml")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual([program.text(name) for name in file["parameter_name"]], ["a", "B", "b"])

    def test_each_file_counts_its_own_targets(self):
        weights, ignored = np.array([0.5, 2.0]), -1
        random = np.random.default_rng(6)
        files = {"data.npz": (self.x, np.array([0, 1, ignored, 0, 0, 1, ignored, ignored, 0, 0])),
                 "held-out.npz": (random.normal(size=(7, 3)), np.array([1, 1, 0, ignored, 1, 1, 1]))}
        for name, (x, target) in files.items():
            np.savez(self.folder / name, x=x, target=target)

        def loss(tensors, x, target):
            """The weighted mean over the targets that count, as PyTorch has it."""
            kept = target != ignored
            logits = np.tanh(x[kept] @ tensors["A"].T + tensors["a"]) @ tensors["B"].T + tensors["b"]
            own = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(kept.sum()), target[kept]]
            return np.average(own, weights=weights[target[kept]])

        self.train("[evaluation]", 'file = "held-out.npz"', extra="class_weights = [0.5, 2]\nignore_index = -1",
                   monitor='history_every = 4\nmonitors = ["edge"]')
        with h5py.File(self.folder / "out/history.h5") as file:
            for row, step in enumerate(file["step"][()]):
                tensors = self.checkpoint(step)
                np.testing.assert_allclose(file["loss"][row], loss(tensors, *files["held-out.npz"]), rtol=1e-12)
                np.testing.assert_allclose(file["training_loss"][row], loss(tensors, *files["data.npz"]), rtol=1e-12)
        done = self.run_program("analyze", "out", "-p", "out/problem.toml", "-o", "result.h5", "--only", "hessian")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "result.h5") as result, h5py.File(self.folder / "out/history.h5") as history:
            for name in ("loss", "gradient_norm"):
                np.testing.assert_allclose(result[name], history[name], rtol=1e-12)

    def test_what_cannot_be(self):
        for tables, code, mentions in (
                (('[initialization.blocks."C*"]', 'distribution = "constant"', "value = 1"), USAGE, ("C*",)),
                (("[initialization]", "std = 1"), USAGE, ("experiment.toml:", "'std'")),
                (("[initialization]", 'from_checkpoint = "none.npz"'), BAD_INPUT, ("none.npz",))):
            done = self.train(*tables, output="bad", expect=code)
            for text in mentions:
                self.assertIn(text, done.stderr)
        self.assertIn("experiment.toml:5: ", self.train(extra='frozen = ["Q"]', output="bad", expect=USAGE).stderr)


class Statistics(program.Case):
    """Batch normalisation in evaluation mode: its statistics stay those of where training starts."""

    def train(self, start):
        (self.folder / "experiment.toml").write_text(f"""
            [model]
            kind = "onnx"
            file = "{MODELS / "resnet" / "model.onnx"}"
            loss = "cross-entropy"
            [data]
            file = "{MODELS / "resnet" / "eval.npz"}"
            {start}
            [training]
            steps = 3
            [[run]]
            name = "run"
            rule = "sgd"
            learning_rate = 0.01""")
        done = self.run_program("train", "experiment.toml", "-o", "out", "--force")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def loss(self, checkpoint, problem):
        self.analyze(checkpoint, "--only", "hessian", "--force", problem=problem)
        with h5py.File(self.folder / "out.h5") as file:
            return float(file["loss"][0])

    def test_are_the_graphs_or_the_checkpoints(self):
        problem = MODELS / "resnet" / "problem.toml"
        first = MODELS / "resnet" / "step-000000.npz"
        self.train(f'[initialization]\nfrom_checkpoint = "{first}"')
        with h5py.File(self.folder / "out" / "step-000003.h5") as file, np.load(first) as begin:
            moved = [name for name in begin.files if "running" in name]
            self.assertTrue(any(name in file for name in moved))
            for name in moved:
                if name in file:
                    np.testing.assert_array_equal(file[name][()], begin[name])
        self.assertEqual(self.loss("out/step-000000.h5", "out/problem.toml"), self.loss(first, problem))
        self.train("")
        with h5py.File(self.folder / "out" / "step-000003.h5") as file:
            self.assertFalse([name for name in file if "running" in name])
        self.assertEqual(self.loss("out/step-000000.h5", "out/problem.toml"),
                         self.loss(MODELS / "resnet" / "model.onnx", problem))


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch")
class PyTorch(program.Case):
    """A model that PyTorch exports and trains."""

    def test_sgd_with_momentum_in_float64(self):
        import torch
        from torch import nn
        torch.manual_seed(2)
        model = nn.Sequential(nn.Linear(3, 5), nn.LayerNorm(5), nn.GELU(), nn.Linear(5, 2)).double()
        x, target = torch.randn(20, 3, dtype=torch.float64), torch.arange(20) % 2
        model.eval()
        torch.onnx.export(model, (x[:1],), str(self.folder / "model.onnx"), input_names=["x"], output_names=["y"],
                          dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}}, opset_version=17,
                          do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
        np.savez(self.folder / "data.npz", x=x.numpy(), target=target.numpy())
        (self.folder / "experiment.toml").write_text("""
            [model]
            kind = "onnx"
            file = "model.onnx"
            loss = "cross-entropy"
            [data]
            file = "data.npz"
            [training]
            steps = 30
            [[run]]
            name = "run"
            rule = "sgd"
            momentum = 0.9
            learning_rate = 0.1""")
        done = self.run_program("train", "experiment.toml", "-o", "out")
        self.assertEqual(done.returncode, DONE, done.stderr)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for _ in range(30):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), target).backward()
            optimizer.step()
        with h5py.File(self.folder / "out" / "step-000030.h5") as file:
            for name, values in model.state_dict().items():
                np.testing.assert_allclose(file[name][()], values.numpy(), rtol=0, atol=1e-11)


if __name__ == "__main__":
    program.main()
