"""Cases of functions that neither MLIR nor NumPy has, and of comparisons in weak order. As those of cases.py.

What they are compared with are sums of the definitions, many terms of them, and integrals.
"""

import math

import numpy as np

from cases import FLOATS, SIGNED, UNSIGNED, close, random_array
from writer import kind_of


def special(rng):
    yield from of_integers(rng)
    yield from neighbours(rng)
    yield from sums(rng)
    yield from orders(rng)


def applied(b, name, *operands):
    """An operation of chlo on operands of one shape."""
    types = [(operands[0].shape, operands[0].kind)]
    if not b.pretty:
        return b.generic(f"chlo.{name}", operands, types)
    front, values = b.results(types)
    kind = f"tensor<{''.join(f'{n}x' for n in operands[0].shape)}{operands[0].kind}>"
    b.line(f"{front}chlo.{name} {', '.join(v.name for v in operands)} : {', '.join([kind] * len(operands))} -> {kind}")
    return values


def of_integers(rng):
    """The upper half of a product, by Python's integers; and shifts that broadcast."""
    for dtype in (*SIGNED, *UNSIGNED):
        x, y = random_array(rng, (3, 7), dtype), random_array(rng, (3, 7), dtype)
        x.flat[:2] = y.flat[:2] = [np.iinfo(dtype).min, np.iinfo(dtype).max]
        bits = np.dtype(dtype).itemsize * 8
        want = np.array([[int(p) * int(q) >> bits for p, q in zip(*rows)] for rows in zip(x, y)], dtype)
        yield "mulhi", [x, y], lambda b, v, w: applied(b, "mulhi", v, w), [want], 0
    x, by = random_array(rng, (2, 3), np.int32), np.array([0, 5, 31], np.int32)
    for name, want in (("left", x << by), ("right_arithmetic", x >> by), ("right_logical", (x.view(np.uint32) >> by.view(np.uint32)).view(np.int32))):
        yield (f"broadcast_shift_{name}", [x, by], lambda b, v, w, name=name: b.generic(
            f"chlo.broadcast_shift_{name}", [v, w], [(v.shape, v.kind)]), [want], 0)


def neighbours(rng):
    for dtype in FLOATS:
        tiny, infinity = np.nextafter(dtype(0), dtype(1)), dtype(np.inf)
        some = np.array([0, -0.0, tiny, -tiny, 1, -1, np.finfo(dtype).max, np.finfo(dtype).min, infinity, -infinity, np.nan, 0.3], dtype)
        x, y = (np.ascontiguousarray(part) for part in np.broadcast_arrays(some[:, None], some[None]))
        yield "next_after", [x, y], lambda b, v, w: applied(b, "next_after", v, w), [np.nextafter(x, y)], 0
        x, y = random_array(rng, (20,), dtype), random_array(rng, (20,), dtype)
        yield "next_after", [x, y], lambda b, v, w: applied(b, "next_after", v, w), [np.nextafter(x, y)], 0
    x, y = random_array(rng, (2, 3), np.float32), random_array(rng, (3,), np.float32)
    yield ("broadcast_next_after", [x, y], lambda b, v, w: b.generic("chlo.broadcast_next_after", [v, w], [(v.shape, v.kind)]),
           [np.nextafter(x, y)], 0)


def hurwitz(x, q, terms=100_000):
    """A sum of many terms, and what an integral says of the rest."""
    if x < 1 or np.isnan(x) or np.isnan(q) or (q <= 0 and q != np.floor(q) and x != np.floor(x)):
        return np.nan
    if x == 1 or (q <= 0 and q == np.floor(q)):
        return np.inf
    k = np.arange(terms, dtype=np.longdouble)[::-1]
    a = np.longdouble(q) + terms
    return float(np.sum((q + k) ** -np.longdouble(x)) + a ** (1 - x) / (x - 1) + a ** -x / 2)


def sums(rng):
    zeta = np.vectorize(hurwitz, otypes=[np.float64])
    for dtype in FLOATS:
        x, q = random_array(rng, (12,), dtype, 1.2, 6), random_array(rng, (12,), dtype, 0.2, 9)
        want = zeta(x.astype(np.float64), q.astype(np.float64)).astype(dtype)
        yield "zeta", [x, q], lambda b, v, w: applied(b, "zeta", v, w), [want], 2 * close(dtype)
    x = np.array([1, 0.5, 3, 2, 3, 2.5, np.nan, 4, 200, 500, 2, 3], np.float64)
    q = np.array([2, 3, 0, -3, -1.5, -1.5, 1, np.nan, 30, 900, 1, 0.5], np.float64)
    yield "zeta", [x, q], lambda b, v, w: applied(b, "zeta", v, w), [zeta(x, q)], 1e-12
    far = np.array([-6.5, -9.5, -100.25])  # too far below for ten terms
    yield "zeta", [np.full(3, 2.0), far], lambda b, v, w: applied(b, "zeta", v, w), [np.full(3, np.nan)], 0
    assert abs(hurwitz(2, 1) - math.pi**2 / 6) < 1e-13
    yield ("broadcast_zeta", [x[-2:], np.float64(4)], lambda b, v, w: b.generic("chlo.broadcast_zeta", [v, w], [(v.shape, v.kind)]),
           [zeta(x[-2:], 4.0)], 1e-12)

    def derivative(n, x):  # of digamma
        if n < 0 or n != np.floor(n):
            return np.nan
        if n == 0:
            k = np.arange(1, 200_001, dtype=np.longdouble)
            a = 200_000 + np.longdouble(x)
            return float(np.log(a) - 1 / (2 * a) - 1 / (12 * a * a) - np.sum((1 / (k - 1 + x))[::-1]))
        return (-1) ** (n + 1) * math.factorial(int(n)) * hurwitz(n + 1, x)
    polygamma = np.vectorize(derivative, otypes=[np.float64])
    for dtype in FLOATS:
        n, x = rng.integers(0, 5, 12).astype(dtype), random_array(rng, (12,), dtype, 0.5, 9)
        want = polygamma(n.astype(np.float64), x.astype(np.float64)).astype(dtype)
        yield "polygamma", [n, x], lambda b, v, w: applied(b, "polygamma", v, w), [want], max(2 * close(dtype), 1e-11)
    n, x = np.array([1.5, -1, 0, 3], np.float32), np.array([2, 2, 1, 0.25], np.float32)
    yield "polygamma", [n, x], lambda b, v, w: applied(b, "polygamma", v, w), [polygamma(n, x).astype(np.float32)], 1e-5
    yield ("broadcast_polygamma", [n, x], lambda b, v, w: b.generic("chlo.broadcast_polygamma", [v, w], [(v.shape, v.kind)]),
           [polygamma(n, x).astype(np.float32)], 1e-5)

    def bessel(x):  # the integral of the definition, whose trapezia converge faster than any power
        angle = (np.arange(4096) + 0.5) * (np.pi / 4096)
        return np.mean(np.exp(abs(x) * (np.cos(angle) - 1)) * np.cos(angle)) * np.sign(x)
    for dtype in FLOATS:
        x = np.concatenate([random_array(rng, (20,), dtype, -40, 40), np.array([0, 29.9, 30.1, -300, 1e-3], dtype)])
        want = np.array([bessel(v) for v in x.astype(np.float64)]).astype(dtype)
        yield "bessel_i1e", [x], lambda b, v: applied(b, "bessel_i1e", v), [want], close(dtype)


def orders(rng):
    """Weak order has one zero and one NaN, which is the greatest."""
    for dtype in FLOATS:
        some = np.array([-np.inf, -1.5, -0.0, 0, 1.5, np.inf, np.nan, -np.nan], dtype)
        rank = np.array([0, 1, 2, 2, 3, 4, 5, 5])
        x, y = (np.ascontiguousarray(part) for part in np.broadcast_arrays(some[:, None], some[None]))
        a, c = np.broadcast_arrays(rank[:, None], rank[None])
        for direction, want in (("EQ", a == c), ("NE", a != c), ("LT", a < c), ("LE", a <= c), ("GT", a > c), ("GE", a >= c)):
            yield (f"compare_weak_{kind_of(x)}", [x, y], lambda b, v, w, d=direction: [b.compare(d, v, w, "WEAKORDER")], [want], 0)
    x = random_array(rng, (4,), np.bool_)
    yield "bitcast_truth", [x], lambda b, v: [b.op("stablehlo.bitcast_convert", [v], [(v.shape, v.kind)])[0]], [x], 0
