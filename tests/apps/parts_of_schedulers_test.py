# SPDX-License-Identifier: BSD-3-Clause
"""Runs divided into parts: by the variables of schedulers, as the page of the documentation has it."""
import os
import re
import shutil
import subprocess
import time

import program
from parts_test import Parts
from program import DATA, DONE, PROBLEM, SOURCE, USAGE, checkpoint

# What sbatch does with a job array, one task after the other, and with --dependency.
SBATCH = r"""#!/bin/bash
set -e
array=
while [[ $1 == --* ]]; do
  [[ $1 != --array=* ]] || array=${1#--array=}
  [[ $1 != --dependency=* ]] || [[ $1 == --dependency=afterok:42 ]]
  shift
done
script=$1
shift
export SLURM_CPUS_PER_TASK=$(sed -n 's/^#SBATCH --cpus-per-task=//p' "$script")
if [[ -z $array ]]; then
  sh "$script" "$@" > merged.out
  exit
fi
for ((id = ${array%-*}; id <= ${array#*-}; ++id)); do
  SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_MIN=${array%-*} SLURM_ARRAY_TASK_MAX=${array#*-} \
    SLURM_ARRAY_TASK_COUNT=$((${array#*-} - ${array%-*} + 1)) sh "$script" "$@" >> parts.out
done
echo 42
"""


class Page(Parts):
    def setUp(self):
        """What docs/clusters.md supposes, its script, and the program in the path."""
        super().setUp()
        scripts = re.findall(r"```sh\n(.*?)```", (SOURCE / "docs/clusters.md").read_text(), re.DOTALL)
        script, self.submission, *_ = scripts  # those of hesscope-mpi follow
        (self.folder / "analyze.sh").write_text(script)
        (self.folder / "checkpoints").symlink_to(DATA / "adam")
        self.write_problem()
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        (self.tools / "hesscope").symlink_to(program.PROGRAM)

    def submit(self):
        done = subprocess.run(["sh", "-e", "-c", self.submission], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env=self.environment(PATH=f"{self.tools}:{os.environ['PATH']}"))
        self.assertEqual(done.returncode, DONE, done.stderr)

    def check(self, parts, merged):
        """What the jobs printed, and the result."""
        self.assertEqual(parts.count(" of 5 checkpoints, 0 of them"), 4, parts)
        whole = self.run_program("analyze", "checkpoints", "--problem", "problem.toml", "-o", "whole.h5")
        self.assertEqual(merged.splitlines()[:-1], whole.stdout.splitlines()[:-1])
        self.assertEqual(self.contents("result.h5"), self.contents("whole.h5"))
        self.assertEqual(self.remains(), set())

    def test_is_right_as_printed(self):
        (self.tools / "sbatch").write_text(SBATCH)
        (self.tools / "sbatch").chmod(0o755)
        self.submit()
        self.check((self.folder / "parts.out").read_text(), (self.folder / "merged.out").read_text())

    def test_is_right_as_printed_in_slurm_itself(self):
        if shutil.which("sinfo") is None or subprocess.run(["sinfo"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no Slurm here: slurm_node.sh starts one")
        self.submit()
        while subprocess.run(["squeue", "--noheader"], capture_output=True, check=True).stdout:
            time.sleep(0.2)
        said = {path.name: path.read_text() for path in self.folder.glob("slurm-*.out")}
        self.check("".join(text for name, text in said.items() if "_" in name),
                   "".join(text for name, text in said.items() if "_" not in name))


class Chosen(Parts):
    """Which part it is, by the command line and by what launchers say."""

    def said(self, *options, **variables):
        """Exit code and words of an analysis, or what was printed of its part."""
        clean = {name: value for name, value in self.environment().items()
                 if not name.startswith(("SLURM_", "OMPI_", "PMI_"))}
        done = subprocess.run(self.command("analyze", checkpoint(0), checkpoint(500), "--problem", PROBLEM, "-o",
                                           "out.h5", "--only", "hessian", "--force", *options),
                              cwd=self.folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**clean, **variables})
        return done.returncode, done.stderr or done.stdout.splitlines()[-1]

    def test_by_words_that_are_none(self):
        for given in ("", "1", "/", "1/", "/2", "-1/2", "1/0", "a/b", "1/2/3", "0x0/2", "1.0/2", "1/99999999999"):
            code, said = self.said("--part", given)
            self.assertEqual(code, USAGE, given)
            self.assertIn("--part: must be I/N, as 0/8 for the first of 8 parts", said)
        for given in ("2/2", "3/2"):
            code, said = self.said("--part", given)
            self.assertEqual(code, USAGE)
            self.assertIn("parts are counted from 0, so that those of 2 are 0/2 to 1/2", said)
        code, said = self.said("--part", "0/2147483647")
        self.assertEqual(code, USAGE)
        self.assertIn("a run has at most 100000 parts; got 2147483647", said)
        code, said = self.said("--part", "0/2", "--merge-only")
        self.assertEqual(code, USAGE)
        self.assertIn("--part computes a part and --merge-only puts all of them together", said)
        self.assertEqual(self.files(), set())

    @staticmethod
    def slurm(task, count, first, last):
        return {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": str(count),
                "SLURM_ARRAY_TASK_MIN": str(first), "SLURM_ARRAY_TASK_MAX": str(last)}

    def test_by_a_job_array(self):
        for array, part in (((1, 2, 0, 1), "1/2"), ((5, 5, 1, 5), "4/5"), ((4, 3, 0, 8), "1/3"), ((7, 2, 7, 9), "0/2")):
            code, said = self.said("--part", "slurm", **self.slurm(*array))
            self.assertEqual(code, DONE, said)
            self.assertIn(f"part {part}: ", said)

    def test_by_a_job_array_that_makes_no_sense(self):
        for array, words in (((3, 3, 1, 7), "has no place among them"), ((1, 8, 0, 11), "has no place"),
                             ((9, 2, 0, 1), "has no place"), ((5, 1, 5, 5), "one task only"),
                             (("", 2, 0, 1), "SLURM_ARRAY_TASK_ID is ''"), ((0, "two", 0, 1), "'two', not a number")):
            code, said = self.said("--part", "slurm", **self.slurm(*array))
            self.assertEqual(code, USAGE)
            self.assertIn(words, said)
            self.assertRegex(said, r"--part \d/\w")
        for missing in self.slurm(0, 2, 0, 1):
            code, said = self.said("--part", "slurm", **{name: value for name, value in self.slurm(0, 2, 0, 1).items()
                                                         if name != missing})
            self.assertEqual(code, USAGE)
            self.assertIn(f"{missing} is not set", said)
            self.assertIn("sbatch --array=0-7", said)
        self.assertEqual(self.files(), set())

    def test_not_by_many_tasks_that_would_do_the_same(self):
        many = (({"OMPI_COMM_WORLD_SIZE": "3"}, "mpirun has started 3 tasks", "--part $OMPI_COMM_WORLD_RANK/3"),
                ({"PMI_SIZE": "2"}, "mpiexec or srun has started 2 tasks", "--part $PMI_RANK/2"),
                ({"SLURM_STEP_NUM_TASKS": "4"}, "srun has started 4 tasks", "--part $SLURM_PROCID/4"))
        for variables, *words in many:
            for options in ((), ("--merge-only",)):
                code, said = self.said(*options, **variables)
                self.assertEqual(code, USAGE)
                for word in words:
                    self.assertIn(word, said)
            code, said = self.said("--part", "slurm", **variables, **self.slurm(0, 2, 0, 1))
            self.assertEqual(code, USAGE)
        self.assertEqual(self.files(), set())
        # One task, or one of many with a part of its own, or what a batch script sees of a job of many tasks.
        for variables, *_ in many:
            code, said = self.said("--part", "1/2", **variables)
            self.assertEqual(code, DONE, said)
        for variables in ({"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "2"}, {"PMI_SIZE": "1"},
                          {"SLURM_STEP_NUM_TASKS": "1"}, {"SLURM_NTASKS": "4", "SLURM_NPROCS": "4"},
                          {"OMPI_COMM_WORLD_SIZE": "many"}):
            code, said = self.said(**variables)
            self.assertEqual(code, DONE, said)


if __name__ == "__main__":
    program.main()
