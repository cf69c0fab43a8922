"""numerics= of engines, loads and compilations."""

import numpy as np
import pytest

import plimsoll as pl

SOURCE = """
func.func @main(%x: tensor<?xf16>) -> tensor<f16> {
  %z = arith.constant dense<0.0> : tensor<f16>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?xf16>) outs(%z : tensor<f16>) dimensions = [0]
  return %r : tensor<f16>
}
"""


def in_order(values):
    total = np.float16(0)
    for value in values:
        total = np.float16(total + value)
    return total


def test_sums_of_16_bits():
    x = np.full(4096, 0.001, np.float16)
    exact = np.float16(x.astype(np.float64).sum())
    strict = in_order(x)
    assert strict != exact
    assert pl.loads(SOURCE).main(x) == exact
    assert pl.loads(SOURCE, numerics="default").main(x) == exact
    assert pl.loads(SOURCE, numerics="strict").main(x) == strict
    assert pl.loads(SOURCE, oracle=True).main(x) == strict


def test_a_module_is_stronger_than_its_engine():
    x = np.full(4096, 0.001, np.float16)
    engine = pl.Engine(numerics="strict")
    assert engine.loads(SOURCE).main(x) == in_order(x)
    assert engine.loads(SOURCE, numerics="default").main(x) != in_order(x)
    code = pl.default_engine().compile(SOURCE, numerics="strict")
    assert pl.loads(code).main(x) == in_order(x)
    with pytest.raises(pl.InvalidArgumentError, match="too late for: numerics"):
        pl.loads(code, numerics="strict")


def test_what_is_none():
    for make in (lambda: pl.Engine(numerics="fast"), lambda: pl.loads(SOURCE, numerics="fast")):
        with pytest.raises(pl.InvalidArgumentError,
                           match="numerics is 'fast'; there are 'default', 'strict'"):
            make()


@pytest.mark.parametrize("decay", [1.0, 0.5])
@pytest.mark.parametrize("numerics", ["strict", "default"])
def test_sums_over_two_loops_that_lie_the_other_way_round(numerics, decay):
    """Both operands have the loops of the sum side by side, the inner one first. A sum may be taken so by default, a decay never."""
    source = f"""
func.func @main(%x: tensor<5x5x3xf32>, %y: tensor<5x3x32xf32>, %z: tensor<5x32xf32>) -> tensor<5x32xf32> {{
  %decay = arith.constant {decay} : f32
  %r = linalg.generic {{indexing_maps = [affine_map<(q, k, m, n) -> (m, k, q)>, affine_map<(q, k, m, n) -> (k, q, n)>, affine_map<(q, k, m, n) -> (m, n)>],
                       iterator_types = ["reduction", "reduction", "parallel", "parallel"]}}
      ins(%x, %y : tensor<5x5x3xf32>, tensor<5x3x32xf32>) outs(%z : tensor<5x32xf32>) {{
  ^bb0(%a: f32, %b: f32, %so: f32):
    %p = arith.mulf %a, %b : f32
    %less = arith.mulf %so, %decay : f32
    %s = arith.addf {"%so" if decay == 1 else "%less"}, %p : f32
    linalg.yield %s : f32
  }} -> tensor<5x32xf32>
  return %r : tensor<5x32xf32>
}}"""
    numbers = np.random.default_rng(3)
    x, y, so = (numbers.standard_normal(shape).astype(np.float32) for shape in ((5, 5, 3), (5, 3, 32), (5, 32)))
    got = pl.loads(source, numerics=numerics).main(x, y, so)
    for q, k in np.ndindex(3, 5):
        so = so * np.float32(decay) + x[:, k, q, None] * y[k, q]
    if numerics == "strict":
        np.testing.assert_array_equal(got, so)
    else:
        np.testing.assert_allclose(got, so, rtol=1e-5, atol=1e-5)
