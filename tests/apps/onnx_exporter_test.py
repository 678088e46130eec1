# SPDX-License-Identifier: BSD-3-Clause
"""Models of the kind "onnx": tensors that an exporter has folded, transposed, copied or renamed."""
import h5py
import numpy as np

import onnx_files
import program
from onnx_files import node, value_info
from onnx_perceptron import Perceptron
from program import BAD_INPUT, DONE, USAGE


class Exporter(Perceptron):
    """What follows from their names and numbers, and what is said of them."""

    def test_names_that_exporting_has_changed_are_found_by_their_values(self):
        whole = self.run_it()[2]
        # As PyTorch's exporter does by default: x A^T + a by a transposed constant under a new name.
        nodes = [node("MatMul", ["x", "onnx::MatMul_7"], ["product"]), node("Add", ["a", "product"], ["sum"]),
                 node("Tanh", ["sum"], ["hidden"]), node("Gemm", ["hidden", "head", "b"], ["logits"], transB=1)]
        tensors = {"onnx::MatMul_7": self.weights["A"].T, "a": self.weights["a"], "head": self.weights["B"],
                   "b": self.weights["b"]}
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, tensors, [value_info("x", ("N", 3), "float64")], [value_info("logits", ("N", 2), "float64")]))
        self.rejects("tensors A, B are not in the graph of", "model.onnx")
        done = self.run_program("inspect", "weights.npz", "-p", "problem.toml", "--write-map", "map.toml")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.assertIn("written to map.toml; with it the checkpoint fits", done.stdout)
        self.assertIn("samples are independent", done.stdout)
        # With the map others of the run can be read, too, whose values are not the graph's.
        self.save("other.npz", A=self.weights["A"] + 1, B=-self.weights["B"])
        hessians = {}
        for checkpoint in ("weights.npz", "other.npz"):
            done = self.run_program(*self.arguments(checkpoint), "--map", "map.toml")
            self.assertEqual(done.returncode, DONE, done.stderr)
            with h5py.File(self.folder / "out.h5") as file:
                self.assertEqual([program.text(name) for name in file["parameter_name"]],
                                 ["onnx::MatMul_7", "a", "head", "b"])
                hessians[checkpoint] = file["hessian/matrix"][0]
        order = np.concatenate([np.arange(12).reshape(4, 3).T.ravel(), np.arange(12, 26)])
        np.testing.assert_allclose(hessians["weights.npz"], whole[np.ix_(order, order)], rtol=0, atol=1e-14)
        self.assertGreater(abs(hessians["other.npz"] - hessians["weights.npz"]).max(), 1e-3)
        # From other values nothing follows.
        done = self.run_program("inspect", "other.npz", "-p", "problem.toml", "--write-map", "none.toml")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("no map was written", done.stderr)

    def test_weights_that_an_exporter_has_computed(self):
        inputs, outputs = [value_info("x", ("N", 3), "float64")], [value_info("logits", ("N", 4), "float64")]

        def said_of(name, *lines):
            (self.folder / "model.onnx").write_bytes(onnx_files.model(
                [node("Gemm", ["x", name, "a"], ["logits"], transB=1)],
                {name: self.weights["A"], "a": self.weights["a"]}, inputs, outputs))
            self.say(*lines)
            done = self.run_program(*self.arguments("model.onnx"))
            self.assertEqual(done.returncode, DONE, done.stderr)
            return done.stderr

        for name in ("onnx::Gemm_9", "onnx::Conv_12", "onnx::Clip_22"):
            self.assertIn(f"the exporter has made the parameters {name} itself", said_of(name))
            self.assertEqual(said_of(name, f'separate = ["{name}"]'), "")
        for name in ("A", "onnx::MatMul_9"):  # which may have been transposed alone
            self.assertEqual(said_of(name), "")
        # A mask's zeros, and a row twice, are not of a weight that was trained.
        trained = self.weights["A"]
        for computed in (trained * (trained > np.quantile(trained, 0.3)), trained[[0, 0, 1, 1]]):
            self.weights["A"] = computed
            self.assertIn("the exporter has made the parameters onnx::MatMul_9 itself", said_of("onnx::MatMul_9"))
            self.assertEqual(said_of("A"), "")

    def test_weights_that_are_a_part_or_a_multiple_of_others(self):
        # logits = B tanh(A x + a), with B folded from A.
        nodes = [node("MatMul", ["x", "onnx::MatMul_7"], ["product"]), node("Add", ["a", "product"], ["sum"]),
                 node("Tanh", ["sum"], ["hidden"]), node("MatMul", ["hidden", "onnx::MatMul_9"], ["logits"])]
        inputs = [value_info("x", ("N", 3), "float64")]
        a = self.weights["A"]

        def said_of(folded, *lines):
            outputs = [value_info("logits", ("N", folded.shape[1]), "float64")]
            tensors = {"onnx::MatMul_7": a.T, "a": self.weights["a"], "onnx::MatMul_9": folded}
            (self.folder / "model.onnx").write_bytes(onnx_files.model(nodes, tensors, inputs, outputs))
            self.say(*lines)
            done = self.run_program(*self.arguments("model.onnx"))
            self.assertEqual(done.returncode, DONE, done.stderr)
            return done.stderr

        for folded in (-a, 0.3 * a, np.float32(0.3) * a.astype(np.float32), a[:, :2]):
            self.assertIn("rows or columns of other parameters, or multiples of them (onnx::MatMul_7 and onnx::MatMul_9, say)",
                          said_of(folded), folded)
        self.assertEqual(said_of(-a, 'separate = ["onnx::MatMul_9"]'), "")
        self.assertEqual(said_of(np.random.default_rng(1).normal(size=(4, 3))), "")
        self.assertEqual(said_of(np.ones((4, 3))), "")

    def test_a_copy_that_folding_made_of_a_tied_tensor(self):
        # logits = A^T tanh(A x + a), as it is and with the second use of A folded to a transposed copy.
        first = [node("Gemm", ["x", "A", "a"], ["sum"], transB=1), node("Tanh", ["sum"], ["hidden"])]
        inputs, outputs = [value_info("x", ("N", 3), "float64")], [value_info("logits", ("N", 3), "float64")]
        tensors = {"A": self.weights["A"], "a": self.weights["a"]}
        np.savez(self.folder / "weights.npz", **tensors)
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            [*first, node("MatMul", ["hidden", "A"], ["logits"])], tensors, inputs, outputs))
        names, loss, hessian = self.run_it()
        tensors["onnx::Gemm_9"] = self.weights["A"].T.copy()
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            [*first, node("Gemm", ["hidden", "onnx::Gemm_9"], ["logits"], transB=1)], tensors, inputs, outputs))
        self.rejects("model.onnx", "'onnx::Gemm_9' holds the same numbers as 'A', transposed",
                     'tied = ["onnx::Gemm_9 = A"]', 'separate = ["onnx::Gemm_9"]', checkpoint="model.onnx")
        # Of a checkpoint with the model's own names the copy is a constant, that of the exported weights.
        self.rejects("'onnx::Gemm_9' holds the same numbers as 'A', transposed", "it would stay as it was")
        self.say('tied = ["onnx::Gemm_9 = A"]')
        for checkpoint in ("model.onnx", "weights.npz"):
            tied = self.run_it(checkpoint)
            self.assertEqual((tied[0], tied[1]), (names, loss))
            np.testing.assert_allclose(tied[2], hessian, rtol=0, atol=1e-15)
        # By the checkpoint's own names, of which a map makes the graph's.
        np.savez(self.folder / "own.npz", A=self.weights["A"], a=self.weights["a"], head=self.weights["A"].T)
        (self.folder / "map.toml").write_text('[map]\n"onnx::Gemm_9" = "head"\n')
        self.say('tied = ["head = A"]')
        done = self.run_program(*self.arguments("own.npz"), "--map", "map.toml")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual([program.text(name) for name in file["parameter_name"]], names)
            np.testing.assert_allclose(file["hessian/matrix"][0], hessian, rtol=0, atol=1e-15)
        self.say('separate = ["onnx::*"]')
        names, _, hessian = self.run_it("model.onnx")
        self.assertEqual((names, hessian.shape), (["A", "a", "onnx::Gemm_9"], (28, 28)))
        # Where the checkpoint names both, both are the model's.
        np.savez(self.folder / "both.npz", **tensors)
        self.say()
        self.assertEqual(self.run_it("both.npz")[0], ["A", "a", "onnx::Gemm_9"])
        self.say('separate = ["B"]')
        self.rejects("'B' in 'separate' is no tensor of", "model.onnx", code=USAGE, checkpoint="model.onnx")
        self.say('tied = ["onnx::Gemm_9 = a"]')
        self.rejects("'onnx::Gemm_9' and 'a' differ", checkpoint="model.onnx")
        self.rejects("'onnx::Gemm_9' and 'a' cannot be one tensor", "12 and 4 entries")

    def test_a_single_number_of_an_onnx_checkpoint_is_a_parameter_where_it_is_named(self):
        nodes = [node("MatMul", ["x", "B"], ["scores"]), node("Mul", ["scores", "scale"], ["logits"])]
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, {"B": self.weights["A"].T[:, :2].copy(), "scale": np.array(1.5)},
            [value_info("x", ("N", 3), "float64")], [value_info("logits", ("N", 2), "float64")]))
        done = self.run_program(*self.arguments("model.onnx"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("computes with scale: single numbers, which stay as they are in the file", done.stderr)
        self.assertEqual(self.run_it("model.onnx")[0], ["B"])
        self.say('frozen = ["scale"]')
        self.assertEqual(self.run_program(*self.arguments("model.onnx")).stderr, "")
        self.say('parameters = ["B", "scale"]')
        self.assertEqual(self.run_program(*self.arguments("model.onnx")).stderr, "")
        self.assertEqual(self.run_it("model.onnx")[0], ["B", "scale"])

    def test_a_single_number_that_exporting_has_folded_is_told(self):
        """exp(-s) of a learned s, of which the exporter keeps -s."""
        nodes = [node("MatMul", ["x", "A"], ["scores"]), node("Exp", ["onnx::Exp_7"], ["scale"]),
                 node("Mul", ["scores", "scale"], ["logits"])]
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            nodes, {"A": self.weights["A"].T[:, :2].copy(), "onnx::Exp_7": np.array(-0.3)},
            [value_info("x", ("N", 3), "float64")], [value_info("logits", ("N", 2), "float64")]))
        np.savez(self.folder / "c.npz", A=self.weights["A"].T[:, :2])
        for checkpoint in ("model.onnx", "c.npz"):
            self.say()
            done = self.run_program(*self.arguments(checkpoint))
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("computes with onnx::Exp_7: single numbers that exporting has folded", done.stderr)
            self.say('frozen = ["onnx::Exp_7"]')
            self.assertEqual(self.run_program(*self.arguments(checkpoint)).stderr, "")


if __name__ == "__main__":
    program.main()
