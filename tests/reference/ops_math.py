"""math: functions of numbers, element by element. Computed in float64 and rounded once."""
import fractions
import math

import numpy as np

from .base import handles
from .numerics import format_of, round_to, width_of, wrap
from .ops_arith import operand_element, result_element, truth


def each(function, *args):
    """A function of Python floats over arrays, with the C library's special values."""
    def guarded(*values):
        try:
            return function(*values)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan
    args = [np.asarray(arg, np.float64) for arg in args]
    return np.vectorize(guarded, otypes=[np.float64])(*args) if args[0].size else args[0]


def round_away(x):
    """Halfway cases away from zero. x + 0.5 would round 0.49999999999999994 up."""
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole), x)




UNARY = {
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt,
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "erf": lambda x: each(math.erf, x), "erfc": lambda x: each(math.erfc, x),
    "absf": np.abs, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc,
    "roundeven": np.rint, "round": round_away,
}
BINARY = {"powf": np.power, "atan2": np.arctan2, "copysign": np.copysign}


def unary(function):
    def handler(run, op, args, env):
        value = np.asarray(args[0], np.float64)
        return run.numerics.fit(np.asarray(function(value)), result_element(op))[()]
    return handler


def binary(function):
    def handler(run, op, args, env):
        value = function(np.asarray(args[0], np.float64), np.asarray(args[1], np.float64))
        return run.numerics.fit(np.asarray(value), result_element(op))[()]
    return handler


for _name, _function in UNARY.items():
    handles("math." + _name)(unary(_function))
for _name, _function in BINARY.items():
    handles("math." + _name)(binary(_function))


@handles("math.sincos")
def sincos(run, op, args, env):
    value = np.asarray(args[0], np.float64)
    return [run.numerics.fit(function(value), result_element(op))[()] for function in (np.sin, np.cos)]


@handles("math.clampf")
def clamp(run, op, args, env):
    value, low, high = args
    return run.numerics.fit(np.minimum(np.maximum(value, low), high), result_element(op))


@handles("math.isnan", "math.isinf", "math.isfinite", "math.isnormal")
def classify(run, op, args, env):
    if op.name == "math.isnormal":
        smallest = 2.0 ** format_of(operand_element(op)).emin
        return truth(np.isfinite(args[0]) & (np.abs(np.asarray(args[0], np.float64)) >= smallest))
    return truth(getattr(np, op.name[5:])(args[0]))


def fused(a, b, c):
    """a * b + c of float64, rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = fractions.Fraction(a) * fractions.Fraction(b) + fractions.Fraction(c)
    if exact == 0:
        return a * b + c  # Keeps the sign of zero.
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


@handles("math.fma", "vector.fma")
def fma(run, op, args, env):
    kind = result_element(op)
    a, b, c = (np.asarray(arg, np.float64) for arg in args)
    if not run.numerics.exact:
        return run.numerics.fit(a * b + c, kind)
    if kind.name == "f64":
        return np.vectorize(fused, otypes=[np.float64])(a, b, c)[()]
    # The product is exact in float64. The sum is rounded to odd, so that the next rounding sees on
    # which side of a tie it was (Boldo, Melquiond: Emulation of FMA and correctly rounded sums).
    product = a * b
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    even = total.view(np.int64) & 1 == 0 if total.ndim else np.int64(total.view(np.int64)) & 1 == 0
    step = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    odd = np.where(np.isfinite(total) & (error != 0) & even, step, total)
    return round_to(odd, kind).astype(run.numerics.dtype(kind))[()]


@handles("math.fpowi")
def float_to_integer_power(run, op, args, env):
    value = np.power(np.asarray(args[0], np.float64), np.asarray(args[1], np.float64))
    return run.numerics.fit(value, result_element(op))


@handles("math.ipowi")
def integer_power(run, op, args, env):
    """Negative exponents: 1 / x**n toward zero; of zero that is no value."""
    width = width_of(result_element(op))

    def power(x, n):
        if n < 0:
            return {1: 1, -1: -1 if n % 2 else 1}.get(x, 0)
        bits = pow(x, n, 1 << width)
        return bits - (1 << width) if width > 1 and bits >> (width - 1) else bits
    return np.vectorize(lambda x, n: power(int(x), int(n)), otypes=[np.int64])(*args)[()]


@handles("math.absi")
def absolute(run, op, args, env):
    return wrap(np.abs(args[0]), width_of(result_element(op)))


def bit_count(function):
    def handler(run, op, args, env):
        width = width_of(result_element(op))
        count = np.vectorize(lambda x: function(int(x) & ((1 << width) - 1), width),
                             otypes=[np.int64])
        return wrap(count(args[0]), width)[()] if np.size(args[0]) else args[0]
    return handler


handles("math.ctpop")(bit_count(lambda x, width: bin(x).count("1")))
handles("math.ctlz")(bit_count(lambda x, width: width - x.bit_length()))
handles("math.cttz")(bit_count(lambda x, width: (x & -x).bit_length() - 1 if x else width))
