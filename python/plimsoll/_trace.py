"""Arrays that write down what is done with them.

A `Traced` stands for an array while a function is traced. It takes part in NumPy's protocols,
`__array_ufunc__` and `__array_function__`, so that the function is written with NumPy's own names;
what NumPy would compute, it appends to a module. How, is in `functions`, which the modules for
elements, shapes, reductions and products fill in.
"""

from __future__ import annotations

import os
import sys

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ._dims import Dim, Extent, Known, product, same
from ._emit import Builder, Value, element_of, native_order
from .errors import ArgumentTypeError

_HERE = os.path.dirname(__file__)
_NUMPY = os.path.dirname(np.__file__)
# What stands for a function, or a method of arrays or ufuncs, of NumPy's.
functions: dict = {}


class Trace:
    """One function while it is written: its text, and the arrays that it closes over."""

    def __init__(self, arguments: list[str]):
        self.builder = Builder(arguments)
        self.parameters: dict[str, np.ndarray] = {}
        self._known: dict[int, tuple] = {}
        self.limits: dict[str, tuple[int, int]] = {}  # what numbers among the arguments may be
        # What extents may be, (extent, least, most) each: for others there is other code.
        self.bounds: dict[tuple[Dim, int, int], None] = {}

    def constant(self, array: np.ndarray) -> Traced:
        """An array that the function did not get but has: a copy, made now."""
        found = self._known.get(id(array))
        if found is None or found[0] is not array:
            value = np.array(array, native_order(array.dtype), order="C")
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
        info, extent = np.iinfo(dtype), operand._extent
        if extent is not None:
            if dtype.itemsize < 4 or not info.min <= extent.now <= info.max:
                raise Known(extent)
            if dtype != np.int64:
                self.bounds[extent, int(info.min), int(info.max)] = None
            return
        old = self.limits.get(operand._scalar, (-2**63, 2**63 - 1))
        self.limits[operand._scalar] = max(old[0], int(info.min)), min(old[1], int(info.max))

    def locate(self) -> None:
        """What is written next comes from the line that runs outside of this package and NumPy."""
        frame = sys._getframe(1)
        while frame and frame.f_code.co_filename.startswith((_HERE, _NUMPY, "<__array_function__")):
            frame = frame.f_back
        if frame:
            file = frame.f_code.co_filename.replace("\\", "/").replace('"', "'")
            self.builder.location = f' loc("{file}":{frame.f_lineno}:1)'
            self.builder.place = f"{file}:{frame.f_lineno}:1: "


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
        return np.transpose(self)

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

    def _in_place(ufunc):  # of a class that is being made: no method
        def changed(self, other):
            self._trace.locate()
            result = ufunc(self, other)
            if self._scalar is not None:  # a number of Python's, which has nothing to change
                return result
            if not all(map(same, result.shape, self.shape)) or result.ndim != self.ndim:
                raise ValueError(f"numpy.{ufunc.__name__}: the result of shape {result.shape} does not "
                                 f"fit the array of shape {self.shape} that it is to replace")
            if not np.can_cast(result.dtype, self.dtype, "same_kind"):
                raise TypeError(f"numpy.{ufunc.__name__}: {result.dtype} does not fit the array of "
                                f"{self.dtype} that it is to replace")
            return result.astype(self.dtype)
        return changed

    __iadd__, __isub__, __imul__ = map(_in_place, (np.add, np.subtract, np.multiply))
    __itruediv__, __ifloordiv__, __imod__ = map(_in_place, (np.true_divide, np.floor_divide,
                                                            np.remainder))
    __ipow__, __imatmul__ = map(_in_place, (np.power, np.matmul))
    __iand__, __ior__, __ixor__ = map(_in_place, (np.bitwise_and, np.bitwise_or, np.bitwise_xor))
    __ilshift__, __irshift__ = map(_in_place, (np.left_shift, np.right_shift))
    del _in_place

    # --- What NumPy asks --------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        self._trace.locate()
        known = functions.get(getattr(np.ufunc, method, None))
        if known is None or (ufunc.nout != 1 and ufunc not in functions):
            raise unknown(f"{ufunc.__name__}.{method}")
        return known(self._trace, ufunc, inputs, **options)

    def __array_function__(self, function, types, arguments, options):
        if function not in functions:
            module = getattr(function, "__module__", None) or "numpy"
            raise unknown(f"{module}.{function.__name__}".removeprefix("numpy."))
        self._trace.locate()
        return functions[function](*arguments, **options)

    def __getitem__(self, key):
        self._trace.locate()
        return functions[np.ndarray.__getitem__](self, key)

    # --- Methods of arrays ------------------------------------------------------------------------

    def astype(self, dtype, copy: bool = True) -> Traced:
        self._trace.locate()
        return functions[np.ndarray.astype](self, dtype)

    def reshape(self, *shape) -> Traced:
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes) -> Traced:
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = axes[0]
        return np.transpose(self, axes or None)

    def swapaxes(self, one, two):
        return np.swapaxes(self, one, two)

    def ravel(self):
        return np.reshape(self, -1)

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
        return np.around(self, decimals, out)

    def sum(self, axis=None, dtype=None, keepdims=False):
        return np.sum(self, axis, dtype, keepdims=keepdims)

    def prod(self, axis=None, dtype=None, keepdims=False):
        return np.prod(self, axis, dtype, keepdims=keepdims)

    def max(self, axis=None, keepdims=False):
        return np.max(self, axis, keepdims=keepdims)

    def min(self, axis=None, keepdims=False):
        return np.min(self, axis, keepdims=keepdims)

    def all(self, axis=None, keepdims=False):
        return np.all(self, axis, keepdims=keepdims)

    def any(self, axis=None, keepdims=False):
        return np.any(self, axis, keepdims=keepdims)

    def mean(self, axis=None, dtype=None, keepdims=False):
        return np.mean(self, axis, dtype, keepdims=keepdims)

    def var(self, axis=None, dtype=None, ddof=0, keepdims=False):
        return np.var(self, axis, dtype, ddof=ddof, keepdims=keepdims)

    def std(self, axis=None, dtype=None, ddof=0, keepdims=False):
        return np.std(self, axis, dtype, ddof=ddof, keepdims=keepdims)

    def cumsum(self, axis=None, dtype=None):
        return np.cumsum(self, axis, dtype)

    def cumprod(self, axis=None, dtype=None):
        return np.cumprod(self, axis, dtype)

    def argmax(self, axis=None, keepdims=False):
        return np.argmax(self, axis, keepdims=keepdims)

    def argmin(self, axis=None, keepdims=False):
        return np.argmin(self, axis, keepdims=keepdims)

    def argsort(self, axis=-1, kind=None):
        return np.argsort(self, axis, kind)


# What does the same with what is known.
_SUBSTITUTES = {
    "nonzero": "numpy.where() with three arguments",
    "argwhere": "numpy.where() with three arguments",
    "copyto": "numpy.where()",
    "bincount": "(x[:, None] == numpy.arange(n)).sum(0)",
    "partition": "numpy.sort()",
}


def unknown(what: str) -> TypeError:
    instead = f"; {_SUBSTITUTES[what]} is" if what in _SUBSTITUTES else ""
    return TypeError(f"numpy.{what} is not among what plimsoll.jit knows{instead}")


def refuse(name: str, options) -> None:
    """Options that nobody knows. Those with NumPy's defaults say nothing."""
    given = [option for option, value in options.items()
             if value is not None and value is not np._NoValue and value is not True or
             (option == "out" and value is not None)]
    if given:
        raise TypeError(f"numpy.{name}: plimsoll.jit knows no {', '.join(given)}=")


def refuse_masked(value) -> None:
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentTypeError("a masked array would lose its mask; filled() gives an array")


def trace_of(*values) -> Trace:
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
        return np.stack([lift(trace, each) for each in value])
    refuse_masked(value)
    return trace.constant(np.asarray(value))


def tensor(array: Traced) -> Traced:
    """A number as an array without dimensions."""
    return array if array._scalar is None else array.astype(array.dtype)
