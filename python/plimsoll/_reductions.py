"""Reductions: sums, extrema, their places, means; and each of them so far."""

from __future__ import annotations

import numpy as np

from . import _ufuncs
from ._dims import Dim, product
from ._shapes import axes_of, index, reshape
from ._trace import Trace, Traced, functions, refuse, tensor, unknown

# What reductions do with two elements.
_COMBINE = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum",
            "all": "logical_and", "any": "logical_or"}


def _keeps(keepdims) -> bool:
    return keepdims is not np._NoValue and bool(keepdims)


def _reduced(shape, axes, keepdims: bool):
    return tuple(1 if i in axes else extent for i, extent in enumerate(shape)
                 if keepdims or i not in axes)


def _start(name: str, dtype):
    """What changes no element that it is combined with."""
    if name not in ("max", "min"):
        return {"sum": 0, "prod": 1, "all": True, "any": False}[name]
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if name == "max" else np.iinfo(dtype).max
    if dtype.kind == "f":
        return -np.inf if name == "max" else np.inf
    return name == "min"


def reduce(name: str, array, axis=None, dtype=None, out=None, keepdims=False, **options) -> Traced:
    array._trace.locate()
    refuse(name, {"out": out, **options})
    keepdims = _keeps(keepdims)
    trace, array = array._trace, tensor(array)
    axes = axes_of(axis, array.ndim)
    if dtype is None:
        sample = np.ones((1,), array.dtype)
        dtype = getattr(np, name)(sample).dtype
    dtype = np.dtype(dtype)
    # Half precision is added up in single, as NumPy does.
    inner = np.dtype(np.float32) if dtype == np.float16 and name in ("sum", "prod") else dtype
    if name in ("max", "min") and any(array.shape[i] == 0 for i in axes):
        raise ValueError(
            f"zero-size array to reduction operation {name}imum which has no identity")
    builder, rank = trace.builder, array.ndim
    result = builder.full(_reduced(array.shape, axes, False), inner, _start(name, inner))
    kept = [f"d{i}" for i in range(rank) if i not in axes]

    def body(scalars, given, old):
        return [_ufuncs.binary(scalars, _COMBINE[name], old[0],
                               scalars.cast(given[0], array.dtype, inner), inner)]

    value, = builder.generic([array._value], [[f"d{i}" for i in range(rank)]], [result], [kept],
                             ["reduction" if i in axes else "parallel" for i in range(rank)], body)
    traced = Traced(trace, value).astype(dtype)
    return reshape(traced, _reduced(array.shape, axes, True)) if keepdims else traced


def accumulate(name: str, array, axis=None, dtype=None, out=None) -> Traced:
    """Along an axis, what the reduction gives of the elements so far."""
    refuse(f"{_COMBINE[name]}.accumulate", {"out": out})
    if axis is None:
        return accumulate(name, reshape(array, -1), 0, dtype)
    array._trace.locate()
    trace, array = array._trace, tensor(array)
    rank, builder = array.ndim, trace.builder
    (position,) = axes_of(axis, rank)
    if dtype is None:
        dtype = getattr(np, _COMBINE[name]).accumulate(np.ones((1,), array.dtype)).dtype
    dtype = np.dtype(dtype)
    start = -0.0 if name == "sum" and dtype.kind == "f" else _start(name, dtype)
    whole = [f"d{i}" for i in range(rank)]
    kept = [each for i, each in enumerate(whole) if i != position]

    def body(scalars, given, old):
        element = scalars.cast(given[0], array.dtype, dtype)
        return [_ufuncs.binary(scalars, _COMBINE[name], old[1], element, dtype)] * 2

    each, _ = builder.generic(
        [array._value], [whole],
        [builder.empty(array.shape, dtype),
         builder.full(_reduced(array.shape, (position,), False), dtype, start)], [whole, kept],
        ["reduction" if i == position else "parallel" for i in range(rank)], body)
    return Traced(trace, each)


def arg(name: str, array, axis=None, out=None, *, keepdims=False) -> Traced:
    """The first place of the largest or smallest; a NaN is that."""
    refuse(f"arg{name}", {"out": out})
    trace, rank = array._trace, array.ndim
    if axis is None:
        whole = arg(name, reshape(array, -1), 0)
        return reshape(whole, (1,) * rank) if _keeps(keepdims) else whole
    array._trace.locate()
    (position,) = axes_of(axis, rank)
    if array.shape[position] == 0:
        raise ValueError(f"attempt to get arg{name} of an empty sequence")
    dtype, builder = array.dtype, trace.builder
    shape = _reduced(array.shape, (position,), False)
    kept = [f"d{i}" for i in range(rank) if i != position]
    first = (slice(None),) * position + (0,)
    outputs = [index(array, first)._value, builder.full(shape, np.int64, 0)]

    def body(scalars, given, old):
        where = scalars.op(f"linalg.index {position} : index")
        where = scalars.op(f"arith.index_cast {where} : index to i64")
        better = scalars.compare("gt" if name == "max" else "lt", given[0], old[0], dtype)
        if dtype.kind == "f":
            is_nan = scalars.compare("ne", given[0], given[0], dtype)
            known = scalars.compare("eq", old[0], old[0], dtype)
            better = scalars.binary("arith.ori", better, is_nan, np.dtype(bool))
            better = scalars.binary("arith.andi", better, known, np.dtype(bool))
        return [scalars.select(better, given[0], old[0], dtype),
                scalars.select(better, where, old[1], np.int64)]

    _, place = builder.generic(
        [array._value], [[f"d{i}" for i in range(rank)]], outputs, [kept, kept],
        ["reduction" if i == position else "parallel" for i in range(rank)], body)
    traced = Traced(trace, place)
    return reshape(traced, _reduced(array.shape, (position,), True)) if _keeps(keepdims) else traced


def mean(array, axis=None, dtype=None, out=None, keepdims=False, **options) -> Traced:
    refuse("mean", {"out": out, **options})
    dtype = np.dtype(dtype or (np.float64 if array.dtype.kind in "iub" else array.dtype))
    inner = np.dtype(np.float32) if dtype == np.float16 else dtype
    count = product(array.shape[i] for i in axes_of(axis, array.ndim))
    total = reduce("sum", array.astype(inner), axis, inner, keepdims=keepdims)
    return (total / (count if isinstance(count, Dim) else inner.type(count))).astype(dtype)


def var(array, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **options) -> Traced:
    refuse("var", {"out": out, **options})
    dtype = np.dtype(dtype or (np.float64 if array.dtype.kind in "iub" else array.dtype))
    inner = np.dtype(np.float32) if dtype == np.float16 else dtype
    array = array.astype(inner)
    apart = array - mean(array, axis, keepdims=True)
    count = product(array.shape[i] for i in axes_of(axis, array.ndim)) - ddof
    total = reduce("sum", apart * apart, axis, keepdims=keepdims)
    return (total / (count if isinstance(count, Dim) else inner.type(max(count, 0)))).astype(dtype)


def std(*arguments, **options) -> Traced:
    return np.sqrt(var(*arguments, **options))


def _of_ufunc(method: str, function):
    def call(trace: Trace, ufunc, inputs, axis=0, **options) -> Traced:
        for name, combine in _COMBINE.items():
            if combine == ufunc.__name__:
                return function(name, inputs[0], axis, **options)
        raise unknown(f"{ufunc.__name__}.{method}")
    return call


functions.update({
    np.ufunc.reduce: _of_ufunc("reduce", reduce),
    np.ufunc.accumulate: _of_ufunc("accumulate", accumulate),
    np.cumsum: lambda a, axis=None, dtype=None, out=None: accumulate("sum", a, axis, dtype, out),
    np.cumprod: lambda a, axis=None, dtype=None, out=None: accumulate("prod", a, axis, dtype, out),
    np.sum: lambda a, axis=None, dtype=None, out=None, keepdims=False, **o: reduce(
        "sum", a, axis, dtype, out, keepdims, **o),
    np.prod: lambda a, axis=None, dtype=None, out=None, keepdims=False, **o: reduce(
        "prod", a, axis, dtype, out, keepdims, **o),
    np.max: lambda a, axis=None, out=None, keepdims=False, **o: reduce(
        "max", a, axis, None, out, keepdims, **o),
    np.min: lambda a, axis=None, out=None, keepdims=False, **o: reduce(
        "min", a, axis, None, out, keepdims, **o),
    np.all: lambda a, axis=None, out=None, keepdims=False, **o: reduce(
        "all", a, axis, None, out, keepdims, **o),
    np.any: lambda a, axis=None, out=None, keepdims=False, **o: reduce(
        "any", a, axis, None, out, keepdims, **o),
    np.argmax: lambda a, axis=None, out=None, *, keepdims=False: arg(
        "max", a, axis, out, keepdims=keepdims),
    np.argmin: lambda a, axis=None, out=None, *, keepdims=False: arg(
        "min", a, axis, out, keepdims=keepdims),
    np.mean: mean, np.var: var, np.std: std,
})
