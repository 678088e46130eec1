# SPDX-License-Identifier: BSD-3-Clause
"""The main job's result: opened by foreign readers, compared with PyTorch, the same bytes every time."""
import hashlib
import re
import subprocess

import h5py
import netCDF4
import numpy as np
import xarray

import program
from program import DATA, PROBLEM, STEPS, checkpoint, golden

CHECKPOINT = ("checkpoint",)
# Group: variable: dimensions. Doubles and counts are told apart below.
LAYOUT = {
    "/": {"step": CHECKPOINT, "checkpoint_file": CHECKPOINT, "checkpoint_sha256": CHECKPOINT, "loss": CHECKPOINT,
          "gradient_norm": CHECKPOINT, "parameter_name": ("block",), "parameter_offset": ("block",)},
    "/hessian": {"step": CHECKPOINT, "diagonal": ("checkpoint", "parameter"), "trace": CHECKPOINT,
                 "frobenius_norm": CHECKPOINT, "matrix": ("checkpoint", "parameter", "parameter_column")},
    "/spectrum": {"step": CHECKPOINT, "rank": ("rank",), "eigenvalues": ("checkpoint", "rank"),
                  "lambda_min": CHECKPOINT, "lambda_median": CHECKPOINT,
                  "lambda_max": CHECKPOINT, "residual_min": CHECKPOINT, "residual_median": CHECKPOINT,
                  "residual_max": CHECKPOINT, "num_negative": CHECKPOINT, "num_zero": CHECKPOINT,
                  "num_positive": CHECKPOINT, "num_dead": CHECKPOINT, "rounding_band": CHECKPOINT,
                  "proof": CHECKPOINT},
    "/condition": {"step": CHECKPOINT, "robust_diagonal": CHECKPOINT, "robust_eigenvalue": CHECKPOINT,
                   "robust_absolute": CHECKPOINT, "classical": CHECKPOINT},
}
COORDINATES = {"/": {"step", "parameter_name"}, "/hessian": {"step"}, "/spectrum": {"step", "rank"},
               "/condition": {"step"}}
COUNTS = {"rank", "step", "num_negative", "num_zero", "num_positive", "num_dead"}
WITHOUT_STATUS = {"checkpoint_file", "checkpoint_sha256", "parameter_name", "parameter_offset", "proof"}
SIZES = {"checkpoint": 10, "parameter": 150, "parameter_column": 150, "rank": 150, "block": 6}
OK, ZERO_MEDIAN, NOT_POSITIVE_DEFINITE = 0, 4, 5


def text_of(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class BothOptimizers(program.Case):
    """Ten checkpoints of two folders in one file, analyzed once for all tests of the class."""

    @classmethod
    def setUpClass(cls):
        case = program.Case("run_program")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        case.analyze(DATA / "adam", DATA / "sgdm", "--save-hessian")
        cls.result = case.folder / "out.h5"
        cls.checkpoints = [checkpoint(step, o) for o in ("adam", "sgdm") for step in STEPS]
        cls.goldens = [golden(step, o) for o in ("adam", "sgdm") for step in STEPS]

    def setUp(self):
        super().setUp()
        self.file = h5py.File(self.result, "r")
        self.addCleanup(self.file.close)

    def assert_close(self, found, wanted, tolerance, scale):
        error = np.abs(np.asarray(found) - wanted).max()
        self.assertTrue(error <= tolerance * scale, f"off by {error / scale:.2e} of {scale}")

    def test_keeps_the_order_of_the_folders(self):
        np.testing.assert_array_equal(self.file["step"][:], STEPS * 2)
        names = [text_of(v) for v in self.file["checkpoint_file"][:]]
        self.assertEqual(names, [str(p) for p in self.checkpoints])
        self.assertEqual([text_of(v) for v in self.file["checkpoint_sha256"][:]],
                         [sha256(p) for p in self.checkpoints])

    def test_agrees_with_pytorch(self):
        for i, g in enumerate(self.goldens):
            with self.subTest(checkpoint=self.checkpoints[i].name):
                norm = np.abs(g["eigenvalues"]).max()
                gradient_norm = np.linalg.norm(g["gradient"])
                self.assert_close(self.file["loss"][i], g["loss"], 1e-11, abs(g["loss"]))
                self.assert_close(self.file["gradient_norm"][i], gradient_norm, 1e-11, gradient_norm)
                self.assert_close(self.file["hessian/matrix"][i], g["hessian"], 1e-11, norm)
                self.assert_close(self.file["hessian/diagonal"][i], g["diag"], 1e-11, norm)
                self.assert_close(self.file["hessian/trace"][i], np.trace(g["hessian"]), 1e-11, norm)
                frobenius = np.linalg.norm(g["hessian"])
                self.assert_close(self.file["hessian/frobenius_norm"][i], frobenius, 1e-11, frobenius)
                eigenvalues = g["eigenvalues"]
                self.assert_close(self.file["spectrum/eigenvalues"][i], eigenvalues, 1e-11, norm)
                for name, rank in (("lambda_min", 0), ("lambda_median", 74), ("lambda_max", 149)):
                    self.assert_close(self.file["spectrum/" + name][i], eigenvalues[rank], 1e-11, norm)

    def test_condition_numbers_follow_their_definitions(self):
        condition = self.file["condition"]
        for i, g in enumerate(self.goldens):
            with self.subTest(checkpoint=self.checkpoints[i].name):
                eigenvalues = g["eigenvalues"]
                magnitudes = np.sort(np.abs(eigenvalues))
                want = float(g["robust_condition_diag"])
                self.assert_close(condition["robust_diagonal"][i], want, 1e-8, want)
                want = magnitudes[-1] / magnitudes[74]
                self.assert_close(condition["robust_absolute"][i], want, 1e-6, want)
                # Both runs start where the median eigenvalue is zero; nowhere is the Hessian definite.
                if self.file["step"][i] == 0:
                    self.assertTrue(np.isnan(condition["robust_eigenvalue"][i]))
                    self.assertEqual(condition["robust_eigenvalue_status"][i], ZERO_MEDIAN)
                else:
                    want = eigenvalues[-1] / eigenvalues[74]
                    self.assert_close(condition["robust_eigenvalue"][i], want, 1e-6, want)
                    self.assertEqual(condition["robust_eigenvalue_status"][i], OK)
                self.assertTrue(np.isnan(condition["classical"][i]))
                self.assertEqual(condition["classical_status"][i], NOT_POSITIVE_DEFINITE)

    def test_counts_agree_with_the_eigenvalues(self):
        spectrum = self.file["spectrum"]
        for i, g in enumerate(self.goldens):
            band, values = spectrum["rounding_band"][i], spectrum["eigenvalues"][i]
            self.assertTrue(0 < band < 1e-12 * np.abs(values).max())
            self.assertEqual(spectrum["num_negative"][i], (values < -band).sum())
            self.assertEqual(spectrum["num_zero"][i], (np.abs(values) <= band).sum())
            self.assertEqual(spectrum["num_positive"][i], (values > band).sum())
            self.assertEqual(spectrum["num_dead"][i], (np.abs(g["hessian"]).max(axis=0) == 0).sum())
            for name in ("residual_min", "residual_median", "residual_max"):
                self.assertTrue(0 <= spectrum[name][i] <= 10 * band, name)

    def test_proof_says_dense(self):
        proof = self.file["spectrum/proof"]
        meanings = text_of(proof.attrs["flag_meanings"]).split()
        values = list(proof.attrs["flag_values"])
        self.assertEqual({meanings[values.index(v)] for v in proof[:]}, {"dense"})

    def test_attributes_say_where_it_comes_from(self):
        attributes = {name: text_of(value) if isinstance(value, (bytes, str)) else value
                      for name, value in self.file.attrs.items()}
        self.assertEqual(attributes["complete"], 1)
        self.assertEqual(attributes["seed"], 0)
        self.assertEqual(attributes["num_samples"], 256)
        self.assertEqual(attributes["data_sha256"], sha256(DATA / "eval.npz"))
        self.assertIn("linear-attention", attributes["title"])
        self.assertRegex(attributes["source"], r"^hesscope \d+\.\d+\.\d+ ")
        self.assertRegex(attributes["Conventions"], r"^CF-1\.\d+$")
        self.assertRegex(attributes["hesscope_schema_version"], r"^\d+\.\d+\.\d+$")
        self.assertIn("1970-01-01T00:00:00Z hesscope analyze", attributes["history"])
        self.assertIn(str(PROBLEM), attributes["history"])
        for line in ("kind = 'linear-attention'", "layers = 3", "parametrization = 'sparse'", "file = 'eval.npz'"):
            self.assertIn(line, attributes["problem"])

    def test_every_variable_says_what_it_is(self):
        for group, variables in LAYOUT.items():
            for name in variables:
                variable = self.file[group][name]
                with self.subTest(variable=variable.name):
                    for attribute in ("long_name", "units", "definition"):
                        self.assertTrue(text_of(variable.attrs[attribute]))
                    if name in WITHOUT_STATUS:
                        continue
                    if name in COUNTS:
                        self.assertEqual(variable.dtype, np.int64)
                    else:
                        self.assertEqual(variable.dtype, np.float64)
                        self.assertTrue(np.isnan(variable.attrs["_FillValue"]).all())
                        self.assertTrue(np.isnan(variable.fillvalue))

    def test_a_status_is_there_only_where_it_says_something(self):
        statuses = {f"{group}/{name}" for group in LAYOUT for name in self.file[group] if name.endswith("_status")}
        self.assertEqual(statuses, {"/condition/robust_eigenvalue_status", "/condition/classical_status"})
        for group, variables in LAYOUT.items():
            for name in variables:
                variable = self.file[group][name]
                with self.subTest(variable=variable.name):
                    if f"{group}/{name}_status" in statuses:
                        self.assertEqual(text_of(variable.attrs["ancillary_variables"]), name + "_status")
                        status = self.file[group][name + "_status"]
                        self.assertEqual(status.dtype, np.int8)
                        self.assertEqual(status.shape, (10,))
                        self.assertEqual(len(status.attrs["flag_values"]),
                                         len(text_of(status.attrs["flag_meanings"]).split()))
                    else:
                        self.assertNotIn("ancillary_variables", variable.attrs)
                        self.assertTrue(variable.dtype.kind != "f" or np.isfinite(variable[()]).all())

    def test_parameter_blocks_are_the_checkpoint_tensors(self):
        names = [text_of(v) for v in self.file["parameter_name"][:]]
        self.assertEqual(names, [f"layers.{layer}.{name}" for layer in range(3) for name in "PQ"])
        np.testing.assert_array_equal(self.file["parameter_offset"][:], np.arange(6) * 25)

    def test_opens_in_xarray_with_its_coordinates(self):
        for engine in ("netcdf4", "h5netcdf"):
            for group, variables in LAYOUT.items():
                with self.subTest(engine=engine, group=group), \
                        xarray.open_dataset(self.result, engine=engine, group=group) as data:
                    self.assertEqual({name for name in data.variables if not name.endswith("_status")}, set(variables))
                    self.assertEqual(set(data.coords), COORDINATES[group])
                    for name, dimensions in variables.items():
                        self.assertEqual(data[name].dims, dimensions, name)
                        self.assertEqual(data[name].shape, tuple(SIZES[d] for d in dimensions), name)
                        found = self.file[group][name][()]
                        if found.dtype == object:
                            found = np.array([text_of(v) for v in found])
                        np.testing.assert_array_equal(data[name].values, found, name)
                        self.assertIn("long_name", data[name].attrs)
                        if "checkpoint" in dimensions and name != "step":
                            np.testing.assert_array_equal(data[name].coords["step"], STEPS * 2)
            with xarray.open_dataset(self.result, engine=engine, group="spectrum") as spectrum:
                np.testing.assert_array_equal(spectrum.eigenvalues.sel(rank=149)[spectrum.step == 500],
                                              spectrum.lambda_max[[1, 6]])

    def test_opens_in_ncdump(self):
        done = subprocess.run(["ncdump", "-h", self.result], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in ("checkpoint = 10 ;", "double loss(checkpoint) ;", "group: spectrum", "group: condition",
                     "double eigenvalues(checkpoint, rank) ;", "byte classical_status(checkpoint) ;",
                     'eigenvalues:coordinates = "step" ;', "int64 rank(rank) ;",
                     "double matrix(checkpoint, parameter, parameter_column) ;"):
            self.assertIn(line, done.stdout)
        self.assertNotIn("phony", done.stdout)


class Choices(program.Case):
    def groups(self, *arguments):
        self.analyze(checkpoint(500), *arguments)
        with h5py.File(self.folder / "out.h5") as file:
            groups = {name for name, item in file.items() if isinstance(item, h5py.Group)}
            return groups, {name for group in groups for name in file[group]}

    def test_only_what_is_asked_for_is_stored(self):
        groups, _ = self.groups("--only", "condition,hessian")
        self.assertEqual(groups, {"hessian", "condition"})

    def test_iterative_counts_three_ranks_and_leaves_the_other_eigenvalues_out(self):
        names = ("lambda_min", "lambda_median", "lambda_max", "num_negative", "num_zero", "num_dead")
        done = self.analyze(checkpoint(0), checkpoint(500), "--method", "iterative")
        self.assertEqual(done.stderr, "")
        with h5py.File(self.folder / "out.h5") as file:
            counted = {name: file["spectrum"][name][:] for name in names}
            robust = file["condition/robust_absolute"][:]
            self.assertTrue(np.isnan(file["spectrum/eigenvalues"][:]).all())
            status = file["spectrum/eigenvalues_status"]
            meanings = text_of(status.attrs["flag_meanings"]).split()
            self.assertEqual({meanings[i] for i in status[:]}, {"not_computed"})
            proof = file["spectrum/proof"]
            meanings = text_of(proof.attrs["flag_meanings"]).split()
            self.assertEqual({meanings[i] for i in proof[:]}, {"counted"})
        self.analyze(checkpoint(0), checkpoint(500), "--method", "dense", "--force")
        with h5py.File(self.folder / "out.h5") as file:
            bands = 2 * file["spectrum/rounding_band"][:]
            for name in names:
                error = np.abs(counted[name] - file["spectrum"][name][:])
                self.assertTrue((error <= bands).all(), name)
            expected = file["condition/robust_absolute"][:]
            self.assertTrue((np.abs(robust / expected - 1) <= 1e-9).all())

    def test_the_matrix_is_stored_only_if_asked_for(self):
        _, names = self.groups()
        self.assertIn("diagonal", names)
        self.assertNotIn("matrix", names)

    def test_a_checkpoint_of_another_name_has_no_step(self):
        self.write_checkpoint("final.npz", program.weights(500))
        self.analyze("final.npz", checkpoint(500))
        with netCDF4.Dataset(self.folder / "out.h5") as data:
            self.assertEqual(np.ma.getmaskarray(data["step"][:]).tolist(), [True, False])
            self.assertEqual(data["step_status"][:].tolist(), [1, 0])
            # What is not known of all is no coordinate of any.
            self.assertNotIn("coordinates", data["loss"].ncattrs())
            self.assertNotIn("step", data["spectrum"].variables)
            self.assertEqual(data["loss"][0], data["loss"][1])

    def test_hdf5_checkpoints_give_the_same_numbers_as_npz(self):
        self.analyze(program.FIXTURES / "linear-attention-s1-adam" / "step-000500.h5", output="hdf5.h5")
        self.analyze(checkpoint(500), output="npz.h5")
        with h5py.File(self.folder / "hdf5.h5") as a, h5py.File(self.folder / "npz.h5") as b:
            np.testing.assert_array_equal(a["spectrum/eigenvalues"][:], b["spectrum/eigenvalues"][:])

    def test_a_folder_with_two_formats_and_a_choice(self):
        self.write_checkpoint("step-000000.npz", program.weights(0))
        (self.folder / "step-000000.h5").write_bytes(
            (program.FIXTURES / "linear-attention-s1-adam" / "step-000000.h5").read_bytes())
        self.analyze(".", "--format", "hdf5")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertRegex(text_of(file["checkpoint_file"][0]), r"step-000000\.h5$")

    def test_a_file_name_that_begins_with_a_dash(self):
        self.write_checkpoint("-x.npz", program.weights(0))
        done = self.run_program("analyze", "--problem", PROBLEM, "-o", "out.h5", "--", "-x.npz")
        self.assertEqual(done.returncode, program.DONE, done.stderr)

    def test_the_later_of_two_options_counts(self):
        self.analyze(checkpoint(500), "-o", "first.h5", output="second.h5")
        self.assertEqual(self.files(), {"second.h5"})

    def test_force_replaces(self):
        self.analyze(checkpoint(0))
        self.analyze(checkpoint(500), "--force")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(file["step"][0], 500)


class SameBytes(program.Case):
    def bytes_of(self, *arguments, output="out.h5"):
        self.analyze(DATA / "adam", "--save-hessian", "--force", *arguments, output=output)
        return sha256(self.folder / output)

    @program.plain_program_only
    def test_for_any_number_of_threads(self):
        self.assertEqual(len({self.bytes_of("--threads", n) for n in (1, 2, 3, 4, 0)}), 1)

    def test_for_every_run_and_output_name(self):
        self.assertEqual(self.bytes_of(), self.bytes_of(output="another name.h5"))

    def test_whatever_is_printed(self):
        self.assertEqual(self.bytes_of("--quiet"), self.bytes_of("--json"))

    def test_only_the_time_differs_without_source_date_epoch(self):
        environment = {k: v for k, v in self.environment().items() if k != "SOURCE_DATE_EPOCH"}
        done = subprocess.run(self.command("analyze", checkpoint(0), "--problem", PROBLEM, "-o", "now.h5"),
                              cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, program.DONE, done.stderr)
        self.analyze(checkpoint(0), output="then.h5")
        with h5py.File(self.folder / "now.h5") as now, h5py.File(self.folder / "then.h5") as then:
            self.assertTrue(re.match(r"20\d\d-", text_of(now.attrs["history"])))
            for name in ("loss", "spectrum/eigenvalues", "condition/robust_diagonal"):
                np.testing.assert_array_equal(now[name][()], then[name][()])


if __name__ == "__main__":
    program.main()
