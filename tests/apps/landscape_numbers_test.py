# SPDX-License-Identifier: BSD-3-Clause
"""Landscapes: every point recomputed by NumPy, and grids that show a trajectory."""
import json

import h5py
import numpy as np

import program
from landscape_test import Case
from program import DATA, FIXTURES, INCONCLUSIVE, PROBLEM, checkpoint

OK, NOT_COMPUTED, NON_FINITE = 0, 1, 2
MLP = FIXTURES / "mlp-spirals-tanh"
FULL = FIXTURES / "linear-attention-full-s3"


def read_arrays(path):
    with np.load(path) as file:
        return {name: file[name].astype(np.float64) for name in file.files}


def flat(arrays, names):
    return np.concatenate([arrays[name].ravel() for name in names])


def unflat(theta, arrays, names):
    parts, offset = {}, 0
    for name in names:
        size = arrays[name].size
        parts[name] = theta[offset:offset + size].reshape(arrays[name].shape)
        offset += size
    return parts


def linear_attention_loss(weights, data, layers):
    """design of the model in words: Z <- Z + (1/n) P Z M Z^T Q Z, TF = -Z[-1, -1]; sparse P, Q are padded."""
    Z, target = data["Z"].astype(np.float64), data["target"].astype(np.float64)
    size, n = Z.shape[1], Z.shape[2] - 1
    total = 0.0
    for z, y in zip(Z, target):
        for layer in range(layers):
            P, Q = weights[f"layers.{layer}.P"], weights[f"layers.{layer}.Q"]
            if len(P) < size:
                P = np.pad(P, (0, 1))
                P[-1, -1] = 1
                Q = np.pad(Q, (0, 1))
            z = z + P @ z[:, :n] @ z[:, :n].T @ Q @ z / n
        total += (-z[-1, -1] - y) ** 2
    return total / len(Z)


def mlp_loss(weights, data):
    layers = len(weights) // 2
    hidden = data["inputs"].astype(np.float64)
    for i in range(layers):
        hidden = hidden @ weights[f"layers.{i}.weight"].T + weights[f"layers.{i}.bias"]
        if i < layers - 1:
            hidden = np.tanh(hidden)
    top = hidden.max(axis=1, keepdims=True)
    logs = top[:, 0] + np.log(np.exp(hidden - top).sum(axis=1))
    return np.mean(logs - hidden[np.arange(len(hidden)), data["target"].astype(int)])


class Numbers(Case):
    def check_losses(self, path, problem, loss, options=()):
        self.landscape(path, "--directions", "random", "--grid", "5x5", "--span", "-0.5:0.75,-0.25:0.5", "--seed", 3,
                       *options, problem=problem)
        group = self.open()
        with h5py.File(self.folder / "out.h5") as file:
            names = [name.decode() for name in file["parameter_name"][:]]
        arrays = read_arrays(path)
        theta = flat(arrays, names)
        alpha, beta = group["alpha"][:], group["beta"][:]
        np.testing.assert_array_equal(alpha[[0, -1]], [-0.5, 0.75])
        np.testing.assert_array_equal(beta[[0, -1]], [-0.25, 0.5])
        self.assertEqual(group["loss"].shape, (5, 5))
        wanted = np.array([[loss(unflat(theta + a * group["direction_1"][:] + b * group["direction_2"][:],
                                        arrays, names)) for a in alpha] for b in beta])
        # Every point by itself: losses differ by orders of magnitude over the plane.
        error = np.abs(group["loss"][:] / wanted - 1).max()
        self.assertTrue(error <= 1e-11, error)
        self.assertTrue(np.ptp(wanted) > 1e-3)
        self.assertNotIn("loss_status", group)

    def test_an_mlp_has_the_losses_of_numpy(self):
        data = read_arrays(MLP / "eval.npz")
        self.check_losses(MLP / "step-000400.npz", MLP / "problem.toml", lambda w: mlp_loss(w, data))

    def test_linear_attention_has_the_losses_of_numpy(self):
        data = read_arrays(DATA / "eval.npz")
        self.check_losses(checkpoint(500), PROBLEM, lambda w: linear_attention_loss(w, data, 3))

    @program.plain_program_only
    def test_full_linear_attention_has_the_losses_of_numpy(self):
        data = read_arrays(FULL / "eval.npz")
        layers = len(read_arrays(FULL / "step-000200.npz")) // 2
        self.check_losses(FULL / "step-000200.npz", FULL / "problem.toml",
                          lambda w: linear_attention_loss(w, data, layers), options=["--curvature"])

    def test_curvature_at_the_centre_is_that_of_pytorch(self):
        self.landscape(checkpoint(500), "--directions", "eigen:0,-1", "--grid", "3x3", "--span", "-0.1:0.1",
                       "--curvature")
        group, golden = self.open(), program.golden(500)
        H, values = golden["hessian"], golden["eigenvalues"]
        norm = np.abs(values).max()
        d = np.stack([group["direction_1"][:], group["direction_2"][:]])
        for found, wanted in ((group["lambda_max"][1, 1], values[-1]), (group["lambda_min"][1, 1], values[0]),
                              (group["plane_hessian_11"][1, 1], values[-1]), (group["plane_hessian_12"][1, 1], 0),
                              (group["plane_hessian_22"][1, 1], values[0]), (group["rayleigh_1"][()], values[-1]),
                              (group["rayleigh_2"][()], values[0]), (group["eigenvalue_1"][()], values[-1]),
                              (group["eigenvalue_2"][()], values[0]), (group["centre_lambda_max"][()], values[-1]),
                              (group["centre_lambda_min"][()], values[0])):
            self.assertTrue(abs(found - wanted) <= 1e-10 * norm, (found, wanted))
        self.assertTrue(np.linalg.norm(H @ d[0] - values[-1] * d[0]) <= 1e-9 * norm)
        self.assert_close(group["gradient_norm"][1, 1], np.linalg.norm(golden["gradient"]), 1e-10)
        self.assert_close(group["slope_1"][()], golden["gradient"] @ d[0], 1e-9)
        # A count at every point, of a Hessian of 150 rows.
        index = group["index"][:]
        self.assertEqual(index.dtype, np.int64)
        self.assertTrue(((index > 0) & (index < 150)).all())
        self.assertAlmostEqual(int(index[1, 1]), int((values < -1e-10 * norm).sum()), delta=0)

    def test_the_surface_bends_as_its_curvature_says(self):
        # Second differences of the losses against the exact second derivatives in the plane: their truncation,
        # of the order of h^2, is some 2e-6 here, their rounding some 1e-9.
        h = 1e-4
        self.landscape(checkpoint(500), "--directions", "random", "--grid", "3x3", "--span", f"-{h}:{h}", "--curvature")
        group = self.open()
        loss = group["loss"][:]
        self.assert_close((loss[1, 2] - 2 * loss[1, 1] + loss[1, 0]) / h**2, group["plane_hessian_11"][1, 1], 1e-5)
        self.assert_close((loss[2, 1] - 2 * loss[1, 1] + loss[0, 1]) / h**2, group["plane_hessian_22"][1, 1], 1e-5)
        self.assert_close((loss[2, 2] - loss[2, 0] - loss[0, 2] + loss[0, 0]) / (4 * h**2),
                          group["plane_hessian_12"][1, 1], 1e-5)

    def test_the_trajectory_is_projected_by_least_squares(self):
        self.landscape(DATA / "adam", "--directions", "random", "--grid", "2x2")
        group = self.open()
        with h5py.File(self.folder / "out.h5") as file:
            names = [name.decode() for name in file["parameter_name"][:]]
            losses = file["loss"][:]
        points = [flat(read_arrays(checkpoint(step)), names) for step in program.STEPS]
        plane = np.stack([group["direction_1"][:], group["direction_2"][:]], axis=1)
        np.testing.assert_array_equal(group["trajectory_step"][:], program.STEPS)
        np.testing.assert_array_equal(group["trajectory_loss"][:], losses)
        for i, point in enumerate(points):
            step = point - points[-1]
            along = np.linalg.lstsq(plane, step, rcond=None)[0]
            self.assertTrue(abs(group["trajectory_alpha"][i] - along[0]) <= 1e-12)
            self.assertTrue(abs(group["trajectory_beta"][i] - along[1]) <= 1e-12)
            self.assertTrue(abs(group["trajectory_residual"][i] - np.linalg.norm(step - plane @ along)) <= 1e-11)
        self.assertEqual((group["trajectory_alpha"][-1], group["trajectory_residual"][-1]), (0, 0))

    def test_pca_is_the_svd_of_the_steps(self):
        self.landscape(DATA / "sgdm", "--directions", "pca", "--grid", "2x2")
        group = self.open()
        names = [f"layers.{layer}.{name}" for layer in range(3) for name in "PQ"]
        points = np.stack([flat(read_arrays(checkpoint(step, "sgdm")), names) for step in program.STEPS])
        _, sizes, rows = np.linalg.svd(points[:-1] - points[-1], full_matrices=False)
        for k in (0, 1):
            self.assertTrue(abs(abs(rows[k] @ group[f"direction_{k + 1}"][:]) - 1) <= 1e-12)
            self.assert_close(group[f"explained_{k + 1}"][()], sizes[k]**2 / (sizes**2).sum(), 1e-10)

    @program.plain_program_only
    def test_the_way_between_two_checkpoints_has_a_barrier(self):
        self.landscape(checkpoint(1500), checkpoint(1500, "sgdm"), "--directions", "between", "--grid", "33x1",
                       "--span", "0:1", "--curvature")
        group = self.open()
        t, loss, ends = group["alpha"][:], group["loss"][0], group["trajectory_loss"][:]
        self.assertEqual(loss[0], ends[0])
        self.assert_close(loss[-1], ends[1], 1e-11)
        above = loss - ((1 - t) * ends[0] + t * ends[1])
        self.assertTrue(above.max() > 0)
        self.assert_close(group["barrier_height"][()], above.max(), 1e-13)
        self.assertEqual(group["barrier_alpha"][()], t[above.argmax()])
        self.assertTrue((group["lambda_max"][0] > 0).all())
        self.assertTrue(abs(group["trajectory_alpha"][1] - 1) <= 1e-14)
        # A line has no second direction.
        self.assertTrue(np.isnan(group["direction_2"][:]).all())
        self.assertEqual(group["direction_2_status"][()], NOT_COMPUTED)
        self.assertTrue((group["plane_hessian_12_status"][:] == NOT_COMPUTED).all())

    def test_lines_and_points_lie_where_they_should(self):
        for grid, shape in (("7x1", (1, 7)), ("1x7", (7, 1)), ("1x1", (1, 1))):
            with self.subTest(grid=grid):
                self.landscape(checkpoint(500), "--directions", "random", "--grid", grid, "--span", "-1:1", "--force")
                group = self.open()
                self.assertEqual(group["loss"].shape, shape)
                middle = group["loss"][:].ravel()[group["loss"].size // 2]
                self.assertEqual(middle, group["trajectory_loss"][0])
                group.file.close()

    def test_a_far_point_that_overflows_is_a_fact(self):
        done = self.landscape(checkpoint(500), "--directions", "random", "--grid", "3x3", "--span", "-1e90:1e90",
                              "--curvature", "--json")
        self.assertEqual(done.stderr, "")
        self.assertEqual(json.loads(done.stdout)["landscape"]["non_finite_points"], 8)
        group = self.open()
        for name in ("loss", "lambda_max", "gradient_norm"):
            status = group[name + "_status"][:]
            self.assertEqual(status[1, 1], OK)
            self.assertEqual((status == NON_FINITE).sum(), 8)
            np.testing.assert_array_equal(np.isnan(group[name][:]), status != OK)

    def test_a_centre_whose_loss_overflows(self):
        self.write_checkpoint("big.npz", {name: 1e150 * value for name, value in program.weights(500).items()})
        for kind, directions in (("random", OK), ("eigen", NON_FINITE), ("update:sign", NON_FINITE)):
            with self.subTest(kind=kind):
                done = self.landscape("big.npz", "--directions", kind, "--grid", "3x3", "--curvature", "--force",
                                      expect=INCONCLUSIVE)
                self.assertEqual(done.stderr.count("warning"), 1, done.stderr)
                self.assertIn("big.npz: non_finite", done.stderr)
                group = self.open()
                status = group["direction_1_status"][()] if "direction_1_status" in group else OK
                self.assertEqual(status, directions)
                for name in ("loss", "lambda_max", "rayleigh_1", "quadratic_error_max"):
                    self.assertTrue((group[name + "_status"][()] == NON_FINITE).all(), name)
                    self.assertTrue(np.isnan(group[name][()]).all(), name)
                group.file.close()

    def test_a_checkpoint_on_the_way_that_is_not_finite(self):
        arrays = program.weights(500)
        arrays["layers.0.P"][0, 0] = np.nan
        self.write_checkpoint("bad.npz", arrays)
        done = self.landscape("bad.npz", checkpoint(500), "--directions", "random", "--grid", "3x3",
                              expect=INCONCLUSIVE)
        self.assertIn("bad.npz: non_finite", done.stderr)
        group = self.open()
        np.testing.assert_array_equal(group["trajectory_alpha_status"][:], [NON_FINITE, OK])
        np.testing.assert_array_equal(group["trajectory_loss_status"][:], [NON_FINITE, OK])
        self.assertNotIn("loss_status", group)


class Frames(Case):
    """A trajectory that comes from far away, across a plane of unit vectors."""
    STEPS = (0, 10, 20, 30, 40)

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        self.names = [f"layers.{layer}.{name}" for layer in range(3) for name in "PQ"]
        arrays = program.weights(500)
        last = flat(arrays, self.names).astype(np.float64)
        u, v = np.linalg.qr(random.standard_normal((last.size, 2)))[0].T
        self.points = []
        for i, step in enumerate(self.STEPS):
            away = 4 - i
            theta = last + 5 * away * u + 1.5 * away * (4 - away) * v
            theta = theta + (0.05 * random.standard_normal(last.size) if away else 0)
            self.points.append(theta)
            self.write_checkpoint(f"step-{step}.npz", unflat(theta, arrays, self.names))
        # By NumPy: principal components of the steps, and where the checkpoints are on them.
        self.steps = np.stack(self.points) - self.points[-1]
        self.plane = np.linalg.svd(self.steps[:-1], full_matrices=False)[2][:2].T
        self.plane *= np.sign(self.plane[np.abs(self.plane).argmax(axis=0), [0, 1]])
        self.places = np.linalg.lstsq(self.plane, self.steps.T, rcond=None)[0].T
        low, high = self.places.min(axis=0), self.places.max(axis=0)
        self.ends = np.stack([low - 0.1 * (high - low), high + 0.1 * (high - low)])

    def test_principal_components_show_all_of_it(self):
        self.assertGreater(np.abs(self.places[:, 0]).max(), 18)
        done = self.landscape(".", "--directions", "pca", "--grid", "7x5", "--json")
        self.assertEqual(done.stderr, "")
        group = self.open()
        for k, axis in enumerate(("alpha", "beta")):
            self.assert_close(group[f"direction_{k + 1}"][:], self.plane[:, k], 1e-9)
            self.assert_close(group[f"trajectory_{axis}"][:], self.places[:, k], 1e-9)
            self.assert_close(group[axis][:], np.linspace(*self.ends[:, k], group[axis].size), 1e-9)
            inside = group[f"trajectory_{axis}"][:]
            self.assertTrue(((group[axis][0] < inside) & (inside < group[axis][-1])).all())
        np.testing.assert_array_equal(json.loads(done.stdout)["span"]["alpha"], group["alpha"][[0, -1]])
        # The losses are those of the points, wherever the grid lies.
        data = read_arrays(DATA / "eval.npz")
        theta = self.points[-1] + group["alpha"][5] * group["direction_1"][:] + \
            group["beta"][2] * group["direction_2"][:]
        wanted = linear_attention_loss(unflat(theta, program.weights(500), self.names), data, 3)
        self.assertTrue(abs(group["loss"][2, 5] - wanted) <= 1e-10 * wanted)

    def test_a_dry_run_foresees_the_span(self):
        done = self.landscape(".", "--directions", "pca", "--grid", "7x5", "--dry-run", "--json")
        span = json.loads(done.stdout)["span"]
        self.assert_close(np.transpose([span["alpha"], span["beta"]]), self.ends, 1e-9)
        said = self.landscape(".", "--directions", "pca", "--grid", "7x5", "--dry-run").stdout
        ends = ",".join(f"{low:g}:{high:g}" for low, high in self.ends.T)
        self.assertRegex(said, rf"(?m)^span +{ends}$")
        said = self.landscape(".", "--directions", "random", "--grid", "7x5", "--dry-run").stdout
        self.assertRegex(said, r"(?m)^span +-1:1,-1:1$")

    def test_a_line_is_as_long_as_the_trajectory(self):
        self.landscape(".", "--directions", "pca", "--grid", "9x1")
        group = self.open()
        self.assert_close(group["alpha"][:], np.linspace(*self.ends[:, 0], 9), 1e-9)
        np.testing.assert_array_equal(group["beta"][:], [0])

    def test_a_span_that_is_chosen_wins_and_what_it_leaves_out_is_said(self):
        done = self.landscape(".", "--directions", "pca", "--grid", "3x3", "--span", "-1:1")
        # Only the last checkpoint, the centre, is in there.
        self.assertIn("warning: 4 of 5 checkpoints lie outside of the grid; --span ", done.stderr)
        group = self.open()
        np.testing.assert_array_equal(group["alpha"][:], [-1, 0, 1])
        self.assertIn("4 of 5 checkpoints", group.parent.attrs["warnings"].decode())
        # What it says instead shows all of them.
        span = done.stderr.split("--span ")[1].split(" ")[0]
        done = self.landscape(".", "--directions", "pca", "--grid", "3x3", "--span", span, output="all.h5")
        self.assertEqual(done.stderr, "")

    def test_other_planes_stay_as_they_are(self):
        done = self.landscape(".", "--directions", "random", "--grid", "3x3")
        self.assertEqual(done.stderr, "")
        np.testing.assert_array_equal(self.open()["alpha"][:], [-1, 0, 1])


if __name__ == "__main__":
    program.main()
