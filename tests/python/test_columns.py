"""Reductions over rows whose columns lie side by side, against NumPy: over one axis and two, of several types, with rests of every kind, of equal
bits with any number of threads, and whether extents are known or not."""

import numpy as np
import pytest

import plimsoll as pl

TYPES = {"f32": (np.float32, 1e-5), "f64": (np.float64, 1e-13), "i32": (np.int32, 0), "i8": (np.int8, 0)}
# Rows around what is read together and around the number from which on accumulators wait; columns around what one tile has.
ROWS = [0, 1, 7, 8, 63, 64, 65, 72, 73, 130]
COLUMNS = [1, 2, 15, 16, 17, 31, 64, 65, 100, 128, 129, 257, 1000, 1024, 1031, 2050]

REDUCE = """
func.func @main(%x: tensor<{0}x{1}x{2}>, %y: tensor<{1}x{2}>) -> tensor<{1}x{2}> {{
  %r = linalg.reduce ins(%x : tensor<{0}x{1}x{2}>) outs(%y : tensor<{1}x{2}>) dimensions = [0] (%a: {2}, %b: {2}) {{
    %s = {3} %a, %b : {2}
    linalg.yield %s : {2}
  }}
  return %r : tensor<{1}x{2}>
}}"""


def sums(x, start):
    return x.sum(axis=0) + start


def tops(x, start):
    return np.vstack([x, start]).max(axis=0)


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("kind", ["sum", "max"])
def test_reduce(kind, element):
    dtype, tolerance = TYPES[element]
    isFloat = element.startswith("f")
    combiner = {"sum": "arith.addf" if isFloat else "arith.addi", "max": "arith.maximumf" if isFloat else "arith.maxsi"}[kind]
    reference = {"sum": sums, "max": tops}[kind]
    random = np.random.default_rng(21)
    engines = [pl.Engine(threads=threads) for threads in (1, 2, 3)]
    unknown = [engine.loads(REDUCE.format("?", "?", element, combiner)).main for engine in engines]
    for rows in ROWS:
        for columns in COLUMNS[rows % 3::3]:
            x = (random.standard_normal((rows, columns)) * 40).astype(dtype)
            start = (random.standard_normal(columns) * 40).astype(dtype)
            with np.errstate(over="ignore"):
                want = reference(x.astype(np.float64 if isFloat else dtype), start).astype(dtype)
            known = np.asarray(engines[1].loads(REDUCE.format(rows, columns, element, combiner)).main(x, start))
            np.testing.assert_allclose(known, want, rtol=tolerance, atol=tolerance * 40 * max(rows, 1) ** 0.5,
                                       err_msg=f"{rows}x{columns}")
            for function in unknown:
                # What is known to be one column is a row.
                np.testing.assert_allclose(np.asarray(function(x, start)), known, rtol=tolerance if columns == 1 else 0,
                                           err_msg=f"{rows}x{columns}")


@pytest.mark.parametrize("axes, shape", [
    (0, (200, 1500)), (1, (3, 150, 700)), ((0, 1), (40, 30, 900)), ((0, 2), (30, 5, 40, 300)), (0, (70, 4, 130)),
    (1, (2, 1000, 1030)), (0, (3000, 520)), ((0, 1), (9, 9, 65))])
@pytest.mark.parametrize("function", [
    lambda x, axis: x.sum(axis=axis), lambda x, axis: x.mean(axis=axis), lambda x, axis: x.var(axis=axis),
    lambda x, axis: x.min(axis=axis), lambda x, axis: (x * x + 1).sum(axis=axis),
    lambda x, axis: x - x.mean(axis=axis, keepdims=True)], ids=["sum", "mean", "var", "min", "squares", "centre"])
def test_axes(function, axes, shape):
    x = np.random.default_rng(22).standard_normal(shape).astype(np.float32)
    results = [np.asarray(pl.jit(lambda v: function(v, axes), engine=pl.Engine(threads=threads))(x)) for threads in (1, 2, 3)]
    want = function(x.astype(np.float64), axes)
    np.testing.assert_allclose(results[0], want, rtol=1e-5, atol=1e-5 * max(1, float(np.abs(want).max())))
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def test_weights_and_columns_of_parts():
    """Rows weighted by a vector, which is a product; and rows of a slice, which are no whole rows of memory."""
    random = np.random.default_rng(23)
    x = random.standard_normal((300, 1200)).astype(np.float32)
    w = random.standard_normal(300).astype(np.float32)
    wide = x.astype(np.float64)
    for threads in (1, 2):
        engine = pl.Engine(threads=threads)
        weighted = pl.jit(lambda w, x: (w[:, None] * x).sum(axis=0), engine=engine)
        np.testing.assert_allclose(np.asarray(weighted(w, x)), w @ wide, rtol=1e-4, atol=1e-4)
        part = pl.jit(lambda x: x[3:250, 7:1100].sum(axis=0), engine=engine)
        np.testing.assert_allclose(np.asarray(part(x)), wide[3:250, 7:1100].sum(axis=0), rtol=1e-4, atol=1e-4)


def test_not_a_number():
    for rows, columns in ((65, 130), (80, 1100)):
        x = np.ones((rows, columns), np.float32)
        x[rows // 2, ::3] = np.nan
        for function in (lambda v: v.sum(axis=0), lambda v: v.max(axis=0), lambda v: v.min(axis=0)):
            got = np.asarray(pl.jit(function, engine=pl.Engine(threads=2))(x))
            np.testing.assert_array_equal(np.isnan(got), np.arange(columns) % 3 == 0)
