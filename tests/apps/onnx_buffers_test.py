# SPDX-License-Identifier: BSD-3-Clause
"""Tensors that may be no parameters, though the model computes with them, by what checkpoints show."""
import program
from onnx_perceptron import Perceptron
from program import DONE


class Buffers(Perceptron):
    def warnings(self, *checkpoints, options=()):
        done = self.run_program("analyze", *checkpoints, "-p", "problem.toml", "-o", "out.h5", "--force", "--only",
                                "hessian", *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done.stderr

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


if __name__ == "__main__":
    program.main()
