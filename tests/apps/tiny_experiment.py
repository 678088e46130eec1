# SPDX-License-Identifier: BSD-3-Clause
"""An experiment with a figure of nearly every kind, in seconds, and what `hesscope reproduce` makes of it."""
import h5py
import numpy as np
import xarray

import program
from program import DONE

VARIANTS, RUNS, SEEDS = ("few", "many"), ("sgdm", "adam"), (3, 8)
CHECKPOINTS = (0, 5, 10, 15, 20)

EXPERIMENT = """
[experiment]
name = "tiny"
title = "A tiny experiment"
paper = "Nobody 2000"
note = "All of it is ours."
[model]
kind = "linear-attention"
layers = 2
[data]
kind = "linear-regression"
dimension = 3
context = 4
[evaluation]
samples = 30
[initialization]
distribution = "normal"
std = 0.2
[training]
steps = 20
batch = 25
seeds = [3, 8]
clip_norm = 1.0
checkpoint_every = 5
history_every = 3
[[run]]
name = "sgdm"
rule = "sgd"
learning_rate = 0.02
[[run]]
name = "adam"
rule = "adamw"
learning_rate = 0.02

[[variant]]
name = "few"
[[variant]]
name = "many"
title = "Many tokens"
data.context = 9
run.adam.learning_rate = 0.01

[[measure]]
analyzers = ["condition", "smoothness"]
[[measure]]
name = "noise"
analyzers = ["noise"]
checkpoints = [0]
runs = ["adam"]
seeds = [8]
seed = 2
noise-sampling = "fresh"
noise-batch-size = 10
noise-draws = 50
noise-bins = 7

[[figure]]
name = "loss"
kind = "curves"
published = "Figure 1"
quantity = "history/loss"
[[figure]]
name = "condition"
kind = "curves"
quantity = "condition/robust_diagonal"
band = "std/2"
centre = "mean"
[[figure]]
name = "extent"
kind = "curves"
quantity = "history/gradient_norm"
band = "min-max"
runs = ["adam"]
[[figure]]
name = "ratios"
kind = "ratios"
published = "Table 1"
quantity = "condition/robust_diagonal"
numerator = "sgdm"
denominator = "adam"
steps = [10, 20]
[[figure.published_values]]
variant = "many"
step = 10
mean = 1e6
std = 0.5
source = "nobody"
[[figure.published_values]]
variant = "few"
step = 10
mean = 1.0
std = 1e6
source = "somebody"
[[figure.published_values]]
variant = "few"
step = 20
mean = -1.0
std = 1e6
source = "elsewhere"
[[figure]]
name = "noise"
kind = "noise"
[[figure]]
name = "cloud"
kind = "scatter"
x = "smoothness/gradient_norm"
y = "smoothness/directional_smoothness"
y_label = "curvature"
[[figure]]
name = "signed"
kind = "curves"
quantity = "smoothness/directional_smoothness"
y_scale = "signed-log"
[[figure.mark]]
name = "half"
step = 10
[[figure]]
name = "end"
kind = "table"
quantities = ["history/loss", "condition/robust_absolute"]
headings = ["loss", "R^{abs}"]

[scale.quick]
training.steps = 5
figure.ratios.steps = [5]
"""


class Reproduced(program.Case):
    def reproduce(self, *arguments, experiment=EXPERIMENT, expect=DONE, output="out"):
        (self.folder / "tiny.toml").write_text(experiment)
        done = self.run_program("reproduce", "tiny.toml", "-o", output, *arguments)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def contents(self):
        return {str(p.relative_to(self.folder / "out")): p.read_bytes()
                for p in (self.folder / "out").rglob("*") if p.is_file() and not p.name.endswith(".lock")}

    def series(self, variant, run, seed, quantity):
        """The quantity by step, from the files of the run."""
        group, name = quantity.split("/")
        file = {"history": "history.h5", "sampling": "spread.h5"}.get(group, "analysis.h5")
        with h5py.File(self.folder / "out/tiny" / variant / run / f"seed-{seed}" / file) as opened:
            values = opened[name] if group == "history" else opened[group][name]
            return dict(zip(opened["step"][()].tolist(), values[()]))

    def cube(self, quantity, steps, runs=RUNS):
        """The quantity by variant, run, seed and step."""
        return np.array([[[[self.series(v, r, s, quantity)[t] for t in steps] for s in SEEDS] for r in runs]
                         for v in VARIANTS])

    def figure(self, name):
        return xarray.load_dataset(self.folder / "out/tiny/figures" / f"{name}.h5", engine="netcdf4")

    def text(self, name):
        return (self.folder / "out/tiny/figures" / f"{name}.md").read_text()
