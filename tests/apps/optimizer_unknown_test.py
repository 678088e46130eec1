# SPDX-License-Identifier: BSD-3-Clause
"""Optimisers of which a checkpoint does not hold what their preconditioner is made of: missing, not refused."""
import h5py
import numpy as np

import program
from optimizer_test import NAMES, NOT_STORED, PERCEPTRON
from program import BAD_INPUT, DONE, statuses


class Unknown(program.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "problem.toml").write_text(PERCEPTRON)

    def test_groups_of_unknown_parameters(self):
        """Before the first step nothing tells which parameter is in which group."""
        arrays = {n: np.full(s, 0.1) for n, s in zip(NAMES, ((3, 2), (3,), (2, 3), (2,)))}
        settings = {"betas.0": 0.9, "betas.1": 0.99, "eps": 1e-8, "amsgrad": 0.0}
        for g, rate in enumerate((0.1, 0.2)):
            for key, value in {"lr": rate, **settings, "params.0": 2 * g, "params.1": 2 * g + 1}.items():
                arrays[f"optimizer.param_groups.{g}.{key}"] = np.array(value)
        path = self.write_checkpoint("start.npz", arrays)
        options = ("--only", "stability", "--preconditioner", "adam", "--force")
        done = self.analyze(path, *options, problem="problem.toml")
        self.assertNotIn("groups under", done.stderr.replace("the groups under 'optimizer.' have learning rates", ""))
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(statuses(file["stability"], "adam_ratio")[0], NOT_STORED)
        done = self.analyze(path, *options, "--second-moments", "recomputed", problem="problem.toml")
        self.assertIn("nothing says which parameter is in which of the groups", done.stderr)
        done = self.analyze(path, *options, "--learning-rate", "0.3", problem="problem.toml")
        self.assertIn("learning-rate 0.3 is taken as given; the checkpoint has 0.1, 0.2 ('optimizer.')", done.stderr)

    def test_steps_that_are_not_stored(self):
        """Without them, averages are not corrected for their start: a warning says so."""
        shapes = ((3, 2), (3,), (2, 3), (2,))
        arrays = {n: np.full(s, 0.1) for n, s in zip(NAMES, shapes)}
        arrays.update({f"optimizer.state.{i}.exp_avg_sq": np.full(s, 0.25) for i, s in enumerate(shapes)})
        settings = {"lr": 0.1, "betas.0": 0.9, "betas.1": 0.99, "eps": 1e-8, "amsgrad": 0.0}
        for key, value in {**settings, **{f"params.{i}": i for i in range(4)}}.items():
            arrays[f"optimizer.param_groups.0.{key}"] = np.array(value)
        steps = {f"optimizer.state.{i}.step": np.array(5.0) for i in range(4)}
        options = ("--only", "stability", "--preconditioner", "adam", "--force")
        sharpness = {}
        for name, more in (("with", steps), ("without", {})):
            done = self.analyze(self.write_checkpoint(f"{name}.npz", {**arrays, **more}), *options, problem="problem.toml")
            self.assertEqual("how many steps it has made is not known" in done.stderr, name == "without", done.stderr)
            with h5py.File(self.folder / "out.h5") as file:
                sharpness[name] = file["stability/lambda_max_preconditioned"][0]
                self.assertEqual("no 'step' is stored" in str(file.attrs.get("warnings", "")), name == "without")
        self.assertAlmostEqual(sharpness["without"] / sharpness["with"], (1 - 0.9**5) / (1 - 0.99**5) ** 0.5, places=6)
        del steps["optimizer.state.2.step"]
        done = self.analyze(self.write_checkpoint("some.npz", {**arrays, **steps}), *options, problem="problem.toml",
                            expect=BAD_INPUT)
        self.assertIn("the 'step' of '2' is missing, and others have one", done.stderr)

    def train(self, rule, setting=""):
        model = PERCEPTRON.replace('activation', 'classes = 2\nhidden = "3"\nactivation')
        (self.folder / "experiment.toml").write_text(model + f"""
[initialization]
distribution = "normal"
std = 1
[training]
steps = 2
[[run]]
name = "a"
rule = "{rule}"
learning_rate = 0.01
{setting}
""")
        done = self.run_program("train", "experiment.toml", "-o", rule)
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_own_checkpoints_of_rules_without_a_diagonal(self):
        for rule in ("muon", "adafactor", "sign", "lion", "normalized"):
            with self.subTest(rule):
                self.train(rule)
                for choice in ("stored", "adam"):
                    done = self.analyze(f"{rule}/step-000002.h5", "--only", "stability", "--preconditioner", choice,
                                        "--force", problem="problem.toml")
                    with h5py.File(self.folder / "out.h5") as file:
                        self.assertEqual(set(statuses(file["stability"], "lambda_max_preconditioned")), {NOT_STORED})


    def test_momentum_of_rules_of_unknown_kind(self):
        for rule, setting, momentum in (("sign", "momentum = 0.5", 0.5), ("normalized", "", 0), ("muon", "", 0.95),
                                        ("lion", "", 0.9)):
            with self.subTest(rule):
                self.train(rule, setting)
                self.analyze(f"{rule}/step-000002.h5", "--only", "stability", "--force", problem="problem.toml")
                with h5py.File(self.folder / "out.h5") as file:
                    group = file["stability"]
                    self.assertEqual(group["momentum"][0], momentum)
                    source = group["momentum_source"]
                    self.assertEqual(program.text(source.attrs["flag_meanings"]).split()[source[0]], "checkpoint")
                    self.assertAlmostEqual(group["momentum_threshold"][0], (2 + 2 * momentum) / 0.01)


if __name__ == "__main__":
    program.main()
