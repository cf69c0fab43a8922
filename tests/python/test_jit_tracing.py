"""When functions of @pl.jit are traced: signatures, extents, static arguments, options, and what is not known."""

import math
import pickle

import numpy as np
import pytest

import plimsoll as pl

from jit_checks import check, dynamic, numbers, same  # noqa: F401


def test_signatures():
    traced = []

    @pl.jit(static=("axis", 2))
    def f(x, scale=2, flag=False, *, axis=0, name=None):
        """Doubles."""
        traced.append((x.shape, axis, flag, name))
        return x.sum(axis=axis) * scale if flag else -x

    x = numbers((2, 3), np.float32)
    assert f.__name__ == "f" and f.__doc__ == "Doubles." and "f" in repr(f)
    for _ in range(3):
        same(f(x, 3, True, axis=1), x.sum(1) * np.float32(3))
    assert len(traced) == 1
    f(x, 4, True, axis=1)  # another number is no other code
    assert len(traced) == 1
    f(x, 4, True, axis=0), f(x, 4), f(x, 4, name="n"), f(
        x.astype(np.float64), 4), f(x[:1], 4), f(x, 4.0)
    assert len(traced) == 7
    text = f.mlir(x)
    assert "tensor<2x3xf32>" in text and "test_jit_tracing.py" in text
    assert pl.loads(text).main(x).shape == (2, 3)
    assert f.compile(x) is f.compile(x) and "functions" in f.compile(x).explain()


def test_numbers_and_structures():
    @pl.jit
    def f(tree, n, scale):
        return (tree["a"] * scale + n, [tree["b"][0], n], {"n": n * 2, "k": 3}, "done", scale > 1)

    x = numbers(3, np.float32)
    a, (b, n), rest, word, flag = f({"a": x, "b": (x, )}, 3, 1.5)
    same(a, x * np.float32(1.5) + np.float32(3))
    same(b, x)
    assert (n, rest["n"], rest["k"], word, flag) == (3, 6, 3, "done", True)
    assert n.dtype == np.int64 and rest["n"].dtype == np.int64
    with pytest.raises(TypeError):
        f({"a": x.astype(complex), "b": (x,)}, 1, 1)


def test_what_is_not_known():
    x = numbers((3, 3), np.float32)
    for function, text in (
            (lambda x: x if x.sum() > 0 else -
    x, "numpy.where"), (lambda x: float(x[0, 0]), "not known"),
            (lambda x: np.linalg.inv(x), "inv"), (lambda x: np.partition(x, 1), "partition"),
            (lambda x: x.__setitem__(0, 1), "do not change"),
            (lambda x: np.where(x), "unknown shape"),
            (lambda x: np.add(x, x, where=x > 0), "where"),
            (lambda x: np.sum(x, initial=3), "initial"), (lambda x: np.frexp(x), "frexp"),
            (lambda x: x[x > 0], "integer"), (lambda x: np.divide.accumulate(x), "accumulate"),
            (lambda x: x.astype(complex), "complex"), (lambda x: np.ldexp(x, 2), "ldexp"),
            (lambda x: "text" + x, "")):
        with pytest.raises((TypeError, IndexError), match=text):
            pl.jit(function)(x)
    for function, error in ((lambda x: x[3], IndexError), (lambda x: x[0, 0, 0], IndexError),
                            (lambda x: x.reshape(4, 2), ValueError),
                            (lambda x: x + np.ones(2), ValueError),
                            (lambda x: x @ np.ones((2, 2), np.float32), ValueError),
                            (lambda x: x.sum(axis=2),
                             np.AxisError), (lambda x: x[:0].max(), ValueError),
                            (lambda x: x.transpose(0, 0), ValueError)):
        with pytest.raises(error):
            pl.jit(function)(x)
        with pytest.raises((error, ValueError, IndexError)):
            pl.jit(function, dynamic=True)(x)


def test_extents_that_the_function_depends_on():
    """Open extents are never assumed: what depends on one gets code for that number."""
    def branches(x):
        return x if x.shape[0] == 4 else -x

    def compares(x):
        return x * 2 if x.shape[0] > 4 else x.sum(axis=0)

    for function in (branches, compares, lambda x: [row + 1 for row in x], lambda x: x[2] + 1,
                     lambda x: x.reshape(-1, 5) + 1):
        jitted = pl.jit(function, dynamic=True)
        for rows in (3, 4, 5, 3, 7):
            x = numbers((rows, 5), np.float32, rows)
            same(jitted(x), function(x))
        assert len(jitted._compiled) <= 4
    jitted = pl.jit(lambda x: (x + 1).reshape(-1), dynamic=True)
    for rows in (3, 4, 5, 3, 7):
        jitted(numbers((rows, 5), np.float32))
    assert len(jitted._compiled) == 2  # 5 rows and others
    with pytest.raises(IndexError):
        pl.jit(lambda x: x[2], dynamic=True)(numbers((2, 3), np.float32))


@pl.jit(dynamic=True)
def module_level(x):
    return x * 2 + 1


def test_pickling():
    x = numbers((3,), np.float32)
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    same(module_level(x), x * 2 + 1)


def test_one_in_another():
    @pl.jit
    def inner(x, k):
        return x * k + 1

    @pl.jit(dynamic=True)
    def outer(x):
        return inner(x, 3) + inner(x, x.shape[0]) + np.asarray(inner(np.ones(1, np.float32), 2))

    x = numbers((4,), np.float32)
    same(outer(x), (x * 3 + 1) + (x * 4 + 1) + 3)


def test_extents_and_other_numbers():
    """Extents that only the call knows are numbers where they must be."""
    def function(x):
        n = x.shape[0]
        return [x * (n * 0.5), n * x, x * (0.25 + n), x * (n / 2), x * np.float64(n), x * -n,
                x[-(-n // 2):], x[n - 5:], x[np.int64(-3):], x[:n % 2], x + (n - 10) // 4,
                x + n // -2, x[:2 if n > 2.5 else 1], x + n ** 2, x.astype(np.uint8) + n]

    compiled = pl.jit(function, dynamic=True)
    for rows in (3, 4, 7, 300):
        x = numbers((rows, 2), np.float64, low=0)
        same(compiled(x), function(x))


def test_functions_of_extents():
    """What stays open is one code; NumPy's functions of numbers give those of the call."""
    def stays(x):
        n, m = x.shape
        quotient, rest = divmod(n, 4)
        back, left = divmod(100, n)
        return [x + abs(n - 10), x * abs(-n), x + quotient * rest, x + back + left, x + n ** 3,
                x + (n - 5) ** 2, x + +n, x + round(n), x + math.floor(n), x + abs(n - m),
                x[:abs(n - 5)]]

    def becomes(x):
        n = x.shape[0]
        return [x / np.sqrt(n), x * math.sqrt(n), x + np.maximum(n, 5), np.float64(2) * n * x,
                x + np.add(n, x.shape[1]), x * np.ones(2)[0] * n, x + round(n, -1), x * n ** -1,
                x + 2 ** n, x * np.exp(-np.float32(n)), np.multiply(n, np.arange(2)) + x,
                x + np.power(n, 2)]

    one, some = pl.jit(stays, dynamic=True), pl.jit(becomes, dynamic=True)
    for rows in (3, 4, 7, 11, 20):
        x = numbers((rows, 2), np.float64, low=0)
        same(one(x), stays(x))
        same(some(x), becomes(x))
    assert len(one.modules()) == 1 and len(some.modules()) == 5


def test_extents_that_do_not_fit():
    """What is beyond the elements that it is used with is a number, as it is for NumPy."""
    y, u = np.arange(3, dtype=np.int32), np.arange(3, dtype=np.uint32)
    functions = (lambda x, y: y + x.shape[0], lambda x, y: y * (x.shape[0] * x.shape[0] // 3),
                 lambda x, y: np.where(y > 1, x.shape[0], y), lambda x, y: x.shape[0] - 4 * y,
                 lambda x, y: y + min(x.shape[0] - 5, 3))
    for function in functions:
        for z in (y, u):
            compiled = pl.jit(function, dynamic=True)
            for n in (7, 9, 100_000, 3_000_000_000, 8, 5_000_000_000, 2):
                x = np.empty((n, 0), np.int8)  # large without memory
                same(compiled(x, z), function(x, z))
    compiled = pl.jit(functions[0], dynamic=True)
    for n in (7, 9, 100_000):
        compiled(np.empty((n, 0), np.int8), y)
    assert len(compiled.modules()) == 1


def test_floor_quotients_of_extents():
    compiled = pl.jit(lambda x: x + (x.shape[0] - 10) // 4, dynamic=True)
    for rows in (3, 5, 20):  # one code
        same(compiled(np.zeros(rows)), np.zeros(rows) + (rows - 10) // 4)
    assert len(compiled.modules()) == 1


def test_options_that_are_true():
    check(lambda x: (x.sum(0, keepdims=1), x.argmax(0, keepdims=np.True_), x.argmin(keepdims=1),
                     np.max(x, keepdims=1), x.mean(0, keepdims=1), np.sum(x, keepdims=0)),
          numbers((2, 3), np.float64))
    check(lambda u: (np.around(u), u.round(), np.round(u)), np.array([1, 250], np.uint8))


def test_static_arguments_of_other_types():
    compiled = pl.jit(lambda x, s: x + np.copysign(1.0, s[0]) * (2 if type(s[0]) is int else 3),
                      static=1)
    for static in ((0,), (0.0,), (-0.0,)):
        same(compiled(np.zeros(2), static), compiled._function(np.zeros(2), static))


def test_numbers_that_do_not_fit():
    u = np.array([1, 2, 250], np.uint8)
    for n in (-1, 2, 300):
        same(pl.jit(lambda u, n: (u > n, n == u, u <= n))(u, n), (u > n, n == u, u <= n))
    for function in (lambda u, n: u + n, lambda u, n: np.where(u > 1, u, n),
                     lambda u, n: np.maximum(u, n)):
        compiled = pl.jit(function)
        same(compiled(u, 5), function(u, np.uint8(5)))
        for n in (300, -1):
            with pytest.raises(OverflowError, match="does not fit"):
                compiled(u, n)


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i2", ">u4", ">f2"])
def test_the_other_byte_order(dtype, dynamic):
    x = numbers((4, 3), np.dtype(dtype).newbyteorder("="), 5)
    compiled = pl.jit(lambda x, y: (x + y, x[::-1], x.sum()), dynamic=dynamic)
    for a, b in ((x.astype(dtype), x), (x, x.astype(dtype)), (x.astype(dtype), x.astype(dtype)), (x, x)):
        got = compiled(a, b)
        same(got, (x + x, x[::-1], x.sum()))
        assert all(each.dtype.isnative for each in got)
    same(pl.jit(lambda y: y + x.astype(dtype), dynamic=dynamic)(x), x + x)  # a constant


def test_static_arguments_by_position_or_name():
    def total(x, axis, *, keep=False):
        return x.sum(axis=axis, keepdims=keep)
    x = numbers((2, 3), np.float32)
    for static in ("axis", 1, ("axis", "keep"), (1, "keep")):
        compiled = pl.jit(total, static=static)
        same(compiled(x, 1), x.sum(axis=1))
        same(compiled(x, axis=0), x.sum(axis=0))
        same(pickle.loads(pickle.dumps(pl.jit(_total, static=static)))(x, 1), x.sum(axis=1))
    for wrong, message in (("axes", r"static='axes': total\(\) has no such argument; did you mean 'axis'\?"),
                           (2, r"static=2: total\(\) has 2 arguments by position"),
                           (-1, "static=-1"), (("axis", "x y"), "no such argument")):
        with pytest.raises(TypeError, match=message):
            pl.jit(total, static=wrong)
    pl.jit(lambda *x, **y: x[0], static=(3, "any"))  # whatever comes


def _total(x, axis, *, keep=False):
    return x.sum(axis=axis, keepdims=keep)


def test_options_are_known():
    with pytest.raises(TypeError, match=r"jit\(\) has no option 'statc'; did you mean 'static'\?"):
        pl.jit(statc="x")
    for wrong in ("source", "parameters", "name"):
        with pytest.raises(TypeError, match=f"no option '{wrong}'"):
            pl.jit(**{wrong: 1})


def test_what_is_not_known_has_its_whole_name_and_a_substitute():
    x = np.ones(3)
    for function, message in ((lambda x: np.argwhere(x), r"numpy\.argwhere is not.*numpy\.where\("),
                              (lambda x: np.fft.fft(x), r"numpy\.fft\.fft is not among what plimsoll.jit knows$"),
                              (lambda x: np.nonzero(x), r"numpy\.nonzero is not.*numpy\.where\("),
                              (lambda x: np.add.at(x, 0, 1), r"numpy\.add\.at is not")):
        with pytest.raises(TypeError, match=message):
            pl.jit(function)(x)


def test_substitutes_are_what_they_stand_for(dynamic):
    x = numbers((4, 5), np.float32, 6)
    check(lambda x: np.take_along_axis(x, x.argsort(1), 1), x, dynamic=dynamic)
    same(pl.jit(lambda x: (x[:, None] == np.arange(9)).sum(0), dynamic=dynamic)(np.array([3, 1, 3, 8])), np.bincount([3, 1, 3, 8]))
