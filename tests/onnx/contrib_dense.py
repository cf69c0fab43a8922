"""Cases of activations, normalisation and moves (contrib_cases.py)."""

import math

import numpy as np

from contrib_cases import Case, case, extent, extents, fast_gelu, flip, float_kind, gelu, normal, optional, sigmoid, softmax
from contrib_quantised import last

F = np.float32


# --- Activations --------------------------------------------------------------------------------------


@case("Gelu")
def gelu_case(random):
    x = normal(random, *extents(random, random.integers(0, 5)), kind=float_kind(random)) * 3
    return Case([np.asarray(x)], [gelu(x).astype(x.dtype)])


@case("QuickGelu")
def quick_gelu(random):
    x = normal(random, *extents(random, random.integers(1, 4)))
    alpha = optional(random, float(F(random.random() * 3)))
    return Case([x], [(x * sigmoid((1.702 if alpha is None else alpha) * x)).astype(F)], {} if alpha is None else {"alpha": alpha}, has_halves=True)


def with_bias(random, function, has_none=True):
    shape = extents(random, random.integers(1, 4))
    x, bias = normal(random, *shape), normal(random, shape[-1])
    if has_none and flip(random):
        return Case([x, None], [function(x.astype(np.float64)).astype(F)])
    return Case([x, bias], [function(x + bias.astype(np.float64)).astype(F)], has_halves=True)


@case("BiasGelu")
def bias_gelu(random):
    return with_bias(random, gelu, has_none=False)


@case("FastGelu")
def fast_gelu_case(random):
    return with_bias(random, fast_gelu)


@case("BiasAdd")
def bias_add(random):
    shape = extents(random, 3)
    x, bias, skip = normal(random, *shape), normal(random, shape[2]), normal(random, *shape)
    return Case([x, bias, skip], [x + bias + skip])


@case("BiasSplitGelu")
def bias_split_gelu(random):
    shape = extents(random, 3)
    shape[2] *= 2
    x, bias = normal(random, *shape), normal(random, shape[2])
    left, right = np.split(x + bias, 2, -1)
    return Case([x, bias], [(left * gelu(right)).astype(F)], names={0: ["n", "s", None], 1: [None]})


@case("BiasSoftmax")
def bias_softmax(random):
    rank = int(random.integers(2, 5))
    shape = [int(random.integers(1, 6)) for _ in range(rank)]
    axis, is_inner = int(random.integers(1, rank)), flip(random)
    split = int(random.integers(0, axis + 1))
    bias = [1 if (split <= i < axis if is_inner else i < split) else size for i, size in enumerate(shape)]
    x, b = normal(random, *shape), normal(random, *bias)
    y = softmax((x + b).reshape(int(np.prod(shape[:axis])), -1)).reshape(shape)
    return Case([x, b], [y], {"axis": axis, "is_inner_broadcast": is_inner})


def dropout(random, is_packed, has_bias):
    shape = extents(random, random.integers(1, 4))
    x, y = normal(random, *shape), None
    inputs, y = [x], x
    if has_bias:
        bias, residual = normal(random, *(shape if flip(random) else shape[-1:])), optional(random, normal(random, *shape))
        inputs, y = [x, bias, residual], x + bias + (0 if residual is None else residual)
    inputs += [optional(random, np.asarray(F(0.3))), optional(random, np.asarray(False))]
    mask = np.full((x.size + 31) // 32, 0xFFFFFFFF, np.uint32) if is_packed else np.ones(shape, bool)
    return Case(inputs, [y, optional(random, mask)], kept=(len(inputs) - 1,))


@case("BiasDropout")
def bias_dropout(random):
    return dropout(random, False, True)


@case("BitmaskDropout")
def bitmask_dropout(random):
    return dropout(random, True, False)


@case("BitmaskBiasDropout")
def bitmask_bias_dropout(random):
    return dropout(random, True, True)


@case("GatedAdd")
def gated_add(random):
    shape = extents(random, random.integers(1, 4))
    x, y, gate = normal(random, *shape), normal(random, *shape), normal(random, *shape[:-1], 1)
    return Case([x, y, gate], [x + y * gate])


def complex_product(random, is_conjugated):
    shape = extents(random, random.integers(0, 4))
    other = shape if flip(random) else [1 if flip(random) else size for size in shape]
    a, b = normal(random, *shape, 2), normal(random, *other, 2)
    x, y = a[..., 0] + 1j * a[..., 1], b[..., 0] + 1j * b[..., 1]
    z = x * (y.conj() if is_conjugated else y)
    names = {i: [*(f"d{i}_{k}" for k in range(len(shape))), None] for i in range(2)}
    return Case([a, b], [np.stack([z.real, z.imag], -1).astype(F)], names=names)


@case("ComplexMul")
def complex_mul(random):
    return complex_product(random, False)


@case("ComplexMulConj")
def complex_mul_conj(random):
    return complex_product(random, True)


# --- Normalisation ------------------------------------------------------------------------------------


def layer_norm(x, epsilon):
    x = x.astype(np.float64)
    mean = x.mean(-1, keepdims=True)
    inverse = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + epsilon)
    return (x - mean) * inverse, mean, inverse


def rms_norm(x, epsilon):
    x = x.astype(np.float64)
    inverse = 1 / np.sqrt((x ** 2).mean(-1, keepdims=True) + epsilon)
    return x * inverse, inverse


def epsilon_of(random, usual):
    given = optional(random, float(F(random.choice([1e-5, 1e-3, 0.1]))))
    return (usual, {}) if given is None else (given, {"epsilon": given})


def tokens(random):
    return [int(random.integers(1, 4)), extent(random), int(random.integers(2, 40))]


@case("SkipLayerNormalization")
def skip_layer_normalization(random):
    shape = tokens(random)
    if flip(random):
        shape = shape[1:]
    epsilon, attributes = epsilon_of(random, 1e-12)
    x = normal(random, *shape)
    skip = normal(random, *(shape if len(shape) == 2 or flip(random) else [[1, *shape[1:]], shape[1:]][flip(random)]))
    gamma, beta, bias = normal(random, shape[-1]), optional(random, normal(random, shape[-1])), optional(random, normal(random, shape[-1]))
    total = x + skip + (0 if bias is None else bias)
    y = layer_norm(total, epsilon)[0] * gamma + (0 if beta is None else beta)
    names = {0: ["b", "s", None][-len(shape):], 1: [None] * skip.ndim}
    return Case([x, skip, gamma, beta, bias], [y.astype(F), None, None, optional(random, total)], attributes, names=names, rtol=1e-4, atol=1e-4, has_halves=True)


@case("SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(random):
    shape = tokens(random)[flip(random):]
    epsilon, attributes = epsilon_of(random, 1e-12)
    x, skip, gamma, bias = normal(random, *shape), normal(random, *shape), normal(random, shape[-1]), optional(random, normal(random, shape[-1]))
    total = x + skip + (0 if bias is None else bias)
    names = {i: ["b", "s", None][-len(shape):] for i in range(2)}
    return Case([x, skip, gamma, bias], [(rms_norm(total, epsilon)[0] * gamma).astype(F), None, None, optional(random, total)], attributes,
                names=names, rtol=1e-4, atol=1e-4, has_halves=True)


@case("SimplifiedLayerNormalization")
def simplified_layer_normalization(random):
    rank = int(random.integers(1, 5))
    shape = [int(random.integers(1, 8)) for _ in range(rank)]
    axis = int(random.integers(-rank, rank))
    kind = float_kind(random)
    epsilon, attributes = epsilon_of(random, 1e-5)
    x, scale = normal(random, *shape, kind=kind), normal(random, *shape[axis:], kind=kind)
    flat = x.reshape(*shape[:axis % rank], -1)
    y, inverse = rms_norm(flat, epsilon)
    return Case([x, scale], [(y.reshape(shape) * scale).astype(kind)], {**attributes, "axis": axis, "stash_type": 1}, domain="", has_halves=True)


def embedding(random):
    batch, length, width = tokens(random)
    counts = [int(random.integers(1, 9)) for _ in range(3)]
    counts[1] += length
    ids = random.integers(0, counts[0], (batch, length)).astype(np.int32)
    segments = optional(random, random.integers(0, counts[2], (batch, length)).astype(np.int32))
    mask = optional(random, random.integers(0, 2, (batch, length)).astype(np.int32))
    lengths = np.zeros(batch, np.int32) if mask is None else (mask == 1).sum(1).astype(np.int32)
    return batch, length, width, counts, ids, segments, mask, lengths


@case("EmbedLayerNormalization")
def embed_layer_normalization(random):
    batch, length, width, counts, ids, segments, mask, lengths = embedding(random)
    word, place, segment = (normal(random, count, width) for count in counts)
    gamma, beta = normal(random, width), normal(random, width)
    places = optional(random, random.integers(0, counts[1], (batch if flip(random) else 1, length)).astype(np.int32))
    epsilon, attributes = epsilon_of(random, 1e-12)
    total = word[ids] + (place[:length][None] if places is None else place[places])
    if segments is not None:
        total = total + segment[segments]
    y = layer_norm(total, epsilon)[0] * gamma + beta
    wanted = flip(random)
    return Case([ids, segments, word, place, None if segments is None else segment, gamma, beta, mask, places],
                [y.astype(F), lengths, total if wanted else None], {**attributes, "mask_index_type": 1}, rtol=1e-4, atol=1e-4,
                names={i: ["b", "s"] for i in (0, 1, 7)} | {8: [None, "s"]} | {i: [None, None] for i in (2, 3, 4)} | {5: [None], 6: [None]})


@case("QEmbedLayerNormalization")
def q_embed_layer_normalization(random):
    batch, length, width, counts, ids, segments, mask, lengths = embedding(random)
    kind = random.choice([np.uint8, np.int8])
    info = np.iinfo(kind)
    tables = [random.integers(info.min, info.max + 1, shape).astype(kind) for shape in (*((count, width) for count in counts), width, width)]
    scales = [np.asarray(F(random.random() / 50 + 0.01)) for _ in tables]
    zeros = [np.asarray(kind(random.integers(info.min, info.max + 1))) for _ in tables]
    word, place, segment, gamma, beta = ((t.astype(np.int64) - int(z)) * np.float64(s) for t, s, z in zip(tables, scales, zeros))
    epsilon, attributes = epsilon_of(random, 1e-12)
    total = word[ids] + place[:length][None] + (0 if segments is None else segment[segments])
    y = layer_norm(total, epsilon)[0] * gamma + beta
    if segments is None:
        tables[2] = scales[2] = zeros[2] = None
    return Case([ids, segments, *tables, mask, *scales, *zeros], [y.astype(F), lengths], attributes, rtol=1e-4, atol=1e-4,
                names={i: ["b", "s"] for i in (0, 1, 7)} | {i: [None, None] for i in (2, 3, 4)} | {5: [None], 6: [None]})


def group_norm(x, groups, epsilon, gamma, beta, activation):
    n, c = x.shape[:2]
    flat = layer_norm(x.reshape(n, groups, -1), epsilon)[0].reshape(x.shape)
    y = flat * gamma[:, None, None] + beta[:, None, None]
    return y * sigmoid(y) if activation else y


@case("GroupNorm")
def group_norm_case(random):
    groups = int(random.integers(1, 4))
    channels = groups * int(random.integers(1, 4))
    x = normal(random, int(random.integers(1, 3)), channels, int(random.integers(1, 5)), int(random.integers(1, 5)))
    gamma, beta = normal(random, channels), normal(random, channels)
    epsilon, attributes = epsilon_of(random, 1e-5)
    attributes |= {"groups": groups, "activation": flip(random)}
    y = group_norm(x, groups, epsilon, gamma, beta, attributes["activation"]).astype(F)
    if flip(random):
        return Case([x, gamma, beta], [y], {**attributes, "channels_last": 0}, rtol=1e-4, atol=1e-4)
    return Case([np.ascontiguousarray(last(x)), gamma, beta], [last(y)], {**attributes, **({"channels_last": 1} if flip(random) else {})},
                rtol=1e-4, atol=1e-4)


@case("SkipGroupNorm")
def skip_group_norm(random):
    groups = int(random.integers(1, 4))
    channels = groups * int(random.integers(1, 4))
    n, h, w = (int(random.integers(1, 4)) for _ in range(3))
    x = normal(random, n, h, w, channels)
    skip = normal(random, *[(n, h, w, channels), (n, 1, 1, channels), (n, channels)][random.integers(3)])
    gamma, beta, bias = normal(random, channels), normal(random, channels), optional(random, normal(random, channels))
    epsilon, attributes = epsilon_of(random, 1e-5)
    attributes |= {"groups": groups, "activation": flip(random)}
    total = x + skip.reshape(n, *([1, 1] if skip.ndim == 2 else skip.shape[1:3]), channels) + (0 if bias is None else bias)
    y = last(group_norm(np.moveaxis(total, -1, 1), groups, epsilon, gamma, beta, attributes["activation"])).astype(F)
    return Case([x, gamma, beta, skip, bias], [y, optional(random, total.astype(F))], attributes, rtol=1e-4, atol=1e-4)


@case("GatedRMSNorm")
def gated_rms_norm(random):
    shape, width = extents(random, random.integers(0, 3)), int(random.integers(1, 8))
    heads = int(random.integers(1, 4))
    x, gate, scale = normal(random, *shape, heads * width), normal(random, *shape, heads * width), normal(random, width)
    epsilon = float(F(0.01))
    y = rms_norm(x.reshape(*shape, heads, width), epsilon)[0] * scale
    y = y.reshape(x.shape) * gate * sigmoid(gate)
    return Case([x, scale, gate], [y.astype(F)], {"epsilon": epsilon}, names={i: [*(f"d{k}" for k in range(len(shape))), None] for i in (0, 2)} | {1: [None]})


# --- Moves --------------------------------------------------------------------------------------------


@case("ExpandDims")
def expand_dims(random):
    x = normal(random, *extents(random, random.integers(0, 4)))
    axis = int(random.integers(-x.ndim - 1, x.ndim + 1))
    return Case([np.asarray(x), np.asarray(np.int32(axis))], [np.expand_dims(x, axis)], kept=(1,))


@case("SampleOp")
def sample(random):
    x = normal(random, *extents(random, random.integers(0, 4)))
    return Case([np.asarray(x)], [x])


@case("Trilu")
def trilu(random):
    kind = random.choice([np.float32, np.int64, np.float64, np.int32])
    x = (normal(random, *extents(random, random.integers(2, 5))) * 10).astype(kind)
    k, upper = optional(random, np.asarray(np.int64(random.integers(-4, 5)))), flip(random)
    return Case([x, k], [(np.triu if upper else np.tril)(x, 0 if k is None else int(k))], {"upper": upper} if not upper or flip(random) else {})


@case("Pad")
def pad(random):
    rank, mode = int(random.integers(1, 4)), str(random.choice(["constant", "edge", "reflect"]))
    shape = [int(random.integers(3, 7)) for _ in range(rank)]
    x = normal(random, *shape)
    pads = random.integers(-1 if mode == "constant" else 0, 3, 2 * rank)
    with_ = optional(random, F([2.5])) if mode == "constant" else None
    inner = x[tuple(slice(max(0, -low), size - max(0, -high)) for low, high, size in zip(pads[:rank], pads[rank:], shape))]
    y = np.pad(inner, [(max(0, low), max(0, high)) for low, high in zip(pads[:rank], pads[rank:])], mode,
               **({"constant_values": 0 if with_ is None else with_[0]} if mode == "constant" else {}))
    given = pads.astype(np.int64)
    return Case([x, given if flip(random) else given[None], with_], [y], {"mode": mode}, kept=(1,))


@case("GatherND")
def gather_nd(random):
    rank = int(random.integers(1, 4))
    shape = [int(random.integers(1, 6)) for _ in range(rank)]
    x, depth = normal(random, *shape), int(random.integers(1, rank + 1))
    front = extents(random, random.integers(0, 3))
    indices = np.stack([random.integers(-size, size, front) for size in shape[:depth]], -1).astype(random.choice([np.int32, np.int64]))
    return Case([x, indices], [x[tuple(np.moveaxis(indices, -1, 0))]], names={0: [None] * rank, 1: [*(f"i{k}" for k in range(len(front))), None]})


@case("GridSample")
def grid_sample(random):
    n, c, h, w = (int(random.integers(1, 6)) for _ in range(4))
    x, grid = normal(random, n, c, h, w), (random.random((n, int(random.integers(1, 5)), int(random.integers(1, 5)), 2)) * 2.6 - 1.3).astype(F)
    align, mode, padding = flip(random), str(random.choice(["bilinear", "nearest"])), str(random.choice(["zeros", "border"]))
    y = np.zeros((n, c, *grid.shape[1:3]))
    for b, i, j in np.ndindex(*grid.shape[:3]):
        at = []
        for value, size in ((grid[b, i, j, 1], h), (grid[b, i, j, 0], w)):
            at.append((value + 1) / 2 * (size - 1) if align else ((value + 1) * size - 1) / 2)
        if padding == "border":
            at = [min(max(value, 0), size - 1) for value, size in zip(at, (h, w))]
        def read(row, column):
            return x[b, :, row, column] if 0 <= row < h and 0 <= column < w else np.zeros(c)
        if mode == "nearest":
            y[b, :, i, j] = read(*(int(np.rint(value)) for value in at))
        else:
            row, column = (math.floor(value) for value in at)
            down, along = at[0] - row, at[1] - column
            y[b, :, i, j] = ((1 - down) * ((1 - along) * read(row, column) + along * read(row, column + 1))
                             + down * ((1 - along) * read(row + 1, column) + along * read(row + 1, column + 1)))
    return Case([x, grid], [y.astype(F)], {"align_corners": align, "mode": mode, "padding_mode": padding}, names={1: ["n", "oh", "ow", None]},
                rtol=1e-4, atol=1e-4)


@case("Range")
def range_case(random):
    kind = random.choice([np.float32, np.float64, np.int32, np.int64, np.int16])
    start, limit = random.integers(-10, 10, 2)
    delta = optional(random, int(random.choice([-3, -1, 2, 5])))
    y = np.arange(start, limit, 1 if delta is None else delta).astype(kind)
    shape = () if flip(random) else (1,)
    return Case([np.full(shape, start, kind), np.full(shape, limit, kind), None if delta is None else np.full(shape, delta, kind)], [y])


@case("Unique")
def unique(random):
    x = random.integers(0, 5, extent(random)).astype(F)
    _, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Case([x], [x[first[order]], rank[inverse].astype(np.int64).reshape(-1), counts[order].astype(np.int64)])


@case("TorchEmbedding")
def torch_embedding(random):
    weight = normal(random, int(random.integers(1, 9)), extent(random))
    indices = random.integers(0, len(weight), extents(random, random.integers(1, 4)))
    return Case([weight, indices], [weight[indices]])


@case("UnfoldTensor")
def unfold_tensor(random):
    rank = int(random.integers(1, 4))
    shape, axis = extents(random, rank), int(random.integers(-rank, rank))
    size, step = int(random.integers(1, 4)), int(random.integers(1, 4))
    shape[axis] = size + int(random.integers(0, 6))
    x = normal(random, *shape)
    y = np.lib.stride_tricks.sliding_window_view(x, size, axis)
    y = y[(slice(None),) * (axis % rank) + (slice(None, None, step),)]
    return Case([x], [y], {"dim": axis, "size": size, "step": step})


@case("IsAllFinite")
def is_all_finite(random):
    arrays = [normal(random, *extents(random, random.integers(0, 3))) for _ in range(random.integers(1, 4))]
    if random.random() < 0.6 and arrays[0].size:
        arrays[0] = np.asarray(arrays[0])
        arrays[0].flat[random.integers(arrays[0].size)] = random.choice([np.inf, -np.inf, np.nan])
    which = random.choice(["isinf_only", "isnan_only", ""])
    bad = {"": lambda x: ~np.isfinite(x), "isinf_only": np.isinf, "isnan_only": np.isnan}[str(which)]
    return Case([np.asarray(x) for x in arrays], [np.asarray(not any(bad(x).any() for x in arrays))], {str(which): 1} if which else {})


def murmur(data, seed):
    """MurmurHash3_x86_32 of a multiple of 4 bytes."""
    mask = 0xFFFFFFFF
    turned = lambda x, by: (x << by | x >> (32 - by)) & mask  # noqa: E731
    hash_ = seed
    for i in range(0, len(data), 4):
        part = turned(int.from_bytes(data[i:i + 4], "little") * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask
        hash_ = (turned(hash_ ^ part, 13) * 5 + 0xE6546B64) & mask
    hash_ ^= len(data)
    for by, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hash_ = (hash_ ^ hash_ >> by) * factor & mask
    return hash_ ^ hash_ >> 16


@case("MurmurHash3")
def murmur_hash(random):
    kind = random.choice([np.uint32, np.int32, np.uint64, np.int64, np.float32, np.float64])
    x = random.integers(0, 1 << 31, extents(random, random.integers(1, 4))).astype(kind)
    if np.dtype(kind).itemsize == 8:
        x = (x.astype(np.float64) * 1e5).astype(kind)
    seed, positive = int(random.integers(0, 1 << 31)), flip(random)
    y = np.array([murmur(each.tobytes(), seed) for each in x.reshape(-1)], np.uint32).reshape(x.shape)
    return Case([x], [y if positive else y.view(np.int32)], {"seed": seed, "positive": positive})


@case("CropAndResize")
def crop_and_resize(random):
    n, c, h, w = (int(random.integers(1, 7)) for _ in range(4))
    count, size = int(random.integers(1, 5)), random.integers(1, 6, 2).astype(np.int32)
    x, boxes = normal(random, n, c, h, w), (random.random((count, 4)) * 1.2 - 0.1).astype(F)
    images = random.integers(0, n, count).astype(np.int32)
    mode, outside = str(random.choice(["bilinear", "nearest"])), float(F(random.choice([0, 2.5])))
    y = np.full((count, c, *size), outside)
    for k, i, j in np.ndindex(count, *size):
        at = []
        for axis, (step, extent_) in enumerate(((i, h), (j, w))):
            low, high = boxes[k, axis], boxes[k, axis + 2]
            at.append(F(low * (extent_ - 1) + step * (high - low) * (extent_ - 1) / (size[axis] - 1)) if size[axis] > 1
                      else F(0.5) * (low + high) * (extent_ - 1))
        if not (0 <= at[0] <= h - 1 and 0 <= at[1] <= w - 1):
            continue
        image = x[images[k]]
        if mode == "nearest":
            y[k, :, i, j] = image[:, math.floor(at[0] + 0.5), math.floor(at[1] + 0.5)]
        else:
            (top, left), (bottom, right) = (math.floor(v) for v in at), (math.ceil(v) for v in at)
            down, along = at[0] - top, at[1] - left
            upper = image[:, top, left] + (image[:, top, right] - image[:, top, left]) * along
            lower = image[:, bottom, left] + (image[:, bottom, right] - image[:, bottom, left]) * along
            y[k, :, i, j] = upper + (lower - upper) * down
    return Case([x, boxes, images, size], [y.astype(F)], {"mode": mode, "extrapolation_value": outside}, kept=(3,), rtol=1e-4, atol=1e-4)


@case("RelativePositionBias")
def relative_position_bias(random):
    both, length, most = flip(random), int(random.integers(1, 30)), int(random.choice([20, 40, 128]))
    total = int(random.choice([8, 16, 32]))
    heads = int(random.integers(1, 4))
    table = normal(random, total, heads)
    buckets = total // 2 if both else total
    exact = buckets // 2
    queries, keys = np.mgrid[:length, :length]
    ahead = keys - queries
    distance = abs(ahead) if both else np.maximum(0, -ahead)
    far = exact + np.floor(np.log(np.maximum(distance, 1) / exact) / math.log(most / exact) * (buckets - exact) + 1e-9)
    bucket = np.where(distance < exact, distance, np.minimum(far, buckets - 1)).astype(int) + (buckets * (ahead > 0) if both else 0)
    return Case([table, np.int64([length]), np.int64([length])], [np.moveaxis(table[bucket], -1, 0)[None]],
                {"max_distance": most, "is_bidirectional": both}, names={0: [None, None], 1: [None], 2: [None]})


@case("NGramRepeatBlock")
def ngram_repeat_block(random):
    batch, length, vocabulary, size = (int(random.integers(1, high)) for high in (4, 12, 6, 4))
    ids, scores = random.integers(0, vocabulary, (batch, length)), normal(random, batch, vocabulary)
    y = scores.copy()
    for b in range(batch):
        for i in range(length - size + 1):
            if list(ids[b, i:i + size - 1]) == list(ids[b, length - size + 1:]):
                y[b, ids[b, i + size - 1]] = -np.inf
    return Case([ids, scores], [y], {"ngram_size": size})


@case("BifurcationDetector")
def bifurcation_detector(random):
    return bifurcation(random, False)


@case("BifurcationDetector")
def bifurcation_detector_of_a_prediction(random):
    return bifurcation(random, True)


def bifurcation(random, is_predicted):
    """As ONNX Runtime searches: longer and longer ends of the tokens, while they stand in the source."""
    source, current = (random.integers(0, 4, int(random.integers(1, high))) for high in (12, 6))
    from_ = int(random.integers(0, len(source) + 1))
    predicted = np.where(random.random(len(source) - from_ + 1) < 0.8, [*source[from_:], 0], 3) if is_predicted else None
    least = int(random.integers(1, 3))
    most = least + int(random.integers(0, 3))
    tokens, place = current, -1
    if predicted is not None:
        same = 0
        while same < len(source) - from_ and predicted[same] == source[from_ + same]:
            same += 1
        tokens = np.concatenate([current, predicted[:same + 1]])
    for size in range(least, most + 1):
        places = [i for i in range(len(source) - size + 1) if size <= len(tokens) and list(source[i:i + size]) == list(tokens[-size:])]
        if not places:
            break
        place = places[0] + size
        if place >= len(source):
            break
        if len(places) > 1:
            place = -1
    return Case([source, current, np.int64([from_]), predicted], [tokens, np.int64([place])], {"min_ngram_size": least, "max_ngram_size": most})
