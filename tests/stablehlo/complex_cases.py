"""Cases of complex numbers, and Fourier's transforms. As those of cases.py; NumPy has all of it."""

import numpy as np

from cases import pad
from writer import array, kind_of

TYPES = ((np.complex64, np.float32, 2e-5), (np.complex128, np.float64, 1e-11))


def complex_numbers(rng):
    for dtype, part, tolerance in TYPES:
        yield from elementwise(rng, dtype, part, tolerance)
        yield from inverses(rng, dtype, part, tolerance)
        yield from moved(rng, dtype)
        yield from combined(rng, dtype, tolerance)
        yield from matrices(rng, dtype, tolerance)
        yield from transforms(rng, dtype, part)
    yield from constants(rng)


def random_complex(rng, shape, dtype, size=3):
    return np.asarray(rng.uniform(-size, size, shape) + 1j * rng.uniform(-size, size, shape)).astype(dtype)


def chlo(b, name, v):
    kind = f"tensor<{''.join(f'{n}x' for n in v.shape)}{v.kind}>"
    if not b.pretty:
        return b.generic(f"chlo.{name}", [v], [(v.shape, v.kind)])
    front, values = b.results([(v.shape, v.kind)])
    b.line(f"{front}chlo.{name} {v.name} : {kind} -> {kind}")
    return values


def elementwise(rng, dtype, part, tolerance):
    kind = kind_of(np.zeros(0, part))
    x, y = random_complex(rng, (5, 7), dtype), random_complex(rng, (5, 7), dtype)
    x[0], x[1] = x[0] * part(1e-5), x[1] * part(20)
    with np.errstate(all="ignore"):
        ones = {"negate": np.negative, "exponential": np.exp, "exponential_minus_one": np.expm1, "log": np.log, "log_plus_one": np.log1p,
                "sine": np.sin, "cosine": np.cos, "tan": np.tan, "tanh": np.tanh, "sqrt": np.sqrt, "rsqrt": lambda v: 1 / np.sqrt(v),
                "logistic": lambda v: 1 / (1 + np.exp(-v)), "sign": lambda v: v / np.abs(v)}
        for name, reference in ones.items():
            v = x[:, :] if name in ("negate", "sign", "log", "sqrt") else np.clip(x.real, -20, 20) + 1j * np.clip(x.imag, -20, 20)
            v = v.astype(dtype)
            want = reference(v.astype(np.complex128)).astype(dtype)
            scale = np.maximum(np.abs(want), 1)  # of what is large, so many digits

            def make(b, a, s, name=name):
                return [b.elementwise("multiply", b.elementwise(name, a), s)]
            yield f"complex_{name}", [v, (1 / scale).astype(dtype)], make, [(want / scale).astype(dtype)], tolerance
        for name, reference in {"sinh": np.sinh, "cosh": np.cosh, "conj": np.conj, "square": np.square}.items():
            yield f"complex_{name}", [y], lambda b, v, name=name: chlo(b, name, v), [reference(y.astype(np.complex128)).astype(dtype)], tolerance
    zeros, bits = np.array([0, -0.0, complex(0, -0.0), complex(-0.0, 0)], dtype), f"i{8 * part().itemsize}"

    def negated(b, v):
        w = b.elementwise("negate", v)
        return [b.op("stablehlo.bitcast_convert", [b.elementwise(name, w, kind=kind)], [(v.shape, bits)])[0] for name in ("real", "imag")]
    signs = [np.negative(each).view(f"i{part().itemsize}") for each in (zeros.real.copy(), zeros.imag.copy())]
    yield "complex_negate_zero", [zeros], negated, signs, 0
    small = np.array([1e-7 - 3e-7j, -2e-6 + 1e-9j], dtype)
    yield ("complex_small", [small * part(1)], lambda b, v: [b.elementwise("divide", b.elementwise("sine", v), v)], [np.ones(2, dtype)], tolerance)
    for name, reference in {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "power": np.power}.items():
        want = reference(x.astype(np.complex128), y.astype(np.complex128))
        keeps = np.isfinite(want) & (np.abs(want) < 1e3)
        a, c = np.where(keeps, x, dtype(2 + 1j)), np.where(keeps, y, dtype(1 - 1j))
        want = reference(a.astype(np.complex128), c.astype(np.complex128)).astype(dtype)
        yield f"complex_{name}", [a, c], lambda b, v, w, name=name: [b.elementwise(name, v, w)], [want], 20 * tolerance
    far = np.array([1e20, 1j, 1, 1e25 + 1e25j], dtype), np.array([1e20, 1e-22j, 1e20, 1e15], dtype)
    yield "complex_divide", list(far), lambda b, v, w: [b.elementwise("divide", v, w)], [np.array([1, 1e22, 1e-20, 1e10 + 1e10j], dtype)], tolerance
    zeros = np.array([0, 0, 0], dtype)
    yield "complex_power", [zeros, np.array([0, 2, 1.5], dtype)], lambda b, v, w: [b.elementwise("power", v, w)], [np.array([1, 0, 0], dtype)], 0
    huge = np.array([1e30 + 1e30j, 3e-30 - 4e-30j, 0, complex(0, np.inf)], dtype)
    yield "complex_abs", [huge], lambda b, v: [b.elementwise("abs", v, kind=kind)], [np.abs(huge.astype(np.complex128)).astype(part)], tolerance
    yield "complex_real", [x], lambda b, v: [b.elementwise("real", v, kind=kind), b.elementwise("imag", v, kind=kind)], [x.real, x.imag], 0
    parts = [np.ascontiguousarray(x.real), np.ascontiguousarray(x.imag)]
    own = kind_of(x)
    yield "complex", parts, lambda b, v, w: [b.elementwise("complex", v, w, kind=own)], [x], 0
    yield ("complex", parts, lambda b, v, w: b.op("stablehlo.complex", [v, w], [(v.shape, own)], kind="one"), [x], 0)
    yield ("broadcast_complex", [parts[0], parts[1][0]], lambda b, v, w: b.generic("chlo.broadcast_complex", [v, w], [(v.shape, own)]),
           [(parts[0] + 1j * parts[1][0]).astype(dtype)], 0)
    same = np.where(rng.random(x.shape) < 0.5, x, x.real)
    same[0, 0] = complex(0, np.nan)
    yield ("complex_compare", [x, same], lambda b, v, w: [b.compare("EQ", v, w, "FLOAT"), b.compare("NE", v, w)], [x == same, x != same], 0)
    condition = rng.random(x.shape) < 0.5
    yield "complex_select", [condition, x, y], lambda b, p, v, w: [b.select(p, v, w)], [np.where(condition, x, y)], 0
    for other in (np.float32, np.float64, np.int32, np.uint8, np.bool_, np.complex64, np.complex128):
        to = kind_of(np.zeros(0, other))
        whole = np.rint(np.abs(x.real)).astype(part) + 1j * y.imag
        whole = whole.astype(dtype)
        real = whole.real if np.dtype(other).kind != "c" else whole
        want = real != 0 if other == np.bool_ else real.astype(other)
        yield "complex_convert", [whole], lambda b, v, to=to: [b.convert(v, to)], [want], 0
        back = np.asarray(want).astype(dtype)
        yield "complex_convert", [want], lambda b, v: [b.convert(v, own)], [back], 0


def inverses(rng, dtype, part, tolerance):
    """Far away, close to what makes them large or small, on the axes where their branches meet, and infinite."""
    size = np.exp(rng.uniform(-30, 30, 60)) if part == np.float32 else np.exp(rng.uniform(-300, 600, 60))
    sizes = np.concatenate([size, [0.0, -0.0, 1, 1 + 1e-6, 1 - 1e-6, 2, np.inf]])
    x = rng.choice(sizes, 400) * rng.choice([1, -1], 400)
    y = rng.choice(sizes, 400) * rng.choice([1, -1], 400)
    some = np.empty(800, np.complex128)
    some.real, some.imag = np.concatenate([x, rng.uniform(-3, 3, 400)]), np.concatenate([y, rng.uniform(-3, 3, 400)])
    some = some.astype(dtype)
    for name, reference in {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh}.items():
        want = reference(some.astype(np.complex128))
        # Parts are compared by themselves, each by its size; those that are too small for the type are not.
        parts = [np.abs(np.stack([want.real, want.imag]))]
        least = np.finfo(part).tiny / np.finfo(part).eps
        with np.errstate(all="ignore"):
            scale = [np.where((p > least) & np.isfinite(p), 1 / p, 1).astype(part) for p in parts[0]]
        own = kind_of(np.zeros(0, part))

        def make(b, v, s, t, name=name, own=own):
            w, = chlo(b, name, v)
            return [b.elementwise("multiply", b.elementwise(which, w, kind=own), q) for which, q in (("real", s), ("imag", t))]
        yield (f"complex_{name}", [some, *scale], make, [(p * s).astype(part) for p, s in zip((want.real, want.imag), scale)], 20 * tolerance)
    z = random_complex(rng, (9,), dtype)
    want = np.arcsin(z.astype(np.complex128))

    def kernel(b, v):
        w, = chlo(b, "_asin_acos_kernel", v)
        return [b.op("stablehlo.atan2", [b.elementwise("real", v, kind=own), b.elementwise("real", w, kind=own)], [((9,), own)], kind="one")[0],
                b.elementwise("imag", w, kind=own)]
    yield "complex_kernel", [z], kernel, [want.real.astype(part), abs(want.imag).astype(part)], tolerance


def moved(rng, dtype):
    x, y = random_complex(rng, (3, 4), dtype), random_complex(rng, (2, 4), dtype)
    own = kind_of(x)
    yield "complex_broadcast_in_dim", [x], lambda b, v: [b.broadcast_in_dim(v, [2, 0], (4, 2, 3))], [np.broadcast_to(x.T.reshape(4, 1, 3), (4, 2, 3))], 0
    yield "complex_reshape", [x], lambda b, v: [b.reshape(v, (2, 6))], [x.reshape(2, 6)], 0
    yield "complex_transpose", [x], lambda b, v: [b.transpose(v, [1, 0])], [x.T], 0
    yield "complex_reverse", [x], lambda b, v: [b.reverse(v, [0])], [x[::-1]], 0
    yield "complex_slice", [x], lambda b, v: [b.slice(v, [1, 0], [3, 4], [1, 3], (2, 2))], [x[1:3, 0:4:3]], 0
    yield "complex_concatenate", [x, y], lambda b, v, w: [b.concatenate([v, w], 0, (5, 4))], [np.concatenate([x, y])], 0
    low, high, interior = [1, -1], [0, 2], [0, 1]
    value = dtype(1 - 2j)
    want = pad(x, value, low, high, interior)
    yield "complex_pad", [x, value], lambda b, v, w, s=want.shape: [b.pad(v, w, low, high, interior, s)], [want], 0
    yield "complex_pad", [x], lambda b, v, s=want.shape: [b.pad(v, b.constant(value), low, high, interior, s)], [want], 0
    at = [np.int32(1), np.int32(2)]
    yield "complex_dynamic_slice", [x, *at], lambda b, v, *s: [b.dynamic_slice(v, s, (2, 2))], [x[1:3, 2:4]], 0
    want = x.copy()
    want[1:3, :] = y
    yield "complex_dynamic_update_slice", [x, y, *at], lambda b, v, w, *s: [b.dynamic_update_slice(v, w, s)], [want], 0
    rows = np.array([2, 0, 2], np.int32)
    numbers = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
    yield ("complex_gather", [x, rows], lambda b, v, i: b.generic("stablehlo.gather", [v, i], [((3, 4), own)], (
        f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = array<i64: 1, 4>")), [x[rows]], 0)
    yield "complex_iota", [], lambda b: [b.iota((3, 2), own, 0)], [np.broadcast_to(np.arange(3).reshape(3, 1), (3, 2)).astype(dtype)], 0


def combined(rng, dtype, tolerance):
    """Regions that compute with complex numbers."""
    x = random_complex(rng, (3, 4), dtype)
    own = kind_of(x)
    yield ("complex_reduce", [x, dtype(1j)], lambda b, v, z: b.reduce(
        [v], [z], [1], lambda i, p, q: [i.elementwise("add", p, q)], (3,), "add"),
           [x.sum(1) + dtype(1j)], tolerance)
    yield ("complex_reduce", [x, dtype(1)], lambda b, v, z: b.reduce(
        [v], [z], [0, 1], lambda i, p, q: [i.elementwise("multiply", p, q)], ()),
           [np.prod(x.astype(np.complex128)).astype(dtype) if dtype != np.complex64 else np.prod(x)], 5e3 * tolerance)

    def windows(b, v, z):
        region = b.region([((), own)] * 2, lambda i, p, q: [i.elementwise("add", p, q)])
        return b.generic("stablehlo.reduce_window", [v, z], [((3, 4), own)],
                         f"window_dimensions = {array([1, 2])}, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>", [region])
    want = x.copy()
    want[:, 1:] += x[:, :-1]
    yield "complex_reduce_window", [x, dtype(0)], windows, [want], tolerance
    rows, updates = np.array([[1], [1], [0]], np.int32), random_complex(rng, (3, 4), dtype)
    want = x.copy()
    np.add.at(want, rows[:, 0], updates)

    def scatter(b, v, i, u):
        region = b.region([((), own)] * 2, lambda r, p, q: [r.elementwise("add", p, q)])
        numbers = "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
        return b.generic("stablehlo.scatter", [v, i, u], [((3, 4), own)], f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>", [region])
    yield "complex_scatter", [x, rows, updates], scatter, [want], tolerance

    def sort(b, v):
        def earlier(i, p, q):
            kind = own[len("complex<"):-1]
            return [i.compare("LT", i.elementwise("abs", p, kind=kind), i.elementwise("abs", q, kind=kind))]
        return b.generic("stablehlo.sort", [v], [(v.shape, own)], "dimension = 1 : i64", [b.region([((), own)] * 2, earlier)])
    yield "complex_sort", [x], sort, [np.take_along_axis(x, np.argsort(np.abs(x), 1, kind="stable"), 1)], 0

    def power(b, n, v, c):
        zero, one = b.constant(np.int32(0)), b.constant(np.int32(1))
        out = b.loop([zero, n, v, c], lambda i, k, m, a, f: i.compare("LT", k, m, "SIGNED"),
                     lambda i, k, m, a, f: [i.elementwise("add", k, one), m, i.elementwise("multiply", a, i.broadcast_in_dim(f, [], a.shape)),
                                            i.elementwise("multiply", f, f)])
        return [out[2], out[3]]
    c = dtype(0.5 + 0.5j)
    yield "complex_while", [np.int32(3), x, c], power, [x * dtype(c**7), dtype(c**8)], 4 * tolerance
    for flag in (False, True):
        def branch(b, p, v):
            then = b.region([], lambda r: [r.elementwise("exponential", v)])
            return b.generic("stablehlo.if", [p], [(v.shape, own)], "", [then, b.region([], lambda r: [v])])
        yield "complex_if", [np.bool_(flag), x], branch, [np.exp(x) if flag else x], 20 * tolerance


def matrices(rng, dtype, tolerance):
    own = kind_of(np.zeros(0, dtype))
    x, y = random_complex(rng, (2, 3, 4), dtype), random_complex(rng, (2, 4, 5), dtype)
    yield ("complex_dot_general", [x, y], lambda b, v, w: [b.dot_general(v, w, ([0], [0]), ([2], [1]), (2, 3, 5), own)], [x @ y], 20 * tolerance)
    signal, kernel = random_complex(rng, (2, 9, 3), dtype), random_complex(rng, (3, 3, 4), dtype)
    want = sum(signal[:, k:k + 7] @ kernel[k] for k in range(3))
    names = [["b", 0, "f"], [0, "i", "o"], ["b", 0, "f"]]
    yield ("complex_convolution", [signal, kernel], lambda b, v, w, s=want.shape: [b.convolution(
        v, w, names, s, own, [1], [[0, 0]], [1], [1], [False], 1, 1)], [want], 20 * tolerance)
    a = random_complex(rng, (2, 3, 3), dtype)
    a = a @ a.conj().transpose(0, 2, 1) + 3 * np.eye(3, dtype=dtype)
    for lower in (True, False):
        want = np.linalg.cholesky(a)
        want = want if lower else want.conj().transpose(0, 2, 1)
        yield ("complex_cholesky", [np.tril(a) if lower else np.triu(a)], lambda b, v, lower=lower: b.op(
            "stablehlo.cholesky", [v], [(v.shape, v.kind)], f"lower = {str(lower).lower()}", f", lower = {str(lower).lower()}", "one"),
            [want], 20 * tolerance)
    for left in (True, False):
        for transpose in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
            a = random_complex(rng, (2, 3, 3), dtype) + 5 * np.eye(3, dtype=dtype)
            y = random_complex(rng, (2, 3, 4) if left else (2, 4, 3), dtype)
            m = {"NO_TRANSPOSE": np.tril(a), "TRANSPOSE": np.tril(a).transpose(0, 2, 1), "ADJOINT": np.tril(a).conj().transpose(0, 2, 1)}[transpose]
            want = np.linalg.solve(m, y) if left else np.linalg.solve(m.transpose(0, 2, 1), y.transpose(0, 2, 1)).transpose(0, 2, 1)
            text = f"left_side = {str(left).lower()}, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose {transpose}>"
            yield ("complex_triangular_solve", [a, y], lambda b, v, w, t=text: b.generic(
                "stablehlo.triangular_solve", [v, w], [(w.shape, w.kind)], t), [want.astype(dtype)], 20 * tolerance)


def fourier(b, v, kind, lengths, shape, out):
    return b.op("stablehlo.fft", [v], [(shape, out)], f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {array(lengths)}",
                f", type =  {kind}, length = [{', '.join(map(str, lengths))}]")


def transforms(rng, dtype, part):
    """Lengths of one product, of two, of more, and with a large prime factor; and several dimensions. Two of the four kinds for
    each, because they take long to compile."""
    own, real = kind_of(np.zeros(0, dtype)), kind_of(np.zeros(0, part))
    tolerance = 2e-4 if dtype == np.complex64 else 1e-9
    few, some, many = [1, 2, 3, 8, 60, 64], [65, 96, 128, 251, 360, 512, 1000], [257, 521, 1042, 4096, 67 * 67]
    lengths = [int(rng.choice(each)) for each in (few, some, many)] + [int(rng.integers(2, 700))]
    shapes = [((int(rng.integers(1, 4)), n), 1) for n in lengths]
    shapes += [((2, 3, 4, 6), 3), ((2, 70, 5), 2), ((5,), 1), ((3, 0, 8), 1)]
    for shape, count in shapes if dtype == np.complex64 else shapes[1::2]:
        isForward, both = rng.random() < 0.5, count == 3
        axes = tuple(range(len(shape) - count, len(shape)))
        n = [shape[a] for a in axes]
        scale = dtype(1 / max(1, np.sqrt(np.prod(n))))
        x = random_complex(rng, shape, dtype) * scale
        if isForward or both:
            yield ("fft", [x], lambda b, v, n=n: fourier(b, v, "FFT", n, v.shape, own), [np.fft.fftn(x, axes=axes).astype(dtype)], tolerance)
        if not isForward or both:
            yield ("ifft", [x / scale], lambda b, v, n=n: fourier(b, v, "IFFT", n, v.shape, own),
                   [np.fft.ifftn(x / scale, axes=axes).astype(dtype)], tolerance)
        half = (*shape[:-1], shape[-1] // 2 + 1)
        y = np.ascontiguousarray(x.real)
        if not isForward or both:
            yield ("rfft", [y], lambda b, v, n=n, half=half: fourier(b, v, "RFFT", n, half, own), [np.fft.rfftn(y, axes=axes).astype(dtype)], tolerance)
        z = random_complex(rng, half, dtype)
        if isForward or both:
            yield ("irfft", [z], lambda b, v, n=n, s=shape: fourier(b, v, "IRFFT", n, s, real),
                   [np.fft.irfftn(z, s=n, axes=axes).astype(part)], tolerance)


def constants(rng):
    for dtype in (np.complex64, np.complex128):
        own = kind_of(np.zeros(0, dtype))
        for shape in ((), (3,), (2, 3), (0, 4), (70, 3)):
            x = random_complex(rng, shape, dtype)
            if x.size > 1:
                x.flat[0] = complex(np.inf, -0.0)
            yield "complex_constant", [], lambda b, x=x: [b.constant(x)], [x], 0
        x = random_complex(rng, (9, 17), dtype)
        text = f"dense<\"0x{x.tobytes().hex().upper()}\"> : tensor<9x17x{own}>"
        yield "complex_constant_hex", [], lambda b, t=text, x=x: b.generic("stablehlo.constant", [], [(x.shape, kind_of(x))], f"value = {t}"), [x], 0
        text = f"dense<(1.5, -2.0e+00)> : tensor<2x2x{own}>"
        yield ("complex_constant_splat", [], lambda b, t=text, o=own: b.generic("stablehlo.constant", [], [((2, 2), o)], f"value = {t}"),
               [np.full((2, 2), 1.5 - 2j, dtype)], 0)
