# SPDX-License-Identifier: BSD-3-Clause
"""hesscope reproduce: figures against NumPy, bytes against threads and kills, the experiments there are."""
import json
import random
import re
import shutil
import signal
import subprocess
import time
import tomllib
import xml.etree.ElementTree

import h5py
import numpy as np
import xarray

import program
from program import BAD_INPUT, DONE, INCONCLUSIVE, SOURCE, USAGE

TERMINATED = 143
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


class Figures(Reproduced):
    def test_hold_the_numbers_of_their_runs(self):
        done = self.reproduce()
        history_steps = (0, 3, 6, 9, 12, 15, 18, 20)
        for name, quantity, part, steps in (("loss", "history/loss", 4, history_steps),
                                            ("condition", "condition/robust_diagonal", 2, CHECKPOINTS)):
            figure = self.figure(name)
            self.assertEqual(tuple(figure.variant.values), VARIANTS)
            self.assertEqual(tuple(figure.run.values), RUNS)
            np.testing.assert_array_equal(figure.seed, SEEDS)
            np.testing.assert_array_equal(figure.step, steps)
            values = self.cube(quantity, steps)
            self.assertTrue(np.isfinite(values).all() and np.ptp(values) > 0)
            np.testing.assert_array_equal(figure.value, values)
            np.testing.assert_array_equal(figure["count"], np.full((2, 2, len(steps)), 2))
            mean, deviation = values.mean(axis=2), values.std(axis=2, ddof=1)
            np.testing.assert_allclose(figure["mean"], mean, rtol=1e-14)
            np.testing.assert_allclose(figure.standard_deviation, deviation, rtol=1e-9)
            # On a logarithmic axis the line is the geometric mean, unless the experiment says otherwise.
            if name == "loss":
                centre, factor = np.exp(np.log(values).mean(axis=2)), np.exp(np.log(values).std(axis=2, ddof=1) / part)
                low, high = centre / factor, centre * factor
            else:
                centre, low, high = mean, mean - deviation / part, mean + deviation / part
            np.testing.assert_allclose(figure.centre, centre, rtol=1e-13)
            np.testing.assert_allclose(figure.low, low, rtol=1e-12)
            np.testing.assert_allclose(figure.high, high, rtol=1e-12)
        extent = self.figure("extent")
        values = self.cube("history/gradient_norm", history_steps, ("adam",))
        np.testing.assert_array_equal(extent.low, values.min(axis=2))
        np.testing.assert_array_equal(extent.high, values.max(axis=2))

        ratios = self.figure("ratios")
        values = self.cube("condition/robust_diagonal", (10, 20))
        quotient = values[:, 0] / values[:, 1]
        np.testing.assert_allclose(ratios.ratio, quotient, rtol=1e-15)
        np.testing.assert_allclose(ratios["mean"], quotient.mean(axis=1), rtol=1e-14)
        np.testing.assert_allclose(ratios.standard_deviation, quotient.std(axis=1, ddof=1), rtol=1e-9)
        text = self.text("ratios")
        for v in range(2):
            cells = [f"{quotient[v, :, t].mean():.3g} ({quotient[v, :, t].std(ddof=1):.3g})" for t in range(2)]
            self.assertIn(" | ".join([("few", "Many tokens")[v]] + cells), text)
        self.assertIn("Table 1 of Nobody 2000", text)
        self.assertIn("All of it is ours.", text)

        # What disagrees is named, there and in the summary, and what spreads of a million leave open.
        disagreements = text.split("## What disagrees")[1].split("##")[0]
        self.assertIn("many, step 10", disagreements)
        self.assertNotIn("few", disagreements)
        undecided = text.split("## What the spreads leave open")[1].split("##")[0]
        self.assertIn("few, step 10", undecided)
        self.assertIn("few, step 20", undecided)
        self.assertNotIn("many", undecided)
        self.assertIn("tiny/ratios disagrees: many, step 10: 1e+06 (0.5) (nobody)", done.stdout)
        self.assertIn("1 of 3, 2 open", done.stdout)
        self.assertRegex(done.stdout, r"Table 1 +out/tiny/figures/ratios")

    def drawing(self, name, experiment="tiny"):
        return (self.folder / "out" / experiment / "figures" / f"{name}.svg").read_text()

    def panels(self, svg):
        """The attributes of each panel."""
        return [dict(re.findall(r'data-([a-z-]+)="([^"]*)"', found)) for found in re.findall(r'<g class="panel"([^>]*)>', svg)]

    def test_of_signed_numbers_show_median_and_quartiles(self):
        self.reproduce()
        figure = self.figure("signed")
        np.testing.assert_allclose(figure.centre, figure.value.median("seed"), rtol=1e-14)
        for name, share in (("low", 0.25), ("high", 0.75)):
            np.testing.assert_allclose(figure[name], figure.value.quantile(share, "seed"), rtol=1e-13)
        self.assertIn("median", figure.centre.definition)
        svg = self.drawing("signed")
        self.assertEqual({panel["y-scale"] for panel in self.panels(svg)}, {"signed-log"})
        self.assertEqual(svg.count(">half</text>"), 4)  # a panel each, with a halo

    def test_have_equal_scales_letters_and_titles(self):
        self.reproduce()
        svg = self.drawing("loss")
        panels = self.panels(svg)
        self.assertEqual(len(panels), len(VARIANTS))
        for name in ("x-lower", "x-upper", "y-lower", "y-upper", "top", "height"):
            self.assertEqual(len({panel[name] for panel in panels}), 1, name)
        self.assertIn(">(a) few</text>", svg)
        self.assertIn(">(b) Many tokens</text>", svg)
        own = EXPERIMENT.replace('quantity = "history/loss"\n', 'quantity = "history/loss"\nshare_scales = false\n', 1)
        self.reproduce("--force", experiment=own.replace("context = 9", "context = 2"))
        self.assertEqual(len({panel["y-upper"] for panel in self.panels(self.drawing("loss"))}), 2)
        text, svg = self.text("end"), self.drawing("end")
        self.assertIn("| variant | run | step | loss | R^abs |", text)
        self.assertRegex(text, r"\| Many tokens \| adam \| 20 \| [0-9.]+ \([0-9.]+\) \|")
        self.assertNotIn("condition/robust_absolute", svg)

    def test_of_noise_points_and_last_values(self):
        self.reproduce()
        noise = self.figure("noise")
        for v, variant in enumerate(VARIANTS):
            with h5py.File(self.folder / f"out/tiny/{variant}/adam/seed-8/noise.h5") as file:
                self.assertEqual(file["step"][()].tolist(), [0])
                norms = file["noise/norm"][0]
            self.assertEqual(norms.shape, (50,))
            np.testing.assert_allclose(noise["mean"][v], norms.mean(), rtol=1e-13)
            np.testing.assert_allclose(noise.standard_deviation[v], norms.std(ddof=1), rtol=1e-12)
            density, edges = np.histogram(norms, noise.histogram_edges[v], density=True)
            np.testing.assert_allclose(noise.histogram_density[v], density, rtol=1e-10)
            self.assertEqual(len(edges), 8)
        cloud = self.figure("cloud")
        x = self.cube("smoothness/gradient_norm", CHECKPOINTS)
        y = self.cube("smoothness/directional_smoothness", CHECKPOINTS)
        np.testing.assert_array_equal(cloud.x, x)
        np.testing.assert_array_equal(cloud.y, y)
        for v in range(2):
            for r in range(2):
                with np.errstate(invalid="ignore"):
                    a, b = np.log(x[v, r]).ravel(), np.log(y[v, r]).ravel()
                there = np.isfinite(a) & np.isfinite(b)
                self.assertGreater(there.sum(), 4)
                np.testing.assert_allclose(cloud.log_slope[v, r], np.polyfit(a[there], b[there], 1)[0], rtol=1e-8)
                np.testing.assert_allclose(cloud.log_correlation[v, r], np.corrcoef(a[there], b[there])[0, 1],
                                           rtol=1e-8)
        end = self.figure("end")
        for q, quantity in enumerate(("history/loss", "condition/robust_absolute")):
            values = self.cube(quantity, (20,))[..., 0]
            np.testing.assert_allclose(end["mean"][q, ..., 0], values.mean(axis=2), rtol=1e-14)
            np.testing.assert_allclose(end.standard_deviation[q, ..., 0], values.std(axis=2, ddof=1), rtol=1e-9)
        np.testing.assert_array_equal(end.at_step, [[20], [20]])

    def test_of_a_measure_on_more_samples(self):
        more = """
[[measure]]
name = "more"
analyzers = ["condition"]
samples = 300
checkpoints = [20]
[[figure]]
name = "of-more"
kind = "table"
quantities = ["more/condition/robust_diagonal", "condition/robust_diagonal"]
"""
        self.reproduce(experiment=EXPERIMENT.replace("\n[scale.quick]", more + "\n[scale.quick]"))
        expected = np.zeros((len(VARIANTS), len(RUNS), len(SEEDS)))
        for v, variant in enumerate(VARIANTS):
            for r, run in enumerate(RUNS):
                for s, seed in enumerate(SEEDS):
                    folder = self.folder / "out/tiny" / variant / run / f"seed-{seed}"
                    text = (folder / "problem.toml").read_text()
                    self.assertIn("samples = 30\n", text)
                    (self.folder / "by-hand.toml").write_text(text.replace("samples = 30\n", "samples = 300\n"))
                    self.analyze(folder / "step-000020.h5", "--only", "condition", "--force", problem="by-hand.toml")
                    with h5py.File(self.folder / "out.h5") as file:
                        self.assertEqual(file.attrs["num_samples"], 300)
                        expected[v, r, s] = file["condition/robust_diagonal"][0]
        few = self.cube("condition/robust_diagonal", (20,))[..., 0]
        self.assertFalse((expected == few).any())
        for mean, values in zip(self.figure("of-more")["mean"][..., 0], (expected, few)):
            np.testing.assert_allclose(mean, values.mean(axis=2), rtol=1e-14)

    def test_of_ratios_say_what_the_choice_of_samples_leaves_open(self):
        spread = """[[measure]]
name = "spread"
analyzers = ["sampling"]
checkpoints = [10, 20]
"""
        error = "sampling/robust_diagonal_standard_error"
        self.reproduce(experiment=EXPERIMENT.replace("[[figure]]", spread + "[[figure]]", 1).replace(
            'denominator = "adam"', f'denominator = "adam"\nstandard_error = "{error}"', 1))
        values = self.cube("condition/robust_diagonal", (10, 20))
        errors = self.cube("sampling/robust_diagonal_standard_error", (10, 20))
        np.testing.assert_allclose(self.cube("sampling/robust_diagonal", (10, 20)), values, rtol=1e-12)
        quotient = values[:, 0] / values[:, 1]
        expected = quotient * np.hypot(errors[:, 0] / values[:, 0], errors[:, 1] / values[:, 1])
        self.assertTrue((expected > 0).all())
        np.testing.assert_allclose(self.figure("ratios").sampling_error, expected, rtol=1e-13)
        text = self.text("ratios")
        for v, title in enumerate(("few", "Many tokens")):
            cells = [f"{quotient[v, :, t].mean():.3g} ({quotient[v, :, t].std(ddof=1):.3g}; "
                     f"{expected[v, :, t].mean():.3g})" for t in range(2)]
            self.assertIn(" | ".join([title] + cells), text)

    def test_of_learning_rates_name_the_best(self):
        rates = {"sgdm": (0.001, 0.02, 0.2), "adam": (0.01, 1e6)}
        head = EXPERIMENT.split("[[measure]]")[0].replace("history_every = 3", "history_every = 1")
        head = "".join(line for line in head.splitlines(True) if "learning_rate =" not in line)
        for family, values in rates.items():
            head = head.replace(f'name = "{family}"', f'name = "{family}"\nlearning_rates = {list(values)}')
        self.reproduce(experiment=head + '[[figure]]\nname = "rates"\nkind = "rates"\nlast = 4\n',
                       expect=INCONCLUSIVE)
        figure = self.figure("rates")
        names = [f"{family}-{rate:.10g}" for family, values in rates.items() for rate in values]
        self.assertEqual(list(figure.run.values), names)
        self.assertEqual(list(figure.family.values), list(rates))
        np.testing.assert_array_equal(figure.learning_rate, [sum(rates.values(), ())] * 2)
        steps = (17, 18, 19, 20)
        values = np.array([[[np.mean([self.series(v, r, s, "history/batch_loss").get(t, np.nan) for t in steps])
                             for s in SEEDS] for r in names] for v in VARIANTS])
        np.testing.assert_allclose(figure.value, values, rtol=1e-13)
        self.assertTrue(np.isnan(values[:, 4]).all(), "adam with rate 1e6 was to diverge")
        starts = np.array([[[self.series(v, r, s, "history/batch_loss")[1] for s in SEEDS] for r in names]
                           for v in VARIANTS])
        is_good = (values <= starts).all(axis=2)
        self.assertEqual(is_good.all(), False)
        mean = np.where(is_good, values.mean(axis=2), np.nan)
        np.testing.assert_allclose(figure["mean"], mean, rtol=1e-13)
        best = [rates["sgdm"][i] for i in np.nanargmin(mean[:, :3], axis=1)]
        np.testing.assert_array_equal(figure.best_learning_rate, [[b, 0.01] for b in best])
        self.assertIn("0.01 (at the end of the range)", self.text("rates"))
        # What failed stands above the frame, where no value can be read off.
        root = xml.etree.ElementTree.fromstring((self.folder / "out/tiny/figures/rates.svg").read_text())
        panels = [g for g in root.iter() if g.get("class") == "panel"]
        self.assertEqual(len(panels), len(VARIANTS))
        for v, panel in enumerate(panels):
            strokes = [float(y) for marks in panel.iter() if marks.get("class") == "marks" for path in marks
                       for y in re.findall(r"[ML][^,]*,([0-9.]+)", path.get("d"))]
            self.assertEqual(len(strokes), 4 * (~is_good[v]).sum())
            self.assertLess(max(strokes), float(panel.get("data-top")))
        for v in range(len(VARIANTS)):
            excess = values[v, :3] - values[v, np.nanargmin(mean[v, :3])]
            is_near = is_good[v, :3] & (excess.mean(axis=1) <= excess.std(axis=1, ddof=1) / np.sqrt(len(SEEDS)))
            near = figure.near_best_learning_rate[v].values
            np.testing.assert_array_equal(np.isfinite(near), [*is_near, True, False])
            np.testing.assert_array_equal(near[np.isfinite(near)], figure.learning_rate[v].values[np.isfinite(near)])

    def test_of_learning_rates_compare_with_those_of_others(self):
        rates = {"sgdm": (0.001, 0.02), "adam": (0.01, 1e6)}
        head = EXPERIMENT.split("[[measure]]")[0].replace("history_every = 3", "history_every = 1")
        head = head.replace("[experiment]", "[experiment]\nmay_diverge = true")
        head = "".join(line for line in head.splitlines(True) if "learning_rate =" not in line)
        for family, values in rates.items():
            head = head.replace(f'name = "{family}"', f'name = "{family}"\nlearning_rates = {list(values)}')
        figure = '[[figure]]\nname = "rates"\nkind = "rates"\nlast = 4\n'
        for run, rate in (("sgdm", 0.5), ("adam", 0.01), ("adam", 1e6)):
            figure += (f'[[figure.published_values]]\nvariant = "{VARIANTS[0]}"\nrun = "{run}"\nmean = {rate}\n'
                       'source = "somebody"\n')
        done = self.reproduce("--json", experiment=head + figure)  # a run diverges, and that is no failure
        found = json.loads(done.stdout)["experiments"][0]
        self.assertTrue(found["diverged"])
        self.assertEqual(found["figure_files"][0]["compared"], 2)
        self.assertEqual(len(found["figure_files"][0]["disagreements"]), 1)
        self.assertIn(f"{VARIANTS[0]}, adam: 1000000 (somebody), ours 0.01", found["figure_files"][0]["disagreements"][0])
        rows = [line.split(" | ") for line in self.text("rates").splitlines() if line.endswith("| somebody |")]
        self.assertEqual([row[3] for row in rows], ["not among ours", "agrees", "disagrees"])

    def test_are_drawings_and_texts_of_each(self):
        done = self.reproduce("--json")
        document = json.loads(done.stdout)
        figures = document["experiments"][0]["figure_files"]
        self.assertEqual([f["name"] for f in figures],
                         ["loss", "condition", "extent", "ratios", "noise", "cloud", "signed", "end"])
        for figure in figures:
            root = xml.etree.ElementTree.parse(self.folder / figure["drawing"]).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            self.assertTrue((self.folder / figure["text"]).read_text().startswith("# "))
            self.assertTrue((self.folder / figure["data"]).is_file())
        self.assertEqual(document["experiments"][0]["runs"], 8)
        self.assertIn(len(figures[3]["disagreements"]), (1, 2))

    def test_of_a_scale_follow_its_changes(self):
        self.reproduce("--scale", "quick")
        np.testing.assert_array_equal(self.figure("ratios").step, [5])
        np.testing.assert_array_equal(self.figure("condition").step, [0, 5])
        self.assertIn("not comparable", self.text("ratios"))
        self.assertNotIn("disagrees", self.text("ratios"))
        # Of another scale: refused, and replaced on request.
        done = self.reproduce(expect=USAGE)
        self.assertIn("was made with --scale quick, this is --scale paper", done.stderr)
        self.reproduce("--force")
        np.testing.assert_array_equal(self.figure("condition").step, CHECKPOINTS)


class Bytes(Reproduced):
    def test_do_not_depend_on_threads(self):
        self.reproduce("--threads", "1")
        one = self.contents()
        (self.folder / "out").rename(self.folder / "one")
        self.reproduce("--threads", "2")
        self.assertEqual(self.contents(), one)
        before = {p: p.stat().st_mtime_ns for p in (self.folder / "out").rglob("*.h5") if "figures" not in str(p)}
        self.reproduce()
        self.assertEqual({p: p.stat().st_mtime_ns for p in before}, before)
        self.assertEqual(self.contents(), one)

    def test_survive_kills(self):
        start = time.monotonic()
        self.reproduce()
        duration = time.monotonic() - start
        whole = self.contents()
        (self.folder / "out").rename(self.folder / "whole")
        chance = random.Random(7)
        killed = 0
        for _ in range(8):
            process = subprocess.Popen(self.command("reproduce", "tiny.toml", "-o", "out"), cwd=self.folder,
                                       env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                process.communicate(timeout=chance.uniform(0.1, 0.6) * duration)
                self.assertEqual(process.returncode, DONE)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                killed += 1
        self.assertGreater(killed, 0)
        self.reproduce()
        found = self.contents()
        self.assertEqual(set(found), set(whole))
        self.assertEqual([path for path in whole if found[path] != whole[path]], [])


class Divergence(Reproduced):
    def test_is_named_and_harms_no_other(self):
        self.reproduce()
        calm = self.contents()
        (self.folder / "out").rename(self.folder / "calm")
        wild = EXPERIMENT.replace('name = "many"\n', 'name = "many"\nrun.sgdm.learning_rate = 1e60\n')
        done = self.reproduce(experiment=wild, expect=INCONCLUSIVE)
        self.assertRegex(done.stderr, r"variant 'many', run 'sgdm' from seed 3 diverged in step \d+")
        self.assertRegex(self.text("loss"), r"variant `many`, run `sgdm`, seed 8: diverged in step \d+")
        found = self.contents()
        self.reproduce(experiment=wild, expect=INCONCLUSIVE)  # finished, and still so
        others = [p for p in calm if p.startswith("tiny/few") or p.startswith("tiny/many/adam")]
        self.assertGreater(len(others), 20)
        for path in others:
            self.assertEqual(found[path], calm[path], path)
        ratios = self.figure("ratios")
        self.assertTrue(np.isfinite(ratios["mean"][0]).all() and np.isnan(ratios["mean"][1]).all())
        np.testing.assert_array_equal(ratios["count"], [[2, 2], [0, 0]])
        loss = self.figure("loss")
        self.assertTrue(np.isfinite(loss["mean"].sel(run="adam")).all())


class Keys(program.Case):
    def test_are_those_of_all_experiments(self):
        done = self.run_program("reproduce", "--keys", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        known = {t["heading"]: {k["name"] for k in t["keys"]} for t in json.loads(done.stdout)["tables"]}
        wanted = {"model": 'kind = "{kind}"', "data": 'kind = "{kind}"', "run": 'rule = "{rule}"',
                  "initialization": 'distribution = "{distribution}"'}
        count = 0
        for path in sorted((SOURCE / "data/experiments").glob("*.toml")):
            experiment = tomllib.loads(path.read_text())
            for name, heading in wanted.items():
                tables = experiment[name] if isinstance(experiment[name], list) else [experiment[name]]
                for table in tables:
                    brackets = f"[[{name}]] " if name == "run" else f"[{name}] "
                    is_file = name == "data" and "kind" not in table
                    keys = known[brackets + ("without a kind" if is_file else heading.format(**table))]
                    self.assertLessEqual(set(table) - {"kind", "rule", "distribution", "blocks"}, keys, path.name)
                    count += 1
            self.assertLessEqual(set(experiment["training"]), known["[training]"], path.name)
            self.assertLessEqual(set(experiment["experiment"]), known["[experiment]"], path.name)
            for figure in experiment["figure"]:
                keys = known[f'[[figure]] kind = "{figure["kind"]}"']
                self.assertLessEqual(set(figure) - {"kind"}, keys, (path.name, figure["name"]))
                for part in ("event", "mark", "published_values"):
                    for table in figure.get(part, []):
                        self.assertLessEqual(set(table), known[f"[[figure.{part}]]"], (path.name, figure["name"]))
        self.assertGreater(count, 70)
        shown = self.run_program("reproduce", "--keys").stdout
        self.assertRegex(shown, r"beta1 +number +0\.9 +decay of the average of gradients")
        self.assertRegex(shown, r"covariates +gaussian \| sphere \| gamma \| orthogonal")
        self.assertIn("those of [data] if absent, but its own samples, 1000 if absent, and seed, 99", shown)


class OtherRequests(Reproduced):
    def test_do_not_replace_figures_unasked(self):
        self.reproduce("--scale", "quick")
        whole = self.contents()
        fewer = ["--scale", "quick", "--set", "training.seeds=[8]"]
        for more in ([], ["--dry-run"]):
            done = self.reproduce(*fewer, *more, expect=USAGE)
            self.assertIn("figures/loss.h5: was made with --scale quick, this is --scale quick --set "
                          "training.seeds=[8]; choose another output", done.stderr)
        self.assertEqual(self.contents(), whole)
        longer = EXPERIMENT.replace("training.steps = 5", "training.steps = 6")
        done = self.reproduce("--scale", "quick", "--dry-run", experiment=longer, expect=USAGE)
        self.assertIn("differs in 'training.steps'", done.stderr)
        self.reproduce("--scale", "quick", "--dry-run")
        self.reproduce(*fewer, "--force")
        np.testing.assert_array_equal(self.figure("loss").seed, [8])
        self.assertNotEqual(self.contents(), whole)


class MissingNumbers(Reproduced):
    def test_are_said_each_time(self):
        # Training is on Gaussian tokens; the loss of these is infinite.
        text = EXPERIMENT.replace("samples = 30",
                                  'samples = 30\ncovariates = "gamma"\ngamma_shape = 0.1\ngamma_scale = 1e100')
        first = self.reproduce(experiment=text, expect=INCONCLUSIVE)
        self.assertIn("few/sgdm/seed-3/step-000000.h5: the loss or gradient is not finite", first.stderr)
        again = self.reproduce("--json", experiment=text, expect=INCONCLUSIVE)
        self.assertEqual(again.stderr, first.stderr)
        listed = json.loads(again.stdout)["warnings"]
        self.assertEqual([f"hesscope reproduce: warning: {each}" for each in listed], first.stderr.splitlines())


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


class CarriedFiles(program.Case):
    """wt-blocks brings graphs and data along."""
    BRIEF = ("--scale", "quick", "--set", "training.steps=2", "--set", "training.checkpoint_every=2",
             "--set", "figure.heterogeneity.steps=[0, 2]", "--set", "training.seeds=[0, 1]",
             "--set", "run.sgd.learning_rates=[0.03]", "--set", "run.adam.learning_rates=[0.003]",
             "--set", "figure.rates.last=1")

    def reproduce(self, *arguments):
        done = self.run_program("reproduce", "wt-blocks", *self.BRIEF, *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done

    def test_are_beside_the_results_and_maps_are_means_over_seeds(self):
        self.reproduce("-o", "out", "--json")
        carried = SOURCE / "data/experiments/wt-blocks"
        inputs = self.folder / "out/wt-blocks/inputs"
        self.assertEqual({p.name for p in inputs.iterdir()}, {p.name for p in carried.iterdir()} - {"make.py"})
        for path in inputs.iterdir():
            self.assertEqual(path.read_bytes(), (carried / path.name).read_bytes())

        for figure, quantity, step in (("initial", "js_distance", 0), ("trained-decades", "js_distance_decades", 2)):
            with h5py.File(self.folder / f"out/wt-blocks/figures/{figure}.h5") as file:
                text = (self.folder / f"out/wt-blocks/figures/{figure}.md").read_text()
                for variant, count in (("cnn", 5), ("gpt", 15)):
                    seeds = []
                    for seed in (0, 1):
                        with h5py.File(self.folder / f"out/wt-blocks/{variant}/adam-0.003/seed-{seed}/blocks.h5") as one:
                            seeds.append(one["blocks"][quantity][one["step"][()].tolist().index(step)])
                            names = one["parameter_name"][()]
                    seeds = np.array(seeds)
                    self.assertEqual(seeds.shape, (2, count, count))
                    self.assertTrue(np.ptp(seeds, axis=0).max() > 0)
                    np.testing.assert_allclose(file[f"{quantity}_{variant}_adam-0.003"][()], seeds.mean(axis=0), rtol=1e-14)
                    np.testing.assert_array_equal(file[f"block_{variant}"][()], names)
                    pairs = seeds[:, ~np.eye(count, dtype=bool)]
                    mean = pairs.mean(axis=1)
                    self.assertIn(f"| {count} | {mean.mean():.3g} ({mean.std(ddof=1):.3g}) | "
                                  f"{pairs.mean(axis=0).min():.3g} | {pairs.mean(axis=0).max():.3g} |", text)

        # Again nothing is to be done; and wherever the folder is taken, its runs can be analysed.
        self.assertTrue(json.loads(self.reproduce("-o", "out", "--json").stdout)["done_already"])
        (self.folder / "out").rename(self.folder / "moved")
        run = self.folder / "moved/wt-blocks/gpt/adam-0.003/seed-0"
        self.analyze(run, "--only", "hessian", problem=run / "problem.toml")

    @program.plain_program_only
    def test_leave_nothing_of_a_dry_run_that_is_ended(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        arguments = ("reproduce", "wt-blocks", "la-covariates", "la-depth", "la-rates", "--dry-run", "-o", "out")
        run = subprocess.Popen(self.command(*arguments), cwd=self.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env=self.environment(TMPDIR=str(temporary)))
        while run.poll() is None and not list(temporary.glob("*/wt-blocks/inputs/*.npz")):
            time.sleep(0.005)
        run.send_signal(signal.SIGTERM)
        said = run.communicate(timeout=60)[1]
        self.assertEqual(run.returncode, TERMINATED, said)
        self.assertIn("no output was written", said)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_give_way_to_the_users_own(self):
        shutil.copy(SOURCE / "data/experiments/wt-blocks/digits.npz", self.folder / "mine.npz")
        with np.load(self.folder / "mine.npz") as data:
            np.savez(self.folder / "mine.npz", input=data["input"][:40], target=data["target"][:40])
        plan = self.run_program("reproduce", "wt-blocks", *self.BRIEF, "--set", "data.file=mine.npz", "--dry-run", "-o",
                                "out")  # the digits are no letters, which the GPT says
        self.assertNotEqual(plan.returncode, DONE)
        self.assertIn("mine.npz", plan.stderr)
        plan = self.run_program("reproduce", "wt-blocks", *self.BRIEF, "--set", "data.file=none.npz", "--dry-run", "-o",
                                "out")
        self.assertEqual(plan.returncode, BAD_INPUT, plan.stderr)
        self.assertIn("none.npz", plan.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_are_of_maps_that_are_measured(self):
        text = (SOURCE / "data/experiments/wt-blocks.toml").read_text().replace('"wt-blocks/', f'"{SOURCE}/data/experiments/wt-blocks/')
        for change, words in (
                (('quantity = "blocks/js_distance"', 'quantity = "blocks/trace"'), ["blocks/trace", "blocks/js_distance_decades"]),
                (('name = "cnn"', 'name = "inputs"'), ["'inputs'", "another folder"])):
            (self.folder / "changed.toml").write_text(text.replace(*change, 1))
            done = self.run_program("reproduce", "./changed.toml", "--dry-run", "-o", "out")
            self.assertEqual(done.returncode, USAGE, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)


class Experiments(program.Case):
    FILES = sorted(path.stem for path in (SOURCE / "data/experiments").glob("*.toml"))

    def test_are_all_listed(self):
        self.assertGreaterEqual(len(self.FILES), 18)
        done = self.run_program("reproduce", "--list", "--json")
        listed = json.loads(done.stdout)["experiments"]
        self.assertEqual([entry["name"] for entry in listed], self.FILES)
        self.assertTrue(all(entry["paper"] and entry["figures"] and entry["title"] for entry in listed))
        done = self.run_program("reproduce", "--list")
        for name in self.FILES:
            self.assertRegex(done.stdout, rf"(?m)^{name} ")

    def test_can_be_planned_at_both_scales(self):
        for scale in ("paper", "quick"):
            done = self.run_program("reproduce", "--dry-run", "--json", "--scale", scale, "-o", "out")
            self.assertEqual(done.returncode, DONE, done.stderr)
            plans = json.loads(done.stdout)["experiments"]
            self.assertEqual([plan["name"] for plan in plans], self.FILES)
            self.assertTrue(all(plan["figure_names"] and plan["runs"] > 0 for plan in plans))
        self.assertEqual(self.files(), set())

    def test_come_out_at_the_quick_scale(self):
        # Two to three minutes of two cores; more where the kernel is slow to give memory.
        done = self.run_program("reproduce", "--scale", "quick", "--json", "-o", "out", timeout=1500)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertNotIn(": warning: ", done.stderr)
        experiments = json.loads(done.stdout)["experiments"]
        # Of the rates and rules that are compared some diverge, as they may.
        self.assertEqual([experiment["name"] for experiment in experiments if experiment["diverged"]], ["eos-momentum", "la-ablations", "la-rates"])
        self.assertEqual([experiment["name"] for experiment in experiments], self.FILES)
        for experiment in experiments:
            self.assertTrue(experiment["figure_files"])
            for figure in experiment["figure_files"]:
                xml.etree.ElementTree.parse(self.folder / figure["drawing"])
                self.assertTrue((self.folder / figure["text"]).read_text().startswith("# "))
                with h5py.File(self.folder / figure["data"]) as file:
                    self.assertEqual(file.attrs["complete"], 1)

    def test_can_be_trained_as_they_are(self):
        for name in self.FILES:
            done = self.run_program("train", SOURCE / f"data/experiments/{name}.toml", "-o", "out", "--dry-run")
            self.assertEqual(done.returncode, DONE, done.stderr)


class Refusals(Reproduced):
    def test_name_what_is_meant(self):
        done = self.run_program("reproduce", "la-setings", "-o", "out")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("did you mean 'la-settings'?", done.stderr)
        done = self.run_program("reproduce", "la-noise", "la-noise", "-o", "out")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("named twice", done.stderr)
        done = self.run_program("reproduce", "la-noise")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--output", done.stderr)
        self.assertIn("no scale 'quik' (did you mean 'quick'?)", self.reproduce("--scale", "quik", expect=USAGE).stderr)
        for old, new, line, expected in (
                ('kind = "ratios"', 'kind = "ratio"', None, "did you mean 'ratios'?"),
                ("quantity = \"history/loss\"", "quantity = \"history/los\"", None, "did you mean 'loss'?"),
                ("quantity = \"history/loss\"", "quantity = \"spectrum/trace\"", None, "spectrum"),
                ("band = \"std/2\"", "bands = \"std/2\"", "bands", "did you mean 'band'?"),
                ('runs = ["adam"]\n[[figure]]', 'runs = ["adan"]\n[[figure]]', "adan", "did you mean 'adam'?"),
                ("run.adam.learning_rate", "run.adm.learning_rate", "run.adm", "did you mean 'adam'?"),
                ("quantity = \"history/loss\"", "quantity = \"nose/noise/norm\"", None, "did you mean 'noise'?"),
                ("quantity = \"history/loss\"", "quantity = \"noise/condition/classical\"", None, "there are noise"),
                ("seed = 2", "samples = 0", "samples = 0", "samples"),
                ("noise-draws", "noise-drawn", "noise-drawn", "did you mean 'noise-draws'?"),
                ('analyzers = ["noise"]', 'analyzers = ["noses"]', '"noses"', "did you mean 'noise'?"),
                ("seeds = [8]\nseed = 2", "seeds = [9]\nseed = 2", "seeds = [9]",
                 "measure.noise.seeds is [9], of which none is among training.seeds, [3, 8]"),
                ('headings = ["loss", "R^{abs}"]', 'headings = ["loss"]', "headings", "'headings' are of the quantities: 2"),
                ('name = "half"\nstep = 10', 'name = "half"', None, "step"),
                ('name = "many"', 'name = "few"', None, "two variants named 'few'"),
                ('name = "many"', 'name = "a/b"', "a/b", "must consist of letters"),
                ("data.context = 9", "data.contexts = 9", "data.contexts", "did you mean 'context'?"),
                ("[scale.quick]", "[scale.paper]", None, "without changes")):
            self.assertIn(old, EXPERIMENT)
            text = EXPERIMENT.replace(old, new)
            done = self.reproduce(experiment=text, expect=USAGE)
            self.assertIn(expected, done.stderr)
            self.assertRegex(done.stderr, r"tiny\.toml:\d+")
            if line is not None:
                number = next(i for i, each in enumerate(text.split("\n"), 1) if line in each)
                self.assertIn(f"tiny.toml:{number}:", done.stderr)
        self.assertEqual(self.files(), {"tiny.toml"})

    def test_spare_what_others_made(self):
        self.reproduce()
        path = self.folder / "out/tiny/few/adam/seed-3/analysis.h5"
        before = path.read_bytes()
        changed = EXPERIMENT.replace('analyzers = ["condition", "smoothness"]', 'analyzers = ["condition", "smoothness"]'
                                     "\nsecant-points = 3")
        done = self.reproduce(experiment=changed, expect=USAGE)
        self.assertRegex(done.stderr, r"analysis\.h5: .*--force")
        self.assertEqual(path.read_bytes(), before)


if __name__ == "__main__":
    program.main()
