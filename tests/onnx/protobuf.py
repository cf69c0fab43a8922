"""Reads the messages of ONNX that the tests need from their bytes, without protobuf or the importer.

https://protobuf.dev/programming-guides/encoding and the field numbers of onnx.proto.
"""

import dataclasses
import struct

import numpy as np

TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64,
         9: np.bool_, 10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64, 14: np.complex64,
         15: np.complex128}
STRING, BFLOAT16 = 8, 16


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """Yields (number, value): an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            at += size
        else:
            size = 8 if kind == 1 else 4
            value = data[at:at + size]
            at += size
        yield key >> 3, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def repeated(values, packed):
    """Numbers that stand one by one or together."""
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(signed(value))
        elif packed == "varint":
            at = 0
            while at < len(value):
                number, at = varint(value, at)
                out.append(signed(number))
        else:
            out += [x[0] for x in struct.iter_unpack(packed, value)]
    return out


def collected(data):
    out = {}
    for number, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


def tensor(data):
    """(name, array); of strings a list, of bfloat16 its bits."""
    message = collected(data)
    dims = repeated(message.get(1, []), "varint")
    kind = message.get(2, [0])[0]
    name = message.get(8, [b""])[0].decode()
    if kind == STRING:
        return name, message.get(6, [])
    dtype = np.uint16 if kind == BFLOAT16 else TYPES[kind]
    if 9 in message:
        return name, np.frombuffer(message[9][0], dtype).reshape(dims)
    if kind in (1, 14):
        return name, np.array(repeated(message.get(4, []), "<f"), np.float32).view(dtype).reshape(dims)
    if kind in (11, 15):
        return name, np.array(repeated(message.get(10, []), "<d"), np.float64).view(dtype).reshape(dims)
    if kind == 7:
        return name, np.array(repeated(message.get(7, []), "varint"), np.int64).reshape(dims)
    if kind in (12, 13):
        return name, np.array(repeated(message.get(11, []), "varint"), np.int64).astype(dtype).reshape(dims)
    numbers = np.array(repeated(message.get(5, []), "varint"), np.int64)
    if kind == 10:
        return name, numbers.astype(np.uint16).view(np.float16).reshape(dims)
    return name, numbers.astype(dtype).reshape(dims)


def sequence(data):
    """The tensors of a SequenceProto."""
    return [tensor(value)[1] for value in collected(data).get(3, [])]


def optional(data):
    """The value of an OptionalProto, None if it is empty."""
    message = collected(data)
    kind = message.get(2, [0])[0]
    if kind == 1 and 3 in message:
        return tensor(message[3][0])[1]
    if kind == 3 and 5 in message:
        return sequence(message[5][0])
    return None


@dataclasses.dataclass
class Value:
    name: str
    kind: str  # "tensor", "sequence", "optional", "other"
    element: int = 0


@dataclasses.dataclass
class Model:
    inputs: list
    outputs: list
    nodes: list  # (operator, names of inputs)
    initialisers: set


def value_info(data):
    message = collected(data)
    name = message[1][0].decode()
    kinds = collected(message[2][0]) if 2 in message else {}
    if 1 in kinds:
        return Value(name, "tensor", collected(kinds[1][0]).get(1, [0])[0])
    return Value(name, "sequence" if 4 in kinds else "optional" if 9 in kinds else "other")


def model(data):
    graph = collected(collected(data)[7][0])
    return Model([value_info(v) for v in graph.get(11, [])], [value_info(v) for v in graph.get(12, [])],
                 [(collected(n)[4][0].decode(), [i.decode() for i in collected(n).get(1, [])])
                  for n in graph.get(1, [])],
                 {tensor(t)[0] for t in graph.get(5, [])})


# --- Writing a model that leaves its extents open ---------------------------------------------------


def encoded_varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while True:
        byte = value & 127
        value >>= 7
        out.append(byte | (128 if value else 0))
        if not value:
            return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return encoded_varint(number << 3) + encoded_varint(value)
    if isinstance(value, float):
        return encoded_varint(number << 3 | 5) + struct.pack("<f", value)
    return encoded_varint(number << 3 | 2) + encoded_varint(len(value)) + value


def rewritten(data, number, change):
    """The message with each field of that number changed; only messages and integers are in it."""
    out = b""
    for key, value in fields(data):
        out += field(key, change(value) if key == number else value)
    return out


def without_extents(data, kept):
    """The model with a name of its own in the place of each extent of its inputs but those `kept`, by name; its outputs
    have no shape."""
    count = 0

    def extent(value):
        nonlocal count
        count += 1
        return field(2, f"d{count}".encode())

    def of_input(value):
        if collected(value)[1][0].decode() in kept:
            return value
        return rewritten(value, 2, lambda t: rewritten(t, 1, lambda tensor: rewritten(
            tensor, 2, lambda shape: rewritten(shape, 1, extent))))

    def of_output(value):
        def shapeless(tensor):
            return b"".join(field(key, v) for key, v in fields(tensor) if key != 2)
        return rewritten(value, 2, lambda t: rewritten(t, 1, shapeless))

    def graph(value):
        # Nodes and initialisers stay as they are: their floats have no field of this kind.
        return rewritten(rewritten(value, 11, of_input), 12, of_output)

    return rewritten(data, 7, graph)
