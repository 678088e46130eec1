# SPDX-License-Identifier: BSD-3-Clause
"""`hesscope report`: one page as its reader sees it, where Chromium is there."""
import os
import pathlib
import time
import unittest

import browser
import program
from report_test import EVIL, ReportCase


@unittest.skipUnless(browser.is_there(), "needs chromium and chromedriver (Debian: chromium-driver)")
class InBrowser(ReportCase):
    """As a reader sees it: from a disk, without a network."""

    def window(self, width, page=None):
        window = browser.Browser(width, 900, downloads=self.folder)
        self.addCleanup(window.close)
        window.open(page or self.path("adam.html"))
        window.await_("return document.documentElement.dataset.started")
        return window

    def draw_all(self, window):
        for id_ in window.run("return [...document.querySelectorAll('figure.picture')].map((f) => f.id)"):
            window.show("#" + id_)
            window.await_(f"return document.getElementById('{id_}').dataset.drawn")

    def test_every_figure_is_drawn_without_a_complaint(self):
        for width in (1440, 390):
            with self.subTest(width=width):
                window = self.window(width)
                self.draw_all(window)
                missing = window.run("""return [...document.querySelectorAll('figure.picture')].filter((f) =>
                    !f.querySelector('.main-svg') && !f.querySelector('.nothing')).map((f) => f.id)""")
                self.assertEqual(missing, [])
                self.assertEqual(window.complaints(), [])
                self.assertLessEqual(window.run("return document.documentElement.scrollWidth"), width)

    @unittest.skipUnless(os.environ.get("HESSCOPE_AXE"), "HESSCOPE_AXE names axe.min.js (npm: axe-core)")
    def test_accessibility(self):
        axe = pathlib.Path(os.environ["HESSCOPE_AXE"]).read_text("utf-8")
        for theme in ("light", "dark"):
            with self.subTest(theme=theme):
                window = self.window(1440)
                if window.run("return document.documentElement.dataset.theme") != theme:
                    window.click("#theme")
                self.draw_all(window)
                window.evaluate(axe)  # not a script of the page, whose policy would refuse it
                window.run("axe.run(document, {preload: false}).then((all) => { window.found = all; })")
                found = window.await_("return window.found", 120)
                self.assertGreater(len(found["passes"]), 10)
                self.assertEqual([(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]], [])

    def test_slider_chooser_and_numbers(self):
        window = self.window(1440)
        self.draw_all(window)
        output = "return document.querySelector('#figure-spectrum output').textContent"
        self.assertEqual(window.run(output), "step 1500")
        window.press("#figure-spectrum input[type=range]", "\ue012\ue012")  # twice to the left
        self.assertEqual(window.run(output), "step 1000")
        window.await_("""const plot = document.querySelector('#figure-spectrum .plot');
            return plot.data.some((trace) => trace.name === 'step 1000')""")
        window.run("document.querySelector('#figure-landscape select').value = '1';"
                   "document.querySelector('#figure-landscape select').dispatchEvent(new Event('change'))")
        window.await_("""const plot = document.querySelector('#figure-landscape .plot');
            return plot && plot.data && plot.data[0].colorbar.title.text.includes('gradient norm')""")
        window.click("#figure-spectrum details.numbers summary")
        rows = window.await_("return document.querySelectorAll('#figure-spectrum .numbers tbody tr').length")
        self.assertGreaterEqual(rows, 150)

    def test_hover_tells_the_value(self):
        window = self.window(1440)
        self.draw_all(window)
        window.point_at("#figure-landscape .nsewdrag", 40, 20)
        text = window.await_("""const hover = document.querySelector('#figure-landscape .hovertext');
            return hover && hover.textContent""")
        self.assertRegex(text, r"^-?[\d.e-]+, -?[\d.e-]+: [\d.e-]+$")

    def test_three_dimensions(self):
        window = self.window(1440)
        self.draw_all(window)
        window.click("#figure-landscape button.raise")
        window.await_("""const plot = document.querySelector('#figure-landscape .plot');
            return plot && plot.data && plot.data[0].type === 'surface' && plot.querySelector('canvas')""")
        path = window.run("return document.querySelector('#figure-landscape .plot').data.filter((t) => t.type === 'scatter3d').length")
        self.assertEqual(path, 1)  # the trajectory
        time.sleep(0.5)
        self.assertEqual(window.complaints(), [])

    def test_theme(self):
        window = self.window(1440)
        self.draw_all(window)
        colours = "return [getComputedStyle(document.body).backgroundColor, document.querySelector('#figure-spectrum .plot').layout.font.color]"
        before = window.run(colours)
        theme = window.run("return document.documentElement.dataset.theme")
        window.click("#theme")
        self.assertNotEqual(window.run("return document.documentElement.dataset.theme"), theme)
        window.await_(f"const now = (() => {{ {colours} }})(); return now[0] !== '{before[0]}' && now[1] !== '{before[1]}'")

    def test_saves_pictures(self):
        window = self.window(1440)
        self.draw_all(window)
        for format_, beginning in (("svg", b"<svg"), ("png", b"\x89PNG")):
            window.click(f"#figure-condition button.save.{format_}")
            path = self.folder / f"figure-condition.{format_}"
            end = time.monotonic() + 20
            while not (path.exists() and path.stat().st_size > 0) and time.monotonic() < end:
                time.sleep(0.1)
            self.assertEqual(path.read_bytes()[:len(beginning)], beginning)

    def test_tables_sort_and_definitions_open(self):
        window = self.window(1440)
        column = """const table = [...document.querySelectorAll('table.sortable')].find((t) => t.textContent.includes('lambda_max'));
            const k = [...table.tHead.rows[0].cells].findIndex((c) => c.textContent.startsWith('lambda_max'));"""
        window.run(column + "table.tHead.rows[0].cells[k].querySelector('button').click()")
        values = window.run(column + "return [...table.tBodies[0].rows].map((r) => parseFloat(r.cells[k].dataset.value))")
        there = [v for v in values if v is not None]
        self.assertEqual(there, sorted(there))
        self.assertGreater(len(there), 3)
        window.run(column + "table.tHead.rows[0].cells[k].querySelector('a.definition').click()")
        self.assertIn("largest eigenvalue", window.run("return document.querySelector('dialog[open]').textContent"))

    def test_a_hostile_name_runs_nothing(self):
        self.report("adam.h5", "--label", EVIL, "--title", EVIL)
        window = self.window(1440, self.folder / "out.html")
        self.draw_all(window)
        self.assertEqual(window.run("return document.querySelectorAll('img').length"), 0)
        self.assertEqual(window.complaints(), [])
        self.assertIn(EVIL, window.run("return document.querySelector('h1').textContent"))


if __name__ == "__main__":
    program.main()
