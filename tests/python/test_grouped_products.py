"""Products of bytes of all signs, of 16 bits and of bf16, with vectors of every width that the host's instructions for groups have, against NumPy."""

import numpy as np
import pytest

import plimsoll as pl

WIDTHS = [512, 256, 128]
# m, n, k: some of groups and vectors left over, exactly a group, more than a block of the reduction.
SHAPES = [(13, 33, 7), (5, 17, 4), (70, 20, 2051)]


def engine(width):
    return pl.Engine(target=pl.Target("host-cpu", {"vector_bits": width}), isolation="none")


def source(shape, operands, total, isTransposed, isOpen):
    """The sum of products of two operands, each a type and what widens it."""
    m, n, k = shape

    def tensor(rows, columns, element):
        return f"tensor<{'?x?' if isOpen else f'{rows}x{columns}'}x{element}>"

    (left, widenLeft), (right, widenRight) = operands
    a, c = tensor(m, k, left), tensor(m, n, total)
    b = tensor(n, k, right) if isTransposed else tensor(k, n, right)
    kind = total[0]
    return f"""
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> ({"n, k" if isTransposed else "k, n"})>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @main(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %r = linalg.generic {{indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : {a}, {b}) outs(%c : {c}) {{
  ^bb0(%x: {left}, %y: {right}, %s: {total}):
    %u = arith.{widenLeft} %x : {left} to {total}
    %v = arith.{widenRight} %y : {right} to {total}
    %p = arith.mul{kind} %u, %v : {total}
    %q = arith.add{kind} %s, %p : {total}
    linalg.yield %q : {total}
  }} -> {c}
  return %r : {c}
}}"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("widening", [(left, right) for left in ("extsi", "extui") for right in ("extsi", "extui")])
@pytest.mark.parametrize("elements, isOpen", [(("i8", "i8"), False), (("i8", "i8"), True), (("i8", "i16"), False), (("i16", "i16"), False)])
def test_integers(width, widening, elements, isOpen):
    numbers, made = np.random.default_rng(width), engine(width)
    for number, shape in enumerate(SHAPES):
        m, n, k = shape
        types = [np.dtype(f"int{element[1:]}") for element in elements]
        a, b = (numbers.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, size, dtype=kind) for kind, size in zip(types, [(m, k), (k, n)]))
        c = numbers.integers(-(2**31), 2**31, (m, n), dtype=np.int32)
        # The extremes beside each other.
        a[0], b[:, 0] = np.iinfo(a.dtype).min, np.iinfo(b.dtype).min
        a[1], b[:, 1] = -1, -1
        wide = [(x.view(f"u{x.itemsize}") if each == "extui" else x).astype(np.int64) for x, each in zip((a, b), widening)]
        expected = (wide[0] @ wide[1] + c).astype(np.int32)
        isTransposed = number % 2 == 1
        module = made.loads(source(shape, list(zip(elements, widening)), "i32", isTransposed, isOpen))
        have = module.main(a, np.ascontiguousarray(b.T) if isTransposed else b, c)
        np.testing.assert_array_equal(np.asarray(have), expected, err_msg=f"{shape}")


@pytest.mark.parametrize("isOpen", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_bf16(width, isOpen):
    numbers, made = np.random.default_rng(width), engine(width)
    for number, shape in enumerate(SHAPES):
        m, n, k = shape
        a, b = (pl.to_bf16(numbers.standard_normal(size).astype(np.float32)) for size in ((m, k), (k, n)))
        c = numbers.standard_normal((m, n)).astype(np.float32)
        isTransposed = number % 2 == 1
        module = made.loads(source(shape, [("bf16", "extf"), ("bf16", "extf")], "f32", isTransposed, isOpen))
        arguments = np.ascontiguousarray(b.T) if isTransposed else b, c
        expected = pl.from_bf16(a).astype(np.float64) @ pl.from_bf16(b).astype(np.float64) + c
        np.testing.assert_allclose(np.asarray(module.main(a, *arguments)), expected, rtol=1e-5, atol=2e-7 * (16 + 2 * k))
        # Of infinities and NaNs nothing is lost, and no other row has them.
        a[0, 0], a[1, 0] = 0x7F80, 0x7FC0
        have = np.asarray(module.main(a, *arguments))
        assert np.isinf(have[0]).all() and np.isnan(have[1]).all() and np.isfinite(have[2:]).all()
