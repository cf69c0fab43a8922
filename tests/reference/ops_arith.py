"""arith, index and ub: numbers, element by element. Scalars, vectors and tensors are one case."""
import numpy as np

from .base import Unsupported, handles, integer, require
from .irtypes import Complex, Float, Index, Shaped, element_of
from .numerics import bits_from_float, float_from_bits, signed, unsigned, width_of, wrap


def result_element(op, which=0):
    return element_of(op.result_types[which])


def operand_element(op, which=0):
    return element_of(op.operand_types[which])


def truth(condition):
    return np.asarray(condition).astype(np.int64)[()]


@handles("arith.constant", "index.constant", "complex.constant")
def constant(run, op, args, env):
    return run.decode(op.attributes["value"], op.result_types[0])


@handles("index.bool.constant")
def bool_constant(run, op, args, env):
    return np.int64(op.attributes["value"])


@handles("ub.poison")
def poison(run, op, args, env):
    shape = getattr(op.result_types[0], "shape", ())
    return run.numerics.undefined(shape, result_element(op))[()]


# --- Integers -------------------------------------------------------------------------------------


def divided(a, b, round_up=False, floor=False):
    """Signed division of int64: toward zero unless told. The smallest number by -1 wraps."""
    require(not np.any(b == 0), "division by zero")
    quotient, rest = np.floor_divide(a, b), np.remainder(a, b)
    if floor:
        return quotient
    if round_up:
        return quotient + (rest != 0)
    return quotient + ((rest != 0) & ((a < 0) != (b < 0)))


def shift(left, a, by, width):
    """Shifts by the width or more have no value in MLIR; here all bits leave."""
    by = unsigned(by, width)
    over = by >= width
    by = np.where(over, 0, by).astype(a.dtype)
    moved = np.left_shift(a, by) if left else np.right_shift(a, by)
    # Of one type: NumPy makes f64 of an int64 and a uint64.
    left_over = -(a < 0).astype(np.int64) if not left and a.dtype == np.int64 else a.dtype.type(0)
    return np.where(over, left_over, moved)[()]


def as_unsigned(function):
    def apply(a, b, width):
        result = function(unsigned(a, width), unsigned(b, width))
        return np.asarray(result).astype(np.int64)[()]
    return apply


def as_signed(function):
    return lambda a, b, width: function(signed(a, width), signed(b, width))


def plain(function):
    return lambda a, b, width: function(a, b)


def divided_unsigned(a, b):
    require(not np.any(b == 0), "division by zero")
    return a // b


def remainder_unsigned(a, b):
    require(not np.any(b == 0), "division by zero")
    return a % b


def remainder_signed(a, b):
    require(not np.any(b == 0), "division by zero")
    return np.fmod(a, b)


def ceil_unsigned(a, b):
    require(not np.any(b == 0), "division by zero")
    return a // b + (a % b != 0).astype(a.dtype)


INTEGER = {
    "addi": plain(np.add), "subi": plain(np.subtract), "muli": plain(np.multiply),
    "andi": plain(np.bitwise_and), "ori": plain(np.bitwise_or), "xori": plain(np.bitwise_xor),
    "divsi": as_signed(divided), "remsi": as_signed(remainder_signed),
    "ceildivsi": as_signed(lambda a, b: divided(a, b, round_up=True)),
    "floordivsi": as_signed(lambda a, b: divided(a, b, floor=True)),
    "divui": as_unsigned(divided_unsigned), "remui": as_unsigned(remainder_unsigned),
    "ceildivui": as_unsigned(ceil_unsigned),
    "maxsi": as_signed(np.maximum), "minsi": as_signed(np.minimum),
    "maxui": as_unsigned(np.maximum), "minui": as_unsigned(np.minimum),
    "shli": lambda a, b, width: shift(True, a, b, width),
    "shrsi": lambda a, b, width: shift(False, signed(a, width), b, width),
    "shrui": lambda a, b, width: np.asarray(
        shift(False, unsigned(a, width), b, width)).astype(np.int64)[()],
}
INDEX_NAMES = {"add": "addi", "sub": "subi", "mul": "muli", "divs": "divsi", "divu": "divui",
               "ceildivs": "ceildivsi", "ceildivu": "ceildivui", "floordivs": "floordivsi",
               "rems": "remsi", "remu": "remui", "maxs": "maxsi", "maxu": "maxui", "mins": "minsi",
               "minu": "minui", "and": "andi", "or": "ori", "xor": "xori", "shl": "shli",
               "shrs": "shrsi", "shru": "shrui"}


def integer_binary(function):
    def handler(run, op, args, env):
        width = width_of(result_element(op))
        return wrap(function(args[0], args[1], width), width)
    return handler


for _name, _function in INTEGER.items():
    handles("arith." + _name)(integer_binary(_function))
for _name, _same in INDEX_NAMES.items():
    handles("index." + _name)(integer_binary(INTEGER[_same]))

COMPARE = ["eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge"]
COMPARE_FUNCTION = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
                    "gt": np.greater, "ge": np.greater_equal}
INDEX_PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]


@handles("arith.cmpi")
def compare_integers(run, op, args, env):
    predicate = op.attributes["predicate"]
    width = width_of(operand_element(op))
    domain = unsigned if predicate >= 6 else signed
    return truth(COMPARE_FUNCTION[COMPARE[predicate]](domain(args[0], width),
                                                      domain(args[1], width)))


@handles("index.cmp")
def compare_indices(run, op, args, env):
    word = op.attributes["pred"].word()
    domain = unsigned if word.startswith("u") else signed
    return truth(COMPARE_FUNCTION[word[-2:]](domain(args[0], 64), domain(args[1], 64)))


@handles("arith.addui_extended")
def add_extended(run, op, args, env):
    width = width_of(result_element(op))
    total = wrap(args[0] + args[1], width)
    return [total, truth(unsigned(total, width) < unsigned(args[0], width))]


def multiply_extended(domain):
    def handler(run, op, args, env):
        width = width_of(result_element(op))
        a, b = (np.asarray(domain(arg, width)).astype(object) for arg in args)
        product = np.asarray(a * b, object)

        def half(by):
            bits = np.asarray((product >> by) & ((1 << width) - 1), object)
            signs = np.asarray(bits >> (width - 1), object) << width if width > 1 else 0
            return np.asarray(bits - signs, object).astype(np.int64)[()]
        return [half(0), half(width)]
    return handler


handles("arith.mulsi_extended")(multiply_extended(signed))
handles("arith.mului_extended")(multiply_extended(unsigned))


# --- Floats ---------------------------------------------------------------------------------------


def extreme(function, zero_is_negative):
    """maximumf and minimumf: NaN wins, and -0 is below 0."""
    def apply(a, b):
        result = function(a, b)
        sign = np.signbit(a) | np.signbit(b) if zero_is_negative else np.signbit(a) & np.signbit(b)
        zero = np.copysign(np.zeros_like(result), np.where(sign, -1, 1).astype(result.dtype))
        return np.where(result == 0, zero, result)[()]
    return apply


maximum = extreme(np.maximum, False)
minimum = extreme(np.minimum, True)
FLOAT = {
    "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.true_divide,
    "remf": np.fmod, "maximumf": maximum, "minimumf": minimum, "maxnumf": np.fmax,
    "minnumf": np.fmin,
}


def float_binary(function):
    def handler(run, op, args, env):
        return run.numerics.fit(function(args[0], args[1]), result_element(op))
    return handler


for _name, _function in FLOAT.items():
    handles("arith." + _name)(float_binary(_function))


@handles("arith.negf")
def negate(run, op, args, env):
    return -args[0]


ORDERED = [None, "eq", "gt", "ge", "lt", "le", "ne", None, "eq", "gt", "ge", "lt", "le", "ne"]


@handles("arith.cmpf")
def compare_floats(run, op, args, env):
    predicate = op.attributes["predicate"]
    a, b = args
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in (0, 15):
        return truth(np.full_like(unordered, predicate == 15))
    if predicate in (7, 14):
        return truth(~unordered if predicate == 7 else unordered)
    holds = COMPARE_FUNCTION[ORDERED[predicate]](a, b)
    return truth(holds & ~unordered if predicate < 7 else holds | unordered)


@handles("arith.select", "index.select")
def select(run, op, args, env):
    if np.size(args[0]) == 1 and isinstance(op.result_types[0], Shaped) and \
            not isinstance(op.operand_types[0], Shaped):
        return args[1] if integer(args[0]) else args[2]  # Tensors may differ in their extents.
    return np.where(args[0] != 0, args[1], args[2])[()]


# --- Casts ----------------------------------------------------------------------------------------


@handles("arith.extsi")
def extend_signed(run, op, args, env):
    return signed(args[0], width_of(operand_element(op)))


@handles("arith.extui")
def extend_unsigned(run, op, args, env):
    return unsigned(args[0], width_of(operand_element(op)))


@handles("arith.trunci")
def truncate(run, op, args, env):
    return wrap(args[0], width_of(result_element(op)))


@handles("arith.index_cast", "index.casts")
def index_cast(run, op, args, env):
    return wrap(signed(args[0], width_of(operand_element(op))), width_of(result_element(op)))


@handles("arith.index_castui", "index.castu")
def index_cast_unsigned(run, op, args, env):
    value = np.asarray(unsigned(args[0], width_of(operand_element(op)))).astype(np.int64)[()]
    return wrap(value, width_of(result_element(op)))


def float_from_integer(run, value, kind):
    """Rounded once: what float64 cannot hold keeps a bit below that says on which side it was."""
    if kind.name in ("f64", "f32") and run.numerics.exact:
        return np.asarray(value).astype(run.numerics.dtype(kind))[()]
    low = value & value.dtype.type(0xFFF)
    big = (value > (1 << 53)) | (value < -(1 << 53)) if value.dtype == np.int64 else \
        value > (1 << 53)
    sticky = (value - low) | value.dtype.type(0x800)
    value = np.where(big & (low != 0), sticky, value).astype(np.float64)
    return run.numerics.fit(value, kind)


@handles("arith.sitofp")
def from_signed(run, op, args, env):
    value = np.asarray(signed(args[0], width_of(operand_element(op))))
    return float_from_integer(run, value, result_element(op))


@handles("arith.uitofp")
def from_unsigned(run, op, args, env):
    value = np.asarray(unsigned(args[0], width_of(operand_element(op))))
    return float_from_integer(run, value, result_element(op))


def saturated(value, low, high):
    """Toward zero. What does not fit has no value in MLIR; here it is the nearest that does."""
    value = np.trunc(np.asarray(value, np.float64))
    value = np.where(np.isnan(value), 0, value)
    inside = np.where((value >= float(low)) & (value < float(high) + 1), value, 0)
    inside = inside.astype(np.uint64 if high >= 1 << 63 else np.int64)
    inside = np.where(value < low, inside.dtype.type(low), inside)
    return np.where(value >= float(high) + 1, inside.dtype.type(high), inside)


@handles("arith.fptosi")
def to_signed(run, op, args, env):
    width = width_of(result_element(op))
    if width == 1:
        return truth(saturated(args[0], -1, 0))
    return saturated(args[0], -(1 << (width - 1)), (1 << (width - 1)) - 1)[()]


@handles("arith.fptoui")
def to_unsigned(run, op, args, env):
    width = width_of(result_element(op))
    return wrap(saturated(args[0], 0, (1 << width) - 1).astype(np.int64), width)[()]


@handles("arith.extf")
def extend_float(run, op, args, env):
    return np.asarray(args[0]).astype(run.numerics.dtype(result_element(op)))[()]


@handles("arith.truncf")
def truncate_float(run, op, args, env):
    mode = op.attributes.get("roundingmode")
    if mode is not None and mode.word() != "to_nearest_even":
        raise Unsupported(f"the rounding mode {mode.word()}")
    return run.numerics.cast(args[0], result_element(op))


@handles("arith.bitcast", "tensor.bitcast", "vector.bitcast")
def bitcast(run, op, args, env):
    source, target = operand_element(op), result_element(op)
    if isinstance(source, Complex) or isinstance(target, Complex):
        raise Unsupported("a bitcast of complex numbers")
    width = 64 if isinstance(source, Index) else getattr(source, "width", None)
    bits = bits_from_float(args[0], source) if isinstance(source, Float) else args[0]
    if isinstance(target, Float):
        bits = unsigned(bits, width) if width else bits
        value = float_from_bits(np.asarray(bits).astype(np.uint64), target)
        return np.asarray(value).astype(run.numerics.dtype(target))[()]
    return wrap(bits, width_of(target))
