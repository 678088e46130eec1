# SPDX-License-Identifier: BSD-3-Clause
"""Opens the sample of sample_result.h with readers that are not ours and compares everything.

usage: foreign_readers.py h5py|netcdf4|xarray-netcdf4|xarray-h5netcdf|ncdump|nco|edit FILE

What the file must hold is stated here a second time, on purpose: a mistake common to our writer and
our reader would cancel out in a round trip.
"""
import json
import subprocess
import sys

import numpy as np

ROOT_DIMENSIONS = {"checkpoint": 2, "parameter": 3, "parameter_column": 4, "none": 0}
MATRIX = np.array([[[100 * k + 10 * i + j + 0.5 for j in range(4)] for i in range(3)] for k in range(2)])
MATRIX[1, 2, 3] = np.nan
RAMP = np.array([[k + i / 1024 for i in range(3000)] for k in range(2)])
UNWRITTEN_STEP = -9223372036854775806

# path: (dimensions, values)
VARIABLES = {
    "/step": (("checkpoint",), np.array([0, 250], dtype=np.int64)),
    "/checkpoint_file": (("checkpoint",), np.array(["step-0.npz", "Pfad/sch\u00f6n.npz"], dtype=object)),
    "/loss": (("checkpoint",), np.array([0.25, np.nan])),
    "/scalar": ((), np.array(2.5)),
    "/empty": (("none",), np.zeros(0)),
    "/hessian/matrix": (("checkpoint", "parameter", "parameter_column"), MATRIX),
    "/hessian/place": (("checkpoint",), np.array([10, 20], dtype=np.int64)),
    "/hessian/parameter": (("parameter",), np.array(["a", "b", "c"], dtype=object)),
    "/hessian/ramp": (("checkpoint", "long"), RAMP),
    "/hessian/unwritten": (("checkpoint",), np.array([UNWRITTEN_STEP] * 2, dtype=np.int64)),
    "/landscape/alpha": (("alpha",), np.array([-1.0, 0.0, 1.0])),
    "/landscape/loss_status": (("checkpoint", "alpha"), np.array([[0, 1, 2], [-1, -1, -1]], dtype=np.int8)),
    "/landscape/label": (("checkpoint", "alpha"), np.array([["a", "", "\u03b1\u03b2"], ["", "", ""]], dtype=object)),
}
ATTRIBUTES = {
    "/": {"title": "sample", "seed": 7, "complete": 1, "tolerance": 0.125, "blank": "",
          "problem": "x" * 100000, "hesscope_schema_version": "1.0.0", "place": "Z\u00fcrich"},
    "/hessian": {"rounding": [1.5, -2.5], "codes": [0, 1, -1]},
    "/loss": {"long_name": "loss", "units": "1", "definition": "mean of (f - y)^2",
              "references": "A. Author (1999), A title; B. Author & C. Author (2001), Another",
              "ancillary_variables": "scalar"},
    "/hessian/matrix": {"coordinates": "place", "note": "later"},
    "/landscape/loss_status": {"flag_values": [0, 1, 2], "flag_meanings": "ok not_computed non_finite"},
}


def same(found, expected, where):
    found = np.asarray(found)
    assert found.shape == expected.shape, f"{where}: shape {found.shape}, expected {expected.shape}"
    if expected.dtype == object:
        texts = [v.decode() if isinstance(v, bytes) else v for v in found.ravel()]
        assert texts == list(expected.ravel()), f"{where}: {texts}"
    else:
        assert found.dtype == expected.dtype, f"{where}: dtype {found.dtype}, expected {expected.dtype}"
        np.testing.assert_array_equal(found, expected, err_msg=where)


def same_attributes(found, path, skip=()):
    for name, expected in ATTRIBUTES[path].items():
        if name in skip:
            continue
        value = found[name]
        if isinstance(value, bytes):
            value = value.decode()
        if isinstance(expected, str):
            assert value == expected, f"{path}@{name}: {value!r}"
        else:
            np.testing.assert_array_equal(np.atleast_1d(value), np.atleast_1d(expected), err_msg=f"{path}@{name}")


def check_h5py(path):
    import h5py
    with h5py.File(path, "r") as f:
        for name, (dimensions, values) in VARIABLES.items():
            dataset = f[name]
            same(dataset[()], values, name)
            if dimensions != (name.split("/")[-1],):
                assert tuple(d[0].name.split("/")[-1] for d in dataset.dims) == dimensions, name
        for name in ATTRIBUTES:
            same_attributes(f[name].attrs, name)
        ramp = f["/hessian/ramp"]
        assert ramp.chunks == (2, 3000) and ramp.fletcher32 and ramp.shuffle and ramp.compression == "gzip"
        for name, size in ROOT_DIMENSIONS.items():
            assert f[name].shape == (size,)
        assert f["loss"].fillvalue != f["loss"].fillvalue  # NaN
        assert str(f.attrs["_NCProperties"]).startswith("b'version=2,hesscope=")
        ids = [f[n].attrs["_Netcdf4Dimid"] for n in ("checkpoint", "parameter", "parameter_column", "none",
                                                    "hessian/long", "landscape/alpha")]
        assert sorted(ids) == list(range(6)), ids


def check_netcdf4(path):
    import netCDF4
    with netCDF4.Dataset(path) as f:
        f.set_auto_mask(False)
        assert {n: len(d) for n, d in f.dimensions.items()} == ROOT_DIMENSIONS
        assert list(f.groups) == ["hessian", "landscape"]
        for name, (dimensions, values) in VARIABLES.items():
            variable = f[name]
            assert variable.dimensions == dimensions, (name, variable.dimensions)
            same(variable[...], values, name)
        same_attributes({n: f.getncattr(n) for n in f.ncattrs()}, "/")
        for name in list(ATTRIBUTES)[1:]:
            same_attributes({n: f[name].getncattr(n) for n in f[name].ncattrs()}, name)
        assert np.isnan(f["loss"].getncattr("_FillValue"))
        assert "_FillValue" not in f["step"].ncattrs()


def check_xarray(path, engine):
    import xarray
    for group in ("/", "/hessian", "/landscape"):
        with xarray.open_dataset(path, engine=engine, group=group) as data:
            for name, (dimensions, values) in VARIABLES.items():
                parent, _, leaf = name.rpartition("/")
                if (parent or "/") != group:
                    continue
                assert data[leaf].dims == dimensions, (name, data[leaf].dims)
                same(data[leaf].values, values, name)
                if name in ATTRIBUTES:
                    # What names coordinates becomes coordinates.
                    same_attributes(data[leaf].attrs, name, skip=("coordinates",))
            if group != "/landscape":
                same_attributes(data.attrs, group)
            else:
                assert list(data.coords) == ["alpha"], data.coords
            if group == "/hessian":
                assert set(data.coords) == {"place", "parameter"}, data.coords
                same(data.matrix.sel(parameter="b").values, MATRIX[:, 1], "one parameter by its name")
                assert data.matrix[1].place == 20


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.returncode, done.stderr)
    assert "HDF5-DIAG" not in done.stderr, done.stderr
    return done.stdout


def check_ncdump(path):
    header = output_of("ncdump", "-h", path)
    for line in ("checkpoint = 2 ;", "none = UNLIMITED ; // (0 currently)", "int64 step(checkpoint) ;", "string parameter(parameter) ;",
                 'matrix:coordinates = "place" ;', "string checkpoint_file(checkpoint) ;",
                 "double matrix(checkpoint, parameter, parameter_column) ;", "byte loss_status(checkpoint, alpha) ;",
                 "double alpha(alpha) ;", "double scalar ;", ':title = "sample" ;', ":complete = 1b ;",
                 "double empty(none) ;"):
        assert line in header, f"{line!r} not in\n{header}"
    assert "phony" not in header
    values = output_of("ncdump", "-v", "/landscape/loss_status", path)
    assert "loss_status =\n  0, 1, 2,\n  -1, -1, -1 ;" in values, values
    everything = output_of("ncdump", path)
    assert "210.5, 211.5" not in everything and "120.5, 121.5, 122.5, _" in everything, everything[-3000:]


def check_nco(path):
    printed = json.loads(output_of("ncks", "--json", "--jsn_fmt=1", "-v", "loss_status", path))
    status = printed["groups"]["landscape"]["variables"]["loss_status"]
    assert status["data"] == [[0, 1, 2], [-1, -1, -1]], status
    copy = path + ".copy.nc"
    output_of("ncks", "-O", path, copy)
    import netCDF4
    with netCDF4.Dataset(copy) as f:
        f.set_auto_mask(False)
        for name, (dimensions, values) in VARIABLES.items():
            same(f[name][...], values, name)


def check_edit(path):
    """Changes the file in place: needs creation order tracked everywhere."""
    import netCDF4
    with netCDF4.Dataset(path, "a") as f:
        f.setncattr("note", "edited")
        f["loss"].setncattr("long_name", "a longer name than before")
        f["scalar"][...] = 2.5
        f.createVariable("added", "f8", ("checkpoint", "parameter"))[:] = 1.0
        f["hessian"].createVariable("added", "f8", ("checkpoint",))[:] = 2.0
    output_of("ncatted", "-O", "-h", "-a", "remark,/hessian/matrix,c,c,fine", path)
    output_of("ncatted", "-O", "-h", "-a", "long_name,loss,o,c,loss", path)
    output_of("ncatted", "-O", "-h", "-a", "units,/landscape/alpha,o,c,metre", path)
    with netCDF4.Dataset(path) as f:
        f.set_auto_mask(False)
        assert f.getncattr("note") == "edited" and f["/hessian/matrix"].getncattr("remark") == "fine"
        assert f["/landscape/alpha"].units == "metre"
        same(f["added"][...], np.ones((2, 3)), "added")
    check_netcdf4(path)


CHECKS = {
    "h5py": check_h5py,
    "netcdf4": check_netcdf4,
    "xarray-netcdf4": lambda path: check_xarray(path, "netcdf4"),
    "xarray-h5netcdf": lambda path: check_xarray(path, "h5netcdf"),
    "ncdump": check_ncdump,
    "nco": check_nco,
    "edit": check_edit,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](sys.argv[2])
