# SPDX-License-Identifier: BSD-3-Clause
"""hesscope reproduce: figures against the numbers of their runs."""
import json
import re
import xml.etree.ElementTree

import h5py
import numpy as np

import program
from program import INCONCLUSIVE, USAGE
from tiny_experiment import CHECKPOINTS, EXPERIMENT, RUNS, SEEDS, VARIANTS, Reproduced


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
        self.assertIn("All of it is ours. Sizes, steps and seeds that are named here are those of the scale 'paper'",
                      self.text("ratios"))
        self.assertNotIn("disagrees", self.text("ratios"))
        # Of another scale: refused, and replaced on request.
        done = self.reproduce(expect=USAGE)
        self.assertIn("was made with --scale quick, this is --scale paper", done.stderr)
        self.reproduce("--force")
        np.testing.assert_array_equal(self.figure("condition").step, CHECKPOINTS)
        self.assertTrue(self.text("ratios").endswith("All of it is ours.\n"))


if __name__ == "__main__":
    program.main()
