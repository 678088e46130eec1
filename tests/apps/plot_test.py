# SPDX-License-Identifier: BSD-3-Clause
"""`hesscope plot`: figures read back. Every drawn coordinate must be the place of a number in the result."""
import json
import math
import re
import shutil
import xml.etree.ElementTree as ElementTree

import h5py
import numpy as np

import program
from program import BAD_INPUT, DATA, DONE, FAILED, INCONCLUSIVE, PROBLEM, USAGE
from svg_panels import SVG, Panel, circles, points, texts

ROUNDING = 0.0051  # coordinates have two decimals
KINDS = ["spectrum", "density", "condition", "eigenvalues", "smoothness", "noise", "blocks", "history", "landscape",
         "sharpening", "tracking"]


class Plot(program.Case):

    @classmethod
    def setUpClass(cls):
        maker = cls.make_results()
        for name in ("adam", "sgdm"):
            maker.analyze(DATA / name, "--only", "spectrum,density,condition,smoothness,noise,blocks,sharpening,tracking",
                          "--noise-draws", "200", output=f"{name}.h5")
        for name, grid in (("plane", "9x7"), ("line", "11x1")):
            done = maker.run_program("landscape", DATA / "adam", "--problem", PROBLEM, "-o", f"{name}.h5",
                                     "--directions", "pca", "--grid", grid, "--span=-0.5:0.5", "--curvature")
            assert done.returncode == DONE, done.stderr

    def plot(self, *arguments, output="out.svg", expect=DONE):
        done = self.run_program("plot", *arguments, "-o", output)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def figure(self, *arguments, output="out.svg"):
        """Draws, parses and checks what holds of every figure; returns its root and its panels."""
        self.plot(*arguments, "--force", output=output)
        root = ElementTree.parse(self.folder / output).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        _, _, width, height = map(float, root.get("viewBox").split())
        for element in root.iter():
            for name, limit in (("x", width), ("y", height), ("cx", width), ("cy", height)):
                if name in element.attrib:
                    self.assertTrue(0 <= float(element.get(name)) <= limit, (element.tag, element.attrib))
            if element.tag == SVG + "path":
                found = np.array([[float(x), float(y)] for x, y in
                                  re.findall(r"[ML]([^,]+),([^MLZ]+)", element.get("d"))])
                self.assertTrue(np.all((found >= 0) & (found <= [width, height])), element.attrib)
        self.assertNotRegex((self.folder / output).read_text(), r"\b(nan|inf)\b")
        return root, [Panel(g) for g in root.iter(SVG + "g") if g.get("class") == "panel"]

    def read(self, path, name="adam"):
        with h5py.File(self.results / f"{name}.h5") as file:
            return file[path][()]

    def path(self, name):
        return self.results / f"{name}.h5"

    def assert_at(self, found, panel, x, y):
        """The points found are those of the numbers that are there, in their order."""
        expected = np.column_stack([panel.place("x", x), panel.place("y", y)])
        expected = expected[np.all(np.isfinite(expected), axis=1)]
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(np.max(np.abs(found - expected)), ROUNDING)

    def test_every_kind_is_well_formed_and_stays_on_the_canvas(self):
        for kind in KINDS:
            with self.subTest(kind):
                root, panels = self.figure(self.path("plane" if kind == "landscape" else "adam"), "--figure", kind)
                self.assertGreaterEqual(len(panels), 1)
                self.assertTrue(root.find(SVG + "desc").text)

    def test_condition_numbers_are_where_they_belong(self):
        _, (panel,) = self.figure(self.path("adam"), "--figure", "condition")
        for label, name in (("diagonal, robust", "robust_diagonal"), ("eigenvalues, robust", "robust_eigenvalue"),
                            ("magnitudes, robust", "robust_absolute")):
            values = self.read(f"condition/{name}")
            self.assert_at(circles(panel.line(label)), panel, self.read("step"), values)
            self.assert_at(points(panel.line(label)), panel, self.read("step"), values)
        self.assertTrue(np.isnan(self.read("condition/robust_eigenvalue")[0]))  # there was a gap to leave
        self.assertEqual(len(points(panel.line("classical"))), 0)
        self.assertIn("classical (no values)", texts(panel.group))

    def test_changes_of_the_largest_eigenvalue_are_where_they_belong(self):
        _, (rate, change) = self.figure(self.path("adam"), "--figure", "sharpening")
        self.assert_at(np.concatenate([circles(line) for line in rate.series("line")]), rate, self.read("step"),
                       self.read("sharpening/rate_largest")[:, 0])
        for label, name in (("measured", "change_largest"), ("predicted", "predicted_change_largest")):
            values = self.read(f"sharpening/{name}")[:, 0]
            self.assertTrue(np.isnan(values[0]) and np.isfinite(values[1:]).all())
            self.assert_at(circles(change.line(label)), change, self.read("step"), values)

    def test_several_results_are_laid_over_one_another(self):
        root, (panel,) = self.figure(self.path("sgdm"), self.path("adam"), "--figure", "condition", "--label",
                                     "SGDM, 1", "--label", "Adam")
        for label, name in (("SGDM, 1", "sgdm"), ("Adam", "adam")):
            self.assert_at(points(panel.line(label)), panel, self.read("step", name),
                           self.read("condition/robust_diagonal", name))
            self.assertIn(label, texts(root))
        for kind in ("spectrum", "density", "eigenvalues", "smoothness", "history"):
            root, _ = self.figure(self.path("sgdm"), self.path("adam"), "--figure", kind)
            self.assertTrue(any("sgdm" in t for t in texts(root)), kind)

    def test_eigenvalues_lie_on_a_signed_logarithmic_axis(self):
        _, (panel,) = self.figure(self.path("adam"), "--figure", "eigenvalues")
        for name in ("min", "median", "max"):
            self.assert_at(points(panel.line(f"\u03bb{name}")), panel, self.read("step"),
                           self.read(f"spectrum/lambda_{name}"))
        band = points(panel.series("band")[0])
        width = self.read("spectrum/rounding_band")
        self.assertLess(np.max(np.abs(band[:len(width), 1] - panel.place("y", width))), ROUNDING)

    def test_spectrum_has_all_eigenvalues(self):
        _, (panel,) = self.figure(self.path("adam"), "--figure", "spectrum")
        eigenvalues = self.read("spectrum/eigenvalues")
        for i, step in enumerate(self.read("step")):
            self.assert_at(points(panel.line(f"step {step}")), panel, np.arange(eigenvalues.shape[1]), eigenvalues[i])
        _, (panel,) = self.figure(self.path("adam"), "--figure", "spectrum", "--step", 500)
        self.assert_at(points(panel.line("adam")), panel, np.arange(eigenvalues.shape[1]), eigenvalues[1])

    def test_density_follows_its_curve(self):
        _, (panel,) = self.figure(self.path("adam"), "--figure", "density", "--step", 500)
        x = panel.place("x", self.read("density/eigenvalue")[1])
        y = panel.place("y", self.read("density/exact_density")[1])
        found = points(panel.line("all eigenvalues"))
        left, top, width, height = panel.box
        self.assertGreater(len(found), 400)
        for px, py in found:  # down-sampled: each vertex is one of the curve's, or where it is cut off
            nearest = np.min(np.hypot(x - px, y - py))
            self.assertTrue(nearest < 2 * ROUNDING or abs(py - top - height) < ROUNDING, (px, py))

    def test_density_over_decades(self):
        _, (panel,) = self.figure(self.path("adam"), "--figure", "density", "--quantity", "decades")
        x = panel.place("x", 10.0 ** self.read("density/log10_magnitude")[-1])
        for sign in ("negative", "positive"):
            y = panel.place("y", self.read(f"density/log_density_{sign}")[-1])
            for px, py in points(panel.line(sign)):
                self.assertLess(np.min(np.hypot(x - px, y - py)), 2 * ROUNDING)

    def test_smoothness_has_points_and_lines(self):
        root, (panel,) = self.figure(self.path("adam"), "--figure", "smoothness")
        (scatter,) = panel.series("scatter")
        x, y = self.read("smoothness/gradient_norm"), self.read("smoothness/spectral_norm")
        self.assert_at(circles(scatter), panel, x, y)
        colours = [c.get("fill") for c in scatter.iter(SVG + "circle")]
        self.assertEqual((colours[0], colours[-1]), ("#440154", "#fde725"))  # first and last step
        for line, suffix in zip(panel.series("reference"), ("", "_envelope")):
            l0, l1 = (float(self.read(f"smoothness/L{k}{suffix}")) for k in (0, 1))
            places = points(line)
            low, high = (float(panel.group.get(f"data-x-{end}")) for end in ("lower", "upper"))
            at = 10 ** (np.log10(low) + (places[:, 0] - panel.box[0]) / panel.box[2] * np.log10(high / low))
            # A hundredth of a point along x moves a slope of at most one by as much.
            self.assertLess(np.max(np.abs(places[:, 1] - panel.place("y", l0 + l1 * at))), 4 * ROUNDING)

    def test_noise_has_histogram_fit_and_quantiles(self):
        _, (histogram, quantiles) = self.figure(self.path("adam"), "--figure", "noise", "--step", 0)
        edges, heights = self.read("noise/histogram_edges")[0], self.read("noise/histogram_density")[0]
        outline = points(histogram.series("bars")[0])
        for px, py in zip(histogram.place("x", edges[:-1]), histogram.place("y", heights)):
            self.assertLess(np.min(np.hypot(outline[:, 0] - px, outline[:, 1] - py)), 2 * ROUNDING)
        mean, deviation = self.read("noise/mean")[0], self.read("noise/standard_deviation")[0]
        peak = points(histogram.line("normal"))[:, 1].min()
        self.assertLess(abs(peak - histogram.place("y", 1 / (deviation * math.sqrt(2 * math.pi)))), 0.1)
        self.assertTrue(edges[0] < mean < edges[-1])
        self.assert_at(circles(quantiles.series("scatter")[0]), quantiles, self.read("noise/qq_theoretical")[0],
                       self.read("noise/qq_sample")[0])

    @staticmethod
    def between(places, values, at):
        """Of a cubic whose slopes are those of parabolas through three neighbours."""
        slopes = np.gradient(values, places, edge_order=2)
        i = int(np.clip(np.searchsorted(places, at) - 1, 0, len(places) - 2))
        h = places[i + 1] - places[i]
        u = (at - places[i]) / h
        return ((1 + 2 * u) * (1 - u) ** 2 * values[i] + u * (1 - u) ** 2 * h * slopes[i]
                + u * u * (3 - 2 * u) * values[i + 1] - u * u * (1 - u) * h * slopes[i + 1])

    def test_landscape_of_a_plane_has_its_contours_at_levels(self):
        _, (panel,) = self.figure(self.path("plane"), "--figure", "landscape", "--quantity", "loss")
        alpha, beta, loss = (self.read(f"landscape/{name}", "plane") for name in ("alpha", "beta", "loss"))
        (bar,) = [g for g in panel.group if g.get("class") == "colour-bar"]
        low, high = float(bar.get("data-lower")), float(bar.get("data-upper"))
        self.assertEqual((low, high), (loss.min(), loss.max()))
        forward = np.log10 if loss.max() > 30 * loss.min() else (lambda v: v)
        lines = panel.series("filled-contours")[0].findall(SVG + "path")[-1]
        vertices = [[float(a) for a in p] for p in re.findall(r"[ML]([^,]+),([^MLZ]+)", lines.get("d"))]
        self.assertGreater(len(vertices), 40)
        x, y = panel.place("x", alpha), panel.place("y", beta)
        levels = []
        for px, py in vertices:
            rows = [self.between(x, row, px) for row in forward(loss)]
            levels.append(self.between(-y, np.array(rows), -py))
        distinct = np.sort(levels)
        clusters = np.split(distinct, np.flatnonzero(np.diff(distinct) > 0.02 * np.ptp(forward(loss))) + 1)
        self.assertTrue(4 <= len(clusters) <= 20, len(clusters))
        for cluster in clusters:
            self.assertLess(np.ptp(cluster), 0.01 * np.ptp(forward(loss)))
        for quantity in ("gradient_norm", "lambda_min", "lambda_max", "index"):
            self.figure(self.path("plane"), "--figure", "landscape", "--quantity", quantity)

    def test_axes_of_principal_components_say_their_share(self):
        root, _ = self.figure(self.path("plane"), "--figure", "landscape")
        texts = ["".join(text.itertext()) for text in root.iter(SVG + "text")]
        for direction in (1, 2):
            share = 100 * self.read(f"landscape/explained_{direction}", "plane")
            [label] = [text for text in texts if f"along direction {direction}" in text]
            self.assertIn(f"({share:.3g} % of the trajectory)", label)

    def test_landscape_of_a_line_is_a_curve(self):
        _, (panel,) = self.figure(self.path("line"), "--figure", "landscape", "--quantity", "lambda_max")
        self.assert_at(points(panel.series("line")[0]), panel, self.read("landscape/alpha", "line"),
                       self.read("landscape/lambda_max", "line")[0])

    def test_blocks_are_written_out(self):
        root, (panel,) = self.figure(self.path("adam"), "--figure", "blocks", "--step", 1000)
        norms = self.read("blocks/frobenius_norm")[2]
        cells = [float(t) for t in texts(panel.series("heat-map")[0]) if "\u00d7" not in t]
        expected = [float(f"{v:.3g}") for v in norms.ravel() if v == 0 or 1e-4 <= v < 1000]
        self.assertEqual(cells, expected)
        self.assertIn("step 1000", texts(root))
        for quantity in ("js_distance", "js_distance_decades"):
            root, (panel,) = self.figure(self.path("adam"), "--figure", "blocks", "--quantity", quantity, "--step", 500)
            cells = [float(t) for t in texts(panel.series("heat-map")[0])]
            self.assertEqual(cells, [float(f"{v:.3g}") for v in self.read("blocks/" + quantity)[1].ravel()])
            [bar] = [g for g in root.iter(SVG + "g") if g.get("class") == "colour-bar"]
            self.assertEqual([float(bar.get("data-" + end)) for end in ("lower", "upper")],
                             [0, math.sqrt(math.log(2))])

    def test_long_names_of_blocks_lose_their_middle(self):
        with h5py.File(self.path("adam")) as file:
            count = len(file["parameter_name"])
        shutil.copy(self.path("adam"), self.folder / "long.h5")
        names = [f"layer-{b}." + 400 * "\u00e9" + f".weight-{b}" for b in range(count)]
        with h5py.File(self.folder / "long.h5", "r+") as file:
            file["parameter_name"][...] = names
        root, _ = self.figure(self.folder / "long.h5", "--figure", "blocks")
        shown = [text for text in texts(root) if text.startswith("layer-")]
        self.assertEqual(shown, 2 * [name[:24] + "\u2026" + name[-25:] for name in names])

    def test_tracks_are_lines_of_one_colour(self):
        _, panels = self.figure(self.path("adam"), "--figure", "tracking")
        for end, panel in zip(("largest", "smallest"), panels, strict=True):
            eigenvalues, tracks, continued = (self.read(f"tracking/{name}_{end}")
                                              for name in ("eigenvalues", "track", "continued"))
            steps = np.broadcast_to(self.read("step")[:, None], eigenvalues.shape)
            solid = [g for g in panel.series("line") if circles(g).size]
            self.assertEqual(len(solid), len(set(tracks.ravel())))
            for line, track in zip(solid, sorted(set(tracks.ravel())), strict=True):
                self.assert_at(circles(line), panel, steps[tracks == track], eigenvalues[tracks == track])
            # And those that are not clear, from where they may have come.
            dotted = [points(g) for g in panel.series("line") if not circles(g).size]
            unclear = [(t, k) for t in range(1, len(tracks)) for k in range(tracks.shape[1])
                       if tracks[t, k] != tracks[t - 1, continued[t, k]]]
            self.assertEqual(len(dotted), len(unclear))
            for line, (t, k) in zip(dotted, unclear, strict=True):
                self.assert_at(line, panel, [steps[t - 1, 0], steps[t, 0]],
                               [eigenvalues[t - 1, continued[t, k]], eigenvalues[t, k]])
            if unclear:
                self.assertTrue(any(t.startswith(f"{len(unclear)} link") for t in texts(panel.group)))

    def test_runs_are_those_of_the_analysis(self):
        def drawn(names, *options):
            for name, step in zip(names, (0, 500, 1000)):
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(program.checkpoint(step), path)
            self.analyze(*names, "--only", "spectrum", "--force", *options)
            root, (panel,) = self.figure("out.h5", "--figure", "eigenvalues")
            return {g.get("data-label"): len(circles(g)) for g in panel.series("line")}

        whole = {"\u03bbmax": 3, "\u03bbmedian": 3, "\u03bbmin": 3}
        # A folder for each checkpoint is no run of its own.
        self.assertEqual(drawn([f"hf/checkpoint-{step}/model.npz" for step in (0, 500, 1000)]), whole)
        # Two runs whose folders have one name, although the steps go up from one to the other.
        names = ["a/seed-0/step-0.npz", "b/seed-0/step-500.npz", "b/seed-0/step-1000.npz"]
        self.assertEqual(drawn(names), {f"{run}/seed-0: {end}": count for end in whole
                                        for run, count in (("a", 1), ("b", 2))})
        self.assertEqual(drawn(names, "--order", "given"), whole)  # one that went on elsewhere

    def write_history(self, name, **columns):
        with h5py.File(self.folder / name, "w") as file:
            file.attrs["hesscope_schema_version"] = "1.0.0"
            for column, values in columns.items():
                file[column] = np.asarray(values)
        return name

    def test_history_of_a_run(self):
        step = np.arange(0, 3000)
        loss = np.exp(-step / 500) * (1 + 0.2 * np.sin(step))
        loss[[17, 2000]] = np.nan, 0
        name = self.write_history("history.h5", step=step, loss=loss, gradient_norm=np.sqrt(np.abs(loss)),
                                  batch_loss=1.1 * loss)
        root, (losses, gradients) = self.figure(name, "--figure", "history")
        x, y = losses.place("x", step), losses.place("y", loss)
        found = points(losses.line("evaluation"))
        self.assertGreater(len(found), 500)
        there = np.isfinite(y)
        for px, py in found:
            self.assertLess(np.min(np.hypot(x[there] - px, y[there] - py)), 2 * ROUNDING)
        self.assertTrue(any("2 values \u2264 0 not shown" in t for t in texts(root)), texts(root))
        self.assertEqual(len(gradients.series("line")), 1)

    def test_results_are_seeds_only_where_labels_say_so(self):
        names = []
        for run in ("a", "b"):
            (self.folder / run / "seed-0").mkdir(parents=True)
            names.append(self.write_history(f"{run}/seed-0/history.h5", step=[0, 1], loss=[2.0, 1.0], gradient_norm=[1.0, 1.0]))
        root, (panel, _) = self.figure(*names, "--figure", "history")
        self.assertEqual([g.get("data-label") for g in panel.series("line")], ["a/seed-0/history", "b/seed-0/history"])
        self.assertFalse([text for text in texts(root) if "seeds" in text])
        _, (panel, _) = self.figure(*names, "--figure", "history", "--label", "a", "--label", "a")
        self.assertEqual([g.get("data-label") for g in panel.series("line")], ["a"])

    def test_history_without_values_says_so(self):
        nothing = [np.nan, np.nan]
        name = self.write_history("history.h5", step=[0, 1], loss=nothing, gradient_norm=nothing)
        done = self.plot(name, "--figure", "history", output="empty.svg", expect=INCONCLUSIVE)
        self.assertIn("empty.svg: there is nothing to see", done.stderr)
        root = ElementTree.parse(self.folder / "empty.svg").getroot()
        self.assertEqual(texts(root).count("no values to show"), 2)

    def test_numbers_that_a_logarithmic_axis_has_no_place_for_are_no_fault(self):
        name = self.write_history("history.h5", step=[0, 1], loss=[0.0, 0.0], gradient_norm=[0.0, 0.0])
        done = self.plot(name, "--figure", "history", output="log.svg")
        self.assertIn("log.svg: there is nothing to see: numbers that are not above 0 cannot be shown on a logarithmic "
                      "axis; --y-scale linear shows them", done.stderr)
        self.assertEqual(self.plot(name, "--figure", "history", "--y-scale", "linear", output="plain.svg").stderr, "")

    def test_checkpoints_of_several_runs_are_named_with_their_run(self):
        self.analyze(DATA / "adam", DATA / "sgdm", "--only", "spectrum")
        for step in ((), ("--step", 500)):
            root, _ = self.figure("out.h5", "--figure", "histogram", *step)
            self.assertIn(f"step {step[1] if step else 1500}, sgdm", texts(root))
        root, _ = self.figure("out.h5", "--figure", "spectrum")
        self.assertIn("step 0, adam", texts(root))

    def test_histogram_of_a_hessian_that_is_zero(self):
        # Huber's loss is linear far from the targets.
        self.write_checkpoint("data.npz", {"inputs": np.eye(2), "target": np.full((2, 1), 1000.0)})
        (self.folder / "huber.toml").write_text('[model]\nkind = "mlp"\nactivation = "identity"\nloss = "huber"\n'
                                                '[data]\nfile = "data.npz"\n')
        self.write_checkpoint("flat.npz", {"layers.0.weight": np.ones((1, 2)), "layers.0.bias": np.zeros(1)})
        self.analyze("flat.npz", "--only", "spectrum", problem="huber.toml")
        self.assertEqual(self.plot("out.h5", "--figure", "histogram").stderr, "")
        root = ElementTree.parse(self.folder / "out.svg").getroot()
        self.assertNotIn("no values to show", texts(root))

    def test_numbers_that_cannot_be_are_no_fault(self):
        nothing = [np.nan, np.nan]
        for status, expect, words in ((6, DONE, "every number is undefined"),
                                      (1, INCONCLUSIVE, "every number is missing")):
            name = self.write_history("history.h5", step=[0, 1], loss=nothing, gradient_norm=nothing,
                                      loss_status=np.int8([6, 6]), gradient_norm_status=np.int8([6, status]))
            done = self.plot(name, "--figure", "history", "--force", output="none.svg", expect=expect)
            self.assertIn(f"none.svg: there is nothing to see: {words}; variables NAME_status", done.stderr)

    def test_size_title_and_scales_are_as_asked_for(self):
        root, (panel,) = self.figure(self.path("adam"), "--figure", "condition", "--width", 500, "--height", 300,
                                     "--title", "\u03ba < 10^{4} & so on", "--y-scale", "linear")
        self.assertEqual((root.get("width"), root.get("height")), ("500pt", "300pt"))
        self.assertEqual(root.find(SVG + "title").text, "\u03ba < 104 & so on")
        self.assertEqual(panel.group.get("data-y-scale"), "linear")
        values = self.read("condition/robust_diagonal")
        self.assert_at(circles(panel.line("diagonal, robust")), panel, self.read("step"), values)

    @program.plain_program_only
    def test_the_same_bytes_every_time_and_for_any_number_of_threads(self):
        seen = set()
        for threads in (1, 3):
            self.analyze(DATA / "adam", "--only", "condition", "--threads", threads, output="a.h5")
            for _ in range(2):
                self.plot("a.h5", "--figure", "condition", "--force")
                seen.add((self.folder / "out.svg").read_bytes())
            (self.folder / "a.h5").unlink()
        self.assertEqual(len(seen), 1)

    def test_lists_what_can_be_drawn(self):
        done = self.run_program("plot", self.path("plane"), "--list", "--json")
        self.assertEqual(done.returncode, DONE)
        figures = {f["name"]: f for f in json.loads(done.stdout)["figures"]}
        self.assertEqual(list(figures), ["eigenvalues", "condition", "spectrum", "tracking", "histogram", "density", "population", "smoothness", "stability",
                                         "edge", "sharpening", "norm-sharpness", "noise", "influence", "landscape", "path", "critical",
                                         "blocks", "history"])
        self.assertTrue(figures["landscape"]["has_data"])
        self.assertFalse(figures["density"]["has_data"])
        text = self.run_program("plot", self.path("plane"), "--list").stdout
        self.assertRegex(text, r"(?m)^landscape +\S.*lambda_min")
        self.assertRegex(text, r"(?m)^density +hesscope analyze --only density$")
        for name in [n for n, f in figures.items() if f["has_data"]]:  # what is listed can be drawn
            self.figure(self.path("plane"), "--figure", name)

    def test_reports_as_json_or_not_at_all(self):
        done = self.plot(self.path("adam"), "--figure", "condition", "--json")
        self.assertEqual(json.loads(done.stdout), {"command": "plot", "results": [str(self.path("adam"))],
                                                   "figure": "condition", "output": "out.svg"})
        self.assertEqual(self.plot(self.path("adam"), "--figure", "condition", "--quiet", "--force").stdout, "")

    def refused(self, code, *arguments, words, output="out.svg"):
        done = self.plot(*arguments, output=output, expect=code)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "out.svg").exists())

    def test_refuses_what_cannot_be(self):
        adam, plane = self.path("adam"), self.path("plane")
        other, other_plane = (shutil.copy(path, self.folder / f"other-{path.name}") for path in (adam, plane))
        kept = self.files()
        self.refused(USAGE, adam, "--figure", "conditoin", words=["did you mean 'condition'"])
        self.refused(USAGE, adam, words=["--figure is required"])
        self.refused(USAGE, adam, "--figure", "density", "--quantity", "decade", words=["did you mean 'decades'"])
        self.refused(USAGE, adam, "--figure", "spectrum", "--quantity", "x", words=["no quantities"])
        self.refused(USAGE, adam, "--figure", "spectrum", "--step", 7, words=["step 7", "0, 500, 1000"])
        self.refused(USAGE, adam, "--figure", "condition", "--step", 0, words=["takes no step"])
        self.refused(USAGE, adam, other, "--figure", "noise", words=["of one result, got 2"])
        self.refused(USAGE, plane, other_plane, "--figure", "landscape", words=["not planes"])
        self.refused(USAGE, adam, adam, "--figure", "condition", words=["adam.h5: is given twice"])
        self.refused(USAGE, adam, "--figure", "blocks", "--y-scale", "log", words=["fixed scales"])
        self.refused(USAGE, adam, "--figure", "condition", "--label", "a", "--label", "b", words=["1 results, got 2"])
        self.refused(USAGE, adam, "--figure", "condition", words=["must end in .svg, .pdf or .png"], output="out.gif")
        self.refused(USAGE, adam, "--figure", "condition", "--width", "3", words=["--width"])
        self.refused(USAGE, adam, "--figure", "condition", "--width", "85", words=["too few", "--width or --height"])
        self.assertEqual(self.run_program("plot", adam, "--figure", "condition").returncode, USAGE)
        self.assertEqual(self.files(), kept)

    def test_names_what_a_file_lacks_and_what_it_can_give(self):
        self.refused(BAD_INPUT, self.path("plane"), "--figure", "density",
                     words=["/density/eigenvalue", "`hesscope analyze --only density`", "landscape"])
        self.refused(BAD_INPUT, PROBLEM, "--figure", "condition", words=["not a hesscope result but a TOML file"])
        self.refused(BAD_INPUT, DATA / "eval.npz", "--figure", "condition", words=["not a hesscope result but of the format npz"])
        # What is damaged is said as by inspect.
        cut = self.folder / "cut.h5"
        cut.write_bytes(self.path("adam").read_bytes()[:5000])
        said = self.run_program("inspect", cut).stderr.split(": ", 1)[1].strip()
        self.assertIn("truncated", said)
        self.refused(BAD_INPUT, cut, "--figure", "condition", words=[said])
        self.assertIn(said, self.run_program("export", cut, "-o", "out.csv").stderr)
        self.refused(BAD_INPUT, "none.h5", "--figure", "condition", words=["none.h5", "no such file"])
        wrong = self.write_history("wrong.h5", step=[0, 1], loss=[1.0, 2.0, 3.0], gradient_norm=[1.0, 2.0])
        self.refused(BAD_INPUT, wrong, "--figure", "history", words=["'/loss'", "must have 2 values, has 3"])
        flat = self.write_history("flat.h5", step=[0, 1], loss=[[1.0, 2.0]], gradient_norm=[1.0, 2.0])
        self.refused(BAD_INPUT, flat, "--figure", "history", words=["'/loss'", "1 dimensions, has 2"])

    def test_refuses_a_landscape_whose_axes_do_not_ascend(self):
        for value, said in ((-0.5, "-0.5"), (math.nan, "nan")):
            plane = shutil.copy(self.path("plane"), self.folder / "plane.h5")
            with h5py.File(plane, "r+") as file:
                file["landscape/alpha"][1] = value
            self.refused(BAD_INPUT, plane, "--figure", "landscape",
                         words=["plane.h5: variable 'landscape/alpha': its points must be finite and ascend, but "
                                f"point 1 is {said}"])

    def test_never_replaces_a_file_unasked(self):
        (self.folder / "out.svg").write_text("mine")
        self.plot(self.path("adam"), "--figure", "condition", expect=FAILED)
        self.assertEqual((self.folder / "out.svg").read_text(), "mine")
        self.plot(self.path("adam"), "--figure", "condition", "--force", expect=FAILED)
        self.assertEqual((self.folder / "out.svg").read_text(), "mine")
        self.plot(self.path("adam"), "--figure", "condition", "--force", "--force")
        self.assertNotEqual((self.folder / "out.svg").read_text(), "mine")
        before = (self.folder / "out.svg").read_text()
        self.plot(self.path("adam"), "--figure", "condition", "--force", "--title", "Another")
        self.assertNotEqual((self.folder / "out.svg").read_text(), before)
        self.assertEqual(self.files(), {"out.svg"})


if __name__ == "__main__":
    program.main()
