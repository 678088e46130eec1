# SPDX-License-Identifier: BSD-3-Clause
"""Batch sharpness against its definition in NumPy: softmax regression, whose gradients and Hessians of single samples
are written out, over every minibatch of every size."""
import itertools
from xml.etree import ElementTree

import h5py
import numpy as np

import program
from program import DONE, USAGE

SAMPLES, INPUTS, CLASSES = 8, 3, 3
SIZES = tuple(range(1, SAMPLES + 1))
RATE = 0.7
NOT_COMPUTED, ZERO_DENOMINATOR = 1, 6


def samples():
    random = np.random.default_rng(5)
    return random.normal(size=(SAMPLES, INPUTS)), random.integers(0, CLASSES, SAMPLES)


def weights(seed):
    random = np.random.default_rng(seed)
    return {"layers.0.weight": random.normal(size=(CLASSES, INPUTS)), "layers.0.bias": random.normal(size=CLASSES)}


def derivatives(arrays):
    """Gradients and Hessians of single samples, by weight (row by row), then bias."""
    gradients, hessians = [], []
    for x, y in zip(*samples()):
        z = arrays["layers.0.weight"] @ x + arrays["layers.0.bias"]
        p = np.exp(z - z.max())
        p /= p.sum()
        # z = J theta with J = (I kron x^T, I).
        jacobian = np.hstack([np.kron(np.eye(CLASSES), x), np.eye(CLASSES)])
        gradients.append(jacobian.T @ (p - np.eye(CLASSES)[y]))
        hessians.append(jacobian.T @ (np.diag(p) - np.outer(p, p)) @ jacobian)
    return np.array(gradients), np.array(hessians)


def batch_sharpness(arrays, size):
    gradients, hessians = derivatives(arrays)
    curvature, square = [], []
    for batch in itertools.combinations(range(SAMPLES), size):
        g, h = gradients[list(batch)].mean(axis=0), hessians[list(batch)].mean(axis=0)
        curvature.append(g @ h @ g)
        square.append(g @ g)
    return np.mean(curvature) / np.mean(square)


class BatchSharpness(program.Case):
    def setUp(self):
        super().setUp()
        x, y = samples()
        np.savez(self.folder / "data.npz", inputs=x, target=y)
        (self.folder / "problem.toml").write_text('[model]\nkind = "mlp"\nactivation = "identity"\n'
                                                  'loss = "cross-entropy"\n[data]\nfile = "data.npz"\n')
        for step in (0, 10):
            self.write_checkpoint(f"step-{step}.npz", weights(step))

    def stability(self, *options, sizes=SIZES, method="dense", expect=DONE):
        self.analyze("step-0.npz", "step-10.npz", "--batch-sharpness", ",".join(map(str, sizes)), "--only", "stability",
                     "--method", method, "--force", *options, problem="problem.toml", expect=expect)
        with h5py.File(self.folder / "out.h5") as file:
            return {name: item[()] for name, item in file["stability"].items()}

    def test_is_the_quotient_of_means_over_every_minibatch(self):
        wanted = np.array([[batch_sharpness(weights(step), size) for size in SIZES] for step in (0, 10)])
        for method in ("dense", "iterative", "matrix-free"):
            with self.subTest(method=method):
                found = self.stability("--learning-rate", RATE, method=method)
                self.assertEqual(list(found["batch_size"]), list(SIZES))
                np.testing.assert_allclose(found["batch_sharpness"], wanted, rtol=1e-11)
                np.testing.assert_allclose(found["batch_sharpness_ratio"], wanted * RATE / 2, rtol=1e-11)
                self.assertTrue((found["batch_sharpness"][:, -1] <= found["sharpness"] * (1 + 1e-9)).all())

    def test_does_not_depend_on_threads_or_on_the_other_sizes(self):
        one = self.stability("--threads", 1)["batch_sharpness"]
        np.testing.assert_array_equal(self.stability("--threads", 3)["batch_sharpness"], one)
        np.testing.assert_array_equal(self.stability(sizes=(5, 2))["batch_sharpness"], one[:, [4, 1]])

    def test_without_a_learning_rate_has_no_ratio(self):
        found = self.stability()
        self.assertTrue(np.isfinite(found["batch_sharpness"]).all())
        self.assertTrue(np.isnan(found["batch_sharpness_ratio"]).all())
        self.assertTrue((found["batch_sharpness_ratio_status"] == NOT_COMPUTED).all())

    def test_of_one_class_that_is_certain_there_is_no_gradient(self):
        for step in (0, 10):
            self.write_checkpoint(f"step-{step}.npz", {"layers.0.weight": np.zeros((CLASSES, INPUTS)),
                                                       "layers.0.bias": np.array([0.0, -900.0, -900.0])})
        x, _ = samples()
        np.savez(self.folder / "data.npz", inputs=x, target=np.zeros(SAMPLES, int))
        found = self.stability("--learning-rate", RATE, sizes=(1, SAMPLES))
        self.assertTrue((found["batch_sharpness_status"] == ZERO_DENOMINATOR).all())
        self.assertTrue(np.isnan(found["batch_sharpness"]).all())

    def test_is_in_the_figure(self):
        self.stability("--learning-rate", RATE, sizes=(1, 4))
        done = self.run_program("plot", "out.h5", "--figure", "stability", "-o", "out.svg")
        self.assertEqual(done.returncode, DONE, done.stderr)
        root = ElementTree.parse(self.folder / "out.svg").getroot()
        labels = {g.get("data-label") for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "line"}
        self.assertLessEqual({"batches of 1", "batches of 4"}, labels)

    def test_refuses_batches_that_cannot_be(self):
        for sizes, mention in (("1,9", "minibatches of 9 samples cannot be had from 8 samples"), ("0", "from 1"),
                               ("1,", "batch sizes"), ("1,,2", "batch sizes"), ("", "batch sizes"),
                               ("2,1,2", "the batch size 2 twice")):
            self.refuses(USAGE, ("analyze", "step-0.npz", "--problem", "problem.toml", "-o", "out.h5",
                                 "--batch-sharpness", sizes), mention, "batch-sharpness")


if __name__ == "__main__":
    program.main()
