"""Logarithms against NumPy in higher precision, and at every edge what C says."""

import random

import numpy as np
import plimsoll as pl
import pytest
from hosts import HOSTS

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
FUNCTIONS = {"log": np.log, "log2": np.log2, "log10": np.log10}
# Of f32 where there is no AVX-512, of f64 those of the C library there.
BOUNDS = {"f16": 1, "f32": 2, "f64": 4}


def module(element, function, extent="?"):
    length = "%n" if extent == "?" else ""
    return f"""
func.func @f(%x: tensor<{extent}x{element}>) -> tensor<{extent}x{element}> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<{extent}x{element}>
  %e = tensor.empty({length}) : tensor<{extent}x{element}>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%x : tensor<{extent}x{element}>) outs(%e : tensor<{extent}x{element}>) {{
  ^bb0(%a: {element}, %o: {element}):
    %p = math.{function} %a : {element}
    linalg.yield %p : {element}
  }} -> tensor<{extent}x{element}>
  return %r : tensor<{extent}x{element}>
}}"""


def check(have, x, function, bound):
    """Where the result is a number, so many units from it at most; elsewhere the same."""
    kind = np.finfo(x.dtype)
    wider = np.longdouble if x.dtype == np.float64 else np.float64
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[function](x.astype(wider))
        unit = np.maximum(np.exp2(np.floor(np.log2(np.abs(exact)))), float(kind.tiny)) * float(kind.eps)
        near = np.abs(have.astype(wider) - exact) <= bound * unit
        same = (have == exact) | np.isnan(have) & np.isnan(exact)
    wrong = np.flatnonzero(~(same | near & np.isfinite(exact)))
    assert wrong.size == 0, [(x[i], have[i], exact[i]) for i in wrong[:5]]
    assert not np.signbit(have[have == 0]).any()  # of 1


@pytest.mark.parametrize("target", HOSTS)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("element", TYPES)
def test_logarithms(element, function, target):
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = np.random.default_rng(seed)
    dtype, kind = TYPES[element], np.finfo(TYPES[element])
    edges = [0, 0.5, 0.75, 1, 1.5, 2, 8, 10, 1000, np.inf, np.nan, kind.max, kind.tiny, kind.smallest_subnormal, kind.tiny * (1 - kind.eps),
             1 + kind.eps, 1 - kind.eps / 2]
    edges = np.array(edges, dtype)
    bits = {"f16": np.uint16, "f32": np.uint32, "f64": np.uint64}[element]
    patterns = rng.integers(0, np.iinfo(bits).max, 100_003, dtype=bits, endpoint=True).view(dtype)
    near = (1 + rng.uniform(-0.5, 0.5, 100_003) * np.exp2(-rng.uniform(0, kind.nmant, 100_003))).astype(dtype)
    x = np.concatenate([edges, -edges, patterns, near])
    engine = pl.Engine(target=target)
    have = np.asarray(pl.loads(module(element, function), engine=engine).f(x))
    check(have, x, function, BOUNDS[element])
    if element == "f64" and (target in ("x86-64-v2", "x86-64-v3") or "x86-64-v4" not in HOSTS):
        return  # the C library's vectors and its scalars differ
    # What is left of vectors, and loops of known length, have the same bits.
    f = pl.loads(module(element, function), engine=engine).f
    for length in (1, 3, 8, 15, 17, 34, 97):
        np.testing.assert_array_equal(np.asarray(f(x[:length])), have[:length])
    known = pl.loads(module(element, function, 997), engine=engine).f
    np.testing.assert_array_equal(np.asarray(known(x[:997])), have[:997])
