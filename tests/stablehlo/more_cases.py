"""Cases of what has regions, functions, open extents, and of what is rare. As those of cases.py."""

import math

import numpy as np

from cases import pad, random_array
from writer import Val, array, kind_of, type_of


def more(rng):
    yield from control(rng)
    yield from scans(rng)
    yield from windows(rng)
    yield from normalisations(rng)
    yield from algebra(rng)
    yield from order(rng)
    yield from functions(rng)
    yield from broadcasting(rng)
    yield from old_forms(rng)
    yield from masked(rng)
    yield from brain_floats(rng)
    yield from short_constants(rng)
    yield from computed(rng)
    yield from random_bits(rng)


def control(rng):
    def counts(b, n, x):
        """x doubled n times, and a value that the loop hands on unchanged."""
        zero, one, two = (b.constant(np.int32(i)) for i in (0, 1, 2))
        factor = b.broadcast_in_dim(b.convert(two, "f32"), [], (3,))
        out = b.loop([zero, x, n, factor], lambda i, k, v, m, f: i.compare("LT", k, m, "SIGNED"),
                     lambda i, k, v, m, f: [i.elementwise("add", k, one), i.elementwise("multiply", v, f), m, f])
        return [out[1], out[0], out[3]]
    x = random_array(rng, (3,), np.float32)
    for n in (0, 1, 5):
        yield "while", [np.int32(n), x], counts, [x * np.float32(2**n), np.int32(n), np.full(3, 2, np.float32)], 0

    def nested(b, x):
        """The product of all elements, by two loops that read one at a time; a value of outside is used inside."""
        zero, one, rows, columns = (b.constant(np.int32(i)) for i in (0, 1, 2, 3))

        def row(o, i, total):
            def cell(c, j, so):
                element = c.reshape(c.dynamic_slice(x, [i, j], (1, 1)), ())
                return [c.elementwise("add", j, one), c.elementwise("multiply", so, element)]
            inner = o.loop([zero, total], lambda c, j, so: c.compare("LT", j, columns, "SIGNED"), cell)
            return [o.elementwise("add", i, one), inner[1]]
        start = b.constant(np.float32(1))
        return [b.loop([zero, start], lambda o, i, total: o.compare("LT", i, rows, "SIGNED"), row)[1]]
    x = random_array(rng, (2, 3), np.float32)
    yield "while_nested", [x], nested, [np.prod(x, dtype=np.float32)], 1e-5

    def collatz(b, n):
        """A loop whose end only its values tell, with a branch inside."""
        zero, one, two, three = (b.constant(np.int64(i)) for i in (0, 1, 2, 3))

        def turn(i, v, steps):
            odd = i.compare("EQ", i.elementwise("remainder", v, two), one, "SIGNED")
            then = i.region([], lambda r: [r.elementwise("add", r.elementwise("multiply", v, three), one)])
            otherwise = i.region([], lambda r: [r.elementwise("divide", v, two)])
            return [i.generic("stablehlo.if", [odd], [((), "i64")], "", [then, otherwise])[0], i.elementwise("add", steps, one)]
        return [b.loop([n, zero], lambda i, v, steps: i.compare("NE", v, one, "SIGNED"), turn)[1]]
    yield "while_if", [np.int64(27)], collatz, [np.int64(111)], 0

    x = random_array(rng, (2, 3), np.float32)
    for index, want in ((0, x + x), (1, x * x), (2, -x), (-1, -x), (9, -x)):
        def cases(b, i, v):
            branches = [b.region([], lambda r: [r.elementwise("add", v, v), i]), b.region([], lambda r: [r.elementwise("multiply", v, v), i]),
                        b.region([], lambda r: [r.elementwise("negate", v), r.constant(np.int32(-7))])]
            return b.generic("stablehlo.case", [i], [(v.shape, v.kind), ((), "i32")], "", branches)
        yield "case", [np.int32(index), x], cases, [want, np.int32(index if 0 <= index < 2 else -7)], 0
    for flag in (False, True):
        def branch(b, c, v):
            then = b.region([], lambda r: [r.elementwise("exponential", v)])
            return b.generic("stablehlo.if", [c], [(v.shape, v.kind)], "", [then, b.region([], lambda r: [v])])
        yield "if", [np.bool_(flag), x], branch, [np.exp(x) if flag else x], 1e-5

    def tuples(b, v, w):
        front, both = b.results([("?", "tuple")])
        kinds = f"tuple<tensor<2x3xf32>, tensor<2x3xf32>>"
        name = front.split(" ")[0]
        if b.pretty:
            b.line(f"{front}stablehlo.tuple {v.name}, {w.name} : {kinds}")
            second, out = b.results([(v.shape, v.kind)])
            b.line(f"{second}stablehlo.get_tuple_element {name}[1] : ({kinds}) -> tensor<2x3xf32>")
        else:
            b.line(f"{front}\"stablehlo.tuple\"({v.name}, {w.name}) : (tensor<2x3xf32>, tensor<2x3xf32>) -> {kinds}")
            second, out = b.results([(v.shape, v.kind)])
            b.line(f"{second}\"stablehlo.get_tuple_element\"({name}) <{{index = 1 : i32}}> : ({kinds}) -> tensor<2x3xf32>")
        front, kept = b.results([(v.shape, v.kind)])
        if b.pretty:
            b.line(f"{front}stablehlo.optimization_barrier {out[0].name} : tensor<2x3xf32>")
        else:
            b.line(f"{front}\"stablehlo.optimization_barrier\"({out[0].name}) : (tensor<2x3xf32>) -> tensor<2x3xf32>")
        return kept
    yield "tuple", [x, -x], tuples, [-x], 0


def scans(rng):
    """Sums so far, in both directions and along each dimension, and the greatest so far with its place."""
    x = random_array(rng, (3, 4, 2), np.float32)
    for axis in range(3):
        for reverse in (False, True):
            start = random_array(rng, tuple(n for i, n in enumerate(x.shape) if i != axis), np.float32)
            turned = np.flip(x, axis) if reverse else x
            sums = np.cumsum(turned, axis, dtype=np.float64) + np.expand_dims(start, axis)
            last = np.take(sums, -1, axis).astype(np.float32)
            sums = (np.flip(sums, axis) if reverse else sums).astype(np.float32)

            def make(b, v, s, axis=axis, reverse=reverse):
                def turn(i, p, q):
                    total = i.elementwise("add", p, q)
                    return [i.elementwise("multiply", total, total), total]
                return scanned(b, [v], [s], axis, reverse, [(v.shape, "f32"), (s.shape, "f32")], turn)
            yield "scan", [x, start], make, [sums * sums, last], 1e-4
    x = rng.integers(-50, 50, 9).astype(np.int32)

    def greatest(b, v, z, w):
        def turn(i, p, k, q, at):
            more = i.compare("GT", p, q, "SIGNED")
            where = i.select(more, k, at)
            return [i.elementwise("maximum", p, q), where, i.elementwise("maximum", p, q), where]
        kind = ((9,), "i32")
        return scanned(b, [v, b.iota((9,), "i32", 0)], [z, w], 0, False, [kind, kind, ((), "i32"), ((), "i32")], turn)
    best = np.maximum.accumulate(x)
    where = np.array([int(np.argmax(x[:i + 1])) for i in range(9)], np.int32)
    yield "scan", [x, np.int32(-99), np.int32(-1)], greatest, [best, where, best[-1], where[-1]], 0
    empty = np.zeros((0, 2), np.float32)
    yield ("scan", [empty, np.ones(2, np.float32)], lambda b, v, s: scanned(
        b, [v], [s], 0, False, [(v.shape, "f32"), (s.shape, "f32")], lambda i, p, q: [p, q]), [empty, np.ones(2, np.float32)], 0)


def scanned(b, inputs, initial, axis, reverse, types, make):
    arguments = [(tuple(n for i, n in enumerate(v.shape) if i != axis), v.kind) for v in inputs] + [(v.shape, v.kind) for v in initial]
    region = b.region(arguments, make)
    if not b.pretty:
        text = (f"dimension = {axis} : i64, is_reverse = {str(reverse).lower()}, operandSegmentSizes = array<i32: {len(inputs)}, {len(initial)}>, "
                f"resultSegmentSizes = array<i32: {len(types) - len(initial)}, {len(initial)}>")
        return b.generic("chlo.scan", [*inputs, *initial], types, text, [region])
    front, values = b.results(types)
    names = [", ".join(v.name for v in some) for some in (inputs, initial)]
    more = " attributes {is_reverse = true}" if reverse else ""
    source, out = (", ".join(type_of(v) for v in some) for some in ([*inputs, *initial], values))
    b.line(f"{front}chlo.scan({names[0]}) inits({names[1]}) dimension={axis}{more} {region} : ({source}) -> ({out})")
    return values


def windows(rng):
    """A pooling's gradient: select the greatest of each window, and scatter the source there."""
    for _ in range(6):
        x = rng.permutation(2 * 7 * 6).reshape(2, 7, 6).astype(np.float32)
        size, strides = [1, int(rng.integers(1, 4)), 2], [1, int(rng.integers(1, 4)), 2]
        padding = [[0, 0], [int(rng.integers(0, 2)), int(rng.integers(0, 2))], [0, 0]]
        counts = [(n + lo + hi - k) // s + 1 for n, (lo, hi), k, s in zip(x.shape, padding, size, strides)]
        source = random_array(rng, tuple(counts), np.float32)
        want = np.full(x.shape, 0.5, np.float32)
        for position in np.ndindex(*counts):
            inside = [tuple(p * s - lo + w for p, s, (lo, _), w in zip(position, strides, padding, at)) for at in np.ndindex(*size)]
            inside = [i for i in inside if all(0 <= a < n for a, n in zip(i, x.shape))]
            if inside:
                want[max(inside, key=lambda i: x[i])] += source[position]

        def make(b, v, s, z, size=size, strides=strides, padding=padding):
            select = b.region([((), "f32")] * 2, lambda i, p, q: [i.compare("GE", p, q, "FLOAT")])
            scatter = b.region([((), "f32")] * 2, lambda i, p, q: [i.elementwise("add", p, q)])
            return b.generic("stablehlo.select_and_scatter", [v, s, z], [(v.shape, v.kind)],
                             f"window_dimensions = {array(size)}, window_strides = {array(strides)}, "
                             f"padding = dense<{padding}> : tensor<3x2xi64>", [select, scatter])
        yield "select_and_scatter", [x, source, np.float32(0.5)], make, [want], 1e-6


def normalisations(rng):
    x = random_array(rng, (2, 3, 4), np.float32)
    scale, offset, mean = (random_array(rng, (3,), np.float32) for _ in range(3))
    variance = random_array(rng, (3,), np.float32, 0.5, 2)
    wide = lambda v: v.reshape(1, 3, 1)  # noqa: E731
    text = "epsilon = 1.000000e-03 : f32, feature_index = 1 : i64"
    want = wide(scale) * (x - wide(mean)) / np.sqrt(wide(variance) + 1e-3) + wide(offset)
    yield ("batch_norm_inference", [x, scale, offset, mean, variance],
           lambda b, *v: b.generic("stablehlo.batch_norm_inference", v, [(x.shape, "f32")], text), [want.astype(np.float32)], 1e-5)
    own_mean, own_variance = x.mean((0, 2)), x.var((0, 2))
    want = wide(scale) * (x - wide(own_mean)) / np.sqrt(wide(own_variance) + 1e-3) + wide(offset)
    yield ("batch_norm_training", [x, scale, offset],
           lambda b, *v: b.generic("stablehlo.batch_norm_training", v, [(x.shape, "f32"), ((3,), "f32"), ((3,), "f32")], text),
           [want.astype(np.float32), own_mean, own_variance], 1e-5)
    # The gradient of a sum with weights, by differences in double precision.
    weights = random_array(rng, x.shape, np.float64)

    def loss(x, scale, offset):
        m, v = x.mean((0, 2)), x.var((0, 2))
        return np.sum(weights * (wide(scale) * (x - wide(m)) / np.sqrt(wide(v) + 1e-3) + wide(offset)))

    def slope(of, at):
        out = np.zeros(at.shape)
        for i in np.ndindex(*at.shape):
            step = np.zeros(at.shape)
            step[i] = 1e-5
            out[i] = (of(at + step) - of(at - step)) / 2e-5
        return out
    x64, s64, o64 = (v.astype(np.float64) for v in (x, scale, offset))
    want = [slope(lambda v: loss(v, s64, o64), x64), slope(lambda v: loss(x64, v, o64), s64), slope(lambda v: loss(x64, s64, v), o64)]
    yield ("batch_norm_grad", [x64, s64, x64.mean((0, 2)), x64.var((0, 2)), weights],
           lambda b, *v: b.generic("stablehlo.batch_norm_grad", v, [(x.shape, "f64"), ((3,), "f64"), ((3,), "f64")], text), want, 1e-6)


def algebra(rng):
    for lower in (True, False):
        a = random_array(rng, (2, 4, 4), np.float64)
        a = a @ a.transpose(0, 2, 1) + 3 * np.eye(4)
        want = np.linalg.cholesky(a)
        want = want if lower else want.transpose(0, 2, 1)
        yield ("cholesky", [np.tril(a) if lower else np.triu(a)], lambda b, v, lower=lower: b.op(
            "stablehlo.cholesky", [v], [(v.shape, v.kind)], f"lower = {str(lower).lower()}", f", lower = {str(lower).lower()}", "one"), [want], 1e-9)
    for left in (True, False):
        for lower in (True, False):
            for unit in (True, False):
                for transpose in ("NO_TRANSPOSE", "TRANSPOSE"):
                    a = random_array(rng, (2, 3, 3), np.float64) + 5 * np.eye(3)
                    y = random_array(rng, (2, 3, 4) if left else (2, 4, 3), np.float64)
                    m = np.tril(a) if lower else np.triu(a)
                    if unit:
                        m = m * (1 - np.eye(3)) + np.eye(3)
                    m = m.transpose(0, 2, 1) if transpose == "TRANSPOSE" else m
                    want = np.linalg.solve(m, y) if left else np.linalg.solve(m.transpose(0, 2, 1), y.transpose(0, 2, 1)).transpose(0, 2, 1)
                    text = (f"left_side = {str(left).lower()}, lower = {str(lower).lower()}, unit_diagonal = {str(unit).lower()}, "
                            f"transpose_a = #stablehlo<transpose {transpose}>")
                    yield ("triangular_solve", [a, y], lambda b, v, w, t=text: b.generic(
                        "stablehlo.triangular_solve", [v, w], [(w.shape, w.kind)], t), [want], 1e-9)


def order(rng):
    for shape, k in (((7,), 3), ((3, 50), 5), ((2, 1), 1), ((1, 300), 300)):
        x = rng.permutation(math.prod(shape)).reshape(shape).astype(np.float32)
        where = np.argsort(-x, axis=-1, kind="stable")[..., :k]
        types = [((*shape[:-1], k), "f32"), ((*shape[:-1], k), "i32")]

        def make(b, v, k=k, types=types):
            if not b.pretty:
                return b.generic("chlo.top_k", [v], types, f"k = {k} : i64")
            front, values = b.results(types)
            out = ", ".join(f"tensor<{''.join(f'{n}x' for n in s)}{kind}>" for s, kind in types)
            kind = f"tensor<{''.join(f'{n}x' for n in v.shape)}f32>"
            b.line(f"{front}chlo.top_k({v.name}, k = {k}) : {kind} -> ({out})")
            return values
        yield "chlo_top_k", [x], make, [np.take_along_axis(x, where, -1), where.astype(np.int32)], 0

        def custom(b, v, k=k, types=types):
            out = ", ".join(f"tensor<{''.join(f'{n}x' for n in s)}{kind}>" for s, kind in types)
            front, values = b.results(types)
            kind = f"tensor<{''.join(f'{n}x' for n in v.shape)}f32>"
            b.line(f"{front}stablehlo.custom_call @mhlo.topk({v.name}) {{mhlo.attributes = {{k = {k} : i64, largest = true}}, "
                   f"mhlo.version = 1 : i64}} : ({kind}) -> ({out})")
            return values
        yield "custom_call_topk", [x], custom, [np.take_along_axis(x, where, -1), where.astype(np.int32)], 0
    # As jnp.sort: by the total order, in which the comparator knows -0 and NaN.
    x = np.array([3, np.nan, -0.0, np.inf, 0.0, -np.inf, -1, 2, np.nan, 1], np.float32)
    bits = x.view(np.int32)
    want = x[np.argsort(np.where(bits < 0, bits ^ 0x7FFFFFFF, bits), kind="stable")]

    def total(b, v):
        region = b.region([((), "f32")] * 2, lambda i, p, q: [i.compare("LT", p, q, "TOTALORDER")])
        return b.generic("stablehlo.sort", [v], [(v.shape, v.kind)], "dimension = 0 : i64, is_stable = false", [region])
    yield "sort_total", [x], total, [want], 0
    # As jnp.argsort: of one zero and one NaN, the other operand goes with it.
    places = np.arange(x.size, dtype=np.int32)
    want = np.argsort(x, kind="stable")

    def canonical(b, v, w):
        def one(i, p):
            zero = i.select(i.compare("EQ", p, i.constant(np.array(0, np.float32)), "FLOAT"), i.constant(np.array(0, np.float32)), p)
            return i.select(i.compare("NE", p, p, "FLOAT"), i.constant(np.array(np.nan, np.float32)), zero)
        region = b.region([((), "f32")] * 2 + [((), "i32")] * 2,
                          lambda i, p, q, r, s: [i.compare("LT", one(i, p), one(i, q), "TOTALORDER")])
        return b.generic("stablehlo.sort", [v, w], [(v.shape, v.kind), (w.shape, w.kind)], "dimension = 0 : i64, is_stable = true", [region])
    yield "sort_canonical", [x, places], canonical, [x[want], places[want]], 0
    x = random_array(rng, (3, 5), np.float32, 0.1, 5)
    gamma = np.vectorize(math.lgamma, otypes=[np.float64])
    slope = ((gamma(x.astype(np.float64) + 1e-5) - gamma(x.astype(np.float64) - 1e-5)) / 2e-5).astype(np.float32)
    unit = random_array(rng, (64,), np.float32, -0.999, 0.999)
    for name, given, want, tolerance in (
            ("digamma", x, slope, 1e-4), ("is_inf", np.array([1, np.inf, -np.inf, np.nan], np.float32), np.array([0, 1, 1, 0], bool), 0),
            ("is_pos_inf", np.array([1, np.inf, -np.inf, np.nan], np.float32), np.array([0, 1, 0, 0], bool), 0)):
        yield (f"chlo_{name}", [given], lambda b, v, n=name, w=want: b.generic(f"chlo.{n}", [v], [(v.shape, kind_of(w))]), [want], tolerance)
    erf = np.vectorize(math.erf, otypes=[np.float64])

    def there_and_back(b, v):
        inverse = b.generic("chlo.erf_inv", [v], [(v.shape, v.kind)])[0]
        return b.generic("chlo.erf", [inverse], [(v.shape, v.kind)])
    yield "chlo_erf_inv", [unit], there_and_back, [unit], 1e-5
    at = np.array([-1, -0.5, 0, 0.25, 1], np.float32)
    yield ("chlo_erf_inv", [erf(np.array([-1.5, 0, 0.3, 2.5])).astype(np.float32)], lambda b, v: b.generic(
        "chlo.erf_inv", [v], [(v.shape, v.kind)]), [np.array([-1.5, 0, 0.3, 2.5], np.float32)], 1e-3)
    yield ("chlo_erf_inv", [at[[0, 4]]], lambda b, v: b.generic("chlo.erf_inv", [v], [(v.shape, v.kind)]), [np.array([-np.inf, np.inf], np.float32)], 0)


def functions(rng):
    x = random_array(rng, (2, 3), np.float32)
    for target in ("Sharding", "annotate_device_placement", "xla.sdy.FuncResultSharding"):
        def make(b, v, target=target):
            types = [(v.shape, v.kind)]
            if not b.pretty:
                return b.generic("stablehlo.custom_call", [v], types, f"call_target_name = \"{target}\", backend_config = \"\", "
                                 "mhlo.sharding = \"{devices=[1,1]<=[1]}\"")
            front, values = b.results(types)
            b.line(f"{front}stablehlo.custom_call @{target}({v.name}) {{backend_config = \"\", mhlo.sharding = \"{{replicated}}\"}} : "
                   "(tensor<2x3xf32>) -> tensor<2x3xf32>")
            return values
        yield "custom_call", [x], make, [x], 0

    def constrained(b, v):
        front, values = b.results([(v.shape, v.kind)])
        b.line(f"{front}sdy.sharding_constraint {v.name} <@mesh, [{{\"x\"}}, {{}}]> : tensor<2x3xf32>")
        return values
    yield "sharding_constraint", [x], constrained, [x], 0
    for text in ("sdy.reshard {} <@mesh, [{{\"x\"}}, {{}}]>", "sdy.propagation_barrier {} allowed_direction=NONE"):
        def passed(b, v, text=text):
            front, values = b.results([(v.shape, v.kind)])
            b.line(f"{front}{text.format(v.name)} : tensor<2x3xf32>")
            return values
        yield "sharding", [x], passed, [x], 0
    erf = np.vectorize(math.erf, otypes=[np.float64])
    yield ("custom_call_erf", [x], lambda b, v: b.generic(
        "stablehlo.custom_call", [v], [(v.shape, v.kind)], "call_target_name = \"mhlo.erf\", mhlo.attributes = {}, mhlo.version = 1 : i64"),
        [erf(x).astype(np.float32)], 1e-5)


def broadcasting(rng):
    x, y = random_array(rng, (4, 1, 3), np.float32), random_array(rng, (5, 1), np.float32, 1, 2)
    for name, reference in (("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("divide", np.divide),
                            ("maximum", np.maximum), ("minimum", np.minimum), ("remainder", np.fmod), ("atan2", np.arctan2)):
        yield (f"chlo_broadcast_{name}", [x, y], lambda b, v, w, n=name: b.op(f"chlo.broadcast_{n}", [v, w], [((4, 5, 3), "f32")]),
               [reference(x, y)], 1e-6)
    yield ("chlo_broadcast_compare", [x, y], lambda b, v, w: b.generic(
        "chlo.broadcast_compare", [v, w], [((4, 5, 3), "i1")], "comparison_direction = #chlo<comparison_direction LT>"), [x < y], 0)
    yield ("chlo_broadcast_add", [x, y[0]], lambda b, v, w: b.generic(
        "chlo.broadcast_add", [v, w], [((4, 1, 3), "f32")], "broadcast_dimensions = array<i64: 1>"), [x + y[0]], 1e-6)


    for dtype in (np.int32, np.uint8, bool):
        i, j = random_array(rng, (4, 1, 3), dtype), random_array(rng, (5, 1), dtype)
        for name, reference in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
            yield (f"chlo_broadcast_{name}", [i, j], lambda b, v, w, n=name: b.op(f"chlo.broadcast_{n}", [v, w], [((4, 5, 3), v.kind)]),
                   [reference(i, j)], 0)
    base, exponent = rng.integers(-5, 6, (4, 1, 3)).astype(np.int32), rng.integers(0, 9, (5, 1)).astype(np.int32)
    for left, right, tolerance in ((base, exponent, 0), (abs(x) + 0.1, y, 1e-5)):
        yield ("chlo_broadcast_power", [left, right], lambda b, v, w: b.op("chlo.broadcast_power", [v, w], [((4, 5, 3), v.kind)]),
               [left ** right], tolerance)
    flags = random_array(rng, (5, 3), bool)
    yield ("chlo_broadcast_select", [flags, x, y], lambda b, c, v, w: b.op("chlo.broadcast_select", [c, v, w], [((4, 5, 3), "f32")]),
           [np.where(flags, x, y)], 0)


def computed(rng):
    """Forms that take their numbers as operands, tokens, and what is the same for all real numbers."""
    x = random_array(rng, (3, 5), np.float32)
    for name, want in (("real", x), ("imag", np.zeros_like(x))):
        yield name, [x], lambda b, v, n=name: b.op(f"stablehlo.{n}", [v], [(v.shape, v.kind)]), [want], 0
    yield "chlo_conj", [x], lambda b, v: b.op("chlo.conj", [v], [(v.shape, v.kind)]), [x], 0
    yield ("chlo_constant_like", [x], lambda b, v: b.generic("chlo.constant_like", [v], [(v.shape, v.kind)], "value = 2.5 : f32"),
           [np.full_like(x, 2.5)], 0)
    yield ("chlo_constant", [np.float32(0)], lambda b, _: b.generic("chlo.constant", [], [((2,), "i32")], "value = dense<[3, -4]> : tensor<2xi32>"),
           [np.array([3, -4], np.int32)], 0)
    odd = np.array([1, np.inf, -np.inf, np.nan], np.float32)
    yield ("chlo_is_neg_inf", [odd], lambda b, v: b.generic("chlo.is_neg_inf", [v], [(v.shape, "i1")]), [odd == -np.inf], 0)

    def numbers(b, *values):
        return b.constant(np.array(values, np.int64))
    for axis, shape in ((0, (3, 4)), (1, (3, 4)), (1, (0, 4))):
        yield ("dynamic_iota", [np.float32(0)], lambda b, _, a=axis, s=shape: b.op(
            "stablehlo.dynamic_iota", [numbers(b, *s)], [(s, "i32")], f"iota_dimension = {a} : i64", f", dim = {a}"),
            [np.indices(shape)[axis].astype(np.int32)], 0)
    low, high, inside = [1, -1], [0, 2], [2, 1]
    want = pad(x, np.float32(7), low, high, inside)
    yield ("dynamic_pad", [x, np.float32(7)], lambda b, v, w: b.op(
        "stablehlo.dynamic_pad", [v, w, *(numbers(b, *each) for each in (low, high, inside))], [(want.shape, "f32")]), [want], 0)
    yield ("real_dynamic_slice", [x], lambda b, v: b.op(
        "stablehlo.real_dynamic_slice", [v, *(numbers(b, *each) for each in ([1, 0], [3, 5], [1, 2]))], [((2, 3), "f32")]),
        [x[1:3, 0:5:2]], 0)
    rows = np.array([[2], [-4], [9], [0]], np.int32)  # beyond the ends: the nearest that fits
    yield ("dynamic_gather", [x, rows], lambda b, v, i: b.generic(
        "stablehlo.dynamic_gather", [v, i, numbers(b, 1, 5)], [((4, 5), "f32")],
        "dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"),
        [x[np.clip(rows[:, 0], 0, 2)]], 0)
    signal, kernel = random_array(rng, (1, 7, 2), np.float32), random_array(rng, (3, 2, 4), np.float32)
    wide = np.pad(signal, ((0, 0), (2, 1), (0, 0)))
    want_signal = sum(np.einsum("nwc,cf->nwf", wide[:, k:k + 8], kernel[k]) for k in range(3))
    yield ("dynamic_conv", [signal, kernel], lambda b, v, w: b.generic(
        "stablehlo.dynamic_conv", [v, w, b.constant(np.array([[2, 1]], np.int64))], [((1, 8, 4), "f32")],
        "dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64"),
        [want_signal], 1e-4)

    def tokens(b, v):
        token = "!stablehlo.token"
        one, two = b.fresh(), b.fresh()
        b.line(f'{one} = "stablehlo.create_token"() : () -> {token}')
        b.line(f'{two} = "stablehlo.after_all"({one}, {one}) : ({token}, {token}) -> {token}')
        return [v]
    yield "tokens", [x], tokens, [x], 0


def old_forms(rng):
    """As older exporters wrote attributes: as constants."""
    x = random_array(rng, (2, 3), np.float32)
    yield ("old", [x], lambda b, v: b.generic("stablehlo.transpose", [v], [((3, 2), "f32")], "permutation = dense<[1, 0]> : tensor<2xi64>"), [x.T], 0)
    yield ("old", [x], lambda b, v: b.generic("stablehlo.broadcast", [v], [((4, 2, 3), "f32")], "broadcast_sizes = dense<4> : tensor<1xi64>"),
           [np.broadcast_to(x, (4, 2, 3))], 0)
    yield ("dot", [x, x.T.copy()], lambda b, v, w: b.op("stablehlo.dot", [v, w], [((2, 2), "f32")], "", ", precision = [DEFAULT, DEFAULT]"), [x @ x.T], 1e-5)
    yield ("dot", [x[0], x[1]], lambda b, v, w: b.op("stablehlo.dot", [v, w], [((), "f32")]), [x[0] @ x[1]], 1e-5)
    want = pad(x, 0, [1, 0], [0, 2], [1, 0])
    yield ("old", [x, np.float32(0)], lambda b, v, w: b.generic(
        "stablehlo.pad", [v, w], [(want.shape, "f32")], "edge_padding_low = dense<[1, 0]> : tensor<2xi64>, "
        "edge_padding_high = dense<[0, 2]> : tensor<2xi64>, interior_padding = dense<[1, 0]> : tensor<2xi64>"), [want], 0)


def masked(rng):
    """What is broadcast, and what is one number, in all places where tensors are read."""
    x = random_array(rng, (3, 4), np.float32)
    row = random_array(rng, (4,), np.float32)

    def make(b, v, r):
        wide = b.broadcast_in_dim(r, [1], (3, 4))
        two = b.broadcast_in_dim(b.constant(np.float32(2)), [], (3, 4))
        zero = b.constant(np.float32(0))
        return [b.transpose(wide, [1, 0]), b.slice(wide, [1, 0], [3, 4], [1, 2], (2, 2)), b.reverse(wide, [1]),
                b.dot_general(v, wide, [[], []], [[1], [1]], (3, 3), "f32"), b.reduce([wide], [zero], [0], lambda i, p, q: [i.elementwise("add", p, q)], (4,), "add")[0],
                b.concatenate([wide, two, v], 0, (9, 4)), b.pad(two, zero, [1, 0], [0, 1], [0, 0], (4, 5)), b.reshape(two, (2, 6)),
                b.elementwise("add", two, two), b.reduce([two], [zero], [0, 1], lambda i, p, q: [i.elementwise("add", p, q)], (), "add")[0]]
    wide, two = np.broadcast_to(row, (3, 4)), np.full((3, 4), 2, np.float32)
    yield "lazy", [x, row], make, [wide.T, wide[1:, ::2], wide[:, ::-1], x @ wide.T, 3 * row, np.concatenate([wide, two, x]), np.pad(two, ((1, 0), (0, 1))),
                                  np.full((2, 6), 2, np.float32), two * 2, np.float32(24)], 1e-5


def rounded(x):
    """To the nearest bfloat16, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def brain_floats(rng):
    """NumPy has none: they come and go as 32 bits."""
    x, y = random_array(rng, (5, 7), np.float32), random_array(rng, (7, 3), np.float32)
    yield "bf16_convert", [x], lambda b, v: [b.convert(b.convert(v, "bf16"), "f32")], [rounded(x)], 0

    def square(b, v):
        narrow = b.convert(v, "bf16")
        return [b.convert(b.elementwise("multiply", narrow, narrow), "f32")]
    yield "bf16_multiply", [x], square, [rounded(rounded(x) * rounded(x))], 0
    yield ("bf16_dot", [x, y], lambda b, v, w: [b.dot_general(b.convert(v, "bf16"), b.convert(w, "bf16"), [[], []], [[1], [0]], (5, 3), "f32")],
           [rounded(x) @ rounded(y)], 1e-5)

    def constants(b, v):
        front, values = b.results([((2,), "bf16"), ((3,), "bf16")][:1])
        b.line(f"{front}\"stablehlo.constant\"() <{{value = dense<[1.0, 0xC040]> : tensor<2xbf16>}}> : () -> tensor<2xbf16>")
        return [b.convert(values[0], "f32")]
    yield "bf16_constant", [np.int32(0)], constants, [np.array([1, -3], np.float32)], 0
    third = rng.uniform(-3, 3, 70)
    text = ", ".join(f"{t:.17e}" for t in third)

    def half(b, v):
        front, values = b.results([((70,), "f16")])
        b.line(f"{front}\"stablehlo.constant\"() <{{value = dense<[{text}]> : tensor<70xf16>}}> : () -> tensor<70xf16>")
        return values
    yield "f16_constant", [np.int32(0)], half, [third.astype(np.float16)], 0

    def brain(b, v):
        front, values = b.results([((70,), "bf16")])
        b.line(f"{front}\"stablehlo.constant\"() <{{value = dense<[{text}]> : tensor<70xbf16>}}> : () -> tensor<70xbf16>")
        return [b.convert(values[0], "f32")]
    yield "bf16_constant", [np.int32(0)], brain, [rounded(third)], 4e-3 if not np.array_equal(rounded(third), rounded(third.astype(np.float32))) else 0


def short_constants(rng):
    """Decimals to the nearest number of 16 bits, ties to even: all exponents, and what is 0 or infinite then."""
    def bits(text, kind, count):
        def make(b, v):
            front, values = b.results([((count,), kind)])
            b.line(f"{front}\"stablehlo.constant\"() <{{value = dense<[{text}]> : tensor<{count}x{kind}>}}> : () -> tensor<{count}x{kind}>")
            return b.generic("stablehlo.bitcast_convert", [values[0]], [((count,), "ui16")])
        return make

    def listed(numbers):
        return ", ".join(f"{x:.17e}" for x in numbers)
    below = np.arange(0x7C00, dtype=np.uint16)[rng.permutation(0x7C00)[:60]].view(np.float16).astype(np.float64)
    ties = below + np.spacing(below.astype(np.float16)).astype(np.float64) / 2
    halves = np.concatenate([below, ties, np.nextafter(ties, 0), np.nextafter(ties, np.inf),
                             [0, 2.0**-24, 2.0**-25, np.nextafter(2.0**-25, 1), 1e-300, 65504, np.nextafter(65520, 0), 65520, 1e9, 1e300, np.finfo(np.float64).max]])
    halves = np.concatenate([halves, -halves])
    with np.errstate(over="ignore"):
        want = halves.astype(np.float16).view(np.uint16)
    yield "f16_constant", [np.int32(0)], bits(listed(halves), "f16", len(halves)), [want], 0
    singles = np.concatenate([rng.integers(0, 0x7F80, 60, np.uint32) << 16 | rng.choice([0, 0x7FFF, 0x8000, 0x8001], 60).astype(np.uint32),
                              np.array([0, 1, 0x8000, 0x8001, 0x7F7F0000, 0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF], np.uint32)]).astype(np.uint32).view(np.float32)
    singles = np.concatenate([singles, -singles])
    want = (rounded(singles).view(np.uint32) >> 16).astype(np.uint16)
    yield "bf16_constant", [np.int32(0)], bits(listed(singles.astype(np.float64)), "bf16", len(singles)), [want], 0


WORD = np.uint64(0xFFFFFFFF)  # of 32 bits, in arrays of 64 so that nothing is lost


def threefry(key, counter):
    """Threefry-2x32-20 of Salmon et al. (2011) on a counter of 64 bits: both words of each block."""
    def turned(v, by):
        return ((v << np.uint64(by)) | (v >> np.uint64(32 - by))) & WORD
    keys = [key & WORD, key >> np.uint64(32)]
    keys.append(keys[0] ^ keys[1] ^ np.uint64(0x1BD11BDA))
    x, y = ((counter & WORD) + keys[0]) & WORD, ((counter >> np.uint64(32)) + keys[1]) & WORD
    for i in range(5):
        for by in ((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]:
            x = (x + y) & WORD
            y = turned(y, by) ^ x
        x, y = (x + keys[(i + 1) % 3]) & WORD, (y + keys[(i + 2) % 3] + np.uint64(i + 1)) & WORD
    return x, y


def philox(key, low, high):
    """Philox-4x32-10 of the same paper on a counter of 128 bits: the four words of each block, along the last axis."""
    x = [low & WORD, low >> np.uint64(32), high & WORD, high >> np.uint64(32)]
    keys = [key & WORD, key >> np.uint64(32)]
    for _ in range(10):
        a, b = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [(b >> np.uint64(32)) ^ x[1] ^ keys[0], b & WORD, (a >> np.uint64(32)) ^ x[3] ^ keys[1], a & WORD]
        keys = [(keys[0] + np.uint64(0x9E3779B9)) & WORD, (keys[1] + np.uint64(0xBB67AE85)) & WORD]
    return np.stack(x, -1)


def random_bits(rng):
    """rng_bit_generator, in XLA's order. First what the paper's authors publish for a key and counter of 0."""
    zero = np.zeros(1, np.uint64)
    assert [int(v[0]) for v in threefry(zero, zero)] == [0x6B200159, 0x99BA4EFE]
    assert philox(zero, zero, zero)[0].tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]

    def drawn(algorithm, shape, kind, state):
        size, bits = math.prod(shape), np.dtype(kind).itemsize * 8
        words = bits // 32 or 1
        key, after = state[:1], state.copy()
        if algorithm == "THREE_FRY":
            even = [i for i, extent in enumerate(shape) if extent % 2 == 0]
            axis = even[0] if even else int(np.argmax(shape)) if shape else 0
            blocks = list(shape) or [1]
            if words == 1:
                blocks[axis] = (blocks[axis] + 1) // 2
            x, y = threefry(key, state[1] + np.arange(math.prod(blocks), dtype=np.uint64).reshape(blocks))
            after[1] += np.uint64(math.prod(blocks))
            if words == 2:
                out = x | y << np.uint64(32)
            else:
                both = np.stack([x, y], axis + 1)
                out = both.reshape([*blocks[:axis], -1, *blocks[axis + 1:]])[tuple(slice(n) for n in shape or (1,))]
        else:
            count = -(-size * words // 4)
            low, high = state[1] + np.arange(count + 1, dtype=np.uint64), np.broadcast_to(state[-1] if len(state) == 3 else key[0], count + 1)
            high = high + (low < state[1])
            after[1:] = [low[-1], high[-1]][:len(state) - 1]
            out = philox(np.broadcast_to(key, count), low[:-1], high[:-1]).reshape(-1)
            if words == 2:
                out = out[0::2] | out[1::2] << np.uint64(32)
            out = out[:size]
        unsigned = np.dtype(f"u{bits // 8}")
        return [after, out.astype(unsigned).reshape(shape).view(kind)]

    # A run of XLA, as JAX's tests of compatibility publish it: elements of the first and the last but nine rows.
    state = np.array([42, 43, 44, 45], np.uint32).view(np.uint64)

    def rows(b, s):
        out = b.generic("stablehlo.rng_bit_generator", [s], [((2,), "ui64"), ((60, 4), "ui32")], "rng_algorithm = #stablehlo<rng_algorithm DEFAULT>")[1]
        return [b.slice(out, [0, 0], [60, 4], [50, 1], (2, 4))]
    published = [[2427392780, 1458059130, 393278117, 4094008499], [3594828247, 2571774884, 3751275505, 2435848784]]
    yield "rng_bit_generator", [state], rows, [np.array(published, np.uint32)], 0

    shapes = ((), (1,), (5,), (8,), (3, 5), (3, 4), (2, 3, 4), (7, 3))
    for i, shape in enumerate(shapes):
        for algorithm, length in (("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3), ("DEFAULT", 2)):
            for kind in (np.uint32, (np.uint64, np.uint8, np.int32, np.uint16)[i % 4]):
                state = rng.integers(0, 1 << 64, length, np.uint64)
                state[1] = (1 << 64) - 2 if i % 2 else state[1]  # the counter wraps
                types = [((length,), "ui64"), (shape, kind_of(np.zeros(0, kind)))]

                def make(b, s, types=types, algorithm=algorithm):
                    if not b.pretty:
                        return b.generic("stablehlo.rng_bit_generator", [s], types, f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>")
                    return b.op("stablehlo.rng_bit_generator", [s], types, tail=f", algorithm = {algorithm}")
                yield "rng_bit_generator", [state], make, drawn(algorithm, shape, kind, state), 0
