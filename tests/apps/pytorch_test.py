# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints as torch.save writes them: parts of them by --key, and Adam's state in them.

The checkpoints are those of tests/tensors/make_torch_fixtures.py: a perceptron 2-3-2. PyTorch is not needed.
"""
import json

import h5py
import numpy as np

import program
from program import BAD_INPUT, DONE, FIXTURES, SOURCE

TORCH = SOURCE / "tests" / "tensors" / "torch"
KEY = "model_state_dict"
PROBLEM = """[model]
kind = "mlp"
activation = "tanh"
loss = "cross-entropy"
[data]
file = "points.npz"
"""


def tensors(name, prefix=""):
    with np.load(TORCH / f"{name}.npz") as file:
        return {key[len(prefix):]: file[key] for key in file.files if key.startswith(prefix)}


def groups(path):
    with h5py.File(path) as file:
        found = {}
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
        return found


class PyTorch(program.Case):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        np.savez(self.folder / "points.npz", inputs=random.normal(size=(20, 2)), target=np.arange(20) % 2)
        (self.folder / "problem.toml").write_text(PROBLEM)

    def refuses(self, *arguments, problem="problem.toml"):
        done = self.analyze(*arguments, problem=problem, expect=BAD_INPUT)
        self.assertNotIn("out.h5", self.files())
        return done.stderr

    def assert_same_results(self, first, second, *names):
        one, other = groups(self.folder / first), groups(self.folder / second)
        compared = {name for name in one if name.startswith(names)}
        self.assertEqual(compared, {name for name in other if name.startswith(names)})
        self.assertTrue(compared)
        for name in compared:
            self.assertEqual(one[name].tobytes(), other[name].tobytes(), name)
        return one

    def test_a_part_of_a_training_checkpoint(self):
        plain = self.write_checkpoint("plain.npz", {**tensors("training", KEY + "."), "epoch": np.array(3)})
        self.analyze(TORCH / "training.pt", "--key", KEY, problem="problem.toml")
        self.analyze(plain, output="plain.h5", problem="problem.toml")
        self.assert_same_results("out.h5", "plain.h5", "loss", "gradient_norm", "hessian", "spectrum", "condition")
        with h5py.File(self.folder / "out.h5") as file:
            history = file.attrs["history"]
        self.assertIn(f" --key {KEY}", history.decode() if isinstance(history, bytes) else history)

    def test_a_key_works_for_every_format(self):
        state = tensors("training", KEY + ".")
        self.write_checkpoint("deep.npz", {f"net/{name}": array for name, array in state.items()})
        with h5py.File(self.folder / "deep.h5", "w") as file:
            for name, array in state.items():
                file[f"net/{name}"] = array
        for path in ("deep.npz", "deep.h5"):
            with self.subTest(path=path):
                self.assertIn("--key net", self.refuses(path))
                self.analyze(path, "--key", "net", "--only", "condition", output=f"{path}.out", problem="problem.toml")

    def test_without_a_key_the_refusal_names_what_fits(self):
        message = self.refuses(TORCH / "training.pt")
        self.assertIn("training.pt: ", message)
        self.assertIn(f"what stands under '{KEY}' does: choose --key {KEY}", message)
        message = self.refuses(TORCH / "parallel.pt")
        self.assertIn("under 'ema', 'state_dict' does: choose one of them, as by --key ema", message)
        message = self.refuses(TORCH / "training.pt", "--key", "optimizer_state_dict")
        self.assertNotIn("does: choose", message)
        message = self.refuses(TORCH / "training.pt", "--key", "model")
        self.assertIn("there is nothing under 'model'", message)

    def test_the_state_of_adam(self):
        names = list(tensors("training", KEY + "."))
        state = tensors("training", "optimizer_state_dict.state.")
        arrays = tensors("training", KEY + ".")
        for number, name in enumerate(names):
            arrays[f"optimizer.exp_avg_sq.{name}"] = state[f"{number}.exp_avg_sq"]
        arrays["optimizer.step"] = np.array(3)
        plain = self.write_checkpoint("plain.npz", arrays)
        options = ("--only", "stability", "--preconditioner", "adam", "--learning-rate", "0.01")
        self.analyze(TORCH / "training.pt", "--key", KEY, *options, problem="problem.toml")
        self.analyze(plain, *options, output="plain.h5", problem="problem.toml")
        found = self.assert_same_results("out.h5", "plain.h5", "stability/preconditioner", "stability/eigenvalues",
                                         "stability/adam", "stability/gd")
        v = np.concatenate([state[f"{number}.exp_avg_sq"].ravel() for number in range(4)])
        with h5py.File(self.folder / "out.h5") as file:
            order = [name.decode() for name in file["parameter_name"]]
        self.assertEqual(order, names)
        expected = (1 - 0.9**3) * (np.sqrt(v / (1 - 0.999**3)) + 1e-8)
        np.testing.assert_allclose(found["stability/preconditioner"][0], expected, rtol=1e-14)
        self.assertEqual(found["stability/source"][0], 1)

    def test_a_state_of_adam_in_groups(self):
        options = ("--only", "stability", "--preconditioner", "adam")
        self.analyze(TORCH / "groups.pt", "--key", "model", *options, problem="problem.toml")
        state = tensors("groups", "optimizer.state.")
        v = np.concatenate([state[f"{number}.exp_avg_sq"].ravel() for number in (0, 2, 1, 3)])  # weights, then biases
        expected = (1 - 0.9) * (np.sqrt(v / (1 - 0.999)) + 1e-8)
        found = groups(self.folder / "out.h5")["stability/preconditioner"][0]
        np.testing.assert_allclose(found, expected, rtol=1e-12)

    def test_tensors_that_are_not_real_numbers(self):
        message = self.refuses(TORCH / "unreadable.pt")
        self.assertIn("tensor 'other.complex': its elements are torch.ComplexFloatStorage", message)
        document = json.loads(self.run_program("inspect", TORCH / "unreadable.pt", "--json").stdout)
        self.assertEqual([entry["name"] for entry in document["unreadable"]],
                         ["other.complex", "other.sparse", "other.quantized"])
        done = self.run_program("inspect", TORCH / "unreadable.pt", "--key", "kept")
        self.assertEqual(done.returncode, DONE)
        self.assertIn("with.attributes", done.stdout)
        self.assertNotIn("complex", done.stdout)

    def test_formats_before_1_6(self):
        self.assertIn("torch.save(torch.load(", self.refuses(TORCH / "legacy.pt"))

    def test_a_landscape_along_a_direction_in_the_same_part(self):
        done = self.run_program("landscape", TORCH / "training.pt", "--problem", "problem.toml", "-o", "line.h5",
                                "--directions", f"file:{TORCH / 'training.pt'}", "--grid", "5x1", "--key", KEY)
        self.assertEqual(done.returncode, DONE, done.stderr)
        loss = groups(self.folder / "line.h5")["landscape/loss"]
        self.assertTrue(np.isfinite(loss).all())

    def test_folders_of_checkpoints(self):
        folder = self.folder / "run"
        folder.mkdir()
        source = FIXTURES / "mlp-spirals-tanh"
        (folder / "step-000400.pth").write_bytes((source / "step-000400.pt").read_bytes())
        (folder / "step-000400.npz").write_bytes((source / "step-000400.npz").read_bytes())
        problem = source / "problem.toml"
        self.assertIn("--format", self.refuses(folder, problem=problem))
        self.analyze(folder, "--format", "pt", "--only", "condition", problem=problem)
        self.analyze(folder, "--format", "npz", "--only", "condition", problem=problem, output="npz.h5")
        self.assert_same_results("out.h5", "npz.h5", "loss", "condition")


if __name__ == "__main__":
    program.main()
