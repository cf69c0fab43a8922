"""What memory beside tensors is seen as, against a search through every element."""

import itertools

import numpy as np
import pytest

import plimsoll as pl

SOURCE = """
func.func @reinterpret(%t: tensor<f32>, %m: memref<?x?xf32>, %o: index, %a: index, %b: index,
                       %s: index, %u: index) -> index {
  %c0 = arith.constant 0 : index
  %v = memref.reinterpret_cast %m to offset: [%o], sizes: [%a, %b], strides: [%s, %u]
      : memref<?x?xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %d = memref.dim %v, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %d : index
}
func.func @view(%t: tensor<f32>, %m: memref<?xi8>, %shift: index, %a: index, %b: index) {
  %c1 = arith.constant 1 : i16
  %v = memref.view %m[%shift][%a, %b] : memref<?xi8> to memref<?x3x?xi16>
  linalg.fill ins(%c1 : i16) outs(%v : memref<?x3x?xi16>)
  return
}
"""
HUGE = (1 << 63) - 1
T = np.float32(0)


@pytest.fixture(scope="module", params=[False, True], ids=["engine", "oracle"])
def module(request):
    return pl.loads(SOURCE, oracle=request.param)


def runs(function, *arguments):
    try:
        function(*arguments)
    except pl.FailedPreconditionError as error:
        assert "leave" in str(error)
        return False
    return True


def test_reinterpretations(module):
    source = np.random.default_rng(7)
    small = list(range(-3, 8))
    for shape in ((2, 3), (1, 1), (0, 3), (4, 0), (1, 7)):
        count = shape[0] * shape[1]
        for _ in range(600):
            offset, a, b, s, u = (int(n) for n in source.choice(small, 5))
            if a < 0 or b < 0:
                wanted = a == 0 or b == 0
            else:
                wanted = all(0 <= offset + i * s + j * u < count
                             for i, j in itertools.product(range(a), range(b)))
            got = runs(module.reinterpret, T, np.zeros(shape, np.float32), offset, a, b, s, u)
            assert got == wanted, (shape, offset, a, b, s, u)


@pytest.mark.parametrize("numbers", [
    (HUGE, 1, 1, 1, 1), (-HUGE - 1, 1, 1, 1, 1), (0, 2, 1, HUGE, 1), (0, 2, 1, -HUGE - 1, 1),
    (5, 2, 1, -HUGE - 1, 1), (0, HUGE, 1, 1, 1), (0, HUGE, HUGE, HUGE, HUGE), (0, 3, 3, HUGE, HUGE),
    (0, 1 << 32, 1, 1 << 32, 1), (0, 2, 2, 1 << 62, 1 << 62)])
def test_huge_reinterpretations_are_refused(module, numbers):
    assert not runs(module.reinterpret, T, np.zeros((2, 3), np.float32), *numbers)


def test_views(module):
    for size, shift, a, b in itertools.product((0, 5, 6, 12, 37), range(-2, 14), (0, 1, 2), (0, 1, 3)):
        memory = np.zeros(size, np.int8)
        wanted = a * b == 0 or (shift >= 0 and shift + 2 * a * 3 * b <= size)
        if shift % 2 == 1 and wanted and a * b:
            continue  # elements that are not aligned
        assert runs(module.view, T, memory, shift, a, b) == wanted or a * b == 0, (size, shift, a, b)
        expected = np.zeros(size, np.int8)
        if wanted and a * b:
            expected[shift:shift + 6 * a * b:2] = 1
        assert np.array_equal(memory, expected)
    for a, b in ((1 << 61, 1), (1 << 32, 1 << 32), (HUGE, HUGE), (-1, -1), (-1, 1)):
        assert not runs(module.view, T, np.zeros(12, np.int8), 0, a, b)
