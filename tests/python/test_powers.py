"""Powers of any base and exponent, against NumPy in f64: within 1.2 units in the last place, and at every edge what C says."""

import random

import numpy as np
import plimsoll as pl
import pytest

TYPES = {"f16": np.float16, "f32": np.float32}
NUMBERS = [0, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 7, 23, 24, 149, 150, 2047, 2048, np.inf, np.nan]
OF_F32 = [2.0**-149, 1.5 * 2.0**-148, 2.0**-126, 1 - 2.0**-24, 1 + 2.0**-23, 2.0**22 + 0.5, 2.0**23, 2.0**23 + 1, 2.0**24 - 1, 2.0**24,
          2.0**24 + 2, 2.0**60, np.finfo(np.float32).max]


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
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
        wanted = exact.astype(x.dtype)
        wide = have.astype(np.float64)
        unit = np.maximum(np.exp2(np.floor(np.log2(np.abs(exact)))), float(kind.tiny)) * float(kind.eps)
        same = (have == wanted) & (np.signbit(have) == np.signbit(wanted)) | np.isnan(have) & np.isnan(wanted)
        # Next to the largest number and to the least, either side is near enough.
        near = np.abs(np.where(np.isinf(wide), np.copysign(2.0**kind.maxexp, wide), wide) - exact) <= bound * unit
    good = same | (near & np.isfinite(exact) & (np.signbit(have) == np.signbit(exact)))
    wrong = np.flatnonzero(~good)
    assert wrong.size == 0, [(x[i], y[i], have[i], exact[i]) for i in wrong[:5]]


@pytest.mark.parametrize("target", ["host-cpu", "x86-64-v2"])
@pytest.mark.parametrize("element", TYPES)
def test_powers_at_edges(element, target):
    dtype = TYPES[element]
    numbers = np.array(NUMBERS + (OF_F32 if element != "f16" else []), dtype)
    numbers = np.concatenate([numbers, -numbers])
    x, y = (each.reshape(-1) for each in np.meshgrid(numbers, numbers))
    power = pl.loads(module(element), engine=pl.Engine(target=target)).power
    check(np.asarray(power(x, y)), x, y, 1.2)
    for length in (1, 3, 15, 16, 17, 31, 97):  # vectors and what is left
        check(np.asarray(power(x[:length], y[:length])), x[:length], y[:length], 1.2)


@pytest.mark.parametrize("element", TYPES)
def test_powers_of_random_numbers(element):
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = np.random.default_rng(seed)
    dtype = TYPES[element]
    power = pl.loads(module(element)).power
    n = 200003
    bits = np.uint16 if element == "f16" else np.uint32
    patterns = rng.integers(0, np.iinfo(bits).max, (2, n), dtype=bits, endpoint=True).view(dtype)
    check(np.asarray(power(patterns[0], patterns[1])), patterns[0], patterns[1], 1.2)
    # Results over the whole range, of bases of all sizes and near to one.
    for exponents in ((-120, 120), (-1, 1), (-0.01, 0.01)):
        x = np.exp2(rng.uniform(*exponents, n) / (8 if element == "f16" else 1)).astype(dtype)
        x = np.where(x == 1, dtype(1.5), x)
        reach = rng.uniform(-25, 16, n) if element == "f16" else rng.uniform(-151, 129, n)
        with np.errstate(all="ignore"):
            y = (reach / np.log2(x.astype(np.float64))).astype(dtype)
        check(np.asarray(power(x, y)), x, y, 1.2)
