# SPDX-License-Identifier: BSD-3-Clause
"""What an exported graph reads, without the package onnx."""

NODE, OUTPUT = 1, 12  # fields of a graph, by their numbers in onnx.proto
NODE_INPUT, NODE_ATTRIBUTE, OUTPUT_NAME = 1, 5, 1
MODEL_GRAPH, ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS = 7, 6, 11


def names_read(path):
    """Of all tensors that a node of the ONNX file takes, or that it gives."""
    model = memoryview(path.read_bytes())
    return {name for graph in _parts(model, MODEL_GRAPH) for name in _names_read_in(graph)}


def _names_read_in(graph):
    for node in _parts(graph, NODE):
        yield from (str(name, "utf-8") for name in _parts(node, NODE_INPUT))
        for attribute in _parts(node, NODE_ATTRIBUTE):
            for inner in _parts(attribute, ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS):
                yield from _names_read_in(inner)
    for output in _parts(graph, OUTPUT):
        yield from (str(name, "utf-8") for name in _parts(output, OUTPUT_NAME))


def _parts(message, *numbers):
    """Of a message of Protocol Buffers, the fields of these numbers: strings and messages."""
    place = 0

    def varint():
        nonlocal place
        number = shift = 0
        while True:
            byte = message[place]
            number |= (byte & 0x7F) << shift
            place, shift = place + 1, shift + 7
            if byte < 0x80:
                return number

    while place < len(message):
        key = varint()
        kind = key & 7
        if kind == 2:  # has a length
            size = varint()
            if key >> 3 in numbers:
                yield message[place:place + size]
            place += size
        elif kind == 0:
            varint()
        else:
            place += 8 if kind == 1 else 4
