# SPDX-License-Identifier: BSD-3-Clause
"""The README's way from a training script's checkpoints to a figure, as it is printed there."""
import re
import shlex
import shutil

import h5py
import numpy as np

import program
from program import DONE, SOURCE

EPOCHS = [0, 1, 2, 5, 10, 20, 50]
NOT_STORED = 9
MOST_COMMANDS = 4


def section(heading):
    return (SOURCE / "README.md").read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]


def blocks(text, language):
    found = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", text)
    return [block for name, block in found if name == language]


class Readme(program.Case):
    def assert_printed(self, printed, output, prefix, num_rows):
        """The README's table is that of the output, to the last digit but those that instruction sets may change."""
        [title, *lines] = [line.split() for line in printed.splitlines()]
        self.assertTrue(all(line[0].startswith(prefix) for line in lines))
        self.assertEqual(len(lines), num_rows)
        table = output.split(title[0] + " ")[1].split("\n\n")[0]
        [columns, *rows] = [line.split() for line in table.splitlines()]
        self.assertEqual(title[1:], columns)
        self.assertEqual([line[0] for line in lines], [row[0] for row in rows])
        for line, row in zip(lines, rows):
            self.assertEqual(len(line), len(row), line)
            for theirs, mine in zip(line[1:], row[1:]):
                if re.match(r"[0-9.e+-]+$", mine):
                    self.assertTrue(abs(float(theirs) - float(mine)) <= 2e-5 * abs(float(mine)), (line, row))
                else:
                    self.assertEqual(theirs, mine)


class FirstSteps(Readme):
    def setUp(self):
        super().setUp()
        shutil.copytree(SOURCE / "data" / "classifier", self.folder, dirs_exist_ok=True)
        self.text = section("Your own checkpoints")

    def test_the_readme_is_right(self):
        [problem] = blocks(self.text, "toml")
        self.assertEqual(problem, (self.folder / "problem.toml").read_text())
        [commands] = blocks(self.text, "sh")
        lines = [shlex.split(line) for line in commands.splitlines()]
        self.assertLessEqual(len(lines), MOST_COMMANDS)
        said = {}
        for name, *arguments in lines:
            self.assertEqual(name, "hesscope")
            done = self.run_program(*arguments)
            self.assertEqual(done.returncode, DONE, done.stderr)
            said[arguments[0]] = done
        [printed] = blocks(self.text, "")
        self.assert_printed(printed, said["analyze"].stdout, "epoch_", len(EPOCHS))
        # No weight decay of AdamW's is in the loss, which is all there is to warn of.
        warnings = [line for line in said["analyze"].stderr.splitlines() if "warning" in line]
        self.assertEqual(len(warnings), 1, warnings)
        self.assertIn("weight_decay (0.01", warnings[0])

        with h5py.File(self.folder / "run.h5") as result:
            stability = result["stability"]
            self.assertEqual(result["step"][:].tolist(), EPOCHS)
            self.assertEqual(stability["adam_ratio_status"][:].tolist(), [NOT_STORED] + 6 * [0])
            np.testing.assert_array_equal(np.isfinite(stability["adam_ratio"][:]), [False] + 6 * [True])
            np.testing.assert_array_equal(stability["learning_rate"][:], 3e-3)
            np.testing.assert_array_equal(stability["beta1"][:], 0.8)
            # By the definitions: 2 / learning rate, and Adam's (2 + 2 beta1) / ((1 - beta1) learning rate).
            np.testing.assert_allclose(stability["gd_ratio"][:], stability["sharpness"][:] * 3e-3 / 2, rtol=1e-14)
            np.testing.assert_allclose(stability["adam_ratio"][1:],
                                       stability["lambda_max_preconditioned"][1:] * 3e-3 * (1 - 0.8) / (2 + 2 * 0.8),
                                       rtol=1e-14)
        figure = (self.folder / "stability.svg").read_text()
        self.assertIn("1 of 7 checkpoints hold no second moments", figure)

    def test_the_weight_decay_of_the_loss_is_compared_with_the_optimisers(self):
        problem = self.folder / "problem.toml"
        [header, rest] = problem.read_text().split("[data]")
        checkpoint = sorted(self.folder.rglob("epoch_*.pt"))[-1]
        self.run_program("inspect", checkpoint, "--problem", problem, "--write-map", "map.toml")
        largest = {}
        for decay in ("0", "0.01", "0.5"):
            problem.write_text(f"{header}weight_decay = {decay}\n[data]{rest}")
            output = self.folder / f"out-{decay}.h5"
            done = self.run_program("analyze", checkpoint, "--problem", problem, "--map", "map.toml",
                                    "--only", "spectrum", "-o", output)
            self.assertEqual(done.returncode, DONE, done.stderr)
            warnings = [line for line in done.stderr.splitlines() if "weight_decay" in line]
            self.assertEqual(len(warnings), 0 if decay == "0.01" else 1, warnings)
            self.assertEqual("whose weight_decay is 0.5" in done.stderr, decay == "0.5")
            with h5py.File(output) as result:
                largest[decay] = result["spectrum/lambda_max"][0]
        # Every eigenvalue goes up by it.
        self.assertAlmostEqual(largest["0.5"] - largest["0"], 0.5, delta=1e-12 * largest["0"])
        self.assertAlmostEqual(largest["0.01"] - largest["0"], 0.01, delta=1e-12 * largest["0"])


class AnyModel(Readme):
    def test_the_readme_is_right(self):
        shutil.copytree(SOURCE / "data" / "digits", self.folder / "digits")
        (self.folder / "digits" / "runs").rename(self.folder / "runs")
        text = section("Any model")
        [command] = blocks(text, "sh")
        [name, *arguments] = shlex.split(command)
        self.assertEqual(name, "hesscope")
        done = self.run_program(*arguments)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        [printed] = blocks(text, "")
        self.assert_printed(printed, done.stdout, "epoch-", 11)
        with h5py.File(self.folder / "run.h5") as result:
            np.testing.assert_array_equal(result["structure/num_explained"][:], 37)
            np.testing.assert_array_equal(result["structure/num_unexplained"][:], 0)


if __name__ == "__main__":
    program.main()
