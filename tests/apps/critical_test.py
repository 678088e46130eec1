# SPDX-License-Identifier: BSD-3-Clause
"""Critical points near checkpoints: what is stored of them against NumPy, and against an analysis of them."""
import re
import subprocess
import sys
from xml.etree import ElementTree

import h5py
import numpy as np

import program
from program import INCONCLUSIVE, SOURCE, USAGE, checkpoint, statuses, text
from svg_panels import SVG, Panel, circles, texts

OK, NOT_COMPUTED, FAILED = 0, 1, 3
CONVERGED, OUT_OF_ITERATIONS = 0, 2

DEEP_LINEAR = """[model]
kind = "mlp"
activation = "identity"
loss = "mse"
[data]
file = "data.npz"
"""


class DeepLinear(program.Case):
    """x -> B A x without noise in the targets M x. With inputs whose second moments are I, the critical points are
    where B A is M cut down to some of its singular values (Baldi & Hornik 1989), all others being saddles."""
    SINGULAR = np.array([3.0, 2.0, 1.0])

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(4)
        d = len(self.SINGULAR)
        # Inputs of mean 0 and second moments I; so the biases are 0 at every critical point.
        x = np.sqrt(d) * np.vstack([np.eye(d), -np.eye(d)])
        self.u, self.v = (np.linalg.qr(random.normal(size=(d, d)))[0] for _ in range(2))
        self.target = self.u * self.SINGULAR @ self.v.T
        np.savez(self.folder / "data.npz", inputs=x, target=x @ self.target.T)
        (self.folder / "problem.toml").write_text(DEEP_LINEAR)
        self.random = random

    def write(self, name, a, b, bias_a=None, bias_b=None):
        d = len(self.SINGULAR)
        return self.write_checkpoint(name, {
            "layers.0.weight": a, "layers.0.bias": np.zeros(d) if bias_a is None else bias_a,
            "layers.1.weight": b, "layers.1.bias": np.zeros(d) if bias_b is None else bias_b})

    def test_saddles_have_the_losses_of_singular_values_and_can_be_analyzed_again(self):
        d = len(self.SINGULAR)
        kept = [(0, 1, 2), (0, 1), (0, 2), (0,), (2,), ()]
        paths = []
        for i, chosen in enumerate(kept):
            root = np.zeros(d)
            root[list(chosen)] = np.sqrt(self.SINGULAR[list(chosen)])
            noise = [0.01 * self.random.normal(size=(d, d)) for _ in range(2)]
            paths.append(self.write(f"step-{i:06d}.npz", root[:, None] * self.v.T + noise[0],
                                    self.u * root + noise[1]))
        self.analyze(*paths, "--only", "critical", problem=self.folder / "problem.toml")
        with h5py.File(self.folder / "out.h5") as file:
            group = {name: file["critical"][name][()] for name in file["critical"]}
            names = [text(name) for name in file["parameter_name"]]
            offsets = file["parameter_offset"][:]
        self.assertEqual(set(group["outcome"]), {CONVERGED})
        self.assertTrue((group["relative_gradient"] <= 1e-12).all())
        # The mean over d outputs of the squares of what is left out.
        losses = [sum(s**2 for k, s in enumerate(self.SINGULAR) if k not in chosen) / d for chosen in kept]
        np.testing.assert_allclose(group["loss"], losses, rtol=0, atol=1e-13)
        self.assertTrue((group["distance"] < 0.1).all())

        # Drawn: each at its loss and index, none left out.
        done = self.run_program("plot", "out.h5", "--figure", "critical", "-o", "out.svg")
        self.assertEqual(done.returncode, 0, done.stderr)
        root = ElementTree.parse(self.folder / "out.svg").getroot()
        [panel] = [Panel(g) for g in root.iter(SVG + "g") if g.get("class") == "panel"]
        found = circles(panel.series("scatter")[0])
        np.testing.assert_allclose(found, np.column_stack([panel.place("x", group["loss"]),
                                                           panel.place("y", group["index"])]), atol=0.0051)
        degenerate = (group["num_zero"] > 0).sum()
        self.assertEqual(any(t == f"{degenerate} degenerate" for t in texts(root)), degenerate > 0)

        # As checkpoints again: the first by the script that docs/results.md has for it.
        again = []
        for i, flat in enumerate(group["parameters"]):
            parts = np.split(flat, offsets[1:])
            shapes = {"layers.0.weight": (d, d), "layers.1.weight": (d, d)}
            again.append(self.write_checkpoint(f"again-{i:06d}.npz", {
                name: part.reshape(shapes.get(name, (d,))) for name, part in zip(names, parts)}))
        [script] = [block for block in re.findall(r"```python\n(.*?)```", (SOURCE / "docs" / "results.md").read_text(),
                                                  re.DOTALL) if "critical/parameters" in block]
        subprocess.run([sys.executable, "-B", "-c", script], cwd=self.folder, check=True)
        with np.load(self.folder / "critical.npz") as by_script, np.load(again[0]) as here:
            self.assertEqual(sorted(by_script.files), sorted(here.files))
            for name in here.files:
                np.testing.assert_array_equal(by_script[name], here[name])
        self.analyze(*again, "--only", "spectrum,critical,structure", "--order", "given", output="again.h5",
                     problem=self.folder / "problem.toml")
        with h5py.File(self.folder / "again.h5") as file:
            eigenvalues = file["spectrum/eigenvalues"][:]
            np.testing.assert_array_equal(file["critical/index"][:], group["index"])
            self.assertTrue((file["critical/distance"][:] < 1e-10).all())
            np.testing.assert_allclose(file["critical/loss"][:], group["loss"], rtol=0, atol=1e-14)
        scale = np.abs(eigenvalues).max(axis=1)
        negative = (eigenvalues < -1e-10 * scale[:, None]).sum(axis=1)
        np.testing.assert_array_equal(group["index"], negative)
        zero = (np.abs(eigenvalues) <= 1e-10 * scale[:, None]).sum(axis=1)
        np.testing.assert_array_equal(group["num_zero"] + group["num_explained"], zero)
        self.assertEqual(group["index"][0], 0)
        self.assertEqual(group["escape_rate"][0], 0)
        self.assertTrue((group["index"][1:] > 0).all())
        np.testing.assert_allclose(group["escape_rate"][1:], -eigenvalues[1:, 0], rtol=1e-10)
        # At zero H couples a_ki and b_jk by -(2 / d) M_ji, for each of d hidden units: d negative for each.
        self.assertEqual(group["index"][-1], d * d)
        self.assertAlmostEqual(group["escape_rate"][-1], 2 / d * self.SINGULAR[0], delta=1e-12)


class LinearAttention(program.Case):
    def test_a_search_that_does_not_end_is_said(self):
        done = self.analyze(checkpoint(500), "--critical", 1, "--only", "critical", expect=INCONCLUSIVE)
        [warning] = [line for line in done.stderr.splitlines() if "critical/" in line]  # one for all its numbers
        self.assertRegex(warning, r"critical/index, loss, escape_rate, .*: failed: the search is not complete after 1 of "
                                  r"at most 1 steps; --critical allows more$")
        with h5py.File(self.folder / "out.h5") as file:
            group = file["critical"]
            self.assertEqual(group["outcome"][0], OUT_OF_ITERATIONS)
            self.assertEqual(group["num_iterations"][0], 1)
            for name in ("loss", "index", "escape_rate", "distance"):
                self.assertEqual(statuses(group, name)[0], FAILED, name)
        done = self.run_program("plot", "out.h5", "--figure", "critical", "-o", "out.svg")
        self.assertEqual(done.returncode, INCONCLUSIVE, done.stderr)
        self.assertIn("1 not found", texts(ElementTree.parse(self.folder / "out.svg").getroot()))

    def test_it_takes_the_matrix_and_is_foreseen(self):
        self.analyze(checkpoint(500), "--only", "critical", "--method", "matrix-free")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(statuses(file["critical"], "index")[0], NOT_COMPUTED)
        plan = self.run_program("analyze", checkpoint(500), "--critical", 50, "--dry-run", "--problem",
                                program.PROBLEM, "-o", "no.h5")
        self.assertEqual(plan.returncode, 0, plan.stderr)
        self.assertIn("critical", plan.stdout)
        self.refuses(USAGE, ["analyze", checkpoint(500), "--critical", 0, "--problem", program.PROBLEM, "-o",
                             "no.h5"], "--critical")


if __name__ == "__main__":
    program.main()
