"""Transpositions of all element types that NumPy has too, over extents around those of tiles, against NumPy."""

import itertools

import numpy as np
import pytest

import plimsoll as pl

TYPES = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "f16": np.float16, "f32": np.float32, "f64": np.float64}
# Nothing, less than a tile, parts of some, powers of two, more than a workgroup.
SHAPES = [(0, 5), (1, 17), (3, 100), (12, 64), (16, 16), (31, 33), (130, 515),
          (3, 4, 5), (17, 12, 64), (2, 3, 16, 20)]


def module(shape, permutation, element, known):
    """Of one function: the transpose, of extents that are known at load, or not."""
    def text(extents):
        return "x".join([*(str(size) if known else "?" for size in extents), element])

    turned = [shape[axis] for axis in permutation]
    extents = "" if known else ", ".join(f"%d{axis}" for axis in permutation)
    dims = "" if known else "\n".join(
        f"%c{axis} = arith.constant {axis} : index\n%d{axis} = tensor.dim %a, %c{axis} : tensor<{text(shape)}>"
        for axis in range(len(shape)))
    return f"""
func.func @main(%a: tensor<{text(shape)}>) -> tensor<{text(turned)}> {{
  {dims}
  %e = tensor.empty({extents}) : tensor<{text(turned)}>
  %r = linalg.transpose ins(%a : tensor<{text(shape)}>) outs(%e : tensor<{text(turned)}>) permutation = {list(permutation)}
  return %r : tensor<{text(turned)}>
}}"""


@pytest.mark.parametrize("element", TYPES)
def test_transpose(element):
    random = np.random.default_rng(7)
    engine = pl.Engine(threads=2)
    for shape in SHAPES:
        given = random.integers(0, 2 if element == "i1" else 120, shape).astype(TYPES[element])
        for permutation in itertools.permutations(range(len(shape))):
            # Of four dimensions those that begin with the last, of more than two either kind of extents.
            if len(shape) == 4 and permutation[0] != 3:
                continue
            for known in (True, False) if len(shape) == 2 else (sum(permutation[::2]) % 2 == 0,):
                result = engine.loads(module(shape, permutation, element, known)).main(given)
                np.testing.assert_array_equal(np.asarray(result), given.transpose(permutation),
                                              err_msg=f"{element} {shape} {permutation} known={known}")
