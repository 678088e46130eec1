# SPDX-License-Identifier: BSD-3-Clause
"""Models of the kind "onnx": exported forward passes, whose derivatives PyTorch has computed, too."""
import json
import pathlib
import shutil

import h5py
import numpy as np

import onnx_files
import program
from onnx_files import node, value_info
from program import BAD_INPUT, DONE, FIXTURES, INCONCLUSIVE, SOURCE, USAGE

MODELS = FIXTURES / "onnx-models"
REFUSALS = FIXTURES / "onnx-refusals"
DIGITS = SOURCE / "data" / "digits"
KEY = ("--key", "model_state_dict")


def relative(a, b):
    """The distance of two arrays in units of the second's norm."""
    a, b = np.asarray(a, float).ravel(), np.asarray(b, float).ravel()
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def golden(folder, step):
    with np.load(MODELS / folder / f"derivatives-{step}.npz") as file:
        return {name: file[name] for name in file.files}


def checkpoints(folder):
    return sorted(file for file in (MODELS / folder).glob("step-*"))


class Goldens(program.Case):
    """Loss, gradient and Hessian of exported models: PyTorch's exact derivatives of the graph in float64."""

    def analyze_models(self, folder):
        # What PyTorch predicts for the first checkpoint goes into the data, and is compared, too.
        for name in ("model.onnx", "problem.toml"):
            shutil.copy(MODELS / folder / name, self.folder)
        steps = checkpoints(folder)
        with np.load(MODELS / folder / "eval.npz") as data:
            arrays = {name: data[name] for name in data.files}
        first = golden(folder, steps[0].stem[-6:])
        np.savez(self.folder / "eval.npz", predictions=first["predictions"], **arrays)
        self.analyze(*steps, "--only", "hessian", "--save-hessian", problem="problem.toml")
        return [step.stem[-6:] for step in steps]

    def compare(self, folder):
        steps = self.analyze_models(folder)
        with h5py.File(self.folder / "out.h5") as file:
            names = [program.text(name) for name in file["parameter_name"]]
            ends = [*file["parameter_offset"][1:], file["hessian/matrix"].shape[1]]
            places = {name: np.arange(begin, end) for name, begin, end in zip(names, file["parameter_offset"], ends)}
            for i, step in enumerate(steps):
                with self.subTest(folder, step=step):
                    want = golden(folder, step)
                    self.assertEqual(sorted(names), sorted(want["parameters"]))
                    order = np.concatenate([places[name] for name in want["parameters"]])
                    product = file["hessian/matrix"][i][np.ix_(order, order)] @ want["probe"]
                    self.assertLess(relative(file["loss"][i], want["onnx_loss"]), 1e-11)
                    norm = np.linalg.norm(want["onnx_gradient"])
                    self.assertLess(relative(file["gradient_norm"][i], norm), 1e-11)
                    self.assertLess(relative(product, want["onnx_hessian_times_probe"]), 1e-11)

    def test_a_perceptron(self):
        self.compare("mlp")

    def test_convolutions_and_pools(self):
        self.compare("cnn")

    def test_batch_normalisation_has_each_checkpoints_own_statistics(self):
        with np.load(MODELS / "resnet" / "step-000000.npz") as first, \
                np.load(MODELS / "resnet" / "step-000120.npz") as last:
            moved = [name for name in first.files if "running" in name and (first[name] != last[name]).any()]
        self.assertTrue(moved)
        self.compare("resnet")
        # Alone as together: the one does not lend its statistics to the other.
        self.analyze(MODELS / "resnet" / "step-000120.npz", "--only", "hessian", "--save-hessian", output="alone.h5",
                     problem=MODELS / "resnet" / "problem.toml")
        with h5py.File(self.folder / "out.h5") as both, h5py.File(self.folder / "alone.h5") as alone:
            np.testing.assert_array_equal(both["hessian/matrix"][1], alone["hessian/matrix"][0])

    def test_batch_normalisation_has_each_checkpoints_own_invariances(self):
        folder = MODELS / "resnet"  # whose means are 0 at first
        first, last = folder / "step-000000.npz", folder / "step-000120.npz"
        names = ("num_generators", "explained", "flatness_bound")
        alone = []
        for step in (first, last):
            self.analyze(step, "--only", "structure", "--force", problem=folder / "problem.toml")
            with h5py.File(self.folder / "out.h5") as file:
                group = file["structure"]
                labels = group["invariance"].asstr()[:]
                alone.append({name: dict(zip(labels, group[name][0])) for name in names})
        families = [set(each["explained"]) for each in alone]
        self.assertNotEqual(*families)
        self.analyze(first, last, "--only", "structure", output="both.h5", problem=folder / "problem.toml")
        with h5py.File(self.folder / "both.h5") as file:
            group = file["structure"]
            labels = list(group["invariance"].asstr()[:])
            self.assertEqual(set(labels), families[0] | families[1])
            for i, each in enumerate(alone):
                for name, absent in zip(names, (0, 0, np.nan)):
                    wanted = [each[name].get(label, absent) for label in labels]
                    np.testing.assert_array_equal(group[name][i], wanted)

    def test_a_transformer_that_predicts_at_every_position(self):
        self.compare("gpt")

    def test_a_transformer_as_pytorch_exports_it_by_default(self):
        self.compare("gpt-default-export")

    def test_an_lstm(self):
        self.compare("lstm")

    def test_a_scripted_module_with_loops(self):
        self.compare("scripted")

    def test_messages_along_edges_in_the_data_and_experts_that_a_gate_chooses(self):
        self.compare("sparse")

    def test_padded_sequences_of_which_each_samples_last_word_is_read(self):
        self.compare("padded")

    def test_packed_sequences(self):
        self.compare("packed")

    def test_tensors_whose_parts_are_assigned_to(self):
        self.compare("assigned")

    def test_a_vision_transformer(self):
        self.compare("vit")

    def test_attention_over_a_set_and_weight_decay(self):
        self.compare("deepsets")

    def test_a_network_of_sines_in_float64(self):
        self.compare("siren")

    def test_no_model_is_left_out(self):
        text = pathlib.Path(__file__).read_text()
        for folder in MODELS.iterdir():
            self.assertIn(f'self.compare("{folder.name}")', text)


class Zeros(program.Case):
    """Zero eigenvalues of transformers: of shifts that nothing sees, of embeddings that share a sum, of a bias of
    keys, of what layer normalisation takes away, and, in the vision transformer, of queries of a class token, which
    are the same for every image."""

    def structure(self, folder, step):
        self.analyze(MODELS / folder / step, "--only", "spectrum,structure", problem=MODELS / folder / "problem.toml")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(file["structure/num_unconfirmed"][0], 0)
            names = [program.text(name) for name in file["structure/invariance"]]
            self.assertEqual(len(set(names)), len(names))
            return (file["spectrum/num_zero"][0], file["structure/num_explained"][0],
                    file["structure/num_unexplained"][0], dict(zip(names, file["structure/explained"][0])))

    def test_are_explained_in_a_gpt(self):
        zeros, explained, unexplained, families = self.structure("gpt", "step-000060.npz")
        self.assertEqual((zeros, explained, unexplained), (54, 54, 0))
        self.assertEqual(families["shift between wte.weight, wpe.weight"], 3)
        self.assertEqual(families["shift of h.0.attn.qkv.bias without effect"], 4)
        self.assertEqual(families["any that is flat for all samples"], 14)

    def test_are_explained_in_a_vision_transformer(self):
        zeros, explained, unexplained, families = self.structure("vit", "step-000060.npz")
        self.assertEqual((zeros, explained, unexplained), (70, 70, 0))
        self.assertEqual(families["shift of attn.in_proj_bias without effect"], 4)


class Refusals(program.Case):
    """Graphs that are no function of one sample after the other, or that are made to harm."""

    def test_each_is_refused_at_once_for_its_reason(self):
        folders = sorted(path.parent for path in REFUSALS.glob("*/expect.json"))
        self.assertGreaterEqual(len(folders), 30)
        for folder in folders:
            with self.subTest(folder.name):
                want = json.loads((folder / "expect.json").read_text())
                steps = sorted(folder.glob("step-*")) or [folder / "model.onnx"]
                done = self.measure("analyze", steps[0], "--problem", folder / "problem.toml", "-o", "out.h5",
                                    "--force")
                message = done.stderr.decode()
                if not program.IS_SANITIZED:
                    self.assertLess(done.seconds, 2)
                    self.assertLess(done.kib, 256 << 10)
                if want["exit"] == DONE:
                    self.assertIn(done.code, (DONE, INCONCLUSIVE), message)
                    continue
                self.assertEqual(done.code, want["exit"], message)
                self.assertEqual((done.stdout, len(message.splitlines())), (b"", 1), message)
                for words in want["names"]:
                    self.assertTrue(any(word.lower() in message.lower() for word in words), (words, message))

    def test_a_token_that_the_embedding_has_no_row_for(self):
        for name in ("model.onnx", "problem.toml"):
            shutil.copy(MODELS / "gpt" / name, self.folder)
        with np.load(MODELS / "gpt" / "eval.npz") as file:
            arrays = {name: file[name] for name in file.files}
        for token in (7, -8):
            arrays["tokens"][17, 2] = token
            np.savez(self.folder / "eval.npz", **arrays)
            self.refuses(BAD_INPUT, ("analyze", checkpoints("gpt")[0], "-p", "problem.toml", "-o", "out.h5"),
                         f"array 'tokens', sample 17: expected a whole number -7 ... 6, an index of the 7 entries of "
                         f"'wte.weight', found {token}")

    def measure(self, *arguments):
        return program.Measured(["timeout", "30", *self.command(*arguments)], self.folder, self.environment())


class Digits(program.Case):
    """The example of a training script's checkpoints."""

    def setUp(self):
        super().setUp()
        shutil.copytree(DIGITS, self.folder / "digits")
        self.problem = self.folder / "digits" / "problem.toml"

    def data(self, **changes):
        path = self.folder / "digits" / "eval.npz"
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        np.savez(path, **{name: array for name, array in {**arrays, **changes}.items() if array is not None})
        return arrays

    def numbers(self, output):
        """All numbers of a result by name, and those that are not finite although they are ok."""
        found, wrong = {}, []
        with h5py.File(self.folder / output) as file:
            def visit(name, item):
                if not isinstance(item, h5py.Dataset) or item.dtype.kind != "f":
                    return
                found[name] = item[()]
                statuses = file[name + "_status"][()] if name + "_status" in file else np.zeros(())
                if np.any(~np.isfinite(found[name]) & (np.reshape(statuses, statuses.shape + (1,) * (
                        found[name].ndim - statuses.ndim)) == 0)):
                    wrong.append(name)
            file.visititems(visit)
        return found, wrong

    def test_all_epochs(self):
        self.analyze("digits/runs", *KEY, problem=self.problem)
        found, wrong = self.numbers("out.h5")
        self.assertEqual(wrong, [])
        self.assertEqual(found["loss"].shape, (11,))
        self.assertLess(found["loss"][-1], 0.2)
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual([program.text(name) for name in file["parameter_name"]],
                             ["0.weight", "0.bias", "4.weight", "4.bias"])

    def test_predictions_of_another_model_are_refused(self):
        arrays = self.data()
        wrong = arrays["predictions"].copy()
        wrong[7, 3] += 0.1
        self.data(predictions=wrong)
        self.refuses(BAD_INPUT, ("analyze", "digits/runs", *KEY, "-p", self.problem, "-o", "out.h5"),
                     "eval.npz", "predictions", "epoch-0.pt", "at the parameters in its own file",
                     "predictions of another checkpoint")
        # Those of the exported model, though the checkpoint is another one.
        self.data(predictions=arrays["predictions"])
        self.analyze("digits/runs/epoch-9.pt", *KEY, "--only", "hessian", problem=self.problem)
        # Without them, what a wrong export leads to is not noticed.
        self.data(predictions=None)
        self.analyze("digits/runs/epoch-0.pt", *KEY, "--only", "hessian", output="other.h5", problem=self.problem)

    def test_every_analyzer_gives_finite_numbers(self):
        self.analyze("digits/runs/epoch-0.pt", "digits/runs/epoch-10.pt", *KEY, "--ggn", "--blocks", "--smoothness",
                     "--noise", "--eigenpairs", "3", "--stability",
                     "--preconditioner", "adam", "--second-moments", "recomputed", "--batch-sharpness", "1,16",
                     "--learning-rate", 0.1, problem=self.problem)
        found, wrong = self.numbers("out.h5")
        # Blocks of fewer parameters have fewer eigenvalues.
        self.assertEqual(wrong, ["blocks/eigenvalues"])
        np.testing.assert_array_equal(np.isfinite(found["blocks/eigenvalues"]).sum(axis=2), [[36, 4, 360, 10]] * 2)
        groups = {name.split("/")[0] for name in found}
        self.assertLessEqual({"ggn", "blocks", "smoothness", "noise", "stability"}, groups)

    def test_matrix_free_extremes_are_those_of_the_matrix(self):
        for method in ("dense", "matrix-free"):
            self.analyze("digits/runs/epoch-10.pt", *KEY, "--only", "spectrum", "--method", method,
                         output=f"{method}.h5", problem=self.problem,
                         expect=DONE if method == "dense" else INCONCLUSIVE)
        dense, free = (self.numbers(f"{method}.h5")[0] for method in ("dense", "matrix-free"))
        for name in ("spectrum/lambda_min", "spectrum/lambda_max"):
            self.assertAlmostEqual(free[name][0], dense[name][0], delta=1e-6 * dense["spectrum/lambda_max"][0])

    def test_a_landscape(self):
        done = self.run_program("landscape", "digits/runs/epoch-10.pt", *KEY, "-p", self.problem, "-o", "out.h5",
                                "--directions", "random", "--grid", "5x5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        _, wrong = self.numbers("out.h5")
        self.assertEqual(wrong, [])


class Inspect(program.Case):
    """What hesscope inspect says of a graph."""

    def inspect(self, *arguments, expect=DONE):
        done = self.run_program("inspect", *arguments)
        self.assertEqual((done.returncode, done.stderr), (expect, ""))
        return done.stdout

    def graph(self, *arguments, expect=DONE):
        return json.loads(self.inspect(*arguments, "--json", expect=expect))["graph"]

    def test_a_graph_without_a_problem(self):
        text = self.inspect(MODELS / "gpt" / "model.onnx")
        for line in (r"graph: pytorch 1\.13\.0, IR version 7, opset 13, \d+ nodes",
                     r"tokens +int64 +\(batch, 6\) +samples along 'batch'", r"MatMul +\d+",
                     r"278 parameters in \d+ tensors: in the checkpoint, and a derivative reaches it"):
            self.assertRegex(text, rf"(?m)^{line}$")
        self.assertNotIn("proved", text)
        graph = self.graph(MODELS / "gpt" / "model.onnx")
        self.assertEqual(sum(use["nodes"] for use in graph["operators"]), graph["nodes"])
        self.assertTrue(all(use["can_be_imported"] for use in graph["operators"]))
        self.assertEqual(sum(tensor["entries"] for tensor in graph["tensors"] if tensor["is_parameter"]), 278)
        self.assertIsNone(graph["samples_are_independent"])

    def test_that_samples_are_independent_is_proved_for_a_problem(self):
        folder = MODELS / "resnet"
        arguments = (folder / "step-000120.npz", "--problem", folder / "problem.toml")
        self.assertIn("samples are independent: proved for 23 operators\n", self.inspect(*arguments))
        graph = self.graph(*arguments)
        self.assertEqual((graph["samples_are_independent"], graph["needed_nodes"]), (True, 23))
        constants = {tensor["name"]: tensor["reason"] for tensor in graph["tensors"] if not tensor["is_parameter"]}
        self.assertEqual(len(constants), 12)
        for name, reason in constants.items():
            self.assertRegex(name, r"running_(mean|var)$")
            self.assertIn("no derivative reaches it", reason)

    def test_or_what_refuses_it(self):
        folder = REFUSALS / "softmax-over-samples"
        [checkpoint] = sorted(folder.glob("step-*")) or [folder / "model.onnx"]
        arguments = (checkpoint, "--problem", folder / "problem.toml")
        text = self.inspect(*arguments, expect=BAD_INPUT)
        self.assertNotIn("proved", text)
        self.assertRegex(text, r"it cannot be built for this checkpoint: .*Softmax")
        self.assertIsNone(self.graph(*arguments, expect=BAD_INPUT)["samples_are_independent"])

    def test_operators_that_are_not_known(self):
        folder = REFUSALS / "unknown-domain"
        text = self.inspect(folder / "model.onnx")
        self.assertRegex(text, r"(?m)^com\.microsoft\.\w+ +not known +1$")
        self.assertRegex(text, r"(?m)^'\w+' cannot be computed: .*operators that are not known: com\.microsoft")
        self.assertFalse(self.graph(folder / "model.onnx")["operators"][-1]["can_be_imported"])

    def test_what_follows_from_an_inputs_first_axis(self):
        for axis, words in (("N", "samples along 'N'"), (1, "batch = 1"), (7, "exported for a batch of 7")):
            content = onnx_files.model([node("Relu", ["x"], ["y"])], {}, [value_info("x", (axis, 3))],
                                       [value_info("y", (axis, 3))])
            (self.folder / "model.onnx").write_bytes(content)
            self.assertIn(words, self.graph("model.onnx")["inputs"][0]["samples"])
        self.assertIn("no parameters", self.inspect("model.onnx"))

    def test_the_known_operators(self):
        operators = {one["name"]: one["first_opset"] for one in
                     json.loads(self.inspect("--operators", "--json"))["operators"]}
        self.assertGreater(len(operators), 100)
        self.assertEqual((operators["Conv"], operators["Upsample"]), (6, 7))
        lines = self.inspect("--operators").splitlines()
        self.assertEqual([line.split() for line in lines[1:]], [[n, str(first)] for n, first in operators.items()])
        self.refuses(USAGE, ("inspect", "--operators", "model.onnx"), "FILE does not go with --operators")
        self.refuses(USAGE, ("inspect",), "FILE")


if __name__ == "__main__":
    program.main()
