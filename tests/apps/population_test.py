# SPDX-License-Identifier: BSD-3-Clause
"""Figures over more and more samples drawn anew: against closed forms, against an analysis of a sample; refusals."""
import h5py
import numpy as np

import program
from program import DATA, DONE, INCONCLUSIVE, USAGE, checkpoint

D, N = 2, 3  # dimension and context
UNKNOWN, CROWDED = 0, 2  # of flags of intervals
ONE_LAYER = f"""
[model]
kind = "linear-attention"
layers = 1
[data]
kind = "linear-regression"
dimension = {D}
context = {N}
samples = 50
"""


class Population(program.Case):
    def population(self, *arguments, problem):
        self.analyze(*arguments, "--only", "population", problem=problem)
        with h5py.File(self.folder / "out.h5") as file:
            return {name: file["population"][name][()] for name in file["population"]}

    def test_comes_to_the_moments_of_one_layer(self):
        """The Hessian by Q is 2 (n + d + 1) / n I for Gaussian prompts, that by P zero, whatever the parameters."""
        (self.folder / "problem.toml").write_text(ONE_LAYER)
        random = np.random.default_rng(2)
        start = self.write_checkpoint("step-0.npz", {f"layers.0.{m}": random.normal(size=(D, D)) for m in "PQ"})
        found = self.population(start, "--population", "200000", problem=self.folder / "problem.toml")
        exact = 2 * (N + D + 1) / N
        sizes = found["population_samples"]
        np.testing.assert_array_equal(sizes[1:], 2 * sizes[:-1])
        self.assertGreaterEqual(sizes[-1], 200000)
        error = found["lambda_max_standard_error"][0]
        # The largest of four equal eigenvalues is above them, by about the spread of one.
        self.assertTrue((np.abs(found["lambda_max"][0] - exact) < 5 * error).all())
        self.assertLess(error[-1], 0.02 * exact)
        self.assertLess(error[-1], error[0] / 4)
        self.assertTrue((found["lambda_max_lower"][0] < found["lambda_max"][0]).all())
        # So the interval may miss them, and says so at each number of samples; the median is zero.
        np.testing.assert_array_equal(found["lambda_max_interval"][0], CROWDED)
        np.testing.assert_array_equal(found["lambda_median_interval"][0], UNKNOWN)
        self.assertTrue((found["lambda_max_bias"][0] > 0).all())
        np.testing.assert_array_equal(found["num_zero"][0], D * D)
        np.testing.assert_array_equal(found["num_negative"][0], 0)
        self.assertGreaterEqual(found["tail_parameter"][0], D * D)
        self.assertTrue(0.5 < found["tail_index"][0] < 5)  # of a product of squares of Gaussians

    def test_without_numbers_is_an_empty_figure(self):
        """Matrix-free there are none: the figure says so, and the page has all the others."""
        (self.folder / "problem.toml").write_text(ONE_LAYER)
        start = self.write_checkpoint("step-0.npz", {f"layers.0.{m}": np.eye(D) for m in "PQ"})
        self.analyze(start, "--only", "population,spectrum", "--method", "matrix-free", problem=self.folder / "problem.toml")
        done = self.run_program("plot", "out.h5", "--figure", "population", "-o", "out.svg")
        self.assertEqual(done.returncode, INCONCLUSIVE, done.stderr)
        self.assertIn("out.svg: there is nothing to see: every number is missing", done.stderr)
        done = self.run_program("report", "out.h5", "-o", "out.html")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_has_a_closed_form_of_one_layer(self):
        """The same checkpoint under the model whose loss is the mean over all prompts, drawn from N(0, I) or Gamma."""
        np.savez(self.folder / "context.npz", context=[float(N)])
        random = np.random.default_rng(2)
        start = self.write_checkpoint("step-0.npz", {f"layers.0.{m}": random.normal(size=(D + 1, D + 1)) for m in "PQ"})
        for law in ('covariates = "gaussian"', 'covariates = "gamma"\ngamma_shape = 3.0\ngamma_scale = 0.5'):
            exact, drawn = self.folder / "exact.toml", self.folder / "drawn.toml"
            drawn.write_text(ONE_LAYER.replace("layers = 1", 'layers = 1\nparametrization = "full"') + law)
            exact.write_text(f'[model]\nkind = "linear-attention-population"\nparametrization = "full"\n{law}\n'
                             '[data]\nfile = "context.npz"\n')
            found = self.population(start, "--population", "200000", "--force", problem=drawn)
            self.analyze(start, "--only", "spectrum", "--force", problem=exact)
            with h5py.File(self.folder / "out.h5") as file:
                for end in ("lambda_max", "lambda_min"):
                    error = found[f"{end}_standard_error"][0, -1]
                    self.assertLess(error, 0.05 * abs(found["lambda_max"][0, -1]))
                    self.assertLess(abs(file[f"spectrum/{end}"][0] - found[end][0, -1]), 5 * error, end)

    @program.plain_program_only
    def test_of_three_layers_holds_what_a_sample_has(self):
        problem = self.write_problem((f'file = "{DATA / "eval.npz"}"',
                                      'kind = "linear-regression"\ndimension = 5\ncontext = 20\nsamples = 20000'))
        found = self.population(checkpoint(1500), "--population", "16000", problem=problem)
        self.analyze(checkpoint(1500), "--only", "spectrum,condition", "--force", problem=problem)
        with h5py.File(self.folder / "out.h5") as file:
            for name, value in (("lambda_max", file["spectrum/lambda_max"][0]),
                                ("robust_diagonal", file["condition/robust_diagonal"][0])):
                # Two independent samples of about the same size.
                self.assertLess(abs(value - found[name][0, -1]), 6 * found[f"{name}_standard_error"][0, -1], name)
        done = self.run_program("plot", "out.h5", "--figure", "population", "-o", "population.svg")
        self.assertNotEqual(done.returncode, DONE)  # of a result without it

    def test_has_a_figure_and_the_same_bytes_on_any_threads(self):
        (self.folder / "problem.toml").write_text(ONE_LAYER)
        start = self.write_checkpoint("step-0.npz", {f"layers.0.{m}": np.eye(D) for m in "PQ"})
        seen = set()
        for threads in ("1", "3"):
            found = self.population(start, "--population", "4000", "--threads", threads, "--force",
                                    problem=self.folder / "problem.toml")
            seen.add(b"".join(value.tobytes() for value in found.values()))
        self.assertEqual(len(seen), 1)
        done = self.run_program("plot", "out.h5", "--figure", "population", "-o", "population.svg")
        self.assertEqual(done.returncode, DONE, done.stderr)
        drawn = (self.folder / "population.svg").read_text()
        self.assertIn("largest eigenvalue", drawn)
        self.assertIn("rings: crowded", drawn)  # four equal eigenvalues are the largest

    def test_refuses_data_of_a_file(self):
        self.refuses(USAGE, ["analyze", checkpoint(500), "--problem", self.write_problem(), "-o", "no.h5",
                             "--population", "1000"], "draws new samples", "sampler")


if __name__ == "__main__":
    program.main()
