# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the program share: running it, its inputs, a scratch folder per test.

A test file is run as NAME_test.py PROGRAM SOURCE_FOLDER.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

if len(sys.argv) < 3:
    sys.exit(f"usage: {sys.argv[0]} PROGRAM SOURCE_FOLDER [UNITTEST ARGUMENTS...]")
PROGRAM = os.path.abspath(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2]).resolve()
DATA = SOURCE / "data" / "linear-attention"
FIXTURES = SOURCE / "tests" / "fixtures"
PROBLEM = DATA / "problem.toml"
STEPS = (0, 500, 1000, 1499, 1500)

with open(PROGRAM, "rb") as program_file:
    IS_SANITIZED = b"__asan_init" in program_file.read()  # takes more of everything

# For a test that runs code which others run, too, many times over or for long: whether threads change bits, or what
# survives a kill at any moment, is asked of the plain program alone. What sanitizers look for, the others show.
plain_program_only = unittest.skipIf(IS_SANITIZED, "others run the same code under the sanitizers")


def choose_openblas_kernels():
    """OpenBLAS takes processors that are newer than itself for old ones, which the program remarks on: with the kernels
    of any processor with AVX2, tests read the same lines on all of these."""
    try:
        features = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return
    if {"avx2", "fma"} <= features:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")


choose_openblas_kernels()

DONE, FAILED, USAGE, BAD_INPUT, LOCKED, INCONCLUSIVE, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


def checkpoint(step, optimizer="adam"):
    return DATA / optimizer / f"step-{step:06d}.npz"


def weights(step=500):
    with np.load(checkpoint(step)) as file:
        return {name: file[name] for name in file.files}


def golden(step, optimizer="adam"):
    """Loss, gradient, Hessian and eigenvalues of a checkpoint by PyTorch in float64."""
    with np.load(FIXTURES / f"linear-attention-s1-{optimizer}" / f"golden-{step:06d}.npz") as file:
        return {name: file[name] for name in file.files}


def statuses(group, name):
    """Those of a variable along its first dimension, in a group of h5py or a data set of xarray: ok (0) where none is
    stored."""
    twin = name + "_status"
    return group[twin][()] if twin in group else np.zeros(group[name].shape[:1], np.int8)


def text(value):
    """Of an attribute or an element as any version of h5py gives it."""
    return value.decode() if isinstance(value, bytes) else str(value)


def num_units(folder):
    """Of a run's finished parts, whose folder may go at any moment."""
    try:
        return sum(name.endswith(".unit") for name in os.listdir(folder))
    except FileNotFoundError:
        return 0


class Measured:
    """A finished program: exit code, output, CPU seconds and peak memory, those of its children too."""

    def __init__(self, command, folder, environment):
        with open(folder / "stdout", "w+b") as out, open(folder / "stderr", "w+b") as err:
            child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0), err.seek(0)
            self.stdout, self.stderr = out.read(), err.read()
        self.code = child.returncode
        self.seconds = usage.ru_utime + usage.ru_stime
        self.kib = usage.ru_maxrss


class Case(unittest.TestCase):
    """A test with a scratch folder, in which the program is run."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hesscope-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def command(self, *arguments):
        return [PROGRAM, *map(str, arguments)]

    def environment(self, **changes):
        # Reproducible unless a test says otherwise; the suppressions are for a sanitized program.
        suppressions = pathlib.Path(__file__).with_name("leaks.supp")
        return {**os.environ, "SOURCE_DATE_EPOCH": "0",
                "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0", **changes}

    @classmethod
    def make_results(cls):
        """For setUpClass(): makes the folder `results`, which all tests of the class read; a case that runs in it."""
        cls.results = pathlib.Path(tempfile.mkdtemp(prefix="hesscope-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.results)
        maker = cls("setUp")
        maker.folder = cls.results
        return maker

    def run_program(self, *arguments, timeout=300, **options):
        done = subprocess.run(self.command(*arguments), cwd=self.folder, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment(), **options)
        self.assertNotIn("HDF5-DIAG", done.stdout + done.stderr)
        return done

    def analyze(self, *arguments, output="out.h5", problem=PROBLEM, expect=DONE):
        """Runs the main job and returns what it said."""
        done = self.run_program("analyze", *arguments, "--problem", problem, "-o", output)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def refuses(self, code, arguments, *mentions):
        """The program refuses with `code`; its one message holds every one of `mentions`."""
        before = self.files()
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertTrue(lines and lines[0].startswith("hesscope"), done.stderr)
        # A usage mistake is followed by a pointer to the help text; nothing else is.
        self.assertTrue(len(lines) == 1 or (len(lines) == 2 and "--help" in lines[1]), done.stderr)
        for text in mentions:
            self.assertIn(str(text), lines[0])
        self.assertEqual(self.files(), before)

    def files(self):
        """Names of all files in the scratch folder, hidden ones too."""
        return {str(p.relative_to(self.folder)) for p in self.folder.rglob("*")}

    def write_checkpoint(self, name, arrays):
        np.savez(self.folder / name, **arrays)
        return self.folder / name

    def write_problem(self, *changes, name="problem.toml"):
        """The problem file of the data folder, its data named absolutely, with (old, new) changes."""
        text = PROBLEM.read_text().replace('"eval.npz"', f'"{DATA / "eval.npz"}"')
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        (self.folder / name).write_text(text)
        return self.folder / name


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
