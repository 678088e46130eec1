# SPDX-License-Identifier: BSD-3-Clause
"""Norms and ratios whose squares are no doubles, against 60 digits from the formulas."""
import decimal
import json

import h5py
import numpy as np

import program
from program import DONE, INCONCLUSIVE

OK, NON_FINITE, ZERO_DENOMINATOR = 0, 2, 6
D = decimal.Decimal
decimal.getcontext().prec = 60
decimal.getcontext().Emin, decimal.getcontext().Emax = -100000, 100000


def matrix(array):
    return [[D(float(entry)) for entry in row] for row in array]


def norm(numbers):
    return sum(number * number for number in numbers).sqrt()


class OneLayer:
    """z = W x + b for each sample: gradient and Hessian of the mean loss in the order W (by rows), b."""

    def __init__(self, weight, bias, inputs, targets, loss):
        self.weight, self.bias, self.inputs, self.targets = weight, bias, inputs, targets
        w, b, x = matrix(weight), matrix([bias])[0], matrix(inputs)
        out, count = len(b), D(len(x))
        size = out * (len(x[0]) + 1)
        self.loss, self.gradient = D(0), [D(0)] * size
        self.hessian = [[D(0)] * size for _ in range(size)]
        for sample, target in zip(x, targets):
            z = [sum(a * e for a, e in zip(row, sample)) + c for row, c in zip(w, b)]
            value, delta, curvature = getattr(self, loss)(z, target)
            self.loss += value / count
            place = [(i, e) for i in range(out) for e in sample] + [(i, D(1)) for i in range(out)]
            for r, (i, a) in enumerate(place):
                self.gradient[r] += delta[i] * a / count
                for c, (j, e) in enumerate(place):
                    self.hessian[r][c] += curvature[i][j] * a * e / count
        self.entries = [entry for row in self.hessian for entry in row]

    @staticmethod
    def cross_entropy(z, target):
        e = [(each - max(z)).exp() for each in z]
        p = [each / sum(e) for each in e]
        others = sum(each for j, each in enumerate(e) if j != int(target)) / e[int(target)]
        loss = (1 + others).ln() if others > D("1e-20") else others - others * others / 2
        delta = [each - (j == int(target)) for j, each in enumerate(p)]
        # 60 digits do not hold 1 - 1e-260.
        delta[int(target)] = -sum(each for j, each in enumerate(p) if j != int(target))
        curvature = [[(-a * b if i != j else a * -sum(-c for k, c in enumerate(p) if k != i))
                      for j, b in enumerate(p)] for i, a in enumerate(p)]
        return loss, delta, curvature

    @staticmethod
    def mse(z, target):
        size = D(len(z))
        residual = [a - D(float(t)) for a, t in zip(z, target)]
        return (sum(r * r for r in residual) / size, [2 * r / size for r in residual],
                [[2 / size if i == j else D(0) for j in range(len(z))] for i in range(len(z))])


class Range(program.Case):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(5)

    def write(self, layer, loss):
        np.savez(self.folder / "data.npz", inputs=layer.inputs, target=layer.targets)
        (self.folder / "problem.toml").write_text(
            f'[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "{loss}"\n[data]\nfile = "data.npz"\n')
        return self.write_checkpoint("model.npz", {"layers.0.weight": layer.weight, "layers.0.bias": layer.bias})

    def assert_close(self, found, wanted, name):
        self.assertTrue(abs(D(float(found)) / wanted - 1) <= D("1e-12"), f"{name}: {found} for {wanted:.16e}")

    def check(self, layer, loss, expect=DONE):
        model = self.write(layer, loss)
        done = self.analyze(model, "--ggn", "--blocks", "--only", "hessian,ggn,blocks,smoothness,spectrum", "--json",
                            "--force", problem="problem.toml", expect=expect)
        gradient_norm, frobenius_norm = norm(layer.gradient), norm(layer.entries)
        with h5py.File(self.folder / "out.h5") as out:
            wanted = {"loss": layer.loss, "gradient_norm": gradient_norm, "smoothness/gradient_norm": gradient_norm,
                      "hessian/frobenius_norm": frobenius_norm, "ggn/frobenius_norm": frobenius_norm,
                      "hessian/trace": sum(layer.hessian[i][i] for i in range(len(layer.gradient)))}
            for name, value in wanted.items():
                self.assertEqual(program.statuses(out, name)[0], OK, name)
                self.assert_close(out[name][0], value, name)
            size = layer.weight.size
            parts = [range(size), range(size, size + len(layer.bias))]
            for b, rows in enumerate(parts):
                self.assert_close(out["blocks/gradient_norm"][0, b], norm([layer.gradient[i] for i in rows]), b)
                for c, columns in enumerate(parts):
                    entries = [layer.hessian[i][j] for i in rows for j in columns]
                    for name in ("blocks/frobenius_norm", "ggn/block_frobenius_norm"):
                        self.assert_close(out[name][0, b, c], norm(entries), (name, b, c))
        said = json.loads(done.stdout)["checkpoints"][0]
        self.assert_close(said["gradient_norm"], gradient_norm, "--json")
        return done

    def test_a_classifier_that_is_sure_is_not_stationary(self):
        for gap in (540, 600, 700):
            with self.subTest(gap=gap):
                # Small inputs: the gap is that of the biases.
                layer = OneLayer(self.random.normal(size=(3, 2)), np.array([gap, 0.3, -0.4]),
                                 self.random.normal(size=(4, 2)), np.zeros(4), "cross_entropy")
                self.assertTrue(layer.loss < D("1e-230"))
                self.check(layer, "cross-entropy")

    def test_inputs_of_any_size_have_a_loss_and_norms(self):
        for scale in (1e-100, 1e-80, 1e80, 1e140):
            with self.subTest(scale=scale):
                layer = OneLayer(self.random.normal(size=(2, 3)), self.random.normal(size=2),
                                 scale * self.random.normal(size=(5, 3)), self.random.normal(size=(5, 2)), "mse")
                # The squares of a gradient of 1e160, which the update of Adam is made of, are no doubles.
                is_beyond = scale > 1e70
                done = self.check(layer, "mse", expect=INCONCLUSIVE if is_beyond else DONE)
                self.assertEqual("smoothness/directional_sharpness, directional_sharpness_relative, directional_slope: "
                                 "non_finite" in done.stderr, is_beyond)
                self.assertEqual(done.stderr.count("warning"), is_beyond)

    def test_a_layer_that_is_saturated_hides_no_other(self):
        for scale in (1e160, 1e300):
            with self.subTest(scale=scale):
                inputs = scale * self.random.normal(size=(5, 3))
                first = self.random.normal(size=(2, 3))
                # tanh is the sign here, and its derivatives are 0: what is left is the last layer's.
                last = OneLayer(self.random.normal(size=(2, 2)), self.random.normal(size=2),
                                np.sign(inputs @ first.T), self.random.normal(size=(5, 2)), "mse")
                self.write(last, "mse")
                np.savez(self.folder / "data.npz", inputs=inputs, target=last.targets)
                model = self.write_checkpoint("model.npz", {
                    "layers.0.weight": first, "layers.0.bias": np.zeros(2),
                    "layers.1.weight": last.weight, "layers.1.bias": last.bias})
                self.analyze(model, "--ggn", "--force", problem="problem.toml")
                with h5py.File(self.folder / "out.h5") as out:
                    self.assert_close(out["loss"][0], last.loss, "loss")
                    self.assert_close(out["gradient_norm"][0], norm(last.gradient), "gradient_norm")
                    for group in ("hessian", "ggn"):
                        self.assert_close(out[group + "/frobenius_norm"][0], norm(last.entries), group)

    def test_a_loss_is_there_where_the_norm_of_its_gradient_is_beyond_doubles(self):
        # Products of 1e250 and 1e60: no derivative is a double, the loss is not asked to pay for it.
        layer = OneLayer(np.array([[1e-250, 0.0]]), np.array([0.0]), np.array([[1e250, 0], [0, 1e250]]),
                         np.array([[1e60], [0]]), "mse")
        model = self.write(layer, "mse")
        done = self.analyze(model, problem="problem.toml", expect=program.INCONCLUSIVE)
        self.assertIn("the loss or gradient is not finite", done.stderr)
        with h5py.File(self.folder / "out.h5") as out:
            self.assertEqual(program.statuses(out, "loss")[0], OK)
            self.assert_close(out["loss"][0], layer.loss, "loss")
            self.assertEqual(out["gradient_norm_status"][0], NON_FINITE)
        self.assertIn("non_finite", done.stdout.splitlines()[1])

    def test_a_landscape_has_norms(self):
        layer = OneLayer(np.zeros((2, 2)), np.zeros(2), 1e-100 * self.random.normal(size=(4, 2)),
                         1e-100 * self.random.normal(size=(4, 2)), "mse")
        model = self.write(layer, "mse")
        done = self.run_program("landscape", model, "--problem", "problem.toml", "-o", "line.h5", "--directions",
                                "update:gradient", "--grid", "3x1", "--span", "-1e-250:1e-250", "--curvature")
        self.assertEqual(done.returncode, program.DONE, done.stderr)
        with h5py.File(self.folder / "line.h5") as out:
            found = out["landscape/gradient_norm"][()].ravel()
        for value in found:
            self.assert_close(value, norm(layer.gradient), "gradient_norm")


if __name__ == "__main__":
    program.main()
