"""Operations of arith and math on scalars and on vectors of every rank, against Python's integers and NumPy in f64."""

import numpy as np
import pytest

from families import Family, element, vector

FORMS = {"scalar": (1,), "rank 0": (1,), "rank 1": (17,), "rank 2": (3, 5), "rank 3": (2, 1, 4)}
INTEGERS = [np.int8, np.int16, np.int32, np.int64]
FLOATS = [np.float16, np.float32, np.float64]


def bits(dtype):
    return 1 if dtype == np.bool_ else 8 * np.dtype(dtype).itemsize


def unsigned(value, dtype):
    return int(value) & ((1 << bits(dtype)) - 1)


def signed(value, dtype):
    value = unsigned(value, dtype)
    return value - (1 << bits(dtype)) if value >> (bits(dtype) - 1) else value


def each(function, inputs, dtype):
    """`function` of the numbers at each place, wrapped to `dtype`."""
    values = [function(*numbers) for numbers in zip(*(array.reshape(-1).tolist() for array in inputs))]
    if np.dtype(dtype).kind in "ib":
        wrap = bool if dtype == np.bool_ else lambda value: signed(value, dtype)
        values = [wrap(unsigned(value, dtype)) for value in values]
    return np.array(values, dtype).reshape(inputs[0].shape)


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


class Elementwise(Family):
    def apply(self, form, operation, inputs, wanted, types, select=0):
        """`operation` names its operands {0}, {1}, ...; `types` takes those of operands, then of results."""

        def kind(array):
            name = element(array)
            return {"scalar": name, "rank 0": f"vector<{name}>"}.get(form) or vector(array)

        lines, names = [], []
        for i, array in enumerate(inputs):
            names.append(f"%x{i}" if form in ("scalar", "rank 0") else f"%v{i}")
            if form == "scalar":
                lines.append(f"%x{i} = vector.extract %v{i}[0] : {kind(array)} from {vector(array)}")
            elif form == "rank 0":
                lines.append(f"%x{i} = vector.shape_cast %v{i} : {vector(array)} to {kind(array)}")
        all_types = [kind(array) for array in inputs] + [kind(result) for result in wanted]
        results = ", ".join("%r" if i == select and names[0][1] == "v" else f"%y{i}"
                            for i in range(len(wanted)))
        lines.append(f"{results} = {operation.format(*names)} : {types.format(*all_types)}")
        chosen = wanted[select]
        if form == "scalar":
            lines.append(f"%r = vector.broadcast %y{select} : {kind(chosen)} to {vector(chosen)}")
        elif form == "rank 0":
            lines.append(f"%r = vector.shape_cast %y{select} : {kind(chosen)} to {vector(chosen)}")
        self.add(f"{operation} {form} {element(inputs[0])}", inputs, "\n".join(lines), chosen)

    def floats(self, dtype, shape, low=-2.0, high=2.0):
        return (self.random.random(shape) * (high - low) + low).astype(dtype)

    def integers(self, dtype, shape, low=None, high=None):
        info = np.iinfo(np.int8 if dtype == np.bool_ else dtype)
        low, high = info.min if low is None else low, info.max if high is None else high
        if dtype == np.bool_:
            low, high = 0, 1
        return self.random.integers(low, high, shape, endpoint=True).astype(dtype)


BINARY = {
    "arith.addi": lambda a, b: a + b, "arith.subi": lambda a, b: a - b, "arith.muli": lambda a, b: a * b,
    "arith.andi": lambda a, b: a & b, "arith.ori": lambda a, b: a | b, "arith.xori": lambda a, b: a ^ b,
    "arith.maxsi": max, "arith.minsi": min,
    "arith.divsi": quotient, "arith.remsi": lambda a, b: a - b * quotient(a, b),
    "arith.floordivsi": lambda a, b: a // b, "arith.ceildivsi": lambda a, b: -(-a // b)}
OF_UNSIGNED = {
    "arith.maxui": max, "arith.minui": min, "arith.divui": lambda a, b: a // b,
    "arith.remui": lambda a, b: a % b, "arith.ceildivui": lambda a, b: -(-a // b)}


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype):
    family = Elementwise()
    width = bits(dtype)
    for form, shape in FORMS.items():
        a, b = family.integers(dtype, shape), family.integers(dtype, shape, 1)
        small, shift = family.integers(dtype, shape, 0, 3), family.integers(dtype, shape, 0, width - 1)
        for name, function in BINARY.items():
            family.apply(form, f"{name} {{0}}, {{1}}", [a, b], [each(function, [a, b], dtype)], "{0}")
        for name, function in OF_UNSIGNED.items():
            wanted = each(lambda x, y: function(unsigned(x, dtype), unsigned(y, dtype)), [a, b], dtype)
            family.apply(form, f"{name} {{0}}, {{1}}", [a, b], [wanted], "{0}")
        for name, function in {"arith.shli": lambda x, y: x << y, "arith.shrsi": lambda x, y: x >> y,
                               "arith.shrui": lambda x, y: unsigned(x, dtype) >> y}.items():
            family.apply(form, f"{name} {{0}}, {{1}}", [a, shift], [each(function, [a, shift], dtype)], "{0}")
        family.apply(form, "math.ipowi {0}, {1}", [a, small],
                     [each(lambda x, y: x ** y, [a, small], dtype)], "{0}")
        for name, function in {
                "math.absi": abs, "math.ctpop": lambda x: bin(unsigned(x, dtype)).count("1"),
                "math.ctlz": lambda x: width - unsigned(x, dtype).bit_length(),
                "math.cttz": lambda x: (x & -x).bit_length() - 1 if x else width}.items():
            family.apply(form, f"{name} {{0}}", [a], [each(function, [a], dtype)], "{0}")
        carry = each(lambda x, y: (unsigned(x, dtype) + unsigned(y, dtype)) >> width, [a, b], np.bool_)
        for select in (0, 1):
            family.apply(form, "arith.addui_extended {0}, {1}", [a, b],
                         [each(lambda x, y: x + y, [a, b], dtype), carry], "{0}, {3}", select)
            for name, view in (("mulsi", lambda x: x), ("mului", lambda x: unsigned(x, dtype))):
                halves = [each(lambda x, y, to=to: view(x) * view(y) >> to, [a, b], dtype)
                          for to in (0, width)]
                family.apply(form, f"arith.{name}_extended {{0}}, {{1}}", [a, b], halves, "{0}", select)
    family.check()


@pytest.mark.parametrize("dtype", INTEGERS + [np.bool_])
def test_comparisons_of_integers(dtype):
    family = Elementwise()
    for form, shape in FORMS.items():
        a, b = family.integers(dtype, shape), family.integers(dtype, shape)
        b.reshape(-1)[::2] = a.reshape(-1)[::2]
        for name, function in {"eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__,
                               "gt": int.__gt__, "ge": int.__ge__}.items():
            for sign, view in (("s", signed), ("u", unsigned)):
                predicate = name if name in ("eq", "ne") else sign + name
                wanted = each(lambda x, y: function(view(x, dtype), view(y, dtype)), [a, b], np.bool_)
                family.apply(form, f"arith.cmpi {predicate}, {{0}}, {{1}}", [a, b], [wanted], "{0}")
        condition = family.numbers(np.bool_, *shape)
        types = "{1}" if form == "scalar" else "{0}, {1}"
        family.apply(form, "arith.select {0}, {1}, {2}", [condition, a, b], [np.where(condition, a, b)], types)
    family.check()


@pytest.mark.parametrize("source", INTEGERS + [np.bool_] + FLOATS)
def test_conversions(source):
    family = Elementwise()
    is_float = np.dtype(source).kind == "f"
    for form, shape in FORMS.items():
        for target in INTEGERS + [np.bool_] + FLOATS:
            if source == target:
                continue
            a = family.floats(source, shape, -100, 100) if is_float else family.integers(source, shape)
            wider = bits(target) > bits(source)
            if np.dtype(target).kind == "f":
                small = a if is_float or bits(source) < 16 else family.integers(source, shape, -2000, 2000)
                names = {"extf" if wider else "truncf": float} if is_float else {
                    "sitofp": lambda x: float(signed(x, source)), "uitofp": lambda x: float(unsigned(x, source))}
                if is_float and bits(source) == bits(target):
                    continue
                for name, function in names.items():
                    operand = np.abs(small) if name == "uitofp" and source != np.bool_ and bits(source) > 8 else small
                    family.apply(form, f"arith.{name} {{0}}", [operand], [each(function, [operand], target)],
                                 "{0} to {1}")
                continue
            if is_float:
                if target == np.bool_:
                    continue
                for name, operand in (("fptosi", a), ("fptoui", np.abs(a))):
                    family.apply(form, f"arith.{name} {{0}}", [operand], [each(int, [operand], target)],
                                 "{0} to {1}")
                continue
            names = {"trunci": int} if not wider else {
                "extsi": lambda x: signed(x, source), "extui": lambda x: unsigned(x, source)}
            for name, function in names.items():
                family.apply(form, f"arith.{name} {{0}}", [a], [each(function, [a], target)], "{0} to {1}")
            if bits(source) == bits(target):
                family.apply(form, "arith.bitcast {0}", [a], [a.view(target)], "{0} to {1}")
    family.check()


OF_FLOATS = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.remf": np.fmod, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin, "math.atan2": np.arctan2,
    "math.copysign": np.copysign}
# Where they are defined, and as steep as a relative error allows.
OF_ONE_FLOAT = {
    "arith.negf": (np.negative, -2, 2), "math.absf": (np.abs, -2, 2), "math.acos": (np.arccos, -0.9, 0.9),
    "math.acosh": (np.arccosh, 1.5, 3), "math.asin": (np.arcsin, -0.9, 0.9), "math.asinh": (np.arcsinh, -2, 2),
    "math.atan": (np.arctan, -2, 2), "math.atanh": (np.arctanh, -0.9, 0.9), "math.cbrt": (np.cbrt, -2, 2),
    "math.ceil": (np.ceil, -9, 9), "math.cos": (np.cos, -1, 1), "math.cosh": (np.cosh, -2, 2),
    "math.exp": (np.exp, -2, 2), "math.exp2": (np.exp2, -2, 2), "math.expm1": (np.expm1, -2, 2),
    "math.floor": (np.floor, -9, 9), "math.log": (np.log, 2, 9), "math.log10": (np.log10, 2, 9),
    "math.log1p": (np.log1p, -0.5, 2), "math.log2": (np.log2, 2, 9), "math.roundeven": (np.rint, -9, 9),
    "math.rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 2), "math.sin": (np.sin, -2, 2), "math.sinh": (np.sinh, -2, 2),
    "math.sqrt": (np.sqrt, 0, 2), "math.tan": (np.tan, -1, 1), "math.tanh": (np.tanh, -2, 2),
    "math.trunc": (np.trunc, -9, 9)}
PREDICATES = {"eq": np.equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal,
              "ne": np.not_equal}


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats(dtype):
    family = Elementwise()
    for form, shape in FORMS.items():
        a, b = family.floats(dtype, shape), family.floats(dtype, shape, 0.5)
        for name, function in OF_FLOATS.items():
            wanted = function(a.astype(np.float64), b.astype(np.float64)).astype(dtype)
            family.apply(form, f"{name} {{0}}, {{1}}", [a, b], [wanted], "{0}")
        for name, (function, low, high) in OF_ONE_FLOAT.items():
            x = family.floats(dtype, shape, low, high)
            family.apply(form, f"{name} {{0}}", [x], [function(x.astype(np.float64)).astype(dtype)], "{0}")
        for select in (0, 1):
            both = [function(a.astype(np.float64)).astype(dtype) for function in (np.sin, np.cos)]
            family.apply(form, "math.sincos {0}", [a], both, "{0}", select)
        exact = a.astype(np.float64) * b.astype(np.float64) + b.astype(np.float64)
        family.apply(form, "math.fma {0}, {1}, {1}", [a, b], [exact.astype(dtype)], "{0}")
    close = {np.float16: 2e-3, np.float32: 2e-6, np.float64: 1e-13}[dtype]
    family.check(lambda got, wanted: np.allclose(got.astype(float), wanted.astype(float), close, close))


@pytest.mark.parametrize("dtype", FLOATS)
def test_classes_and_comparisons_of_floats(dtype):
    family = Elementwise()
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-7, 1.0, -2.5], dtype)
    for form, shape in FORMS.items():
        for _ in range(8 if shape == (1,) else 1):
            a, b = family.random.choice(special, shape), family.random.choice(special, shape)
            unordered = np.isnan(a) | np.isnan(b)
            for name, function in PREDICATES.items():
                held = function(a, b)
                for prefix, wanted in (("o", held & ~unordered), ("u", held | unordered)):
                    family.apply(form, f"arith.cmpf {prefix}{name}, {{0}}, {{1}}", [a, b], [wanted], "{0}")
            family.apply(form, "arith.cmpf ord, {0}, {1}", [a, b], [~unordered], "{0}")
            family.apply(form, "arith.cmpf uno, {0}, {1}", [a, b], [unordered], "{0}")
            normal = np.isfinite(a) & (np.abs(a) >= np.finfo(dtype).tiny)
            for name, wanted in {"isnan": np.isnan(a), "isinf": np.isinf(a), "isfinite": np.isfinite(a),
                                 "isnormal": normal}.items():
                family.apply(form, f"math.{name} {{0}}", [a], [wanted], "{0}")
    family.check()
