"""NumPy's functions that are others put together."""

from __future__ import annotations

import math

import numpy as np

from ._dims import Dim, same
from ._elements import _sample, _sample_result, broadcast, elementwise, result_type
from ._shapes import axes_of
from ._trace import Traced, functions, lift, refuse, tensor, trace_of

# Of so few numbers each is compared with all.
_FEW = 64


def _lifted(*values) -> list[Traced]:
    trace = trace_of(*values)
    return [tensor(lift(trace, value)) for value in values]


def _typed(ufunc, *inputs):
    """Operands in the type that NumPy computes a ufunc in."""
    kind = _sample_result(ufunc, [_sample(each) if isinstance(each, (Traced, Dim, bool, int, float))
                                  else np.ones((1,), np.asarray(each).dtype) for each in inputs])
    trace = trace_of(*inputs)
    return [lift(trace, each).astype(kind) for each in inputs]


# --- Elements -------------------------------------------------------------------------------------


def hypot(x, y) -> Traced:
    """Of the larger one, whose square may be none of its type."""
    x, y = map(np.absolute, _typed(np.hypot, x, y))
    most, least = np.maximum(x, y), np.minimum(x, y)
    part = least / np.where(most == 0, 1, most).astype(most.dtype)
    return np.where(np.isinf(x) | np.isinf(y), np.inf, most * np.sqrt(1 + part * part)).astype(x.dtype)


def _logaddexp(ufunc, exponential, factor):
    def function(trace, _, inputs):
        x, y = _typed(ufunc, *inputs)
        apart = np.maximum(x, y) + np.log1p(exponential(-np.absolute(x - y))) * factor
        return np.where(x == y, x + np.log1p(1.0) * factor, apart).astype(x.dtype)

    return function


def _scaled(ufunc, factor):
    return lambda trace, _, inputs: _typed(ufunc, *inputs)[0] * factor


def heaviside(x, at_zero) -> Traced:
    x, at_zero = _typed(np.heaviside, x, at_zero)
    step = np.where(x == 0, at_zero, (x > 0).astype(x.dtype))
    return np.where(np.isnan(x), x, step)


def modf(x):
    (x,) = _typed(np.negative, x) if lift(trace_of(x), x).dtype.kind == "f" else _typed(np.sqrt, x)
    whole = np.trunc(x)
    return np.copysign(np.where(np.isinf(x), 0, x - whole).astype(x.dtype), x), whole


def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False) -> Traced:
    a, b = _lifted(a, b)
    b = b.astype(result_type(b, 1.0))
    near = np.less_equal(np.absolute(a - b), atol + rtol * np.absolute(b)) & np.isfinite(b)
    result = near & np.isfinite(a) | (a == b)
    return result | np.isnan(a) & np.isnan(b) if equal_nan else result


def array_equal(a1, a2, equal_nan=False) -> Traced:
    a, b = _lifted(a1, a2)
    if a.ndim != b.ndim or not all(map(same, a.shape, b.shape)):
        return np.all(np.zeros_like(a, bool, shape=(1,)))
    result = a == b
    return np.all(result | np.isnan(a) & np.isnan(b) if equal_nan else result)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None) -> Traced:
    x = tensor(x)
    if x.dtype.kind != "f":
        return x
    limits = np.finfo(x.dtype)
    x = np.where(x == np.inf, x.dtype.type(limits.max if posinf is None else posinf),
                 np.where(x == -np.inf, x.dtype.type(limits.min if neginf is None else neginf), x))
    return np.where(np.isnan(x), x.dtype.type(nan), x)


def sinc(x) -> Traced:
    x = tensor(x)
    y = np.pi * np.where(x == 0, 1e-20, x)
    return np.sin(y) / y


def select(condlist, choicelist, default=0) -> Traced:
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError("list of cases must be same length as list of conditions")
    kind = result_type(*choicelist, default)
    result = lift(trace_of(*condlist, *choicelist), default).astype(kind)
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        result = np.where(condition, choice, result)
    return result.astype(kind)


def polyval(p, x) -> Traced:
    coefficients = [p[i] for i in range(len(p))] if isinstance(p, Traced) else np.asarray(p).tolist()
    (x,) = _lifted(lift(trace_of(p, x), x))
    y = np.zeros_like(x)
    for each in coefficients:
        y = y * x + each
    return y


# --- Shapes ---------------------------------------------------------------------------------------


def _at_least(rank: int):
    def one(array):
        array = tensor(array)
        if rank == 3 and array.ndim < 3:
            array = np.expand_dims(one_or_two(array), -1) if array.ndim else array
            return np.reshape(array, (1, 1, 1)) if array.ndim == 0 else array
        return np.reshape(array, (1,) * (rank - array.ndim) + array.shape) if array.ndim < rank else array

    def one_or_two(array):
        return np.reshape(array, (1, -1)) if array.ndim == 1 else array

    def function(*arrays):
        results = [one(array) for array in _lifted(*arrays)]
        return results[0] if len(results) == 1 else results

    return function


def pad(array, pad_width, mode="constant", **options) -> Traced:
    array = tensor(array)
    values = np.broadcast_to(options.pop("constant_values", 0), (array.ndim, 2)) if mode == "constant" else None
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        raise TypeError(f"numpy.pad: plimsoll.jit knows no mode={mode!r}")
    refuse("pad", options)
    widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))
    if widths.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise ValueError("index can't contain negative values")
    for axis, (before, after) in enumerate(widths.tolist()):
        if before == after == 0:
            continue
        if values is None:
            extent = int(array.shape[axis])
            array = np.take(array, np.pad(np.arange(extent), (before, after), mode), axis)
            continue
        parts = [np.full_like(array, array.dtype.type(value).item(), shape=(
            *array.shape[:axis], width, *array.shape[axis + 1:]))
                 for width, value in zip((before, after), values[axis])]
        array = np.concatenate([parts[0], array, parts[1]], axis)
    return array


def repeat(a, repeats, axis=None) -> Traced:
    array = tensor(a)
    if axis is None:
        array, axis = np.reshape(array, -1), 0
    (axis,) = axes_of(axis, array.ndim)
    counts = np.asarray(repeats)
    if counts.dtype.kind not in "iub":
        raise TypeError("numpy.repeat: plimsoll.jit knows no counts but whole numbers that are known")
    if (counts < 0).any():
        raise ValueError("repeats may not contain negative values.")
    shape = array.shape
    if counts.size == 1:
        wide = np.broadcast_to(np.expand_dims(array, axis + 1),
                               (*shape[:axis + 1], int(counts.ravel()[0]), *shape[axis + 1:]))
        return np.reshape(wide, (*shape[:axis], shape[axis] * int(counts.ravel()[0]), *shape[axis + 1:]))
    return np.take(array, np.repeat(np.arange(int(shape[axis])), counts), axis)


def tile(A, reps) -> Traced:
    array = tensor(A)
    counts = [reps] if isinstance(reps, (int, Dim, np.integer)) else list(reps)
    rank = max(array.ndim, len(counts))
    counts = [1] * (rank - len(counts)) + counts
    shape = (1,) * (rank - array.ndim) + array.shape
    apart = [extent for each in shape for extent in (1, each)]
    wide = [extent for pair in zip(counts, shape) for extent in pair]
    return np.reshape(np.broadcast_to(np.reshape(array, apart), wide),
                      [count * extent for count, extent in zip(counts, shape)])


def append(arr, values, axis=None) -> Traced:
    arr, values = _lifted(arr, values)
    if axis is None:
        arr, values, axis = np.reshape(arr, -1), np.reshape(values, -1), 0
    return np.concatenate([arr, values], axis)


def column_stack(tup) -> Traced:
    return np.concatenate([np.reshape(each, (-1, 1)) if each.ndim < 2 else each for each in _lifted(*tup)], 1)


def array_split(ary, indices_or_sections, axis=0, is_equal=False) -> list[Traced]:
    array = tensor(ary)
    (axis,) = axes_of(axis, array.ndim)
    extent = int(array.shape[axis])
    if isinstance(indices_or_sections, (int, np.integer)):
        count = int(indices_or_sections)
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        if is_equal and extent % count:
            raise ValueError("array split does not result in an equal division")
        each, more = divmod(extent, count)
        places = np.cumsum([0] + [each + 1] * more + [each] * (count - more)).tolist()
    else:
        places = [0, *(int(place) for place in indices_or_sections), extent]
    before = (slice(None),) * axis
    return [array[(*before, slice(begin, end))] for begin, end in zip(places, places[1:])]


def _split_along(axis_of):
    return lambda ary, indices_or_sections: array_split(
        ary, indices_or_sections, axis_of(ary), True)


def rot90(m, k=1, axes=(0, 1)) -> Traced:
    one, two = axes_of(tuple(axes), m.ndim)
    k %= 4
    if k == 0:
        return tensor(m)
    if k == 2:
        return np.flip(np.flip(m, one), two)
    return np.swapaxes(np.flip(m, two), one, two) if k == 1 else np.flip(np.swapaxes(m, one, two), two)


def _where_places(array: Traced, predicate: str, offset: int) -> Traced:
    """Elements whose column minus their row is so to `offset`, and zeros."""
    rank = array.ndim

    def body(s, given):
        row, column = (s.op(f"linalg.index {rank - i} : index") for i in (2, 1))
        distance = s.op(f"arith.subi {column}, {row} : index")
        limit = s.op(f"arith.constant {offset} : index")
        keeps = s.op(f"arith.cmpi {predicate}, {distance}, {limit} : index")
        return s.select(keeps, given[0], s.constant(0, array.dtype), array.dtype)

    return elementwise(array._trace, [array], array.shape, array.dtype, body)


def _triangle(predicate):
    def function(m, k=0):
        array = tensor(m)
        if array.ndim < 2:  # as NumPy: a row of each length
            array = np.broadcast_to(array, (array.shape[-1], array.shape[-1]))
        return _where_places(array, predicate, k)

    return function


def diagonal(a, offset=0, axis1=0, axis2=1) -> Traced:
    array = tensor(a)
    axes = axes_of((axis1, axis2), array.ndim)
    array = np.moveaxis(array, axes, (-2, -1))
    rows, columns = int(array.shape[-2]), int(array.shape[-1])
    places = np.arange(max(0, min(rows - max(0, -offset), columns - max(0, offset))))
    flat = np.reshape(array, (*array.shape[:-2], rows * columns))
    return np.take(flat, (places + max(0, -offset)) * columns + places + max(0, offset), -1)


def diag(v, k=0) -> Traced:
    array = tensor(v)
    if array.ndim == 2:
        return diagonal(array, k)
    if array.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    array = pad(array, (max(0, -k), max(0, k)))
    square = np.broadcast_to(np.expand_dims(array, 1), (array.shape[0],) * 2)
    return _where_places(square, "eq", k)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy") -> list[Traced]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    arrays = [np.reshape(each, -1) for each in _lifted(*xi)]
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[:2] = 1, 0
    results = [np.reshape(each, [-1 if place == order[i] else 1 for place in range(len(arrays))])
               for i, each in enumerate(arrays)]
    return results if sparse else broadcast_arrays(*results)


def broadcast_arrays(*args, subok=False) -> list[Traced]:
    arrays = _lifted(*args)
    shape = broadcast(*(array.shape for array in arrays))
    return [np.broadcast_to(array, shape) for array in arrays]


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0) -> Traced:
    refuse("linspace", {"retstep": retstep or None, "axis": axis or None})
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    start, stop = _lifted(start, stop)
    kind = result_type(start, stop, float(num))
    start, stop = start.astype(kind), stop.astype(kind)
    parts = num - 1 if endpoint else num
    places = np.reshape(np.arange(num), (-1,) + (1,) * max(start.ndim, stop.ndim)).astype(kind)
    # Exact where ends are whole numbers, also if a product and a sum are rounded once.
    values = (start * (parts - places) + stop * places) / kind.type(max(1, parts))
    if endpoint and num > 1:
        values = np.concatenate([values[:-1], np.broadcast_to(stop, (1, *values.shape[1:]))])
    wanted = np.dtype(dtype or kind)
    return (np.floor(values) if wanted.kind in "iu" else values).astype(wanted)


# --- Products -------------------------------------------------------------------------------------


def outer(a, b, out=None) -> Traced:
    refuse("outer", {"out": out})
    a, b = _lifted(a, b)
    return np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1))


def tensordot(a, b, axes=2) -> Traced:
    a, b = _lifted(a, b)
    if isinstance(axes, (int, np.integer)):
        of_a, of_b = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        of_a, of_b = ([each] if isinstance(each, int) else list(each) for each in axes)
    of_a, of_b = axes_of(tuple(of_a), a.ndim), axes_of(tuple(of_b), b.ndim)
    if len(of_a) != len(of_b) or not all(same(a.shape[i], b.shape[j]) for i, j in zip(of_a, of_b)):
        raise ValueError("shape-mismatch for sum")
    names = iter("abcdefghijklmnopqrstuvwxyz")
    first = [next(names) for _ in range(a.ndim)]
    second = [first[of_a[of_b.index(i)]] if i in of_b else next(names) for i in range(b.ndim)]
    rest = [name for name in first + second if not (name in first and name in second)]
    return np.einsum(f"{''.join(first)},{''.join(second)}->{''.join(rest)}", a, b)


def inner(a, b) -> Traced:
    a, b = _lifted(a, b)
    return a * b if a.ndim == 0 or b.ndim == 0 else tensordot(a, b, (-1, -1))


def kron(a, b) -> Traced:
    a, b = _lifted(a, b)
    rank = max(a.ndim, b.ndim)
    of_a, of_b = ((1,) * (rank - each.ndim) + each.shape for each in (a, b))
    wide = (np.reshape(a, [extent for each in of_a for extent in (each, 1)]) *
            np.reshape(b, [extent for each in of_b for extent in (1, each)]))
    return np.reshape(wide, [one * two for one, two in zip(of_a, of_b)])


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None) -> Traced:
    refuse("cross", {"axis": axis})
    a, b = _lifted(a, b)
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if not same(a.shape[-1], 3) or not same(b.shape[-1], 3):
        raise TypeError("numpy.cross: plimsoll.jit knows vectors of three elements alone")
    x, y = ([each[..., i] for i in range(3)] for each in (a, b))
    result = np.stack([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]], -1)
    return result if axisc == -1 else np.moveaxis(result, -1, axisc)


def convolve(a, v, mode="full") -> Traced:
    a, v = _lifted(a, v)
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    if int(a.shape[0]) < int(v.shape[0]):
        a, v = v, a
    n, m = int(a.shape[0]), int(v.shape[0])
    if m == 0:
        raise ValueError("v cannot be empty")
    # Parts of what "full" gives: of "same" the middle.
    first, count = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}[mode]
    wide = pad(a.astype(result_type(a, v)), (m - 1, m - 1))
    if m <= _FEW:
        terms = [wide[first + i:first + i + count] * v[m - 1 - i] for i in range(m)]
        return sum(terms[1:], terms[0])
    windows = np.take(wide, first + np.arange(count)[:, None] + np.arange(m))
    return windows @ v[::-1]


def correlate(a, v, mode="valid") -> Traced:
    a, v = _lifted(a, v)
    if int(a.shape[0]) < int(v.shape[0]):  # NumPy turns it around
        return convolve(v, a[::-1], mode)[::-1]
    return convolve(a, v[::-1], mode)


def norm(x, ord=None, axis=None, keepdims=False) -> Traced:
    x = tensor(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    is_vector = np.ndim(axis) == 0 and axis is not None or axis is None and x.ndim == 1
    if ord is None or (ord == 2 and is_vector) or (ord == "fro" and not is_vector):
        return np.sqrt(np.sum(x * x, axis, keepdims=keepdims))
    if not is_vector or ord not in (1, np.inf, -np.inf):
        raise TypeError(f"numpy.linalg.norm: plimsoll.jit knows no ord={ord!r} here")
    function = np.sum if ord == 1 else np.max if ord > 0 else np.min
    return function(np.absolute(x), axis, keepdims=keepdims)


# --- Statistics -----------------------------------------------------------------------------------


def average(a, axis=None, weights=None, returned=False, keepdims=np._NoValue) -> Traced:
    refuse("average", {"returned": returned or None})
    keeps = keepdims is not np._NoValue and keepdims
    if weights is None:
        return np.mean(a, axis, keepdims=keeps)
    a, weights = _lifted(a, weights)
    if weights.ndim != a.ndim:
        (axis,) = axes_of(axis, a.ndim)
        weights = np.reshape(weights, [-1 if i == axis else 1 for i in range(a.ndim)])
    kind = result_type(a, weights, *([] if a.dtype.kind == "f" else [1.0]))
    a = a.astype(kind)
    weights = np.broadcast_to(weights.astype(kind), a.shape)
    return np.sum(a * weights, axis, keepdims=keeps) / np.sum(weights, axis, keepdims=keeps)


def _without_nan(function, start):
    def reduced(a, axis=None, dtype=None, out=None, keepdims=False, **options):
        refuse(function.__name__, {"out": out, **options})
        a = tensor(a)
        a = np.where(np.isnan(a), a.dtype.type(start), a) if a.dtype.kind == "f" else a
        return (function(a, axis, dtype) if function in (np.cumsum, np.cumprod)
                else function(a, axis, dtype, keepdims=keepdims))

    return reduced


def _extreme_without_nan(function, start):
    def reduced(a, axis=None, out=None, keepdims=False, **options):
        refuse(function.__name__, {"out": out, **options})
        a = tensor(a)
        if a.dtype.kind != "f":
            return function(a, axis, keepdims=keepdims)
        result = function(np.where(np.isnan(a), a.dtype.type(start), a), axis, keepdims=keepdims)
        return np.where(np.all(np.isnan(a), axis, keepdims=keepdims), a.dtype.type(np.nan), result)

    return reduced


def _count_of_numbers(a, axis, kind):
    return np.sum(~np.isnan(a), axis, keepdims=True).astype(kind)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, **options) -> Traced:
    refuse("nanmean", {"out": out, "dtype": dtype, **options})
    a = tensor(a)
    if a.dtype.kind != "f":
        return np.mean(a, axis, keepdims=keepdims)
    result = np.nansum(a, axis, keepdims=True) / _count_of_numbers(a, axis, a.dtype)
    return result if keepdims else np.squeeze(result, axes_of(axis, a.ndim))


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **options) -> Traced:
    refuse("nanvar", {"out": out, "dtype": dtype, **options})
    a = tensor(a)
    if a.dtype.kind != "f":
        return np.var(a, axis, ddof=ddof, keepdims=keepdims)
    distance = a - nanmean(a, axis, keepdims=True)
    free = _count_of_numbers(a, axis, a.dtype) - ddof
    result = np.where(free > 0, np.nansum(distance * distance, axis, keepdims=True) / free,
                      a.dtype.type(np.nan))
    return result if keepdims else np.squeeze(result, axes_of(axis, a.ndim))


def _flat_along(a, axis):
    """With the axes that are reduced as one, the last; and the shape that keeps them."""
    axes = axes_of(axis, a.ndim)
    kept = [1 if i in axes else extent for i, extent in enumerate(a.shape)]
    rest = [i for i in range(a.ndim) if i not in axes]
    moved = np.transpose(a, (*rest, *axes))
    return np.reshape(moved, (*(a.shape[i] for i in rest), -1)), kept


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, **options) -> Traced:
    if method != "linear":
        raise TypeError(f"numpy.quantile: plimsoll.jit knows no method={method!r}")
    refuse("quantile", {"out": out, **options})
    if isinstance(q, Traced):
        raise TypeError("numpy.quantile: plimsoll.jit knows no shares but known ones")
    q = np.asarray(q, np.float64)
    if not ((0 <= q) & (q <= 1)).all():
        raise ValueError("Quantiles must be in the range [0, 1]")
    a = tensor(a)
    kind = a.dtype if a.dtype.kind == "f" else np.dtype(np.float64)
    rows, kept = _flat_along(a.astype(kind), axis)
    ordered, last = np.sort(rows, -1), int(rows.shape[-1]) - 1
    if last < 0:
        raise IndexError("a quantile of no elements")
    place = q * last
    low = np.floor(place).astype(np.int64)
    share = (place - low).astype(kind if q.ndim == 0 and ordered.ndim > 1 else np.float64)
    below, above = (np.take(ordered, np.minimum(each, last), -1) for each in (low, low + 1))
    difference = above - below
    result = np.where(share >= 0.5, above - difference * (1 - share), below + difference * share)
    isnan = np.isnan(ordered[..., -1])  # where there is one
    result = np.where(np.reshape(isnan, isnan.shape + (1,) * q.ndim), np.nan, result)
    # Of a number NumPy does not look at the type, but for a result that is one.
    result = np.moveaxis(result.astype(kind if q.ndim == 0 and isnan.ndim > 0 else np.float64),
                         tuple(range(isnan.ndim, isnan.ndim + q.ndim)), tuple(range(q.ndim)))
    return np.reshape(result, (*q.shape, *kept)) if keepdims else result


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False) -> Traced:
    refuse("median", {"out": out})
    a = tensor(a)
    kind = a.dtype if a.dtype.kind == "f" else np.dtype(np.float64)
    rows, kept = _flat_along(a, axis)
    ordered, count = np.sort(rows, -1), int(rows.shape[-1])
    if count == 0:
        raise IndexError("a median of no elements")
    middle = np.mean(ordered[..., (count - 1) // 2:count // 2 + 1], -1).astype(kind)
    if kind == a.dtype:
        middle = np.where(np.isnan(ordered[..., -1]), a.dtype.type(np.nan), middle)
    return np.reshape(middle, kept) if keepdims else middle


def trapz(y, x=None, dx=1.0, axis=-1) -> Traced:
    y = tensor(y)
    (axis,) = axes_of(axis, y.ndim)
    if x is not None:
        dx = np.diff(x if isinstance(x, Traced) else np.asarray(x), axis=-1 if np.ndim(x) == 1 else axis)
        if np.ndim(x) == 1:
            dx = np.reshape(dx, [-1 if i == axis else 1 for i in range(y.ndim)])
    before = (slice(None),) * axis
    return np.sum(dx * (y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]) / 2.0, axis)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None) -> Traced:
    refuse("cov", {"y": y, "fweights": fweights, "aweights": aweights, "dtype": dtype})
    m = tensor(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    is_row = m.ndim < 2
    m = np.reshape(m, (1, -1)) if is_row else m if rowvar else m.T
    m = m.astype(result_type(m, np.zeros(1, np.float64)))
    count = m.shape[1] - (ddof if ddof is not None else 0 if bias else 1)
    m = m - np.mean(m, 1, keepdims=True)
    result = m @ m.T / count
    return result[0, 0] if is_row else result


def corrcoef(x, y=None, rowvar=True) -> Traced:
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return c / c
    scale = np.sqrt(diagonal(c))
    return np.clip(c / np.expand_dims(scale, 1) / np.expand_dims(scale, 0), -1, 1)


def gradient(f, *varargs, axis=None, edge_order=1):
    if edge_order != 1:
        raise TypeError("numpy.gradient: plimsoll.jit knows no edge_order=2")
    f = tensor(f)
    axes = axes_of(axis, f.ndim)
    steps = list(varargs) * (len(axes) if len(varargs) == 1 else 1) or [1.0] * len(axes)
    if len(steps) != len(axes):
        raise TypeError("invalid number of arguments")
    if any(np.ndim(step) for step in steps):
        raise TypeError("numpy.gradient: plimsoll.jit knows distances alone, no places")
    f = f if f.dtype.kind == "f" else f.astype(np.float64)
    results = []
    for along, step in zip(axes, steps):
        if int(f.shape[along]) < 2:
            raise ValueError("Shape of array too small to calculate a numerical gradient, at least "
                             "2 elements are required.")
        at = lambda *part: f[(*(slice(None),) * along, slice(*part))]
        results.append(np.concatenate([(at(1, 2) - at(0, 1)) / step, (at(2, None) - at(None, -2)) / (2.0 * step),
                                       (at(-1, None) - at(-2, -1)) / step], along))
    return results[0] if len(results) == 1 else results


# --- Places in what is sorted ---------------------------------------------------------------------


def searchsorted(a, v, side="left", sorter=None) -> Traced:
    """In halves, without a branch; as many steps as the length has digits."""
    refuse("searchsorted", {"sorter": sorter})
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    a, v = _lifted(a, v)
    if a.ndim != 1:
        raise ValueError("object too deep for desired array")
    kind = result_type(a, v)
    a, v = a.astype(kind), v.astype(kind)
    count = int(a.shape[0])
    places = np.zeros_like(v, np.int64)
    for digit in reversed(range(count.bit_length())):
        there = places + (1 << digit)
        other = np.take(a, np.minimum(there, count) - 1)
        comes_before = other < v if side == "left" else other <= v
        if kind.kind == "f":  # NaN come last
            comes_before = comes_before | np.isnan(v) & (~np.isnan(other) if side == "left" else True)
        places = np.where(comes_before & (there <= count), there, places)
    return places


def digitize(x, bins, right=False) -> Traced:
    if isinstance(bins, Traced):
        raise TypeError("numpy.digitize: plimsoll.jit knows no bins but known ones, which tell whether they "
                        "rise; numpy.searchsorted() takes others")
    bins = np.asarray(bins)
    if bins.size and (np.diff(bins) < 0).any():
        if (np.diff(bins) > 0).any():
            raise ValueError("bins must be monotonically increasing or decreasing")
        return len(bins) - searchsorted(lift(trace_of(x), bins[::-1].copy()), x, "left" if right else "right")
    return searchsorted(lift(trace_of(x), bins), x, "left" if right else "right")


def isin(element, test_elements, assume_unique=False, invert=False, kind=None) -> Traced:
    x, tests = _lifted(element, test_elements)
    tests = np.sort(np.reshape(tests, -1))
    count = int(tests.shape[0])
    if count == 0:
        return np.full_like(x, bool(invert), bool)
    found = np.take(tests, np.minimum(searchsorted(tests, x), count - 1)) == x
    return ~found if invert else found


def interp(x, xp, fp, left=None, right=None, period=None) -> Traced:
    refuse("interp", {"period": period})
    x, xp, fp = (each.astype(np.float64) for each in _lifted(x, xp, fp))
    count = int(xp.shape[0])
    if count == 0 or not same(xp.shape[0], fp.shape[0]):
        raise ValueError("fp and xp are not of the same length." if count else "array of sample points is empty")
    at = np.minimum(np.maximum(searchsorted(xp, x, "right") - 1, 0), max(0, count - 2))
    to = np.minimum(at + 1, count - 1)
    x0, y0, x1, y1 = np.take(xp, at), np.take(fp, at), np.take(xp, to), np.take(fp, to)
    slope = (y1 - y0) / (x1 - x0)
    inside = slope * (x - x0) + y0
    inside = np.where(np.isnan(inside), slope * (x - x1) + y1, inside)
    inside = np.where(np.isnan(inside) & (y0 == y1), y0, inside)
    result = np.where(x == xp[-1], fp[-1], np.where(x == x0, y0, inside))
    result = np.where(x > xp[-1], fp[-1] if right is None else right, result)
    result = np.where(x < xp[0], fp[0] if left is None else left, result)
    return np.where(np.isnan(x), x, result)


def histogram(a, bins=10, range=None, density=None, weights=None):
    refuse("histogram", {"weights": weights, "density": density or None})
    a = np.reshape(tensor(a), -1)
    kind = a.dtype if a.dtype.kind == "f" else np.dtype(np.float64)
    if isinstance(bins, (int, np.integer)):
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
        if range is None:
            least, most = np.min(a).astype(np.float64), np.max(a).astype(np.float64)
            is_one = least == most
            least, most = np.where(is_one, least - 0.5, least), np.where(is_one, most + 0.5, most)
            edges = linspace(least, most, int(bins) + 1).astype(kind)
        else:
            least, most = map(float, range)
            if not least <= most or not math.isfinite(most - least):
                raise ValueError("max must be larger than min in range parameter.")
            edges = np.linspace(*((least, most) if least < most else (least - 0.5, most + 0.5)), int(bins) + 1).astype(kind)
    else:
        edges = bins
    (edges,) = _lifted(lift(a._trace, edges))
    if not isinstance(bins, (int, np.integer, Traced)) and (np.diff(np.asarray(bins)) < 0).any():
        raise ValueError("`bins` must increase monotonically, when an array")
    kind = result_type(a, edges)
    values, limits = a.astype(kind), edges.astype(kind)
    count = int(edges.shape[0])
    if count <= _FEW:
        reached = np.sum(np.expand_dims(values, 0) >= np.expand_dims(limits[:-1], 1), 1)
        beyond = np.sum(values > limits[-1])
    else:
        ordered = np.sort(values)
        total = np.sum(~np.isnan(values))
        reached = total - searchsorted(ordered, limits[:-1], "left")
        beyond = total - searchsorted(ordered, limits[-1], "right")
    counts = reached - np.concatenate([reached[1:], np.reshape(beyond, 1)])
    return counts, edges


def count_nonzero(a, axis=None, *, keepdims=False) -> Traced:
    return np.sum(tensor(a) != 0, axis, keepdims=keepdims)


def _of_inputs(function):
    return lambda trace, ufunc, inputs: function(*inputs)


functions.update({
    np.hypot: _of_inputs(hypot), np.heaviside: _of_inputs(heaviside), np.modf: _of_inputs(modf),
    np.divmod: _of_inputs(lambda x, y: (x // y, x % y)),
    np.float_power: _of_inputs(lambda x, y: np.power(*(each.astype(np.float64) for each in _lifted(x, y)))),
    np.conjugate: _of_inputs(lambda x: x),
    np.logaddexp: _logaddexp(np.logaddexp, np.exp, 1),
    np.logaddexp2: _logaddexp(np.logaddexp2, np.exp2, math.log2(math.e)),
    **{ufunc: _scaled(ufunc, np.pi / 180) for ufunc in (np.deg2rad, np.radians)},
    **{ufunc: _scaled(ufunc, 180 / np.pi) for ufunc in (np.rad2deg, np.degrees)},
    np.isclose: isclose, np.allclose: lambda *a, **o: np.all(isclose(*a, **o)), np.array_equal: array_equal,
    np.nan_to_num: nan_to_num, np.sinc: sinc, np.select: select, np.polyval: polyval,
    np.isposinf: lambda x: x == np.inf, np.isneginf: lambda x: x == -np.inf, np.fix: np.trunc,
    np.real: lambda val: val,
    np.atleast_1d: _at_least(1), np.atleast_2d: _at_least(2), np.atleast_3d: _at_least(3),
    np.pad: pad, np.repeat: repeat, np.tile: tile, np.append: append, np.column_stack: column_stack,
    np.dstack: lambda tup: np.concatenate([_at_least(3)(each) for each in _lifted(*tup)], 2),
    np.array_split: array_split,
    np.split: lambda ary, indices_or_sections, axis=0: array_split(ary, indices_or_sections, axis, True),
    np.hsplit: _split_along(lambda a: 1 if a.ndim > 1 else 0), np.vsplit: _split_along(lambda a: 0),
    np.dsplit: _split_along(lambda a: 2),
    np.fliplr: lambda m: np.flip(m, 1), np.flipud: lambda m: np.flip(m, 0), np.rot90: rot90,
    np.tril: _triangle("sle"), np.triu: _triangle("sge"), np.diagonal: diagonal, np.diag: diag,
    np.trace: lambda a, offset=0, axis1=0, axis2=1: np.sum(diagonal(a, offset, axis1, axis2), -1),
    np.meshgrid: meshgrid, np.broadcast_arrays: broadcast_arrays, np.linspace: linspace,
    np.outer: outer, np.inner: inner, np.tensordot: tensordot, np.kron: kron, np.cross: cross,
    np.vdot: lambda a, b: np.dot(np.reshape(a, -1), np.reshape(b, -1)),
    np.convolve: convolve, np.correlate: correlate, np.linalg.norm: norm,
    np.ptp: lambda a, axis=None, out=None, keepdims=False: (
        np.max(a, axis, keepdims=keepdims) - np.min(a, axis, keepdims=keepdims)),
    np.count_nonzero: count_nonzero, np.average: average,
    np.nansum: _without_nan(np.sum, 0), np.nanprod: _without_nan(np.prod, 1),
    np.nancumsum: _without_nan(np.cumsum, 0), np.nancumprod: _without_nan(np.cumprod, 1),
    np.nanmax: _extreme_without_nan(np.max, -np.inf), np.nanmin: _extreme_without_nan(np.min, np.inf),
    np.nanmean: nanmean, np.nanvar: nanvar,
    np.nanstd: lambda *a, **o: np.sqrt(nanvar(*a, **o)),
    np.quantile: quantile, np.median: median,
    np.percentile: lambda a, q, *rest, **o: quantile(a, np.asarray(q, np.float64) / 100, *rest, **o),
    np.trapz: trapz, np.cov: cov, np.corrcoef: corrcoef, np.gradient: gradient,
    np.ediff1d: lambda ary: np.diff(np.reshape(ary, -1)),
    np.searchsorted: searchsorted, np.digitize: digitize, np.isin: isin, np.in1d: lambda one, two, **o: isin(
        np.reshape(one, -1), two, **o),
    np.interp: interp, np.histogram: histogram,
})
