"""Long reductions of few results, which are split among workgroups, against NumPy; on one thread and on two, bit for bit."""

import numpy as np
import pytest

import plimsoll as pl
from test_reductions import COMBINERS, FLOATS, INTEGERS, highest, literal, lowest

CHUNK = 131072  # of what is the same in any order, and 16 chunks of a sum of floats
LENGTHS = [0, 1, 17, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 466033]


@pytest.fixture(scope="module")
def engines():
    return [pl.Engine(threads=1), pl.Engine(threads=2)]


@pytest.fixture(scope="module")
def strict_engines():
    return [pl.Engine(threads=1, numerics="strict"), pl.Engine(threads=2, numerics="strict")]


def name_of(dtype):
    return ("f" if np.dtype(dtype).kind == "f" else "i") + str(8 * np.dtype(dtype).itemsize)


def tensor(shape, name):
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + name + ">"


def function(name, combiner, dtype, shape, axes, start=None):
    """One that reduces axes of a tensor; extents that are None are open."""
    element = name_of(dtype)
    kind = tensor(["?" if extent is None else extent for extent in shape], element)
    out = tensor([extent for axis, extent in enumerate(shape) if axis not in axes], element)
    start = literal(COMBINERS[combiner][0](dtype) if start is None else start, element)
    return f"""
      func.func @{name}(%x: {kind}) -> {out} {{
        %c = arith.constant {start} : {element}
        %e = tensor.empty() : {out}
        %f = linalg.fill ins(%c : {element}) outs(%e : {out}) -> {out}
        %r = linalg.reduce {{ arith.{combiner} }} ins(%x : {kind}) outs(%f : {out}) dimensions = {list(axes)}
        return %r : {out}
      }}"""


def values_for(random, combiner, dtype, shape):
    if np.dtype(dtype).kind != "f":
        return random.integers(lowest(dtype), highest(dtype), shape, dtype, endpoint=True)
    x = random.standard_normal(shape).astype(dtype)
    return np.exp(x / 1024).astype(dtype) if combiner == "mulf" else x


def reference(combiner, dtype, x, axes):
    start = COMBINERS[combiner][0](dtype)
    if x.size == 0:
        return np.full([extent for axis, extent in enumerate(x.shape) if axis not in axes], start, dtype)
    want = COMBINERS[combiner][1](x, axis=axes)
    if combiner in ("maxnumf", "minnumf"):
        want = (np.fmax if combiner == "maxnumf" else np.fmin)(want, dtype(start))
    return want


def same(modules, name, *arguments):
    have = [np.asarray(getattr(module, name)(*arguments)) for module in modules]
    assert have[0].tobytes() == have[1].tobytes(), f"{name}: one thread and two differ"
    return have[0]


def compare(have, want, combiner, dtype, x, axes, what):
    if combiner == "addf":
        bound = 64 * np.finfo(np.float32 if dtype == np.float16 else dtype).eps * np.abs(x.astype(np.float64)).sum(axes)
        assert np.all(np.abs(have - want) <= bound + np.finfo(dtype).eps * np.abs(want)), what
    elif combiner == "mulf":
        # The exponents of what is multiplied are small, not those of many of them.
        np.testing.assert_allclose(have, want, rtol=2 * (64 + x.size ** 0.5) * np.finfo(dtype).eps, err_msg=what)
    else:
        np.testing.assert_array_equal(have, want, err_msg=what)


@pytest.mark.parametrize("combiner", COMBINERS)
def test_lengths(engines, combiner):
    random = np.random.default_rng(11)
    dtypes = FLOATS if combiner.endswith("f") else INTEGERS
    for dtype in dtypes:
        known = [466034, 524287, 4 * CHUNK, 4 * CHUNK + 1, 600000]
        source = "".join(function(f"f{length}", combiner, dtype, [length], (0,)) for length in known)
        source += function("open", combiner, dtype, [None], (0,))
        modules = [engine.loads(source) for engine in engines]
        for length in known + LENGTHS:
            x = values_for(random, combiner, dtype, length)
            inputs = [x]
            if combiner in ("maximumf", "minimumf", "maxnumf", "minnumf"):
                some = x.copy()
                some[random.random(length) < 1e-5] = np.nan
                inputs += [some, np.full(length, np.nan, dtype)]
            for values in inputs:
                want = reference(combiner, dtype, values, (0,))
                for name in ["open"] + [f"f{length}"] * (length in known):
                    what = f"{combiner} of {length} {np.dtype(dtype)}, {name}"
                    compare(same(modules, name, values), want, combiner, dtype, values, (0,), what)


SHAPES = [((600000, 3), (0,)), ((3, 600000), (1,)), ((3, 524287), (1,)), ((524287, 3), (0,)), ((2, 3, 100000), (0, 2)),
          ((2, 3, 100000), (1, 2)), ((3, 2, 100000), (0, 1)), ((70, 80, 97), (0, 1, 2)), ((5, 4, 3, 20011), (0, 1, 2, 3)), ((7, 50000, 3), (1,)),
          ((1, 600011), (1,)), ((600011, 1), (0,)), ((20000, 65), (0,)), ((16411, 129), (0,)), ((1031, 1033), (0, 1)),
          ((4, 200, 1000), (0, 2))]


@pytest.mark.parametrize("combiner,dtype", [("addf", np.float32), ("maximumf", np.float32), ("addi", np.int32), ("addf", np.float16)])
def test_shapes(engines, combiner, dtype):
    random = np.random.default_rng(12)
    cases = [(shape, axes, open_) for shape, axes in SHAPES for open_ in [(), axes[:1]]]
    source = "".join(
        function(f"f{i}", combiner, dtype, [None if axis in open_ else extent for axis, extent in enumerate(shape)], axes)
        for i, (shape, axes, open_) in enumerate(cases))
    modules = [engine.loads(source) for engine in engines]
    for i, (shape, axes, open_) in enumerate(cases):
        small = tuple(13 if axis in open_ else extent for axis, extent in enumerate(shape))
        none = tuple(0 if axis in open_ else extent for axis, extent in enumerate(shape))
        for actual in [shape] + ([small, none] if open_ else []):
            x = values_for(random, combiner, dtype, actual)
            compare(same(modules, f"f{i}", x), reference(combiner, dtype, x, axes), combiner, dtype, x, axes,
                    f"{combiner} of {actual} {np.dtype(dtype)} along {axes}, {open_} open")


def test_start_counts_once(engines):
    x = np.arange(600011, dtype=np.int64)
    source = function("known", "addi", np.int64, [600011], (0,), 7) + function("open", "addi", np.int64, [None], (0,), 7)
    modules = [engine.loads(source) for engine in engines]
    for name in ("known", "open"):
        assert same(modules, name, x) == x.sum() + 7
    assert same(modules, "open", x[:0]) == 7


def test_signs_of_zeros(engines):
    source = function("known", "addf", np.float32, [600000], (0,), -0.0) + function("open", "addf", np.float32, [None], (0,), -0.0)
    modules = [engine.loads(source) for engine in engines]
    for name in ("known", "open"):
        have = same(modules, name, np.full(600000, -0.0, np.float32))
        assert have == 0 and np.signbit(have)


def test_sums_of_16_bits_are_rounded_once(engines):
    for element, dtype in (("f16", np.float16), ("bf16", None)):
        source = f"""
          func.func @sum(%x: tensor<?x{element}>, %start: tensor<{element}>) -> tensor<{element}> {{
            %r = linalg.reduce {{ arith.addf }} ins(%x : tensor<?x{element}>) outs(%start : tensor<{element}>) dimensions = [0]
            return %r : tensor<{element}>
          }}
          func.func @known(%x: tensor<1000003x{element}>, %start: tensor<{element}>) -> tensor<{element}> {{
            %r = linalg.reduce {{ arith.addf }} ins(%x : tensor<1000003x{element}>) outs(%start : tensor<{element}>) dimensions = [0]
            return %r : tensor<{element}>
          }}"""
        modules = [engine.loads(source) for engine in engines]
        to, back = (pl.to_bf16, pl.from_bf16) if dtype is None else (dtype, np.asarray)
        x, start = to(np.full(1000003, 0.001, np.float32)), to(np.array(3.5, np.float32))
        want = back(x).astype(np.float64).sum() + 3.5
        for name in ("sum", "known"):
            have = float(back(same(modules, name, x, start).reshape(1))[0])
            assert abs(have - want) <= want * 2.0 ** (-8 if dtype is None else -11), element


# Elementwise in front and behind, two results of one op, and what each row is compared with.
FUSED = """
#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#v = affine_map<(i) -> (i)>
func.func @main(%a: tensor<{rows}x{n}xf32>, %b: tensor<{rows}x{n}xf32>, %m: tensor<{rows}xf32>) -> (tensor<{rows}xf32>, tensor<{rows}xf32>) {{
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<{rows}xf32>
  %wide = tensor.empty({size}) : tensor<{rows}x{n}xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<{rows}xf32>) -> tensor<{rows}xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%e : tensor<{rows}xf32>) -> tensor<{rows}xf32>
  %d = linalg.generic {{indexing_maps = [#x, #x, #r, #x], iterator_types = ["parallel", "parallel"]}}
      ins(%a, %b, %m : tensor<{rows}x{n}xf32>, tensor<{rows}x{n}xf32>, tensor<{rows}xf32>) outs(%wide : tensor<{rows}x{n}xf32>) {{
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.subf %p, %z : f32
    linalg.yield %q : f32
  }} -> tensor<{rows}x{n}xf32>
  %r:2 = linalg.generic {{indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}}
      ins(%d : tensor<{rows}x{n}xf32>) outs(%s0, %m0 : tensor<{rows}xf32>, tensor<{rows}xf32>) {{
  ^bb0(%x: f32, %sum: f32, %most: f32):
    %s = arith.addf %x, %sum : f32
    %t = arith.maximumf %most, %x : f32
    linalg.yield %s, %t : f32, f32
  }} -> (tensor<{rows}xf32>, tensor<{rows}xf32>)
  %scaled = linalg.generic {{indexing_maps = [#v, #v], iterator_types = ["parallel"]}}
      ins(%r#0 : tensor<{rows}xf32>) outs(%e : tensor<{rows}xf32>) {{
  ^bb0(%x: f32, %o: f32):
    %h = arith.constant 0.5 : f32
    %s = arith.mulf %x, %h : f32
    linalg.yield %s : f32
  }} -> tensor<{rows}xf32>
  return %scaled, %r#1 : tensor<{rows}xf32>, tensor<{rows}xf32>
}}
"""


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("n", [600000, 524287, None])
def test_fused(engines, rows, n):
    size = "" if n else "%n"
    source = FUSED.format(rows=rows, n=n or "?", size=size)
    if not n:
        source = source.replace("  %zero =", f"  %n = tensor.dim %a, %c1 : tensor<{rows}x?xf32>\n  %zero =", 1)
    random = np.random.default_rng(13)
    modules = [engine.loads(source) for engine in engines]
    for length in [n] if n else [1, 100, 524287, 600000]:
        a, b = random.standard_normal((2, rows, length)).astype(np.float32)
        m = random.standard_normal(rows).astype(np.float32)
        have = [[np.asarray(result) for result in module.main(a, b, m)] for module in modules]
        assert [result.tobytes() for result in have[0]] == [result.tobytes() for result in have[1]]
        terms = a.astype(np.float64) * b - m[:, None].astype(np.float64)
        np.testing.assert_allclose(have[0][0], terms.sum(1) / 2, atol=1e-6 * np.abs(terms).sum())
        np.testing.assert_allclose(have[0][1], terms.max(1), rtol=1e-5)


PRODUCTS = [("mk", "kn", 32, 32, 8192), ("mk", "nk", 32, 32, 8192), ("km", "kn", 32, 33, 8192 + 7), ("km", "kn", 3, 5, 100003),
            ("mk", "kn", 1, 40, 40000), ("mk", "kn", 40, 1, 40000), ("km", "kn", 64, 64, 6001), ("mk", "kn", 7, 9, 65537),
            ("bmk", "bkn", 6, 16, 16384), ("km", "bkn", 6, 16, 16384)]


@pytest.mark.parametrize("element,total", [("f32", "f32"), ("i8", "i32"), ("f16", "f16"), ("bf16", "f32")])
def test_products(engines, element, total):
    random = np.random.default_rng(14)
    source, cases = "", []
    for left, right, m, n, k in PRODUCTS:
        for known in (True, False):
            sizes = {"m": m, "n": n, "k": k, "b": 2}
            out = ("b" if "b" in left + right else "") + "mn"
            shape = lambda names, e: tensor(["?" if letter == "k" and not known else sizes[letter] for letter in names], e)
            maps = ", ".join(f"affine_map<(b, m, n, k) -> ({', '.join(names)})>" for names in (left, right, out))
            loops = "(b, m, n, k)" if "b" in out else "(m, n, k)"
            maps = maps.replace("(b, m, n, k) ->", loops + " ->")
            kinds = ", ".join(f'"{"reduction" if letter == "k" else "parallel"}"' for letter in "bmnk" if letter in loops)
            letter = "f" if total[0] == "f" else "i"
            extend = f"arith.ext{'f' if letter == 'f' else 'si'}"
            widen = (f"%u = {extend} %x : {element} to {total}\n    %v = {extend} %y : {element} to {total}" if element != total else "")
            u, v = ("%u", "%v") if widen else ("%x", "%y")
            a, b, c = shape(left, element), shape(right, element), shape(out, total)
            source += f"""
              func.func @f{len(cases)}(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
                %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins(%a, %b : {a}, {b}) outs(%c : {c}) {{
                ^bb0(%x: {element}, %y: {element}, %s: {total}):
                  {widen}
                  %p = arith.mul{letter} {u}, {v} : {total}
                  %t = arith.add{letter} %s, %p : {total}
                  linalg.yield %t : {total}
                }} -> {c}
                return %r : {c}
              }}"""
            cases.append((left, right, out, sizes))
    modules = [engine.loads(source) for engine in engines]
    types = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i8": np.int8, "f16": np.float16}

    def operand(names, sizes, e):
        shape = [sizes[letter] for letter in names]
        if e == "bf16":
            return pl.to_bf16(random.standard_normal(shape).astype(np.float32))
        if e[0] == "f":
            return random.standard_normal(shape).astype(types[e])
        return random.integers(-100, 100, shape, types[e])

    def wide(x, e):
        return (pl.from_bf16(x) if e == "bf16" else x).astype(np.int64 if e[0] == "i" else np.float64)

    for i, (left, right, out, sizes) in enumerate(cases):
        for k in [sizes["k"]] + ([5] if i % 2 else []):
            sizes = dict(sizes, k=k)
            a, b, c = operand(left, sizes, element), operand(right, sizes, element), operand(out, sizes, total)
            have = same(modules, f"f{i}", a, b, c)
            x, y = wide(a, element), wide(b, element)
            want = np.einsum(f"{left},{right}->{out}", x, y, optimize=True) + c
            what = f"{left},{right}->{out} of {sizes}, {element}"
            if total[0] == "i":
                np.testing.assert_array_equal(have, want, err_msg=what)
            else:
                bound = np.einsum(f"{left},{right}->{out}", np.abs(x), np.abs(y), optimize=True) + np.abs(c)
                eps = np.finfo(np.float32 if total != "f64" else np.float64).eps
                last = np.finfo(types[total]).eps * np.abs(want)
                assert np.all(np.abs(have - want) <= 32 * eps * bound + last), what


def test_strict(strict_engines):
    random = np.random.default_rng(15)
    source = "".join(function(f"{combiner}{length or ''}", combiner, dtype, [length], (0,))
                     for combiner, dtype in (("addf", np.float32), ("addi", np.int32)) for length in (None, 600011))
    modules = [engine.loads(source) for engine in strict_engines]
    x = random.standard_normal(600011).astype(np.float32)
    i = random.integers(-(2 ** 31), 2 ** 31, 600011).astype(np.int32)
    for length in ("", "600011"):
        assert same(modules, f"addf{length}", x) == np.cumsum(x, dtype=np.float32)[-1]
        assert same(modules, f"addi{length}", i) == i.sum(dtype=np.int32)


@pytest.mark.parametrize("second", ["addf", "maximumf", "minimumf"])
def test_two_results_of_16_bits_in_several_workgroups(engines, second):
    source = f"""
      func.func @main(%x: tensor<64x1000x100xf16>, %a: tensor<64x100xf16>, %b: tensor<64x100xf16>)
          -> (tensor<64x100xf16>, tensor<64x100xf16>) {{
        %r:2 = linalg.generic {{indexing_maps = [affine_map<(i, k, j) -> (i, k, j)>, affine_map<(i, k, j) -> (i, j)>,
                                                 affine_map<(i, k, j) -> (i, j)>],
                                iterator_types = ["parallel", "reduction", "parallel"]}}
            ins(%x : tensor<64x1000x100xf16>) outs(%a, %b : tensor<64x100xf16>, tensor<64x100xf16>) {{
        ^bb0(%e: f16, %s: f16, %t: f16):
          %u = arith.addf %e, %s : f16
          %v = arith.{second} %e, %t : f16
          linalg.yield %u, %v : f16, f16
        }} -> (tensor<64x100xf16>, tensor<64x100xf16>)
        return %r#0, %r#1 : tensor<64x100xf16>, tensor<64x100xf16>
      }}"""
    x = np.random.default_rng(11).integers(-4, 5, (64, 1000, 100)).astype(np.float16)
    zero = np.zeros((64, 100), np.float16)
    expected = x.sum(axis=1, dtype=np.float32).astype(np.float16)
    others = {"addf": expected, "maximumf": x.max(axis=1, initial=0), "minimumf": x.min(axis=1, initial=0)}
    for engine in engines:
        main = pl.loads(source, engine=engine).main
        for _ in range(4):
            first, other = main(x, zero, zero)
            np.testing.assert_array_equal(first, expected)
            np.testing.assert_array_equal(other, others[second])
