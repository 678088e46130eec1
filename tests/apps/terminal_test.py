# SPDX-License-Identifier: BSD-3-Clause
"""What `hesscope analyze` shows on a terminal: it fits, it runs nothing, and the commands it ends with work."""
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import termios

import h5py
import numpy as np

import program
from program import DATA, DONE, PROBLEM

BARS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
MARKS = ".:-=+*#@"
RUN = ("--problem", PROBLEM, "-o", "out.h5")


class Terminal(program.Case):

    def shown(self, *arguments, columns=100, **environment):
        """What the program prints on a terminal of so many columns; its exit code must be 0."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        variables = self.environment(**{"LC_ALL": "C.UTF-8", **environment})
        if "COLUMNS" not in environment:
            variables.pop("COLUMNS", None)
        process = subprocess.Popen(self.command(*arguments), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=theirs,
                                   stderr=subprocess.PIPE, env=variables)
        os.close(theirs)
        said = b""
        while True:
            ready, _, _ = select.select([ours], [], [], 60)
            self.assertTrue(ready, "the program is silent")
            try:
                part = os.read(ours, 65536)
            except OSError:  # on Linux, the end
                break
            if not part:
                break
            said += part
        os.close(ours)
        errors = process.communicate()[1].decode()
        self.assertEqual(process.returncode, DONE, errors)
        return said.decode().replace("\r\n", "\n")

    def commands(self, said):
        return [line.strip() for line in said.split("Next:\n")[1].splitlines()]

    def test_a_pipe_gets_the_same_whatever_the_terminal(self):
        first = self.run_program("analyze", DATA / "adam", *RUN)
        again = subprocess.run(self.command("analyze", DATA / "adam", *RUN), cwd=self.folder, stdout=subprocess.PIPE,
                               env=self.environment(COLUMNS="20", LC_ALL="C.UTF-8", TERM="xterm-256color"))
        last_line = r"(done already|written to).*\n\Z"
        plain = re.sub(last_line, "", first.stdout)
        self.assertEqual(re.sub(last_line, "", again.stdout.decode()), plain)
        self.assertTrue(plain.isascii())
        self.assertNotIn("Next:", plain)
        self.assertNotIn("\x1b", plain)
        # The tables of a terminal that is wide enough are those.
        said = self.shown("analyze", DATA / "adam", *RUN, columns=300)
        self.assertTrue(said.startswith(plain), said)

    def test_what_mpirun_passes_on_is_as_in_a_pipe(self):
        """Open MPI's mpirun lets its processes write to a terminal of its own, also where its output is a file."""
        plain = self.run_program("analyze", DATA / "adam", *RUN).stdout
        said = self.shown("analyze", DATA / "adam", *RUN, columns=40, OMPI_COMM_WORLD_SIZE="1",
                          OMPI_COMM_WORLD_RANK="0")
        last_line = r"(done already|written to).*\n\Z"
        self.assertEqual(re.sub(last_line, "", said), re.sub(last_line, "", plain))
        self.assertNotIn("Next:", said)

    def test_lines_fit_whatever_the_width(self):
        self.analyze(DATA / "adam", DATA / "sgdm")
        for columns in (40, 60, 80, 132):
            for how in ({"columns": columns}, {"columns": 500, "COLUMNS": str(columns)}):
                said = self.shown("analyze", DATA / "adam", DATA / "sgdm", *RUN, **how)
                tables, _ = said.split("\ndone already")
                for line in tables.splitlines():
                    if not line.startswith(("+N: ", "zero median: ", "not-p.d.: ", "bars: ")):  # prose wraps
                        self.assertLessEqual(len(line), columns, line)
                    self.assertEqual(line, line.rstrip())
        said = self.shown("analyze", DATA / "adam", DATA / "sgdm", *RUN, columns=60)
        [note] = [line for line in said.splitlines() if line.startswith("+N: ")]
        marks = [int(line.split("+")[-1]) for line in said.splitlines() if re.search(r" \+\d+$", line)]
        self.assertEqual(int(note.split()[1]), sum(marks))
        self.assertIn("| less -S", note)
        self.assertNotIn("+N: ", self.shown("analyze", DATA / "adam", DATA / "sgdm", *RUN, columns=200))

    def test_spectra_are_lines_of_bars(self):
        said = self.shown("analyze", DATA / "adam", *RUN)
        with h5py.File(self.folder / "out.h5") as file:
            eigenvalues = file["spectrum/eigenvalues"][()]
        overview = said.split("\n\n")[-2].splitlines()
        names = [line.split()[0] for line in overview[1:6]]
        self.assertEqual(names, [f"step-{step:06d}.npz" for step in program.STEPS])
        width = 32
        begin = len(names[0]) + 2
        largest = np.max(np.abs(eigenvalues))
        edges = np.arcsinh(np.array([eigenvalues.min(), eigenvalues.max()]) / (2 * largest / 1000))
        for line, values in zip(overview[1:], eigenvalues):
            bars = line[begin:begin + width]
            self.assertLessEqual(set(bars), set(BARS + " "))
            places = (np.arcsinh(values / (2 * largest / 1000)) - edges[0]) / (edges[1] - edges[0])
            counts = np.bincount(np.minimum((places * width).astype(int), width - 1), minlength=width)
            np.testing.assert_array_equal([c != " " for c in bars], counts > 0)
            self.assertEqual(bars[np.argmax(counts)], BARS[-1])
        self.assertEqual(float(overview[0].split()[0]), float(f"{eigenvalues.min():.2g}"))
        for locale in ("C", "POSIX"):
            plain = self.shown("analyze", DATA / "adam", *RUN, LC_ALL=locale)
            self.assertTrue(plain.isascii())
            line = plain.split("\n\n")[-2].splitlines()[1][begin:begin + width]
            self.assertLessEqual(set(line), set(MARKS + " "))
            self.assertEqual([BARS.find(c) for c in overview[1][begin:begin + width]], [MARKS.find(c) for c in line])

    def test_many_checkpoints_are_some_in_the_end(self):
        for step in range(30):
            shutil.copy(DATA / "adam" / "step-000500.npz", self.folder / f"step-{step}.npz")
        said = self.shown("analyze", ".", "--only", "condition,spectrum", *RUN)
        overview = said.split("\n\n")[-2].splitlines()
        self.assertTrue(overview[0].startswith("12 of 30 "))
        self.assertEqual([overview[1].split()[0], overview[12].split()[0]], ["step-0.npz", "step-29.npz"])

    def test_next_commands_work_when_they_are_copied(self):
        hostile = ["out.h5", "my run's.h5", "-o.h5", "<img src=x onerror=alert(1)>.h5", "\x1b[31mred\n.h5", "$(touch x).h5"]
        for name in hostile:
            with self.subTest(name):
                folder = pathlib.Path(self.folder, "folder with blanks")
                folder.mkdir()
                output = f"{folder.name}/{name}" if name != "-o.h5" else name
                said = self.shown("analyze", DATA / "adam", "--only", "spectrum,condition", "--problem", PROBLEM,
                                  f"--output={output}")
                self.assertNotRegex(said, r"[\x00-\x09\x0b-\x1f\x7f]")
                commands = self.commands(said)
                self.assertEqual(len(commands), 2)
                for line in commands:
                    before = self.files()
                    done = subprocess.run(["bash", "-c", line], cwd=self.folder, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, env=self.environment())
                    self.assertEqual(done.returncode, DONE, (line, done.stderr))
                    if " -o " in line:
                        self.assertEqual(len(self.files() - before), 1, line)
                figure = next(p for p in self.folder.rglob("*-spectrum.svg"))
                self.assertEqual(figure.name, name.removesuffix(".h5") + "-spectrum.svg")
                # A figure that is there is not to be replaced.
                again = self.commands(self.shown("analyze", DATA / "adam", "--only", "spectrum,condition", "--problem",
                                                 PROBLEM, f"--output={output}"))
                self.assertIn("-spectrum-2.svg", again[0])
                shutil.rmtree(folder)
                for path in self.folder.iterdir():
                    path.unlink()

    def test_hostile_names_of_checkpoints_are_shown_harmlessly(self):
        names = ["step-1<img src=x onerror=alert(1)>.npz", "step-2\x1b]0;owned\x07.npz", "step-3\u202e.npz"]
        for name in names:
            shutil.copy(DATA / "adam" / "step-000500.npz", self.folder / name)
        said = self.shown("analyze", *names, "--only", "spectrum", *RUN, columns=200)
        self.assertNotRegex(said, r"[\x00-\x09\x0b-\x1f\x7f]")
        self.assertIn("step-1<img src=x onerror=alert(1)>.npz", said)
        self.assertIn(r"step-2\x1b]0;owned\x07.npz", said)

    def test_says_nothing_of_it_in_json_or_quietly(self):
        self.assertEqual(self.shown("analyze", DATA / "adam", *RUN, "--quiet"), "")
        self.assertTrue(self.shown("analyze", DATA / "adam", *RUN, "--json").startswith("{"))


if __name__ == "__main__":
    program.main()
