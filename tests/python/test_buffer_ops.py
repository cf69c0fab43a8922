"""Operations of linalg on the buffers of kernels, against NumPy: products, windows, reductions and elementwise ops of every kind of operand; into buffers
that are filled first, that accumulate, that are read in place, or that overlap; with any number of threads."""

import numpy as np
import pytest

import plimsoll as pl

ENGINES = [pl.Engine(threads=threads) for threads in (1, 2, 3)]


def run(source, *arguments):
    """The arguments after a call on each engine, of which all must agree bit for bit."""
    first = None
    for engine in ENGINES:
        mine = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        engine.loads(source).main(*mine)
        if first is None:
            first = mine
        for one, other in zip(first, mine):
            np.testing.assert_array_equal(one, other)
    return first


def windows(x, kernel, strides):
    """All windows of the two dimensions in the middle: N, OH, OW, KH, KW, C."""
    views = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(1, 2))
    return np.moveaxis(views[:, ::strides[0], ::strides[1]], 3, 5)


# What the ops compute besides what the result held: by their text, with shapes of inputs and of the result.
CASES = {
    "matmul": ("linalg.matmul", [(70, 80), (80, 90)], (70, 90), lambda a, b: a @ b),
    "matmul, transposed": ("linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]",
                           [(80, 70), (90, 80)], (70, 90), lambda a, b: a.T @ b.T),
    "batch_matmul": ("linalg.batch_matmul", [(3, 33, 40), (3, 40, 50)], (3, 33, 50), lambda a, b: a @ b),
    "matvec": ("linalg.matvec", [(300, 200), (200,)], (300,), lambda a, b: a @ b),
    "vecmat": ("linalg.vecmat", [(200,), (200, 300)], (300,), lambda a, b: a @ b),
    "dot": ("linalg.dot", [(5000,), (5000,)], (), lambda a, b: a @ b),
    "conv_2d_nhwc": ("linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>}", [(2, 17, 18, 8), (3, 3, 8, 24)], (2, 8, 16, 24),
                     lambda x, w: np.einsum("nhwklc,klcf->nhwf", windows(x, (3, 3), (2, 1)), w)),
    "depthwise": ("linalg.depthwise_conv_2d_nhwc_hwc", [(1, 20, 21, 40), (3, 3, 40)], (1, 18, 19, 40),
                  lambda x, w: np.einsum("nhwklc,klc->nhwc", windows(x, (3, 3), (1, 1)), w)),
    "pooling_sum": ("linalg.pooling_nhwc_sum {strides = dense<2> : tensor<2xi64>}", [(1, 32, 32, 30), (2, 2)], (1, 16, 16, 30),
                    lambda x, w: windows(x, (2, 2), (2, 2)).sum(axis=(3, 4))),
}


def text(shapes, result, op, fill):
    def memref(shape):
        return "memref<" + "x".join([*map(str, shape), "f32"]) + ">"

    names = [f"%a{i}" for i in range(len(shapes))]
    types = [memref(shape) for shape in shapes]
    arguments = ", ".join(f"{name}: {kind}" for name, kind in zip([*names, "%r"], [*types, memref(result)]))
    first = f"linalg.fill ins(%f : f32) outs(%r : {memref(result)})" if fill else ""
    return f"""func.func @main({arguments}) {{
      %f = arith.constant 0.5 : f32
      {first}
      {op} ins({', '.join(names)} : {', '.join(types)}) outs(%r : {memref(result)})
      return
    }}"""


@pytest.mark.parametrize("known", [True, False], ids=["static", "dynamic"])
@pytest.mark.parametrize("fill", [True, False], ids=["filled", "added"])
@pytest.mark.parametrize("name", CASES)
def test_named(name, fill, known):
    op, shapes, result, reference = CASES[name]
    random = np.random.default_rng(41)
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    start = random.standard_normal(result).astype(np.float32)
    shapes_of = [shape if known else ("?",) * len(shape) for shape in shapes]
    got = run(text(shapes_of, result if known else ("?",) * len(result), op, fill), *inputs, start)
    want = reference(*(each.astype(np.float64) for each in inputs)) + (0.5 if fill else start)
    np.testing.assert_allclose(got[-1], want, rtol=1e-4, atol=1e-4)
    for mine, given in zip(got, inputs):
        np.testing.assert_array_equal(mine, given)


def test_buffers_that_overlap():
    """Then ops run as loops over buffers, in the order of those: what the parts that overlap get is what such loops give."""
    n = 96
    source = text([(n, n), (n, n)], (n, n), "linalg.matmul", fill=False)
    memory = np.random.default_rng(42).standard_normal(3 * n * n).astype(np.float32)
    for engine in ENGINES:
        main = engine.loads(source).main
        # A factor twice is no overlap with what is written.
        x = memory.copy()
        a, c = x[: n * n].reshape(n, n), x[n * n: 2 * n * n].reshape(n, n)
        want = c.astype(np.float64) + a.astype(np.float64) @ a
        main(a, a, c)
        np.testing.assert_allclose(c, want, rtol=1e-4, atol=1e-4)
        # The result begins in the last row of a factor.
        x = memory.copy()
        a, b = x[: n * n].reshape(n, n), x[2 * n * n:].reshape(n, n)
        c = x[n * n - n: 2 * n * n - n].reshape(n, n)
        want = x.astype(np.float64)
        of_a, of_c = want[: n * n].reshape(n, n), want[n * n - n: 2 * n * n - n].reshape(n, n)
        for m in range(n):
            for j in range(n):
                for k in range(n):
                    of_c[m, j] += of_a[m, k] * b[k, j]
        main(a, b, c)
        np.testing.assert_allclose(x, want, rtol=1e-3, atol=1e-2)


GENERIC = """
#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#across = affine_map<(i, j) -> (j, i)>
func.func @main(%x: memref<?x?xf32>, %b: memref<?xf32>, %y: memref<?x?xf32>, %z: memref<?x?xf32>, %s: f32) {
  %three = arith.constant 3.0 : f32
  linalg.generic {indexing_maps = [#same, #row, affine_map<(i, j) -> ()>, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b, %s : memref<?x?xf32>, memref<?xf32>, f32) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %f: f32, %old: f32):
    %p = arith.mulf %a, %f : f32
    %q = arith.addf %p, %c : f32
    %t = math.tanh %q : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%y, %b : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %old: f32):
    %p = arith.addf %a, %c : f32
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i32
    %g = arith.sitofp %k : i32 to f32
    %q = arith.addf %p, %g : f32
    %r = arith.addf %q, %old : f32
    %v = arith.mulf %r, %s : f32
    %w = arith.addf %v, %three : f32
    linalg.yield %w : f32
  }
  linalg.fill ins(%s : f32) outs(%z : memref<?x?xf32>)
  linalg.generic {indexing_maps = [#across, #same], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<?x?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%a: f32, %old: f32):
    %p = arith.addf %a, %old : f32
    linalg.yield %p : f32
  }
  return
}"""


@pytest.mark.parametrize("shape", [(0, 7), (1, 1), (65, 66), (300, 257), (3, 5000)])
def test_generic(shape):
    """One after the other: into another buffer, in place, across into one that was filled; with scalars of the kernel in the bodies."""
    random = np.random.default_rng(43)
    x, y = random.standard_normal((2, *shape)).astype(np.float32)
    b = random.standard_normal(shape[1]).astype(np.float32)
    got = run(GENERIC, x, b, y, np.zeros(shape[::-1], np.float32), np.float32(1.5))
    first = np.tanh(x.astype(np.float64) * 1.5 + b)
    want = (2 * first + b + np.arange(shape[1])) * 1.5 + 3
    np.testing.assert_allclose(got[2], want, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(got[3], got[2].T + np.float32(1.5))


def test_memory_of_the_kernel():
    """Two layers with a buffer of the kernel's in between, in a loop."""
    source = """func.func @main(%x: memref<40x50xf32>, %w: memref<50x60xf32>, %v: memref<60x50xf32>, %y: memref<40x50xf32>) {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %h = memref.alloc() : memref<40x60xf32>
      linalg.copy ins(%x : memref<40x50xf32>) outs(%y : memref<40x50xf32>)
      scf.for %i = %c0 to %c3 step %c1 {
        linalg.fill ins(%zero : f32) outs(%h : memref<40x60xf32>)
        linalg.matmul ins(%y, %w : memref<40x50xf32>, memref<50x60xf32>) outs(%h : memref<40x60xf32>)
        linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%h : memref<40x60xf32>) {
        ^bb0(%a: f32):
          %r = arith.maximumf %a, %zero : f32
          linalg.yield %r : f32
        }
        linalg.matmul ins(%h, %v : memref<40x60xf32>, memref<60x50xf32>) outs(%y : memref<40x50xf32>)
      }
      memref.dealloc %h : memref<40x60xf32>
      return
    }"""
    random = np.random.default_rng(44)
    x, w, v = (random.standard_normal(shape).astype(np.float32) / 8 for shape in [(40, 50), (50, 60), (60, 50)])
    got = run(source, x, w, v, np.zeros((40, 50), np.float32))
    want = x.astype(np.float64)
    for _ in range(3):
        want = want + np.maximum(want @ w, 0) @ v
    np.testing.assert_allclose(got[3], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("element, accumulator", [("i8", "i32"), ("f16", "f32"), ("bf16", "f32"), ("f64", "f64"), ("i32", "i32")])
def test_types_of_products(element, accumulator):
    source = f"""func.func @main(%a: memref<65x70x{element}>, %b: memref<70x66x{element}>, %c: memref<65x66x{accumulator}>) {{
      linalg.matmul ins(%a, %b : memref<65x70x{element}>, memref<70x66x{element}>) outs(%c : memref<65x66x{accumulator}>)
      return
    }}"""
    random = np.random.default_rng(45)
    dtypes = {"i8": np.int8, "f16": np.float16, "f64": np.float64, "i32": np.int32, "f32": np.float32}
    whole = [random.integers(-8, 8, shape) for shape in [(65, 70), (70, 66)]]
    if element == "bf16":
        given = [pl.Buffer((each.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), "bf16") for each in whole]
    else:
        given = [each.astype(dtypes[element]) for each in whole]
    for engine in ENGINES:
        c = np.ones((65, 66), dtypes[accumulator])
        engine.loads(source).main(*given, c)
        np.testing.assert_array_equal(c, whole[0] @ whole[1] + 1)


@pytest.mark.parametrize("operands, yielded, want", [
    ("outs(%x, %y : T, T) {\n^bb0(%a: i32, %b: i32):", "%b, %a : i32, i32", lambda x, y, z: (y, x, z)),
    ("ins(%z : T) outs(%x, %y : T, T) {\n^bb0(%c: i32, %a: i32, %b: i32):", "%c, %a : i32, i32", lambda x, y, z: (z, x, z)),
    ("ins(%x, %y : T, T) outs(%y, %x : T, T) {\n^bb0(%a: i32, %b: i32, %c: i32, %d: i32):", "%a, %b : i32, i32",
     lambda x, y, z: (y, x, z))], ids=["swap", "shift", "swap of inputs"])
def test_results_that_others_had(operands, yielded, want):
    maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * operands.partition("{")[0].count("%"))
    source = f"""func.func @main(%x: T, %y: T, %z: T) {{
      linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}} {operands}
        linalg.yield {yielded}
      }}
      return
    }}""".replace("T", "memref<80x80xi32>")
    given = np.random.default_rng(46).integers(-99, 99, (3, 80, 80)).astype(np.int32)
    for mine, theirs in zip(run(source, *given), want(*given)):
        np.testing.assert_array_equal(mine, theirs)


def test_bodies_that_do_more():
    """What a body counts, it counts once for each element; memory that it takes it may give back."""
    source = """
    memref.global "private" @h : memref<1xi32> = dense<0>
    func.func @main(%z: memref<300x300xi32>, %x: memref<300x300xi32>, %count: memref<1xi32>) {
      %one = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          outs(%z : memref<300x300xi32>) {
      ^bb0(%p: i32):
        %t = memref.get_global @h : memref<1xi32>
        %w = memref.atomic_rmw addi %one, %t[%c0] : (i32, memref<1xi32>) -> i32
        linalg.yield %w : i32
      }
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          outs(%x : memref<300x300xi32>) {
      ^bb0(%p: i32):
        %t = memref.alloc() : memref<4xi32>
        memref.store %p, %t[%c0] : memref<4xi32>
        %w = memref.load %t[%c0] : memref<4xi32>
        memref.dealloc %t : memref<4xi32>
        %v = arith.addi %w, %one : i32
        linalg.yield %v : i32
      }
      %t = memref.get_global @h : memref<1xi32>
      memref.copy %t, %count : memref<1xi32> to memref<1xi32>
      return
    }"""
    z, x, count = run(source, np.zeros((300, 300), np.int32), np.zeros((300, 300), np.int32), np.zeros(1, np.int32))
    assert count[0] == 90_000 and (x == 1).all()
    np.testing.assert_array_equal(np.sort(z.ravel()), np.arange(90_000))
