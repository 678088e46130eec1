# SPDX-License-Identifier: BSD-3-Clause
"""Sharpness in other norms against NumPy: directions, bounds, curvature across tensors, of built-in and imported
models; and its figure."""
import h5py
import numpy as np

import program
from program import DONE, PROBLEM, SOURCE, checkpoint

ADAM = [checkpoint(step) for step in (500, 1000, 1500)]
CLOSED = 1


def one_flip_maximum(h, start):
    """The best sign vector that changing one sign after the other leads to."""
    signs = np.where(start < 0, -1.0, 1.0)
    while True:
        gains = -signs * (h @ signs) + np.diag(h)  # of a flip, over 4
        best = np.argmax(gains)
        if gains[best] <= 1e-14 * np.abs(h).sum():
            return signs @ h @ signs
        signs[best] *= -1


class Analyzed(program.Case):
    def analyzed(self, *arguments, problem=PROBLEM):
        self.analyze(*arguments, "--only", "norm-sharpness,edge", "--save-hessian", problem=problem)
        with h5py.File(self.folder / "out.h5") as file:
            group = {name: file["norm-sharpness"][name][()] for name in file["norm-sharpness"]}
            offsets = np.append(file["parameter_offset"][()], file["hessian/matrix"].shape[1])
            return group, file["hessian/matrix"][()], offsets, file["edge/update_curvature"][()]

    def check(self, group, hessians, offsets, shapes):
        """The balls of the entries and of tensors, spectral norms where shapes are given."""
        parts = [slice(a, b) for a, b in zip(offsets, offsets[1:])]
        random = np.random.default_rng(1)
        for k, h in enumerate(hessians):
            magnitudes = np.abs(h).sum()
            np.testing.assert_allclose(group["linf_absolute_sum"][k], magnitudes, rtol=1e-13)
            for norm in ("linf", "block", "spectral"):
                d = group[f"{norm}_direction"][k]
                lower, upper = group[f"{norm}_sharpness"][k], group[f"{norm}_upper"][k]
                np.testing.assert_allclose(d @ h @ d, lower, rtol=1e-12, err_msg=norm)
                self.assertLessEqual(lower, upper)
                self.assertLessEqual(upper, group["linf_absolute_sum"][k] if norm == "linf" else np.inf)
                if group[f"{norm}_gap"][k] == CLOSED:
                    np.testing.assert_allclose(lower, upper, rtol=1e-10)
            self.assertLessEqual(np.abs(group["linf_direction"][k]).max(), 1)
            for part, shape in zip(parts, shapes):
                self.assertLessEqual(np.linalg.norm(group["block_direction"][k][part]), 1 + 1e-13)
                matrix = group["spectral_direction"][k][part].reshape(shape[0], -1)
                self.assertLessEqual(np.linalg.norm(matrix, 2), 1 + 1e-13)
            for _ in range(50):
                start = random.normal(size=len(h))
                self.assertLessEqual(one_flip_maximum(h, start), group["linf_sharpness"][k] * (1 + 1e-12))
                blocks = np.concatenate([start[part] / np.linalg.norm(start[part]) for part in parts])
                self.assertLessEqual(blocks @ h @ blocks, group["block_upper"][k])


class BuiltIn(Analyzed):
    @program.plain_program_only
    def test_maxima_are_known_and_curvature_is_divided(self):
        group, hessians, offsets, along_update = self.analyzed(*ADAM)
        self.check(group, hessians, offsets, [(5, 5)] * 6)
        np.testing.assert_array_equal(group["linf_gap"], CLOSED)
        np.testing.assert_array_equal(group["block_gap"], CLOSED)
        self.assertTrue((group["linf_subproblems"] > 0).all())
        thetas = []
        for path in ADAM:
            weights = np.load(path)
            thetas.append(np.concatenate([weights[f"layers.{l}.{m}"].ravel() for l in range(3) for m in "PQ"]))
        for k, h in enumerate(hessians[:-1]):
            u = thetas[k + 1] - thetas[k]
            parts = np.zeros((6, len(u)))
            for b, (first, end) in enumerate(zip(offsets, offsets[1:])):
                parts[b, first:end] = u[first:end] / np.linalg.norm(u)
            expected = parts @ h @ parts.T
            np.testing.assert_allclose(group["update_curvature"][k], expected, atol=1e-12 * np.abs(expected).max())
            within, across = group["update_curvature_within"][k], group["update_curvature_across"][k]
            np.testing.assert_allclose(within, np.trace(expected), rtol=1e-11)
            np.testing.assert_allclose(within + across, along_update[k], rtol=1e-10)

    def test_no_subproblems_leave_bounds(self):
        group, hessians, offsets, _ = self.analyzed(ADAM[1], "--norm-subproblems", "0")
        self.check(group, hessians, offsets, [(5, 5)] * 6)
        self.assertNotEqual(group["linf_gap"][0], CLOSED)
        self.assertLess(group["linf_upper"][0], 0.8 * group["linf_absolute_sum"][0])

    def test_figure_shows_three_norms(self):
        self.analyze(*ADAM, "--only", "norm-sharpness", "--norm-subproblems", "0")
        done = self.run_program("plot", "out.h5", "--figure", "norm-sharpness", "-o", "norms.svg")
        self.assertEqual(done.returncode, DONE, done.stderr)
        drawn = (self.folder / "norms.svg").read_text()
        for label in ("largest entry", "tensors, bound", "spectral norms"):
            self.assertIn(label, drawn)


class Imported(Analyzed):
    @program.plain_program_only
    def test_maxima_of_a_convolutional_network_are_between_bounds(self):
        digits = SOURCE / "data" / "digits"
        shapes = {36: (4, 9), 4: (4, 1), 360: (10, 36), 10: (10, 1)}  # by size; a vector is a column
        group, hessians, offsets, _ = self.analyzed(digits / "runs/epoch-3.pt", "--key", "model_state_dict",
                                                    "--norm-subproblems", "0", problem=digits / "problem.toml")
        self.check(group, hessians, offsets, [shapes[size] for size in np.diff(offsets)])
        self.assertLess(group["spectral_upper"][0], 0.05 * group["linf_sharpness"][0])
        self.assertGreater(group["spectral_sharpness"][0], group["block_sharpness"][0])


if __name__ == "__main__":
    program.main()
