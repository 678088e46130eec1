# SPDX-License-Identifier: BSD-3-Clause
"""hesscope train: where it starts, the files that it leaves, and refusals."""
import fcntl
import hashlib
import json
import os
import shutil
import subprocess

import h5py
import numpy as np
import xarray

import program
from program import BAD_INPUT, DATA, DONE, FAILED, INCONCLUSIVE, USAGE
from training import DIMENSION, EXPERIMENT, LAYERS, Trained


class Starts(Trained):
    def test_are_the_bits_of_a_checkpoint(self):
        self.train("first", experiment=EXPERIMENT)
        text = EXPERIMENT.replace('distribution = "normal"\nstd = 0.2',
                                  'from_checkpoint = "first/adam/seed-{seed}/step-000060.h5"')
        self.assertNotEqual(text, EXPERIMENT)
        self.train(experiment=text)
        for run in ("sgdm", "adam"):
            for seed in (3, 8):
                with h5py.File(self.folder / f"first/adam/seed-{seed}/step-000060.h5") as file:
                    end = {name: file[name][()] for name in file if "optimizer" not in name}
                with h5py.File(self.folder / f"out/{run}/seed-{seed}/step-000000.h5") as file:
                    start = {name: file[name][()] for name in file if "param_groups" not in name}
                self.assertEqual(set(start), set(end))  # nothing of what the optimiser remembered
                for name in end:
                    np.testing.assert_array_equal(start[name], end[name])
        before = self.times()
        self.train(experiment=text)
        self.assertEqual(self.times(), before)
        # Of another checkpoint, even of the same name: another training.
        self.train("first", "--force", experiment=EXPERIMENT.replace("std = 0.2", "std = 0.3"))
        done = self.train(experiment=text, expect=USAGE)
        self.assertIn("initialization_sha256", done.stderr)

    def test_that_cannot_be_are_refused(self):
        def refused(key, expect, *words):
            text = EXPERIMENT.replace('distribution = "normal"\nstd = 0.2', key)
            done = self.train(experiment=text, expect=expect)
            for word in words:
                self.assertIn(word, done.stderr)
        refused('from_checkpoint = "nothere-{seed}.h5"', BAD_INPUT, "nothere-3.h5")
        refused('from = "a/b"', USAGE, "experiment.toml:", "from_checkpoint")
        weights = {f"layers.{l}.{m}": np.ones((DIMENSION, DIMENSION)) for l in range(LAYERS) for m in "PQ"}
        self.write_checkpoint("nan.npz", weights | {"layers.1.P": np.full((DIMENSION, DIMENSION), np.nan)})
        refused('from_checkpoint = "nan.npz"', BAD_INPUT, "nan.npz", "not finite")
        self.write_checkpoint("small.npz", weights | {"layers.1.P": np.ones((2, 2))})
        refused('from_checkpoint = "small.npz"', BAD_INPUT, "small.npz", "layers.1.P", "(2, 2)")
        self.assertFalse([path for path in (self.folder / "out").rglob("step-*")])


class Files(Trained):
    def test_are_those_of_the_format(self):
        self.train()
        names = [f"step-{t:06d}.h5" for t in (0, 20, 40, 60)] + ["history.h5", "problem.toml"]
        self.assertEqual(set(self.contents()), {f"{run}/seed-{seed}/{name}" for run in ("sgdm", "adam")
                                                for seed in (3, 8) for name in names})
        with xarray.open_dataset(self.folder / "out/adam/seed-8/history.h5", engine="netcdf4") as history:
            steps = [*range(0, 60, 7), 60]
            np.testing.assert_array_equal(history.step, steps)
            names = ("loss", "gradient_norm", "batch_loss", "training_loss", "seconds", "distance", "relative_distance")
            missing = {"batch_loss_status", "training_loss_status", "seconds_status"}
            digests = {"checkpoint_step", "checkpoint_sha256"}
            self.assertEqual(set(history.data_vars), {*names, *missing, *digests})
            for step, digest in zip(history.checkpoint_step.values, history.checkpoint_sha256.values):
                content = (self.folder / f"out/adam/seed-8/step-{step:06d}.h5").read_bytes()
                self.assertEqual(hashlib.sha256(content).hexdigest(), digest)
            np.testing.assert_array_equal(history.checkpoint_step, (0, 20, 40, 60))
            for variable in history.data_vars.values():
                self.assertTrue(variable.attrs["long_name"] and variable.attrs["definition"])
            np.testing.assert_array_equal(history.batch_loss_status, [1] + [0] * 9)
            np.testing.assert_array_equal(history.training_loss_status, [1] * 10)  # batches are fresh
            np.testing.assert_array_equal(history.seconds_status, [1] * 10)
            self.assertEqual(history.attrs["seed"], 8)
            loss = history.loss.values
        # Both runs of a seed start from the same parameters, and the problem is the history's.
        starts = []
        for run in ("adam", "sgdm"):
            with h5py.File(self.folder / f"out/{run}/seed-8/step-000000.h5") as file:
                starts.append({name: file[name][()].tolist() for name in file if "optimizer" not in name})
        self.assertEqual(starts[0], starts[1])
        self.assertNotEqual(loss[0], loss[-1])

    def test_are_what_an_analysis_takes(self):
        self.train("out", "--run", "adam", "--seed", 3)
        done = self.run_program("analyze", "out", "--problem", "out/problem.toml", "-o", "analysis.h5", "--quiet",
                                "--only", "condition")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "analysis.h5") as analysis, h5py.File(self.folder / "out/history.h5") as history:
            np.testing.assert_array_equal(analysis["step"], [0, 20, 40, 60])
            self.assertEqual(analysis["loss"][0], history["loss"][0])
            self.assertEqual(analysis["loss"][3], history["loss"][-1])
            self.assertEqual(analysis["gradient_norm"][3], history["gradient_norm"][-1])

    def test_without_reproducible_times_hold_seconds(self):
        environment = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
        (self.folder / "experiment.toml").write_text(EXPERIMENT)
        done = subprocess.run(self.command("train", "experiment.toml", "-o", "out", "--run", "adam", "--seed", 3),
                              cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "out/history.h5") as file:
            seconds = file["seconds"][()]
        self.assertTrue((np.diff(seconds) > 0).all() and seconds[0] >= 0)
        self.assertLess(seconds[-1], 60)

    def test_are_the_same_for_any_threads_and_selection(self):
        self.train("one", "--threads", 1)
        expected = self.contents("one")
        for threads in (2, 3):
            self.train(f"out{threads}", "--threads", threads)
            self.assertEqual(self.contents(f"out{threads}"), expected)
        self.train("part", "--run", "adam", "--seed", 8, "--threads", 2)
        for name, found in self.contents("part").items():
            if name != "history.h5":  # whose command differs
                self.assertEqual(found, expected[f"adam/seed-8/{name}"], name)
        self.train("unlisted", "--run", "adam", "--seed", 4)
        self.assertNotEqual(self.contents("unlisted")["step-000060.h5"], expected["adam/seed-8/step-000060.h5"])

    def test_a_finished_training_is_left_alone(self):
        self.train()
        before = self.times()
        again = json.loads(self.train("out", "--json").stdout)
        self.assertTrue(all(run["was_finished"] for run in again["runs"]))
        self.assertEqual(before, self.times())
        expected = self.contents()
        self.train("out", "--force")
        self.assertEqual(self.contents(), expected)

    def test_a_finished_training_that_another_program_has_open(self):
        self.train("out", "--run", "adam", "--seed", 3)
        before = self.contents()
        with open(self.folder / "out/history.h5", "r+b") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            done = self.train("out", "--run", "adam", "--seed", 3, expect=BAD_INPUT)
        self.assertIn("history.h5: another program has it open for writing; close it there", done.stderr)
        self.assertNotIn("--force", done.stderr)
        self.assertEqual(self.contents(), before)

    def test_fixed_data_sets(self):
        fixed = EXPERIMENT.replace("context = 5", "context = 5\nsamples = 40\nseed = 99").replace("batch = 70\n", "")
        self.train("fixed", "--run", "sgdm", "--seed", 3, experiment=fixed)
        with h5py.File(self.folder / "fixed/history.h5") as file:  # trained on the evaluation samples
            first, loss = file["batch_loss"][1], file["loss"][()]
        self.assertLess(loss[-1], loss[0])
        self.assertTrue(loss[0] >= first > loss[1])
        own = fixed.replace("seed = 99\n", "").replace("samples = 40\n[eval", "samples = 40\n[eval")
        self.train("own", "--run", "sgdm", "--seed", 3, experiment=own)
        self.assertNotEqual(self.contents("own")["step-000060.h5"], self.contents("fixed")["step-000060.h5"])
        batches = fixed.replace("steps = 60", "steps = 60\nbatch = 16")
        self.train("batches", "--run", "sgdm", "--seed", 3, experiment=batches)
        self.assertNotEqual(self.contents("batches")["step-000060.h5"], self.contents("fixed")["step-000060.h5"])

    def test_says_that_monitors_do_not_see_the_weight_decay_of_an_optimiser(self):
        monitored = EXPERIMENT.replace("[training]", "[training]\nmonitors = ['edge']").replace("seeds = [3, 8]", "")
        said = self.train("adam", "--run", "adam", experiment=monitored).stderr
        self.assertIn("the weight-decay of run 'adam' (0.01) is its optimiser's", said)
        self.assertEqual(self.train("sgdm", "--run", "sgdm", experiment=monitored).stderr, "")

    def test_says_what_an_experiment_asks_for_in_vain(self):
        fixed = EXPERIMENT.replace("context = 5", "context = 5\nsamples = 40\nseed = 99").replace("batch = 70\n", "")
        more = fixed.replace("steps = 60", "steps = 60\nbatch = 41\nhistory_steps = [7, 61]")
        said = self.train("more", "--run", "sgdm", "--seed", 3, experiment=more).stderr
        self.assertIn("experiment.toml: 'batch' is 41, but there are 40 samples to train on", said)
        self.assertIn("experiment.toml: 'history_steps' names step 61, but the last is 60", said)
        self.assertIn("samples of [evaluation] are drawn with the seed 99, as those of [data] are", said)
        all_there = fixed.replace("steps = 60", "steps = 60\nbatch = 40\nhistory_steps = [7, 60]")
        all_there = all_there.replace("[evaluation]\n", "[evaluation]\nseed = 99\n")
        self.assertEqual(self.train("all", "--run", "sgdm", "--seed", 3, experiment=all_there).stderr, "")
        self.assertEqual(self.contents("more")["step-000060.h5"], self.contents("all")["step-000060.h5"])


    def test_looks_that_lack_numbers_are_said_each_time(self):
        text = EXPERIMENT.replace("steps = 60", 'steps = 2\nmonitors = ["critical"]')
        for state in ("new", "done"):
            done = self.train("out", "--run", "sgdm", "--seed", 3, "--json", experiment=text, expect=INCONCLUSIVE)
            self.assertRegex(done.stderr, r"out: monitor critical: \d of \d looks lack numbers: .*: failed", state)
            run = json.loads(done.stdout)["runs"][0]
            self.assertEqual((run["status"], run["was_finished"], len(run["warnings"])), ("ok", state == "done", 1))
        with h5py.File(self.folder / "out/history.h5") as file:
            self.assertEqual((file.attrs["conclusive"], file.attrs["has_diverged"]), (0, 0))
            self.assertEqual(file["critical"].attrs["samples"].decode().split(",")[0], "the evaluation samples")

    def test_what_is_infinite_is_no_number_that_was_not_asked_for(self):
        text = EXPERIMENT.replace("context = 5", "context = 5\nsamples = 40\nseed = 99")
        text = text.replace("batch = 70", "batch = 40").replace("clip_norm = 1.0\n", "").replace("every = 7", "every = 1")
        text += '[[run]]\nname = "wild"\nrule = "gd"\nlearning_rate = 1e60\n'
        self.train("out", "--run", "wild", "--seed", 3, experiment=text, expect=INCONCLUSIVE)
        with h5py.File(self.folder / "out/history.h5") as file:
            losses, statuses = file["training_loss"][:], file["training_loss_status"][:]
        done = self.run_program("report", "out/history.h5", "-o", "page.html")
        self.assertEqual(done.returncode, DONE, done.stderr)
        page = (self.folder / "page.html").read_text()
        self.assertIn("the run has diverged: its loss was no longer a finite number", page)
        self.assertNotIn("not every number could be found", page)
        self.assertFalse(np.isfinite(losses).all())
        np.testing.assert_array_equal(statuses, np.where(np.isfinite(losses), 0, 2))


class DataFiles(Trained):
    PERCEPTRON = """
[model]
kind = "mlp"
activation = "tanh"
bias = "hidden"
loss = "mse"
hidden = [4]
{data}
[initialization]
distribution = "normal"
std = 0.5
[training]
steps = 5
batch = 7
seeds = [1]
[[run]]
name = "adam"
rule = "adam"
learning_rate = 0.05
"""

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        self.arrays = {"inputs": random.normal(size=(20, 3)), "target": random.normal(size=(20, 2))}
        others = {"test.X": random.normal(size=(9, 3)), "test.y": random.normal(size=(9, 2))}
        np.savez(self.folder / "ours.npz", **self.arrays)
        np.savez(self.folder / "theirs.npz", X=self.arrays["inputs"], y=self.arrays["target"], **others)
        np.savez(self.folder / "test.npz", inputs=others["test.X"], target=others["test.y"])

    def test_may_have_arrays_of_other_names(self):
        theirs = """[data]
file = "theirs.npz"
[data.arrays]
inputs = "X"
target = "y"
"""
        evaluation = """[evaluation]
file = "theirs.npz"
[evaluation.arrays]
inputs = "test.X"
target = "test.y"
"""
        data = {"ours": '[data]\nfile = "ours.npz"\n', "theirs": theirs,
                "ours_test": '[data]\nfile = "ours.npz"\n[evaluation]\nfile = "test.npz"\n',
                "theirs_test": theirs + evaluation}
        for name, text in data.items():
            self.train(name, experiment=self.PERCEPTRON.format(data=text))
        for one, other in (("ours", "theirs"), ("ours_test", "theirs_test")):
            with h5py.File(self.folder / one / "history.h5") as a, h5py.File(self.folder / other / "history.h5") as b:
                np.testing.assert_array_equal(a["loss"][:], b["loss"][:])
            for step in ("step-000000.h5", "step-000005.h5"):
                self.assertEqual((self.folder / one / step).read_bytes(), (self.folder / other / step).read_bytes())
        weights = self.folder / "theirs" / "step-000005.h5"
        with h5py.File(weights) as file:
            self.assertEqual(sorted(name for name in file if name.startswith("layers")),
                             ["layers.0.bias", "layers.0.weight", "layers.1.weight"])
        done = self.run_program("analyze", weights, "--problem", "theirs/problem.toml", "-o", "a.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "a.h5") as file, h5py.File(self.folder / "theirs/history.h5") as history:
            self.assertEqual(file["loss"][0], history["loss"][-1])
        done = self.train("out", experiment=self.PERCEPTRON.format(data=theirs.replace("target", "targets")),
                          expect=USAGE)
        self.assertIn("unknown array 'targets' in [data.arrays] (did you mean 'target'?)", done.stderr)

    def test_may_be_tuples(self):
        text = self.PERCEPTRON.replace('"mse"', '"cross-entropy"\nclasses = 3')
        self.train("out", experiment=text.format(data=f'[data]\nfile = "{DATA.parent}/classifier/data.pt"\n'))


class Refusals(Trained):
    def test_a_diverging_run_harms_no_other(self):
        self.train("good")
        text = EXPERIMENT + '[[run]]\nname = "wild"\nrule = "sgd"\nlearning_rate = 1e30\n'
        done = self.train("out", "--json", experiment=text, expect=INCONCLUSIVE)
        runs = json.loads(done.stdout)["runs"]
        for run in runs:
            wild = run["run"] == "wild"
            self.assertEqual(run["status"], "non_finite" if wild else "ok")
            self.assertEqual(run["steps"] == 60, not wild)
            if wild:
                self.assertEqual(run["diverged_in_step"], run["steps"] + 1)
                self.assertIn(f"run 'wild' from seed {run['seed']} diverged in step {run['steps'] + 1}", done.stderr)
                self.assertTrue(np.isfinite(self.parameters(f"out/wild/seed-{run['seed']}/step-000000.h5")).all())
        found = self.contents()
        for name, expected in self.contents("good").items():
            self.assertEqual(found[name], expected, name)
        self.train("out", experiment=text, expect=INCONCLUSIVE)  # finished, and still so

    def test_one_run_and_several_never_share_a_folder(self):
        self.train("several")
        done = self.train("several", "--run", "adam", "--seed", 3, expect=USAGE)
        self.assertIn("several/sgdm/seed-", done.stderr)
        self.train("one", "--run", "adam", "--seed", 3)
        done = self.train("one", expect=USAGE)
        self.assertIn("one: holds a training of one run from one seed", done.stderr)
        for name in ("several/history.h5", "one/adam", "one/sgdm"):
            self.assertFalse((self.folder / name).exists())

    def test_a_clipped_run_diverges_where_it_stays_above_its_limit(self):
        text = EXPERIMENT.replace("learning_rate = 0.02", "learning_rate = 20", 1)
        limited = text.replace("clip_norm", "loss_limit = 1e3\nclip_norm")
        done = self.train("out", "--run", "sgdm", "--json", experiment=limited, expect=INCONCLUSIVE)
        for run in json.loads(done.stdout)["runs"]:
            self.assertIsNotNone(run["diverged_in_step"])
            with h5py.File(self.folder / f"out/sgdm/seed-{run['seed']}/history.h5") as file:
                self.assertEqual(file["step"][-1], run["diverged_in_step"] - 1)
                self.assertGreater(file["batch_loss"][-1], 1e3)  # as nine before it
        self.train("default", "--run", "sgdm", experiment=text, expect=INCONCLUSIVE)  # 1e20
        self.train("all", "--run", "sgdm", experiment=text.replace("clip_norm", "loss_limit = 1e30\nclip_norm"))

    def test_bad_experiments(self):
        for old, new, text in (("steps = 60", "stesp = 60", "experiment.toml:15: unknown key 'stesp' in [training]"),
                               ("std = 0.2", "std = -1", "experiment.toml:13: 'std' must be at least 0, got -1"),
                               ("dimension = 3", "dimension = 0", "'dimension' must be between 1"),
                               ("seeds = [3, 8]", 'trained = ["Q"]', "experiment.toml:17: no parameter is named 'Q'")):
            self.assertIn(old, EXPERIMENT)
            done = self.train(experiment=EXPERIMENT.replace(old, new), expect=USAGE)
            self.assertIn(text, done.stderr)
        muon = EXPERIMENT + '[[run]]\nname = "m"\nrule = "muon"\nlearning_rate = 0.1\nadam-blocks = ["head.*"]\n'
        place = f"experiment.toml:{len(muon.splitlines())}: 'adam-blocks': no parameter is named 'head.*'"
        for option in ("--dry-run", "--quiet"):
            self.assertIn(place, self.train("out", option, experiment=muon, expect=USAGE).stderr)
        done = self.train("out", "--run", "adm", expect=USAGE)
        self.assertIn("no [[run]] is named 'adm' (did you mean 'adam'?)", done.stderr)
        data = EXPERIMENT.split("[data]")[0] + '[data]\nfile = "nothere.npz"\n' + EXPERIMENT[EXPERIMENT.index("[init"):]
        self.assertIn("nothere.npz", self.train(experiment=data, expect=BAD_INPUT).stderr)
        self.assertEqual(self.files(), {"experiment.toml"})

    def test_a_carried_experiment_is_for_reproduce(self):
        self.refuses(USAGE, ["train", "la-settings", "-o", "out"], "hesscope reproduce la-settings -o DIR")
        self.refuses(USAGE, ["train", "la-setting", "-o", "out"], "la-setting: cannot be opened")

    def test_foreign_files_stay(self):
        (self.folder / "out").mkdir()
        for name, content in (("step-000000.h5", "mine"), ("problem.toml", "mine"), ("history.h5", "mine")):
            (self.folder / "out" / name).write_text(content)
            for _ in range(2):
                done = self.run_program("train", self.experiment(), "-o", "out", "--run", "adam", "--seed", 3)
                self.assertIn(done.returncode, (USAGE, FAILED))
                self.assertIn(name, done.stderr)
            self.assertEqual(self.contents(), {name: b"mine"})
            (self.folder / "out" / name).unlink()
        (self.folder / "file").write_text("mine")
        self.train("file", "--run", "adam", "--seed", 3, expect=FAILED)

    def experiment(self):
        (self.folder / "experiment.toml").write_text(EXPERIMENT)
        return "experiment.toml"

    def test_a_dry_run_of_large_batches_takes_no_longer(self):
        seconds = []
        for batch in (100_000_000, 100_000_000_000):
            experiment = EXPERIMENT.replace("batch = 70", f"batch = {batch}")
            seconds.append(json.loads(self.train("out", "--dry-run", "--json", experiment=experiment).stdout)["seconds"])
        self.assertGreater(seconds[0], 60)
        self.assertTrue(100 < seconds[1] / seconds[0] < 10000, seconds)  # 1000, as far as two measurements agree
        (self.folder / "experiment.toml").write_text(
            EXPERIMENT.replace("batch = 70", "batch = 1000000000000").replace("steps = 60", "steps = 10000000"))
        self.refuses(USAGE, ["train", "experiment.toml", "-o", "out", "--dry-run"], "'batch'", "1000000000000", "steps")

    def test_a_dry_run_knows_a_finished_training_of_large_batches(self):
        experiment = EXPERIMENT.replace("batch = 70", "batch = 5000").replace("steps = 60", "steps = 3")
        self.train(experiment=experiment)
        def foreseen():
            plan = json.loads(self.train("out", "--dry-run", "--json", experiment=experiment).stdout)
            text = self.train("out", "--dry-run", experiment=experiment).stdout
            return plan["done_already"], [run["was_finished"] for run in plan["runs"]], text.splitlines()[-1].split("  ")[-1].strip()

        self.assertEqual(foreseen(), (True, [True] * 4, "out (done already: a run would change nothing)"))
        shutil.rmtree(self.folder / "out" / "adam" / "seed-8")
        self.assertEqual(foreseen(), (False, [True] * 3 + [False], "out (begun: a run would continue it)"))
        other = experiment.replace("batch = 5000", "batch = 5001")
        done = self.train("out", "--dry-run", experiment=other, expect=USAGE)
        self.assertIn("differs in 'training.batch'", done.stderr)

    def test_warnings_are_in_the_document(self):
        experiment = EXPERIMENT.replace("context = ", "samples = 30\ncontext = ", 1).replace("steps = 60", "steps = 1")
        for options in (["--dry-run"], []):
            done = self.train("out", "--json", *options, experiment=experiment)
            [warning] = json.loads(done.stdout)["warnings"]
            self.assertIn("'batch' is 70, but there are 30 samples", warning)
            self.assertIn(warning, done.stderr)

    def test_a_dry_run_writes_nothing(self):
        done = self.train("out", "--dry-run", "--json")
        plan = json.loads(done.stdout)
        self.assertEqual((plan["parameters"], plan["steps"], plan["checkpoints"], len(plan["runs"])), (36, 60, 4, 4))
        self.assertIn("checkpoints  4 of each", self.train("out", "--dry-run").stdout)
        self.assertLess(plan["seconds"], 2)  # 60 steps of 36 parameters, without monitors
        self.assertEqual(self.files(), {"experiment.toml"})


if __name__ == "__main__":
    program.main()
