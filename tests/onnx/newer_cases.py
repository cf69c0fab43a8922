"""Cases of ONNX's operators that are newer than its tests at hand (contrib_cases.py), by https://onnx.ai/onnx/operators."""

import dataclasses
import itertools
import math

import numpy as np

from contrib_attention import causal_conv_with_state, linear_attention
from contrib_cases import Case, case, extent, extents, flip, float_kind, normal, optional
from protobuf import TYPES

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


def between(image, places):
    """Of one channel, with zeros outside."""
    sum = 0.0
    for at in itertools.product(*((math.floor(p), math.floor(p) + 1) for p in places)):
        if all(0 <= i < size for i, size in zip(at, image.shape)):
            sum += math.prod(1 - abs(p - i) for p, i in zip(places, at)) * float(image[at])
    return sum


@case("DeformConv")
def deform_conv(random):
    n = int(random.choice([1, 2, 2, 2, 3]))
    groups, parts = number(random, 3), number(random, 3)
    channels, filters = math.lcm(groups, parts) * number(random, 2), groups * number(random, 3)
    kernel, strides, dilations = ([number(random, 3 if n < 3 else 2) for _ in range(n)] for _ in range(3))
    pads = [int(random.integers(0, 3)) if flip(random) else 0 for _ in range(2 * n)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    image = [max(1, r - pads[i] - pads[i + n]) + int(random.integers(0, 5 if n < 3 else 2)) for i, r in enumerate(reach)]
    out = [(image[i] + pads[i] + pads[i + n] - reach[i]) // strides[i] + 1 for i in range(n)]
    batch, taps = number(random, 3), math.prod(kernel)
    kind = random.choice([np.float32, np.float32, np.float64])
    x, w = normal(random, batch, channels, *image, kind=kind), normal(random, filters, channels // groups, *kernel, kind=kind)
    offset = normal(random, batch, parts * taps * n, *out, kind=kind) * random.choice([0, 1, 3])
    if flip(random):  # on the elements, and on the border
        offset = np.round(offset)
    if random.random() < 0.2:
        offset *= 1e6
    bias = optional(random, normal(random, filters, kind=kind))
    mask = optional(random, random.random((batch, parts * taps, *out)).astype(kind))
    offsets, y = offset.reshape(batch, parts, *kernel, n, *out), np.zeros([batch, filters, *out])
    masks = np.ones([batch, parts, *kernel, *out]) if mask is None else mask.reshape(batch, parts, *kernel, *out)
    for b, c, *rest in np.ndindex(batch, channels, *kernel, *out):
        tap, at = tuple(rest[:n]), tuple(rest[n:])
        part, group, inner = c // (channels // parts), *divmod(c, channels // groups)
        off = offsets[(b, part, *tap, slice(None), *at)]
        value = between(x[b, c], [at[i] * strides[i] - pads[i] + tap[i] * dilations[i] + off[i] for i in range(n)])
        those = slice(group * filters // groups, (group + 1) * filters // groups)
        y[(b, those, *at)] += w[(those, inner, *tap)].astype(np.float64) * value * masks[(b, part, *tap, *at)]
    if bias is not None:
        y += bias.reshape(-1, *[1] * n)
    given = {"group": groups, "offset_group": parts, "strides": strides, "dilations": dilations, "pads": pads}
    for name, usual in (("group", 1), ("offset_group", 1), ("strides", [1] * n), ("dilations", [1] * n), ("pads", [0] * 2 * n)):
        if given[name] == usual and flip(random):
            del given[name]
    if flip(random):
        given["kernel_shape"] = kernel
    # ONNX Runtime has images only.
    return Case([x, w, offset, bias, mask], [y.astype(kind)], given, domain="", opset=int(random.choice([19, 22])), atol=1e-4,
                names={1: [None] * (n + 2)}, has_peer=n == 2)


# --- Older operators with newer inputs and attributes -------------------------------------------------


def filtered(extent, size, scale, mode, coordinates, excludes, antialias):
    """The matrix that resizes a line."""
    matrix, last = np.zeros((size, extent)), extent * scale - 1
    narrow = min(scale, 1) if antialias else 1
    reach = {"linear": 1, "cubic": 2}[mode] / narrow
    for i in range(size):
        x = {"half_pixel": (i + 0.5) / scale - 0.5, "asymmetric": i / scale,
             "align_corners": i * (extent - 1) / last if last else 0}[coordinates]
        taps = {}
        for at in range(math.floor(x - reach) - 1, math.ceil(x + reach) + 2):
            t = abs(at - x) * narrow
            if mode == "linear":
                weight = max(0, 1 - t)
            else:
                weight = 1.25 * t**3 - 2.25 * t**2 + 1 if t <= 1 else -0.75 * (t**3 - 5 * t**2 + 8 * t - 4) if t < 2 else 0
            if 0 <= at < extent or not excludes:
                taps[at] = weight
        total = sum(taps.values()) if excludes or antialias else 1
        for at, weight in taps.items():
            matrix[i, min(max(at, 0), extent - 1)] += weight / total
    return matrix


@case("Resize")
def resize(random):
    rank = int(random.integers(2, 5))
    shape = [number(random, 9) for _ in range(rank)]
    axes = sorted(int(a) for a in random.permutation(rank)[:random.integers(1, 3)])
    is_image = flip(random)
    if is_image:
        rank, shape, axes = 4, [number(random, 9) for _ in range(4)], [2, 3]
    sizes = [number(random, 13) for _ in axes]
    mode, coordinates = str(random.choice(["linear", "cubic"])), str(random.choice(["half_pixel", "asymmetric", "align_corners"]))
    policy = str(random.choice(["stretch", "not_larger", "not_smaller"]))
    antialias, excludes = flip(random), flip(random)
    scales = [size / shape[axis] for size, axis in zip(sizes, axes)]
    outs = sizes
    if policy != "stretch":
        scales = [min(scales) if policy == "not_larger" else max(scales)] * len(axes)
        outs = [math.floor(scale * shape[axis] + 0.5) for scale, axis in zip(scales, axes)]
    x = normal(random, *shape)
    y = x.astype(np.float64)
    for axis, size, scale in zip(axes, outs, scales):
        if scale != 1:
            y = np.moveaxis(filtered(shape[axis], size, scale, mode, coordinates, excludes, antialias) @ np.moveaxis(y, axis, -2), -2, axis) \
                if rank > 1 and axis != rank - 1 else y @ filtered(shape[axis], size, scale, mode, coordinates, excludes, antialias).T
    given = {"mode": mode, "coordinate_transformation_mode": coordinates, "keep_aspect_ratio_policy": policy, "antialias": antialias,
             "exclude_outside": excludes, "axes": [a - rank if not is_image and flip(random) else a for a in axes]}
    # ONNX Runtime aligns corners by the extent of the result where the specification has the scale, has
    # not all of the others, and what it reads with antialias behind the end of an extent that was rounded up is another element.
    differs = coordinates == "align_corners" and policy != "stretch" or mode == "linear" and excludes and not antialias \
        or antialias and policy != "stretch"
    # With antialias a scale must be known.
    return Case([x, None, None, np.array(sizes, I64)], [y.astype(F)], given, kept=(3,) if antialias else (), domain="", opset=18, atol=1e-4,
                has_peer=bool(is_image) and not differs, names={0: [None] * rank if antialias else ["a", "b", "c", "d"][:rank], 3: [None]})


@case("Resize")
def crop_and_resize(random):
    """A region of some axes."""
    shape, axis, size = [number(random, 9) for _ in range(4)], int(random.integers(4)), number(random, 9)
    start, end = (float(F(v)) for v in sorted(random.random(2) * 1.4 - 0.2))
    x, last = normal(random, *shape), shape[axis] - 1
    lines = np.moveaxis(x.astype(np.float64), axis, -1)
    y = np.full((*lines.shape[:-1], size), 1.5)
    for i in range(size):
        at = start * last + i * (end - start) * last / (size - 1) if size > 1 else (start + end) / 2 * last
        low = math.floor(at)
        if 0 <= at <= last:
            y[..., i] = lines[..., low] * (1 - at + low) + lines[..., min(low + 1, last)] * (at - low)
    return Case([x, np.array([start, end], F), None, np.array([size], I64)], [np.moveaxis(y, -1, axis).astype(F)],
                {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "axes": [axis], "extrapolation_value": 1.5},
                domain="", opset=18, atol=1e-4, has_peer=False, names={1: [None], 3: [None]})


@case("Pad")
def pad(random):
    shape = extents(random, random.integers(1, 5))
    axes = [int(a) for a in random.permutation(len(shape))[:random.integers(1, len(shape) + 1)]]
    low, high = ([int(random.integers(0, 4)) for _ in axes] for _ in range(2))
    x, widths = normal(random, *shape), [(0, 0)] * len(shape)
    for axis, *both in zip(axes, low, high):
        widths[axis] = tuple(both)
    signs = [a - len(shape) if flip(random) else a for a in axes]
    return Case([x, np.array(low + high, I64), np.asarray(F(2.5)), np.array(signs, I64)], [np.pad(x, widths, constant_values=2.5)],
                domain="", opset=18, names={1: [None], 3: [None]})


@case("GridSample")
def grid_sample(random):
    n = int(random.integers(2, 4))
    batch, channels, space = number(random, 3), number(random, 3), [number(random, 6) for _ in range(n)]
    out = [number(random, 4) for _ in range(n)]
    x, grid = normal(random, batch, channels, *space), (random.random((batch, *out, n)) * 3 - 1.5).astype(F)
    padding, aligned = str(random.choice(["zeros", "border", "reflection"])), flip(random)

    def inside(p, size):
        if padding == "reflection":
            low, high = (0, size - 1) if aligned else (-0.5, size - 0.5)
            while high > low and not low <= p <= high:
                p = 2 * low - p if p < low else 2 * high - p
            p = low if high <= low else p
        return p if padding == "zeros" else min(max(p, 0), size - 1)

    y = np.zeros((batch, channels, *out))
    for b, *at in np.ndindex(batch, *out):
        places = [(v + 1) / 2 * (size - 1) if aligned else ((v + 1) * size - 1) / 2
                  for v, size in zip(grid[(b, *at)][::-1].astype(np.float64), space)]
        places = [inside(p, size) for p, size in zip(places, space)]
        for taps in itertools.product(*((math.floor(p), math.floor(p) + 1) for p in places)):
            weight = math.prod(1 - abs(p - tap) for p, tap in zip(places, taps))
            if all(0 <= tap < size for tap, size in zip(taps, space)):
                y[(b, slice(None), *at)] += weight * x[(b, slice(None), *taps)]
    return Case([x, grid], [y.astype(F)], {"mode": "linear", "padding_mode": padding, "align_corners": aligned}, domain="", opset=20,
                atol=1e-4, names={1: [f"g{i}" for i in range(n + 1)] + [None]})


def blocks(random, kind):
    shape = [number(random) for _ in range(int(random.integers(1, 4)))]
    axis = int(random.integers(len(shape)))
    size = number(random, 4)
    narrow = [-(-extent // size) if i == axis else extent for i, extent in enumerate(shape)]
    scale = (random.random(narrow) + 0.1).astype(F)
    zero = random.integers(0, 9, narrow).astype(kind)

    def spread(a):
        return a.repeat(size, axis).take(range(shape[axis]), axis)

    return shape, {"axis": axis - len(shape) if flip(random) else axis, "block_size": size}, scale, zero, spread


@case("QuantizeLinear")
def quantize_blocks(random):
    kind = random.choice([np.uint8, np.int8])
    shape, given, scale, zero, spread = blocks(random, kind)
    has_zero, (low, high) = flip(random), {np.uint8: (0, 255), np.int8: (-128, 127)}[kind]
    x = normal(random, *shape) * 60
    y = np.clip(np.rint(x / spread(scale)) + (spread(zero) if has_zero else 0), low, high).astype(kind)
    if not has_zero:
        given["output_dtype"] = {np.uint8: 2, np.int8: 3}[kind]
    return Case([x, scale, zero if has_zero else None], [y], given, domain="", opset=21, off=0.01,
                has_peer=scale.shape != (1,))  # which ONNX Runtime does not take for a block


@case("QuantizeLinear")
def quantize_to(random):
    kind, number_ = [(np.uint8, 2), (np.int8, 3), (np.uint16, 4), (np.int16, 5)][random.integers(4)]
    x, scale = normal(random, *extents(random, random.integers(1, 4))) * 1000, np.asarray(F(random.random() + 0.01))
    y = np.clip(np.rint(x / scale), np.iinfo(kind).min, np.iinfo(kind).max).astype(kind)
    return Case([x, scale], [y], {"output_dtype": number_}, domain="", opset=21, off=0.01)


@case("DequantizeLinear")
def dequantize_blocks(random):
    kind = random.choice([np.uint8, np.int8])
    shape, given, scale, zero, spread = blocks(random, kind)
    x, has_zero = random.integers(0, 100, shape).astype(kind), flip(random)
    y = ((x.astype(np.int32) - (spread(zero).astype(np.int32) if has_zero else 0)) * spread(scale)).astype(F)
    return Case([x, scale, zero if has_zero else None], [y], given, domain="", opset=21, has_peer=scale.shape != (1,))


@case("GlobalLpPool")
def global_lp_pool(random):
    x, p = normal(random, number(random), number(random), *[number(random) for _ in range(int(random.integers(1, 4)))]), int(random.integers(1, 4))
    y = (abs(x.astype(np.float64)) ** p).sum(axis=tuple(range(2, x.ndim)), keepdims=True) ** (1 / p)
    return Case([x], [y.astype(F)], {"p": p}, domain="", opset=int(random.choice([2, 22])))


@case("MaxRoiPool")
def max_roi_pool(random):
    batch, channels, *space = [number(random, 3), number(random, 3), number(random, 13), number(random, 13)]
    pooled, scale = [number(random, 4), number(random, 4)], float(random.choice([1.0, 0.5, 0.25]))
    x, regions = normal(random, batch, channels, *space), number(random, 4)
    rois = (random.random((regions, 5)) * 16 / scale - 2).astype(F)
    rois[:, 0] = random.integers(0, batch, regions)
    y = np.zeros((regions, channels, *pooled), F)
    for r, i, j in np.ndindex(regions, *pooled):
        ranges = []
        for k, (at, parts, size) in enumerate(zip((i, j), pooled, space)):
            first, last = (int(math.copysign(math.floor(abs(v) + 0.5), v)) for v in (rois[r, [2 - k, 4 - k]] * F(scale)).tolist())
            part = F(max(1, last - first + 1)) / F(parts)
            ends = math.floor(F(at) * part) + first, math.ceil(F(at + 1) * part) + first
            ranges.append(slice(*(min(max(end, 0), size) for end in ends)))
        cut = x[int(rois[r, 0]), :, ranges[0], ranges[1]]
        if cut.size:
            y[r, :, i, j] = cut.max(axis=(1, 2))
    return Case([x, rois], [y], {"pooled_shape": pooled, "spatial_scale": scale}, domain="", opset=13, names={1: [None, None]})


@case("CumProd")
def cum_prod(random):
    shape = extents(random, random.integers(1, 5))
    kind = random.choice([np.float32, np.float64, np.int32, np.int64, np.uint32])
    x = normal(random, *shape).astype(kind) if kind in (np.float32, np.float64) else random.integers(0, 4, shape).astype(kind)
    axis, exclusive, reverse = int(random.integers(len(shape))), flip(random), flip(random)
    lines = np.moveaxis(x, axis, -1)[..., ::-1 if reverse else 1]
    y = np.ones_like(lines)
    for i in range(lines.shape[-1]):
        for k in range(i + (not exclusive)):
            y[..., i] *= lines[..., k]
    y = np.ascontiguousarray(np.moveaxis(y[..., ::-1 if reverse else 1], -1, axis))
    place = np.asarray(axis - len(shape) if flip(random) else axis, random.choice([np.int32, np.int64]))
    return Case([x, place], [y], {"exclusive": exclusive, "reverse": reverse}, domain="", opset=26, atol=1e-4)


@case("TensorScatter")
def tensor_scatter(random):
    rank = int(random.integers(2, 5))
    axis, shape = int(random.integers(1, rank)), [number(random, 5) for _ in range(rank)]
    shape[axis] = number(random, 11)
    length, is_circle = int(random.integers(0, shape[axis] + 1)), flip(random)
    kind = random.choice([np.float32, np.float16, np.int64, np.uint8, np.bool_])
    x = (normal(random, *shape) * 50).astype(kind)
    update = (normal(random, *shape[:axis], length, *shape[axis + 1:]) * 50).astype(kind)
    places = optional(random, random.integers(0, 3 * shape[axis] if is_circle else shape[axis] - length + 1, shape[0]))
    y = x.copy()
    for at in np.ndindex(*update.shape):
        to = list(at)
        to[axis] += 0 if places is None else int(places[at[0]])
        to[axis] %= shape[axis]
        y[tuple(to)] = update[at]
    given = {"mode": "circular"} if is_circle else {"mode": "linear"} if flip(random) else {}
    if axis != rank - 2 or flip(random):
        given["axis"] = axis - rank if flip(random) else axis
    return Case([x, update, places], [y], given, domain="", opset=24)


BITS = [[np.bool_, np.int8, np.uint8], [np.float16, np.int16, np.uint16], [np.float32, np.int32, np.uint32],
        [np.float64, np.int64, np.uint64, np.complex64]]
NUMBERS = {np.dtype(kind): number for number, kind in TYPES.items()}


@case("BitCast")
def bit_cast(random):
    kinds = BITS[random.integers(len(BITS))]
    source, target = (kinds[i] for i in random.integers(0, len(kinds), 2))
    shape = extents(random, random.integers(0, 4))
    bits = normal(random, *shape) > 0 if source == np.bool_ else (normal(random, *shape) * 50).astype(target)
    x, y = (np.frombuffer(bits.tobytes(), kind).reshape(shape) for kind in (source, target))
    # ONNX Runtime has no complex numbers.
    return Case([x], [y], {"to": NUMBERS[np.dtype(target)]}, domain="", opset=26, has_peer=np.complex64 not in (source, target))


@case("LinearAttention")
def linear_attention_of_onnx(random):
    made = linear_attention(random)
    while made.attributes["q_num_heads"] % made.attributes["kv_num_heads"]:
        made = linear_attention(random)
    return dataclasses.replace(made, domain="", opset=27, has_peer=False)  # which ONNX Runtime 1.30 does not read


@case("CausalConvWithState")
def causal_conv_with_state_of_onnx(random):
    made = causal_conv_with_state(random)
    while set(made.attributes) - {"activation"}:
        made = causal_conv_with_state(random)
    return dataclasses.replace(made, domain="", opset=27, has_peer=False)  # which ONNX Runtime 1.30 does not read
