"""Arguments and results as text, in the grammar of `plimsoll run --input`, and NumPy files."""
import math
import pathlib
import re

import numpy as np

from .irtypes import Complex, Float, Index, Int, Shaped, is_integer
from .numerics import float_from_bits, format_of

WORD = re.compile(r"((?:\d+x)*)([a-z][\w<>]*)=(.*)", re.S)


class BadValue(Exception):
    """Text that is no value."""


def element_type(name):
    if name == "index":
        return Index()
    if name.startswith("complex<"):
        return Complex(Float(name[8:-1]))
    return Int(int(name[1:])) if name.startswith("i") else Float(name)


def random_words(seed, count):
    """SplitMix64: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators."""
    steps = np.arange(1, count + 1, dtype=np.uint64)
    state = np.uint64(seed % (1 << 64)) + np.uint64(0x9E3779B97F4A7C15) * steps
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def random_elements(kind, seed, count):
    """The elements of `rnd:SEED`: floats are multiples of 2^-p in [-1, 1) that the type holds."""
    if isinstance(kind, Complex):
        parts = random_elements(kind.part, seed, 2 * count)
        return parts[::2] + 1j * parts[1::2]
    words = random_words(seed, count)
    if isinstance(kind, Float):
        bits = format_of(kind).precision - 1
        return np.ldexp((words >> np.uint64(63 - bits)).astype(np.float64), -bits) - 1
    if isinstance(kind, Index):
        return (words >> np.uint64(61)).astype(np.int64)
    if kind.width == 1:
        return (words >> np.uint64(63)).astype(np.int64)
    if kind.width == 2:
        return (words >> np.uint64(62)).astype(np.int64) - 2
    return (words >> np.uint64(60)).astype(np.int64) - 8


def read_npy(path):
    return np.load(pathlib.Path(path), allow_pickle=False)


def parse(text, folder="."):
    """(shape, element type, array of float64, int64 or what the file has)."""
    if text.startswith("@"):
        array = read_npy(pathlib.Path(folder, text[1:]))
        kind = {"float64": Float("f64"), "float32": Float("f32"), "float16": Float("f16"),
                "int64": Int(64), "int32": Int(32), "int16": Int(16), "int8": Int(8),
                "bool": Int(1), "complex64": Complex(Float("f32")),
                "complex128": Complex(Float("f64"))}[array.dtype.name]
        return array.shape, kind, array
    match = WORD.fullmatch(text)
    if not match:
        raise BadValue(f"cannot read the value '{text[:80]}'")
    extents, name, data = match.groups()
    shape = tuple(int(extent) for extent in extents.split("x")[:-1])
    kind = element_type(name)
    count = math.prod(shape)
    data = data.strip()
    if data.startswith("rnd:"):
        flat = random_elements(kind, int(data[4:]), count)
    elif data.startswith("@"):
        flat = raw_elements(pathlib.Path(folder, data[1:]).read_bytes(), kind)
    else:
        words = re.sub(r"[\[\],]", " ", data).split()
        if is_integer(kind):
            numbers = [int(word, 0) for word in words]
            flat = np.array([n - (1 << 64) if n >= 1 << 63 else n for n in numbers], np.int64)
        elif isinstance(kind, Complex):
            flat = np.array([complex(word) for word in words], np.complex128)
        else:
            flat = np.array([float(word) for word in words], np.float64)
        if flat.size == 1:
            flat = np.repeat(flat, count)
    if flat.size != count:
        raise BadValue(f"{flat.size} elements for the shape {shape}")
    return shape, kind, flat.reshape(shape)


def raw_elements(data, kind):
    if is_integer(kind):
        return np.frombuffer(data, f"<i{max(kind.width // 8, 1)}").astype(np.int64)
    if isinstance(kind, Complex):
        return np.frombuffer(data, {"f32": "<c8", "f64": "<c16"}[kind.part.name])
    size = format_of(kind).bits // 8
    return float_from_bits(np.frombuffer(data, f"<u{size}").astype(np.uint64), kind)


def argument(run, text, kind, folder="."):
    """An array as the machine keeps it, of the element type that the function says."""
    _, element, array = parse(text, folder)
    wanted = kind.element if isinstance(kind, Shaped) else kind
    if element != wanted:
        raise BadValue(f"a value of {element} for {wanted}")
    with np.errstate(all="ignore"):
        value = run.numerics.constant(array, wanted)
    return np.array(value) if isinstance(kind, Shaped) else value[()]


def type_name(kind):
    if isinstance(kind, Float):
        return kind.name
    if isinstance(kind, Complex):
        return f"complex<{kind.part.name}>"
    return "index" if isinstance(kind, Index) else f"i{kind.width}"


def plain(value, kind):
    """(shape, name of the element type, Python numbers) of a result; of complex ones the parts."""
    element = kind.element if isinstance(kind, Shaped) else kind
    flat = np.reshape(value, -1)
    if isinstance(element, Complex):
        flat = np.stack([flat.real, flat.imag], -1).reshape(-1)
    return np.shape(value), type_name(element), flat.tolist()
