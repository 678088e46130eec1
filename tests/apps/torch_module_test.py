# SPDX-License-Identifier: BSD-3-Clause
"""share/hesscope/hesscope_torch: Hessians of PyTorch modules by one call, beside PyTorch's own.

Where PyTorch is not installed, all tests are skipped.
"""
import concurrent.futures
import contextlib
import copy
import io
import os
import pathlib
import re
import sys
import unittest
import unittest.mock
import warnings

import numpy as np

import onnx_files
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
    from torch_models import Example, Net, weight
except ImportError:
    torch = None


def classifier(function, *shape, logits=3, **parts):
    samples = shape[0] if shape else 7
    return Example(Net(function, **parts), {"x": torch.randn(*(shape or (7, 4)))}, torch.arange(samples) % logits,
                   "cross-entropy", F.cross_entropy)


def perceptron(*layers):
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3), *layers)


def on_perceptron(function, target=None, module=None):
    target = torch.randn(7, 3) if target is None else target
    return Example(module or perceptron(), {"x": torch.randn(7, 4)}, target, "", function)


def table_of_positions():
    example = classifier(lambda net, x: net.head(x + net.positions), head=nn.Linear(4, 3))
    example.module.register_buffer("positions", torch.randn(4))
    return example


def buffer_that_is_not_saved():
    example = classifier(lambda net, x: net.head(x * net.scale), head=nn.Linear(4, 3))
    example.module.register_buffer("scale", torch.randn(4), persistent=False)
    return example


def buffers_of_integers_and_truth():
    example = classifier(lambda net, x: net.head((x + net.table(net.row)).masked_fill(net.mask, 0.0)), head=nn.Linear(4, 3),
                         table=nn.Embedding(5, 4))
    example.module.register_buffer("row", torch.tensor([2]))
    example.module.register_buffer("mask", torch.tensor([True, False, False, False]))
    example.module.register_buffer("unused", torch.arange(3))
    return example


def tied_weights():
    example = on_perceptron(F.mse_loss, torch.randn(7, 4),
                            nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)))
    example.module[2].weight = example.module[0].weight
    return example


def tied_embedding():
    table = nn.Embedding(6, 3)
    head = nn.Linear(3, 6, bias=False)
    head.weight = table.weight
    example = classifier(lambda net, x: net.head(net.table(x).tanh().mean(1)), table=table, head=head, logits=6)
    example.inputs["x"] = torch.randint(6, (7, 4))
    return example


def not_trained_yet():
    """Scales of one and biases of zero, of which exporters keep one."""
    return classifier(lambda net, x: net.layers(x), layers=nn.Sequential(
        nn.Linear(4, 5), nn.LayerNorm(5), nn.Tanh(), nn.Linear(5, 5), nn.LayerNorm(5), nn.BatchNorm1d(5), nn.Tanh(),
        nn.BatchNorm1d(5), nn.LayerNorm(5), nn.Linear(5, 3)))


def one_number_everywhere():
    example = tied_weights()
    example.module[2].weight = nn.Parameter(torch.zeros(4, 4))
    for parameter in example.module.parameters():
        nn.init.constant_(parameter, 0.25)
    return example


def dropout_in_training():
    return on_perceptron(F.mse_loss, module=nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.5), nn.Tanh(), nn.Linear(5, 3)).train())


def half_precision():
    return on_perceptron(F.mse_loss, module=perceptron().half())


def at_the_root():
    return classifier(lambda net, x: x @ net.weight * net.scale.exp(), weight=weight(4, 3),
                      scale=nn.Parameter(torch.tensor(0.5)))


def each_position():
    return Example(Net(lambda net, x: net.head(x).transpose(1, 2), head=nn.Linear(4, 3)), {"x": torch.randn(7, 5, 4)},
                   torch.randint(3, (7, 5)), "", F.cross_entropy)


def positions_and_samples_in_one():
    return Example(Net(lambda net, x: net.head(x).view(-1, 3), head=nn.Linear(4, 3)), {"x": torch.randn(7, 5, 4)},
                   torch.randint(3, (35,)), "", F.cross_entropy)


def one_sample():
    return Example(perceptron(), {"x": torch.randn(1, 4)}, torch.tensor([1]), "", F.cross_entropy)


def weights_of_classes():
    loss = nn.CrossEntropyLoss(weight=torch.tensor([0.25, 1.0, 3.0]).double(), label_smoothing=0.125)
    return on_perceptron(loss, torch.tensor([0, 1, 2, -100, 1, 0, 2]))


def soft_targets():
    return on_perceptron(nn.CrossEntropyLoss(), torch.softmax(torch.randn(7, 3), 1))


def logarithms():
    return on_perceptron(nn.NLLLoss(), torch.arange(7) % 3, perceptron(nn.LogSoftmax(1)))


def weights_of_positives():
    return on_perceptron(nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 3.0]).double()), (torch.randn(7, 3) > 0).float())


def huber():
    return on_perceptron(nn.HuberLoss(delta=0.5), 3 * torch.randn(7, 3))


def smooth_absolute():
    return on_perceptron(nn.SmoothL1Loss(beta=0.5), 3 * torch.randn(7, 3))


def absolute():
    return on_perceptron(F.l1_loss)


def own_mean():
    return on_perceptron(lambda output, target: ((output - target).abs() ** 3).mean())


def own_loss_with_numbers():
    class Weighted(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.tensor([0.25, 1.0, 2.0]))

        def forward(self, output, target):
            return ((output - target) ** 2 * self.weight).mean()
    return on_perceptron(Weighted().double())


CASES = (table_of_positions, buffer_that_is_not_saved, buffers_of_integers_and_truth, tied_weights, tied_embedding,
         not_trained_yet, one_number_everywhere, dropout_in_training, half_precision, at_the_root, each_position,
         positions_and_samples_in_one, one_sample, weights_of_classes, soft_targets, logarithms, weights_of_positives, huber,
         smooth_absolute, absolute, own_mean, own_loss_with_numbers)


@unittest.skipUnless(torch, "no PyTorch (Debian's python3-torch)")
class TorchModule(program.Case):
    def setUp(self):
        super().setUp()
        torch.set_num_threads(1)
        torch.manual_seed(5)

    def hessian(self, *arguments, **options):
        """With all warnings but those of PyTorch as errors."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", module="torch")
            warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
            return hesscope_torch.hessian(*arguments, program=PROGRAM, **options)

    def compare(self, matrix, names, want):
        """With derivatives()."""
        wanted_names, _, _, hessian, doubt = want
        self.assertLess(doubt, 1e-6)
        self.assertEqual(list(dict.fromkeys(names)), wanted_names)
        self.assertTrue(all(np.ptp(np.flatnonzero(names == name)) == np.sum(names == name) - 1 for name in wanted_names))
        scale = np.linalg.norm(hessian)
        self.assertGreater(scale, 1e-3)
        self.assertLess(np.linalg.norm(matrix - hessian), 1e-13 * scale)

    def test_hessians_of_all_kinds_of_modules(self):
        for make in (*torch_models.TRAINED, *torch_models.OTHERS, *CASES):
            with self.subTest(make.__name__):
                torch.manual_seed(5)
                example = make()
                state = {name: tensor.clone() for name, tensor in example.module.state_dict().items()}
                modes = [part.training for part in example.module.modules()]
                matrix, names = self.hessian(example.module, list(example.inputs.values()), example.target,
                                             example.function, sample_axis=example.sample_axis)
                self.compare(matrix, names, torch_models.derivatives(example))
                self.assertEqual([part.training for part in example.module.modules()], modes)
                for name, tensor in example.module.state_dict().items():
                    self.assertTrue(torch.equal(tensor, state[name]), name)
                    self.assertEqual(tensor.dtype, state[name].dtype)
                self.assertTrue(all(parameter.grad is None for parameter in example.module.parameters()))

    def test_what_needs_no_gradient_is_constant(self):
        module, x, target = perceptron(), torch.randn(7, 4), torch.randn(7, 3)
        whole, names = self.hessian(module, x, target, nn.MSELoss())
        module[0].requires_grad_(False)
        part, left = self.hessian(module, x, target, nn.MSELoss())
        self.assertEqual(set(left), {"2.weight", "2.bias"})
        rows = np.concatenate([np.flatnonzero(names == name) for name in dict.fromkeys(left)])
        np.testing.assert_allclose(part, whole[np.ix_(rows, rows)], rtol=0, atol=1e-14)

    def test_outputs_and_arguments_by_name(self):
        class ByName(nn.Module):
            def __init__(self, head):
                super().__init__()
                self.head = head

            def forward(self, target=None, other=None, *, mask=None):
                return {"hidden": target, "logits": self.head(target) * mask}

        class ByPlace(ByName):
            def forward(self, *inputs):
                return self.head(inputs[0]) * inputs[1], inputs[0]
        head, x, mask, target = nn.Linear(4, 3), torch.randn(7, 4), torch.rand(7, 3), torch.arange(7) % 3
        by_name, _ = self.hessian(ByName(head), {"mask": mask, "target": x}, target, F.cross_entropy, output="logits")
        by_place, _ = self.hessian(ByPlace(head), (x.numpy(), mask.numpy()), target.numpy(), F.cross_entropy)
        np.testing.assert_array_equal(by_name, by_place)
        self.assertEqual(by_name.shape, (15, 15))

    def test_a_model_that_gives_its_loss(self):
        class WithLoss(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(4, 3)

            def forward(self, x, y):
                return F.cross_entropy(self.head(x), y)
        module, x, y = WithLoss(), torch.randn(7, 4), torch.arange(7) % 3
        inside, names = self.hessian(module, [x, y])
        outside, _ = self.hessian(nn.Sequential(module.head), x, y, nn.CrossEntropyLoss())
        np.testing.assert_allclose(inside, outside, rtol=0, atol=1e-15)
        decayed, _ = self.hessian(module, [x, y], weight_decay=0.5)
        np.testing.assert_allclose(decayed, inside + 0.5 * np.eye(15), rtol=0, atol=1e-15)

    def test_a_loss_of_each_sample(self):
        module, x, target = perceptron(), torch.randn(7, 4), torch.randn(7, 3)
        each, _ = self.hessian(module, x, target, lambda output, target: ((output - target).abs() ** 3).sum(1))
        mean, _ = self.hessian(module, x, target, lambda output, target: 3 * ((output - target).abs() ** 3).mean())
        np.testing.assert_allclose(each, mean, rtol=0, atol=1e-13)

    def truth(self, function, module):
        """H of function(module) by PyTorch, module a copy in 64 bits whose parameters are those of the original."""
        module = copy.deepcopy(module).double().eval()
        parameters = list(module.parameters())
        gradient = torch.cat([g.flatten() for g in torch.autograd.grad(function(module), parameters, create_graph=True)])
        rows = [torch.autograd.grad(entry, parameters, retain_graph=True, allow_unused=True) for entry in gradient]
        return np.array([np.concatenate([np.zeros(p.numel()) if r is None else r.detach().numpy().ravel()
                                         for r, p in zip(row, parameters)]) for row in rows])

    def assert_same(self, found, wanted):
        self.assertLess(np.linalg.norm(found - wanted), 1e-13 * np.linalg.norm(wanted))

    def test_numbers_that_python_computes_of_the_batch(self):
        x, target = torch.randn(12, 4), torch.randn(12, 3)
        module = Net(lambda net, x: net.layers(x if x[:, 0].mean() > 1 else -x) * len(x) / 10, layers=perceptron())
        for loss in (lambda o, t: ((o - t) ** 2).mean() / t.max().item(), F.mse_loss,
                     lambda o, t: F.mse_loss(o, t) + 0.01 * o.square().mean()):
            found, _ = self.hessian(module, x, target, loss)
            self.assert_same(found, self.truth(lambda m: loss(m(x.double()), target.double()), module))

    def test_what_the_loss_reads_off_the_model(self):
        class Auxiliary(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(4, 5), nn.Linear(5, 3)

            def forward(self, x):
                h = torch.tanh(self.a(x))
                self.extra = h.square().mean()
                return self.b(h)
        module, x, y = Auxiliary(), torch.randn(12, 4), torch.arange(12) % 3
        module(x)
        kept = module.extra

        def loss_of(module):
            return lambda o, t: F.cross_entropy(o, t) + 0.5 * module.extra + 0.1 * sum(
                p.square().sum() for p in module.parameters())
        found, _ = self.hessian(module, x, y, loss_of(module))
        self.assertIs(module.extra, kept)
        del module.extra  # which has a history, and cannot be copied
        self.assert_same(found, self.truth(lambda m: loss_of(m)(m(x.double()), y), module))

    def test_hooks_belong_to_the_model(self):
        x, y = torch.randn(12, 4), torch.arange(12) % 3
        for register in (lambda m: m.register_forward_hook(lambda module, inputs, output: 2 * output),
                         lambda m: m.register_forward_pre_hook(lambda module, inputs: (3 * inputs[0],))):
            module = perceptron()
            register(module)
            found, _ = self.hessian(module, x, y, lambda o, t: F.cross_entropy(o, t))
            self.assert_same(found, self.truth(lambda m: F.cross_entropy(m(x.double()), y), module))

    def test_all_outputs_for_a_function_of_the_users(self):
        module = Net(lambda net, x: (net.a(x), net.b(x).tanh()), a=nn.Linear(4, 3), b=nn.Linear(4, 2))
        x, y = torch.randn(12, 4), torch.arange(12) % 3

        def loss(outputs, target):
            logits, code = outputs
            return F.cross_entropy(logits, target) + code.square().mean()
        found, _ = self.hessian(module, x, y, loss)
        self.assert_same(found, self.truth(lambda m: loss(m(x.double()), y), module))

    def test_the_row_of_padding_has_no_derivatives(self):
        module = Net(lambda net, x: net.head(net.table(x).tanh().mean(1)), table=nn.Embedding(5, 3, padding_idx=2),
                     head=nn.Linear(3, 2))
        nn.init.normal_(module.table.weight)
        x, y = torch.randint(5, (9, 4)), torch.arange(9) % 2
        x[:, 0] = 2
        found, _ = self.hessian(module, x, y, F.cross_entropy)
        self.assert_same(found, self.truth(lambda m: F.cross_entropy(m(x), y), module))
        self.assertEqual(np.count_nonzero(found[6:9]), 0)

    def test_samples_that_interact_on_purpose(self):
        module, a, b = nn.Linear(4, 3), torch.randn(6, 4), torch.randn(6, 4)

        def contrastive(outputs, others):
            z = F.normalize(outputs, dim=1)
            return F.cross_entropy(z @ z.t(), (torch.arange(len(outputs)) + 3) % 6) + (outputs * others[:, :3]).mean()
        found, _ = self.hessian(module, a, b, contrastive, whole_batch=True)
        self.assert_same(found, self.truth(lambda m: contrastive(m(a.double()), b.double()), module))

    def test_leaves_everything_as_it_was(self):
        class Merging(nn.Linear):  # as low-rank adapters do in evaluation mode
            def train(self, mode=True):
                super().train(mode)
                with torch.no_grad():
                    self.weight += 1
                return self
        module = nn.Sequential(Merging(4, 5), nn.Dropout(0.5), nn.Linear(5, 3))
        module[2].eval()
        weight, loss = module[0].weight.clone(), module(torch.randn(3, 4)).sum()
        states = torch.get_rng_state(), np.random.get_state()[1].copy()
        with torch.no_grad():
            self.hessian(module, torch.randn(6, 4, generator=torch.Generator().manual_seed(1)), torch.arange(6) % 3,
                         F.cross_entropy)
        self.assertTrue(torch.equal(module[0].weight, weight))
        self.assertEqual([part.training for part in module.modules()], [True, True, True, False])
        self.assertTrue(torch.equal(torch.get_rng_state(), states[0]))
        np.testing.assert_array_equal(np.random.get_state()[1], states[1])
        self.assertEqual(torch.get_default_dtype(), torch.float32)
        loss.backward()  # what was under way goes on
        self.assertEqual(module[0].weight.grad.dtype, torch.float32)

    def warned_of(self, function, *arguments, **options):
        """What was warned of by hesscope_torch."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", module="torch")
            function(*arguments, **options)
        return [str(each.message) for each in said if "PyTorch" in str(each.message)]

    def test_warns_where_pytorch_has_other_gradients(self):
        class Reversed(torch.autograd.Function):
            @staticmethod
            def forward(_, x):
                return x.view_as(x)

            @staticmethod
            def backward(_, slope):
                return -slope

        def rounded(net, x):
            h = net.a(x).tanh()
            return net.b(h + ((4 * h).round() / 4 - h).detach())
        for case, forward in (("cut", lambda net, x: net.b(net.a(x).tanh() + net.a(x).detach())), ("straight through", rounded),
                              ("of the same norm", lambda net, x: net.b(Reversed.apply(net.a(x).tanh())))):
            with self.subTest(case):
                module = Net(forward, a=nn.Linear(4, 5), b=nn.Linear(5, 3))
                arguments = module, torch.randn(7, 4), torch.arange(7) % 3, F.cross_entropy
                for function, options in ((hesscope_torch.hessian, {"program": PROGRAM}), (hesscope_torch.analyze, {
                        "program": PROGRAM}), (lambda *each: hesscope_torch.save_problem(self.folder / "p", *each), {})):
                    said = self.warned_of(function, *arguments, **options)
                    self.assertEqual(len(said), 1, said)
                    self.assertRegex(said[0], "PyTorch's gradient is another one.*detach")

    def test_warns_where_pytorch_has_other_second_derivatives(self):
        module = perceptron()
        x, y = torch.randn(7, 4), torch.arange(7) % 3

        def distilled(output, target):
            return F.cross_entropy(output, target) + 0.1 * F.kl_div(
                output.log_softmax(1), output.detach().softmax(1), reduction="batchmean")

        def proximal(output, target):
            return F.cross_entropy(output, target) + sum(((p - p.detach()) ** 2).sum() for p in module.parameters()) / 20
        plain, _ = self.hessian(module, x, y, F.cross_entropy)
        for loss in (distilled, proximal):
            with self.subTest(loss.__name__):
                for function, options in ((hesscope_torch.hessian, {"program": PROGRAM}), (
                        lambda *each: hesscope_torch.save_problem(self.folder / "p", *each), {})):
                    said = self.warned_of(function, module, x, y, loss, **options)
                    self.assertEqual(len(said), 1, said)
                    self.assertRegex(said[0], r"PyTorch's second derivatives are others: .* by [\d.]+ %: detach")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found, _ = hesscope_torch.hessian(module, x, y, loss, program=PROGRAM)
                self.assert_same(found, plain)

    def test_no_warning_where_pytorch_cannot_tell(self):
        class Once(torch.autograd.Function):
            @staticmethod
            def forward(_, x, slope):
                return 2 * x * slope

            @staticmethod
            def backward(_, slope):
                raise RuntimeError("not implemented")

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                context.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(context, slope):
                return Once.apply(*context.saved_tensors, slope)
        layers = {"a": nn.Linear(4, 5), "b": nn.Linear(5, 3)}
        x, y = torch.randn(7, 4), torch.arange(7) % 3
        self.hessian(Net(lambda net, x: net.b(Square.apply(net.a(x))), **layers), x, y, F.cross_entropy)

        nn.init.zeros_(layers["a"].bias)  # units at a kink
        x[:5] = 0
        self.hessian(Net(lambda net, x: net.b(net.a(x).relu()), **layers), x, y, F.cross_entropy)

        class Root(torch.nn.Module):  # which cannot be anywhere else
            def __init__(self):
                super().__init__()
                self.head, self.scale = nn.Linear(4, 3), nn.Parameter(torch.full((3,), 1e-5))

            def forward(self, x):
                assert self.scale.min() > 0
                return self.head(x) * self.scale
        self.hessian(Root(), x, y, F.cross_entropy)

        table = nn.Embedding(5, 4, max_norm=1)
        module = Net(lambda net, places: net.head(net.table(places).tanh().mean(1)), table=table, head=nn.Linear(4, 3))
        self.hessian(module, torch.arange(14).reshape(7, 2) % 5, y, F.cross_entropy)

    def test_refuses_an_export_that_is_another_model(self):
        generator = np.random.default_rng(1)
        module = Net(lambda net, x: net.head(x * float(generator.random())), head=nn.Linear(4, 3))
        with self.assertRaisesRegex(hesscope.Error, "array 'predictions' says that the mean loss is"):
            self.hessian(module, torch.randn(7, 4), torch.arange(7) % 3, lambda o, t: F.cross_entropy(o, t))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = hesscope_torch.save_problem(self.folder / "p", module, torch.randn(7, 4), torch.arange(7) % 3,
                                                  lambda o, t: F.cross_entropy(o, t))
        torch.save(module.state_dict(), self.folder / "model.pt")
        with self.assertRaisesRegex(hesscope.Error, "array 'predictions' says that the mean loss is"):
            hesscope.analyze(self.folder / "model.pt", problem, program=PROGRAM)

    def test_a_saved_problem_replaces_what_is_its_own_alone(self):
        x, y, loss = torch.randn(7, 4), torch.arange(7) % 3, nn.CrossEntropyLoss()
        folder = self.folder / "p"
        spare = Net(lambda net, x: net.head(x), head=nn.Linear(4, 3), spare=nn.Linear(2, 2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            hesscope_torch.save_problem(folder, spare, x, y, loss)
            self.assertIn("spare.weight", (folder / "map.toml").read_text())
            hesscope_torch.save_problem(folder, Net(lambda net, x: net.head(x), head=nn.Linear(4, 3)), x, y, loss)
        self.assertFalse((folder / "map.toml").exists())
        (folder / "map.toml").write_text('ignore = ["mine"]\n')
        hesscope_torch.save_problem(folder, Net(lambda net, x: net.head(x), head=nn.Linear(4, 3)), x, y, loss)
        with self.assertWarnsRegex(UserWarning, "map.toml is none of save_problem.*ignore = .*spare.weight"):
            hesscope_torch.save_problem(folder, spare, x, y, loss)
        self.assertEqual((folder / "map.toml").read_text(), 'ignore = ["mine"]\n')
        for name in ("problem.toml", "model.onnx", "data.npz"):
            other = self.folder / f"other-{name}"
            other.mkdir()
            (other / name).write_text("mine")
            with self.assertRaisesRegex(FileExistsError, f"{name} is there, and none of save_problem"):
                hesscope_torch.save_problem(other, spare, x, y, loss)
            self.assertEqual([path.name for path in other.iterdir()], [name])

    def test_a_saved_problem_is_replaced_as_a_whole_or_not_at_all(self):
        def contents(folder):
            return {path.name: path.read_bytes() for path in folder.iterdir()}
        x, y, loss = torch.randn(7, 4), torch.randn(7, 1), nn.MSELoss()
        folder = self.folder / "p"
        hesscope_torch.save_problem(folder, nn.Linear(4, 1), x, y, loss)
        saved = contents(folder)
        other = Net(lambda net, x: torch.lgamma(net.layer(x).exp()), layer=nn.Linear(4, 1))
        for error, model, targets in ((ValueError, nn.Linear(4, 1), y[:, 0]), (hesscope.Error, other, y)):
            with self.subTest(error), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for place in (folder, self.folder / "new"):
                    with self.assertRaises(error):
                        hesscope_torch.save_problem(place, model, x, targets, loss)
                self.assertEqual(contents(folder), saved)
                self.assertFalse((self.folder / "new").exists())
        (self.folder / "new").mkdir()
        with self.assertRaises(hesscope.Error):
            hesscope_torch.save_problem(self.folder / "new", other, x, y, loss)
        hesscope_torch.save_problem(self.folder / "new", nn.Linear(4, 1), x, y, loss)

    def test_a_problem_that_is_half_replaced_is_none(self):
        x, y, loss = torch.randn(7, 4), torch.randn(7, 1), nn.MSELoss()
        model, replace = nn.Linear(4, 1), os.replace
        torch.save(model.state_dict(), self.folder / "model.pt")
        for num_replaced in range(1, 4):
            folder = self.folder / f"after-{num_replaced}"
            problem = hesscope_torch.save_problem(folder, nn.Linear(4, 1), x, y, loss)
            steps = iter([replace] * num_replaced)

            def interrupted(*paths):
                next(steps, self.interrupt)(*paths)
            with unittest.mock.patch("os.replace", interrupted), self.assertRaises(KeyboardInterrupt):
                hesscope_torch.save_problem(folder, model, x, y, loss)
            self.assertIn("interrupted", problem.read_text())
            with self.assertRaisesRegex(hesscope.Error, r"problem.toml: needs a table \[model\]"):
                hesscope.analyze(self.folder / "model.pt", problem, program=PROGRAM)
            hesscope_torch.save_problem(folder, model, x, y, loss)
            self.assertEqual({path.name for path in folder.iterdir()}, {"model.onnx", "data.npz", "problem.toml"})
            run = hesscope.analyze(self.folder / "model.pt", problem, "--only", "hessian", program=PROGRAM)
            self.assertAlmostEqual(run["loss"].values[0], loss(model(x), y).item(), delta=1e-6)

    def interrupt(self, *_):
        raise KeyboardInterrupt

    def test_large_tensors_have_files_of_their_own(self):
        """As the exporter writes them where a model has more than 2 GB."""
        x, y, export = torch.randn(7, 4), torch.randn(7, 1), torch.onnx.export

        def with_a_file(model, arguments, path, **options):
            export(model, arguments, path, **options)
            pathlib.Path(path).with_name("weight").write_bytes(b"numbers")
        arguments = nn.Linear(4, 1), x, y, nn.MSELoss()
        with unittest.mock.patch("torch.onnx.export", with_a_file):
            hesscope_torch.save_problem(self.folder / "p", *arguments)
            self.assertEqual((self.folder / "p/weight").read_bytes(), b"numbers")
            (self.folder / "mine").mkdir()
            (self.folder / "mine/weight").write_text("mine")
            with self.assertRaisesRegex(FileExistsError, "weight is there, and none of save_problem"):
                hesscope_torch.save_problem(self.folder / "mine", *arguments)
        self.assertEqual([path.name for path in (self.folder / "mine").iterdir()], ["weight"])
        self.assertEqual((self.folder / "mine/weight").read_text(), "mine")

    def test_parameters_with_names_of_buffers(self):
        names = ("inv_freq", "running_mean", "running_var", "mean", "std", "a_mask", "a_u")
        module = Net(lambda net, x: net.head(x) + sum(getattr(net, name) for name in names) * net.part.step,
                     head=nn.Linear(4, 3), part=Net(None, step=nn.Parameter(torch.tensor(0.5))),
                     **{name: weight(3) for name in names})
        x, y = torch.randn(7, 4), torch.arange(7) % 3
        problem = hesscope_torch.save_problem(self.folder / "p", module, x, y, nn.CrossEntropyLoss())
        self.assertIn('\nparameters = ["inv_freq", "running_mean",', problem.read_text())
        torch.save(module.state_dict(), self.folder / "model.pt")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run = hesscope.analyze(self.folder / "model.pt", problem, "--only", "hessian", program=PROGRAM)
        self.assertEqual(set(run["parameter_name"].values), {"head.weight", "head.bias", "part.step", *names})

    def test_names_paddings_that_cannot_be_exported(self):
        module = Net(lambda net, x: net.head(net.conv(x[:, None]).flatten(1)), head=nn.Linear(8, 3),
                     conv=nn.Conv1d(1, 2, 3, padding="same"))
        with self.assertRaisesRegex(hesscope.Error, "give the padding as numbers"):
            self.hessian(module, torch.randn(7, 4), torch.arange(7) % 3, nn.CrossEntropyLoss())

    def test_says_what_is_wrong_with_arguments(self):
        x, y, loss = torch.randn(7, 4), torch.arange(7) % 3, nn.CrossEntropyLoss()
        for error, words, arguments, options in (
                (TypeError, "^model must be .* got Tensor: the order is model, inputs, targets, loss$",
                 (x, perceptron(), y, loss), {}),
                (TypeError, "^loss must be .* got Tensor: the order is model, inputs, targets, loss$",
                 (perceptron(), x, loss, y), {}),
                (TypeError, "or a function, got list$", (perceptron(), x, y, [y]), {}),
                (TypeError, "got <class .*CrossEntropyLoss'>$", (perceptron(), x, y, nn.CrossEntropyLoss), {}),
                (TypeError, "DataLoader", (perceptron(), torch.utils.data.TensorDataset(x, y), y, loss), {}),
                (TypeError, "torch.jit", (torch.jit.script(perceptron()), x, y, loss), {}),
                (ValueError, "needs targets", (perceptron(), x, None, loss), {}),
                (ValueError, "targets without a loss", (perceptron(), x, y), {}),
                (ValueError, "no samples", (perceptron(), x[:0], y[:0], loss), {}),
                (ValueError, "sample_axis is -1", (perceptron(), x, y, loss), {"sample_axis": -1}),
                (ValueError, "`result`", (perceptron(), x, y, loss), {"output": "run.h5"}),
                (ValueError, "each with each", (perceptron(nn.Linear(3, 1)), x, torch.randn(7), nn.MSELoss()), {}),
                (ValueError, "no tensor that requires a gradient", (perceptron().requires_grad_(False), x, y, loss), {}),
                (ValueError, "all names begin", (Net(lambda net, x: net.module(x), module=perceptron()), x, y, loss), {}),
                (hesscope.Error, "one module that gives the loss",
                 (perceptron(), x, y, lambda o, t, w=weight(3): (o * w).mean()), {})):
            with self.subTest(words), self.assertRaisesRegex(error, words):
                self.hessian(*arguments, **options)

    def test_the_readme_is_right(self):
        digits = SOURCE / "data" / "digits"
        model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 10))
        model.load_state_dict(torch.load(digits / "runs" / "epoch-10.pt")["model_state_dict"])
        with np.load(digits / "eval.npz") as data:
            images, labels = torch.tensor(data["image"]), torch.tensor(data["target"])
        section = (SOURCE / "README.md").read_text().partition("## Any model")[2]
        code, table = re.search(r"(?s)```python\n(.*?)```.*?\n(epoch-10.pt.*?)\n", section).groups()
        (self.folder / "hesscope").symlink_to(PROGRAM)
        printed = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed), unittest.mock.patch.dict(
                "os.environ", PATH=f"{self.folder}:{os.environ['PATH']}"):
            exec(code, {"model": model, "images": images, "labels": labels, "nn": nn})
        largest = float(table.split()[3])
        self.assertLess(abs(float(printed.getvalue()) - largest), 1e-5 * largest)
        run = hesscope.analyze(digits / "runs", self.folder / "digits" / "problem.toml", "--key", "model_state_dict", "--only",
                               "spectrum", program=PROGRAM)
        self.assertLess(abs(run["spectrum/lambda_max"].values[-1] - largest), 1e-5 * largest)

    def test_several_at_once(self):
        def one(seed):
            torch.manual_seed(seed)
            return self.hessian(perceptron(), torch.randn(7, 4), torch.arange(7) % 3, F.cross_entropy)[0].shape
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            self.assertEqual(list(pool.map(one, range(3))), [(43, 43)] * 3)

    def test_weights_that_a_hook_computes(self):
        module = nn.Sequential(nn.utils.weight_norm(nn.Linear(4, 3)), nn.Tanh(), nn.Linear(3, 2))
        x, target = torch.randn(7, 4), torch.arange(7) % 2
        module(x).sum().backward()  # which leaves a tensor with a history in the module
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch 1.13 has other second derivatives, which are wrong
            matrix, names = hesscope_torch.hessian(module, x, target, nn.CrossEntropyLoss(), program=PROGRAM)
        self.assertEqual(set(names), {"0.weight_g", "0.weight_v", "0.bias", "2.weight", "2.bias"})
        double = nn.Sequential(nn.utils.weight_norm(nn.Linear(4, 3)), nn.Tanh(), nn.Linear(3, 2)).double()
        double.load_state_dict(module.state_dict())

        def gradient():
            loss = F.cross_entropy(double(x.double()), target)
            parts = torch.autograd.grad(loss, [double.get_parameter(name) for name in dict.fromkeys(names)])
            return torch.cat([part.flatten() for part in parts]).numpy()
        entries = double[0].weight_v.data.view(-1)
        row = np.flatnonzero(names == "0.weight_v")[5]
        entries[5] += 1e-5
        after = gradient()
        entries[5] -= 2e-5
        np.testing.assert_allclose(matrix[row], (after - gradient()) / 2e-5, rtol=0, atol=1e-8)

    def test_says_what_it_leaves_out(self):
        module = Net(lambda net, x: net.head(x), head=nn.Linear(4, 3), spare=nn.Linear(2, 2))
        arguments = module, torch.randn(7, 4), torch.arange(7) % 3, nn.CrossEntropyLoss()
        with self.assertWarnsRegex(UserWarning, r"no derivative .* reaches spare\.weight, spare\.bias"):
            run = hesscope_torch.analyze(*arguments, "--only", "hessian", program=PROGRAM)
        self.assertEqual([str(name) for name in run["parameter_name"].values], ["head.weight", "head.bias"])

        module = Net(lambda net, x: net.head(x.float()), head=nn.Linear(4, 3))
        with self.assertWarnsRegex(UserWarning, "does not run in 64 bits"):
            found, _ = hesscope_torch.hessian(module, *arguments[1:], program=PROGRAM)
        example = Example(Net(lambda net, x: net.head(x), head=module.head), {"x": arguments[1]}, arguments[2], "",
                          F.cross_entropy)
        np.testing.assert_allclose(np.linalg.eigvalsh(found), np.linalg.eigvalsh(torch_models.derivatives(example)[3]),
                                   rtol=0, atol=1e-13)

    def test_refuses_what_the_program_refuses(self):
        module = Net(lambda net, x: net.head(x - x.mean(0)), head=nn.Linear(4, 3))
        with self.assertRaisesRegex(hesscope.Error, "mean over the batch"):
            self.hessian(module, torch.randn(7, 4), torch.arange(7) % 3, nn.CrossEntropyLoss())

    def test_a_problem_for_the_checkpoints_of_a_training(self):
        for make in (table_of_positions, not_trained_yet, tied_weights, own_mean):
            with self.subTest(make.__name__):
                torch.manual_seed(5)
                example = make()
                folder = self.folder / make.__name__
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    problem = hesscope_torch.save_problem(folder, example.module, example.inputs["x"], example.target,
                                                          example.function)
                self.assertEqual({path.name for path in folder.iterdir()}, {"model.onnx", "data.npz", "problem.toml"})
                (folder / "runs").mkdir()
                wanted = []
                for epoch, module in enumerate(example.trained(epochs=2)):
                    torch.save({"model": module.state_dict()}, folder / "runs" / f"epoch-{epoch}.pt")
                    wanted.append(torch_models.derivatives(example))
                run = hesscope.analyze(folder / "runs", problem, "--key", "model", "--only", "hessian", "--save-hessian",
                                       program=PROGRAM, output=folder / "run.h5")
                for loss, found, want in zip(run["loss"].values, run["hessian/matrix"].values, wanted):
                    self.assertLess(abs(loss - want[1]), 1e-14)
                    np.testing.assert_allclose(np.linalg.eigvalsh(found), np.linalg.eigvalsh(want[3]), rtol=0,
                                               atol=1e-12 * np.linalg.norm(want[3]))

    def test_each_checkpoint_has_its_own_tensors_that_only_conditions_read(self):
        def forward(net, x):
            with torch.no_grad():
                wanted = net.slow(x)
            h = net.a(x)
            h = torch.where(h > net.cut, h, 0.1 * h).masked_fill(net.mask == 0, 0)
            return ((net.b(h) - wanted) ** 2).sum(1)
        module = Net(forward, a=nn.Linear(4, 5), b=nn.Linear(5, 3), slow=perceptron(), spare=nn.BatchNorm1d(2))
        for name, tensor in (("cut", torch.zeros(1)), ("mask", torch.ones(5)), ("order", torch.arange(3))):
            module.register_buffer(name, tensor)
        x = torch.randn(12, 4)
        with self.assertWarnsRegex(UserWarning, r"no derivative of the output reaches slow\.0\.weight"):
            problem = hesscope_torch.save_problem(self.folder / "p", module, x)
        self.assertIn("\nignore = " + str([f"spare.{name}" for name in ("weight", "bias", "running_mean", "running_var")] +
                                          ["order"]).replace("'", '"'), (self.folder / "p/map.toml").read_text())
        losses = []
        for epoch in range(3):
            module.cut.fill_(0.3 * epoch)
            module.mask[epoch] = 0
            module.slow[2].bias.data.fill_(epoch)
            torch.save(module.state_dict(), self.folder / f"epoch-{epoch}.pt")
            losses.append(copy.deepcopy(module).double()(x.double()).mean().item())
        run = hesscope.analyze([self.folder / f"epoch-{epoch}.pt" for epoch in range(3)], problem, "--only", "hessian",
                               "--map", self.folder / "p/map.toml", program=PROGRAM)
        np.testing.assert_allclose(run["loss"].values, losses, rtol=1e-14)
        self.assertEqual(sorted(set(run["parameter_name"].values)), ["a.bias", "a.weight", "b.bias", "b.weight"])

    def test_what_a_branch_of_a_graph_reads(self):
        branch = onnx_files.field(1, onnx_files.node("Neg", ["inner"], ["y"])) + onnx_files.field(
            12, onnx_files.value_info("given", [2]))
        node = onnx_files.node("If", ["condition"], ["z"], slope=0.5) + onnx_files.field(
            5, onnx_files.field(1, "then_branch") + onnx_files.field(6, branch))
        (self.folder / "model.onnx").write_bytes(onnx_files.model(
            [node], {"spare": np.zeros((9, 40))}, [], [onnx_files.value_info("z", [2])]))
        self.assertEqual(hesscope_torch._graph.names_read(self.folder / "model.onnx"), {"condition", "inner", "given", "z"})


if __name__ == "__main__":
    program.main()
