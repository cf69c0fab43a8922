"""Cases of quantised operators (contrib_cases.py)."""

import numpy as np

from contrib_cases import Case, activation, case, extent, extents, flip, normal, optional, sigmoid, softmax

F = np.float32


def kind_of(random):
    return random.choice([np.uint8, np.int8])


def integers(random, shape, kind):
    info = np.iinfo(kind)
    return random.integers(info.min, info.max + 1, shape).astype(kind)


def parameters(random, kind, has_zero=True):
    """A scale and a zero point."""
    scale = F(random.choice([0.5, 0.01, 0.123, 0.03125]))
    info = np.iinfo(kind)
    zero = kind(random.integers(info.min, info.max + 1)) if has_zero else None
    return np.asarray(scale), None if zero is None else np.asarray(zero)


def plain(x, scale, zero):
    return (x.astype(np.int64) - (0 if zero is None else zero.astype(np.int64))) * np.asarray(scale, np.float64)


def quantised(x, scale, zero, kind):
    info = np.iinfo(kind)
    return np.clip(np.rint(np.asarray(x, np.float64) / np.float64(scale)) + (0 if zero is None else int(zero)), info.min, info.max).astype(kind)


def output(random, values, kind, has_zero=True):
    """A scale and a zero point that these values fit."""
    info = np.iinfo(kind)
    low, high = min(values.min(initial=0), 0), max(values.max(initial=0), 0)
    scale = F(max(high - low, 1e-3) / 255 * random.choice([0.7, 1, 1, 2]))
    zero = np.asarray(np.clip(np.rint(info.min - low / scale), info.min, info.max), kind) if has_zero else None
    return np.asarray(scale), zero


def dynamic(x):
    """x as uint8, its scale and zero point."""
    low, high = F(min(x.min(initial=0), 0)), F(max(x.max(initial=0), 0))
    scale = (high - low) / F(255) if high != low else F(1)
    zero = np.uint8(np.clip(np.rint(F(0) - low / scale), 0, 255))
    return np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.int64), scale, int(zero)


def broadcast(random):
    shape = extents(random, random.integers(0, 4))
    def part():
        out = [1 if random.random() < 0.25 else size for size in shape]
        return out[random.integers(0, len(out) + 1):] if random.random() < 0.3 else out
    return (shape, part()) if flip(random) else (part(), shape)


def of_two(random, function):
    kind = kind_of(random)
    a, b = (integers(random, shape, kind) for shape in broadcast(random))
    sa, za = parameters(random, kind, random.random() < 0.8)
    sb, zb = parameters(random, kind, random.random() < 0.8)
    y = function(plain(a, sa, za), plain(b, sb, zb))
    sy, zy = output(random, y, kind, random.random() < 0.8)
    # ONNX Runtime's inference of types wants all zero points.
    return Case([a, sa, za, b, sb, zb, sy, zy], [quantised(y, sy, zy, kind)], off=0.05, has_peer=all(z is not None for z in (za, zb, zy)))


@case("QLinearAdd")
def qlinear_add(random):
    return of_two(random, np.add)


@case("QLinearMul")
def qlinear_mul(random):
    return of_two(random, np.multiply)


def of_one(random, function, shape=None, has_optional=True):
    kind = kind_of(random)
    x = integers(random, extents(random, random.integers(1, 5)) if shape is None else shape, kind)
    scale, zero = parameters(random, kind, not has_optional or random.random() < 0.8)
    y = function(plain(x, scale, zero))
    sy, zy = output(random, y, kind, not has_optional or random.random() < 0.8)
    return {"inputs": [x, scale, zero, sy, zy], "want": [quantised(y, sy, zy, kind)], "has_peer": zero is not None and zy is not None}


@case("QLinearSigmoid")
def qlinear_sigmoid(random):
    return Case(**of_one(random, sigmoid), off=0.05)


@case("QLinearLeakyRelu")
def qlinear_leaky_relu(random):
    alpha = optional(random, float(F(random.random())))
    made = of_one(random, lambda x: activation("LeakyRelu", x, 0.01 if alpha is None else alpha))
    return Case(**made, attributes={} if alpha is None else {"alpha": alpha}, off=0.05)


@case("QLinearSoftmax")
def qlinear_softmax(random):
    opset = int(random.choice([7, 11, 12, 13, 17]))
    rank = int(random.integers(1, 4))
    shape = [int(random.integers(1, 8)) for _ in range(rank)]
    axis = int(random.integers(-rank, rank))
    def function(x):
        if opset >= 13:
            return softmax(x, axis)
        return softmax(x.reshape(int(np.prod(x.shape[:axis % rank])), -1), 1).reshape(x.shape)
    made = of_one(random, function, shape, has_optional=False)
    made["has_peer"] = bool(flip(random))
    if made["has_peer"]:  # the numbers that quantisers write, and ONNX Runtime's table of integers is made for
        kind = made["want"][0].dtype.type
        x, scale, zero = made["inputs"][:3]
        made["inputs"][3:] = np.asarray(F(1 / 256)), np.asarray(kind(np.iinfo(kind).min))
        y = function(plain(x, scale, zero))
        made["want"] = [quantised(y, *made["inputs"][3:], kind)]
        made["has_peer"] = y.max() < 255 / 256  # it does not saturate
    return Case(**made, attributes={"axis": axis, "opset": opset}, off=0.5)


@case("QLinearReduceMean")
def qlinear_reduce_mean(random):
    rank = int(random.integers(1, 5))
    shape = [int(random.integers(1, 8)) for _ in range(rank)]
    axes = sorted(random.choice(rank, random.integers(1, rank + 1), replace=False).tolist())
    keep = flip(random)
    made = of_one(random, lambda x: x.mean(tuple(axes), keepdims=bool(keep)), shape)
    return Case(**made, attributes={"axes": [axis - rank * flip(random) for axis in axes], "keepdims": keep}, off=0.1)


@case("QLinearConcat")
def qlinear_concat(random):
    kind, rank = kind_of(random), int(random.integers(1, 5))
    shape, axis = extents(random, rank), int(random.integers(-rank, rank))
    inputs, parts = [], []
    for _ in range(random.integers(1, 4)):
        own = list(shape)
        own[axis] = extent(random)
        x = integers(random, own, kind)
        scale, zero = parameters(random, kind)
        inputs += [x, scale, zero]
        parts.append(plain(x, scale, zero))
    y = np.concatenate(parts, axis)
    scale, zero = output(random, y, kind)
    return Case([scale, zero, *inputs], [quantised(y, scale, zero, kind)], {"axis": axis}, off=0.05,
                kept=tuple(i for i in range(2 + len(inputs)) if i < 2 or (i - 2) % 3))


@case("QLinearWhere")
def qlinear_where(random):
    kind = kind_of(random)
    first, second = broadcast(random)
    condition = random.random(np.broadcast_shapes(first, second)) < 0.5
    x, y = integers(random, first, kind), integers(random, second, kind)
    sx, zx = parameters(random, kind)
    sy, zy = parameters(random, kind)
    z = np.where(condition, plain(x, sx, zx), plain(y, sy, zy))
    sz, zz = output(random, z, kind)
    return Case([condition, x, sx, zx, y, sy, zy, sz, zz], [quantised(z, sz, zz, kind)], off=0.05, kept=(2, 3, 5, 6, 7, 8))


def windows(x, kernel, strides, pads, ceil, count_all):
    """The means of windows of [N, C, ...]."""
    n = len(kernel)
    out = []
    for i in range(n):
        room = x.shape[2 + i] + pads[i] + pads[i + n] - kernel[i]
        count = (-(-room // strides[i]) if ceil else room // strides[i]) + 1
        if ceil and (count - 1) * strides[i] >= x.shape[2 + i] + pads[i]:
            count -= 1
        out.append(count)
    y = np.zeros((*x.shape[:2], *out))
    for at in np.ndindex(*out):
        parts, size = [slice(None)] * 2, 1
        for i in range(n):
            start = at[i] * strides[i] - pads[i]
            end = min(start + kernel[i], x.shape[2 + i] + pads[i + n])
            size *= end - start if count_all else min(end, x.shape[2 + i]) - max(start, 0)
            parts.append(slice(max(start, 0), min(end, x.shape[2 + i])))
        y[(slice(None), slice(None), *at)] = x[tuple(parts)].sum(tuple(range(2, 2 + n))) / size
    return y


def last(x):
    return np.moveaxis(x, 1, -1)


def laid(made, is_last):
    """With the channels behind, or not."""
    if is_last:
        made["inputs"][0], made["want"] = np.ascontiguousarray(last(made["inputs"][0])), [last(made["want"][0])]
    return made


@case("QLinearAveragePool")
def qlinear_average_pool(random):
    n = int(random.choice([1, 2, 2, 2, 3]))
    kernel = random.integers(1, 4, n).tolist()
    strides = random.integers(1, 3, n).tolist()
    pads = [int(random.integers(0, kernel[i % n])) for i in range(2 * n)]
    shape = [int(random.integers(1, 3)), int(random.integers(1, 5)), *(int(random.integers(k, 8)) for k in kernel)]
    ceil, count_all, is_last = flip(random), flip(random), flip(random)
    made = of_one(random, lambda x: windows(x, kernel, strides, pads, ceil, count_all), shape)
    made["has_peer"] &= not (ceil and count_all)  # ONNX Runtime counts what is behind the padding, as ONNX did before opset 19
    return Case(**laid(made, is_last), off=0.05, attributes={"kernel_shape": kernel, "strides": strides, "pads": pads, "ceil_mode": ceil,
                                                             "count_include_pad": count_all, "channels_last": is_last})


@case("QLinearGlobalAveragePool")
def qlinear_global_average_pool(random):
    n = int(random.integers(1, 4))
    shape = [int(random.integers(1, 6)) for _ in range(n + 2)]
    is_last = flip(random)
    made = of_one(random, lambda x: x.mean(tuple(range(2, n + 2)), keepdims=True), shape, has_optional=False)
    return Case(**laid(made, is_last), attributes={"channels_last": is_last}, off=0.1)


def convolved(x, w, strides, pads, dilations, group):
    n = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *((pads[i], pads[i + n]) for i in range(n))])
    out = [(x.shape[2 + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(n)]
    y = np.zeros((x.shape[0], w.shape[0], *out), x.dtype)
    each, inner = w.shape[0] // group, w.shape[1]
    for at in np.ndindex(*out):
        part = x[(slice(None), slice(None), *(slice(a * s, a * s + (k - 1) * d + 1, d)
                                              for a, s, k, d in zip(at, strides, w.shape[2:], dilations)))]
        for g in range(group):
            y[(slice(None), slice(g * each, (g + 1) * each), *at)] = np.tensordot(
                part[:, g * inner:(g + 1) * inner], w[g * each:(g + 1) * each], (list(range(1, n + 2)), list(range(1, n + 2))))
    return y


def convolution(random, n):
    """Shapes of the input and the weights, and attributes."""
    group = int(random.choice([1, 1, 1, 2, 3]))
    kernel, strides = random.integers(1, 4, n).tolist(), random.integers(1, 3, n).tolist()
    dilations = random.integers(1, 3, n).tolist()
    pads = random.integers(0, 3, 2 * n).tolist()
    channels, filters = group * int(random.integers(1, 4)), group * int(random.integers(1, 4))
    shape = [int(random.integers(1, 3)), channels, *((k - 1) * d + int(random.integers(1, 6)) for k, d in zip(kernel, dilations))]
    return shape, [filters, channels // group, *kernel], {"strides": strides, "dilations": dilations, "pads": pads, "group": group}


def keywords(attributes):
    return {name: attributes[name] for name in ("strides", "pads", "dilations", "group")}


@case("QLinearConv")
def qlinear_conv(random):
    kind, weight_kind = kind_of(random), kind_of(random)
    if kind == np.int8:
        weight_kind = np.int8  # what ONNX Runtime has
    shape, weights, attributes = convolution(random, int(random.choice([1, 2, 2])))
    x, w = integers(random, shape, kind), integers(random, weights, weight_kind)
    sx, zx = parameters(random, kind)
    sw, zw = parameters(random, weight_kind)
    if flip(random):  # for each filter
        sw = (random.random(weights[0]) / 50 + 0.01).astype(F)
        zw = np.zeros(weights[0], weight_kind) if weight_kind == np.int8 else np.full(weights[0], zw)
    bias = optional(random, random.integers(-2000, 2000, weights[0]).astype(np.int32))
    per = (slice(None), *[None] * (len(shape) - 2))
    total = convolved(x.astype(np.int64) - int(zx), w.astype(np.int64) - (zw.astype(np.int64) if zw.ndim == 0 else zw.astype(np.int64)[(slice(None), *[None] * (len(shape) - 1))]),
                      **keywords(attributes))
    if bias is not None:
        total = total + bias[per]
    y = total * (np.float64(sx) * (sw if sw.ndim == 0 else sw[per]))
    sy, zy = output(random, y, kind)
    want = quantised(y, sy, zy, kind)
    is_last = flip(random)
    if is_last:
        x, want = np.ascontiguousarray(last(x)), last(want)
    return Case([x, sx, zx, w, sw, zw, sy, zy, bias], [want], {**attributes, "channels_last": is_last}, off=0.05, kept=(1, 2, 3, 4, 5, 6, 7, 8))


@case("QuantizeLinear")
def quantize_linear(random):
    kind = random.choice([np.uint8, np.int8, np.uint16, np.int16])
    shape = extents(random, random.integers(1, 5))
    x = normal(random, *shape) * F(3)
    if flip(random):
        axis = int(random.integers(-len(shape), len(shape)))
        count = shape[axis]
        scale = (random.random(count) + 0.01).astype(F)
        zero = integers(random, count, kind)
        per = (slice(None), *[None] * (len(shape) - 1 - axis % len(shape)))
        y = np.rint(x / scale[per]) + zero.astype(np.int64)[per]
        attributes = {"axis": axis}
    else:
        scale, zero = parameters(random, kind, kind != np.uint8 or bool(flip(random)))
        y = np.rint(x / scale) + (0 if zero is None else int(zero))
        attributes = {}
    info = np.iinfo(kind)
    return Case([x, scale, zero], [np.clip(y, info.min, info.max).astype(kind)], attributes)


@case("DequantizeLinear")
def dequantize_linear(random):
    kind = random.choice([np.uint8, np.int8, np.uint16, np.int16, np.int32])
    shape = extents(random, random.integers(1, 5))
    x = random.integers(-100, 100, shape).astype(kind)
    if flip(random):
        axis = int(random.integers(-len(shape), len(shape)))
        scale, zero = (random.random(shape[axis]) + 0.01).astype(F), random.integers(0, 100, shape[axis]).astype(kind)
        if kind == np.int32:
            zero = np.zeros_like(zero)
        per = (slice(None), *[None] * (len(shape) - 1 - axis % len(shape)))
        y, attributes = (x.astype(np.int64) - zero.astype(np.int64)[per]) * scale[per], {"axis": axis}
    else:
        scale, zero = parameters(random, np.int8)
        zero = optional(random, np.asarray(0 if kind == np.int32 else abs(int(zero)), kind))
        y, attributes = plain(x, scale, zero), {}
    return Case([x, scale, zero], [y.astype(F)], attributes)


def factors(random):
    """Shapes of two factors with batches, at least one element in each row."""
    batch = extents(random, int(random.integers(0, 3)), 3)
    m, k, n = extent(random), int(random.integers(1, 40)), int(random.integers(1, 20))
    return [*batch, m, k], [*(batch if flip(random) and batch else []), k, n]


def columns(random, kind, shape, has_zero=True):
    """A scale and a zero point of all columns, or of each of a matrix."""
    if len(shape) > 2 or flip(random):
        return parameters(random, kind, has_zero)
    n = shape[-1]
    return (random.random(n) / 10 + 0.01).astype(F), integers(random, n, kind) if has_zero else None


@case("MatMulIntegerToFloat")
def matmul_integer_to_float(random):
    kinds = kind_of(random), kind_of(random)
    a, b = (integers(random, shape, kind) for shape, kind in zip(factors(random), kinds))
    sa, za = parameters(random, kinds[0], flip(random))
    sb, zb = columns(random, kinds[1], b.shape, flip(random))
    bias = optional(random, normal(random, b.shape[-1]))
    y = plain(a, sa, za) @ plain(b, sb, zb) + (0 if bias is None else bias)
    return Case([a, b, sa, sb, za, zb, bias], [y.astype(F)], rtol=1e-5, atol=1e-3)


@case("DynamicQuantizeMatMul")
def dynamic_quantize_matmul(random):
    kind = kind_of(random)
    first, second = factors(random)
    a, b = normal(random, *first), integers(random, second, kind)
    sb, zb = columns(random, kind, second, flip(random))
    bias = optional(random, normal(random, second[-1]))
    whole, sa, za = dynamic(a)
    y = (whole - za) * np.float64(sa) @ plain(b, sb, zb) + (0 if bias is None else bias)
    return Case([a, b, sb, zb, bias], [y.astype(F)], rtol=1e-5, atol=2e-3)


@case("QGemm")
def qgemm(random):
    kind, weights = kind_of(random), kind_of(random)
    m, k, n = (int(random.integers(1, 20)) for _ in range(3))
    attributes = {"transA": flip(random), "transB": flip(random)}
    if flip(random):
        attributes["alpha"] = float(F(random.random() + 0.5))
    a = integers(random, [k, m] if attributes["transA"] else [m, k], kind)
    b = integers(random, [n, k] if attributes["transB"] else [k, n], weights)
    sa, za = parameters(random, kind)
    sb, zb = columns(random, weights, [k, n])
    c = optional(random, random.integers(-3000, 3000, [[n], [m, n], [1, n]][random.integers(3)]).astype(np.int32))
    left = (a.T if attributes["transA"] else a).astype(np.int64) - int(za)
    right = (b.T if attributes["transB"] else b).astype(np.int64) - zb.astype(np.int64)
    y = (left @ right + (0 if c is None else c)) * (attributes.get("alpha", 1) * np.float64(sa) * sb)
    if flip(random):
        return Case([a, sa, za, b, sb, zb, c], [y.astype(F)], attributes, atol=1e-3)
    sy, zy = output(random, y, kind)
    return Case([a, sa, za, b, sb, zb, c, sy, zy], [quantised(y, sy, zy, kind)], attributes, off=0.05)


@case("MulInteger")
def mul_integer(random):
    kind = kind_of(random)
    a, b = (integers(random, shape, kind) for shape in broadcast(random))
    za, zb = (parameters(random, kind, flip(random))[1] for _ in range(2))
    less = lambda x, zero: x.astype(np.int32) - (0 if zero is None else int(zero))  # noqa: E731
    return Case([a, za, b, zb], [(less(a, za) * less(b, zb)).astype(np.int32)], has_peer=False)


@case("ReduceSumInteger")
def reduce_sum_integer(random):
    kind = kind_of(random)
    rank = int(random.integers(1, 5))
    x = integers(random, extents(random, rank), kind)
    axes, keep = sorted(random.choice(rank, random.integers(1, rank + 1), replace=False).tolist()), flip(random)
    wide = np.uint32 if kind == np.uint8 else np.int32
    return Case([x], [x.sum(tuple(axes), keepdims=bool(keep), dtype=wide)], {"axes": axes, "keepdims": keep}, has_peer=False)


@case("DynamicQuantizeLSTM")
def dynamic_quantize_lstm(random):
    direction = str(random.choice(["forward", "reverse", "bidirectional"]))
    count = 2 if direction == "bidirectional" else 1
    time, batch, width, hidden = (int(random.integers(1, 6)) for _ in range(4))
    kind = kind_of(random)
    x = normal(random, time, batch, width)
    w, r = integers(random, (count, width, 4 * hidden), kind), integers(random, (count, hidden, 4 * hidden), kind)
    def scales():
        if flip(random):
            scale = (random.random((count, 4 * hidden)) / 200 + 0.002).astype(F)
            return scale, np.zeros(scale.shape, kind) if kind == np.int8 else np.full(scale.shape, 130, kind)
        return (random.random(count) / 200 + 0.002).astype(F), np.full(count, 0 if kind == np.int8 else 125, kind)
    sw, zw = scales()
    sr, zr = scales()
    bias = optional(random, normal(random, count, 8 * hidden))
    lengths = optional(random, random.integers(1, time + 1, batch).astype(np.int32))
    h0, c0 = (optional(random, normal(random, count, batch, hidden)) for _ in range(2))
    peephole = optional(random, normal(random, count, 3 * hidden))
    attributes = {"direction": direction, "hidden_size": hidden}
    functions = ["Sigmoid", "Tanh", "Tanh"]
    if flip(random):
        functions = [str(each) for each in random.choice(["Sigmoid", "Tanh", "Relu"], 3)]
        attributes["activations"] = functions * count
    clip = optional(random, float(F(1 + random.random())))
    if clip is not None:
        attributes["clip"] = clip
    if lengths is not None and lengths.max() < time:
        lengths[0] = time
    y, ends_h, ends_c = np.zeros((time, count, batch, hidden)), [], []
    applied = [lambda v, name=name: activation(name, np.clip(v, -clip, clip) if clip is not None else v) for name in functions[:2]]

    def times(rows, weights, scale, zero):
        whole, own, offset = dynamic(rows.astype(F))
        return (whole - offset) * np.float64(own) @ ((weights.astype(np.int64) - zero.astype(np.int64)) * np.float64(scale))

    for d in range(count):
        backwards = direction == "reverse" or d == 1
        h = np.zeros((batch, hidden)) if h0 is None else h0[d].astype(np.float64)
        c = np.zeros((batch, hidden)) if c0 is None else c0[d].astype(np.float64)
        b = np.zeros(8 * hidden) if bias is None else bias[d]
        p = np.zeros((3, hidden)) if peephole is None else peephole[d].reshape(3, hidden)
        sums = times(x.reshape(-1, width), w[d], sw[d], zw[d]).reshape(time, batch, -1)
        for step in range(time):
            t = np.full(batch, step) if not backwards else (np.full(batch, time) if lengths is None else lengths) - 1 - step
            runs = np.full(batch, True) if lengths is None else step < lengths
            total = sums[np.maximum(t, 0), np.arange(batch)] + times(h, r[d], sr[d], zr[d]) + b[:4 * hidden] + b[4 * hidden:]
            i, o, f, g = np.split(total, 4, -1)
            i, f, g = applied[0](i + p[0] * c), applied[0](f + p[2] * c), applied[1](g)
            after = f * c + i * g
            o = applied[0](o + p[1] * after)
            shown = o * activation(functions[2], after)
            h, c = np.where(runs[:, None], shown, h), np.where(runs[:, None], after, c)
            for row in np.flatnonzero(runs):
                y[t[row], d, row] = shown[row]
        ends_h.append(h)
        ends_c.append(c)
    wants = [y.astype(F), np.stack(ends_h).astype(F), np.stack(ends_c).astype(F)]
    keep = [want if i == 0 or flip(random) else None for i, want in enumerate(wants)]
    # A state that lies between two integers is rounded to one of both.
    return Case([x, w, r, bias, lengths, h0, c0, peephole, sw, zw, sr, zr], keep, attributes, kept=(1, 2, 8, 9, 10, 11), rtol=1e-2, atol=2e-2)
