# SPDX-License-Identifier: BSD-3-Clause
"""Results in the hands of other programs: NCO reads and edits every group, VTK's readers see the surface.

Where VTK is not installed, its tests are skipped.
"""
import json
import shutil
import subprocess
import unittest

import h5py
import numpy as np
import xarray

import program
from program import DATA, DONE, FAILED, PROBLEM, STEPS, USAGE, checkpoint

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOLegacy import vtkDataSetReader
    from vtkmodules.vtkIONetCDF import vtkNetCDFReader
except ImportError:
    vtkDataSetReader = vtkNetCDFReader = None

ALL = ("--only", "hessian,spectrum,condition,structure,eigenpairs,blocks,ggn,stability,density,noise,smoothness")


class Case(program.Case):
    def tool(self, *command):
        done = subprocess.run([str(part) for part in command], cwd=self.folder, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("ERROR", done.stderr)
        return done.stdout

    def landscape(self, *options, output="out.h5"):
        done = self.run_program("landscape", checkpoint(500), "--directions", "random", *options, "--problem", PROBLEM,
                                "-o", output)
        self.assertEqual(done.returncode, DONE, done.stderr)

    def trajectory(self):
        done = self.run_program("landscape", DATA / "adam", "--directions", "pca", "--grid", "5x4", "--problem", PROBLEM,
                                "-o", "out.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def variables(self, name="out.h5"):
        """All variables of a file by their paths; bare dimensions left out."""
        found = {}

        def visit(path, thing):
            if isinstance(thing, h5py.Dataset) and not thing.attrs.get("NAME", b"").startswith(b"This is a netCDF dim"):
                found[path] = thing[()]

        with h5py.File(self.folder / name) as file:
            file.visititems(visit)
        return found


class EveryGroup(Case):
    """A result with every analyzer that looks at one checkpoint or several, and a landscape."""

    def outputs(self):
        self.analyze(DATA / "adam", *ALL, output="analysis.h5")
        self.landscape("--grid", "4x3", "--curvature", output="landscape.h5")
        return ("analysis.h5", "landscape.h5")

    def test_opens_in_xarray_with_both_engines(self):
        for name in self.outputs():
            with h5py.File(self.folder / name) as file:
                groups = [None] + [group for group in file if isinstance(file[group], h5py.Group)]
            wanted = self.variables(name)
            seen = set()
            for engine in ("netcdf4", "h5netcdf"):
                for group in groups:
                    with self.subTest(name=name, engine=engine, group=group), \
                            xarray.open_dataset(self.folder / name, engine=engine, group=group, mask_and_scale=False,
                                                decode_times=False) as data:
                        for variable in data.variables:
                            path = f"{group}/{variable}" if group else variable
                            if path in wanted and wanted[path].dtype.kind in "fi":
                                np.testing.assert_array_equal(data[variable].values, wanted[path], err_msg=path)
                                seen.add(path)
            numbers = {path for path, values in wanted.items() if values.dtype.kind in "fi"}
            self.assertEqual(numbers - seen, set())
            self.assertGreater(len(seen), 20)

    def test_groups_hold_their_coordinates(self):
        self.analyze(DATA / "adam", *ALL)
        with h5py.File(self.folder / "out.h5") as file:
            blocks = [name.decode() for name in file["parameter_name"][:]]
            groups = [group for group in file if isinstance(file[group], h5py.Group)]
        wanted = {"step": np.array(STEPS), "block": blocks, "block_column": blocks, "rank": np.arange(150),
                  "block_rank": np.arange(25), "pair": np.arange(5)}
        seen = set()
        for engine in ("netcdf4", "h5netcdf"):
            for group in groups:
                with self.subTest(engine=engine, group=group), \
                        xarray.open_dataset(self.folder / "out.h5", engine=engine, group=group) as data:
                    self.assertIn("step", data.coords)
                    for name in wanted.keys() & (data.coords.keys() | data.dims.keys()):
                        np.testing.assert_array_equal(data.coords[name].values, wanted[name], err_msg=name)
                        seen.add(name)
                    for variable in data.data_vars.values():
                        self.assertEqual("step" in variable.coords, "checkpoint" in variable.dims, variable.name)
        self.assertEqual(seen, set(wanted))
        with xarray.open_dataset(self.folder / "out.h5", group="blocks") as data:
            one = data.frobenius_norm.sel(block="layers.0.Q", block_column="layers.2.P")
            self.assertEqual(one[1].step, STEPS[1])
            np.testing.assert_array_equal(one.values, data.frobenius_norm.values[:, 1, 4])

    @unittest.skipUnless(shutil.which("ncks"), "no NCO")
    def test_nco_reads_and_edits(self):
        for name in self.outputs():
            with self.subTest(name=name):
                listing = self.tool("ncks", "-m", name)
                with h5py.File(self.folder / name) as file:
                    for group in file:
                        if isinstance(file[group], h5py.Group):
                            self.assertIn(f"group: {group}", listing)
                # A copy by NCO, then one attribute of it edited in place.
                self.tool("ncks", "-O", name, "copy.nc")
                self.tool("ncatted", "-O", "-h", "-a", "title,global,o,c,edited", "copy.nc")
                with h5py.File(self.folder / "copy.nc") as file:
                    self.assertEqual(file.attrs["title"].decode() if isinstance(file.attrs["title"], bytes)
                                     else file.attrs["title"], "edited")
                wanted, copied = self.variables(name), self.variables("copy.nc")
                numbers = [path for path, values in wanted.items() if values.dtype.kind in "fi"]
                self.assertGreater(len(numbers), 15)
                for path in numbers:
                    np.testing.assert_array_equal(copied[path], wanted[path], err_msg=path)

    @unittest.skipUnless(shutil.which("ncks"), "no NCO")
    def test_nco_cuts_out_a_group(self):
        self.analyze(DATA / "adam")
        self.tool("ncks", "-O", "-g", "spectrum", "-v", "lambda_max", "out.h5", "cut.nc")
        with xarray.open_dataset(self.folder / "cut.nc", group="spectrum") as cut, \
                xarray.open_dataset(self.folder / "out.h5", group="spectrum") as whole:
            np.testing.assert_array_equal(cut.lambda_max.values, whole.lambda_max.values)


class Trajectories(Case):
    def test_loss_landscape_finds_what_its_plot_scripts_read(self):
        """The datasets that plot_2D.py of tomgoldstein/loss-landscape takes out of its three files."""
        self.trajectory()
        done = self.run_program("export", "out.h5", "--format", "losslandscape", "-o", "surface.h5", "--json")
        self.assertEqual(json.loads(done.stdout)["files"], ["surface.h5", "surface_proj_lstsq.h5"])
        wanted = self.variables()
        with h5py.File(self.folder / "surface.h5") as surface, \
                h5py.File(self.folder / "surface_proj_lstsq.h5") as projection:
            x, y = surface["xcoordinates"][:], surface["ycoordinates"][:]
            self.assertEqual(surface["train_loss"].shape, (len(y), len(x)))
            np.testing.assert_array_equal(projection["proj_xcoord"][:], wanted["landscape/trajectory_alpha"])
            np.testing.assert_array_equal(projection["proj_ycoord"][:], wanted["landscape/trajectory_beta"])
            for axis, coordinates in ((x, "proj_xcoord"), (y, "proj_ycoord")):
                self.assertTrue((axis[0] < projection[coordinates][:]).all())
                self.assertTrue((projection[coordinates][:] < axis[-1]).all())
            np.testing.assert_array_equal(projection["explained_variance_ratio_"][:],
                                          [wanted["landscape/explained_1"], wanted["landscape/explained_2"]])

    def test_the_ending_says_the_format(self):
        self.trajectory()
        for name, format_of in (("a.csv", "csv"), ("a.vtk", "vtk"), ("a.h5", "losslandscape"), ("a.txt", "csv")):
            done = self.run_program("export", "out.h5", "-o", name, "--json")
            self.assertEqual(json.loads(done.stdout)["format"], format_of)
        self.refuses(USAGE, ["export", "out.h5", "-o", "b.parquet"], "b.parquet", "--format", ".vtk")

    def test_a_second_file_in_the_way_stops_both(self):
        self.trajectory()
        for name, second in (("csv", "a-trajectory.x"), ("vtk", "a-trajectory.x"), ("losslandscape", "a_proj_lstsq.x")):
            with self.subTest(name):
                (self.folder / second).write_text("mine")
                command = ["export", "out.h5", "--format", name, "-o", "a.x"]
                self.refuses(FAILED, command, second, "--force")
                self.refuses(FAILED, [*command, "--force"], second)  # not a file of ours
                done = self.run_program(*command, "--force", "--force")
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertNotEqual((self.folder / second).read_bytes(), b"mine")
                done = self.run_program(*command, "--force")
                self.assertEqual(done.returncode, DONE, done.stderr)
                (self.folder / "a.x").unlink()


@unittest.skipUnless(vtkDataSetReader, "no VTK")
class Vtk(Case):
    def test_reads_the_exported_surface(self):
        self.landscape("--grid", "5x4", "--span", "-1:1,-0.5:0.5", "--curvature")
        done = self.run_program("export", "out.h5", "--format", "vtk", "-o", "surface.vtk")
        self.assertEqual(done.returncode, DONE, done.stderr)
        reader = vtkDataSetReader()
        reader.SetFileName(str(self.folder / "surface.vtk"))
        reader.ReadAllScalarsOn()
        reader.Update()
        grid = reader.GetOutput()
        self.assertEqual(grid.GetDimensions()[:2], (5, 4))
        wanted = self.variables()
        for name in ("loss", "lambda_max"):
            np.testing.assert_allclose(vtk_to_numpy(grid.GetPointData().GetArray(name)),
                                       wanted[f"landscape/{name}"].ravel(), rtol=1e-6)

    def test_reads_every_number_bit_for_bit_also_where_some_are_missing(self):
        self.landscape("--grid", "5x1", "--span", "-1:1", "--curvature")
        done = self.run_program("export", "out.h5", "-o", "line.vtk")
        self.assertEqual(done.returncode, DONE, done.stderr)
        reader = vtkDataSetReader()
        reader.SetFileName(str(self.folder / "line.vtk"))
        reader.ReadAllScalarsOn()
        reader.Update()
        found = reader.GetOutput().GetPointData()
        wanted = {name.partition("/")[2]: values for name, values in self.variables().items()
                  if name.startswith("landscape/")}
        names = [found.GetArrayName(i) for i in range(found.GetNumberOfArrays())]
        self.assertLess({"loss", "lambda_max", "plane_hessian_12", "plane_hessian_22"}, set(names))
        self.assertTrue(np.isnan(wanted["plane_hessian_22"]).all())
        for name in names:
            np.testing.assert_array_equal(vtk_to_numpy(found.GetArray(name)), wanted[name].ravel(), name)

    def test_reads_the_trajectory_as_a_polyline(self):
        self.trajectory()
        done = self.run_program("export", "out.h5", "--format", "vtk", "-o", "surface.vtk")
        self.assertEqual(done.stdout, "written to surface.vtk\nwritten to surface-trajectory.vtk\n")
        reader = vtkDataSetReader()
        reader.SetFileName(str(self.folder / "surface-trajectory.vtk"))
        reader.ReadAllScalarsOn()
        reader.Update()
        line = reader.GetOutput()
        self.assertEqual((line.GetNumberOfLines(), line.GetNumberOfPoints()), (1, 5))
        wanted = self.variables()
        alpha, beta, loss = (wanted[f"landscape/trajectory_{name}"] for name in ("alpha", "beta", "loss"))
        np.testing.assert_allclose(vtk_to_numpy(line.GetPoints().GetData()), np.stack([alpha, beta, loss], axis=1))
        ids = line.GetCell(0).GetPointIds()
        self.assertEqual([ids.GetId(i) for i in range(ids.GetNumberOfIds())], [0, 1, 2, 3, 4])
        for name in ("step", "loss", "residual"):
            np.testing.assert_allclose(vtk_to_numpy(line.GetPointData().GetArray(name)),
                                       wanted[f"landscape/trajectory_{name}"])

    @unittest.skipUnless(shutil.which("ncks"), "no NCO")
    def test_its_netcdf_reader_sees_the_grid(self):
        # That reader looks at variables of the root only, so the group is moved there.
        self.landscape("--grid", "5x4", "--span", "-1:1,-0.5:0.5")
        self.tool("ncks", "-O", "-G", ":", "-g", "landscape", "-v", "loss,alpha,beta", "out.h5", "flat.nc")
        reader = vtkNetCDFReader()
        reader.SetFileName(str(self.folder / "flat.nc"))
        reader.UpdateMetaData()
        reader.SetDimensions("(beta, alpha)")
        reader.Update()
        np.testing.assert_array_equal(vtk_to_numpy(reader.GetOutput().GetPointData().GetArray("loss")),
                                      self.variables()["landscape/loss"].ravel())


if __name__ == "__main__":
    program.main()
