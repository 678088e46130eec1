# SPDX-License-Identifier: BSD-3-Clause
"""hesscope train: trajectories against NumPy, bytes against interruptions and threads, refusals."""
import fcntl
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import time

import h5py
import numpy as np
import xarray

import program
from program import BAD_INPUT, DONE, FAILED, INCONCLUSIVE, INTERRUPTED, LOCKED, USAGE

TERMINATED = 143
LAYERS, DIMENSION, CONTEXT = 2, 3, 5

EXPERIMENT = f"""
[model]
kind = "linear-attention"
layers = {LAYERS}
[data]
kind = "linear-regression"
dimension = {DIMENSION}
context = {CONTEXT}
[evaluation]
samples = 40
[initialization]
distribution = "normal"
std = 0.2
[training]
steps = 60
batch = 70
seeds = [3, 8]
clip_norm = 1.0
checkpoint_every = 20
history_every = 7
[[run]]
name = "sgdm"
rule = "sgd"
learning_rate = 0.02
[[run]]
name = "adam"
rule = "adamw"
learning_rate = 0.02
"""


def losses(parameters, z, target):
    """The loss of every prompt by the definition, Z <- Z + P Z M Z^T Q Z / n; complex numbers pass through."""
    n = z.shape[2] - 1
    mask = np.diag([1.0] * n + [0.0])
    for p, q in parameters:
        e = len(p) + 1
        p_full, q_full = np.zeros((e, e), p.dtype), np.zeros((e, e), q.dtype)
        p_full[:-1, :-1], p_full[-1, -1], q_full[:-1, :-1] = p, 1, q
        z = z + p_full @ z @ mask @ z.transpose(0, 2, 1) @ q_full @ z / n
    return (-z[:, -1, -1] - target) ** 2


def unpacked(theta):
    matrices = theta.reshape(LAYERS, 2, DIMENSION, DIMENSION)
    return [(layer[0], layer[1]) for layer in matrices]


def gradient_of(theta, z, target):
    """By complex steps: exact to rounding."""
    gradient = np.empty(theta.size)
    for i in range(theta.size):
        shifted = theta.astype(complex)
        shifted[i] += 1e-30j
        gradient[i] = losses(unpacked(shifted), z, target).mean().imag / 1e-30
    return gradient


class Rule:
    """Update rules as their papers and PyTorch have them, on whole vectors."""

    def __init__(self, size):
        self.t, self.m, self.v, self.a = 0, np.zeros(size), np.zeros(size), np.zeros(size)

    def sgd(self, theta, g):
        self.m = g if self.t == 1 else 0.9 * self.m + g
        return self.m

    def adamw(self, theta, g):
        self.m, self.v = 0.9 * self.m + 0.1 * g, 0.99 * self.v + 0.01 * g * g
        m, v = self.m / (1 - 0.9 ** self.t), self.v / (1 - 0.99 ** self.t)
        return m / (np.sqrt(v) + 1e-8) + 0.1 * theta

    def sign(self, theta, g):
        return np.sign(g)

    def lion(self, theta, g):
        u = np.sign(0.9 * self.m + 0.1 * g)
        self.m = 0.99 * self.m + 0.01 * g
        return u

    def muon(self, theta, g):
        """As Jordan et al. (2024) publish it; the first matrix is AdamW's, at half the rate."""
        self.m = 0.95 * self.m + g
        direction, first = g + 0.95 * self.m, DIMENSION * DIMENSION
        u = np.concatenate([self.orthogonalized(m.reshape(DIMENSION, DIMENSION)).ravel()
                            for m in np.split(direction, theta.size // first)]) + 0.1 * theta
        self.a, self.v = 0.9 * self.a + 0.1 * g, 0.95 * self.v + 0.05 * g * g
        m, v = self.a / (1 - 0.9 ** self.t), self.v / (1 - 0.95 ** self.t)
        u[:first] = 0.5 * (m / (np.sqrt(v) + 1e-10) + 0.1 * theta)[:first]
        return u

    @staticmethod
    def orthogonalized(x):
        x = x / (np.linalg.norm(x) + 1e-7)
        for _ in range(5):
            a = x @ x.T
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
        return x


class Trained(program.Case):
    def train(self, output="out", *arguments, experiment=EXPERIMENT, expect=DONE, name="experiment.toml", **options):
        (self.folder / name).write_text(experiment)
        done = self.run_program("train", name, "-o", output, *arguments, **options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def contents(self, output="out"):
        folder = self.folder / output
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    def times(self):
        return {p: p.stat().st_mtime_ns for p in (self.folder / "out").rglob("*") if p.is_file()}

    def parameters(self, path):
        with h5py.File(self.folder / path) as file:
            return np.concatenate([file[f"layers.{l}.{m}"][()].ravel() for l in range(LAYERS) for m in "PQ"])

    def steps_kept(self, output="out"):
        """Of the newest state of an Adam run."""
        try:
            state = (self.folder / output / "history.h5.units/state.journal").read_bytes()
        except FileNotFoundError:
            return 0
        return max([0] + [int(np.frombuffer(state, "<f8", 1, at + HEAD)[0]) for at in range(0, len(state), SLOT)])


class Trajectories(Trained):
    def test_agree_with_numpy(self):
        rules = {"sgd": "momentum = 0.9", "adamw": "beta2 = 0.99\nweight-decay = 0.1", "sign": "",
                 "lion": "beta1 = 0.9\nbeta2 = 0.99\nweight-decay = 0"}
        self.check(rules, trained=("layers.*.P", "layers.0.Q"), mask=(1, 1, 1, 0))

    def test_of_muon_agree_with_numpy(self):
        # Without the last P, which no prediction depends on: of a zero gradient Muon orthogonalises the rounding.
        keys = 'weight-decay = 0.1\nadam-rate = 0.5\nadam-blocks = ["layers.0.P"]'
        self.check({"sign": "", "muon": keys}, trained=("layers.0.P", "layers.*.Q"), mask=(1, 1, 0, 1))

    def check(self, rules, trained, mask):
        random_numbers = np.random.default_rng(5)
        z = random_numbers.normal(size=(30, DIMENSION + 1, CONTEXT + 1))
        z[:, -1, -1] = 0
        target = random_numbers.normal(size=30)
        np.savez(self.folder / "data.npz", Z=z, target=target)
        text = EXPERIMENT.split("[data]")[0] + """
            [data]
            file = "data.npz"
            [initialization]
            distribution = "normal"
            std = 0.3
            [training]
            steps = 24
            clip_norm = 0.1
            checkpoint_every = 8
            history_every = 4
            """ + f"trained = {json.dumps(trained)}\n" + "".join(f'[[run]]\nname = "{rule}"\nrule = "{rule}"\nlearning_rate = 0.05\n{keys}\n'
                          for rule, keys in rules.items())
        self.train(experiment=text)
        trained = np.repeat(mask, DIMENSION * DIMENSION)
        for name in rules:
            theta = self.parameters(f"out/{name}/seed-0/step-000000.h5")
            with h5py.File(self.folder / f"out/{name}/seed-0/history.h5") as file:
                history = {key: file[key][()] for key in ("step", "loss", "gradient_norm", "batch_loss", "training_loss",
                                                             "trained_gradient_norm", "distance", "relative_distance")}
            np.testing.assert_array_equal(history["step"], range(0, 25, 4))
            rule, start = Rule(theta.size), theta
            # Five iterations magnify what rounding makes of small singular values by up to 3.4445 each.
            magnified = 3.4445 ** 5 if name == "muon" else 1
            clipped = 0
            for t in range(25):
                g = gradient_of(theta, z, target)
                loss = losses(unpacked(theta), z, target).mean()
                if t % 4 == 0:
                    np.testing.assert_allclose(history["loss"][t // 4], loss, rtol=1e-11 * magnified)
                    np.testing.assert_allclose(history["training_loss"][t // 4], loss, rtol=1e-11 * magnified)
                    np.testing.assert_allclose(history["gradient_norm"][t // 4], np.linalg.norm(g),
                                               rtol=1e-10 * magnified)
                    np.testing.assert_allclose(history["trained_gradient_norm"][t // 4],
                                               np.linalg.norm(g * trained), rtol=1e-10 * magnified)
                    distance = np.linalg.norm((theta - start) * trained)
                    np.testing.assert_allclose(history["distance"][t // 4], distance, rtol=1e-10 * magnified)
                    np.testing.assert_allclose(history["relative_distance"][t // 4],
                                               distance / np.linalg.norm(start * trained), rtol=1e-10 * magnified)
                if t % 4 == 3:
                    np.testing.assert_allclose(history["batch_loss"][t // 4 + 1], loss, rtol=1e-11 * magnified)
                if t % 8 == 0:
                    found = self.parameters(f"out/{name}/seed-0/step-{t:06d}.h5")
                    np.testing.assert_allclose(found, theta, rtol=0, atol=1e-10, err_msg=name)
                g *= trained
                norm = np.linalg.norm(g)
                clipped += norm > 0.1
                g *= min(1, 0.1 / (norm + 1e-6))
                rule.t += 1
                if name == "adamw" and t == 23:
                    with h5py.File(self.folder / f"out/{name}/seed-0/step-000024.h5") as file:
                        self.assertEqual(file["optimizer.step"][()], 24)
                        v = 0.99 * rule.v + 0.01 * g * g
                        np.testing.assert_allclose(file["optimizer.exp_avg_sq.layers.0.Q"][()].ravel(), v[9:18],
                                                   rtol=1e-9)
                theta = theta - 0.05 * trained * getattr(rule, name)(theta, g)
            self.assertGreater(clipped, 5)


class Classifiers(Trained):
    FIXTURE = program.FIXTURES / "attention-classifier-gaussian"

    def start(self):
        """From a checkpoint that PyTorch evaluated, on its data."""
        return f"""
            [model]
            kind = "attention-classifier"
            kernel = "gaussian"
            activation = "relu"
            layers = 2
            heads = 2
            head_width = 1
            mlp_hidden = 4
            classes = 4
            [data]
            file = "{self.FIXTURE}/eval.npz"
            [initialization]
            from_checkpoint = "{self.FIXTURE}/step-000000.npz"
            [training]
            steps = 12
            checkpoint_every = 4
            history_every = 4
            [[run]]
            name = "adam"
            rule = "adamw"
            learning_rate = 0.05
            """

    @staticmethod
    def logits(w, x):
        for layer in range(2):
            p = {key.removeprefix(f"layers.{layer}."): value for key, value in w.items()}
            q, k, v = (np.einsum("std,hde->shte", x, p[name]) for name in ("WQ", "WK", "WV"))
            s = np.exp(-np.square(q[:, :, :, None] - k[:, :, None]).sum(-1) / 2 / np.sqrt(q.shape[-1]))
            heads = (s @ v).transpose(0, 2, 1, 3)
            y = x + heads.reshape(*heads.shape[:2], -1) @ p["WO"]
            hidden = np.maximum(y @ p["mlp.0.weight"].T + p["mlp.0.bias"], 0)
            x = y + hidden @ p["mlp.2.weight"].T + p["mlp.2.bias"]
        return x.mean(axis=1) @ w["head.weight"].T + w["head.bias"]

    def test_know_how_many_they_get_right(self):
        self.train(experiment=self.start())
        data = np.load(self.FIXTURE / "eval.npz")
        with h5py.File(self.folder / "out/history.h5") as file:
            history = {name: file[name][()] for name in file}
        np.testing.assert_array_equal(history["step"], (0, 4, 8, 12))
        self.assertNotIn("accuracy_status", history)
        with np.load(self.FIXTURE / "golden-000000.npz") as golden:
            np.testing.assert_allclose(history["loss"][0], golden["loss"], rtol=1e-12)
            np.testing.assert_allclose(history["gradient_norm"][0], np.linalg.norm(golden["gradient"]), rtol=1e-12)
        rights = []
        for t, step in enumerate(history["step"]):
            with h5py.File(self.folder / f"out/step-{step:06d}.h5") as file:
                z = self.logits({name: file[name][()] for name in file if "optimizer" not in name}, data["inputs"])
            target = data["target"].astype(int)
            chances = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
            np.testing.assert_allclose(history["loss"][t], -np.log(chances[range(40), target]).mean(), rtol=1e-11)
            rights.append((z.argmax(axis=1) == target).mean())
        np.testing.assert_array_equal(history["accuracy"], rights)
        self.assertGreater(len(set(rights)), 1)


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


# Long enough to be killed.
LONG = EXPERIMENT.replace("steps = 60", "steps = 5000").replace("checkpoint_every = 20", "checkpoint_every = 4000")


# A slot of an Adam run's journal: checksum, owner and number; steps, batch loss, divergence, losses above the limit,
# parameters, the rule's step and two averages, seconds.
HEAD = 24
SLOT = HEAD + 8 * (4 + 36 + 1 + 2 * 36 + 1)


class Interruptions(Trained):
    def start(self, *arguments, experiment=LONG):
        (self.folder / "experiment.toml").write_text(experiment)
        return subprocess.Popen(self.command("train", "experiment.toml", "-o", "out", "--quiet", *arguments),
                                cwd=self.folder, env=self.environment(), stderr=subprocess.PIPE, text=True)

    def stop(self, process, after, number):
        time.sleep(after)
        process.send_signal(number)
        message = process.communicate()[1]
        return process.returncode, message

    def begun(self, *arguments, experiment=LONG):
        """A training in its middle, then terminated."""
        process = self.start(*arguments, experiment=experiment)
        while self.steps_kept() < 20:
            time.sleep(0.005)
        code, message = self.stop(process, 0, signal.SIGTERM)
        self.assertEqual(code, TERMINATED, message)
        return message

    @program.plain_program_only
    def test_kills_lose_nothing(self):
        self.train("whole", experiment=LONG)
        expected = self.contents("whole")
        begun = time.monotonic()
        self.train("again", experiment=LONG)
        duration = time.monotonic() - begun
        random.seed(1)
        kills = 0
        while True:
            process = self.start("--threads", 1 + kills % 3)
            try:
                # Longer and longer: the machine may have become slower since.
                process.wait(random.uniform(0.1, 0.4) * duration * (1 + kills / 10))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            message = process.communicate()[1]
            if process.returncode == DONE:
                break
            self.assertEqual(process.returncode, -signal.SIGKILL, message)
            kills += 1
            self.assertLess(kills, 100)  # each gets further, though most are shorter than from checkpoint to checkpoint
        print(f"{kills} kills")
        self.assertGreater(kills, 1)
        self.assertEqual(self.contents(), expected)

    def test_signals_say_how_to_go_on(self):
        message = self.begun("--run", "adam", "--seed", 3, "--threads", 1)
        self.assertRegex(message, "the same command continues from there:\n  hesscope train experiment.toml --run adam "
                                  "--seed 3 -o out --threads 1\n$")
        kept = self.steps_kept()
        process = self.start("--run", "adam", "--seed", 3)
        while self.steps_kept() == kept:
            time.sleep(0.005)
        self.assertEqual(self.stop(process, 0, signal.SIGINT)[0], INTERRUPTED)
        for name in ("step-004000.h5", "problem.toml", "problem-more.toml"):  # the last one of a measure
            (self.folder / f"out/.{name}.tmp-1").write_text("torn")
        done = self.train("out", "--run", "adam", "--seed", 3, "--resume", "--json", experiment=LONG)
        self.assertGreater(json.loads(done.stdout)["runs"][0]["resumed_at"], kept)
        self.assertFalse([name for name in self.contents() if "tmp" in name or "unit" in name])

    def test_a_torn_state_falls_back_to_an_older_one(self):
        self.train("whole", "--run", "adam", "--seed", 3, experiment=LONG)
        self.begun("--run", "adam", "--seed", 3)
        journal = self.folder / "out/history.h5.units/state.journal"
        whole = journal.read_bytes()
        step = self.steps_kept()
        starts = range(0, len(whole), SLOT)
        newest = max(starts, key=lambda at: int.from_bytes(whole[at + 16:at + 24], "little"))
        self.assertEqual(np.frombuffer(whole, "<f8", 1, newest + HEAD)[0], step)
        self.assertGreater(step, 1)
        units = {p.name: p.read_bytes() for p in journal.parent.iterdir()}
        # The older one is of the same step if the signal came before another step was done.
        for damaged, resumed_at in (([newest], range(1, step + 1)), (starts, [0])):
            torn = bytearray(whole)
            for at in damaged:
                torn[at + SLOT // 2] ^= 1
            for path in (self.folder / "out").glob("*.h5"):
                path.unlink()
            journal.parent.mkdir(exist_ok=True)
            for name, content in {**units, journal.name: torn}.items():
                (journal.parent / name).write_bytes(content)
            done = self.train("out", "--run", "adam", "--seed", 3, "--json", experiment=LONG)
            self.assertIn(json.loads(done.stdout)["runs"][0]["resumed_at"], resumed_at)
            self.assertEqual(self.contents(), self.contents("whole"))

    def test_a_changed_experiment_is_refused_by_the_key(self):
        selected = ("--run", "adam", "--seed", 3)
        self.begun(*selected)
        changes = (("std = 0.2", "std = 0.25", "initialization"), ("batch = 70", "batch = 71", "training.batch"),
                   ("context = 5", "context = 6", "data.context"), ("samples = 40", "samples = 41", "evaluation.samples"),
                   ('rule = "adamw"', 'rule = "adamw"\nbeta1 = 0.5', "run.beta1"))
        for finished in (False, True):
            if finished:
                self.train("out", *selected, experiment=LONG)
            before = self.contents()
            for old, new, key in changes:
                self.assertIn(old, LONG)
                done = self.train("out", *selected, experiment=LONG.replace(old, new), expect=USAGE)
                self.assertIn(f"differs in '{key}'", done.stderr)
                self.assertEqual(self.contents(), before)
        shorter = EXPERIMENT.replace("checkpoint_every = 20", "checkpoint_every = 25")
        self.train("out", *selected, "--force", experiment=shorter)
        self.assertEqual({n for n in self.contents() if n.startswith("step")},
                         {f"step-{t:06d}.h5" for t in (0, 25, 50, 60)})

    def test_an_output_in_use_is_refused(self):
        (self.folder / "out").mkdir()
        with open(self.folder / "out/history.h5.lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.train("out", "--run", "adam", "--seed", 3, expect=LOCKED)
        self.train("out", "--run", "adam", "--seed", 3)
        self.assertNotIn("history.h5.lock", self.contents())


class Checkpoints(Trained):
    """Deleted and damaged ones of a training are noticed by their digests and made again, to the same bytes."""
    ADAM = ("--run", "adam", "--seed", 3)

    def damage(self):
        """Loses the first, cuts one, turns a bit of another one's numbers, and loses the one after that."""
        folder = self.folder / "out"
        (folder / "step-000000.h5").unlink()
        (folder / "step-000040.h5").write_bytes((folder / "step-000040.h5").read_bytes()[:-100])
        content = bytearray((folder / "step-000060.h5").read_bytes())
        with h5py.File(folder / "step-000060.h5") as file:
            place = bytes(content).index(file["layers.1.Q"][()].tobytes())
        content[place + 7] ^= 1
        (folder / "step-000060.h5").write_bytes(content)
        (folder / "step-000080.h5").unlink()
        return [0, 40, 60, 80]

    def experiment(self, steps=200):
        return EXPERIMENT.replace("steps = 60", f"steps = {steps}")

    def test_of_a_finished_training(self):
        self.train("whole", *self.ADAM, experiment=self.experiment())
        self.train("out", *self.ADAM, experiment=self.experiment())
        done = json.loads(self.train("out", *self.ADAM, "--json", experiment=self.experiment()).stdout)
        self.assertIs(done["done_already"], True)
        self.assertEqual(done["runs"][0]["checkpoints_made_again"], [])
        steps = self.damage()
        history = (self.folder / "out/history.h5").stat().st_mtime_ns
        done = self.train("out", *self.ADAM, "--json", experiment=self.experiment())
        document = json.loads(done.stdout)
        self.assertIs(document["done_already"], False)
        self.assertIs(document["runs"][0]["was_finished"], True)
        self.assertEqual(document["runs"][0]["checkpoints_made_again"], steps)
        for step in steps:
            self.assertIn(f"out/step-{step:06d}.h5: was missing or damaged; made again\n", done.stderr)
        self.assertEqual(self.contents(), self.contents("whole"))
        self.assertEqual((self.folder / "out/history.h5").stat().st_mtime_ns, history)

    def test_of_each_rule(self):
        text = self.experiment(60) + "".join(f'[[run]]\nname = "{rule}"\nrule = "{rule}"\nlearning_rate = 0.01\n'
                                             for rule in ("lion", "sign"))
        text = text.replace('rule = "sgd"', 'rule = "sgd"\nmomentum = 0.9')
        self.train("out", experiment=text)
        expected = self.contents()
        for path in (self.folder / "out").rglob("step-*.h5"):
            if path.name in ("step-000020.h5", "step-000060.h5"):
                path.unlink()
        self.train("out", "--threads", 3, experiment=text)
        self.assertEqual(self.contents(), expected)

    def test_of_an_interrupted_training(self):
        text = LONG.replace("checkpoint_every = 4000", "checkpoint_every = 20")
        self.train("whole", *self.ADAM, experiment=text)
        (self.folder / "experiment.toml").write_text(text)
        process = subprocess.Popen(self.command("train", "experiment.toml", "-o", "out", "--quiet", *self.ADAM),
                                   cwd=self.folder, env=self.environment(), stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (self.folder / "out/step-000200.h5").exists():
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        steps = self.damage()
        done = self.train("out", *self.ADAM, "--json", experiment=text)
        run = json.loads(done.stdout)["runs"][0]
        self.assertGreaterEqual(run["resumed_at"], 180)
        self.assertEqual(run["checkpoints_made_again"], steps)
        self.assertEqual(self.contents(), self.contents("whole"))

    def test_of_a_training_whose_journal_is_of_another(self):
        """State and history of another seed, whole, in place of its own."""
        begun = {}
        for seed in (8, 3):
            (self.folder / "experiment.toml").write_text(LONG)
            process = subprocess.Popen(self.command("train", "experiment.toml", "-o", f"seed-{seed}", "--quiet", "--run",
                                                    "adam", "--seed", str(seed)), cwd=self.folder,
                                       env=self.environment(), stderr=subprocess.PIPE, text=True)
            units = self.folder / f"seed-{seed}/history.h5.units"
            while process.poll() is None and self.steps_kept(f"seed-{seed}") < 20:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            self.assertEqual(process.returncode, -signal.SIGKILL)
            begun[seed] = units
        for name in ("state.journal", "history.journal", "checkpoints.journal"):
            (begun[3] / name).write_bytes((begun[8] / name).read_bytes())
        done = self.train("seed-3", "--run", "adam", "--seed", 3, "--json", experiment=LONG)
        run = json.loads(done.stdout)["runs"][0]
        self.assertEqual(run["resumed_at"], 0)
        self.assertIn("holds the states of another training", done.stderr)
        self.train("whole", "--run", "adam", "--seed", 3, experiment=LONG)
        self.assertEqual(self.contents("seed-3"), self.contents("whole"))

    def test_are_under_checksums(self):
        """A turned bit of a number is an error for every reader, in small tensors and in large ones."""
        text = EXPERIMENT.replace("dimension = 3", "dimension = 25").replace("steps = 60", "steps = 3")
        self.train("out", *self.ADAM, experiment=text)
        path = "out/step-000003.h5"
        for name, size in (("layers.0.P", 5000), ("optimizer.step", 8)):
            with h5py.File(self.folder / path) as file:
                self.assertEqual(file[name].nbytes, size)
                self.assertEqual(file[name].fletcher32, size > 4096)
                pattern = file[name][()].tobytes()
            content = bytearray((self.folder / path).read_bytes())
            self.assertEqual(bytes(content).count(pattern), 1)
            content[bytes(content).index(pattern)] ^= 1
            (self.folder / "bad.h5").write_bytes(content)
            with self.assertRaises((OSError, KeyError)):
                with h5py.File(self.folder / "bad.h5") as file:
                    file[name][()]
            done = self.run_program("inspect", "bad.h5")
            self.assertEqual(done.returncode, BAD_INPUT, done.stdout)

    def test_strangers_take_force_twice(self):
        (self.folder / "out").mkdir()
        for name in ("step-000000.h5", "problem.toml", "history.h5"):
            (self.folder / "out" / name).write_text("mine")
            for force in ([], ["--force"]):
                done = self.run_program("train", self.write(), "-o", "out", *self.ADAM, *force)
                self.assertIn(done.returncode, (USAGE, FAILED))
                self.assertRegex(done.stderr, f"out/{name}: .*--force --force\n$")
                self.assertEqual(self.contents(), {name: b"mine"})
            self.train("out", *self.ADAM, "--force", "--force")
            self.assertNotEqual(self.contents()[name], b"mine")
            for path in (self.folder / "out").iterdir():
                path.unlink()

    def write(self):
        (self.folder / "experiment.toml").write_text(EXPERIMENT)
        return "experiment.toml"


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
                               ("std = 0.2", "std = -1", "experiment.toml:11: 'std' must be in"),
                               ("dimension = 3", "dimension = 0", "'dimension' must be between 1"),
                               ("seeds = [3, 8]", 'trained = ["Q"]', "experiment.toml:17: no parameter is named 'Q'")):
            self.assertIn(old, EXPERIMENT)
            done = self.train(experiment=EXPERIMENT.replace(old, new), expect=USAGE)
            self.assertIn(text, done.stderr)
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
