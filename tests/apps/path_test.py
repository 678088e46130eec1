# SPDX-License-Identifier: BSD-3-Clause
"""Paths between checkpoints: copies of one network come back onto it, losses and the pass by NumPy and by another
analysis, the same bytes after any interruption."""
import csv
import json
import re
import signal
import subprocess
import time

import h5py
import numpy as np

import program
from program import DATA, DONE, FIXTURES, INCONCLUSIVE, PROBLEM, USAGE, checkpoint

MLP = FIXTURES / "mlp-spirals-tanh"
DIGITS = program.SOURCE / "data" / "digits"


def read_arrays(path):
    with np.load(path) as file:
        return {name: file[name].astype(np.float64) for name in file.files}


def mlp_logits(weights, data):
    layers = len(weights) // 2
    hidden = data["inputs"].astype(np.float64)
    for i in range(layers):
        hidden = hidden @ weights[f"layers.{i}.weight"].T + weights[f"layers.{i}.bias"]
        if i < layers - 1:
            hidden = np.tanh(hidden)
    return hidden


def mlp_loss(weights, data):
    hidden = mlp_logits(weights, data)
    top = hidden.max(axis=1, keepdims=True)
    logs = top[:, 0] + np.log(np.exp(hidden - top).sum(axis=1))
    return np.mean(logs - hidden[np.arange(len(hidden)), data["target"].astype(int)])


def flat(weights, names):
    return np.concatenate([weights[name].ravel() for name in names])


def unflat(theta, like, names):
    parts, offset = {}, 0
    for name in names:
        parts[name] = theta[offset:offset + like[name].size].reshape(like[name].shape)
        offset += like[name].size
    return parts


def shuffled_mlp(weights, seed):
    """The same function of the inputs: hidden units in other places, half of them with the other sign."""
    random = np.random.default_rng(seed)
    copy = {name: value.copy() for name, value in weights.items()}
    for i in range(len(weights) // 2 - 1):
        size = len(copy[f"layers.{i}.bias"])
        order, signs = random.permutation(size), random.choice([-1.0, 1.0], size)
        copy[f"layers.{i}.weight"] = (signs[:, None] * copy[f"layers.{i}.weight"])[order]
        copy[f"layers.{i}.bias"] = (signs * copy[f"layers.{i}.bias"])[order]
        copy[f"layers.{i + 1}.weight"] = (copy[f"layers.{i + 1}.weight"] * signs)[:, order]
    return copy


class Case(program.Case):
    def path(self, *arguments, output="out.h5", problem=PROBLEM, expect=DONE):
        done = self.run_program("path", *arguments, "--problem", problem, "-o", output)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def open(self, name="out.h5"):
        file = h5py.File(self.folder / name)
        self.addCleanup(file.close)
        return file

    def names(self, file):
        return [program.text(name) for name in file["parameter_name"][:]]


class Copies(Case):
    def test_of_a_perceptron_come_back_onto_it(self):
        weights, data = read_arrays(MLP / "step-000400.npz"), read_arrays(MLP / "eval.npz")
        copy = shuffled_mlp(weights, 3)
        np.testing.assert_allclose(mlp_logits(copy, data), mlp_logits(weights, data), rtol=1e-12, atol=1e-12)
        np.savez(self.folder / "copy.npz", **copy)
        said = json.loads(self.path(MLP / "step-000400.npz", "copy.npz", "--json", problem=MLP / "problem.toml").stdout)
        file = self.open()
        group, names = file["path"], self.names(file)
        norm = np.linalg.norm(flat(weights, names))
        self.assertGreater(group["unaligned_distance"][()], 0.5 * norm)
        self.assertGreater(group["unaligned_barrier"][()], 0.1)
        self.assertTrue(group["distance"][()] <= 1e-13 * norm, group["distance"][()])
        np.testing.assert_allclose(group["aligned_parameters"][:], flat(weights, names), rtol=0, atol=1e-13 * norm)
        self.assertTrue(group["straight_barrier"][()] <= 1e-13, group["straight_barrier"][()])
        self.assertTrue(group["barrier"][()] <= 1e-13, group["barrier"][()])
        hidden = [len(weights[f"layers.{i}.bias"]) for i in range(len(weights) // 2 - 1)]
        self.assertEqual(len(said["aligned_by"]) >= len(hidden), True, said["aligned_by"])
        self.assertEqual(said["path"]["barrier"], group["barrier"][()])

    @program.plain_program_only
    def test_of_an_imported_network_come_back_onto_it(self):
        done = self.run_program("convert", DIGITS / "runs" / "epoch-10.pt", "first.npz", "--key", "model_state_dict")
        self.assertEqual(done.returncode, DONE, done.stderr)
        weights = read_arrays(self.folder / "first.npz")
        # Channels of the convolution in another order, and of other scales: those behind are 3 x 3 positions each.
        order, scales = [2, 0, 3, 1], np.array([0.5, 2.0, 3.0, 0.25])
        copy = dict(weights)
        copy["0.weight"] = (scales[:, None, None, None] * weights["0.weight"])[order]
        copy["0.bias"] = (scales * weights["0.bias"])[order]
        behind = weights["4.weight"].reshape(10, 4, 9) / scales[:, None]
        copy["4.weight"] = behind[:, order].reshape(10, 36)
        np.savez(self.folder / "copy.npz", **copy)
        said = json.loads(self.path("first.npz", "copy.npz", "--json", problem=DIGITS / "problem.toml").stdout)
        self.assertIn("units of 0.weight, 0.bias, 4.weight", said["aligned_by"])
        group = self.open()["path"]
        norm = np.linalg.norm(np.concatenate([value.ravel() for value in weights.values()]))
        self.assertGreater(group["unaligned_distance"][()], 0.5 * norm)
        self.assertTrue(group["distance"][()] <= 1e-6 * norm, group["distance"][()])
        self.assertTrue(group["straight_barrier"][()] <= 1e-10, group["straight_barrier"][()])
        self.assertEqual(group["num_moved"][()], 4)


class Numbers(Case):
    def test_of_a_perceptron_are_those_of_numpy(self):
        """From an early checkpoint to a shuffled late one: losses along both paths, and what the pass is."""
        first, data = read_arrays(MLP / "step-000200.npz"), read_arrays(MLP / "eval.npz")
        second = shuffled_mlp(read_arrays(MLP / "step-000400.npz"), 5)
        np.savez(self.folder / "second.npz", **second)
        self.path(MLP / "step-000200.npz", "second.npz", "--images", 9, "--max-steps", 200, "--tolerance", "0.5",
                  problem=MLP / "problem.toml")
        file = self.open()
        group, names = file["path"], self.names(file)
        loss = lambda theta: mlp_loss(unflat(theta, first, names), data)
        begin, aligned = flat(first, names), group["aligned_parameters"][:]
        # But for the same number added to all logits of a sample, which the model knows to change nothing.
        centred = lambda logits: logits - logits.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(centred(mlp_logits(unflat(aligned, first, names), data)),
                                   centred(mlp_logits(second, data)), rtol=0, atol=1e-10)
        for i, theta in enumerate(group["parameters"][:]):
            self.assertTrue(abs(group["loss"][i] / loss(theta) - 1) <= 1e-11, i)
        places = group["place"][:]
        for name, end in (("straight_loss", aligned), ("unaligned_loss", flat(second, names))):
            wanted = np.array([loss((1 - t) * begin + t * end) for t in places])
            np.testing.assert_allclose(group[name][:], wanted, rtol=1e-11)
        # The barrier is at least that of the places, and is attained where it is said to be.
        for barrier, end in (("straight_barrier", aligned), ("unaligned_barrier", flat(second, names))):
            t = group[barrier + "_place"][()]
            chord = (1 - t) * loss(begin) + t * loss(end)
            self.assertTrue(abs(group[barrier][()] - (loss((1 - t) * begin + t * end) - chord)) <= 1e-12)
        arc = np.linalg.norm(np.diff(group["parameters"][:], axis=0), axis=1)
        np.testing.assert_allclose(group["arc_length"][1:], np.cumsum(arc), rtol=1e-12)

    def test_of_the_pass_between_two_signs_are_those_on_paper(self):
        """Of w2 (w1 x + b1) + b2 on (-1, -1) and (1, 1) the squared error is (w1 w2 - 1)^2 where the biases are 0:
        between both signs lies 0, with the loss 1 and the eigenvalues -2 and 2 of w1 and w2, 2 of b2, and 0 of b1,
        which a change of b2 makes up for."""
        pairs = np.array([[-1.0], [1.0]])
        np.savez(self.folder / "data.npz", inputs=pairs, target=pairs)
        (self.folder / "problem.toml").write_text(
            '[model]\nkind = "mlp"\nactivation = "identity"\nloss = "mse"\n[data]\nfile = "data.npz"\n')
        like = {}
        for name, w1, w2 in (("first", 2.0, 0.5), ("second", -0.5, -2.0)):
            like = {"layers.0.weight": np.array([[w1]]), "layers.0.bias": np.zeros(1),
                    "layers.1.weight": np.array([[w2]]), "layers.1.bias": np.zeros(1)}
            np.savez(self.folder / f"{name}.npz", **like)
        done = self.path("first.npz", "second.npz", "--no-alignment", "--images", 15, "--tolerance", "1e-4",
                         problem="problem.toml")
        missing = ["unaligned_barrier", "unaligned_barrier_place", "num_moved", "num_flipped", "alignment_error"]
        self.assertIn(f"- in /path: not computed; {', '.join(missing)} take the alignment (leave out --no-alignment)",
                      done.stdout)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines() if re.fullmatch(r"\w+ +-", line)], missing)
        file = self.open()
        group, names = file["path"], self.names(file)
        self.assertEqual(group["saddle_index"][()], 1)
        self.assertEqual((group["saddle_num_zero"][()], group["saddle_num_explained"][()]), (0, 1))
        for name, wanted in (("barrier", 1), ("saddle_loss", 1), ("barrier_from_first", 1), ("barrier_from_second", 1),
                             ("saddle_lambda_min", -2)):
            self.assertTrue(abs(group[name][()] - wanted) <= 1e-12, (name, group[name][()]))
        pass_ = unflat(group["saddle_parameters"][:], like, names)
        self.assertTrue(max(abs(pass_[name].item()) for name in names if name != "layers.0.bias") <= 1e-9, pass_)
        self.assertTrue(abs(group["loss"][:].max() - 1) <= 1e-6)
        # An analysis at it says the same.
        np.savez(self.folder / "pass.npz", **pass_)
        self.analyze("pass.npz", problem="problem.toml", output="pass.h5")
        found = self.open("pass.h5")
        np.testing.assert_allclose(found["spectrum/eigenvalues"][0], [-2, 0, 2, 2], rtol=0, atol=1e-9)
        self.assertEqual(found["spectrum/num_negative"][0], 1)

    def test_aligned_by_its_signs_the_two_are_one(self):
        pairs = np.array([[-1.0], [1.0]])
        np.savez(self.folder / "data.npz", inputs=pairs, target=pairs)
        (self.folder / "problem.toml").write_text(
            '[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "mse"\n[data]\nfile = "data.npz"\n')
        for name, sign in (("first", 1.0), ("second", -1.0)):
            np.savez(self.folder / f"{name}.npz", **{
                "layers.0.weight": sign * np.array([[1.5], [0.4]]), "layers.0.bias": sign * np.array([0.1, -0.2]),
                "layers.1.weight": sign * np.array([[0.9, -0.3]]), "layers.1.bias": np.array([0.05])})
        self.path("first.npz", "second.npz", problem="problem.toml")
        group = self.open()["path"]
        self.assertEqual((group["distance"][()], group["num_flipped"][()]), (0, 2))


class Runs(Case):
    ARGUMENTS = ["path", checkpoint(1500), checkpoint(1500, "sgdm"), "--problem", PROBLEM, "--images", 9,
                 "--max-steps", 1500, "--tolerance", "0.2", "-o"]

    @program.plain_program_only
    def test_killed_at_any_moment_end_with_the_same_bytes(self):
        begun = time.monotonic()
        self.assertEqual(self.run_program(*self.ARGUMENTS, "whole.h5").returncode, DONE)
        duration = time.monotonic() - begun
        expected = (self.folder / "whole.h5").read_bytes()
        random = np.random.default_rng(2)
        kills = 0
        for attempt in range(12):
            process = subprocess.Popen(self.command(*self.ARGUMENTS, "out.h5", "--threads", 1 + attempt % 2),
                                       cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(random.uniform(0.1, 0.6) * duration)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
        self.assertGreater(kills, 0)
        self.assertEqual(self.run_program(*self.ARGUMENTS, "out.h5").returncode, DONE)
        self.assertEqual((self.folder / "out.h5").read_bytes(), expected)
        self.assertEqual(self.files(), {"out.h5", "whole.h5"})

    def test_are_drawn_and_reported(self):
        self.assertEqual(self.run_program(*self.ARGUMENTS, "out.h5").returncode, DONE)
        done = self.run_program("plot", "out.h5", "--figure", "path", "-o", "path.svg")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("minimum energy", (self.folder / "path.svg").read_text())
        done = self.run_program("export", "out.h5", "-o", "out.csv")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(self.folder / "out.csv", newline="") as file, h5py.File(self.folder / "out.h5") as result:
            columns = {column[0]: np.array(column[1:], float) for column in zip(*csv.reader(file))}
            for name in ("arc_length", "loss", "lambda_max", "num_negative"):
                np.testing.assert_array_equal(columns[f"path/{name}"], result["path"][name])
        done = self.run_program("report", "out.h5", "-o", "page.html")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("figure-path", (self.folder / "page.html").read_text())

    def test_that_are_not_there_yet_are_not_drawn_as_if_they_were(self):
        done = self.run_program("path", checkpoint(1500), checkpoint(1500, "sgdm"), "--problem", PROBLEM, "--images", 9,
                                "--max-steps", 3, "-o", "out.h5")
        self.assertEqual(done.returncode, INCONCLUSIVE, done.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            self.assertTrue(np.isnan(file["path/barrier"][()]))
        done = self.run_program("plot", "out.h5", "--figure", "path", "-o", "path.svg")
        self.assertEqual(done.returncode, DONE, done.stderr)
        drawn = (self.folder / "path.svg").read_text()
        self.assertIn("band, moving", drawn)
        self.assertIn("the pass was not found: ", drawn)
        for words in ("minimum energy", "dot: the pass"):
            self.assertNotIn(words, drawn)

    def test_are_foreseen(self):
        done = self.run_program(*self.ARGUMENTS, "out.h5", "--dry-run", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual((said["parameters"], said["images"]), (150, 9))
        self.assertEqual(self.files(), set())

    def test_with_other_than_two_checkpoints_are_refused(self):
        self.refuses(USAGE, ["path", checkpoint(0), "--problem", PROBLEM, "-o", "out.h5"], "expected 2, got 1")
        self.refuses(USAGE, ["path", DATA / "adam", "--problem", PROBLEM, "-o", "out.h5"], "expected 2, got 5")


if __name__ == "__main__":
    program.main()
