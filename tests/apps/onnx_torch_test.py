# SPDX-License-Identifier: BSD-3-Clause
"""Models written, exported and trained with PyTorch, analyzed and compared with PyTorch's own derivatives.

Where PyTorch is not installed, all tests are skipped.
"""
import unittest

import h5py
import numpy as np

import program

try:
    import torch
    import torch_models
except ImportError:
    torch = None


@unittest.skipUnless(torch, "no PyTorch (Debian's python3-torch)")
class PyTorch(program.Case):
    def setUp(self):
        super().setUp()
        torch.set_num_threads(1)

    def write(self, example, **options):
        torch_models.export(example, self.folder / "model.onnx", **options)
        example.save_data(self.folder / "eval.npz")
        (self.folder / "problem.toml").write_text(example.problem())

    def compare(self, found, i, want):
        """Checkpoint i of a result with derivatives()."""
        names, loss, gradient, hessian, doubt = want
        self.assertLess(doubt, 1e-6)
        got = [program.text(name) for name in found["parameter_name"]]
        self.assertEqual(sorted(got), sorted(names))
        ends = [*found["parameter_offset"][1:], len(gradient)]
        places = {name: np.arange(begin, end) for name, begin, end in zip(got, found["parameter_offset"], ends)}
        order = np.concatenate([places[name] for name in names])
        scale = np.linalg.norm(hessian)
        self.assertGreater(scale, 1e-3)
        self.assertLess(abs(found["loss"][i] - loss), 1e-10 * abs(loss))
        self.assertLess(abs(found["gradient_norm"][i] - np.linalg.norm(gradient)), 1e-10 * scale)
        self.assertLess(np.linalg.norm(found["hessian/matrix"][i][np.ix_(order, order)] - hessian), 1e-10 * scale)

    def test_every_epoch_of_training(self):
        for make in torch_models.TRAINED:
            with self.subTest(make.__name__):
                torch.manual_seed(7)
                example = make()
                self.write(example)
                wanted = []
                for epoch, module in enumerate(example.trained(epochs=3), 1):
                    torch.save(module.state_dict(), self.folder / f"epoch-{epoch}.pt")
                    wanted.append(torch_models.derivatives(example))
                self.assertLess(wanted[-1][1], wanted[0][1])
                checkpoints = [f"epoch-{epoch}.pt" for epoch in (1, 2, 3)]
                self.analyze(*checkpoints, "--only", "hessian", "--save-hessian", "--force", problem="problem.toml")
                with h5py.File(self.folder / "out.h5") as found:
                    for i, want in enumerate(wanted):
                        self.compare(found, i, want)

    def test_other_models(self):
        for make in torch_models.OTHERS:
            with self.subTest(make.__name__):
                torch.manual_seed(11)
                example = make()
                self.write(example)
                torch.save(example.module.state_dict(), self.folder / "weights.pt")
                self.analyze("weights.pt", "--only", "hessian", "--save-hessian", "--force", problem="problem.toml")
                with h5py.File(self.folder / "out.h5") as found:
                    self.compare(found, 0, torch_models.derivatives(example))

    def test_a_default_export_of_a_tied_model_is_no_untied_one(self):
        torch.manual_seed(7)
        example = torch_models.gpt()
        self.write(example)
        torch.save(example.module.state_dict(), self.folder / "weights.pt")
        arguments = ("analyze", "model.onnx", "-p", "problem.toml", "-o", "out.h5", "--only", "hessian", "--force",
                     "--save-hessian")
        self.assertEqual(self.run_program(*arguments[:1], "weights.pt", *arguments[2:]).returncode, program.DONE)
        with h5py.File(self.folder / "out.h5") as found:
            wanted = np.linalg.eigvalsh(found["hessian/matrix"][0])
        example.settings.clear()
        self.write(example, do_constant_folding=True, training=torch.onnx.TrainingMode.EVAL)
        (self.folder / "out.h5").unlink()
        self.refuses(program.BAD_INPUT, arguments, "holds the same numbers as 'wte.weight', transposed", "tied = [")
        message = self.run_program(*arguments).stderr
        example.settings.append(message[message.index("tied = ["):message.index("]") + 1])
        (self.folder / "problem.toml").write_text(example.problem())
        self.assertEqual(self.run_program(*arguments).returncode, program.DONE)
        with h5py.File(self.folder / "out.h5") as found:
            np.testing.assert_allclose(np.linalg.eigvalsh(found["hessian/matrix"][0]), wanted, rtol=0, atol=1e-12)

    def test_batch_normalisation_without_what_it_has_averaged(self):
        torch.manual_seed(7)
        example = torch_models.batch_norm()
        list(example.trained(epochs=1))
        self.write(example)
        arguments = ("-p", "problem.toml", "-o", "out.h5", "--only", "spectrum", "--force")
        torch.save(dict(example.module.named_parameters()), self.folder / "parameters.pt")
        done = self.run_program("analyze", "parameters.pt", *arguments)
        self.assertEqual(done.returncode, program.DONE)
        self.assertRegex(done.stderr, "running_mean.*averages of batch normalisation, which the checkpoint does not have")
        torch.save(example.module.state_dict(), self.folder / "weights.pt")
        self.assertEqual(self.run_program("analyze", "weights.pt", *arguments).stderr, "")
        self.assertEqual(self.run_program("analyze", "model.onnx", *arguments).stderr, "")
        # Exported for inference, it is another network, of the same predictions.
        self.write(example, do_constant_folding=True, training=torch.onnx.TrainingMode.EVAL)
        done = self.run_program("analyze", "model.onnx", *arguments)
        self.assertEqual(done.returncode, program.DONE)
        self.assertRegex(done.stderr, "the exporter has made the parameters onnx::Conv_")

    def test_a_softmax_before_cross_entropy(self):
        torch.manual_seed(7)
        example = torch_models.cnn()
        example.module = torch.nn.Sequential(example.module, torch.nn.Softmax(1))
        self.write(example)
        torch.save(example.module.state_dict(), self.folder / "weights.pt")
        done = self.run_program("analyze", "weights.pt", "-p", "problem.toml", "-o", "out.h5", "--only", "spectrum")
        self.assertEqual(done.returncode, program.DONE)
        self.assertIn("the model ends in softmax", done.stderr)


if __name__ == "__main__":
    program.main()
