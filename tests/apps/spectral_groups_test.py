# SPDX-License-Identifier: BSD-3-Clause
"""The groups beyond eigenvalues and condition numbers, against NumPy on PyTorch's Hessians."""
import re

import h5py
import netCDF4
import numpy as np
import xarray

import program
from program import DATA, FIXTURES, INCONCLUSIVE, STEPS, checkpoint, golden, statuses, weights

GROUPS = ("hessian", "spectrum", "condition", "structure", "eigenpairs", "blocks", "ggn", "stability", "density",
          "sampling")
OK, NOT_COMPUTED, ZERO_DENOMINATOR, NOT_STORED = 0, 1, 6, 9
PAIRS = 3


def lower_median(values):
    return np.sort(values)[(len(values) - 1) // 2]


def smoothed(nodes, weights_of, grid, sigma):
    terms = weights_of * np.exp(-0.5 * ((grid[:, None] - nodes) / sigma) ** 2)
    return terms.sum(axis=1) / (np.sqrt(2 * np.pi) * sigma)


def wasserstein(nodes, weights_of, eigenvalues):
    """The integral of the distance of the distribution functions."""
    at = np.sort(np.concatenate([nodes, eigenvalues]))
    order = np.argsort(nodes)
    cumulated = np.concatenate([[0], np.cumsum(weights_of[order])])
    below = cumulated[np.searchsorted(nodes[order], at[:-1], side="right")]
    exact = np.searchsorted(np.sort(eigenvalues), at[:-1], side="right") / len(eigenvalues)
    return np.sum(np.abs(below - exact) * np.diff(at))


def js_distance(a, b, sigma, grid):
    p = smoothed(a, np.full(len(a), 1 / len(a)), grid, sigma)
    q = smoothed(b, np.full(len(b), 1 / len(b)), grid, sigma)
    p, q = p / p.sum(), q / q.sum()
    m = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p / m), 0) + np.where(q > 0, q * np.log(q / m), 0)
    return np.sqrt(max(terms.sum() / 2, 0))


class AllGroups(program.Case):
    """Five checkpoints of a folder with every group, analyzed once for all tests of the class."""

    OPTIONS = ("--eigenpairs", PAIRS, "--blocks", "--ggn", "--density", "--sampling", "--preconditioner", "adam",
               "--second-moments", "recomputed", "--learning-rate", 0.02, "--beta1", 0.9, "--beta2", 0.99, "--epsilon", 1e-6)

    @classmethod
    def setUpClass(cls):
        case = program.Case("run_program")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        case.analyze(DATA / "adam", "--save-hessian", *cls.OPTIONS)
        cls.result = case.folder / "out.h5"
        cls.goldens = [golden(step) for step in STEPS]

    def setUp(self):
        super().setUp()
        self.file = h5py.File(self.result, "r")
        self.addCleanup(self.file.close)
        self.offsets = list(self.file["parameter_offset"][:]) + [150]

    def blocks(self):
        return [slice(a, b) for a, b in zip(self.offsets, self.offsets[1:])]

    def assert_close(self, found, wanted, tolerance, scale=None):
        wanted = np.asarray(wanted)
        scale = np.abs(wanted).max() if scale is None else scale
        error = np.abs(np.asarray(found) - wanted).max()
        self.assertTrue(error <= tolerance * scale, f"off by {error / scale:.2e} of {scale}")

    @program.plain_program_only
    def test_foreign_readers_open_every_group(self):
        with netCDF4.Dataset(self.result) as file:
            self.assertEqual(tuple(file.groups), GROUPS)
        for group in GROUPS:
            for engine in ("h5netcdf", "netcdf4"):
                with xarray.open_dataset(self.result, group=group, engine=engine) as opened:
                    self.assertGreater(len(opened.data_vars), 3)

    def test_no_ok_hides_a_nan(self):
        padded = {"structure/flatness_bound", "density/nodes", "blocks/eigenvalues"}
        for group in GROUPS:
            for name, variable in self.file[group].items():
                if name.endswith("_status") or variable.dtype.kind != "f":
                    continue
                values = variable[()][statuses(self.file[group], name) == OK]
                if f"{group}/{name}" not in padded:
                    self.assertTrue(np.isfinite(values).all(), f"{group}/{name}")

    def test_zeros_are_explained(self):
        group = self.file["structure"]
        for i, g in enumerate(self.goldens):
            self.assertEqual((group["num_dead"][i], group["num_explained"][i], group["num_unexplained"][i]), (25, 25, 0))
            np.testing.assert_array_equal(group["dead"][i], np.abs(g["hessian"]).max(axis=0) == 0)
            alive = np.sort(g["eigenvalues"])[np.argsort(np.abs(np.sort(g["eigenvalues"])))[25:]]
            norm = np.abs(alive).max()
            self.assert_close(group["median_without_explained"][i], lower_median(alive), 1e-11, norm)
            self.assert_close(group["robust_absolute_without_explained"][i],
                              norm / lower_median(np.abs(alive)), 1e-6)

    def test_eigenpairs(self):
        group = self.file["eigenpairs"]
        before = None
        for i, g in enumerate(self.goldens):
            values, vectors = np.linalg.eigh(g["hessian"])
            norm = np.abs(values).max()
            self.assert_close(group["eigenvalues_largest"][i], values[::-1][:PAIRS], 1e-11, norm)
            self.assert_close(group["eigenvalues_smallest"][i], values[:PAIRS], 1e-11, norm)
            self.assertLess(group["residuals_largest"][i].max(), 1e-8 * norm)
            for end, wanted in (("largest", vectors[:, ::-1][:, :PAIRS]), ("smallest", vectors[:, :PAIRS])):
                found = group["eigenvectors_" + end][i].T
                self.assert_close(np.abs(np.sum(found * wanted, axis=0)), np.ones(PAIRS), 1e-8)
                self.assertTrue((found[np.abs(found).argmax(axis=0), range(PAIRS)] > 0).all())
                self.assert_close(group["participation_" + end][i], (wanted ** 4).sum(axis=0), 1e-7)
                mass = [(wanted[b] ** 2).sum(axis=0) for b in self.blocks()]
                self.assert_close(group["block_weight_" + end][i], np.transpose(mass), 1e-7)
                share = np.cumsum((wanted.T @ g["gradient"]) ** 2) / np.dot(g["gradient"], g["gradient"])
                self.assert_close(group["gradient_fraction_" + end][i], share, 1e-6)
                if before is not None:
                    overlap = ((before[end].T @ wanted) ** 2).sum(axis=0)
                    self.assert_close(group["overlap_" + end][i], overlap, 1e-6)
            before = {"largest": vectors[:, ::-1][:, :PAIRS], "smallest": vectors[:, :PAIRS]}
        self.assertEqual(list(group["overlap_largest_status"][:]), [NOT_COMPUTED] + [OK] * 4)

    def test_blocks(self):
        group = self.file["blocks"]
        for i, g in enumerate(self.goldens):
            h, blocks = g["hessian"], self.blocks()
            norm = np.abs(g["eigenvalues"]).max()
            spectra = [np.linalg.eigvalsh(h[b, b]) for b in blocks]
            for b, values in enumerate(spectra):
                self.assert_close(group["eigenvalues"][i, b, :25], values, 1e-11, norm)
                self.assert_close(group["lambda_median"][i, b], lower_median(values), 1e-11, norm)
                self.assert_close(group["trace"][i, b], values.sum(), 1e-11, norm)
            norms = [[np.linalg.norm(h[a, b]) for b in blocks] for a in blocks]
            self.assert_close(group["frobenius_norm"][i], norms, 1e-11, norm)
            self.assert_close(group["gradient_norm"][i], [np.linalg.norm(g["gradient"][b]) for b in blocks], 1e-10)
            distances = group["js_distance"][i]
            self.assert_close(distances, distances.T, 0, 1)
            self.assert_close(np.diag(distances), np.zeros(6), 0, 1)
            for a, b in ((0, 1), (2, 3)):
                both = np.concatenate([spectra[a], spectra[b]])
                sigma = 0.01 * max(np.ptp(both), 1e-3 * np.abs(both).max())
                grid = np.linspace(both.min() - 8 * sigma, both.max() + 8 * sigma, 2000)
                self.assert_close(distances[a, b], js_distance(spectra[a], spectra[b], sigma, grid), 1e-6, 1)
            self.assert_close(group["mean_js_distance"][i], distances.sum() / 30, 1e-12)
            # By decades: histograms of signed magnitudes, none of which lies at an edge.
            largest = max(np.abs(values).max() for values in spectra)
            edges = largest * 10.0 ** -np.arange(25)[::-1]
            edges[-1] *= 1 + 1e-12
            shares = []
            for values in spectra:
                band = (len(values) + 10) * np.finfo(float).eps * np.abs(values).max()
                signed = [np.histogram(sign * values[np.abs(values) > band], edges)[0] for sign in (1, -1)]
                shares.append(np.concatenate([*signed, [(np.abs(values) <= band).sum()]]) / len(values))
            decades = group["js_distance_decades"][i]
            for a in range(6):
                for b in range(6):
                    p, q = shares[a], shares[b]
                    with np.errstate(divide="ignore", invalid="ignore"):
                        terms = [np.where(x > 0, x * np.log(2 * x / (p + q)), 0).sum() / 2 for x in (p, q)]
                    self.assert_close(decades[a, b], np.sqrt(max(sum(terms), 0)), 1e-7, 1)
            self.assert_close(group["mean_js_distance_decades"][i], decades.sum() / 30, 1e-12)

    def test_gauss_newton_and_the_rest_are_the_hessian(self):
        group, norm_of = self.file["ggn"], np.linalg.norm
        for i, g in enumerate(self.goldens):
            norm = np.abs(g["eigenvalues"]).max()
            # The loss is convex in its predictions, 256 samples of one each.
            self.assertGreaterEqual(group["lambda_min"][i], -group["rounding_band"][i])
            self.assertEqual(group["num_negative"][i], 0)
            self.assert_close(group["trace"][i] + group["trace_functional"][i], np.trace(g["hessian"]), 1e-11)
            self.assertLessEqual(group["lambda_max"][i] + group["lambda_min_functional"][i], g["eigenvalues"][-1] + 1e-11 * norm)
            self.assertGreaterEqual(group["lambda_max"][i] + group["lambda_max_functional"][i],
                                    g["eigenvalues"][-1] - 1e-11 * norm)
            # By blocks: Pythagoras over the tensors.
            for name in ("frobenius_norm", "frobenius_norm_functional"):
                self.assert_close(norm_of(group["block_" + name][i]), group[name][i], 1e-12)
            for values, name in ((group["eigenvalues"][i], "frobenius_norm"),
                                 (group["eigenvalues_functional"][i], "frobenius_norm_functional")):
                self.assert_close(norm_of(values), group[name][i], 1e-11)

    def test_stability(self):
        group, eta, beta1 = self.file["stability"], 0.02, 0.9
        for i, g in enumerate(self.goldens):
            self.assert_close(group["gd_ratio"][i], g["eigenvalues"][-1] * eta / 2, 1e-10)
            self.assert_close(group["momentum_ratio"][i], g["eigenvalues"][-1] * eta / (2 + 2 * beta1), 1e-10)
            p = np.abs(g["gradient"]) + 1e-6  # v = g^2, no corrections
            self.assert_close(group["preconditioner"][i], p, 1e-9)
            scaled = g["hessian"] / np.sqrt(np.outer(p, p))
            values = np.linalg.eigvalsh(scaled)
            self.assert_close(group["eigenvalues_preconditioned"][i], values, 1e-8)
            self.assert_close(group["adam_ratio"][i], values[-1] * eta * (1 - beta1) / (2 + 2 * beta1), 1e-8)
            diagonal = np.abs(np.diag(scaled))
            self.assert_close(group["robust_diagonal_preconditioned"][i], diagonal.max() / lower_median(diagonal), 1e-7)

    def test_density(self):
        group = self.file["density"]
        for i, g in enumerate(self.goldens):
            nodes, plain = group["nodes"][i], group["weights"][i]
            self.assertEqual(nodes.shape, (10, 100))
            there = ~np.isnan(nodes)
            self.assertTrue((plain[~there] == 0).all() and (plain[there] >= 0).all())
            self.assert_close(plain.sum(axis=1), np.ones(10), 1e-12)
            calibrated = group["calibrated_weights"][i]
            self.assert_close(calibrated.sum(), 10, 1e-12)
            # The rule of a probe has the moments of H: the mean of all is near the trace.
            error = group["trace_estimate"][i] - np.trace(g["hessian"])
            self.assertTrue(abs(error) <= 6 * group["trace_standard_error"][i])
            flat, mass = nodes[there], calibrated[there] / 10
            distance = wasserstein(flat, mass, g["eigenvalues"])
            width = np.ptp(g["eigenvalues"])
            self.assert_close(group["wasserstein_distance"][i], distance, 1e-8, width)
            self.assertLess(group["relative_wasserstein_distance"][i], 0.01)
            at, sigma = group["eigenvalue"][i], group["sigma"][i]
            uniform = np.full(150, 1 / 150)
            self.assert_close(group["exact_density"][i], smoothed(g["eigenvalues"], uniform, at, sigma), 1e-8)
            self.assert_close(group["density"][i], smoothed(flat, mass, at, sigma), 1e-8)
            self.assert_close(np.trapz(group["density"][i], at), 1, 1e-10)
            decades = group["log10_magnitude"][i]
            total = (np.trapz(group["log_density_negative"][i] + group["log_density_positive"][i], decades)
                     + group["zero_mass"][i])
            self.assert_close(total, 1, 1e-9)
            self.assert_close(group["zero_mass"][i], 25 / 150, 1e-12)

    def test_sampling_errors_are_those_of_a_jackknife(self):
        """The diagonal and the largest eigenvalue, from Hessians of the data without each block."""
        data = np.load(DATA / "eval.npz")
        blocks, samples = 4, 256
        np.savez(self.folder / "eval.npz", **data)
        self.analyze(checkpoint(500), "--sampling", "--jackknife-blocks", blocks, "--only", "sampling")
        found = h5py.File(self.folder / "out.h5")["sampling"]
        for name in ("lambda_max", "lambda_min", "lambda_median", "median_magnitude", "robust_eigenvalue",
                     "robust_absolute", "robust_diagonal"):
            flag = found[name + "_interval"]
            self.assertEqual(program.text(flag.attrs["flag_meanings"]), "unknown usable crowded crowded_median")
            self.assertIn(flag[0], range(4))
        left_out = {"lambda_max": [], "lambda_min": [], "robust_diagonal": []}
        for b in range(blocks):
            keep = np.r_[0:b * samples // blocks, (b + 1) * samples // blocks:samples]
            np.savez(self.folder / "part.npz", **{name: data[name][keep] for name in data.files})
            problem = self.write_problem((str(DATA / "eval.npz"), str(self.folder / "part.npz")))
            self.analyze(checkpoint(500), "--force", "--only", "spectrum,condition", output="part.h5", problem=problem)
            with h5py.File(self.folder / "part.h5") as part:
                for name, values in left_out.items():
                    group = "condition" if name == "robust_diagonal" else "spectrum"
                    values.append(part[group][name][0])
        for name, values in left_out.items():
            values = np.array(values)
            error = np.sqrt((blocks - 1) / blocks * ((values - values.mean()) ** 2).sum())
            self.assert_close(found[name + "_standard_error"][0], error, 1e-6)
            self.assert_close(found[name + "_bias"][0], (blocks - 1) * (values.mean() - found[name][0]), 1e-6,
                              np.abs(values).max())


class OtherModels(program.Case):
    def test_zeros_of_every_fixture_are_explained(self):
        for folder in sorted(p.name for p in FIXTURES.iterdir() if any(p.glob("step-*.npz"))):
            with self.subTest(folder):
                steps = sorted((FIXTURES / folder).glob("step-*.npz"))
                self.analyze(*steps, "--only", "spectrum,structure", "--force", problem=FIXTURES / folder / "problem.toml")
                with h5py.File(self.folder / "out.h5") as file:
                    structure = file["structure"]
                    np.testing.assert_array_equal(structure["num_explained"][:], file["spectrum/num_zero"][:])
                    self.assertEqual(list(structure["num_unexplained"][:]), [0] * len(steps))
                    explained = structure["explained"][:].sum(axis=1) + structure["num_dead"][:]
                    np.testing.assert_array_equal(explained, structure["num_explained"][:])


class Preconditioner(program.Case):
    def test_from_a_checkpoint(self):
        arrays, moments = weights(500), {}
        for k, (name, values) in enumerate(arrays.items()):
            moments[name] = np.random.default_rng(k).uniform(1e-8, 1e-4, values.shape)
        state = {"optimizer.exp_avg_sq." + name: v for name, v in moments.items()}
        self.write_checkpoint("step-500.npz", {**arrays, **state, "optimizer.step": np.array(20.0)})
        self.analyze("step-500.npz", "--preconditioner", "adam", "--only", "stability", "--beta1", "0.8", "--beta2", "0.9")
        g = golden(500)
        v = np.concatenate([moments[name].ravel() for name in arrays])
        p = (1 - 0.8 ** 20) * (np.sqrt(v / (1 - 0.9 ** 20)) + 1e-8)
        with h5py.File(self.folder / "out.h5") as file:
            group = file["stability"]
            self.assertEqual(group["source"][0], 1)
            np.testing.assert_allclose(group["preconditioner"][0], p, rtol=1e-12)
            wanted = np.linalg.eigvalsh(g["hessian"] / np.sqrt(np.outer(p, p)))
            error = np.abs(group["eigenvalues_preconditioned"][0] - wanted).max()
            self.assertTrue(error <= 1e-10 * np.abs(wanted).max())
            self.assertEqual(group["adam_threshold_status"][0], NOT_COMPUTED)  # no learning rate


class MatrixFree(program.Case):
    """A network of 869 parameters, whose Hessian is never assembled."""

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(3)
        arrays = {}
        for i, (n_in, n_out) in enumerate(((20, 24), (24, 12), (12, 5))):
            arrays[f"layers.{i}.weight"] = random.standard_normal((n_out, n_in)) / np.sqrt(n_in)
            arrays[f"layers.{i}.bias"] = 0.1 * random.standard_normal(n_out)
        self.write_checkpoint("step-1.npz", arrays)
        np.savez(self.folder / "eval.npz", inputs=random.standard_normal((64, 20)), target=random.integers(0, 5, 64))
        (self.folder / "problem.toml").write_text(
            '[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "cross-entropy"\n[data]\nfile = "eval.npz"\n')

    @program.plain_program_only
    def test_ends_agree_with_the_dense_spectrum_and_are_called_unproved(self):
        options = ("--eigenpairs", 2, "--ggn", "--blocks", "--density", "--sampling", "--jackknife-blocks", 4,
                   "--preconditioner", "adam", "--second-moments", "recomputed")
        problem = self.folder / "problem.toml"
        done = self.analyze("step-1.npz", *options, "--method", "matrix-free", problem=problem, expect=INCONCLUSIVE)
        [said] = [line for line in done.stderr.splitlines() if "converged without a count" in line]
        self.assertRegex(said, r"step-1\.npz: spectrum/lambda_min, spectrum/lambda_max, \S+, \S+ and \d+ more: converged")
        with h5py.File(self.folder / "out.h5") as free:
            unproved = program.text(free.attrs["unproved"]).splitlines()
        self.assertEqual(len(unproved), 4 + int(re.search(r"and (\d+) more", said)[1]))
        self.assertLessEqual({"spectrum/lambda_max 0", "eigenpairs/eigenvalues_largest 0"}, set(unproved))
        self.analyze("step-1.npz", *options, problem=problem, output="dense.h5")
        with h5py.File(self.folder / "out.h5") as free, h5py.File(self.folder / "dense.h5") as dense:
            norm = np.abs(dense["spectrum/eigenvalues"][0]).max()
            for name in ("spectrum/lambda_min", "spectrum/lambda_max", "eigenpairs/eigenvalues_largest",
                         "eigenpairs/eigenvalues_smallest", "ggn/lambda_max", "ggn/lambda_max_functional",
                         "blocks/lambda_min", "blocks/lambda_max"):
                error = np.abs(free[name][0] - dense[name][0]).max()
                self.assertTrue(error <= 1e-8 * norm, name)
            scale = dense["stability/lambda_max_preconditioned"][0]
            self.assertTrue(abs(free["stability/lambda_max_preconditioned"][0] - scale) <= 1e-8 * scale)
            for name in ("spectrum/lambda_median", "condition/robust_diagonal", "hessian/trace", "density/exact_density",
                         "structure/num_dead"):
                self.assertEqual(free[name + "_status"][0], NOT_COMPUTED, name)
            first = free["sampling/lambda_max_standard_error_first_order"][0]
            wanted = dense["sampling/lambda_max_standard_error_first_order"][0]
            self.assertTrue(abs(first - wanted) <= 1e-6 * wanted)
            self.assertTrue((free["density/nodes"][0] >= free["spectrum/lambda_min"][0] - 1e-8 * norm).all())


if __name__ == "__main__":
    program.main()
