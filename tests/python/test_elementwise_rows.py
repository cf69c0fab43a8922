"""Elements from elements, in vectors along rows and past the caches, against NumPy: shapes with rests of every kind, orders in memory,
element types, results of the caller's that begin anywhere, and equal bits whatever is known or runs beside it."""

import numpy as np
import pytest

import plimsoll as pl

from hosts import HOSTS, with_small_caches

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]
TYPES = [np.bool_, *INTEGERS, *FLOATS]
SHAPES = [(0,), (1,), (15,), (16,), (17,), (65,), (1031,), (0, 7), (5, 0), (7, 1), (3, 8), (5, 13), (4, 64), (31, 257), (2, 3, 5), (3, 1, 17)]
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
    "turned in pairs": lambda x: np.concatenate([x[:, :5] * np.float32(2) - x[:, 5:10], x[:, 5:10] * np.float32(2) + x[:, :5]], axis=1),
    "computed in columns": lambda x: np.concatenate([x * x, x[:, ::2] - x[:, :1], x[:, 3:4]], axis=1),
    "side by side": lambda x: np.stack([x * x, x + x, x], axis=-1),
    "in the middle": lambda x: np.stack([x[1:] * x[:-1], x[1:]], axis=1),
    "behind each other": lambda x: np.stack([x * x, x - x[:1]], axis=0),
    "of sums": lambda x: np.stack([x.sum(axis=1), x.max(axis=1) + x[:, 0]], axis=1),
    "expressions beside": lambda x: np.concatenate([x - x.max(axis=1, keepdims=True), x.min(axis=1, keepdims=True) - x], axis=1),
    "twice the same": lambda x: (lambda y: np.concatenate([y, y], axis=1))(x * x),
    "also as it is": lambda x: np.concatenate([x[1:], np.exp(x[1:] / 64)]),
}


@pytest.mark.parametrize("name", SLICES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_slices(name, dtype):
    """Parts of an operand, read where they are."""
    random = np.random.default_rng(8)
    for threads in (1, 2):
        engine = pl.Engine(threads=threads)
        for shape in [(11, 13), (300, 41)] if threads == 1 else [(40, 300)]:
            if dtype == np.int16 and name in ("five points", "also as it is"):
                continue
            check(SLICES[name], engine, numbers(random, dtype, shape), tolerance=1e-5)


INSERTED = """
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<{0}x{1}xf32>, %y: tensor<{0}x{1}xf32>) -> {types} {{
  %e = tensor.empty() : tensor<{0}x{2}xf32>
{lines}
}}"""


def doubled(to, source, shift=0):
    """%{to}: twice `shift` columns on of a matrix, of {2} columns."""
    return f"""  %{to}s = tensor.extract_slice %{source}[0, {shift}] [{{0}}, {{2}}] [1, 1] : tensor<{{0}}x{{1}}xf32> to tensor<{{0}}x{{2}}xf32>
  %{to} = linalg.generic {{{{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}}}
      ins(%{to}s : tensor<{{0}}x{{2}}xf32>) outs(%e : tensor<{{0}}x{{2}}xf32>) {{{{
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %p : f32
    linalg.yield %t : f32
  }}}} -> tensor<{{0}}x{{2}}xf32>"""


def into(to, source, dest, at):
    kinds = "tensor<{0}x{2}xf32> into tensor<{0}x{1}xf32>"
    return f"  %{to} = tensor.insert_slice %{source} into %{dest}[0, {at}] [{{0}}, {{2}}] [1, 1] : {kinds}"


def written(array, part, at):
    result = array.copy()
    result[:, at:at + part.shape[1]] = part
    return result


MATRIX = "tensor<{0}x{1}xf32>"
# Lines, what is returned, and the same in NumPy; n columns are doubled.
INSERTIONS = {
    "into what is read": ([doubled("a", "x", 1), into("r", "a", "x", 3)], ["r"], lambda x, y, n: [written(x, 2 * x[:, 1:1 + n], 3)]),
    "into another": ([doubled("a", "x", 1), into("r", "a", "y", 3)], ["r"], lambda x, y, n: [written(y, 2 * x[:, 1:1 + n], 3)]),
    "into what is kept": ([doubled("a", "x", 1), into("r", "a", "y", 3)], ["r", "y"],
                          lambda x, y, n: [written(y, 2 * x[:, 1:1 + n], 3), y]),
    "one after the other": ([doubled("a", "x"), doubled("b", "x", 2), into("q", "a", "x", 2), into("r", "b", "q", 0)], ["r"],
                            lambda x, y, n: [written(written(x, 2 * x[:, :n], 2), 2 * x[:, 2:2 + n], 0)]),
    "of what was inserted": ([doubled("a", "x"), into("q", "a", "x", 2), doubled("b", "q", 1), into("r", "b", "q", 3)], ["r"],
                             lambda x, y, n: (lambda q: [written(q, 2 * q[:, 1:1 + n], 3)])(written(x, 2 * x[:, :n], 2))),
    "of an older version": ([doubled("a", "x"), into("q", "a", "y", 2), doubled("b", "y", 1), into("r", "b", "q", 3)], ["r", "q"],
                            lambda x, y, n: (lambda q: [written(q, 2 * y[:, 1:1 + n], 3), q])(written(y, 2 * x[:, :n], 2))),
    "computed before": ([doubled("b", "y", 1), doubled("a", "x"), into("q", "a", "y", 2), into("r", "b", "q", 3)], ["r"],
                        lambda x, y, n: [written(written(y, 2 * x[:, :n], 2), 2 * y[:, 1:1 + n], 3)]),
}


@pytest.mark.parametrize("name", INSERTIONS)
def test_insertions(name):
    """Elements computed where they are inserted, or not, if what is inserted into is read."""
    lines, results, reference = INSERTIONS[name]
    random = np.random.default_rng(9)
    for rows, columns, n in [(4, 9, 5), (70, 300, 200), (300, 1100, 900)]:
        x, y = random.standard_normal((2, rows, columns)).astype(np.float32)
        kinds = ", ".join(MATRIX for _ in results)
        types = f"({kinds})".format(rows, columns)
        body = [*lines, f"  return {', '.join(f'%{each}' for each in results)} : {kinds}"]
        source = INSERTED.format(rows, columns, n, types=types, lines="\n".join(body).format(rows, columns, n))
        want = reference(x, y, n)
        for threads in (1, 2):
            before = x.copy(), y.copy()
            got = pl.Engine(threads=threads).loads(source).main(x, y)
            for have, wanted in zip(got if len(results) > 1 else [got], want):
                np.testing.assert_array_equal(np.asarray(have), wanted)
            np.testing.assert_array_equal(x, before[0])
            np.testing.assert_array_equal(y, before[1])


RESHAPED = """
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<?x?xf32>, %a: index, %b: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.addf %p, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  %c = tensor.collapse_shape %r [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %s = tensor.expand_shape %c [[0, 1]] output_shape [%a, %b] : tensor<?xf32> into tensor<?x?xf32>
  %d = tensor.empty(%a, %b) : tensor<?x?xf32>
  %i = tensor.insert_slice %s into %d[0, 0] [%a, %b] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  return %i : tensor<?x?xf32>
}"""


def test_another_shape_is_inserted():
    """What is inserted has the type of what was computed, and other extents."""
    function = pl.Engine(threads=1).loads(RESHAPED).main
    x = np.arange(60, dtype=np.float32).reshape(4, 15)
    for a, b in [(4, 15), (15, 4), (1, 60), (60, 1), (6, 10)]:
        np.testing.assert_array_equal(np.asarray(function(x, a, b)), 2 * x.reshape(a, b))


# Few operations: results of many are not written past the caches.
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
    %t = math.absf %p : f32
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
        want = abs(x.astype(np.float64) * w) + x
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
    # Computing takes longer than memory.
    long = source(64, 1024).replace("math.absf", "math.tanh")
    assert '"stores"' not in pl.Engine(target=with_small_caches("host")).loads(long).explain().text
    # Nobody knows how large it will be.
    assert '"stores"' not in pl.Engine(target=with_small_caches("host")).loads(source("?", "?")).explain().text


@pytest.mark.parametrize("count", [31, 32, 33, 34, 64, 70])
def test_sums_of_many(engine, count):
    """More than one op reads. (Small integers: sums are exact.)"""
    inputs = [numbers(np.random.default_rng(i), np.float32, (3, 37)) for i in range(count)]
    check(lambda *each: sum(each[1:], each[0]), engine, *inputs)


def test_long_chains(engine):
    """More ops than one body has."""
    def function(x):
        for i in range(300):
            x = x + np.float32(i % 7) if i % 3 else np.float32(i % 5) - x
        return x
    check(function, engine, numbers(np.random.default_rng(1), np.float32, (5, 19)))


def source_of_steps(name, element, row, length, step, first, sums):
    """Rows of `length` elements that lie `step` apart from the element `first` on, each plus itself, or their sums."""
    integer = element[0] == "i"
    add = "addi" if integer else "addf"
    out = f"tensor<3x{element}>" if sums else f"tensor<3x{length}x{element}>"
    kind = "reduction" if sums else "parallel"
    fill = f"""%z = arith.constant {'0' if integer else '0.0'} : {element}
  %i = linalg.fill ins(%z : {element}) outs(%e : {out}) -> {out}""" if sums else f"%i = tensor.empty() : {out}"
    inputs, kinds, maps, arguments = "%x", f"tensor<3x{row}x{element}>", "", ""
    if sums:  # the extent of the sum, which the result does not tell
        inputs, kinds = "%x, %l", f"tensor<3x{row}x{element}>, tensor<{length}x{element}>"
        maps, arguments = "affine_map<(i, j) -> (j)>, ", f"%b: {element}, "
    return f"""func.func @{name}(%x: tensor<3x{row}x{element}>) -> {out} {{
  %l = tensor.empty() : tensor<{length}x{element}>
  %e = tensor.empty() : {out}
  {fill}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j * {step} + {first})>, {maps}affine_map<(i, j) -> ({'i' if sums else 'i, j'})>],
                        iterator_types = ["parallel", "{kind}"]}} ins({inputs} : {kinds}) outs(%i : {out}) {{
  ^bb0(%a: {element}, {arguments}%o: {element}):
    %s = arith.{add} %a, {'%o' if sums else '%a'} : {element}
    linalg.yield %s : {element}
  }} -> {out}
  return %r : {out}
}}"""


@pytest.mark.parametrize("dtype", [*INTEGERS[::2], *FLOATS])
def test_elements_some_apart(engine, dtype):
    # The last that is read is the last of its row, so a vector that went further would read another row, or beyond the tensor.
    random = np.random.default_rng([8, *np.dtype(dtype).str.encode()])
    element = ("f" if np.dtype(dtype).kind == "f" else "i") + str(8 * np.dtype(dtype).itemsize)
    cases = [(length, step, first, sums) for step in (1, 2, 3, 4, 5, 9) for first in (0, 1) for sums in (False, True)
             for length in (1, 2, 7, 8, 15, 16, 17, 31, 33, 70, 131)]
    cases = [cases[i] for i in random.permutation(len(cases))[:20]]
    module = engine.loads("\n".join(source_of_steps(f"f{i}", element, first + step * (length - 1) + 1, length, step, first, sums)
                                    for i, (length, step, first, sums) in enumerate(cases)))
    for i, (length, step, first, sums) in enumerate(cases):
        x = random.integers(-9, 9, (3, first + step * (length - 1) + 1)).astype(dtype)
        taken = x[:, first::step]
        want = taken.sum(1, dtype=dtype) if sums else taken + taken
        np.testing.assert_array_equal(np.asarray(module[f"f{i}"](x)), want, err_msg=str(cases[i]))
