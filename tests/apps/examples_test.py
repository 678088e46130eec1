# SPDX-License-Identifier: BSD-3-Clause
"""Every example of every command's help, run as it is printed on files of the names it has."""
import ctypes.util
import re
import shlex
import shutil
import unittest

import h5py
import numpy as np

import program
from program import DATA, DONE, FIXTURES, STEPS, checkpoint, weights

try:
    import torch
except ImportError:
    torch = None

NUM_CHECKPOINTS = 8  # one for each part of the example with --part
NUM_PROMPTS = 8  # the least that the examples' landscapes need, so that they are quick

EXPERIMENT = """
[experiment]
name = "small"
[model]
kind = "linear-attention"
layers = 1
parametrization = "sparse"
[data]
kind = "linear-regression"
covariates = "gaussian"
dimension = 2
context = 4
[evaluation]
samples = 8
seed = 1
[initialization]
distribution = "normal"
std = 0.1
[training]
steps = 4
batch = 8
seeds = [0]
checkpoint_every = 2
history_every = 1
[[run]]
name = "adam"
rule = "adam"
learning_rate = 0.01
"""
MEASURED = '[[measure]]\nanalyzers = ["condition"]\n[[figure]]\nname = "loss"\nkind = "curves"\nquantity = "history/loss"\n'

# Checked, not run: minutes of training, and what carried_experiments_test.py runs with all other experiments.
LONG = {("reproduce", "la-depth"), ("reproduce", "la-settings")}


class Examples(program.Case):
    def setUp(self):
        super().setUp()
        self.make_inputs()

    def make_inputs(self):
        here = self.folder
        shutil.copy(DATA / "problem.toml", here)
        with np.load(DATA / "eval.npz") as prompts:
            np.savez(here / "eval.npz", **{name: prompts[name][:NUM_PROMPTS] for name in prompts.files})
        (here / "checkpoints").mkdir()
        for i in range(NUM_CHECKPOINTS):
            shutil.copy(checkpoint(STEPS[i % len(STEPS)]), here / "checkpoints" / f"step-{100 * i:06d}.npz")
        for name, step in (("step-000500", 500), ("a", 0), ("b", 1000)):
            shutil.copy(checkpoint(step), here / f"{name}.npz")
        for name in ("step-000500.h5", "model.safetensors"):
            self.done("convert", "step-000500.npz", name)
        shutil.copy(FIXTURES / "onnx-models" / "mlp" / "model.onnx", here)
        with h5py.File(here / "model.weights.h5", "w") as file:
            for name, values in weights().items():
                file["layers/" + name] = values
        if torch is not None:
            state = {name: torch.tensor(values) for name, values in weights().items()}
            torch.save(state, here / "checkpoint.pt")
            for name in ("epoch-10.pt", "checkpoint.pt"):
                torch.save({"model_state_dict": state}, here / name)
            torch.save({f"net_{name}": values for name, values in state.items()}, here / "epoch_10.pt")
        (here / "experiment.toml").write_text(EXPERIMENT)
        (here / "my-experiment.toml").write_text(EXPERIMENT + MEASURED)

    def make_results(self):
        """What the commands that read results are shown on."""
        self.done("analyze", "checkpoints", "--problem", "problem.toml", "-o", "result.h5")
        for name in ("run", "sgdm", "adam", "seed-0", "seed-1"):
            shutil.copy(self.folder / "result.h5", self.folder / f"{name}.h5")
        self.done("landscape", "step-000500.npz", "--problem", "problem.toml", "-o", "landscape.h5", "--directions",
                  "random", "--grid", "5x5", "--curvature")

    def done(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, DONE, (arguments, done.stderr))
        return done

    def examples_of(self, command):
        said = self.run_program(command, "--help").stdout
        text = said.split("\nExamples:\n")[1].split("\n\n")[0].replace("\\\n", " ")
        examples = [shlex.split(line) for line in text.splitlines()]
        self.assertIn(command, examples[0])
        for example in examples:
            self.assertEqual(example[0], "hesscope")
        return [example[1:] for example in examples]

    def run_examples(self, command):
        for example in self.examples_of(command):
            with self.subTest(" ".join(example)):
                if torch is None and any(word.endswith(".pt") for word in example):
                    self.skipTest("needs python3-torch")
                if ctypes.util.find_library("rsvg-2") is None and example[-1].endswith((".pdf", ".png")):
                    self.skipTest("needs librsvg")
                self.run_example(example)

    def run_example(self, example):
        place = example.index("-o") + 1 if "-o" in example else 2 if example[0] == "convert" else None
        output = self.folder / example[place] if place else None
        if output and output.is_file():
            output.unlink()  # of an example before
        if tuple(example[:2]) in LONG:
            example = [*example, "--dry-run"]
        self.done(*example)
        if output and "--dry-run" not in example:
            made = list(output.parent.glob(output.name + ".part-*")) if "--part" in example else [output]
            self.assertTrue(made and made[0].exists(), example)

    def test_of_analyze(self):
        self.run_examples("analyze")

    @program.plain_program_only
    def test_of_landscape(self):
        self.run_examples("landscape")

    def test_of_path(self):
        self.run_examples("path")

    def test_of_train(self):
        self.run_examples("train")

    def test_of_reproduce(self):
        self.run_examples("reproduce")

    def test_of_inspect(self):
        self.make_results()
        self.run_examples("inspect")

    def test_of_convert(self):
        names = "".join(f'"{name}" = "layers/{name}"\n' for name in weights())
        (self.folder / "map.toml").write_text("[map]\n" + names)
        self.run_examples("convert")

    def test_of_commands_that_read_results(self):
        self.make_results()
        for command in ("plot", "report", "export"):
            self.run_examples(command)

    def test_are_of_every_command(self):
        tested = {"analyze", "landscape", "path", "train", "reproduce", "inspect", "convert", "plot", "report", "export"}
        said = self.run_program("--help").stdout.split("\nCommands:\n")[1].split("\n\n")[0]
        self.assertEqual(set(re.findall(r"(?m)^  ([a-z]+) ", said)) - {"help"}, tested)


if __name__ == "__main__":
    program.main()
