# SPDX-License-Identifier: BSD-3-Clause
"""hesscope inspect --problem: whether a checkpoint fits, and the map that makes it fit."""
import json

import numpy as np

import program
from program import BAD_INPUT, DATA, DONE, FAILED, FIXTURES, PROBLEM, USAGE, checkpoint, weights


class Fit(program.Case):
    def fit(self, expect, *arguments):
        done = self.run_program("inspect", *arguments, "--problem", PROBLEM)
        self.assertEqual((done.returncode, done.stderr), (expect, ""))
        return done.stdout

    def test_says_that_a_checkpoint_fits(self):
        text = self.fit(DONE, FIXTURES / "linear-attention-s1-adam" / "step-001500.safetensors")
        self.assertIn("fits the linear-attention model", text)
        self.assertRegex(text, r"(?m)^layers\.2\.Q +\(5, 5\) +\(5, 5\) +found$")
        self.assertEqual(self.fit(DONE, checkpoint(0), "--quiet"), "")

    def test_says_what_does_not_and_suggests_a_map_that_does(self):
        arrays = {name.replace("layers", "blocks"): array for name, array in weights().items()}
        self.write_checkpoint("theirs.npz", arrays)
        text = self.fit(BAD_INPUT, "theirs.npz")
        self.assertRegex(text, r"(?m)^layers\.0\.P +\(5, 5\) +- +missing$")
        self.assertRegex(text, r"(?m)^blocks\.0\.P +- +\(5, 5\) +unused$")
        (self.folder / "map.toml").write_text(text[text.index("[map]"):])
        self.fit(DONE, "theirs.npz", "--map", "map.toml")
        document = json.loads(self.fit(BAD_INPUT, "theirs.npz", "--json"))["fit"]
        self.assertEqual((document["fits"], document["model"]), (False, "linear-attention"))
        self.assertEqual(document["parameters"][0],
                         {"name": "layers.0.P", "state": "missing", "expected": [5, 5], "found": None})
        self.assertEqual(document["unused"][0], {"name": "blocks.0.P", "shape": [5, 5]})
        self.assertIn('"layers.0.P" = "blocks.0.P"', document["map"].replace("'", '"'))

    def test_writes_the_map_that_it_suggests(self):
        self.write_checkpoint("theirs.npz", {name.replace("layers", "blocks"): a for name, a in weights().items()})
        text = self.fit(DONE, "theirs.npz", "--write-map", "map.toml")
        self.assertIn("written to map.toml; with it the checkpoint fits", text)
        self.fit(DONE, "theirs.npz", "--map", "map.toml")
        before = (self.folder / "map.toml").read_bytes()
        again = self.run_program("inspect", "theirs.npz", "--problem", DATA / "problem.toml", "--write-map", "map.toml")
        self.assertEqual(again.returncode, FAILED)
        self.assertEqual((self.folder / "map.toml").read_bytes(), before)
        self.fit(DONE, "theirs.npz", "--write-map", "map.toml", "--force")
        # Neither an input, however forced, nor by one --force what is no map.
        problem = self.write_problem()
        inspect = ["inspect", "theirs.npz", "--problem", problem, "--force", "--write-map"]
        for name in ("theirs.npz", "problem.toml"):
            kept = (self.folder / name).read_bytes()
            self.refuses(USAGE, [*inspect, name, "--force"], f"{name}: the output is an input itself")
            self.assertEqual((self.folder / name).read_bytes(), kept)
        (self.folder / "notes.toml").write_text("mine = 1\n")
        self.refuses(FAILED, [*inspect, "notes.toml"], "notes.toml")
        self.assertEqual((self.folder / "notes.toml").read_text(), "mine = 1\n")
        # Where the names are not all that is wrong, what is known is written and the exit code says the rest.
        arrays = {n.replace("layers", "blocks"): a for n, a in weights().items()}
        self.write_checkpoint("less.npz", {n: a for n, a in arrays.items() if n != "blocks.2.Q"})
        self.assertIn("does not fit yet", self.fit(BAD_INPUT, "less.npz", "--write-map", "less.toml"))
        # A counter is no parameter, and what else is left over is to be ignored.
        self.write_checkpoint("more.npz", {**arrays, "epoch": np.array(3), "seen": np.zeros(2)})
        self.assertIn("It leaves out 1 tensor of the checkpoint, which is right only if your model does not compute "
                      "with it.", self.fit(DONE, "more.npz", "--write-map", "more.toml"))
        self.assertRegex((self.folder / "more.toml").read_text(), r"ignore = \[['\"]seen['\"]\]")
        self.fit(DONE, "more.npz", "--map", "more.toml")

    def test_writes_the_map_of_a_part(self):
        self.write_checkpoint("parts.npz", {**{f"model.{name}": a for name, a in weights().items()}, "epoch": np.array(3),
                                            "other": np.zeros(2)})
        text = self.fit(DONE, "parts.npz", "--write-map", "map.toml")
        self.assertIn("written to map.toml; with it the checkpoint fits", text)
        self.fit(DONE, "parts.npz", "--map", "map.toml")

    def test_a_map_of_what_stands_under_a_key_holds_the_key(self):
        theirs = {f"model.net.{name.replace('layers', 'blocks')}": a for name, a in weights().items()}
        ours = {f"ema.{name}": a for name, a in weights().items()}
        self.write_checkpoint("parts.npz", {**theirs, **ours})
        for key in ("model", "model.net"):
            text = self.fit(DONE, "parts.npz", "--key", key, "--write-map", "map.toml", "--force")
            self.assertIn("written to map.toml; with it the checkpoint fits", text)
            self.assertRegex((self.folder / "map.toml").read_text(), r"key = ['\"]model.*\n")
            self.fit(DONE, "parts.npz", "--map", "map.toml")
            (self.folder / "printed.toml").write_text(text[text.index("key = "):text.index("\nwritten to")])
            self.fit(DONE, "parts.npz", "--map", "printed.toml")
        text = self.fit(DONE, "parts.npz", "--key", "ema", "--write-map", "map.toml", "--force")
        self.assertIn("with no name in it: the checkpoint fits as it is under 'ema'", text)
        self.fit(DONE, "parts.npz", "--map", "map.toml")

    def test_writes_an_empty_map_of_a_checkpoint_that_fits(self):
        problem = ("--problem", DATA / "problem.toml")
        done = self.run_program("inspect", checkpoint(0), *problem, "--write-map", "map.toml")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.assertIn("written to map.toml, with no name in it: the checkpoint fits as it is", done.stdout)
        done = self.run_program("inspect", checkpoint(0), *problem, "--map", "map.toml")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        done = self.run_program("analyze", checkpoint(0), *problem, "--map", "map.toml", "-o", "out.h5", "--only", "condition")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_takes_no_order_of_equal_layers_from_a_sorted_file(self):
        shapes = {"embed": (8, 3), "ffn": (8, 8), "hidden": (8, 8), "out": (2, 8)}
        tensors = {}
        for name, shape in shapes.items():
            tensors[f"{name}.weight"], tensors[f"{name}.bias"] = np.zeros(shape), np.zeros(shape[0])
        self.write_checkpoint("sorted.npz", tensors)
        np.savez(self.folder / "d.npz", inputs=np.zeros((5, 3)), target=np.arange(5) % 2)
        (self.folder / "p.toml").write_text(
            '[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "cross-entropy"\n[data]\nfile = "d.npz"\n')
        inspect = ("inspect", "sorted.npz", "--problem", "p.toml", "--write-map", "map.toml")
        done = self.run_program(*inspect)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("'ffn.weight' and 'hidden.weight' could be either way round; no map was written", done.stderr)
        self.assertIn("--expect-loss", done.stderr)
        self.assertIn("no map is suggested, since 'ffn.weight'", done.stdout)
        self.assertNotIn("map.toml", self.files())
        document = json.loads(self.run_program(*inspect[:4], "--json").stdout)["fit"]
        self.assertEqual((document["map"], document["doubt"]),
                         (None, "'ffn.weight' and 'hidden.weight' could be either way round"))
        # Of the layers as a whole the data say more.
        np.savez(self.folder / "d.npz", inputs=np.zeros((5, 4)), target=np.arange(5) % 2)
        done = self.run_program(*inspect)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("are layers that the data do not go with", done.stderr)
        self.assertIn("expected shape (samples, 3), found (5, 4)", done.stderr)

    def test_writes_no_map_where_none_helps(self):
        def refused(code, *arguments, words):
            done = self.run_program("inspect", *arguments)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertNotIn("map.toml", self.files())

        problem = ("--problem", DATA / "problem.toml")
        self.write_checkpoint("bad.npz", {"w": np.zeros(2)})
        refused(BAD_INPUT, "bad.npz", *problem, "--write-map", "map.toml", words="no map was written")
        refused(USAGE, checkpoint(0), "--write-map", "map.toml", words="--write-map goes with --problem alone")

    def test_settings_for_other_sizes_than_a_part_has(self):
        # nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)): as a model of its own, layer 0 has five classes.
        random = np.random.default_rng(1)
        self.write_checkpoint("theirs.npz", {"0.weight": random.normal(size=(5, 4)), "0.bias": random.normal(size=5),
                                             "2.weight": random.normal(size=(3, 5)), "2.bias": random.normal(size=3)})
        np.savez(self.folder / "data.npz", inputs=random.normal(size=(6, 4)), target=np.arange(6) % 3)
        for weights_of_classes, expect in (("1, 2, 1", DONE), ("1, 2", BAD_INPUT)):
            (self.folder / "problem.toml").write_text(
                '[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "cross-entropy"\n'
                f'class_weights = [{weights_of_classes}]\n[data]\nfile = "data.npz"\n')
            done = self.run_program("inspect", "theirs.npz", "--problem", "problem.toml", "--write-map", "map.toml", "--force")
            self.assertEqual(done.returncode, expect, done.stderr)
        self.assertIn("'class_weights' has 2 numbers, but the model tells 3 classes apart", done.stdout + done.stderr)

    def test_tells_wrong_shapes(self):
        self.write_checkpoint("bad.npz", {**weights(), "layers.2.P": np.zeros((5, 4)), "extra": np.zeros(3), "epoch": np.array(3)})
        text = self.fit(BAD_INPUT, "bad.npz")
        self.assertRegex(text, r"(?m)^layers\.2\.P +\(5, 5\) +\(5, 4\) +wrong shape$")
        self.assertRegex(text, r"(?m)^extra +- +\(3,\) +unused$")
        self.assertNotIn("epoch", text[text.index("parameter "):])

    def test_several_files(self):
        self.write_checkpoint("bad.npz", {"w": np.zeros(2)})
        document = json.loads(self.fit(BAD_INPUT, checkpoint(0), "bad.npz", "--json"))
        self.assertEqual([file["fit"]["fits"] for file in document["files"]], [True, False])
        text = self.run_program("inspect", checkpoint(0), checkpoint(500)).stdout
        self.assertEqual(text.count("sha256 "), 2)


if __name__ == "__main__":
    program.main()
