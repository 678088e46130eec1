# SPDX-License-Identifier: BSD-3-Clause
"""share/hesscope/hesscope_torch: functions that it writes out by their formulas, beside PyTorch's own.

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

THIRD = 1 / 3  # a number that 32 bits do not hold


def between(function, inner=4):
    """Samples of a network with the function in its midst, of (samples, inner)."""
    return Net(lambda net, x: net.last(function(net.first(x))), first=nn.Linear(3, inner), last=nn.Linear(4, 2))


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4))


def learned(function):
    """A function of four numbers that are those of the data, but learned."""
    return Net(lambda net, x: (net.head * function(x * net.scale + net.shift)).exp(), scale=nn.Parameter(torch.ones(4)),
               shift=nn.Parameter(torch.zeros(4)), head=nn.Parameter(torch.tensor(0.5)))


def signs(*shape):
    return torch.where(torch.randn(*shape) > 0, 1.0, -1.0)


def multi_margin(p, margin, weight):
    """As the documentation of PyTorch has it, whose own has no second derivative."""
    def loss(output, target):
        return sum(weight[y] * sum((margin - o[y] + o[j]).relu() ** p for j in range(len(o)) if j != y) / len(o)
                   for o, y in zip(output, target)) / len(output)
    return loss


def multilabel_margin(output, target):
    """As well."""
    total = 0
    for o, row in zip(output, target.tolist()):
        labels = row[:row.index(-1)] if -1 in row else row
        others = [j for j in range(len(o)) if j not in labels]
        total = total + sum((1 - (o[y] - o[j])).relu() for y in labels for j in others) / len(o)
    return total / len(output)


def distances(a, b, p=2.0):
    """Of rows, by a norm that PyTorch has all derivatives of where it is not 0; 0 from a row to itself."""
    rows = [torch.stack([torch.linalg.vector_norm(x - y, p) if bool((x != y).any()) else 0 * x.sum() for y in many])
            for few, many in zip(a, b) for x in few]
    return torch.stack(rows).view(*a.shape[:-1], b.shape[-2])


@unittest.skipUnless(torch, "no PyTorch (Debian's python3-torch)")
class TorchFunctions(program.Case):
    def setUp(self):
        super().setUp()
        torch.set_num_threads(1)
        torch.manual_seed(5)

    def check(self, module, inputs, target, loss, by=None, is_smooth=True, **options):
        """Loss, gradient and Hessian with PyTorch's: of module and loss, or of those in `by`, of which PyTorch has all
        derivatives. These are checked with differences, unless there is a kink."""
        compared = unittest.mock.patch.object(hesscope_torch.Problem, "compare", autospec=True,
                                              side_effect=hesscope_torch.Problem.compare)
        with warnings.catch_warnings(), compared as compare:
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", module="torch")
            warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
            found, names = hesscope_torch.hessian(module, inputs, target, loss, program=PROGRAM, **options)
        own, other = (Example(each, {"x": inputs}, target, "", function) for each, function in ((module, loss), by or
                                                                                                (module, loss)))
        other.module.load_state_dict(module.state_dict())
        wanted, value, gradient, hessian, doubt = torch_models.derivatives(other)
        self.assertEqual(list(dict.fromkeys(names)), wanted)
        if is_smooth:
            self.assertLess(doubt, 1e-6)
        scale, slope = np.linalg.norm(hessian), np.linalg.norm(gradient)
        self.assertGreater(scale, 1e-3)
        for mean in (own.mean_loss(copy.deepcopy(module).double()).mean(), compare.call_args.args[1]):
            self.assertLess(abs(float(mean) - value), 1e-14 * (1 + abs(value)))
        self.assertLess(abs(compare.call_args.args[2] - slope), 1e-13 * (1 + slope))
        self.assertLess(np.linalg.norm(found - hessian), 1e-13 * scale)

    def check_functions(self, functions, around, inputs, **options):
        """Of one function, or of one and the formula that PyTorch has all derivatives of."""
        for name, function in functions.items():
            with self.subTest(name):
                function, formula = function if isinstance(function, tuple) else (function, function)
                module = around(function).double()
                target = torch.randn_like(module(inputs.double()))
                self.check(module, inputs.double(), target, F.mse_loss, by=(around(formula), F.mse_loss), **options)

    def check_losses(self, losses, **options):
        for name, (loss, target) in losses.items():
            with self.subTest(name):
                loss, formula = loss if isinstance(loss, tuple) else (loss, loss)
                self.check(network(), torch.randn(8, 3), target, loss, by=(network(), formula), **options)

    def test_settings_that_are_no_32_bit_numbers(self):
        table = torch.rand(4, 4, dtype=torch.float64) + 0.5
        a, b, c, d = table
        self.check_functions({
            "selu": F.selu, "elu": lambda h: F.elu(h, THIRD), "leaky": nn.LeakyReLU(THIRD), "rrelu": nn.RReLU().eval(),
            "in place": lambda h: (lambda z: F.leaky_relu(z, THIRD, inplace=True) * z)(h * 1.0),
            "celu, of whose gradient PyTorch has 32 bits": (lambda h: F.celu(h, THIRD), lambda h: torch.where(
                h > 0, h, THIRD * torch.expm1(h.clamp(max=0) / THIRD))),
            "hardsigmoid": (lambda h: F.hardsigmoid(4 * h), lambda h: (4 * h / 6 + 0.5).clamp(0, 1)),
            "layer norm": lambda h: F.layer_norm(h, (4,), a, b, THIRD),
            "layer norm of two axes": lambda h: F.layer_norm(h.view(-1, 2, 2), (2, 2), eps=THIRD).flatten(1),
            "group norm": lambda h: F.group_norm(h[:, :, None] * a[:2], 2, a, b, THIRD).sum(2),
            "instance norm": lambda h: F.instance_norm(h.view(-1, 2, 2), weight=a[:2], eps=THIRD).flatten(1),
            "averages of instances": lambda h: F.instance_norm(h.view(-1, 2, 2), a[:2], b[:2], None, c[:2], False,
                                                               eps=THIRD).flatten(1),
            "batch norm": lambda h: F.batch_norm(h, a, b, c, d, eps=THIRD),
            "batch norm of images": lambda h: F.batch_norm(h.view(-1, 2, 1, 2), a[:2], b[:2], eps=THIRD).flatten(1),
        }, between, torch.randn(8, 3))
        corners = torch.tensor([[-3.0, 3, 0, 1], [-4, 4, 2, -2]]).repeat(2, 1)
        self.check_functions({"hardsigmoid": (F.hardsigmoid, lambda h: torch.where(
            h.abs() < 3, h / 6 + 0.5, (h > 0).double()))}, learned, corners, is_smooth=False)

    def test_normalisations(self):
        a, b = torch.rand(2, 4, dtype=torch.float64) + 0.5
        self.check_functions({
            "layer norm without weights": nn.LayerNorm(4, elementwise_affine=False),
            "layer norm without bias": lambda h: F.layer_norm(h, (4,), a),
            "layer norm of a bias": lambda h: F.layer_norm(h, (4,), None, b),
            "group norm of channels": nn.GroupNorm(1, 4, affine=False),
            "groups of two": lambda h: F.group_norm(torch.cat([h, h ** 2], 1), 2, eps=1e-2)[:, 2:6],
            "instance norm": lambda h: F.instance_norm(h.view(-1, 1, 4)).flatten(1),
            "instance norm of averages": lambda h: F.instance_norm(h.view(-1, 2, 2), a[:2], b[:2], None, b[2:],
                                                                   False).flatten(1),
            "instance norm with weights": lambda h: F.instance_norm(h.view(-1, 1, 4), weight=a[:1]).flatten(1),
        }, between, torch.randn(8, 3))

    def test_batch_normalisation_by_the_batch(self):
        for shape, layer in (((4,), nn.BatchNorm1d(4, track_running_stats=False)),
                             ((2, 2), nn.BatchNorm1d(2, affine=False, track_running_stats=False)),
                             ((2, 2, 1), nn.BatchNorm2d(2, eps=THIRD, track_running_stats=False))):
            module = nn.Sequential(nn.Linear(3, 4), nn.Unflatten(1, shape), layer, nn.Flatten(), nn.Tanh(),
                                   nn.Linear(4, 2))
            arguments = module, torch.randn(8, 3), torch.randn(8, 2), F.mse_loss
            self.check(*arguments, whole_batch=True)
            with self.assertRaisesRegex(hesscope.Error, "batch's own mean.*whole_batch=True"):
                hesscope_torch.hessian(*arguments, program=PROGRAM)

    def test_losses(self):
        weights, classes = torch.tensor([0.5, 1, 2, 3], dtype=torch.float64), torch.arange(8) % 4
        chances, counts = torch.softmax(torch.randn(8, 4), 1), torch.randint(4, (8, 4)).float()
        lists = torch.tensor([[0, 2, -1, 1], [1, -1, 3, 3], [3, 2, 1, 0], [-1, 1, 1, 1]]).repeat(2, 1)
        truth = signs(8, 4)
        self.check_losses({
            "soft margin": (nn.SoftMarginLoss(), truth),
            "hinge embedding": (nn.HingeEmbeddingLoss(0.75), truth),
            "multi margin": ((nn.MultiMarginLoss(), multi_margin(1, 1, torch.ones(4))), classes),
            "multi margin of squares": ((nn.MultiMarginLoss(2, 0.75, weights), multi_margin(2, 0.75, weights)),
                                        classes),
            "multilabel margin": ((nn.MultiLabelMarginLoss(), multilabel_margin), lists),
            "multilabel soft margin": (nn.MultiLabelSoftMarginLoss(weights), truth.relu()),
            "ranking": (lambda o, t: F.margin_ranking_loss(o[:, 0], o[:, 1], t[:, 0], 0.25), truth),
            "cosine": (lambda o, t: F.cosine_embedding_loss(o, o ** 2, t[:, 0], 0.25), truth),
            "triplet": (lambda o, t: F.triplet_margin_loss(o, t, o ** 2, 2, swap=True), truth),
            "triplet of sizes": (lambda o, t: F.triplet_margin_loss(
                o, t, o ** 2, 2, p=1, reduction="sum") / o.shape[0], truth),
            "triplet of cubes": (lambda o, t: F.triplet_margin_loss(o, t, o ** 2, 2, p=3), truth),
            "triplet of a distance": (lambda o, t: nn.TripletMarginWithDistanceLoss(
                distance_function=nn.PairwiseDistance(), margin=3, swap=True)(o, t, 0 * t), truth),
            "triplet of a function": (lambda o, t: F.triplet_margin_with_distance_loss(
                o, t, 0 * t, distance_function=lambda a, b: F.huber_loss(a, b, reduction="none", delta=THIRD).sum(1)),
                truth),
            "chances of two": ((lambda o, t: F.binary_cross_entropy(o.sigmoid(), t), lambda o, t: -(
                t * o.sigmoid().log() + (1 - t) * (1 - o.sigmoid()).log()).mean()), truth.relu()),
            "poisson": (nn.PoissonNLLLoss(full=True), counts),
            "poisson without logarithm": (lambda o, t: F.poisson_nll_loss(o.exp(), t, False, True), counts),
            "chances": (lambda o, t: F.cross_entropy(o, t), chances),
            "chances with weights": (lambda o, t: F.cross_entropy(o, t, weights, label_smoothing=0.1), chances),
            "smooth labels with weights": ((
                nn.CrossEntropyLoss(weights, label_smoothing=0.1, reduction="none"),
                lambda o, t: F.cross_entropy(o, t, weights, label_smoothing=0.1, reduction="none").mean()), classes),
            "binary": (lambda o, t: F.binary_cross_entropy_with_logits(o, t, weights, pos_weight=1 / weights),
                       truth.relu()),
        })
        self.check_losses({
            "sums": (nn.CrossEntropyLoss(weights, label_smoothing=0.1, reduction="sum"), classes),
            "weighted mean": (lambda o, t: F.cross_entropy(o, t, weights, label_smoothing=0.1), classes),
            "ignored": (lambda o, t: F.cross_entropy(o, t, label_smoothing=0.1),
                        classes.masked_fill(classes == 1, -100)),
            "ignored with weights": (lambda o, t: F.cross_entropy(o, t, weights, ignore_index=2, label_smoothing=0.1),
                                     classes),
            "variances": (lambda o, t: torch.diag(o.t() @ o).sqrt().sum() + torch.diag(o.t() @ o, 1).exp().sum(),
                          classes),
        }, whole_batch=True)

    def test_weights_of_positives(self):
        table = torch.rand(3, 4, dtype=torch.float64)
        last = nn.Linear(5, 4)
        places = Net(lambda net, x: net.last(x), last=last)
        in_one = Net(lambda net, x: net.last(x).view(-1, 4), last=last)
        for module, sample_axis, shape, weights in (
                (places, 0, (8, 3, 5), (table[0, 0], table[0, :1], table[0], table[:, :1], table, table[None])),
                (places, 1, (3, 8, 5), (table[0], table[:, None], table[:, None, :1])),
                (in_one, 0, (8, 3, 5), (table[0], table[:1]))):
            inputs = torch.randn(shape)
            target = (torch.randn_like(module(inputs)) > 0).float()
            for weight in weights:
                with self.subTest(shape=shape, weight=weight.shape):
                    self.check(module, inputs, target, nn.BCEWithLogitsLoss(pos_weight=weight), sample_axis=sample_axis)
        loss = nn.BCEWithLogitsLoss(pos_weight=torch.rand(8, 1, 1))
        with self.assertRaisesRegex(ValueError, "pos_weight of shape .8, 1, 1. has other numbers for other samples"):
            hesscope_torch.hessian(places, torch.randn(8, 3, 5), torch.zeros(8, 3, 4), loss, program=PROGRAM)

    def test_losses_at_their_corners(self):
        x = torch.tensor([[1.0, 0, 0.75, 1], [1, -1, 0, 2]]).repeat(2, 1)
        for name, loss, target in (
                ("hinge", lambda o, t: F.hinge_embedding_loss(o ** 2, t, 1), -torch.ones(4, 4)),
                ("ranking", lambda o, t: F.margin_ranking_loss(o[:, 0] ** 2, o[:, 3], t[:, 0]), torch.ones(4, 4)),
                ("triplet", lambda o, t: F.triplet_margin_loss(o, t, t, 0) + (o ** 2).mean(), torch.zeros(4, 4)),
                ("multi margin", (lambda o, t: F.multi_margin_loss(o, t) + (o ** 2).mean(), lambda o, t: multi_margin(
                    1, 1, torch.ones(4))(o, t) + (o ** 2).mean()), torch.tensor([0, 1, 0, 1]))):
            with self.subTest(name):
                module = Net(lambda net, x: x * net.scale + net.shift, scale=nn.Parameter(torch.ones(4)),
                             shift=nn.Parameter(torch.zeros(4)))
                loss, formula = loss if isinstance(loss, tuple) else (loss, loss)
                self.check(module, x, target, loss, by=(copy.deepcopy(module), formula), is_smooth=False)

    def test_sums_along_the_edges_of_a_graph(self):
        start, end = torch.tensor([0, 1, 2, 3, 3, 7]), torch.tensor([1, 2, 3, 1, 0, 1])

        def in_place(h):
            found = torch.zeros_like(h)
            found.index_add_(0, end, h[start].tanh())
            return found
        for name, function in (("new", lambda h: h.index_add(-2, end, h[start] ** 2, alpha=2)), ("in place", in_place)):
            with self.subTest(name):
                self.check(between(function), torch.randn(8, 3), torch.randn(8, 2), F.mse_loss, whole_batch=True)
        places = torch.tensor([2, 0, 2])
        self.check(between(lambda h: torch.index_add(h, 1, places, h[:, 1:] ** 2, alpha=0.5)), torch.randn(8, 3),
                   torch.randn(8, 2), F.mse_loss)

    def test_parts_that_are_computed_again_for_their_gradient(self):
        for options in ({}, {"use_reentrant": False}):
            def forward(net, x, options=options):
                return net.last(torch.utils.checkpoint.checkpoint(lambda x: net.first(x).tanh(), x.requires_grad_(), **options))
            once = Net(lambda net, x: net.last(net.first(x).tanh()), first=nn.Linear(3, 4), last=nn.Linear(4, 2))
            self.check(Net(forward, first=nn.Linear(3, 4), last=nn.Linear(4, 2)), torch.randn(8, 3), torch.randn(8, 2),
                       F.mse_loss, by=(once, F.mse_loss))

    def test_inputs_that_are_changed_in_place(self):
        for options in ({}, {"whole_batch": True}):
            x = torch.randn(8, 3)
            kept = x.clone()
            self.check(Net(lambda net, x: net.last(x.sub_(0.5).div_(2)).tanh(), last=nn.Linear(3, 2)), x, torch.randn(8, 2),
                       F.mse_loss, by=(Net(lambda net, x: net.last((x - 0.5) / 2).tanh(), last=nn.Linear(3, 2)), F.mse_loss),
                       **options)
            self.assertTrue(torch.equal(x, kept))

    def test_distances(self):
        for p in (1.0, 1.5, 2.0, 3.0, math.inf):
            with self.subTest(p):
                points = torch.randn(3, 4, dtype=torch.float64)
                self.check_functions({
                    "to points": (lambda h: torch.cdist(h.view(-1, 1, 4), points, p).tanh().sum((1, 2), True)[:, 0] * h,
                                  lambda h: (h[:, None] - points).norm(p, -1).tanh().sum(1, True) * h),
                    "of a sample": (lambda h: torch.cdist(h.view(-1, 2, 2), h.view(-1, 2, 2), p).flatten(1) * h,
                                    lambda h: distances(h.view(-1, 2, 2), h.view(-1, 2, 2), p).flatten(1) * h),
                    "in pairs": lambda h: F.pairwise_distance(h, h ** 2, p, 0.25, keepdim=True) * h,
                }, between, torch.randn(8, 3))

    def test_functions_of_tensors(self):
        points = torch.randn(4, 4, dtype=torch.float64)
        self.check_functions({
            "norms": lambda h: h.norm(3, -1, keepdim=True) * torch.norm(h, math.inf, 1)[:, None] * h,
            "normalize": lambda h: F.normalize(h, 1.5), "cosine": lambda h: F.cosine_similarity(
                h.view(-1, 2, 2), h.view(-1, 2, 2).exp()).repeat(1, 2) * h,
            "cosine with one for all": lambda h: F.cosine_similarity(h, points[0], dim=-1)[:, None] * h,
            "cosine with an epsilon": lambda h: F.cosine_similarity(h, h ** 2, eps=0.05)[:, None] * h,
            "softplus beyond its threshold": lambda h: F.softplus(3 * h, 2.0, threshold=1.0),
            "circular": lambda h: F.pad(h[:, None], (3, 2), mode="circular")[:, 0, 1:5] * h,
            "circular and cut": lambda h: F.pad(h[:, None], (-1, 2), mode="circular")[:, 0, 1:5] * h,
            "circular planes": lambda h: F.pad(h.view(-1, 1, 2, 2), (1, 2, 2, 1), "circular").flatten(1)[:, 3:7] * h,
            "threshold": lambda h: F.threshold(h, 0.25, 0.5) * h, "threshold in place": nn.Threshold(0, -1, True),
            "bilinear": lambda h: F.bilinear(h, h, points[:1, None].expand(4, 4, 4)),
            "unflatten": lambda h: nn.Unflatten(1, (2, 2))(h).prod(1).repeat(1, 2),
            "unflatten to what is left": lambda h: h.unflatten(-1, (2, -1)).prod(1).repeat(1, 2),
            "hstack": lambda h: torch.hstack([h[:, :2] ** 2, h[:, 2:]]), "tile": lambda h: h.tile(1, 2)[:, 2:6] * h,
            "tile by a list": lambda h: torch.tile(h, (2,))[:, 3:7] * h,
            "repeat_interleave": lambda h: h.view(-1, 2, 2).repeat_interleave(2, 1).flatten(1)[:, 1:5] * h,
            "repeat_interleave of the last": lambda h: torch.repeat_interleave(h[:, :2] ** 2, 2, -1) * h,
            "diag_embed": lambda h: torch.diag_embed(h ** 2).sum(1), "broadcast_to": lambda h: torch.broadcast_to(
                h[:, None], (h.shape[0], 2, 4)).prod(1),
            "diff": lambda h: torch.diff(h ** 2, 2, 1, h[:, :1], h[:, 1:2]), "cumprod": lambda h: h.cumprod(-1),
            "inner": lambda h: torch.inner(h ** 2, points), "logaddexp": lambda h: torch.logaddexp(h, h ** 2),
            "logit": lambda h: torch.logit(h.sigmoid() / 2),
            "logit of what is cut": lambda h: torch.logit(h.sigmoid() ** 2, 0.25),
            "exp2": torch.exp2, "expm1": torch.expm1, "cosh": torch.cosh, "sinh": torch.sinh,
            "atan2": lambda h: torch.atan2(h, h.roll(1, 1)) * torch.atan2(h[:, :1], h),
            "meshgrid": lambda h: h ** 2 * torch.stack(
                torch.meshgrid(points[0, :2], points[1, :2], indexing="ij")).sum(0).flatten(),
        }, between, torch.randn(8, 3))
        self.check(nn.Sequential(nn.Conv2d(1, 2, 3, padding=(2, 1), padding_mode="circular"), nn.Tanh(), nn.Flatten(),
                                 nn.Linear(36, 2)), torch.randn(8, 1, 4, 3), torch.randn(8, 2), F.mse_loss)
        axes = torch.tensor([[0.0, 1, 0, -1], [1, 0, -1, 0], [1, 1, -1, -1], [1, -1, -1, 1]])
        self.check_functions({"atan2 on axes": lambda h: torch.atan2(h[:, ::2], h[:, 1::2]).repeat(1, 2),
                              "cumprod of zeros": lambda h: h.cumprod(-1)}, learned, axes, is_smooth=False)


if __name__ == "__main__":
    program.main()
