"""Writes ONNX files: the few messages of onnx.proto that models with named weights take.

Field numbers are those of onnx.proto (IR version 8, opset 17); the encoding is that of protocol buffers.
"""

import struct

import numpy as np

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11}  # TensorProto.DataType


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def head(number, size):
    return varint(number << 3 | 2) + varint(size)


def message(number, content):
    return head(number, len(content)) + content


def text(number, value):
    return message(number, value.encode())


def integer(number, value):
    return varint(number << 3) + varint(value)


def attribute(name, value):
    """AttributeProto: a float, an integer, a string, an array or integers."""
    begin = text(1, name)
    if isinstance(value, float):
        return begin + varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    if isinstance(value, int):
        return begin + integer(3, value) + integer(20, 2)
    if isinstance(value, str):
        return begin + text(4, value) + integer(20, 3)
    if isinstance(value, np.ndarray):
        return begin + message(5, b"".join(tensor("", value))) + integer(20, 4)
    return begin + b"".join(integer(8, each) for each in value) + integer(20, 7)


def node(operation, inputs, outputs, attributes, name=""):
    """NodeProto. The domain of an operator, if it has one, stands in front of its name: com.microsoft.Gelu."""
    domain, _, operation = operation.rpartition(".")
    return (b"".join(text(1, name) for name in inputs) + b"".join(text(2, name) for name in outputs) +
            (text(3, name) if name else b"") + text(4, operation) +
            b"".join(message(5, attribute(*item)) for item in attributes.items()) + (text(7, domain) if domain else b""))


def tensor(name, array):
    """TensorProto in parts, of which the last may be large."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    begin = b"".join(integer(1, extent) for extent in array.shape) + integer(2, TYPES[array.dtype.name]) + text(8, name)
    return [begin + head(9, array.nbytes), memoryview(array.reshape(-1).view(np.uint8))]


def declaration(name, shape, element="float32"):
    """ValueInfoProto of a tensor; an extent that is a string is open and has that name."""
    dimensions = b"".join(message(1, text(2, extent) if isinstance(extent, str) else integer(1, extent))
                          for extent in shape)
    return text(1, name) + message(2, message(1, integer(1, TYPES[element]) + message(2, dimensions)))


def parts(nodes, weights, inputs, outputs, domains=()):
    """ModelProto in parts, so that weights need not lie in memory twice. `weights` are arrays by name; `nodes`,
    `inputs` and `outputs` are what node() and declaration() give, and `domains` those of operators that are not ONNX's own."""
    graph = [message(1, each) for each in nodes] + [text(2, "main")]
    for item in weights.items():
        pieces = tensor(*item)
        graph += [head(5, sum(map(len, pieces))), *pieces]
    graph += [message(11, each) for each in inputs] + [message(12, each) for each in outputs]
    sets = [message(8, text(1, domain) + integer(2, version)) for domain, version in [("", 17), *((each, 1) for each in domains)]]
    return [integer(1, 8), head(7, sum(map(len, graph))), *graph, *sets]


def model(*arguments):
    return b"".join(parts(*arguments))
