# SPDX-License-Identifier: BSD-3-Clause
"""Signs of signal and noise: what experiments make of them."""
import json
import struct

import h5py
import numpy as np
import xarray

import program
from program import BAD_INPUT, DONE, USAGE
from sign_descent_test import TRAINING

EXPERIMENT = """
[experiment]
name = "tiny"
""" + TRAINING + """
[[run]]
name = "gd"
rule = "gd"
learning_rate = 0.01

[[figure]]
name = "stages"
kind = "traces"
quantities = ["alignment/value_noise", "alignment/key_noise", "history/training_loss"]
runs = ["signgd"]
seed = 8
until = 20
[[figure]]
name = "both"
kind = "traces"
quantities = ["alignment/softmax_21"]
[[figure]]
name = "order"
kind = "events"
[[figure.event]]
name = "noise"
quantity = "alignment/positive_value_noise"
above = 1.0
[[figure.event]]
name = "loss"
quantity = "history/training_loss"
below = 0.69
[[figure.event]]
name = "never"
quantity = "alignment/mean_softmax_11"
below = -1.0
[[figure.published_values]]
variant = "base"
run = "signgd"
quantity = "noise"
mean = 1e6
source = "nobody"
[[figure]]
name = "signs"
kind = "contingency"
x = "alignment/key_noise"
y = "alignment/query_noise"
x_name = "K"
y_name = "Q"
steps = [0, 5]
[[figure.published_values]]
variant = "base"
run = "signgd"
quantity = "sum to sum"
mean = 30
source = "somebody"
[[figure.published_values]]
variant = "base"
run = "gd"
quantity = "sum to K+Q+"
mean = 9999
source = "nobody"
[[figure]]
name = "losses"
kind = "curves"
quantity = "history/training_loss"

[scale.quick]
training.steps = 10
"""


class Reproduced(program.Case):
    def reproduce(self, *arguments, experiment=EXPERIMENT, expect=DONE):
        (self.folder / "tiny.toml").write_text(experiment)
        done = self.run_program("reproduce", "tiny.toml", "-o", "out", *arguments)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def figure(self, name):
        return xarray.load_dataset(self.folder / "out/tiny/figures" / f"{name}.h5", engine="netcdf4")

    def text(self, name):
        return (self.folder / "out/tiny/figures" / f"{name}.md").read_text()

    def monitored(self, run, seed):
        path = self.folder / f"out/tiny/base/{run}/seed-{seed}/history.h5"
        group = xarray.load_dataset(path, group="alignment", engine="netcdf4")
        return xarray.load_dataset(path, engine="netcdf4"), group


class Figures(Reproduced):
    def test_hold_the_numbers_of_their_runs(self):
        self.reproduce()
        history, found = self.monitored("signgd", 8)
        losses = self.figure("losses")
        np.testing.assert_array_equal(losses.value[0, 0, 1], history.training_loss)
        early = history.step.values <= 20
        self.assertTrue(0 < early.sum() < len(early))
        history, found = history.isel(step=early), found.isel(step=early)
        stages = self.figure("stages")
        np.testing.assert_array_equal(stages.step, history.step)
        self.assertEqual(stages.key_noise.dims, ("step", "neuron", "sample"))
        np.testing.assert_array_equal(stages.key_noise, found.key_noise)
        np.testing.assert_array_equal(stages.value_noise, found.value_noise)
        np.testing.assert_array_equal(stages.training_loss, history.training_loss)
        both = self.figure("both")
        for run in ("signgd", "gd"):
            np.testing.assert_array_equal(both[f"softmax_21_base_{run}"], self.monitored(run, 3)[1].softmax_21)

    def test_say_when_and_in_which_order(self):
        self.reproduce()
        order = self.figure("order")
        self.assertEqual(order.event.values.tolist(), ["noise", "loss", "never"])
        for r, run in enumerate(("signgd", "gd")):
            for s, seed in enumerate((3, 8)):
                history, found = self.monitored(run, seed)
                steps = history.step.values
                for e, reached in enumerate((found.positive_value_noise >= 1, history.training_loss <= 0.69)):
                    expected = steps[reached.values.argmax()] if reached.any() else np.nan
                    np.testing.assert_array_equal(order.time[0, r, s, e], expected)
        self.assertTrue(np.isfinite(order.time[0, 0, :, :2]).all() and order.time[..., 2].isnull().all())
        np.testing.assert_array_equal(order.in_order, np.zeros((1, 2, 2)))  # one of them never happened
        self.assertIn("0 of 2 seeds of signgd", self.text("order"))
        self.assertIn("base, signgd, noise: 1e+06", self.text("order").split("## What disagrees")[1])
        head, event, rest = EXPERIMENT.partition('[[figure.event]]\nname = "never"')
        without = head + rest.split("below = -1.0\n")[1]
        self.reproduce(experiment=without)
        order = self.figure("order")
        expected = order.time[..., 0] <= order.time[..., 1]
        np.testing.assert_array_equal(order.in_order, expected)
        self.assertTrue(expected[0, 0].all())

    def test_count_signs(self):
        self.reproduce()
        signs = self.figure("signs")
        names = ["K+Q+", "K+Q-", "K-Q+", "K-Q-"]
        self.assertEqual(signs.then.values.tolist(), names)
        for r, run in enumerate(("signgd", "gd")):
            for s, seed in enumerate((3, 8)):
                _, found = self.monitored(run, seed)
                kinds = [2 * (found.key_noise[t] <= 0) + (found.query_noise[t] <= 0) for t in (0, 2)]
                expected = np.zeros((4, 4))
                np.add.at(expected, tuple(np.ravel(kind) for kind in kinds), 1)
                np.testing.assert_array_equal(signs["count"][0, r, s], expected)
                self.assertEqual(expected.sum(), 30)
                self.assertAlmostEqual(expected[[0, 3]].sum() / 30, float(found.aligned[0]), places=14)
        text = self.text("signs")
        cell = signs["count"][0, 0, :, 1, 3]
        deviation = float(cell.std(ddof=1))
        self.assertIn(f"{float(cell.mean()):.3g} ({deviation:.3g})", text)
        disagreements = text.split("## What disagrees")[1]
        self.assertIn("base, gd, sum to K+Q+: 1e+04 (100) (nobody)", disagreements)
        self.assertNotIn("somebody", disagreements.split("##")[0])

    def test_refuse_what_they_cannot_show(self):
        for old, new, expected in (
                ('"alignment/value_noise", ', '"alignment/value_nose", ', "did you mean 'value_noise'?"),
                ('quantity = "alignment/positive_value_noise"', 'quantity = "alignment/value_noise"',
                 "there is no quantity of alignment 'value_noise'"),
                ("above = 1.0", "", "needs one of 'above' and 'below'"),
                ("above = 1.0", "above = 1.0\nbelow = 1.0", "needs one of 'above' and 'below'"),
                ("steps = [0, 5]", "steps = [5, 0]", "two of them, the earlier first"),
                ('y = "alignment/query_noise"', 'y = "alignment/query_signal"', "must have the same dimensions"),
                ("seed = 8", "seed = 7", "seed is [7], of which none is among training.seeds, [3, 8]"),
                ('monitors = ["alignment"]', "", "no group of quantities that is measured 'alignment'")):
            self.assertIn(old, EXPERIMENT)
            done = self.reproduce("--force", experiment=EXPERIMENT.replace(old, new, 1), expect=USAGE)
            self.assertIn(expected, done.stderr)
            self.assertRegex(done.stderr, r"tiny\.toml:\d+")


class Overrides(Reproduced):
    def test_go_over_file_and_scale(self):
        self.reproduce("--scale", "quick", "--set", "training.steps=20", "--set", "training.seeds=[3]",
                       "--set", "run.gd.learning_rate=0.5", "--set", "data.placement=first",
                       "--set", "figure.stages.seed=3")
        history, _ = self.monitored("gd", 3)
        self.assertEqual(history.step.values[-1], 20)
        self.assertEqual(history.attrs["learning_rate"], 0.5)
        self.assertIn("placement = 'first'", history.attrs["problem"])
        self.assertFalse((self.folder / "out/tiny/base/gd/seed-8").exists())
        self.assertIn("`training.steps=20`, `training.seeds=[3]`", self.text("order"))
        self.assertIn("with keys changed our numbers are not comparable", self.text("order"))
        self.assertIn("--set training.steps=20 --set", self.figure("order").attrs["history"])

    def test_name_what_is_wrong(self):
        for text, expected in (("training.step=3", "did you mean 'steps'?"), ("steps", "must be KEY=VALUE"),
                               ("=3", "must be KEY=VALUE"), ("run.sgngd.learning_rate=1", "did you mean 'signgd'?"),
                               ("training.steps=many", "--set training.steps=many:1: "),
                               ("model=3", "[model]"), ("a b=3", "--set a b=3")):
            done = self.reproduce("--set", text, expect=USAGE)
            self.assertIn(expected, done.stderr)
        self.assertEqual(self.files(), {"tiny.toml"})


class NoisyImages(program.Case):
    def write_idx(self):
        """Twelve pictures of 3 x 4, of the labels 2 and 5 in turn."""
        pixels = np.random.default_rng(2).integers(0, 256, size=(12, 3, 4), dtype=np.uint8)
        labels = np.array([2, 5] * 6, dtype=np.uint8)
        for name, array in (("images", pixels), ("labels", labels)):
            head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
            (self.folder / name).write_bytes(head + array.tobytes())

    def reproduce(self, *arguments, expect=DONE):
        done = self.run_program("reproduce", "sd-noisy-images", "--scale", "quick", "-o", "out", "--set",
                                "training.seeds=[0]", *arguments)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    @program.plain_program_only
    def test_are_drawn_or_given(self):
        self.reproduce()
        checkpoint = "out/sd-noisy-images/noise-1/gd/seed-0/step-000000.h5"
        with h5py.File(self.folder / checkpoint) as file:
            self.assertEqual(file["WQ"].shape, (10, 28 * 28))
        drawn = json.loads(self.reproduce("--json").stdout)["experiments"][0]["figure_files"]
        self.assertEqual([figure["name"] for figure in drawn], ["training-loss", "test-loss", "losses"])
        self.write_idx()
        given = ("--set", "data.images=images", "--set", "data.labels=labels", "--set", "data.positive=5", "--set",
                 "data.negative=2")
        self.reproduce(*given, expect=USAGE)  # other data than those there
        self.reproduce(*given, "--force")
        with h5py.File(self.folder / checkpoint) as file:
            self.assertEqual(file["WQ"].shape, (10, 12))
        self.reproduce("--set", "data.images=nowhere", "--set", "data.labels=labels", "--force", expect=BAD_INPUT)
        done = self.reproduce("--set", "data.labels=labels", "--force", expect=USAGE)
        self.assertIn("does not take the key 'labels'", done.stderr)


class Experiments(program.Case):
    @program.plain_program_only
    def test_show_early_stages_already_at_the_quick_scale(self):
        done = self.run_program("reproduce", "sd-stages", "--scale", "quick", "-o", "out")
        self.assertEqual(done.returncode, DONE, done.stderr)
        signs = xarray.load_dataset(self.folder / "out/sd-stages/figures/alignment.h5", engine="netcdf4")["count"]
        total = signs.sum(["then", "now"])
        np.testing.assert_array_equal(total, 20 * 8)
        aligned = np.array([1, 0, 0, 1])
        self.assertTrue((abs(signs.sum("now") @ xarray.DataArray(aligned, dims="then") / total - 0.5) < 0.2).all())
        self.assertTrue((signs.sum("then") @ xarray.DataArray(aligned, dims="now") / total > 0.85).all())


if __name__ == "__main__":
    program.main()
