# SPDX-License-Identifier: BSD-3-Clause
"""Writes the PyTorch checkpoints that torch_reader_test.cc reads, once: make_torch_fixtures.py tests/tensors/torch

Made with PyTorch 1.13.1 and NumPy 1.24.2. Beside NAME.pt stands NAME.npz with what torch.load gives for every tensor of
it, under the names that hesscope has for them; bfloat16, which NumPy lacks, as float32. numbers.npz and views.npz
are those of the rewritten archives too. The tests need no PyTorch.
"""

import collections
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import torch
from torch import nn

SPECIAL = [float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 1.7976931348623157e308]


def grid(*shape, dtype=torch.float64):
    """100 i + 10 j + k + 1/4, different under every permutation of the axes."""
    strides = [10.0**k for k in reversed(range(len(shape)))]
    values = np.tensordot(strides, np.indices(shape), axes=1) + 0.25
    return torch.from_numpy(np.asarray(values)).to(dtype)


def as_numpy(tensor):
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def expect(path, tensors):
    np.savez_compressed(path.with_suffix(".npz"), **{name: as_numpy(t) for name, t in tensors.items()})


def save(folder, name, content, tensors, **options):
    path = folder / f"{name}.pt"
    torch.save(content, path, **options)
    expect(path, tensors)
    return path


def numbers():
    tensors = collections.OrderedDict()
    for dtype in [torch.float64, torch.float32, torch.float16, torch.bfloat16]:
        tensors[str(dtype).split(".")[1]] = grid(2, 3, dtype=dtype)
    for dtype in [torch.int64, torch.int32, torch.int16, torch.int8]:
        tensors[str(dtype).split(".")[1]] = (torch.arange(6).reshape(2, 3) * 5 - 10).to(dtype)
    tensors["uint8"] = torch.arange(6, dtype=torch.uint8).reshape(2, 3) * 50
    tensors["bool"] = torch.tensor([[True, False, False], [True, True, False]])
    tensors["scalar"] = torch.tensor(-2.5, dtype=torch.float64)
    tensors["vector"] = grid(3)
    tensors["empty"] = torch.zeros(0, 3)
    tensors["special"] = torch.tensor(SPECIAL, dtype=torch.float64)
    tensors["cube"] = grid(2, 4, 3)
    tensors["a.b"] = grid(1, 2)
    tensors["poids.\u00e9t\u00e9.\u03bb"] = grid(2, 2)
    return tensors


def views():
    base = grid(6, 5)
    flat = torch.arange(24, dtype=torch.float32)
    image = torch.arange(2.0 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    wide = (torch.arange(3 * 7001) % 251).to(torch.uint8).reshape(3, 7001)  # longer than one block of the reader
    # In an integer's storage that a double cannot hold everywhere, only what belongs to the tensor counts.
    large = torch.tensor([1, 2**60, 2, 2**60, 3])
    tensors = {
        "base": base,
        "transposed": base.t(),
        "rows": base[1:4],
        "column": base[:, 2],
        "steps": base[::2, 1::3],
        "expanded": base[:1].expand(4, 5),
        "expanded.column": base[:, 1:2].expand(6, 3),
        "scalar.expanded": torch.tensor(0.5).expand(2, 3),
        "windows": flat.unfold(0, 5, 2),
        "overlapping": torch.as_strided(flat, (4, 3), (1, 1), 2),
        "backwards.blocks": torch.as_strided(flat, (3, 2, 4), (4, 12, 1), 0),
        "permuted": image.permute(3, 0, 2, 1),
        "channels.last": image.contiguous(memory_format=torch.channels_last),
        "alias": base,
        "empty.view": base[:0],
        "wide": wide,
        "wide.transposed": wide.t(),
        "wide.expanded": wide[:, 6990:].unsqueeze(1).expand(3, 2, 11),
        "some.integers": large[::2],
    }
    return tensors


class Perceptron(nn.Module):
    """2-3-2, its parameters named as hesscope's mlp has them."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 3), nn.Linear(3, 2)])

    def forward(self, x):
        return self.layers[1](torch.tanh(self.layers[0](x)))


def training():
    torch.manual_seed(1)
    model = Perceptron().double()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(3):
        optimizer.zero_grad()
        model(grid(4, 2) / 10).square().sum().backward()
        optimizer.step()
    return model, optimizer


def state_tensors(optimizer):
    states = optimizer.state_dict()["state"]
    return {f"state.{n}.{key}": value for n, state in states.items() for key, value in state.items()
            if isinstance(value, torch.Tensor)}


def under(prefix, tensors):
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def write_training(folder):
    model, optimizer = training()
    state = model.state_dict()
    content = {"epoch": 3, "model_state_dict": state, "optimizer_state_dict": optimizer.state_dict(),
               "losses": [0.5, 0.25], "rng": torch.get_rng_state()[:8], "best": True, "seed": 2**64 - 1}
    save(folder, "training", content,
         under("model_state_dict", state) | under("optimizer_state_dict", state_tensors(optimizer)) |
         {"rng": content["rng"]})
    old = optimizer.state_dict()  # PyTorch before 1.12 counted steps in integers
    for state_of_one in old["state"].values():
        state_of_one["step"] = int(state_of_one["step"])
    moments = {name: t for name, t in state_tensors(optimizer).items() if not name.endswith("step")}
    save(folder, "old-adam", {"net": state, "opt": old}, under("net", state) | under("opt", moments))
    parallel = nn.DataParallel(model)
    save(folder, "parallel", {"state_dict": parallel.state_dict(), "ema": state},
         under("state_dict.module", state) | under("ema", state))
    groups = torch.optim.Adam([{"params": [p for p in model.parameters() if p.ndim == 2]},
                               {"params": [p for p in model.parameters() if p.ndim == 1], "weight_decay": 0.1}])
    model(grid(4, 2)).sum().backward()
    groups.step()
    save(folder, "groups", {"model": state, "optimizer": groups.state_dict()},
         under("model", state) | under("optimizer", state_tensors(groups)))
    save(folder, "parameters", dict(model.named_parameters()), dict(model.named_parameters()))
    save(folder, "list", list(model.parameters()), {str(i): p for i, p in enumerate(model.parameters())})


def write_module(folder):
    torch.manual_seed(2)
    inner = nn.Sequential(collections.OrderedDict(lin=nn.Linear(2, 3, bias=False), norm=nn.BatchNorm1d(3)))
    module = nn.Sequential(inner, nn.Linear(3, 3), inner)
    module.register_buffer("kept", grid(2))
    module.register_buffer("hidden", grid(3), persistent=False)
    module[1].register_buffer("unset", None)
    module.plain = grid(4)  # neither parameter nor buffer: not in the state_dict
    names = {name: tensor for name, tensor in module.state_dict().items()}
    for protocol in [2, 4]:
        save(folder, f"module{protocol}", {"net": module}, under("net", names), pickle_protocol=protocol)


def rewrite(source, target, change=lambda name, data: data, method=zipfile.ZIP_STORED, extra={}):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", method) as new:
        members = {name: change(name, old.read(name)) for name in old.namelist()} | extra
        for name, data in members.items():
            new.writestr(zipfile.ZipInfo(name), data, method)


def swapped(tensors):
    """Reverses the bytes of each element, storages being numbered as tensors come."""
    sizes = [tensor.element_size() for tensor in tensors.values()]

    def change(name, data):
        if "/data/" not in name:
            return data
        size = sizes[int(name.rsplit("/", 1)[1])]
        return b"".join(data[i:i + size][::-1] for i in range(0, len(data), size))

    return change


def write_containers(folder, source, tensors):
    rewrite(source, folder / "big-endian.pt", swapped(tensors), extra={"numbers/byteorder": b"big"})
    rewrite(source, folder / "little-endian.pt", extra={"numbers/byteorder": b"little"})
    rewrite(source, folder / "deflated.pt", method=zipfile.ZIP_DEFLATED)
    limit = zipfile.ZIP_FILECOUNT_LIMIT
    zipfile.ZIP_FILECOUNT_LIMIT = 0  # always write the zip64 end records
    rewrite(source, folder / "zip64.pt")
    zipfile.ZIP_FILECOUNT_LIMIT = limit


def write_refused(folder):
    x = grid(2, 3)
    subclass = grid(2)
    subclass.note = "attributes make torch.save wrap the tensor"
    noted = nn.Parameter(grid(3))
    good = {"good": x, "with.attributes": subclass, "parameter": noted}
    bad = {"complex": torch.zeros(2, dtype=torch.complex64), "sparse": x.to_sparse(),
           "quantized": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)}
    save(folder, "unreadable", {"kept": good, "other": bad}, under("kept", good))
    torch.save({"w": x}, folder / "legacy.pt", _use_new_zipfile_serialization=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(nn.Linear(1, 1)), folder / "script.pt")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    tensors = numbers()
    source = save(folder, "numbers", tensors, tensors)
    for protocol in [3, 4, 5]:
        nested = {"a": {"b": [tensors["vector"], {"c": tensors["float16"]}]}, 7: tensors["bool"]}
        save(folder, f"protocol{protocol}", nested,
             {"a.b.0": tensors["vector"], "a.b.1.c": tensors["float16"], "7": tensors["bool"]}, pickle_protocol=protocol)
    shared = save(folder, "views", views(), views())
    rewrite(shared, folder / "views-deflated.pt", method=zipfile.ZIP_DEFLATED)
    save(folder, "tensor", grid(2, 3), {"tensor": grid(2, 3)})
    write_containers(folder, source, tensors)
    write_training(folder)
    write_module(folder)
    write_refused(folder)


if __name__ == "__main__":
    main()
