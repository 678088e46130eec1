# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files that the reader tests read: make_npz_fixtures.py npz|hdf5|hdf5-small FOLDER.

The values are formulas that the C++ tests repeat, so that no file of expectations is needed:
grid(shape)[i, j, k] = 100 i + 10 j + k + 1/4, different under every permutation of the axes.
"""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np


def grid(*shape, dtype="<f8", offset=0.25):
    strides = [10.0**k for k in reversed(range(len(shape)))]
    index = np.indices(shape)
    return (np.tensordot(strides, index, axes=1) + offset).astype(dtype)


INTEGERS = ["|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "|u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8"]
FLOATS = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]


def dtype_name(dtype):
    order = {"<": "little", ">": "big", "|": "byte"}[dtype[0]]
    return f"{order}.{dtype[1:]}"


def numbers():
    """name -> array of every type that is read."""
    out = {dtype_name(d): grid(2, 3, dtype=d) for d in FLOATS}
    out |= {dtype_name(d): (np.arange(6).reshape(2, 3) * 5 - (10 if "i" in d else 0)).astype(d) for d in INTEGERS}
    out["bool"] = np.array([[True, False, False], [True, True, False]])
    out["scalar"] = np.array(-2.5)
    out["vector"] = grid(3)
    out["empty"] = np.zeros((0, 3))
    out["special"] = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308])
    out["half.special"] = np.array([np.nan, np.inf, -np.inf, -0.0, 2.0**-24, 65504.0, 2.0**-14], "<f2")
    return out


def npy_bytes(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


class Pipe(io.RawIOBase):
    """A destination that cannot seek: zipfile then writes data descriptors (flag 8)."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


def write_zip(path, members, method=zipfile.ZIP_STORED, comment=b""):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = comment


def write_npz(folder):
    everything = numbers() | {
        "fortran.2": np.asfortranarray(grid(2, 3)),
        "fortran.3": np.asfortranarray(grid(2, 4, 3, dtype=">f4")),
        "fortran.wide": np.asfortranarray(np.arange(3.0 * 7001).reshape(3, 7001)),
        "cube": grid(2, 4, 3),
        "layer/0/weight": grid(4, 2),
        "poids.été.λ": grid(2, 2),
    }
    np.savez(folder / "stored.npz", **everything)
    np.savez_compressed(folder / "deflated.npz", **everything)
    with zipfile.ZipFile(Pipe(folder / "streamed.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in everything.items():
            archive.writestr(name + ".npy", npy_bytes(array))
    limit = zipfile.ZIP_FILECOUNT_LIMIT
    zipfile.ZIP_FILECOUNT_LIMIT = 0  # always write the zip64 end records
    np.savez(folder / "zip64.npz", **everything)
    zipfile.ZIP_FILECOUNT_LIMIT = limit
    small = npy_bytes(grid(2, 3))
    np.savez(folder / "small.npz", w=grid(2, 3), b=grid(3, dtype="<f4"))
    np.savez_compressed(folder / "small-deflated.npz", w=grid(8, 9), b=np.zeros(40))
    np.savez(folder / "no-arrays.npz")
    write_zip(folder / "versions.npz", {f"v{v}.npy": npy_bytes(grid(2, 3), (v, 0)) for v in (1, 2, 3)})
    write_zip(folder / "folders-and-comment.npz", {"a/": b"", "a/w.npy": small}, comment=b"PK\x05\x06 remark")
    write_zip(folder / "foreign-member.npz", {"w.npy": small, "README": b"hello"})
    write_zip(folder / "bzip2.npz", {"w.npy": small}, zipfile.ZIP_BZIP2)
    np.savez_compressed(folder / "zeros.npz", z=np.zeros(1 << 19))  # 4 MiB in about 4 KiB
    np.savez(folder / "integers.npz", fits=np.array([2**53, -(2**53)]), beyond=np.array([0, 2**53 + 1]),
             beyond_unsigned=np.array([2**63], np.uint64), beyond_negative=np.array([-(2**53) - 1]))
    np.save(folder / "single.npy", grid(2, 3))
    (folder / "single-tail.npy").write_bytes(small + b"x")
    odd = {
        "object": np.array([{"a": 1}], dtype=object),
        "objects": np.array([(1.0, {"a": 1})], [("x", "<f8"), ("y", object)]),
        "fields": np.zeros(2, [("O", "<f8"), ("C", "<f8", (2, 3)), ("N", [("x y", "<i4")])]),
        "none": np.zeros((0, 3), "<c8"),
        "structured": np.zeros(2, [("x", "<f8"), ("y", "<i4")]),
        "complex": np.zeros(2, "<c16"),
        "string": np.array(["ab", "c"]),
        "bytes": np.array([b"ab", b"c"]),
        "longdouble": np.zeros(2, np.longdouble),
        "raw": np.zeros(2, "|V2"),
        "void": np.zeros(2, "|V3"),
        "date": np.zeros(2, "<M8[s]"),
        "span": np.zeros(2, "<m8"),
    }
    for name, array in odd.items():
        np.savez(folder / f"odd-{name}.npz", good=np.zeros(1), **{name: array})
        np.savez(folder / f"only-{name}.npz", **{name: array})


def write_hdf5(folder):
    import h5py

    with h5py.File(folder / "numbers.h5", "w") as file:
        for name, array in numbers().items():
            file[name] = array
        file["cube"] = grid(2, 4, 3)
        file["layers/0/P"] = grid(4, 2)
        file["layers/0/Q"] = grid(3, 2)
        file["poids.été.λ"] = grid(2, 2)
        file["type"] = np.dtype("<f8")  # a named datatype holds no values
    with h5py.File(folder / "packed.h5", "w") as file:
        options = dict(chunks=(7, 5), compression="gzip", shuffle=True, fletcher32=True)
        file.create_dataset("packed", data=grid(30, 40), **options)
        file.create_dataset("zeros", data=np.zeros((1000, 1000)), **(options | dict(chunks=(100, 100))))
        if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
            file.create_dataset("szip", data=grid(30, 40), chunks=(10, 40), compression="szip")
    with h5py.File(folder / "ordered.h5", "w", track_order=True) as file:
        for name in ["zeta", "alpha", "mid"]:
            file[name] = np.array(1.0)
    with h5py.File(folder / "large.h5", "w") as file:
        for name, shape, dtype, chunks in [
            ("contiguous", (700, 400), "<f8", None), ("wide", (3, 200_001), "<f4", None),
            ("middle", (2, 5, 70_001), "<i4", None), ("vector", (300_001,), "<u8", None),
            ("chunked", (610, 460), "<f8", (50, 37)), ("chunked.wide", (3, 150_001), "<i8", (3, 4096)),
            ("chunked.cube", (3, 400, 400), "<f2", (2, 90, 110)),
        ]:
            # Below 2048, which float16 holds, and different wherever blocks and chunks could be mixed up.
            data = (np.arange(np.prod(shape)) % 1999).reshape(shape).astype(dtype)
            file.create_dataset(name, data=data, chunks=chunks, compression=chunks and "gzip")
        file["bool"] = (np.arange(300_001) % 3 == 0)
    with h5py.File(folder / "user-block.h5", "w", userblock_size=1024) as file:
        file["w"] = grid(2, 3)
    with h5py.File(folder / "integers.h5", "w") as file:
        file["fits"] = np.array([2**53, -(2**53)])
        file["beyond"] = np.array([0, 2**53 + 1])
        file["beyond_unsigned"] = np.array([2**63], np.uint64)

    def one(name, write):
        with h5py.File(folder / name, "w") as file:
            file["good"] = grid(2, 3)
            write(file)

    one("soft-link.h5", lambda f: f.__setitem__("alias", h5py.SoftLink("/good")))
    one("external-link.h5", lambda f: f.__setitem__("alias", h5py.ExternalLink("numbers.h5", "/cube")))
    (folder / "secret").write_bytes(b"s" * 64)
    one("external-storage.h5",
        lambda f: f.create_dataset("stolen", (8,), "<f8", external=[(str(folder / "secret"), 0, 64)]))

    def virtual(file):
        layout = h5py.VirtualLayout((2, 4, 3), "<f8")
        layout[:] = h5py.VirtualSource(str(folder / "numbers.h5"), "cube", (2, 4, 3))
        file.create_virtual_dataset("virtual", layout)

    def cycle(file):
        group = file.create_group("a")
        group["again"] = group

    def never_written(file):
        file.create_dataset("huge", (1 << 20, 1000), "<f8")

    def huge_chunk(file):
        file.create_dataset("chunked", data=np.zeros(4), maxshape=(None,), chunks=(1 << 19,), compression="gzip")

    one("virtual.h5", virtual)
    def alias(file):
        file["b"] = file.create_group("a")

    def shared(file):
        file["w"] = file.create_dataset("head/w", data=grid(2, 3))

    one("cycle.h5", cycle)
    one("alias.h5", alias)
    one("shared.h5", shared)
    one("never-written.h5", never_written)
    one("beyond-limit.h5", lambda f: f.create_dataset("huge", (1 << 40, 1 << 20), "<f8", chunks=(1, 1024)))
    one("lzf.h5", lambda f: f.create_dataset("lzf", data=np.zeros(100), compression="lzf"))
    one("string.h5", lambda f: f.__setitem__("text", "hello"))
    one("compound.h5", lambda f: f.__setitem__("complex", np.zeros(2, complex)))
    for name, size in (("only-compound.h5", 0), ("user-block-compound.h5", 2048)):
        with h5py.File(folder / name, "w", userblock_size=size) as file:
            file["complex"] = np.zeros(2, complex)
    one("enumeration.h5",
        lambda f: f.create_dataset("state", data=[0, 1], dtype=h5py.enum_dtype({"ON": 1, "OFF": 0}, "i1")))
    one("null.h5", lambda f: f.__setitem__("null", h5py.Empty("<f8")))
    with h5py.File(folder / "odd.h5", "w") as file:
        file["text/fixed"] = np.array([b"ab", b"c"])
        file["text/any"] = "hello"
        file["text/again"] = file["text/any"]
        file["compound"] = np.zeros(2, [("a", "f8"), ("b", "i4")])
        file["good"] = grid(2, 3)
        file["reference"] = np.array([file.ref], h5py.ref_dtype)
        file["opaque"] = np.zeros(2, "V5")
        file.create_dataset("sequences", (2,), h5py.vlen_dtype("f8"))
        file.create_dataset("array", (2,), np.dtype(("f8", (3,))))
        space = h5py.h5s.create_simple((4,))
        h5py.h5d.create(file.id, b"bits", h5py.h5t.STD_B8LE, space)
    one("odd-and-virtual.h5", lambda f: (f.__setitem__("text", "hello"), virtual(f)))
    one("odd-and-lzf.h5", lambda f: f.create_dataset("lzf", data=np.zeros(100, "S3"), compression="lzf"))
    one("odd-external.h5",
        lambda f: f.create_dataset("stolen", (8,), "S8", external=[(str(folder / "secret"), 0, 64)]))
    one("longdouble.h5", lambda f: f.__setitem__("wide", np.zeros(2, np.longdouble)))
    one("huge-chunk.h5", huge_chunk)


def write_small_hdf5(folder):
    """Ten files of a few KiB, of every kind of structure that the format has: to be damaged."""
    import h5py

    def one(name, write, **options):
        with h5py.File(folder / name, "w", **options) as file:
            write(file)

    def plain(file):
        file["layers.0.P"], file["layers.0.Q"] = grid(3, 3), grid(3, 3, dtype="<f4")

    def groups(file):
        for i in range(4):
            file[f"layers/{i}/vars/0"], file[f"layers/{i}/vars/1"] = grid(2, 3), grid(3, dtype=">f8")

    def packed(**options):
        return lambda file: file.create_dataset("packed", data=grid(12, 10), chunks=(5, 4), **options)

    def attributes(file):
        file["w"] = grid(2, 3)
        file.attrs["layer_names"] = [b"dense", b"dense_1"]
        file["w"].attrs.create("text", "of variable length", dtype=h5py.string_dtype())
        for i in range(12):
            file["w"].attrs[f"number {i}"] = np.arange(i + 1.0)

    def types(file):
        for name in ["f2", "i1", "u2", "i4", "u8"]:
            file[name] = np.arange(6).astype(name)
        file["bool"] = np.array([True, False])
        file["type"] = np.dtype("<f8")

    def compact(file):
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((2, 3))
        h5py.h5d.create(file.id, b"w", h5py.h5t.IEEE_F64LE, space, properties).write(
            h5py.h5s.ALL, h5py.h5s.ALL, grid(2, 3))

    one("plain.h5", plain)
    one("latest.h5", plain, libver="latest")
    one("groups.h5", groups)
    one("groups-latest.h5", groups, libver="latest", track_order=True)
    one("deflated.h5", packed(compression="gzip", shuffle=True, fletcher32=True))
    one("chunked-latest.h5", packed(compression="gzip", maxshape=(None, None)), libver="latest")
    one("attributes.h5", attributes)
    one("attributes-latest.h5", attributes, libver="latest")
    one("types.h5", types)
    one("compact.h5", compact, userblock_size=512)


if __name__ == "__main__":
    {"npz": write_npz, "hdf5": write_hdf5, "hdf5-small": write_small_hdf5}[sys.argv[1]](Path(sys.argv[2]))
