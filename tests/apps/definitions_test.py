# SPDX-License-Identifier: BSD-3-Clause
"""docs/definitions.md is what the program declares, and results hold nothing else."""
import json
import subprocess
import sys

import h5py
import numpy as np

import program
from program import DATA, DONE, FIXTURES, INCONCLUSIVE, PROGRAM, SOURCE, checkpoint, text, weights

# Of coordinates in groups of their own, which say "as /..." or number what lies along a dimension.
COORDINATES = {"step", "block", "block_column", "rank", "pair", "parameter_column", "invariance", "rule", "probe",
               "node", "point", "draw", "order", "edge", "bin", "ladder_batch_size", "batch_size", "neuron", "sample",
               "influential", "block_rank", "population_samples", "pair_before"}

EXPERIMENT = """
[model]
kind = "linear-attention"
layers = 1
parametrization = "sparse"
[data]
kind = "linear-regression"
covariates = "gaussian"
dimension = 2
context = 3
[evaluation]
samples = 8
seed = 1
[initialization]
distribution = "normal"
std = 0.1
[training]
steps = 4
batch = 8
seeds = [0]
checkpoint_every = 2
history_every = 2
[[run]]
name = "sgd"
rule = "sgd"
learning_rate = 0.01
"""


class Document(program.Case):
    def test_is_what_the_program_declares(self):
        written = SOURCE / "docs" / "definitions.md"
        made = subprocess.run([sys.executable, "-B", SOURCE / "docs" / "definitions.py", PROGRAM], text=True,
                              capture_output=True, check=True).stdout
        self.assertEqual(written.read_text().splitlines(), made.splitlines(),
                         f"\n{written} is out of date. Run: docs/definitions.py {PROGRAM} > docs/definitions.md")


class Declared(program.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        listed = subprocess.run([PROGRAM, "inspect", "--quantities", "--json"], text=True, capture_output=True,
                                check=True)
        cls.document = json.loads(listed.stdout)
        cls.names = [status["name"] for status in cls.document["statuses"]]
        cls.groups = {}
        for group in cls.document["groups"]:
            variables = {variable["name"]: variable for variable in group["variables"]}
            cls.groups.setdefault(group["name"], {}).update(variables)

    def check(self, result):
        """Each number in the file is declared, and each of its statuses."""
        seen = set()

        def visit(path, item):
            if not isinstance(item, h5py.Dataset) or "long_name" not in item.attrs:
                return
            group, _, name = path.rpartition("/")
            self.assertIn(group, self.groups)
            if name.endswith("_status"):
                declared = self.groups[group][name.removesuffix("_status")]["statuses"]
                for code in np.unique(item[()]):
                    self.assertIn(self.names[code], declared, path)
                return
            if name in COORDINATES and name not in self.groups[group]:
                return
            self.assertIn(name, self.groups[group], path)
            seen.add((group, name))
            declared = self.groups[group][name]
            definition = text(item.attrs["definition"])
            self.assertTrue(definition)
            if "references" in item.attrs:
                self.assertEqual(text(item.attrs["references"]).split("; "), declared["references"], path)
            else:
                self.assertEqual(declared["references"], [], path)

        with h5py.File(result) as file:
            file.visititems(visit)
        return seen

    def run_all(self, *arguments):
        done = self.run_program(*arguments, "--force")
        self.assertIn(done.returncode, (DONE, INCONCLUSIVE), done.stderr)

    def test_results_hold_what_is_declared(self):
        seen = set()
        everything = "hessian,spectrum,condition,structure,eigenpairs,tracking,blocks,ggn,stability,edge,norm-sharpness,sharpening," \
                     "influence,critical,smoothness,density,sampling,noise,tangent-kernel"
        zero = self.write_checkpoint("step-000600.npz", {name: 0 * value for name, value in weights().items()})
        broken = self.write_checkpoint("step-000700.npz", {name: np.nan * value for name, value in weights().items()})
        problem = self.write_problem()
        common = ("--problem", problem, "-o", "out.h5", "--noise-draws", "50", "--jackknife-blocks", "3",
                  "--norm-subproblems", "20")
        adam = tuple(checkpoint(step) for step in (0, 500, 1500))
        for options in (
                (*adam, "--only", everything, "--preconditioner", "adam", "--second-moments", "recomputed",
                 "--learning-rate", "1e-2", "--noise-ladder", "1,8", "--batch-sharpness", "1,8", "--save-hessian"),
                (checkpoint(500), zero, broken, "--only", everything, "--preconditioner", "stored",
                 "--expect-loss", "1", "--expect-loss", "2", "--expect-loss", "3"),
                (*adam[:2], "--only", everything, "--method", "matrix-free", "--preconditioner", "adam"),
                (*adam[:2], "--only", everything, "--order", "given", "--method", "iterative")):
            with self.subTest(options=options):
                self.run_all("analyze", *options, *common)
                seen |= self.check(self.folder / "out.h5")
        for model, analyzer in (("signal-noise", "alignment"), ("attention-softmax", "attention-terms")):
            self.run_all("analyze", FIXTURES / model / "step-000000.npz", "--only", analyzer, "--problem",
                         FIXTURES / model / "problem.toml", "-o", "out.h5")
            seen |= self.check(self.folder / "out.h5")
        sampled = self.write_problem(('file = "' + str(DATA / "eval.npz") + '"',
                                      'kind = "linear-regression"\ndimension = 5\ncontext = 20\nsamples = 64'),
                                     name="sampled.toml")
        self.run_all("analyze", adam[1], "--problem", sampled, "--population", "2000", "-o", "out.h5")
        seen |= self.check(self.folder / "out.h5")
        for directions in ("random", "eigen:0,-1", "pca", "between"):
            points = adam[:2] if directions == "between" else adam
            self.run_all("landscape", *points, "--problem", problem, "-o", "plane.h5", "--directions", directions,
                         "--grid", "3x1" if directions == "between" else "3x3", "--curvature")
            seen |= self.check(self.folder / "plane.h5")
        self.run_all("path", *adam[1:], "--problem", problem, "-o", "path.h5", "--images", "3", "--max-steps", "10")
        seen |= self.check(self.folder / "path.h5")
        (self.folder / "experiment.toml").write_text(EXPERIMENT)
        self.run_all("train", "experiment.toml", "-o", "trained")
        for history in (self.folder / "trained").rglob("history.h5"):
            seen |= self.check(history)
        declared = {(group, name) for group, variables in self.groups.items() for name in variables}
        # Of training, what depends on the model and on what is trained.
        rare = {("", "accuracy"), ("", "trained_gradient_norm")}
        rare.add(("spectrum", "error_bound"))  # of hesscope-mpi alone: tests/mpi
        self.assertEqual(declared - seen - rare, set())

    def test_every_number_is_defined(self):
        for group, variables in self.groups.items():
            for name, variable in variables.items():
                with self.subTest(quantity=f"/{group}/{name}"):
                    self.assertTrue(variable["long_name"] and variable["units"])
                    self.assertGreater(len(variable["definition"].split()), 1)
                    for source in variable["references"]:
                        self.assertRegex(source, r"^[^;]+ \(\d{4}\), [^;]+$")

    def test_text_names_each_with_its_sources(self):
        listed = self.run_program("inspect", "--quantities")
        self.assertEqual((listed.returncode, listed.stderr), (DONE, ""))
        for name in ("gd_threshold", "hill_index", "barrier_height", "batch_loss"):
            self.assertIn(f"\n  {name}", listed.stdout)
        self.assertIn("/stability of hesscope analyze\n", listed.stdout)
        self.assertTrue(all(len(line) <= 80 for line in listed.stdout.splitlines()))

    def test_takes_no_file(self):
        self.refuses(program.USAGE, ("inspect", "--quantities", DATA / "eval.npz"), "FILE does not go with --quantities")


if __name__ == "__main__":
    program.main()
