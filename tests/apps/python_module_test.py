# SPDX-License-Identifier: BSD-3-Clause
"""share/hesscope/hesscope.py against the files themselves, with and without xarray, h5py and netCDF4."""
import json
import subprocess
import sys
import unittest.mock

import h5py
import numpy as np
import xarray

import program
from program import BAD_INPUT, DATA, DONE, INCONCLUSIVE, PROBLEM, SOURCE, USAGE

MODULE = SOURCE / "share" / "hesscope"
sys.path.insert(0, str(MODULE))
import hesscope  # noqa: E402

MISSING_COUNT = -9223372036854775806
EXPERIMENT = """
[experiment]
name = "tiny"
title = "A tiny experiment"
[model]
kind = "linear-attention"
layers = 1
[data]
kind = "linear-regression"
dimension = 3
context = 4
[evaluation]
samples = 20
[initialization]
distribution = "normal"
std = 0.2
[training]
steps = 6
batch = 5
seeds = [1, 2]
checkpoint_every = 3
[[run]]
name = "sgd"
rule = "sgd"
learning_rate = 0.02
[[figure]]
name = "loss"
kind = "curves"
quantity = "history/loss"
"""

# What a fresh interpreter without these modules reads of a file.
READ = """
import json, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[3:]:
    sys.modules[name] = None
import numpy as np
import hesscope
tree = hesscope.open(sys.argv[2])
found = {}
for group in tree.groups:
    dataset = tree[group].to_dataset()
    for name in [*dataset.data_vars, *dataset.coords]:
        array = dataset[name]
        values = np.asarray(array.values)
        shown = [str(v) for v in values.ravel()] if values.dtype.kind == "O" else [repr(float(v)) for v in values.ravel()]
        found[group.rstrip("/") + "/" + name] = [list(array.dims), shown, array.attrs.get("definition")]
json.dump(found, sys.stdout)
"""


def raw_variables(path):
    """Path -> variable of h5py, of all that are no mere dimensions."""
    found = {}
    file = h5py.File(path)

    def visit(name, item):
        label = item.attrs.get("NAME", b"")
        if isinstance(item, h5py.Dataset) and not bytes(label).startswith(b"This is a netCDF dimension but not"):
            found["/" + name] = item

    file.visititems(visit)
    return file, found


class PythonModule(program.Case):

    @classmethod
    def setUpClass(cls):
        maker = cls.make_results()

        def run(*arguments, expect=DONE):
            done = maker.run_program(*arguments)
            assert done.returncode == expect, done.stderr

        maker.analyze(DATA / "adam", "--blocks", "--noise", "--noise-draws", "20", output="adam.h5")
        with np.load(DATA / "adam" / "step-000500.npz") as file:
            weights = dict(file)
        broken = {name: np.full_like(values, np.nan) for name, values in weights.items()}
        for name, arrays in (("step-1.npz", weights), ("step-2.npz", broken)):
            maker.write_checkpoint(name, arrays)
        maker.analyze("step-1.npz", "step-2.npz", output="broken.h5", expect=INCONCLUSIVE)
        run("landscape", DATA / "adam", "--problem", PROBLEM, "-o", "plane.h5", "--directions", "pca", "--grid", "5x4",
            "--span=-0.3:0.3", "--curvature")
        (cls.results / "tiny.toml").write_text(EXPERIMENT)
        run("train", "tiny.toml", "-o", "trained", "--run", "sgd", "--seed", "1")
        run("reproduce", "tiny.toml", "-o", "reproduced")
        cls.files = sorted(cls.results.glob("*.h5")) + [
            next(cls.results.glob("trained/**/history.h5")), next(cls.results.glob("reproduced/**/figures/loss.h5"))]

    def trees(self, path):
        yield hesscope.open(path)
        yield hesscope.open(path, use_xarray=False)

    def test_everything_in_a_file_is_in_its_tree(self):
        for path in type(self).files:
            file, raw = raw_variables(path)
            with self.subTest(path.name), file:
                for tree in self.trees(path):
                    for name, item in raw.items():
                        array, stored = tree[name], item.asstr()[()] if item.dtype.kind == "O" else item[()]
                        self.assertEqual(array.attrs["definition"], program.text(item.attrs["definition"]), name)
                        self.assertEqual(np.shape(array.values), np.shape(stored), name)
                        if "flag_meanings" in item.attrs:
                            words = dict(zip(np.ravel(item.attrs["flag_values"]).tolist(),
                                             program.text(item.attrs["flag_meanings"]).split()))
                            stored = np.vectorize(words.get, otypes=[object])(stored)
                        elif item.dtype.kind == "i" and np.any(stored == MISSING_COUNT):
                            stored = np.where(stored == MISSING_COUNT, np.nan, stored.astype(float))
                        np.testing.assert_array_equal(np.asarray(array.values), stored, name)
                    self.assertEqual(tree.attrs["hesscope_schema_version"], program.text(file.attrs["hesscope_schema_version"]))
                    self.assertEqual(len(tree.groups), 1 + sum(isinstance(i, h5py.Group) for i in file.values()))

    def test_what_is_undefined_never_looks_like_a_number(self):
        for tree in self.trees(self.results / "broken.h5"):
            self.assertEqual(tree["spectrum/num_negative"].values[0], np.floor(tree["spectrum/num_negative"].values[0]))
            for name in ("spectrum/lambda_max", "spectrum/num_negative", "condition/robust_eigenvalue"):
                values, words = tree[name].values, tree[name + "_status"].values
                self.assertTrue(np.isfinite(values[0]) and np.isnan(values[1]), name)
                self.assertEqual(list(words), ["ok", "non_finite"])
                self.assertIn(name.split("/")[1] + "_status", tree[name].coords)
        for tree in self.trees(self.results / "adam.h5"):
            status = tree["condition/robust_eigenvalue_status"].values
            self.assertEqual(status[0], "undefined_zero_median")
            np.testing.assert_array_equal(np.isnan(tree["condition/robust_eigenvalue"].values), status != "ok")

    def test_numbers_have_their_steps_blocks_and_proofs_beside_them(self):
        with h5py.File(self.results / "adam.h5") as file:
            steps, largest = file["step"][()], file["spectrum/lambda_max"][()]
            names = file["parameter_name"].asstr()[()]
        for tree in self.trees(self.results / "adam.h5"):
            array = tree["spectrum"]["lambda_max"]
            self.assertEqual(array.sel(step=500).item(), largest[list(steps).index(500)])
            self.assertEqual(str(array.sel(step=500).coords["proof"].item()), "dense")
            np.testing.assert_array_equal(array.coords["step"].values, steps)
            np.testing.assert_array_equal(tree["blocks/trace"].coords["parameter_name"].values, names)
            self.assertTrue(str(array.coords["checkpoint_file"].values[1]).endswith("step-000500.npz"))
            self.assertNotIn("parameter_name", array.coords)
            self.assertEqual(list(tree.children)[:3], ["hessian", "spectrum", "condition"])  # as they were written
            with self.assertRaises(KeyError):
                array.sel(step=7)
            self.assertIn("largest eigenvalue", repr(array))
        # The trajectory of a landscape has steps of its own.
        for tree in self.trees(self.results / "plane.h5"):
            self.assertEqual(tree["landscape/trajectory_alpha"].dims, ("step",))
            self.assertEqual(tree["loss"].dims, ("checkpoint",))
            self.assertEqual(tree["landscape/loss"].dims, ("beta", "alpha"))

    def test_reads_the_same_whichever_libraries_there_are(self):
        for path in type(self).files:
            seen = []
            for missing in ([], ["xarray"], ["h5py", "h5netcdf"], ["xarray", "h5py", "h5netcdf"]):
                done = subprocess.run([sys.executable, "-B", "-c", READ, MODULE, path, *missing],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                seen.append(json.loads(done.stdout))
            for other in seen[1:]:
                self.assertEqual(other, seen[0])
            self.assertGreater(len(seen[0]), 5)

    def test_reads_no_more_than_it_is_asked_for(self):
        for use_xarray in (True, False):
            tree = hesscope.open(self.results / "adam.h5", only="hessian/diagonal", use_xarray=use_xarray)
            self.assertEqual(list(tree.children), ["hessian"])
            self.assertEqual(list(tree["hessian"].to_dataset().data_vars), ["diagonal"])
            self.assertIn("step", tree["hessian/diagonal"].coords)
            tree = hesscope.open(self.results / "adam.h5", only=["spectrum", "condition/robust_eigenvalue"],
                                 use_xarray=use_xarray)
            self.assertIn("eigenvalues", tree["spectrum"].to_dataset())
            self.assertIn("robust_eigenvalue_status", tree["condition/robust_eigenvalue"].coords)
            with self.assertRaisesRegex(KeyError, "spectra.*its groups are hessian, spectrum"):
                hesscope.open(self.results / "adam.h5", only="spectra", use_xarray=use_xarray)

    def test_says_what_is_wrong_with_a_file(self):
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["x"] = 1
        (self.folder / "text.h5").write_text("no result")
        for name in ("other.h5", "text.h5"):
            with self.assertRaisesRegex(ValueError, name):
                hesscope.open(self.folder / name)
        with self.assertRaises(FileNotFoundError):
            hesscope.open(self.folder / "none.h5")
        with self.assertRaisesRegex(KeyError, "no 'lambda'.*lambda_max"):
            hesscope.open(self.results / "adam.h5", use_xarray=False)["spectrum/lambda"]

    def test_runs_the_program(self):
        output = self.folder / "again.h5"
        run = hesscope.analyze(DATA / "adam", PROBLEM, "--noise", "--noise-draws", 20, "--blocks", output=output,
                               program=program.PROGRAM)
        kept = hesscope.open(self.results / "adam.h5")
        for name in ("spectrum/eigenvalues", "blocks/trace", "noise/covariance_trace"):
            np.testing.assert_array_equal(run[name].values, kept[name].values)
        np.testing.assert_array_equal(hesscope.open(output)["loss"].values, kept["loss"].values)
        files = [DATA / "adam" / f"step-{step:06d}.npz" for step in (500, 1000)]
        some = hesscope.analyze(files, str(PROBLEM), "--only", "spectrum", program=program.PROGRAM, use_xarray=False)
        self.assertIsInstance(some, hesscope.Tree)
        self.assertEqual(some["spectrum/lambda_max"].shape, (2,))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["again.h5"])

    def test_says_what_the_program_says(self):
        with self.assertRaisesRegex(hesscope.Error, "none.npz") as raised:
            hesscope.analyze(self.folder / "none.npz", PROBLEM, program=program.PROGRAM)
        self.assertEqual(raised.exception.exit_code, BAD_INPUT)
        with self.assertRaisesRegex(hesscope.Error, "--onyl.*--only") as raised:
            hesscope.analyze(DATA / "adam", PROBLEM, "--onyl", "spectrum", program=program.PROGRAM)
        self.assertEqual(raised.exception.exit_code, USAGE)
        with self.assertWarnsRegex(UserWarning, "step-2.npz"):
            run = hesscope.analyze([self.results / "step-1.npz", self.results / "step-2.npz"], PROBLEM, "--only", "spectrum",
                                   program=program.PROGRAM)
        np.testing.assert_array_equal(np.isnan(run["spectrum/lambda_max"].values), [False, True])
        with unittest.mock.patch.dict("os.environ", PATH=str(self.folder)):
            with self.assertRaisesRegex(FileNotFoundError, "no hesscope on the PATH"):
                hesscope.analyze(DATA / "adam", PROBLEM)
            (self.folder / "hesscope").symlink_to(program.PROGRAM)
            self.assertEqual(hesscope.analyze(DATA / "adam", PROBLEM, "--only", "spectrum")["loss"].shape, (5,))

    def test_is_a_data_tree_where_xarray_has_them(self):
        path = self.results / "adam.h5"
        if hasattr(xarray, "DataTree"):
            tree = hesscope.open(path)
            self.assertIsInstance(tree, xarray.DataTree)
            return
        made = {}
        stand_in = type("DataTree", (), {"from_dict": staticmethod(lambda datasets: made.update(datasets) or "tree")})
        with unittest.mock.patch.object(xarray, "DataTree", stand_in, create=True):
            self.assertEqual(hesscope.open(path), "tree")
        with h5py.File(path) as file:
            self.assertEqual(set(made), {"/"} | {f"/{n}" for n, i in file.items() if isinstance(i, h5py.Group)})
        self.assertTrue(all(isinstance(dataset, xarray.Dataset) for dataset in made.values()))
        xarray.align(*made.values(), join="exact")  # which a DataTree asks of a group and those below it


if __name__ == "__main__":
    program.main()
