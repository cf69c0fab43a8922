"""Cases of attention (contrib_cases.py)."""

import numpy as np

from contrib_cases import Case, case, flip, normal, optional, softmax

F = np.float32
FILTER = -10000.0


def heads(x, count):
    """[B, S, heads * H] as [B, heads, S, H]."""
    return x.reshape(*x.shape[:2], count, -1).transpose(0, 2, 1, 3)


def joined(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def masks(random, batch, rows, columns):
    """A mask as ONNX Runtime takes it, and what it adds."""
    kind = random.choice(["none", "2D", "3D", "ends", "both"])
    if kind == "none":
        return None, np.zeros((batch, 1, 1, columns)), [None]
    if kind in ("2D", "3D"):
        mask = (random.random((batch, columns) if kind == "2D" else (batch, rows, columns)) < 0.7).astype(np.int32)
        mask[..., 0] = 1
        return mask, np.where(mask > 0, 0, FILTER).reshape(batch, 1, -1, columns), ["b", "t"] if kind == "2D" else ["b", "s", "t"]
    ends = random.integers(1, columns + 1, batch).astype(np.int32)
    starts = np.array([random.integers(0, end) for end in ends], np.int32) if kind == "both" else np.zeros(batch, np.int32)
    at = np.arange(columns)
    hidden = (at >= ends[:, None]) | (at < starts[:, None])
    return (ends if kind == "ends" else np.concatenate([ends, starts])), np.where(hidden, FILTER, 0)[:, None, None], ["b" if kind == "ends" else None]


def causal(rows, columns, past):
    return np.where(np.arange(columns) > past + np.arange(rows)[:, None], -np.inf, 0)


def attributes_of(random, count, depth):
    out = {"num_heads": count}
    scale = depth ** -0.5
    if flip(random):
        scale = out["scale"] = float(F(random.random() + 0.1))
    if flip(random):
        out["unidirectional"] = flip(random)
    return out, scale


def bias_of(random, batch, count, rows, columns):
    return optional(random, normal(random, batch if flip(random) else 1, count if flip(random) else 1, rows, columns))


def projection(random, is_quantised):
    batch, count, depth, rows, inner = int(random.integers(1, 4)), int(random.integers(1, 4)), int(random.integers(1, 9)), int(random.integers(1, 9)), int(random.integers(1, 12))
    width = depth
    past_length = random.choice([0, 0, 1, 3, 7]) if not is_quantised else random.choice([0, 0, 3])
    has_past = bool(past_length) or random.random() < 0.2
    attributes, scale = attributes_of(random, count, depth)
    if not is_quantised and not has_past and flip(random):
        width = int(random.integers(1, 9))
        attributes["qkv_hidden_sizes"] = [count * depth, count * depth, count * width]
    columns = int(past_length) + rows
    past = normal(random, 2, batch, count, int(past_length), depth) if has_past else None
    mask, added, mask_names = masks(random, batch, rows, columns)
    if mask is not None and is_quantised and mask.ndim == 3:
        mask, added, mask_names = None, 0, [None]
    wide = count * (2 * depth + width)
    names = {0: ["b", "s", None], 1: [None, None], 2: [None], "past": [None, "b", None, "p", None], "mask": mask_names, "bias": [None] * 4}
    return batch, count, depth, width, rows, columns, inner, wide, past, mask, added, attributes, scale, names


def attended(q, k, v, scale, added, is_causal, past):
    scores = scale * (q @ k.swapaxes(-1, -2)) + added
    if is_causal and q.shape[2] > 1:
        scores = scores + causal(q.shape[2], k.shape[2], past)
    return joined(softmax(scores) @ v), scores


def of_projection(all_, case_, bias):
    batch, count, depth, width, rows, columns, inner, wide, past, mask, added, attributes, scale, names = case_
    q, k, v = (heads(part, count) for part in np.split(all_.astype(np.float64), [count * depth, 2 * count * depth], -1))
    if past is not None:
        k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
    out, _ = attended(q, k, v, scale, added + (0 if bias is None else bias), attributes.get("unidirectional"), columns - rows)
    present = np.stack([k, v]).astype(F) if past is not None else None
    return out.astype(F), present


@case("Attention")
def attention(random):
    made = projection(random, False)
    batch, count, depth, width, rows, columns, inner, wide, past, mask, added, attributes, scale, names = made
    x, w, b = normal(random, batch, rows, inner), normal(random, inner, wide), optional(random, normal(random, wide))
    bias = bias_of(random, batch, count, rows, columns) if past is None else None
    out, present = of_projection(x @ w + (0 if b is None else b), made, bias)
    # A row that sees hidden columns only has scores near -10000, of few digits.
    near = 2e-4 if mask is None else 2e-3
    return Case([x, w, b, mask, past, bias], [out, present], attributes, atol=near, rtol=near, has_peer=b is not None,
                names={0: names[0], 1: names[1], 2: names[2], 3: names["mask"], 4: names["past"], 5: names["bias"]})


@case("QAttention")
def qattention(random):
    made = projection(random, True)
    batch, count, depth, width, rows, columns, inner, wide, past, mask, added, attributes, scale, names = made
    kind, weights = random.choice([np.uint8, np.uint8, np.int8]), random.choice([np.uint8, np.int8])
    integers = lambda shape, kind: random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)  # noqa: E731
    x, w, b = integers((batch, rows, inner), kind), integers((inner, wide), weights), normal(random, wide)
    sx = np.asarray(F(random.random() / 100 + 0.002))
    sw = np.asarray(F(random.random() / 100 + 0.002)) if flip(random) else (random.random(wide) / 100 + 0.002).astype(F)
    zx = optional(random, np.asarray(integers((), kind)))
    zw = optional(random, np.asarray(integers((), weights)) if sw.ndim == 0 else integers(wide, weights))
    less = lambda x, zero: x.astype(np.int64) - (0 if zero is None else zero.astype(np.int64))  # noqa: E731
    all_ = less(x, zx) @ less(w, zw) * (np.float64(sx) * sw) + b
    out, present = of_projection(all_, made, None)
    near = 2e-4 if mask is None else 2e-3
    return Case([x, w, b, sx, sw, mask, zx, zw, past], [out, present], attributes, atol=near, rtol=near, kept=(1, 3, 4, 6, 7),
                names={0: names[0], 2: [None], 5: names["mask"], 8: names["past"]})


@case("MultiHeadAttention")
def multi_head_attention(random):
    batch, count, depth, rows = (int(random.integers(1, 4)), int(random.integers(1, 4)), int(random.integers(1, 9)), int(random.integers(1, 9)))
    form = str(random.choice(["plain", "plain", "plain", "past", "past", "crossed", "packed", "packed keys"]))
    fresh = rows if form in ("packed",) or random.random() < 0.3 else int(random.integers(1, 9))
    width = int(random.integers(1, 9)) if form in ("plain", "past", "crossed") and flip(random) else depth
    if form in ("past", "crossed"):
        width = depth
    past_length = int(random.integers(0, 5)) if form == "past" else 0
    columns = past_length + fresh
    attributes, scale = attributes_of(random, count, depth)
    if fresh != rows:  # what that means of other tokens is not said
        attributes.pop("unidirectional", None)
    q, k, v = normal(random, batch, rows, count * depth), normal(random, batch, fresh, count * depth), normal(random, batch, fresh, count * width)
    b = optional(random, normal(random, count * (2 * depth + width))) if form in ("plain", "past") else None
    mask, added, mask_names = masks(random, batch, rows, columns)
    if mask is not None and mask.ndim == 1 and len(mask) != batch:
        mask, added = None, 0
    bias = bias_of(random, batch, count, rows, columns)
    bq, bk, bv = np.split(b, [count * depth, 2 * count * depth]) if b is not None else (0, 0, 0)
    hq, hk, hv = heads(q + bq, count), heads(k + bk, count), heads(v + bv, count)
    inputs = [q, k, v, b, mask, bias]
    names = {0: ["b", "s", None], 1: ["b", "l", None], 2: ["b", "l", None], 3: [None], 4: mask_names, 5: [None] * 4}
    if mask is not None and mask.ndim > 1:
        names[4] = ["b", *["s"] * (mask.ndim == 3), None]
    if form == "past":
        past = [normal(random, batch, count, past_length, depth) for _ in range(2)]
        hk, hv = np.concatenate([past[0], hk], 2), np.concatenate([past[1], hv], 2)
        inputs += past
        names |= {i: ["b", None, "p", None] for i in (6, 7)}
    elif form == "crossed":
        inputs[1:3] = [np.ascontiguousarray(each) for each in (hk, hv)]
        names |= {i: ["b", None, "l", None] for i in (1, 2)}
    elif form == "packed":
        inputs[:3] = [np.ascontiguousarray(np.stack([each.reshape(batch, rows, count, depth) for each in (q, k, v)], 3)), None, None]
        names[0] = ["b", "s", None, None, None]
    elif form == "packed keys":
        inputs[1:3] = [np.ascontiguousarray(np.stack([each.reshape(batch, fresh, count, depth) for each in (k, v)], 3)), None]
        names[1] = ["b", "l", None, None, None]
    out, scores = attended(hq.astype(np.float64), hk, hv, scale, added + (0 if bias is None else bias), attributes.get("unidirectional"), past_length)
    wants = [out.astype(F), None, None]
    if form == "past":
        wants[1:] = [hk.astype(F), hv.astype(F)]
    near = 2e-4 if mask is None else 2e-3
    return Case(inputs, wants, attributes, atol=near, rtol=near, names=names, has_halves=True)


# --- Positions as angles ------------------------------------------------------------------------------


def rotated(x, cos, sin, is_interleaved):
    """[B, S, N, H] by angles [B, S, R / 2]."""
    half = cos.shape[-1]
    cos, sin = cos[:, :, None], sin[:, :, None]
    y = x.copy()
    one, other = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if is_interleaved else (slice(0, half), slice(half, 2 * half))
    y[..., one] = x[..., one] * cos - x[..., other] * sin
    y[..., other] = x[..., other] * cos + x[..., one] * sin
    return y


def angles(random, count, half):
    theta = random.random((count, half)) * 6
    return np.cos(theta).astype(F), np.sin(theta).astype(F)


@case("RotaryEmbedding")
def rotary_embedding(random):
    batch, length, count = int(random.integers(1, 4)), int(random.integers(1, 8)), int(random.integers(1, 4))
    half, most = int(random.integers(1, 6)), int(random.integers(10, 20))
    is_interleaved, has_heads = flip(random), flip(random)
    attributes = {"interleaved": is_interleaved}
    depth = 2 * half
    if flip(random):
        depth += 2 * int(random.integers(0, 4))
        attributes |= {"num_heads": count, "rotary_embedding_dim": 2 * half}
    cos, sin = angles(random, most, half)
    x = normal(random, batch, length, count, depth)
    if flip(random):
        ids = np.int64([random.integers(0, most - length + 1)])
        at = np.broadcast_to(ids[0] + np.arange(length), (batch, length))
    else:
        at = ids = random.integers(0, most, (batch, length))
    y = rotated(x, cos[at], sin[at], is_interleaved)
    shown = (lambda x: np.ascontiguousarray(x.transpose(0, 2, 1, 3))) if has_heads else (lambda x: x.reshape(batch, length, -1))
    names = {0: ["b", None, "s", None] if has_heads else ["b", "s", None], 1: [None] if ids.ndim == 1 else ["b", "s"], 2: ["m", None], 3: ["m", None]}
    return Case([shown(x), ids, cos, sin], [shown(y)], attributes, names=names, has_halves=True)


@case("GroupQueryAttention")
def group_query_attention(random):
    """A prompt, one more token of each sequence, or several of one; the cache is as long as what it has, or longer."""
    groups = int(random.integers(1, 4))
    count, depth = groups * int(random.integers(1, 4)), 16 * int(random.integers(1, 3))
    form = str(random.choice(["prompt", "prompt", "token", "token", "token", "more"]))
    batch = 1 if form == "more" else int(random.integers(1, 4))
    length = 1 if form == "token" else int(random.integers(2, 9))
    totals = np.full(batch, length) if form == "prompt" else length + random.integers(1, 9, batch)
    if form == "prompt":
        totals = random.integers(1, length + 1, batch) if flip(random) else totals
        totals[0] = length  # the longest says how long all are
    total = int(totals.max())
    before = np.maximum(0, totals - length)
    is_causal = not (form == "prompt" and random.random() < 0.15)
    attributes = {"num_heads": count, "kv_num_heads": groups}
    scale = depth ** -0.5
    if flip(random):
        scale = attributes["scale"] = float(F(random.random() + 0.1))
    window = int(random.integers(1, 6)) if is_causal and random.random() < 0.3 else -1
    if window > 0:
        attributes["local_window_size"] = window
    softcap = float(F(random.random() * 3 + 1)) if random.random() < 0.3 else 0
    if softcap:
        attributes["softcap"] = softcap
    if not is_causal:
        attributes["causal"] = 0
    q, k, v = (normal(random, batch, length, n * depth) for n in (count, groups, groups))
    # With a cache: as long as it must be, or with room.
    room = int(random.choice([0, 0, 1, 5]))
    size = (total + room if room else int(before.max())) if form != "prompt" or flip(random) else None
    past = [normal(random, batch, groups, size, depth) for _ in range(2)] if size is not None else [None, None]
    hq, hk, hv = (x.reshape(batch, length, -1, depth) for x in (q, k, v))
    inputs = [q, k, v] if flip(random) else [np.concatenate([q, k, v], -1), None, None]
    at = before[:, None] + np.arange(length)
    cos = sin = ids = None
    if flip(random):
        half = int(random.choice([8, depth // 2]))
        cos, sin = angles(random, total + 9, half)
        attributes |= {"do_rotary": 1, "rotary_interleaved": flip(random)}
        if random.random() < 0.3 and form != "prompt":
            ids = random.integers(0, total, (batch, length))
        place = at if ids is None else ids
        hq, hk = (rotated(x, cos[place], sin[place], attributes["rotary_interleaved"]) for x in (hq, hk))
    hq, hk, hv = (x.transpose(0, 2, 1, 3).astype(np.float64) for x in (hq, hk, hv))
    present_size = max(total, size or 0)
    present, valid = [], np.zeros((batch, groups, present_size, depth), bool)
    for old, fresh in zip(past, (hk, hv)):
        cache = np.zeros((batch, groups, present_size, depth))
        for b in range(batch):
            if old is not None:
                cache[b, :, :before[b]] = old[b, :, :before[b]]
            cache[b, :, before[b]:before[b] + length] = fresh[b]
            valid[b, :, :before[b] + length] = True
        present.append(cache)
    keys, values = (np.repeat(each[:, :, :total], count // groups, 1) for each in present)
    scores = scale * (hq @ keys.swapaxes(-1, -2))
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    bias = normal(random, batch if flip(random) else 1, count if flip(random) else 1, length, total) if random.random() < 0.3 else None
    if bias is not None:
        scores = scores + bias
    columns = np.arange(total)
    hidden = columns > at[:, :, None] if is_causal else np.broadcast_to(columns >= totals[:, None, None], (batch, length, total))
    if window > 0:
        hidden = hidden | (columns <= at[:, :, None] - window)
    scores = np.where(hidden[:, None], -np.inf, scores)
    sink = None
    if random.random() < 0.3:
        if flip(random):
            attributes["smooth_softmax"] = 1
            extra = np.zeros(count)
        else:
            sink = normal(random, count)
            extra = sink
        probabilities = softmax(np.concatenate([scores, np.broadcast_to(extra[:, None, None], (*scores.shape[:3], 1))], -1))[..., :-1]
    else:
        probabilities = softmax(scores)
    out = joined(probabilities @ values).astype(F)
    said = np.broadcast_to((np.arange(length) < totals[:, None])[:, :, None], out.shape) if form == "prompt" else None
    more = [np.int32(totals - 1), np.asarray(np.int32(total)) if flip(random) else np.int32([total]), cos, sin, ids, bias, sink]
    names = {0: ["b", "s", None], 1: ["b", "s", None], 2: ["b", "s", None], 3: ["b", None, "p", None], 4: ["b", None, "p", None], 5: ["b"], 6: [None],
             7: ["m", None], 8: ["m", None], 9: ["b", "s"], 10: [None] * 4, 11: [None]}
    if more[1].ndim == 0:
        names[6] = []
    where = {1: valid, 2: valid}
    if said is not None:
        where[0] = said
    return Case([*inputs, *past, *more], has_halves=True, want=[out, *(each.astype(F) for each in present)], attributes=attributes, names=names, where=where, atol=1e-4, rtol=1e-4)


@case("MRotaryEmbedding")
def m_rotary_embedding(random):
    batch, length, count = int(random.integers(1, 4)), int(random.integers(1, 8)), int(random.integers(1, 4))
    sections = [int(random.integers(1, 4)) for _ in range(3)]
    in_turn, is_interleaved, has_heads = flip(random), flip(random), flip(random)
    if in_turn:
        sections[0] = max(sections)
    half, most = sum(sections), int(random.integers(10, 20))
    cos, sin = angles(random, most, half)
    ids = random.integers(0, most, (3, batch, length))
    stream = np.repeat(np.arange(3), sections)
    if in_turn:
        stream = np.zeros(half, int)
        for which in (1, 2):
            stream[which:3 * sections[which]:3] = which
    at = ids.transpose(1, 2, 0)[:, :, stream]  # of each pair
    pairs = np.arange(half)
    x = normal(random, batch, length, count, 2 * half)
    y = rotated(x, cos[at, pairs], sin[at, pairs], is_interleaved)
    shown = (lambda x: np.ascontiguousarray(x.transpose(0, 2, 1, 3))) if has_heads else (lambda x: x.reshape(batch, length, -1))
    names = {0: ["b", None, "s", None] if has_heads else ["b", "s", None], 1: [None, "b", "s"], 2: ["m", None], 3: ["m", None]}
    return Case([shown(x), ids, cos, sin], [shown(y)], {"mrope_section": sections, "mrope_layout": in_turn, "interleaved": is_interleaved,
                                                        "num_heads": count}, names=names)


# --- ONNX's own, since opset 23 ------------------------------------------------------------------------


def seen(random, batch, count, rows, columns):
    """An attn_mask, what it adds to scores, the names that its extents may have, and whether ONNX Runtime takes it."""
    rank = int(random.integers(2, 5))
    row_count = 1 if random.random() < 0.15 else rows
    column_count = int(random.integers(0, columns + 1)) if random.random() < 0.15 else columns
    shape = [int(random.choice([1, batch])), int(random.choice([1, count])), row_count, column_count][4 - rank:]
    visible = random.random(shape) < (0.5 if flip(random) else 0.9)
    kind = str(random.choice(["bool", "float", "float of -inf"]))
    added = {"bool": np.zeros(shape, F), "float": normal(random, *shape), "float of -inf": np.where(visible, normal(random, *shape), -np.inf).astype(F)}[kind]
    mask = visible if kind == "bool" else added
    added = np.where(visible, added, -np.inf) if kind == "bool" else added
    added = np.concatenate([added, np.full([*shape[:-1], columns - column_count], -np.inf)], -1)
    own = [None] * (rank - 2) + ["s" if row_count == rows and rows > 1 else None, "t"]
    names = own if flip(random) else [f"m{axis}" for axis in range(rank)]
    return mask, added, names, row_count == rows and column_count == columns


@case("Attention")
def own_attention(random):
    batch, groups, depth, width, rows, fresh = (int(random.integers(1, high)) for high in (4, 4, 9, 9, 9, 9))
    count = groups * int(random.choice([1, 1, 2, 3]))
    has_heads, is_causal, has_peer, opset = flip(random), flip(random), True, int(random.choice([23, 24]))
    if flip(random):
        fresh = rows
    attributes = {} if has_heads and flip(random) else {"q_num_heads": count, "kv_num_heads": groups}
    if is_causal or flip(random):
        attributes["is_causal"] = is_causal
    scale = depth ** -0.5
    if flip(random):
        scale = attributes["scale"] = float(F(random.random() + 0.1))
    softcap = float(F(random.random() * 2 + 0.2)) if random.random() < 0.3 else 0.0
    if softcap or flip(random):
        attributes["softcap"] = softcap
    if random.random() < 0.2:
        attributes["softmax_precision"] = int(random.choice([1, 11]))
    q, k, v = normal(random, batch, count, rows, depth), normal(random, batch, groups, fresh, depth), normal(random, batch, groups, fresh, width)
    form = str(random.choice(["plain", "past", "lengths"]))
    past, before, lengths = [None, None], np.zeros(batch, int), None
    keys, values = k, v
    if form == "past":
        past = [normal(random, batch, groups, size, each) for size in [int(random.choice([0, 1, 2, 7]))] for each in (depth, width)]
        keys, values = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
        before += past[0].shape[2]
    columns = keys.shape[2]
    if form == "lengths":
        opset, lengths = 24, random.integers(0, fresh + 1, batch)
        before = lengths - rows
    mask, added, mask_names = None, np.zeros((1, 1)), [None]
    if flip(random):
        mask, added, mask_names, has_peer = seen(random, batch, count, rows, columns)
    # Each score by itself.
    wide = [np.repeat(each.astype(np.float64), count // groups, 1) for each in (keys, values)]
    raw = scale * np.einsum("bnsh,bnth->bnst", q.astype(np.float64), wide[0])
    capped = softcap * np.tanh(raw / softcap) if softcap else raw
    scores = capped + added
    for b in range(batch):
        for t in range(columns):
            for s in range(rows):
                if (is_causal and t > before[b] + s) or (lengths is not None and t >= lengths[b]):
                    scores[b, :, s, t] = -np.inf
    most = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(most), 0, most))
    probabilities = powers / np.maximum(powers.sum(-1, keepdims=True), np.finfo(np.float64).tiny)
    y = np.einsum("bnst,bnth->bnsh", probabilities, wide[1])
    mode = int(random.integers(4)) if flip(random) else None
    if mode or (mode == 0 and flip(random)):
        attributes["qk_matmul_output_mode"] = mode
    shown = None if mode is None else [raw, capped, scores, probabilities][mode].astype(F)
    where = {}
    if mode == 2:  # ONNX Runtime hides by the least number that is finite
        has_peer = has_peer and flip(random)
        where = {3: np.isfinite(shown)} if has_peer else {}
    wants_present = form == "past" or flip(random)
    if is_causal and rows == 1 and fresh > 1 and form == "past" and before[0]:  # of which ONNX Runtime's one row sees all
        has_peer = False
    flat = (lambda x: x) if has_heads else joined
    names = {i: ["b", None, length, None] if has_heads else ["b", length, None] for i, length in enumerate("sll")}
    if has_heads and flip(random):
        names |= {i: ["b", heads_, length, None] for i, heads_, length in ((0, "n", "s"), (1, "g", "l"), (2, "g", "l"))}
    names |= {3: mask_names, 4: ["b", None, "p", None], 5: ["b", None, "p", None], 6: ["b"]}
    inputs = [*(np.ascontiguousarray(flat(x)) for x in (q, k, v)), mask, *past, lengths]
    want = [np.ascontiguousarray(flat(y)).astype(F), *((keys, values) if wants_present else (None, None)), shown]
    if random.random() < 0.1:
        has_peer = False  # ONNX Runtime has no kernel of it, and an older body of the function
        inputs, want = ([x.astype(np.float64) if x is not None and x.dtype == F else x for x in some] for some in (inputs, want))
    return Case(inputs, want, attributes, names=names, where=where, has_peer=has_peer, has_halves=True, domain="", opset=opset, atol=1e-4, rtol=1e-4)


@case("RotaryEmbedding")
def own_rotary_embedding(random):
    batch, length, count, half, most = (int(random.integers(1, high)) for high in (4, 8, 4, 6, 20))
    is_interleaved, has_heads, has_ids = flip(random), flip(random), flip(random)
    depth = 2 * half
    attributes = {} if has_heads and flip(random) else {"num_heads": count}
    if is_interleaved or flip(random):
        attributes["interleaved"] = is_interleaved
    if flip(random):
        depth += int(random.integers(0, 7))
        attributes["rotary_embedding_dim"] = 2 * half
    most = max(most, length)  # ONNX Runtime needs as many rows
    ids = random.integers(0, most, (batch, length)) if has_ids else None
    theta = random.random((most, half) if has_ids else (batch, length, half)) * 6
    angle = theta[ids] if has_ids else theta
    x = normal(random, batch, length, count, depth)
    pairs = x[..., :2 * half].reshape(batch, length, count, half, 2) if is_interleaved else x[..., :2 * half].reshape(batch, length, count, 2, half).swapaxes(-1, -2)
    turned = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angle)[:, :, None]
    turned = np.stack([turned.real, turned.imag], -1 if is_interleaved else -2).reshape(batch, length, count, 2 * half)
    y = np.concatenate([turned, x[..., 2 * half:]], -1).astype(F)
    shown = (lambda x: np.ascontiguousarray(x.transpose(0, 2, 1, 3))) if has_heads else (lambda x: x.reshape(batch, length, -1))
    table = ["m", None] if has_ids else ["b", "s", None]
    names = {0: ["b", "n" if "num_heads" not in attributes else None, "s", None] if has_heads else ["b", "s", None], 1: table, 2: table, 3: ["b", "s"]}
    return Case([shown(x), np.cos(theta).astype(F), np.sin(theta).astype(F), ids], [shown(y)], attributes, names=names, has_halves=True, domain="",
                opset=int(random.choice([23, 24])))


# --- Layers with states -------------------------------------------------------------------------------


@case("LinearAttention")
def linear_attention(random):
    batch, time, depth, width = (int(random.integers(1, high)) for high in (4, 7, 7, 7))
    heads_, many = int(random.integers(1, 3)), int(random.integers(1, 3))
    queries, count = (heads_ * many, heads_) if flip(random) else (heads_, heads_ * many)
    keys = heads_ if flip(random) else count
    rule = str(random.choice(["linear", "gated", "delta", "gated_delta"]))
    q, k, v = normal(random, batch, time, queries, depth), normal(random, batch, time, keys, depth), normal(random, batch, time, count, width)
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    past = optional(random, normal(random, batch, count, depth, width))
    decay = -random.random((batch, time, count, depth if flip(random) else 1)).astype(F) if "gated" in rule else None
    beta = random.random((batch, time, count if flip(random) else 1)).astype(F) if "delta" in rule else None
    scale = float(F(random.random() + 0.1)) if flip(random) else depth ** -0.5
    attributes = {"q_num_heads": queries, "kv_num_heads": count, **({"scale": scale} if scale != depth ** -0.5 else {})}
    if rule != "gated_delta" or flip(random):
        attributes["update_rule"] = rule
    state = np.zeros((batch, count, depth, width)) if past is None else past.astype(np.float64)
    shown = max(queries, count)
    out = np.zeros((batch, time, shown, width))
    for t in range(time):
        key, fresh = np.repeat(k[:, t], count // keys, 1), v[:, t]
        if decay is not None:
            state = state * np.exp(decay[:, t])[..., None]
        if beta is not None:
            fresh = beta[:, t][..., None] * (fresh - np.einsum("bhkv,bhk->bhv", state, key))
        state = state + np.einsum("bhk,bhv->bhkv", key, fresh)
        out[:, t] = scale * np.einsum("bhk,bhkv->bhv", np.repeat(q[:, t], shown // queries, 1), np.repeat(state, shown // count, 1))
    flat = lambda x: None if x is None else x.reshape(batch, time, -1)  # noqa: E731
    names = {i: ["b", "t", None] for i in (0, 1, 2, 4, 5)} | {3: ["b", None, None, None]}
    return Case([flat(q), flat(k), flat(v), past, flat(decay), flat(beta)], [flat(out).astype(F), state.astype(F)], attributes, names=names,
                atol=1e-4, rtol=1e-4)


@case("LinearAttentionGate")
def linear_attention_gate(random):
    shape = [int(random.integers(1, 5)) for _ in range(3)]
    a, bias, scale, b = normal(random, *shape), normal(random, shape[2]), normal(random, shape[2]), optional(random, normal(random, *shape))
    x = a + bias.astype(np.float64)
    return Case([a, bias, scale, b], [(scale * (np.log1p(np.exp(-abs(x))) + np.maximum(x, 0))).astype(F), None if b is None else 1 / (1 + np.exp(-b))])


@case("CausalConvWithState")
def causal_conv_with_state(random):
    batch, channels, length, kernel, dilation = (int(random.integers(1, high)) for high in (4, 6, 8, 5, 3))
    x, w = normal(random, batch, channels, length), normal(random, channels, 1, kernel)
    before = (kernel - 1) * dilation
    bias, past = optional(random, normal(random, channels)), optional(random, normal(random, batch, channels, before))
    name = str(random.choice(["", "none", "silu", "swish"]))
    attributes = {**({"activation": name} if name else {}), **({"dilation": dilation} if dilation > 1 else {})}
    whole = np.concatenate([np.zeros((batch, channels, before), F) if past is None else past, x], 2)
    y = sum(whole[:, :, j * dilation:j * dilation + length] * w[:, :, j] for j in range(kernel)) + (0 if bias is None else bias[:, None])
    if name in ("silu", "swish"):
        y = y / (1 + np.exp(-y))
    present = whole[:, :, whole.shape[2] - before:]
    names = {0: ["b", None, "t"], 1: [None] * 3, 2: [None], 3: ["b", None, None]}
    if flip(random):
        attributes["channels_last"] = 1
        names |= {0: ["b", "t", None], 3: ["b", None, None]}
        x, past, y, present = (None if each is None else np.ascontiguousarray(each.transpose(0, 2, 1)) for each in (x, past, y, present))
    return Case([x, w, bias, past], [y.astype(F), present], attributes, names=names)
