"""Operations on elements: ufuncs, casts, and what chooses between elements."""

from __future__ import annotations

import math

import numpy as np

from . import _ufuncs, buffer
from ._dims import Dim, Extent, identical, same
from ._emit import Scalars, element_of
from ._trace import Trace, Traced, functions, lift, refuse, trace_of


def broadcast(*shapes) -> tuple[Extent, ...]:
    rank = max(map(len, shapes), default=0)
    result: list[Extent] = []
    for position in range(-rank, 0):
        extent: Extent = 1
        for shape in shapes:
            if -position > len(shape) or same(shape[position], 1):
                continue
            if not same(extent, 1) and not same(extent, shape[position]):
                raise ValueError("operands could not be broadcast together with shapes "
                                 + " ".join(map(str, shapes)))
            extent = shape[position]
        result.append(extent)
    return tuple(result)


def elementwise(trace: Trace, operands, shape, dtype, body) -> Traced:
    """`body(scalars, elements)`; operands that are numbers are captured."""
    tensors = [operand._value for operand in operands if operand._scalar is None]

    def write(scalars: Scalars, given):
        elements = iter(given)
        return body(scalars, [next(elements) if operand._scalar is None else operand._scalar
                              for operand in operands])

    return Traced(trace, trace.builder.elementwise(tensors, shape, dtype, write))


def _sample(operand):
    """What NumPy decides types by: one element of an array, a number where that is one."""
    if isinstance(operand, Traced):
        return (np.ones((1,), operand.dtype) if operand._scalar is None
                else operand.dtype.type(1).item())
    return 1 if isinstance(operand, Dim) else operand


def result_type(*operands) -> np.dtype:
    return np.result_type(*map(_sample, operands))


def _cast_operands(trace: Trace, ufunc, inputs, dtype) -> list:
    """For dtype=, which says what is computed in."""
    name = ufunc.__name__
    if name in _ufuncs.COMPARISONS or name in _ufuncs.LOGICAL or name in _ufuncs.TESTS:
        raise TypeError(f"numpy.{name}: plimsoll.jit knows no dtype=")
    if ufunc is not np.matmul and _sample_result(
            ufunc, [np.ones((1,), dtype)] * len(inputs)) != dtype:
        raise TypeError(f"numpy.{name} gives no {dtype}")
    operands = []
    for operand in inputs:
        lifted = lift(trace, operand)
        is_whole = (isinstance(operand, int) or lifted._scalar is not None) and (
            lifted.dtype.kind == "i" and dtype.kind in "iuf")  # which are of any size
        if not is_whole and not np.can_cast(lifted.dtype, dtype, "same_kind"):
            raise TypeError(f"numpy.{name}: {lifted.dtype} does not become {dtype}")
        _check_fit(operand, dtype)
        trace.yields(lifted, dtype)
        # The exponent of a power is looked at.
        operands.append(operand if name == "power" and isinstance(operand, (int, float))
                        else lifted.astype(dtype))
    return operands


def _check_fit(number, dtype) -> None:
    if isinstance(number, int) and dtype.kind in "iu" and not (
            np.iinfo(dtype).min <= number <= np.iinfo(dtype).max):
        raise OverflowError(f"{number} does not fit in {dtype}")


def _sample_result(ufunc, samples) -> np.dtype:
    with np.errstate(all="ignore"):
        return np.asarray(ufunc(*samples)).dtype


def astype(array: Traced, dtype) -> Traced:
    dtype = np.dtype(dtype)
    element_of(dtype)
    if dtype == array.dtype and array._scalar is None:
        return array
    return elementwise(array._trace, [array], array.shape, dtype,
                       lambda s, given: s.cast(given[0], array.dtype, dtype))


def call(trace: Trace, ufunc, inputs, dtype=None, **options) -> Traced:
    """A ufunc as it is called; `dtype`: what is computed in."""
    refuse(ufunc.__name__, options)
    if dtype is not None:
        inputs = _cast_operands(trace, ufunc, inputs, np.dtype(dtype))
    return functions.get(ufunc, _apply)(trace, ufunc, inputs)


def _apply(trace: Trace, ufunc, inputs) -> Traced:
    """A ufunc by elements, with NumPy's types."""
    name = ufunc.__name__
    if name == "power":
        whole = _whole_power(trace, *inputs)
        if whole is not None:
            return whole
    samples = [_sample(operand) if isinstance(operand, (Traced, Dim, bool, int, float))
               else np.ones((1,), np.asarray(operand).dtype) for operand in inputs]
    out = _sample_result(ufunc, samples)
    loop = (_comparison_type(samples) if name in _ufuncs.COMPARISONS
            else np.dtype(bool) if name in _ufuncs.LOGICAL
            else np.asarray(samples[0]).dtype if name in _ufuncs.TESTS else out)
    element_of(out), element_of(loop)
    literals = [isinstance(operand, (bool, int, float, np.generic)) for operand in inputs]
    operands = [None if literal else lift(trace, operand)
                for operand, literal in zip(inputs, literals)]
    for operand in operands:
        if operand is not None:
            trace.yields(operand, loop)
    shape = broadcast(*(operand.shape for operand in operands if operand is not None))
    if name == "power" and loop.kind == "i" and not any(identical(extent, 0) for extent in shape):
        _require_exponents(trace, inputs[1])

    def body(scalars, given):
        elements, rest = [], iter(given)
        for operand, value in zip(operands, inputs):
            elements.append(scalars.constant(value, loop) if operand is None
                            else scalars.cast(next(rest), operand.dtype, loop))
        write = _ufuncs.unary if len(elements) == 1 else _ufuncs.binary
        return write(scalars, name, *elements, loop)

    return elementwise(
        trace, [operand for operand in operands if operand is not None], shape, out, body)


def _comparison_type(samples) -> np.dtype:
    """Of whole numbers of any size with small ones: one that has both."""
    kind = np.result_type(*samples)
    if kind.kind in "iu" and kind != np.uint64 and any(type(sample) is int for sample in samples):
        return np.dtype(np.int64)
    return kind


def around(array, decimals=0, out=None) -> Traced:
    refuse("around", {"out": out})
    if decimals != 0:
        raise TypeError("numpy.around: plimsoll.jit knows no decimals=")
    return array if array.dtype.kind in "iu" else np.rint(array)


def _whole_power(trace, base, exponent):
    """x ** 3 without a logarithm or a loop, where the exponent is a small constant; None for
    others."""
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        kind = result_type(base, exponent)
        if exponent == 0.5 and kind.kind == "f":
            return np.sqrt(base).astype(kind)
        if math.isfinite(exponent) and exponent == int(exponent) and (
            0 <= exponent <= 64 or (-3 <= exponent < 0 and kind.kind == "f")):
            base = lift(trace, base)
            trace.yields(base, kind)
            result, square, left = None, base.astype(kind), abs(int(exponent))
            while left:
                if left & 1:
                    result = square if result is None else result * square
                left >>= 1
                square = square * square if left else square
            if result is None:
                return Traced(trace, trace.builder.full(base.shape, kind, 1))
            return result if exponent > 0 else np.reciprocal(result)
    return None


def _require_exponents(trace: Trace, exponent) -> None:
    message = "Integers to negative integer powers are not allowed."
    if not isinstance(exponent, (Traced, Dim)):
        if np.any(np.less(exponent, 0)):
            raise ValueError(message)
    elif lift(trace, exponent).dtype.kind == "i":
        trace.builder.require(np.all(np.greater_equal(lift(trace, exponent), 0))._value, message)


def where(condition, *pair) -> Traced:
    if len(pair) != 2:
        raise TypeError("numpy.where with one argument gives arrays of unknown shape")
    trace = trace_of(condition, *pair)
    kind = result_type(*pair)
    condition, a, b = (lift(trace, each) for each in (condition, *pair))
    trace.yields(a, kind), trace.yields(b, kind)
    shape = broadcast(condition.shape, a.shape, b.shape)

    def body(s, given):
        return s.select(s.cast(given[0], condition.dtype, bool), s.cast(given[1], a.dtype, kind),
                        s.cast(given[2], b.dtype, kind), kind)

    return elementwise(trace, [condition, a, b], shape, kind, body)


def clip(array, a_min=None, a_max=None, out=None, **options) -> Traced:
    refuse("clip", {"out": out, **options})
    if a_min is not None:
        array = np.maximum(array, a_min)
    return array if a_max is None else np.minimum(array, a_max)


def to_bf16(array: Traced) -> Traced:
    """As plimsoll.to_bf16(), with its bits."""
    def body(s, given):
        word, kind = s.op(f"arith.bitcast {given[0]} : f32 to i32"), np.dtype(np.uint32)
        half = s.binary("arith.shrui", word, s.constant(16, kind), kind)
        odd = s.binary("arith.andi", half, s.constant(1, kind), kind)
        up = s.binary("arith.addi", odd, s.constant(0x7fff, kind), kind)
        rounded = s.binary("arith.shrui", s.binary("arith.addi", word, up, kind),
                           s.constant(16, kind), kind)
        quiet = s.binary("arith.ori", half, s.constant(0x40, kind), kind)
        is_nan = s.compare("ne", given[0], given[0], np.float32)
        return s.cast(s.select(is_nan, quiet, rounded, kind), kind, np.uint16)

    array = array.astype(np.float32)
    return elementwise(array._trace, [array], array.shape, np.uint16, body)


def from_bf16(bits: Traced) -> Traced:
    """As plimsoll.from_bf16(): the bits are the upper half of a float32."""
    def body(s, given):
        word = s.cast(given[0], np.uint16, np.uint32)
        word = s.binary("arith.shli", word, s.constant(16, np.uint32), np.uint32)
        return s.op(f"arith.bitcast {word} : i32 to f32")

    bits = bits.astype(np.uint16)
    return elementwise(bits._trace, [bits], bits.shape, np.float32, body)


def full_like(array, fill_value, dtype=None, order="K", subok=True, shape=None) -> Traced:
    extents = (array.shape if shape is None else (shape,)
               if isinstance(shape, (int, Dim, np.integer)) else tuple(shape))
    kind = np.dtype(dtype or array.dtype)
    _check_fit(fill_value, kind)
    return Traced(array._trace, array._trace.builder.full(extents, kind, fill_value))


functions.update({
    np.ufunc.__call__: call, np.ndarray.astype: astype,
    np.where: where, np.clip: clip, np.around: around, np.round: around,
    np.copy: lambda a, **o: a, buffer.to_bf16: to_bf16, buffer.from_bf16: from_bf16,
    np.full_like: full_like, np.zeros_like: lambda a, *rest, **o: full_like(a, 0, *rest, **o),
    np.ones_like: lambda a, *rest, **o: full_like(a, 1, *rest, **o),
    np.empty_like: lambda a, *rest, **o: full_like(a, 0, *rest, **o),
})
