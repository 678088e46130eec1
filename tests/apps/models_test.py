# SPDX-License-Identifier: BSD-3-Clause
"""Models of every kind through the program: golden numbers of PyTorch, and the plane of two attention matrices."""
import math

import h5py
import numpy as np

import program
from program import DONE, FIXTURES

FORMS = ("attention-classifier-gaussian", "attention-classifier-softmax", "linear-attention-mlp",
             "linear-attention-softmax")
CLASSIFIER = FIXTURES / "attention-classifier-softmax"


def gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def softmax_classifier_loss(w, data, layers, heads):
    """Sample by sample and head by head, X <- Y + MLP(Y), Y = X + sum_h softmax(X WQ (X WK)^T / sqrt(d)) X WV WO."""
    total = 0.0
    for x, target in zip(data["inputs"], data["target"].astype(int)):
        for layer in range(layers):
            p = {name: w[f"layers.{layer}.{name}"] for name in ("WQ", "WK", "WV", "WO", "mlp.0.weight", "mlp.0.bias",
                                                               "mlp.2.weight", "mlp.2.bias")}
            y, d = x.copy(), p["WQ"].shape[2]
            for h in range(heads):
                scores = np.exp((x @ p["WQ"][h]) @ (x @ p["WK"][h]).T / math.sqrt(d))
                weights = scores / scores.sum(axis=1, keepdims=True)
                y += weights @ x @ p["WV"][h] @ p["WO"][h * d:(h + 1) * d]
            hidden = gelu(y @ p["mlp.0.weight"].T + p["mlp.0.bias"])
            x = y + hidden @ p["mlp.2.weight"].T + p["mlp.2.bias"]
        logits = w["head.weight"] @ x.mean(axis=0) + w["head.bias"]
        total += np.log(np.exp(logits).sum()) - logits[target]
    return total / len(data["target"])


class Models(program.Case):
    def test_each_form_has_the_spectrum_of_pytorch(self):
        for name in FORMS:
            with self.subTest(name):
                folder = FIXTURES / name
                golden = np.load(folder / "golden-000000.npz")
                self.analyze(folder / "step-000000.npz", problem=folder / "problem.toml", output=f"{name}.h5")
                with h5py.File(self.folder / f"{name}.h5") as file:
                    values = file["spectrum/eigenvalues"][0]
                    loss = file["loss"][0]
                scale = np.abs(golden["eigenvalues"]).max()
                self.assertTrue(np.abs(values - golden["eigenvalues"]).max() <= 1e-11 * scale)
                self.assertTrue(abs(loss - golden["loss"]) <= 1e-12 * golden["loss"])

    def test_the_plane_of_queries_and_keys_has_the_losses_of_numpy(self):
        done = self.run_program("landscape", CLASSIFIER / "step-000000.npz", "--directions",
                                "tensors:layers.0.WQ,layers.0.WK", "--grid", "4x3", "--span", "-2:2",
                                "--problem", CLASSIFIER / "problem.toml", "-o", "out.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        data = dict(np.load(CLASSIFIER / "eval.npz"))
        arrays = dict(np.load(CLASSIFIER / "step-000000.npz"))
        with h5py.File(self.folder / "out.h5") as file:
            names = [name.decode() for name in file["parameter_name"][:]]
            group = {key: file["landscape"][key][:] for key in ("alpha", "beta", "loss", "direction_1", "direction_2")}
        offsets = np.cumsum([0] + [arrays[name].size for name in names])
        theta = np.concatenate([arrays[name].ravel() for name in names])
        wanted = np.empty_like(group["loss"])
        for i, b in enumerate(group["beta"]):
            for j, a in enumerate(group["alpha"]):
                at = theta + a * group["direction_1"] + b * group["direction_2"]
                parts = {name: at[k:k + arrays[name].size].reshape(arrays[name].shape)
                         for name, k in zip(names, offsets)}
                wanted[i, j] = softmax_classifier_loss(parts, data, layers=2, heads=2)
        self.assertTrue(np.abs(group["loss"] / wanted - 1).max() <= 1e-12)
        self.assertTrue(np.ptp(wanted) > 1e-3)
        for direction, name in (("direction_1", "layers.0.WQ"), ("direction_2", "layers.0.WK")):
            inside = np.zeros(len(theta), dtype=bool)
            k = offsets[names.index(name)]
            inside[k:k + arrays[name].size] = True
            self.assertTrue((group[direction][inside] != 0).all() and (group[direction][~inside] == 0).all())


if __name__ == "__main__":
    program.main()
