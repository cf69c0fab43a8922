"""NumPy's functions that @pl.jit puts together of others, beside NumPy: by types, shapes and options."""

import numpy as np
import pytest

import plimsoll as pl

from jit_checks import check, dynamic, numbers, same  # noqa: F401

FLOATS = [np.float32, np.float64]
SPECIAL = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2.5, -0.5, 3e38, 1e-30])


def holes(shape, dtype, seed=0):
    x = numbers(shape, dtype, seed)
    x[np.random.default_rng(seed).random(x.shape) < 0.2] = np.nan
    return x


@pytest.mark.parametrize("dtype", FLOATS)
def test_pairs_of_special_values(dtype):
    x = SPECIAL.astype(dtype)

    def function(x, y):
        a, b = x[:, None], y[None, :]
        return {name: getattr(np, name)(a, b) for name in ("hypot", "logaddexp", "logaddexp2", "heaviside", "float_power", "isclose")}

    check(function, x, x, tolerance=2e-5 if dtype == np.float32 else 1e-12)
    check(lambda x: (*np.modf(x), np.nan_to_num(x), np.nan_to_num(x, nan=7, posinf=1, neginf=2), np.isposinf(x), np.isneginf(x), np.fix(x),
                     np.real(x), np.conj(x), np.conjugate(x)), x)
    check(lambda x, y: (*np.divmod(x, y), np.isclose(x, y, 0.1, 0.2, True), np.allclose(x, y), np.array_equal(x, x), np.array_equal(x, y),
                        np.array_equal(x, x, equal_nan=True)), x, np.roll(x, 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_angles_and_the_like(dtype, dynamic):
    x = numbers((3, 5), dtype, 1, 0, 90)
    check(lambda x: (np.deg2rad(x), np.radians(x), np.rad2deg(x), np.degrees(x), np.sinc(x), np.hypot(x, 3), np.logaddexp(x, x[0]),
                     np.float_power(x, 2)), x, dynamic=dynamic, tolerance=2e-2 if np.dtype(dtype).itemsize == 1 else 3e-5)
    check(lambda x: (np.divmod(x, 7)[0], np.select([x > 50, x > 20], [x, x * 2], 5), np.select([x > 50], [x]),
                     np.polyval([2, 0, 1], x), np.polyval(x[:, 0], 0.5), np.nan_to_num(x)), x, dynamic=dynamic)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.bool_])
def test_shapes_of_arrays(dtype, dynamic):
    x, y, z = numbers((4, 6), dtype), numbers(5, dtype, 1), numbers((2, 3, 4), dtype, 2)

    def function(x, y, z):
        return {
            "pad": [np.pad(x, 1), np.pad(x, ((0, 2), (1, 0)), constant_values=1), np.pad(y, (2, 3), "edge"), np.pad(x, 3, "reflect"),
                    np.pad(x, (1, 2), mode="symmetric"), np.pad(x, ((4, 5), (0, 13)), "wrap"), np.pad(z, ((0, 0), (1, 1), (2, 0))),
                    np.pad(x, ((1, 1), (2, 2)), "constant", constant_values=((0, 1), (1, 0)))],
            "repeat": [np.repeat(x, 3), np.repeat(x, 2, 0), np.repeat(z, 2, -1), np.repeat(x, [1, 0, 2, 3], 0), np.repeat(y, 0)],
            "tile": [np.tile(x, 2), np.tile(y, (2, 3)), np.tile(x, (2, 1, 2)), np.tile(z, [1, 2])],
            "append": [np.append(x, y), np.append(x, x[:2], 0), np.append(y, 1)],
            "together": [np.column_stack([y, y, y]), np.column_stack([x, x[:, 0]]), np.dstack([x, x]), np.dstack([y, y])],
            "apart": [*np.split(x, 2), *np.split(x, [1, 3], 1), *np.array_split(y, 3), *np.hsplit(x, 3), *np.vsplit(x, 2), *np.dsplit(z, 2),
                      *np.hsplit(y, [2]), *np.array_split(y, [3, 2, 9])],
            "turned": [np.fliplr(x), np.flipud(x), *(np.rot90(x, k) for k in range(-1, 5)), np.rot90(z, 1, (1, 2))],
            "triangles": [np.tril(x), np.triu(x), np.tril(x, 2), np.triu(x, -2), np.tril(z, -1), np.triu(y)],
            "diagonals": [np.diagonal(x), np.diagonal(x, 2), np.diagonal(x, -3), np.diagonal(z, 1, 1, 2), np.diagonal(z, 0, 2, 0),
                          np.diag(x), np.diag(y), np.diag(y, 2), np.diag(y, -1), np.trace(x), np.trace(z, 0, 1, 2), np.diagonal(x, 9)],
            "at least": [np.atleast_1d(y), np.atleast_2d(y), np.atleast_3d(y), np.atleast_3d(x), np.atleast_3d(z), *np.atleast_2d(x, y),
                         np.atleast_1d(np.sum(x)), np.atleast_3d(np.sum(x))],
            "grids": [*np.meshgrid(y, x[0]), *np.meshgrid(y, x[0], z[0, 0], indexing="ij"), *np.meshgrid(y, x[0], sparse=True),
                      *np.broadcast_arrays(x, x[0]), *np.broadcast_arrays(y[:, None], z[0, 0])],
        }

    check(function, x, y, z, dynamic=dynamic)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_products_of_arrays(dtype, dynamic):
    x, y, z = numbers((4, 6), dtype), numbers((6, 5), dtype, 1), numbers((2, 6, 4), dtype, 2)
    u, v = numbers((7, 3), dtype, 3), numbers((7, 3), dtype, 4)

    def function(x, y, z, u, v):
        return {
            "outer": np.outer(x, y[0]), "inner": [np.inner(x, y.T), np.inner(x[0], y[:, 0]), np.inner(x, 3)],
            "tensordot": [np.tensordot(x, y, 1), np.tensordot(x, z, ([0, 1], [2, 1])), np.tensordot(x, y, 0), np.tensordot(z, x, (1, 1))],
            "kron": [np.kron(x, y), np.kron(x[0], y), np.kron(u[0], v[0])], "vdot": np.vdot(x, x),
            "cross": [np.cross(u, v), np.cross(u[0], v), np.cross(u[:3].T, v[:3], axisa=0)],
        }

    check(function, x, y, z, u, v, dynamic=dynamic, tolerance=1e-4 if dtype == np.float32 else None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("sizes", [(1, 1), (9, 3), (3, 9), (8, 4), (4, 4), (4, 9), (5, 8), (200, 100)])
def test_convolutions(dtype, sizes):
    x, y = numbers(sizes[0], dtype), numbers(sizes[1], dtype, 1)
    check(lambda x, y: {f"{function.__name__} {mode}": function(x, y, mode) for function in (np.convolve, np.correlate)
                        for mode in ("full", "same", "valid")}, x, y, tolerance=2e-4 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_statistics(dtype, dynamic):
    x, w = numbers((5, 7), dtype), numbers(7, np.float64, 1, 1, 9)

    def function(x, w):
        return {
            "ptp": [np.ptp(x), np.ptp(x, 0), np.ptp(x, 1, keepdims=True)],
            "count": [np.count_nonzero(x), np.count_nonzero(x, 1), np.count_nonzero(x, axis=0, keepdims=True)],
            "average": [np.average(x), np.average(x, 0), np.average(x, 1, w), np.average(x, weights=x + 100)],
            "median": [np.median(x), np.median(x, 0), np.median(x, 1, keepdims=True), np.median(x[:4], 0), np.median(x, (0, 1))],
            # Whose type NumPy chooses by the values, too.
            "quantile": [each.astype(np.float64) for each in (
                np.quantile(x, 0.3), np.quantile(x, [0, 0.25, 0.9, 1], 1), np.percentile(x, 50, 0), np.percentile(x, [[10, 20]], 1),
                np.quantile(x, 0.7, 0, keepdims=True), np.quantile(x, [0.1, 0.6], keepdims=True))],
            "nan": [np.nansum(x), np.nansum(x, 1), np.nanmax(x, 0), np.nanmin(x), np.nanmean(x, 0), np.nanstd(x, 1), np.nancumsum(x, 1)],
            "trapz": [np.trapz(x), np.trapz(x, dx=0.5, axis=0), np.trapz(x, w), np.trapz(x, x)],
            "cov": [np.cov(x), np.cov(x, rowvar=False), np.cov(x[0]), np.cov(x, bias=True), np.cov(x, ddof=2), np.corrcoef(x)],
            "gradient": [*np.gradient(x), np.gradient(x, axis=1), np.gradient(x, 0.5, axis=0), *np.gradient(x, 2, 3.0)],
            "differences": np.ediff1d(x),
            "norm": [np.linalg.norm(x), np.linalg.norm(x, axis=1), np.linalg.norm(x, "fro", keepdims=True), np.linalg.norm(x[0], 1),
                     np.linalg.norm(x, 2, 0), np.linalg.norm(x, np.inf, 1, keepdims=True), np.linalg.norm(x, -np.inf, axis=0)],
        }

    if np.dtype(dtype).kind == "u":
        whole = function

        def function(x, w):  # NumPy's differences of what has no sign wrap around, and so do its trapezoids
            results = whole(x, w)
            return {key: results[key] for key in ("ptp", "count", "average", "median", "quantile", "nan", "cov")}

    check(function, x, w, dynamic=dynamic, tolerance=1e-4 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("dtype", FLOATS)
def test_statistics_with_holes(dtype):
    x = holes((6, 9), dtype)
    x[2] = np.nan
    check(lambda x: {"sum": [np.nansum(x), np.nansum(x, 1), np.nanprod(x, 0), np.nancumsum(x, 1), np.nancumprod(x, 0)],
                     "extremes": [np.nanmax(x), np.nanmax(x, 1), np.nanmin(x, 0, keepdims=True)],
                     "moments": [np.nanmean(x), np.nanmean(x, 1), np.nanvar(x, 0), np.nanstd(x, 1, ddof=1), np.nanmean(x, (0, 1)),
                                 np.nanvar(x, keepdims=True)],
                     "ordered": [each.astype(np.float64) for each in (
                         np.median(x), np.median(x, 1), np.quantile(x, [0.2, 0.8], 1), np.percentile(x, 30, 0))]},
          x, tolerance=1e-4 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 64, 100])
def test_places(dtype, count, dynamic):
    a, v = np.sort(numbers(count, dtype)), numbers((11, 3), dtype, 1, -12, 12)
    check(lambda a, v: (np.searchsorted(a, v), np.searchsorted(a, v, "right"), np.searchsorted(a, v[0, 0]), np.isin(v, a), np.isin(v, a, invert=True), np.in1d(v, a),
                        np.searchsorted(a, a), np.searchsorted(a, a, side="right")), a, v, dynamic=dynamic and count > 0)
    bins = np.unique(a)
    if count > 1:
        check(lambda v: (np.digitize(v, bins), np.digitize(v, bins, True), np.digitize(v, bins[::-1]), np.digitize(v, bins[::-1], right=True)), v)
        check(lambda x, v: (np.interp(v, x, x * 2), np.interp(v, x, x[::-1], left=-1, right=1)), bins, v, tolerance=1e-6)


def test_places_of_what_is_no_number():
    a = np.array([-1, 0, 0, 2, np.inf, np.nan, np.nan])
    v = np.array([np.nan, -np.inf, np.inf, 0, -0.0, 1])
    check(lambda a, v: (np.searchsorted(a, v), np.searchsorted(a, v, "right"), np.isin(v, a)), a, v)
    check(lambda x, f, v: np.interp(v, x, f), a[[0, 1, 3]], np.array([1.0, 5, 2]), np.array([np.nan, -5, -1, -0.5, 0, 1, 2, 3, np.inf]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("bins", [1, 10, 63, 200])
def test_histograms(dtype, bins):
    x = numbers(1000, dtype, 5)
    check(lambda x: (*np.histogram(x, bins, (-6.5, 7)), *np.histogram(x, bins, range=(3, 3)), *np.histogram(x, np.arange(-9, 9, 3))), x)
    counts, edges = pl.jit(lambda x: np.histogram(x, bins))(x)
    want, wanted_edges = np.histogram(x, bins)
    assert edges.dtype == wanted_edges.dtype
    np.testing.assert_allclose(edges, wanted_edges, rtol=1e-6, atol=1e-12)
    assert counts.sum() == 1000 and np.abs(np.cumsum(counts) - np.cumsum(want)).max() <= 2  # what lies on an edge
    same(pl.jit(lambda x: np.histogram(x, 7, (0, 1)))(np.full(5, 0.5)), np.histogram(np.full(5, 0.5), 7, (0, 1)))


def test_linspace(dynamic):
    x = numbers((2, 3), np.float64)
    check(lambda x: (np.linspace(x[0, 0], 5), np.linspace(x, x + 1, 7), np.linspace(x[0], 3, 4, endpoint=False), np.linspace(0, x[0, 0], 1),
                     np.linspace(x[0, 0], 9, 5, dtype=int), np.linspace(x, 2, 0)), x, dynamic=dynamic)


@pytest.mark.parametrize("function, error", [
    (lambda x: np.pad(x, 1, "linear_ramp"), TypeError), (lambda x: np.pad(x, -1), ValueError), (lambda x: np.repeat(x, x), TypeError),
    (lambda x: np.repeat(x, -1), ValueError), (lambda x: np.split(x, 2), ValueError), (lambda x: np.quantile(x, 1.5), ValueError),
    (lambda x: np.quantile(x, 0.5, method="lower"), TypeError), (lambda x: np.median(x[:0]), IndexError), (lambda x: np.digitize(1, x), TypeError),
    (lambda x: np.searchsorted(x, 1, "middle"), ValueError), (lambda x: np.cross(x[:2], x[:2]), TypeError), (lambda x: np.gradient(x[:1]), ValueError),
    (lambda x: np.convolve(x, x[:0]), ValueError), (lambda x: np.histogram(x, 0), ValueError), (lambda x: np.tensordot(x, x[:2], 1), ValueError),
    (lambda x: np.histogram(x, [3, 1]), ValueError), (lambda x: np.interp(x, x, x[:2]), ValueError), (lambda x: np.diag(x[None, None]), ValueError)])
def test_what_does_not_fit(function, error):
    with pytest.raises(error):
        pl.jit(function)(np.arange(3.0))
