# SPDX-License-Identifier: BSD-3-Clause
"""Influence of samples on a logistic regression with weight decay, against NumPy: by the formulas, and by training
again without each sample."""
from xml.etree import ElementTree

import h5py
import numpy as np

import program
from program import DATA, DONE, USAGE, checkpoint
from svg_panels import SVG, Panel, circles, points, texts

SAMPLES, INPUTS, CLASSES, DECAY = 60, 3, 3, 0.1
OK, NOT_COMPUTED, NOT_STATIONARY = 0, 1, 11

PROBLEM = f"""[model]
kind = "mlp"
activation = "identity"
loss = "cross-entropy"
weight_decay = {DECAY}
[data]
file = "data.npz"
"""


class Logistic:
    """Softmax regression by its formulas; parameters are the weight, row by row, and the bias."""

    def __init__(self):
        random = np.random.default_rng(5)
        self.x = random.normal(size=(SAMPLES, INPUTS))
        self.target = random.integers(CLASSES, size=SAMPLES)
        self.n = CLASSES * (INPUTS + 1)
        # z = J_i theta, J_i of CLASSES x n.
        self.jacobians = np.zeros((SAMPLES, CLASSES, self.n))
        for c in range(CLASSES):
            self.jacobians[:, c, c * INPUTS:(c + 1) * INPUTS] = self.x
            self.jacobians[:, c, CLASSES * INPUTS + c] = 1

    def probabilities(self, theta):
        z = self.jacobians @ theta
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def losses(self, theta):
        return -np.log(self.probabilities(theta)[range(SAMPLES), self.target]) + DECAY / 2 * theta @ theta

    def gradients(self, theta):
        error = self.probabilities(theta) - np.eye(CLASSES)[self.target]
        return np.einsum("icn,ic->in", self.jacobians, error) + DECAY * theta

    def hessians(self, theta):
        p = self.probabilities(theta)
        inner = np.einsum("ic,cd->icd", p, np.eye(CLASSES)) - np.einsum("ic,id->icd", p, p)
        return np.einsum("icn,icd,idm->inm", self.jacobians, inner, self.jacobians) + DECAY * np.eye(self.n)

    def slope_of_curvature(self, theta, u):
        """Gradient of u' H(theta) u: of the variance of J_i u under p, the third central moment."""
        p, s = self.probabilities(theta), self.jacobians @ u
        centred = s - (p * s).sum(axis=1, keepdims=True)
        variance = (p * centred**2).sum(axis=1, keepdims=True)
        # d variance / d z_c = p_c (centred_c^2 - variance)
        return np.einsum("icn,ic->n", self.jacobians, p * (centred**2 - variance)) / SAMPLES

    def minimum(self, weights):
        theta = np.zeros(self.n)
        for _ in range(50):
            g = weights @ self.gradients(theta)
            if np.abs(g).max() < 1e-15 * weights.sum():
                break
            theta = theta - np.linalg.solve(np.einsum("i,inm->nm", weights, self.hessians(theta)), g)
        assert np.linalg.norm(weights @ self.gradients(theta)) < 1e-13 * weights.sum()
        return theta


class Influence(program.Case):
    def setUp(self):
        super().setUp()
        self.model = Logistic()
        np.savez(self.folder / "data.npz", inputs=self.model.x, target=self.model.target)
        (self.folder / "problem.toml").write_text(PROBLEM)

    def write(self, name, theta):
        cut = CLASSES * INPUTS
        return self.write_checkpoint(name, {"layers.0.weight": theta[:cut].reshape(CLASSES, INPUTS),
                                            "layers.0.bias": theta[cut:]})

    def influence(self, theta, *options):
        self.analyze(self.write("step-000000.npz", theta), "--only", "influence", *options,
                     problem=self.folder / "problem.toml")
        with h5py.File(self.folder / "out.h5") as file:
            group = file["influence"]
            return {name: group[name][0] for name in group if group[name].ndim > 0 and "checkpoint" not in name
                    and group[name].shape[0] == 1}

    def test_formulas_and_training_again(self):
        model = self.model
        theta = model.minimum(np.ones(SAMPLES) / SAMPLES)
        found = self.influence(theta, "--influence", SAMPLES)
        g, h = model.gradients(theta), model.hessians(theta)
        inverse = np.linalg.inv(h.mean(axis=0))
        moved = g @ inverse / SAMPLES
        close = lambda name, expected: np.testing.assert_allclose(
            found[name], expected, rtol=0, atol=1e-11 * np.abs(expected).max(), err_msg=name)
        close("self_influence", (g * moved).sum(axis=1))
        close("mean_self_influence", np.trace(inverse @ g.T @ g) / SAMPLES**2)
        close("parameter_change_norm", np.linalg.norm(moved, axis=1))
        self.assertTrue(found["gradient_in_samples"] < 1e-11)
        self.assertEqual((found["num_negative"], found["num_zero"], found["num_explained"]), (0, 0, 0))
        order = found["influential_sample"]
        self.assertEqual(sorted(order), list(range(SAMPLES)))
        self.assertTrue((np.diff(found["self_influence"][order]) <= 0).all())
        close("parameter_change", moved[order])
        close("loss_change", (moved @ g.T)[order])
        u = np.linalg.eigh(h.mean(axis=0))[1][:, -1]
        fixed = u @ h @ u
        close("lambda_max_slope_fixed", fixed)
        through = -SAMPLES * moved @ model.slope_of_curvature(theta, u)
        close("lambda_max_slope_moved", through)
        close("lambda_max_slope", fixed + through)

        self.assert_drawn("self_influence", found)
        self.assert_drawn("lambda_max_slope", found)

        # Without a sample: the Newton step is its formula, and nearer to what training gives than first order.
        exact = np.empty_like(moved)
        for k, i in enumerate(order):
            weights = np.ones(SAMPLES)
            weights[i] = 0
            exact[k] = model.minimum(weights) - theta
            newton = np.linalg.solve(h.mean(axis=0) - h[i] / SAMPLES, g[i] / SAMPLES)
            np.testing.assert_allclose(found["newton_parameter_change"][k], newton, rtol=0,
                                       atol=1e-11 * np.abs(newton).max())
            own = model.losses(theta + newton)[i] - model.losses(theta)[i]
            self.assertTrue(abs(found["newton_self_influence"][k] - own) <= 1e-12)
        size = np.linalg.norm(exact, axis=1)
        first = np.linalg.norm(found["parameter_change"] - exact, axis=1) / size
        newton = np.linalg.norm(found["newton_parameter_change"] - exact, axis=1) / size
        self.assertTrue((first < 0.3).all(), first)
        self.assertTrue((newton < 0.05).all(), newton)
        self.assertTrue(newton.max() < first.max() / 2, (newton.max(), first.max()))

        # d lambda_max / d w_i by training with other weights.
        lam = lambda i, step: (lambda w: np.linalg.eigvalsh(np.einsum(
            "i,inm->nm", w, model.hessians(model.minimum(w))))[-1])(np.ones(SAMPLES) / SAMPLES + step * (
                np.arange(SAMPLES) == i))
        for i in (0, 11):
            slope = (lam(i, 1e-4) - lam(i, -1e-4)) / 2e-4
            self.assertTrue(abs(found["lambda_max_slope"][i] / slope - 1) < 1e-6)

    def assert_drawn(self, quantity, found):
        """The figure of a result: 20 samples in the order of their magnitudes, and all of them in order."""
        done = self.run_program("plot", "out.h5", "--figure", "influence", "--quantity", quantity, "-o", "out.svg",
                                "--force")
        self.assertEqual(done.returncode, DONE, done.stderr)
        root = ElementTree.parse(self.folder / "out.svg").getroot()
        bars, everything = [Panel(g) for g in root.iter(SVG + "g") if g.get("class") == "panel"]
        values = found[quantity]
        order = np.argsort(-np.abs(values), kind="stable")[:20]
        # Corners from left to right: two at each height, the first and the last on the axis.
        expected = {sign: np.where(sign * values[order] > 0, values[order], 0) for sign in (1, -1)}
        drawn = [heights for heights in expected.values() if heights.any()]
        self.assertEqual(len(bars.series("bars")), len(drawn))
        for group, heights in zip(bars.series("bars"), drawn, strict=True):
            corners = points(group)[1:1 + 2 * len(order)]
            np.testing.assert_allclose(corners[:, 1], bars.place("y", np.repeat(heights, 2)), atol=0.0051)
            np.testing.assert_allclose(corners[::2, 0], bars.place("x", np.arange(20) - 0.5), atol=0.0051)
        labels = [t for t in texts(bars.group) if t.isdigit()]
        self.assertEqual(labels[:20], [str(i) for i in order])
        np.testing.assert_allclose(points(everything.line("")), np.column_stack(
            [everything.place("x", np.arange(1, SAMPLES + 1)), everything.place("y", np.sort(values)[::-1])]), atol=0.0051)
        if quantity == "self_influence":
            steps = dict(zip(found["influential_sample"], found["newton_self_influence"]))
            np.testing.assert_allclose(circles(bars.series("scatter")[0])[:20], np.column_stack(
                [bars.place("x", np.arange(20)), bars.place("y", [steps[i] for i in order])]), atol=0.0051)

    def test_a_point_that_is_not_stationary_has_none_unless_asked(self):
        theta = self.model.minimum(np.ones(SAMPLES) / SAMPLES)
        theta = theta + 0.01
        found = self.influence(theta)
        g = self.model.gradients(theta)
        unit = np.linalg.norm(g, axis=1).mean() / SAMPLES
        size = np.linalg.norm(g.mean(axis=0)) / unit
        self.assertTrue(size > 1e-3)
        self.assertTrue(abs(found["gradient_in_samples"] / size - 1) < 1e-12)
        self.assertEqual(set(found["self_influence_status"].ravel()), {NOT_STATIONARY})
        self.assertTrue(np.isnan(found["self_influence"]).all())
        self.assertNotIn("lambda_max_slope_fixed_status", found)
        done = self.run_program("plot", "out.h5", "--figure", "influence", "-o", "out.svg")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("there is nothing to see: every number is undefined", done.stderr)
        (self.folder / "out.h5").unlink()
        asked = self.influence(theta, "--influence-gradient", 1e3)
        inverse = np.linalg.inv(self.model.hessians(theta).mean(axis=0))
        np.testing.assert_allclose(asked["self_influence"], np.einsum("in,nm,im->i", g, inverse, g) / SAMPLES,
                                   rtol=1e-10)

    def test_it_is_foreseen_and_takes_the_matrix(self):
        theta = self.model.minimum(np.ones(SAMPLES) / SAMPLES)
        path = self.write("step-000000.npz", theta)
        problem = ("--problem", self.folder / "problem.toml", "-o", "out.h5")
        plan = self.run_program("analyze", path, "--influence", 5, "--dry-run", *problem)
        self.assertEqual(plan.returncode, DONE, plan.stderr)
        self.assertIn("influence", plan.stdout)
        self.analyze(path, "--only", "influence", "--method", "matrix-free", problem=self.folder / "problem.toml")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(file["influence/mean_self_influence_status"][0], NOT_COMPUTED)
        self.refuses(USAGE, ["analyze", path, "--influence", 0, *problem], "--influence")


class LinearAttention(program.Case):
    def test_checkpoints_in_training_are_not_stationary(self):
        self.analyze(checkpoint(1500), "--only", "influence")
        with h5py.File(self.folder / "out.h5") as file:
            group = file["influence"]
            self.assertTrue(group["gradient_in_samples"][0] > 1)
            self.assertEqual(group["mean_self_influence_status"][0], NOT_STATIONARY)


if __name__ == "__main__":
    program.main()
