"""tosa: the operations that the modules of the tests use, from the text of the specification."""
import math

import numpy as np

from .base import Unsupported, handles, require
from .irtypes import Int, element_of, is_integer
from .numerics import unsigned, width_of, wrap
from .ops_arith import (COMPARE_FUNCTION, FLOAT, INTEGER, float_from_integer, result_element,
                        saturated, truth)
from .ops_math import UNARY as MATH


def extents_agree(args):
    """Broadcast: extents are equal or one."""
    try:
        return np.broadcast_shapes(*[np.shape(arg) for arg in args])
    except ValueError:
        require(False, "extents cannot be broadcast")


@handles("tosa.const", "tosa.const_shape")
def const(run, op, args, env):
    return run.decode(op.attributes["values"])


def elementwise(integer_name, float_name):
    def handler(run, op, args, env):
        extents_agree(args[:2])
        kind = result_element(op)
        if is_integer(kind):
            width = width_of(kind)
            return wrap(INTEGER[integer_name](args[0], args[1], width), width)
        if float_name is None:
            raise Unsupported(f"{op.name} of floats")
        return run.numerics.fit(FLOAT[float_name](args[0], args[1]), kind)
    return handler


for _name, _integer, _float in (("add", "addi", "addf"), ("sub", "subi", "subf"),
                                ("maximum", "maxsi", "maximumf"), ("minimum", "minsi", "minimumf"),
                                ("intdiv", "divsi", None), ("bitwise_and", "andi", None),
                                ("bitwise_or", "ori", None), ("bitwise_xor", "xori", None),
                                ("logical_and", "andi", None), ("logical_or", "ori", None),
                                ("logical_xor", "xori", None),
                                ("logical_left_shift", "shli", None),
                                ("logical_right_shift", "shrui", None)):
    handles("tosa." + _name)(elementwise(_integer, _float))


@handles("tosa.mul")
def multiply(run, op, args, env):
    kind, shift = result_element(op), int(np.reshape(args[2], -1)[0]) if len(args) > 2 else 0
    if not is_integer(kind):
        return run.numerics.fit(args[0] * args[1], kind)
    if shift == 0:
        return wrap(args[0] * args[1], width_of(kind))
    return wrap((args[0] * args[1] + (1 << (shift - 1))) >> shift, width_of(kind))


@handles("tosa.greater", "tosa.greater_equal", "tosa.equal")
def compare(run, op, args, env):
    short = {"greater": "gt", "greater_equal": "ge", "equal": "eq"}[op.name[5:]]
    return truth(COMPARE_FUNCTION[short](args[0], args[1]))


@handles("tosa.select")
def select(run, op, args, env):
    return np.where(args[0] != 0, args[1], args[2])


@handles("tosa.exp", "tosa.tanh", "tosa.floor", "tosa.ceil", "tosa.erf", "tosa.log", "tosa.rsqrt",
         "tosa.sin", "tosa.cos")
def unary(run, op, args, env):
    return run.numerics.fit(np.asarray(MATH[op.name[5:]](np.asarray(args[0], np.float64))),
                            result_element(op))


@handles("tosa.reciprocal")
def reciprocal(run, op, args, env):
    return run.numerics.fit(1 / np.asarray(args[0], np.float64), result_element(op))


@handles("tosa.sigmoid")
def sigmoid(run, op, args, env):
    return run.numerics.fit(1 / (1 + np.exp(-np.asarray(args[0], np.float64))), result_element(op))


@handles("tosa.pow")
def power(run, op, args, env):
    return run.numerics.fit(np.power(np.asarray(args[0], np.float64), args[1]), result_element(op))


@handles("tosa.abs")
def absolute(run, op, args, env):
    return np.abs(args[0])


@handles("tosa.negate")
def negate(run, op, args, env):
    kind = result_element(op)
    if not is_integer(kind):
        return -args[0]
    zero_in, zero_out = (int(np.reshape(arg, -1)[0]) for arg in args[1:3])
    half = 1 << (width_of(kind) - 1)
    return np.clip(zero_out - (args[0] - zero_in), -half, half - 1)


@handles("tosa.clamp")
def clamp(run, op, args, env):
    low, high = op.attributes["min_val"], op.attributes["max_val"]
    kind = result_element(op)
    if is_integer(kind):
        return np.minimum(np.maximum(args[0], low), high)
    low, high = (run.numerics.constant(value, kind) for value in (low, high))
    if op.attributes["nan_mode"].word() == "IGNORE":
        return np.fmin(np.fmax(args[0], low), high)
    return np.minimum(np.maximum(args[0], low), high)


@handles("tosa.cast")
def cast(run, op, args, env):
    source, target = element_of(op.operand_types[0]), result_element(op)
    if is_integer(source):
        if not is_integer(target):
            return float_from_integer(run, np.asarray(args[0]), target)
        return truth(args[0] != 0) if target.width == 1 else wrap(args[0], width_of(target))
    if not is_integer(target):
        return run.numerics.cast(args[0], target)
    if target.width == 1:
        return truth(args[0] != 0)
    half = 1 << (target.width - 1)
    return saturated(np.rint(np.asarray(args[0], np.float64)), -half, half - 1)


@handles("tosa.rescale")
def rescale(run, op, args, env):
    """(value - zero) * multiplier / 2^shift, rounded to nearest, plus zero, saturated."""
    attributes = op.attributes
    kind_in, kind_out = element_of(op.operand_types[0]), result_element(op)
    value, multiplier, shift, zero_in, zero_out = (np.asarray(arg) for arg in args[:5])
    is_unsigned = [attributes.get(name) or (isinstance(kind, Int) and kind.unsigned)
                   for name, kind in (("input_unsigned", kind_in), ("output_unsigned", kind_out))]
    if is_unsigned[0]:
        value, zero_in = (unsigned(v, kind_in.width) for v in (value, zero_in))
    if is_unsigned[1]:
        zero_out = unsigned(zero_out, kind_out.width)
    value = value - int(zero_in.reshape(-1)[0])
    if not attributes["scale32"]:
        multiplier = wrap(multiplier, 16)
    mode = attributes["rounding_mode"].word()
    rounding = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)
    if mode == "DOUBLE_ROUND":
        extra = np.where(value >= 0, np.int64(1) << 30, -(np.int64(1) << 30))
        rounding = rounding + np.where(shift > 31, extra, 0)
    elif mode != "SINGLE_ROUND":
        raise Unsupported(f"the rounding mode {mode}")
    result = ((value * multiplier + rounding) >> shift) + int(zero_out.reshape(-1)[0])
    bits = width_of(kind_out)
    low, high = (0, (1 << bits) - 1) if is_unsigned[1] else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return wrap(np.clip(result, low, high), bits)


# --- Reductions -----------------------------------------------------------------------------------


@handles("tosa.reduce_sum", "tosa.reduce_product", "tosa.reduce_max", "tosa.reduce_min",
         "tosa.reduce_all", "tosa.reduce_any")
def reduce(run, op, args, env):
    name, kind, axis = op.name[12:], result_element(op), op.attributes["axis"]
    integer_name, float_name, start = {
        "sum": ("addi", "addf", 0), "product": ("muli", "mulf", 1), "all": ("andi", None, 1),
        "any": ("ori", None, 0), "max": ("maxsi", "maximumf", None),
        "min": ("minsi", "minimumf", None)}[name]
    moved = np.moveaxis(args[0], axis, 0)
    if start is None:
        require(len(moved) > 0, "an extreme of nothing")
        total, moved = moved[0], moved[1:]
    else:
        total = np.full(moved.shape[1:], start, args[0].dtype)
    for part in moved:
        if is_integer(kind):
            total = wrap(INTEGER[integer_name](total, part, width_of(kind)), width_of(kind))
        else:
            total = run.numerics.fit(FLOAT[float_name](total, part), kind)
    return np.expand_dims(total, axis)


@handles("tosa.argmax")
def argmax(run, op, args, env):
    return np.argmax(args[0], axis=op.attributes["axis"]).astype(np.int64)


# --- Windows --------------------------------------------------------------------------------------


def zero_point(args, at):
    value = np.reshape(args[at], -1)[0] if len(args) > at else 0
    return value


def convolution(run, op, args, image_layout, window_layout, result_layout):
    """Sums in the type of the result; the tests have no accumulator of another type."""
    kind = result_element(op)
    attributes = op.attributes
    top, bottom, left, right = attributes["pad"]
    image, window, bias = args[:3]
    zero_image, zero_window = zero_point(args, 3), zero_point(args, 4)
    image = np.pad(image, [(0, 0), (top, bottom), (left, right), (0, 0)],
                   constant_values=zero_image) - zero_image
    window = window - zero_window
    kh, kw = window_layout.index("h"), window_layout.index("w")
    heights = (image.shape[1] - (window.shape[kh] - 1) * attributes["dilation"][0] - 1)
    widths = (image.shape[2] - (window.shape[kw] - 1) * attributes["dilation"][1] - 1)
    high, wide = heights // attributes["stride"][0] + 1, widths // attributes["stride"][1] + 1
    extents = {"n": image.shape[0], "h": high, "w": wide}
    for layout, value in ((image_layout, image), (window_layout, window)):
        for letter, extent in zip(layout, value.shape):
            extents.setdefault(letter, extent)
    shape = [extents[letter] for letter in result_layout]
    total = np.zeros(shape, run.numerics.dtype(kind))
    for y in range(window.shape[kh]):
        for x in range(window.shape[kw]):
            rows = slice(y * attributes["dilation"][0], None, attributes["stride"][0])
            columns = slice(x * attributes["dilation"][1], None, attributes["stride"][1])
            part = image[:, rows, columns, :][:, :high, :wide, :]
            taps = np.take(np.take(window, y, axis=kh), x, axis=kw - (kh < kw))
            if result_layout == "nhwf":  # taps: f, c
                for c in range(part.shape[3]):
                    total = add_products(run, kind, total, part[..., c:c + 1], taps[:, c])
            else:                        # taps: c, m
                total = add_products(run, kind, total, part[..., None], taps)
    if result_layout == "nhwcm":
        total = total.reshape(*total.shape[:3], -1)
    result = total + bias
    return wrap(result, width_of(kind)) if is_integer(kind) else run.numerics.fit(result, kind)


def add_products(run, kind, total, left, right):
    if is_integer(kind):
        return wrap(total + left * right, width_of(kind))
    return run.numerics.fit(total + run.numerics.fit(left * right, kind), kind)


@handles("tosa.conv2d")
def conv2d(run, op, args, env):
    return convolution(run, op, args, "nhwc", "fhwc", "nhwf")


@handles("tosa.depthwise_conv2d")
def depthwise(run, op, args, env):
    return convolution(run, op, args, "nhwc", "hwcm", "nhwcm")


@handles("tosa.matmul")
def matmul(run, op, args, env):
    kind = result_element(op)
    left, right = args[0] - zero_point(args, 2), args[1] - zero_point(args, 3)
    require(left.shape[2] == right.shape[1] and left.shape[0] == right.shape[0], "extents differ")
    total = np.zeros((left.shape[0], left.shape[1], right.shape[2]), run.numerics.dtype(kind))
    for k in range(left.shape[2]):
        total = add_products(run, kind, total, left[:, :, k:k + 1], right[:, k:k + 1, :])
    return total


def windows(op, value, fill):
    """(elements of each window, how many of them lie in the image)."""
    top, bottom, left, right = op.attributes["pad"]
    (high, wide), (down, across) = op.attributes["kernel"], op.attributes["stride"]
    border = [(0, 0), (top, bottom), (left, right), (0, 0)]
    inside = np.pad(np.ones(value.shape, np.int64), border)
    padded = np.pad(value, border, constant_values=fill)
    rows, columns = ((padded.shape[1] - high) // down + 1, (padded.shape[2] - wide) // across + 1)

    def cut(source):
        return np.stack([source[:, y::down, x::across, :][:, :rows, :columns, :]
                         for y in range(high) for x in range(wide)])
    return cut(padded), cut(inside).sum(axis=0)


@handles("tosa.max_pool2d")
def max_pool(run, op, args, env):
    kind = result_element(op)
    lowest = -(1 << (kind.width - 1)) if is_integer(kind) else -np.inf
    return np.maximum.reduce(windows(op, args[0], lowest)[0], axis=0)


@handles("tosa.avg_pool2d")
def average_pool(run, op, args, env):
    kind = result_element(op)
    if is_integer(kind):
        raise Unsupported("tosa.avg_pool2d of integers")
    elements, count = windows(op, args[0], 0)
    total = np.zeros(elements.shape[1:], elements.dtype)
    for part in elements:
        total = run.numerics.fit(total + part, kind)
    return run.numerics.fit(total / count.astype(total.dtype), kind)


# --- Shapes ---------------------------------------------------------------------------------------


def extents(value):
    return [int(extent) for extent in np.reshape(value, -1)]


@handles("tosa.reshape")
def reshape(run, op, args, env):
    shape = extents(args[1])
    if -1 in shape:
        known = math.prod(extent for extent in shape if extent != -1)
        require(known > 0 and args[0].size % known == 0, "a reshape of another size")
        shape[shape.index(-1)] = args[0].size // known
    require(math.prod(shape) == args[0].size, "a reshape of another size")
    return args[0].reshape(shape)


@handles("tosa.transpose")
def transpose(run, op, args, env):
    return np.transpose(args[0], op.attributes["perms"])


@handles("tosa.slice")
def slice_(run, op, args, env):
    start, size = extents(args[1]), extents(args[2])
    require(all(0 <= a and a + s <= extent for a, s, extent in zip(start, size, args[0].shape)),
            "a slice out of range")
    return args[0][tuple(slice(a, a + s) for a, s in zip(start, size))]


@handles("tosa.pad")
def pad(run, op, args, env):
    amounts = extents(args[1])
    return np.pad(args[0], list(zip(amounts[::2], amounts[1::2])),
                  constant_values=np.reshape(args[2], -1)[0])


@handles("tosa.concat")
def concat(run, op, args, env):
    return np.concatenate(args, axis=op.attributes["axis"])


@handles("tosa.tile")
def tile(run, op, args, env):
    return np.tile(args[0], extents(args[1]))


@handles("tosa.reverse")
def reverse(run, op, args, env):
    return np.flip(args[0], op.attributes["axis"])


@handles("tosa.gather")
def gather(run, op, args, env):
    values, indices = args
    require(not indices.size or (indices.min() >= 0 and indices.max() < values.shape[1]),
            "an index out of range")
    return np.stack([image[index] for image, index in zip(values, indices)])


@handles("tosa.identity")
def identity(run, op, args, env):
    return args[0]
