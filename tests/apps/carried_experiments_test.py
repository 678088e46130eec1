# SPDX-License-Identifier: BSD-3-Clause
"""hesscope reproduce: the experiments that the program carries, and the files that they bring along."""
import json
import shutil
import signal
import subprocess
import time
import tomllib
import xml.etree.ElementTree

import h5py
import numpy as np

import program
from program import BAD_INPUT, DONE, SOURCE, USAGE

TERMINATED = 143


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


if __name__ == "__main__":
    program.main()
