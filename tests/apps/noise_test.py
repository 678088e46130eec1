# SPDX-License-Identifier: BSD-3-Clause
"""Group /noise, recomputed in NumPy: gradients of single samples by a perceptron's own chain rule, and the
Hessian as PyTorch found it."""
import statistics

import h5py
import numpy as np

import program
from program import FIXTURES, PROBLEM

FOLDER = FIXTURES / "mlp-spirals-tanh"
STEP = "000200"
BATCH, BLOCKS = 25, 32
NOT_COMPUTED = 1


def per_sample_gradients():
    """(samples, parameters) of a perceptron with tanh and cross-entropy, in the order of its tensors."""
    with np.load(FOLDER / f"step-{STEP}.npz") as file:
        layers = [(file[f"layers.{i}.weight"], file[f"layers.{i}.bias"]) for i in range(3)]
    with np.load(FOLDER / "eval.npz") as file:
        x, classes = file["inputs"].astype(float), file["target"].astype(int)
    activations = [x]
    for i, (weight, bias) in enumerate(layers):
        z = activations[-1] @ weight.T + bias
        activations.append(np.tanh(z) if i < 2 else z)
    logits = activations.pop()
    delta = np.exp(logits - logits.max(axis=1, keepdims=True))
    delta /= delta.sum(axis=1, keepdims=True)
    delta[np.arange(len(x)), classes] -= 1
    parts = []
    for (weight, _), a in zip(reversed(layers), reversed(activations)):
        parts[:0] = [np.einsum("si,sj->sij", delta, a).reshape(len(x), -1), delta]
        delta = (delta @ weight) * (1 - a**2)
    return np.concatenate(parts, axis=1)


def noise_scales(gradients, hessian):
    g = gradients.mean(axis=0)
    s = np.cov(gradients, rowvar=False)
    return np.trace(s) / (g @ g), np.trace(hessian @ s) / (g @ hessian @ g)


class Noise(program.Case):

    @classmethod
    def setUpClass(cls):
        case = program.Case("run_program")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        case.analyze(FOLDER / f"step-{STEP}.npz", "--noise-sampling", "disjoint", "--noise-batch-size", BATCH,
                     "--noise-bins", 7, "--noise-ladder", "1,4", problem=FOLDER / "problem.toml")
        with h5py.File(case.folder / "out.h5", "r") as file:
            cls.found = {name: variable[0] for name, variable in file["noise"].items() if variable.shape[:1] == (1,)}
            cls.batch_sizes = file["noise/ladder_batch_size"][()]
        with np.load(FOLDER / f"golden-{STEP}.npz") as file:
            cls.golden = {name: file[name] for name in file.files}
        cls.gradients = per_sample_gradients()
        cls.covariance = np.cov(cls.gradients, rowvar=False)

    def norms_of(self, batch):
        g, count = self.gradients, len(self.gradients) // batch
        means = g[:count * batch].reshape(count, batch, -1).mean(axis=1)
        return np.linalg.norm(means - g.mean(axis=0), axis=1)

    def assert_close(self, name, wanted, tolerance=1e-10):
        found = self.found[name]
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max(), err_msg=name)
        self.assertNotIn(name + "_status", self.found)

    def test_gradients_here_are_those_of_pytorch(self):
        np.testing.assert_allclose(self.gradients.mean(axis=0), self.golden["gradient"], atol=1e-14)

    def test_norms_are_distances_of_minibatch_gradients(self):
        norms = self.norms_of(BATCH)
        self.assertEqual(len(norms), 512 // BATCH)
        self.assert_close("norm", norms)
        self.assert_close("qq_sample", np.sort(norms))
        self.assertEqual(self.found["batch_size"], BATCH)

    def test_shape_of_the_distribution(self):
        norms = self.norms_of(BATCH)
        d = norms - norms.mean()
        m2 = np.mean(d**2)
        self.assert_close("mean", norms.mean())
        self.assert_close("standard_deviation", norms.std(ddof=1))
        self.assert_close("skewness", np.mean(d**3) / m2**1.5)
        self.assert_close("excess_kurtosis", np.mean(d**4) / m2**2 - 3)
        median = np.sort(norms)[(len(norms) - 1) // 2]
        self.assert_close("median", median)
        self.assert_close("max_over_median", norms.max() / median)
        self.assert_close("qq_sample_standardized", np.sort(d) / np.sqrt(m2))

    def test_histogram_is_numpys(self):
        norms = self.found["norm"]
        counts, edges = np.histogram(norms, bins=7)
        density, _ = np.histogram(norms, bins=7, density=True)
        np.testing.assert_array_equal(self.found["histogram_counts"], counts)
        np.testing.assert_allclose(self.found["histogram_edges"], edges, rtol=1e-15)
        np.testing.assert_allclose(self.found["histogram_density"], density, rtol=1e-14)

    def test_qq_plots_are_scipys_and_statsmodels(self):
        norms = self.norms_of(BATCH)
        n = len(norms)
        i = np.arange(1, n + 1)
        positions = (i - 0.3175) / (n + 0.365)
        positions[[0, -1]] = 1 - 0.5**(1 / n), 0.5**(1 / n)
        normal = statistics.NormalDist()
        quantiles = np.array([normal.inv_cdf(p) for p in positions])
        self.assert_close("qq_theoretical", quantiles)
        self.assert_close("qq_theoretical_standardized", [normal.inv_cdf(k / (n + 1)) for k in i])
        slope, intercept = np.polyfit(quantiles, np.sort(norms), 1)
        self.assert_close("qq_slope", slope)
        self.assert_close("qq_intercept", intercept)
        self.assert_close("qq_correlation", np.corrcoef(quantiles, np.sort(norms))[0, 1])

    def test_tail_is_hills(self):
        x = np.sort(self.norms_of(BATCH))[::-1]
        n = len(x)
        plot = [k / np.log(x[:k] / x[k]).sum() for k in range(1, n // 2 + 1)]
        self.assert_close("hill_plot", plot, 1e-8)
        k = int(np.sqrt(n))
        self.assert_close("hill_index", plot[k - 1], 1e-8)
        self.assert_close("hill_index_standard_error", plot[k - 1] / np.sqrt(k), 1e-8)

    def test_ladder_has_the_shape_at_every_size(self):
        np.testing.assert_array_equal(self.batch_sizes, np.array([1, 4], np.int64))
        norms = [self.norms_of(size) for size in (1, 4)]
        self.assert_close("ladder_mean", [x.mean() for x in norms])
        d = [x - x.mean() for x in norms]
        self.assert_close("ladder_excess_kurtosis", [np.mean(x**4) / np.mean(x**2)**2 - 3 for x in d])

    def test_noise_scales(self):
        hessian = self.golden["hessian"]
        simple, by_hessian = noise_scales(self.gradients, hessian)
        self.assert_close("covariance_trace", np.trace(self.covariance))
        self.assert_close("noise_scale_simple", simple)
        self.assert_close("noise_scale_hessian", by_hessian, 1e-8)
        # Of equal blocks: the textbook's jackknife.
        blocks = np.array_split(np.arange(512), BLOCKS)
        without = np.array([noise_scales(np.delete(self.gradients, b, axis=0), hessian)[0] for b in blocks])
        spread = (BLOCKS - 1) / BLOCKS * np.sum((without - without.mean())**2)
        self.assert_close("noise_scale_simple_standard_error", np.sqrt(spread), 1e-8)
        self.assert_close("noise_scale_simple_bias", (BLOCKS - 1) * (without.mean() - simple), 1e-7)
        # The blocks' own Hessians are in this one: no golden number, but no more than of this order.
        self.assertTrue(0 < self.found["noise_scale_hessian_standard_error"] < 10 * abs(by_hessian))

    def test_alignment(self):
        h, s = self.golden["hessian"], self.covariance
        scale = np.linalg.norm(h) * np.linalg.norm(s)
        self.assert_close("alignment_cosine", np.trace(h @ s) / scale)
        self.assert_close("commutator", np.linalg.norm(h @ s - s @ h) / (2 * scale))
        values, vectors = np.linalg.eigh(h)
        noise = np.einsum("ik,ij,jk->k", vectors, s, vectors)
        norm = np.abs(values).max()
        np.testing.assert_allclose(self.found["eigenvalues"], values, atol=1e-11 * norm)
        # Of separate eigenvalues; within clusters directions are arbitrary.
        apart = np.abs(values) > 1e-3 * norm
        self.assertTrue(apart.sum() > 10)
        np.testing.assert_allclose(self.found["eigendirection_noise"][apart], noise[apart], rtol=1e-6)
        fitted = self.found["eigendirection_noise"]
        usable = (np.abs(values) > 1e-12 * norm) & (fitted > 1e-12 * fitted.max())
        self.assertEqual(self.found["noise_exponent_count"], usable.sum())
        x = np.log(np.abs(self.found["eigenvalues"][usable]))
        (slope, _), spread = np.polyfit(x, np.log(fitted[usable]), 1, cov=True)
        self.assert_close("noise_exponent", slope, 1e-9)
        self.assert_close("noise_exponent_standard_error", np.sqrt(spread[0, 0]), 1e-9)


class Program(program.Case):

    def run_noise(self, output, *arguments, expect=program.DONE):
        self.analyze(FOLDER / f"step-{STEP}.npz", "--only", "noise", *arguments, problem=FOLDER / "problem.toml",
                     output=output, expect=expect)
        with h5py.File(self.folder / output, "r") as file:
            return {name: variable[0] for name, variable in file["noise"].items() if variable.shape[:1] == (1,)}

    def test_draws_depend_on_the_seed_and_not_on_threads(self):
        first = self.run_noise("a.h5", "--noise-draws", 50, "--threads", 1)
        self.run_noise("b.h5", "--noise-draws", 50, "--threads", 3)
        self.assertEqual((self.folder / "a.h5").read_bytes(), (self.folder / "b.h5").read_bytes())
        other = self.run_noise("c.h5", "--noise-draws", 50, "--seed", 1)
        self.assertEqual(first["batch_size"], 64)
        self.assertEqual(first["norm"].shape, (50,))
        self.assertFalse(np.isin(first["norm"], other["norm"]).any())
        self.assertEqual(first["noise_scale_simple"], other["noise_scale_simple"])

    def test_drawn_with_replacement_the_mean_square_is_the_covariance(self):
        found = self.run_noise("out.h5", "--noise-draws", 4000, "--noise-batch-size", 10)
        squares = found["norm"]**2
        error = squares.std() / np.sqrt(len(squares))
        self.assertTrue(abs(squares.mean() - 511 / 512 * found["covariance_trace"] / 10) < 4 * error)

    def test_without_a_matrix_what_needs_it_is_not_computed(self):
        found = self.run_noise("out.h5", "--method", "matrix-free", "--noise-draws", 20)
        for name in ("noise_scale_hessian", "commutator", "eigendirection_noise", "noise_exponent"):
            self.assertTrue(np.isnan(found[name]).all(), name)
            self.assertEqual(found[name + "_status"], NOT_COMPUTED, name)
        self.assertNotIn("noise_scale_simple_status", found)

    def test_says_that_there_are_fewer_disjoint_batches_than_draws(self):
        for batch, draws, count in ((200, 50, 2), (100, 5, 5)):
            done = self.analyze(FOLDER / f"step-{STEP}.npz", "--noise-sampling", "disjoint", "--noise-batch-size", batch,
                                "--noise-draws", draws, "--force", problem=FOLDER / "problem.toml")
            said = f"noise: {count} of {draws} draws, since disjoint minibatches of {batch} samples are no more in 512"
            self.assertEqual(said in done.stderr, count < draws, done.stderr)
            with h5py.File(self.folder / "out.h5") as file:
                self.assertEqual(file["noise/norm"].shape[1], count)
                self.assertEqual(said in program.text(file.attrs.get("warnings", b"")), count < draws)

    def test_refuses_batches_that_cannot_be(self):
        for arguments, message in ((("--noise-sampling", "disjoint", "--noise-batch-size", 513), "512 samples"),
                                   (("--noise-ladder", "1,x"), "'1,x'"),
                                   (("--noise-ladder", "0"), "batch sizes from 1"),
                                   (("--noise-ladder", ""), "batch sizes from 1"),
                                   (("--noise-ladder", "8,1,8"), "the batch size 8 twice"),
                                   (("--noise-draws", 0), "noise-draws")):
            done = self.run_program("analyze", FOLDER / f"step-{STEP}.npz", *arguments, "--problem",
                                    FOLDER / "problem.toml", "-o", "out.h5")
            self.assertEqual(done.returncode, program.USAGE, done.stderr)
            self.assertIn(message, done.stderr)
        self.assertEqual(self.files(), set())

    SAMPLED = ('[data]\nkind = "linear-regression"\ndimension = 5\ncontext = 20\nsamples = 2000\nseed = 3\n')

    def sampled_problem(self):
        model = PROBLEM.read_text().split("[data]")[0]
        (self.folder / "sampled.toml").write_text(model + self.SAMPLED)
        return self.folder / "sampled.toml"

    def fresh(self, output, *arguments):
        self.analyze(program.checkpoint(0), "--only", "noise", "--noise-sampling", "fresh", "--noise-batch-size", 50,
                     "--noise-draws", 400, *arguments, problem=self.sampled_problem(), output=output)
        with h5py.File(self.folder / output, "r") as file:
            self.assertEqual(len(file.attrs["data_sha256"]), 64)
            return {name: file["noise"][name][0] for name in ("norm", "covariance_trace")}

    def test_fresh_minibatches_scatter_as_samples_do(self):
        found = self.fresh("fresh.h5", "--noise-reference", 1000)
        self.assertEqual(len(found["norm"]), 400)
        # E |g_i - g|^2 = tr S / B up to the error of g, a thousandth. Both are averages of a heavy-tailed law.
        squares = found["norm"]**2
        error = squares.std() / np.sqrt(len(squares)) / squares.mean()
        self.assertLess(error, 0.1)
        self.assertLess(abs(np.log(squares.mean() * 50 / found["covariance_trace"])), 0.4)
        again = self.fresh("again.h5", "--noise-reference", 1000, "--threads", 2)
        np.testing.assert_array_equal(again["norm"], found["norm"])

    def test_fresh_minibatches_need_a_sampler(self):
        done = self.run_program("analyze", program.checkpoint(0), "--noise-sampling", "fresh", "--problem", PROBLEM,
                                "-o", "out.h5")
        self.assertEqual(done.returncode, program.USAGE, done.stderr)
        self.assertIn("give [data] a 'kind'", done.stderr)
        self.assertEqual(self.files(), set())


if __name__ == "__main__":
    program.main()
