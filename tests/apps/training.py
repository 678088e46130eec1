# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of `hesscope train` share: an experiment, a longer one to be killed, update rules in NumPy, and its folder."""
import h5py
import numpy as np

import program
from program import DONE

LAYERS, DIMENSION, CONTEXT = 2, 3, 5

EXPERIMENT = f"""
[model]
kind = "linear-attention"
layers = {LAYERS}
[data]
kind = "linear-regression"
dimension = {DIMENSION}
context = {CONTEXT}
[evaluation]
samples = 40
[initialization]
distribution = "normal"
std = 0.2
[training]
steps = 60
batch = 70
seeds = [3, 8]
clip_norm = 1.0
checkpoint_every = 20
history_every = 7
[[run]]
name = "sgdm"
rule = "sgd"
learning_rate = 0.02
[[run]]
name = "adam"
rule = "adamw"
learning_rate = 0.02
"""


class Rule:
    """Update rules as their papers and PyTorch have them, on whole vectors."""

    def __init__(self, size):
        self.t, self.m, self.v, self.a = 0, np.zeros(size), np.zeros(size), np.zeros(size)

    def sgd(self, theta, g):
        self.m = g if self.t == 1 else 0.9 * self.m + g
        return self.m

    def adamw(self, theta, g):
        self.m, self.v = 0.9 * self.m + 0.1 * g, 0.99 * self.v + 0.01 * g * g
        m, v = self.m / (1 - 0.9 ** self.t), self.v / (1 - 0.99 ** self.t)
        return m / (np.sqrt(v) + 1e-8) + 0.1 * theta

    def sign(self, theta, g):
        return np.sign(g)

    def lion(self, theta, g):
        u = np.sign(0.9 * self.m + 0.1 * g)
        self.m = 0.99 * self.m + 0.01 * g
        return u

    def muon(self, theta, g):
        """As Jordan et al. (2024) publish it; the first matrix is AdamW's, at half the rate."""
        self.m = 0.95 * self.m + g
        direction, first = g + 0.95 * self.m, DIMENSION * DIMENSION
        u = np.concatenate([self.orthogonalized(m.reshape(DIMENSION, DIMENSION)).ravel()
                            for m in np.split(direction, theta.size // first)]) + 0.1 * theta
        self.a, self.v = 0.9 * self.a + 0.1 * g, 0.95 * self.v + 0.05 * g * g
        m, v = self.a / (1 - 0.9 ** self.t), self.v / (1 - 0.95 ** self.t)
        u[:first] = 0.5 * (m / (np.sqrt(v) + 1e-10) + 0.1 * theta)[:first]
        return u

    @staticmethod
    def orthogonalized(x):
        x = x / (np.linalg.norm(x) + 1e-7)
        for _ in range(5):
            a = x @ x.T
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
        return x


class Trained(program.Case):
    def train(self, output="out", *arguments, experiment=EXPERIMENT, expect=DONE, name="experiment.toml", **options):
        (self.folder / name).write_text(experiment)
        done = self.run_program("train", name, "-o", output, *arguments, **options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def contents(self, output="out"):
        folder = self.folder / output
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    def times(self):
        return {p: p.stat().st_mtime_ns for p in (self.folder / "out").rglob("*") if p.is_file()}

    def parameters(self, path):
        with h5py.File(self.folder / path) as file:
            return np.concatenate([file[f"layers.{l}.{m}"][()].ravel() for l in range(LAYERS) for m in "PQ"])

    def steps_kept(self, output="out"):
        """Of the newest state of an Adam run."""
        try:
            state = (self.folder / output / "history.h5.units/state.journal").read_bytes()
        except FileNotFoundError:
            return 0
        return max([0] + [int(np.frombuffer(state, "<f8", 1, at + HEAD)[0]) for at in range(0, len(state), SLOT)])


# Long enough to be killed.
LONG = EXPERIMENT.replace("steps = 60", "steps = 5000").replace("checkpoint_every = 20", "checkpoint_every = 4000")


# A slot of an Adam run's journal: checksum, owner and number; steps, batch loss, divergence, losses above the limit,
# parameters, the rule's step and two averages, seconds.
HEAD = 24
SLOT = HEAD + 8 * (4 + 36 + 1 + 2 * 36 + 1)
