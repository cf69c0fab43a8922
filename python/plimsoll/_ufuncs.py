"""What NumPy's element-wise functions are in the arith and math dialects.

Each is a function `(scalars, a[, b], dtype)` that writes the operation on elements of `dtype`, to
which the operands were cast. Results are of the type that NumPy gives.
"""

from __future__ import annotations

import numpy as np

_FLOAT = {"add": "arith.addf", "subtract": "arith.subf", "multiply": "arith.mulf",
          "divide": "arith.divf", "maximum": "arith.maximumf", "minimum": "arith.minimumf",
          "fmax": "arith.maxnumf", "fmin": "arith.minnumf", "fmod": "arith.remf",
          "power": "math.powf", "arctan2": "math.atan2", "copysign": "math.copysign"}
_INTEGER = {"add": "arith.addi", "subtract": "arith.subi", "multiply": "arith.muli",
            "bitwise_and": "arith.andi", "bitwise_or": "arith.ori", "bitwise_xor": "arith.xori"}
_BOOL = {"add": "arith.ori", "multiply": "arith.andi", "maximum": "arith.ori",
         "minimum": "arith.andi", "fmax": "arith.ori", "fmin": "arith.andi",
         "logical_and": "arith.andi", "logical_or": "arith.ori", "logical_xor": "arith.xori",
         "bitwise_and": "arith.andi", "bitwise_or": "arith.ori", "bitwise_xor": "arith.xori"}
_MATH = {"exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2",
         "log10": "log10", "log1p": "log1p", "sqrt": "sqrt", "cbrt": "cbrt", "sin": "sin",
         "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
         "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
         "arctanh": "atanh", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
         "rint": "roundeven",
         "fabs": "absf"}

COMPARISONS = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
               "greater_equal": "ge"}
LOGICAL = {"logical_and", "logical_or", "logical_xor", "logical_not"}
# Their operands are as they come, whatever the result is.
TESTS = {"isnan", "isinf", "isfinite", "signbit"}


def _extremum(s, name, a, b, dtype):
    sign = "s" if dtype.kind == "i" else "u"
    return s.binary(f"arith.{'max' if name in ('maximum', 'fmax') else 'min'}{sign}i", a, b, dtype)


def _integer_divide(s, a, b, dtype, op):
    """`op`: "div", rounded down, or "rem", with the sign of `b`. By zero it is 0, as in NumPy."""
    zero, one = s.constant(0, dtype), s.constant(1, dtype)
    is_zero = s.compare("eq", b, zero, dtype)
    if dtype.kind == "u":
        safe = s.select(is_zero, one, b, dtype)
        return s.select(is_zero, zero, s.binary(f"arith.{op}ui", a, safe, dtype), dtype)
    minus = s.constant(-1, dtype)
    is_minus = s.compare("eq", b, minus, dtype)  # the least number by -1 has no quotient
    safe = s.select(s.binary("arith.ori", is_zero, is_minus, np.dtype(bool)), one, b, dtype)
    if op == "div":
        result = s.binary("arith.floordivsi", a, safe, dtype)
        result = s.select(is_minus, s.binary("arith.subi", zero, a, dtype), result, dtype)
    else:
        result = s.binary("arith.remsi", a, safe, dtype)
        has_rest = s.compare("ne", result, zero, dtype)
        differs = s.compare("lt", s.binary("arith.xori", result, safe, dtype), zero, dtype)
        both = s.binary("arith.andi", has_rest, differs, np.dtype(bool))
        result = s.select(both, s.binary("arith.addi", result, safe, dtype), result, dtype)
        result = s.select(is_minus, zero, result, dtype)
    return s.select(is_zero, zero, result, dtype)


def _float_divide(s, a, b, dtype, op):
    """As Python does it: the remainder has the sign of `b`; without it the quotient is whole."""
    zero = s.constant(0, dtype)
    rest = s.binary("arith.remf", a, b, dtype)
    has_rest = s.compare("ne", rest, zero, dtype)
    differs = s.binary("arith.xori", s.compare("lt", rest, zero, dtype),
                       s.compare("lt", b, zero, dtype), np.dtype(bool))
    moves = s.binary("arith.andi", has_rest, differs, np.dtype(bool))
    if op == "rem":
        moved = s.select(moves, s.binary("arith.addf", rest, b, dtype), rest, dtype)
        return s.select(has_rest, moved, s.binary("math.copysign", zero, b, dtype), dtype)
    quotient = s.binary("arith.divf", s.binary("arith.subf", a, rest, dtype), b, dtype)
    less = s.binary("arith.subf", quotient, s.constant(1, dtype), dtype)
    quotient = s.select(moves, less, quotient, dtype)
    # Nearly whole by now.
    low = s.unary("math.floor", quotient, dtype)
    part = s.binary("arith.subf", quotient, low, dtype)
    up = s.compare("gt", part, s.constant(0.5, dtype), dtype)
    low = s.select(up, s.binary("arith.addf", low, s.constant(1, dtype), dtype), low, dtype)
    by_zero = s.compare("eq", b, zero, dtype)
    return s.select(by_zero, s.binary("arith.divf", a, b, dtype), low, dtype)


def _shift(s, name, a, b, dtype):
    """By all bits or more: what is shifted out is gone."""
    bits = 8 * dtype.itemsize
    inside = s.op(f"arith.cmpi ult, {b}, {s.constant(bits, dtype)} : i{bits}")
    by = s.select(inside, b, s.constant(bits - 1, dtype), dtype)
    if name == "left_shift":
        return s.select(inside, s.binary("arith.shli", a, by, dtype), s.constant(0, dtype), dtype)
    if dtype.kind == "i":
        return s.binary("arith.shrsi", a, by, dtype)
    return s.select(inside, s.binary("arith.shrui", a, by, dtype), s.constant(0, dtype), dtype)


def binary(s, name: str, a: str, b: str, dtype) -> str:
    """`name`: NumPy's. TypeError for what there is no way to write."""
    name = {"true_divide": "divide", "mod": "remainder"}.get(name, name)
    if name in COMPARISONS:
        if dtype.kind == "b":
            a, b = (s.cast(x, dtype, np.uint8) for x in (a, b))
            dtype = np.dtype(np.uint8)
        return s.compare(COMPARISONS[name], a, b, dtype)
    table = _FLOAT if dtype.kind == "f" else _BOOL if dtype.kind == "b" else _INTEGER
    if name in table:
        return s.binary(table[name], a, b, dtype)
    if dtype.kind in "iu":
        if name == "power":
            return s.power(a, b, dtype)
        if name in ("maximum", "minimum", "fmax", "fmin"):
            return _extremum(s, name, a, b, dtype)
        if name in ("floor_divide", "remainder"):
            return _integer_divide(s, a, b, dtype, "div" if name == "floor_divide" else "rem")
        if name in ("left_shift", "right_shift"):
            return _shift(s, name, a, b, dtype)
    if dtype.kind == "f" and name in ("floor_divide", "remainder"):
        return _float_divide(s, a, b, dtype, "div" if name == "floor_divide" else "rem")
    raise TypeError(f"numpy.{name} of {dtype} is not among what plimsoll.jit knows")


def unary(s, name: str, a: str, dtype) -> str:
    """As `binary`."""
    kind = dtype.kind
    if name == "positive":
        return a
    if name == "logical_not" or (name == "invert" and kind == "b"):
        return s.binary("arith.xori", a, s.constant(True, bool), np.dtype(bool))
    if name == "negative":
        return (s.unary("arith.negf", a, dtype) if kind == "f"
                else s.binary("arith.subi", s.constant(0, dtype), a, dtype))
    if name == "invert":
        return s.binary("arith.xori", a, s.constant(-1, dtype), dtype)
    if name == "absolute":
        return (s.unary("math.absf", a, dtype) if kind == "f"
                else a if kind in "ub" else s.unary("math.absi", a, dtype))
    if name == "square":
        return binary(s, "multiply", a, a, dtype)
    if name == "reciprocal" and kind == "f":
        return s.binary("arith.divf", s.constant(1, dtype), a, dtype)
    if name == "sign":
        if kind == "b":
            return a
        zero = s.constant(0, dtype)
        above = s.cast(s.compare("gt", a, zero, dtype), bool, dtype)
        below = s.cast(s.compare("lt", a, zero, dtype), bool, dtype)
        if kind != "f":
            return s.binary("arith.subi", above, below, dtype)
        is_number = s.compare("eq", a, a, dtype)
        return s.select(is_number, s.binary("arith.subf", above, below, dtype), a, dtype)
    if name in TESTS:
        if kind != "f":
            zero = s.constant(0, dtype)
            return (s.compare("lt", a, zero, dtype) if name == "signbit" and kind == "i"
                    else s.constant(name == "isfinite", bool))
        if name == "signbit":
            bits = np.dtype(f"i{dtype.itemsize}")
            word = s.op(f"arith.bitcast {a} : f{8 * dtype.itemsize} to i{8 * dtype.itemsize}")
            return s.compare("lt", word, s.constant(0, bits), bits)
        if name == "isnan":
            return s.compare("ne", a, a, dtype)
        size, limit = s.unary("math.absf", a, dtype), s.constant(np.inf, dtype)
        return s.compare("eq" if name == "isinf" else "lt", size, limit, dtype)
    if name in _MATH and kind == "f":
        return s.unary(f"math.{_MATH[name]}", a, dtype)
    raise TypeError(f"numpy.{name} of {dtype} is not among what plimsoll.jit knows")
