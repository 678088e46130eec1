# SPDX-License-Identifier: BSD-3-Clause
"""hesscope in Python, without a build: this file, and h5py or netCDF4; xarray if you like.

    import hesscope                                   # sys.path.append("PREFIX/share/hesscope"), or copy the file

    run = hesscope.open("run.h5")
    run["spectrum/lambda_max"]                        # with its steps, checkpoints and proofs as coordinates
    run["spectrum/lambda_max"].sel(step=500).item()
    run["condition/robust_eigenvalue_status"]         # "ok", "undefined_zero_median", ...
    run["spectrum/lambda_max"].attrs["definition"]
    run.attrs["problem"]                              # the problem file

With xarray the answer is an xarray.DataTree, where there is one (from 2024.10 on), or a Tree of
xarray.Datasets; without xarray a Tree of the Dataset and the Array of this file, which have of xarray's
interface what is used above. In all three:

- A number that is missing is NaN, a count too: then the counts of that variable are floats. The coordinate
  NAME_status says why, in words. It is there where the file has it, which is where some number of NAME is missing.
- Codes are words: `proof` is "dense", "counted", "converged" or "none". It is a coordinate, so that an eigenvalue
  never goes without it.
- `step`, `checkpoint_file` and `parameter_name` are coordinates of every group that has their dimension; where all
  steps are known, `step` is an index, too.
- long_name, units and definition of each variable, and what a result says of itself as a whole, are attributes.

And one that is made on the spot, by the program:

    run = hesscope.analyze("runs", "problem.toml", "--blocks", output="run.h5")

hesscope_torch.py, beside this file, makes the problem of a PyTorch model, too.
"""

import collections.abc
import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile
import warnings

import numpy as np

__all__ = ["Array", "Dataset", "Error", "Tree", "analyze", "open"]

SCHEMA = "hesscope_schema_version"
MISSING_COUNT = -9223372036854775806
PRESENT = ("ok", "differs_from_expected")  # the statuses of numbers that are there
DONE, INCONCLUSIVE = 0, 5  # exit codes: in the latter case some number is missing, or not proved
COORDINATES = ("step", "checkpoint_file", "parameter_name")  # of the root, for all groups
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"
INTERNAL = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS", "_FillValue", "_NCProperties",
            "_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "coordinates", "ancillary_variables"}


class Error(RuntimeError):
    """The program refused, or failed: its message, and exit_code, as docs/commands.md lists them."""

    def __init__(self, message, exit_code):
        super().__init__(message)
        self.exit_code = exit_code


class Array:
    """Numbers or words with named dimensions, where there is no xarray."""

    def __init__(self, dims, values, attrs, coords=None):
        self.dims, self.values, self.attrs, self.coords = tuple(dims), np.asarray(values), dict(attrs), coords or {}

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def __len__(self):
        return len(self.values)

    def __repr__(self):
        sizes = ", ".join(f"{dim}: {size}" for dim, size in zip(self.dims, self.shape))
        return f"<hesscope.Array ({sizes})>\n{self.values!r}\nCoordinates: {', '.join(self.coords)}\n" + "".join(
            f"    {name}: {value}\n" for name, value in self.attrs.items())

    def item(self):
        return self.values.item()

    def isel(self, **places):
        """The part at an index, or at several, along dimensions."""
        part, dims = self.values, self.dims
        for dim, place in places.items():
            if dim not in self.dims:
                raise KeyError(f"no dimension {dim!r}; there are {', '.join(self.dims)}")
            axis = dims.index(dim)
            part = np.take(part, place, axis)
            dims = dims if np.ndim(place) else dims[:axis] + dims[axis + 1:]
        coords = {name: each.isel(**{d: p for d, p in places.items() if d in each.dims})
                  for name, each in self.coords.items()}
        return Array(dims, part, self.attrs, coords)

    def sel(self, **labels):
        """The part where coordinates along one dimension have these labels."""
        part = self
        for name, label in labels.items():
            coordinate = part.coords.get(name)
            if coordinate is None or len(coordinate.dims) != 1:
                raise KeyError(f"no coordinate {name!r} along one dimension; there are {', '.join(part.coords)}")
            places = np.flatnonzero(coordinate.values == label)
            if len(places) == 0:
                raise KeyError(f"no {name} {label!r}; there are {', '.join(map(str, coordinate.values))}")
            part = part.isel(**{coordinate.dims[0]: places[0] if len(places) == 1 else places})
        return part


class Dataset(collections.abc.Mapping):
    """The variables of a group, where there is no xarray: data_vars and, beside them, coords."""

    def __init__(self, data_vars, coords, attrs):
        self.data_vars, self.coords, self.attrs = dict(data_vars), dict(coords), dict(attrs)

    def __getitem__(self, name):
        if name not in self.data_vars:
            return self.coords[name]
        array = self.data_vars[name]
        near = {n: c for n, c in self.coords.items() if set(c.dims) <= set(array.dims)}
        return Array(array.dims, array.values, array.attrs, near)

    def __iter__(self):
        return iter(self.data_vars)

    def __len__(self):
        return len(self.data_vars)

    def __contains__(self, name):
        return name in self.data_vars or name in self.coords

    def __repr__(self):
        lines = ["<hesscope.Dataset>"]
        for title, arrays in (("Coordinates", self.coords), ("Variables", self.data_vars)):
            lines.append(f"{title}:")
            lines += [f"    {name} ({', '.join(each.dims)}) {each.attrs.get('long_name', '')}"
                      for name, each in arrays.items()]
        return "\n".join(lines)


class Tree(collections.abc.Mapping):
    """A group: its variables and the groups below it, by name or by a path as in "spectrum/lambda_max"."""

    def __init__(self, dataset, name=""):
        self.dataset, self.name, self.children = dataset, name, {}

    attrs = property(lambda self: self.dataset.attrs)
    groups = property(lambda self: ("/", *(f"/{name}" for name in self.children)))

    def to_dataset(self):
        return self.dataset

    def __getitem__(self, path):
        first, _, rest = path.strip("/").partition("/")
        if not first:
            return self
        if first in self.children:
            return self.children[first][rest] if rest else self.children[first]
        if not rest and first in self.dataset:
            return self.dataset[first]
        there = ", ".join([*self.children, *self.dataset])
        raise KeyError(f"{path}: /{self.name} has no {first!r}; it has {there}")

    def __iter__(self):
        return iter([*self.dataset, *self.children])

    def __len__(self):
        return len(self.dataset) + len(self.children)

    def __repr__(self):
        below = "".join(f"\n\nGroup /{name}:\n{child.dataset!r}" for name, child in self.children.items())
        return f"{self.dataset!r}{below}"


def open(path, only=None, use_xarray=None):
    """A result file, read as a whole, as one tree.

    only        paths such as "spectrum" or "hessian/diagonal": of the groups no more than this is read. A result made
                with --save-hessian may be larger than memory.
    use_xarray  True or False; by default whether xarray is there.

    Raises ValueError if the file is not a result of hesscope, and KeyError if it does not have what `only` names.
    """
    path = pathlib.Path(path)
    groups = _read(path, only)
    if use_xarray is None:
        use_xarray = importlib.util.find_spec("xarray") is not None
    root = groups[""]
    shared = {name: root.variables[name] for name in COORDINATES if name in root.variables}
    parts = {name: _decoded(group, {} if name == "" else shared) for name, group in groups.items()}
    if not use_xarray:
        make = Dataset
    else:
        # A step along a landscape's trajectory is not one along checkpoints.
        is_index = not any("step" in group.sizes for group in groups.values())
        make = lambda *arguments: _dataset(*arguments, is_index)  # noqa: E731
    datasets = {name: make(*part) for name, part in parts.items()}
    if use_xarray:
        import xarray
        if hasattr(xarray, "DataTree"):
            return xarray.DataTree.from_dict({"/" + name: dataset for name, dataset in datasets.items()})
    tree = Tree(datasets.pop(""))
    tree.children = {name: Tree(dataset, name) for name, dataset in datasets.items()}
    return tree


def analyze(checkpoints, problem, *options, output=None, program=None, use_xarray=None):
    """Runs `hesscope analyze` and opens its result, as open() does.

    checkpoints  a path, or a list of them: files, or folders of them
    problem      path of the problem file
    options      of the command, as "--blocks", or "--only", "spectrum"; numbers and paths may stand among them
    output       the result file, which must not exist unless "--force" is among the options; without it none is kept
    program      path of hesscope; by default the one installed with this file, or else that on the PATH

    What the program warns of are warnings here. Raises Error where it refuses or fails, with its message.
    """
    run, said = _analyzed(checkpoints, problem, options, output, program, use_xarray)
    if said:
        warnings.warn(said, stacklevel=2)
    return run


def _analyzed(checkpoints, problem, options, output, program, use_xarray=None):
    """(result, what the program warns of)."""
    if isinstance(checkpoints, (str, os.PathLike)):
        checkpoints = [checkpoints]
    with tempfile.TemporaryDirectory(prefix="hesscope-") as folder:
        result = pathlib.Path(folder) / "result.h5" if output is None else pathlib.Path(output).expanduser()
        command = [_found(program), "analyze", *checkpoints, "--problem", problem, "-o", result, "--quiet", *options]
        done = subprocess.run([os.fspath(c) if isinstance(c, os.PathLike) else str(c) for c in command], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = done.stderr.strip()
        if done.returncode not in (DONE, INCONCLUSIVE):
            raise Error(said or f"hesscope ended with exit code {done.returncode}", done.returncode)
        if not result.exists():
            raise Error(f"no result is at {result}: these options ask for something else\n{done.stdout}", done.returncode)
        return open(result, use_xarray=use_xarray), said


def _found(program):
    if program is not None:
        return program
    installed = pathlib.Path(__file__).resolve().parents[2] / "bin" / "hesscope"
    found = installed if installed.is_file() else shutil.which("hesscope")
    if found is None:
        raise FileNotFoundError("no hesscope on the PATH: put it there, or give its path as `program`")
    return found


class _Group:
    """What a file says of a group: sizes of its dimensions, variables as (dims, values, attrs), attributes."""

    def __init__(self, attrs):
        self.attrs, self.variables, self.sizes = attrs, {}, {}

    def add(self, name, dims, values, attrs):
        self.variables[name] = (tuple(dims), values, {k: v for k, v in attrs.items() if k not in INTERNAL})
        self.sizes.update(zip(dims, np.shape(values)))


def _wanted(only, group, name):
    if only is None or group == "":
        return True
    return any(path.strip("/") in (group, f"{group}/{name}") for path in only) or (
        # what belongs to something that is wanted
        name in COORDINATES or name == "proof" or
        any(path.strip("/") + "_status" == f"{group}/{name}" for path in only))


def _read(path, only):
    only = [only] if isinstance(only, str) else only
    if importlib.util.find_spec("h5py") is not None:
        groups = _read_by_h5py(path, only)
    elif importlib.util.find_spec("netCDF4") is not None:
        groups = _read_by_netcdf4(path, only)
    else:
        raise ImportError("hesscope.open needs h5py or netCDF4 (Debian: python3-h5py, python3-netcdf4)")
    for wanted in only or ():
        group, _, name = wanted.strip("/").partition("/")
        if group not in groups or name and name not in groups[group].variables:
            raise KeyError(f"{path} has no {wanted!r}; its groups are {', '.join(filter(None, groups))}")
    if only is not None:
        names = {wanted.strip("/").partition("/")[0] for wanted in only}
        groups = {name: group for name, group in groups.items() if name == "" or name in names}
    return groups


def _require_result(path, attrs):
    if SCHEMA not in attrs:
        raise ValueError(f"{path}: not a result of hesscope: it has no attribute {SCHEMA}")


def _plain(value):
    """An attribute as Python's own type, or as an array where it is one."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    return value.item() if isinstance(value, np.generic) else value


def _read_by_h5py(path, only):
    import h5py

    def attrs_of(item):
        return {name: _plain(item.attrs[name]) for name in item.attrs if name not in INTERNAL}

    def values_of(item):
        return np.asarray(item.asstr()[()], object) if h5py.check_string_dtype(item.dtype) else item[()]

    def members_of(item):
        names = []
        item.id.links.iterate(names.append, idx_type=h5py.h5.INDEX_CRT_ORDER)  # as they were written
        return {name.decode(): item[name] for name in names}

    def group_of(item, name):
        group = _Group(attrs_of(item))
        for key, member in members_of(item).items():
            if not isinstance(member, h5py.Dataset) or not _wanted(only, name, key):
                continue
            if str(_plain(member.attrs.get("NAME", ""))).startswith(NO_VARIABLE):
                continue
            dims = [key] if "CLASS" in member.attrs and "DIMENSION_LIST" not in member.attrs else [
                member.dims[axis][0].name.rsplit("/", 1)[-1] for axis in range(member.ndim)]
            group.add(key, dims, values_of(member), attrs_of(member))
        return group

    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ValueError(f"{path}: {error}") if path.is_file() else error
    with file:
        _require_result(path, file.attrs)
        groups = {"": group_of(file, "")}
        groups.update({name: group_of(item, name) for name, item in members_of(file).items()
                       if isinstance(item, h5py.Group)})
    return groups


def _read_by_netcdf4(path, only):
    import netCDF4

    def attrs_of(item):
        return {name: _plain(item.getncattr(name)) for name in item.ncattrs() if name not in INTERNAL}

    def group_of(item, name):
        group = _Group(attrs_of(item))
        for key, variable in item.variables.items():
            if not _wanted(only, name, key):
                continue
            variable.set_auto_maskandscale(False)
            values = variable[...]
            if variable.dtype is str:
                values = np.asarray(values, object)
            group.add(key, variable.dimensions, values, attrs_of(variable))
        return group

    try:
        file = netCDF4.Dataset(path)
    except OSError as error:
        raise ValueError(f"{path}: {error}") if path.is_file() else error
    with file:
        _require_result(path, file.ncattrs())
        groups = {"": group_of(file, "")}
        groups.update({name: group_of(item, name) for name, item in file.groups.items()})
    return groups


def _words(values, attrs):
    """Codes as the words that flag_meanings has for them."""
    words = dict(zip(np.ravel(attrs["flag_values"]).tolist(), attrs["flag_meanings"].split()))
    words[-1] = "unset"  # nothing was said
    found = np.array([words.get(code, f"unknown_{code}") for code in np.ravel(values).tolist()], object)
    return found.reshape(np.shape(values))


def _decoded(group, shared):
    """(data_vars, coords, attrs) of a group, all variables as Arrays."""
    arrays = {}
    for name, (dims, values, attrs) in {**shared, **group.variables}.items():
        if name in shared and name not in group.variables and not set(dims) <= set(group.sizes):
            continue
        if "flag_meanings" in attrs:
            values = _words(values, attrs)
            attrs = {k: v for k, v in attrs.items() if k not in ("flag_values", "flag_meanings")}
        elif np.issubdtype(np.asarray(values).dtype, np.integer) and np.any(np.equal(values, MISSING_COUNT)):
            values = np.where(np.equal(values, MISSING_COUNT), np.nan, np.asarray(values, float))
        arrays[name] = Array(dims, values, attrs)
    for name, status in arrays.items():
        owner = arrays.get(name.removesuffix("_status")) if name.endswith("_status") else None
        if owner is None or owner.dtype.kind not in "fiu":
            continue
        missing = ~np.isin(status.values.astype(str), PRESENT)
        # A status may be one for all that follows along the further dimensions.
        missing = missing.reshape(missing.shape + (1,) * (len(owner.shape) - missing.ndim))
        if np.any(missing):
            owner.values = np.where(missing, np.nan, owner.values)
    is_coordinate = {name: name in COORDINATES or name == "proof" or array.dims == (name,) or
                     (name.endswith("_status") and name.removesuffix("_status") in arrays)
                     for name, array in arrays.items()}
    return ({name: array for name, array in arrays.items() if not is_coordinate[name]},
            {name: array for name, array in arrays.items() if is_coordinate[name]}, group.attrs)


def _dataset(data_vars, coords, attrs, is_index):
    """The same as an xarray.Dataset."""
    import xarray

    def variables(arrays):
        return {name: (array.dims, array.values, array.attrs) for name, array in arrays.items()}

    dataset = xarray.Dataset(variables(data_vars), variables(coords), attrs)
    step = coords.get("step")
    if is_index and step is not None and len(step.dims) == 1 and step.dtype.kind == "i" and hasattr(
            dataset, "set_xindex"):
        dataset = dataset.set_xindex("step")
    return dataset
