"""Reductions with every combiner of arith, over lengths around those of vectors, against NumPy."""

import random

import numpy as np
import pytest

import plimsoll as pl

from hosts import HOSTS

LENGTHS = [1, 2, 3, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 23, 31, 33, 64, 100]
ROWS = 5
INTEGERS, FLOATS = [np.int8, np.int16, np.int32, np.int64], [np.float16, np.float32, np.float64]


def unsigned(function):
    return lambda x, axis: function(x.view(f"u{x.itemsize}"), axis=axis).astype(f"u{x.itemsize}").view(x.dtype)


def lowest(dtype):
    return -np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min


def highest(dtype):
    return np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max


def wrapped(function):
    return lambda x, axis: function(x, axis=axis, dtype=x.dtype)


# The element to start from, and what NumPy does.
COMBINERS = {
    "addf": (lambda _: 0, lambda x, axis: x.astype(np.float64).sum(axis)),
    "mulf": (lambda _: 1, lambda x, axis: x.astype(np.float64).prod(axis)),
    "maximumf": (lowest, np.max), "minimumf": (highest, np.min),
    "maxnumf": (lowest, np.fmax.reduce), "minnumf": (highest, np.fmin.reduce),
    "addi": (lambda _: 0, wrapped(np.sum)), "muli": (lambda _: 1, wrapped(np.prod)),
    "maxsi": (lowest, np.max), "minsi": (highest, np.min),
    "maxui": (lambda _: 0, unsigned(np.max)), "minui": (lambda _: -1, unsigned(np.min)),
    "andi": (lambda _: -1, np.bitwise_and.reduce), "ori": (lambda _: 0, np.bitwise_or.reduce),
    "xori": (lambda _: 0, np.bitwise_xor.reduce)}


def literal(value, name):
    if name[0] == "i":
        return str(int(value))
    if np.isfinite(value):
        return f"{float(value)}"
    width, pattern = {"f16": (4, 0x7C00), "f32": (8, 0x7F800000), "f64": (16, 0x7FF0000000000000)}[name]
    return f"0x{pattern | (1 << (4 * width - 1) if value < 0 else 0):0{width}X}"


def source(combiner, dtype, cases):
    """A function for each length, axis, and whether the extent is known."""
    name = ("f" if np.dtype(dtype).kind == "f" else "i") + str(8 * np.dtype(dtype).itemsize)
    start = literal(COMBINERS[combiner][0](dtype), name)
    lines = []
    for length, axis, known in cases:
        extent = length if known else "?"
        shape = [ROWS, extent] if axis == 1 else [extent, ROWS]
        kind, out = f"tensor<{shape[0]}x{shape[1]}x{name}>", f"tensor<{ROWS}x{name}>"
        lines.append(f"""
          func.func @f{length}_{axis}_{int(known)}(%x: {kind}) -> {out} {{
            %c = arith.constant {start} : {name}
            %e = tensor.empty() : {out}
            %f = linalg.fill ins(%c : {name}) outs(%e : {out}) -> {out}
            %r = linalg.reduce {{ arith.{combiner} }} ins(%x : {kind}) outs(%f : {out}) dimensions = [{axis}]
            return %r : {out}
          }}""")
    return "\n".join(lines)


@pytest.mark.parametrize("numerics", ["default", "strict"])
@pytest.mark.parametrize("combiner", COMBINERS)
def test_every_length(combiner, numerics):
    random = np.random.default_rng(5)
    is_float = combiner.endswith("f")
    cases = [(length, 1, True) for length in LENGTHS] + [(7, 0, True), (13, 0, True), (16, 0, True), (13, 1, False), (7, 0, False)]
    for dtype in FLOATS if is_float else INTEGERS:
        module = pl.loads(source(combiner, dtype, cases), numerics=numerics)
        for length, axis, known in cases:
            shape = (ROWS, length) if axis == 1 else (length, ROWS)
            if is_float:
                x = random.standard_normal(shape).astype(dtype)
                if combiner == "mulf":  # of a size that stays
                    x = np.exp(x / 8)
            else:
                x = random.integers(lowest(dtype), highest(dtype), shape, dtype, endpoint=True)
            inputs = [x]
            if "max" in combiner or "min" in combiner:
                if is_float:  # single ones, and nothing else
                    some = x.copy()
                    some[random.random(shape) < 0.3] = np.nan
                    inputs += [some, np.full(shape, np.nan, dtype)]
            for values in inputs:
                have = np.asarray(getattr(module, f"f{length}_{axis}_{int(known)}")(values))
                if combiner in ("maxnumf", "minnumf"):  # with what they start from
                    start = dtype(COMBINERS[combiner][0](dtype))
                    extreme = np.fmax if combiner == "maxnumf" else np.fmin
                    want = extreme(COMBINERS[combiner][1](values, axis=axis), start)
                else:
                    want = COMBINERS[combiner][1](values, axis=axis)
                what = f"{combiner} of {length} {np.dtype(dtype)} along {axis}, {'known' if known else 'open'}"
                if combiner in ("addf", "mulf"):
                    np.testing.assert_allclose(have, want, rtol=length * np.finfo(dtype).eps, err_msg=what,
                                               atol=length * np.finfo(dtype).eps * (combiner == "addf"))
                else:
                    np.testing.assert_array_equal(have, want, err_msg=what)


def some_axes(random):
    """A case over any axes of up to five dimensions: known or not, with something before and behind that may be fused or not."""
    rank = random.integers(2, 6)
    shape = [int(random.choice([1, 2, 3, 5, 7, 8, 16, 17] if rank > 3 else [1, 2, 3, 9, 33, 64, 100])) for _ in range(rank)]
    axes = sorted(int(axis) for axis in random.choice(rank, random.integers(1, rank + 1), replace=False))
    kind = ["known", "unknown", "some"][random.integers(3)]
    known = [kind == "known" or (kind == "some" and random.random() < 0.5) for _ in shape]
    return shape, axes, known, bool(random.integers(2)), bool(random.integers(2))


def source_of_axes(number, combiner, dtype, shape, axes, known, negates, squares):
    is_float = np.dtype(dtype).kind == "f"
    name = ("f" if is_float else "i") + str(8 * np.dtype(dtype).itemsize)
    extents = [str(extent) if isKnown else "?" for extent, isKnown in zip(shape, known)]
    kept = [i for i in range(len(shape)) if i not in axes]
    kind = f"tensor<{''.join(extent + 'x' for extent in extents)}{name}>"
    out = f"tensor<{''.join(extents[i] + 'x' for i in kept)}{name}>"
    lines = [f"func.func @f{number}(%x: {kind}) -> {out} {{"]
    sizes = []
    for i in (i for i in kept if not known[i]):
        lines += [f"%i{i} = arith.constant {i} : index", f"%d{i} = tensor.dim %x, %i{i} : {kind}"]
        sizes.append(f"%d{i}")
    value = "%x"
    if negates:
        lines.append(f"%y = arith.negf %x : {kind}" if is_float else f"%y = math.absi %x : {kind}")
        value = "%y"
    lines += [f"%c = arith.constant {literal(COMBINERS[combiner][0](dtype), name)} : {name}",
              f"%e = tensor.empty({', '.join(sizes)}) : {out}",
              f"%f = linalg.fill ins(%c : {name}) outs(%e : {out}) -> {out}",
              f"%r = linalg.reduce {{ arith.{combiner} }} ins({value} : {kind}) outs(%f : {out}) dimensions = {axes}"]
    result = "%r"
    if squares:
        lines.append(f"%s = arith.{'mulf' if is_float else 'muli'} %r, %r : {out}")
        result = "%s"
    return "\n".join(lines + [f"return {result} : {out}", "}"])


@pytest.mark.parametrize("numerics", ["default", "strict"])
@pytest.mark.parametrize("combiner", ["addf", "maximumf", "minnumf", "addi", "maxsi", "minui", "xori"])
def test_any_axes(combiner, numerics):
    random = np.random.default_rng([11, len(combiner), ord(combiner[-1])])
    for dtype in [np.float32, np.float64] if combiner.endswith("f") else [np.int8, np.int32]:
        cases = [some_axes(random) for _ in range(24)]
        module = pl.loads("\n".join(source_of_axes(i, combiner, dtype, *case) for i, case in enumerate(cases)), numerics=numerics)
        for i, case in enumerate(cases):
            shape, axes, _, negates, squares = case
            x = (random.standard_normal(shape) if np.dtype(dtype).kind == "f" else random.integers(-100, 100, shape)).astype(dtype)
            y = x if not negates else -x if np.dtype(dtype).kind == "f" else np.abs(x)
            wanted = COMBINERS[combiner][1](y, tuple(axes)).astype(dtype)
            with np.errstate(over="ignore"):
                wanted = wanted * wanted if squares else wanted
            result = np.asarray(module[f"f{i}"](x))
            if combiner == "addf":
                np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-3 * (1 + np.abs(wanted).max()), err_msg=str(case))
            else:
                np.testing.assert_array_equal(result, wanted, err_msg=str(case))


def test_elements_that_several_rows_compute():
    # One operation each that LLVM has for vectors of one dimension alone.
    random = np.random.default_rng(5)
    high = {np.dtype(np.int8): 8, np.dtype(np.int32): 32}
    for dtype in (np.int8, np.int32):
        bits, name = high[np.dtype(dtype)], f"i{high[np.dtype(dtype)]}"
        x = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (16, 3, 17, 2), dtype, endpoint=True)
        u = x.astype(np.int64) & (2**bits - 1)
        lengths = np.vectorize(lambda v: int(v).bit_length())(u)
        zeros = np.where(u == 0, bits, np.vectorize(lambda v: (int(v) & -int(v)).bit_length() - 1)(u))
        for body, wanted in ((f"%v = math.absi %a : {name}", np.abs(x.astype(np.int64))), (f"%v = math.ctlz %a : {name}", bits - lengths),
                             (f"%v = math.cttz %a : {name}", zeros),
                             (f"%l, %v = arith.mulsi_extended %a, %a : {name}", x.astype(object) ** 2 >> bits),
                             (f"%l, %v = arith.mului_extended %a, %a : {name}", u.astype(object) ** 2 >> bits)):
            got = np.asarray(pl.loads(source_of_body(body, name, name))["f"](x))
            np.testing.assert_array_equal(got, (wanted.sum(2) & (2**bits - 1)).astype(np.uint64).astype(dtype), err_msg=body)
    x = random.standard_normal((16, 3, 17, 2)).astype(np.float32)
    x.flat[::5], x.flat[::7] = np.nan, np.inf
    x.flat[::11], x.flat[::13] = 0, 1e-40
    normal = np.isfinite(x) & (np.abs(x) >= np.finfo(np.float32).tiny)
    for question, wanted in (("isnan", np.isnan(x)), ("isinf", np.isinf(x)), ("isfinite", np.isfinite(x)), ("isnormal", normal)):
        body = f"%k = math.{question} %a : f32\n    %v = arith.extui %k : i1 to i32"
        np.testing.assert_array_equal(np.asarray(pl.loads(source_of_body(body, "f32", "i32"))["f"](x)), wanted.sum(2), err_msg=question)


def source_of_body(body, element, result):
    """Sums over the third of four dimensions of what `body` makes of %a."""
    return f"""func.func @f(%x: tensor<16x3x17x2x{element}>) -> tensor<16x3x2x{result}> {{
  %z = arith.constant 0 : {result}
  %e = tensor.empty() : tensor<16x3x2x{result}>
  %i = linalg.fill ins(%z : {result}) outs(%e : tensor<16x3x2x{result}>) -> tensor<16x3x2x{result}>
  %r = linalg.generic {{indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, d)>],
                        iterator_types = ["parallel", "parallel", "reduction", "parallel"]}}
      ins(%x : tensor<16x3x17x2x{element}>) outs(%i : tensor<16x3x2x{result}>) {{
  ^bb0(%a: {element}, %s: {result}):
    {body}
    %q = arith.addi %s, %v : {result}
    linalg.yield %q : {result}
  }} -> tensor<16x3x2x{result}>
  return %r : tensor<16x3x2x{result}>
}}"""


@pytest.mark.parametrize("combiner", ["maximumf", "minimumf"])
def test_extremes_of_odd_numbers(combiner):
    # NaN of either sign wins wherever it is; which of two zeros is taken is left open but in strict code.
    random = np.random.default_rng(6)
    for numerics in ("default", "strict"):
        cases = [(length, axis, known) for length in LENGTHS for axis in (0, 1) for known in (True, False)]
        module = pl.loads(source(combiner, np.float32, cases), numerics=numerics)
        for length, axis, known in cases:
            shape = (ROWS, length) if axis == 1 else (length, ROWS)
            x = random.choice(np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf], np.float32), shape)
            for row in range(ROWS):
                at = int(random.integers(length))
                place = (row, at) if axis == 1 else (at, row)
                if row < 2:
                    x[place] = np.uint32(0x7FC00000 | row << 31).view(np.float32)
                if row == 2:
                    x[row if axis == 1 else slice(None), slice(None) if axis == 1 else row] = random.choice([0.0, -0.0], length)
            wanted = (np.max if combiner == "maximumf" else np.min)(x, axis)
            result = np.asarray(module[f"f{length}_{axis}_{int(known)}"](x))
            np.testing.assert_array_equal(result, wanted, err_msg=f"{length} along {axis}, {known}, {numerics}")
            zeros = x[2] if axis == 1 else x[:, 2]
            if numerics == "strict":
                negative = np.signbit(zeros).all() if combiner == "maximumf" else np.signbit(zeros).any()
                assert np.signbit(result[2]) == negative, (length, axis, known, zeros)


def source_of_siblings(number, random, dtype, shape, known):
    """Two to five reductions of rows of the same tensor, some of its negatives, one of what another makes; with what NumPy gives."""
    is_float = np.dtype(dtype).kind == "f"
    name = ("f" if is_float else "i") + str(8 * np.dtype(dtype).itemsize)
    axes = sorted(random.permutation(len(shape) - 1)[:random.integers(0, len(shape))].tolist() + [len(shape) - 1])
    kept = [i for i in range(len(shape)) if i not in axes]
    extents = [str(extent) if isKnown else "?" for extent, isKnown in zip(shape, known)]
    kind = f"tensor<{''.join(extent + 'x' for extent in extents)}{name}>"
    out = f"tensor<{''.join(extents[i] + 'x' for i in kept)}{name}>"
    lines = []
    for i in (i for i in kept if not known[i]):
        lines += [f"%i{i} = arith.constant {i} : index", f"%d{i} = tensor.dim %x, %i{i} : {kind}"]
    lines.append(f"%e = tensor.empty({', '.join(f'%d{i}' for i in kept if not known[i])}) : {out}")
    combiners = [name for name in COMBINERS if name.endswith("f") == is_float and "num" not in name and not name.startswith("mul")]
    results, wanted = [], []
    for k in range(random.integers(2, 6)):
        combiner, negates, follows = random.choice(combiners), random.random() < 0.3, k > 0 and random.random() < 0.2
        value = "%x"
        if negates:
            lines.append(f"%y{k} = " + (f"arith.negf %x : {kind}" if is_float else f"math.absi %x : {kind}"))
            value = f"%y{k}"
        start = f"%r{k - 1}"
        if not follows:
            lines += [f"%c{k} = arith.constant {literal(COMBINERS[combiner][0](dtype), name)} : {name}",
                      f"%f{k} = linalg.fill ins(%c{k} : {name}) outs(%e : {out}) -> {out}"]
            start = f"%f{k}"
        lines.append(f"%r{k} = linalg.reduce {{ arith.{combiner} }} ins({value} : {kind}) outs({start} : {out}) dimensions = {axes}")
        results.append(f"%r{k}")
        wanted.append((combiner, negates, follows))
    outs = ", ".join([out] * len(results))
    return "\n".join([f"func.func @f{number}(%x: {kind}) -> ({outs}) {{", *lines, f"return {', '.join(results)} : {outs}", "}"]), axes, wanted


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int32])
def test_several_of_the_same_rows(dtype):
    random = np.random.default_rng([12, *np.dtype(dtype).str.encode()])
    cases = []
    for i in range(40):
        shape = tuple(int(random.choice([1, 2, 3, 7, 16, 33, 300])) for _ in range(random.integers(1, 4)))
        known = [bool(random.random() < 0.7) for _ in shape]
        cases.append((shape, *source_of_siblings(i, random, dtype, shape, known)))
    for numerics in ("default", "strict"):
        module = pl.loads("\n".join(source for _, source, _, _ in cases), numerics=numerics)
        for i, (shape, _, axes, wanted) in enumerate(cases):
            x = (random.standard_normal(shape) if np.dtype(dtype).kind == "f" else random.integers(-100, 100, shape)).astype(dtype)
            results = module[f"f{i}"](x)
            before = None
            for result, (combiner, negates, follows) in zip(results, wanted):
                y = x if not negates else -x if np.dtype(dtype).kind == "f" else np.abs(x)
                want = COMBINERS[combiner][1](y, tuple(axes)).astype(dtype)
                if follows:
                    both = np.stack([before, want])
                    want = COMBINERS[combiner][1](both, 0).astype(dtype)
                before = want
                if combiner == "addf" or (follows and y.dtype.kind == "f"):
                    np.testing.assert_allclose(np.asarray(result), want, rtol=1e-4, atol=1e-4 * np.abs(x).sum(), err_msg=f"{cases[i]}")
                else:
                    np.testing.assert_array_equal(np.asarray(result), want, err_msg=f"{cases[i]}")


def test_what_lies_between():
    # The second starts from what was stored or chosen behind the first.
    source = ""
    between = {
        "store": "memref.store %k, %m[%c0] : memref<1xf32>\n%v = memref.load %m[%c0] : memref<1xf32>",
        "choice": """memref.store %k, %m[%c0] : memref<1xf32>
  %v = scf.if %yes -> f32 {
    %w = memref.load %m[%c0] : memref<1xf32>
    scf.yield %w : f32
  } else {
    scf.yield %zero : f32
  }""",
        "first": """%f = tensor.extract %p[%c0] : tensor<2xf32>
  memref.store %f, %m[%c0] : memref<1xf32>
  %v = memref.load %m[%c0] : memref<1xf32>"""}
    for name, code in between.items():
        source += f"""
func.func @{name}(%x: tensor<2x37xf32>, %a: tensor<2xf32>, %m: memref<1xf32>, %yes: i1) -> (tensor<2xf32>, tensor<2xf32>) {{
  %c0 = arith.constant 0 : index
  %k = arith.constant 7.0 : f32
  %zero = arith.constant 0.0 : f32
  %p = linalg.reduce {{ arith.maximumf }} ins(%x : tensor<2x37xf32>) outs(%a : tensor<2xf32>) dimensions = [1]
  {code}
  %i = linalg.fill ins(%v : f32) outs(%a : tensor<2xf32>) -> tensor<2xf32>
  %q = linalg.reduce {{ arith.addf }} ins(%x : tensor<2x37xf32>) outs(%i : tensor<2xf32>) dimensions = [1]
  return %p, %q : tensor<2xf32>, tensor<2xf32>
}}"""
    x, a = np.ones((2, 37), np.float32), np.full(2, 2, np.float32)
    for numerics in ("default", "strict"):
        module = pl.loads(source, numerics=numerics)
        for name, start in (("store", 7), ("choice", 7), ("first", 2)):
            p, q = module[name](x, a, np.full(1, 3, np.float32), True)
            np.testing.assert_array_equal(np.asarray(p), [2, 2])
            np.testing.assert_array_equal(np.asarray(q), [37 + start] * 2, err_msg=f"{name}, {numerics}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_in_rows_of_any_length(dtype):
    # The same bits whether the length is known, on each host that this machine is: the first products of a row are no others.
    name = f"f{8 * np.dtype(dtype).itemsize}"
    lengths = [4, 8, 16, 17, 37, 64, 100, 129, 200, 300]
    source = ""
    for length in lengths:
        for known in (True, False):
            kind = f"tensor<5x{length if known else '?'}x{name}>"
            source += f"""
func.func @f{length}_{int(known)}(%x: {kind}, %a: tensor<5x{name}>) -> tensor<5x{name}> {{
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}}
      ins(%x : {kind}) outs(%a : tensor<5x{name}>) {{
  ^bb0(%v: {name}, %o: {name}):
    %p = arith.mulf %v, %v : {name}
    %s = arith.addf %o, %p : {name}
    linalg.yield %s : {name}
  }} -> tensor<5x{name}>
  return %r : tensor<5x{name}>
}}"""
    random = np.random.default_rng(7)
    for host in HOSTS:
        module = pl.Engine(target=host, threads=1).loads(source)
        for length in lengths:
            for _ in range(10):
                x, a = random.standard_normal((5, length)).astype(dtype), random.standard_normal(5).astype(dtype)
                known, unknown = (np.asarray(module[f"f{length}_{i}"](x, a)) for i in (1, 0))
                np.testing.assert_array_equal(known, unknown, err_msg=f"{length} on {host}")
                squares = (x.astype(np.longdouble) ** 2).sum(1)
                assert np.all(abs(known - (a + squares)) <= length * np.finfo(dtype).eps * (abs(a) + squares))


@pytest.mark.parametrize("numerics", ["default", "strict"])
@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("combiner", ["maximumf", "minimumf", "maxnumf", "minnumf"])
def test_extremes_of_few_numbers_of_16_bits(combiner, element, numerics):
    """Any bits: infinities, denormals and NaN are among them."""
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = np.random.default_rng(seed)
    fold = {"maximumf": np.maximum, "minimumf": np.minimum, "maxnumf": np.fmax, "minnumf": np.fmin}[combiner]

    def wide(bits):
        return bits.view(np.float16).astype(np.float32) if element == "f16" else (bits.astype(np.uint32) << 16).view(np.float32)

    for terms in range(2, 9):
        for rows, extent in ((1, "1"), (7, "?"), (33, "33"), (1009, "?")):
            bits = rng.integers(0, 2**16, (rows, terms), dtype=np.uint16)
            first = rng.integers(0, 2**16, rows, dtype=np.uint16)
            for each in (bits, first):  # of what NaN that signals gives beside a number, nobody says anything
                each[np.isnan(wide(each))] |= 1 << (9 if element == "f16" else 6)
            source = f"""
func.func @main(%x: tensor<{extent}x{terms}x{element}>, %c: tensor<{extent}x{element}>) -> tensor<{extent}x{element}> {{
  %r = linalg.reduce {{ arith.{combiner} }} ins(%x : tensor<{extent}x{terms}x{element}>) outs(%c : tensor<{extent}x{element}>) dimensions = [1]
  return %r : tensor<{extent}x{element}>
}}"""
            given = [each.view(np.float16) if element == "f16" else each for each in (bits, first)]
            got = wide(np.asarray(pl.loads(source, numerics=numerics).main(*given)).view(np.uint16))
            with np.errstate(invalid="ignore"):
                want = fold(fold.reduce(wide(bits), axis=1), wide(first))
            np.testing.assert_array_equal(got, want)
