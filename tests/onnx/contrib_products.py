"""Cases of products, weights of few bits, convolutions and experts (contrib_cases.py)."""

import numpy as np

from contrib_cases import (Case, activation, case, extent, extents, fast_gelu, flip, float_kind, normal, optional, sigmoid,
                           softmax)
from contrib_quantised import convolution, convolved, keywords, last

F = np.float32


# --- Products -----------------------------------------------------------------------------------------


def swapped(x):
    return np.ascontiguousarray(np.swapaxes(x, -1, -2))


@case("FusedMatMul")
def fused_matmul(random):
    kind = float_kind(random)
    batch = [int(random.integers(1, 4)) for _ in range(random.integers(0, 3))]
    m, k, n = (int(random.integers(1, 9)) for _ in range(3))
    a, b = normal(random, *batch, m, k, kind=kind), normal(random, *batch, k, n, kind=kind)
    alpha = optional(random, float(F(random.random() + 0.5)))
    attributes = {} if alpha is None else {"alpha": alpha}
    y = a @ b * kind(1 if alpha is None else alpha)
    def laid(x, side):
        if flip(random):
            x, attributes["trans" + side] = swapped(x), 1
        if batch and flip(random):
            x, attributes["transBatch" + side] = np.ascontiguousarray(np.moveaxis(x, -2, 0)), 1
        return x
    return Case([laid(a, "A"), laid(b, "B")], [y], attributes)


@case("TransposeMatMul")
def transpose_matmul(random):
    batch = extents(random, random.integers(0, 3), 3)
    m, k, n = extent(random), int(random.integers(1, 9)), extent(random)
    a, b = normal(random, *batch, m, k), normal(random, *batch, k, n)
    attributes = {"transA": flip(random), "transB": flip(random), "alpha": 0.5}
    return Case([swapped(a) if attributes["transA"] else a, swapped(b) if attributes["transB"] else b], [a @ b * F(0.5)], attributes)


@case("FusedGemm")
def fused_gemm(random):
    m, k, n = (int(random.integers(1, 12)) for _ in range(3))
    a, b = normal(random, m, k), normal(random, k, n)
    c = optional(random, normal(random, *[(n,), (m, n), (m, 1), (1,)][random.integers(4)]))
    alpha, beta = float(F(random.random() + 0.5)), float(F(random.random() + 0.5))
    name = str(random.choice(["Relu", "LeakyRelu", "Elu", "HardSigmoid", "Sigmoid", "Tanh", "Softplus", "Softsign", "ThresholdedRelu", "Selu"]))
    numbers = {"LeakyRelu": ["alpha"], "Elu": ["alpha"], "HardSigmoid": ["alpha", "beta"], "ThresholdedRelu": ["alpha"],
               "Selu": ["alpha", "gamma"]}.get(name, [])
    given = {each: float(F(random.random() + 0.1)) for each in numbers}
    attributes = {"alpha": alpha, "beta": beta, "transA": flip(random), "transB": flip(random), "activation": name,
                  **{f"activation_{each}": number for each, number in given.items()}}
    y = activation(name, alpha * (a.astype(np.float64) @ b) + (0 if c is None else beta * c), **given)
    return Case([swapped(a) if attributes["transA"] else a, swapped(b) if attributes["transB"] else b, c], [y.astype(F)], attributes)


@case("GemmFastGelu")
def gemm_fast_gelu(random):
    batch = extents(random, random.integers(0, 3), 3)
    m, k, n = extent(random), int(random.integers(1, 9)), int(random.integers(1, 9))
    x, w, bias = normal(random, *batch, m, k), normal(random, k, n), optional(random, normal(random, n))
    return Case([x, w, bias], [fast_gelu(x.astype(np.float64) @ w + (0 if bias is None else bias)).astype(F)], atol=1e-4)


@case("MatMulInteger16")
def matmul_integer16(random):
    m, k, n = (int(random.integers(1, 9)) for _ in range(3))
    kinds = [random.choice([np.int16, np.uint16]) for _ in range(2)] if random.random() < 0.3 else [np.int16] * 2
    a, b = (random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind) for kind, shape in zip(kinds, ((m, k), (k, n))))
    wide = np.uint32 if kinds == [np.uint16] * 2 else np.int32
    return Case([a, b], [(a.astype(np.int64) @ b.astype(np.int64)).astype(wide)])


@case("Inverse")
def inverse(random):
    n, batch, kind = int(random.integers(1, 7)), extents(random, random.integers(0, 3), 3), float_kind(random)
    x = normal(random, *batch, n, n) + 3 * np.eye(n)[random.permutation(n)]
    return Case([x.astype(kind)], [np.linalg.inv(x).astype(kind)], rtol=1e-3, atol=1e-3,
                names={0: [*(f"d{i}" for i in range(len(batch))), "n", "n"]})


@case("CDist")
def cdist(random):
    m, k, n = (int(random.integers(1, 12)) for _ in range(3))
    kind = float_kind(random)
    a, b = normal(random, m, n, kind=kind), normal(random, k, n, kind=kind)
    metric = optional(random, str(random.choice(["euclidean", "sqeuclidean"])))
    y = ((a[:, None].astype(np.float64) - b[None]) ** 2).sum(-1)
    return Case([a, b], [(np.sqrt(y) if metric == "euclidean" else y).astype(kind)], {} if metric is None else {"metric": metric},
                rtol=1e-4, atol=2e-3)


# --- Weights of few bits ------------------------------------------------------------------------------


def packed(numbers, bits):
    """Numbers along the last dimension, the first in the lowest bits; what is missing is 0."""
    each = 8 // bits
    missing = -numbers.shape[-1] % each
    numbers = np.concatenate([numbers, np.zeros((*numbers.shape[:-1], missing), numbers.dtype)], -1).reshape(*numbers.shape[:-1], -1, each)
    return (numbers << (np.arange(each) * bits)).sum(-1).astype(np.uint8)


@case("MatMulNBits")
def matmul_nbits(random):
    bits, size = int(random.choice([2, 4, 4, 8])), int(random.choice([16, 32, 64]))
    n, k = int(random.integers(1, 40)), int(random.integers(1, 200))
    if random.random() < 0.3:  # enough of them to stay bytes
        n, k = 64 * int(random.integers(1, 3)), size * int(256 // size + random.integers(0, 3))
    blocks = -(-k // size)
    q = random.integers(0, 1 << bits, (n, blocks * size))
    scales = (random.random((n, blocks)) / 10 + 0.01).astype(F)
    kind = random.choice(["none", "packed", "packed", "floats"])
    zeros = random.integers(0, 1 << bits, (n, blocks)) if kind == "packed" else np.full((n, blocks), 1 << (bits - 1))
    given = packed(zeros, bits) if kind == "packed" else None
    if kind == "floats":
        zeros = given = (random.random((n, blocks)) * (1 << bits)).astype(F)
    block = np.arange(k) // size
    order = optional(random, random.permutation(block).astype(np.int32)) if random.random() < 0.3 else None
    block = block if order is None else order
    weights = (q[:, :k] - zeros[:, block]) * scales[:, block].astype(np.float64)
    a = normal(random, *extents(random, random.integers(0, 2), 3), int(random.integers(1, 5)), k)
    bias = optional(random, normal(random, n))
    y = a @ weights.T + (0 if bias is None else bias)
    has_peer = (bits == 4 or kind != "floats") if order is None else bits == 4 and k % size == 0 and n < 64
    level = int(random.integers(0, 5))
    # At the last one rows are rounded: each number by half a step, of 127 to the largest of a block.
    largest = np.abs(a).max(-1, initial=0, keepdims=True)
    off = (largest / 254 * np.abs(weights).sum(1)).max(initial=0) if level == 4 else 0
    return Case([a, packed(q, bits).reshape(n, blocks, -1), scales if flip(random) else scales.reshape(-1), given, order, bias], [y.astype(F)],
                {"K": k, "N": n, "bits": bits, "block_size": size, **({"accuracy_level": level} if level else {})}, atol=1e-3 + off,
                names={0: [*(f"d{i}" for i in range(a.ndim - 1)), None]}, kept=(1, 2, 3, 4, 5), has_peer=has_peer, has_halves=k < 64 and bits < 8)


FP4 = [0, 0.00520833333, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25]
NF4 = [-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434,
       0.5626170039176941, 0.7229568362236023, 1]


@case("MatMulBnb4")
def matmul_bnb4(random):
    size, kind, n, k = int(random.choice([16, 32, 64])), flip(random), int(random.integers(1, 20)), int(random.integers(1, 100))
    q = random.integers(0, 16, n * k)
    most = (random.random(-(-n * k // size)) + 0.1).astype(F)
    table = np.float64(NF4 if kind else FP4 + [-each for each in FP4])
    weights = (table[q] * most[np.arange(n * k) // size]).reshape(n, k)
    even = np.concatenate([q, np.zeros(n * k % 2, q.dtype)]).reshape(-1, 2)
    a = normal(random, int(random.integers(1, 5)), k)
    attributes = {"K": k, "N": n, "block_size": size, "quant_type": kind}
    return Case([a, (even[:, 0] * 16 + even[:, 1]).astype(np.uint8), most], [(a @ weights.T).astype(F)], attributes, atol=1e-4, kept=(1, 2),
                names={0: ["m", None]})


@case("GatherBlockQuantized")
def gather_block_quantized(random):
    bits, size = int(random.choice([4, 4, 8])), int(random.choice([16, 32]))
    rank = int(random.integers(2, 4))
    shape = [int(random.integers(1, 6)) for _ in range(rank - 1)] + [8 // bits * int(random.integers(1, 50))]
    axis = int(random.integers(1, rank))
    if axis != rank - 1:
        shape[axis] = int(random.integers(1, 50))
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // size)
    q = random.integers(0, 1 << bits, shape)
    scales = (random.random(blocks) / 10 + 0.01).astype(F)
    zeros = optional(random, random.integers(0, 1 << bits, blocks))
    block = np.arange(shape[axis]) // size
    whole = (q - np.take((1 << (bits - 1)) if zeros is None else zeros, block, axis) if zeros is not None else q - (1 << (bits - 1))) * np.take(scales, block, axis)
    indices = random.integers(-shape[0], shape[0], extents(random, random.integers(0, 3))).astype(random.choice([np.int32, np.int64]))
    return Case([packed(q, bits), np.asarray(indices), scales, None if zeros is None else packed(zeros, bits)], [whole[indices].astype(F)],
                {"bits": bits, "block_size": size, "quantize_axis": axis - rank * flip(random)}, kept=(0, 2, 3),
                has_peer=axis == rank - 1)  # ONNX Runtime's inference of shapes wants that of bytes


# --- Convolutions -------------------------------------------------------------------------------------


def fused(random, is_last, has_more=True):
    shape, weights, attributes = convolution(random, 2 if is_last else int(random.integers(1, 3)))
    x, w = normal(random, *shape), normal(random, *weights)
    b = optional(random, normal(random, weights[0]))
    y = convolved(x.astype(np.float64), w, **keywords(attributes)) + (0 if b is None else b[(slice(None), *[None] * (len(shape) - 2))])
    z, inputs = None, [x, w, b]
    if has_more:
        z = optional(random, normal(random, *y.shape)) if b is not None else None
        if z is not None:
            y = y + z
        name = str(random.choice(["", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid"]))
        numbers = {"LeakyRelu": [0.25], "Clip": [-0.5, 0.75], "HardSigmoid": [0.25, 0.5]}.get(name, [])
        y = activation(name, y, *numbers)
        if name:
            attributes["activation"] = name
        if numbers:
            attributes["activation_params"] = numbers
        inputs.append(z)
    y = y.astype(F)
    if is_last:
        inputs[0], y = np.ascontiguousarray(last(x)), last(y)
        if z is not None:
            inputs[3] = np.ascontiguousarray(last(z))
    return Case(inputs, [y], attributes, atol=1e-4, kept=(1,))


@case("FusedConv")
def fused_conv(random):
    return fused(random, False)


@case("NhwcFusedConv")
def nhwc_fused_conv(random):
    return fused(random, True)


@case("NhwcConv")
def nhwc_conv(random):
    return fused(random, True, has_more=False)


@case("NhwcMaxPool")
def nhwc_max_pool(random):
    kernel, strides = random.integers(1, 4, 2).tolist(), random.integers(1, 3, 2).tolist()
    pads = [int(random.integers(0, kernel[i % 2])) for i in range(4)]
    kind = random.choice([np.uint8, np.int8])
    info = np.iinfo(kind)
    x = random.integers(info.min, info.max + 1, (2, *(int(random.integers(k, 8)) for k in kernel), int(random.integers(1, 5)))).astype(kind)
    wide = np.pad(x.astype(np.int64), [(0, 0), (pads[0], pads[2]), (pads[1], pads[3]), (0, 0)], constant_values=info.min)
    out = [(wide.shape[1 + i] - kernel[i]) // strides[i] + 1 for i in range(2)]
    y = np.zeros((2, *out, x.shape[3]), kind)
    for i, j in np.ndindex(*out):
        y[:, i, j] = wide[:, i * strides[0]:i * strides[0] + kernel[0], j * strides[1]:j * strides[1] + kernel[1]].max((1, 2))
    return Case([x], [y], {"kernel_shape": kernel, "strides": strides, "pads": pads})


@case("ConvTransposeWithDynamicPads")
def conv_transpose_with_dynamic_pads(random):
    group, inner, filters = (int(random.integers(1, 3)) for _ in range(3))
    size, kernel, stride, apart = (random.integers(1, high, 2) for high in (5, 4, 3, 3))
    pads = random.integers(0, 2, 4)
    full = (size - 1) * stride + (kernel - 1) * apart + 1
    if (full - pads[:2] - pads[2:] < 1).any():
        pads[:] = 0
    x, w = normal(random, 2, group * inner, *size), normal(random, group * inner, filters, *kernel)
    y = np.zeros((2, group * filters, *full))
    for g, place, at in ((g, place, at) for g in range(group) for place in np.ndindex(*size) for at in np.ndindex(*kernel)):
        to = tuple(np.array(place) * stride + np.array(at) * apart)
        part = slice(g * inner, (g + 1) * inner)
        y[(slice(None), slice(g * filters, (g + 1) * filters), *to)] += x[(slice(None), part, *place)] @ w[(part, slice(None), *at)]
    y = y[:, :, pads[0]:full[0] - pads[2], pads[1]:full[1] - pads[3]]
    bias = optional(random, normal(random, group * filters))
    if bias is not None:
        y = y + bias[:, None, None]
    return Case([x, w, pads.astype(np.int64), bias], [y.astype(F)], {"strides": stride.tolist(), "dilations": apart.tolist(), "group": group},
                kept=(1, 2), atol=1e-4)


# --- Experts ------------------------------------------------------------------------------------------


def experts(random, is_quantised):
    """Shapes, what of the attributes says how experts are made of them, and a function of the weights."""
    count, tokens = int(random.integers(1, 6)), random.integers(1, 4, random.integers(1, 3)).tolist()
    hidden, inner = (32, 32) if is_quantised else (int(random.integers(1, 9)), int(random.integers(1, 9)))
    k = int(random.integers(1, count + 1))
    kind, fusion = str(random.choice(["relu", "gelu", "silu", "identity", "swiglu", "swiglu"])), 0
    attributes = {"k": k, "activation_type": kind, "normalize_routing_weights": flip(random)}
    if kind == "swiglu":
        fusion = attributes["swiglu_fusion"] = int(random.choice([1, 1, 1, 0, 2]))
        attributes |= {"activation_alpha": float(F(random.random() + 1)), "activation_beta": 1.0}
        if flip(random):
            attributes["swiglu_limit"] = float(F(random.random() * 2 + 0.5))
    has_third = kind == "swiglu" and fusion == 0 or (random.random() < 0.2 and kind != "swiglu")
    return count, tokens, hidden, inner, kind, fusion, attributes, has_third


def mixed(x, router, mixing, attributes, kind, fusion, w1, b1, w2, b2, w3, b3):
    flat, k = x.reshape(-1, x.shape[-1]).astype(np.float64), attributes["k"]
    shares = softmax(router.astype(np.float64), 1)
    y = np.zeros_like(flat)
    for t, row in enumerate(flat):
        chosen = np.argsort(-shares[t], kind="stable")[:k]
        weights = (shares if mixing is None else mixing)[t, chosen]
        if attributes["normalize_routing_weights"]:
            weights = weights / weights.sum()
        for e, share in zip(chosen, weights):
            h = w1[e] @ row + (0 if b1 is None else b1[e])
            third = None if w3 is None else w3[e] @ row + (0 if b3 is None else b3[e])
            if kind == "swiglu":
                gate, linear = (h, third) if fusion == 0 else (h[::2], h[1::2]) if fusion == 1 else np.split(h, 2)
                limit = attributes.get("swiglu_limit", np.inf)
                gate, linear = np.minimum(gate, limit), np.clip(linear, -limit, limit)
                h = gate * sigmoid(attributes["activation_alpha"] * gate) * (linear + attributes["activation_beta"])
            else:
                h = {"relu": lambda v: np.maximum(v, 0), "gelu": fast_gelu, "silu": lambda v: v * sigmoid(v), "identity": lambda v: v}[kind](h)
                h = h if third is None else h * third
            y[t] += share * (w2[e] @ h + (0 if b2 is None else b2[e]))
    return y.reshape(x.shape).astype(F)


@case("MoE")
def moe(random):
    count, tokens, hidden, inner, kind, fusion, attributes, has_third = experts(random, False)
    wide = inner * (2 if fusion else 1)
    x, router = normal(random, *tokens, hidden), normal(random, int(np.prod(tokens)), count)
    w1, w2, w3 = normal(random, count, wide, hidden), normal(random, count, hidden, inner), normal(random, count, inner, hidden) if has_third else None
    b1, b2 = optional(random, normal(random, count, wide)), optional(random, normal(random, count, hidden))
    b3 = optional(random, normal(random, count, inner)) if has_third else None
    y = mixed(x, router, None, attributes, kind, fusion, w1, b1, w2, b2, w3, b3)
    return Case([x, router, w1, b1, w2, b2, w3, b3], [y], attributes, kept=(2, 4, 6), atol=1e-4, rtol=1e-4, has_peer=not has_third and fusion < 2,
                names={0: [*(f"t{i}" for i in range(len(tokens))), None], 1: ["n", None]})


@case("QMoE")
def qmoe(random):
    return quantised_experts(random, True)


@case("QMoE")
def qmoe_around_the_middle(random):
    return quantised_experts(random, False)


def quantised_experts(random, has_zeros):
    count, tokens, hidden, inner, kind, fusion, attributes, has_third = experts(random, True)
    bits, size = int(random.choice([4, 4, 8])), int(random.choice([0, 0, 16]))
    wide = inner * (2 if fusion else 1)
    def weights(rows, columns):
        q = random.integers(0, 1 << bits, (count, rows, columns))
        scales = (random.random((count, rows, columns // size) if size else (count, rows)) / 40 + 0.005).astype(F)
        zeros = random.integers(0, 1 << bits, scales.shape) if has_zeros else None
        spread = (lambda v: np.repeat(v, size, 2)) if size else (lambda v: v[..., None])
        plain = (q - ((1 << (bits - 1)) if zeros is None else spread(zeros))) * spread(scales).astype(np.float64)
        return packed(q, bits), scales, None if zeros is None else packed(zeros, bits), plain
    x, router = normal(random, *tokens, hidden), normal(random, int(np.prod(tokens)), count)
    q1, s1, z1, w1 = weights(wide, hidden)
    q2, s2, z2, w2 = weights(hidden, inner)
    q3, s3, z3, w3 = weights(inner, hidden) if has_third else [None] * 4
    b1, b2 = optional(random, normal(random, count, wide)), optional(random, normal(random, count, hidden))
    mixing = random.random((len(router), count)).astype(F) if random.random() < 0.2 else None
    y = mixed(x, router, mixing, attributes, kind, fusion, w1, b1, w2, b2, w3, None)
    attributes |= {"expert_weight_bits": bits, "quant_type": "int", **({"block_size": size} if size else {})}
    # ONNX Runtime takes activations of 8 bits for weights of 8, and all shares together as 1 whatever the attribute says.
    return Case([x, router, q1, s1, b1, q2, s2, b2, q3, s3, None, z1, z2, z3, mixing], [y], attributes, kept=(2, 3, 5, 6, 8, 9, 11, 12, 13),
                atol=2e-3, rtol=2e-3, has_peer=not has_third and fusion < 2 and bits == 4 and bool(attributes["normalize_routing_weights"]),
                names={0: [*(f"t{i}" for i in range(len(tokens))), None], 1: ["n", None], 14: ["n", None]})
