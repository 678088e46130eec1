# SPDX-License-Identifier: BSD-3-Clause
"""Runs divided into parts: bytes against the whole run, kills, what is missing."""
import fcntl
import hashlib
import json
import random
import re
import shutil
import signal
import subprocess
import time

import program
from program import BAD_INPUT, DONE, FIXTURES, LOCKED, PROBLEM, USAGE, checkpoint, num_units

ADAM = [checkpoint(step) for step in program.STEPS]
ANALYZE = ["analyze", *ADAM, "--problem", PROBLEM]
LANDSCAPE = ["landscape", *ADAM, "--problem", PROBLEM, "--directions", "pca", "--grid", "9x7", "--curvature"]
# All that any parameters of some model allow; more than one model is needed for the last two.
EVERYTHING = ["--only", "hessian,spectrum,condition,structure,eigenpairs,tracking,blocks,ggn,stability,sharpening,influence,"
              "smoothness,density,sampling,noise,tangent-kernel", "--preconditioner", "adam", "--noise-draws", 50, "--jackknife-blocks", 3]

EXPERIMENT = """
[experiment]
name = "tiny"
title = "Tiny"
[model]
kind = "linear-attention"
layers = 1
[data]
kind = "linear-regression"
dimension = 3
context = 4
[evaluation]
samples = 30
[initialization]
distribution = "normal"
std = 0.2
[training]
steps = 20
batch = 25
seeds = [3, 8]
checkpoint_every = 10
history_every = 5
[[run]]
name = "sgdm"
rule = "sgd"
learning_rate = 0.02
[[run]]
name = "adam"
rule = "adamw"
learning_rate = 0.02
"""

# A variant that starts where another ends goes with that one.
REPRODUCTION = EXPERIMENT + """
[[variant]]
name = "second"
initialization.from = "first/adam"
training.steps = 10
[[variant]]
name = "first"
[[measure]]
analyzers = ["condition", "smoothness"]
[[figure]]
name = "loss"
kind = "curves"
quantity = "history/loss"
variants = ["first"]
[[figure]]
name = "plane"
kind = "landscape"
directions = "random"
grid = "5x5"
"""


class Parts(program.Case):
    def part(self, arguments, text, **variables):
        return subprocess.Popen(self.command(*arguments, "--part", text), cwd=self.folder, text=True,
                                env=self.environment(**variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run_parts(self, arguments, count, at_once=False, expect=DONE):
        """Those of a command, backwards or at the same time. Returns what they said."""
        texts = [f"{index}/{count}" for index in reversed(range(count))]
        said = []
        begun = [self.part(arguments, text) for text in texts] if at_once else (
            self.part(arguments, text) for text in texts)
        for process in begun:
            out, err = process.communicate(timeout=300)
            self.assertEqual(process.returncode, expect, err)
            said.append(out)
        return said[::-1]

    def contents(self, name):
        """Digests of a file, or of all files below a folder."""
        path = self.folder / name
        return {str(p.relative_to(path)): hashlib.sha256(p.read_bytes()).hexdigest() for p in [path, *path.rglob("*")]
                if p.is_file()}

    def remains(self):
        """Names of what parts, or runs, have left."""
        return {name for name in self.files() if "part-" in name or name.endswith((".units", ".lock"))}

    def compare(self, arguments, counts):
        """Merged results of so many parts, made at the same time or not, against that of the plain run."""
        done = self.run_program(*arguments, "-o", "whole")
        self.assertEqual(done.returncode, DONE, done.stderr)
        for count, at_once in counts:
            with self.subTest(arguments=arguments[:1], count=count, at_once=at_once):
                self.run_parts([*arguments, "-o", "out"], count, at_once)
                self.assertFalse((self.folder / "out").exists(), "a part has left a result")
                done = self.run_program(*arguments, "-o", "out", "--merge-only")
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertEqual(self.contents("out"), self.contents("whole"))
                self.assertEqual(self.remains(), set())
                (self.folder / "out").unlink()
        (self.folder / "whole").unlink()


class SameBytes(Parts):
    def test_of_an_analysis_by_every_analyzer(self):
        self.compare([*ANALYZE, *EVERYTHING], counts=((1, False), (3, True), (7, False)))

    def test_of_other_models(self):
        for model, analyzer in (("signal-noise", "alignment"), ("attention-softmax", "attention-terms")):
            folder = FIXTURES / model
            self.compare(["analyze", folder / "step-000000.npz", "--only", analyzer, "--problem",
                          folder / "problem.toml"], counts=((2, True),))

    def test_of_a_landscape(self):
        self.compare(LANDSCAPE, counts=((1, False), (3, True), (40, False)))

    def test_of_a_training(self):
        (self.folder / "tiny.toml").write_text(EXPERIMENT)
        arguments = ["train", "tiny.toml", "-o", "whole"]
        self.assertEqual(self.run_program(*arguments).returncode, DONE)
        arguments[-1] = "out"
        said = self.run_parts(arguments, 3, at_once=True)
        self.assertIn("part 0/3: 2 of 4 runs, 0 of them there before", said[0])
        self.assertEqual(self.contents("out"), self.contents("whole"))
        done = self.run_program(*arguments, "--merge-only")
        self.assertEqual((done.returncode, done.stdout.count("was finished")), (DONE, 4), done.stderr)
        # More parts than runs.
        self.assertIn("part 4/5: 0 of 4 runs", self.run_parts(arguments, 5)[4])
        self.assertEqual(self.contents("out"), self.contents("whole"))

    def test_of_a_reproduction(self):
        (self.folder / "tiny.toml").write_text(REPRODUCTION)
        arguments = ["reproduce", "tiny.toml", "-o", "out"]
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        (self.folder / "out").rename(self.folder / "whole")  # files name their inputs, which are in it
        said = self.run_parts(arguments, 3, at_once=True)
        own = [int(re.search(r"(\d+) of 8 runs", text)[1]) for text in said]
        self.assertEqual((sum(own), min(own) > 0), (8, True), said)
        self.assertFalse((self.folder / "out/tiny/figures").exists() or (self.folder / "out/report.html").exists())
        done = self.run_program(*arguments, "--merge-only")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.contents("out"), self.contents("whole"))


class Kept(Parts):
    def test_is_what_a_part_says(self):
        arguments = [*ANALYZE, "-o", "out.h5", "--json", "--only", "hessian"]
        (said,) = self.run_parts(arguments, 1)
        self.assertEqual(json.loads(said)["part"],
                         {"index": 0, "count": 1, "units": "checkpoints", "own": 5, "found": 0, "of": 5})
        self.assertEqual({name for name in self.files() if "/" not in name}, {"out.h5.part-0-of-1.units"})
        arguments.remove("--json")
        for more, words in ((("--part", "0/1"), "begun: a run would continue it"), ((), "begun in parts: a run would")):
            self.assertIn(words, self.run_program(*arguments, *more, "--dry-run").stdout)

    def test_is_not_what_a_dry_run_foresees(self):
        arguments = [*ANALYZE, "-o", "out.h5", "--only", "hessian", "--dry-run"]
        whole = "memory and time are those of the whole run"
        self.assertNotIn(whole, self.run_program(*arguments).stdout)
        self.assertRegex(self.run_program(*arguments, "--part", "1/3").stdout, rf"\npart +1/3; {whole}\n")
        self.assertRegex(self.run_program(*arguments, "--merge-only").stdout, rf"\nmerging +computes nothing; {whole}\n")

    def test_is_seen_by_other_parts_and_by_the_whole_run(self):
        """However the run was divided before: nothing is computed twice."""
        arguments = [*ANALYZE, "--only", "hessian", "-o", "out.h5"]
        self.run_parts(arguments, 2)
        for said in self.run_parts(arguments, 5):
            self.assertIn("1 of 5 checkpoints, 1 of them there before", said)
        self.assertFalse([n for n in self.files() if "of-5" in n])
        self.assertEqual(self.run_program(*arguments, "--merge-only").returncode, DONE)
        done = self.run_program(*arguments, "--part", "1/2")
        self.assertIn("done already", done.stdout)

    def test_is_completed_by_the_whole_run(self):
        arguments = [*ANALYZE, "--eigenpairs", 3]
        self.assertEqual(self.run_program(*arguments, "-o", "whole.h5").returncode, DONE)
        process = self.part([*arguments, "-o", "out.h5"], "1/3")
        self.assertEqual(process.communicate()[1], "")
        self.assertEqual(self.run_program(*arguments, "-o", "out.h5").returncode, DONE)
        self.assertEqual(self.contents("out.h5"), self.contents("whole.h5"))
        self.assertEqual(self.remains(), set())

    def test_is_named_where_it_is_missing(self):
        for arguments, what in ((ANALYZE, r"step-000500\.npz"), (LANDSCAPE, r"\S.*")):
            with self.subTest(command=arguments[0]):
                command = [*arguments, "-o", "out.h5"]
                done = self.run_program(*command, "--merge-only")
                self.assertEqual(done.returncode, BAD_INPUT)
                self.assertRegex(done.stderr, rf"^hesscope {arguments[0]}: out\.h5: no part has kept .* completed by:\n"
                                              rf"  hesscope {arguments[0]} .* -o out\.h5\n$")
                for index in (0, 2):
                    self.assertEqual(self.part(command, f"{index}/3").communicate()[1], "")
                before = self.files()
                done = self.run_program(*command, "--merge-only")
                self.assertEqual(done.returncode, BAD_INPUT)
                self.assertRegex(done.stderr, rf"out\.h5: no part has kept .*{what}.*; it is computed by:\n"
                                              rf"  hesscope {arguments[0]} .* -o out\.h5 --part 1/3\n$")
                self.assertEqual(self.files(), before)
                # The command that it names.
                self.assertEqual(self.part(command, "1/3").communicate()[1], "")
                self.assertEqual(self.run_program(*command, "--merge-only").returncode, DONE)
                (self.folder / "out.h5").unlink()

    def test_is_named_where_a_training_is_missing(self):
        (self.folder / "tiny.toml").write_text(REPRODUCTION)
        for command, folder in (("train", "out/adam/seed-8"), ("reproduce", "out/tiny/first/adam/seed-8")):
            with self.subTest(command=command):
                arguments = [command, "tiny.toml", "-o", "out"]
                self.assertEqual(self.run_program(*arguments).returncode, DONE)
                (self.folder / folder / "step-000010.h5").unlink()
                before = self.contents("out")
                done = self.run_program(*arguments, "--merge-only")
                self.assertEqual(done.returncode, BAD_INPUT)
                self.assertRegex(done.stderr, rf"{folder}: this training is not complete; it is completed by:\n"
                                              rf"  hesscope {command} .*tiny\.toml.* -o out\n")
                self.assertEqual(self.contents("out"), before)
                shutil.rmtree(self.folder / "out")

    def test_is_not_merged_with_another_run(self):
        arguments = [*ANALYZE, "--only", "sampling", "-o", "out.h5"]
        self.run_parts([*arguments, "--seed", "7"], 1)
        before = self.contents(".")
        for more in ([], ["--merge-only"]):
            done = self.run_program(*arguments, *more)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn("out.h5.part-0-of-1.units: holds the finished parts of a run that differs in 'seed'",
                          done.stderr)
            self.assertEqual(self.contents("."), before)
        # Another part of this run does not care, and does not take any of it.
        self.assertIn("3 of 5 checkpoints, 0 of them", self.part(arguments, "1/2").communicate()[0])
        self.assertEqual(self.run_program(*arguments, "--force").returncode, DONE)
        self.assertEqual(self.remains(), set())
        self.assertEqual(self.run_program(*arguments[:-1], "whole.h5").returncode, DONE)
        self.assertEqual(self.contents("out.h5"), self.contents("whole.h5"))

    def test_is_computed_again_where_it_is_damaged(self):
        arguments = [*ANALYZE, "--only", "hessian"]
        self.assertEqual(self.run_program(*arguments, "-o", "whole.h5").returncode, DONE)
        self.run_parts([*arguments, "-o", "out.h5"], 2)
        for unit in self.folder.glob("out.h5.part-1-of-2.units/*.unit"):
            unit.write_bytes(unit.read_bytes()[:-1] + b"?")
        done = self.run_program(*arguments, "-o", "out.h5", "--merge-only")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("--part 1/2", done.stderr)
        done = self.run_program(*arguments, "-o", "out.h5")
        self.assertEqual(done.returncode, DONE)
        self.assertIn("computed again", done.stderr)
        self.assertEqual(self.remains(), set())

    def test_has_a_lock_of_its_own(self):
        arguments = [*ANALYZE, "--only", "hessian", "-o", "out.h5"]
        with open(self.folder / "out.h5.part-0-of-2.lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.assertIn("out.h5.part-0-of-2: another run", self.part(arguments, "0/2").communicate()[1])
            self.assertEqual(self.run_program(*arguments).returncode, LOCKED)
            process = self.part(arguments, "1/2")
            self.assertEqual((process.wait(), process.communicate()[1]), (DONE, ""))
        self.assertEqual(self.run_program(*arguments).returncode, DONE)
        self.assertEqual(self.remains(), set())

    def test_survives_kills(self):
        arguments = [*ANALYZE, "--only", "spectrum,sampling,noise", "--jackknife-blocks", 4, "--noise-draws", 50]
        begun = time.monotonic()
        self.assertEqual(self.run_program(*arguments, "-o", "whole.h5").returncode, DONE)
        duration = time.monotonic() - begun
        random.seed(1)
        arguments += ["-o", "out.h5"]
        killed = 0
        for attempt in range(30):
            process = self.part(arguments, f"{attempt % 2}/2")
            time.sleep(random.uniform(0.1, 0.7) * duration)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
            if killed == 8:
                break
        kept = {path for path in self.folder.glob("out.h5.part-*/*.unit")}
        self.run_parts(arguments, 2, at_once=True)
        self.assertLessEqual(kept, {path for path in self.folder.glob("out.h5.part-*/*.unit")})
        self.assertEqual(self.run_program(*arguments, "--merge-only").returncode, DONE)
        self.assertEqual(self.contents("out.h5"), self.contents("whole.h5"))
        self.assertEqual(self.remains(), set())
        self.assertGreater(killed, 0)

    def test_is_found_after_an_interruption(self):
        arguments = [*ANALYZE, "--only", "sampling", "-o", "out.h5", "--threads", 1]
        process = self.part(arguments, "0/1")
        while process.poll() is None and num_units(self.folder / "out.h5.part-0-of-1.units") < 1:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
        if process.returncode == DONE:
            self.skipTest("the run was never caught in the middle")
        self.assertIn("kept in 'out.h5.part-0-of-1.units'", said)
        self.assertTrue(said.endswith(" -o out.h5 --threads 1 --part 0/1\n"), said)


if __name__ == "__main__":
    program.main()
