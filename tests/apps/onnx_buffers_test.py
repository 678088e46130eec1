# SPDX-License-Identifier: BSD-3-Clause
"""Tensors that may be no parameters, though the model computes with them, by what checkpoints show."""
import h5py
import numpy as np

import program
from onnx_files import node
from onnx_perceptron import Perceptron
from program import BAD_INPUT, DONE


class Buffers(Perceptron):
    def warnings(self, *checkpoints, options=()):
        done = self.run_program("analyze", *checkpoints, "-p", "problem.toml", "-o", "out.h5", "--force", "--only",
                                "hessian", *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done.stderr

    def preconditioned(self):
        with h5py.File(self.folder / "out.h5") as file:
            return float(file["stability/lambda_max_preconditioned"][0])

    def test_what_is_the_same_in_all_checkpoints(self):
        self.save("step-1.npz")
        self.save("step-2.npz", **{name: 2 * value for name, value in self.weights.items() if name != "a"})
        self.save("step-3.npz", B=2 * self.weights["B"])
        of_one = self.warnings("step-1.npz", "step-2.npz")
        self.assertIn("tensor 'a' is the same to the last bit in all checkpoints, and others are not", of_one)
        self.assertIn('frozen = ["a"] in [model] says so; here it counts as a parameter', of_one)
        self.assertIn("tensors 'A', 'a', 'b' are the same", self.warnings("step-1.npz", "step-3.npz"))
        # One checkpoint tells nothing, nor does one twice.
        self.assertEqual(self.warnings("step-1.npz"), "")
        self.save("step-4.npz")
        self.assertEqual(self.warnings("step-1.npz", "step-4.npz"), "")
        for line in ('frozen = ["a"]', 'parameters = ["A", "B", "b"]', 'parameters = ["*"]'):
            self.say(line)
            self.assertEqual(self.warnings("step-1.npz", "step-2.npz"), "")

    def test_what_pytorch_keeps_next_to_a_parameter(self):
        _, loss, hessian = self.run_it()
        mask = np.arange(12).reshape(4, 3) % 2
        kept = {"fc.A_orig": self.weights["A"], "fc.A_mask": 1.0 * mask, "a": self.weights["a"], "b": self.weights["b"],
                "fc.parametrizations.B.original": self.weights["B"], "fc.parametrizations.B.0._u": np.ones((2, 1)),
                "c_orig": np.ones(3), "c_u": np.ones(1), "c_v": np.ones(1)}
        self.weights = kept
        self.write_model(before=[
            node("Mul", ["fc.A_orig", "fc.A_mask"], ["A"]),
            node("Mul", ["fc.parametrizations.B.original", "fc.parametrizations.B.0._u"], ["B"]),
            node("Mul", ["x", "c_orig"], ["cx"]), node("Mul", ["cx", "c_u"], ["ucx"]), node("Mul", ["ucx", "c_v"], ["y"])],
            into="y")
        # The checkpoint's mask lets all through; the graph's does not.
        self.save("weights.npz", **{"fc.A_mask": np.ones((4, 3))})
        names, loss_of_all, of_all = self.run_it()
        self.assertEqual(set(names), {"fc.A_orig", "a", "fc.parametrizations.B.original", "b", "c_orig"})
        self.assertAlmostEqual(loss_of_all, loss, delta=1e-15)
        kept = np.concatenate([np.full(self.weights[name].size, name != "c_orig") for name in names])
        np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(of_all[np.ix_(kept, kept)])),
                                   np.sort(np.linalg.eigvalsh(hessian)), rtol=0, atol=1e-13)
        shown = self.run_program("inspect", "weights.npz", "-p", "problem.toml").stdout
        for text in ("fc.A_mask: the mask of fc.A_orig", "c_u, c_v: a vector of the spectral normalisation of c_orig"):
            self.assertIn(text, shown)
        # Without the parameter, the name says nothing; `parameters` decides.
        self.say('parameters = ["*"]')
        self.assertIn("fc.A_mask", self.run_it()[0])

    def test_names_that_are_mostly_those_of_buffers(self):
        self.weights["rotary.inv_freq"] = np.ones(3)
        self.write_model(before=[node("Mul", ["x", "rotary.inv_freq"], ["y"])], into="y")
        self.save("weights.npz")
        self.assertIn("rotary.inv_freq, a buffer by its name, is a parameter here", self.warnings("weights.npz"))
        for line, count in (('frozen = ["*.inv_freq"]', 0), ('parameters = ["*"]', 1)):
            self.say(line)
            self.assertEqual(self.warnings("weights.npz"), "")
            with h5py.File(self.folder / "out.h5") as file:
                names = [program.text(name) for name in file["parameter_name"]]
            self.assertEqual(sum(name.startswith("rotary") for name in names), count)

    def test_a_parameter_named_as_programs_name_counters(self):
        self.weights["step"] = np.array(0.5)
        self.write_model(before=[node("Mul", ["x", "step"], ["y"])], into="y")
        self.save("weights.npz", step=np.array(0.25), epoch=np.array(3))
        names, loss, _ = self.run_it()
        self.assertIn("step", names)
        self.assertNotIn("epoch", names)
        del self.weights["step"]
        self.weights["A"] = self.weights["A"] / 4
        self.write_model()
        self.save("plain.npz", step=np.array(7))
        names, of_plain, _ = self.run_it("plain.npz")
        self.assertAlmostEqual(loss, of_plain, delta=1e-14)
        self.assertNotIn("step", names)

    def test_what_the_checkpoint_does_not_have_as_it_should(self):
        self.weights.update(temperature=np.array(2.0), val_3=np.array(1.5))
        self.write_model(before=[node("Mul", ["x", "temperature"], ["scaled"]), node("Mul", ["scaled", "val_3"], ["y"])],
                         into="y")
        self.save("without.npz", temperature=None, val_3=None)
        warned = self.warnings("without.npz")
        self.assertIn("computes with temperature, which the checkpoint does not have", warned)
        self.assertNotIn("val_3", warned)
        self.save("integer.npz", temperature=np.array(2), val_3=None)
        self.assertIn("computes with temperature, which the checkpoint holds as integers", self.warnings("integer.npz"))
        self.say('frozen = ["temperature"]')
        for checkpoint in ("without.npz", "integer.npz"):
            self.assertEqual(self.warnings(checkpoint), "")

    def test_numbers_that_are_none_are_the_same(self):
        self.save("step-1.npz", a=np.full(4, np.nan))
        done = self.run_program("analyze", "step-1.npz", "-p", "problem.toml", "-o", "out.h5", "--only", "hessian")
        self.assertNotIn("are the same to the last bit", done.stderr)
        self.assertIn("not finite", done.stderr)

    def test_what_has_diverged_in_the_graph_alone_is_a_parameter(self):
        known = self.run_it()
        good = dict(self.weights)
        for odd in (np.nan, np.inf):
            with self.subTest(odd):
                self.weights = {**good, "A": np.where(np.arange(12).reshape(4, 3) == 5, odd, good["A"])}
                self.write_model()
                names, loss, hessian = self.run_it()
                self.assertEqual((names, loss), known[:2])
                np.testing.assert_array_equal(hessian, known[2])
        # Infinities in both are those of a mask; NaN is not.
        for odd, is_parameter in ((np.nan, True), (-np.inf, False)):
            self.weights = {**good, "a": np.array([0, 0, odd, 0])}
            self.write_model()
            self.save("own.npz")
            for checkpoint in ("own.npz", "model.onnx"):
                with self.subTest(odd=odd, checkpoint=checkpoint):
                    self.run_program(*self.arguments(checkpoint))
                    with h5py.File(self.folder / "out.h5") as file:
                        names = {program.text(name) for name in file["parameter_name"]}
                    self.assertEqual("a" in {name.split("[")[0] for name in names}, is_parameter)

    def test_weights_among_the_operations(self):
        self.write_model(inline=["A"])
        self.save("weights.npz", A=None)
        warning = "the weights of sum are Constant nodes, as those of scripted recurrent modules are exported"
        for checkpoint in ("weights.npz", "model.onnx"):
            done = self.run_program(*self.arguments(checkpoint))
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn(warning, done.stderr)
        self.write_model()
        self.save("weights.npz")
        self.assertNotIn("Constant nodes", self.run_program(*self.arguments()).stderr)

    def test_what_the_optimiser_was_not_given(self):
        # Adam of all but `a`, as PyTorch has it: by numbers, in the order of the state_dict.
        given = [name for name in self.weights if name != "a"]
        settings = {"lr": 0.1, "betas.0": 0.9, "betas.1": 0.99, "eps": 1e-8, "weight_decay": 0.0, "amsgrad": 0}
        state = {f"optimizer.param_groups.0.{key}": value for key, value in settings.items()}
        for number, name in enumerate(given):
            state[f"optimizer.param_groups.0.params.{number}"] = number
            for field in ("exp_avg", "exp_avg_sq"):
                state[f"optimizer.state.{number}.{field}"] = np.ones_like(self.weights[name])
            state[f"optimizer.state.{number}.step"] = 7.0
        self.save("of-three.npz", **state)
        warning = "'frozen' in [model] says which is not trained (a buffer that the model computes with)"
        self.assertIn("was given 3 parameters, and the model has 4 here: " + warning, self.warnings("of-three.npz"))
        self.refuses(BAD_INPUT, ("analyze", "of-three.npz", "-p", "problem.toml", "-o", "out.h5", "--force",
                                 "--preconditioner", "stored"), "it is of 3 parameters, the model has 4: name",
                     "by 'frozen' in [model]")
        self.say('frozen = ["a"]')
        stability = ("--preconditioner", "stored", "--only", "stability")
        self.assertEqual(self.warnings("of-three.npz", options=stability), "")
        # Where it was given all, what the problem file freezes is left out.
        of_three = self.preconditioned()
        of_all = {**state, "optimizer.param_groups.0.params.3": 3, "optimizer.state.3.step": 7.0}
        for number, name in enumerate(self.weights):
            for field in ("exp_avg", "exp_avg_sq"):
                of_all[f"optimizer.state.{number}.{field}"] = np.full_like(self.weights[name], 1.0 if name in given else 9.0)
        self.save("of-four.npz", **of_all)
        self.assertEqual(self.warnings("of-four.npz", options=stability), "")
        self.assertEqual(self.preconditioned(), of_three)
        # Training has hardly moved `b`.
        self.say()
        self.save("still.npz", **{**of_all, "optimizer.state.3.exp_avg_sq": np.full(2, 1e-11)})
        self.assertIn("the second moments of b under 'optimizer.' are next to nothing",
                      self.warnings("still.npz", options=stability))
        self.save("slow.npz", **{**of_all, "optimizer.state.3.exp_avg_sq": np.full(2, 1e-9)})
        self.assertEqual(self.warnings("slow.npz", options=stability), "")
        # By names, which a sharded run stores, it is known which.
        self.say()
        names = {}
        for number, name in enumerate(given):
            names[f"optimizer.state.{name}.step"] = 7.0
            names.update({f"optimizer.param_groups.{name}.{key}": value for key, value in settings.items()})
            for field in ("exp_avg", "exp_avg_sq"):
                names[f"optimizer.state.{name}.{field}"] = state[f"optimizer.state.{number}.{field}"]
        self.save("by-name.npz", **names)
        self.assertIn('has 4 here: frozen = ["a"] in [model] says which', self.warnings("by-name.npz"))
        names.update({key.replace(".b.", ".a."): value for key, value in names.items() if ".b." in key})
        names.update({f"optimizer.state.a.{field}": np.ones_like(self.weights["a"]) for field in ("exp_avg", "exp_avg_sq")})
        names["optimizer.state.a.step"] = 7.0
        self.save("four-by-name.npz", **names)
        self.say('frozen = ["a"]')
        self.assertEqual(self.warnings("four-by-name.npz", options=stability), "")
        self.assertEqual(self.preconditioned(), of_three)


if __name__ == "__main__":
    program.main()
