# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files made to harm, registered beside those of hostile_files.py."""
import struct

import h5py
import numpy as np

from hostile_files import SECRET, attack


def hdf5_attack(name, *mentions):
    """Registers a maker that is given the open file and the folder above it, where a secret lies."""
    def register(fill):
        @attack(f"hdf5-{name}", "a.h5", *mentions)
        def maker(path):
            with h5py.File(path, "w") as file:
                fill(file, path.parent.parent)
        return fill
    return register


@hdf5_attack("external-storage", "'w'", "external")
def external_storage(file, folder):
    file.create_dataset("w", (len(SECRET),), "u1", external=[(str(folder / "secret.txt"), 0, len(SECRET))])


@hdf5_attack("external-storage-of-a-system-file", "'w'", "external")
def external_storage_of_a_system_file(file, folder):
    file.create_dataset("w", (16,), "u1", external=[("/etc/passwd", 0, 16)])


@hdf5_attack("external-link", "'w'", "link")
def external_link(file, folder):
    with h5py.File(folder / "secret.h5", "w") as other:
        other["w"] = np.frombuffer(SECRET, "u1")
    file["w"] = h5py.ExternalLink(str(folder / "secret.h5"), "/w")


@hdf5_attack("soft-link", "'w'", "link")
def soft_link(file, folder):
    file["v"] = np.zeros(3)
    file["w"] = h5py.SoftLink("/v")


@hdf5_attack("soft-link-to-itself", "'w'", "link")
def soft_link_to_itself(file, folder):
    file["w"] = h5py.SoftLink("/w")


@hdf5_attack("virtual", "'w'", "virtual")
def virtual(file, folder):
    with h5py.File(folder / "secret.h5", "w") as other:
        other["w"] = np.frombuffer(SECRET, "u1")
    layout = h5py.VirtualLayout((len(SECRET),), "u1")
    layout[:] = h5py.VirtualSource(str(folder / "secret.h5"), "w", (len(SECRET),))
    file.create_virtual_dataset("w", layout)


@hdf5_attack("shape-bomb", "'w'")
def shape_bomb(file, folder):
    file.create_dataset("w", (2**40,), "f8", chunks=(1024,))


@hdf5_attack("shape-that-overflows", "'w'")
def shape_that_overflows(file, folder):
    file.create_dataset("w", (2**31, 2**31, 2**31), "f8", chunks=(1, 1, 1))


@hdf5_attack("bomb-of-zeros", "'w'", "bomb")
def bomb_of_zeros(file, folder):
    file.create_dataset("w", data=np.zeros(2**22), chunks=(2**17,), compression="gzip", compression_opts=9)


@hdf5_attack("chunk-bomb", "'w'", "bomb")
def chunk_bomb(file, folder):
    file.create_dataset("w", (2**29,), "f8", chunks=(2**12,), compression=9)[:4] = 1  # one chunk of 131072 is there


@hdf5_attack("plugin-filter", "'w'", "filter")
def plugin_filter(file, folder):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((4,))
    properties.set_filter(32015, h5py.h5z.FLAG_OPTIONAL)
    space = h5py.h5s.create_simple((4,))
    h5py.h5d.create(file.id, b"w", h5py.h5t.IEEE_F64LE, space, properties).write(space, space, np.arange(4.0))


@hdf5_attack("deflate-twice", "'w'", "filter")
def deflate_twice(file, folder):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((2**20,))
    properties.set_deflate(9)
    properties.set_deflate(9)
    space = h5py.h5s.create_simple((2**20,))
    h5py.h5d.create(file.id, b"w", h5py.h5t.IEEE_F64LE, space, properties).write(space, space, np.zeros(2**20))


@hdf5_attack("cycle", "'g/up'", "group '/' once more")
def cycle(file, folder):
    file["w"] = np.arange(3.0)
    file.create_group("g")["up"] = file["/"]


# 2**40 paths lead to the dataset.
@hdf5_attack("groups-that-alias", "'a/.*b'", "once more")
def groups_that_alias(file, folder):
    group = file
    for _ in range(40):
        below = group.create_group("a")
        group["b"] = below
        group = below
    group["w"] = np.arange(3.0)


@hdf5_attack("hundred-thousand-links-to-one-group", "'v1'", "group 'v0' once more")
def hundred_thousand_links_to_one_group(file, folder):
    file.create_group("v0")["w"] = np.arange(3.0)
    for i in range(1, 99990):
        file.id.links.create_hard(b"v%d" % i, file.id, b"v0")


@hdf5_attack("depth", "'g/.*g'", "deep")
def depth(file, folder):
    group = file
    for _ in range(5000):
        group = group.create_group("g")
    group["w"] = np.arange(3.0)


@hdf5_attack("compound", "'w'")
def compound(file, folder):
    file["w"] = np.zeros(3, [("a", "f8"), ("b", "i4")])


@hdf5_attack("references", "'w'")
def references(file, folder):
    file["w"] = np.array([file.ref] * 3, h5py.ref_dtype)


@hdf5_attack("text-of-any-length", "'w'")
def text_of_any_length(file, folder):
    file.create_dataset("w", (3,), h5py.string_dtype())


@hdf5_attack("null", "'w'")
def null(file, folder):
    file["w"] = h5py.Empty("f8")


@hdf5_attack("name-of-the-terminal", "a.h5")
def name_of_the_terminal(file, folder):
    file["\x1b[2J"] = np.arange(3.0)


def with_bytes_replaced(path, old, new, *, names=("v", "w")):
    """A file of these datasets in which `old` occurs once, as its successor."""
    with h5py.File(path, "w") as file:
        for name in names:
            file[name] = np.arange(3.0)
    content = path.read_bytes()
    assert content.count(old) == 1 and len(old) == len(new)
    return content.replace(old, new)


@attack("hdf5-two-links-of-one-name", "a.h5", "two of its links are named 'vv'")
def two_links_of_one_name(path):
    return with_bytes_replaced(path, b"ww\0", b"vv\0", names=("vv", "ww"))


@attack("hdf5-name-that-is-a-path", "a.h5", "'v/w'", "path")
def name_that_is_a_path(path):
    return with_bytes_replaced(path, b"v.w\0", b"v/w\0", names=("v", "v.w"))


@attack("hdf5-link-beyond-the-file", "a.h5", "'w'", "beyond the end")
def link_beyond_the_file(path):
    with h5py.File(path, "w") as file:
        file["w"] = np.arange(3.0)
        address = struct.pack("<Q", h5py.h5o.get_info(file["w"].id).addr)
    return path.read_bytes().replace(address, struct.pack("<Q", 2**40))


@attack("hdf5-truncated", "a.h5", "a.h5")
def truncated(path):
    with h5py.File(path, "w") as file:
        file["w"] = np.arange(1000.0)
    return path.read_bytes()[:-500]


@attack("hdf5-superblock-of-noise", "a.h5", "a.h5")
def superblock_of_noise(path):
    return b"\x89HDF\r\n\x1a\n" + bytes(range(256)) * 8
