# SPDX-License-Identifier: BSD-3-Clause
"""The group /smoothness against NumPy on Hessians and gradients by PyTorch, and its course over a run."""
import hashlib
import json

import h5py
import numpy as np
import xarray

import program
from program import DATA, FIXTURES, checkpoint

OK, NOT_COMPUTED, NON_FINITE, ZERO_DENOMINATOR, TOO_FEW_POINTS = 0, 1, 2, 6, 7
RULES = ["sgd", "momentum", "adam", "lion", "sign"]
RUNS = [
    (DATA / "adam", DATA / "problem.toml", "linear-attention-s1-adam", (0, 500, 1000, 1499, 1500)),
    (DATA / "sgdm", DATA / "problem.toml", "linear-attention-s1-sgdm", (0, 500, 1000, 1499, 1500)),
    (FIXTURES / "linear-attention-full-s3", None, "linear-attention-full-s3", (0, 100, 199, 200)),
    (FIXTURES / "mlp-spirals-tanh", None, "mlp-spirals-tanh", (0, 200, 400)),
]
STEP = ("directional_smoothness", "secant_smoothness", "step_norm", "step_first_order", "step_curvature",
        "step_loss_change")


def goldens(folder, steps):
    found = []
    for step in steps:
        with np.load(FIXTURES / folder / f"golden-{step:06d}.npz") as file:
            found.append({name: file[name] for name in file.files})
    return found


def pseudo_updates(gradients):
    """Updates of the five rules at each point, from their definitions."""
    buffer = m = v = average = np.zeros_like(gradients[0])
    for t, g in enumerate(gradients, 1):
        buffer = 0.9 * buffer + g
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        adam = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        lion = np.sign(0.9 * average + (1 - 0.9) * g)
        average = 0.99 * average + (1 - 0.99) * g
        yield [-u for u in (g, buffer, adam, lion, np.sign(g))]


def nonnegative_line(x, y):
    """L0 and L1 >= 0 of least squares: the best of the line, the ray, the level line and nothing."""
    slope, intercept = np.polyfit(x, y, 1)
    lines = [(intercept, slope), (0.0, x @ y / (x @ x)), (y.mean(), 0.0)]
    return min((line for line in lines if min(line) >= 0), key=lambda line: ((line[0] + line[1] * x - y)**2).sum())


def lowest_line_above(x, y):
    """L0 and L1 >= 0 of the line above all points that is lowest at the mean of x: the best of all vertices."""
    lines = [(value, 0.0) for value in y] + [(0.0, b / a) for a, b in zip(x, y)]
    for i in range(len(x)):
        for j in range(i):
            slope = (y[i] - y[j]) / (x[i] - x[j])
            lines.append((y[i] - slope * x[i], slope))
    slack = 1e-12 * max(y)
    feasible = [(a, b) for a, b in lines if a >= 0 and b >= 0 and (a + b * x >= y - slack).all()]
    return min(feasible, key=lambda line: line[0] + line[1] * x.mean())


class Smoothness(program.Case):
    def open(self, name="out.h5"):
        file = h5py.File(self.folder / name, "r")
        self.addCleanup(file.close)
        return file

    def analyze_run(self, folder, fixture, *arguments, **options):
        checkpoints = sorted(folder.glob("step-*.npz"))
        self.analyze(*checkpoints, "--smoothness", *arguments, **options)
        return self.open(options.get("output", "out.h5"))["smoothness"]

    def assert_close(self, found, wanted, allowed):
        error = np.abs(np.asarray(found) - wanted).max()
        self.assertTrue(error <= allowed, f"off by {error:.2e}, allowed are {allowed:.2e}")

    def test_agrees_with_numpy_on_golden_derivatives(self):
        for number, (folder, problem, fixture, steps) in enumerate(RUNS):
            problem = problem or folder / "problem.toml"
            group = self.analyze_run(folder, fixture, problem=problem, output=f"{number}.h5")
            golden = goldens(fixture, steps)
            updates = list(pseudo_updates(group["gradient"][:]))
            self.assertEqual([text.decode() for text in group["rule"][:]], RULES)
            for i, g in enumerate(golden):
                with self.subTest(fixture=fixture, step=steps[i]):
                    norm = np.abs(g["eigenvalues"]).max()
                    gradient_norm = np.linalg.norm(g["gradient"])
                    self.assert_close(group["spectral_norm"][i], norm, 1e-11 * norm)
                    self.assert_close(group["gradient_norm"][i], gradient_norm, 1e-11 * gradient_norm)
                    self.assert_close(group["gradient"][i], g["gradient"], 1e-11 * gradient_norm)
                    self.assert_close(group["hessian_diagonal"][i], g["diag"], 1e-11 * norm)
                    self.check_rules(group, i, g, updates[i])
                    if i + 1 < len(golden):
                        self.check_step(group, i, g, golden[i + 1])

    def check_step(self, group, i, here, there):
        norm = np.abs(here["eigenvalues"]).max()
        s = there["theta"] - here["theta"]
        v = s / np.linalg.norm(s)
        self.assert_close(group["step_norm"][i], np.linalg.norm(s), 1e-14 * np.linalg.norm(s))
        self.assert_close(group["directional_smoothness"][i], v @ here["hessian"] @ v, 1e-11 * norm)
        self.assert_close(group["step_first_order"][i], here["gradient"] @ s,
                          1e-11 * np.linalg.norm(here["gradient"]) * np.linalg.norm(s))
        self.assert_close(group["step_curvature"][i], s @ here["hessian"] @ s / 2, 1e-11 * norm * (s @ s))
        self.assert_close(group["step_loss_change"][i], there["loss"] - here["loss"],
                          1e-11 * (abs(there["loss"]) + abs(here["loss"])))
        for name in STEP:
            self.assertEqual(program.statuses(group, name)[i], OK)

    def check_rules(self, group, i, golden, updates):
        norm = np.abs(golden["eigenvalues"]).max()
        sharpness = np.array([u @ golden["hessian"] @ u / (u @ u) for u in updates])
        slope = np.array([golden["gradient"] @ u / np.linalg.norm(u) for u in updates])
        self.assert_close(group["directional_sharpness"][i], sharpness, 1e-10 * norm)
        self.assert_close(group["directional_slope"][i], slope, 1e-10 * np.linalg.norm(golden["gradient"]))
        found = group["directional_sharpness"][i]
        np.testing.assert_allclose(group["directional_sharpness_relative"][i], found / abs(found[0]), rtol=1e-15)

    def test_what_the_two_parts_of_a_step_leave_is_of_third_order(self):
        first, last = program.weights(1499), program.weights(1500)
        left = []
        for scale in (0.04, 0.02):
            near = self.write_checkpoint("near.npz", {k: first[k] + scale * (last[k] - first[k]) for k in first})
            self.analyze(checkpoint(1499), near, "--smoothness", "--order", "given", "--force")
            group = self.open()["smoothness"]
            left.append(group["step_loss_change"][0] - group["step_first_order"][0] - group["step_curvature"][0])
        self.assert_close(left[0] / left[1], 8, 0.4)

    def test_secants_compare_gradients_between_checkpoints(self):
        first, last = program.weights(1499), program.weights(1500)
        for points in (1, 3):
            a = [j / (points + 1) for j in range(1, points + 1)]
            names = [self.write_checkpoint(f"between-{j}.npz", {k: f * first[k] + (1 - f) * last[k] for k in first})
                     for j, f in enumerate(a)]
            self.analyze(checkpoint(1499), checkpoint(1500), "--secant-points", points, "--force")
            found = self.open()["smoothness/secant_smoothness"][0]
            self.analyze(checkpoint(1499), *names, "--smoothness", "--force", output="between.h5")
            gradients = self.open("between.h5")["smoothness/gradient"][:]
            flat = [np.concatenate([v.ravel() for v in w.values()]) for w in (first, last)]
            step = np.linalg.norm(flat[1] - flat[0])
            secants = [np.linalg.norm(g - gradients[0]) / ((1 - f) * step) for g, f in zip(gradients[1:], a)]
            self.assert_close(found, max(secants), 1e-9 * max(secants))

    def test_lines_over_the_run(self):
        for number, (folder, problem, fixture, steps) in enumerate(RUNS):
            problem = problem or folder / "problem.toml"
            group = self.analyze_run(folder, fixture, problem=problem, output=f"{number}.h5")
            golden = goldens(fixture, steps)
            x = np.array([np.linalg.norm(g["gradient"]) for g in golden])
            y = np.array([np.abs(g["eigenvalues"]).max() for g in golden])
            intercept, slope = nonnegative_line(x, y)
            with self.subTest(fixture=fixture):
                self.assert_close(group["L0"][()], intercept, 1e-9 * y.max())
                self.assert_close(group["L1"][()], slope, 1e-9 * y.max() / np.ptp(x))
                l0, l1 = lowest_line_above(x, y)
                self.assert_close(group["L0_envelope"][()], l0, 1e-9 * y.max())
                self.assert_close(group["L1_envelope"][()], l1, 1e-9 * y.max() / np.ptp(x))
                for name in ("L0", "L1", "L0_envelope", "L1_envelope"):
                    self.assertEqual(group[name].shape, ())
                    self.assertEqual(program.statuses(group, name), OK)
                    self.assertTrue(group[name][()] >= 0)
                    for end in ("_lower", "_upper"):  # of five checkpoints or four
                        self.assertEqual(group[name + end + "_status"][()], TOO_FEW_POINTS)
                        self.assertTrue(np.isnan(group[name + end][()]))
                self.check_coordinates(group, golden)

    def check_coordinates(self, group, golden):
        x = np.abs([g["gradient"] for g in golden])
        y = np.abs([g["diag"] for g in golden])
        found = np.array([group["L0_coordinate"][:], group["L1_coordinate"][:]])
        moving = np.ptp(x, axis=0) > 1e-6 * x.max()  # where the line is well determined
        self.assertGreater(moving.sum(), 10)
        for j in np.flatnonzero(moving):
            intercept, slope = nonnegative_line(x[:, j], y[:, j])
            scale = y[:, j].max() + 1e-6 * y.max()
            self.assert_close(found[0, j], intercept, 1e-5 * scale * (1 + x[:, j].max() / np.ptp(x[:, j])))
            self.assert_close(found[1, j], slope, 1e-5 * scale / np.ptp(x[:, j]))

    def test_foreign_readers_see_rules_by_name_and_numbers_of_the_run(self):
        group = self.analyze_run(DATA / "adam", None)
        for engine in ("netcdf4", "h5netcdf"):
            with self.subTest(engine=engine), \
                    xarray.open_dataset(self.folder / "out.h5", group="smoothness", engine=engine) as data:
                np.testing.assert_array_equal(data["directional_sharpness"].sel(rule="adam"),
                                              group["directional_sharpness"][:, RULES.index("adam")])
                self.assertEqual(data["L1_envelope"].dims, ())
                self.assertEqual(data["L1_envelope"].item(), group["L1_envelope"][()])
                self.assertEqual(data["L0_coordinate"].dims, ("parameter",))

    def test_the_summary_shows_the_line(self):
        document = json.loads(self.analyze(DATA / "adam", "--smoothness", "--json").stdout)
        group = self.open()["smoothness"]
        for name in ("L0", "L1"):
            self.assertEqual(document["run"]["smoothness"][name], group[name][()])
        self.assertEqual(document["run"]["smoothness"]["L1_upper_status"], "undefined_too_few_points")
        said = self.analyze(DATA / "adam", "--smoothness", output="other.h5").stdout
        self.assertRegex(said, r"/smoothness +L0 +L0_lower")
        self.assertIn(f"{group['L1'][()]:.6g}", said)
        # One checkpoint has no line.
        document = json.loads(self.analyze(checkpoint(500), "--smoothness", "--json", output="one.h5").stdout)
        self.assertIsNone(document["run"]["smoothness"]["L0"])
        self.assertEqual(document["run"]["smoothness"]["L0_status"], "undefined_too_few_points")

    def write_path(self, count):
        """Checkpoints between two of a run, as many as are asked for."""
        first, last = program.weights(500), program.weights(1500)
        (self.folder / "path").mkdir(exist_ok=True)
        for step, t in enumerate(np.linspace(0, 1, count)):
            self.write_checkpoint(f"path/step-{step}.npz", {k: (1 - t) * first[k] + t * last[k] for k in first})
        return self.folder / "path"

    def test_intervals_hold_the_constants_and_nothing_below_zero(self):
        group = self.analyze_run(self.write_path(12), None)
        for name in ("L0", "L1", "L0_envelope", "L1_envelope"):
            lower, value, upper = (group[name + end][()] for end in ("_lower", "", "_upper"))
            self.assertTrue(0 <= lower <= value <= upper or name.endswith("_envelope"), (name, lower, value, upper))
            self.assertTrue(0 <= lower <= upper, (name, lower, upper))
            self.assertEqual(program.statuses(group, name + "_upper"), OK)
        self.assertIn("10 checkpoints or more", group["L1_upper"].attrs["definition"].decode())

    @program.plain_program_only
    def test_the_seed_draws_the_intervals(self):
        path = self.write_path(12)
        group = self.analyze_run(path, None)
        other = self.analyze_run(path, None, "--seed", 1, output="other.h5")
        self.assertEqual(group["L1"][()], other["L1"][()])
        self.assertNotEqual(group["L1_upper"][()], other["L1_upper"][()])

    def test_a_single_checkpoint_has_no_step_and_no_line(self):
        self.analyze(checkpoint(500), "--smoothness")
        group = self.open()["smoothness"]
        for name in STEP:
            self.assertEqual(group[name + "_status"][0], NOT_COMPUTED)
        for name in ("L0", "L1_upper", "L0_envelope", "L1_coordinate"):
            self.assertEqual(group[name + "_status"][()], TOO_FEW_POINTS)
            self.assertTrue(np.isnan(group[name][()]).all())
        self.assertEqual(program.statuses(group, "directional_sharpness")[0], OK)

    def test_two_checkpoints_say_nothing_of_a_line(self):
        self.analyze(checkpoint(500), checkpoint(1000), "--smoothness")
        group = self.open()["smoothness"]
        for name in ("L0", "L1", "L0_lower", "L1_envelope", "L0_coordinate"):
            self.assertEqual(group[name + "_status"][()], TOO_FEW_POINTS)
            self.assertTrue(np.isnan(group[name][()]).all())

    def test_checkpoints_that_are_the_same_have_no_direction(self):
        for step in (1, 2, 3):
            self.write_checkpoint(f"step-{step}.npz", program.weights(500))
        self.analyze(".", "--smoothness")
        group = self.open()["smoothness"]
        for name in ("directional_smoothness", "secant_smoothness"):
            self.assertEqual(group[name + "_status"][0], ZERO_DENOMINATOR)
        for name in ("step_norm", "step_first_order", "step_curvature", "step_loss_change"):
            self.assertEqual(group[name][0], 0)
        self.assertEqual(group["L1_status"][()], ZERO_DENOMINATOR)

    def test_a_checkpoint_that_is_not_finite_is_passed_over(self):
        broken = program.weights(500)
        broken["layers.0.P"][0, 0] = np.nan
        self.write_checkpoint("step-000600.npz", broken)
        broken = self.folder / "step-000600.npz"
        rest = [checkpoint(1000), checkpoint(1500)]
        self.analyze(checkpoint(500), broken, *rest, "--smoothness", "--order", "given", expect=program.INCONCLUSIVE)
        self.analyze(checkpoint(500), *rest, "--smoothness", output="without.h5")
        group, without = self.open()["smoothness"], self.open("without.h5")["smoothness"]
        np.testing.assert_array_equal(group["directional_sharpness"][2:], without["directional_sharpness"][1:])
        self.assertEqual(group["directional_smoothness_status"][:].tolist(), [NON_FINITE, NON_FINITE, OK, NOT_COMPUTED])
        self.assertEqual(group["spectral_norm_status"][1], NON_FINITE)
        for name in ("L0", "L1", "L0_envelope", "L1_lower", "L0_coordinate"):
            np.testing.assert_array_equal(group[name][()], without[name][()])

    @program.plain_program_only
    def test_a_run_ends_where_steps_begin_again(self):
        self.analyze(DATA / "adam", DATA / "sgdm", "--smoothness")
        both = self.open()["smoothness"]
        self.assertEqual(both["directional_smoothness_status"][:].tolist(), ([OK] * 4 + [NOT_COMPUTED]) * 2)
        for i, folder in enumerate(("adam", "sgdm")):
            one = self.analyze_run(DATA / folder, None, output=f"{folder}.h5")
            part = slice(5 * i, 5 * i + 5)
            for name in ("directional_smoothness", "directional_sharpness", "secant_smoothness"):
                np.testing.assert_array_equal(both[name][part], one[name][:])

    @program.plain_program_only
    def test_without_a_matrix(self):
        dense = self.analyze_run(DATA / "adam", None, output="dense.h5")
        free = self.analyze_run(DATA / "adam", None, "--method", "matrix-free")
        norm = dense["spectral_norm"][:]
        self.assert_close(free["spectral_norm"][:] / norm, 1, 1e-8)
        self.assert_close(free["directional_smoothness"][:4], dense["directional_smoothness"][:4], 1e-11 * norm.max())
        self.assert_close(free["directional_sharpness"][:], dense["directional_sharpness"][:], 1e-11 * norm.max())
        self.assertEqual(set(free["hessian_diagonal_status"][:]), {NOT_COMPUTED})
        self.assertEqual(free["L0_coordinate_status"][()], NOT_COMPUTED)
        self.assertEqual(program.statuses(free, "L0"), OK)

    @program.plain_program_only
    def test_the_same_bytes_for_any_number_of_threads(self):
        def digest(threads):
            self.analyze(DATA / "adam", "--smoothness", "--threads", threads, "--force")
            return hashlib.sha256((self.folder / "out.h5").read_bytes()).hexdigest()

        self.assertEqual(len({digest(threads) for threads in (1, 2, 3)}), 1)

    def test_refuses_numbers_of_points_that_are_none(self):
        done = self.run_program("analyze", checkpoint(0), "--problem", program.PROBLEM, "-o", "out.h5",
                                "--secant-points", 0)
        self.assertEqual(done.returncode, program.USAGE)
        self.assertIn("secant-points", done.stderr)


if __name__ == "__main__":
    program.main()
