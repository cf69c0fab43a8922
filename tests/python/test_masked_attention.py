"""What masks by places leave out must not show: numbers that wrap around, rows that see nothing, other numbers that are as low, no keys at all."""
import numpy as np
import pytest

import plimsoll as pl

ENGINES = [pl.Engine(threads=threads) for threads in (1, 2)]
LOW = -2.0 ** 100  # exactly a float

SOURCE = """
#all = affine_map<(q, t) -> (q, t)>
#row = affine_map<(q, t) -> (q)>
#left = affine_map<(q, t, d) -> (q, d)>
#right = affine_map<(q, t, d) -> (t, d)>
#out = affine_map<(q, t, d) -> (q, t)>
#p = affine_map<(q, e, t) -> (q, t)>
#v = affine_map<(q, e, t) -> (t, e)>
#y = affine_map<(q, e, t) -> (q, e)>
func.func @main(%Q: tensor<?x16xf32>, %K: tensor<?x16xf32>, %V: tensor<?x16xf32>, %past: tensor<i64>, %bias: tensor<?xf32>, %other: tensor<f32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %infinite = arith.constant 0xFF800000 : f32
  %low = arith.constant LOW : f32
  %rows = tensor.dim %Q, %c0 : tensor<?x16xf32>
  %keys = tensor.dim %K, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%rows, %keys) : tensor<?x?xf32>
  %r = tensor.empty(%rows) : tensor<?xf32>
  %o = tensor.empty(%rows) : tensor<?x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %scores = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%Q, %K : tensor<?x16xf32>, tensor<?x16xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %masked = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%scores, %bias : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%score: f32, %its: f32, %unused: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    BODY
    linalg.yield %result : f32
  } -> tensor<?x?xf32>
  %lows = linalg.fill ins(%infinite : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %most = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%masked : tensor<?x?xf32>) outs(%lows : tensor<?xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.maximumf %c, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %powers = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%masked, %most : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %s = math.exp %d : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %total = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%powers : tensor<?x?xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %parts = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%powers, %total : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  %result = linalg.generic {indexing_maps = [#p, #v, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%parts, %V : tensor<?x?xf32>, tensor<?x16xf32>) outs(%y0 : tensor<?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x16xf32>
  return %result : tensor<?x16xf32>
}
"""

CAUSAL = """%row = arith.index_cast %i : index to i64
    %its_past = tensor.extract %past[] : tensor<i64>
    %own = arith.addi %row, %its_past : i64
    %column = arith.index_cast %j : index to i64
    %later = arith.cmpi sgt, %column, %own : i64
    """
SELECT = CAUSAL + "%result = arith.select %later, %low, %score : f32"


def seen(rows, keys, past):
    return np.arange(keys)[None, :] <= np.arange(rows)[:, None] + past


def expected(q, k, v, mask):
    """`mask` makes the scores that there are of f64."""
    scores = mask(q.astype(np.float64) @ k.astype(np.float64).T)
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
        return powers / powers.sum(axis=1, keepdims=True) @ v.astype(np.float64) if k.size else np.zeros((len(q), 16))


def check(body, mask, low=-np.inf, past=0, shapes=((96, 128),), bias=0.0, other=0.0):
    random = np.random.default_rng(11)
    source = SOURCE.replace("BODY", body).replace("LOW", "0xFF800000" if np.isinf(low) else f"{low:.9e}")
    modules = [engine.loads(source) for engine in ENGINES]
    for rows, keys in shapes:
        q, k, v = (random.standard_normal((size, 16)).astype(np.float32) for size in (rows, keys, keys))
        given = np.full(rows, bias, np.float32)
        want = expected(q, k, v, lambda scores: mask(scores, seen(rows, keys, past)))
        for module in modules:
            have = np.asarray(module.main(q, k, v, np.array(past, np.int64), given, np.array(other, np.float32)))
            np.testing.assert_allclose(have, want, rtol=2e-4, atol=2e-4, equal_nan=True)


@pytest.mark.parametrize("low", [-np.inf, LOW])
@pytest.mark.parametrize("past", [0, 5, 64, 1000, 2 ** 26, 2 ** 40, 2 ** 63 - 1])
def test_places(low, past):
    shapes = [(1, 1), (3, 0), (0, 3), (96, 128), (65, 300), (200, 7)]
    # Beyond the largest number a sum begins with the smallest again.
    if past == 2 ** 63 - 1:
        shapes = [(1, 40)]
    check(SELECT, lambda scores, visible: np.where(visible, scores, low), low, past, shapes)


@pytest.mark.parametrize("past", [-1, -70, -1000, -2 ** 40])
def test_rows_that_see_nothing(past):
    """They are the mean of all values, also of those that no row sees."""
    check(SELECT, lambda scores, visible: np.where(visible, scores, LOW), LOW, past, [(96, 128), (65, 300)])


@pytest.mark.parametrize("kind, most", [("i32", 2 ** 31), ("i64", 2 ** 63)])
def test_numbers_that_wrap_around(kind, most):
    """j + c > i + c, where the sums are negative from some place on."""
    offset = most - 40
    body = f"""%c = arith.constant {offset} : {kind}
    %row = arith.index_cast %i : index to {kind}
    %column = arith.index_cast %j : index to {kind}
    %own = arith.addi %row, %c : {kind}
    %its = arith.addi %column, %c : {kind}
    %later = arith.cmpi sgt, %its, %own : {kind}
    %result = arith.select %later, %infinite, %score : f32""".replace("%its =", "%place =").replace("sgt, %its", "sgt, %place")

    def mask(scores, _):
        rows, columns = (np.arange(size).astype(object) + offset for size in scores.shape)
        rows, columns = ([(each + most) % (2 * most) - most for each in some] for some in (rows, columns))
        return np.where(np.array([[column > row for column in columns] for row in rows]), -np.inf, scores)

    check(body, mask)


@pytest.mark.parametrize("what, number", [("%its", "bias"), ("%number", "other")])
def test_low_numbers_of_others(what, number):
    """All scores of a row are as low as what is masked: it is the mean of all values."""
    body = CAUSAL + f"""%number = tensor.extract %other[] : tensor<f32>
    %sum = arith.addf %score, {what} : f32
    %result = arith.select %later, %low, %sum : f32"""
    check(body, lambda scores, visible: np.where(visible, scores + LOW, LOW), LOW, **{number: LOW})


def test_maxima_from_a_finite_number_on():
    """Rows that see nothing are zeros divided by their sum: NaN, other than a product without keys."""
    random = np.random.default_rng(12)
    source = SOURCE.replace("BODY", SELECT).replace("LOW", "0xFF800000").replace("%lows = linalg.fill ins(%infinite", "%lows = linalg.fill ins(%least")
    source = source.replace("  %low = arith", "  %least = arith.constant -3.0e38 : f32\n  %low = arith")
    for rows, keys in ((96, 128), (3, 0)):
        q, k, v = (random.standard_normal((size, 16)).astype(np.float32) for size in (rows, keys, keys))
        want = np.zeros((rows, 16))
        if keys:
            scores = np.where(seen(rows, keys, -5), q.astype(np.float64) @ k.T.astype(np.float64), -np.inf)
            powers = np.exp(scores - np.maximum(scores.max(axis=1, keepdims=True), -3.0e38))
            with np.errstate(invalid="ignore"):
                want = powers / powers.sum(axis=1, keepdims=True) @ v
        for engine in ENGINES:
            have = engine.loads(source).main(q, k, v, np.array(-5, np.int64), np.zeros(rows, np.float32), np.array(0, np.float32))
            np.testing.assert_allclose(np.asarray(have), want, rtol=2e-4, atol=2e-4, equal_nan=True)


def test_low_numbers_that_are_scaled():
    """2^-10 three times is -2^70, which hides; of -2^29 next to nothing is left."""
    for low, factor, times in ((LOW, 2.0 ** -10, 3), (-2.0 ** 30, 2.0 ** -10, 3)):
        body = CAUSAL + f"%factor = arith.constant {factor} : f32\n    %s0 = arith.select %later, %low, %score : f32\n"
        for i in range(times):
            body += f"    {'%result' if i + 1 == times else f'%s{i + 1}'} = arith.mulf %s{i}, %factor : f32\n"
        check(body, lambda scores, visible: np.where(visible, scores, low) * factor ** times, low)
