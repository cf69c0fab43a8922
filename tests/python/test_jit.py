"""@pl.jit against NumPy: types, shapes, broadcasting, values."""

import functools

import numpy as np
import pytest

import plimsoll as pl

from jit_checks import check, dynamic, numbers, same  # noqa: F401

FLOATS = [np.float32, np.float64, np.float16]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


UNARY = ["negative", "positive", "absolute", "fabs", "sign", "square", "sqrt", "cbrt", "exp",
         "exp2",
         "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos",
         "arctan",
         "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "rint",
         "reciprocal", "isnan", "isinf", "isfinite", "signbit", "logical_not"]


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_floats(dtype):
    def function(x, y, z):
        of = {name: (z if name in ("arcsin", "arccos", "arctanh", "log1p") else
                     y if name in ("sqrt", "log", "log2", "log10", "arccosh") else x)
              for name in UNARY}
        return {name: getattr(np, name)(value) for name, value in of.items()}

    check(
    function, numbers(
        31, dtype), numbers(
            31, dtype, 1, 1, 9), numbers(
                31, dtype, 2, -0.9, 0.9))


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values(dtype):
    x = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2.5, -2.5, 0.5, -0.5], dtype)

    def function(x, y):
        names = ("negative", "absolute", "sign", "floor", "ceil", "trunc", "rint", "isnan", "isinf",
                 "isfinite", "signbit", "logical_not", "sqrt", "square")
        one = {name: getattr(np, name)(x) for name in names}
        pairs = ("maximum", "minimum", "fmax", "fmin", "copysign", "less", "greater_equal", "equal",
                 "not_equal", "divide", "floor_divide", "remainder", "logical_and")
        two = {name: getattr(np, name)(x[:, None], y[None, :]) for name in pairs}
        return {**one, **two, "where": np.where(x, x, y)}

    check(function, x, np.append(x[1:], x[0]))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.bool_])
def test_functions_of_integers(dtype):
    def function(x):
        kinds = ("positive", "absolute", "sign", "square", "invert", "logical_not", "isnan",
                 "isfinite",
                 "sqrt", "exp", "tanh", "floor")
        if x.dtype.kind == "b":
            kinds = ("absolute", "invert", "logical_not", "isnan", "sqrt", "square", "floor")
        results = {name: getattr(np, name)(x) for name in kinds}
        return results if x.dtype.kind == "b" else {**results, "negative": -x, "power": x ** 3}

    check(function, numbers(13, dtype, low=0 if np.dtype(dtype).kind in "ub" else -4, high=4))


BINARY = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum",
          "minimum",
          "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
          "logical_or", "logical_xor"]


@pytest.mark.parametrize("one, two", [
    (np.int8, np.uint8), (np.uint16, np.int32), (np.int64, np.uint64), (np.float32, np.int8),
    (np.float16, np.float32), (np.float32, np.float64), (np.bool_, np.bool_), (np.bool_, np.int16),
    (np.uint32, np.float32), (np.float16, np.float16)])
def test_pairs_of_types(one, two):
    def function(x, y):
        names = [name for name in BINARY
                 if not (name == "subtract" and x.dtype == y.dtype == bool)]
        return {name: getattr(np, name)(x, y) for name in names}

    check(function, numbers((3, 5), one), numbers((5,), two, 1))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.uint64])
def test_integers_at_their_limits(dtype):
    info = np.iinfo(dtype)
    values = np.array(sorted({info.min, info.min + 1, 0, 1, 2, 3, info.max - 1, info.max} |
                             ({-1, -2, -3} if info.min else set())), dtype)

    def function(x, y):
        names = ("add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum",
                 "bitwise_and", "bitwise_or", "bitwise_xor", "less", "equal")
        return {name: getattr(np, name)(x[:, None], y) for name in names}

    check(function, values, values)
    bits = 8 * values.itemsize
    shifts = np.array([0, 1, bits - 1, bits, bits + 3], dtype)
    check(lambda x, y: (x[:, None] << y, x[:, None] >> y), values, shifts)


def test_floor_division_of_floats():
    x = np.array([7, -7, 7.5, -7.5, 0, -0.0, 1e30, 0.3, np.inf, np.nan], np.float64)
    y = np.array([2, -2, 0.1, -0.1, 1e-3, 3, np.inf, 0.0], np.float64)
    check(lambda x, y: (x[:, None] // y, x[:, None] % y, np.fmod(x[:, None], y)), x, y)


@pytest.mark.parametrize("source", [np.float16, np.float64, np.int8, np.int64, np.uint16, np.bool_])
def test_casts(source):
    low = -9 if np.dtype(source).kind == "i" else 0
    check(lambda x: [x.astype(kind) for kind in FLOATS + INTEGERS + [np.bool_]],
          numbers(17, source, low=low))


@pytest.mark.parametrize("shape", [(), (7,), (0,), (13, 17), (0, 5), (2, 1, 4)])
def test_reductions(shape):
    def function(x, n, b):
        last = -1 if shape else None
        results = {"sum": x.sum(), "prod": np.prod(x, axis=last), "mean": np.mean(x, axis=last),
                   "all": np.all(b, axis=last, keepdims=True), "any": b.any(), "ints": np.sum(n),
                   "var": x.var(axis=last, keepdims=True)}
        if 0 not in shape:
            results |= {
    "max": np.max(
        x, axis=last), "min": n.min(), "std": x.std(
            ddof=0, axis=last)}
        if shape and 0 not in shape:
            results |= {"argmax": np.argmax(x, axis=-1), "argmin": n.argmin(keepdims=True)}
        if len(shape) > 1:
            results |= {"first": x.sum(axis=0), "both": x.sum(axis=(0, -1), keepdims=True)}
        return results

    arrays = (numbers(shape, np.float64, low=0.5, high=1.5), numbers(shape, np.int8),
              numbers(shape, bool))
    check(function, *arrays)
    if len(shape) == 3:
        check(function, *arrays, dynamic=True)


def test_reductions_of_types():
    def function(*arrays):
        return [(x.sum(0), x.max(), x.mean(1), np.add.reduce(x, dtype=np.float64)) for x in arrays]

    kinds = [np.float16, np.float32, np.int8, np.uint16, np.uint64, np.bool_]
    check(function, *(numbers((5, 3), kind, low=0, high=3) for kind in kinds), tolerance=5e-3)
    x = np.array([[1, np.nan, 3], [4, 5, -np.inf]], np.float32)
    check(lambda x: (x.max(1), x.min(0), x.argmax(1), x.argmin(1), x.argmax()), x)


def test_sums_so_far(dynamic):
    """Of each type, along each axis, in order."""
    x = numbers((7, 33), np.float32)
    check(lambda x: (x.cumsum(0), x.cumsum(1), np.cumsum(x), x.cumsum(-1, dtype=np.float64),
                     np.cumprod(x[:, :5], axis=1), np.maximum.accumulate(x, axis=1),
                     np.minimum.accumulate(x), np.add.accumulate(x) * 2), x, dynamic=dynamic)
    for kind in (np.float64, np.float16, np.int8, np.uint16, np.int32, np.int64):
        check(lambda x: (x.cumsum(1), np.cumsum(x, 0), x.cumprod()),
              numbers((3, 17), kind, low=0, high=3), dynamic=dynamic)
    special = np.array([[-0.0, -0.0, 1], [np.inf, -np.inf, 2], [np.nan, 1, 2], [-0.0, 0.0, -0.0]],
                       np.float32)
    check(lambda x: (x.cumsum(1), np.maximum.accumulate(x, 1)), special, dynamic=dynamic)
    check(lambda x: x.cumsum(1), np.ones((3, 0), np.float32), dynamic=dynamic)
    with pytest.raises(TypeError, match="subtract.accumulate is not among"):
        pl.jit(lambda x: np.subtract.accumulate(x))(x)


def test_broadcasting(dynamic):
    pairs = [((3, 5), (5,)), ((3, 1), (1, 5)), ((), (2, 3)), ((1,), (7,)), ((2, 1, 4), (3, 1)),
             ((0, 3), (3,)), ((1, 0), (5, 1)), ((5, 1, 7), (5, 3, 7)), ((1, 1), (1, 1))]

    def function(pairs):
        return [np.where(x > y, x * 2 - y / 3, np.clip(x, y, 1)) for x, y in pairs]

    check(function, [(numbers(one, np.float32), numbers(two, np.float32, 1)) for one, two in pairs],
          dynamic=dynamic)


def test_products(dynamic):
    pairs = [((3, 5), (5, 7)), ((1, 1), (1, 1)), ((0, 5), (5, 3)), ((3, 0), (0, 5)), ((5,), (5,)),
             ((3, 5), (5,)), ((5,), (5, 7)), ((2, 3, 5), (5, 7)), ((2, 3, 5), (2, 5, 7)),
             ((4, 1, 3, 5), (2, 5, 1)), ((13, 31), (31, 17))]
    check(lambda pairs: [x @ y for x, y in pairs],
          [(numbers(one, np.float32), numbers(two, np.float32, 1)) for one, two in pairs],
          dynamic=dynamic, tolerance=1e-3)
    kinds = [np.float64, np.int32, np.uint8, np.float16, np.bool_]
    if not dynamic:
        check(lambda pairs: [x @ y for x, y in pairs],
              [(numbers((3, 5), kind), numbers((5, 7), kind, 1)) for kind in kinds], tolerance=2e-2)


def test_einsum(dynamic):
    x, y = numbers((3, 5, 2), np.float64), numbers((5, 2, 7), np.float64, 1)
    check(lambda x, y: (np.einsum("abc,bcd->ad", x, y), np.einsum("abc,bcd->dcab", x, y),
                        np.einsum("abc->cb", x), np.einsum("abc->cab", x),
                        np.einsum("abc,bcd", x, y)),
          x, y, dynamic=dynamic)


def test_slices(dynamic):
    def function(x):
        results = [x[0], x[-1], x[:, 0], x[0, -1], x[1:], x[:-1], x[:, 1:], x[:, :2], x[::2],
                   x[:, ::3], x[1:, :-1], x[::-1], x[:, ::-1], x[..., 0], x[None], x[:, None, 0],
                   x[..., None, :1], x[5:], x[:100], x[-100:], x[2:1], np.flip(x), x.T[1:].T]
        if not dynamic:
            results += [x[::-2], x[5:0:-1], x[-1:0:-2]]
        return results

    check(function, numbers((2, 7), np.int32), dynamic=dynamic)
    if not dynamic:
        check(function, numbers((1, 3), np.int32))


def test_shapes(dynamic):
    def function(x, y):
        n, m, k = x.shape
        return [x.reshape(-1), x.reshape(n, -1), x.reshape((n * m, k)), x.reshape(k, n, m),
                x.ravel(),
                x.reshape(-1, m * k), x.T, x.transpose(1, 0, 2), np.transpose(x, (2, 0, 1)),
                x.swapaxes(0, 2), np.moveaxis(x, 0, -1), x[..., None], np.expand_dims(x, (0, 2)),
                np.expand_dims(x, 1).squeeze(1), np.concatenate([x, x * 2, x[:1]]),
                np.concatenate((x, x), axis=-1), np.concatenate((x, y), axis=None),
                np.stack([x, x + 1], axis=1), np.stack((x, x), - \
                         1), np.broadcast_to(y, (4, *y.shape)),
                np.zeros_like(x), np.ones_like(
    x, dtype=np.int8), np.full_like(
        y, 7), x + x.shape[0],
                x.sum(axis=0) / x.shape[1], np.concatenate([x[1:] - x[:-1], x[:1]])]

    check(function, numbers((3, 5, 7), np.float32), numbers((5, 7), np.float32), dynamic=dynamic)
    if not dynamic:
        check(function, numbers((2, 1, 4), np.float64), numbers((0, 4), np.float64))


def test_take(dynamic):
    x, i = numbers((7, 5), np.float32), np.array([[0, 6, -1], [3, -7, 2]])
    check(lambda x, i: (x[i], np.take(x, i), x[:, i[:, :2] % 5],
                        x[i[0], None], np.take(x, [1, 0], axis=1)), x, i, dynamic=dynamic)
    with pytest.raises(pl.Error, match="out of range"):
        pl.jit(lambda x, i: x[i], engine=pl.Engine(threads=1, checked=True))(x, np.array([7]))


def test_a_network_and_its_constants(dynamic):
    w, b = numbers((11, 5), np.float32, low=-1, high=1), numbers(5, np.float32)

    def network(x, scale):
        h = np.maximum(x @ w + b, 0) * scale
        h = (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + 1e-5)
        e = np.exp(h - h.max(axis=-1, keepdims=True))
        return {"scores": e / e.sum(axis=-1, keepdims=True), "top": h.argmax(-1), "input": x}

    compiled = pl.jit(network, dynamic=dynamic)
    for rows in (1, 7, 0, 32, 7):
        x = numbers((rows, 11), np.float32, rows)
        same(compiled(x, 0.5), network(x, np.float32(0.5)), 1e-4)
    assert len(compiled._compiled) == (4 if not dynamic else 3)  # 0, 1 and the rest
    w[...] = 0  # a constant is a copy
    assert abs(compiled(numbers((7, 11), np.float32, 7), 0.5)["scores"] - 0.2).max() > 0.01


def test_random_expressions(dynamic):
    """Trees of operations over random shapes; the seed is in the message."""
    for seed in range(4 if dynamic else 8):
        random = np.random.default_rng(seed)
        extents = random.choice([1, 2, 3, 5, 7, 13], 3)
        shapes = [tuple(extents[int(random.integers(0, 3)):]) for _ in range(3)]
        arrays = [numbers(shape, random.choice([np.float32, np.float64]), i)
                  for i, shape in enumerate(shapes)]

        def function(*arrays, seed=seed):
            random = np.random.default_rng(seed + 1000)
            values = list(arrays)
            for _ in range(10):
                one, two = (values[int(random.integers(len(values)))] for _ in range(2))
                step = int(random.integers(0, 9))
                values.append([lambda: one + two, lambda: one * 0.5 - two, lambda: np.tanh(one),
                               lambda: np.maximum(one, two), lambda: np.where(one > 0, one, two),
                               lambda: one.mean(axis=-1, keepdims=True) + two if one.ndim else one,
                               lambda: np.abs(one) / (1 + np.abs(two)
                                              ), lambda: np.sqrt(np.abs(one)),
                               lambda: one.sum(axis=0) if one.ndim > 1 else one * 2][step]())
            return values[-1]

        try:
            check(function, *arrays, dynamic=dynamic, tolerance=1e-4)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error


class Model:
    def __init__(self, w):
        self.w = w

    @pl.jit(static=0)
    def apply(self, x):
        return x @ self.w


def test_methods():
    model, x = Model(numbers((3, 2), np.float32)), numbers((5, 3), np.float32)
    same(model.apply(x), x @ model.w, 1e-4)


def test_types_to_compute_in():
    x, u = np.array([1, 1 + 2**-20], np.float32), np.array([1, 2, 250], np.uint8)
    check(lambda x, u: (np.multiply(x, x, dtype=np.float64), np.add(u, u, dtype=np.uint16),
                        np.power(u, 2, dtype=np.uint16), np.matmul(u, u, dtype=np.int64),
                        np.add(u, 5, dtype=np.int64)), x, u, tolerance=1e-15)
    for function, kind in ((lambda u: np.less(u, u, dtype=bool), TypeError),
                           (lambda u: np.add(u, 0.5, dtype=np.uint8), TypeError),
                           (lambda u: np.add(u, 300, dtype=np.uint8), OverflowError),
                           (lambda u: np.full_like(u, 300), OverflowError),
                           (lambda u: np.round(u * 0.5, 1), TypeError)):
        with pytest.raises(kind):
            pl.jit(function)(u)


def test_numbers_and_arrays_among_indices(dynamic):
    check(lambda x: (x[0, :, [1, 2]], x[0, None, [1, 2]], x[:, 0, [1, 2]], x[[0, 1], :, 1],
                     x[0, [1, 2], :], x[[0, 1], 1], x[1, ..., [[1], [2]]]),
          numbers((2, 3, 4), np.float64), dynamic=dynamic)


def test_constants_with_signs_of_zeros():
    zeros = np.array([0.0, -0.0, 0.0])
    got = pl.jit(lambda x: x * zeros)(np.ones(3))
    np.testing.assert_array_equal(np.signbit(got), [False, True, False])


def test_small_functions(dynamic):
    x = numbers((3, 3), np.float64)
    jit = functools.partial(pl.jit, dynamic=dynamic)
    assert jit(lambda x: None)(x) is None and jit(lambda x: [])(x) == []
    same(jit(functools.partial(np.add, 1))(x), x + 1)
    check(lambda x: (np.abs(x) ** np.inf, np.full_like(x, 7, shape=3)), x, dynamic=dynamic)
    with pytest.raises(ValueError, match="no operand"):
        jit(lambda x: np.einsum("ij,jk->il", x, x))(x)
    for function in (lambda x, n: np.take(x, n), lambda x, n: n.T, lambda x, n: n[None]):
        same(jit(function)(x, 2), function(x, np.asarray(2)))
    sliced = jit(lambda x, s: x[s], static=1)
    for s in (slice(1, 2), slice(0, 2)):
        same(sliced(x, s), x[s])


@pytest.mark.parametrize("seed", [int(np.random.SeedSequence().entropy % 2**32)])
def test_powers_of_integers(seed, dynamic):
    """Any traced exponent, as NumPy: modulo the word, and none that is negative."""
    random = np.random.default_rng(seed)
    kinds = INTEGERS + [np.bool_]
    for shape in ((0,), (1,), (7,), (31, 3), (2, 0)):
        for _ in range(3):
            one, two = (kinds[int(random.integers(len(kinds)))] for _ in range(2))
            x, y = numbers(shape, one, seed, -300, 300), numbers(shape, two, seed + 1, 0, 70)
            want = (x ** y).dtype
            if want.kind == "f":  # int64 and uint64
                continue
            check(lambda x, y: (x ** y, np.power(x, y), 2 ** y, x ** y[-1:],
                                x.astype(np.int32) ** 77), x, y, dynamic=dynamic)
    x = numbers((5, 3), np.int32, seed)
    for n in (0, 1, 2, 63, 1000):
        same(pl.jit(lambda x, n: x ** n, dynamic=dynamic)(x, n), x ** np.int32(n))
        same(pl.jit(lambda x: x ** n, dynamic=dynamic)(x), x ** np.int32(n))
    check(lambda x: x ** x.shape[0], x, dynamic=dynamic)
    power = pl.jit(lambda x, y: x ** y, dynamic=dynamic)
    negative = np.where(np.arange(15).reshape(5, 3) == 13, -1, 2).astype(np.int32)
    with pytest.raises(pl.Error, match="negative integer powers are not allowed") as error:
        power(x, negative)
    assert error.value.file == __file__
    assert error.value.line == power._function.__code__.co_firstlineno
    with pytest.raises(pl.Error, match="negative integer powers are not allowed"):
        power(x, -1)
    same(power(x[:0], negative[0]), x[:0] ** negative[0])
    same(power(x, -negative.clip(-9, -1)), x)
    for function in (lambda x: x ** -2, lambda x: x ** np.array([1, -1, 2])):
        with pytest.raises(ValueError, match="negative integer powers"):
            pl.jit(function, dynamic=dynamic)(x)


def test_bf16(dynamic):
    """The bits are those that the plain functions give."""
    x = np.concatenate([
        np.arange(0, 2**32, 65521, dtype=np.uint32).view(np.float32),  # NaNs and subnormals too
        np.array([0, -0.0, 1 + 2**-8, 1 + 3 * 2**-8, np.inf, -np.inf, 3.4e38], np.float32)])
    bits = np.arange(2**16, dtype=np.uint16)
    got = pl.jit(pl.from_bf16, dynamic=dynamic)(bits)
    np.testing.assert_array_equal(got.view(np.uint32), pl.from_bf16(bits).view(np.uint32))
    for array in (x, x.reshape(-1, 1)[:5], x[:0], np.float64([1 / 3, 1e300]), np.int32([257, 3])):
        with np.errstate(over="ignore"):
            check(pl.to_bf16, array, dynamic=dynamic)
    w, v = pl.to_bf16(numbers((7, 5), np.float32)), pl.to_bf16(numbers((3, 7), np.float32, 1))

    def layer(x, w):
        return pl.to_bf16(np.maximum(pl.from_bf16(x) @ pl.from_bf16(w), 0))

    got, want = pl.jit(layer, dynamic=dynamic)(v, w), layer(v, w)
    assert got.dtype == np.uint16
    np.testing.assert_allclose(pl.from_bf16(got), pl.from_bf16(want), rtol=2**-7, atol=1e-3)


def test_moved_and_sorted(dynamic):
    arrays = (numbers((5, 7), np.float32), np.arange(12, dtype=np.int16).reshape(3, 1, 4) % 5, np.zeros((0, 3)),
              numbers((4, 6), np.float32) > 0, numbers(300, np.float64), np.array([[1, np.nan, -0.0, 0.0, np.inf]]))
    functions = (np.sort, lambda x: np.sort(x, axis=0), lambda x: np.sort(x, axis=None), np.diff,
                 lambda x: np.diff(x, n=2, axis=0), lambda x: np.roll(x, 2), lambda x: np.roll(x, -1, axis=0),
                 lambda x: np.roll(x, (1, -3), axis=(0, -1)), lambda x: np.roll(x, 100, axis=0),
                 lambda x: np.vstack([x, x]), lambda x: np.hstack([x, x]), lambda x: np.vstack((x.sum(), 1)))
    for x in arrays:
        for function in functions[:-1] if x.dtype.kind != "i" else functions:
            same(pl.jit(function, dynamic=dynamic)(x), function(x))
    for wrong, error in ((lambda x: np.diff(x, n=-1), ValueError), (lambda x: np.diff(x, prepend=0), TypeError),
                         (lambda x: np.roll(x, 1, axis=9), np.AxisError), (lambda x: np.diff(x[0, 0]), ValueError)):
        with pytest.raises(error):
            pl.jit(wrong, dynamic=dynamic)(arrays[0])


@pytest.mark.parametrize("seed", [int(np.random.SeedSequence().entropy % 2**32)])
def test_argsort(seed, dynamic):
    """Equals keep their order, NaNs come last."""
    def function(x):
        results = [np.argsort(x, axis=axis, kind="stable") for axis in (*range(x.ndim), None)]
        places = np.argsort(x, kind="stable")
        return [*results, places, np.take_along_axis(x, places, -1)]

    random = np.random.default_rng(seed)
    kinds = random.permutation(np.array([*FLOATS, *INTEGERS, np.bool_], object))
    shapes = ((0,), (1,), (7,), (64,), (65,), (300,), (13, 17), (5, 0), (2, 1, 31), (4, 100), (3, 2, 70), (2, 257))
    for shape, kind in [*zip(shapes, kinds), ((4, 100), np.float64), ((4, 100), np.int64), ((100, 3), np.uint64)]:
        x = numbers(shape, kind, seed, -5, 5)
        if np.dtype(kind).kind == "f":
            x = np.where(random.random(shape) < 0.2, kind(np.nan), x.round()).astype(kind)
            x = np.where(random.random(shape) < 0.1, kind(-0.0), x)
        check(function, x, dynamic=dynamic)
    x = random.permutation(5000).astype(np.float32)  # no equals, whose order NumPy leaves open
    check(lambda x: (x.argsort(), np.argsort(-x, kind="heapsort")[:5]), x, dynamic=dynamic)
    compiled = pl.jit(lambda x: x.argsort(), dynamic=True)
    for n in range(2, 40):
        same(compiled(x[:n]), x[:n].argsort())
    assert len(compiled.modules()) == 1
    for wrong, error in ((lambda x: np.argsort(x, axis=1), np.AxisError),
                         (lambda x: np.argsort(x, kind="best"), ValueError),
                         (lambda x: np.argsort(x, order="f"), TypeError)):
        with pytest.raises(error):
            pl.jit(wrong)(x)


def test_take_along_axis(dynamic):
    x = numbers((3, 5, 4), np.float32)
    check(lambda x, i, j, k: (np.take_along_axis(x, i, 1), np.take_along_axis(x, i[:1], 1),
                              np.take_along_axis(x[:, :, :1], i, 1), np.take_along_axis(x, j, None),
                              np.take_along_axis(x, k, -1), np.take_along_axis(x, i[:, :0], 1)),
          x, numbers((3, 2, 4), np.int32, 1, -5, 4), numbers((7,), np.int64, 2, -60, 59),
          numbers((1, 5, 9), np.uint8, 3, 0, 3), dynamic=dynamic)
    for indices, error in ((np.zeros((3, 5)), ValueError), (np.zeros((3, 5, 4)), IndexError),
                           (np.zeros((2, 5, 4), int), ValueError)):
        with pytest.raises(error):
            pl.jit(lambda x, i: np.take_along_axis(x, i, 1), dynamic=dynamic)(x, indices)
    with pytest.raises(pl.Error, match="out of range"):
        pl.jit(lambda x, i: np.take_along_axis(x, i, 1), dynamic=dynamic)(
            x, np.full((3, 1, 4), 5))


def test_empty_arrays(dynamic):
    functions = (lambda x: np.stack([x, x]), lambda x: np.concatenate([x, x], axis=-1), lambda x: x.sum(axis=0),
                 lambda x: x.mean(axis=-1), lambda x: np.cumsum(x, axis=0), lambda x: np.argsort(x, axis=-1),
                 lambda x: (x[1:], x[::-1], x[None]), lambda x: x.T, lambda x: np.exp(x) + x,
                 lambda x: np.where(x > 0, x, 0), lambda x: x.T @ x if x.ndim < 3 else x, lambda x: x.reshape(-1), lambda x: x.prod(axis=-1),
                 lambda x: np.broadcast_to(x, (2, *x.shape)), lambda x: x.std(axis=-1),
                 lambda x: np.take(x, np.zeros(0, int), axis=0))
    for shape in ((0,), (0, 3), (3, 0), (2, 0, 3)):
        for function in functions:
            check(function, np.zeros(shape, np.float32), dynamic=dynamic)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float32, np.float64])
def test_changes_in_place(dtype, dynamic):
    def arithmetic(a, b):
        a = a + dtype(0)  # NumPy would change the caller's array
        a += b
        a -= dtype(2)
        a *= b
        a **= 2
        return a

    def division(a, b):
        a = a + dtype(0)
        if np.dtype(dtype).kind == "f":
            a /= 3
        a //= b
        a %= 5
        return a

    def bits(a, b):
        a = a + dtype(0)
        a &= b
        a |= dtype(3)
        a ^= b
        a <<= dtype(1)
        a >>= dtype(2)
        return a

    a, b = numbers((3, 5), dtype, 1), numbers((5,), dtype, 2, 1)
    for function in (arithmetic, division) + ((bits,) if np.dtype(dtype).kind in "iu" else ()):
        before = a.copy()
        check(function, a, b, dynamic=dynamic)
        assert (a == before).all()


def test_changes_in_place_that_do_not_fit(dynamic):
    def half(a):
        a += 0.5
        return a

    def grow(a, b):
        a += b
        return a
    # Of a number it is another number.
    same(pl.jit(half, dynamic=dynamic)(3), np.float64(3.5))
    check(lambda n, x: n.__iadd__(x) if hasattr(n, "__iadd__") else n + x, 3, np.arange(3.0), dynamic=dynamic)
    with pytest.raises(TypeError, match="numpy.add: float64 does not fit the array of int64"):
        pl.jit(half, dynamic=dynamic)(np.arange(3))
    with pytest.raises(ValueError, match="does not fit the array of shape"):
        pl.jit(grow, dynamic=dynamic)(np.ones(3), np.ones((2, 3)))
    x = np.arange(3.0)
    kept = pl.jit(lambda a: (a, a.__iadd__(1)), dynamic=dynamic)(x)
    assert (kept[0] == x).all() and (kept[1] == x + 1).all() and (x == np.arange(3.0)).all()


def test_interleaved_planes():
    """Parts along a last axis: rows of a few elements, of all types that vectors have, in any order, computed or not."""
    random = np.random.default_rng(17)
    for shape, count in (((0,), 2), ((1,), 3), ((17,), 2), ((1000,), 3), ((33,), 4), ((3, 7), 8), ((1, 9), 2), ((9, 1), 5), ((4, 5, 6), 3), ((10,), 9)):
        for dtype in (np.float32, np.float64, np.float16, np.int8, np.int64, np.bool_):
            planes = [(random.standard_normal(shape) * 50).astype(dtype) for _ in range(count)]
            have = np.asarray(pl.jit(lambda *all_: np.stack(all_, axis=-1))(*planes))
            np.testing.assert_array_equal(have, np.stack(planes, axis=-1), err_msg=f"{count} of {shape}, {dtype}")
    a, b = (random.standard_normal((33, 17)).astype(np.float32) for _ in range(2))
    have = np.asarray(pl.jit(lambda a, b: np.stack([b * 2, a + b, a], axis=-1) + 1)(a, b))
    np.testing.assert_array_equal(have, np.stack([b * 2, a + b, a], axis=-1) + 1)
