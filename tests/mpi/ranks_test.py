# SPDX-License-Identifier: BSD-3-Clause
"""hesscope-mpi: the bytes of one process on any number of ranks, what ranks refuse, and what survives their death.

HESSCOPE_KILLS sets the number of runs that are killed at a random moment (default 6).
"""
import os
import random
import re
import shutil
import signal
import subprocess
import time

import program
from program import BAD_INPUT, DATA, DONE, FAILED, FIXTURES, INCONCLUSIVE, PROBLEM, USAGE, checkpoint, num_units
from ranks import RANKED, Ranks

ADAM = [checkpoint(step) for step in program.STEPS[:3]]
ANALYZE = ["analyze", *ADAM, "--problem", PROBLEM]
# Two others need another model, and some have a test of their own.
EVERYTHING = ["--only", "hessian,spectrum,condition,structure,eigenpairs,tracking,blocks,ggn,stability,smoothness,density,"
              "sampling,noise,tangent-kernel,sharpening", "--preconditioner", "adam", "--noise-draws", 50,
              "--jackknife-blocks", 3]


class SameBytes(Ranks):
    def compare(self, arguments, counts, expect=DONE):
        expected = self.plain(arguments, expect)
        for count in counts:
            with self.subTest(arguments=arguments[:1], count=count):
                (self.folder / "out.h5").unlink(missing_ok=True)
                done = self.run_ranks(count, [*arguments, "-o", "out.h5"], expect)
                self.assertEqual(done.stdout.count("written to"), 1, done.stdout)
                self.assertEqual((self.folder / "out.h5").read_bytes(), expected)

    def test_of_an_analysis_by_every_analyzer(self):
        self.compare([*ANALYZE, *EVERYTHING], counts=(1, 2, 3, 5))

    def test_of_analyzers_with_needs_of_their_own(self):
        counts = (2, 5)  # one rank and odd numbers of them are above
        self.compare([*ANALYZE, "--only", "edge,norm-sharpness,influence", "--norm-subproblems", 20,
                      "--influence-gradient", 100], counts)
        # A search that has not converged is the same, too.
        self.compare(["analyze", ADAM[1], "--problem", PROBLEM, "--only", "critical", "--critical", 20], counts,
                     INCONCLUSIVE)
        (self.folder / "drawn.toml").write_text("""
            model = { kind = "linear-attention", layers = 3, parametrization = "sparse" }
            data = { kind = "linear-regression", dimension = 5, context = 20, samples = 200, seed = 4 }
            """)
        self.compare(["analyze", ADAM[1], "--problem", "drawn.toml", "--only", "population", "--population", 2000], counts)

    def test_of_other_models(self):
        for model, analyzer in (("signal-noise", "alignment"), ("attention-softmax", "attention-terms")):
            folder = FIXTURES / model
            self.compare(["analyze", folder / "step-000000.npz", "--only", analyzer, "--problem",
                          folder / "problem.toml"], counts=(2, 5))

    def test_of_models_with_biases(self):
        for model in ("mlp-spirals-tanh/step-000400.npz", "linear-attention-mlp/step-000000.npz",
                      "onnx-models/cnn/step-000120.npz"):
            path = FIXTURES / model
            self.compare(["analyze", path, "--only", "hessian,ggn", "--save-hessian", "--problem",
                          path.parent / "problem.toml"], counts=(1, 3))

    def test_of_every_way_to_eigenvalues(self):
        for method in ("dense", "iterative", "matrix-free"):
            self.compare(["analyze", ADAM[1], "--problem", PROBLEM, "--only", "spectrum,condition", "--method",
                          method], counts=(3,))

    def test_of_landscapes(self):
        common = ["landscape", *ADAM, "--problem", PROBLEM, "--grid", "5x4"]
        self.compare([*common, "--directions", "pca", "--curvature"], counts=(2, 3))
        self.compare([*common, "--directions", "eigen"], counts=(5,))

    def test_of_a_part(self):
        expected = self.plain(ANALYZE)
        for part in ("0/2", "1/2"):
            self.run_ranks(3, [*ANALYZE, "-o", "out.h5", "--part", part])
        done = self.run_program(*ANALYZE, "-o", "out.h5", "--merge-only")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual((self.folder / "out.h5").read_bytes(), expected)


class Speaking(Ranks):
    def test_the_first_rank_speaks_for_all(self):
        self.run_ranks(3, [*ANALYZE, "-o", "out.h5"])
        done = self.run_ranks(3, [*ANALYZE, "-o", "out.h5"])
        self.assertEqual(done.stdout.count("done already"), 1, done.stdout)
        done = self.run_ranks(2, [*ANALYZE, "-o", "new.h5", "--dry-run"])
        self.assertEqual(done.stdout.count("not written: dry run"), 1, done.stdout)
        done = self.finish(self.start(["-n", "2", RANKED, "inspect", "out.h5"]), DONE)
        self.assertEqual(done.stdout.count("/spectrum"), subprocess.run(
            [program.PROGRAM, "inspect", "out.h5"], cwd=self.folder, capture_output=True, text=True,
            check=True).stdout.count("/spectrum"))
        done = self.finish(self.start(["-n", "2", RANKED, "--help"]), DONE)
        self.assertEqual(done.stdout.count("mpirun -n N hesscope-mpi COMMAND"), 1)
        done = self.finish(self.start(["-n", "2", RANKED, "analyze", "--help"]), DONE)
        self.assertEqual(done.stdout.count("Usage:"), 1)

    def test_its_manual_page_says_what_its_help_says(self):
        done = subprocess.run([RANKED, "--write-manual", "share"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.count("man1/hesscope-mpi.1"), 1)
        page = self.folder / "share" / "man" / "man1" / "hesscope-mpi.1"
        self.assertTrue((page.parent / "hesscope-analyze.1").exists())
        spoken = subprocess.run([RANKED, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertLessEqual(max(map(len, spoken.splitlines())), 80)
        if shutil.which("groff") is None:
            self.skipTest("no groff")
        shown = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-rLL=100n", "-P-c", "-P-b", "-P-o", "-P-u", page],
                               capture_output=True, text=True, check=True)
        self.assertEqual(shown.stderr, "")
        for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"):
            self.assertRegex(shown.stdout, rf"(?m)^{heading}$")
        words = " ".join(shown.stdout.split())
        for word in set(spoken.split("Commands:")[1].replace("Examples:", "").split()) - {"\\"}:
            self.assertIn(word, words)

    def test_mistakes_are_said_once(self):
        wrong = ["analyze", self.folder / "none.npz", "--problem", PROBLEM, "-o", "out.h5"]
        done = self.run_ranks(3, wrong, expect=BAD_INPUT)
        self.assertEqual(done.stderr.count("none.npz"), 1, done.stderr)
        done = self.run_ranks(3, [*ANALYZE, "-o", "out.h5", "--only", "nothing"], expect=USAGE)
        self.assertEqual(done.stderr.count("nothing"), 1, done.stderr)
        self.assertFalse((self.folder / "out.h5").exists())

    def test_the_launcher_of_another_mpi_is_refused(self):
        for rank, code in ((0, BAD_INPUT), (1, FAILED)):
            done = subprocess.run([RANKED, "analyze", "none.npz", "--problem", PROBLEM, "-o", "out.h5"], cwd=self.folder,
                                  env=self.environment(PMI_SIZE="3", PMI_RANK=str(rank)), capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stderr.count("none.npz"), 1 - rank, done.stderr)

    def test_what_shares_nothing_is_refused(self):
        experiment = DATA.parent / "experiments" / "la-depth.toml"
        done = self.run_ranks(2, ["train", experiment, "-o", "runs"], expect=USAGE)
        self.assertIn("--part I/2", done.stderr)
        self.assertFalse((self.folder / "runs").exists())

    def test_hesscope_itself_names_it(self):
        done = self.finish(self.start(self.ranked(2, [*ANALYZE, "-o", "out.h5"], program.PROGRAM)), USAGE)
        self.assertIn("hesscope-mpi", done.stderr)
        self.assertIn("--part $OMPI_COMM_WORLD_RANK/2", done.stderr)


class Meeting(Ranks):
    """Ranks that have opened something else."""

    def refuses(self, first, last, *mentions):
        done = self.finish(self.start(self.ranked(2, [*first, "-o", "out.h5"]),
                                      self.ranked(1, [*last, "-o", "out.h5"])), BAD_INPUT)
        ours = [line for line in done.stderr.splitlines() if line.startswith("hesscope")]
        self.assertEqual(len(ours), 1, done.stderr)
        for text in ("rank 2 on " + os.uname().nodename, *mentions):
            self.assertIn(text, ours[0])
        self.assertEqual([name for name in self.files() if name.startswith("out.h5") and name.endswith(".h5")], [])

    def test_other_options(self):
        self.refuses(ANALYZE, [*ANALYZE, "--seed", 7], "'seed' (7 here, 0 there)")

    def test_other_data(self):
        problem = self.write_problem()
        other = self.write_problem(("eval.npz", "other.npz"), name="other.toml")
        data = dict(program.np.load(DATA / "eval.npz"))
        name = sorted(data)[0]
        data[name] = data[name] * 1.5
        # The same name of the data in both: what they hold differs.
        program.np.savez(self.folder / "other.npz", **data)
        other.write_text(problem.read_text().replace(str(DATA / "eval.npz"), str(self.folder / "other.npz")))
        self.refuses(["analyze", *ADAM, "--problem", problem], ["analyze", *ADAM, "--problem", other], "'data")

    def test_other_checkpoints(self):
        self.refuses(ANALYZE, ["analyze", *ADAM[:2], "--problem", PROBLEM], "'checkpoints'")

    def test_a_checkpoint_that_one_rank_does_not_see(self):
        self.refuses(ANALYZE, ["analyze", *ADAM[:2], self.folder / "none.npz", "--problem", PROBLEM], "none.npz")


class Death(Ranks):
    KILLS = int(os.environ.get("HESSCOPE_KILLS", "6"))
    # Many units, each of them short.
    ARGUMENTS = ["analyze", *map(checkpoint, program.STEPS), "--problem", PROBLEM, "--only",
                 "hessian,spectrum,condition,blocks,smoothness,sampling,noise,tangent-kernel,sharpening", "--noise-draws", 50]

    def begin(self, count, *options):
        """Starts so many ranks; returns mpirun, and their numbers of processes."""
        process = self.start([*options, *self.ranked(count, [*self.ARGUMENTS, "-o", "out.h5"])])
        ranks = []
        while len(ranks) < count and process.poll() is None:
            time.sleep(0.01)
            ranks = self.processes(process)
        return process, ranks

    def units(self):
        return num_units(self.folder / "out.h5.units")

    def wait_for_a_unit(self, process):
        until = time.monotonic() + 60
        while self.units() == 0 and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)

    def continue_on(self, count, expected):
        self.run_ranks(count, [*self.ARGUMENTS, "-o", "out.h5"])
        self.assertEqual((self.folder / "out.h5").read_bytes(), expected)
        (self.folder / "out.h5").unlink()

    def test_of_any_rank_at_any_moment_is_survived(self):
        expected = self.plain(self.ARGUMENTS)
        begun = time.monotonic()
        process, _ = self.begin(3)
        before = time.monotonic() - begun
        self.finish(process, DONE)
        whole = time.monotonic() - begun - before
        (self.folder / "out.h5").unlink()
        chance = random.Random(20)
        kept = []
        while len(kept) < self.KILLS:
            count = chance.choice((2, 3, 4))
            process, ranks = self.begin(count)
            time.sleep(chance.uniform(0, whole))
            if ranks:
                self.kill(chance.choice(ranks), signal.SIGKILL)
            code, err = self.end_of_killed(process)
            if code is not None and code != DONE:
                self.assertEqual(code, 128 + signal.SIGKILL, err)
            if not (self.folder / "out.h5").exists():
                kept.append(self.units())
                if chance.random() < 0.5:
                    continue  # the same run is killed once more
                self.continue_on(chance.choice((1, 3, 5)), expected)
            else:
                self.assertEqual((self.folder / "out.h5").read_bytes(), expected)
                (self.folder / "out.h5").unlink()
        self.assertTrue(any(kept), "no run had kept anything")

    def kill_in_the_middle(self, lost, options):
        """What mpirun printed of a run whose rank of that number was killed after a unit."""
        for _ in range(5):  # a run that ends before the kill is begun again
            shutil.rmtree(self.folder / "out.h5.units", ignore_errors=True)
            (self.folder / "out.h5").unlink(missing_ok=True)
            process, ranks = self.begin(3, *options)
            self.wait_for_a_unit(process)
            by_number = {self.number_of(rank): rank for rank in ranks}
            self.kill(by_number[lost], signal.SIGKILL)
            _, err = process.communicate(timeout=60)
            if not (self.folder / "out.h5").exists():
                self.assertEqual(process.returncode, 128 + signal.SIGKILL, err)
                return err
        return self.fail("no run was caught in the middle")

    def test_is_what_the_last_line_says(self):
        for options in (["--quiet"], []):  # mpirun speaks after its ranks, or not at all
            for lost in (0, 1, 2):
                with self.subTest(options=options, lost=lost):
                    err = self.kill_in_the_middle(lost, options)
                    words = f"hesscope analyze: rank {lost} on {os.uname().nodename} has died; what is finished is kept"
                    self.assertEqual(err.count("hesscope analyze: "), 1, err)
                    self.assertIn(words, err)
                    self.assertIn("on any number of ranks", err)
                    if options:
                        # Open MPI's library in another rank may say that it could not read the dead one's memory.
                        ours = re.sub(rf"(?m)^\[{re.escape(os.uname().nodename)}:\d+\] .*\n", "", err)
                        self.assertTrue(ours.startswith(words), err)
                    self.assertGreater(self.units(), 0)

    def test_an_interrupted_run_continues(self):
        expected = self.plain(self.ARGUMENTS)
        process, ranks = self.begin(3)
        self.wait_for_a_unit(process)
        for rank in reversed(ranks):  # those of the others leave it to the first
            self.kill(rank, signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, err)
        self.assertIn("what is finished is kept", err)
        self.assertGreater(self.units(), 0)
        self.continue_on(2, expected)

    def test_a_run_whose_mpirun_is_ended_continues(self):
        expected = self.plain(self.ARGUMENTS)
        process, _ = self.begin(2)
        self.wait_for_a_unit(process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, DONE)
        self.assertGreater(self.units(), 0)
        self.continue_on(3, expected)


if __name__ == "__main__":
    program.main()
