# SPDX-License-Identifier: BSD-3-Clause
"""docs/tutorial.md, command by command as it is printed, with what it says comes out.

The training's output is that of data/digits. Where PyTorch and scikit-learn are installed the script is run, too, and
what it leaves fits.
"""
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import unittest

import program
from program import DONE, SOURCE

DIGITS = SOURCE / "data" / "digits"
RELATIVE = 2e-5  # of printed numbers, of which instruction sets may change the last digit


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def blocks():
    """(language, text) of each block of code, in order."""
    return re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", (SOURCE / "docs" / "tutorial.md").read_text())


def is_same(printed, found):
    """One line, numbers within RELATIVE, whatever the spaces between."""
    if len(printed.split()) != len(found.split()):
        return False
    for want, got in zip(printed.split(), found.split()):
        if want == got:
            continue
        try:
            if not abs(float(want) - float(got)) <= RELATIVE * abs(float(want)):
                return False
        except ValueError:
            return False
    return True


class Tutorial(program.Case):
    def assert_printed(self, printed, output):
        """The lines of a block are those of the output, in order; "..." stands for any lines."""
        lines = output.splitlines()
        place = 0
        may_skip = False
        for want in printed.splitlines():
            if want == "...":
                may_skip = True
                continue
            start = place
            while may_skip and place < len(lines) and not is_same(want, lines[place]):
                place += 1
            self.assertTrue(place < len(lines) and is_same(want, lines[place]),
                            f"'{want}' is not in the output from line {start} on:\n{output}")
            place += 1
            may_skip = False
        if not may_skip:
            self.assertEqual(lines[place:], [])

    def run_line(self, line):
        name, *arguments = shlex.split(line)
        if name == "hesscope":
            done = self.run_program(*arguments)
        else:
            command = {"python3": [sys.executable, "-B"], "mkdir": ["mkdir"]}[name]
            done = subprocess.run([*command, *arguments], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""), line)
        return done.stdout

    def test_is_as_it_is_printed(self):
        shutil.copytree(DIGITS, self.folder, dirs_exist_ok=True)
        (self.folder / "problem.toml").unlink()
        said = None
        num_compared = 0
        scripts = []
        for language, text in blocks():
            if language == "python":
                scripts.append(text)
            elif language == "toml":
                (self.folder / "problem.toml").write_text(text)
            elif language == "sh":
                if "train.py" in text:  # its output is that of data/digits
                    continue
                if "read.py" in text:
                    if not has("xarray"):
                        continue
                    (self.folder / "read.py").write_text(scripts[-1])
                said = "".join(self.run_line(line) for line in text.splitlines())
            elif said is not None:
                self.assert_printed(text, said)
                num_compared += 1
                said = None
        self.assertGreaterEqual(num_compared, 3)
        self.assertIn("A CNN on digits", (self.folder / "digits.html").read_text())
        for figure in ("spectrum", "stability", "plane"):
            self.assertIn("<svg", (self.folder / f"{figure}.svg").read_text()[:300])
        if has("xarray", "matplotlib"):
            done = subprocess.run([sys.executable, "-B", "-c", scripts[-1]], cwd=self.folder, capture_output=True,
                                  text=True, env={**self.environment(), "MPLBACKEND": "agg"})
            self.assertEqual((done.returncode, done.stderr), (DONE, ""))
            self.assertTrue((self.folder / "ranks.png").exists())

    def test_prints_the_script_and_the_problem_of_the_data(self):
        script = next(text for language, text in blocks() if language == "python")
        self.assertEqual(script, (DIGITS / "train.py").read_text())
        problem = next(text for language, text in blocks() if language == "toml")
        self.assertEqual(problem, re.sub(r"(?m)^#.*\n", "", (DIGITS / "problem.toml").read_text()))

    @unittest.skipUnless(has("torch", "sklearn"), "no PyTorch or no scikit-learn")
    def test_the_script_leaves_what_fits(self):
        training, inspection = [text for language, text in blocks() if language == "sh"][:2]
        [script, *_] = [text for language, text in blocks() if language == "python"]
        [problem] = [text for language, text in blocks() if language == "toml"]
        (self.folder / "train.py").write_text(script)
        (self.folder / "problem.toml").write_text(problem)
        for line in training.splitlines():
            self.run_line(line)
        self.assertIn("fits the onnx model", self.run_line(inspection))


if __name__ == "__main__":
    program.main()
