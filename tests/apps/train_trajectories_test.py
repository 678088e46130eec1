# SPDX-License-Identifier: BSD-3-Clause
"""hesscope train: steps of every rule, and what is correct of classes, against NumPy."""
import json

import h5py
import numpy as np

import program
from training import CONTEXT, DIMENSION, EXPERIMENT, LAYERS, Rule, Trained


def losses(parameters, z, target):
    """The loss of every prompt by the definition, Z <- Z + P Z M Z^T Q Z / n; complex numbers pass through."""
    n = z.shape[2] - 1
    mask = np.diag([1.0] * n + [0.0])
    for p, q in parameters:
        e = len(p) + 1
        p_full, q_full = np.zeros((e, e), p.dtype), np.zeros((e, e), q.dtype)
        p_full[:-1, :-1], p_full[-1, -1], q_full[:-1, :-1] = p, 1, q
        z = z + p_full @ z @ mask @ z.transpose(0, 2, 1) @ q_full @ z / n
    return (-z[:, -1, -1] - target) ** 2


def unpacked(theta):
    matrices = theta.reshape(LAYERS, 2, DIMENSION, DIMENSION)
    return [(layer[0], layer[1]) for layer in matrices]


def gradient_of(theta, z, target):
    """By complex steps: exact to rounding."""
    gradient = np.empty(theta.size)
    for i in range(theta.size):
        shifted = theta.astype(complex)
        shifted[i] += 1e-30j
        gradient[i] = losses(unpacked(shifted), z, target).mean().imag / 1e-30
    return gradient


class Trajectories(Trained):
    def test_agree_with_numpy(self):
        rules = {"sgd": "momentum = 0.9", "adamw": "beta2 = 0.99\nweight-decay = 0.1", "sign": "",
                 "lion": "beta1 = 0.9\nbeta2 = 0.99\nweight-decay = 0"}
        self.check(rules, trained=("layers.*.P", "layers.0.Q"), mask=(1, 1, 1, 0))

    def test_of_muon_agree_with_numpy(self):
        # Without the last P, which no prediction depends on: of a zero gradient Muon orthogonalises the rounding.
        keys = 'weight-decay = 0.1\nadam-rate = 0.5\nadam-blocks = ["layers.0.P"]'
        self.check({"sign": "", "muon": keys}, trained=("layers.0.P", "layers.*.Q"), mask=(1, 1, 0, 1))

    def check(self, rules, trained, mask):
        random_numbers = np.random.default_rng(5)
        z = random_numbers.normal(size=(30, DIMENSION + 1, CONTEXT + 1))
        z[:, -1, -1] = 0
        target = random_numbers.normal(size=30)
        np.savez(self.folder / "data.npz", Z=z, target=target)
        text = EXPERIMENT.split("[data]")[0] + """
            [data]
            file = "data.npz"
            [initialization]
            distribution = "normal"
            std = 0.3
            [training]
            steps = 24
            clip_norm = 0.1
            checkpoint_every = 8
            history_every = 4
            """ + f"trained = {json.dumps(trained)}\n" + "".join(f'[[run]]\nname = "{rule}"\nrule = "{rule}"\nlearning_rate = 0.05\n{keys}\n'
                          for rule, keys in rules.items())
        self.train(experiment=text)
        trained = np.repeat(mask, DIMENSION * DIMENSION)
        for name in rules:
            theta = self.parameters(f"out/{name}/seed-0/step-000000.h5")
            with h5py.File(self.folder / f"out/{name}/seed-0/history.h5") as file:
                history = {key: file[key][()] for key in ("step", "loss", "gradient_norm", "batch_loss", "training_loss",
                                                             "trained_gradient_norm", "distance", "relative_distance")}
            np.testing.assert_array_equal(history["step"], range(0, 25, 4))
            rule, start = Rule(theta.size), theta
            # Five iterations magnify what rounding makes of small singular values by up to 3.4445 each.
            magnified = 3.4445 ** 5 if name == "muon" else 1
            clipped = 0
            for t in range(25):
                g = gradient_of(theta, z, target)
                loss = losses(unpacked(theta), z, target).mean()
                if t % 4 == 0:
                    np.testing.assert_allclose(history["loss"][t // 4], loss, rtol=1e-11 * magnified)
                    np.testing.assert_allclose(history["training_loss"][t // 4], loss, rtol=1e-11 * magnified)
                    np.testing.assert_allclose(history["gradient_norm"][t // 4], np.linalg.norm(g),
                                               rtol=1e-10 * magnified)
                    np.testing.assert_allclose(history["trained_gradient_norm"][t // 4],
                                               np.linalg.norm(g * trained), rtol=1e-10 * magnified)
                    distance = np.linalg.norm((theta - start) * trained)
                    np.testing.assert_allclose(history["distance"][t // 4], distance, rtol=1e-10 * magnified)
                    np.testing.assert_allclose(history["relative_distance"][t // 4],
                                               distance / np.linalg.norm(start * trained), rtol=1e-10 * magnified)
                if t % 4 == 3:
                    np.testing.assert_allclose(history["batch_loss"][t // 4 + 1], loss, rtol=1e-11 * magnified)
                if t % 8 == 0:
                    found = self.parameters(f"out/{name}/seed-0/step-{t:06d}.h5")
                    np.testing.assert_allclose(found, theta, rtol=0, atol=1e-10, err_msg=name)
                g *= trained
                norm = np.linalg.norm(g)
                clipped += norm > 0.1
                g *= min(1, 0.1 / (norm + 1e-6))
                rule.t += 1
                if name == "adamw" and t == 23:
                    with h5py.File(self.folder / f"out/{name}/seed-0/step-000024.h5") as file:
                        self.assertEqual(file["optimizer.step"][()], 24)
                        v = 0.99 * rule.v + 0.01 * g * g
                        np.testing.assert_allclose(file["optimizer.exp_avg_sq.layers.0.Q"][()].ravel(), v[9:18],
                                                   rtol=1e-9)
                theta = theta - 0.05 * trained * getattr(rule, name)(theta, g)
            self.assertGreater(clipped, 5)


class Classifiers(Trained):
    FIXTURE = program.FIXTURES / "attention-classifier-gaussian"

    def start(self):
        """From a checkpoint that PyTorch evaluated, on its data."""
        return f"""
            [model]
            kind = "attention-classifier"
            kernel = "gaussian"
            activation = "relu"
            layers = 2
            heads = 2
            head_width = 1
            mlp_hidden = 4
            classes = 4
            [data]
            file = "{self.FIXTURE}/eval.npz"
            [initialization]
            from_checkpoint = "{self.FIXTURE}/step-000000.npz"
            [training]
            steps = 12
            checkpoint_every = 4
            history_every = 4
            [[run]]
            name = "adam"
            rule = "adamw"
            learning_rate = 0.05
            """

    @staticmethod
    def logits(w, x):
        for layer in range(2):
            p = {key.removeprefix(f"layers.{layer}."): value for key, value in w.items()}
            q, k, v = (np.einsum("std,hde->shte", x, p[name]) for name in ("WQ", "WK", "WV"))
            s = np.exp(-np.square(q[:, :, :, None] - k[:, :, None]).sum(-1) / 2 / np.sqrt(q.shape[-1]))
            heads = (s @ v).transpose(0, 2, 1, 3)
            y = x + heads.reshape(*heads.shape[:2], -1) @ p["WO"]
            hidden = np.maximum(y @ p["mlp.0.weight"].T + p["mlp.0.bias"], 0)
            x = y + hidden @ p["mlp.2.weight"].T + p["mlp.2.bias"]
        return x.mean(axis=1) @ w["head.weight"].T + w["head.bias"]

    def test_know_how_many_they_get_right(self):
        self.train(experiment=self.start())
        data = np.load(self.FIXTURE / "eval.npz")
        with h5py.File(self.folder / "out/history.h5") as file:
            history = {name: file[name][()] for name in file}
        np.testing.assert_array_equal(history["step"], (0, 4, 8, 12))
        self.assertNotIn("accuracy_status", history)
        with np.load(self.FIXTURE / "golden-000000.npz") as golden:
            np.testing.assert_allclose(history["loss"][0], golden["loss"], rtol=1e-12)
            np.testing.assert_allclose(history["gradient_norm"][0], np.linalg.norm(golden["gradient"]), rtol=1e-12)
        rights = []
        for t, step in enumerate(history["step"]):
            with h5py.File(self.folder / f"out/step-{step:06d}.h5") as file:
                z = self.logits({name: file[name][()] for name in file if "optimizer" not in name}, data["inputs"])
            target = data["target"].astype(int)
            chances = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
            np.testing.assert_allclose(history["loss"][t], -np.log(chances[range(40), target]).mean(), rtol=1e-11)
            rights.append((z.argmax(axis=1) == target).mean())
        np.testing.assert_array_equal(history["accuracy"], rights)
        self.assertGreater(len(set(rights)), 1)


if __name__ == "__main__":
    program.main()
