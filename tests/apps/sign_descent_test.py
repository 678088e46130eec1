# SPDX-License-Identifier: BSD-3-Clause
"""Signs of signal and noise: the analyzer against NumPy, and monitors of a training."""
import signal
import subprocess
import time

import h5py
import numpy as np
import xarray

import program
from program import DONE, FIXTURES, USAGE

ARRAYS = ("value_noise", "query_signal", "key_signal", "query_noise", "key_noise", "softmax_11", "softmax_21")

TRAINING = """
[model]
kind = "signal-noise"
key_width = 6
value_width = 3
[data]
kind = "signal-noise"
dimension = 30
sparsity = 8
noise_std = 1.5
signal = 1.0
samples = 5
placement = "random"
[evaluation]
samples = 7
[initialization]
distribution = "normal"
std = 0.002
[training]
steps = 40
batch = 0
seeds = [3, 8]
checkpoint_every = 10
history_every = 10
history_steps = [2, 5, 10, 99]
monitors = ["alignment"]
[[run]]
name = "signgd"
rule = "sign"
learning_rate = 1e-4
"""

OTHER_MODEL = """
[model]
kind = "linear-attention"
layers = 1
[data]
kind = "linear-regression"
dimension = 3
context = 5
samples = 5
""" + TRAINING[TRAINING.index("[evaluation]"):]


def alignment_of(theta, x, y):
    """Monitored quantities of weights {WQ, WK, WV.pos, WV.neg}, from the tokens as the sampler makes them."""
    swapped = (x[:, 1, 0] != 0) & (x[:, 1, 1:] == 0).all(axis=1)
    told = (((x[:, :, 0] != 0) & (x[:, :, 1:] == 0).all(axis=2)).sum(axis=1) == 1).all()
    tokens = np.where((told & swapped)[:, None, None], x[:, ::-1], x)
    signal, noise = tokens[:, 0], tokens[:, 1] * y[:, None]
    mu = (signal * y[:, None]).mean(axis=0)
    v = theta["WV.pos"].mean(axis=0) - theta["WV.neg"].mean(axis=0)
    scores = np.einsum("iad,md,me,ibe->iab", tokens, theta["WQ"], theta["WK"], tokens)
    weights = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
    found = {"value_signal": v @ mu, "value_noise": noise @ v, "query_signal": theta["WQ"] @ mu,
             "key_signal": theta["WK"] @ mu, "query_noise": theta["WQ"] @ noise.T, "key_noise": theta["WK"] @ noise.T,
             "softmax_11": weights[:, 0, 0], "softmax_21": weights[:, 1, 0]}
    found["aligned"] = np.mean(np.sign(found["query_noise"]) == np.sign(found["key_noise"]))
    found["positive_value_noise"] = np.mean(found["value_noise"] > 0)
    for name in ("value_noise", "softmax_11", "softmax_21"):
        found["mean_" + name] = found[name].mean()
    query = np.sign(found["query_signal"]) == np.sign(found["key_noise"].sum(axis=1))
    key = np.sign(found["key_signal"]) == -np.sign(found["query_noise"].sum(axis=1))
    found.update(query_majority=query.mean(), key_majority=key.mean(), majority=(query & key).mean())
    for of in ("query", "key"):
        turned = np.sign(found["query_signal"])[:, None] * found[of + "_noise"]
        found[f"positive_{of}_noise"] = np.mean(turned > 0)
        found[f"lowest_{of}_noise"] = turned.min()
        found[f"negative_{of}_noise"] = turned[turned < 0].mean() if (turned < 0).any() else np.nan
    return found


class Alignment(program.Case):
    def test_agrees_with_numpy_at_golden_weights(self):
        folder = FIXTURES / "signal-noise"
        for checkpoint in ("step-000000.npz", "step-000000.h5"):
            self.analyze(folder / checkpoint, "--only", "alignment", "--force", problem=folder / "problem.toml")
        with np.load(folder / "step-000000.npz") as weights, np.load(folder / "eval.npz") as data:
            expected = alignment_of(weights, data["inputs"], data["target"])
        found = xarray.load_dataset(self.folder / "out.h5", group="alignment", engine="netcdf4")
        self.assertEqual({name for name in found.data_vars if not name.endswith("_status")}, set(expected))
        for name, value in expected.items():
            np.testing.assert_allclose(found[name][0], value, rtol=1e-12, atol=1e-13, err_msg=name)
            self.assertEqual(found[name].shape[1:], np.shape(value))
            self.assertTrue(found[name].attrs["long_name"] and found[name].attrs["definition"])

    def test_is_of_no_other_model(self):
        self.analyze(program.checkpoint(0), "--only", "alignment", expect=USAGE)
        (self.folder / "experiment.toml").write_text(OTHER_MODEL)
        self.refuses(USAGE, ["train", "experiment.toml", "-o", "out"], "experiment.toml:", "'alignment'",
                     "of the model 'signal-noise'")


class Trained(program.Case):
    def train(self, *arguments, text=TRAINING, output="out", expect=DONE):
        (self.folder / "experiment.toml").write_text(text)
        done = self.run_program("train", "experiment.toml", "-o", output, *arguments)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def weights(self, folder, step):
        with h5py.File(self.folder / folder / f"step-{step:06d}.h5") as file:
            return {name: file[name][()] for name in ("WQ", "WK", "WV.pos", "WV.neg")}

    def contents(self, output):
        return {str(p.relative_to(self.folder / output)): p.read_bytes()
                for p in (self.folder / output).rglob("*") if p.is_file() and not p.name.endswith(".lock")}


class Monitors(Trained):
    STEPS = (0, 2, 5, 10, 20, 30, 40)

    def test_look_at_the_training_set(self):
        """What they say of xi fits the steps that sign descent made from it."""
        self.train()
        for seed in (3, 8):
            folder = f"out/signgd/seed-{seed}"
            history = xarray.load_dataset(self.folder / folder / "history.h5", engine="netcdf4")
            found = xarray.load_dataset(self.folder / folder / "history.h5", group="alignment", engine="netcdf4")
            np.testing.assert_array_equal(history.step, self.STEPS)
            self.assertEqual(found.query_noise.shape, (len(self.STEPS), 6, 5))
            self.assertNotIn("aligned_status", found)
            np.testing.assert_array_equal(found.step, self.STEPS)
            # A coordinate moves in the first step where, and only where, a sample has noise or signal.
            first, last = self.weights(folder, 0), self.weights(folder, 40)
            moved = np.flatnonzero((first["WV.pos"] != last["WV.pos"]).any(axis=0))
            self.assertEqual(moved[0], 0)
            self.assertGreater(len(moved), 8)
            # <w, mu> with mu = e_1 is the first column; <w, y xi> lies in the span of the others that move.
            for name, block in (("query", "WQ"), ("key", "WK")):
                for step in (0, 10, 40):
                    row = self.STEPS.index(step)
                    w = self.weights(folder, step)[block]
                    np.testing.assert_allclose(found[name + "_signal"][row], w[:, 0], rtol=1e-13)
            xi = [np.linalg.lstsq(np.vstack([self.weights(folder, t)[b][:, moved[1:]] for t in (0, 10, 20, 30, 40)
                                             for b in ("WQ", "WK")]),
                                  np.concatenate([found[n][self.STEPS.index(t), :, i] for t in (0, 10, 20, 30, 40)
                                                  for n in ("query_noise", "key_noise")]), rcond=None)[0]
                  for i in range(5)]
            sizes = [(np.abs(noise) > 1e-6).sum() for noise in xi]
            self.assertEqual(sizes, [8] * 5)
            # These tokens, of the signs y xi, give the training loss and all else.
            x = np.zeros((5, 2, 30))
            x[:, 0, 0] = 1
            x[:, 1, moved[1:]] = xi
            for step in (0, 10, 20, 30, 40):
                row = self.STEPS.index(step)
                weights = self.weights(folder, step)
                expected = alignment_of(weights, x, np.ones(5))
                for name, value in expected.items():
                    np.testing.assert_allclose(found[name][row], value, rtol=1e-6, atol=1e-9, err_msg=name)
                a, b = expected["softmax_11"], expected["softmax_21"]
                f = (a + b) * expected["value_signal"] + (2 - a - b) * expected["value_noise"]
                np.testing.assert_allclose(history.training_loss[row], np.log1p(np.exp(-f)).mean(), rtol=1e-8)
        # The loss of the update after step 9 is the training loss before it.
        self.assertLess(abs(float(history.batch_loss[3] / history.training_loss[3]) - 1), 0.02)

    def test_say_what_an_analysis_says(self):
        """Of the same samples: a fixed set with a seed is that of a problem file."""
        text = TRAINING.replace("samples = 5", "samples = 5\nseed = 4").replace("samples = 7", "samples = 5\nseed = 4")
        text = text.replace('["alignment"]', '["alignment", "hessian", "condition"]').replace("[3, 8]", "[3]")
        self.train(text=text.replace("dimension = 30", "dimension = 9"))
        self.run_program("analyze", "out", "--problem", "out/problem.toml", "-o", "all.h5", "--only",
                         "alignment,hessian,condition", "--threads", 1)
        monitored = xarray.load_dataset(self.folder / "out/history.h5", engine="netcdf4")
        rows = [monitored.step.values.tolist().index(step) for step in (0, 10, 20, 30, 40)]
        analyzed = xarray.load_dataset(self.folder / "all.h5", engine="netcdf4")
        np.testing.assert_array_equal(monitored.loss[rows], analyzed.loss)
        np.testing.assert_array_equal(monitored.loss, monitored.training_loss)
        for group in ("alignment", "hessian", "condition"):
            ours = xarray.load_dataset(self.folder / "out/history.h5", group=group, engine="netcdf4").isel(step=rows)
            theirs = xarray.load_dataset(self.folder / "all.h5", group=group, engine="netcdf4")
            self.assertEqual(set(ours.data_vars), set(theirs.data_vars))
            for name in ours.data_vars:
                np.testing.assert_array_equal(ours[name], theirs[name], err_msg=f"{group}/{name}")

    @program.plain_program_only
    def test_do_not_depend_on_threads_and_survive_kills(self):
        self.train("--threads", 1, output="one")
        self.train("--threads", 2, output="two")
        whole = self.contents("one")
        self.assertEqual(self.contents("two"), whole)
        long = TRAINING.replace("steps = 40", "steps = 2000").replace("_every = 10", "_every = 100")
        start = time.monotonic()
        self.train(text=long, output="whole")
        duration = time.monotonic() - start
        killed = 0
        for part in (0.15, 0.3, 0.5):
            process = subprocess.Popen(self.command("train", "experiment.toml", "-o", "killed"), cwd=self.folder,
                                       env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                process.communicate(timeout=part * duration)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                killed += 1
        self.assertGreater(killed, 0)
        self.train(text=long, output="killed")
        found, whole = self.contents("killed"), self.contents("whole")
        self.assertEqual(set(found), set(whole))
        self.assertEqual([path for path in whole if found[path] != whole[path]], [])

    def test_are_analyzers(self):
        done = self.train(text=TRAINING.replace('["alignment"]', '["alinment"]'), expect=USAGE)
        self.assertRegex(done.stderr, r"experiment\.toml:\d+: unknown analyzer 'alinment'")
        self.assertIn("did you mean 'alignment'?", done.stderr)
        done = self.train(text=TRAINING.replace('["alignment"]', '["alignment", "alignment"]'), expect=USAGE)
        self.assertIn("'monitors' names 'alignment' twice", done.stderr)
        self.train()
        done = self.train(text=TRAINING.replace('["alignment"]', '["alignment", "ggn"]'), expect=USAGE)
        self.assertIn("training.monitors", done.stderr)


if __name__ == "__main__":
    program.main()
