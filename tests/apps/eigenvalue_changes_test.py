# SPDX-License-Identifier: BSD-3-Clause
"""/sharpening and /tracking: how eigenvalues change along parameters, and from checkpoint to checkpoint."""
import itertools

import h5py
import numpy as np

import program
from program import DATA, STEPS, checkpoint, golden, statuses, text, weights
from spectral_groups_test import NOT_COMPUTED, NOT_STORED, OK, PAIRS


class Sharpening(program.Case):
    def test_gradients_are_the_slopes_of_eigenvalues(self):
        step = 1e-5  # the errors of both rules are of second order in it
        random = np.random.default_rng(1)
        point = weights(500)
        direction = {name: random.standard_normal(value.shape) for name, value in point.items()}
        paths = [self.write_checkpoint(f"step-{i:06d}.npz",
                                       {name: point[name] + (i - 1) * step * direction[name] for name in point})
                 for i in range(3)]
        self.analyze(*paths, "--sharpening", PAIRS, "--only", "sharpening")
        with h5py.File(self.folder / "out.h5") as file:
            flat = np.concatenate([direction[text(name)].ravel() for name in file["parameter_name"]])
            group = file["sharpening"]
            for end in ("largest", "smallest"):
                values, gradients = group["eigenvalues_" + end][:], group["gradients_" + end][:]
                scale = np.linalg.norm(gradients[1], axis=1) * np.linalg.norm(flat)
                slopes = (values[2] - values[0]) / (2 * step)
                self.assertTrue((np.abs(gradients[1] @ flat - slopes) <= 1e-5 * scale).all())
                np.testing.assert_allclose(group["gradient_norm_" + end][1], np.linalg.norm(gradients[1], axis=1),
                                           rtol=1e-12)
                rate = -gradients[1] @ golden(500)["gradient"]
                np.testing.assert_allclose(group["rate_" + end][1], rate, rtol=1e-7)
                self.assertEqual(list(statuses(group, "change_" + end)), [NOT_COMPUTED, OK, OK])
                change = values[1:] - values[:-1]
                np.testing.assert_allclose(group["change_" + end][1:], change, rtol=1e-12)
                error = np.abs(group["predicted_change_" + end][1:] - change)
                self.assertTrue((error <= 1e-6 * step * scale).all())
                self.assertEqual(list(group["cluster_" + end][1]), [0, 1, 2])
            # Of the same eigenvector, without the part of the gradient along it.
            gradient = group["gradients_largest"][1, 0]
            vector = np.linalg.eigh(golden(500)["hessian"])[1][:, -1]
            projected = gradient - vector * (vector @ gradient)
            self.assertAlmostEqual(group["self_stabilization_largest"][1, 0] / (projected @ projected), 1, delta=1e-6)
            self.assertEqual(set(statuses(group, "gap_to_edge").ravel()), {NOT_STORED})

    def test_higher_derivatives_are_those_of_the_hessian_along_eigenvectors(self):
        step = 1e-3
        point = weights(500)
        _, vectors = np.linalg.eigh(golden(500)["hessian"])
        self.analyze(checkpoint(500), "--sharpening", PAIRS, "--only", "sharpening", output="point.h5")
        with h5py.File(self.folder / "point.h5") as file:
            names = [text(name) for name in file["parameter_name"]]
            found = {name: file["sharpening"][name][0] for name in
                     ("eigenvalues_largest", "first_derivative", "third_derivative", "fourth_derivative",
                      "flip_coefficient")}
            self.assertEqual(set(statuses(file["sharpening"], "period_two_half_width").ravel()), {NOT_STORED})
        for pair in range(PAIRS):
            u = vectors[:, -1 - pair]
            paths = []
            for i in range(-2, 3):
                moved, begin = {}, 0
                for name in names:
                    end = begin + point[name].size
                    moved[name] = point[name] + i * step * u[begin:end].reshape(point[name].shape)
                    begin = end
                paths.append(self.write_checkpoint(f"step-{i + 2:06d}.npz", moved))
            self.analyze(*paths, "--save-hessian", "--only", "hessian", output=f"line-{pair}.h5")
            with h5py.File(self.folder / f"line-{pair}.h5") as file:
                curvature = np.einsum("i,cij,j->c", u, file["hessian/matrix"][()], u)
            # By five points, whose errors are of fourth order in the step.
            third = (curvature[0] - 8 * curvature[1] + 8 * curvature[3] - curvature[4]) / (12 * step)
            fourth = (-curvature[0] + 16 * curvature[1] - 30 * curvature[2] + 16 * curvature[3]
                      - curvature[4]) / (12 * step ** 2)
            lambda_ = found["eigenvalues_largest"][pair]
            self.assertAlmostEqual(found["third_derivative"][pair] / abs(third), 1, delta=1e-7)
            self.assertAlmostEqual(found["fourth_derivative"][pair] / fourth, 1, delta=1e-5)
            self.assertAlmostEqual(found["first_derivative"][pair] / (np.sign(third) * u @ golden(500)["gradient"]), 1,
                                   delta=1e-6)
            flip = (3 * third ** 2 - lambda_ * fourth) / (3 * lambda_ ** 2)
            self.assertAlmostEqual(found["flip_coefficient"][pair] / flip, 1, delta=1e-5)

    def test_without_the_matrix_they_are_the_same(self):
        found = []
        for method in ("dense", "iterative", "matrix-free"):
            self.analyze(checkpoint(500), "--sharpening", 1, "--only", "sharpening", "--method", method,
                         output=method + ".h5")
            with h5py.File(self.folder / (method + ".h5")) as file:
                found.append([file["sharpening"][name][0, 0] for name in
                              ("rate_largest", "self_stabilization_largest", "gradient_norm_smallest")])
        np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-6)


class Tracking(program.Case):
    PAIRS = 6

    def test_pairs_continue_those_of_the_best_assignment(self):
        self.analyze(DATA / "adam", "--tracking", self.PAIRS, "--only", "tracking")
        spectra = [np.linalg.eigh(golden(step)["hessian"]) for step in STEPS]
        with h5py.File(self.folder / "out.h5") as file:
            group = {name: file["tracking"][name][()] for name in file["tracking"]}
        for end, order in (("largest", slice(-1, -1 - self.PAIRS, -1)), ("smallest", slice(0, self.PAIRS))):
            self.assertEqual(group["eigenvalues_" + end].shape, (len(STEPS), self.PAIRS))
            next_track, before = 0, None
            for t, (values, vectors) in enumerate(spectra):
                np.testing.assert_allclose(group["eigenvalues_" + end][t], values[order], rtol=0,
                                           atol=1e-9 * np.abs(values).max())
                u, own = vectors[:, order], group["cluster_" + end][t]
                np.testing.assert_array_equal(own, np.arange(self.PAIRS))  # all are simple here
                tracks = [None] * self.PAIRS
                if t > 0:
                    overlaps = np.abs(u.T @ before)
                    np.testing.assert_allclose(group["overlaps_" + end][t], overlaps, rtol=0, atol=1e-7)
                    best = max(itertools.permutations(range(self.PAIRS)),
                               key=lambda order: sum(overlaps[i, j]**2 for i, j in enumerate(order)))
                    np.testing.assert_array_equal(group["continued_" + end][t], best)
                    for i, j in enumerate(best):
                        self.assertAlmostEqual(group["overlap_" + end][t, i], overlaps[i, j], delta=1e-7)
                        if overlaps[i, j] > np.sqrt(0.5):
                            tracks[i] = group["track_" + end][t - 1, j]
                for i in range(self.PAIRS):
                    if tracks[i] is None:
                        tracks[i], next_track = next_track, next_track + 1
                np.testing.assert_array_equal(group["track_" + end][t], tracks)
                before = u
            self.assertTrue((group["overlaps_" + end + "_status"][0] == NOT_COMPUTED).all())
        # One step apart the sharpest direction is itself; from the start to step 500 nothing is left of it.
        self.assertEqual(group["track_largest"][STEPS.index(1499), 0], group["track_largest"][STEPS.index(1500), 0])
        self.assertTrue((group["overlap_largest"][STEPS.index(500)] < 0.1).all())
        self.assertEqual(list(group["track_largest"][STEPS.index(500)]), list(range(self.PAIRS, 2 * self.PAIRS)))

    def test_without_the_matrix_they_are_the_same(self):
        found = []
        for method in ("dense", "iterative", "matrix-free"):
            self.analyze(checkpoint(1499), checkpoint(1500), "--tracking", 2, "--only", "tracking", "--method", method,
                         output=method + ".h5")
            with h5py.File(self.folder / (method + ".h5")) as file:
                found.append(np.concatenate([file["tracking"][f"{name}_{end}"][1].ravel() for end in
                                             ("largest", "smallest") for name in ("overlaps", "continued", "track")]))
        np.testing.assert_allclose(found[1:], [found[0]] * 2, atol=1e-5)


class TwoRuns(program.Case):
    def test_the_first_checkpoint_of_each_has_none_before_it(self):
        self.analyze(DATA / "adam", DATA / "sgdm", "--eigenpairs", 1, "--only", "eigenpairs")
        with h5py.File(self.folder / "out.h5") as file:
            status = file["eigenpairs/overlap_largest_status"][:]
        self.assertEqual([i for i, s in enumerate(status) if s != OK], [0, 5])


if __name__ == "__main__":
    program.main()
