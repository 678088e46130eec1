# SPDX-License-Identifier: BSD-3-Clause
"""Interrupted runs of analyze and landscape: whose units they are, and what happens when the folder is not what it was."""
import fcntl
import shutil
import signal
import subprocess
import time

import program
from program import DATA, DONE, FAILED, INTERRUPTED, LOCKED, USAGE, checkpoint

COMMANDS = {
    "analyze": [DATA / "adam", DATA / "sgdm", "--sampling", "--density", "--blocks"],
    "landscape": [checkpoint(500), "--directions", "random", "--grid", "24x24", "--curvature"],
}


class Resume(program.Case):
    def arguments(self, command, problem, output="out.h5"):
        return [command, *COMMANDS[command], "--problem", problem, "-o", output]

    def interrupt(self, arguments, act=None):
        """Starts a run, waits for its first units, then calls `act`, or ends it by SIGINT. Returns what it said."""
        units = self.folder / (arguments[-1] + ".units")
        process = subprocess.Popen(self.command(*arguments, "--threads", 1), cwd=self.folder, text=True,
                                   env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        while process.poll() is None and len(list(units.glob("*.unit"))) < 2:
            time.sleep(0.001)
        if act:
            act()
        else:
            process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
        return process.returncode, said

    def begin(self, command, problem):
        """Leaves an interrupted run; skips where runs are too fast to be caught."""
        for _ in range(20):
            code, said = self.interrupt(self.arguments(command, problem))
            if code == INTERRUPTED:
                return
            self.assertEqual(code, DONE, said)
            (self.folder / "out.h5").unlink()
        self.skipTest("the run was never caught in the middle")

    def test_a_changed_problem_is_named_and_discarded_with_force(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                problem = self.write_problem()
                self.begin(command, problem)
                kept = {p.name for p in (self.folder / "out.h5.units").iterdir()}
                changed = self.write_problem((f'"{DATA / "eval.npz"}"', '"other.npz"'))
                shutil.copy(DATA / "eval.npz", self.folder / "other.npz")
                done = self.run_program(*self.arguments(command, changed))
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertIn("out.h5.units", done.stderr)
                self.assertIn("data.file", done.stderr)
                self.assertIn("--force", done.stderr)
                self.assertEqual({p.name for p in (self.folder / "out.h5.units").iterdir()}, kept)
                done = self.run_program(*self.arguments(command, changed), "--force")
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertFalse((self.folder / "out.h5.units").exists())
                (self.folder / "out.h5").unlink()

    def test_a_changed_map_is_named(self):
        (self.folder / "map.toml").write_text('ignore = ["one"]\n')
        run = ["analyze", *COMMANDS["analyze"], "--map", "map.toml", "--problem", program.PROBLEM, "-o", "out.h5"]
        for _ in range(20):
            code, said = self.interrupt(run)
            if code == INTERRUPTED:
                break
            self.assertEqual(code, DONE, said)
            (self.folder / "out.h5").unlink()
        else:
            self.skipTest("the run was never caught in the middle")
        (self.folder / "map.toml").write_text('ignore = ["another"]\n')
        done = self.run_program(*run)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("differs in 'map'", done.stderr)
        (self.folder / "map.toml").write_text('# a remark\nignore = ["one"]\n')
        self.assertEqual(self.run_program(*run).returncode, DONE)

    def test_a_second_run_on_the_same_output(self):
        for command in COMMANDS:
            with self.subTest(command=command), open(self.folder / "out.h5.lock", "w") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                done = self.run_program(*self.arguments(command, program.PROBLEM))
                self.assertEqual(done.returncode, LOCKED, done.stderr)
                self.assertIn("another run", done.stderr)
                self.assertEqual(self.files(), {"out.h5.lock"})

    def test_a_folder_that_takes_no_files(self):
        for command in COMMANDS:
            with self.subTest(command=command):  # /proc refuses new files even to root
                done = self.run_program(*self.arguments(command, program.PROBLEM, "/proc/hesscope-out.h5"))
                self.assertEqual(done.returncode, FAILED, done.stderr)
                self.assertIn("/proc/hesscope-out.h5", done.stderr)

    def test_a_folder_that_vanishes_meanwhile(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                (self.folder / "results").mkdir()
                arguments = self.arguments(command, program.PROBLEM, "results/out.h5")
                code, said = self.interrupt(arguments, act=lambda: shutil.rmtree(self.folder / "results",
                                                                                 ignore_errors=True))
                if code == DONE:
                    self.skipTest("the run was never caught in the middle")
                self.assertEqual(code, FAILED, said)
                self.assertRegex(said, rf"^hesscope {command}: results/out\.h5\S*: .+\n$")
                # Nothing is left that would be in the way of the same command.
                shutil.rmtree(self.folder / "results", ignore_errors=True)
                (self.folder / "results").mkdir()
                self.assertEqual(self.run_program(*arguments).returncode, DONE)
                shutil.rmtree(self.folder / "results")


if __name__ == "__main__":
    program.main()
