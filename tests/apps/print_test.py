# SPDX-License-Identifier: BSD-3-Clause
"""`hesscope plot` to PDF and PNG: what is on paper is what is in the SVG, in fonts that come along."""
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree
import zlib

import h5py
import numpy as np

import program
from program import DATA, DONE, FAILED, USAGE

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<img src=x onerror=alert(1)> & \"q\" \x1b[31m\x07"
MM = 72 / 25.4


def decode_png(data):
    """(pixels, dots per metre) of a PNG of 8-bit RGB, by its specification."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = [], 8
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        kind, content = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + content) == int.from_bytes(data[at + 8 + size:at + 12 + size], "big"), kind
        chunks.append((kind, content))
        at += size + 12
    assert chunks[0][0] == b"IHDR" and chunks[-1][0] == b"IEND"
    header = chunks[0][1]
    width, height = (int.from_bytes(header[i:i + 4], "big") for i in (0, 4))
    assert header[8:] == bytes([8, 2, 0, 0, 0])
    (resolution,) = [content for kind, content in chunks if kind == b"pHYs"]
    assert resolution[:4] == resolution[4:8] and resolution[8] == 1
    raw = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    rows = np.frombuffer(raw, np.uint8).reshape(height, 1 + 3 * width)
    pixels = np.zeros((height + 1, width + 1, 3), np.uint8)  # a row above and a column before, of zeros
    for y, row in enumerate(rows, 1):
        line = row[1:].reshape(width, 3)
        if row[0] == 0:
            pixels[y, 1:] = line
        elif row[0] == 1:
            pixels[y, 1:] = np.cumsum(line, axis=0, dtype=np.uint8)
        elif row[0] == 2:
            pixels[y, 1:] = line + pixels[y - 1, 1:]
        else:
            above = pixels[y - 1].astype(int).tolist()
            left, done = [0, 0, 0], []
            for x, values in enumerate(line.tolist(), 1):
                pixel = []
                for c in range(3):
                    a, b, corner = left[c], above[x][c], above[x - 1][c]
                    if row[0] == 3:
                        guess = (a + b) // 2
                    else:
                        estimate = a + b - corner
                        guess = min((a, b, corner), key=lambda v: abs(estimate - v))
                    pixel.append((values[c] + guess) % 256)
                done.append(pixel)
                left = pixel
            pixels[y, 1:] = done
    return pixels[1:, 1:], int.from_bytes(resolution[:4], "big")


def pdf_objects(data):
    """The dictionaries of a PDF's objects, by number; cairo compresses streams only."""
    return {int(number): body for number, body in
            re.findall(rb"(?s)(?<!\d)(\d+) 0 obj\s(.*?)(?:stream|endobj)", data)}


class Print(program.Case):

    @classmethod
    def setUpClass(cls):
        maker = cls.make_results()
        maker.analyze(DATA / "adam", "--only", "spectrum,condition,blocks", output="adam.h5")
        cls.adam = cls.results / "adam.h5"

    def plot(self, *arguments, output, figure="condition", expect=DONE):
        done = self.run_program("plot", self.adam, "--figure", figure, "-o", output, *arguments)
        self.assertEqual(done.returncode, expect, done.stderr)
        if expect != DONE:
            return done.stderr
        return (self.folder / output).read_bytes()

    def svg(self, *arguments, output="drawn.svg", figure="condition"):
        return ElementTree.fromstring(self.plot(*arguments, "--force", output=output, figure=figure))

    def test_pdf_brings_its_fonts_along(self):
        data = self.plot("--width", "85mm", "--height", "6cm", output="a.pdf")
        objects = pdf_objects(data)
        fonts = [body for body in objects.values() if re.search(rb"/Type /Font\b", body)]
        described = [body for body in fonts if b"/Subtype /Type0" not in body]
        self.assertGreaterEqual(len(described), 1)
        for font in described:
            descriptor = objects[int(re.search(rb"/FontDescriptor (\d+) 0 R", font)[1])]
            file = int(re.search(rb"/FontFile[23]? (\d+) 0 R", descriptor)[1])
            self.assertIn(file, objects)
        (box,) = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", data)
        self.assertLess(np.max(np.abs(np.array(box, float) - [85 * MM, 60 * MM])), 0.01)
        self.assertNotRegex(data, rb"/CreationDate|/ModDate|/JavaScript|/JS\b|/URI|/Annots|/Launch")
        self.assertEqual(data, self.plot("--width", "85mm", "--height", "6cm", output="b.pdf"))

    @unittest.skipUnless(shutil.which("pdftotext"), "no poppler-utils")
    def test_text_of_a_pdf_is_text(self):
        (self.folder / "a.pdf").write_bytes(self.plot("--title", HOSTILE, output="out.pdf"))
        said = subprocess.run(["pdftotext", "a.pdf", "-"], cwd=self.folder, stdout=subprocess.PIPE, check=True)
        text = said.stdout.decode()
        for words in ("<img src=x onerror=alert(1)> & \"q\"", "training step", "eigenvalues, robust"):
            self.assertIn(words, text)
        self.assertNotIn("\x1b", text)
        listed = subprocess.run(["pdffonts", "a.pdf"], cwd=self.folder, stdout=subprocess.PIPE, text=True, check=True)
        heading, _, *fonts = listed.stdout.splitlines()
        self.assertGreaterEqual(len(fonts), 1)
        column = heading.index("emb")
        for font in fonts:
            self.assertEqual(font[column:column + 3], "yes", listed.stdout)

    def test_png_has_the_pixels_asked_for_and_in_them_the_figure(self):
        size = ("--width", "60mm", "--height", "1.6in", "--label", "a")
        root = self.svg(*size)
        for resolution, given in ((300, ()), (120, ("--dpi", 120))):
            data = self.plot(*size, *given, output=f"{resolution}.png")
            pixels, dots_per_metre = decode_png(data)
            self.assertEqual(pixels.shape, (round(1.6 * resolution), round(60 / 25.4 * resolution), 3))
            self.assertEqual(dots_per_metre, round(resolution / 0.0254))
            ink = np.mean(np.any(pixels != 255, axis=2))
            self.assertTrue(0.01 < ink < 0.4, ink)
            dots = 0
            for circle in root.iter(SVG + "circle"):  # in the middle of each marker there is its colour
                x, y = (float(circle.get(name)) * resolution / 72 for name in ("cx", "cy"))
                colour = bytes.fromhex(circle.get("fill")[1:])
                found = pixels[int(y), int(x)].astype(int)
                dots += np.max(np.abs(found - list(colour))) <= 8
            self.assertGreater(dots, 0.7 * len(list(root.iter(SVG + "circle"))))  # some lie under others
            self.assertEqual(self.plot(*size, *given, "--force", output="again.png"), data)

    def test_hostile_text_is_drawn_as_text_in_every_format(self):
        root = self.svg("--title", HOSTILE, "--label", HOSTILE)
        self.assertFalse([e for e in root.iter() if e.tag.lower().endswith("img")])
        self.assertNotIn(b"\x1b", (self.folder / "drawn.svg").read_bytes())
        self.assertIn(HOSTILE.replace("\x1b", "\ufffd").replace("\x07", "\ufffd"),
                      ["".join(text.itertext()) for text in root.iter(SVG + "text")])
        size = ("--width", "400", "--height", "200", "--dpi", "72")
        with_title, _ = decode_png(self.plot(*size, "--title", HOSTILE, output="a.png"))
        without, _ = decode_png(self.plot(*size, "--title", " ", output="b.png"))
        rows = np.flatnonzero(np.any(with_title != without, axis=(1, 2)))
        self.assertGreater(len(rows), 4)
        self.assertLess(rows[-1], 20)  # in the line of the title, and nowhere else
        self.assertNotIn(b"onerror", self.plot("--title", HOSTILE, output="a.pdf"))  # in fonts, not in names

    def test_slides_have_larger_letters(self):
        paper, slides = self.svg("--width", 960, "--height", 540), self.svg("--style", "slides")
        self.assertEqual([slides.get(name) for name in ("width", "height")], ["960pt", "540pt"])

        def letters(root):
            size = float(root.get("width")[:-2]) / float(root.get("viewBox").split()[2])
            return {round(size * float(text.get("font-size")), 2) for text in root.iter(SVG + "text")}

        self.assertEqual({round(2.5 * size, 2) for size in letters(paper)}, letters(slides))
        self.assertGreater(min(letters(slides)), 16)
        self.assertEqual(self.svg("--style", "slides", "--width", "200mm").get("width"), "566.93pt")
        for figure in ("spectrum", "blocks"):
            self.svg("--style", "slides", figure=figure)
        pixels, _ = decode_png(self.plot("--style", "slides", "--dpi", 36, output="out.png"))
        self.assertEqual(pixels.shape[:2], (270, 480))

    def test_paper_is_what_it_was(self):
        plain = self.plot(output="a.svg")
        self.assertEqual(plain, self.plot("--style", "paper", "--width", "340pt", "--height", 215, output="b.svg"))

    def test_notes_can_be_left_out(self):
        with h5py.File(self.folder / "history.h5", "w") as file:
            file.attrs["hesscope_schema_version"] = "1.0.0"
            file["step"], file["gradient_norm"] = np.arange(3), np.ones(3)
            file["loss"] = np.array([1, np.nan, 0.5])

        def texts(*arguments):
            done = self.run_program("plot", "history.h5", "--figure", "history", "-o", "h.svg", "--force", *arguments)
            self.assertEqual(done.returncode, DONE, done.stderr)
            root = ElementTree.parse(self.folder / "h.svg").getroot()
            return ["".join(text.itertext()) for text in root.iter(SVG + "text")]

        noted, bare = texts(), texts("--no-notes")
        self.assertIn("1 value missing", noted)
        self.assertNotIn("1 value missing", bare)
        self.assertEqual(sorted(t for t in noted if "missing" not in t), sorted(bare))

    def test_checkpoints_stand_in_the_legend_in_the_order_of_their_steps(self):
        with h5py.File(self.adam) as file:
            steps, largest = file["step"][()], file["spectrum/lambda_max"][()]
        downwards = np.argsort(-largest, kind="stable")
        self.assertNotEqual(downwards.tolist(), np.arange(len(steps)).tolist())  # where their lines end
        for style in ("paper", "slides"):
            root = self.svg("--style", style, figure="spectrum")
            names = {}
            for text in root.iter(SVG + "text"):
                if (name := "".join(text.itertext())).startswith("step "):
                    names[name] = float(text.get("y"))
            self.assertEqual(list(names), [f"step {step}" for step in steps])
            self.assertEqual(sorted(names.values()), list(names.values()))
            self.assertEqual(len(set(names.values())), len(steps))

    def test_refuses_what_cannot_be(self):
        for output in ("out", "out.gif", "out.PDF", ".pdf", "pdf", "out.pdf.", ""):
            said = self.plot(output=output, expect=USAGE)
            self.assertRegex(said, r"must end in \.svg, \.pdf or \.png|--output is required|ArgumentMismatch|needs a value")
        for dpi in ("0", "9", "2401", "many", "-300", "1e2", "nan"):
            self.assertIn("--dpi", self.plot("--dpi", dpi, output="out.png", expect=USAGE))
        for output in ("out.svg", "out.pdf"):
            self.assertIn("--dpi goes with an output that ends in .png alone", self.plot("--dpi", "300", output=output, expect=USAGE))
        said = self.plot("--width", 5000, "--height", 5000, "--dpi", 2400, output="out.png", expect=USAGE)
        self.assertIn("166667 x 166667 pixels is too large", said)
        self.assertIn("a lower --dpi gives fewer", said)
        for width in ("3", "5001", "85m", "mm", "-85mm", "nan", "1e9mm", ""):
            self.assertIn("--width", self.plot("--width", width, output="out.pdf", expect=USAGE))
        self.assertIn("did you mean 'slides'", self.plot("--style", "slide", output="out.pdf", expect=USAGE))
        self.plot(output="nowhere/out.pdf", expect=FAILED)
        (self.folder / "folder.png").mkdir()
        self.plot("--force", "--force", output="folder.png", expect=FAILED)
        self.assertEqual(self.files(), {"folder.png"})

    def test_never_replaces_a_file_of_another_kind_unasked(self):
        for extension in ("pdf", "png"):
            output = self.folder / f"out.{extension}"
            output.write_text("mine")
            for force in ((), ("--force",)):
                self.plot(*force, output=output.name, expect=FAILED)
                self.assertEqual(output.read_text(), "mine")
            drawn = self.plot("--force", "--force", output=output.name)
            self.assertNotEqual(drawn, b"mine")
            self.plot(output=output.name, expect=FAILED)
            self.assertEqual(output.read_bytes(), drawn)
            self.assertEqual(self.plot("--force", output=output.name), drawn)


if __name__ == "__main__":
    program.main()
