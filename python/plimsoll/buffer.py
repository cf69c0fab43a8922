"""Buffers: tensors in memory, and how they pass to and from other libraries.

NumPy arrays are enough for most of it. A `Buffer` is what an array that a call returned is a view
of (`array.base`); it says the element type where NumPy has none of its own, and speaks DLPack of
any version.
"""

from __future__ import annotations

import functools

import numpy as np

from . import _native
from ._native import Buffer

_HOST = (1, 0)  # kDLCPU


def _dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """The tensor as a DLPack capsule: without a copy, which is always possible here, or with
    `copy=True` as one, which is dense and writable.

    The consumer says with `max_version` what it understands; without it, it gets the form before
    version 1.0, which cannot say that memory is read-only.
    """
    if stream is not None:
        raise BufferError("the memory is the host's, which has no streams")
    if dl_device is not None and tuple(dl_device) != _HOST:
        raise BufferError(f"the memory is the host's, not on device {tuple(dl_device)}")
    if copy:
        self = _copy(self)
    return _native.to_dlpack(self, max_version is not None and max_version[0] >= 1, bool(copy))


def _copy(buffer: Buffer) -> Buffer:
    return Buffer(buffer.array.copy(), buffer.element_type)


def _dlpack_device(self):
    """(1, 0): memory of the host."""
    return _HOST


def _repr(self):
    access = ", read-only" if self.read_only else ""
    return f"<plimsoll.Buffer {'x'.join(map(str, (*self.shape, self.element_type)))}{access}>"


Buffer.__dlpack__ = _dlpack
Buffer.__dlpack_device__ = _dlpack_device
Buffer.__repr__ = _repr


def from_dlpack(tensor, *, copy: bool | None = None) -> Buffer:
    """A buffer over the memory of anything with `__dlpack__()`: a tensor of PyTorch, an array of
    JAX.

    With `copy=True` it is memory of its own. With `copy=False` a producer that would have to copy
    raises BufferError; one that cannot be asked is trusted.

    >>> import numpy as np, plimsoll as pl
    >>> x = np.arange(3, dtype=np.int16)
    >>> pl.from_dlpack(x)
    <plimsoll.Buffer 3xi16>
    """
    if isinstance(tensor, Buffer):
        return _copy(tensor) if copy else tensor
    capsule = None
    for asked in ({"max_version": (1, 0), "copy": copy}, {"max_version": (1, 0)}, {}):
        if copy is None and "copy" in asked:
            continue
        try:
            capsule = tensor.__dlpack__(**asked)
            break
        except TypeError:  # one of an earlier version knows no such arguments
            if not asked:
                raise
    buffer = _native.from_dlpack(capsule)
    return _copy(buffer) if copy and "copy" not in asked else buffer


def to_bf16(array) -> np.ndarray:
    """The nearest bf16 of each element, as an array of uint16: the upper halves of float32.

    NumPy has no bf16. Arguments and results of that type are arrays of uint16 with its bits. In
    functions of `jit` too.

    >>> import plimsoll as pl
    >>> pl.to_bf16([1.0, -2.0]).tolist() == [0x3f80, 0xc000]
    True
    """
    if hasattr(array, "_trace"):  # of jit
        return array.__array_function__(to_bf16, (type(array),), (array,), {})
    values = np.ascontiguousarray(array, np.float32)
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    nan = np.isnan(values)
    rounded[nan] = (bits[nan] >> 16).astype(np.uint16) | 0x40
    return rounded.reshape(np.shape(array))


def from_bf16(bits) -> np.ndarray:
    """The inverse of `to_bf16`: float32, exactly.

    >>> import plimsoll as pl
    >>> pl.from_bf16(pl.to_bf16([1.0, 0.1]))
    array([1.        , 0.10009766], dtype=float32)
    """
    if hasattr(bits, "_trace"):
        return bits.__array_function__(from_bf16, (type(bits),), (bits,), {})
    upper = np.left_shift(np.asarray(bits, np.uint16), 16, dtype=np.uint32)
    return np.asarray(upper).view(np.float32)


@functools.cache
def _f8_values(element_type: str) -> np.ndarray:
    """What each byte without sign stands for; what is no number is the one that would follow."""
    formats = {"f8E4M3FN": (3, 7, 0x7f), "f8E5M2": (2, 15, 0x7c)}
    if element_type not in formats:
        raise ValueError(f"{element_type!r} is neither 'f8E4M3FN' nor 'f8E5M2'")
    mantissa, bias, special = formats[element_type]
    codes = np.arange(special + 1)
    exponent = np.maximum(codes >> mantissa, 1)
    leading = np.where(codes >> mantissa, 1 << mantissa, 0)
    return np.ldexp((leading + codes % (1 << mantissa)).astype(float), exponent - bias - mantissa)


def to_f8(array, element_type: str) -> np.ndarray:
    """The nearest float of 8 bits of each element, ties to even, as an array of uint8.

    `element_type` is "f8E4M3FN" or "f8E5M2". NumPy has neither: arguments and results of these
    types are arrays of uint8 with their bits, which `.view()` of a type of ml_dtypes makes numbers.
    What is too large becomes infinity in f8E5M2, and NaN in f8E4M3FN.

    >>> import plimsoll as pl
    >>> pl.to_f8([1.0, -2.0, 1e9], "f8E4M3FN").tolist() == [0x38, 0xc0, 0x7f]
    True
    """
    steps = _f8_values(element_type)
    with np.errstate(invalid="ignore"):  # of NaNs that signal
        values = np.asarray(array, float)
    middles = (steps[1:] + steps[:-1]) / 2
    size = np.nan_to_num(np.abs(values))
    bits = np.searchsorted(middles, size)  # in the middle: the lower one
    is_tie = np.isin(size, middles)
    bits = bits + (is_tie & (bits % 2 == 1))
    nan = 0x7f if element_type == "f8E4M3FN" else 0x7e
    bits = np.where(np.isnan(values), nan, bits)
    return (bits | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)


def from_f8(bits, element_type: str) -> np.ndarray:
    """The inverse of `to_f8`: float32, exactly.

    >>> import plimsoll as pl
    >>> pl.from_f8(pl.to_f8([1.0, 0.1], "f8E5M2"), "f8E5M2")
    array([1.     , 0.09375], dtype=float32)
    """
    steps = _f8_values(element_type)
    table = np.full(128, np.nan, np.float32)
    table[:len(steps) - 1] = steps[:-1]
    if element_type == "f8E5M2":
        table[len(steps) - 1] = np.inf
    bits = np.asarray(bits, np.uint8)
    return np.where(bits & 0x80, -table[bits & 0x7f], table[bits & 0x7f])
