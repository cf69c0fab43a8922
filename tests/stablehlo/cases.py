"""Cases of operations with what NumPy says of them. Each is (name, arrays, make, expected, tolerance): `make` as of writer.region."""

import math

import numpy as np

from writer import KINDS, kind_of

FLOATS = (np.float16, np.float32, np.float64)
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
SHAPES = ((), (1,), (0,), (7,), (3, 5), (2, 0, 3), (1, 13), (4, 1, 3))


def random_array(rng, shape, dtype, low=-4, high=4):
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        return np.asarray(rng.uniform(low, high, shape)).astype(dtype)
    info = np.iinfo(dtype)
    wide = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    small = rng.integers(max(low, info.min), high, shape).astype(dtype)
    return np.where(rng.random(shape) < 0.5, wide, small).astype(dtype)


def close(dtype):
    return {np.dtype(np.float16): 4e-3, np.dtype(np.float32): 2e-5, np.dtype(np.float64): 1e-12}.get(np.dtype(dtype), 0)


def elementwise(rng):
    """All of them over types; shapes at random."""
    erf = np.vectorize(math.erf, otypes=[np.float64])
    anything, positive, inside = (-4, 4), (0.1, 4), (-0.9, 0.9)
    of_floats = {
        "abs": (np.abs, anything), "cbrt": (np.cbrt, anything), "ceil": (np.ceil, anything), "cosine": (np.cos, anything),
        "exponential": (np.exp, anything), "exponential_minus_one": (np.expm1, anything), "floor": (np.floor, anything),
        "log": (np.log, positive), "log_plus_one": (np.log1p, positive), "logistic": (lambda x: 1 / (1 + np.exp(-x)), anything),
        "negate": (np.negative, anything), "round_nearest_even": (np.rint, anything),
        "round_nearest_afz": (lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5), anything),
        "rsqrt": (lambda x: 1 / np.sqrt(x), positive), "sign": (np.sign, anything), "sine": (np.sin, anything),
        "sqrt": (np.sqrt, positive), "tan": (np.tan, inside), "tanh": (np.tanh, anything),
    }
    for name, (reference, (low, high)) in of_floats.items():
        for dtype in FLOATS:
            x = random_array(rng, SHAPES[rng.integers(len(SHAPES))], dtype, low, high)
            want = reference(x.astype(np.float64)).astype(dtype)
            yield name, [x], lambda b, v, name=name: [b.elementwise(name, v)], [want], 2 * close(dtype)
    of_chlo = {"erf": (erf, anything), "square": (np.square, anything), "asin": (np.arcsin, inside), "acos": (np.arccos, inside),
               "atan": (np.arctan, anything), "sinh": (np.sinh, anything), "cosh": (np.cosh, anything), "asinh": (np.arcsinh, anything),
               "acosh": (np.arccosh, (1.1, 4)), "atanh": (np.arctanh, inside), "erfc": (lambda x: 1 - erf(x), anything),
               "lgamma": (np.vectorize(math.lgamma, otypes=[np.float64]), positive), "tan": (np.tan, inside)}
    for name, (reference, (low, high)) in of_chlo.items():
        x = random_array(rng, (3, 5), np.float32, low, high)
        want = reference(x.astype(np.float64)).astype(np.float32)

        def make(b, v, name=name):
            if not b.pretty:
                return b.generic(f"chlo.{name}", [v], [(v.shape, v.kind)])
            front, values = b.results([(v.shape, v.kind)])
            b.line(f"{front}chlo.{name} {v.name} : tensor<3x5xf32> -> tensor<3x5xf32>")
            return values
        yield f"chlo_{name}", [x], make, [want], 1e-4
    two = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}
    for name, reference in two.items():
        for dtype in (*FLOATS, *SIGNED, *UNSIGNED):
            shape = SHAPES[rng.integers(len(SHAPES))]
            x, y = random_array(rng, shape, dtype), random_array(rng, shape, dtype)
            yield name, [x, y], lambda b, v, w, name=name: [b.elementwise(name, v, w)], [reference(x, y)], close(dtype)
    for name, reference in (("divide", np.divide), ("remainder", np.fmod), ("atan2", np.arctan2), ("power", np.power)):
        for dtype in FLOATS:
            x, y = random_array(rng, (3, 5), dtype, *(positive if name == "power" else anything)), random_array(rng, (3, 5), dtype, 0.5, 3)
            want = reference(x.astype(np.float64), y.astype(np.float64)).astype(dtype)
            yield name, [x, y], lambda b, v, w, name=name: [b.elementwise(name, v, w)], [want], 4 * close(dtype)
    for dtype in (*SIGNED, *UNSIGNED):
        x, y = random_array(rng, (97,), dtype), random_array(rng, (97,), dtype)
        y[:3], x[3:6] = 0, np.iinfo(dtype).min
        y[3:6] = np.array([-1, 1, 2]).astype(dtype)
        wide = [(int(a), int(b)) for a, b in zip(x, y)]
        quotient = [-1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in wide]
        rest = [a if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1) for a, b in wide]
        cut = lambda values, dtype=dtype: np.array([v % (1 << np.iinfo(dtype).bits) for v in values], np.uint64).astype(dtype)  # noqa: E731
        yield "divide", [x, y], lambda b, v, w: [b.elementwise("divide", v, w)], [cut(quotient)], 0
        yield "remainder", [x, y], lambda b, v, w: [b.elementwise("remainder", v, w)], [cut(rest)], 0
        bits = np.iinfo(dtype).bits
        by = rng.integers(0, bits + 3, 97).astype(dtype)
        unsigned = x.astype(f"u{dtype().itemsize}")
        left = cut([int(a) << int(s) for a, s in zip(unsigned, by)])
        logical = cut([int(a) >> int(s) for a, s in zip(unsigned, by)])
        signed = x.astype(f"i{dtype().itemsize}")
        arithmetic = cut([int(a) >> int(s) for a, s in zip(signed, by)])
        for name, want in (("shift_left", left), ("shift_right_logical", logical), ("shift_right_arithmetic", arithmetic)):
            yield name, [x, by], lambda b, v, w, name=name: [b.elementwise(name, v, w)], [want], 0
        ones = np.array([bin(int(a)).count("1") for a in unsigned]).astype(dtype)
        zeros = np.array([bits - int(a).bit_length() for a in unsigned]).astype(dtype)
        yield "popcnt", [x], lambda b, v: [b.elementwise("popcnt", v)], [ones], 0
        yield "count_leading_zeros", [x], lambda b, v: [b.elementwise("count_leading_zeros", v)], [zeros], 0
        yield "sign", [x], lambda b, v: [b.elementwise("sign", v)], [np.sign(x)], 0
        yield "negate", [x], lambda b, v: [b.elementwise("negate", v)], [cut([-a for a, _ in wide])], 0
        base, exponent = random_array(rng, (31,), dtype), rng.integers(0 if dtype in UNSIGNED else -2, 7, 31).astype(dtype)
        base[:3] = np.array([1, 0, 255 if dtype in UNSIGNED else -1]).astype(dtype)
        power = [int(a) ** int(n) if n >= 0 else {1: 1, -1: 1 if n % 2 == 0 else -1}.get(int(a), 0) for a, n in zip(base, exponent)]
        yield "power", [base, exponent], lambda b, v, w: [b.elementwise("power", v, w)], [cut(power)], 0
    for dtype in (np.bool_, np.int32, np.uint8):
        x, y = random_array(rng, (3, 5), dtype), random_array(rng, (3, 5), dtype)
        for name, reference in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
            yield name, [x, y], lambda b, v, w, name=name: [b.elementwise(name, v, w)], [reference(x, y)], 0
        yield "not", [x], lambda b, v: [b.elementwise("not", v)], [np.invert(x)], 0
    truths = [random_array(rng, (3, 5), np.bool_) for _ in range(2)]
    yield "add", truths, lambda b, v, w: [b.elementwise("add", v, w)], [truths[0] | truths[1]], 0
    yield "multiply", truths, lambda b, v, w: [b.elementwise("multiply", v, w)], [truths[0] & truths[1]], 0
    yield "maximum", truths, lambda b, v, w: [b.elementwise("maximum", v, w)], [truths[0] | truths[1]], 0
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5], np.float32)
    a, c = (m.reshape(-1) for m in np.meshgrid(special, special))
    for direction, reference in (("EQ", np.equal), ("NE", np.not_equal), ("LT", np.less), ("LE", np.less_equal), ("GT", np.greater),
                                 ("GE", np.greater_equal)):
        for dtype, how in ((np.float32, "FLOAT"), (np.int16, "SIGNED"), (np.uint32, "UNSIGNED"), (np.uint64, None), (np.bool_, None)):
            x, y = (a, c) if dtype == np.float32 else (random_array(rng, (53,), dtype), random_array(rng, (53,), dtype))
            yield ("compare", [x, y], lambda b, v, w, d=direction, how=how: [b.compare(d, v, w, how)], [reference(x, y)], 0)
        bits = [np.where(v.view(np.int32) < 0, v.view(np.int32) ^ 0x7FFFFFFF, v.view(np.int32)) for v in (a, c)]
        yield "compare_total", [a, c], lambda b, v, w, d=direction: [b.compare(d, v, w, "TOTALORDER")], [reference(*bits)], 0
    yield "is_finite", [special], lambda b, v: [b.elementwise("is_finite", v, kind="i1")], [np.isfinite(special)], 0
    for dtype in FLOATS:  # numbers without an imaginary part
        x = random_array(rng, (3, 5), dtype)
        yield "real", [x], lambda b, v: [b.elementwise("real", v), b.elementwise("imag", v)], [x, np.zeros_like(x)], 0
    yield "sign", [special], lambda b, v: [b.elementwise("sign", v)], [np.sign(special)], 0
    for name, reference in (("maximum", np.maximum), ("minimum", np.minimum)):
        yield name, [a, c], lambda b, v, w, name=name: [b.elementwise(name, v, w)], [reference(a, c)], 0
    condition, x, y = random_array(rng, (3, 5), np.bool_), random_array(rng, (3, 5), np.int8), random_array(rng, (3, 5), np.int8)
    yield "select", [condition, x, y], lambda b, p, v, w: [b.select(p, v, w)], [np.where(condition, x, y)], 0
    yield "select", [condition[0, 0], x, y], lambda b, p, v, w: [b.select(p, v, w)], [np.where(condition[0, 0], x, y)], 0
    low, high = np.float32(-1), np.float32(1.5)
    x = random_array(rng, (3, 5), np.float32)
    yield ("clamp", [low, x, high], lambda b, p, v, w: [b.op("stablehlo.clamp", [p, v, w], [(v.shape, v.kind)])[0]], [np.clip(x, low, high)], 0)
    types = (*FLOATS, *SIGNED, *UNSIGNED, np.bool_)
    for source in types:
        for target in types:
            x = random_array(rng, (11,), source, 0 if target in UNSIGNED else -4, 100)
            if np.dtype(source).kind != "f" and np.dtype(target).kind == "f":
                x = np.asarray(x % 50, source) if source != np.bool_ else x
            want = x != 0 if target == np.bool_ else x.astype(target)
            yield "convert", [x], lambda b, v, k=KINDS[np.dtype(target)]: [b.convert(v, k)], [want], 0
    for source, target in ((np.float32, np.int32), (np.float64, np.uint64), (np.int16, np.float16), (np.uint8, np.int8)):
        x = random_array(rng, (5, 3), source)
        yield ("bitcast_convert", [x], lambda b, v, k=KINDS[np.dtype(target)]: [b.elementwise("bitcast_convert", v, kind=k)], [x.view(target)], 0)
    x = random_array(rng, (5, 4), np.float32)
    for target in (np.uint8, np.int16):
        want = x.view(target).reshape(5, 4, -1)
        kind = KINDS[np.dtype(target)]
        yield ("bitcast_convert", [x], lambda b, v, k=kind, s=want.shape: b.op("stablehlo.bitcast_convert", [v], [(s, k)]), [want], 0)
        yield ("bitcast_convert", [want], lambda b, v: b.op("stablehlo.bitcast_convert", [v], [((5, 4), "f32")]), [x], 0)
    x = random_array(rng, (101,), np.float32, -1e5, 1e5)
    x[:4] = np.nan, np.inf, 1e-8, 70000
    with np.errstate(over="ignore"):
        half = x.astype(np.float16).astype(np.float32)
    half[np.abs(half) < 6.2e-5] = 0

    def reduced(b, v):
        return b.op("stablehlo.reduce_precision", [v], [(v.shape, v.kind)], "exponent_bits = 5 : i32, mantissa_bits = 10 : i32",
                    ", format = e5m10", "one")
    yield "reduce_precision", [x], reduced, [half], 0
    x, y = random_array(rng, (3, 5), np.float32), random_array(rng, (3, 5), np.float32)

    def mapped(b, v, w):
        region = b.region([((), "f32")] * 2, lambda i, p, q: [i.elementwise("add", i.elementwise("multiply", p, q), q)])
        return b.generic("stablehlo.map", [v, w], [(v.shape, v.kind)], "dimensions = array<i64: 0, 1>", [region])
    yield "map", [x, y], mapped, [x * y + y], 1e-5


def constants(rng):
    for dtype in (*FLOATS, *SIGNED, *UNSIGNED, np.bool_):
        for shape in ((), (3,), (2, 3), (0, 4), (70, 3)):
            x = random_array(rng, shape, dtype)
            yield "constant", [], lambda b, x=x: [b.constant(x)], [x], 0
        x = random_array(rng, (17, 5), dtype)
        raw = np.packbits(x.reshape(-1), bitorder="little") if dtype == np.bool_ else x
        text = f"dense<\"0x{raw.tobytes().hex().upper()}\"> : tensor<17x5x{kind_of(x)}>"

        def hexadecimal(b, text=text, x=x):
            return b.generic("stablehlo.constant", [], [(x.shape, kind_of(x))], f"value = {text}")
        yield "constant_hex", [], hexadecimal, [x], 0
    for text, want in (("dense<-1> : tensor<3xi32>", np.full(3, -1, np.int32)), ("dense<0x7F800000> : tensor<2x2xf32>", np.full((2, 2), np.inf, np.float32)),
                       ("dense<true> : tensor<2xi1>", np.ones(2, bool)), ("dense<255> : tensor<2xui8>", np.full(2, 255, np.uint8)),
                       ("dense<1.5e+00> : tensor<f16>", np.float16(1.5)), ("dense<\"0x0000803F\"> : tensor<3xf32>", np.ones(3, np.float32)),
                       ("dense<\"0x00000040\"> : tensor<1xf32>", np.full(1, 2, np.float32)), ("dense<\"0x16\"> : tensor<5xi1>", np.array([0, 1, 1, 0, 1], bool)),
                       ("dense<\"0x01\"> : tensor<1xi1>", np.ones(1, bool)), ("dense<\"0xFF\"> : tensor<12xi1>", np.ones(12, bool)),
                       ("dense<\"0x00\"> : tensor<12xi1>", np.zeros(12, bool)), ("dense<\"0x810F\"> : tensor<16xi1>", np.unpackbits(np.uint8([0x81, 0x0F]), bitorder="little").astype(bool)),
                       ("dense<\"0x05\"> : tensor<7xui8>", np.full(7, 5, np.uint8))):
        yield ("constant_splat", [], lambda b, t=text, w=want: b.generic("stablehlo.constant", [], [(np.shape(w), kind_of(w))], f"value = {t}"), [want], 0)


def moving(rng):
    for dtype in (np.float32, np.int8, np.bool_, np.uint64):
        x = random_array(rng, (3, 1, 5), dtype)
        yield "broadcast_in_dim", [x], lambda b, v: [b.broadcast_in_dim(v, [0, 2, 3], (3, 4, 2, 5))], \
            [np.broadcast_to(x.reshape(3, 1, 1, 5), (3, 4, 2, 5))], 0
        yield "broadcast_in_dim", [x[:, 0]], lambda b, v: [b.broadcast_in_dim(v, [2, 0], (5, 2, 3))], \
            [np.broadcast_to(x[:, 0].T.reshape(5, 1, 3), (5, 2, 3))], 0
        yield "reshape", [x], lambda b, v: [b.reshape(v, (5, 3))], [x.reshape(5, 3)], 0
        yield "transpose", [x], lambda b, v: [b.transpose(v, [2, 0, 1])], [x.transpose(2, 0, 1)], 0
        yield "reverse", [x], lambda b, v: [b.reverse(v, [2, 0])], [x[::-1, :, ::-1]], 0
        yield "slice", [x], lambda b, v: [b.slice(v, [0, 0, 1], [3, 1, 5], [2, 1, 3], (2, 1, 2))], [x[0:3:2, :, 1:5:3]], 0
        y = random_array(rng, (3, 2, 5), dtype)
        yield "concatenate", [x, y, x], lambda b, *v: [b.concatenate(list(v), 1, (3, 4, 5))], [np.concatenate([x, y, x], 1)], 0
        for start in ((0, 1), (-3, 2), (2, 100)):
            starts = [np.int32(s) for s in start]
            at = [min(max(s, 0), n - k) for s, n, k in zip(start, (3, 5), (2, 3))]
            m, u = x[:, 0], y[:2, 0, :3]
            want = m.copy()
            want[at[0]:at[0] + 2, at[1]:at[1] + 3] = u
            yield ("dynamic_slice", [m, *starts], lambda b, v, *s: [b.dynamic_slice(v, s, (2, 3))], [m[at[0]:at[0] + 2, at[1]:at[1] + 3]], 0)
            yield "dynamic_update_slice", [m, u, *starts], lambda b, v, w, *s: [b.dynamic_update_slice(v, w, s)], [want], 0
    for dtype in (np.float32, np.int32, np.uint8, np.float16):
        for axis in (0, 1):
            want = np.broadcast_to(np.arange(4 if axis == 0 else 3).reshape((4, 1) if axis == 0 else (1, 3)), (4, 3)).astype(dtype)
            yield "iota", [], lambda b, a=axis, k=KINDS[np.dtype(dtype)]: [b.iota((4, 3), k, a)], [want], 0


def pad(x, value, low, high, interior):
    """By placing each element, where it is not cut."""
    shape = [max(0, n + max(n - 1, 0) * i + lo + hi) for n, lo, hi, i in zip(x.shape, low, high, interior)]
    out = np.full(shape, value, x.dtype)
    for position in np.ndindex(*x.shape):
        to = tuple(p * (i + 1) + lo for p, i, lo in zip(position, interior, low))
        if all(0 <= t < n for t, n in zip(to, shape)):
            out[to] = x[position]
    return out


def windows(x, value, size, strides, base, dilations, padding):
    """Positions of windows with their elements, of the padded tensor."""
    wide = pad(x, value, [p[0] for p in padding], [p[1] for p in padding], [d - 1 for d in base])
    counts = [0 if n < (k - 1) * d + 1 else (n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(wide.shape, size, dilations, strides)]
    for position in np.ndindex(*counts):
        yield counts, position, [wide[tuple(p * s + w * d for p, s, w, d in zip(position, strides, at, dilations))] for at in np.ndindex(*size)]


def dimension_numbers(rng, count):
    """Enumerated at random, with brute force for what they mean."""
    for _ in range(count):
        # Padding, also negative.
        rank = int(rng.integers(0, 4))
        x = random_array(rng, tuple(rng.integers(0, 5, rank)), np.int32)
        interior = list(map(int, rng.integers(0, 3, rank)))
        wide = [n + max(n - 1, 0) * i for n, i in zip(x.shape, interior)]
        low = [int(rng.integers(-2, 4)) for _ in wide]
        high = [int(rng.integers(-2, 4)) for _ in wide]
        if all(n + lo + hi >= 0 for n, lo, hi in zip(wide, low, high)):
            want = pad(x, 7, low, high, interior)
            yield ("pad", [x, np.int32(7)], lambda b, v, w, a=(low, high, interior, want.shape): [b.pad(v, w, *a)], [want], 0)
        yield dot_general(rng)
        yield dot_of_truths(rng)
        yield convolution(rng)
        yield gather(rng)
        yield scatter(rng)
        yield reduce(rng)
        yield reduce_window(rng)
        yield dynamic_reduce_window(rng)
        yield einsum(rng)
        yield ragged_dot(rng)
        yield torch_index_select(rng)
        yield sort(rng)


def dot_general(rng):
    batch, summed = int(rng.integers(0, 3)), int(rng.integers(0, 3))
    letters = iter("abcdefghijklmnop")
    extent = {}
    def some(n):
        out = [next(letters) for _ in range(n)]
        for letter in out:
            extent[letter] = int(rng.choice([0, 1, 2, 3, 5])) if rng.random() < 0.2 else int(rng.integers(1, 6))
        return out
    b, s = some(batch), some(summed)
    left, right = some(int(rng.integers(0, 3))), some(int(rng.integers(0, 3)))
    x, y = [*b, *s, *left], [*b, *s, *right]
    x, y = [x[i] for i in rng.permutation(len(x))], [y[i] for i in rng.permutation(len(y))]
    out = b + [c for c in x if c in left] + [c for c in y if c in right]
    dtype, to = [(np.float32, np.float32), (np.int8, np.int32), (np.float64, np.float64), (np.uint8, np.uint32), (np.float16, np.float32)][rng.integers(5)]
    a, c = (random_array(rng, tuple(extent[i] for i in n), dtype) for n in (x, y))
    want = np.einsum(f"{''.join(x)},{''.join(y)}->{''.join(out)}", a.astype(to), c.astype(to))
    numbers = ([[n.index(i) for i in b] for n in (x, y)], [[n.index(i) for i in s] for n in (x, y)])
    return "dot_general", [a, c], lambda w, p, q: [w.dot_general(p, q, *numbers, want.shape, KINDS[np.dtype(to)])], [want], 1e-4 * (to != np.int32)


def dot_of_truths(rng):
    x, y = random_array(rng, (3, 4), np.bool_), random_array(rng, (4, 2), np.bool_)
    return ("dot_general", [x, y], lambda b, v, w: [b.dot_general(v, w, ([], []), ([1], [0]), (3, 2), "i1")],
            [(x[:, :, None] & y[None]).any(1)], 0)


def convolution(rng):
    n = int(rng.integers(0, 4))
    groups, batch_groups = [(1, 1), (1, 1), (2, 1), (3, 1), (1, 2)][rng.integers(5)]
    batch, channels, filters = batch_groups * int(rng.integers(1, 3)), int(rng.integers(1, 3)), groups * batch_groups * int(rng.integers(1, 3))
    size = [int(k) for k in rng.integers(1, 4, n)]
    strides, dilate, kernel_dilate = ([int(k) for k in rng.integers(1, 3, n)] for _ in range(3))
    reverse = [bool(r) for r in rng.integers(0, 2, n)]
    padding = [[int(p) for p in rng.integers(-1, 3, 2)] for _ in range(n)]
    dtype = [np.float32, np.float64, np.int32][rng.integers(3)]
    x = random_array(rng, (batch, channels * groups, *rng.integers(2, 6, n)), dtype, -3, 3)
    k = random_array(rng, (filters, channels, *size), dtype, -3, 3)
    wide = pad(x, 0, [0, 0] + [p[0] for p in padding], [0, 0] + [p[1] for p in padding], [0, 0] + [d - 1 for d in dilate])
    counts = [0 if m < (z - 1) * d + 1 else (m - (z - 1) * d - 1) // s + 1 for m, z, d, s in zip(wide.shape[2:], size, kernel_dilate, strides)]
    want = np.zeros((batch // batch_groups, filters, *counts), dtype)
    for i in np.ndindex(*want.shape):
        group = i[1] // (filters // groups)
        shift = i[1] // (filters // batch_groups) * (batch // batch_groups)
        total = dtype(0)
        for c in range(channels):
            for w in np.ndindex(*size):
                at = tuple(p * s + z * d for p, s, z, d in zip(i[2:], strides, w, kernel_dilate))
                weight = tuple(m - 1 - z if r else z for m, z, r in zip(size, w, reverse))
                with np.errstate(over="ignore"):
                    total = dtype(total + wide[(shift + i[0], group * channels + c, *at)] * k[(i[1], c, *weight)])
        want[i] = total
    names, moved = [], []
    for value, first, second in ((x, "b", "f"), (k, "o", "i"), (want, "b", "f")):
        order = list(rng.permutation(n + 2))
        names.append([([first, second] + list(range(n)))[i] for i in order])
        moved.append(np.ascontiguousarray(value.transpose(order)))
    return ("convolution", moved[:2], lambda b, v, w: [b.convolution(v, w, names, moved[2].shape, KINDS[np.dtype(dtype)], strides, padding, dilate,
                                                                     kernel_dilate, reverse, groups, batch_groups)], [moved[2]], 1e-4)


def places(rng):
    """Dimension numbers of an operand, indices and windows, as both gather and scatter have them."""
    rank = int(rng.integers(1, 5))
    shape = tuple(int(n) for n in rng.integers(1, 5, rank))
    dims = [int(d) for d in rng.permutation(rank)]
    nb = int(rng.integers(0, min(rank, 3))) if rng.random() < 0.4 else 0
    batching, rest = dims[:nb], dims[nb:]
    mapped = [d for d in rest if rng.random() < 0.6]
    collapsed = sorted(d for d in rest if rng.random() < 0.4)
    mapped = [mapped[i] for i in rng.permutation(len(mapped))]
    batching = sorted(batching)
    sizes = [1 if d in collapsed or d in batching else int(rng.integers(0 if rng.random() < 0.1 else 1, shape[d] + 1)) for d in range(rank)]
    others = int(rng.integers(0, 3))
    batch = [shape[d] for d in batching] + [int(n) for n in rng.integers(1, 4, others)]
    order = [int(i) for i in rng.permutation(len(batch))]
    batch_shape = [batch[i] for i in order]
    hasVector = len(mapped) != 1 or rng.random() < 0.7
    vector = int(rng.integers(0, len(batch_shape) + 1)) if hasVector else len(batch_shape)
    index_shape = list(batch_shape)
    if hasVector:
        index_shape.insert(vector, len(mapped))
    of_batch = [order.index(i) for i in range(nb)]
    index_batching = [d + (1 if hasVector and d >= vector else 0) for d in of_batch]
    window = [d for d in range(rank) if d not in collapsed and d not in batching]
    out_rank = len(window) + len(batch_shape)
    offset = sorted(int(i) for i in rng.permutation(out_rank)[:len(window)])
    return shape, batching, mapped, collapsed, sizes, batch_shape, vector, index_shape, hasVector, of_batch, index_batching, window, out_rank, offset


def place(position, indices, numbers, clamp):
    shape, batching, mapped, _, sizes, _, vector, _, hasVector, of_batch, _, window, _, offset = numbers
    batch = [p for i, p in enumerate(position) if i not in offset]
    out = [0] * len(shape)
    for i, d in enumerate(mapped):
        at = list(batch)
        if hasVector:
            at.insert(vector, i)
        out[d] = int(indices[tuple(at)])
        if clamp:
            out[d] = min(max(out[d], 0), shape[d] - sizes[d])
    for d, b in zip(batching, of_batch):
        out[d] = batch[b]
    for o, d in zip(offset, window):
        out[d] += position[o]
    return tuple(out)


def gather(rng):
    numbers = places(rng)
    shape, batching, mapped, collapsed, sizes, batch_shape, vector, index_shape, _, _, index_batching, window, out_rank, offset = numbers
    x = random_array(rng, shape, [np.float32, np.int8][rng.integers(2)])
    indices = rng.integers(-1, 6, index_shape).astype([np.int32, np.int64][rng.integers(2)])
    rest = iter(batch_shape)
    sizes_left = iter([sizes[d] for d in window])
    out_shape = tuple(next(sizes_left) if i in offset else next(rest) for i in range(out_rank))
    want = np.zeros(out_shape, x.dtype)
    for position in np.ndindex(*out_shape):
        want[position] = x[place(position, indices, numbers, True)]
    text = f"offset_dims = {offset}, collapsed_slice_dims = {collapsed}, "
    if batching:
        text += f"operand_batching_dims = {batching}, start_indices_batching_dims = {index_batching}, "
    text += f"start_index_map = {mapped}, index_vector_dim = {vector}"
    listed = ", ".join(map(str, sizes))
    return ("gather", [x, indices], lambda b, v, w: b.generic(
        "stablehlo.gather", [v, w], [(want.shape, v.kind)], f"dimension_numbers = #stablehlo.gather<{text}>, indices_are_sorted = false, "
        f"slice_sizes = array<i64: {listed}>"), [want], 0)


def scatter(rng):
    numbers = places(rng)
    shape, batching, mapped, collapsed, sizes, batch_shape, vector, index_shape, _, _, index_batching, window, out_rank, offset = numbers
    x = random_array(rng, shape, np.int32, -4, 4)
    indices = rng.integers(-1, 5, index_shape).astype(np.int32)
    rest = iter(batch_shape)
    sizes_left = iter([sizes[d] for d in window])
    updates = random_array(rng, tuple(next(sizes_left) if i in offset else next(rest) for i in range(out_rank)), np.int32, -4, 4)
    two = rng.random() < 0.3
    want, other = x.copy(), x.copy()
    with np.errstate(over="ignore"):
        for position in np.ndindex(*updates.shape):
            at = place(position, indices, numbers, False)
            if all(0 <= i < n for i, n in zip(at, shape)):
                want[at] = want[at] * np.int32(3) + updates[position]
                other[at] = updates[position]
    text = f"update_window_dims = {offset}, inserted_window_dims = {collapsed}, "
    if batching:
        text += f"input_batching_dims = {batching}, scatter_indices_batching_dims = {index_batching}, "
    text += f"scatter_dims_to_operand_dims = {mapped}, index_vector_dim = {vector}"

    def combine(b, *a):
        n = len(a) // 2
        three = b.constant(np.int32(3))
        return [b.elementwise("add", b.elementwise("multiply", a[0], three), a[n])] + ([a[n + 1]] if n == 2 else [])

    def make(b, v, w, u):
        count = 2 if two else 1
        region = b.region([((), "i32")] * 2 * count, combine)
        return b.generic("stablehlo.scatter", [v] * count + [w] + [u] * count, [(v.shape, "i32")] * count,
                         f"scatter_dimension_numbers = #stablehlo.scatter<{text}>, indices_are_sorted = false, unique_indices = false", [region])
    return "scatter", [x, indices, updates], make, [want, other] if two else [want], 0


def reduce(rng):
    rank = int(rng.integers(1, 4))
    dtype = [np.float32, np.int32, np.uint8, np.bool_, np.float64][rng.integers(5)]
    shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 7, 11], rank, p=[0.1, 0.15, 0.15, 0.2, 0.2, 0.2]))
    x = random_array(rng, shape, dtype, -3, 3)
    axes = sorted(int(a) for a in rng.permutation(rank)[:rng.integers(0, rank + 1)])
    kind = KINDS[np.dtype(dtype)]
    out = tuple(n for i, n in enumerate(shape) if i not in axes)
    how = rng.integers(4)
    if how == 0 and dtype not in (np.bool_,):  # the greatest and where it is, as argmax is exported
        position = np.broadcast_to(np.arange(max(1, x.size), dtype=np.int32)[:x.size].reshape(shape), shape)
        least = np.array(-np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min, dtype)
        order = tuple(i for i in range(rank) if i not in axes) + tuple(axes)
        flat = x.transpose(order).reshape(math.prod(out), -1) if x.size else np.zeros((math.prod(out), 0), dtype)
        at = position.transpose(order).reshape(flat.shape)
        best, where = np.full(flat.shape[0], least), np.zeros(flat.shape[0], np.int32)
        for row in range(flat.shape[0]):
            for v, p in zip(flat[row], at[row]):
                if v > best[row] or (v == best[row] and p < where[row]):
                    best[row], where[row] = v, p

        def combine(b, v, i, w, j):
            more = b.compare("GT", v, w)
            same = b.compare("EQ", v, w)
            first = b.elementwise("and", same, b.compare("LT", i, j))
            takes = b.elementwise("or", more, first)
            return [b.select(more, v, w), b.select(takes, i, j)]
        return ("reduce_argmax", [x, np.ascontiguousarray(position), least, np.int32(0)],
                lambda b, v, p, s, z: b.reduce([v, p], [s, z], axes, combine, out), [best.reshape(out), where.reshape(out)], 0)
    table = {"add": (np.add.reduce, 0), "multiply": (np.multiply.reduce, 1), "maximum": (np.maximum.reduce, None), "minimum": (np.minimum.reduce, None)}
    name = ["and", "or"][rng.integers(2)] if dtype == np.bool_ else list(table)[rng.integers(4)]
    if dtype == np.bool_:
        start = np.bool_(name == "and")
        want = (np.logical_and if name == "and" else np.logical_or).reduce(x, tuple(axes), initial=bool(start)) if axes else x
    else:
        start = np.array(2 if name in ("add", "multiply") else 0).astype(dtype)
        with np.errstate(over="ignore"):
            ufunc = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}[name]
            want = ufunc.reduce(x, tuple(axes), initial=start, dtype=dtype) if axes else ufunc(x, start).astype(dtype)
    applies = name if rng.random() < 0.6 else None
    return (f"reduce_{name}", [x, start], lambda b, v, s: b.reduce(
        [v], [s], axes, lambda i, p, q: [i.elementwise(name, p, q)], out, applies), [np.asarray(want, dtype)], close(dtype) * 10) if kind else None


def einsum(rng):
    """Of one operand or two, with dimensions that are summed, shared and turned, and diagonals."""
    letters = list("abcdeFGH"[:int(rng.integers(1, 6))])
    extent = {letter: int(rng.choice([0, 1, 2, 3, 5, 7], p=[0.05, 0.2, 0.25, 0.25, 0.15, 0.1])) for letter in letters}
    count = int(rng.integers(1, 3))
    terms = [[letters[i] for i in rng.integers(0, len(letters), int(rng.integers(0, 4)))] for _ in range(count)]
    known = sorted({letter for term in terms for letter in term})
    out = [known[i] for i in rng.permutation(len(known))[:int(rng.integers(0, len(known) + 1))]]
    dtype = [np.float32, np.float64, np.int32][rng.integers(3)]
    arrays = [random_array(rng, tuple(extent[i] for i in term), dtype, -3, 3) for term in terms]
    arrays = [np.clip(a, -9, 9) for a in arrays]
    text = ",".join("".join(term) for term in terms) + "->" + "".join(out)
    want = np.asarray(np.einsum(text, *arrays), dtype)
    name = "einsum" if count == 2 else "unary_einsum"
    return (name, arrays, lambda b, *v: b.op(f"stablehlo.{name}", v, [(want.shape, kind_of(want))], f"einsum_config = \"{text}\"", f", config = \"{text}\""),
            [want], 1e-4 * (dtype != np.int32))


def ragged_dot(rng):
    """Groups of rows, of what is summed, or of a batch, which need not be all there are."""
    letters, way = "bmkn", ["rows", "sums", "batch"][rng.integers(3)]
    extent = {letter: int(rng.integers(1, 8)) for letter in letters}
    groups, axis = int(rng.integers(1, 5)), {"rows": "m", "sums": "k", "batch": "b"}[way]
    sizes = rng.multinomial(extent[axis], np.full(groups + 1, 1 / (groups + 1)))[:groups].astype([np.int32, np.int64][rng.integers(2)])
    has_batch = way == "batch" or bool(rng.integers(2))
    left = [c for c in rng.permutation(list("bmk")) if has_batch or c != "b"]
    right = [c for c in rng.permutation(list("gbkn" if way == "rows" else "bkn")) if has_batch or c != "b"]
    extent["g"] = groups
    x, y = (random_array(rng, tuple(extent[c] for c in names), np.float32) for names in (left, right))
    out = ("b" if has_batch else "") + "mn"
    want = np.zeros([groups] * (way == "sums") + [extent[c] for c in out], np.float32)
    start = 0
    for g, size in enumerate(sizes):
        part = slice(start, start + size)
        a = x[tuple(part if c == axis else slice(None) for c in left)]
        c = y[tuple(g if name == "g" else part if name == axis else slice(None) for name in right)]
        product = np.einsum(f"{''.join(left)},{''.join(n for n in right if n != 'g')}->{out}", a, c)
        want[g if way == "sums" else tuple(part if name == axis else slice(None) for name in out)] = product
        start += size
    numbers = {"lhs_batching_dimensions": [left.index("b")] if has_batch else [], "rhs_batching_dimensions": [right.index("b")] if has_batch else [],
               "lhs_contracting_dimensions": [left.index("k")], "rhs_contracting_dimensions": [right.index("k")],
               "lhs_ragged_dimensions": [left.index(axis)], "rhs_group_dimensions": [right.index("g")] if way == "rows" else []}
    text = ", ".join(f"{name} = {value}" for name, value in numbers.items() if value)
    return ("ragged_dot", [x, y, sizes], lambda b, *v: b.generic(
        "chlo.ragged_dot", v, [(want.shape, "f32")], f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{text}>"), [want], 1e-4)


def torch_index_select(rng):
    rank = int(rng.integers(1, 4))
    x = random_array(rng, tuple(int(n) for n in rng.integers(1, 6, rank)), np.float32)
    dim = int(rng.integers(0, rank))
    shared = int(rng.integers(0, dim + 1))
    index = rng.integers(0, x.shape[dim], (*x.shape[:shared], *rng.integers(0, 4, int(rng.integers(0, 3))))).astype(np.int32)
    if index.ndim < shared:
        index = index.reshape(x.shape[:shared])
    own = index.shape[shared:]
    want = np.zeros((*x.shape[:dim], *own, *x.shape[dim + 1:]), np.float32)
    for at in np.ndindex(*want.shape):
        place = index[(*at[:shared], *at[dim:dim + len(own)])]
        want[at] = x[(*at[:dim], place, *at[dim + len(own):])]
    return ("torch_index_select", [x, index], lambda b, v, w: b.op(
        "stablehlo.torch_index_select", [v, w], [(want.shape, "f32")], f"dim = {dim} : i64, batch_dims = {shared} : i64", f", dim = {dim}, batch_dims = {shared}"),
        [want], 0)


def dynamic_reduce_window(rng):
    """The window in operands."""
    x = random_array(rng, (int(rng.integers(2, 6)), int(rng.integers(1, 6))), np.float32)
    size, strides, base, dilations = ([int(k) for k in rng.integers(1, 1 + m, 2)] for m in (2, 2, 2, 2))
    padding = [[int(p) for p in rng.integers(0, 3, 2)] for _ in range(2)]
    wide = [n + (n - 1) * (d - 1) + p[0] + p[1] for n, d, p in zip(x.shape, base, padding)]
    counts = [0 if n < (k - 1) * d + 1 else (n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(wide, size, dilations, strides)]
    want = np.zeros(counts, np.float32)
    for _, position, elements in windows(x, np.float32(0), size, strides, base, dilations, padding):
        want[position] = np.sum(np.array(elements, np.float32), dtype=np.float32)

    def make(b, v, s):
        region = b.region([((), "f32")] * 2, lambda i, p, q: [i.elementwise("add", p, q)])
        numbers = [b.constant(np.int64(each)) for each in (size, strides, base, dilations, padding)]
        return b.generic("stablehlo.dynamic_reduce_window", [v, s, *numbers], [(want.shape, "f32")], "", [region])
    return "dynamic_reduce_window", [x, np.float32(0)], make, [want], 1e-5


def reduce_window(rng):
    rank = int(rng.integers(1, 4))
    x = random_array(rng, tuple(int(n) for n in rng.integers(1, 6, rank)), [np.float32, np.int32][rng.integers(2)], -3, 3)
    size, strides, base, dilations = ([int(k) for k in rng.integers(1, 1 + m, rank)] for m in (3, 2, 2, 2))
    padding = [[int(p) for p in rng.integers(-1, 3, 2)] for _ in range(rank)]
    kind = kind_of(x)
    if rng.random() < 0.25:  # two operands at once
        name, start = "pair", x.dtype.type(0)
    else:
        name = ["add", "maximum"][rng.integers(2)]
        start = np.array(0 if name == "add" else (-np.inf if x.dtype.kind == "f" else -100)).astype(x.dtype)
    found, counts = {}, None
    wide = [n + (n - 1) * (d - 1) + p[0] + p[1] for n, d, p in zip(x.shape, base, padding)]
    if min(wide) < 0:
        return reduce_window(rng)
    counts = [0 if n < (k - 1) * d + 1 else (n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(wide, size, dilations, strides)]
    for _, position, elements in windows(x, start, size, strides, base, dilations, padding):
        found[position] = elements
    want = np.zeros(counts, x.dtype)
    other = np.zeros(counts, x.dtype)
    with np.errstate(over="ignore"):
        for position, elements in found.items():
            want[position] = max([start, *elements]) if name == "maximum" else np.sum(np.array(elements, x.dtype), dtype=x.dtype)
            other[position] = max([start, *(-e for e in elements)])
    attributes = (f"window_dimensions = array<i64: {', '.join(map(str, size))}>, window_strides = array<i64: {', '.join(map(str, strides))}>, "
                  f"base_dilations = array<i64: {', '.join(map(str, base))}>, window_dilations = array<i64: {', '.join(map(str, dilations))}>, "
                  f"padding = dense<{padding}> : tensor<{rank}x2xi64>")

    def make(b, v, s):
        if name == "pair":
            region = b.region([((), kind)] * 4, lambda i, p, q, r, t: [i.elementwise("add", p, r), i.elementwise("maximum", q, t)])
            minus = b.elementwise("negate", v)
            return b.generic("stablehlo.reduce_window", [v, minus, s, s], [(want.shape, kind)] * 2, attributes, [region])
        region = b.region([((), kind)] * 2, lambda i, p, q: [i.elementwise(name, p, q)])
        return b.generic("stablehlo.reduce_window", [v, s], [(want.shape, kind)], attributes, [region])
    return f"reduce_window_{name}", [x, start], make, [want, other] if name == "pair" else [want], 1e-5


def sort(rng):
    rank = int(rng.integers(1, 4))
    axis = int(rng.integers(0, rank))
    shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 5, 8, 17, 70], rank, p=[0.05, 0.1, 0.15, 0.2, 0.15, 0.15, 0.15, 0.05]))
    x = rng.integers(-3, 4, shape).astype([np.float32, np.float64, np.int32, np.uint8][rng.integers(4)])
    form = ["as it is", "turned round", "twice"][rng.integers(3)]  # the last one is not known to compare keys
    y = np.arange(x.size, dtype=np.int32).reshape(shape)
    descending = bool(rng.integers(2))
    key = -x.astype(np.int64) if descending else x.astype(np.int64)
    if x.dtype == np.uint8:
        key = -x.astype(np.int64) if descending else x.astype(np.int64)
    order = np.argsort(key, axis=axis, kind="stable")
    want = [np.take_along_axis(x, order, axis), np.take_along_axis(y, order, axis)]

    def make(b, v, w):
        def before(i, p, q, r, s):
            first = i.compare("GT", q, p) if form == "turned round" and not descending else i.compare("GT" if descending else "LT", p, q)
            return [i.elementwise("and", first, first) if form == "twice" else first]
        region = b.region([((), v.kind)] * 2 + [((), "i32")] * 2, before)
        return b.generic("stablehlo.sort", [v, w], [(v.shape, v.kind), (w.shape, w.kind)], f"dimension = {axis} : i64, is_stable = true", [region])
    return "sort", [x, y], make, want, 0
