"""Cases of ONNX's operators that are newer than its tests at hand (contrib_cases.py), by https://onnx.ai/onnx/operators."""

import itertools
import math

import numpy as np

from contrib_cases import Case, case, extent, extents, flip, float_kind, normal, optional

F, I64 = np.float32, np.int64


def number(random, most=7):
    return int(random.choice([1, 2, 3, 5, most])) if flip(random) else int(random.integers(1, most + 1))


# --- CenterCropPad ------------------------------------------------------------------------------------


@case("CenterCropPad")
def center_crop_pad(random):
    shape = extents(random, random.integers(1, 5), 13)
    kind = random.choice([np.float32, np.float64, np.int64, np.int32, np.uint8, np.bool_])
    x = (normal(random, *shape) * 50).astype(kind)
    axes = [int(a) for a in random.permutation(len(shape))[:random.integers(1, len(shape) + 1)]]
    is_named = flip(random)
    if not is_named:
        axes = list(range(len(shape)))
    wanted = [extent(random, 13) for _ in axes]
    y = x
    for axis, size in zip(axes, wanted):
        more = size - y.shape[axis]
        if more > 0:
            y = np.pad(y, [(more // 2, more - more // 2) if a == axis else (0, 0) for a in range(y.ndim)])
        else:
            first = -more // 2
            y = y.take(range(first, first + size), axis)
    signs = [a - len(shape) if flip(random) else a for a in axes]
    return Case([x, np.array(wanted, I64)], [y], {"axes": signs} if is_named else {}, domain="", opset=18, names={1: [None]})


# --- Col2Im -------------------------------------------------------------------------------------------


@case("Col2Im")
def col2im(random):
    n = int(random.choice([1, 2, 2, 2, 3]))
    kernel = [number(random, 4) for _ in range(n)]
    strides, dilations = ([number(random, 4) if flip(random) else 1 for _ in range(n)] for _ in range(2))
    if random.random() < 0.2:  # side by side
        strides, dilations = list(kernel), [1] * n
    pads = [int(random.integers(0, 3)) if flip(random) else 0 for _ in range(2 * n)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    image = [max(1, r - pads[i] - pads[i + n]) + extent(random, 6) for i, r in enumerate(reach)]
    windows = [(image[i] + pads[i] + pads[i + n] - reach[i]) // strides[i] + 1 for i in range(n)]
    batch, channels = extent(random, 3), number(random, 5)
    x = normal(random, batch, channels * math.prod(kernel), math.prod(windows), kind=float_kind(random))
    split = x.reshape(batch, channels, *kernel, *windows)
    whole = np.zeros([batch, channels] + [image[i] + pads[i] + pads[i + n] for i in range(n)], x.dtype)
    for tap in itertools.product(*map(range, kernel)):
        for window in itertools.product(*map(range, windows)):
            at = tuple(w * s + t * d for w, s, t, d in zip(window, strides, tap, dilations))
            whole[(slice(None), slice(None)) + at] += split[(slice(None), slice(None)) + tap + window]
    y = whole[(slice(None), slice(None)) + tuple(slice(pads[i], pads[i] + image[i]) for i in range(n))]
    given = {}
    for name, values, usual in (("strides", strides, 1), ("dilations", dilations, 1), ("pads", pads, 0)):
        if flip(random) or any(v != usual for v in values):
            given[name] = values
    # ONNX Runtime, with dilations along one or three dimensions, has another result than along two of which the others have one element.
    return Case([x, np.array(image, I64), np.array(kernel, I64)], [y], given, kept=(2,), domain="", opset=18,
                has_peer=n == 2 or max(dilations) == 1, names={1: [None], 2: [None]})


# --- AffineGrid ---------------------------------------------------------------------------------------


@case("AffineGrid")
def affine_grid(random):
    n = int(random.integers(2, 4))
    is_aligned = flip(random)
    batch, space = number(random, 3), [number(random, 13) for _ in range(n)]
    theta = normal(random, batch, n, n + 1, kind=float_kind(random))
    grid = np.empty([batch, *space, n])
    for at in np.ndindex(*space):
        place = []
        for i, size in reversed(list(zip(at, space))):
            place.append((2 * i + 1) / size - 1 if not is_aligned else 0 if size == 1 else 2 * i / (size - 1) - 1)
        grid[(slice(None),) + at] = theta.astype(np.float64) @ np.array(place + [1])
    # Between -1 and 1 there is no first place of one: PyTorch takes the middle, ONNX Runtime does not.
    return Case([theta, np.array([batch, number(random), *space], I64)], [grid.astype(theta.dtype)],
                {"align_corners": is_aligned} if is_aligned or flip(random) else {}, domain="", opset=20,
                has_peer=not (is_aligned and 1 in space), names={1: [None]})


# --- DeformConv ---------------------------------------------------------------------------------------


def between(image, y, x):
    """Of one channel, with zeros outside."""
    sum, top, left = 0.0, math.floor(y), math.floor(x)
    for row, column in itertools.product((top, top + 1), (left, left + 1)):
        if 0 <= row < image.shape[0] and 0 <= column < image.shape[1]:
            sum += (1 - abs(y - row)) * (1 - abs(x - column)) * float(image[row, column])
    return sum


@case("DeformConv")
def deform_conv(random):
    groups, parts = number(random, 3), number(random, 3)
    channels, filters = math.lcm(groups, parts) * number(random, 2), groups * number(random, 3)
    kernel, strides, dilations = ([number(random, 3) for _ in range(2)] for _ in range(3))
    pads = [int(random.integers(0, 3)) if flip(random) else 0 for _ in range(4)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    image = [max(1, r - pads[i] - pads[i + 2]) + int(random.integers(0, 5)) for i, r in enumerate(reach)]
    out = [(image[i] + pads[i] + pads[i + 2] - reach[i]) // strides[i] + 1 for i in range(2)]
    batch, taps = number(random, 3), math.prod(kernel)
    kind = random.choice([np.float32, np.float32, np.float64])
    x, w = normal(random, batch, channels, *image, kind=kind), normal(random, filters, channels // groups, *kernel, kind=kind)
    offset = normal(random, batch, parts * taps * 2, *out, kind=kind) * random.choice([0, 1, 3])
    if flip(random):  # on the elements, and on the border
        offset = np.round(offset)
    if random.random() < 0.2:
        offset *= 1e6
    bias = optional(random, normal(random, filters, kind=kind))
    mask = optional(random, random.random((batch, parts * taps, *out)).astype(kind))
    offsets, y = offset.reshape(batch, parts, *kernel, 2, *out), np.zeros([batch, filters, *out])
    masks = np.ones([batch, parts, *kernel, *out]) if mask is None else mask.reshape(batch, parts, *kernel, *out)
    for b, c, ky, kx, oy, ox in np.ndindex(batch, channels, *kernel, *out):
        part, group, inner = c // (channels // parts), *divmod(c, channels // groups)
        dy, dx = offsets[b, part, ky, kx, :, oy, ox]
        value = between(x[b, c], oy * strides[0] - pads[0] + ky * dilations[0] + dy, ox * strides[1] - pads[1] + kx * dilations[1] + dx)
        those = slice(group * filters // groups, (group + 1) * filters // groups)
        y[b, those, oy, ox] += w[those, inner, ky, kx].astype(np.float64) * value * masks[b, part, ky, kx, oy, ox]
    if bias is not None:
        y += bias.reshape(-1, 1, 1)
    given = {"group": groups, "offset_group": parts, "strides": strides, "dilations": dilations, "pads": pads}
    for name, usual in (("group", 1), ("offset_group", 1), ("strides", [1, 1]), ("dilations", [1, 1]), ("pads", [0] * 4)):
        if given[name] == usual and flip(random):
            del given[name]
    if flip(random):
        given["kernel_shape"] = kernel
    return Case([x, w, offset, bias, mask], [y.astype(kind)], given, domain="", opset=int(random.choice([19, 22])), atol=1e-4,
                names={1: [None, None, None, None]})
