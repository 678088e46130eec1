# SPDX-License-Identifier: BSD-3-Clause
"""The same command again: on its own complete result, on those of others, on files that never were results; and units
that are not what their names say."""
import json
import os
import signal
import subprocess
import time
import unittest

import h5py
import numpy as np

import program
from program import BAD_INPUT, DATA, DONE, FAILED, INCONCLUSIVE, PROBLEM, checkpoint

ANALYZE = ["analyze", DATA / "adam", "--problem", PROBLEM]
LANDSCAPE = ["landscape", DATA / "adam", "--problem", PROBLEM, "--directions", "pca", "--grid", "7x5"]
# Every analyzer that these data allow, most with numbers that are missing somewhere.
ALL = ["--eigenpairs", 3, "--tracking", 3, "--blocks", "--ggn", "--stability", "--sharpening", 2, "--density", "--sampling", "--noise", "--smoothness"]
FULL = "/dev/full"


def without_times(text):
    document = json.loads(text)
    document.pop("timings")
    return document


class OwnResult(program.Case):
    def test_is_done_already(self):
        for arguments, code in ((ANALYZE + ALL, DONE), (LANDSCAPE, DONE), (LANDSCAPE + ["--curvature"], DONE),
                                (ANALYZE + ["--method", "matrix-free", "--stability"], DONE),
                                (ANALYZE + ["--preconditioner", "adam", "--second-moments", "recomputed"], DONE)):
            with self.subTest(arguments=arguments[:1] + arguments[4:]):
                run = [*arguments, "-o", "out.h5"]
                first = self.run_program(*run, "--json")
                self.assertEqual(first.returncode, code, first.stderr)
                before = (self.folder / "out.h5").read_bytes(), (self.folder / "out.h5").stat()
                again = self.run_program(*run, "--json")
                self.assertEqual((again.returncode, again.stderr), (code, first.stderr))
                ours, theirs = without_times(again.stdout), without_times(first.stdout)
                self.assertEqual((ours.pop("done_already"), theirs.pop("done_already")), (True, False))
                self.assertEqual(ours, theirs)
                self.assertEqual((self.folder / "out.h5").read_bytes(), before[0])
                self.assertEqual((self.folder / "out.h5").stat(), before[1])
                done = self.run_program(*run)
                self.assertEqual(done.returncode, code)
                self.assertIn("done already: out.h5 is what this command makes", done.stdout)
                self.assertIn("done already", self.run_program(*run, "--dry-run").stdout)
                self.assertEqual(self.run_program(*run, "--quiet", "--threads", 1).returncode, code)
                self.assertEqual(self.files(), {"out.h5"})
                done = self.run_program(*run, "--force")
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn("written to out.h5", done.stdout)
                self.assertNotEqual((self.folder / "out.h5").stat().st_ino, before[1].st_ino)
                self.assertEqual((self.folder / "out.h5").read_bytes(), before[0])
                (self.folder / "out.h5").unlink()

    def test_of_checkpoints_that_are_not_finite(self):
        with np.load(checkpoint(500)) as file:
            weights = {name: file[name] for name in file}
        weights["layers.0.P"] = np.full_like(weights["layers.0.P"], np.nan)
        self.write_checkpoint("step-000501.npz", weights)
        run = ["analyze", checkpoint(500), "step-000501.npz", "--problem", PROBLEM, "-o", "out.h5", "--json"]
        first, again = self.run_program(*run), self.run_program(*run)
        self.assertEqual((first.returncode, again.returncode), (INCONCLUSIVE, INCONCLUSIVE))
        self.assertIn("weights are not finite", again.stderr)
        self.assertEqual(first.stderr, again.stderr)
        self.assertEqual({**without_times(first.stdout), "done_already": True}, without_times(again.stdout))
        with h5py.File(self.folder / "out.h5") as file:
            self.assertIn("weights are not finite", file.attrs["warnings"].decode())

    def test_after_a_kill_between_the_last_two_acts(self):
        for arguments in (ANALYZE, LANDSCAPE):
            run = [*arguments, "-o", "out.h5", "--quiet"]
            units = self.folder / "out.h5.units"
            for _ in range(30):
                process = subprocess.Popen(self.command(*run), cwd=self.folder, env=self.environment(),
                                           stderr=subprocess.PIPE)
                while process.poll() is None and not (self.folder / "out.h5").exists():
                    pass
                process.send_signal(signal.SIGKILL)
                process.communicate()
                kept = (self.folder / "out.h5").read_bytes()
                done = self.run_program(*run)
                self.assertEqual((done.returncode, done.stderr), (DONE, ""))
                self.assertEqual((self.folder / "out.h5").read_bytes(), kept)
                self.assertFalse(units.exists())
                self.assertEqual(self.files(), {"out.h5"})
                (self.folder / "out.h5").unlink()

    def test_of_another_run_is_refused_by_the_key(self):
        self.analyze(checkpoint(0), checkpoint(500))
        before = (self.folder / "out.h5").read_bytes()
        other = self.write_problem((f'"{DATA / "eval.npz"}"', '"copy.npz"'))
        (self.folder / "copy.npz").write_bytes((DATA / "eval.npz").read_bytes())
        for arguments, key in (([checkpoint(0)], "checkpoints' (1 now, 2 before)"), ([checkpoint(0), checkpoint(1000)], "checkpoint 2' ("),
                               ([checkpoint(0), checkpoint(500), "--seed", 1], "seed' (1 now, 0 before)"),
                               ([checkpoint(0), checkpoint(500), "--blocks"], "analyzers' (")):
            self.refuses(FAILED, ["analyze", *arguments, "--problem", PROBLEM, "-o", "out.h5"],
                         "out.h5: exists already, of a run", f"differs in '{key}", "--force")
        self.refuses(FAILED, ["analyze", checkpoint(0), checkpoint(500), "--problem", other, "-o", "out.h5"],
                     "differs in 'data.file'")
        self.assertEqual((self.folder / "out.h5").read_bytes(), before)

    def test_of_many_checkpoints_is_known_and_refused_too(self):
        names = []
        for k in range(120):
            names.append(f"{k:03d}-" + "x" * 180 + ".npz")
            os.symlink(checkpoint(500), self.folder / names[-1])
        run = ["analyze", *names, "--problem", PROBLEM, "-o", "out.h5", "--only", "hessian", "--json"]
        self.assertEqual(self.run_program(*run).returncode, DONE)
        self.assertIs(json.loads(self.run_program(*run).stdout)["done_already"], True)
        with h5py.File(self.folder / "out.h5") as file:
            self.assertLess(len(file.attrs["configuration"]), 1 << 15)
        (self.folder / names[60]).unlink()
        os.symlink(checkpoint(1000), self.folder / names[60])
        self.refuses(FAILED, run, "differs in 'inputs'")


class Strangers(program.Case):
    """What never was a result of the command takes --force twice."""

    def test_of_analyze_and_landscape(self):
        others = {"text": lambda path: path.write_text("thesis"),
                  "HDF5": lambda path: h5py.File(path, "w").create_dataset("thesis", data=[1.0]).file.close(),
                  "another result": lambda path: self.run_program(
                      "landscape", checkpoint(0), "--problem", PROBLEM, "-o", path, "--directions", "random", "--grid",
                      "3x1")}
        for what, make in others.items():
            with self.subTest(what=what):
                out = self.folder / "out.h5"
                make(out)
                before = out.read_bytes()
                for force in ([], ["--force"]):
                    self.refuses(FAILED, ["analyze", checkpoint(0), "--problem", PROBLEM, "-o", "out.h5", *force],
                                 "out.h5: ", "is not a result of `hesscope analyze`", "--force --force")
                self.assertEqual(out.read_bytes(), before)
                self.analyze(checkpoint(0), "--force", "--force", "--only", "hessian")
                self.analyze(checkpoint(0), "--force", "--only", "condition")
                self.refuses(FAILED, [*LANDSCAPE, "-o", "out.h5", "--force"], "is not a result of `hesscope landscape`")
                out.unlink()

    def test_but_an_empty_file_holds_nothing(self):
        (self.folder / "out.h5").write_bytes(b"")
        self.refuses(FAILED, [*ANALYZE, "-o", "out.h5"], "exists already", "--force")
        self.analyze(checkpoint(0), "--force", "--only", "hessian")

    def test_of_export_and_reproduce(self):
        self.analyze(checkpoint(0), "--only", "hessian", output="a.h5")
        (self.folder / "a.csv").write_text("mine")
        export = ["export", "a.h5", "--format", "csv", "-o", "a.csv"]
        for force in ([], ["--force"]):
            self.refuses(FAILED, [*export, *force], "a.csv: ", "--force --force")
        self.assertEqual(self.run_program(*export, "--force", "--force").returncode, DONE)
        self.assertEqual(self.run_program(*export, "--force").returncode, DONE)
        folder = self.folder / "out/sd-synthetic/figures"
        experiments = json.loads(self.run_program("reproduce", "--list", "--json").stdout)["experiments"]
        name = experiments[0]["name"]
        plan = json.loads(self.run_program("reproduce", name, "--scale", "quick", "--dry-run", "--json").stdout)
        figure = plan["experiments"][0]["figure_names"][0]
        folder = self.folder / "out" / name / "figures"
        folder.mkdir(parents=True)
        (folder / f"{figure}.svg").write_text("mine")
        for force in ([], ["--force"]):
            self.refuses(FAILED, ["reproduce", name, "--scale", "quick", "-o", "out", *force], f"{figure}.svg: ",
                         "--force --force")


class Units(program.Case):
    """Of an interrupted run, whole and with right checksums, but not what is wanted."""

    def interrupt(self, *arguments, output):
        units = self.folder / f"{output}.units"
        process = subprocess.Popen(self.command(*arguments, "-o", output, "--threads", 1), cwd=self.folder,
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and program.num_units(units) < 3:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode == DONE:
            raise unittest.SkipTest("the run was never caught in the middle")
        return units

    def test_that_are_of_others_are_computed_again_and_named(self):
        more = ["--sampling", "--density", "--blocks"]
        run = ["analyze", DATA / "adam", DATA / "sgdm", "--problem", PROBLEM, *more]
        self.assertEqual(self.run_program(*run, "-o", "whole.h5").returncode, DONE)
        units = self.interrupt(*run, output="out.h5")
        first, second, third = sorted(units.glob("*.unit"))[:3]
        shifted = self.write_problem((f'"{DATA / "eval.npz"}"', '"other.npz"'))
        with np.load(DATA / "eval.npz") as file:
            np.savez(self.folder / "other.npz", Z=file["Z"] * 1.5, target=file["target"])
        theirs = self.interrupt("analyze", DATA / "adam", DATA / "sgdm", "--problem", shifted, *more, output="other.h5")
        third.write_bytes((theirs / sorted(p.name for p in theirs.glob("*.unit"))[0]).read_bytes())
        second.write_bytes(first.read_bytes())
        done = self.run_program(*run, "-o", "out.h5", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        for path, why in ((second, f"another unit, '{first.stem}'"), (third, "another run")):
            self.assertIn(f"out.h5.units/{path.name}: holds the numbers of {why}; computed again", done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["warnings"]), 2)
        self.assertEqual((self.folder / "out.h5").read_bytes(), (self.folder / "whole.h5").read_bytes())
        self.assertFalse(units.exists())

    def test_of_many_small_checkpoints_share_files(self):
        random = np.random.default_rng(0)
        (self.folder / "many").mkdir()
        count = 200
        for k in range(count):
            self.write_checkpoint(f"many/step-{k:06d}.npz", {"layers.0.weight": random.normal(size=(2, 2)),
                                                             "layers.0.bias": random.normal(size=2)})
        np.savez(self.folder / "eval.npz", inputs=random.normal(size=(20, 2)), target=random.integers(0, 2, 20))
        (self.folder / "problem.toml").write_text(
            '[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "cross-entropy"\n[data]\nfile = "eval.npz"\n')
        run = ["analyze", "many", "--problem", "problem.toml", "-o", "out.h5", "--quiet"]
        units = self.folder / "out.h5.units"
        most = 0
        process = subprocess.Popen(self.command(*run), cwd=self.folder, env=self.environment())
        while process.poll() is None:
            most = max(most, program.num_units(units))
        self.assertEqual(process.returncode, DONE)
        self.assertLess(most, 5 * count / 4)
        print(f"{most} files for {5 * count} units")


class ManyFiles(program.Case):
    def test_that_are_missing_or_empty_are_refused_before_others_are_read(self):
        self.write_checkpoint("step-000002.npz", {"unfit": np.zeros(3)})
        os.symlink(checkpoint(500), self.folder / "step-000001.npz")
        names = ["step-000001.npz", "step-000002.npz"]
        run = ["--problem", PROBLEM, "-o", "out.h5"]
        self.refuses(BAD_INPUT, ["analyze", *names, *run], "step-000002.npz: ")
        self.refuses(BAD_INPUT, ["analyze", *names, "step-000003.npz", *run], "step-000003.npz: cannot be opened")
        (self.folder / "step-000003.npz").write_bytes(b"")
        for more in ([], ["--dry-run"]):
            self.refuses(BAD_INPUT, ["analyze", ".", *run, *more], "step-000003.npz: the file is empty")


class Quiet(program.Case):
    def test_a_full_disk_behind_stdout_is_no_matter(self):
        self.analyze(checkpoint(0), "--only", "condition", output="a.h5")
        for arguments in ((*ANALYZE, "-o", "b.h5", "--quiet"), ("inspect", "a.h5", "-q"),
                          ("plot", "a.h5", "--list", "-q"), ("plot", "a.h5", "--figure", "condition", "-o", "a.svg", "-q"),
                          ("export", "a.h5", "-o", "a.csv", "-q"), ("convert", checkpoint(0), "a.npz", "-q"),
                          ("inspect", checkpoint(0), "-q"), (*LANDSCAPE, "-o", "c.h5", "-q"),
                          ("reproduce", "--list", "-q"), ("reproduce", "--keys", "-q"),
                          (*ANALYZE, "-o", "d.h5", "--quiet", "--dry-run"), (*LANDSCAPE, "-o", "d.h5", "-q", "--dry-run")):
            for redirection in (f">{FULL}", ">&-"):
                with self.subTest(arguments=arguments, redirection=redirection):
                    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", *self.command(*arguments)]
                    done = subprocess.run(shell, cwd=self.folder, env=self.environment(), stderr=subprocess.PIPE)
                    self.assertEqual((done.returncode, done.stderr), (DONE, b""))
                    for name in ("a.svg", "a.csv", "a.npz"):
                        (self.folder / name).unlink(missing_ok=True)


if __name__ == "__main__":
    program.main()
