# SPDX-License-Identifier: BSD-3-Clause
"""Files made to harm, by name. ATTACKS: name -> (file name, maker, what the refusal has to mention).

A maker gets the path to write to. Nothing here uses hesscope; archives and pickles are put together by hand, since the
usual writers refuse to write such things.
"""
import io
import itertools
import json
import os
import struct
import zlib

import numpy as np

ATTACKS = {}
CANARY = "canary"  # what a file would create that is executed
SECRET = b"TOP-SECRET-7c1f"  # in a file that nobody asked to read


def attack(name, file, *mentions):
    """Registers a maker, which returns the file's bytes or has written it."""
    def register(maker):
        assert name not in ATTACKS
        ATTACKS[name] = (file, maker, mentions)
        return maker
    return register


def attack_bytes(name, file, content, *mentions):
    attack(name, file, *mentions)(lambda path: content)


# Zip ----------------------------------------------------------------------------------------------------------------

def npy(array=None, header=None, version=1, data=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.arange(4.0) if array is None else array)
    if header is None:
        return out.getvalue()
    text = header.encode() if isinstance(header, str) else header
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + (np.arange(4.0).tobytes() if data is None else data)


class Entry:
    """A member with every field of its headers open to lies."""

    def __init__(self, name, content, *, method=0, stored=None, **fields):
        if stored is None:
            stored = content
            if method == 8:
                packer = zlib.compressobj(9, zlib.DEFLATED, -15)
                stored = packer.compress(content) + packer.flush()
        self.name, self.stored, self.method = os.fsencode(name), stored, method
        self.crc, self.size = zlib.crc32(content), len(content)
        self.flags, self.disk, self.extra, self.offset, self.local_name = 0, 0, b"", None, None
        self.local_method = None
        self.__dict__.update(fields)

    def common(self, method, name, extra):
        return struct.pack("<HHHIIIIHH", 20, self.flags, method, 0x210000, self.crc, len(self.stored) & 0xFFFFFFFF,
                           self.size & 0xFFFFFFFF, len(name), len(extra))

    def local(self):
        name = self.name if self.local_name is None else self.local_name
        method = self.method if self.local_method is None else self.local_method
        return b"PK\3\4" + self.common(method, name, b"") + name + self.stored

    def central(self, offset):
        return (b"PK\1\2" + struct.pack("<H", 20) + self.common(self.method, self.name, self.extra) +
                struct.pack("<HHHII", 0, self.disk, 0, 0, offset if self.offset is None else self.offset) +
                self.name + self.extra)


def archive(*entries, between=b"", tail=b"", **end):
    body, directory = b"", b""
    for entry in entries:
        directory += entry.central(len(body))
        body += entry.local()
    fields = dict(disk=0, first=0, here=len(entries), count=len(entries), size=len(directory), offset=len(body))
    fields.update(end)
    return body + directory + between + b"PK\5\6" + struct.pack("<HHHHIIH", *fields.values(), len(tail)) + tail


W = Entry("w.npy", npy())
BOMB_BYTES = 1 << 28  # zeros behind an array


def bomb():
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b"".join([packer.compress(npy())] + [packer.compress(bytes(1 << 20)) for _ in range(BOMB_BYTES >> 20)] +
                    [packer.flush()])


BOMB = bomb()


def zip64(offset=16):
    """An archive whose zip64 record lies at `offset` behind the directory, or so it says."""
    body = W.local()
    directory = W.central(0)
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, len(directory), len(body))
    locator = b"PK\6\7" + struct.pack("<IQI", 0, offset, 1)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return body + directory + record + locator + end


attack_bytes("zip-bomb-larger-than-declared", "a.npz",
             archive(Entry("w.npy", npy(), method=8, stored=BOMB)), "w.npy", "inflates to more")
attack_bytes("zip-bomb-declared-in-full", "a.npz",
             archive(Entry("w.npy", b"", method=8, stored=BOMB, size=len(npy()) + BOMB_BYTES)),
             "w.npy", "bomb")


@attack("zip-bomb-of-zeros", "a.npz", "w.npy", "bomb")
def zip_bomb_of_zeros(path):
    np.savez_compressed(path, w=np.zeros(2**22))


attack_bytes("zip-bomb-beyond-deflates-ratio", "a.npz",
             archive(Entry("w.npy", b"", method=8, stored=b"\3\0", size=0xFFFFFFF0)), "w.npy", "bomb")
attack_bytes("zip-member-of-eight-exabytes", "a.npz",
             archive(Entry("w.npy", npy(), size=0xFFFFFFFF, extra=struct.pack("<HHQ", 1, 8, 2**63 - 1))),
             "w.npy")
attack_bytes("zip64-offset-that-wraps", "a.npz",
             archive(Entry("w.npy", npy(), offset=0xFFFFFFFF, extra=struct.pack("<HHQ", 1, 8, 2**64 - 8))),
             "w.npy")
attack_bytes("zip64-field-missing", "a.npz", archive(Entry("w.npy", npy(), size=0xFFFFFFFF)), "w.npy", "zip64")
attack_bytes("zip64-field-twice", "a.npz",
             archive(Entry("w.npy", npy(), extra=2 * struct.pack("<HHQ", 1, 8, 1))), "w.npy", "two zip64")
attack_bytes("zip64-locator-beyond-the-file", "a.npz", zip64(2**64 - 1), "zip64")
attack_bytes("zip64-record-that-is-none", "a.npz", zip64(0), "zip64")
attack_bytes("zip-members-overlapping", "a.npz",
             archive(W, Entry("v.npy", npy(), offset=0, local_name=b"w.npy")), "v.npy")
attack_bytes("zip-member-within-a-member", "a.npz",
             archive(Entry("w.npy", Entry("v.npy", npy()).local()), Entry("v.npy", npy(), offset=35)),
             "v.npy", "overlap", "byte 35")
attack_bytes("zip-quoted-overlap-of-a-thousand-members", "a.npz",
             archive(*[Entry(f"{i:04}.npy", npy(), offset=0, local_name=b"0000.npy") for i in range(1000)]), ".npy")
attack_bytes("zip-member-in-the-directory", "a.npz", archive(Entry("w.npy", npy(), offset=100)), "w.npy")
attack_bytes("zip-names-twice", "a.npz", archive(W, Entry("w.npy", npy(np.zeros(3)))), "two members", "w.npy")
attack_bytes("zip-local-name-differs", "a.npz", archive(Entry("w.npy", npy(), local_name=b"v.npy")), "w.npy", "byte 0")
attack_bytes("zip-local-method-differs", "a.npz", archive(Entry("w.npy", npy(), local_method=8)), "w.npy", "byte 0")
attack_bytes("zip-encrypted", "a.npz", archive(Entry("w.npy", npy(), flags=1)), "w.npy", "encrypted")
attack_bytes("zip-masked-headers", "a.npz", archive(Entry("w.npy", npy(), flags=0x2000)), "w.npy", "0x2000")
attack_bytes("zip-of-several-disks", "a.npz", archive(W, disk=1), "several disks")
attack_bytes("zip-member-on-another-disk", "a.npz", archive(Entry("w.npy", npy(), disk=7)), "several disks")
attack_bytes("zip-unknown-method", "a.npz", archive(Entry("w.npy", npy(), method=99)), "w.npy", "method 99")
attack_bytes("zip-wrong-crc", "a.npz", archive(Entry("w.npy", npy(), crc=1)), "w.npy", "CRC-32")
attack_bytes("zip-more-entries-than-directory", "a.npz", archive(W, here=2, count=2))
attack_bytes("zip-sixty-thousand-entries-in-nothing", "a.npz", archive(W, here=60000, count=60000))
attack_bytes("zip-hidden-bytes-before-the-end", "a.npz", archive(W, between=b"hidden bytes here..."), "directory")
attack_bytes("zip-truncated", "a.npz", archive(W)[:-30], "end-of-directory|truncated", "last 238 bytes")
attack_bytes("zip-name-not-text", "a.npz", archive(Entry(b"w\xff\x00.npy", npy())), r"w\\xff")
attack_bytes("zip-name-of-the-terminal", "a.npz", archive(Entry("\x1b[2J.npy", npy())), r"\\x1b")
attack_bytes("zip-deflate-cut-short", "a.npz",
             archive(Entry("w.npy", npy(), method=8, stored=Entry("", npy(), method=8).stored[:-9])), "w.npy")
attack_bytes("zip-something-behind-deflate", "a.npz",
             archive(Entry("w.npy", npy(), method=8, stored=Entry("", npy(), method=8).stored + b"more")), "w.npy")
attack_bytes("zip-script-beside-arrays", "a.npz", archive(W, Entry("../../evil.sh", b"#!/bin/sh\n")), "evil.sh")


# NumPy --------------------------------------------------------------------------------------------------------------

def described(descr="'<f8'", shape="(4,)", order="False", more=""):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {more}}}\n"


attack_bytes("npy-header-of-four-gigabytes", "a.npy", b"\x93NUMPY\2\0\xff\xff\xff\xff" + b" " * 100, "4294967295 bytes")
attack_bytes("npy-header-nested", "a.npy", npy(header="{'descr': " + "(" * 60000, version=2), "structured")
attack_bytes("npy-shape-that-overflows", "a.npy", npy(header=described(shape="(4294967296, 4294967296, 4)")), "byte 60")
attack_bytes("npy-shape-beyond-64-bits", "a.npy", npy(header=described(shape="(99999999999999999999,)")))
attack_bytes("npy-shape-negative", "a.npy", npy(header=described(shape="(-4, -1)")), "extent", "byte 61")
attack_bytes("npy-shape-of-a-petabyte", "a.npy", npy(header=described(shape="(140737488355328,)")), "shape")
attack_bytes("npy-thousand-dimensions", "a.npy", npy(header=described(shape="(" + "1, " * 1000 + ")")), "1000 dim")
attack_bytes("npy-objects", "a.npy", npy(header=described("'|O'")), "objects")
attack_bytes("npy-structured", "a.npy", npy(header=described("[('a', '<f8')]")), "structured")
attack_bytes("npy-lies-about-its-type", "a.npy", npy(header=described("'<f4'")), "16 bytes", "32 bytes", "byte 68")
attack_bytes("npy-key-twice", "a.npy", npy(header=described(more="'shape': (2,)")), "'shape' occurs twice")
attack_bytes("npy-code-for-a-shape", "a.npy",
             npy(header=described(shape=f"__import__('os').system('touch {CANARY}')")))
attack_bytes("npz-array-of-objects", "a.npz", archive(Entry("w.npy", npy(header=described("'|O'")))), "w.npy", "objects")


# PyTorch ------------------------------------------------------------------------------------------------------------

def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def integer(value):
    return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)


def numbers(*values):
    return b"(" + b"".join(map(integer, values)) + b"t"


def storage(size=4, kind="torch\nDoubleStorage", key="0"):
    return b"(" + text("storage") + b"c" + kind.encode() + b"\n" + text(key) + text("cpu") + integer(size) + b"tQ"


def tensor(shape=(4,), strides=(1,), offset=0, stored=None):
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + (stored or storage()) + integer(offset) + numbers(*shape) +
            numbers(*strides) + b"\x89ccollections\nOrderedDict\n)RtR")


def state(value, name="w"):
    return b"\x80\2}(" + text(name) + value + b"u."


def torch_file(pickle, data=np.arange(4.0).tobytes(), folder="a"):
    return archive(Entry(f"{folder}/data.pkl", pickle), Entry(f"{folder}/data/0", data))


PICKLES = {
    "os-system": (b"\x80\2cposix\nsystem\n" + text(f"touch {CANARY}") + b"\x85R.", "no tensor"),
    "os-system-as-a-tensor": (state(b"ctorch._utils\n_rebuild_tensor_v2\n(cposix\nsystem\n" + text(f"touch {CANARY}") +
                                    b"\x85R" + integer(0) + numbers(4) + numbers(1) + b"\x89}tR"), "storage|tensor"),
    "os-system-as-a-storage": (state(tensor(stored=b"cposix\nsystem\n" + text(f"touch {CANARY}") + b"\x85RQ")), "stor"),
    "depth": (b"\x80\2" + b"]" * 200000 + b"a" * 199999 + b".", "deep"),
    "cycle": (b"\x80\2]q\0h\0a.", "no tensor"),
    "cycle-through-a-dict": (b"\x80\2}q\0" + text("a") + b"h\0s.", "no tensor"),
    "memo-bomb": (b"\x80\2" + b"]r\xff\xff\xff\x7f.", "memo"),
    "billion-laughs": (b"\x80\2]q\0" + b"".join(b"0]q%c(" % (i + 1) + b"h%c" % i * 10 + b"e" for i in range(40)) + b".",
                       "paths|no tensor"),
    "paths-through-a-wide-list": (
        b"\x80\2]q\0](" + b"K\1" * 50000 + b"h\0eq\1" +
        b"".join(b"0](" + b"h%c" % (i + 1) * 2 + b"h\0eq%c" % (i + 2) for i in range(22)) + b"a.", "paths"),
    "billion-laughs-of-tensors": (
        b"\x80\2" + tensor() + b"q\0" + b"".join(b"0](" + b"h%c" % i * 10 + b"eq%c" % (i + 1) for i in range(40)) + b".",
        "100000 tensors"),
    "integer-of-two-gigabytes": (b"\x80\2\x8b\xff\xff\xff\x7f.", "integer of 2147483647"),
    "integer-of-negative-length": (b"\x80\2\x8b\xff\xff\xff\xff.", "integer of -1"),
    "text-of-four-gigabytes": (b"\x80\2X\xff\xff\xff\xff.", "truncated"),
    "bytes-of-eight-exabytes": (b"\x80\4\x8e" + b"\xff" * 8 + b".", "truncated"),
    "frame-beyond-the-end": (b"\x80\4\x95" + b"\xff" * 8 + b"N.", "frame"),
    "setitem-on-a-list": (b"\x80\2]" + text("a") + b"Ns.", "puts elements"),
    "setitem-on-a-number": (b"\x80\2K\1" + text("a") + b"Ns.", "puts elements"),
    "append-to-a-tuple": (b"\x80\2)Na.", "puts elements"),
    "build-of-a-number": (b"\x80\2K\1}b.", "attributes"),
    "call-of-a-number": (b"\x80\2K\1)R.", "call"),
    "stack-empty": (b"\x80\2a.", "stack"),
    "stack-left-over": (b"\x80\2NN.", "stack"),
    "mark-missing": (b"\x80\2t.", "mark"),
    "no-stop": (b"\x80\2N", "truncated"),
    "bytes-behind-stop": (b"\x80\2N.N.", "follow"),
    "protocol-0": (b"cposix\nsystem\n(S'touch canary'\ntR.", "protocol"),
    "instruction-of-python-2": (b"\x80\2(S'x'\niposix\nsystem\n.", "instruction"),
    "extension-registry": (b"\x80\2\x82\1.", "instruction"),
    "out-of-band-buffer": (b"\x80\5\x97.", "instruction"),
    "persistent-number": (state(tensor(stored=b"K\1Q")), "stor"),
    "persistent-path": (state(tensor(stored=storage(key="../../../etc/passwd"))), "missing"),
    "persistent-other-member": (state(tensor(stored=storage(key="../data.pkl"))), "missing"),
    "persistent-too-short": (state(tensor(stored=b"(" + text("storage") + b"tQ")), "stor"),
    "persistent-without-size": (state(tensor(stored=storage(size=-4))), "stor|size"),
    "storage-larger-than-its-member": (state(tensor((5,), (1,), stored=storage(5))), "40 bytes"),
    "storage-smaller-than-its-member": (state(tensor((3,), (1,), stored=storage(3))), "24 bytes"),
    "storage-size-that-wraps": (state(tensor(stored=storage(2**61 + 4))), "'w'"),
    "storage-size-beyond-64-bits": (state(tensor(stored=storage().replace(integer(4), b"\x8a\x09" + bytes(8) + b"\1"))),
                                    "beyond 64 bits"),
    "stride-of-zero-bomb": (state(tensor((10**12,), (0,))), "limit|bomb"),
    "stride-of-zero-within-the-limit": (state(tensor((2**20, 1000), (0, 0))), "bomb"),
    "stride-of-zero-in-every-tensor": (
        b"\x80\2]" + tensor((2**17,), (0,)) + b"q\0" + b"0(" + b"h\0" * 90000 + b"e.", "together"),
    "stride-negative": (state(tensor((4,), (-1,))), "negative"),
    "stride-that-wraps": (state(tensor((2, 2), (2**63 - 1, 2**63 - 1))), "outside|beyond"),
    "strides-too-few": (state(tensor((2, 2), (1,))), "stride"),
    "offset-beyond-the-storage": (state(tensor(offset=2**62)), "outside|beyond"),
    "offset-that-wraps": (state(tensor(offset=2**63 - 2)), "outside|beyond"),
    "offset-negative": (state(tensor(offset=-1)), "negative|offset"),
    "shape-negative": (state(tensor((-1,), (1,))), "negative"),
    "shape-that-overflows": (state(tensor((2**32, 2**32), (0, 0))), "limit"),
    "name-of-the-terminal": (state(tensor(), "\x1b]0;owned\x07"), "name"),
    "name-of-a-megabyte": (state(tensor(), "x" * 1000000), "name"),
    "name-twice": (b"\x80\2}(" + 2 * (text("w") + tensor()) + b"u.", "twice|two tensors"),
}
for name, (pickle, mention) in PICKLES.items():
    attack_bytes(f"pickle-{name}", "a.pt", torch_file(pickle),
                 "a/data.pkl|a/data/0", mention)
attack_bytes("torch-two-pickles", "a.pt",
             archive(*[Entry(f"{folder}/data.pkl", state(tensor())) for folder in "ab"]), "two members data.pkl")
attack_bytes("torch-script", "a.pt", archive(Entry("a/data.pkl", state(tensor())), Entry("a/code/x.py", b"import os")),
             "TorchScript")
attack_bytes("torch-before-1.6", "a.pt", b"\x80\2\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\2M\xe9\3.", "1.6", "torch.save")
attack_bytes("pickle-plain", "a.pkl", PICKLES["os-system"][0], "pickle")


# Safetensors --------------------------------------------------------------------------------------------------------

def entry(begin=0, end=32, shape=(4,), dtype="F64"):
    return f'{{"dtype":"{dtype}","shape":{json.dumps(shape)},"data_offsets":[{begin},{end}]}}'


def safetensors(header, data=bytes(32), size=None):
    header = header.encode() if isinstance(header, str) else header
    return struct.pack("<Q", len(header) if size is None else size) + header + data


SAFETENSORS = {
    "length-of-eight-exabytes": (safetensors("{}", size=2**63), "claims"),
    "length-beyond-the-file": (safetensors('{"', size=1000000), "truncated"),
    "key-twice": (safetensors(f'{{"w":{entry()},"w":{entry()}}}'), "'w'"),
    "field-twice": (safetensors('{"w":{"dtype":"F64","dtype":"F32","shape":[4],"data_offsets":[0,32]}}'), "'w'"),
    "overlap": (safetensors(f'{{"w":{entry()},"v":{entry(8, 40)}}}', bytes(40)), "overlap"),
    "hole": (safetensors(f'{{"w":{entry(8, 40)}}}', bytes(40)), "no tensor"),
    "tail": (safetensors(f'{{"w":{entry()}}}', bytes(40)), "no tensor"),
    "hundred-thousand-over-the-same-bytes": (
        safetensors("{" + ",".join(f'"{i}":{entry()}' for i in range(99999)) + "}"), "overlap"),
    "shape-that-wraps": (safetensors(f'{{"w":{entry(0, 32, (4194305, 4194305, 211106198978564))}}}'), "shape"),
    "shape-beyond-64-bits": (safetensors('{"w":{"dtype":"F64","shape":[99999999999999999999],"data_offsets":[0,32]}}'),
                             "'w'"),
    "shape-negative": (safetensors(f'{{"w":{entry(0, 32, (-4,))}}}'), "'w'"),
    "offsets-reversed": (safetensors(f'{{"w":{entry(32, 0)}}}'), "'w'"),
    "offsets-negative": (safetensors(f'{{"w":{entry(-32, 0)}}}'), "'w'"),
    "offsets-of-eight-exabytes": (safetensors(f'{{"w":{entry(0, 2**64 - 1, (2**61,))}}}'), "'w'"),
    "depth": (safetensors('{"w":' + "[" * 1000000), "w"),
    "depth-of-objects": (safetensors('{"w":' * 500000), "w"),
    "nul-in-the-header": (safetensors(f'{{"w":{entry()}}}\0'), "JSON"),
    "header-not-json": (safetensors('{"w":,}'), "JSON"),
    "type-unknown": (safetensors(f'{{"w":{entry(dtype="F4")}}}'), "F4"),
    "name-of-the-terminal": (safetensors(f'{{"\\u001b[2J":{entry()}}}'), "UTF-8|name"),
}
for name, (content, mention) in SAFETENSORS.items():
    attack_bytes(f"safetensors-{name}", "a.safetensors", content, mention)


@attack("safetensors-ten-million-entries", "a.safetensors", "claims 620000000 bytes")
def ten_million_entries(path):
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", 620000000) + b'{"0":' + entry().encode() + b",")
        file.truncate(620000008)  # a file with a hole: the rest need not be written


@attack("safetensors-entries-up-to-the-limit", "a.safetensors", "100000 tensors")
def entries_up_to_the_limit(path):
    entries = (f'"{i}":{entry(8 * i, 8 * i + 8, (1,))}' for i in itertools.count())
    return safetensors("{" + ",".join(itertools.islice(entries, 210000)) + "}", bytes(8))


# A checkpoint in several files -----------------------------------------------------------------------------------------

def index(*files):
    return json.dumps({"weight_map": {f"w{i}": file for i, file in enumerate(files)}}).encode()


for name, file in {"parent": "../secret.npy", "absolute": "/etc/passwd", "itself": "a.index.json",
                   "two-up": "x/../../secret.npy", "nul": "secret.npy\0.npz", "dot": "..", "missing": "nothere.npz"}.items():
    attack_bytes(f"index-{name}", "a.index.json", index(file), "a.index.json",
                 "the index has|index itself|No such file")
attack_bytes("index-depth", "a.index.json", b'{"metadata":' * 100000, "deep")
attack_bytes("index-name-twice", "a.index.json", b'{"weight_map":{"w":"b.npz","w":"c.npz"}}', "twice")
attack_bytes("index-ten-thousand-files", "a.index.json", index(*(f"{i}.npz" for i in range(10000))),
             "more than 500 files")


# Caches of Hugging Face are made of links: they are followed, but what they lead to has to be a checkpoint.
@attack("index-symlink-out", "a.index.json", "shard.npz: is of no known format")
def index_symlink(path):
    (path.parent / "shard.npz").symlink_to(path.parent.parent / "secret.txt")
    return index("shard.npz")
