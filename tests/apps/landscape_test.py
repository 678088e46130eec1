# SPDX-License-Identifier: BSD-3-Clause
"""Landscapes: opened by foreign readers, the same bytes after any interruption, what is said and refused."""
import hashlib
import json
import math
import pathlib
import shutil
import signal
import struct
import subprocess
import time

import h5py
import numpy as np
import xarray

import program
from program import BAD_INPUT, DATA, DONE, FAILED, INTERRUPTED, PROBLEM, USAGE, checkpoint


class Case(program.Case):
    def landscape(self, *arguments, output="out.h5", problem=PROBLEM, expect=DONE):
        done = self.run_program("landscape", *arguments, "--problem", problem, "-o", output)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def open(self, name="out.h5"):
        file = h5py.File(self.folder / name)
        self.addCleanup(file.close)
        return file["landscape"]

    def digest(self, name="out.h5"):
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()

    def assert_close(self, found, wanted, tolerance):
        error, scale = np.abs(np.asarray(found) - wanted).max(), np.abs(wanted).max()
        self.assertTrue(error <= tolerance * scale, f"off by {error:.2e}, of {scale:.2e}")


class SameDirections(Case):
    def test_are_those_of_another_landscape(self):
        self.landscape(checkpoint(500), "--directions", "random", "--grid", "3x3", "--seed", 4, output="first.h5")
        first = self.open("first.h5")
        self.landscape(checkpoint(1000), "--directions", "file:first.h5", "--grid", "5x3")
        group = self.open()
        for name in ("direction_1", "direction_2"):
            np.testing.assert_array_equal(group[name][:], first[name][:])
        self.assertEqual(group.attrs["direction_2_is"], b"direction_2 of the file first.h5")
        # At the centre, and nowhere else, the plane does not depend on the directions.
        self.assertEqual(group["trajectory_loss"][0], group["loss"][1, 2])
        self.landscape(checkpoint(1000), "--directions", "file:first.h5", "--grid", "7x1", output="line.h5")
        np.testing.assert_array_equal(self.open("line.h5")["direction_1"][:], first["direction_1"][:])
        # A line has no second direction.
        self.landscape(checkpoint(1000), "--directions", "random", "--grid", "3x1", output="short.h5")
        done = self.landscape(checkpoint(1000), "--directions", "file:short.h5", "--grid", "3x3", output="no.h5",
                              expect=BAD_INPUT)
        self.assertIn("short.h5: has no 'direction_2'", done.stderr)

    def test_are_not_those_of_another_model(self):
        digits = DATA.parent / "digits"
        self.landscape(digits / "runs" / "epoch-1.pt", "--key", "model_state_dict", "--directions", "random", "--grid",
                       "2x2", output="digits.h5", problem=digits / "problem.toml")
        done = self.landscape(checkpoint(1000), "--directions", "file:digits.h5", "--grid", "3x3", expect=BAD_INPUT)
        self.assertIn("digits.h5: is a landscape of a model with other parameters", done.stderr)


class Readers(Case):
    def test_opens_in_xarray_with_both_engines(self):
        self.landscape(DATA / "adam", "--directions", "pca", "--grid", "4x3", "--curvature")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(file.attrs["complete"], 1)
            for name in ("data_sha256", "configuration_sha256", "history", "problem", "source"):
                self.assertTrue(file.attrs[name])
            for name, variable in file["landscape"].items():
                for attribute in ("long_name", "units", "definition"):
                    self.assertTrue(variable.attrs[attribute], name)
        plane = ("beta", "alpha")
        layout = {"alpha": ("alpha",), "beta": ("beta",), "loss": plane, "gradient_norm": plane, "lambda_min": plane,
                  "lambda_max": plane, "index": plane, "plane_hessian_11": plane, "plane_hessian_12": plane,
                  "plane_hessian_22": plane, "direction_1": ("parameter",), "direction_2": ("parameter",),
                  "trajectory_step": ("step",), "trajectory_alpha": ("step",), "trajectory_beta": ("step",),
                  "trajectory_residual": ("step",), "trajectory_loss": ("step",), "quadratic_error_rms": ()}
        sizes = {"alpha": 4, "beta": 3, "step": 5, "parameter": 150}
        for engine in ("netcdf4", "h5netcdf"):
            with self.subTest(engine=engine), \
                    xarray.open_dataset(self.folder / "out.h5", engine=engine, group="landscape") as data:
                for name, dimensions in layout.items():
                    self.assertEqual(data[name].dims, dimensions, name)
                    self.assertEqual(data[name].shape, tuple(sizes[d] for d in dimensions), name)
                np.testing.assert_array_equal(data.loss.sel(alpha=data.alpha[-1], beta=data.beta[0]).values,
                                              data.loss.values[0, -1])
                self.assertEqual(set(data.coords), {"alpha", "beta", "step"})
                np.testing.assert_array_equal(data.trajectory_loss.sel(step=500), data.trajectory_loss[1])
                self.assertEqual(data.attrs["directions"], "pca")
                with xarray.open_dataset(self.folder / "out.h5", engine=engine) as root:
                    self.assertEqual(root.step.values.tolist(), list(program.STEPS))

    def test_trajectories_of_several_runs_are_apart(self):
        for folder, steps in (("one", (0, 5, 10)), ("two", (0, 10))):
            (self.folder / folder).mkdir()
            for k, step in enumerate(steps):
                shutil.copy(checkpoint(program.STEPS[k]), self.folder / folder / f"step-{step:06d}.npz")
        done = self.landscape("one", "two", "--directions", "random", "--grid", "3x3")
        self.assertEqual(done.stderr, "")
        np.testing.assert_array_equal(self.open()["trajectory_run"][:], [0, 0, 0, 1, 1])
        done = self.run_program("plot", "out.h5", "--figure", "landscape", "-o", "out.svg")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("trajectories of 2 runs", (self.folder / "out.svg").read_text())
        done = self.run_program("export", "out.h5", "-o", "out.vtk")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn(b"LINES 2 7\n" + struct.pack(">7i", 3, 0, 1, 2, 2, 3, 4) + b"\n",
                      (self.folder / "out-trajectory.vtk").read_bytes())
        done = self.run_program("export", "out.h5", "-o", "out.csv")
        lines = (self.folder / "out-trajectory.csv").read_text().splitlines()
        self.assertEqual([line.split(",")[-1] for line in lines], ["run", "0", "0", "0", "1", "1"])
        done = self.run_program("export", "out.h5", "--format", "losslandscape", "-o", "surface.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "surface_proj_lstsq.h5") as file:
            np.testing.assert_array_equal(np.isnan(file["proj_xcoord"][:]), [0, 0, 0, 1, 0, 0])
        # One of each: neither a trajectory nor without an order.
        first = [str(pathlib.Path(folder) / "step-000000.npz") for folder in ("one", "two")]
        self.landscape(*first, "--directions", "random", "--grid", "3x3", "--force")
        done = self.run_program("plot", "out.h5", "--figure", "landscape", "-o", "out.svg", "--force")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("one checkpoint of each of 2 runs", (self.folder / "out.svg").read_text())
        # The centre is not what was given last.
        said = self.landscape("one", "two/step-000010.npz", "two/step-000000.npz", "--directions", "random",
                              "--grid", "3x3", "--force").stderr
        self.assertIn("two/step-000010.npz: the centre, as the last checkpoint of the last of 2 runs by its step; "
                      "two/step-000000.npz was given last", said)

    def test_checkpoints_in_no_order_are_not_joined(self):
        names = ("alpha.npz", "beta.npz", "gamma.npz")
        for name, step in zip(names, program.STEPS):  # the parameters alone, without a counter of steps
            np.savez(self.folder / name, **program.weights(step))
        self.landscape(*names, "--directions", "random", "--grid", "3x3")
        statuses = self.open()["trajectory_run_status"]
        self.assertEqual(set(statuses.attrs["flag_meanings"].decode().split()[s] for s in statuses[:]),
                         {"undefined_no_order"})
        done = self.run_program("plot", "out.h5", "--figure", "landscape", "-o", "out.svg")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("checkpoints, in no order", (self.folder / "out.svg").read_text())

    def test_ncdump_and_inspect_know_it(self):
        self.landscape(checkpoint(500), "--directions", "update:sign", "--grid", "3x2")
        done = subprocess.run(["ncdump", "-h", self.folder / "out.h5"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("double loss(beta, alpha) ;", done.stdout)
        self.assertNotIn("phony", done.stdout)
        done = self.run_program("inspect", "out.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("landscape", done.stdout)


class SameBytes(Case):
    # Some seconds of work, in many tiles.
    GRID = ("--directions", "random", "--grid", "71x71" if program.IS_SANITIZED else "201x201", "--span", "-0.2:0.2")

    @program.plain_program_only
    def test_for_any_number_of_threads(self):
        for options in (self.GRID, ("--directions", "random", "--grid", "9x9", "--curvature")):
            digests = set()
            for threads in (1, 2, 3):
                self.landscape(checkpoint(500), *options, "--threads", threads, "--force")
                digests.add(self.digest())
            self.assertEqual(len(digests), 1)

    def interrupted(self, how, expect):
        """A run ended by a signal after its first tiles; False if it was too fast for that."""
        units = self.folder / "out.h5.units"
        process = subprocess.Popen(self.command("landscape", checkpoint(500), *self.GRID, "--problem", PROBLEM,
                                                "-o", "out.h5", "--threads", 1),
                                   cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and program.num_units(units) < 2:
            time.sleep(0.001)
        process.send_signal(how)
        _, errors = process.communicate(timeout=300)
        if process.returncode == DONE:
            return False
        self.assertEqual(process.returncode, expect, errors)
        self.assertFalse((self.folder / "out.h5").exists())
        if how == signal.SIGINT:
            self.assertIn("the same command continues from there", errors)
            self.assertIn("hesscope landscape", errors)
        return program.num_units(units) >= 2

    @program.plain_program_only
    def test_after_an_interruption_of_either_kind(self):
        self.landscape(checkpoint(500), *self.GRID, output="whole.h5")
        whole = self.digest("whole.h5")
        for how, expect in ((signal.SIGINT, INTERRUPTED), (signal.SIGKILL, -signal.SIGKILL)):
            with self.subTest(how=how):
                for _ in range(20):
                    if self.interrupted(how, expect):
                        break
                    (self.folder / "out.h5").unlink()
                else:
                    self.fail("the run was never caught in the middle")
                self.landscape(checkpoint(500), *self.GRID)
                self.assertEqual(self.digest(), whole)
                self.assertEqual(self.files() - {"out.h5", "whole.h5"}, set())
                (self.folder / "out.h5").unlink()

    def test_whatever_is_printed_and_wherever_it_goes(self):
        small = ("--directions", "eigen", "--grid", "3x3")
        self.landscape(checkpoint(500), *small, "--quiet")
        self.landscape(checkpoint(500), *small, "--json", output="other name.h5")
        self.assertEqual(self.digest(), self.digest("other name.h5"))

    def test_not_for_another_seed(self):
        self.landscape(checkpoint(500), "--directions", "random", "--grid", "3x3")
        self.landscape(checkpoint(500), "--directions", "random", "--grid", "3x3", "--seed", 1, output="other.h5")
        self.assertNotEqual(self.digest(), self.digest("other.h5"))


class Console(Case):
    def test_json_is_one_document(self):
        done = self.landscape(DATA / "adam", "--directions", "random", "--grid", "3x3", "--json")
        document = json.loads(done.stdout)
        self.assertEqual(document["command"], "landscape")
        self.assertEqual(document["output"], "out.h5")
        self.assertEqual([c["step"] for c in document["checkpoints"]], list(program.STEPS))
        self.assertEqual(document["centre"], 4)
        self.assertEqual(document["landscape"]["points"], 9)
        self.assertEqual(document["warnings"], [])
        self.assertTrue(math.isfinite(document["landscape"]["rayleigh_1"]))
        self.assertTrue(0 < document["timings"]["grid_seconds"] <= document["timings"]["total_seconds"])

    def test_a_dry_run_writes_nothing(self):
        done = self.landscape(checkpoint(500), "--directions", "eigen", "--grid", "3x3", "--dry-run", "--json")
        document = json.loads(done.stdout)
        self.assertEqual((document["points"], document["parameters"], document["dry_run"]), (9, 150, True))
        done = self.landscape(checkpoint(500), "--directions", "eigen", "--grid", "3x3", "--dry-run")
        self.assertIn("points       9\n", done.stdout)
        self.assertEqual(self.files(), set())

    def test_quiet_says_nothing_and_the_summary_names_the_file(self):
        self.assertEqual(self.landscape(checkpoint(500), "--directions", "random", "--grid", "3x3", "-q").stdout, "")
        done = self.landscape(checkpoint(500), "--directions", "random", "--grid", "3x3", "--force")
        self.assertIn("written to out.h5", done.stdout)
        self.assertEqual(done.stderr, "")


class Refusals(Case):
    def refuses(self, code, checkpoints, options, *mentions, output="out.h5"):
        before = self.files()
        done = self.run_program("landscape", *checkpoints, "--problem", PROBLEM, "-o", output, *options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        for text in mentions:
            self.assertIn(str(text), done.stderr.splitlines()[0])
        self.assertEqual(self.files(), before)

    def test_usage(self):
        one, grid, random = [checkpoint(500)], ("--grid", "3x3"), ("--directions", "random")
        for checkpoints, options, mentions in (
                (one, grid, ["--directions"]),
                (one, random, ["--grid"]),
                (one, ("--directions", "randon", *grid), ["'randon'", "did you mean 'random'"]),
                (one, ("--directions", "pca", *grid), ["at least 3", "got 1"]),
                (one, ("--directions", "between", *grid), ["exactly 2", "got 1"]),
                (one, ("--directions", "eigen:0,150", *grid), ["'150'"]),
                (one, ("--directions", "update:adam", *grid), ["'adam'", "gradient, sign"]),
                (one, ("--directions", "tensors:layers.0.P,layers.9.Q", *grid), ["'layers.9.Q'"]),
                (one, ("--directions", "eigen", "--normalization", "filter", *grid), ["--normalization"]),
                (one, ("--directions", "eigen", "--leave-out-vectors", *grid), ["--leave-out-vectors"]),
                (one, (*random, "--normalization", "fliter", *grid), ["did you mean 'filter'"]),
                (one, (*random, "--grid", "3by3"), ["--grid must be NxM", "'3by3'"]),
                (one, (*random, "--grid", "0x3"), ["--grid must be NxM"]),
                (one, (*random, *grid, "--span", "1:-1"), ["ascends"]),
                (one, (*random, *grid, "--span", "1"), ["--span must be A:B"]),
                (one, (*random, *grid, "--seed=-1"), ["--seed"])):
            with self.subTest(options=options):
                self.refuses(USAGE, checkpoints, options, *mentions)

    def test_inputs(self):
        grid = ("--grid", "3x3")
        self.refuses(BAD_INPUT, ["nothere.npz"], ("--directions", "random", *grid), "nothere.npz")
        self.refuses(BAD_INPUT, [checkpoint(500)], ("--directions", "file:nothere.npz", *grid), "nothere.npz")
        self.refuses(BAD_INPUT, [checkpoint(500)], ("--directions", f"file:{checkpoint(0)}", *grid), "direction_1")
        self.refuses(BAD_INPUT, [checkpoint(500)] * 2, ("--directions", "between", *grid), "is zero")
        self.refuses(BAD_INPUT, [checkpoint(500)] * 3, ("--directions", "pca", "--order", "given", *grid), "the same")
        arrays = program.weights(500)
        arrays["layers.0.P"][0, 0] = np.inf
        self.write_checkpoint("bad.npz", arrays)
        self.refuses(BAD_INPUT, ["bad.npz"], ("--directions", "random", *grid), "bad.npz", "NaN or infinity")

    def test_outputs(self):
        options = ("--directions", "random", "--grid", "3x3")
        (self.folder / "out.h5").write_text("precious")
        self.refuses(FAILED, [checkpoint(500)], options, "out.h5", "--force")
        self.assertEqual((self.folder / "out.h5").read_text(), "precious")
        self.refuses(FAILED, [checkpoint(500)], (*options, "--force"), "out.h5", "--force --force")
        self.assertEqual((self.folder / "out.h5").read_text(), "precious")
        self.landscape(checkpoint(500), *options, "--force", "--force")
        self.landscape(checkpoint(500), *options, "--force")
        np.savez(self.folder / "d.npz", direction_1=np.eye(1, 150)[0], direction_2=np.eye(1, 150, 1)[0])
        self.run_program("convert", "d.npz", "d.h5")
        self.refuses(USAGE, [checkpoint(500)], ("--directions", "file:d.h5", "--grid", "3x3", "--force"), "input",
                     output="d.h5")


if __name__ == "__main__":
    program.main()
