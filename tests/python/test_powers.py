"""Powers of any base and exponent, against NumPy in higher precision: within 1.2 units in the last place, and at every edge what C says."""

import random

import numpy as np
import plimsoll as pl
import pytest
from hosts import HOSTS

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
NUMBERS = [0, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 7, 23, 24, 149, 150, 2047, 2048, np.inf, np.nan]
OF_F32 = [2.0**-149, 1.5 * 2.0**-148, 2.0**-126, 1 - 2.0**-24, 1 + 2.0**-23, 2.0**22 + 0.5, 2.0**23, 2.0**23 + 1, 2.0**24 - 1, 2.0**24,
          2.0**24 + 2, 2.0**60, np.finfo(np.float32).max]
OF_F64 = OF_F32 + [2.0**-1074, 2.0**-1022, 1 - 2.0**-53, 1 + 2.0**-52, 2.0**51 + 0.5, 2.0**52 + 1, 2.0**53 - 1, 2.0**53, 2.0**53 + 2, 1e300,
                   np.finfo(np.float64).max]
MORE = {"f16": [], "f32": OF_F32, "f64": OF_F64}
# Of f64 where there is no AVX-512 they are the C library's, whose vectors promise 4.
BOUNDS = {"f16": 1.2, "f32": 1.2, "f64": 4}


def module(element):
    return f"""
func.func @power(%x: tensor<?x{element}>, %y: tensor<?x{element}>) -> tensor<?x{element}> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x{element}>
  %e = tensor.empty(%n) : tensor<?x{element}>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%x, %y : tensor<?x{element}>, tensor<?x{element}>) outs(%e : tensor<?x{element}>) {{
  ^bb0(%a: {element}, %b: {element}, %o: {element}):
    %p = math.powf %a, %b : {element}
    linalg.yield %p : {element}
  }} -> tensor<?x{element}>
  return %r : tensor<?x{element}>
}}"""


def check(have, x, y, bound):
    """Where the result is a number, so far from it at most; elsewhere the same, zeros with their sign."""
    kind = np.finfo(x.dtype)
    wider = np.longdouble if x.dtype == np.float64 else np.float64
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(wider), y.astype(wider))
        wanted = exact.astype(x.dtype)
        wide = have.astype(wider)
        unit = np.maximum(np.exp2(np.floor(np.log2(np.abs(exact)))), float(kind.tiny)) * float(kind.eps)
        same = (have == wanted) & (np.signbit(have) == np.signbit(wanted)) | np.isnan(have) & np.isnan(wanted)
        # Next to the largest number and to the least, either side is near enough.
        near = np.abs(np.where(np.isinf(wide), np.copysign(wider(2)**kind.maxexp, wide), wide) - exact) <= bound * unit
    good = same | (near & np.isfinite(exact) & (np.signbit(have) == np.signbit(exact)))
    wrong = np.flatnonzero(~good)
    assert wrong.size == 0, [(x[i], y[i], have[i], exact[i]) for i in wrong[:5]]


@pytest.mark.parametrize("target", HOSTS)
@pytest.mark.parametrize("element", TYPES)
def test_powers_at_edges(element, target):
    dtype = TYPES[element]
    numbers = np.array(NUMBERS + MORE[element], dtype)
    numbers = np.concatenate([numbers, -numbers])
    x, y = (each.reshape(-1) for each in np.meshgrid(numbers, numbers))
    power = pl.loads(module(element), engine=pl.Engine(target=target)).power
    check(np.asarray(power(x, y)), x, y, BOUNDS[element])
    for length in (1, 3, 15, 16, 17, 31, 97):  # vectors and what is left
        check(np.asarray(power(x[:length], y[:length])), x[:length], y[:length], BOUNDS[element])


@pytest.mark.parametrize("element", TYPES)
def test_powers_of_random_numbers(element):
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = np.random.default_rng(seed)
    dtype = TYPES[element]
    power = pl.loads(module(element)).power
    n = 200003
    bits = {"f16": np.uint16, "f32": np.uint32, "f64": np.uint64}[element]
    patterns = rng.integers(0, np.iinfo(bits).max, (2, n), dtype=bits, endpoint=True).view(dtype)
    check(np.asarray(power(patterns[0], patterns[1])), patterns[0], patterns[1], BOUNDS[element])
    # Results over the whole range, of bases of all sizes and near to one.
    size, reaches = {"f16": (1 / 8, (-25, 16)), "f32": (1, (-151, 129)), "f64": (8, (-1076, 1025))}[element]
    for exponents in ((-120, 120), (-1, 1), (-0.01, 0.01)):
        x = np.exp2(rng.uniform(*exponents, n) * size).astype(dtype)
        x = np.where(x == 1, dtype(1.5), x)
        with np.errstate(all="ignore"):
            y = (rng.uniform(*reaches, n) / np.log2(x.astype(np.float64))).astype(dtype)
        check(np.asarray(power(x, y)), x, y, BOUNDS[element])


@pytest.mark.parametrize("element", TYPES)
def test_powers_of_vectors_and_what_is_left(element):
    """The same bits wherever an element is, with edges beside it or not, with known extents and with several threads."""
    if element == "f64" and "x86-64-v4" not in HOSTS:
        pytest.skip("the C library's vectors and its scalars differ")
    dtype = TYPES[element]
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0.01, 8, 300_007).astype(dtype), rng.uniform(-4, 4, 300_007).astype(dtype)
    want = np.asarray(pl.loads(module(element), engine=pl.Engine(threads=1)).power(x, y))
    np.testing.assert_array_equal(np.asarray(pl.loads(module(element), engine=pl.Engine(threads=2)).power(x, y)), want)
    power = pl.loads(module(element)).power
    for length in (*range(1, 70), 127, 1000):
        np.testing.assert_array_equal(np.asarray(power(x[:length], y[:length])), want[:length])
    known = pl.loads(module(element).replace("?x", "1000x").replace("tensor.empty(%n)", "tensor.empty()"))
    np.testing.assert_array_equal(np.asarray(known.power(x[:1000], y[:1000])), want[:1000])
    edges = x[:1000].copy()
    edges[::7] = rng.choice(np.array([0, -1, np.inf, np.nan, 1], dtype), edges[::7].size)
    got = np.asarray(power(edges, y[:1000]))
    ordinary = np.arange(1000) % 7 != 0
    np.testing.assert_array_equal(got[ordinary], want[:1000][ordinary])
