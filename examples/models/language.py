"""Transformers and recurrent networks, as exporters write them: shapes are computed by nodes, masks are added."""

import numpy as np


def linear(g, name, x, width, features, bias=True):
    x = g.op("MatMul", x, g.weight(f"{name}.weight", width, features))
    return g.op("Add", g.weight(f"{name}.bias", features, scale=0.02), x) if bias else x


def layer_norm(g, name, x, width, epsilon=1e-5):
    """In the operators that opset 13 has."""
    centred = g.op("Sub", x, g.op("ReduceMean", x, axes=[-1], keepdims=1))
    variance = g.op("ReduceMean", g.op("Pow", centred, 2.0), axes=[-1], keepdims=1)
    x = g.op("Div", centred, g.op("Sqrt", g.op("Add", variance, epsilon)))
    return g.op("Add", g.op("Mul", x, g.weight(f"{name}.weight", width, scale=0.1, mean=1.0)),
                g.weight(f"{name}.bias", width, scale=0.1))


def gelu(g, x):
    y = g.op("Add", g.op("Erf", g.op("Div", x, 2 ** 0.5)), 1.0)
    return g.op("Mul", g.op("Mul", x, y), 0.5)


def gelu_of_tanh(g, x):
    y = g.op("Add", x, g.op("Mul", g.op("Pow", x, 3.0), 0.044715))
    y = g.op("Add", g.op("Tanh", g.op("Mul", y, (2 / np.pi) ** 0.5)), 1.0)
    return g.op("Mul", g.op("Mul", x, 0.5), y)


def extent(g, x, axis):
    return g.op("Gather", g.op("Shape", x), axis, axis=0)


def shape(g, *extents):
    """One after the other: numbers, and scalars that nodes compute."""
    return g.op("Concat", *(g.op("Unsqueeze", each, [0]) if isinstance(each, str) else g.constant(np.array([each]))
                            for each in extents), axis=0)


def heads(g, x, batch, length, count, size):
    x = g.op("Reshape", x, shape(g, batch, length, count, size))
    return g.op("Transpose", x, perm=[0, 2, 1, 3])


def joined(g, x, batch, length, width):
    return g.op("Reshape", g.op("Transpose", x, perm=[0, 2, 1, 3]), shape(g, batch, length, width))


def bert(g, vocabulary=30522, width=768, layers=12, count=12, positions=512):
    """An encoder with masks for what is padding; batch and length are open."""
    ids, mask, types = (g.input(name, ["batch", "length"], "int64")
                        for name in ("input_ids", "attention_mask", "token_type_ids"))
    batch, length = extent(g, ids, 0), extent(g, ids, 1)
    size = width // count
    place = g.op("Slice", g.constant(np.arange(positions)[None]), [0], g.op("Unsqueeze", length, [0]), [1], [1])
    x = g.op("Gather", g.weight("embeddings.word", vocabulary, width, scale=0.5), ids)
    x = g.op("Add", x, g.op("Gather", g.weight("embeddings.type", 2, width, scale=0.5), types))
    x = g.op("Add", x, g.op("Gather", g.weight("embeddings.position", positions, width, scale=0.5), place))
    x = layer_norm(g, "embeddings.norm", x, width, 1e-12)
    hidden = g.op("Sub", 1.0, g.op("Cast", g.op("Unsqueeze", g.op("Unsqueeze", mask, [1]), [2]), to=1))
    hidden = g.op("Mul", hidden, float(np.finfo(np.float32).min))
    for layer in range(layers):
        name = f"encoder.{layer}"
        q, k, v = (heads(g, linear(g, f"{name}.{each}", x, width, width), batch, length, count, size)
                   for each in ("query", "key", "value"))
        scores = g.op("Div", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), size ** 0.5)
        mixed = g.op("MatMul", g.op("Softmax", g.op("Add", scores, hidden), axis=-1), v)
        y = linear(g, f"{name}.output", joined(g, mixed, batch, length, width), width, width)
        x = layer_norm(g, f"{name}.norm0", g.op("Add", y, x), width, 1e-12)
        y = gelu(g, linear(g, f"{name}.up", x, width, 4 * width))
        x = layer_norm(g, f"{name}.norm1", g.op("Add", linear(g, f"{name}.down", y, 4 * width, width), x), width, 1e-12)
    g.output("last_hidden_state", x, ["batch", "length", width])
    first = g.op("Gather", x, 0, axis=1)
    pooled = g.op("Gemm", first, g.weight("pooler.weight", width, width), g.weight("pooler.bias", width, scale=0.02),
                  alpha=1.0, beta=1.0, transB=1)
    g.output("pooler_output", g.op("Tanh", pooled), ["batch", width])


def vit(g, size=224, patch=16, width=768, layers=12, count=12, classes=1000):
    """Patches of an image as words; one product gives queries, keys and values; LayerNormalization is a node."""
    x = g.input("image", ["batch", 3, size, size])
    batch, patches, each = extent(g, x, 0), (size // patch) ** 2, width // count

    def norm(name, x):
        return g.op("LayerNormalization", x, g.weight(f"{name}.weight", width, scale=0.1, mean=1.0),
                    g.weight(f"{name}.bias", width, scale=0.1), axis=-1, epsilon=1e-6)

    x = g.op("Conv", x, g.weight("patches.weight", width, 3, patch, patch, scale=(1 / (3 * patch * patch)) ** 0.5),
             g.weight("patches.bias", width, scale=0.1), dilations=[1, 1], group=1, kernel_shape=[patch] * 2,
             pads=[0] * 4, strides=[patch] * 2)
    x = g.op("Transpose", g.op("Reshape", x, shape(g, batch, width, patches)), perm=[0, 2, 1])
    begin = g.op("Expand", g.weight("class", 1, 1, width, scale=0.5), shape(g, batch, 1, width))
    x = g.op("Add", g.op("Concat", begin, x, axis=1), g.weight("positions", 1, patches + 1, width, scale=0.5))
    for layer in range(layers):
        name = f"blocks.{layer}"
        y = linear(g, f"{name}.qkv", norm(f"{name}.norm0", x), width, 3 * width)
        y = g.op("Transpose", g.op("Reshape", y, shape(g, batch, patches + 1, 3, count, each)), perm=[2, 0, 3, 1, 4])
        q, k, v = (g.op("Squeeze", part, [0]) for part in g.op("Split", y, [1, 1, 1], outputs=3, axis=0))
        scores = g.op("MatMul", g.op("Mul", q, each ** -0.5), g.op("Transpose", k, perm=[0, 1, 3, 2]))
        y = joined(g, g.op("MatMul", g.op("Softmax", scores, axis=-1), v), batch, patches + 1, width)
        x = g.op("Add", x, linear(g, f"{name}.projection", y, width, width))
        y = gelu(g, linear(g, f"{name}.up", norm(f"{name}.norm1", x), width, 4 * width))
        x = g.op("Add", x, linear(g, f"{name}.down", y, 4 * width, width))
    x = g.op("Gather", norm("norm", x), 0, axis=1)
    x = g.op("Gemm", x, g.weight("head.weight", classes, width), g.weight("head.bias", classes, scale=0.1), alpha=1.0,
             beta=1.0, transB=1)
    g.output("logits", x, ["batch", classes])


def cache(g, layers, count, size):
    for layer in range(layers):
        for part in ("key", "value"):
            g.input(f"past.{layer}.{part}", ["batch", count, "past", size])


def extended(g, layer, part, value, count, size):
    """What is kept of the tokens before, with that of the new ones."""
    value = g.op("Concat", f"past.{layer}.{part}", value, axis=2)
    g.output(f"present.{layer}.{part}", value, ["batch", count, "total", size])
    return value


def gpt2(g, vocabulary=50257, width=768, layers=12, count=12, positions=1024):
    """A decoder with what it keeps of tokens before: prompts and single tokens by one graph."""
    ids, size = g.input("input_ids", ["batch", "length"], "int64"), width // count
    cache(g, layers, count, size)
    batch, length = extent(g, ids, 0), extent(g, ids, 1)
    past = extent(g, "past.0.key", 2)
    total = g.op("Add", past, length)
    place = g.op("Unsqueeze", g.op("Range", past, total, 1), [0])
    words = g.weight("wte.weight", vocabulary, width, scale=0.1)
    x = g.op("Add", g.op("Gather", words, ids),
             g.op("Gather", g.weight("wpe.weight", positions, width, scale=0.1), place))
    # A triangle of all positions, of which each call reads a part.
    triangle = g.constant(np.tri(positions, dtype=np.bool_)[None, None])
    past_, total_ = g.op("Unsqueeze", past, [0]), g.op("Unsqueeze", total, [0])
    allowed = g.op("Slice", g.op("Slice", triangle, past_, total_, [2], [1]), [0], total_, [3], [1])

    def dense(name, x, width, features):  # as one product of matrices
        flat = g.op("Reshape", x, [-1, width])
        flat = g.op("Gemm", flat, g.weight(f"{name}.weight", width, features),
                    g.weight(f"{name}.bias", features, scale=0.02), alpha=1.0, beta=1.0)
        return g.op("Reshape", flat, shape(g, batch, length, features))

    for layer in range(layers):
        name = f"h.{layer}"
        y = dense(f"{name}.attn.c_attn", layer_norm(g, f"{name}.ln_1", x, width), width, 3 * width)
        q, k, v = (heads(g, each, batch, length, count, size)
                   for each in g.op("Split", y, [width] * 3, outputs=3, axis=2))
        k, v = extended(g, layer, "key", k, count, size), extended(g, layer, "value", v, count, size)
        scores = g.op("Div", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), size ** 0.5)
        scores = g.op("Where", allowed, scores, float(np.finfo(np.float32).min))
        y = joined(g, g.op("MatMul", g.op("Softmax", scores, axis=-1), v), batch, length, width)
        x = g.op("Add", dense(f"{name}.attn.c_proj", y, width, width), x)
        y = gelu_of_tanh(g, dense(f"{name}.mlp.c_fc", layer_norm(g, f"{name}.ln_2", x, width), width, 4 * width))
        x = g.op("Add", x, dense(f"{name}.mlp.c_proj", y, 4 * width, width))
    x = layer_norm(g, "ln_f", x, width)
    g.output("logits", g.op("MatMul", x, g.op("Transpose", words, perm=[1, 0])), ["batch", "length", vocabulary])


def llama(g, vocabulary=32000, width=768, inner=2048, layers=12, count=12, groups=4, positions=2048):
    """A decoder with root mean squares, rotated positions, gated layers, and several queries for each key."""
    ids, size = g.input("input_ids", ["batch", "length"], "int64"), width // count
    cache(g, layers, groups, size)
    batch, length = extent(g, ids, 0), extent(g, ids, 1)
    past = extent(g, "past.0.key", 2)
    total = g.op("Add", past, length)
    place = g.op("Range", past, total, 1)
    angles = np.arange(positions)[:, None] * 10000.0 ** (-np.arange(0, size, 2) / size)
    angles = np.concatenate([angles, angles], 1).astype(np.float32)
    cosine, sine = (g.op("Gather", g.constant(table), place) for table in (np.cos(angles), np.sin(angles)))
    # Of new tokens by all: which key is not later.
    later = g.op("Less", g.op("Unsqueeze", place, [1]), g.op("Unsqueeze", g.op("Range", 0, total, 1), [0]))
    mask = g.op("Where", later, float(np.finfo(np.float32).min), 0.0)

    def norm(name, x):
        mean = g.op("ReduceMean", g.op("Pow", x, 2.0), axes=[-1], keepdims=1)
        x = g.op("Mul", x, g.op("Reciprocal", g.op("Sqrt", g.op("Add", mean, 1e-6))))
        return g.op("Mul", g.weight(f"{name}.weight", width, scale=0.1, mean=1.0), x)

    def rotated(x):
        first = g.op("Slice", x, [0], [size // 2], [3], [1])
        second = g.op("Slice", x, [size // 2], [np.iinfo(np.int64).max], [3], [1])
        turned = g.op("Concat", g.op("Neg", second), first, axis=-1)
        return g.op("Add", g.op("Mul", x, cosine), g.op("Mul", turned, sine))

    def repeated(x):
        """Each of the few heads for the queries that share it."""
        x = g.op("Expand", g.op("Unsqueeze", x, [2]), shape(g, batch, groups, count // groups, total, size))
        return g.op("Reshape", x, shape(g, batch, count, total, size))

    x = g.op("Gather", g.weight("model.embed_tokens.weight", vocabulary, width, scale=0.1), ids)
    for layer in range(layers):
        name = f"model.layers.{layer}"
        y = norm(f"{name}.input_layernorm", x)
        q = rotated(heads(g, linear(g, f"{name}.q_proj", y, width, width, False), batch, length, count, size))
        k = rotated(heads(g, linear(g, f"{name}.k_proj", y, width, groups * size, False), batch, length, groups, size))
        v = heads(g, linear(g, f"{name}.v_proj", y, width, groups * size, False), batch, length, groups, size)
        k, v = extended(g, layer, "key", k, groups, size), extended(g, layer, "value", v, groups, size)
        scores = g.op("Mul", g.op("MatMul", q, g.op("Transpose", repeated(k), perm=[0, 1, 3, 2])), size ** -0.5)
        y = g.op("MatMul", g.op("Softmax", g.op("Add", scores, mask), axis=-1), repeated(v))
        x = g.op("Add", x, linear(g, f"{name}.o_proj", joined(g, y, batch, length, width), width, width, False))
        y = norm(f"{name}.post_attention_layernorm", x)
        gate = linear(g, f"{name}.gate_proj", y, width, inner, False)
        y = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), linear(g, f"{name}.up_proj", y, width, inner, False))
        x = g.op("Add", x, linear(g, f"{name}.down_proj", y, inner, width, False))
    g.output("logits", linear(g, "lm_head", norm("model.norm", x), width, vocabulary, False),
             ["batch", "length", vocabulary])


def lstm(g, vocabulary=10000, width=256, layers=2, classes=5):
    """Two directions over words; what is left at either end decides."""
    ids = g.input("input_ids", ["batch", "length"], "int64")
    x = g.op("Transpose", g.op("Gather", g.weight("embedding.weight", vocabulary, width, scale=0.5), ids),
             perm=[1, 0, 2])
    batch, wide = extent(g, ids, 0), width
    for layer in range(layers):
        zero = g.op("Expand", 0.0, shape(g, 2, batch, width))
        y, last, _ = g.op("LSTM", x, g.weight(f"lstm.w{layer}", 2, 4 * width, wide, scale=wide ** -0.5),
                          g.weight(f"lstm.r{layer}", 2, 4 * width, width, scale=width ** -0.5),
                          g.weight(f"lstm.b{layer}", 2, 8 * width, scale=0.1), "", zero, zero, outputs=3,
                          direction="bidirectional", hidden_size=width)
        x = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), [0, 0, -1])
        wide = 2 * width
    last = g.op("Reshape", g.op("Transpose", last, perm=[1, 0, 2]), shape(g, batch, 2 * width))
    g.output("logits", g.op("Gemm", last, g.weight("fc.weight", classes, 2 * width),
                            g.weight("fc.bias", classes, scale=0.1), transB=1), ["batch", classes])


def dlrm(g, rows=(100000, 50000, 20000, 10000, 5000, 1000, 300, 50), width=64, dense=13, bag=4):
    """Tables of categories, bags of rows from each, and how they go with each other."""
    x = g.input("dense", ["batch", dense])
    batch = extent(g, x, 0)

    def layers(name, x, *widths, last):
        for i, (a, b) in enumerate(zip(widths, widths[1:])):
            x = g.op("Gemm", x, g.weight(f"{name}.{i}.weight", b, a), g.weight(f"{name}.{i}.bias", b, scale=0.1),
                     alpha=1.0, beta=1.0, transB=1)
            x = g.op("Sigmoid" if last and i == len(widths) - 2 else "Relu", x)
        return x

    x = layers("bottom", x, dense, 512, 256, width, last=False)
    features = [x]
    for i, count in enumerate(rows):
        ids = g.input(f"categories.{i}", ["batch", bag], "int64")
        found = g.op("Gather", g.weight(f"tables.{i}", count, width, scale=0.5), ids, axis=0)
        features.append(g.op("ReduceSum", found, [1], keepdims=0))
    together = g.op("Reshape", g.op("Concat", *features, axis=1), shape(g, batch, len(features), width))
    pairs = g.op("MatMul", together, g.op("Transpose", together, perm=[0, 2, 1]))
    above = np.array([i * len(features) + j for i in range(len(features)) for j in range(i)])
    pairs = g.op("Gather", g.op("Reshape", pairs, shape(g, batch, len(features) ** 2)), above, axis=1)
    x = g.op("Concat", x, pairs, axis=1)
    g.output("probability", layers("top", x, width + len(above), 512, 256, 1, last=True), ["batch", 1])
