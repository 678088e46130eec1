# SPDX-License-Identifier: BSD-3-Clause
"""What checkpoints hold of their optimisers is read, used and shown, and nothing is made up.

The checkpoints are those of tests/problem/make_optimizer_fixtures.py, with PyTorch's own last update beside them.
"""
import json
from xml.etree import ElementTree

import h5py
import numpy as np

import onnx_files
import program
from program import BAD_INPUT, DONE, SOURCE, statuses

FOLDER = SOURCE / "tests" / "problem" / "optimizers"
NAMES = ("layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias")
OK, NOT_COMPUTED, NOT_STORED, ZERO_DENOMINATOR = 0, 1, 9, 6
SOURCES = ("none", "default", "checkpoint", "option")
PERCEPTRON = f"""[model]
kind = "mlp"
activation = "tanh"
loss = "cross-entropy"
[data]
file = "{FOLDER / 'points.npz'}"
"""
DEEP = f"""[model]
kind = "linear-attention"
layers = 11
[data]
file = "{FOLDER / 'prompts.npz'}"
"""
SVG = "{http://www.w3.org/2000/svg}"
BETA1, BETA2, EPSILON = 0.8, 0.95, 1e-4  # of most of them
AVERAGED = (2 + 2 * BETA1) / (1 - BETA1)


def last_update(name):
    """The change of the parameters and what was divided by P, in the order of the parameters."""
    with np.load(FOLDER / f"{name}.npz") as file:
        names = NAMES if NAMES[0] in str(file.files) else \
            [f"layers.{layer}.{letter}" for layer in range(11) for letter in "PQ"]
        return tuple(np.concatenate([file[f"{what}.{n}"].ravel() for n in names]) for what in ("delta", "numerator"))


class Optimizer(program.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "problem.toml").write_text(PERCEPTRON)
        (self.folder / "deep.toml").write_text(DEEP)

    def run_analysis(self, name, *options, problem="problem.toml", output="out.h5", expect=DONE):
        paths = [FOLDER / f"{each}.pt" for each in ([name] if isinstance(name, str) else name)]
        (self.folder / output).unlink(missing_ok=True)
        return self.analyze(*paths, "--key", "model", "--save-hessian", "--only", "hessian,stability", *options,
                            problem=problem, output=output, expect=expect)

    def group(self, output="out.h5"):
        """The variables of /stability, the Hessians, and the warnings."""
        with h5py.File(self.folder / output) as file:
            self.hessian = file["hessian/matrix"][:]
            self.sharpness = np.array([np.linalg.eigvalsh(h)[-1] for h in self.hessian])
            warnings = file.attrs["warnings"] if "warnings" in file.attrs else ""
            self.warnings = warnings.decode() if isinstance(warnings, bytes) else str(warnings)
            return {name: item[()] for name, item in file["stability"].items()}

    def assert_close(self, found, wanted, tolerance=1e-12):
        np.testing.assert_allclose(found, wanted, rtol=tolerance)

    def preconditioned(self, p, h=None):
        return np.linalg.eigvalsh((self.hessian[0] if h is None else h) / np.sqrt(np.outer(p, p)))[-1]

    # name -> (learning rate, limit of learning rate times the preconditioned sharpness)
    ADAMS = {
        "adam": (0.02, AVERAGED),
        "amsgrad": (0.5, AVERAGED),
        "adamax": (0.03, AVERAGED),
        "radam": (0.04, AVERAGED),
        "radam-early": (0.04, AVERAGED),
        "by-name": (0.02, AVERAGED),
        "flattened": (0.02, AVERAGED),
        "sorted": (0.02, AVERAGED),
    }
    OTHERS = {
        "rmsprop": (0.01, 2),
        "rmsprop-centered": (0.01, 2 + 2 * 0.6),
        "adagrad": (0.1, 2),
    }

    def check_against_pytorch(self, name, choice, rate, limit):
        self.run_analysis(name, "--preconditioner", choice)
        found = self.group()
        p = found["preconditioner"][0]
        delta, numerator = last_update(name)
        self.assert_close(p * delta, -rate * numerator, 1e-9)
        self.assertEqual(found["source"][0], 1)
        largest = self.preconditioned(p)
        self.assert_close(found["lambda_max_preconditioned"][0], largest, 1e-11)
        prefix = "adam" if choice == "adam" else "optimizer"
        self.assert_close(found[prefix + "_threshold"][0], limit / rate)
        self.assert_close(found[prefix + "_ratio"][0], largest * rate / limit, 1e-11)
        self.assert_close(found["gd_ratio"][0], self.sharpness[0] * rate / 2, 1e-11)
        return found

    def test_p_is_what_pytorch_divided_by(self):
        for name, (rate, limit) in self.ADAMS.items():
            for choice in ("adam", "stored"):
                with self.subTest(name=name, choice=choice):
                    self.check_against_pytorch(name, choice, rate, limit)
        for name, (rate, limit) in self.OTHERS.items():
            with self.subTest(name=name):
                found = self.check_against_pytorch(name, "stored", rate, limit)
                self.assert_close(found["momentum_threshold"][0], limit / rate)

    def test_adams_settings_are_the_checkpoints(self):
        found = self.check_against_pytorch("adam", "adam", 0.02, AVERAGED)
        for name, value in (("learning_rate", 0.02), ("beta1", BETA1), ("beta2", BETA2), ("epsilon", EPSILON),
                            ("momentum", BETA1), ("weight_decay", 0)):
            self.assertEqual(found[name][0], value, name)
            self.assertEqual(found[name + "_source"][0], SOURCES.index("checkpoint"), name)
        right = found["adam_ratio"][0]
        # What defaults would have said is far from it.
        self.run_analysis("adam", "--preconditioner", "adam", "--beta1", 0.9, "--beta2", 0.999, "--epsilon", 1e-8)
        self.assertTrue(abs(self.group()["adam_ratio"][0] / right - 1) > 0.2)

    def test_nadam(self):
        """Its momenta depend on the step; PyTorch 2.0 corrected them, so that early ones are not known."""
        self.run_analysis("nadam", "--preconditioner", "adam")
        found = self.group()
        p = found["preconditioner"][0]
        delta, numerator = last_update("nadam")
        self.assert_close(p * delta, -0.01 * numerator, 1e-7)  # a late step is short
        mu, after = (BETA1 * (1 - 0.5 * 0.96 ** (t * 4e-3)) for t in (400, 401))
        limit = (2 + 2 * BETA1) / ((1 - mu) * (1 + BETA1) + after * (1 - BETA1))
        self.assert_close(found["adam_ratio"][0], self.preconditioned(p) * 0.01 / limit, 1e-11)
        done = self.run_analysis("nadam-early", "--preconditioner", "adam")
        self.assertIn("versions of PyTorch differ", done.stderr)
        found = self.group()
        delta, numerator = last_update("nadam-early")
        self.assert_close(found["preconditioner"][0] * delta, -0.01 * numerator, 1e-9)
        self.assertEqual(statuses(found, "adam_ratio")[0], NOT_COMPUTED)
        self.assertTrue(np.isnan(found["adam_ratio"][0]))

    def test_groups_with_learning_rates_of_their_own(self):
        done = self.run_analysis("adamw-groups", "--preconditioner", "adam")
        found = self.group()
        rates = np.repeat([0.02, 0.005, 0.02, 0.005], [6, 3, 6, 2])
        p = found["preconditioner"][0] * rates / 0.02  # each parameter's own
        delta, numerator = last_update("adamw-groups")
        self.assert_close(p * delta, -rates * numerator, 1e-9)
        ratio = self.preconditioned(p / rates) / AVERAGED
        self.assert_close(found["adam_ratio"][0], ratio, 1e-11)
        for name in ("gd_ratio", "momentum_ratio", "learning_rate", "epsilon", "weight_decay"):
            self.assertEqual(statuses(found, name)[0], NOT_COMPUTED, name)
        self.assertIn("weight_decay (0.1 in one of its groups, under 'optimizer.') is not in the loss", done.stderr)
        self.assertIn("learning rates of their own", done.stderr)
        self.assertIn("weight_decay", self.warnings)

        self.run_analysis("sgd-groups", "--preconditioner", "stored")
        found = self.group()
        rates = np.repeat([0.2, 0.05, 0.2, 0.05], [6, 3, 6, 2])
        self.assert_close(found["optimizer_ratio"][0], self.preconditioned(1 / rates) / (2 + 2 * 0.8), 1e-11)

        done = self.run_analysis("betas-groups", "--preconditioner", "adam")
        found = self.group()
        self.assertIn("its groups differ in their momentum", done.stderr)
        self.assertEqual(statuses(found, "adam_ratio")[0], NOT_COMPUTED)
        self.assertEqual(statuses(found, "lambda_max_preconditioned")[0], OK)

    def test_sgd(self):
        limits = {"sgd": (0.3, 2), "momentum": (0.2, (2 + 2 * 0.9) / (1 - 0.3)),
                  "nesterov": (0.2, (2 + 2 * 0.9) / (1 + 2 * 0.9))}
        for name, (rate, limit) in limits.items():
            with self.subTest(name=name):
                done = self.run_analysis(name, "--preconditioner", "stored")
                found = self.group()
                wanted = self.sharpness[0] * rate / limit
                self.assert_close(found["momentum_ratio"][0], wanted, 1e-11)
                self.assert_close(found["momentum_threshold"][0], limit / rate)
                self.assert_close(found["optimizer_ratio"][0], wanted, 1e-11)
                np.testing.assert_array_equal(found["preconditioner"][0], 1)
                self.assert_close(found["gd_ratio"][0], self.sharpness[0] * rate / 2, 1e-11)
                self.assertEqual("weight_decay (0.01, under" in done.stderr, name == "momentum")
        # Nothing of Adam is stored, and nothing is made up.
        self.run_analysis("momentum", "--preconditioner", "adam")
        found = self.group()
        self.assertEqual(statuses(found, "adam_ratio")[0], NOT_STORED)
        done = self.run_analysis("maximize")
        self.assertEqual(statuses(self.group(), "gd_ratio")[0], NOT_COMPUTED)
        self.assertIn("ascends", done.stderr)

    def test_a_flag_that_contradicts_the_file_wins_and_says_so(self):
        done = self.run_analysis("adam", "--preconditioner", "adam", "--learning-rate", 0.5, "--beta2", BETA2)
        found = self.group()
        self.assertEqual(found["learning_rate"][0], 0.5)
        self.assertEqual(found["learning_rate_source"][0], SOURCES.index("option"))
        self.assertEqual(found["beta2_source"][0], SOURCES.index("option"))
        self.assert_close(found["gd_ratio"][0], self.sharpness[0] * 0.5 / 2, 1e-11)
        self.assertIn("learning-rate 0.5 is taken as given; the checkpoint has 0.02 ('optimizer.')", done.stderr)
        self.assertIn("learning-rate 0.5 is taken as given", self.warnings)
        self.assertNotIn("beta2", done.stderr)  # it says the same

    def test_second_moments_are_not_made_up(self):
        options = ("--key", "model", "--save-hessian", "--only", "hessian,stability", "--preconditioner", "adam")
        paths = (FOLDER / "adam-start.pt", FOLDER / "adam.pt")
        done = self.analyze(*paths, *options, problem="problem.toml")
        found = self.group()
        np.testing.assert_array_equal(found["source"], [0, 1])
        np.testing.assert_array_equal(statuses(found, "adam_ratio"), [NOT_STORED, OK])
        np.testing.assert_array_equal(np.isnan(found["adam_ratio"]), [True, False])
        self.assertTrue(np.isnan(found["preconditioner"][0]).all())
        np.testing.assert_array_equal(found["learning_rate"], [0.02, 0.02])  # the optimiser is there
        self.assertRegex(done.stdout, r"(?m)^adam-start\.pt .* not stored +not stored +none$")
        self.assertIn("; --preconditioner adam and --second-moments recomputed, with --batch-size N, ask for", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^adam\.pt .* checkpoint$")
        self.assertNotIn("optimi", done.stderr)

        (self.folder / "out.h5").unlink()
        done = self.analyze(*paths, *options, "--second-moments", "recomputed", problem="problem.toml")
        again = self.group()
        np.testing.assert_array_equal(again["source"], [2, 1])
        self.assertEqual(again["adam_ratio"][1], found["adam_ratio"][1])
        p = again["preconditioner"][0]
        largest = self.preconditioned(p)
        self.assert_close(again["adam_ratio"][0], largest * 0.02 / AVERAGED, 1e-11)
        # v = g^2 over all samples, no corrections, the file's epsilon.
        with np.load(FOLDER / "points.npz") as file:
            inputs, target = file["inputs"], file["target"].astype(int)
        theta = self.parameters(FOLDER / "adam-start.pt")
        gradient = self.gradient(theta, inputs, target)
        self.assert_close(p, np.abs(gradient) + EPSILON, 1e-10)
        self.assertRegex(done.stdout, r"(?m)^adam-start\.pt .* recomputed$")
        document = self.run_program("analyze", *paths, "--problem", "problem.toml", "-o", "out.h5", "--json", "--force",
                                    *options, "--second-moments", "recomputed")
        sources = [c["stability"]["source"] for c in json.loads(document.stdout)["checkpoints"]]
        self.assertEqual(sources, ["recomputed", "checkpoint"])

    def parameters(self, name):
        self.run_program("convert", name, "weights.npz", "--key", "model", "--force")
        with np.load(self.folder / "weights.npz") as file:
            return [file[n] for n in NAMES]

    @staticmethod
    def gradient(theta, inputs, target):
        w0, b0, w1, b1 = theta
        hidden = np.tanh(inputs @ w0.T + b0)
        z = hidden @ w1.T + b1
        q = np.exp(z - z.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        q[np.arange(len(target)), target] -= 1
        q /= len(target)
        back = (q @ w1) * (1 - hidden**2)
        return np.concatenate([(back.T @ inputs).ravel(), back.sum(0), (q.T @ hidden).ravel(), q.sum(0)])

    def test_what_is_not_understood_is_refused_by_name(self):
        with np.load(FOLDER / "adam.npz") as file:
            shapes = {n: file["delta." + n].shape for n in NAMES}
        weights = {n: np.full(shape, 0.1) for n, shape in shapes.items()}
        cases = {
            "optimizer.exp_avg_sqr.{}": "did you mean 'exp_avg_sq'?",
            "optim.v.{}": "'optim.v.layers.0.weight' and 3 more are named as an optimiser's",
            "optimizer.state.{}.square_avg": "nothing says which optimiser it is",
            "optimizer_state.{}.second": "not understood",
        }
        options = ("--only", "stability", "--preconditioner", "adam", "--learning-rate", "0.1")
        for pattern, mention in cases.items():
            with self.subTest(pattern=pattern):
                moments = {pattern.format(n): np.full(shape, 0.25) for n, shape in shapes.items()}
                path = self.write_checkpoint("strange.npz", {**weights, **moments})
                (self.folder / "map.toml").write_text(
                    "ignore = [" + ", ".join(f'"{name}"' for name in moments) + "]\n")
                extra = () if pattern.startswith("optimizer.") else ("--map", "map.toml")
                done = self.analyze(path, *options, *extra, problem="problem.toml", expect=BAD_INPUT)
                self.assertIn(mention, done.stderr)
                self.assertIn("--second-moments recomputed", done.stderr)
                self.assertNotIn("out.h5", self.files())
                done = self.analyze(path, *options, *extra, "--second-moments", "recomputed", problem="problem.toml")
                self.assertIn("recomputed instead", done.stderr)
                with h5py.File(self.folder / "out.h5") as file:
                    self.assertIn(mention, str(file.attrs["warnings"]))
                    self.assertEqual(file["stability/source"][0], 2)
                (self.folder / "out.h5").unlink()
        path = self.write_checkpoint("bare.npz", weights)
        self.analyze(path, *options, problem="problem.toml")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(statuses(file["stability"], "adam_ratio")[0], NOT_STORED)
            self.assertEqual(file["stability/optimizer"][0], 0)

    def test_other_optimisers_are_not_taken_for_adam(self):
        for name, mention in (("rmsprop", "is that of rmsprop, not of Adam (--preconditioner stored"),
                              ("adagrad", "is that of adagrad"), ("adadelta", "which optimiser it is cannot be inferred"),
                              ("lbfgs", "optimizer.")):
            with self.subTest(name=name):
                done = self.run_analysis(name, "--preconditioner", "adam", expect=BAD_INPUT)
                self.assertIn(mention, done.stderr)
                self.assertIn(f"{name}.pt: ", done.stderr)
                self.run_analysis(name)  # the sharpness can be had
        done = self.run_analysis("adadelta", "--preconditioner", "stored", expect=BAD_INPUT)
        self.assertIn("rho", done.stderr)

    def test_a_sorted_state_dict_does_not_permute_the_state(self):
        """Eleven layers of equal shapes, "layers.10" before "layers.2"."""
        options = ("--preconditioner", "adam")
        done = self.run_analysis("deep", *options, problem="deep.toml")
        self.assertNotIn("alphabetical", done.stderr)
        right = self.group()
        delta, numerator = last_update("deep")
        self.assert_close(right["preconditioner"][0] * delta, -0.02 * numerator, 1e-9)
        for name, is_doubtful in (("deep-sorted", True), ("deep-sorted-named", False)):
            with self.subTest(name=name):
                done = self.run_analysis(name, *options, problem="deep.toml")
                found = self.group()
                np.testing.assert_array_equal(found["preconditioner"], right["preconditioner"])
                np.testing.assert_array_equal(found["adam_ratio"], right["adam_ratio"])
                self.assertEqual("alphabetical order" in done.stderr, is_doubtful)
                self.assertEqual("alphabetical order" in self.warnings, is_doubtful)

    def test_warnings_are_said_once(self):
        for k in range(3):
            self.write_sgd(f"step-{k}.npz", lr=0.2, weight_decay=0.01)
        done = self.analyze(*(f"step-{k}.npz" for k in range(3)), "--only", "stability", "--learning-rate", 0.1,
                            problem="problem.toml")
        self.assertEqual(done.stderr.count("weight_decay"), 1)
        self.assertEqual(done.stderr.count("is taken as given"), 1)
        self.assertIn("step-0.npz and 2 more: learning-rate 0.1 is taken as given", done.stderr)

    def write_sgd(self, name, **settings):
        """Weights and the settings of an SGD without state, as a state_dict that was flattened."""
        arrays = {n: np.full(s, 0.1) for n, s in zip(NAMES, ((3, 2), (3,), (2, 3), (2,)))}
        for key, value in {"momentum": 0.9, "dampening": 0.0, "nesterov": 0.0, **settings}.items():
            arrays[f"optimizer.param_groups.0.{key}"] = np.array(value)
        return self.write_checkpoint(name, arrays)

    def test_tied_tensors_are_numbered_where_their_first_name_stands(self):
        """By PyTorch; the model may keep the later name."""
        names = ("a.weight", "b.weight", "c.weight")
        weights = dict(zip(names, np.random.default_rng(4).normal(size=(3, 3, 3))))
        weights["c.weight"] = weights["a.weight"]
        nodes = [onnx_files.node("Gemm", ["x", names[0]], ["h"]), onnx_files.node("Tanh", ["h"], ["t"]),
                 onnx_files.node("Gemm", ["t", names[1]], ["u"]), onnx_files.node("Gemm", ["u", names[2]], ["y"])]
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, weights, [onnx_files.value_info("x", ("N", 3), "float64")],
            [onnx_files.value_info("y", ("N", 3), "float64")]))
        np.savez(self.folder / "data.npz", x=np.ones((5, 3)), target=np.zeros((5, 3)))
        moments = {"a.weight": np.full((3, 3), 1.0), "b.weight": np.full((3, 3), 4.0)}
        state = {"param_groups.0.lr": 0.1, "param_groups.0.betas.0": 0.9, "param_groups.0.betas.1": 0.999,
                 "param_groups.0.eps": 0.0, "param_groups.0.weight_decay": 0.0, "param_groups.0.amsgrad": 0.0,
                 "param_groups.0.maximize": 0.0, "param_groups.0.params.0": 0, "param_groups.0.params.1": 1}
        for k, squares in enumerate(moments.values()):
            state |= {f"state.{k}.exp_avg": 0 * squares, f"state.{k}.exp_avg_sq": squares, f"state.{k}.step": 10**6}
        np.savez(self.folder / "step.npz", **{f"model.{name}": weight for name, weight in weights.items()},
                 **{f"optimizer.{key}": np.array(value) for key, value in state.items()})
        for kept, tie in (("a.weight", "c.weight = a.weight"), ("c.weight", "a.weight = c.weight")):
            with self.subTest(tie=tie):
                (self.folder / "tied.toml").write_text("\n".join((
                    "[model]", 'kind = "onnx"', 'file = "model.onnx"', 'loss = "mse"', f'tied = ["{tie}"]', "[data]",
                    'file = "data.npz"', "")))
                (self.folder / "out.h5").unlink(missing_ok=True)
                self.analyze("step.npz", "--key", "model", "--only", "stability", "--preconditioner", "adam",
                             problem="tied.toml")
                with h5py.File(self.folder / "out.h5") as file:
                    divisors = file["stability/preconditioner"][0]
                    starts = dict(zip(map(program.text, file["parameter_name"][()]), file["parameter_offset"][()]))
                for name, squares in ((kept, moments["a.weight"]), ("b.weight", moments["b.weight"])):
                    np.testing.assert_allclose(divisors[starts[name]:][:9], np.sqrt(squares).ravel(), rtol=1e-12)

    def test_figures_tell_stored_from_recomputed_moments(self):
        paths = [FOLDER / f"{name}.pt" for name in ("adam-start", "adam", "radam")]
        options = ("--key", "model", "--only", "stability", "--preconditioner", "adam", "--order", "given")
        dots = {}
        for moments in ("stored", "recomputed"):
            self.analyze(*paths, *options, "--second-moments", moments, problem="problem.toml", output=f"{moments}.h5")
            done = self.run_program("plot", f"{moments}.h5", "--figure", "stability", "-o", f"{moments}.svg")
            self.assertEqual(done.returncode, DONE, done.stderr)
            root = ElementTree.parse(self.folder / f"{moments}.svg").getroot()
            lines = {g.get("data-label"): g for g in root.iter(SVG + "g") if g.get("class") == "line"}
            dots[moments] = {label: len(list(g.iter(SVG + "circle"))) for label, g in lines.items()}
            text = " ".join("".join(t.itertext()) for t in root.iter(SVG + "text"))
            self.assertEqual("1 of 3 checkpoints hold no second moments" in text, moments == "stored")
        self.assertEqual(dots["stored"], {"gradient descent": 3, "with momentum": 3, "Adam": 2})
        self.assertEqual(dots["recomputed"], {**dots["stored"], "Adam, moments recomputed": 1})

    def test_what_the_optimiser_was_not_given_is_left_out_with_and_without_a_matrix(self):
        random, weight = np.random.default_rng(4), "layers.0.weight"
        arrays = {n: random.normal(size=s) for n, s in zip(NAMES, ((3, 2), (3,), (2, 3), (2,)))}
        moments = {f"optimizer.state.{weight}.{field}": random.uniform(0.5, 1, (3, 2))
                   for field in ("exp_avg", "exp_avg_sq")}
        settings = {"lr": 0.1, "betas.0": 0.9, "betas.1": 0.99, "eps": 1e-8, "weight_decay": 0.0, "amsgrad": 0.0}
        self.write_checkpoint("step-5.npz", {
            **arrays, **moments, f"optimizer.state.{weight}.step": np.array(5.0),
            **{f"optimizer.param_groups.{weight}.{key}": np.array(value) for key, value in settings.items()}})
        found = {}
        for method in ("dense", "matrix-free"):
            saved = ("--only", "hessian,stability", "--save-hessian") if method == "dense" else ("--only", "stability")
            self.analyze("step-5.npz", *saved, "--preconditioner", "stored", "--method", method, "--force",
                         problem="problem.toml")
            with h5py.File(self.folder / "out.h5") as file:
                found[method] = file["stability/lambda_max_preconditioned"][0]
                if method == "dense":
                    hessian = file["hessian/matrix"][0][:6, :6]
        v = moments[f"optimizer.state.{weight}.exp_avg_sq"].ravel()
        p = (1 - 0.9**5) * (np.sqrt(v / (1 - 0.99**5)) + 1e-8)
        wanted = np.linalg.eigvalsh(hessian / np.sqrt(np.outer(p, p)))[-1]
        self.assert_close(found["dense"], wanted, 1e-10)
        self.assert_close(found["matrix-free"], wanted, 1e-10)

    def test_a_learning_rate_of_zero_moves_nothing(self):
        self.analyze(self.write_sgd("step-1.npz", lr=0.0), "--only", "stability", problem="problem.toml")
        with h5py.File(self.folder / "out.h5") as file:
            group = file["stability"]
            self.assertEqual(statuses(group, "gd_threshold")[0], ZERO_DENOMINATOR)
            self.assertEqual(group["gd_ratio"][0], 0)
            self.assertEqual(group["learning_rate"][0], 0)

    def test_inspect_shows_the_training(self):
        text = self.run_program("inspect", FOLDER / "adamw-groups.pt").stdout
        self.assertRegex(text, r"(?m)^optimizer: Adam or AdamW, 4 parameters in 2 groups, step 7; it keeps exp_avg, "
                               r"exp_avg_sq$")
        self.assertRegex(text, r"(?m)^  group 1 \(2\): .*betas\.0 0\.8, betas\.1 0\.95, .*lr 0\.005, ")
        for line in (r"epoch +7", r"global_step +140", r"note +a run", r"loss +0\.\d+"):
            self.assertRegex(text, "(?m)^" + line + "$")
        self.assertNotIn("besides the tensors", self.run_program("inspect", FOLDER / "points.npz").stdout)
        document = json.loads(self.run_program("inspect", FOLDER / "adam.pt", "--json").stdout)["training"]
        self.assertEqual(document["values"]["epoch"], 7)
        self.assertEqual(document["values"]["note"], "a run")
        optimizer, = document["optimizers"]
        self.assertEqual((optimizer["kind"], optimizer["steps"], optimizer["keeps"]),
                         ("adam", [7, 7], ["exp_avg", "exp_avg_sq"]))
        self.assertEqual(optimizer["groups"][0]["settings"]["betas.1"], BETA2)


if __name__ == "__main__":
    program.main()
