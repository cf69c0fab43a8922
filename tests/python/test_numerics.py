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
