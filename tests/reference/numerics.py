"""How elements are kept, rounded and wrapped.

Integers of all widths are int64 arrays that hold the signed value; i1 is 0 or 1. Floats are kept
in one of two ways:

  exact   every operation is rounded to its own type. f64, f32 and f16 are NumPy's; the narrower
          ones are float32 arrays that hold only values of the type. Sums, products, quotients and
          square roots of these are right after two roundings, for float32 has more than twice their
          precision and two bits.
  wide    every operation is done in float64, and only its range is that of the type: a value too
          large is infinite. Casts to a narrower type round, for the program asks for it.

A value may also be one number for each point of an iteration space; nothing here depends on shapes.
"""
import dataclasses
import re

import numpy as np

from .base import Unsupported
from .irtypes import Complex, Float, is_integer


@dataclasses.dataclass(frozen=True)
class Format:
    bits: int
    precision: int  # With the bit that is not stored.
    emin: int       # Exponent of the smallest normal number.
    largest: float
    infinite: bool  # Else what is too large becomes NaN.


def format_of(kind):
    name = kind.name
    if name not in FORMATS:
        found = re.fullmatch(r"f(\d)E(\d)M(\d)(FN)?", name)
        if not found:
            raise Unsupported(f"the type {name}")
        bits, exponent, mantissa = (int(found.group(i)) for i in (1, 2, 3))
        bias, top = (1 << (exponent - 1)) - 1, 2 - 2.0 ** -mantissa
        if not found.group(4):
            largest = top * 2.0 ** bias
        elif bits == 8:  # All ones is the NaN.
            largest = (top - 2.0 ** -mantissa) * 2.0 ** (bias + 1)
        else:
            raise Unsupported(f"the type {name}")
        FORMATS[name] = Format(bits, mantissa + 1, 1 - bias, largest, not found.group(4))
    return FORMATS[name]


FORMATS = {
    "f64": Format(64, 53, -1022, float(np.finfo(np.float64).max), True),
    "f32": Format(32, 24, -126, float(np.finfo(np.float32).max), True),
    "f16": Format(16, 11, -14, 65504.0, True),
    "bf16": Format(16, 8, -126, float(255 * 2.0 ** 120), True),
}
NATIVE = {"f64": np.float64, "f32": np.float32, "f16": np.float16}


def round_to(value, kind):
    """A float64 value rounded once, to nearest and ties to even, to a type; as float64."""
    form = format_of(kind)
    value = np.asarray(value, np.float64)
    if form.bits == 64:
        return value
    exponent = np.frexp(value)[1] - 1
    unit = np.maximum(exponent, form.emin) - (form.precision - 1)
    rounded = np.ldexp(np.rint(np.ldexp(value, -unit)), unit)
    rounded = np.where(np.isfinite(value), rounded, value)
    beyond = np.copysign(np.inf, value) if form.infinite else np.nan
    return np.where(np.abs(rounded) > form.largest, beyond, rounded)[()]


def float_from_bits(bits, kind):
    """The numbers, as float64, that these bits mean. bits: integers that are not negative."""
    form = format_of(kind)
    bits = np.asarray(bits, np.uint64)
    if kind.name in NATIVE:
        unsigned = {64: np.uint64, 32: np.uint32, 16: np.uint16}[form.bits]
        return bits.astype(unsigned).view(NATIVE[kind.name]).astype(np.float64)[()]
    mantissa_bits = form.precision - 1
    exponent_bits = form.bits - 1 - mantissa_bits
    mantissa = (bits & np.uint64((1 << mantissa_bits) - 1)).astype(np.float64)
    exponent = ((bits >> np.uint64(mantissa_bits)) & np.uint64((1 << exponent_bits) - 1)).astype(int)
    negative = (bits >> np.uint64(form.bits - 1)) & np.uint64(1) != 0
    unit = form.emin - mantissa_bits
    normal = np.ldexp(mantissa + (1 << mantissa_bits), exponent - 1 + unit)
    value = np.where(exponent == 0, np.ldexp(mantissa, unit), normal)
    top = exponent == (1 << exponent_bits) - 1
    if form.infinite:
        value = np.where(top, np.where(mantissa == 0, np.inf, np.nan), value)
    else:
        value = np.where(top & (mantissa == (1 << mantissa_bits) - 1), np.nan, value)
    return np.where(negative, -value, value)[()]


def bits_from_float(value, kind):
    """The bits, as int64 that are not negative but for f64, of numbers of the type."""
    form = format_of(kind)
    value = round_to(value, kind)
    if kind.name in NATIVE:
        signed = {64: np.int64, 32: np.uint32, 16: np.uint16}[form.bits]
        return np.asarray(value).astype(NATIVE[kind.name]).view(signed).astype(np.int64)[()]
    mantissa_bits = form.precision - 1
    exponent_bits = form.bits - 1 - mantissa_bits
    size = np.abs(value)
    exponent = np.where(size == 0, form.emin, np.maximum(np.frexp(size)[1] - 1, form.emin))
    whole = np.ldexp(size, mantissa_bits - exponent)
    finite = np.isfinite(size)
    whole = np.where(finite, whole, 0).astype(np.int64)
    exponent = np.where(finite, exponent, form.emin)
    bits = whole + ((exponent - form.emin) << mantissa_bits)
    top = ((1 << exponent_bits) - 1) << mantissa_bits
    nan = top | (1 << (mantissa_bits - 1)) if form.infinite else top | ((1 << mantissa_bits) - 1)
    bits = np.where(np.isinf(size), top, np.where(np.isnan(size), nan, bits))
    return (bits | (np.signbit(value).astype(np.int64) << (form.bits - 1)))[()]


# --- Integers -------------------------------------------------------------------------------------


def width_of(kind):
    if kind.width > 64:
        raise Unsupported(f"integers of {kind.width} bits")
    return kind.width


def wrap(value, width):
    """The signed value of the low bits."""
    if width == 64:
        return value
    if width == 1:
        return value & 1
    half = 1 << (width - 1)
    return ((value + half) & ((1 << width) - 1)) - half


def signed(value, width):
    """What sign extension sees: a true i1 is -1."""
    return -value if width == 1 else value


def unsigned(value, width):
    """The same bits without sign; uint64 only where int64 cannot hold them."""
    if width == 64:
        return np.asarray(value).astype(np.uint64)[()]
    return value & ((1 << width) - 1)


# --- Storage --------------------------------------------------------------------------------------


class Numerics:
    def __init__(self, exact):
        self.exact = exact

    def dtype(self, kind):
        if is_integer(kind):
            return np.int64
        if isinstance(kind, Complex):
            return np.complex128 if self.dtype(kind.part) == np.float64 else np.complex64
        if not isinstance(kind, Float):
            raise Unsupported(f"elements of type {kind}")
        if not self.exact:
            return np.float64
        return NATIVE.get(kind.name, np.float32)

    def fit(self, value, kind):
        """The result of an operation, computed in float32 or wider, as a value of its type."""
        if not self.exact:
            value = np.asarray(value, np.float64)[()]
            form = format_of(kind)
            if form.bits == 64:
                return value
            limit = form.largest * (1 + 2.0 ** -(form.precision + 1))
            return np.where(np.abs(value) > limit, np.copysign(np.inf, value), value)[()]
        native = NATIVE.get(kind.name)
        if native is None:
            return round_to(value, kind).astype(np.float32)
        return value if value.dtype == native else value.astype(native)

    def cast(self, value, kind):
        """A cast that the program asks for, or a constant: rounded in both ways."""
        value = np.asarray(value)
        if kind.name == "f32" or (kind.name == "f16" and value.dtype.kind == "f"):
            return value.astype(NATIVE[kind.name]).astype(self.dtype(kind))[()]
        return round_to(value, kind).astype(self.dtype(kind))[()]

    def fit_complex(self, value, kind):
        value = np.asarray(value)
        if value.dtype.kind != "c":
            value = value.astype(np.complex128)
        return join(self.fit(value.real, kind.part), self.fit(value.imag, kind.part),
                    self.dtype(kind))

    def constant(self, value, kind):
        """An array of numbers, of any dtype, that a program or a caller wrote down."""
        if is_integer(kind):
            return wrap(np.asarray(value).astype(np.int64), width_of(kind))
        if isinstance(kind, Complex):
            value = np.asarray(value, np.complex128)
            return join(self.cast(value.real, kind.part), self.cast(value.imag, kind.part),
                        self.dtype(kind))
        return np.asarray(self.cast(np.asarray(value, np.float64), kind))

    def undefined(self, shape, kind):
        """Memory that nobody has written: values that show where they come through."""
        if is_integer(kind):
            return np.full(shape, wrap(-0x5555555555555556, width_of(kind)), np.int64)
        return np.full(shape, np.nan, self.dtype(kind))


def join(real, imaginary, dtype):
    """A complex value by parts. Not real + 1j * imaginary: that makes NaNs of infinities."""
    real, imaginary = np.broadcast_arrays(real, imaginary)
    out = np.empty(real.shape, dtype)
    out.real, out.imag = real, imaginary
    return out[()]
