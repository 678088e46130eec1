# SPDX-License-Identifier: BSD-3-Clause
"""Small ONNX models, written field by field: the tests need neither onnx nor protobuf.

Format: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, whose field numbers stand here.
"""
import struct

import numpy as np

TYPES = {"float32": 1, "int32": 6, "int64": 7, "bool": 9, "float64": 11, "uint32": 12}


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """An integer, a message or bytes, or text."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def attribute(name, value):
    if isinstance(value, float):
        return field(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + field(20, 1)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, np.ndarray):
        return field(1, name) + field(5, tensor("", value)) + field(20, 4)
    return field(1, name) + b"".join(field(8, each) for each in value) + field(20, 7)


def node(op, inputs, outputs, domain="", **attributes):
    content = b"".join(field(1, name) for name in inputs) + b"".join(field(2, name) for name in outputs)
    content += field(4, op) + b"".join(field(5, attribute(*each)) for each in attributes.items())
    return content + (field(7, domain) if domain else b"")


def tensor(name, values):
    values = np.asarray(values)
    content = b"".join(field(1, extent) for extent in values.shape)
    return content + field(2, TYPES[str(values.dtype)]) + field(8, name) + field(9, values.tobytes())


def value_info(name, axes, element="float32"):
    """Axes are numbers or symbols."""
    shape = b"".join(field(1, field(1 if isinstance(axis, int) else 2, axis)) for axis in axes)
    return field(1, name) + field(2, field(1, field(1, TYPES[element]) + field(2, shape)))


def model(nodes, initializers, inputs, outputs, opset=13, domains=()):
    graph = b"".join(field(1, each) for each in nodes) + field(2, "graph")
    graph += b"".join(field(5, tensor(name, values)) for name, values in initializers.items())
    graph += b"".join(field(11, each) for each in inputs) + b"".join(field(12, each) for each in outputs)
    imports = field(8, field(2, opset)) + b"".join(field(8, field(1, each) + field(2, 1)) for each in domains)
    return field(1, 8) + field(2, "by-hand") + field(7, graph) + imports
