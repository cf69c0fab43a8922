"""Elements from elements, in vectors along rows and past the caches, against NumPy: shapes with rests of every kind, orders in memory,
element types, results of the caller's that begin anywhere, and equal bits whatever is known or runs beside it."""

import numpy as np
import pytest

import plimsoll as pl

from hosts import HOSTS, with_small_caches

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]
TYPES = [np.bool_, *INTEGERS, *FLOATS]
SHAPES = [(0,), (1,), (15,), (16,), (17,), (63,), (64,), (65,), (1031,), (0, 7), (5, 0), (1, 1), (7, 1), (1, 7), (3, 8), (5, 13), (9, 31),
          (4, 64), (13, 67), (31, 257), (257, 31), (2, 3, 5), (3, 1, 17), (4, 5, 64), (2, 3, 2, 9)]
ORDERS = {
    "dense": lambda a: a,
    "transposed": lambda a: a.T.copy().T,
    "reversed": lambda a: a[::-1].copy()[::-1],
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
}


@pytest.fixture(scope="module", params=[(host, past) for host in HOSTS[:3] for past in (False, True)],
                ids=lambda each: f"{each[0]}-{'past' if each[1] else 'in'}-caches")
def engine(request):
    host, past = request.param
    return pl.Engine(target=with_small_caches(host) if past else pl.Target(host), threads=2)


def numbers(random, dtype, shape):
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    low = 0 if np.dtype(dtype).kind == "u" else -50
    return random.integers(low, 50, shape).astype(dtype)


def check(function, engine, *inputs, tolerance=0):
    with np.errstate(all="ignore"):
        want = np.asarray(function(*inputs))
    got = np.asarray(pl.jit(function, engine=engine)(*inputs))
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance,
                               err_msg=f"{[(each.dtype, each.shape, each.strides) for each in inputs]}")


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(engine, shape):
    random = np.random.default_rng(3)
    x, y = numbers(random, np.float32, shape), numbers(random, np.float32, shape)
    check(lambda x, y: np.where(x > y, x * y + 3, x - y), engine, x, y)
    # Of every dimension one that is repeated.
    for axis in range(len(shape)):
        one = numbers(random, np.float32, tuple(1 if i == axis else extent for i, extent in enumerate(shape)))
        check(lambda x, one: x * one + one, engine, x, one)
    check(lambda x, row: x * row, engine, x, numbers(random, np.float32, shape[-1:]))
    check(lambda x, scalar: x + scalar, engine, x, np.float32(7))
    # Enough operations for a mask, and more than registers hold.
    check(lambda x, y: np.exp(np.tanh(x / 64) - np.abs(y / 64)) * np.sqrt(np.abs(x) + 1), engine, x, y, tolerance=2e-6)


@pytest.mark.parametrize("dtype", TYPES)
def test_types(engine, dtype):
    random = np.random.default_rng(4)
    for shape in [(67,), (1031,), (7, 130)]:
        x, y = numbers(random, dtype, shape), numbers(random, dtype, shape)
        check(lambda x, y: x == y, engine, x, y)
        check(lambda x, y: np.where(x > y, x, y), engine, x, y)
        if dtype == np.bool_:
            check(lambda x, y: (x & y) | ~x, engine, x, y)
        else:
            check(lambda x, y: np.maximum(x * y, x) + y, engine, x, y)
    x = np.abs(numbers(random, dtype, (7, 130)))
    for other in TYPES:
        check(lambda x: x.astype(other), engine, x)


@pytest.mark.parametrize("order", ORDERS)
def test_orders(engine, order):
    random = np.random.default_rng(5)
    for shape in [(17, 17), (5, 130), (130, 5), (64, 128)]:
        for dtype in (np.float32, np.int16, np.bool_):
            x, y = numbers(random, dtype, shape), numbers(random, dtype, shape)
            check(lambda x, y: x == y, engine, ORDERS[order](x), y)
            check(lambda x, y: x[::-1] == y[:, ::-1], engine, x, ORDERS[order](y))
            if shape[0] == shape[1]:
                check(lambda x, y: x == y.T, engine, x, ORDERS[order](y))
            check(lambda x, y: np.where(x[1:, :-1] == y[:-1, 1:], x[1:, 1:], y[1:, 1:]), engine, ORDERS[order](x), y)


SLICES = {
    "five points": lambda x: x[1:-1, 1:-1] * np.float32(0.5) + (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * np.float32(0.125),
    "differences": lambda x: x[:, 1:] - x[:, :-1],
    "every other row": lambda x: x[::2][:4] + x[1::2][:4],
    "every other column": lambda x: x[:, ::2][:, :4] * x[:, 1::2][:, :4],
    "a pool": lambda x: np.maximum(np.maximum(x[0:8:2, 0:8:2], x[1:9:2, 0:8:2]), np.maximum(x[0:8:2, 1:9:2], x[1:9:2, 1:9:2])),
    "a column": lambda x: x * x[:, 3:4] + x[:, 2, None],
    "a row": lambda x: x * x[3] + x[:, :1],
    "columns": lambda x: x[:, 1] * x[:, 2],
    "turned": lambda x: x[:9, 1:10] + x[1:10, :9].T,
    "a row of a column": lambda x: x[:9, :9] + x[:9, 4],
    "rows of a part": lambda x: x[:, 2:9].sum(axis=1) + x[:, 2:9].max(axis=1),
    "columns of a part": lambda x: x[2:9, 2:9].sum(axis=0),
    "rows of every other": lambda x: x[:, ::2].sum(axis=1),
    "an expression of a part": lambda x: x[:, 2:9] - x[:, 2:9].max(axis=1, keepdims=True),
    "halves": lambda x: np.concatenate([x[:, 5:], x[:, :5]], axis=1),
    "parts": lambda x: np.concatenate([x[5:, ::2], x[:5, ::2] * np.float32(2), x[:3, 1:1 + x[:, ::2].shape[1]]], axis=0),
    "a product": lambda x: x[:9, 1:8] @ x[1:8, :9],
    "of a slice": lambda x: x[1:][2:, 1:] - x[3:, :-1],
    "of what is computed": lambda x: (x * x)[1:, 1:] + (x * x)[:-1, :-1],
    "also as it is": lambda x: np.concatenate([x[1:], np.exp(x[1:] / 64)]),
}


@pytest.mark.parametrize("name", SLICES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_slices(name, dtype):
    """Parts of an operand, read where they are."""
    random = np.random.default_rng(8)
    for threads in (1, 2):
        engine = pl.Engine(threads=threads)
        for shape in [(11, 13), (40, 300), (300, 41), (64, 64)]:
            if dtype == np.int16 and name in ("five points", "also as it is"):
                continue
            check(SLICES[name], engine, numbers(random, dtype, shape), tolerance=1e-5)


SOURCE = """
func.func @main(%x: tensor<{0}x{1}xf32>, %w: tensor<{1}xf32>) -> tensor<{0}x{1}xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<{0}x{1}xf32>
  %n = tensor.dim %x, %c1 : tensor<{0}x{1}xf32>
  %e = {2} : tensor<{0}x{1}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                        iterator_types = ["parallel", "parallel"]}}
      ins(%x, %w : tensor<{0}x{1}xf32>, tensor<{1}xf32>) outs(%e : tensor<{0}x{1}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = math.tanh %p : f32
    %q = arith.addf %t, %a : f32
    linalg.yield %q : f32
  }} -> tensor<{0}x{1}xf32>
  return %r : tensor<{0}x{1}xf32>
}}"""


def source(rows, columns):
    dynamic = ", ".join(name for name, extent in (("%m", rows), ("%n", columns)) if extent == "?")
    return SOURCE.format(rows, columns, f"tensor.empty({dynamic})")


@pytest.mark.parametrize("past", [False, True])
def test_bits_are_the_same(past):
    random = np.random.default_rng(6)
    engines = [pl.Engine(target=with_small_caches("host") if past else pl.Target("host"), threads=threads) for threads in (1, 2, 3)]
    unknown = [engine.loads(source("?", "?")).main for engine in engines]
    for rows, columns in [(1, 1), (3, 5), (40, 40), (700, 97), (97, 700), (300, 1024), (5, 20_011)]:
        x, w = random.standard_normal((rows, columns)).astype(np.float32), random.standard_normal(columns).astype(np.float32)
        want = np.tanh(x.astype(np.float64) * w) + x
        first = np.asarray(unknown[0](x, w))
        np.testing.assert_allclose(first, want, rtol=1e-6, atol=1e-6)
        for engine, function in zip(engines, unknown):
            np.testing.assert_array_equal(np.asarray(function(x, w)), first)
            np.testing.assert_array_equal(np.asarray(engine.loads(source(rows, columns)).main(x, w)), first)


def test_results_of_the_caller_begin_anywhere():
    """Each element of a line is once where the result begins; nothing beside it is written."""
    random = np.random.default_rng(7)
    for rows, columns in [(3, 1024), (1, 5000), (2, 515)]:
        function = pl.Engine(target=with_small_caches("host"), threads=2).loads(source(rows, columns)).main
        x, w = random.standard_normal((rows, columns)).astype(np.float32), random.standard_normal(columns).astype(np.float32)
        want = np.asarray(function(x, w))
        memory = np.empty(rows * columns + 48, np.float32)
        for shift in range(17):
            memory[:] = -7
            out = memory[16 + shift:][:rows * columns].reshape(rows, columns)
            function(x, w, out=out)
            np.testing.assert_array_equal(out, want)
            assert (memory[:16 + shift] == -7).all() and (memory[16 + shift + rows * columns:] == -7).all()


def test_explain_says_so():
    large = pl.Engine(target=with_small_caches("host")).loads(source(64, 1024)).explain().text
    assert '"stores"' in large
    assert '"stores"' not in pl.Engine(target=pl.Target("host")).loads(source(4, 64)).explain().text
    # Nobody knows how large it will be.
    assert '"stores"' not in pl.Engine(target=with_small_caches("host")).loads(source("?", "?")).explain().text
