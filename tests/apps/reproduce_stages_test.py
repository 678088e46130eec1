# SPDX-License-Identifier: BSD-3-Clause
"""hesscope reproduce: variants that start where others end."""
import json
import re
import signal
import subprocess
import xml.etree.ElementTree

import h5py
import numpy as np
import xarray

import program
from program import DONE, INCONCLUSIVE, USAGE

STAGES = """
[experiment]
name = "stages"
[model]
kind = "attention"
kernel = "softmax"
heads = 2
head_width = 2
[data]
kind = "attention-regression"
sequence = 3
embedding = 3
samples = 4
seed = 5
[evaluation]
samples = 4
seed = 5
[initialization]
distribution = "normal"
std = 0.4
[training]
steps = 30
seeds = [1, 2, 7]
history_every = 1
checkpoint_every = 10
trained = ["W[QKV]"]
[[run]]
name = "gd"
rule = "sgd"
learning_rate = 0.02
momentum = 0.0

[[variant]]
name = "second"
title = "Softmax again"
initialization.from = "first/gd"
training.seeds = [1, 7]
[[variant]]
name = "gaussian"
model.kernel = "gaussian"
initialization.from = "first/gd"
training.seeds = [1, 7]
[[variant]]
name = "first"

[[measure]]
analyzers = ["tangent-kernel", "attention-terms"]
checkpoints = [0, 30]

[[figure]]
name = "rates"
kind = "convergence"
threshold = 2.5
part = 0.6
bound = "attention-terms/rate_bound"
[[figure]]
name = "bounded"
kind = "curves"
quantity = "history/loss"
bound = "attention-terms/kernel_rate_bound"
variants = ["first"]
[[figure]]
name = "planes"
kind = "landscape"
directions = "tensors:WQ,WK"
grid = "7x5"
span = "-1.5:1.5,-1:1"
direction_seed = 3
variants = ["second", "gaussian"]
seeds = [7]
[[figure]]
name = "line"
kind = "landscape"
directions = "random"
grid = "9x1"
step = 10
curvature = true
variants = ["first"]
"""


class Stages(program.Case):
    FIRST, SECOND = (1, 2, 7), (1, 7)

    def reproduce(self, *arguments, experiment=STAGES, expect=DONE):
        (self.folder / "stages.toml").write_text(experiment)
        done = self.run_program("reproduce", "stages.toml", "-o", "out", *arguments)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def tensors(self, path):
        with h5py.File(self.folder / "out/stages" / path) as file:
            return {name: file[name][()] for name in file if "optimizer" not in name}

    def history(self, variant, seed):
        with h5py.File(self.folder / f"out/stages/{variant}/gd/seed-{seed}/history.h5") as file:
            return {name: file[name][()] for name in ("step", "loss", "trained_gradient_norm")}

    def figure(self, name):
        return xarray.load_dataset(self.folder / f"out/stages/figures/{name}.h5", engine="netcdf4")

    def test_start_where_others_end(self):
        self.reproduce()
        for seed in self.SECOND:
            end = self.tensors(f"first/gd/seed-{seed}/step-000030.h5")
            for variant in ("second", "gaussian"):
                start = self.tensors(f"{variant}/gd/seed-{seed}/step-000000.h5")
                self.assertEqual(set(start), {"WQ", "WK", "WV", "WO"})
                for name in start:
                    np.testing.assert_array_equal(start[name], end[name])
            self.assertEqual(self.history("second", seed)["loss"][0], self.history("first", seed)["loss"][-1])
            self.assertNotEqual(self.history("gaussian", seed)["loss"][0], self.history("first", seed)["loss"][-1])
        self.assertFalse((self.folder / "out/stages/second/gd/seed-2").exists())
        before = {p: p.stat().st_mtime_ns for p in (self.folder / "out").rglob("*.h5") if "figures" not in str(p)}
        self.assertTrue(any("landscape-planes" in str(p) for p in before))
        self.reproduce()
        self.assertEqual({p: p.stat().st_mtime_ns for p in before}, before)

    def contents(self):
        return {str(p.relative_to(self.folder / "out")): p.read_bytes()
                for p in (self.folder / "out").rglob("*") if p.is_file() and not p.name.endswith(".lock")}

    def test_have_the_same_bytes_after_kills_and_for_any_threads(self):
        self.reproduce("--threads", "1")
        whole = self.contents()
        (self.folder / "out").rename(self.folder / "whole")
        killed = 0
        for seconds in (0.02, 0.1, 0.2, 0.3, 0.4):
            process = subprocess.Popen(self.command("reproduce", "stages.toml", "-o", "out", "--threads", "2"),
                                       cwd=self.folder, env=self.environment(), stdout=subprocess.DEVNULL)
            try:
                process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                killed += 1
        self.assertGreater(killed, 0)
        self.reproduce("--threads", "2")
        found = self.contents()
        self.assertEqual(set(found), set(whole))
        self.assertEqual([path for path in whole if found[path] != whole[path]], [])

    def test_are_planned_before_there_is_anything(self):
        (self.folder / "stages.toml").write_text(STAGES)
        done = self.run_program("reproduce", "stages.toml", "--dry-run", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(json.loads(done.stdout)["experiments"][0]["runs"], 7)

    def test_converge_at_a_fitted_rate(self):
        self.reproduce()
        rates = self.figure("rates")
        self.assertEqual(tuple(rates.variant.values), ("second", "gaussian", "first"))
        for variant in rates.variant.values:
            for seed in self.FIRST:
                found = rates.sel(variant=variant, run="gd", seed=seed)
                if seed == 2 and variant != "first":
                    self.assertTrue(np.isnan(found["last"]) and np.isnan(found["rate"]))
                    continue
                history = self.history(variant, seed)
                self.assertEqual(found["first"], history["loss"][0])
                self.assertEqual(found["last"], history["loss"][-1])
                self.assertEqual(found["gradient_norm"], history["trained_gradient_norm"][-1])
                late = history["step"] >= 12
                x, y = history["step"][late], np.log(history["loss"][late])
                np.testing.assert_allclose(found["rate"], 1 - np.exp(np.polyfit(x, y, 1)[0]), rtol=1e-9)
                np.testing.assert_allclose(found["determination"], np.corrcoef(x, y)[0, 1] ** 2, rtol=1e-9)
                with h5py.File(self.folder / f"out/stages/{variant}/gd/seed-{seed}/analysis.h5") as file:
                    bounds = file["attention-terms/rate_bound"][()]
                self.assertEqual(bounds.shape, (2,))
                np.testing.assert_allclose(found["bound"], 0.02 * bounds.min(), rtol=1e-14)
        text = (self.folder / "out/stages/figures/rates.md").read_text()
        below = sum(self.history("first", seed)["loss"][-1] <= 2.5 for seed in self.FIRST)
        self.assertIn(f"| {below} of 3 |", text)

    def test_draw_what_a_bound_allows(self):
        self.reproduce()
        root = xml.etree.ElementTree.parse(self.folder / "out/stages/figures/bounded.svg").getroot()
        [panel] = [g for g in root.iter() if g.get("class") == "panel"]
        [dotted] = [path for path in panel.iter() if (path.get("stroke-dasharray") or "").startswith("0.1,")]
        ends = [float(y) for y in re.findall(r"[ML][^,]*,([0-9.]+)", dotted.get("d"))]
        lower, upper, top, height = (float(panel.get(f"data-{name}")) for name in ("y-lower", "y-upper", "top", "height"))
        place = (top + height - np.array([ends[0], ends[-1]])) / height
        found = lower * (upper / lower) ** place
        first, bounds = [], []
        for seed in self.FIRST:
            first.append(self.history("first", seed)["loss"][0])
            with h5py.File(self.folder / f"out/stages/first/gd/seed-{seed}/analysis.h5") as file:
                bounds.append(file["attention-terms/kernel_rate_bound"][0])
        self.assertGreater(min(bounds), 0)
        last = np.array(first) * (1 - 0.02 * np.array(bounds)) ** 30
        expected = [np.exp(np.log(values).mean()) for values in (first, last)]
        np.testing.assert_allclose(found, expected, rtol=2e-3)
        self.assertIn("dotted", root.find("{http://www.w3.org/2000/svg}desc").text)

    def test_look_at_their_landscapes(self):
        self.reproduce()
        planes = self.figure("planes")
        np.testing.assert_array_equal(planes.seed, [7])
        for variant in ("second", "gaussian"):
            folder = f"out/stages/{variant}/gd/seed-7"
            done = self.run_program("landscape", f"{folder}/step-000030.h5", "-p", f"{folder}/problem.toml", "-o",
                                    f"{variant}.h5", "--directions", "tensors:WQ,WK", "--grid", "7x5", "--span",
                                    "-1.5:1.5,-1:1", "--seed", 3)
            self.assertEqual(done.returncode, DONE, done.stderr)
            found = planes.sel(variant=variant, run="gd", seed=7)
            with h5py.File(self.folder / f"{variant}.h5") as file:
                f = file["landscape/loss"][()]
                np.testing.assert_array_equal(found["loss"], f)
                np.testing.assert_array_equal(found.alpha, file["landscape/alpha"])
                np.testing.assert_array_equal(found.beta, file["landscape/beta"])
                self.assertEqual(found.plane_lambda_min, file["landscape/plane_lambda_min"][()])
                self.assertEqual(found.centre_loss, file["loss"][0])
            self.assertEqual(found.minimum, f.min())
            self.assertEqual(found.maximum, f.max())
            xx = f[1:-1, 2:] - 2 * f[1:-1, 1:-1] + f[1:-1, :-2]
            yy = f[2:, 1:-1] - 2 * f[1:-1, 1:-1] + f[:-2, 1:-1]
            xy = (f[2:, 2:] - f[2:, :-2] - f[:-2, 2:] + f[:-2, :-2]) / 4
            np.testing.assert_allclose(found.convex_share, ((xx > 0) & (xx * yy > xy ** 2)).mean(), rtol=1e-14)
            b, a = (axis.ravel() for axis in np.meshgrid(found.beta, found.alpha, indexing="ij"))
            terms = np.stack([np.ones_like(a), a, b, a * a, a * b, b * b], axis=1)
            left = f.ravel() - terms @ np.linalg.lstsq(terms, f.ravel(), rcond=None)[0]
            np.testing.assert_allclose(found.roughness, np.linalg.norm(left) / np.linalg.norm(f - f.mean()), rtol=1e-9)
        self.assertNotEqual(planes["loss"].values[0].tolist(), planes["loss"].values[1].tolist())
        drawing = xml.etree.ElementTree.parse(self.folder / "out/stages/figures/planes.svg").getroot()
        self.assertIn("Softmax again", "".join(drawing.itertext()))
        for label in ("\u03b1, along WQ", "\u03b2, along WK"):  # with a raised letter
            self.assertIn(label, "".join(drawing.itertext()))
        line = self.figure("line")
        self.assertEqual(line["loss"].shape, (1, 1, 3, 1, 9))
        self.assertTrue(((line.index_zero_share >= 0) & (line.index_zero_share <= 1)).all())
        np.testing.assert_array_equal(line.centre_loss.values[0, 0],
                                      [self.history("first", seed)["loss"][10] for seed in self.FIRST])

    def test_that_lead_nowhere_are_refused(self):
        for old, new, word in (
                ('from = "first/gd"\ntraining.seeds = [1, 7]\n[[variant]]\nname = "gau', 'from = "frist/gd"\n'
                 'training.seeds = [1, 7]\n[[variant]]\nname = "gau', "did you mean 'first'?"),
                ('from = "first/gd"', 'from = "first/sgd"', "did you mean 'gd'?"),
                ('from = "first/gd"', 'from = "first"', "VARIANT/RUN"),
                ("training.seeds = [1, 7]", "training.seeds = [1, 9]", "seed 9"),
                ('name = "first"\n', 'name = "first"\ninitialization.from = "gaussian/gd"\ntraining.seeds = [1, 7]\n',
                 "start from where it ends"),
                ('directions = "random"', 'directions = "between"', "2 checkpoints"),
                ('directions = "random"', 'directions = "ramdom"', "did you mean 'random'?"),
                ('grid = "9x1"', 'grid = "9"', "NxM"),
                ("part = 0.6", "part = 1.6", "'part'"),
                ('bound = "attention-terms/rate_bound"', 'bound = "attention-terms/rate_bond"', "rate_bound")):
            self.assertIn(old, STAGES)
            done = self.reproduce(experiment=STAGES.replace(old, new, 1), expect=USAGE)
            self.assertRegex(done.stderr, r"stages\.toml:\d+")
            self.assertIn(word, done.stderr)
        self.assertEqual(self.files(), {"stages.toml"})

    def test_whose_start_diverged_are_left_out(self):
        wild = STAGES.replace('name = "first"\n', 'name = "first"\nrun.gd.learning_rate = 1e60\n')
        done = self.reproduce(experiment=wild, expect=INCONCLUSIVE)
        self.assertIn("variant 'second' is not trained from seed 1: first/gd, where it starts, diverged", done.stderr)
        self.assertFalse((self.folder / "out/stages/second").exists())
        self.assertTrue(np.isnan(self.figure("rates")["last"]).all())


if __name__ == "__main__":
    program.main()
