# SPDX-License-Identifier: BSD-3-Clause
"""share/hesscope/hesscope_torch: what it says where a Hessian is not what a user expects, or is none.

Where PyTorch is not installed, all tests are skipped.
"""
import copy
import math
import sys
import unittest
import unittest.mock
import warnings

import numpy as np

import program
from program import PROGRAM, SOURCE

sys.path.insert(0, str(SOURCE / "share" / "hesscope"))
import hesscope  # noqa: E402

try:
    import torch
    import torch.nn.functional as F
    from torch import nn
    import hesscope_torch
    import torch_models
    from torch_models import Example, Net
except ImportError:
    torch = None


@unittest.skipUnless(torch, "no PyTorch (Debian's python3-torch)")
class TorchMessages(program.Case):
    def setUp(self):
        super().setUp()
        torch.set_num_threads(1)
        torch.manual_seed(5)
        self.x, self.y, self.classes = torch.randn(8, 3), torch.randn(8, 2), torch.arange(8) % 2

    def hessian(self, *arguments, **options):
        """With what was warned of."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = hesscope_torch.hessian(*arguments, program=PROGRAM, **options)
        return *found, "\n".join(str(each.message) for each in said if "OpenBLAS" not in str(each.message))

    def assert_same(self, module, loss, found, names):
        wanted, _, _, hessian, _ = torch_models.derivatives(Example(module, {"x": self.x}, self.classes, "", loss))
        rows = [i for i, name in enumerate(np.repeat(wanted, [module.get_parameter(n).numel() for n in wanted]))
                if name in set(names)]
        self.assertLess(np.linalg.norm(found - hessian[np.ix_(rows, rows)]), 1e-13 * np.linalg.norm(hessian))

    def test_slopes_that_are_infinite(self):
        module = Net(lambda net, x: net.b(net.a(x).relu().sqrt()), a=nn.Linear(3, 4), b=nn.Linear(4, 2))
        found, _, said = self.hessian(module, self.x, self.y, nn.MSELoss())
        self.assertFalse(np.isfinite(found).all())
        self.assertRegex(said, "no finite gradient at these parameters.*root.*PyTorch's gradient, of norm")
        self.assertNotIn("detach", said)

        module = Net(lambda net, x: net.a(x) + (net.scale ** 2).sum().sqrt(), a=nn.Linear(3, 2),
                     scale=nn.Parameter(torch.zeros(2)))
        found, _, said = self.hessian(module, self.x, self.y, nn.MSELoss())
        self.assertTrue(np.isfinite(found).all())
        self.assertIn("PyTorch has no finite gradient", said)

        module = Net(lambda net, x: net.a(x) + net.scale.sqrt(), a=nn.Linear(3, 2), scale=nn.Parameter(torch.zeros(2)))
        _, _, said = self.hessian(module, self.x, self.y, nn.MSELoss())
        self.assertIn("no finite gradient", said)
        self.assertNotIn("PyTorch's gradient", said)

    def test_second_derivatives_that_are_infinite(self):
        module = Net(lambda net, x: net.a(x) + net.scale.abs() ** 1.5, a=nn.Linear(3, 2),
                     scale=nn.Parameter(torch.zeros(2)))
        found, _, said = self.hessian(module, self.x, self.y, nn.MSELoss())
        self.assertFalse(np.isfinite(found).all())
        self.assertIn("some second derivative is infinite", said)
        self.assertNotIn("gradient", said)

    def test_infinite_parameters_are_constant(self):
        module = Net(lambda net, x: net.layer(x) + net.mask, layer=nn.Linear(3, 3),
                     mask=nn.Parameter(torch.tensor([0.0, 0.0, -math.inf])))
        for loss in (nn.CrossEntropyLoss(), lambda o, t: F.cross_entropy(o, t)):
            found, names, said = self.hessian(module, self.x, self.classes, loss)
            self.assertEqual(list(dict.fromkeys(names)), ["layer.weight", "layer.bias"])
            self.assertRegex(said, "^mask: constant, as a tensor is that holds infinities$")
            self.assert_same(module, loss, found, names)
        module.mask.data[0] = math.nan
        found, _, said = self.hessian(module, self.x, self.classes, nn.CrossEntropyLoss())
        self.assertTrue(np.isnan(found).all())
        with self.assertRaisesRegex(ValueError, "no tensor that requires a gradient, and holds no infinities,"):
            module = Net(lambda net, x: x[:, :2] * net.scale, scale=nn.Parameter(torch.tensor([1.0, math.inf])))
            self.hessian(module, self.x, self.y, nn.MSELoss())

    def test_names_that_are_patterns(self):
        module = Net(lambda net, x: net.layer(x) * net.scales["w[0]"] + net.scales["w0"] * net.scales["w[1]"].exp(),
                     layer=nn.Linear(3, 2), scales=nn.ParameterDict({
                         "w[0]": torch.randn(2), "w0": torch.randn(2), "w[1]": torch.ones(2), "w1": torch.ones(2)}))
        for name in ("w0", "w1"):
            module.scales[name].requires_grad_(False)
        found, names, _ = self.hessian(module, self.x, self.classes, F.cross_entropy)
        self.assertEqual(list(dict.fromkeys(names)), ["layer.weight", "layer.bias", "scales.w[0]", "scales.w[1]"])
        self.assert_same(module, F.cross_entropy, found, names)

    def test_one_layer_twice_beside_an_equal_one(self):
        norm = nn.LayerNorm(3)
        module = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3), nn.Tanh(), norm, nn.Softplus(), norm, nn.Linear(3, 2))
        module.register_buffer("unused", torch.zeros(2))
        found, names, said = self.hessian(module, self.x, self.classes, F.cross_entropy)
        self.assertEqual(said, "")
        self.assertEqual(list(dict.fromkeys(names)), [name for name, _ in module.named_parameters()])
        self.assert_same(module, F.cross_entropy, found, names)

    def test_nothing_of_files_that_nobody_wrote(self):
        last = nn.Linear(3, 2)
        centred = Net(lambda net, x: net.last(x - x.mean(0)), last=last)
        missing = self.x.index_fill(0, torch.tensor([1]), math.nan)
        weighted = nn.CrossEntropyLoss(torch.tensor([1.0, -1]))
        for words, module, inputs, target, loss in (
                ("array 'input', sample 1: expected finite", last, missing, self.y, nn.MSELoss()),
                ("'class_weights' must be numbers at least 0", last, self.x, self.classes, weighted),
                ("which takes a mean over the batch", centred, self.x, self.y, nn.MSELoss())):
            with self.subTest(words), self.assertRaisesRegex(hesscope.Error, words) as caught:
                self.hessian(module, inputs, target, loss)
            self.assertNotRegex(str(caught.exception), "hesscope-|problem.toml|data.npz")

        module = Net(lambda net, x: net.last(x).sqrt(), last=last)  # of negative numbers
        _, _, said = self.hessian(module, self.x, self.y, nn.MSELoss())
        self.assertIn("warning: the loss or gradient is not finite", said)
        self.assertNotIn("hesscope-", said)

    def test_models_that_are_exported_as_others(self):
        generator = np.random.default_rng(1)
        module = Net(lambda net, x: net.last(x * float(generator.random())), last=nn.Linear(3, 2))
        with self.assertRaisesRegex(hesscope.Error, "(?s)array 'predictions', sample 0.*another model than that in Py"):
            self.hessian(module, self.x, self.y, nn.MSELoss())

    def test_a_loss_that_is_rounding_alone(self):
        student = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        teacher = copy.deepcopy(student).requires_grad_(False)
        fitted = copy.deepcopy(student).double()(self.x.double()).detach()

        def divergence(found, target):
            return F.kl_div(*(each.log_softmax(1) for each in found), reduction="batchmean", log_target=True)
        both = Net(lambda net, x: (net.student(x), net.teacher(x)), student=student, teacher=teacher)
        for module, target, loss in ((both, self.y, divergence), (student, fitted, nn.MSELoss()),
                                     (student, fitted + 1e-17, lambda o, t: ((o - t) ** 2).mean(1)),
                                     (student, fitted, lambda o, t: (o - t).cosh().log().mean())):
            found, _, said = self.hessian(module, self.x, target, loss)
            self.assertEqual(said, "")
            self.assertGreater(np.linalg.norm(found), 0.1)

    def test_what_pytorch_does_not_export(self):
        layers = {"a": nn.Linear(3, 4), "b": nn.Linear(4, 2)}

        def slope(net, x):
            x.requires_grad_()
            return net.b(net.a(x)) + torch.autograd.grad(net.a(x).tanh().sum(), x, create_graph=True)[0][:, :2]
        places = torch.tensor([0, 1, 0, 1])
        for words, forward in (
                ("as ONNX: lgamma: write it by", lambda net, x: net.b(torch.lgamma(net.a(x).exp()))),
                ("as ONNX: scatter_reduce: write", lambda net, x: net.a(x).scatter_reduce(
                    1, places.expand(8, 4), net.a(x), "amax")[:, :2]),
                (r"takes a derivative itself \(autograd.grad\), as by its inputs.*: write the derivative out", slope)):
            with self.subTest(words), self.assertRaisesRegex(hesscope.Error, f"{words}[^\n]*$"):
                self.hessian(Net(forward, **layers), self.x, self.y, F.mse_loss)

    def test_functions_that_drop_numbers_out(self):
        layers = {"a": nn.Linear(3, 4), "b": nn.Linear(4, 2)}
        for name in ("dropout", "alpha_dropout"):
            module = Net(lambda net, x: net.b(getattr(F, name)(net.a(x), 0.5, True)), **layers)
            with self.subTest(name), self.assertRaisesRegex(
                    hesscope.Error, rf"although it is in evaluation mode: write F\.{name}\(x, p, training=self.training\)"):
                self.hessian(module, self.x, self.y, F.mse_loss)
        module = Net(lambda net, x: net.b(F.dropout(net.drop(net.a(x)), 0.0)), drop=nn.Dropout(0.5), **layers)
        self.assert_same(module, F.cross_entropy, *self.hessian(module, self.x, self.classes, F.cross_entropy)[:2])

    def test_fake_quantisation(self):
        quantisation = torch.ao.quantization
        trained = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).train()
        trained.qconfig = quantisation.get_default_qat_qconfig("fbgemm")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trained = quantisation.prepare_qat(trained)
        single = nn.Sequential(nn.Linear(3, 4), quantisation.FakeQuantize(), nn.Linear(4, 2))
        function = Net(lambda net, x: net.a(torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)), a=nn.Linear(3, 2))
        for module in (trained, single, function):
            module(self.x)  # after which observers have seen numbers
            with self.assertRaisesRegex(hesscope.Error, r"rounding has no derivative.*quantization\.disable_fake_quant"):
                self.hessian(module, self.x, self.y, F.mse_loss)
        for module in (trained, single):
            _, names, _ = self.hessian(module.apply(quantisation.disable_fake_quant), self.x, self.y, F.mse_loss)
            self.assertEqual(list(dict.fromkeys(names)), ["0.weight", "0.bias", "2.weight", "2.bias"])

    def test_parametrizations_that_pytorch_does_not_export(self):
        for choice in ("cayley", "matrix_exp", "householder"):
            module = nn.Sequential(nn.utils.parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map=choice),
                                   nn.Linear(3, 2))
            words = r'parametrization of 0\.weight \(_Orthogonal\).*remove_parametrizations\(module, "weight"\)$'
            with self.subTest(choice), self.assertRaisesRegex(hesscope.Error, words):
                self.hessian(module, self.x, self.y, F.mse_loss)
            nn.utils.parametrize.remove_parametrizations(module[0], "weight")
            _, names, _ = self.hessian(module, self.x, self.y, F.mse_loss)
            self.assertIn("0.weight", names)

    def test_samples_that_interact(self):
        last = nn.Linear(3, 2)
        ignored = self.classes.index_fill(0, torch.tensor([1]), -100)
        masked = (self.y > 0).double()
        with_loss = Net(lambda net, x, labels: F.nll_loss(net.last(x).log_softmax(1), labels), last=last)
        for words, module, inputs, target, loss in (
                ("would interact", last, self.x, self.y, lambda o, t: ((o - t) ** 2).mean().sqrt()),
                ("would interact", last, self.x, self.y, lambda o, t: (((o - t) ** 2) * (t > 0)).sum() / (t > 0).sum()),
                ("let samples meet", Net(lambda net, x: net.last(x) + masked, last=last), self.x, self.y, F.mse_loss),
                ("no number, PyTorch's is .*ignore_index=", last, self.x, ignored, lambda o, t: F.cross_entropy(o, t)),
                ("no number, PyTorch's is .*ignore_index=", with_loss, [self.x, ignored], None, None)):
            with self.subTest(words), self.assertRaisesRegex(hesscope.Error, f"(?s){words}.*whole_batch=True") as caught:
                self.hessian(module, inputs, target, loss)
            self.assertNotIn("draws random numbers", str(caught.exception))
        self.hessian(last, self.x, ignored, lambda o, t: F.cross_entropy(o, t), whole_batch=True)
        with self.assertRaises(hesscope.Error) as caught:
            self.hessian(last, self.x, self.y, lambda o, t: torch.lgamma(o).sum() + masked.sum(), whole_batch=True)
        self.assertNotIn("whole_batch", str(caught.exception))

    def test_tensors_that_are_none_of_the_models(self):
        last = nn.Linear(3, 2)
        own = "none of the model's, as in a list or a function, keep their 32 bits: make them buffers"
        learned, fixed = nn.Linear(3, 2), nn.Linear(3, 2).requires_grad_(False)
        with self.assertRaisesRegex(hesscope.Error, "a tensor that is learned and not the model's own: make model and"):
            self.hessian(last, self.x, self.x, lambda o, t: F.mse_loss(o, learned(t)))
        _, _, said = self.hessian(last, self.x, self.x, lambda o, t: F.mse_loss(o, fixed(t)))
        self.assertIn(own, said)
        half = torch.randn(2, 2).half()
        with self.assertRaisesRegex(RuntimeError, own):
            self.hessian(last, self.x, self.y, lambda o, t: F.mse_loss(o @ half, t))

    def test_losses_that_are_none(self):
        with self.assertRaisesRegex(ValueError, r"mean over the batch or a number for each of 8 samples.*\(8, 2\)"):
            self.hessian(nn.Linear(3, 2), self.x, self.y, nn.MSELoss(reduction="none"))

    def test_whatever_an_exporter_raises(self):
        for error, words in ((IndexError("pop from empty list"), "IndexError: pop from empty list$"),
                             (AssertionError(), "AssertionError$"), (ValueError("a\nb"), "ValueError: a$")):
            with self.subTest(words), unittest.mock.patch("torch.onnx.export", side_effect=error):
                with self.assertRaisesRegex(hesscope.Error, "PyTorch cannot export this model as ONNX: " + words):
                    self.hessian(nn.Linear(3, 2), self.x, self.y, nn.MSELoss())


if __name__ == "__main__":
    program.main()
