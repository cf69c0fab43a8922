"""What functions of @pl.jit give, beside NumPy."""

import warnings

import numpy as np
import pytest

import plimsoll as pl

TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-12}


@pytest.fixture(params=[False, True], ids=["static", "dynamic"])
def dynamic(request):
    return request.param


def numbers(shape, dtype, seed=0, low=-9, high=9):
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        return random.uniform(low, high, shape).astype(dtype)
    return random.integers(max(low, np.iinfo(dtype).min), high + 1, shape).astype(dtype)


def same(got, want, tolerance=None):
    """The same structure, types and shapes, and values as close as the type allows."""
    if isinstance(want, dict):
        assert list(got) == list(want)
        for key in want:
            try:
                same(got[key], want[key], tolerance)
            except AssertionError as error:
                raise AssertionError(f"{key}: {error}") from None
    elif isinstance(want, (tuple, list)):
        assert type(got) is type(want) and len(got) == len(want)
        for i, (one, two) in enumerate(zip(got, want)):
            same(one, two, tolerance)
    else:
        want = np.asarray(want)
        assert isinstance(got, np.ndarray)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if want.dtype.kind == "f":
            limit = tolerance or TOLERANCE[want.dtype.name]
            np.testing.assert_allclose(got, want, rtol=limit, atol=limit)
        else:
            np.testing.assert_array_equal(got, want)


def check(function, *arguments, dynamic=False, tolerance=None):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want = function(*arguments)
    same(pl.jit(function, dynamic=dynamic)(*arguments), want, tolerance)
