#!/usr/bin/python3
"""Elements of 8, 4 and 2 bits: as constants, inputs and outputs, moved, converted and quantised.

Needs build/python in PYTHONPATH. What bits mean is a table here, by https://onnx.ai/onnx/technical; to round is to look for the nearest.
"""

import itertools
import os
import sys
import unittest

import numpy as np
import plimsoll as pl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import onnxruntime  # noqa: E402
from corners_test import KINDS, constant, engine  # noqa: E402
from models import attribute, graph, model, node, tensor, value  # noqa: E402

nan, inf = np.nan, np.inf
OPSET = 26


class Type:
    """`numbers` has what each pattern of bits is."""

    def __init__(self, code, name, bits, numbers, is_signed=False):
        self.code, self.name, self.bits, self.numbers, self.is_signed = code, name, bits, np.array(numbers), is_signed
        self.is_float = name.startswith("float")

    def drawn(self, random, shape):
        return random.integers(0, 1 << self.bits, shape).astype(np.uint8)

    def decoded(self, patterns):
        return self.numbers[patterns]

    def stored(self, patterns):
        """The bytes that a module has."""
        return self.numbers.astype(np.int8).view(np.uint8)[patterns] if self.is_signed else patterns.astype(np.uint8)

    def tensor(self, name, patterns):
        flat = patterns.reshape(-1).astype(np.uint8)
        each = 8 // self.bits
        flat = np.concatenate([flat, np.zeros(-flat.size % each, np.uint8)]).reshape(-1, each)
        raw = sum(flat[:, i].astype(np.uint32) << (i * self.bits) for i in range(each)).astype(np.uint8)
        return tensor(name, patterns.shape, self.code, raw=raw.tobytes())

    def encoded(self, x, saturates=True, way="up"):
        """Patterns of floats (f64)."""
        x = np.asarray(x, np.float64)
        if self.name == "float8e8m0":
            exponent = np.floor(np.log2(np.where(np.isfinite(x) & (x != 0), abs(x), 1)))
            rest = abs(x) / 2.0**exponent
            exponent += {"up": rest > 1, "down": 0, "nearest": rest >= 1.5}[way]
            code = np.clip(exponent + 127, 0, 254 if saturates else 255)
            return np.where(np.isfinite(x), code, np.where(np.isinf(x) & saturates, 254, 255)).astype(np.uint8)
        finite = np.flatnonzero(np.isfinite(self.numbers) & ~np.signbit(self.numbers))
        sizes = self.numbers[finite]
        step = sizes[-1] - sizes[-2]
        # What lies beyond the largest would have one more neighbour.
        line = np.append(sizes, sizes[-1] + step)
        size = np.minimum(abs(x), line[-1])
        size = np.where(np.isnan(x), 0, size)
        above = np.searchsorted(line, size)
        below = np.maximum(above - 1, 0)
        up, down = line[above] - size, size - line[below]
        index = np.where((up < down) | ((up == down) & (above % 2 == 0)), above, below)
        index = np.where(size == line[above], above, index)
        is_more = index == len(sizes)
        minus = np.where(np.signbit(x), 1 << (self.bits - 1), 0)
        code = np.where(is_more, len(sizes) - 1, index) + minus
        none = {"float8e4m3fn": 0x7f, "float8e5m2": 0x7e}.get(self.name, 0x80)
        if self.name == "float4e2m1":
            return code.astype(np.uint8)
        if self.name.endswith("fnuz"):
            code = np.where(index == 0, 0, code)
        if not saturates:
            code = np.where(is_more, (0x7c | minus) if self.name == "float8e5m2" else none, code)
        return np.where(np.isnan(x), none, code).astype(np.uint8)


def small_float(bits, fraction, bias, special):
    out = []
    for code in range(1 << bits):
        size = code & ((1 << (bits - 1)) - 1)
        exponent, rest = size >> fraction, size & ((1 << fraction) - 1)
        number = (rest / 2**fraction) * 2.0**(1 - bias) if exponent == 0 else (1 + rest / 2**fraction) * 2.0**(exponent - bias)
        out.append(special.get(code, -number if code >> (bits - 1) else number))
    return out


INFINITE = {0x7c: inf, 0xfc: -inf, **{code: nan for code in (0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff)}}
FLOATS = [Type(17, "float8e4m3fn", 8, small_float(8, 3, 7, {0x7f: nan, 0xff: nan})), Type(18, "float8e4m3fnuz", 8, small_float(8, 3, 8, {0x80: nan})),
          Type(19, "float8e5m2", 8, small_float(8, 2, 15, INFINITE)), Type(20, "float8e5m2fnuz", 8, small_float(8, 2, 16, {0x80: nan})),
          Type(23, "float4e2m1", 4, small_float(4, 1, 1, {})), Type(24, "float8e8m0", 8, [2.0**(e - 127) for e in range(255)] + [nan])]
INTEGERS = [Type(21, "uint4", 4, range(16)), Type(22, "int4", 4, [*range(8), *range(-8, 0)], True), Type(25, "uint2", 2, range(4)),
            Type(26, "int2", 2, [0, 1, -2, -1], True)]
SHAPES = ((), (1,), (0, 3), (7,), (3, 5), (2, 1, 13), (70,), (4099,))


def run(nodes, inputs, outputs, constants=()):
    """`inputs`: (name, ONNX's number of the type, array, is open); `outputs`: (name, number)."""
    given = [value(name, [f"{name}{i}" for i in range(array.ndim)] if is_open else array.shape, code) for name, code, array, is_open in inputs]
    wanted = [value(name, ["?"], code) for name, code in outputs]
    data = model(graph(nodes, given, wanted, constants), OPSET)
    got = pl.loads(data, name="types.onnx", engine=engine).main(*(array for _, _, array, _ in inputs))
    return got if len(outputs) > 1 else (got,)


def bytes_of(array):
    return np.asarray(array).view(np.uint8) if np.ndim(array) else np.asarray([array]).view(np.uint8).reshape(())


class SmallTypes(unittest.TestCase):
    def setUp(self):
        self.seed = int.from_bytes(os.urandom(3), "little")
        self.random = np.random.default_rng(self.seed)

    def same(self, got, want, **about):
        with self.subTest(seed=self.seed, **about):
            self.assertEqual(np.shape(got), np.shape(want))
            np.testing.assert_array_equal(got, want)

    def test_meanings(self):
        """Constants, inputs and outputs; to f32 and back is the same."""
        for kind, shape in itertools.product(FLOATS + INTEGERS, SHAPES):
            patterns = kind.drawn(self.random, shape)
            nodes = [node("Cast", [name], [f"{name}f"], attribute("to", i=1)) for name in "xc"]
            nodes += [node("Identity", [name], [f"{name}b"]) for name in "xc"]
            nodes += [node("Cast", ["xf"], ["back"], attribute("to", i=kind.code))]
            stored = kind.stored(patterns)
            want = kind.decoded(patterns).astype(np.float32)
            x = stored.view(np.int8) if kind.is_signed else stored
            got = run(nodes, [("x", kind.code, x, bool(self.random.integers(2)))],
                      [("xf", 1), ("cf", 1), ("xb", kind.code), ("cb", kind.code), ("back", kind.code)], [kind.tensor("c", patterns)])
            for i in (0, 1):
                self.same(got[i], want, kind=kind.name, shape=shape, i=i)
            for i in (2, 3):
                self.same(bytes_of(got[i]), stored, kind=kind.name, shape=shape, i=i)
            again = bytes_of(got[4])
            if kind.is_float:  # each NaN and infinity is one of them, or the largest
                again, stored = again[np.isfinite(want)], stored[np.isfinite(want)]
            self.same(again, stored, kind=kind.name, shape=shape, i="back")

    def numbers_for(self, kind, dtype):
        """On, between and beside what the type has."""
        finite = np.sort(kind.numbers[np.isfinite(kind.numbers)])
        finite = finite[abs(finite) < 2.0**120]
        middle = (finite[1:] + finite[:-1]) / 2
        some = np.concatenate([finite, middle, self.random.standard_normal(64) * abs(self.random.choice(finite, 64)),
                               [finite[-1] * f for f in (1.01, 1.03, 1.04, 1.1, 1.3, 4)], [0.0, -0.0, inf, -inf]])
        with np.errstate(all="ignore"):
            near = np.concatenate([np.nextafter(middle.astype(np.float32), np.float32(side)) for side in (inf, -inf)])
            return np.concatenate([some, near.astype(np.float64)]).astype(dtype)

    def test_rounding(self):
        for kind, dtype, saturates in itertools.product(FLOATS, (np.float32, np.float16), (True, False)):
            ways = ("up", "down", "nearest") if kind.name == "float8e8m0" else ("up",)
            for way, is_open in zip(ways, (True, False, True)):
                x = self.numbers_for(kind, dtype)
                if kind.name == "float8e8m0":
                    x = x[x.astype(np.float64) >= 2.0**-126]
                if kind.name != "float4e2m1":
                    x = np.append(x, dtype(nan))
                attributes = [attribute("to", i=kind.code), attribute("saturate", i=int(saturates)), attribute("round_mode", s=way.encode())]
                got, = run([node("Cast", ["x"], ["y"], *attributes)], [("x", KINDS[np.dtype(dtype)], x, is_open)], [("y", kind.code)])
                want = kind.encoded(x.astype(np.float64), saturates, way)
                got = bytes_of(got)
                if kind.name.startswith("float8") and not kind.name.endswith("fnuz"):  # NaN has several patterns
                    said = ~(np.isnan(kind.decoded(got)) & np.isnan(kind.decoded(want)))
                    got, want, x = got[said], want[said], x[said]
                wrong = got != want
                self.same(got, want, kind=kind.name, dtype=dtype.__name__, saturates=saturates, way=way,
                          of=x[wrong][:8], gave=got[wrong][:8], wanted=want[wrong][:8])

    def test_conversions(self):
        """From and to integers and other floats, and CastLike."""
        for kind in FLOATS + INTEGERS:
            numbers = self.random.integers(0 if kind.name == "float8e8m0" else -5, 6, (3, 7))
            numbers[numbers == 0] = 1
            for dtype in (np.int8, np.int32, np.int64, np.float64, np.uint8):
                x = abs(numbers).astype(dtype) if dtype == np.uint8 else numbers.astype(dtype)
                code = KINDS[np.dtype(dtype)]
                nodes = [node("Cast", ["x"], ["y"], attribute("to", i=kind.code)), node("CastLike", ["x", "t"], ["z"]),
                         node("Cast", ["y"], ["b"], attribute("to", i=code))]
                got = run(nodes, [("x", code, x, True)], [("y", kind.code), ("z", kind.code), ("b", code)],
                          [kind.tensor("t", kind.drawn(self.random, (1,)))])
                if kind.is_float:
                    patterns = kind.encoded(x.astype(np.float64))
                else:  # the low bits
                    patterns = (x.astype(np.int64) & ((1 << kind.bits) - 1)).astype(np.uint8)
                for i in (0, 1):
                    self.same(bytes_of(got[i]), kind.stored(patterns), kind=kind.name, dtype=dtype.__name__, i=i)
                self.same(got[2].view(dtype), kind.decoded(patterns).astype(dtype), kind=kind.name, dtype=dtype.__name__, i="back")

    def test_truth(self):
        for kind in FLOATS[:5] + INTEGERS:
            patterns = kind.drawn(self.random, (29,))
            got, = run([node("Cast", ["c"], ["y"], attribute("to", i=9))], [], [("y", 9)], [kind.tensor("c", patterns)])
            self.same(got, kind.decoded(patterns) != 0, kind=kind.name)

    def test_between(self):
        for one, other in itertools.product(FLOATS, FLOATS):
            patterns = one.drawn(self.random, (53,))
            x = one.decoded(patterns)
            said = np.isfinite(x) & (x > 0 if other.name == "float8e8m0" else True)
            got, = run([node("Cast", ["c"], ["y"], attribute("to", i=other.code))], [], [("y", other.code)], [one.tensor("c", patterns)])
            self.same(bytes_of(got)[said], other.encoded(x)[said], one=one.name, other=other.name)

    def test_bits(self):
        for bits in (2, 4, 8):
            some = [kind for kind in FLOATS + INTEGERS if kind.bits == bits]
            for one, other in itertools.product(some, some):
                patterns = one.drawn(self.random, (2, 11))
                got, = run([node("BitCast", ["c"], ["y"], attribute("to", i=other.code))], [], [("y", other.code)], [one.tensor("c", patterns)])
                self.same(bytes_of(got), other.stored(patterns), one=one.name, other=other.name)

    def test_moves(self):
        for kind in FLOATS + INTEGERS:
            patterns = kind.drawn(self.random, (3, 4, 5))
            stored = kind.stored(patterns)
            x = stored.view(np.int8) if kind.is_signed else stored
            nodes = [node("Transpose", ["x"], ["a"], attribute("perm", ints=[2, 0, 1])), node("Reshape", ["x", "flat"], ["b"]),
                     node("Concat", ["x", "x"], ["c"], attribute("axis", i=-1)), node("Gather", ["x", "places"], ["d"]),
                     node("Slice", ["x", "one", "end", "one", "two"], ["e"]), node("Unsqueeze", ["x", "one"], ["f"])]
            given = [constant(name, np.int64(number)) for name, number in
                     (("flat", [-1]), ("places", [2, 0]), ("one", [1]), ("two", [2]), ("end", [9]))]
            for is_open in (False, True):
                got = run(nodes, [("x", kind.code, x, is_open)], [(name, kind.code) for name in "abcdef"], given)
                want = (stored.transpose(2, 0, 1), stored.reshape(-1), np.concatenate([stored, stored], -1), stored[[2, 0]], stored[:, 1::2], stored[:, None])
                for name, one, other in zip("abcdef", got, want):
                    self.same(bytes_of(np.ascontiguousarray(one)), other, kind=kind.name, name=name, is_open=is_open)

    def test_quantised(self):
        """One scale, one of each channel, or one of each block."""
        kinds = [kind for kind in FLOATS + INTEGERS if kind.name != "float8e8m0"]
        for kind, way, turn in itertools.product(kinds, ("all", "axis", "blocks"), range(2)):
            shape = [int(n) for n in self.random.choice([1, 2, 3, 5, 7], 3)]
            axis, size = int(self.random.integers(3)), int(self.random.integers(1, 4))
            narrow = {"all": [], "axis": [shape[axis]], "blocks": [-(-n // size) if i == axis else n for i, n in enumerate(shape)]}[way]
            dtype = self.random.choice([np.float32, np.float16])
            scale = self.random.choice([0.25, 0.5, 1, 2, 4], narrow).astype(dtype)
            zeros = kind.drawn(self.random, narrow) if not kind.is_float else np.zeros(narrow, np.uint8)
            has_zero, is_open = bool(self.random.integers(2)) or way == "blocks", bool(self.random.integers(2))

            def spread(list_):
                if way == "blocks":
                    return list_.repeat(size, axis).take(range(shape[axis]), axis)
                return list_.reshape([-1 if i == axis else 1 for i in range(3)]) if way == "axis" else list_

            x = (self.random.standard_normal(shape) * 8).astype(dtype)
            zero = spread(kind.decoded(zeros).astype(np.float64)) if has_zero else 0.0
            ratio = x.astype(np.float64) / spread(scale)
            if kind.is_float:
                patterns = kind.encoded(ratio + zero)
            else:
                whole = np.clip(np.rint(ratio) + zero, min(kind.numbers), max(kind.numbers)).astype(np.int64)
                patterns = (whole & ((1 << kind.bits) - 1)).astype(np.uint8)
            back = ((kind.decoded(patterns) - zero) * spread(scale)).astype(dtype)
            code = KINDS[np.dtype(dtype)]
            attributes = [attribute("axis", i=axis - 3 * int(self.random.integers(2)))] + ([attribute("block_size", i=size)] if way == "blocks" else [])
            lists = ["s", "z"] if has_zero else ["s"]
            nodes = [node("QuantizeLinear", ["x", *lists], ["q"], *attributes, *([] if has_zero else [attribute("output_dtype", i=kind.code)])),
                     node("DequantizeLinear", ["q", *lists], ["y"], *attributes), node("DequantizeLinear", ["c", *lists], ["w"], *attributes)]
            got = run(nodes, [("x", code, x, is_open)], [("q", kind.code), ("y", code), ("w", code)],
                      [constant("s", scale), *([kind.tensor("z", zeros)] if has_zero else []), kind.tensor("c", patterns)])
            about = dict(kind=kind.name, way=way, shape=shape, axis=axis, size=size, has_zero=has_zero, dtype=dtype.__name__, is_open=is_open)
            self.same(bytes_of(got[0]), kind.stored(patterns), **about)
            for i in (1, 2):
                self.same(got[i], back, i=i, **about)

    def test_scales_that_are_powers(self):
        """As the formats of microscaling have them, with elements of 4 and 8 bits in blocks."""
        power = FLOATS[5]
        for kind, is_open in itertools.product((FLOATS[0], FLOATS[2], FLOATS[4], INTEGERS[1]), (False, True)):
            scales = self.random.integers(120, 135, (3, 2)).astype(np.uint8)
            patterns = kind.drawn(self.random, (3, 64))
            patterns[~np.isfinite(kind.decoded(patterns))] = 0
            nodes = [node("DequantizeLinear", ["c", "s"], ["y"], attribute("axis", i=1), attribute("block_size", i=32), attribute("output_dtype", i=1)),
                     node("DequantizeLinear", ["x", "s"], ["z"], attribute("axis", i=1), attribute("block_size", i=32), attribute("output_dtype", i=10))]
            want = kind.decoded(patterns) * power.decoded(scales).repeat(32, 1)
            stored = kind.stored(patterns)
            got = run(nodes, [("x", kind.code, stored.view(np.int8) if kind.is_signed else stored, is_open)], [("y", 1), ("z", 10)],
                      [kind.tensor("c", patterns), power.tensor("s", scales)])
            self.same(got[0], want.astype(np.float32), kind=kind.name)
            with np.errstate(over="ignore"):
                self.same(got[1], want.astype(np.float16), kind=kind.name)

    def test_gathered(self):
        """ONNX Runtime's table of embeddings, whose numbers are elements here, not parts of bytes; also beside it, where its library is."""
        path = onnxruntime.path()
        peer = onnxruntime.Reference(path) if path else None
        for kind, has_zero, turn in itertools.product(INTEGERS[:2], (False, True), range(3)):
            rows, blocks = (int(n) for n in self.random.integers(1, 6, 2))
            patterns, zeros = kind.drawn(self.random, (rows, 16 * blocks)), kind.drawn(self.random, (rows, blocks))
            scales = self.random.random((rows, blocks)).astype(np.float32)
            whole = kind.decoded(patterns) - (kind.decoded(zeros).repeat(16, 1) if has_zero else 0)
            want = (whole * scales.repeat(16, 1)).astype(np.float32)
            indices = self.random.integers(0, rows, (2, 3))
            inputs = ["q", "i", "s"] + ["z"] * has_zero
            gather = node("GatherBlockQuantized", inputs, ["y"], attribute("block_size", i=16), domain="com.microsoft")
            constants = [kind.tensor("q", patterns), constant("s", scales)] + [kind.tensor("z", zeros)] * has_zero
            data = model(graph([gather], [value("i", [2, 3], 7)], [value("y", [2, 3, 16 * blocks])], constants), 21, ["com.microsoft"])
            self.same(pl.loads(data, name="gather.onnx", engine=engine).main(indices), want[indices], kind=kind.name, has_zero=has_zero)
            if peer:
                self.same(peer.run(data, {"i": indices}, ["y"])[0], want[indices], kind=kind.name, has_zero=has_zero, peer=True)

    def test_precision(self):
        """The quotient of another type than the scale."""
        x = self.random.standard_normal(500).astype(np.float32) * 3000
        scale = np.float32(0.37)
        for precision, dtype in ((1, np.float32), (10, np.float16)):
            for target, code in ((np.int16, 5), (np.uint8, 2), (np.int8, 3)):
                nodes = [node("QuantizeLinear", ["x", "s"], ["q"], attribute("precision", i=precision), attribute("output_dtype", i=code))]
                got, = run(nodes, [("x", 1, x, True)], [("q", code)], [constant("s", scale)])
                quotient = (x.astype(dtype).astype(np.float32) / np.float32(dtype(scale))).astype(dtype).astype(np.float64)
                info = np.iinfo(target)
                self.same(np.asarray(got).view(target), np.clip(np.rint(quotient), info.min, info.max).astype(target), precision=precision, code=code)

    def test_halves(self):
        """Integers that f16 has not: zero points of 16 bits, and products that are rounded once."""
        x = (self.random.standard_normal(300) * 900).astype(np.float16)
        for zero in (np.uint16(32768), np.uint16(1), np.int16(-30001)):
            code = KINDS[zero.dtype]
            nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])]
            scale = np.float16(0.25)
            got = run(nodes, [("x", 10, x, False)], [("q", code), ("y", 10)], [constant("s", scale), constant("z", zero)])
            info = np.iinfo(zero.dtype)
            want = np.clip(np.rint((x / scale).astype(np.float64)) + int(zero), info.min, info.max).astype(zero.dtype)
            self.same(np.asarray(got[0]).view(zero.dtype), want, zero=zero)
            self.same(got[1], ((want.astype(np.int64) - int(zero)) * np.float64(scale)).astype(np.float16), zero=zero)
        large = np.int32([100000, -3000000, 7])
        got, = run([node("DequantizeLinear", ["x", "s"], ["y"])], [("x", 6, large, True)], [("y", 10)], [constant("s", np.float16(0.001))])
        self.same(got, (large * np.float64(np.float16(0.001))).astype(np.float16))

    def test_refused(self):
        x = np.zeros(3, np.uint8)
        for kind in FLOATS + INTEGERS:
            if kind.code in (17, 19):
                continue
            with self.assertRaisesRegex(pl.Error, f"Mul of opset {OPSET}: {kind.name} can be moved and converted, not computed with"):
                run([node("Mul", ["x", "x"], ["y"])], [("x", kind.code, x.view(np.int8) if kind.is_signed else x, False)], [("y", kind.code)])
        for attributes, message in (([attribute("output_dtype", i=24)], "to float8e8m0"), ([attribute("output_dtype", i=7)], "to int64"),
                                    ([attribute("output_dtype", i=9)], "to bool"), ([attribute("precision", i=6)], "precision is int32"),
                                    ([attribute("output_dtype", i=99)], "output_dtype has elements of type 99, which is not supported"),
                                    ([attribute("saturate", i=2)], "saturate is 2, neither 0 nor 1")):
            with self.assertRaisesRegex(pl.Error, f"QuantizeLinear of opset {OPSET}: {message}"):
                run([node("QuantizeLinear", ["x", "s"], ["y"], *attributes)], [("x", 1, np.zeros(3, np.float32), False)], [("y", 2)],
                    [constant("s", np.float32(1))])
        with self.assertRaisesRegex(pl.Error, "output_dtype is int8, the zero point uint8"):
            run([node("QuantizeLinear", ["x", "s", "z"], ["y"], attribute("output_dtype", i=3))], [("x", 1, np.zeros(3, np.float32), False)],
                [("y", 2)], [constant("s", np.float32(1)), constant("z", np.uint8(1))])
        with self.assertRaisesRegex(pl.Error, "the attribute 'output_dtype' is missing, and the scale is float8e8m0"):
            run([node("DequantizeLinear", ["x", "s"], ["y"])], [("x", 17, x, False)], [("y", 1)], [FLOATS[5].tensor("s", np.full((), 127))])
        with self.assertRaisesRegex(pl.Error, "round_mode"):
            run([node("Cast", ["x"], ["y"], attribute("to", i=24), attribute("round_mode", s=b"sideways"))], [("x", 17, x, False)], [("y", 24)])


if __name__ == "__main__":
    unittest.main()
