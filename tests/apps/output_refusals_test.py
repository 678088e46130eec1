# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that cannot be written or may not be replaced: their exit code, one message, and no file left behind."""
import fcntl
import resource
import subprocess
import unittest

import program
from program import BAD_INPUT, DATA, DONE, FAILED, LOCKED, PROBLEM, USAGE, checkpoint, weights
from refusals_test import Refusals


def asks_openblas():
    linked = subprocess.run(["ldd", program.PROGRAM], capture_output=True, text=True).stdout
    return "openblas" in linked and not program.IS_SANITIZED


class BadOutputs(Refusals):
    def test_a_result_named_like_an_export(self):
        for output in ("out.csv", "folder/out.vtk"):
            self.refuses_analysis(USAGE, [checkpoint(0)], "--output: must be an HDF5 file, OUT.h5", output,
                                  f"hesscope export OUT.h5 -o {output}", output=output)
        for output, maker in (("out.txt", "export"), ("out.png", "plot"), ("out.svg", "plot"), ("out.pdf", "plot"),
                              ("out.html", "report"), ("out.htm", "report")):
            self.refuses_analysis(USAGE, [checkpoint(0)], f"'hesscope {maker} OUT.h5", output, output=output)

    def test_a_result_named_like_a_checkpoint(self):
        for ending in ("npz", "npy", "keras", "safetensors", "pt", "pth", "json", "onnx", "toml"):
            said = f"--output: must be an HDF5 file, OUT.h5, got 'out.{ending}'"
            self.refuses_analysis(USAGE, [checkpoint(0)], said, output=f"out.{ending}")
            for command in (["landscape", checkpoint(0), "--directions", "random", "--grid", "1x3"],
                            ["path", checkpoint(0), checkpoint(1)]):
                self.refuses(USAGE, [*command, "--problem", PROBLEM, "-o", f"out.{ending}"], said)

    def test_a_result_whose_name_says_nothing_else(self):
        for output in ("out.h5", "out.hdf5", "out.nc", "out", "out.2"):
            self.assertEqual(self.analyze(checkpoint(0), "--only", "hessian", output=output).returncode, DONE)

    def test_standard_output_as_a_file(self):
        said = "--output: '-' is no output: what is written are files, so name one; --json prints to standard output"
        self.refuses_analysis(USAGE, [checkpoint(0)], said, output="-")
        self.analyze(checkpoint(0), "--only", "hessian")
        for command in (["export", "out.h5"], ["report", "out.h5"], ["plot", "out.h5", "--figure", "spectrum"]):
            done = self.run_program(*command, "-o", "-")
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn(said, done.stderr)
        self.assertEqual(self.files(), {"out.h5"})

    def test_a_folder_that_does_not_exist(self):
        said = "nowhere/out.h5: the folder 'nowhere' does not exist"
        self.refuses_analysis(FAILED, [checkpoint(0)], said, output="nowhere/out.h5")
        self.refuses(FAILED, ["landscape", checkpoint(0), "--problem", PROBLEM, "-o", "nowhere/out.h5", "--directions",
                              "random", "--grid", "1x3"], said)

    def test_a_folder_that_takes_no_files(self):
        # /proc refuses new files even to root.
        self.refuses_analysis(FAILED, [checkpoint(0)], "/proc/hesscope-out.h5", output="/proc/hesscope-out.h5")

    def test_an_output_that_is_a_folder(self):
        (self.folder / "results").mkdir()
        for force in ([], ["--force"], ["--force", "--force"]):
            self.refuses_analysis(FAILED, [checkpoint(0)], "results: is a folder; name a file", output="results",
                                  options=force)

    def test_an_existing_output_stays_untouched(self):
        (self.folder / "out.h5").write_text("precious")
        self.refuses_analysis(FAILED, [checkpoint(0)], "out.h5", "--force")
        self.assertEqual((self.folder / "out.h5").read_text(), "precious")

    def test_a_link_in_the_place_of_the_output(self):
        out = self.folder / "out.h5"
        (self.folder / "target").write_text("precious")
        for target in ("target", "nowhere"):  # also one that leads nowhere
            out.symlink_to(target)
            what = " and is not" if target == "target" else ", a symbolic link to nothing (nowhere)"
            self.refuses_analysis(FAILED, [checkpoint(0)], f"out.h5: exists already{what}", "--force --force")
            done = self.run_program("analyze", checkpoint(0), "--problem", PROBLEM, "-o", "out.h5", "--dry-run")
            self.assertIn("--force", done.stdout)
            # The link goes, what it leads to stays.
            self.refuses_analysis(FAILED, [checkpoint(0)], "--force --force", options=["--force"])
            self.assertTrue(out.is_symlink())
            self.analyze(checkpoint(0), "--force", "--force", "--only", "hessian")
            self.assertFalse(out.is_symlink())
            out.unlink()
        self.assertEqual(self.files(), {"target"})
        self.assertEqual((self.folder / "target").read_text(), "precious")

    def test_an_existing_output_survives_a_failing_run_with_force(self):
        (self.folder / "out.h5").write_text("precious")
        self.refuses_analysis(BAD_INPUT, ["nothere.npz"], "nothere.npz", options=["--force"])
        self.assertEqual((self.folder / "out.h5").read_text(), "precious")

    def test_an_output_that_another_run_is_writing(self):
        with open(self.folder / "out.h5.lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.refuses_analysis(LOCKED, [checkpoint(0)], "out.h5", "another run")
        # The file that a killed run leaves is no obstacle, and goes.
        self.assertEqual(self.files(), {"out.h5.lock"})
        self.analyze(checkpoint(0))
        self.assertEqual(self.files(), {"out.h5"})

    def test_an_output_that_another_program_has_open(self):
        self.analyze(checkpoint(0), "--only", "hessian")
        self.run_program("convert", checkpoint(0), "weights.h5")
        said = "another program has it open for writing; close it there"
        with open(self.folder / "out.h5", "r+b") as result, open(self.folder / "weights.h5", "r+b") as weights_file:
            fcntl.flock(result, fcntl.LOCK_EX)
            fcntl.flock(weights_file, fcntl.LOCK_EX)
            self.refuses_analysis(BAD_INPUT, [checkpoint(0)], said, options=["--only", "hessian"])
            self.refuses_analysis(BAD_INPUT, [checkpoint(500)], said, options=["--force"])
            self.refuses(BAD_INPUT, ["convert", checkpoint(0), "weights.h5"], said)
        self.assertIn("done already", self.analyze(checkpoint(0), "--only", "hessian").stdout)

    def test_an_output_that_is_an_input(self):
        self.write_checkpoint("theirs.npz", weights())
        self.run_program("convert", "theirs.npz", "step-000500.h5")
        before = (self.folder / "step-000500.h5").read_bytes()
        self.refuses_analysis(USAGE, ["step-000500.h5"], "input", output="./step-000500.h5", options=["--force"])
        self.assertEqual((self.folder / "step-000500.h5").read_bytes(), before)

    def test_a_disk_that_fills_up(self):
        # A limit on the file size makes write() fail as a full disk does.
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        done = self.run_program("analyze", DATA / "adam", "--problem", PROBLEM, "-o", "out.h5", "--save-hessian",
                                preexec_fn=limit)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("out.h5", done.stderr)
        # What was finished is kept, and the same command ends as if nothing had been.
        self.assertEqual({name.split("/")[0] for name in self.files()}, {"out.h5.units"})
        self.analyze(DATA / "adam", "--save-hessian")
        self.analyze(DATA / "adam", "--save-hessian", output="whole.h5")
        self.assertEqual((self.folder / "out.h5").read_bytes(), (self.folder / "whole.h5").read_bytes())
        self.assertEqual(self.files(), {"out.h5", "whole.h5"})

    @unittest.skipUnless(asks_openblas(), "needs OpenBLAS, which asks for addresses for ever, and no sanitizer")
    def test_a_narrow_address_space(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))

        done = self.run_program("analyze", checkpoint(0), "--problem", PROBLEM, "-o", "out.h5", preexec_fn=limit,
                                timeout=60)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("address space", done.stderr)
        self.assertEqual(self.files(), set())

    @unittest.skipUnless(asks_openblas(), "needs OpenBLAS, whose kernels can be chosen")
    def test_a_processor_that_is_not_there(self):
        with open("/proc/cpuinfo") as file:
            flags = set(file.read().split())
        other = "Bulldozer" if "fma4" not in flags else "SkylakeX"
        if {"fma4", "avx512f"} <= flags:
            self.skipTest("this processor has everything")
        done = subprocess.run(self.command("analyze", checkpoint(0), "--problem", PROBLEM, "-o", "out.h5"),
                              cwd=self.folder, env=self.environment(OPENBLAS_CORETYPE=other), text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn(f"OPENBLAS_CORETYPE={other} makes OpenBLAS use instructions that this processor does not have",
                      done.stderr)
        self.assertFalse((self.folder / "out.h5").exists())

    @unittest.skipUnless(asks_openblas(), "needs OpenBLAS, whose kernels can be chosen")
    def test_kernels_of_an_older_processor_are_named(self):
        with open("/proc/cpuinfo") as file:
            if not {"avx2", "fma"} <= set(file.read().split()):
                self.skipTest("this processor has no AVX2")
        for kernels, is_old in (("Prescott", True), ("Haswell", False)):
            for quietly in ([], ["--quiet"]):
                done = subprocess.run(self.command("analyze", checkpoint(0), "--problem", PROBLEM, "-o", "out.h5",
                                                   "--force", *quietly),
                                      cwd=self.folder, env=self.environment(OPENBLAS_CORETYPE=kernels), text=True,
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertEqual("note: OpenBLAS takes this processor for Prescott" in done.stderr,
                                 is_old and not quietly, done.stderr)

    def test_a_tiny_stack(self):
        arguments = ["analyze", checkpoint(0), "--problem", PROBLEM, "-o", "out.h5", "--force", "--ggn", "--density"]
        _, hard = resource.getrlimit(resource.RLIMIT_STACK)
        for soft in (64 << 10, 256 << 10):
            def limit(soft=soft):
                resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
            done = self.run_program(*arguments, preexec_fn=limit, timeout=60)
            self.assertEqual(done.returncode, DONE, done.stderr)
        for most in (64 << 10, 256 << 10):
            def bound(most=most):
                resource.setrlimit(resource.RLIMIT_STACK, (most, most))
            done = self.run_program(*arguments, preexec_fn=bound, timeout=60)
            self.assertEqual(done.returncode, FAILED, done.stderr)
            self.assertIn(f"the stack may have {most >> 10} KiB (ulimit -s) and needs 1024", done.stderr)


if __name__ == "__main__":
    program.main()
