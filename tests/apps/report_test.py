# SPDX-License-Identifier: BSD-3-Clause
"""`hesscope report`: one page, read as a file."""
import base64
import gzip
import hashlib
import html.parser
import json
import os
import pathlib
import re
import shutil

import h5py
import numpy as np

import program
from program import BAD_INPUT, DATA, DONE, FAILED, INCONCLUSIVE, PROBLEM, USAGE

EVIL = "<img src=x onerror=alert(1)>"
VOID = {"meta", "br", "img", "link", "input", "hr"}
REFERENCE = pathlib.Path(__file__).parent / "references" / "report.json"


class Page(html.parser.HTMLParser):
    """A page taken apart: its elements with their attributes, its scripts, whether what opens is closed."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.elements, self.scripts, self.text, self._open, self._script = [], [], "", [], None
        self.source = path.read_text("utf-8")
        self.feed(self.source)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in VOID:
            return
        self._open.append(tag)
        if tag in ("script", "style"):
            self._script = [dict(attrs), ""]

    def handle_endtag(self, tag):
        assert self._open and self._open.pop() == tag, (tag, self._open)
        if self._script is not None:
            if tag == "script":
                self.scripts.append(tuple(self._script))
            self._script = None

    def handle_data(self, data):
        if self._script is not None:
            self._script[1] += data
        else:
            self.text += data

    def script(self, id_):
        return next(text for attributes, text in self.scripts if attributes.get("id") == id_)

    def unpacked(self, id_):
        return gzip.decompress(base64.b64decode(self.script(id_)))

    def figures(self):
        """The descriptions, with lists of numbers in the place of where they are."""
        planes = np.frombuffer(self.unpacked("numbers"), np.uint8).reshape(8, -1)
        pool = np.ascontiguousarray(planes.T).view("<f8").ravel()
        return json.loads(self.unpacked("figures"), object_hook=lambda found: pool[found["at"]:found["at"] + found["count"]]
                          if found.keys() == {"at", "count"} else found)


def structure(figures):
    """What must not change unseen: views, frames, axes, ranges, how many points of what."""
    def axis(a):
        return {"label": a["label"], "scale": a["scale"], "range": [float(f"{a[k]:.5g}") for k in ("lower", "upper")]}

    def count(series):
        listed = series.get("x", series.get("edges"))
        points = 0 if listed is None else len(listed)
        if "low" not in series and "y" in series and "values" in series and series["kind"] != "scatter":
            points *= len(series["y"])
        return points

    def panel(p):
        if "table" in p:
            return {"table": len(p["table"])}
        return {"x": axis(p["x"]), "y": axis(p["y"]), "empty": p.get("empty", False),
                "series": [[s["kind"], s.get("label", ""), count(s)] for s in p["series"]]}

    return {name: [{"view": view["name"], "frames": [f["label"] for f in view["frames"]],
                    "last": [panel(p) for p in view["frames"][-1]["figure"]["panels"]]} for view in picture["views"]]
            for name, picture in figures.items()}


class ReportCase(program.Case):
    """Results that all tests read."""

    @classmethod
    def setUpClass(cls):
        maker = cls.make_results()
        for name in ("adam", "sgdm"):
            maker.analyze(DATA / name, "--only", "hessian,spectrum,condition,structure,blocks,stability,smoothness,noise,density",
                          "--noise-draws", "200", output=f"{name}.h5")
        done = maker.run_program("landscape", DATA / "adam", "--problem", PROBLEM, "-o", "plane.h5", "--directions", "pca",
                                 "--grid", "21x21", "--curvature")
        assert done.returncode == DONE, done.stderr
        done = maker.run_program("report", "adam.h5", "plane.h5", "-o", "adam.html")
        assert done.returncode == DONE, done.stderr

    def path(self, name):
        return self.results / name

    def report(self, *results, expect=DONE, output="out.html"):
        done = self.run_program("report", *[self.path(r) if str(r).endswith(".h5") else r for r in results], "-o", output)
        self.assertEqual(done.returncode, expect, done.stderr)
        return Page(self.folder / output) if expect == DONE else done


class Report(ReportCase):

    def test_is_one_file_that_fetches_nothing_and_runs_only_its_own_scripts(self):
        path = self.path("adam.html")
        page = Page(path)
        self.assertLess(path.stat().st_size, 8e6)
        for tag, attributes in page.elements:
            for name in ("src", "href", "srcset", "action"):
                self.assertTrue(attributes.get(name, "#").startswith("#"), (tag, attributes))
            self.assertFalse([name for name in attributes if name.startswith("on")], (tag, attributes))
        [policy] = [a["content"] for t, a in page.elements if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        code = [text for attributes, text in page.scripts if not attributes]
        bundles = [page.unpacked(name).decode() for name in ("plotly-flat", "plotly-raised")]
        self.assertEqual(len(code), 1)
        for text in (*code, *bundles):
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertIn(f"'sha256-{digest}'", policy)
        for bundle in bundles:
            self.assertRegex(bundle[:100], r"plotly\.js \(\w+ - minified\) v")
        self.assertNotIn("unsafe-eval", policy)
        ids = [a["id"] for _, a in page.elements if "id" in a]
        self.assertEqual(len(ids), len(set(ids)))
        anchors = {a["href"][1:] for t, a in page.elements if t == "a"}
        self.assertLessEqual(anchors, set(ids))

    def test_figures_have_the_numbers_of_the_results(self):
        figures = Page(self.path("adam.html")).figures()
        with h5py.File(self.path("adam.h5")) as h5, h5py.File(self.path("plane.h5")) as plane:
            frames = figures["figure-spectrum"]["views"][0]["frames"]
            self.assertEqual([f["label"] for f in frames], [f"step {s}" for s in h5["step"]])
            for row, frame in zip(h5["spectrum/eigenvalues"], frames):
                [line] = [s for s in frame["figure"]["panels"][0]["series"] if s["kind"] == "line"]
                np.testing.assert_array_equal(line["y"], row)
            [loss] = [v for v in figures["figure-landscape"]["views"] if v["name"] == "loss"]
            panel = loss["frames"][0]["figure"]["panels"][0]
            np.testing.assert_array_equal(panel["series"][0]["values"].reshape(21, 21), plane["landscape/loss"])
            # Every bar of the histogram counts what lies between its edges.
            bars = figures["figure-histogram"]["views"][0]["frames"][-1]["figure"]["panels"][0]["series"][0]
            edges, heights = bars["edges"], bars["heights"]
            values = h5["spectrum/eigenvalues"][-1]
            np.testing.assert_array_equal(heights, [np.sum((values >= a) & (values < b)) for a, b in zip(edges, edges[1:])])
            self.assertEqual(heights.sum(), len(values))

    def test_many_checkpoints_share_a_slider_of_two_hundred(self):
        source = sorted((DATA / "adam").iterdir())[0]
        folder = self.folder / "many"
        folder.mkdir()
        for step in range(205):
            shutil.copy(source, folder / f"step-{step}{source.suffix}")
        self.analyze(folder, "--only", "hessian,spectrum", output="many.h5")
        page = self.report(self.folder / "many.h5")
        labels = [f["label"] for f in page.figures()["figure-spectrum"]["views"][0]["frames"]]
        self.assertEqual(labels, [f"step {k * 204 // 199}" for k in range(200)])
        self.assertIn("Of 205 checkpoints the slider has 200, evenly spread.", (self.folder / "out.html").read_text("utf-8"))

    def test_tables_have_the_exact_numbers_and_say_why_one_is_missing(self):
        page = Page(self.path("adam.html"))
        values = {a["data-value"] for t, a in page.elements if t == "td" and "data-value" in a}
        with h5py.File(self.path("adam.h5")) as h5:
            for name in ("spectrum/lambda_max", "condition/robust_diagonal", "loss"):
                for value in h5[name]:
                    self.assertIn(repr(float(value)), {repr(float(v)) for v in values})
            self.assertTrue(np.isnan(h5["condition/classical"][-1]))
        self.assertIn("undefined not positive definite", page.text)
        self.assertNotIn("nan", values)
        self.assertIn("arXiv:2103.00065", page.text)  # of the edge of stability
        definition = h5py.File(self.path("adam.h5"))["condition/classical"].attrs["definition"]
        self.assertIn(definition if isinstance(definition, str) else definition.decode(), page.text)

    def test_an_eigenvalue_without_proof_does_not_look_like_a_fact(self):
        shutil.copy(self.path("adam.h5"), self.folder / "ends.h5")
        with h5py.File(self.folder / "ends.h5", "r+") as h5:
            h5["spectrum/proof"][...] = program.text(h5["spectrum/proof"].attrs["flag_meanings"]).split().index("converged")
        page = self.report(self.folder / "ends.h5")
        self.assertGreater(page.text.count("(not proved)"), 0)
        panel = page.figures()["figure-eigenvalues"]["views"][0]["frames"][0]["figure"]["panels"][0]
        self.assertIn("ends of 5 checkpoints not proved", panel["note"])
        lines = [series for series in panel["series"] if series["kind"] == "line"]
        self.assertEqual([line["uncertain"] for line in lines], [[0, 1, 2, 3, 4]] * 3)
        unproved = [a for t, a in page.elements if t == "td" and "unproved" in a.get("class", "")]
        self.assertGreaterEqual(len(unproved), 2)

    def test_says_of_all_that_rests_on_such_eigenvalues_and_of_arrays(self):
        random = np.random.default_rng(3)
        width = 500  # too many parameters for all eigenvalues where none can be counted
        self.write_checkpoint("step-0.npz", {
            "layers.0.weight": random.normal(size=(width, 2)), "layers.0.bias": random.normal(size=width),
            "layers.1.weight": random.normal(size=(1, width)) / width**0.5, "layers.1.bias": random.normal(size=1)})
        np.savez(self.folder / "eval.npz", inputs=random.normal(size=(8, 2)), target=random.normal(size=(8, 1)))
        (self.folder / "problem.toml").write_text('[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "mse"\n'
                                                  '[data]\nfile = "eval.npz"\n')
        self.analyze("step-0.npz", "--only", "eigenpairs,edge,stability", "--learning-rate", 0.1, "--method", "matrix-free",
                     problem="problem.toml", output="free.h5", expect=INCONCLUSIVE)
        page = self.report(self.folder / "free.h5")
        self.assertNotIn("Nothing: every number", page.text)
        gaps = re.findall('<tr><td class="words">free</td><td class="words">([^<]*)</td><td class="words">([^<]*)</td>'
                          '<td class="words missing">([^<]*)</td></tr>', page.source)
        for gap in (("edge/sharpness", "1 of 1 checkpoints", "not proved"),
                    ("eigenpairs/eigenvalues_largest", "those of 1 of 1 checkpoints", "not proved"),
                    ("eigenpairs/overlap_largest", "5 of 5 entries", "not computed")):
            self.assertIn(gap, gaps)
        self.assertRegex(page.source, r'<td class="[^"]*unproved[^"]*"[^>]*>[^<]*\(not proved\)</td>')
        [panel] = page.figures()["figure-edge"]["views"][0]["frames"][0]["figure"]["panels"]
        self.assertEqual([series.get("uncertain") for series in panel["series"] if series.get("label") == "sharpness"], [[0]])
        [panel] = page.figures()["figure-stability"]["views"][0]["frames"][0]["figure"]["panels"]
        self.assertEqual([series.get("uncertain") for series in panel["series"] if series["kind"] == "line"], [[0]] * 2)

    def test_results_of_one_label_are_seeds_of_one_experiment(self):
        page = self.report("adam.h5", "sgdm.h5", "--label", "run", "--label", "run")
        [view] = [v for v in page.figures()["figure-history"]["views"] if v["name"] == "all"]
        panel = view["frames"][0]["figure"]["panels"][0]
        self.assertEqual([s["kind"] for s in panel["series"]], ["band", "line"])
        band, line = panel["series"]
        with h5py.File(self.path("adam.h5")) as a, h5py.File(self.path("sgdm.h5")) as b:
            losses = np.array([a["loss"], b["loss"]])
        np.testing.assert_array_equal(band["low"], losses.min(0))
        np.testing.assert_array_equal(band["high"], losses.max(0))
        np.testing.assert_allclose(line["y"], losses.mean(0), rtol=1e-15)
        self.assertIn("median and range of 2 seeds", panel["note"])

    def test_names_from_elsewhere_stay_text(self):
        shutil.copytree(DATA / "adam", self.folder / EVIL)
        first = next((self.folder / EVIL).glob("step-000500*"))
        first.rename(first.with_name(EVIL.replace("/", "") + ".npz"))
        done = self.run_program("analyze", self.folder / EVIL / (EVIL + ".npz"), "--problem", PROBLEM, "-o", "evil.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        page = self.report(self.folder / "evil.h5", "--label", EVIL, "--title", EVIL + "</script><script>alert(2)</script>")
        self.assertNotIn(EVIL, page.source)
        self.assertIn(EVIL, page.text)
        self.assertEqual(len(page.scripts), 5)
        self.assertFalse([t for t, _ in page.elements if t == "img"])

    def test_the_same_bytes_every_time(self):
        first = self.report("adam.h5", output="a.html").source
        self.assertEqual(first, self.report("adam.h5", output="b.html").source)

    def test_structure_of_each_figure(self):
        """HESSCOPE_UPDATE_REFERENCES=1 writes the reference anew."""
        found = structure(Page(self.path("adam.html")).figures())
        if os.environ.get("HESSCOPE_UPDATE_REFERENCES") == "1":
            REFERENCE.parent.mkdir(exist_ok=True)
            lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in found.items()]
            REFERENCE.write_text("{" + ",\n".join(lines) + "}\n", "utf-8")
        self.assert_same(found, json.loads(REFERENCE.read_text("utf-8")), "")

    def assert_same(self, found, expected, where):
        """Equal, but for numbers, which another processor may round differently."""
        if isinstance(expected, dict):
            self.assertEqual(list(found), list(expected), where)
            for key in expected:
                self.assert_same(found[key], expected[key], f"{where}/{key}")
        elif isinstance(expected, list):
            self.assertEqual(len(found), len(expected), where)
            for i, (a, b) in enumerate(zip(found, expected)):
                self.assert_same(a, b, f"{where}/{i}")
        elif isinstance(expected, float):
            self.assertTrue(abs(found - expected) <= 2e-3 * abs(expected), (where, found, expected))
        else:
            self.assertEqual(found, expected, where)

    def test_refuses_what_it_cannot_do(self):
        self.assertRegex(self.report("adam.h5", output="a.pdf", expect=USAGE).stderr, r"must end in \.html")
        self.assertRegex(self.report("adam.h5", "--label", "a", "--label", "b", expect=USAGE).stderr, "--label must be given once")
        self.assertRegex(self.report("none.h5", expect=BAD_INPUT).stderr, "no such file")
        (self.folder / "some.h5.units").mkdir()
        for command in (("report", "some.h5", "-o", "out.html"), ("inspect", "some.h5")):
            done = self.run_program(*command)
            self.assertEqual(done.returncode, BAD_INPUT)
            self.assertIn("some.h5: is not complete: some.h5.units has its finished parts", done.stderr)
        (self.folder / "notes.html").write_text("<!DOCTYPE html>\nmine")
        self.report("adam.h5", "--force", output="notes.html", expect=FAILED)
        self.assertIn("mine", (self.folder / "notes.html").read_text())
        self.report("adam.h5")
        self.report("adam.h5", expect=FAILED)
        self.report("adam.h5", "--force")

    def test_reports_as_json(self):
        done = self.run_program("report", self.path("adam.h5"), "-o", "a.html", "--json")
        answer = json.loads(done.stdout)
        self.assertEqual(answer["bytes"], (self.folder / "a.html").stat().st_size)
        self.assertEqual(answer["figures"], len(Page(self.folder / "a.html").figures()))


if __name__ == "__main__":
    program.main()
