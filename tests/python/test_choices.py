"""Reductions along rows that keep one element and what belongs to it, against a loop in Python: by every condition, with equal elements, NaN and
zeros of both signs in all places, and with a start that no element, some or all are better than."""

import numpy as np
import pytest

import plimsoll as pl

ENGINES = [pl.Engine(threads=threads) for threads in (1, 2)]
# Around a vector, around several at a time, with every kind of rest.
LENGTHS = [0, 1, 3, 4, 5, 15, 16, 17, 31, 33, 64, 65, 127, 128, 130, 257, 700]

SOURCE = """
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<{rows}x{columns}x{element}>, %y: tensor<{rows}x{columns}xi16>, %best: tensor<{rows}x{element}>, %place: tensor<{rows}xi64>, %with: tensor<{rows}xi16>)
    -> (tensor<{rows}x{element}>, tensor<{rows}xi64>, tensor<{rows}xi16>) {{
  %r:3 = linalg.generic {{indexing_maps = [#whole, #whole, #row, #row, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x, %y : tensor<{rows}x{columns}x{element}>, tensor<{rows}x{columns}xi16>)
      outs(%best, %place, %with : tensor<{rows}x{element}>, tensor<{rows}xi64>, tensor<{rows}xi16>) {{
  ^bb0(%a: {element}, %b: i16, %v: {element}, %p: i64, %w: i16):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i64
    {condition}
    %nv = arith.select %c, %a, %v : {element}
    %np = arith.select %c, %k, %p : i64
    %nw = arith.select %c, %b, %w : i16
    linalg.yield %nv, %np, %nw : {element}, i64, i16
  }} -> (tensor<{rows}x{element}>, tensor<{rows}xi64>, tensor<{rows}xi16>)
  return %r#0, %r#1, %r#2 : tensor<{rows}x{element}>, tensor<{rows}xi64>, tensor<{rows}xi16>
}}"""


def unordered(a, v):
    return a != a or v != v


# Conditions, and what they are in Python; the last ones depend on the order of all elements, and stay loops.
FLOATS = {
    "first largest": ("%c = arith.cmpf ogt, %a, %v : T", lambda a, v: a > v),
    "first smallest": ("%c = arith.cmpf olt, %a, %v : T", lambda a, v: a < v),
    "last largest": ("%c = arith.cmpf ole, %v, %a : T", lambda a, v: v <= a),
    "last smallest": ("%c = arith.cmpf ole, %a, %v : T", lambda a, v: a <= v),
    "NaN is largest": ("""%g = arith.cmpf ugt, %a, %v : T
                          %o = arith.cmpf ord, %v, %v : T
                          %c = arith.andi %g, %o : i1""", lambda a, v: (a > v or unordered(a, v)) and v == v),
    "NaN is smallest, last": ("""%g = arith.cmpf oge, %a, %v : T
                                 %o = arith.cmpf uno, %v, %v : T
                                 %c = arith.ori %g, %o : i1""", lambda a, v: a >= v or v != v),
    "NaN is ignored": ("""%g = arith.cmpf ogt, %a, %v : T
                          %o = arith.cmpf uno, %v, %v : T
                          %n = arith.cmpf ord, %a, %a : T
                          %m = arith.andi %o, %n : i1
                          %c = arith.ori %g, %m : i1""", lambda a, v: a > v or (v != v and a == a)),
    "each NaN is taken and left": ("%c = arith.cmpf ugt, %a, %v : T", lambda a, v: a > v or unordered(a, v)),
    "another": ("%c = arith.cmpf one, %a, %v : T", lambda a, v: not unordered(a, v) and a != v),
    "larger by one": ("""%one = arith.constant 1.0 : T
                         %s = arith.addf %v, %one : T
                         %c = arith.cmpf ogt, %a, %s : T""", lambda a, v: a > v + 1),
}
INTEGERS = {
    "first largest": ("%c = arith.cmpi sgt, %a, %v : T", lambda a, v: a > v),
    "last smallest": ("%c = arith.cmpi sge, %v, %a : T", lambda a, v: v >= a),
    "first largest without signs": ("%c = arith.cmpi ugt, %a, %v : T", lambda a, v: int(a) % 2**64 > int(v) % 2**64),
    "both kinds of signs": ("""%g = arith.cmpi ugt, %a, %v : T
                               %h = arith.cmpi sgt, %a, %v : T
                               %c = arith.andi %g, %h : i1""", lambda a, v: int(a) % 2**64 > int(v) % 2**64 and a > v),
}


def loop(x, y, best, place, with_, better):
    best, place, with_ = best.copy(), place.copy(), with_.copy()
    for i, row in enumerate(x):
        for j, element in enumerate(row):
            if better(element, best[i]):
                best[i], place[i], with_[i] = element, j, y[i, j]
    return best, place, with_


def inputs(random, dtype, length):
    """Few different elements, so that many are equal; rows with NaN nowhere, here and there, in front, behind and everywhere."""
    x = random.integers(-3, 4, (7, length)).astype(dtype)
    best = random.integers(-3, 4, 7).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[x == 0] = np.where(random.random((x == 0).sum()) < 0.5, 0.0, -0.0)
        x[1][random.random(length) < 0.3] = np.nan
        x[2, :1], x[3, -1:], x[4] = np.nan, np.nan, np.nan
        best[5] = np.nan
        best[6] = -np.inf
        x[6] = -np.inf
    return x, random.integers(-999, 999, (7, length)).astype(np.int16), best, np.full(7, -5), np.full(7, 77, np.int16)


def check(element, dtype, condition, better):
    types = {"element": element, "condition": condition.replace(": T", f": {element}")}
    random = np.random.default_rng(51)
    unknown = [engine.loads(SOURCE.format(rows="?", columns="?", **types)).main for engine in ENGINES]
    for length in LENGTHS:
        given = inputs(random, dtype, length)
        want = loop(*given, better)
        known = [] if length % 3 else [ENGINES[0].loads(SOURCE.format(rows=7, columns=length, **types)).main]
        for function in unknown + known:
            for mine, theirs in zip(function(*given), want, strict=True):
                mine = np.asarray(mine)
                np.testing.assert_array_equal(mine, theirs, err_msg=f"{length}")
                if mine.dtype.kind == "f":
                    np.testing.assert_array_equal(np.signbit(mine), np.signbit(theirs), err_msg=f"{length}")


@pytest.mark.parametrize("element, dtype", [("f32", np.float32), ("f64", np.float64), ("f16", np.float16)])
@pytest.mark.parametrize("name", FLOATS)
def test_floats(name, element, dtype):
    check(element, dtype, *FLOATS[name])


@pytest.mark.parametrize("element, dtype", [("i32", np.int32), ("i8", np.int8), ("i64", np.int64)])
@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name, element, dtype):
    check(element, dtype, *INTEGERS[name])


EXTREMES = {"maximumf": ("ogt", lambda a, v: a > v, np.maximum), "minimumf": ("ole", lambda a, v: a <= v, np.minimum),
            "maxsi": ("sgt", lambda a, v: a > v, np.maximum), "minsi": ("slt", lambda a, v: a < v, np.minimum)}


@pytest.mark.parametrize("element, dtype", [("f32", np.float32), ("f16", np.float16), ("i32", np.int32)])
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes(name, element, dtype):
    """The value by an operation, its place by a condition, as exporters of PyTorch write it: from the first NaN on the place stays."""
    predicate, better, extreme = EXTREMES[name]
    if (element[0] == "i") != name.endswith("si"):
        pytest.skip("of the other kind of numbers")
    compare = f"arith.cmp{'i' if element[0] == 'i' else 'f'} {predicate}, %a, %v : {element}"
    text = SOURCE.replace("%nv = arith.select %c, %a, %v : {element}", f"%nv = arith.{name} %a, %v : {element}")
    types = {"element": element, "condition": f"%c = {compare}"}
    random = np.random.default_rng(53)
    unknown = [engine.loads(text.format(rows="?", columns="?", **types)).main for engine in ENGINES]
    for length in LENGTHS:
        x, y, best, place, with_ = given = inputs(random, dtype, length)
        want = [best.copy(), place.copy(), with_.copy()]
        for i in range(7):
            for j in range(length):
                if better(x[i, j], want[0][i]):
                    want[1][i], want[2][i] = j, y[i, j]
                want[0][i] = extreme(x[i, j], want[0][i])
        known = [ENGINES[0].loads(text.format(rows=7, columns=length, **types)).main] if length % 3 == 0 else []
        for function in unknown + known:
            for mine, theirs in zip(function(*given), want, strict=True):
                np.testing.assert_array_equal(np.asarray(mine), theirs, err_msg=f"{length}")


@pytest.mark.parametrize("shape, axis", [((50, 1000), 1), ((50, 1000), 0), ((50, 1000), None), ((4, 5, 129), 2), ((3, 70, 90), 1), ((65,), 0),
                                         ((64, 1), 0), ((63, 2), 0), ((1000, 3), 0), ((257, 4), 0), ((129, 5), 0), ((5, 67, 3), 1)])
def test_numpy(shape, axis):
    """What @jit makes of argmax and argmin, of functions of elements too; a NaN is both."""
    random = np.random.default_rng(52)
    functions = [lambda x: x.argmax(axis=axis), lambda x: x.argmin(axis=axis), lambda x: np.argmax(np.abs(x) * -2, axis=axis)]
    for dtype in (np.float32, np.float64, np.int32, np.int8):
        x = (random.standard_normal(shape) * 5).round().astype(dtype)
        several = [x]
        if x.dtype.kind == "f":
            several.append(np.where(random.random(shape) < 0.01, np.nan, x).astype(dtype))
        for function in functions:
            for each in several:
                for engine in ENGINES:
                    np.testing.assert_array_equal(np.asarray(pl.jit(function, engine=engine)(each)), function(each))
