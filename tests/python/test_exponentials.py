"""Exponentials against NumPy in higher precision, and at every edge what C says."""

import random

import numpy as np
import plimsoll as pl
import pytest
from hosts import HOSTS
from test_logarithms import module

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
FUNCTIONS = {"exp": np.exp, "exp2": np.exp2}
# Of f64 those of the C library where there is no AVX-512. A denormal is rounded twice.
BOUNDS = {"f16": 1, "f32": 1.1, "f64": 4}
EDGES = {"f16": [-24, -25, 11, 16], "f32": [-87.5, -103.9, -104, -126, -149, -150, 88.7, 88.8, 127.9, 128],
         "f64": [-708.5, -745.1, -745.2, -746, -1022, -1074, -1075, 709.7, 709.8, 1023.9, 1024]}


def check(have, x, function, bound):
    """Where the result is a number, so many units from it at most; elsewhere the same, zeros without a sign."""
    kind = np.finfo(x.dtype)
    wider = np.longdouble if x.dtype == np.float64 else np.float64
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[function](x.astype(wider))
        wanted = exact.astype(x.dtype)
        unit = np.maximum(np.exp2(np.floor(np.log2(np.abs(exact)))), float(kind.tiny)) * float(kind.eps)
        near = np.isfinite(have) & np.isfinite(wanted) & (np.abs(have.astype(wider) - exact) <= bound * unit)
        same = (have == wanted) | np.isnan(have) & np.isnan(x)
    wrong = np.flatnonzero(~(same | near))
    assert wrong.size == 0, [(x[i], have[i], exact[i]) for i in wrong[:5]]
    assert not np.signbit(have[~np.isnan(have)]).any()


@pytest.mark.parametrize("target", HOSTS)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("element", TYPES)
def test_exponentials(element, function, target):
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = np.random.default_rng(seed)
    dtype, kind = TYPES[element], np.finfo(TYPES[element])
    edges = np.array([0, 0.5, 1 / 32, 1, 10, np.inf, np.nan, kind.max, kind.tiny, kind.smallest_subnormal, kind.eps], dtype)
    of_type = np.array(EDGES[element], dtype)
    edges = np.concatenate([edges, -edges, of_type, np.nextafter(of_type, dtype(np.inf)), np.nextafter(of_type, dtype(-np.inf))])
    bits = {"f16": np.uint16, "f32": np.uint32, "f64": np.uint64}[element]
    patterns = rng.integers(0, np.iinfo(bits).max, 100_003, dtype=bits, endpoint=True).view(dtype)
    low, high = {"f16": (-26, 17), "f32": (-151, 129), "f64": (-1077, 1025)}[element]
    x = np.concatenate([edges, patterns, rng.uniform(low, high, 100_003).astype(dtype), rng.uniform(-1, 1, 100_003).astype(dtype)])
    f = pl.loads(module(element, function), engine=pl.Engine(target=target)).f
    have = np.asarray(f(x))
    check(have, x, function, BOUNDS[element])
    if element == "f64" and (target in ("x86-64-v2", "x86-64-v3") or "x86-64-v4" not in HOSTS):
        return  # the C library's vectors and its scalars differ
    # What is left of vectors, and loops of known length, have the same bits.
    for length in (1, 3, 8, 15, 17, 34, 97):
        np.testing.assert_array_equal(np.asarray(f(x[:length])), have[:length])
    known = pl.loads(module(element, function, 997), engine=pl.Engine(target=target)).f
    np.testing.assert_array_equal(np.asarray(known(x[:997])), have[:997])
