# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints and data as training programs leave them: their order, losses, names of tensors and arrays.

The checkpoints are those of make_torch_runs.py: a perceptron 2-4-2. PyTorch is not needed.
"""
import json
import shutil

import h5py
import numpy as np

import program
from program import BAD_INPUT, DONE, INCONCLUSIVE, SOURCE, USAGE

TORCH = SOURCE / "tests" / "apps" / "torch_runs"
SHELL = ("0", "1", "10", "25", "5", "50")  # as ck/*.pt lists them
EPOCHS = (0, 1, 5, 10, 25, 50)
PROBLEM = """[model]
kind = "mlp"
activation = "tanh"
loss = "cross-entropy"
[data]
file = "tuple.pt"
[data.arrays]
inputs = "0"
target = "1"
"""
NO_ORDER, DIFFERS = 8, 10  # of flag_values


def golden():
    with np.load(TORCH / "golden.npz") as file:
        return {name: file[name] for name in file.files}


class Inputs(program.Case):
    def setUp(self):
        super().setUp()
        for name in ("tuple", "nested", "bytes", "unscaled"):
            shutil.copy(TORCH / f"{name}.pt", self.folder)
        self.problem()

    def problem(self, data=None, more=""):
        text = PROBLEM if data is None else PROBLEM.split("[data]")[0] + data
        (self.folder / "problem.toml").write_text(text + more)

    def copies(self, names, folder="ck"):
        """Checkpoints of the run under names of one's own: {epoch: name}."""
        (self.folder / folder).mkdir(exist_ok=True)
        for epoch, name in names.items():
            shutil.copy(TORCH / "run" / f"epoch_{epoch}.pt", self.folder / folder / name)

    def without_counters(self, names, folder="ck"):
        """The same weights with nothing beside them."""
        (self.folder / folder).mkdir(exist_ok=True)
        found = golden()
        for epoch, name in names.items():
            theta = found["theta"][list(found["epoch"]).index(epoch)]
            parts = np.split(theta, [8, 12, 20])
            np.savez(self.folder / folder / name, **{
                "layers.0.weight": parts[0].reshape(4, 2), "layers.0.bias": parts[1],
                "layers.1.weight": parts[2].reshape(2, 4), "layers.1.bias": parts[3]})

    def analyzed(self, *arguments, expect=DONE, output="out.h5", key="model"):
        options = ("--key", key) if key else ()
        self.said = self.analyze(*arguments, *options, problem="problem.toml", output=output, expect=expect)
        return h5py.File(self.folder / output)

    def shell_order(self, folder=TORCH / "run"):
        return [folder / f"epoch_{epoch}.pt" for epoch in SHELL]

    def assert_path(self, file):
        """What depends on the order, from the definitions, of the path that was."""
        known = golden()
        theta, hessian, gradient = known["theta"], known["hessian"], known["gradient"]
        np.testing.assert_array_equal(file["step"][:], EPOCHS)
        np.testing.assert_allclose(file["loss"][:], known["loss"], rtol=1e-13)
        steps = np.diff(theta, axis=0)
        units = steps / np.linalg.norm(steps, axis=1)[:, None]
        expected = np.einsum("ti,tij,tj->t", units, hessian[:-1], units)
        group = file["smoothness"]
        np.testing.assert_allclose(group["directional_smoothness"][:-1], expected, rtol=1e-9)
        np.testing.assert_allclose(group["step_norm"][:-1], np.linalg.norm(steps, axis=1), rtol=1e-13)
        vectors = [np.linalg.eigh(h)[1][:, -2:] for h in hessian]
        overlaps = [np.square(before.T @ after).sum(axis=0)[::-1] for before, after in zip(vectors, vectors[1:])]
        np.testing.assert_allclose(file["eigenpairs/overlap_largest"][1:], overlaps, rtol=1e-7)
        norms = np.linalg.norm(gradient, axis=1)
        curvatures = [np.abs(np.linalg.eigvalsh(h)).max() for h in hessian]
        self.assertLess(np.polyfit(norms, curvatures, 1)[0], 0)  # L1 >= 0, so the line is level
        np.testing.assert_allclose(group["L0"][()], np.mean(curvatures), rtol=1e-9)
        self.assertEqual(group["L1"][()], 0)

    PATH = ("--only", "smoothness,eigenpairs", "--eigenpairs", "2")

    def test_the_order_is_that_of_the_epochs_in_the_files(self):
        with self.analyzed(*self.shell_order(), *self.PATH) as file:
            self.assert_path(file)
            self.assertIn("'epoch' in the checkpoint", program.text(file["step"].attrs["definition"]))
            self.assertEqual(program.text(file["step"].attrs["long_name"]), "epoch of the checkpoint")
        drawn = self.run_program("plot", "out.h5", "--figure", "history", "-o", "history.svg")
        self.assertEqual(drawn.returncode, DONE, drawn.stderr)
        self.assertIn(">epoch<", (self.folder / "history.svg").read_text())
        self.assertEqual(self.said.stderr, "")
        # Whatever they are called.
        names = {epoch: f"{letter}.pt" for epoch, letter in zip(EPOCHS, "fbdace")}
        self.copies(names)
        with self.analyzed(*sorted((self.folder / "ck").iterdir()), *self.PATH, output="letters.h5") as file:
            self.assert_path(file)

    def test_a_folder_is_its_checkpoints_in_their_order(self):
        self.copies({epoch: f"model_e{epoch}_s{epoch * 30}.pt" for epoch in EPOCHS})
        self.copies({50: "best.pt"})
        with self.analyzed("ck", *self.PATH) as file:
            self.assert_path(file)
            self.assertIn("best.pt", program.text(file.attrs["warnings"]))
        self.assertIn("left out, since not named like model_e0_s0.pt: best.pt", self.said.stderr)
        done = self.run_program("analyze", "ck", "--key", "model", "-p", "problem.toml", "-o", "x.h5", "--dry-run")
        self.assertIn("left out, since not named like", done.stderr)

    def test_the_order_is_that_of_the_last_number_in_the_names(self):
        for pattern in ("epoch_{}.npz", "ckpt-{:06}.npz", "model_e{0}_s{0}.npz"):
            with self.subTest(pattern):
                folder = pattern[:4]
                self.without_counters({epoch: pattern.format(epoch) for epoch in EPOCHS}, folder)
                files = sorted((self.folder / folder).iterdir())
                with self.analyzed(*files, *self.PATH, output=folder + ".h5", key=None) as file:
                    self.assert_path(file)
                    self.assertIn("name of the file", program.text(file["step"].attrs["definition"]))
                self.assertEqual(self.said.stderr, "")

    def test_without_an_order_nothing_is_said_of_a_path(self):
        self.without_counters({epoch: f"{letter}.npz" for epoch, letter in zip(EPOCHS, "abcdef")})
        files = sorted((self.folder / "ck").iterdir())
        with self.analyzed(*files, *self.PATH, key=None) as file:
            group = file["smoothness"]
            for name in ("directional_smoothness", "secant_smoothness", "step_norm", "step_first_order",
                         "step_curvature", "step_loss_change"):
                self.assertTrue((group[name + "_status"][:] == NO_ORDER).all(), name)
                self.assertTrue(np.isnan(group[name][:]).all(), name)
            for name in ("overlap_largest", "overlap_smallest"):
                self.assertTrue((file["eigenpairs"][name + "_status"][:] == NO_ORDER).all(), name)
            self.assertEqual(group["L0_status"][()], NO_ORDER)
            self.assertTrue(np.isfinite(group["spectral_norm"][:]).all())
            sharpness = group["directional_sharpness"][:]
            rules = [program.text(rule) for rule in group["rule"][:]]
            for rule, memory in (("sgd", False), ("momentum", True), ("adam", True), ("lion", True), ("sign", False)):
                self.assertEqual(np.isnan(sharpness[:, rules.index(rule)]).all(), memory, rule)
                self.assertEqual(np.isfinite(sharpness[:, rules.index(rule)]).all(), not memory, rule)
        warnings = [line for line in self.said.stderr.splitlines() if "warning" in line]
        self.assertEqual(len(warnings), 1, self.said.stderr)
        self.assertIn("--order given", warnings[0])
        with self.analyzed(*files, *self.PATH, "--order", "given", key=None, output="given.h5") as file:
            known = golden()
            np.testing.assert_allclose(file["smoothness/step_norm"][:-1],
                                       np.linalg.norm(np.diff(known["theta"], axis=0), axis=1), rtol=1e-13)
            self.assertIn("--order given", program.text(file.attrs["history"]))
        self.assertEqual(self.said.stderr, "")

    def test_two_files_of_one_step_are_refused(self):
        self.copies({5: "epoch_5.pt", 10: "again.pt"})
        self.copies({5: "best.pt"})
        files = [f"ck/{name}.pt" for name in ("again", "best", "epoch_5")]
        self.refuses(BAD_INPUT, ["analyze", *files, "--key", "model", "-p", "problem.toml", "-o", "out.h5"],
                     "ck/best.pt and ck/epoch_5.pt: both are of step 5", "--step-key", "--order given")
        with self.analyzed(*files, "--order", "given", "--only", "hessian") as file:
            np.testing.assert_array_equal(file["step"][:], [10, 5, 5])

    def test_a_file_that_is_given_twice_is_told_as_such(self):
        self.copies({5: "epoch_5.pt", 10: "epoch_10.pt"})
        (self.folder / "ck/best.pt").symlink_to("epoch_5.pt")
        for again in ("ck/epoch_5.pt", "ck/../ck/epoch_5.pt", "ck/best.pt"):
            done = self.run_program("analyze", "ck/epoch_5.pt", "ck/epoch_10.pt", again, "--key", "model", "-p",
                                    "problem.toml", "-o", "out.h5")
            self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
            self.assertIn("is given twice", done.stderr)
            self.assertNotIn("--step-key", done.stderr)

    def test_the_step_key(self):
        with self.analyzed(*self.shell_order(), "--step-key", "epoch", "--only", "hessian") as file:
            np.testing.assert_array_equal(file["step"][:], EPOCHS)
        self.refuses(BAD_INPUT, ["analyze", TORCH / "run", "--key", "model", "-p", "problem.toml", "-o", "x.h5",
                                 "--step-key", "iteration"], "--step-key", "'iteration'", "not in the checkpoint")

    def test_two_folders_are_two_runs(self):
        self.copies({epoch: f"epoch_{epoch}.pt" for epoch in (0, 5)}, "a")
        self.copies({epoch: f"epoch_{epoch}.pt" for epoch in (1, 10)}, "b")
        with self.analyzed("a/epoch_5.pt", "b/epoch_1.pt", "a/epoch_0.pt", "b/epoch_10.pt",
                           "--only", "smoothness") as file:
            np.testing.assert_array_equal(file["step"][:], [0, 5, 1, 10])
            norms = file["smoothness/step_norm"][:]
        known = golden()
        theta = dict(zip(known["epoch"], known["theta"]))
        np.testing.assert_allclose(norms[[0, 2]], [np.linalg.norm(theta[5] - theta[0]),
                                                   np.linalg.norm(theta[10] - theta[1])], rtol=1e-13)
        self.assertTrue(np.isnan(norms[[1, 3]]).all())

    def test_huge_numbers_are_no_steps(self):
        self.without_counters({0: "t-20231231235959123456.npz", 1: "t-20240101000000123456.npz"})
        with self.analyzed("ck", "--only", "smoothness", key=None) as file:
            self.assertTrue((file["smoothness/step_norm_status"][:] == NO_ORDER).all())
        self.assertIn("Numbers beyond 2^53 are no steps", self.said.stderr)

    def test_folders_without_checkpoints_say_what_they_have(self):
        self.problem()
        for place, said in (("best.pt", "only: no checkpoint in this folder; .* It holds best.pt, named otherwise"),
                            ("run/seed-0/epoch_1.pt", "Folders below have some, as only/run/seed-0: name one of these")):
            path = self.folder / "only" / place
            path.parent.mkdir(parents=True)
            shutil.copy(TORCH / "run/epoch_50.pt", path)
            done = self.run_program("analyze", "only", "--key", "model", "-p", "problem.toml", "-o", "x.h5")
            self.assertEqual(done.returncode, BAD_INPUT)
            self.assertRegex(done.stderr, said)
            shutil.rmtree(self.folder / "only")

    def test_texts_without_quotes_in_a_problem_file(self):
        for word in ("mlp", "tanh", "float", "identity", "none"):
            (self.folder / "problem.toml").write_text(f"[model]\nkind = {word}\n")
            done = self.run_program("analyze", TORCH / "run", "-p", "problem.toml", "-o", "x.h5")
            self.assertEqual(done.returncode, USAGE)
            self.assertRegex(done.stderr, "problem.toml:2:.*texts need quotes", word)

    def test_a_landscape_goes_by_the_steps(self):
        done = self.run_program("landscape", *self.shell_order(), "--key", "model", "-p", "problem.toml", "-o", "l.h5",
                                "--directions", "pca", "--grid", "3x3")
        self.assertEqual(done.returncode, DONE, done.stderr)
        known = golden()
        with h5py.File(self.folder / "l.h5") as file:
            np.testing.assert_array_equal(file["landscape/trajectory_step"][:], EPOCHS)
            np.testing.assert_allclose(file["landscape/trajectory_loss"][:], known["loss"], rtol=1e-13)
            self.assertEqual(file["landscape"].attrs["centre"], 5)
        # From one to the other is as the user says.
        done = self.run_program("landscape", TORCH / "run/epoch_50.pt", TORCH / "run/epoch_0.pt", "--key", "model",
                                "-p", "problem.toml", "-o", "b.h5", "--directions", "between", "--grid", "2x1",
                                "--span", "0:1")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        with h5py.File(self.folder / "b.h5") as file:
            np.testing.assert_allclose(file["landscape/loss"][0], known["loss"][[5, 0]], rtol=1e-12)
        # A centre that is not the last one named is said.
        done = self.run_program("landscape", TORCH / "run/epoch_50.pt", TORCH / "run/epoch_0.pt", "--key", "model",
                                "-p", "problem.toml", "-o", "c.h5", "--directions", "random", "--grid", "3x1")
        self.assertIn("epoch_50.pt: the centre, as the last by its step", done.stderr)

    # The loss that is known from elsewhere.

    def check(self, *arguments, expect, more="", output="loss.h5"):
        self.problem(more=more)
        with self.analyzed(*arguments, "--only", "hessian", expect=expect, output=output) as file:
            found = {name: file[name][...] for name in file if isinstance(file[name], h5py.Dataset)}
        (self.folder / output).unlink()
        return found

    def test_the_loss_in_the_checkpoint_is_compared(self):
        found = self.check(TORCH / "run", expect=DONE)
        np.testing.assert_allclose(found["expected_loss"], golden()["loss"], rtol=1e-15)
        self.assertTrue((found["expected_loss_source"] == 3).all())
        self.assertLess(np.abs(found["loss_difference"]).max(), 1e-15)
        self.assertEqual(self.said.stderr, "")
        # Another activation than that of the training: a warning, and no more.
        (self.folder / "problem.toml").write_text(PROBLEM.replace("tanh", "relu"))
        with self.analyzed(TORCH / "run", "--only", "hessian") as file:
            np.testing.assert_allclose(file["loss_difference"][:], file["loss"][:] - golden()["loss"], rtol=1e-12)
            self.assertTrue((file["loss_difference_status"][:] == DIFFERS).all())
            self.assertIn("'loss' in the checkpoint", program.text(file.attrs["warnings"]))
        self.assertEqual(self.said.stderr.count("warning"), 1)
        self.assertIn("different in 6 of 6 checkpoints", self.said.stderr)
        self.assertIn("activation", self.said.stderr)

    def test_an_expected_loss_that_differs_ends_with_5(self):
        loss = golden()["loss"]
        one = TORCH / "run/epoch_50.pt"
        found = self.check(one, more=f"[check]\nloss = {loss[5]!r}\n", expect=DONE)
        self.assertEqual(found["expected_loss_source"][0], 2)
        for factor, expected in ((1 + 0.9e-4, DONE), (1 + 1.1e-4, INCONCLUSIVE), (1 - 1.1e-4, INCONCLUSIVE)):
            found = self.check(one, more=f"[check]\nloss = {loss[5] * factor!r}\n", expect=expected)
            np.testing.assert_allclose(found["loss_difference"], loss[5] * (1 - factor), rtol=1e-9)
            self.assertEqual("[check] of the problem file" in self.said.stderr, expected == INCONCLUSIVE)
        by_step = f"[check]\nloss = {{ 0 = {loss[0]!r}, 25 = {loss[4]!r}, 99 = 1.0 }}\n"
        found = self.check(TORCH / "run", more=by_step, expect=DONE)
        np.testing.assert_array_equal(found["expected_loss_source"], [2, 3, 3, 3, 2, 3])
        self.check(one, more=f"[check]\nloss = {{ 51 = {loss[5]!r} }}\n", expect=DONE)
        self.assertIn("the first is of step 50), so that none of them was compared", self.said.stderr)
        # The command's own word wins over the file's.
        found = self.check(one, "--expect-loss", 0.5, more=f"[check]\nloss = {loss[5]!r}\n", expect=INCONCLUSIVE)
        self.assertEqual((found["expected_loss"][0], found["expected_loss_source"][0]), (0.5, 1))
        self.assertIn("--expect-loss", self.said.stderr)
        # One for each, in the order named, whatever the order of steps.
        self.check(TORCH / "run/epoch_5.pt", TORCH / "run/epoch_1.pt", "--expect-loss", loss[2], "--expect-loss",
                   loss[1], expect=DONE)

    def test_expected_losses_that_could_be_of_several_checkpoints(self):
        self.problem(more="[check]\nloss = 0.5\n")
        self.refuses(USAGE, ["analyze", TORCH / "run", "--key", "model", "-p", "problem.toml", "-o", "x.h5"],
                     "problem.toml:11", "6 checkpoints", "500 = 0.5")
        self.refuses(USAGE, ["analyze", TORCH / "run", "--key", "model", "-p", "problem.toml", "-o", "x.h5",
                             "--expect-loss", "0.5"], "--expect-loss: 1 losses for 6 checkpoints")
        self.refuses(USAGE, ["analyze", TORCH / "run", "--key", "model", "-p", "problem.toml", "-o", "x.h5",
                             "--expect-loss", "much"], "--expect-loss: must be a number, got 'much'")

    def test_a_landscape_compares_losses_too(self):
        done = self.run_program("landscape", TORCH / "run/epoch_50.pt", "--key", "model", "-p", "problem.toml", "-o", "l.h5",
                                "--directions", "random", "--grid", "3x1", "--expect-loss", "0.5")
        self.assertEqual(done.returncode, INCONCLUSIVE, done.stderr)
        with h5py.File(self.folder / "l.h5") as file:
            self.assertEqual(file["loss_difference_status"][0], DIFFERS)
            np.testing.assert_allclose(file["loss_difference"][0], golden()["loss"][5] - 0.5, rtol=1e-12)

    # Names of arrays and tensors.

    def loss(self, checkpoint="plain.pt", *, key=None, expect=DONE, output="one.h5"):
        with self.analyzed(TORCH / checkpoint, "--only", "hessian", key=key, expect=expect, output=output) as file:
            loss = file["loss"][0]
        (self.folder / output).unlink()
        return loss

    def test_data_in_a_tuple_and_in_a_dict(self):
        expected = self.loss()
        self.assertEqual(self.said.stderr, "")
        self.problem('[data]\nfile = "nested.pt"\n[data.arrays]\ninputs = "train.X"\ntarget = "train.y"\n')
        self.assertEqual(self.loss(), expected)
        self.assertIn("nested.pt: array 'target' holds class labels as float32", self.said.stderr)
        self.problem('[data]\nfile = "tuple.pt"\n')  # as many as the model has, in its order
        self.assertEqual(self.loss(), expected)
        self.problem('[data]\nfile = "nested.pt"\n')
        self.refuses(BAD_INPUT, ["analyze", TORCH / "plain.pt", "-p", "problem.toml", "-o", "x.h5"],
                     "nested.pt: no tensor 'inputs'", "[data.arrays] inputs = 'train.X', target = 'train.y'")
        self.problem('[data]\nfile = "tuple.pt"\n[data.arrays]\ninput = "0"\ntarget = "1"\n')
        self.refuses(USAGE, ["analyze", TORCH / "plain.pt", "-p", "problem.toml", "-o", "x.h5"],
                     "problem.toml:8: unknown array 'input' in [data.arrays]", "did you mean 'inputs'")
        self.problem('[data]\nfile = "tuple.pt"\n[data.arrays]\ninputs = "2"\ntarget = "1"\n')
        self.refuses(BAD_INPUT, ["analyze", TORCH / "plain.pt", "-p", "problem.toml", "-o", "x.h5"],
                     "no tensor '2'", "problem.toml:8 reads as 'inputs'")

    def test_names_that_a_wrapper_begins(self):
        expected = self.loss()
        self.assertEqual(self.loss("parallel.pt"), expected)
        self.assertEqual(self.loss("compiled.pt"), expected)
        self.assertEqual(self.loss("both.pt", key="state"), expected)
        self.assertEqual(self.said.stderr, "")
        (self.folder / "map.toml").write_text('[map]\n"layers.*.weight" = "layers.*.weight"\n')
        with self.analyzed(TORCH / "parallel.pt", "--map", "map.toml", "--only", "hessian", key=None) as file:
            self.assertEqual(file["loss"][0], expected)
        done = self.run_program("inspect", TORCH / "both.pt", "--key", "state", "-p", "problem.toml")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("names are read without '_orig_mod.module.'", done.stdout)
        document = json.loads(self.run_program("inspect", TORCH / "compiled.pt", "-p", "problem.toml", "--json").stdout)
        self.assertEqual((document["fit"]["fits"], document["fit"]["wrapper"]), (True, "_orig_mod."))

    def test_inspect_suggests_a_map_with_the_part(self):
        done = self.run_program("inspect", TORCH / "run/epoch_5.pt", "-p", "problem.toml")
        self.assertEqual(done.returncode, BAD_INPUT)
        suggested = done.stdout[done.stdout.index("that says so:") + len("that says so:"):]
        self.assertRegex(suggested, r"key = ['\"]model['\"]")
        (self.folder / "map.toml").write_text(suggested)
        with self.analyzed(TORCH / "run/epoch_5.pt", "--map", "map.toml", "--only", "hessian", key=None) as file:
            np.testing.assert_allclose(file["loss"][0], golden()["loss"][2], rtol=1e-13)
        self.assertRegex(self.run_program("analyze", "--help").stdout, r"key =\s+\"model\"(.|\n)*ignore =")
        with np.load(TORCH / "golden.npz") as file:
            theta = np.split(file["theta"][0], [8, 12, 20])
        self.write_checkpoint("more.npz", {"layers.0.weight": theta[0].reshape(4, 2), "layers.0.bias": theta[1],
                                           "layers.1.weight": theta[2].reshape(2, 4), "layers.1.bias": theta[3],
                                           "seen": np.zeros(3)})
        self.refuses(BAD_INPUT, ["analyze", "more.npz", "-p", "problem.toml", "-o", "x.h5"], "'seen'", "ignore")
        suggested = self.run_program("inspect", "more.npz", "-p", "problem.toml").stdout
        self.assertRegex(suggested, r"ignore = \[['\"]seen['\"]\]")

    # What is odd although it can be read.

    def test_whole_numbers_for_inputs_are_noted(self):
        for name, words in (("bytes", "array 'inputs' holds uint8 from"),
                            ("unscaled", "array 'inputs' holds whole numbers from")):
            self.problem(f'[data]\nfile = "{name}.pt"\n')
            self.loss()
            self.assertIn(f"{name}.pt: {words}", self.said.stderr)
            self.assertIn("divides by 255", self.said.stderr)
        self.assertIn("class labels as float32", self.said.stderr)

    def test_weights_that_are_no_numbers_with_fractions_are_noted(self):
        self.loss("integers.pt")
        self.assertIn("tensor 'layers.0.weight' holds int8", self.said.stderr)
        self.assertIn("tensor 'layers.1.bias' holds bool", self.said.stderr)
        self.copies({0: "epoch_0.pt"})
        for epoch in (1, 2, 3):
            shutil.copy(TORCH / "integers.pt", self.folder / "ck" / f"epoch_{epoch}.pt")
        self.analyze("ck/epoch_1.pt", "ck/epoch_2.pt", "ck/epoch_3.pt", "--only", "hessian", problem="problem.toml")
        self.assertEqual(self.last_warnings(), 2)

    def last_warnings(self):
        with h5py.File(self.folder / "out.h5") as file:
            return len([line for line in program.text(file.attrs["warnings"]).splitlines() if "and 2 others: " in line])

    def test_tied_weights_are_noted(self):
        self.loss("tied.pt")
        self.assertIn("'layers.0.weight' and 'layers.1.weight' are one tensor in the file (tied weights)",
                      self.said.stderr)
        self.loss("plain.pt")
        self.assertNotIn("tied", self.said.stderr)


if __name__ == "__main__":
    program.main()
