"""Arrays that write down what is done with them.

A `Traced` stands for an array while a function is traced. It takes part in NumPy's protocols,
`__array_ufunc__` and
`__array_function__`, so that the function is written with NumPy's own names; what NumPy would
compute, it appends to a module.
"""

from __future__ import annotations

import math
import operator
import os
import sys

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import _ufuncs
from ._dims import (Dim, Extent, Known, ceildiv, identical, least, minimum, positive, product,
                    quotient, same, simple)
from ._emit import Builder, Scalars, Value, element_of

_HERE = os.path.dirname(__file__)
_NUMPY = os.path.dirname(np.__file__)
_functions: dict = {}  # what stands for a function of NumPy's


class Trace:
    """One function while it is written: its text, and the arrays that it closes over."""

    def __init__(self, arguments: list[str]):
        self.builder = Builder(arguments)
        self.parameters: dict[str, np.ndarray] = {}
        self._known: dict[int, tuple] = {}
        self.limits: dict[str, tuple[int, int]] = {}  # what numbers among the arguments may be

    def constant(self, array: np.ndarray) -> Traced:
        """An array that the function did not get but has: a copy, made now."""
        found = self._known.get(id(array))
        if found is None or found[0] is not array:
            value = np.array(array, order="C")
            element_of(value.dtype)
            if value.size == 0:
                traced = Traced(self, self.builder.empty(value.shape, value.dtype))
            elif value.ndim == 0 or _is_uniform(value):
                traced = Traced(self, self.builder.full(value.shape, value.dtype, value.flat[0]))
            else:
                name = f"c{len(self.parameters)}"
                self.parameters[name] = value
                traced = Traced(self, self.builder.parameter(name, value.shape, value.dtype))
            found = self._known[id(array)] = array, traced
        return found[1]

    def yields(self, operand: Traced, dtype) -> None:
        """A number takes the type of arrays, into which it must fit when the function is called."""
        if operand._scalar is None or dtype.kind not in "iu" or operand.dtype.kind != "i":
            return
        if not operand._scalar.startswith("%arg"):  # an extent
            if dtype.itemsize < 4:
                raise Known(operand._extent)
            return
        info, old = np.iinfo(dtype), self.limits.get(operand._scalar, (-2**63, 2**63 - 1))
        self.limits[operand._scalar] = max(old[0], int(info.min)), min(old[1], int(info.max))

    def locate(self) -> None:
        """What is written next comes from the line that runs outside of this package and NumPy."""
        frame = sys._getframe(1)
        while frame and frame.f_code.co_filename.startswith((_HERE, _NUMPY, "<__array_function__")):
            frame = frame.f_back
        if frame:
            file = frame.f_code.co_filename.replace("\\", "/").replace('"', "'")
            self.builder.location = f' loc("{file}":{frame.f_lineno}:1)'


def _is_uniform(value: np.ndarray) -> bool:
    bits = value.reshape(-1).view(f"u{value.itemsize}")  # -0.0 is not 0.0
    return bool((bits == bits[0]).all())


class Traced(NDArrayOperatorsMixin):
    """An array whose elements are known only when the function is called."""

    __array_priority__ = 1000

    def __init__(self, trace: Trace, value: Value, scalar: str | None = None,
                 extent: Dim | None = None):
        self._trace, self._value, self._extent = trace, value, extent
        # A number of Python's, as an SSA value: it yields to the types of arrays, as numbers do.
        self._scalar = scalar

    # --- What an array says of itself -------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype:
        return self._value.dtype

    @property
    def shape(self) -> tuple[Extent, ...]:
        return self._value.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Extent:
        return product(self.shape)

    @property
    def T(self) -> Traced:
        return transpose(self)

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0].__index__()

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"<traced array of {self.dtype}, shape {self.shape}>"

    def _unknown(self, *_):
        raise TypeError("the elements of an array are not known while plimsoll.jit traces the "
                        "function: use numpy.where() instead of if, and static= for arguments that "
                        "decide")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __array__ = _unknown
    __hash__ = None

    def __setitem__(self, *_):
        raise TypeError(
            "traced arrays do not change: build a new one, with numpy.where() or concatenate()")

    # --- What NumPy asks --------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        self._trace.locate()
        if method == "reduce":
            name = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
                    "logical_and": "all", "logical_or": "any"}.get(ufunc.__name__)
            if name:
                options.setdefault("axis", 0)
                return reduce(name, inputs[0], **options)
        if method != "__call__" or ufunc.nout != 1:
            raise TypeError(f"numpy.{ufunc.__name__}.{method} is not among what plimsoll.jit knows")
        dtype = options.pop("dtype", None)
        _refuse(ufunc.__name__, options)
        if dtype is not None:
            inputs = _cast_operands(self._trace, ufunc, inputs, np.dtype(dtype))
        return matmul(*inputs) if ufunc is np.matmul else apply(self._trace, ufunc, inputs)

    def __array_function__(self, function, types, arguments, options):
        if function not in _functions:
            raise TypeError(f"numpy.{function.__name__} is not among what plimsoll.jit knows")
        self._trace.locate()
        return _functions[function](*arguments, **options)

    def __getitem__(self, key):
        self._trace.locate()
        return index(self, key)

    # --- Methods of arrays ------------------------------------------------------------------------

    def astype(self, dtype, copy: bool = True) -> Traced:
        self._trace.locate()
        dtype = np.dtype(dtype)
        element_of(dtype)
        if dtype == self.dtype and self._scalar is None:
            return self
        return _elementwise(self._trace, [self], self.shape, dtype,
                            lambda s, given: s.cast(given[0], self.dtype, dtype))

    def reshape(self, *shape) -> Traced:
        return reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes) -> Traced:
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = axes[0]
        return transpose(self, axes or None)

    def swapaxes(self, one, two):
        return np.swapaxes(self, one, two)

    def ravel(self):
        return reshape(self, -1)

    flatten = ravel

    def squeeze(self, axis=None):
        return np.squeeze(self, axis)

    def clip(self, low=None, high=None):
        return np.clip(self, low, high)

    def dot(self, other):
        return np.dot(self, other)

    def copy(self):
        return self

    def round(self, decimals=0, out=None):
        return around(self, decimals, out)

    def sum(self, axis=None, dtype=None, keepdims=False):
        return reduce("sum", self, axis, dtype, keepdims=keepdims)

    def prod(self, axis=None, dtype=None, keepdims=False):
        return reduce("prod", self, axis, dtype, keepdims=keepdims)

    def max(self, axis=None, keepdims=False):
        return reduce("max", self, axis, keepdims=keepdims)

    def min(self, axis=None, keepdims=False):
        return reduce("min", self, axis, keepdims=keepdims)

    def all(self, axis=None, keepdims=False):
        return reduce("all", self, axis, keepdims=keepdims)

    def any(self, axis=None, keepdims=False):
        return reduce("any", self, axis, keepdims=keepdims)

    def mean(self, axis=None, dtype=None, keepdims=False):
        return mean(self, axis, dtype, keepdims=keepdims)

    def var(self, axis=None, dtype=None, ddof=0, keepdims=False):
        return var(self, axis, dtype, ddof=ddof, keepdims=keepdims)

    def std(self, axis=None, dtype=None, ddof=0, keepdims=False):
        return np.sqrt(var(self, axis, dtype, ddof=ddof, keepdims=keepdims))

    def argmax(self, axis=None, keepdims=False):
        return arg("max", self, axis, keepdims=keepdims)

    def argmin(self, axis=None, keepdims=False):
        return arg("min", self, axis, keepdims=keepdims)


def _refuse(name: str, options) -> None:
    """Options that nobody knows. Those with NumPy's defaults say nothing."""
    given = [option for option, value in options.items()
             if value is not None and value is not np._NoValue and value is not True or
             (option == "out" and value is not None)]
    if given:
        raise TypeError(f"numpy.{name}: plimsoll.jit knows no {', '.join(given)}=")


def _trace_of(*values) -> Trace:
    for value in values:
        if isinstance(value, Traced):
            return value._trace
        if isinstance(value, (list, tuple)):
            for each in value:
                if isinstance(each, Traced):
                    return each._trace
    raise TypeError("nothing traced")


def lift(trace: Trace, value) -> Traced:
    """Anything that NumPy takes for an array."""
    if isinstance(value, Traced):
        if value._trace is not trace:
            raise TypeError("an array of another function that is traced")
        return value
    if isinstance(value, Dim):
        name = trace.builder.op(f"arith.index_cast {trace.builder.index(value)} : index to i64")
        return Traced(trace, Value("", np.int64, ()), name, value)
    if isinstance(value, (list, tuple)) and any(isinstance(each, (Traced, Dim)) for each in value):
        return stack([lift(trace, each) for each in value])
    return trace.constant(np.asarray(value))


def tensor(array: Traced) -> Traced:
    """A number as an array without dimensions."""
    return array if array._scalar is None else array.astype(array.dtype)


# --- Elements -------------------------------------------------------------------------------------

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


def _elementwise(trace: Trace, operands, shape, dtype, body) -> Traced:
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


def _result_type(*operands) -> np.dtype:
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


def apply(trace: Trace, ufunc, inputs) -> Traced:
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

    def body(scalars, given):
        elements, rest = [], iter(given)
        for operand, value in zip(operands, inputs):
            elements.append(scalars.constant(value, loop) if operand is None
                            else scalars.cast(next(rest), operand.dtype, loop))
        write = _ufuncs.unary if len(elements) == 1 else _ufuncs.binary
        return write(scalars, name, *elements, loop)

    return _elementwise(
        trace, [operand for operand in operands if operand is not None], shape, out, body)


def _comparison_type(samples) -> np.dtype:
    """Of whole numbers of any size with small ones: one that has both."""
    kind = np.result_type(*samples)
    if kind.kind in "iu" and kind != np.uint64 and any(type(sample) is int for sample in samples):
        return np.dtype(np.int64)
    return kind


def around(array, decimals=0, out=None) -> Traced:
    _refuse("around", {"out": out})
    if decimals != 0:
        raise TypeError("numpy.around: plimsoll.jit knows no decimals=")
    return array if array.dtype.kind in "iu" else np.rint(array)


def _whole_power(trace, base, exponent):
    """x ** 3 without a logarithm, where the exponent is a small constant; None for others."""
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        kind = _result_type(base, exponent)
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
    if _result_type(base, exponent).kind != "f":
        raise TypeError("powers of integers need a whole, constant exponent of 0 to 64")
    return None


# --- Reductions -----------------------------------------------------------------------------------

def _axes(axis, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return np.core.numeric.normalize_axis_tuple(axes, rank)


def _keeps(keepdims) -> bool:
    return keepdims is not np._NoValue and bool(keepdims)


def _reduced(shape, axes, keepdims: bool):
    return tuple(1 if i in axes else extent for i, extent in enumerate(shape)
                 if keepdims or i not in axes)


def reduce(name: str, array, axis=None, dtype=None, out=None, keepdims=False, **options) -> Traced:
    array._trace.locate()
    _refuse(name, {"out": out, **options})
    keepdims = _keeps(keepdims)
    trace, array = array._trace, tensor(array)
    axes = _axes(axis, array.ndim)
    if dtype is None:
        sample = np.ones((1,), array.dtype)
        dtype = getattr(np, name)(sample).dtype
    dtype = np.dtype(dtype)
    # Half precision is added up in single, as NumPy does.
    inner = np.dtype(np.float32) if dtype == np.float16 and name in ("sum", "prod") else dtype
    if name in ("max", "min"):
        if any(array.shape[i] == 0 for i in axes):
            raise ValueError(
                f"zero-size array to reduction operation {name}imum which has no identity")
        limits = np.finfo(inner) if inner.kind == "f" else np.iinfo(
            inner) if inner.kind in "iu" else None
        start = ((name == "min") if limits is None
                 else (-np.inf if name == "max" else np.inf) if inner.kind == "f"
                 else limits.min if name == "max" else limits.max)
    else:
        start = {"sum": 0, "prod": 1, "all": True, "any": False}[name]
    combine = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum",
               "all": "logical_and", "any": "logical_or"}[name]
    builder, rank = trace.builder, array.ndim
    result = builder.full(_reduced(array.shape, axes, False), inner, start)
    kept = [f"d{i}" for i in range(rank) if i not in axes]

    def body(scalars, given, old):
        return [_ufuncs.binary(scalars, combine, old[0],
                               scalars.cast(given[0], array.dtype, inner), inner)]

    value, = builder.generic([array._value], [[f"d{i}" for i in range(rank)]], [result], [kept],
                             ["reduction" if i in axes else "parallel" for i in range(rank)], body)
    traced = Traced(trace, value).astype(dtype)
    return reshape(traced, _reduced(array.shape, axes, True)) if keepdims else traced


def arg(name: str, array, axis=None, out=None, *, keepdims=False) -> Traced:
    """The first place of the largest or smallest; a NaN is that."""
    _refuse(f"arg{name}", {"out": out})
    trace, rank = array._trace, array.ndim
    if axis is None:
        whole = arg(name, reshape(array, -1), 0)
        return reshape(whole, (1,) * rank) if _keeps(keepdims) else whole
    array._trace.locate()
    (position,) = _axes(axis, rank)
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
        better = _ufuncs.binary(
    scalars,
    "greater" if name == "max" else "less",
    given[0],
    old[0],
     dtype)
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
    _refuse("mean", {"out": out, **options})
    dtype = np.dtype(dtype or (np.float64 if array.dtype.kind in "iub" else array.dtype))
    inner = np.dtype(np.float32) if dtype == np.float16 else dtype
    count = product(array.shape[i] for i in _axes(axis, array.ndim))
    total = reduce("sum", array.astype(inner), axis, inner, keepdims=keepdims)
    return (total / (count if isinstance(count, Dim) else inner.type(count))).astype(dtype)


def var(array, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **options) -> Traced:
    _refuse("var", {"out": out, **options})
    dtype = np.dtype(dtype or (np.float64 if array.dtype.kind in "iub" else array.dtype))
    inner = np.dtype(np.float32) if dtype == np.float16 else dtype
    array = array.astype(inner)
    apart = array - mean(array, axis, keepdims=True)
    count = product(array.shape[i] for i in _axes(axis, array.ndim)) - ddof
    total = reduce("sum", apart * apart, axis, keepdims=keepdims)
    return (total / (count if isinstance(count, Dim) else inner.type(max(count, 0)))).astype(dtype)


# --- Products -------------------------------------------------------------------------------------

def contract(a: Traced, b: Traced, a_axes, b_axes, out_axes, extents) -> Traced:
    """The sum of products over all axes that are not in `out_axes`; `extents` has them all."""
    trace, a, b = a._trace, tensor(a), tensor(b)
    dtype = _result_type(a, b)
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
    _trace_of(a, b).locate()
    trace = _trace_of(a, b)
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


# --- Shapes ---------------------------------------------------------------------------------------

def reshape(array, shape, order="C", newshape=None) -> Traced:
    array._trace.locate()
    if order != "C":
        raise TypeError("plimsoll.jit reshapes in row-major order alone")
    wanted = [shape] if isinstance(shape, (int, Dim, np.integer)) else list(shape)
    open_ends = [
    i for i,
    extent in enumerate(wanted) if not isinstance(
        extent,
         Dim) and extent == -1]
    total = array.size
    if len(open_ends) > 1:
        raise ValueError("can only specify one unknown dimension")
    if open_ends:
        rest = product(extent for i, extent in enumerate(wanted) if i != open_ends[0])
        if rest == 0:
            raise ValueError(f"cannot reshape array of size {total} into shape {tuple(wanted)}")
        wanted[open_ends[0]] = quotient(total, rest)
    if not same(product(wanted), total):
        raise ValueError(f"cannot reshape array of size {total} into shape {tuple(wanted)}")
    wanted = [extent if isinstance(extent, Dim) else int(extent) for extent in wanted]
    return Traced(array._trace, array._trace.builder.reshape(tensor(array)._value, wanted))


def transpose(array, axes=None) -> Traced:
    array._trace.locate()
    array = tensor(array)
    order = tuple(range(array.ndim))[::-1] if axes is None else _axes(tuple(axes), array.ndim)
    if len(order) != array.ndim:
        raise ValueError("axes don't match array")
    return Traced(array._trace, array._trace.builder.transpose(array._value, order))


def index(array: Traced, key) -> Traced:
    """Whole numbers, slices, None, ..., and one array of whole numbers."""
    keys = list(key) if isinstance(key, tuple) else [key]
    array = tensor(array)
    rank, builder = array.ndim, array._trace.builder
    used = sum(each is not None and each is not Ellipsis for each in keys)
    if used > rank:
        raise IndexError(f"too many indices for array: array is {rank}-dimensional")
    if sum(each is Ellipsis for each in keys) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if not any(each is Ellipsis for each in keys):
        keys.append(Ellipsis)
    where = next(i for i, each in enumerate(keys) if each is Ellipsis)
    keys[where:where + 1] = [slice(None)] * (rank - used)

    starts, sizes, steps, shape, reverse, gather = [], [], [], [], [], None
    places = [i for i, each in enumerate(keys) if each is not None and not isinstance(each, slice)]
    axis = 0
    for each in keys:
        if each is None:
            shape.append(1)
            continue
        extent = array.shape[axis]
        if isinstance(each, slice):
            start, size, step = _range(each, extent)
            if step < 0:
                reverse.append(axis)
            shape.append(size)
        elif isinstance(each, (int, np.integer)) and not isinstance(each, bool):
            number = int(each)
            start = number if number >= 0 else extent + number
            if not (extent > number if number >= 0 else extent >= -number):
                raise IndexError(
                    f"index {number} is out of bounds for axis {axis} with size {extent}")
            size, step = 1, 1
        elif isinstance(each, (Traced, np.ndarray, list)):
            if gather is not None:
                raise TypeError("plimsoll.jit knows one array among indices")
            gather = len(shape), lift(array._trace, each)
            start, size, step = 0, extent, 1
            shape.append(extent)
        else:
            raise TypeError(f"plimsoll.jit knows no index of type {type(each).__name__}")
        starts.append(start)
        sizes.append(size)
        steps.append(abs(step))
        axis += 1

    value = array._value
    if any(identical(size, 0) for size in sizes):  # upstream refuses offsets into nothing
        value = builder.empty(sizes, value.dtype)
    elif not all(map(identical, sizes, value.shape)):
        value = builder.slice(value, starts, sizes, steps)
    if reverse:
        value = _reverse(builder, value, reverse)
    result = Traced(array._trace, builder.reshape(value, shape))
    if gather is None:
        return result
    first, indices = gather
    result = take(result, indices, first)
    if places[-1] - places[0] >= len(places):  # not beside each other: NumPy puts them in front
        result = moveaxis(result, tuple(range(first, first + indices.ndim)),
                          tuple(range(indices.ndim)))
    return result


def _range(given: slice, extent: Extent):
    """Start, number and step of a slice; of a negative step, of the range turned round."""
    step = 1 if given.step is None else int(given.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if isinstance(extent, int) and not any(isinstance(each, Dim)
                  for each in (given.start, given.stop)):
        numbers = range(extent)[given]
        if len(numbers) == 0:
            return 0, 0, 1
        return (numbers[0] if step > 0 else numbers[-1]), len(numbers), step
    if step < 0:
        if given.start is None and given.stop is None and step == -1:
            return 0, extent, -1
        return _range(given, extent.__index__())

    def bound(number, default):
        if number is None:
            return default
        if isinstance(number, Dim):
            if least(number) < 0:
                raise Known(number)
            return minimum(number, extent)
        number = operator.index(number)
        if number < 0:
            return positive(simple(extent + number))
        return minimum(number, extent)

    low, high = bound(given.start, 0), bound(given.stop, extent)
    return low, ceildiv(positive(simple(high - low)), step), step


def _reverse(builder, value: Value, axes) -> Value:
    """Turned round along these axes."""
    rank = len(value.shape)
    last = {i: builder.index(simple(value.shape[i] - 1)) for i in axes}
    out = builder.empty(value.shape, value.dtype)

    def body(scalars, given, old):
        places = [scalars.op(f"linalg.index {i} : index") for i in range(rank)]
        for i in axes:
            places[i] = scalars.op(f"arith.subi {last[i]}, {places[i]} : index")
        return [scalars.op(f"tensor.extract {value.name}[{', '.join(places)}] : {value.type}")]

    result, = builder.generic([], [], [out], [[f"d{i}" for i in range(rank)]], [
                              "parallel"] * rank, body)
    return result


def take(array, indices, axis=None, out=None, mode="raise") -> Traced:
    """Elements by their places along an axis. One that is out of range is an error of the call."""
    _refuse("take", {"out": out})
    trace = _trace_of(array, indices)
    array, indices = tensor(lift(trace, array)), tensor(lift(trace, indices))
    if mode != "raise":
        raise TypeError("numpy.take: plimsoll.jit knows no mode=")
    if indices.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer type; a mask gives an array "
                         "of unknown shape, use numpy.where()")
    if axis is None:
        array, axis = reshape(array, -1), 0
    (axis,) = _axes(axis, array.ndim)
    extent = trace.builder.index(array.shape[axis])
    shape = (*array.shape[:axis], *indices.shape, *array.shape[axis + 1:])
    names = [f"d{i}" for i in range(len(shape))]

    def body(scalars, given, old):
        place = scalars.cast(given[0], indices.dtype, np.int64)
        place = scalars.op(f"arith.index_cast {place} : i64 to index")
        zero = scalars.op("arith.constant 0 : index")
        negative = scalars.op(f"arith.cmpi slt, {place}, {zero} : index")
        turned = scalars.op(f"arith.addi {place}, {extent} : index")
        place = scalars.op(f"arith.select {negative}, {turned}, {place} : index")
        places = [scalars.op(f"linalg.index {i} : index") for i in range(len(shape))]
        places[axis:axis + indices.ndim] = [place]
        return [scalars.op(f"tensor.extract {array._value.name}[{', '.join(places)}] : "
                           f"{array._value.type}")]

    value, = trace.builder.generic(
        [indices._value], [names[axis:axis + indices.ndim]],
        [trace.builder.empty(shape, array.dtype)], [names], ["parallel"] * len(shape), body)
    return Traced(trace, value)


def stack(arrays, axis=0, out=None) -> Traced:
    _refuse("stack", {"out": out})
    trace = _trace_of(arrays)
    arrays = [lift(trace, array) for array in arrays]
    return concatenate([expand_dims(array, axis) for array in arrays], axis)


def concatenate(arrays, axis=0, out=None, dtype=None, casting="same_kind") -> Traced:
    _refuse("concatenate", {"out": out})
    trace = _trace_of(arrays)
    arrays = [lift(trace, array) for array in arrays]
    if axis is None:
        arrays, axis = [reshape(array, -1) for array in arrays], 0
    (axis,) = _axes(axis, arrays[0].ndim)
    kind = np.dtype(dtype) if dtype else np.result_type(*(array.dtype for array in arrays))
    rest = [extent for i, extent in enumerate(arrays[0].shape) if i != axis]
    for array in arrays:
        others = [extent for i, extent in enumerate(array.shape) if i != axis]
        if len(others) != len(rest) or not all(map(same, others, rest)):
            raise ValueError("all the input array dimensions except for the concatenation axis "
                             "must match exactly")
    total = sum((array.shape[axis] for array in arrays), 0)
    shape = (*rest[:axis], total, *rest[axis:])
    result, place = trace.builder.empty(shape, kind), 0
    for array in arrays:
        if not same(array.shape[axis], 0):
            starts = [place if i == axis else 0 for i in range(len(shape))]
            result = trace.builder.insert(array.astype(kind)._value, result, starts)
        place = place + array.shape[axis]
    return Traced(trace, result)


def expand_dims(array, axis) -> Traced:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = array.ndim + len(axes)
    places = np.core.numeric.normalize_axis_tuple(axes, rank)
    rest = iter(array.shape)
    return reshape(array, [1 if i in places else next(rest) for i in range(rank)])


def squeeze(array, axis=None) -> Traced:
    if axis is None:
        return reshape(array, [extent for extent in array.shape if extent != 1])
    axes = _axes(axis, array.ndim)
    if any(not same(array.shape[i], 1) for i in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return reshape(array, [extent for i, extent in enumerate(array.shape) if i not in axes])


def broadcast_to(array, shape, subok=False) -> Traced:
    wanted = (shape,) if isinstance(shape, (int, Dim)) else tuple(shape)
    found = broadcast(array.shape, wanted)
    if len(found) != len(wanted) or not all(map(same, found, wanted)):
        raise ValueError("operands could not be broadcast together with remapped shapes "
                         f"{array.shape} and requested shape {wanted}")
    return _elementwise(array._trace, [array], wanted, array.dtype, lambda s, given: given[0])


def where(condition, *pair) -> Traced:
    if len(pair) != 2:
        raise TypeError("numpy.where with one argument gives arrays of unknown shape")
    trace = _trace_of(condition, *pair)
    kind = _result_type(*pair)
    condition, a, b = (lift(trace, each) for each in (condition, *pair))
    trace.yields(a, kind), trace.yields(b, kind)
    shape = broadcast(condition.shape, a.shape, b.shape)

    def body(s, given):
        return s.select(s.cast(given[0], condition.dtype, bool), s.cast(given[1], a.dtype, kind),
                        s.cast(given[2], b.dtype, kind), kind)

    return _elementwise(trace, [condition, a, b], shape, kind, body)


def clip(array, a_min=None, a_max=None, out=None, **options) -> Traced:
    _refuse("clip", {"out": out, **options})
    if a_min is not None:
        array = np.maximum(array, a_min)
    return array if a_max is None else np.minimum(array, a_max)


def swapaxes(array, axis1, axis2) -> Traced:
    order = list(range(array.ndim))
    (one,), (two,) = _axes(axis1, array.ndim), _axes(axis2, array.ndim)
    order[one], order[two] = order[two], order[one]
    return transpose(array, order)


def moveaxis(array, source, destination) -> Traced:
    source, destination = _axes(source, array.ndim), _axes(destination, array.ndim)
    order = [i for i in range(array.ndim) if i not in source]
    for to, axis in sorted(zip(destination, source)):
        order.insert(to, axis)
    return transpose(array, order)


def dot(a, b, out=None) -> Traced:
    _refuse("dot", {"out": out})
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    if np.ndim(a) > 2 or np.ndim(b) > 2:
        raise TypeError("numpy.dot of more than 2 dimensions: use numpy.matmul or numpy.einsum")
    return matmul(a, b)


def einsum(subscripts, *operands, **options) -> Traced:
    """Of one or two operands, without repeated letters in one, and without an ellipsis."""
    _refuse("einsum", {key: value for key, value in options.items() if key != "optimize"})
    trace = _trace_of(*operands)
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


def full_like(array, fill_value, dtype=None, order="K", subok=True, shape=None) -> Traced:
    extents = (array.shape if shape is None else (shape,)
               if isinstance(shape, (int, Dim, np.integer)) else tuple(shape))
    kind = np.dtype(dtype or array.dtype)
    _check_fit(fill_value, kind)
    return Traced(array._trace, array._trace.builder.full(extents, kind, fill_value))


_functions.update({
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
    np.mean: mean, np.var: var,
    np.std: lambda *a, **o: np.sqrt(var(*a, **o)),
    np.where: where, np.clip: clip, np.take: take, np.dot: dot, np.einsum: einsum,
    np.reshape: reshape, np.transpose: transpose, np.swapaxes: swapaxes, np.moveaxis: moveaxis,
    np.expand_dims: expand_dims, np.squeeze: squeeze, np.broadcast_to: broadcast_to,
    np.ravel: lambda a, order="C": reshape(a, -1, order),
    np.concatenate: concatenate, np.stack: stack,
    np.flip: lambda m, axis=None: index(m, tuple(
        slice(None, None, -1) if i in _axes(axis, m.ndim) else slice(None) for i in range(m.ndim))),
    np.full_like: full_like, np.zeros_like: lambda a, *rest, **o: full_like(a, 0, *rest, **o),
    np.ones_like: lambda a, *rest, **o: full_like(a, 1, *rest, **o),
    np.empty_like: lambda a, *rest, **o: full_like(a, 0, *rest, **o),
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.around: around, np.round: around, np.copy: lambda a, **o: a,
})
