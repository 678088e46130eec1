# SPDX-License-Identifier: BSD-3-Clause
"""Runs killed with SIGKILL at random moments and resumed: nothing finished is lost, and the end is the same.

HESSCOPE_KILLS sets the number of kills (default 30).
"""
import os
import random
import signal
import subprocess
import time

import program
from program import DATA, DONE, FAILED, PROBLEM, checkpoint

KILLS = int(os.environ.get("HESSCOPE_KILLS", "30"))


class Kills(program.Case):
    def start(self, arguments, threads):
        return subprocess.Popen(self.command(*arguments, "--threads", threads, "--quiet"), cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                env=self.environment(), text=True)

    def acknowledged(self):
        """Finished units and what tells a file from one written again."""
        folder = self.folder / "out.h5.units"
        found = {}
        try:
            for path in folder.iterdir():
                status = path.stat()
                if path.suffix == ".unit" and not path.name.startswith("."):
                    found[path.name] = (status.st_ino, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:  # the run ended meanwhile
            return None
        return found

    def survive(self, arguments):
        """Kills runs of the command until enough of them were killed at work; sweeps begin again when one ends."""
        whole = self.run_program(*[a if a != "out.h5" else "whole.h5" for a in arguments], "--quiet")
        self.assertEqual(whole.returncode, DONE, whole.stderr)
        expected = (self.folder / "whole.h5").read_bytes()
        begun = time.monotonic()
        self.assertEqual(self.run_program(*arguments, "--quiet").returncode, DONE)
        duration = time.monotonic() - begun
        (self.folder / "out.h5").unlink()
        random.seed(1)
        kills = ends = recomputed = 0
        while kills < KILLS or ends == 0:
            before = self.acknowledged() or {}
            process = self.start(arguments, 1 + kills % 2)
            try:
                process.wait(random.uniform(0.1, 0.9) * duration)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            message = process.stderr.read()
            process.stderr.close()
            if process.returncode == -signal.SIGKILL:
                kills += 1
            else:
                self.assertEqual(process.returncode, DONE, message)
            after = self.acknowledged()
            if after is not None:
                recomputed += sum(after.get(name) != what for name, what in before.items())
            # A run killed when its output was in place and its units gone had ended but for its exit.
            if process.returncode == DONE or ((self.folder / "out.h5").exists() and after is None):
                ends += 1
                self.assertEqual((self.folder / "out.h5").read_bytes(), expected)
                if process.returncode == DONE:
                    self.assertEqual({n for n in self.files() if n.startswith(("out", ".out"))}, {"out.h5"})
                (self.folder / "out.h5").unlink()
        print(f"{kills} kills, {ends} runs to the end, {recomputed} units computed again")
        self.assertEqual(recomputed, 0)

    def test_of_an_analysis(self):
        self.survive(["analyze", DATA / "adam", DATA / "sgdm", "--problem", PROBLEM, "-o", "out.h5", "--sampling",
                      "--density", "--eigenpairs", 3, "--blocks"])

    def test_of_a_landscape(self):
        self.survive(["landscape", checkpoint(500), "--problem", PROBLEM, "-o", "out.h5", "--directions", "random",
                      "--grid", "16x16", "--curvature"])


class SmallDisk(program.Case):
    """An output on a file system of 1 MiB, which only root may mount."""

    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        if self.mount("-t", "tmpfs", "-o", "size=1m", "tmpfs") != 0:
            self.skipTest("no tmpfs can be mounted here")
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)

    def mount(self, *arguments):
        done = subprocess.run(["mount", *arguments, self.disk], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode

    def test_that_fills_up_and_is_enlarged(self):
        arguments = ["analyze", DATA / "adam", DATA / "sgdm", "--problem", PROBLEM, "--save-hessian", "--quiet", "-o"]
        done = self.run_program(*arguments, "disk/out.h5")
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertRegex(done.stderr, r"^hesscope analyze: disk/out\.h5\S*: .*No space left on device\n$")
        kept = sum(p.stat().st_size for p in (self.disk / "out.h5.units").iterdir())
        self.assertGreater(kept, 1 << 19)  # half of the disk is of units that need not be made again
        self.assertEqual(self.mount("-o", "remount,size=16m"), 0)
        self.assertEqual(self.run_program(*arguments, "disk/out.h5").returncode, DONE)
        self.assertEqual(self.run_program(*arguments, "whole.h5").returncode, DONE)
        self.assertEqual((self.disk / "out.h5").read_bytes(), (self.folder / "whole.h5").read_bytes())
        self.assertEqual([p.name for p in self.disk.iterdir()], ["out.h5"])


if __name__ == "__main__":
    program.main()
