"""Writes ONNX files: the few messages of onnx.proto that a graph with named weights takes.

Field numbers are those of onnx.proto (IR version 8, opset 17); the encoding is that of protocol buffers.
"""

import struct

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7  # TensorProto.DataType
TYPES = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int32": INT32, "int64": INT64}


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def message(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def text(number, value):
    return message(number, value.encode())


def integer(number, value):
    return varint(number << 3) + varint(value)


def attribute(name, value):
    """AttributeProto: a float, an integer or integers."""
    head = text(1, name)
    if isinstance(value, float):
        return head + varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    if isinstance(value, int):
        return head + integer(3, value) + integer(20, 2)
    return head + b"".join(integer(8, each) for each in value) + integer(20, 7)


def node(operation, inputs, outputs, attributes):
    return (b"".join(text(1, name) for name in inputs) + b"".join(text(2, name) for name in outputs) +
            text(4, operation) +
            b"".join(message(5, attribute(*item)) for item in attributes.items()))


def tensor(name, array):
    return (b"".join(integer(1, extent) for extent in array.shape) +
            integer(2, TYPES[array.dtype.name]) + text(8, name) + message(9, array.tobytes()))


def declaration(name, shape):
    """ValueInfoProto of a tensor of f32."""
    dimensions = b"".join(message(1, integer(1, extent)) for extent in shape)
    return text(1, name) + message(2, message(1, integer(1, FLOAT) + message(2, dimensions)))


def model(nodes, weights, inputs, outputs):
    """ModelProto. `weights` are arrays by name, `inputs` and `outputs` shapes by name."""
    graph = (b"".join(message(1, each) for each in nodes) + text(2, "main") +
             b"".join(message(5, tensor(*item)) for item in weights.items()) +
             b"".join(message(11, declaration(*item)) for item in inputs.items()) +
             b"".join(message(12, declaration(*item)) for item in outputs.items()))
    return integer(1, 8) + message(7, graph) + message(8, text(1, "") + integer(2, 17))
