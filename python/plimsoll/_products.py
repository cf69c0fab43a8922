"""Products of matrices, and sums of products."""

from __future__ import annotations

import numpy as np

from . import _ufuncs
from ._dims import identical, same
from ._elements import broadcast, result_type
from ._reductions import reduce
from ._shapes import transpose
from ._trace import Traced, functions, lift, refuse, tensor, trace_of


def contract(a: Traced, b: Traced, a_axes, b_axes, out_axes, extents) -> Traced:
    """The sum of products over all axes that are not in `out_axes`; `extents` has them all."""
    trace, a, b = a._trace, tensor(a), tensor(b)
    dtype = result_type(a, b)
    inner = np.dtype(np.float32) if dtype == np.float16 else dtype
    order = list(out_axes) + [axis for axis in extents if axis not in out_axes]
    name = {axis: f"d{i}" for i, axis in enumerate(order)}
    shape = tuple(extents[axis] for axis in out_axes)
    result = trace.builder.full(shape, inner, 0)

    def spread(operand, axes):
        return [name[axis] if identical(extent, extents[axis]) else "0"
                for axis, extent in zip(axes, operand.shape)]

    def body(s, given, old):
        left, right = s.cast(given[0], a.dtype, inner), s.cast(given[1], b.dtype, inner)
        term = _ufuncs.binary(s, "multiply", left, right, inner)
        return [_ufuncs.binary(s, "add", old[0], term, inner)]

    value, = trace.builder.generic(
        [a._value, b._value], [spread(a, a_axes), spread(b, b_axes)], [result],
        [[name[axis] for axis in out_axes]],
        ["parallel" if axis in out_axes else "reduction" for axis in order], body)
    return Traced(trace, value).astype(dtype)


def matmul(a, b) -> Traced:
    trace_of(a, b).locate()
    trace = trace_of(a, b)
    a, b = lift(trace, a), lift(trace, b)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul: an operand has no dimensions")
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    if not same(a.shape[-1], b.shape[-2 if b.ndim > 1 else -1]):
        raise ValueError(f"matmul: shapes {a.shape} and {b.shape} do not fit together")
    letters = [f"b{i}" for i in range(len(batch))]
    extents = {**dict(zip(letters, batch)), "k": a.shape[-1]}
    a_axes, b_axes, out = ["k"], ["k"], list(letters)
    if a.ndim > 1:
        a_axes = letters[len(batch) - (a.ndim - 2):] + ["m", "k"]
        extents["m"] = a.shape[-2]
        out.append("m")
    if b.ndim > 1:
        b_axes = letters[len(batch) - (b.ndim - 2):] + ["k", "n"]
        extents["n"] = b.shape[-1]
        out.append("n")
    return contract(a, b, a_axes, b_axes, out, extents)


def dot(a, b, out=None) -> Traced:
    refuse("dot", {"out": out})
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    if np.ndim(a) > 2 or np.ndim(b) > 2:
        raise TypeError("numpy.dot of more than 2 dimensions: use numpy.matmul or numpy.einsum")
    return matmul(a, b)


def einsum(subscripts, *operands, **options) -> Traced:
    """Of one or two operands, without repeated letters in one, and without an ellipsis."""
    refuse("einsum", {key: value for key, value in options.items() if key != "optimize"})
    trace = trace_of(*operands)
    arrays = [tensor(lift(trace, operand)) for operand in operands]
    inputs, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        letters = inputs.replace(",", "")
        out = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    if (len(terms) != len(arrays) or len(arrays) not in (1, 2) or "." in subscripts
            or any(len(set(term)) != len(term) for term in (*terms, out))):
        raise TypeError(f"numpy.einsum: plimsoll.jit knows no {subscripts!r}")
    extents: dict = {}
    for term, array in zip(terms, arrays):
        if len(term) != array.ndim:
            raise ValueError(f"einsum: {term!r} does not fit an array of {array.ndim} dimensions")
        for letter, extent in zip(term, array.shape):
            if letter in extents and not same(extents[letter], extent):
                raise ValueError(f"einsum: two extents for {letter!r}")
            extents[letter] = extent
    if any(letter not in extents for letter in out):
        raise ValueError(f"einsum: {subscripts!r} gives a letter that no operand has")
    if len(arrays) == 1:
        kept = [letter for letter in terms[0] if letter in out]
        summed = tuple(i for i, letter in enumerate(terms[0]) if letter not in out)
        total = reduce("sum", arrays[0], summed, arrays[0].dtype) if summed else arrays[0]
        return transpose(total, [kept.index(letter) for letter in out])
    return contract(*arrays, *map(list, terms), list(out), extents)


functions.update({
    np.matmul: lambda trace, ufunc, inputs: matmul(*inputs),
    np.dot: dot, np.einsum: einsum,
})
