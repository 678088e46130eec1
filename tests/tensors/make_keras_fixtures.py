# SPDX-License-Identifier: BSD-3-Clause
"""Writes files laid out as Keras does: make_keras_fixtures.py keras FOLDER.

As keras/src/saving/saving_lib.py (H5IOStore, ShardedH5IOStore) and keras/src/legacy/saving/legacy_h5_format.py
of Keras 3 write them. The values are formulas that the C++ tests repeat.
"""

import io
import json
import sys
import zipfile
from pathlib import Path

import h5py
import numpy as np

KERNEL = np.arange(6.0).reshape(2, 3) + 0.25
BIAS = np.array([1.5, -2.0, 0.5], "<f4")


def write_vars(file, path, values):
    group = file.create_group(path).create_group("vars")
    group.attrs["name"] = path.split("/")[-1]
    for i, value in enumerate(values):
        group[str(i)] = value


def write_weights(file):
    write_vars(file, "layers/dense", [KERNEL, BIAS])
    write_vars(file, "layers/dense_1", [KERNEL + 10, BIAS])
    write_vars(file, "optimizer", [np.array(7, "<i8")])
    file.create_group("layers/dropout")  # without variables


def h5_bytes(write):
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        write(file)
    return out.getvalue()


def write_archive(path, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def write_attributes(group, name, texts, limit=64_512):
    """Split over several attributes, name0, name1, ..., where one would be too long for an object header."""
    data, num_parts = np.asarray(texts), 1
    while any(part.nbytes > limit for part in np.array_split(data, num_parts)):
        num_parts += 1
    for i, part in enumerate(np.array_split(data, num_parts)):
        group.attrs[f"{name}{i}" if num_parts > 1 else name] = part


def write_legacy(group, limit=64_512):
    layers = {"dense": {"dense/kernel:0": KERNEL, "dense/bias:0": BIAS},
              "dense_1": {"dense_1/kernel:0": KERNEL + 10, "dense_1/bias:0": BIAS}, "dropout": {}}
    write_attributes(group, "layer_names", [name.encode() for name in layers], limit)
    group.attrs["backend"], group.attrs["keras_version"] = b"tensorflow", b"2.13.1"
    for layer, weights in layers.items():
        within = group.create_group(layer)
        if weights:
            write_attributes(within, "weight_names", [name.encode() for name in weights], limit)
        for name, value in weights.items():
            within[name] = value


def write_keras(folder):
    whole = h5_bytes(write_weights)
    (folder / "m.weights.h5").write_bytes(whole)
    start = {"metadata.json": "{}", "config.json": "{}"}
    write_archive(folder / "m.keras", start | {"model.weights.h5": whole, "assets/words.txt": "a"})
    write_archive(folder / "deflated.keras", start | {"model.weights.h5": whole}, zipfile.ZIP_DEFLATED)
    write_archive(folder / "no-weights.keras", start)
    write_archive(folder / "pickled.keras", start | {"model.weights.npz": "PK"})
    write_archive(folder / "cut.keras", start | {"model.weights.h5": whole[:-100]})
    (folder / "secret").write_bytes(b"s" * 64)
    write_archive(folder / "external.keras", start | {"model.weights.h5": h5_bytes(
        lambda file: file.create_dataset("stolen", (8,), "<f8", external=[(str(folder / "secret"), 0, 64)]))})

    def half(file):
        bits = (KERNEL.astype("<f4").view("<u4") >> 16).astype("<u2")  # exact: few digits
        group = file.create_group("layers/dense/vars")
        for name, kind in [("0", "bfloat16"), ("1", b"bfloat16")]:
            group.create_dataset(name, data=bits.view("V2")).attrs["dtype"] = kind

    (folder / "bfloat16.weights.h5").write_bytes(h5_bytes(half))
    (folder / "opaque.h5").write_bytes(h5_bytes(lambda file: file.create_dataset("w", data=np.zeros(3, "V2"))))

    with h5py.File(folder / "legacy.h5", "w") as file:
        write_legacy(file)
    with h5py.File(folder / "whole.h5", "w") as file:
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential"})
        write_legacy(file.create_group("model_weights"), limit=20)
        moments = file.create_group("optimizer_weights")
        moments.attrs["weight_names"] = [b"adam/m:0"]
        moments["adam/m:0"] = KERNEL

    (folder / "s_00000.weights.h5").write_bytes(h5_bytes(lambda file: write_vars(file, "layers/dense", [KERNEL, BIAS])))
    (folder / "s_00001.weights.h5").write_bytes(h5_bytes(lambda file: write_vars(file, "layers/dense_1", [KERNEL + 10])))
    (folder / "s.weights.json").write_text(json.dumps({
        "metadata": {"total_size": 108},
        "weight_map": {"/layers/dense/vars": "s_00000.weights.h5", "/layers/dense_1/vars": "s_00001.weights.h5"},
    }, indent=4))


if __name__ == "__main__":
    write_keras(Path(sys.argv[2]))
