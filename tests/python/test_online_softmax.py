"""Attention in blocks of 512 keys: what grows from block to block, blocks of which nothing is seen, numbers that are infinite or none, and the
same bits for extents that are known, open, or open with code made for those of the call, and for any number of threads."""
import itertools

import numpy as np
import pytest

import plimsoll as pl

HEADS, DEPTH, WIDTH = 12, 16, 24
ENGINES = {threads: pl.Engine(threads=threads) for threads in (1, 2, 3, 8)}
SPECIALISED = pl.Engine(threads=2, specialization="on_request")


def source(rows, keys, open_="", maximum="arith.maximumf", start="0xFF800000", exponential="math.exp"):
    """softmax(scale Q K^T + mask) V; extents in `open_` are not known."""
    q, t = ("?" if "q" in open_ else rows), ("?" if "t" in open_ else keys)
    scores, row, out = f"tensor<{HEADS}x{q}x{t}xf32>", f"tensor<{HEADS}x{q}xf32>", f"tensor<{HEADS}x{q}x{WIDTH}xf32>"
    queries, kept, values, mask = (f"tensor<{HEADS}x{q}x{DEPTH}xf32>", f"tensor<{HEADS}x{t}x{DEPTH}xf32>", f"tensor<{HEADS}x{t}x{WIDTH}xf32>",
                                   f"tensor<{q}x{t}xf32>")
    nq, nt = ("%nq" if "q" in open_ else ""), ("%nt" if "t" in open_ else "")
    both = ", ".join(filter(None, (nq, nt)))
    dims = "".join(f"  {name} = tensor.dim {of}, %c1 : {kind}\n" for name, of, kind in ((nq, "%Q", queries), (nt, "%K", kept)) if name)
    return f"""
#all = affine_map<(h, q, t) -> (h, q, t)>
#mask = affine_map<(h, q, t) -> (q, t)>
#row = affine_map<(h, q, t) -> (h, q)>
func.func @main(%Q: {queries}, %K: {kept}, %V: {values}, %mask: {mask}) -> {out} {{
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %start = arith.constant {start} : f32
{dims}  %e = tensor.empty({both}) : {scores}
  %r = tensor.empty({nq}) : {row}
  %o = tensor.empty({nq}) : {out}
  %z = linalg.fill ins(%zero : f32) outs(%e : {scores}) -> {scores}
  %products = linalg.generic {{indexing_maps = [affine_map<(h, q, t, d) -> (h, q, d)>, affine_map<(h, q, t, d) -> (h, t, d)>, affine_map<(h, q, t, d) -> (h, q, t)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins(%Q, %K : {queries}, {kept}) outs(%z : {scores}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }} -> {scores}
  %scores = linalg.generic {{indexing_maps = [#all, #mask, #all], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%products, %mask : {scores}, {mask}) outs(%e : {scores}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %scale : f32
    %s = arith.addf %m, %b : f32
    linalg.yield %s : f32
  }} -> {scores}
  %lows = linalg.fill ins(%start : f32) outs(%r : {row}) -> {row}
  %most = linalg.reduce {{ {maximum} }} ins(%scores : {scores}) outs(%lows : {row}) dimensions = [2]
  %powers = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%scores, %most : {scores}, {row}) outs(%e : {scores}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %s = {exponential} %d : f32
    linalg.yield %s : f32
  }} -> {scores}
  %zeros = linalg.fill ins(%zero : f32) outs(%r : {row}) -> {row}
  %total = linalg.reduce {{ arith.addf }} ins(%powers : {scores}) outs(%zeros : {row}) dimensions = [2]
  %parts = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%powers, %total : {scores}, {row}) outs(%e : {scores}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  }} -> {scores}
  %y = linalg.fill ins(%zero : f32) outs(%o : {out}) -> {out}
  %result = linalg.generic {{indexing_maps = [affine_map<(h, q, e, t) -> (h, q, t)>, affine_map<(h, q, e, t) -> (h, t, e)>, affine_map<(h, q, e, t) -> (h, q, e)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins(%parts, %V : {scores}, {values}) outs(%y : {out}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }} -> {out}
  return %result : {out}
}}
"""


def arguments(random, rows, keys):
    return [random.standard_normal(shape).astype(np.float32)
            for shape in ((HEADS, rows, DEPTH), (HEADS, keys, DEPTH), (HEADS, keys, WIDTH), (rows, keys))]


def reference(q, k, v, mask, base=np.e):
    with np.errstate(all="ignore"):
        scores = np.einsum("hqd,htd->hqt", q.astype(np.float64), k) * 0.25 + mask
        if not mask.shape[1]:
            return np.zeros((HEADS, len(mask), WIDTH))
        powers = base ** (scores - scores.max(axis=2, keepdims=True))
        return np.einsum("hqt,hte->hqe", powers / powers.sum(axis=2, keepdims=True), v)


def close(have, want):
    np.testing.assert_array_equal(np.isnan(have), np.isnan(want))
    np.testing.assert_allclose(np.nan_to_num(have), np.nan_to_num(want), rtol=5e-5, atol=5e-5)


@pytest.mark.parametrize("rows,keys", [*itertools.product([64], [1, 511, 512, 513, 1000, 1536]), (48, 700), (67, 1025), (131, 513), (300, 600)])
def test_bits(rows, keys):
    random = np.random.default_rng(rows * 10007 + keys)
    given = arguments(random, rows, keys)
    known = [np.asarray(engine.loads(source(rows, keys)).main(*given)) for engine in ENGINES.values()]
    close(known[0], reference(*given))
    general = [np.asarray(ENGINES[threads].loads(source(rows, keys, open_)).main(*given))
               for open_, threads in itertools.product(("q", "t", "qt"), (1, 3))]
    made = SPECIALISED.loads(source(rows, keys, "qt"))
    made.main.specialize(*given)
    special = np.asarray(made.main(*given))
    assert made.specializations()["calls"] == 1
    for each in [*known, *general, special]:
        assert each.tobytes() == known[0].tobytes()


@pytest.mark.parametrize("keys", [0, 1, 512, 513, 1100])
@pytest.mark.parametrize("maximum,start,exponential", [("arith.maximumf", "0xFF800000", "math.exp"), ("arith.maxnumf", "0xFFC00000", "math.exp"),
                                                       ("arith.maximumf", "-3.40282347E+38", "math.exp"), ("arith.maximumf", "0xFF800000", "math.exp2")])
def test_masks(keys, maximum, start, exponential):
    """Rows of which the first block sees nothing, the last one, or none; scores that grow, and numbers beyond all others."""
    random, rows = np.random.default_rng(keys), 70
    q, k, v, mask = arguments(random, rows, keys)
    mask[1, :600] = -np.inf
    mask[2, 400:] = -np.inf
    mask[3] += np.linspace(0, 200, keys)
    mask[4] -= np.linspace(0, 200, keys)
    mask[5, :700] = -2.0 ** 100
    mask[6, keys // 2:] += 300
    if keys:
        if start == "0xFF800000":
            mask[7] = -np.inf  # no key at all
        mask[8, random.integers(keys)] = np.inf
        mask[9, random.integers(keys)] = np.nan
    want = reference(q, k, v, mask, np.e if exponential == "math.exp" else 2.0)
    for open_ in ("", "t", "qt"):
        if not keys and not open_:
            continue
        close(np.asarray(ENGINES[2].loads(source(rows, keys, open_, maximum, start, exponential=exponential)).main(q, k, v, mask)), want)


@pytest.mark.parametrize("rows,depth,middle,columns", [(60, 8, 1024, 5), (130, 16, 700, 33), (1, 64, 1025, 64), (257, 3, 4096, 16)])
def test_two_products(rows, depth, middle, columns):
    """max(A B, 0) C, whose middle is as little at a time."""
    random = np.random.default_rng(rows)
    a, b, c = (random.standard_normal(shape).astype(np.float32) for shape in ((rows, depth), (depth, middle), (middle, columns)))

    def text(m, n):
        dims = "".join(f"  %n{i} = tensor.dim %{of}, %c{i} : tensor<{kind}xf32>\n" for i, of, kind, size in
                       ((0, "A", f"{m}x{depth}", m), (1, "B", f"{depth}x{n}", n)) if size == "?")
        nm, nn = ("%n0" if m == "?" else ""), ("%n1" if n == "?" else "")
        return f"""
func.func @main(%A: tensor<{m}x{depth}xf32>, %B: tensor<{depth}x{n}xf32>, %C: tensor<{n}x{columns}xf32>) -> tensor<{m}x{columns}xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
{dims}  %e = tensor.empty({', '.join(filter(None, (nm, nn)))}) : tensor<{m}x{n}xf32>
  %o = tensor.empty({nm}) : tensor<{m}x{columns}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %s = linalg.matmul ins(%A, %B : tensor<{m}x{depth}xf32>, tensor<{depth}x{n}xf32>) outs(%f : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %t = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%s : tensor<{m}x{n}xf32>) outs(%e : tensor<{m}x{n}xf32>) {{
  ^bb0(%x: f32, %y: f32):
    %u = arith.maximumf %x, %zero : f32
    linalg.yield %u : f32
  }} -> tensor<{m}x{n}xf32>
  %g = linalg.fill ins(%zero : f32) outs(%o : tensor<{m}x{columns}xf32>) -> tensor<{m}x{columns}xf32>
  %r = linalg.matmul ins(%t, %C : tensor<{m}x{n}xf32>, tensor<{n}x{columns}xf32>) outs(%g : tensor<{m}x{columns}xf32>) -> tensor<{m}x{columns}xf32>
  return %r : tensor<{m}x{columns}xf32>
}}
"""
    want = np.maximum(a.astype(np.float64) @ b, 0) @ c
    for m, n in ((rows, middle), ("?", middle), (rows, "?"), ("?", "?")):
        have = np.asarray(ENGINES[2].loads(text(m, n)).main(a, b, c))
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())


CHAIN = """
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%A: tensor<ROWSx8xf32>, %B: tensor<8xKEYSxf32>, %C: tensor<KEYSx8xf32>) -> tensor<ROWSx8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant START : f32
  %e = tensor.empty() : tensor<ROWSxKEYSxf32>
  %r = tensor.empty() : tensor<ROWSxf32>
  %o = tensor.empty() : tensor<ROWSx8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<ROWSxKEYSxf32>) -> tensor<ROWSxKEYSxf32>
  %g = linalg.fill ins(%zero : f32) outs(%o : tensor<ROWSx8xf32>) -> tensor<ROWSx8xf32>
  %sums = linalg.fill ins(%zero : f32) outs(%r : tensor<ROWSxf32>) -> tensor<ROWSxf32>
  %lows = linalg.fill ins(%least : f32) outs(%r : tensor<ROWSxf32>) -> tensor<ROWSxf32>
  %s = linalg.matmul ins(%A, %B : tensor<ROWSx8xf32>, tensor<8xKEYSxf32>) outs(%f : tensor<ROWSxKEYSxf32>) -> tensor<ROWSxKEYSxf32>
  %most = linalg.reduce { arith.maximumf } ins(%s : tensor<ROWSxKEYSxf32>) outs(%lows : tensor<ROWSxf32>) dimensions = [1]
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %most : tensor<ROWSxKEYSxf32>, tensor<ROWSxf32>) outs(%e : tensor<ROWSxKEYSxf32>) {
  ^bb0(%x: f32, %m: f32, %y: f32):
    WEIGHT
    linalg.yield %u : f32
  } -> tensor<ROWSxKEYSxf32>
  %one = linalg.reduce { arith.addf } ins(%w : tensor<ROWSxKEYSxf32>) outs(%sums : tensor<ROWSxf32>) dimensions = [1]
  %two = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<ROWSxKEYSxf32>) outs(%sums : tensor<ROWSxf32>) {
  ^bb0(%x: f32, %y: f32):
    %h = arith.mulf %x, %x : f32
    %u = arith.addf %y, %h : f32
    linalg.yield %u : f32
  } -> tensor<ROWSxf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w, %one : tensor<ROWSxKEYSxf32>, tensor<ROWSxf32>) outs(%e : tensor<ROWSxKEYSxf32>) {
  ^bb0(%x: f32, %l: f32, %y: f32):
    PART
    linalg.yield %u : f32
  } -> tensor<ROWSxKEYSxf32>
  %v = linalg.matmul ins(%p, %C : tensor<ROWSxKEYSxf32>, tensor<KEYSx8xf32>) outs(%g : tensor<ROWSx8xf32>) -> tensor<ROWSx8xf32>
  %result = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%v, %one, %two : tensor<ROWSx8xf32>, tensor<ROWSxf32>, tensor<ROWSxf32>) outs(%o : tensor<ROWSx8xf32>) {
  ^bb0(%x: f32, %l: f32, %q: f32, %y: f32):
    %none = arith.constant 1.0 : f32
    RESULT
    linalg.yield %u : f32
  } -> tensor<ROWSx8xf32>
  return %result : tensor<ROWSx8xf32>
}
"""
RELU, EXPONENTIAL = "%u = arith.maximumf %x, %zero : f32", "%d = arith.subf %x, %m : f32\n    %u = math.exp %d : f32"
WHOLE, SHARE = "%u = arith.addf %x, %zero : f32", "%u = arith.divf %x, %l : f32"
PLAIN = "%u = arith.addf %x, %zero : f32"


@pytest.mark.parametrize("start", ["0xFF800000", "0x7F800000", "0.0"])
@pytest.mark.parametrize("weight", [RELU, EXPONENTIAL])
@pytest.mark.parametrize("part", [WHOLE, SHARE])
@pytest.mark.parametrize("result", [
    PLAIN, "%t = arith.divf %x, %q : f32\n    %u = arith.addf %t, %l : f32", "%u = arith.divf %x, %l : f32",
    "%t = arith.addf %l, %none : f32\n    %u = arith.divf %x, %t : f32", "%t = arith.maximumf %l, %none : f32\n    %u = arith.divf %x, %t : f32"])
def test_sums_beside_the_product(start, weight, part, result):
    """Several sums that begin alike, sums that are needed before all keys are seen, and what is not divided, or not by the sum alone: rows that
    see nothing but -inf, and a maximum that begins with infinity."""
    rows = 60
    for keys in (512, 1100):
        random = np.random.default_rng(keys)
        a, b, c = (random.standard_normal(shape).astype(np.float32) for shape in ((rows, 8), (8, keys), (keys, 8)))
        b[0] = np.abs(b[0])
        a[3] = [-np.inf, 0, 0, 0, 0, 0, 0, 0]
        text = CHAIN
        for name, value in (("ROWS", rows), ("KEYS", keys), ("START", start), ("WEIGHT", weight), ("PART", part), ("RESULT", result)):
            text = text.replace(name, str(value))
        want = np.asarray(ENGINES[1].loads(text, oracle=True).main(a, b, c))
        have = np.asarray(ENGINES[2].loads(text).main(a, b, c))
        np.testing.assert_array_equal(np.isnan(have), np.isnan(want))
        np.testing.assert_allclose(np.nan_to_num(have), np.nan_to_num(want), rtol=1e-4, atol=1e-4)
