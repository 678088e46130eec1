# SPDX-License-Identifier: BSD-3-Clause
"""Hessians spread over ranks: ScaLAPACK against LAPACK, the same bytes on one grid, and no rank that holds all."""
import json
import os
import pathlib
import re
import resource
import signal

import h5py
import numpy as np

import program
from program import DONE, FAILED, FIXTURES, INCONCLUSIVE, PROBLEM, USAGE, checkpoint
from ranks import RANKED, Ranks

MATRICES = os.environ["HESSCOPE_MATRIX_RANKS"]
MUTANTS = os.environ["HESSCOPE_MUTANTS"]
ENGINES = ("scalapack", "elpa") if os.environ["HESSCOPE_HAS_ELPA"] == "1" else ("scalapack",)
# Of Open MPI's collectives: which algorithm they go by, and so who sends what to whom, and when.
COLLECTIVES = ({}, {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_allreduce_algorithm": "4",
                    "OMPI_MCA_coll_tuned_bcast_algorithm": "3", "OMPI_MCA_coll_tuned_reduce_algorithm": "2"})
ASKED = ["--only", "spectrum,condition"]


class Matrices(Ranks):
    """matrix_ranks itself compares with LAPACK: golden Hessians and others."""

    def found(self, count, engine, grid, *mode, **environment):
        return self.finish(self.start(["-n", str(count), MATRICES, engine, str(grid), *map(str, mode)], **environment),
                           DONE).stdout

    def test_are_those_of_lapack(self):
        # On one rank without a full proof, too; by ELPA those with rows on every rank.
        compared = {("scalapack", 1): 70, ("scalapack", 2): 35, ("scalapack", 3): 35,
                    ("elpa", 1): 35, ("elpa", 2): 28, ("elpa", 3): 20}
        for engine in ENGINES:
            for grid in (1, 2, 3):
                found = self.found(grid**2, engine, grid, "spectra")
                self.assertEqual(found.count("\n"), compared[engine, grid], found)

    def test_are_the_same_in_every_run(self):
        for grid, counts in ((1, (1, 2)), (2, (4, 5)), (3, (9, 10))):
            found = {self.found(count, "scalapack", grid, "bits", **collectives) for collectives in COLLECTIVES
                     for count in counts}
            self.assertEqual(len(found), 1, (grid, found))
            self.assertEqual(found.pop().count("\n"), 4)

    def test_are_on_no_rank_as_a_whole(self):
        n, count = 1600, 4
        part = 8 * n * n / count
        constants = {"scalapack": 6 << 20, "elpa": 8 << 20}  # what each engine has besides
        for engine, mode, matrices in (("scalapack", "memory", 2), *((engine, "proved", 5) for engine in ENGINES)):
            constant = constants[engine]
            for _ in range(3):  # a rank that is late keeps what others have sent it already: not in every run
                growth = [float(line) for line in self.found(count, engine, 2, mode, n).split()]
                self.assertEqual(len(growth), count)
                if max(growth) < matrices * part + constant:
                    break
            for each in growth:  # also while it is reduced, and while it is proved
                self.assertGreater(each, part)
                self.assertLess(each, matrices * part + constant, (engine, mode, growth))

    def test_fail_on_all_ranks_where_one_lacks_memory(self):
        for rank, least in ((3, 40), (4, 20)):  # in the grid, and beside it
            self.assertGreater(int(self.found(5, "scalapack", 2, "lack", rank)), least)

    def test_are_refused_where_a_node_lacks_the_memory(self):
        n, grid = 135000, 3  # nearly all that ScaLAPACK's integers count
        needed = 2 * 8 * n**2 / 1e9
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:")) * 1024 / 1e9
        for group in ("memory.max", "memory/memory.limit_in_bytes"):
            path = pathlib.Path("/sys/fs/cgroup") / group
            if path.exists() and path.read_text().strip().isdigit():
                free = min(free, int(path.read_text()) / 1e9)
        if free > needed:
            self.skipTest(f"this machine has {free:.0f} GB to spare")
        done = self.finish(self.start(["-n", "9", MATRICES, "scalapack", str(grid), "memory", str(n)]), FAILED)
        found = re.search(rf"the 9 ranks on {os.uname().nodename.split('.')[0]}\S* need (\S+) GB of memory .*, and (\S+) GB are free "
                          "there; spread it over more nodes", done.stdout)
        self.assertTrue(found, done.stdout)
        self.assertLess(abs(float(found[1]) / needed - 1), 0.02)
        self.assertLess(abs(float(found[2]) / free - 1), 0.5)


class Program(Ranks):
    def analyze(self, count, *arguments, output="out.h5", expect=DONE):
        return self.run_ranks(count, ["analyze", *arguments, *ASKED, "--method", "distributed", "-o", output], expect)

    def numbers(self, path, group):
        with h5py.File(self.folder / path) as file:
            return {name: np.array(file[group][name]) for name in file[group]}

    def test_finds_what_one_process_finds(self):
        for folder, step in (("mlp-spirals-tanh", 400), ("linear-attention-full-s3", 199), ("signal-noise", 0)):
            inputs = [FIXTURES / folder / f"step-{step:06d}.npz", "--problem", FIXTURES / folder / "problem.toml"]
            self.plain(["analyze", *inputs, *ASKED, "--method", "dense"])
            self.analyze(4, *inputs, output=f"{folder}.h5")
            dense, found = (self.numbers(path, "spectrum") for path in ("plain.h5", f"{folder}.h5"))
            # The two Hessians come from different engines, with a rounding band of difference.
            band = 2 * dense["rounding_band"]
            self.assertLessEqual(np.abs(found["eigenvalues"] - dense["eigenvalues"]).max(), band)
            for name in ("lambda_min", "lambda_median", "lambda_max"):
                self.assertLessEqual(abs(found[name] - dense[name]), band, name)
            for name in ("residual_min", "residual_median", "residual_max"):
                self.assertLessEqual(found[name], band, name)
            for name in ("num_negative", "num_zero", "num_positive", "num_dead", "proof"):
                self.assertEqual(found[name], dense[name], name)
            dense, found = (self.numbers(path, "condition") for path in ("plain.h5", f"{folder}.h5"))
            np.testing.assert_allclose(found["robust_diagonal"], dense["robust_diagonal"], rtol=1e-9)

    def test_proves_in_full(self):
        folder = FIXTURES / "mlp-spirals-tanh"
        inputs = [folder / "step-000400.npz", "--problem", folder / "problem.toml"]
        self.analyze(4, *inputs, output="ends.h5")
        self.assertNotIn("error_bound", self.numbers("ends.h5", "spectrum"))
        for engine in ENGINES:
            with self.subTest(engine):
                options = ["--prove", "full", "--engine", engine]
                self.analyze(4, *inputs, *options, output=f"{engine}.h5")
                found, ends = (self.numbers(path, "spectrum") for path in (f"{engine}.h5", "ends.h5"))
                self.assertGreater(found["error_bound"][0], 0)
                self.assertLess(found["error_bound"][0], found["rounding_band"][0])
                # Each of the two is right to its bound, and the reference to its band.
                apart = np.abs(found["eigenvalues"] - ends["eigenvalues"]).max()
                self.assertLessEqual(apart, found["error_bound"][0] + ends["rounding_band"][0])
                if engine == "scalapack":
                    self.assertEqual(apart, 0)
                self.assertIn("done already", self.analyze(5, *inputs, *options, output=f"{engine}.h5").stdout)
                with h5py.File(self.folder / f"{engine}.h5") as file:
                    history = program.text(file.attrs["history"])
                self.assertIn("--prove full", history)
                self.assertEqual("--engine elpa" in history, engine == "elpa")
        # How it was found and proved is a part of what was asked.
        done = self.analyze(4, *inputs, output="scalapack.h5", expect=FAILED)
        self.assertIn("--force", done.stderr)

    def test_fails_by_a_library_that_errs(self):
        folder = FIXTURES / "linear-attention-full-s3"
        inputs = [folder / "step-000199.npz", "--problem", folder / "problem.toml"]
        wrong = [("reduction", [], INCONCLUSIVE), ("reduction", ["--prove", "full"], INCONCLUSIVE),
                 ("vectors", [], DONE), ("vectors", ["--prove", "full"], INCONCLUSIVE),
                 ("none", ["--prove", "full"], DONE)]
        if "elpa" in ENGINES:
            elpa = ["--prove", "full", "--engine", "elpa"]
            wrong += [("triangle", elpa, INCONCLUSIVE), ("none", elpa, DONE)]
        for mutant, options, code in wrong:
            with self.subTest(mutant=mutant, options=options):
                arguments = ["analyze", *inputs, *ASKED, "--method", "distributed", *options, "-o", "out.h5", "--force"]
                group = ["-x", f"LD_PRELOAD={MUTANTS}", "-x", f"HESSCOPE_MUTANT={mutant}", *self.ranked(4, arguments)]
                self.finish(self.start(group), code)
                numbers = self.numbers("out.h5", "spectrum")
                self.assertEqual(bool(np.isnan(numbers["eigenvalues"]).all()), code != DONE)
                if code != DONE:
                    for name in ("eigenvalues", "lambda_max", *(["error_bound"] if options else [])):
                        self.assertEqual(set(np.ravel(numbers[f"{name}_status"])), {3}, name)  # failed

    def test_makes_the_same_bytes_on_one_grid(self):
        inputs = [checkpoint(500), checkpoint(1000), "--problem", PROBLEM]
        for grid, counts in ((1, (1, 3)), (2, (4, 5))):
            made = set()
            for count in counts:
                output = f"{grid}-{count}.h5"
                done = self.analyze(count, *inputs, "--grid", grid, output=output)
                self.assertIn("written to", done.stdout)
                made.add((self.folder / output).read_bytes())
            self.assertEqual(len(made), 1, grid)
        # The largest grid is chosen, and the same command knows its own.
        done = self.analyze(7, *inputs, output="2-4.h5")
        self.assertIn("done already", done.stdout)
        self.analyze(1, *inputs, output="2-4.h5", expect=FAILED)
        with h5py.File(self.folder / "2-4.h5") as file:
            self.assertIn("--method distributed --grid 2", program.text(file.attrs["history"]))

    def test_goes_on_where_a_killed_run_was(self):
        inputs = [*map(checkpoint, program.STEPS), "--problem", PROBLEM]
        self.analyze(4, *inputs, output="whole.h5")
        process = self.start(self.ranked(4, ["analyze", *inputs, *ASKED, "--method", "distributed", "-o", "out.h5"]))
        folder = self.folder / "out.h5.units"
        while process.poll() is None and program.num_units(folder) == 0:
            pass
        killed = self.processes(process)[-1:] if process.poll() is None else []
        for rank in killed:
            self.kill(rank, signal.SIGKILL)
        process.communicate()
        if not (self.folder / "out.h5").exists():
            self.assertEqual(process.returncode, 128 + signal.SIGKILL)
        self.analyze(5, *inputs)
        self.assertEqual((self.folder / "out.h5").read_bytes(), (self.folder / "whole.h5").read_bytes())

    def test_refuses_what_cannot_be(self):
        done = self.analyze(3, checkpoint(500), "--problem", PROBLEM, "--grid", 2, expect=USAGE)
        self.assertIn("--grid 2 has 2 x 2 = 4 ranks, and there are 3", done.stderr)
        alone = self.run_program("analyze", checkpoint(500), "--problem", PROBLEM, "-o", "out.h5", "--method",
                                 "distributed")
        self.assertEqual(alone.returncode, USAGE)
        self.assertIn("mpirun -n N hesscope-mpi analyze", alone.stderr)
        done = self.run_program("analyze", checkpoint(500), "--problem", PROBLEM, "-o", "out.h5", "--dry-run", "--method",
                                "distributed", "--ranks", "8", "--grid", "3")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--grid 3 has 3 x 3 = 9 ranks, and there are 8", done.stderr)
        for idle in ([], ["--method", "dense"]):
            done = self.run_program("analyze", checkpoint(500), "--problem", PROBLEM, "-o", "out.h5", "--grid", "2", *idle)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn("--grid goes with --method distributed alone", done.stderr)
        done = self.run_program("analyze", checkpoint(500), "--problem", PROBLEM, "-o", "out.h5", "--prove", "full")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--prove full goes with --method distributed alone", done.stderr)
        done = self.run_program("analyze", checkpoint(500), "--problem", PROBLEM, "-o", "out.h5", "--engine", "elpa")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--engine goes with --method distributed alone", done.stderr)
        if "elpa" in ENGINES:
            done = self.analyze(4, checkpoint(500), "--problem", PROBLEM, "--engine", "elpa", expect=USAGE)
            self.assertIn("--engine elpa goes with --prove full", done.stderr)
            folder = FIXTURES / "mlp-spirals-gelu"  # of 63 parameters, fewer than a block
            done = self.analyze(4, folder / "step-000000.npz", "--problem", folder / "problem.toml", "--engine", "elpa",
                                "--prove", "full", expect=USAGE)
            self.assertIn("give a --grid of at most 1", done.stderr)
        else:
            done = self.analyze(4, checkpoint(500), "--problem", PROBLEM, "--engine", "elpa", "--prove", "full",
                                expect=USAGE)
            self.assertIn("libelpa-dev", done.stderr)
        self.assertEqual([name for name in self.files() if name.endswith(".h5")], [])

    def test_foresees_how_many_ranks_are_needed(self):
        width, samples = 12000 // 7, 4
        layers = {"layers.0.weight": (width, 5), "layers.0.bias": (width,), "layers.1.weight": (1, width),
                  "layers.1.bias": (1,)}
        n = sum(int(np.prod(shape)) for shape in layers.values())
        np.savez(self.folder / "step-0.npz", **{name: np.ones(shape) for name, shape in layers.items()})
        np.savez(self.folder / "data.npz", inputs=np.ones((samples, 5)), target=np.ones((samples, 1)))
        (self.folder / "problem.toml").write_text(
            '[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "mse"\n[data]\nfile = "data.npz"\n')
        limit = 1 << 30

        def plan(*more):
            done = self.run_program("analyze", "step-0.npz", "--problem", "problem.toml", "-o", "out.h5", "--dry-run",
                                    "--json", *ASKED, "--method", "distributed", *more,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            self.assertEqual(done.returncode, DONE, done.stderr)
            return json.loads(done.stdout)

        few, many = plan("--ranks", "1"), plan("--ranks", "9")
        self.assertEqual((few["parameters"], few["grid"], many["grid"]), (n, 1, 3))
        self.assertEqual((few["threads"], plan("--ranks", "9", "--threads", "2")["threads"]), (1, 2))
        # Two matrices of 1.15 GB on one rank, a quarter of that on each of four.
        self.assertGreater(few["peak_memory_bytes"], 16 * n**2)
        self.assertEqual((few["ranks_here"], few["least_ranks"], many["least_ranks"]), (0, 4, 4))
        self.assertIn("4 ranks are the fewest that would do", " ".join(few["warnings"]))
        self.assertEqual(many["warnings"], [])
        self.assertEqual(many["ranks_here"], int(limit // many["peak_memory_bytes"]))
        self.assertEqual(plan("--ranks", "9", "--grid", "1")["ranks_here"], 0)
        # With eigenvectors five matrices, and their time.
        proved = plan("--ranks", "9", "--prove", "full")
        self.assertGreater(proved["peak_memory_bytes"] - many["peak_memory_bytes"], 3 * 8 * n**2 / 9)
        self.assertGreater(proved["least_ranks"], many["least_ranks"])


if __name__ == "__main__":
    program.main()
