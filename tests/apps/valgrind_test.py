# SPDX-License-Identifier: BSD-3-Clause
"""The program reads no memory it should not and frees all it takes: a whole run under Valgrind."""
import subprocess

import h5py

import program
from program import DONE, FIXTURES

MEMORY_ERROR = 9


class Valgrind(program.Case):
    def clean(self, *arguments):
        done = subprocess.run(
            ["valgrind", "--quiet", f"--error-exitcode={MEMORY_ERROR}", "--leak-check=full",
             "--errors-for-leak-kinds=definite", *self.command(*arguments)],
            cwd=self.folder, capture_output=True, text=True, timeout=800)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done

    def test_analyze_and_inspect(self):
        fixture = FIXTURES / "attention-softmax"
        (self.folder / "problem.toml").write_text(
            f'[model]\nkind = "attention"\nkernel = "softmax"\n[data]\nfile = "{fixture / "eval.npz"}"\n')
        self.clean("analyze", fixture / "step-000000.npz", "--problem", "problem.toml", "-o", "out.h5",
                   "--save-hessian", "--threads", "2")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertGreater(file["loss"][0], 0)
            self.assertNotIn("loss_status", file)
        self.clean("inspect", "out.h5")
        self.clean("inspect", fixture / "step-000000.h5", "--json")

    def test_a_refusal(self):
        (self.folder / "junk.npz").write_bytes((FIXTURES / "signal-noise" / "step-000000.npz").read_bytes()[:700])
        done = subprocess.run(["valgrind", "--quiet", f"--error-exitcode={MEMORY_ERROR}", *self.command(
            "inspect", "junk.npz")], cwd=self.folder, capture_output=True, text=True, timeout=800)
        self.assertEqual(done.returncode, program.BAD_INPUT, done.stderr)


if __name__ == "__main__":
    program.main()
