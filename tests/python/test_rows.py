"""Rows that several reductions and elementwise ops go over: softmax, normalisations and sums with what they sum stored, against NumPy; of equal
bits with any number of threads, and whether extents are known or not."""

import numpy as np
import pytest

import plimsoll as pl

from hosts import HOSTS

TYPES = {"f32": (np.float32, 2e-5), "f64": (np.float64, 1e-13), "f16": (np.float16, 4e-3)}
# Fewer than a vector, around one, around several at a time, with every kind of rest.
LENGTHS = [1, 3, 4, 7, 8, 15, 16, 17, 31, 50, 63, 64, 65, 100, 127, 128, 129, 257, 768]


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def masked(x):
    """As of attention: what is hidden is far below, in half of the rows' places."""
    return softmax(np.where(x > 0, x, x * np.float32(50)))


def layer_norm(x):
    rest = x - x.mean(axis=-1, keepdims=True)
    return rest / np.sqrt((rest * rest).mean(axis=-1, keepdims=True) + np.float32(0.25))


def rms_norm(x):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(0.25))


def columns(x):
    """Along the other axis: variances."""
    rest = x - x.mean(axis=0)
    return (rest * rest).mean(axis=0)


def whole(x):
    return (np.exp(x) * x).sum()


@pytest.mark.parametrize("function", [softmax, masked, layer_norm, rms_norm, columns, whole])
@pytest.mark.parametrize("element", TYPES)
def test_rows(function, element):
    dtype, tolerance = TYPES[element]
    random = np.random.default_rng(11)
    engines = [pl.Engine(threads=1), pl.Engine(threads=2)]
    for length in LENGTHS if function is softmax or element == "f32" else LENGTHS[::3]:
        x = random.standard_normal((3, length)).astype(dtype)
        want = function(x.astype(np.float64))
        results = [np.asarray(pl.jit(function, engine=engine)(x)) for engine in engines]
        np.testing.assert_array_equal(results[0], results[1], err_msg=f"{length}")
        scale = max(1.0, float(np.abs(want).max()), length if function is whole else 0.0)
        np.testing.assert_allclose(results[0].astype(np.float64), want, rtol=tolerance, atol=tolerance * scale,
                                   err_msg=f"{length}")


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("rows", [1, 5, 33, 64])
def test_a_number_beside_each_row(rows, element):
    """Of as many rows as vectors have elements, too: they are no columns."""
    dtype, tolerance = TYPES[element]
    random = np.random.default_rng(rows)
    engines = [pl.Engine(threads=1), pl.Engine(threads=3)]
    functions = [lambda x: x.var(axis=-1), lambda x: np.abs(x - x.max(axis=-1, keepdims=True)).sum(axis=-1)]
    for shape in ((rows, 1), (rows, 17), (rows, 1000), (rows, 1024), (2, rows, 65)):
        x = random.standard_normal(shape).astype(dtype)
        for function in functions:
            want = function(x.astype(np.float64))
            results = [np.asarray(pl.jit(function, engine=engine)(x)) for engine in engines]
            np.testing.assert_array_equal(results[0], results[1], err_msg=f"{shape}")
            np.testing.assert_allclose(results[0].astype(np.float64), want, rtol=tolerance, atol=tolerance,
                                       err_msg=f"{shape}")


KEPT = """
func.func @main(%x: tensor<{0}x{1}x{2}>) -> (tensor<{0}x{1}x{2}>, tensor<{0}x{2}>, tensor<{0}x{2}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<{0}x{1}x{2}>
  %n = tensor.dim %x, %c1 : tensor<{0}x{1}x{2}>
  %zero = arith.constant 0.0 : {2}
  %one = arith.constant 1 : i32
  %e = tensor.empty({4}) : tensor<{0}x{1}x{2}>
  %r = tensor.empty({3}) : tensor<{0}x{2}>
  %f = linalg.fill ins(%zero : {2}) outs(%r : tensor<{0}x{2}>) -> tensor<{0}x{2}>
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<{0}x{1}x{2}>) outs(%e : tensor<{0}x{1}x{2}>) {{
  ^bb0(%a: {2}, %o: {2}):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %l = arith.addi %k, %one : i32
    %t = arith.sitofp %l : i32 to {2}
    %p = arith.mulf %a, %t : {2}
    %q = math.absf %p : {2}
    %s = math.sqrt %q : {2}
    linalg.yield %s : {2}
  }} -> tensor<{0}x{1}x{2}>
  %sum = linalg.reduce ins(%y : tensor<{0}x{1}x{2}>) outs(%f : tensor<{0}x{2}>) dimensions = [1] (%a: {2}, %b: {2}) {{
    %s = arith.addf %a, %b : {2}
    linalg.yield %s : {2}
  }}
  %top = linalg.reduce ins(%y : tensor<{0}x{1}x{2}>) outs(%f : tensor<{0}x{2}>) dimensions = [1] (%a: {2}, %b: {2}) {{
    %s = arith.maximumf %a, %b : {2}
    linalg.yield %s : {2}
  }}
  return %y, %sum, %top : tensor<{0}x{1}x{2}>, tensor<{0}x{2}>, tensor<{0}x{2}>
}}"""


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_extents_do_not_matter(element):
    """A function of the index, kept for the caller and read by two reductions."""
    dtype, tolerance = TYPES[element]
    random = np.random.default_rng(12)
    engines = [pl.Engine(threads=1), pl.Engine(threads=2)]
    unknown = [engine.loads(KEPT.format("?", "?", element, "%m", "%m, %n")).main for engine in engines]
    for length in [0, *LENGTHS]:
        x = random.standard_normal((5, length)).astype(dtype)
        known = engines[0].loads(KEPT.format(5, length, element, "", "")).main
        first = [np.asarray(each) for each in known(x)]
        for function in unknown:
            for mine, other in zip(first, function(x), strict=True):
                # Rows of one to three elements are summed in their order where their length is known.
                bits = tolerance if 0 < length < 4 else 0
                np.testing.assert_allclose(mine, np.asarray(other), rtol=bits, err_msg=f"{length}")
        want = np.sqrt(np.abs(x.astype(np.float64) * np.arange(1, length + 1)))
        np.testing.assert_allclose(first[0], want, rtol=tolerance)
        np.testing.assert_allclose(first[1], want.sum(axis=1), rtol=tolerance, atol=tolerance)
        np.testing.assert_array_equal(first[2], first[0].max(axis=1, initial=0))


SEEN = """
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf32>, %e: tensor<?x?xf32>, %r: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {{
  %s:2 = linalg.generic {{indexing_maps = [#whole, #whole, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<?x?xf32>) outs(%e, %r : tensor<?x?xf32>, tensor<?xf32>) {{
  ^bb0(%a: f32, %old: f32, %sum: f32):
    {}
  }} -> (tensor<?x?xf32>, tensor<?xf32>)
  return %s#0, %s#1 : tensor<?x?xf32>, tensor<?xf32>
}}"""


@pytest.mark.parametrize("body, elements, sums", [
    ("%n = arith.addf %sum, %a : f32\n linalg.yield %sum, %n : f32, f32",
     lambda x, old: x.cumsum(axis=1) - x, lambda x, old: x.sum(axis=1)),
    ("%n = arith.addf %sum, %a : f32\n linalg.yield %n, %n : f32, f32",
     lambda x, old: x.cumsum(axis=1), lambda x, old: x.sum(axis=1)),
    ("%p = arith.mulf %old, %a : f32\n %n = arith.addf %sum, %p : f32\n linalg.yield %p, %n : f32, f32",
     lambda x, old: old * x, lambda x, old: (old * x).sum(axis=1)),
    ("%n = arith.addf %sum, %a : f32\n linalg.yield %a, %n : f32, f32", lambda x, old: x, lambda x, old: x.sum(axis=1))],
    ids=["sum before", "sum so far", "old element", "element"])
def test_elements_beside_a_sum(body, elements, sums):
    """A sum that the elements see keeps its order; the old element of a result is not a sum."""
    random = np.random.default_rng(13)
    functions = [pl.Engine(threads=threads).loads(SEEN.format(body)).main for threads in (1, 2)]
    for length in [0, *LENGTHS]:
        x, old = random.standard_normal((2, 4, length)).astype(np.float32)
        start = np.arange(4, dtype=np.float32)
        wide = x.astype(np.float64), old.astype(np.float64)
        first = start[:, None] if "linalg.yield %sum" in body or "linalg.yield %n" in body else 0
        for function in functions:
            result, total = map(np.asarray, function(x, old, start))
            np.testing.assert_allclose(result, elements(*wide) + first, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(total, sums(*wide) + start, rtol=1e-4, atol=1e-4)


def test_not_a_number():
    """In each place of a row, as what is largest and as what is summed; zeros of one sign keep it, and in strict code the positive one is
    the larger."""
    engine = pl.Engine(threads=1)
    for length in (5, 16, 70):
        row_max = pl.jit(lambda x: x.max(axis=1), engine=engine)
        row_sum = pl.jit(lambda x: x.sum(axis=1), engine=engine)
        x = np.ones((length, length), np.float32)
        np.fill_diagonal(x, np.nan)
        assert np.isnan(np.asarray(row_max(x))).all() and np.isnan(np.asarray(row_sum(x))).all()
        np.fill_diagonal(x, -np.inf)
        np.testing.assert_array_equal(np.asarray(row_max(x)), 1)
        np.testing.assert_array_equal(np.asarray(row_sum(x)), -np.inf)
        zeros = np.full((length, length), -0.0, np.float32)
        np.testing.assert_array_equal(np.signbit(np.asarray(row_max(zeros))), True)
        np.fill_diagonal(zeros, 0.0)
        np.testing.assert_array_equal(np.asarray(row_max(zeros)), 0)
        strict_max = pl.jit(lambda x: x.max(axis=1), engine=engine, numerics="strict")
        np.testing.assert_array_equal(np.signbit(np.asarray(strict_max(zeros))), False)


BYTES = """
func.func @main(%x: tensor<3x{length}xi8>, %y: tensor<3x{length}xi8>) -> tensor<3x{sum}> {{
  %c = arith.constant 0 : {sum}
  %e = tensor.empty() : tensor<3x{sum}>
  %z = linalg.fill ins(%c : {sum}) outs(%e : tensor<3x{sum}>) -> tensor<3x{sum}>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                        iterator_types = ["parallel", "reduction"]}}
      ins(%x, %y : tensor<3x{length}xi8>, tensor<3x{length}xi8>) outs(%z : tensor<3x{sum}>) {{
  ^bb0(%a: i8, %b: i8, %s: {sum}):
    %u = arith.{left} %a : i8 to {sum}
    %v = arith.{right} %b : i8 to {sum}
    {body}
    %q = arith.addi %s, %p : {sum}
    linalg.yield %q : {sum}
  }} -> tensor<3x{sum}>
  return %r : tensor<3x{sum}>
}}"""
OF_BYTES = {
    "product": ("%p = arith.muli %u, %v : {0}", lambda u, v: u * v),
    "difference": ("%d = arith.subi %u, %v : {0}\n    %n = arith.subi %c, %d : {0}\n    %p = arith.maxsi %d, %n : {0}", lambda u, v: abs(u - v)),
    "selected": ("%d = arith.subi %u, %v : {0}\n    %n = arith.subi %c, %d : {0}\n    %g = arith.cmpi sgt, %d, %c : {0}\n"
                 "    %p = arith.select %g, %d, %n : {0}", lambda u, v: abs(u - v)),
    "sum": ("%p = arith.addi %u, %v : {0}", lambda u, v: u + v),
}


@pytest.mark.parametrize("body", OF_BYTES)
@pytest.mark.parametrize("target", HOSTS)
def test_bytes(target, body):
    """Processors have instructions that add products and differences of bytes; LLVM loses terms of some."""
    engine = pl.Engine(target=target, threads=1)
    random = np.random.default_rng(14)
    lines, reference = OF_BYTES[body]
    wide = {"extsi": lambda x: x.astype(np.int64), "extui": lambda x: x.view(np.uint8).astype(np.int64)}
    for length in [5, 16, 32, 64, 77, 128, 256]:
        x, y = random.integers(-128, 128, (2, 3, length)).astype(np.int8)
        for sum_type in (np.int16, np.int32, np.int64):
            for left in wide:
                for right in wide:
                    name = f"i{8 * np.dtype(sum_type).itemsize}"
                    source = BYTES.format(length=length, sum=name, left=left, right=right, body=lines.format(name))
                    want = reference(wide[left](x), wide[right](y)).sum(axis=1).astype(sum_type)
                    np.testing.assert_array_equal(np.asarray(engine.loads(source).main(x, y)), want, err_msg=f"{length} {name} {left} {right}")
