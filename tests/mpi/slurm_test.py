# SPDX-License-Identifier: BSD-3-Clause
"""hesscope-mpi in Slurm, by the scripts of docs/clusters.md as they are printed, on a cluster of one node:
tests/apps/slurm_node.sh makes one of this machine. Skipped where there is no Slurm."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import h5py
import numpy as np

import program
from program import DATA, DONE, SOURCE
from ranks import RANKED, Ranks


class Page(Ranks):
    def setUp(self):
        """What docs/clusters.md supposes, its scripts, and the programs in the path."""
        super().setUp()
        if shutil.which("sinfo") is None or subprocess.run(["sinfo"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no Slurm here: tests/apps/slurm_node.sh starts one")
        scripts = re.findall(r"```sh\n(#!/bin/sh\n#SBATCH.*?)```", (SOURCE / "docs/clusters.md").read_text(), re.DOTALL)
        self.shared, self.spread = [script for script in scripts if "hesscope-mpi" in script]
        (self.folder / "checkpoints").symlink_to(DATA / "adam")
        self.write_problem()
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        (self.tools / "hesscope-mpi").symlink_to(RANKED)

    def submit(self, script, tasks):
        """A job that is as large as one small node allows; its number comes first, then it ends."""
        (self.folder / "job.sh").write_text(script)
        environment = self.environment()
        environment["PATH"] = f"{self.tools}:{environment['PATH']}"
        return subprocess.Popen(["sbatch", "--parsable", "--wait", "--nodes=1", f"--ntasks-per-node={tasks}",
                                 "--cpus-per-task=1", "job.sh"], cwd=self.folder, env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    def end_of(self, job):
        """Its exit code, and what it printed."""
        out, _ = job.communicate(timeout=300)
        return job.returncode, (self.folder / f"slurm-{out.strip().split(';')[0]}.out").read_text()

    def rank(self, number):
        """Its process, once it is there."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            for process in map(str, pathlib.Path("/proc").glob("[0-9]*")):
                with contextlib.suppress(OSError):
                    if os.path.realpath(f"{process}/exe") != os.path.realpath(RANKED):
                        continue
                    is_here = os.path.realpath(f"{process}/cwd") == os.path.realpath(self.folder)
                    if is_here and f"SLURM_PROCID={number}\0".encode() in pathlib.Path(f"{process}/environ").read_bytes():
                        return int(os.path.basename(process))
            time.sleep(0.01)
        return self.fail("the job has not begun")

    def test_is_right_where_ranks_share_checkpoints(self):
        expected = self.plain(["analyze", "checkpoints", "--problem", "problem.toml"])
        code, said = self.end_of(self.submit(self.shared, 3))
        self.assertEqual(code, DONE, said)
        self.assertEqual(said.count("written to result.h5"), 1, said)
        self.assertEqual((self.folder / "result.h5").read_bytes(), expected)

    def test_is_right_where_they_share_a_hessian(self):
        code, said = self.end_of(self.submit(self.spread, 4))
        self.assertEqual(code, DONE, said)
        self.plain(["analyze", "checkpoints", "--problem", "problem.toml", "--only", "spectrum,condition"])
        with h5py.File(self.folder / "result.h5") as file, h5py.File(self.folder / "plain.h5") as plain:
            self.assertIn("--method distributed --grid 2", program.text(file.attrs["history"]))
            apart = np.abs(file["spectrum/eigenvalues"][()] - plain["spectrum/eigenvalues"][()]).max(axis=1)
            # The two Hessians come from different engines, with a rounding band of difference.
            self.assertTrue((apart <= 2 * plain["spectrum/rounding_band"][()]).all(), apart)

    def test_is_continued_where_a_rank_was_killed(self):
        expected = self.plain(["analyze", "checkpoints", "--problem", "problem.toml"])
        job = self.submit(self.shared, 3)
        until = time.monotonic() + 60
        while program.num_units(self.folder / "result.h5.units") == 0 and time.monotonic() < until:
            time.sleep(0.005)
        self.kill(self.rank(2), signal.SIGKILL)
        code, said = self.end_of(job)
        if not (self.folder / "result.h5").exists():
            self.assertEqual(code, 128 + signal.SIGKILL, said)
        code, said = self.end_of(self.submit(self.shared, 2))
        self.assertEqual(code, DONE, said)
        self.assertEqual((self.folder / "result.h5").read_bytes(), expected)


if __name__ == "__main__":
    program.main()
