# SPDX-License-Identifier: BSD-3-Clause
"""The edge of stability as a training sees it: monitor `edge` against NumPy's own optimisers on a quadratic loss."""
import csv
import json
import signal
import subprocess
import time
from xml.etree import ElementTree

import h5py
import numpy as np

import program
from program import DONE, INCONCLUSIVE, USAGE

SAMPLES, INPUTS, OUTPUTS, STEPS = 12, 3, 2, 8
NOT_COMPUTED, ZERO_DENOMINATOR, NOT_STORED = 1, 6, 9
# name -> rule and its keys, and the largest stable learning_rate * lambda_max(P^-1 H)
RULES = {"gd": ('rule = "gd"', 2),
         "heavy": ('rule = "sgd"\nmomentum = 0.8', 3.6),
         "dampened": ('rule = "sgd"\nmomentum = 0.8\ndampening = 0.5', 7.2),
         "nesterov": ('rule = "sgd"\nmomentum = 0.8\nnesterov = true', 3.6 / 2.6),
         "adam": ('rule = "adam"\nbeta1 = 0.6\nbeta2 = 0.9\nepsilon = 1e-3', 3.2 / 0.4),
         "sign": ('rule = "sign"', None)}


def experiment(rules, rate=0.1, steps=STEPS, every=1, monitors='monitors = ["edge"]', more=""):
    runs = "".join(f'[[run]]\nname = "{name}"\n{RULES[name][0]}\nlearning_rate = {rate}\n' for name in rules)
    return f"""[model]
kind = "mlp"
activation = "identity"
loss = "mse"
hidden = ""
[data]
file = "data.npz"
[evaluation]
file = "data.npz"
[initialization]
distribution = "normal"
std = 1
[training]
steps = {steps}
batch = 0
checkpoint_every = 1
history_every = {every}
{monitors}
{more}
{runs}"""


class Quadratic:
    """Linear regression: the loss as PyTorch's MSELoss has it, a mean over entries of the target."""

    def __init__(self):
        random = np.random.default_rng(2)
        self.x = random.normal(size=(SAMPLES, INPUTS)) * [2.0, 1.0, 0.5]
        self.y = random.normal(size=(SAMPLES, OUTPUTS))
        inputs = np.hstack([self.x, np.ones((SAMPLES, 1))])
        of_row = 2 * inputs.T @ inputs / SAMPLES / OUTPUTS
        # By weight (row by row), then bias.
        n = OUTPUTS * (INPUTS + 1)
        self.hessian = np.zeros((n, n))
        for k in range(OUTPUTS):
            places = [*range(k * INPUTS, (k + 1) * INPUTS), OUTPUTS * INPUTS + k]
            self.hessian[np.ix_(places, places)] = of_row

    def gradient(self, theta):
        weight, bias = theta[:OUTPUTS * INPUTS].reshape(OUTPUTS, INPUTS), theta[OUTPUTS * INPUTS:]
        error = 2 * (self.x @ weight.T + bias - self.y) / SAMPLES / OUTPUTS
        return np.concatenate([(error.T @ self.x).ravel(), error.sum(axis=0)])


class Rule:
    """An update rule of RULES, by its definition."""

    def __init__(self, name, n):
        self.name, self.m, self.v, self.t = name, np.zeros(n), np.zeros(n), 0

    def update(self, g):
        self.t += 1
        if self.name == "gd":
            return -g
        if self.name == "adam":
            self.m = 0.6 * self.m + 0.4 * g
            self.v = 0.9 * self.v + 0.1 * g**2
            return -self.m / (1 - 0.6**self.t) / (np.sqrt(self.v / (1 - 0.9**self.t)) + 1e-3)
        self.m = g if self.t == 1 else 0.8 * self.m + (0.5 if self.name == "dampened" else 1) * g
        return -(g + 0.8 * self.m) if self.name == "nesterov" else -self.m

    def preconditioner(self):
        if self.name != "adam":
            return np.ones_like(self.m)
        return (1 - 0.6**self.t) * (np.sqrt(self.v / (1 - 0.9**self.t)) + 1e-3)


class Edge(program.Case):
    def setUp(self):
        super().setUp()
        self.loss = Quadratic()
        np.savez(self.folder / "data.npz", inputs=self.loss.x, target=self.loss.y)

    def train(self, text, *options, output="out", expect=DONE):
        (self.folder / "experiment.toml").write_text(text)
        done = self.run_program("train", "experiment.toml", "-o", output, *options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def edge(self, folder):
        with h5py.File(self.folder / folder / "history.h5") as file:
            return {name: item[()] for name, item in file["edge"].items()}

    def start(self, folder):
        with h5py.File(self.folder / folder / "step-000000.h5") as file:
            return np.concatenate([file["layers.0.weight"][()].ravel(), file["layers.0.bias"][()]])

    def test_is_that_of_the_rule_at_every_row(self):
        rules = [name for name in RULES if name != "sign"]
        self.train(experiment(rules))
        h = self.loss.hessian
        for name in rules:
            with self.subTest(rule=name):
                found = self.edge(f"out/{name}/seed-0")
                theta, rule = self.start(f"out/{name}/seed-0"), Rule(name, len(h))
                np.testing.assert_allclose(found["sharpness"], np.linalg.eigvalsh(h)[-1], rtol=1e-12)
                for row in range(STEPS + 1):
                    g = self.loss.gradient(theta)
                    self.assertAlmostEqual(found["gradient_curvature"][row], g @ h @ g / (g @ g), delta=1e-9)
                    if name != "adam" or row > 0:
                        p = rule.preconditioner()
                        wanted = np.linalg.eigvalsh(h / np.sqrt(np.outer(p, p)))[-1]
                        np.testing.assert_allclose(found["preconditioned_sharpness"][row], wanted, rtol=1e-9)
                        np.testing.assert_allclose(found["threshold"][row], RULES[name][1] / 0.1, rtol=1e-13)
                        np.testing.assert_allclose(found["ratio"][row], wanted * 0.1 / RULES[name][1], rtol=1e-9)
                    u = rule.update(g)
                    self.assertAlmostEqual(found["update_curvature"][row], u @ h @ u / (u @ u), delta=1e-9)
                    theta = theta + 0.1 * u
                self.assertTrue((found["sharpness_error"] <= 1e-10 * found["sharpness"]).all())
        first = self.edge("out/adam/seed-0")  # before its first step Adam has no moments
        self.assertEqual(first["preconditioned_sharpness_status"][0], NOT_STORED)
        self.assertTrue(np.isnan(first["preconditioned_sharpness"][0]))

    def test_of_a_rule_without_a_preconditioner_is_the_sharpness_alone(self):
        self.train(experiment(["sign"]))
        found = self.edge("out")
        self.assertTrue((found["preconditioned_sharpness_status"] == NOT_STORED).all())
        self.assertTrue((found["threshold_status"] == NOT_STORED).all())
        self.assertTrue(np.isfinite(found["sharpness"]).all() and np.isfinite(found["update_curvature"]).all())

    def test_a_ratio_above_1_diverges_and_one_below_does_not(self):
        top = np.linalg.eigvalsh(self.loss.hessian)[-1]
        for name in ("gd", "heavy", "dampened", "nesterov"):
            for ratio in (0.99, 1.01):
                with self.subTest(rule=name, ratio=ratio):
                    output = f"{name}-{ratio}"
                    self.train(experiment([name], rate=repr(ratio * RULES[name][1] / top), steps=4000, every=4000)
                               .replace("checkpoint_every = 1", "checkpoint_every = 0"), output=output,
                               expect=DONE if ratio < 1 else INCONCLUSIVE)
                    found = self.edge(output)
                    np.testing.assert_allclose(found["ratio"], ratio, rtol=1e-9)
                    with h5py.File(self.folder / output / "history.h5") as file:
                        norm = file["gradient_norm"][()]
                        self.assertEqual(file.attrs["has_diverged"], ratio > 1)
                    self.assertEqual(norm[-1] > norm[0], ratio > 1)

    def test_where_a_training_has_ended_there_is_no_direction(self):
        top = np.linalg.eigvalsh(self.loss.hessian)[-1]
        monitors = 'monitors = ["edge", "smoothness", "norm-sharpness"]'
        self.train(experiment(["gd"], rate=repr(1 / top), steps=20000, every=20000, monitors=monitors)
                   .replace("checkpoint_every = 1", "checkpoint_every = 0"))
        with h5py.File(self.folder / "out/history.h5") as file:
            for name in ("edge/gradient_curvature", "edge/update_curvature", "smoothness/directional_smoothness",
                         "smoothness/secant_smoothness", "norm-sharpness/update_curvature_within"):
                self.assertEqual(file[name + "_status"][()].tolist(), [0, ZERO_DENOMINATOR], name)
                self.assertEqual(np.isnan(file[name][()]).tolist(), [False, True], name)

    def test_monitors_take_the_options_of_analyzers(self):
        monitors = 'monitors = ["edge", "stability"]'
        text = experiment(["gd"], monitors=monitors) + '[monitors]\nbatch-sharpness = "1,5"\n'
        self.train(text)
        with h5py.File(self.folder / "out/history.h5") as file:
            found = file["stability/batch_sharpness"][()]
            ratio = file["stability/batch_sharpness_ratio"][()]
        self.assertEqual(found.shape, (STEPS + 1, 2))
        # As at checkpoints.
        done = self.run_program("analyze", "out", "--problem", "out/problem.toml", "--batch-sharpness", "1,5", "-o",
                                "analysis.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "analysis.h5") as file:
            np.testing.assert_allclose(found, file["stability/batch_sharpness"][()], rtol=1e-12)
        np.testing.assert_allclose(ratio, found * 0.1 / 2, rtol=1e-12)
        # A single sample's: E g' H_i g over E |g|^2, each sample with its own Hessian.
        theta = self.start("out")
        x, y = np.hstack([self.loss.x, np.ones((SAMPLES, 1))]), self.loss.y
        curvatures, squares = 0, 0
        weights = np.hstack([theta[:OUTPUTS * INPUTS].reshape(OUTPUTS, INPUTS), theta[OUTPUTS * INPUTS:, None]])
        for row, target in zip(x, y):
            g = 2 / OUTPUTS * np.outer(weights @ row - target, row)
            curvatures += 2 / OUTPUTS * ((g @ row)**2).sum()
            squares += (g**2).sum()
        np.testing.assert_allclose(found[0, 0], curvatures / squares, rtol=1e-10)
        # Another option is another training; none that there is not.
        done = self.train(text.replace("1,5", "1,6"), expect=USAGE)
        self.assertIn("monitors.batch-sharpness", done.stderr)
        for wrong, named in (("hvp = 1", "unknown key 'hvp' in [monitors]; it takes preconditioner, "),
                             ("second-moments = 'recomputed'",
                              "'second-moments' in [monitors] goes with 'preconditioner' adam or stored alone"),
                             ("batch-size = 7", "'batch-size' in [monitors] goes with 'second-moments' recomputed alone"),
                             ("beta1 = 2", "'beta1' must be from 0 to "),
                             ("batch-sharpness = [1]", "'batch-sharpness' in [monitors]")):
            done = self.train(text.replace('batch-sharpness = "1,5"', wrong), output="other", expect=USAGE)
            self.assertRegex(done.stderr, "experiment.toml:[0-9]+: ")
            self.assertIn(named, done.stderr)
        done = self.train(text.replace(', "stability"', ""), output="other", expect=USAGE)
        self.assertIn("'batch-sharpness' in [monitors]: edge has no options", done.stderr)
        done = self.train(text.replace(monitors, ""), output="other", expect=USAGE)
        self.assertIn("it needs 'monitors' in [training]", done.stderr)

    def test_a_history_is_a_table(self):
        self.train(experiment(["gd"]))
        done = self.run_program("export", "out/history.h5", "-o", "history.csv")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with (self.folder / "history.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["step"]) for row in rows], list(range(STEPS + 1)))
        self.assertFalse([name for name in rows[0] if "sha256" in name])
        with h5py.File(self.folder / "out/history.h5") as file:
            for name in ("loss", "gradient_norm", "edge/sharpness", "edge/ratio", "edge/update_curvature"):
                np.testing.assert_array_equal([float(row[name]) for row in rows], file[name][()], err_msg=name)

    def test_what_is_not_trained_is_not_seen(self):
        self.train(experiment(["gd"], more='trained = ["*.bias"]'))
        found = self.edge("out")
        bias = self.loss.hessian[OUTPUTS * INPUTS:, OUTPUTS * INPUTS:]
        np.testing.assert_allclose(found["preconditioned_sharpness"], np.linalg.eigvalsh(bias)[-1], rtol=1e-12)
        self.assertTrue((found["sharpness"] > found["preconditioned_sharpness"]).all())

    def test_the_curvature_of_all_is_not_compared_with_the_rate_of_some(self):
        monitors = 'monitors = ["stability", "sharpening"]'
        names = {"stability": ("gd_threshold", "gd_ratio", "momentum_threshold", "momentum_ratio",
                               "batch_sharpness_ratio"),
                 "sharpening": ("gap_to_edge",)}
        warnings = ("'trained' leaves parameters out", "does not train all parameters")
        for trained, computed in (('trained = ["*.bias"]', False), ('trained = ["*"]', True)):
            text = experiment(["gd"], monitors=monitors, more=trained) + '[monitors]\nbatch-sharpness = "1"\n'
            said = self.train(text, "--force").stderr
            analyzed = self.run_program("analyze", "out", "--problem", "out/problem.toml", "--only",
                                        "stability,sharpening", "--batch-sharpness", "1", "-o", "analysis.h5", "--force")
            self.assertEqual(analyzed.returncode, DONE, analyzed.stderr)
            for output, warning in zip((said, analyzed.stderr), warnings):
                self.assertEqual(output.count(warning), 0 if computed else 1, output)
            for path in ("out/history.h5", "analysis.h5"):
                with h5py.File(self.folder / path) as file:
                    self.assertEqual(set(program.statuses(file["stability"], "batch_sharpness").ravel()), {0})
                    for group in names:
                        for name in names[group]:
                            found = set(program.statuses(file[group], name).ravel())
                            self.assertEqual(NOT_COMPUTED not in found, computed, (path, name))
                            if not computed:
                                self.assertEqual(found, {NOT_COMPUTED}, (path, name))
                                self.assertTrue(np.isnan(file[group][name][()]).all(), (path, name))

    def analyzed(self, *options, expect=DONE):
        """The groups of an analysis of checkpoints, and what it warns of."""
        done = self.run_program("analyze", *options, "-o", "analysis.h5", "--force")
        self.assertEqual(done.returncode, expect, done.stderr)
        with h5py.File(self.folder / "analysis.h5") as file:
            return {name: {key: item[()] for key, item in file[name].items()}
                    for name in ("stability", "edge", "sharpening") if name in file}, done.stderr

    def test_checkpoints_tell_what_the_run_knew(self):
        for trained in ("", 'trained = ["*.bias"]'):
            self.train(experiment(RULES, more=trained), "--force")
            for name in RULES:
                with self.subTest(rule=name, trained=trained):
                    folder = f"out/{name}/seed-0"
                    found, said = self.analyzed(folder, "--problem", f"{folder}/problem.toml", "--preconditioner",
                                                "stored", "--only", "edge,sharpening")
                    self.assertNotIn("assumed", said)
                    known = self.edge(folder)
                    # NaN where it is NaN: before Adam's first step, and of a rule that has no threshold.
                    for key in ("sharpness", "preconditioned_sharpness", "threshold", "ratio", "gradient_curvature"):
                        np.testing.assert_allclose(found["edge"][key], known[key], rtol=1e-12, err_msg=key)
                    np.testing.assert_allclose(found["stability"]["lambda_max_preconditioned"],
                                               known["preconditioned_sharpness"], rtol=1e-12)
                    np.testing.assert_allclose(found["stability"]["learning_rate"], 0.1)
                    gap = found["sharpening"]["gap_to_edge"][:, 0]
                    if trained:  # its curvature is not that of all parameters
                        self.assertTrue(np.isnan(gap).all())
                    else:
                        np.testing.assert_allclose(gap, 20 - known["sharpness"], rtol=1e-9)

    def test_what_is_given_counts_for_every_analyzer(self):
        self.train(experiment(["adam"]))
        known = self.edge("out")
        found, _ = self.analyzed("out", "--problem", "out/problem.toml", "--only", "edge,sharpening",
                                 "--preconditioner", "stored", "--learning-rate", "0.05", "--beta1", "0.2")
        scale = 0.8 / (1 - 0.2**np.arange(1, STEPS + 1)) * (1 - 0.6**np.arange(1, STEPS + 1)) / 0.8
        for name, key in (("edge", "preconditioned_sharpness"), ("stability", "lambda_max_preconditioned")):
            np.testing.assert_allclose(found[name][key][1:], known["preconditioned_sharpness"][1:] * scale, rtol=1e-10)
        np.testing.assert_allclose(found["edge"]["threshold"][1:], 2.4 / 0.8 / 0.05, rtol=1e-13)
        np.testing.assert_allclose(found["sharpening"]["gap_to_edge"][:, 0], 40 - known["sharpness"], rtol=1e-9)

    def test_decays_that_nobody_says_are_assumed_aloud(self):
        self.train(experiment(["adam"]))
        with h5py.File(self.folder / f"out/step-{STEPS:06d}.h5") as file:
            arrays = {key: item[()] for key, item in file.items() if "param_groups" not in key}
        np.savez(self.folder / "bare.npz", **arrays)
        bare = ("bare.npz", "--problem", "out/problem.toml", "--only", "edge")
        found, said = self.analyzed(*bare)
        self.assertIn("bare.npz: beta1 0.9 and beta2 0.999 are assumed", said)
        found, said = self.analyzed(*bare, "--beta2", "0.9")
        self.assertIn("bare.npz: beta1 0.9 is assumed", said)
        found, said = self.analyzed(*bare, "--beta2", "0.9", "--beta1", "0.6", "--epsilon", "1e-3")
        self.assertNotIn("assumed", said)
        np.testing.assert_allclose(found["edge"]["preconditioned_sharpness"],
                                   self.edge("out")["preconditioned_sharpness"][-1], rtol=1e-12)

    def test_a_checkpoint_tells_what_was_trained(self):
        text = experiment(["adam"], more='trained = ["*.bias"]')
        self.train(text)
        path = self.folder / f"out/step-{STEPS:06d}.h5"
        with h5py.File(path) as file:
            self.assertNotIn("optimizer.exp_avg_sq.layers.0.weight", file)
        written = path.read_bytes()
        path.unlink()  # to be made again from the one before
        self.train(text)
        self.assertEqual(path.read_bytes(), written)
        done = self.run_program("analyze", path, "--problem", "out/problem.toml", "--only", "stability",
                                "--preconditioner", "stored", "-o", "analysis.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "analysis.h5") as file:
            p = file["stability/preconditioner"][0]
            sharpness = file["stability/lambda_max_preconditioned"][0]
        self.assertTrue(np.isinf(p[:OUTPUTS * INPUTS]).all() and np.isfinite(p[OUTPUTS * INPUTS:]).all())
        np.testing.assert_allclose(sharpness, self.edge("out")["preconditioned_sharpness"][-1], rtol=1e-12)

    def test_any_analyzer_is_a_monitor(self):
        listed = json.loads(self.run_program("inspect", "--quantities", "--json").stdout)["groups"]
        others = ("attention-terms", "alignment", "population")  # of other models, and of new samples
        for name in [group["name"] for group in listed if group["question"] and group["name"] not in others]:
            with self.subTest(name):
                self.train(experiment(["gd"], steps=2, monitors=f'monitors = ["{name}"]'), output=name)
                with h5py.File(self.folder / name / "history.h5") as file:
                    self.assertIn(name, file)
                    self.assertEqual(file["parameter_name"].asstr()[:].tolist(), ["layers.0.weight", "layers.0.bias"])
                    np.testing.assert_array_equal(file["parameter_offset"], [0, INPUTS * OUTPUTS])
                self.assertEqual(self.run_program("inspect", f"{name}/history.h5").returncode, DONE)

    def test_what_a_monitor_cannot_do_is_refused_before_the_run(self):
        for monitors, mention in (('["population"]', "population draws new samples, and a monitor looks at those"),
                                  ('["spectrum"]\n[monitors]\nprove = "full"', "`prove` full goes with `method` distributed"),
                                  ('["noise"]\n[monitors]\nnoise-sampling = "fresh"', "fresh draws new samples"),
                                  ('["stability"]\n[monitors]\nbatch-sharpness = "100000"', "cannot be had from")):
            with self.subTest(monitors):
                text = experiment(["gd"], steps=2, monitors="monitors = " + monitors.split("\n")[0])
                text += "\n" + "\n".join(monitors.split("\n")[1:]) + "\n"
                done = self.train(text, output="refused", expect=USAGE)
                self.assertIn(mention, done.stderr)
                self.assertFalse((self.folder / "refused").exists())

    def test_a_monitor_does_not_follow_rules_with_a_memory(self):
        self.train(experiment(["gd"], steps=3, monitors='monitors = ["smoothness"]'))
        with h5py.File(self.folder / "out/history.h5") as file:
            group = file["smoothness"]
            rules = group["rule"].asstr()[:].tolist()
            for name in ("directional_sharpness", "directional_sharpness_relative", "directional_slope"):
                with self.subTest(name):
                    there = np.isfinite(group[name][:])
                    for rule in rules:
                        self.assertEqual(there[:, rules.index(rule)].tolist(), [rule in ("sgd", "sign")] * 4, rule)
                    self.assertEqual(set(program.statuses(group, name)), {NOT_COMPUTED})

    def test_memory_of_monitors_is_foreseen(self):
        def foreseen(*options):
            self.train(experiment(["gd"], monitors="").replace('hidden = ""', 'hidden = "200"'), "--dry-run")
            done = self.run_program("train", "experiment.toml", "-o", "out", "--dry-run", "--json", *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            return json.loads(done.stdout)["peak_memory_bytes"]

        n = 200 * (INPUTS + 1) + OUTPUTS * 201
        self.assertGreaterEqual(foreseen("--monitor", "edge") - foreseen(), 3 * 8 * n**2)

    def test_may_be_asked_for_on_the_command_line(self):
        self.train(experiment(["adam"]), output="file")
        self.train(experiment(["adam"], monitors=""), "--monitor", "edge", output="option")
        one, other = self.edge("file"), self.edge("option")
        self.assertEqual(set(one), set(other))
        for name in one:
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)
        # Those of the file stay, and are looked at once.
        self.train(experiment(["adam"]), "--monitor", "edge,condition", output="both")
        with h5py.File(self.folder / "both/history.h5") as file:
            self.assertLessEqual({"edge", "condition"}, set(file))
        self.refuses(USAGE, ("train", "experiment.toml", "-o", "no", "--monitor", "egde"),
                     "unknown analyzer 'egde'", "did you mean 'edge'?")

    def test_survives_kills_and_does_not_depend_on_threads(self):
        text = experiment(["adam"], steps=10000, every=50).replace("checkpoint_every = 1", "checkpoint_every = 0")
        self.train(text, "--threads", 1, output="whole")
        begun = time.monotonic()
        self.train(text, "--threads", 2, output="two")
        duration = time.monotonic() - begun
        killed = 0
        for delay in (0.0, 0.1 * duration, 0.3 * duration):
            process = subprocess.Popen(self.command("train", "experiment.toml", "-o", "killed"), cwd=self.folder,
                                       env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and not (self.folder / "killed/history.h5.units").exists():
                time.sleep(0.005)
            time.sleep(delay)
            killed += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.communicate()
        self.assertGreater(killed, 0)
        self.train(text, output="killed")
        whole = (self.folder / "whole/history.h5").read_bytes()
        self.assertEqual((self.folder / "killed/history.h5").read_bytes(), whole)
        self.assertEqual((self.folder / "two/history.h5").read_bytes(), whole)

    def test_of_checkpoints_is_that_of_the_training(self):
        self.train(experiment(["gd"]))
        self.analyze("out", "--only", "edge", problem="out/problem.toml")
        history = self.edge("out")
        with h5py.File(self.folder / "out.h5") as file:
            for name in ("sharpness", "gradient_curvature"):
                np.testing.assert_allclose(file["edge"][name][()], history[name], rtol=1e-12, err_msg=name)
            np.testing.assert_allclose(file["edge/update_curvature"][:-1], history["update_curvature"][:-1], rtol=1e-6)
            self.assertTrue(np.isnan(file["edge/update_curvature"][-1]))

    def test_is_drawn_with_its_threshold(self):
        self.train(experiment(["adam"]))
        done = self.run_program("plot", "out/history.h5", "--figure", "edge", "-o", "out.svg")
        self.assertEqual(done.returncode, DONE, done.stderr)
        root = ElementTree.parse(self.folder / "out.svg").getroot()
        labels = {g.get("data-label") for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "line"}
        self.assertEqual(labels, {"sharpness", "preconditioned sharpness", "along the gradient", "along the update",
                                  "largest stable"})

    def test_is_a_figure_of_an_experiment_with_its_limit(self):
        text = '[experiment]\nname = "tiny"\n' + experiment(["gd", "adam"]) + """
[[figure]]
name = "edge"
kind = "curves"
quantity = "edge/preconditioned_sharpness"
limit = "edge/threshold"
y_scale = "linear"
"""
        (self.folder / "tiny.toml").write_text(text)
        done = self.run_program("reproduce", "tiny.toml", "-o", "out")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "out/tiny/figures/edge.h5") as file:
            limit, value = file["limit"][()], file["value"][()]
        np.testing.assert_allclose(limit[0, 0], RULES["gd"][1] / 0.1, rtol=1e-13)
        np.testing.assert_allclose(limit[0, 1, :, 1:], RULES["adam"][1] / 0.1, rtol=1e-13)
        np.testing.assert_allclose(value[0, 0], np.linalg.eigvalsh(self.loss.hessian)[-1], rtol=1e-12)
        root = ElementTree.parse(self.folder / "out/tiny/figures/edge.svg").getroot()
        lines = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "line"]
        self.assertEqual(len(lines), 4)
        (self.folder / "tiny.toml").write_text(text.replace("edge/threshold", "edge/treshold"))
        self.refuses(USAGE, ("reproduce", "tiny.toml", "-o", "no"), "tiny.toml:", "did you mean 'threshold'?")


if __name__ == "__main__":
    program.main()
